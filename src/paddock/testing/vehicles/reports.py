"""What a model may add to snapshots: its report has names of its own, stays finite and is the same in every twin."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.compute.kernel import KernelSpec, kernel
from paddock.compute.twin import vectorised
from paddock.testing.vehicles.declarations import demand_tuple
from paddock.testing.vehicles.rig import Rig, rows
from paddock.testing.vehicles.twins import drive
from paddock.world.columns import Floats
from paddock.world.pose import Pose

AGENTS = 64


def check_report(rig: Rig) -> str:
    """Driven for a while, and at rest: Python, NumPy and compiled code report the same finite numbers."""
    if (rig.model.report is None) != (rig.model.report_type is None):
        rig.fail("report and report_type belong together: give both or neither")
    spec = rig.model.report_spec()
    if spec is None:
        return "none"
    names = rig.model.report_columns
    if taken := set(names) & {*Pose._fields, *rig.model.telemetry}:
        rig.fail(f"the report's column {min(taken)!r} is in snapshots already")
    state, commands = drive(rig, AGENTS)
    _compare(rig, spec, state, commands[0])
    for command in commands:
        rig.run(state, command, rig.model.dt_max)
    _compare(rig, spec, state, commands[-1])
    return f"{len(names)} columns equal in Python, NumPy and compiled code"


def _compare(rig: Rig, spec: KernelSpec, state: Floats, command: Floats) -> None:
    names = rig.model.report_columns
    one = spec.function(*_arguments(rig, state[:, 0].tolist(), command[:, 0].tolist()))
    demand_tuple(rig, "report", one, rig.model.report_type)
    found = np.zeros((len(names), AGENTS))
    shared = np.array(rig.parameters), np.array(rig.environment)
    kernel(spec)(AGENTS, 1, state, command, *shared, found)
    rig.demand_finite(found, names, "in the report")
    arrays = vectorised(spec.function)(*_arguments(rig, state, command))
    rig.demand_same_bits(rows(arrays, AGENTS), found, "between NumPy and compiled code", names)
    rig.demand_same_bits(np.array(one)[:, None], found[:, :1].copy(), "between Python and compiled code", names)


def _arguments(rig: Rig, state: Any, command: Any) -> tuple[Any, ...]:
    return rig.model.state(*state), rig.model.command(*command), rig.parameters, rig.environment
