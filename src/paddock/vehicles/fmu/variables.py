"""The variables of an exported model: commands, parameters, environment, start, state, pose and report."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from paddock.vehicles.model import Placement, VehicleModel
from paddock.world.columns import Column, Floats, columns_of
from paddock.world.pose import FARTHEST, Environment, Pose

LARGEST = 1.7976931348623157e308
BASE_UNITS: dict[str, tuple[float, dict[str, int]]] = {
    "m": (1.0, {"m": 1}),
    "kg": (1.0, {"kg": 1}),
    "s": (1.0, {"s": 1}),
    "A": (1.0, {"A": 1}),
    "K": (1.0, {"K": 1}),
    "rad": (1.0, {"rad": 1}),
    "N": (1.0, {"kg": 1, "m": 1, "s": -2}),
    "J": (1.0, {"kg": 1, "m": 2, "s": -2}),
    "W": (1.0, {"kg": 1, "m": 2, "s": -3}),
    "Pa": (1.0, {"kg": 1, "m": -1, "s": -2}),
    "V": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -1}),
    "ohm": (1.0, {"kg": 1, "m": 2, "s": -3, "A": -2}),
    "Hz": (1.0, {"s": -1}),
    "mAh": (3.6, {"A": 1, "s": 1}),
}
"""Symbols of columns: factor and exponents of the SI base units."""
NO_UNITS = ("", "0/1")


@dataclass(frozen=True)
class FmuVariable:
    """A number of an FMU; its value reference is its position."""

    name: str
    causality: str  # independent, input, parameter, output, local
    variability: str  # continuous, tunable, fixed
    unit: str
    meaning: str
    low: float = -inf
    high: float = inf
    start: float | None = None
    instant: bool = False  # it follows the inputs without a step


@dataclass(frozen=True)
class VariableGroup:
    """Variables that are the fields of one named tuple."""

    name: str
    fields: type
    first: int  # value reference
    variables: tuple[FmuVariable, ...]


def variable_groups(model: VehicleModel, parameters: Floats, environment: Floats) -> tuple[VariableGroup, ...]:
    """Return the groups in the order of their value references, which begin after the time's."""
    reach = {"x": FARTHEST, "y": FARTHEST, "z": FARTHEST, "yaw": 1e5, "speed": 1e4}
    starts = [Column(c.unit, c.meaning, -reach[c.name], reach[c.name], name=c.name) for c in columns_of(Placement)]
    commands = columns_of(model.command)
    held = [float(np.clip(c.default or 0.0, c.low, c.high)) for c in commands]
    settable: list[tuple[str, type, Sequence[Column], str, str, Sequence[float]]] = [
        ("command", model.command, commands, "input", "continuous", held),
        ("parameters", model.parameters, columns_of(model.parameters), "parameter", "tunable", parameters.tolist()),
        ("environment", Environment, columns_of(Environment), "parameter", "tunable", environment.tolist()),
        ("start", Placement, starts, "parameter", "fixed", [0.0] * len(starts)),
    ]
    groups, first = list[VariableGroup](), 1
    for name, fields, columns, causality, variability, values in settable:
        group = [
            FmuVariable(f"{name}.{c.name}", causality, variability, c.unit, c.meaning, c.low, c.high, value)
            for c, value in zip(columns, values, strict=True)
        ]
        groups.append(VariableGroup(name, fields, first, tuple(group)))
        first += len(group)
    shown: list[tuple[str, Any, str]] = [("state", model.state, "output"), ("pose", Pose, "output")]
    shown += [("report", model.report_type, "local")] if model.report_type is not None else []
    for name, fields, causality in shown:
        instant = name == "report"
        group = [
            FmuVariable(f"{name}.{c.name}", causality, "continuous", c.unit, c.meaning, instant=instant)
            for c in columns_of(fields)
        ]
        groups.append(VariableGroup(name, fields, first, tuple(group)))
        first += len(group)
    return tuple(groups)


def all_variables(groups: Sequence[VariableGroup]) -> tuple[FmuVariable, ...]:
    """Return the time and the variables of all groups, in the order of their value references."""
    time = FmuVariable("time", "independent", "continuous", "s", "simulated time")
    return time, *(variable for group in groups for variable in group.variables)


def unit_exponents(unit: str) -> tuple[float, dict[str, int]] | None:
    """Return the factor and the exponents of the base units of a unit such as `kg m2` or `m/s2`; None if unknown."""
    factor, exponents = 1.0, dict[str, int]()
    for sign, symbol, power in _symbols(unit):
        if symbol not in BASE_UNITS:
            return None
        times, base = BASE_UNITS[symbol]
        factor *= times ** (sign * power)
        for name, exponent in base.items():
            exponents[name] = exponents.get(name, 0) + sign * power * exponent
    return factor, {name: exponent for name, exponent in exponents.items() if exponent}


def _symbols(unit: str) -> Iterator[tuple[int, str, int]]:
    for k, part in enumerate(unit.split("/")):
        for text in part.split():
            if text == "1":
                continue
            found = re.fullmatch(r"([A-Za-z]+)(\d*)", text)
            yield (-1 if k else 1), (found[1] if found else text), int(found[2] or 1) if found else 1
