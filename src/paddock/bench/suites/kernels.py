"""Speed of the models' kernels, compared with NumPy running the same source on whole arrays.

A `BareFleet` has one model and no simulation around it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.bench.result import Bench, Result, best_times, measured
from paddock.compute.kernel import kernel
from paddock.compute.threads import limit_threads
from paddock.compute.twin import vectorised
from paddock.vehicles.model import Placement, VehicleModel, find_model, model_names
from paddock.world.columns import Environment, Floats, column_index, columns_of, defaults_of


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


TARGETS = {"quad": ">= 10", "car.bicycle": ">= 4", "car.kinematic": ">= 4"}  # kernel on one thread over NumPy

ARITHMETIC = r"\bv?(?:add|sub|mul|div|sqrt|min|max|fn?m(?:add|sub)\w*|blendv?|cmp\w*)p[sd]\b.*%[yz]mm"
SCALAR = r"\bv?(?:add|sub|mul|div|sqrt|min|max|fn?m(?:add|sub)\w*)s[sd]\b"


def run(quick: bool) -> Iterator[Result]:
    """Measure all models: 100,000 vehicles, strict float64, one thread."""
    n = 10_000 if quick else 100_000
    limit_threads(1)
    try:
        for name in model_names():
            yield from _one(bare_fleet(name, n), 0.5 if quick else 4.0)
            if name == "quad" or not quick:
                yield _packed(bare_fleet(name, 512))
    finally:
        limit_threads(None)


def _one(fleet: BareFleet, seconds: float) -> Iterator[Result]:
    compiled = kernel(fleet.model.step_spec())
    ours, theirs = fleet.state.copy(), fleet.state.copy()
    step = vectorised(fleet.model.step, native=True)
    parameters = fleet.model.parameters(*fleet.parameters.tolist())
    environment = Environment(*fleet.environment.tolist())
    commands = fleet.model.command(*fleet.command)

    def in_numpy() -> None:
        state = step(fleet.model.state(*theirs), commands, parameters, environment, fleet.dt)
        for row, values in zip(theirs, state, strict=True):
            row[:] = values

    def in_kernel() -> None:
        compiled(fleet.n, 1, ours, *fleet.arguments[1:])

    def in_substeps() -> None:
        compiled(fleet.n, 8, ours, *fleet.arguments[1:])

    in_kernel()
    with np.errstate(all="ignore"):
        times = best_times({"numpy": in_numpy, "kernel": in_kernel, "substeps": in_substeps}, seconds)
    name = fleet.model.name
    yield measured(f"{name}: kernel over NumPy", times["numpy"] / times["kernel"], "x", TARGETS.get(name))
    yield measured(f"{name}: agent-steps", fleet.n / times["kernel"] / 1e6, "M/s")
    yield measured(f"{name}: agent-steps, 8 substeps", 8 * fleet.n / times["substeps"] / 1e6, "M/s")


def _packed(fleet: BareFleet) -> Result:
    """Count arithmetic instructions on whole vector registers in the machine code."""
    compiled = kernel(fleet.model.step_spec())
    text = compiled.assembly(fleet.n, 1, *fleet.arguments)
    packed, scalar = len(re.findall(ARITHMETIC, text)), len(re.findall(SCALAR, text))
    share = 100.0 * packed / max(packed + scalar, 1)
    return measured(f"{fleet.model.name}: packed arithmetic ({share:.0f} % of all)", packed, "instructions", ">= 50")


BENCH = Bench("model kernels against NumPy, and their vector instructions", run)
