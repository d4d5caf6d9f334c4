"""Fleets of one model without a simulation around them, for kernel benchmarks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.compute.twin import vectorised
from paddock.vehicles.model import Placement, VehicleModel, find_model
from paddock.world.columns import Floats, column_index, columns_of, defaults_of
from paddock.world.pose import Environment


@dataclass
class BareFleet:
    """The arrays that a step kernel takes."""

    model: VehicleModel
    n: int
    state: Floats  # (columns, n)
    command: Floats  # (columns, n)
    parameters: Floats
    environment: Floats
    dt: float  # s

    @property
    def arguments(self) -> tuple[Floats, Floats, Floats, Floats, float]:
        """The arrays, in the kernel's order."""
        return self.state, self.command, self.parameters, self.environment, self.dt


def bare_fleet(name: str, n: int, seed: int = 1) -> BareFleet:
    """Return a fleet spread over a square, at 20 m if it can fly, with constant random commands."""
    model = find_model(name)
    rng = np.random.default_rng(seed)
    parameters, environment = defaults_of(model.parameters).copy(), defaults_of(Environment).copy()
    height = np.full(n, 20.0 if model.kind in ("quad", "aircraft", "agent") else 0.0)
    columns: Any = [*rng.uniform(-500.0, 500.0, (2, n)), height, rng.uniform(-3.0, 3.0, n), rng.uniform(1.0, 5.0, n)]
    placed = vectorised(model.place)(
        Placement(*columns), model.parameters(*parameters.tolist()), Environment(*environment.tolist())
    )
    state = np.stack([np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)) for value in placed])
    return BareFleet(model, n, state, random_commands(model, n, rng), parameters, environment, model.dt_max)


def random_commands(model: VehicleModel, n: int, rng: np.random.Generator) -> Floats:
    """Return commands (columns, n): the model's defaults, varied within the ranges of columns that are not modes."""
    command = np.repeat(defaults_of(model.command)[:, None], n, axis=1)
    for name, row in column_index(model.command).items():
        column = columns_of(model.command)[row]
        if name not in model.steady:
            low, high = max(column.low, -3.0), min(column.high, 3.0)
            command[row] = rng.uniform(0.5 * low, 0.5 * high, n)
    return command
