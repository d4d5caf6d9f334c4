"""The test rig: places and drives fleets of one model with default parameters in still air."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from paddock.compute.kernel import kernel
from paddock.compute.twin import vectorised
from paddock.testing.report import ConformanceError
from paddock.vehicles.model import Desire, Placement, VehicleModel
from paddock.world.columns import Column, Floats, columns_of, defaults_of
from paddock.world.pose import Environment, Pose

UNBOUNDED = 10.0
"""Random commands reach this far where a column states no limit."""


class Rig:
    """One model under test. Fleets are arrays of columns x agents, as in a world."""

    def __init__(self, model: VehicleModel, seed: int) -> None:
        """The seed decides all random places and commands."""
        self.model = model
        self.seed = seed
        self.check = ""
        self.random = np.random.default_rng(seed)

    def begin(self, check: str) -> None:
        """Name the check for its failures, and give it random numbers that do not depend on the checks before."""
        self.check = check
        self.random = np.random.default_rng([self.seed, *check.encode()])

    def fail(self, problem: str) -> NoReturn:
        """Raise the error that names the check, the model and the problem."""
        raise ConformanceError(self.check, f"model {self.model.name!r}", problem)

    @property
    def parameters(self) -> Any:
        """The model's default parameters."""
        return self.model.parameters(*map(float, defaults_of(self.model.parameters)))

    @property
    def environment(self) -> Any:
        """Flat ground and still air."""
        return Environment()

    @property
    def typical_speed(self) -> float:
        """m/s: the parameter `speed`, else half of `speed_max`, else 5."""
        values = self.parameters._asdict()
        return float(values.get("speed", 0.5 * values.get("speed_max", 10.0)))

    def place(self, n: int, z: float = 20.0, speed: float | Floats = 0.0) -> Floats:
        """The states of `n` agents at random places and headings."""
        x, y = self.random.uniform(-100.0, 100.0, (2, n))
        yaw = self.random.uniform(-3.0, 3.0, n)
        return self.place_at(x, y, z, yaw, speed)

    def place_at(self, x: Floats, y: Floats, z: float | Floats, yaw: Floats, speed: float | Floats) -> Floats:
        """The states of the agents at these places, moving at these speeds along these headings."""
        at = Placement(*np.array(np.broadcast_arrays(x, y, z, yaw, speed), dtype=float))
        return rows(vectorised(self.model.place)(at, self.parameters, self.environment), len(x))

    def run(
        self, state: Floats, command: Floats, dt: float, ticks: int = 1, environment: Environment | None = None
    ) -> None:
        """Advance a fleet in place with the compiled kernel."""
        arrays = np.array(self.parameters), np.array(environment or self.environment)
        kernel(self.model.step_spec())(state.shape[1], ticks, state, command, *arrays, dt)

    def pose(self, state: Floats) -> Pose:
        """The poses of a fleet."""
        return Pose(*rows(vectorised(self.model.pose)(self.model.state(*state), self.parameters), state.shape[1]))

    def energy(self, state: Floats) -> Floats:
        """The mechanical energies of a fleet."""
        energy = vectorised(self.model.energy)(self.model.state(*state), self.parameters, self.environment)
        return np.broadcast_to(energy, state.shape[1])

    def guide(self, state: Floats, command: Floats, desire: Desire) -> Floats:
        """The commands that the model makes of a desire."""
        given = self.model.state(*state), self.model.command(*command), self.parameters, desire
        return rows(vectorised(self.model.guide)(*given), state.shape[1])

    def commands(self, n: int, which: str = "default") -> Floats:
        """Default commands; or the `brake` or `failsafe` ones, where a column has them."""
        columns = columns_of(self.model.command)
        chosen = [c.default if (value := getattr(c, which)) is None else value for c in columns]
        return np.repeat(np.array(chosen, dtype=float)[:, None], n, axis=1)

    def random_commands(self, before: Floats) -> Floats:
        """Uniform in each column's range; those the model declares steady stay as they are."""
        after = before.copy()
        for row, column in enumerate(columns_of(self.model.command)):
            if column.name not in self.model.steady:
                after[row] = self.random.uniform(*limits(column), before.shape[1])
        return after

    def random_modes(self, n: int) -> Floats:
        """Default commands, but each agent has its own whole-numbered value of the steady ones."""
        command = self.commands(n)
        for row, column in enumerate(columns_of(self.model.command)):
            if column.name in self.model.steady and np.isfinite([column.low, column.high]).all():
                command[row] = self.random.integers(int(np.ceil(column.low)), int(column.high) + 1, n)
        return command

    def demand_finite(self, values: Floats, names: tuple[str, ...], when: str) -> None:
        """Every row must be finite; a failure names the column."""
        for name, row in zip(names, values, strict=True):
            if not np.isfinite(row).all():
                self.fail(f"column {name!r} becomes {row[~np.isfinite(row)][0]} {when}")

    def demand_same_bits(self, a: Floats, b: Floats, what: str, names: tuple[str, ...] = ()) -> None:
        """Two fleets must be equal bit for bit; a failure names the column (of the state, unless names are given)."""
        fields = names or self.model.state._fields  # type: ignore[attr-defined]
        for name, one, other in zip(fields, a, b, strict=True):
            unequal = np.flatnonzero(one.view(np.uint64) != other.view(np.uint64))
            if unequal.size:
                k = unequal[0]
                self.fail(f"column {name!r} differs {what}: {one[k]!r} and {other[k]!r}")


def limits(column: Column) -> tuple[float, float]:
    """The range for random commands."""
    low = column.low if np.isfinite(column.low) else min(-UNBOUNDED, column.high - UNBOUNDED)
    high = column.high if np.isfinite(column.high) else max(UNBOUNDED, low + UNBOUNDED)
    return low, high


def rows(values: Any, n: int) -> Floats:
    """A named tuple of arrays as one array of columns x agents."""
    return np.array([np.broadcast_to(np.asarray(value, dtype=float), n) for value in values])
