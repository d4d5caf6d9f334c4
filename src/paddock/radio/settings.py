"""Checks of what users set in a run: changes of jammers and spoofers, options of messages and of assignments.

Local simulations and clients use them, so that the errors are the same.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, unknown_name
from paddock.scenario.base import FARTHEST_PLACE
from paddock.scenario.radio import NARROWEST, WIDEST
from paddock.scenario.radio_types import HIGHEST_FREQUENCY, LONGEST, LOWEST_FREQUENCY

SETTABLE = ("on", "scheduled", "position", "vehicle", "power", "frequency", "bandwidth")
SETTINGS = {"jammer": SETTABLE, "spoofer": SETTABLE[:5]}
LIMITS = {
    "power": (-100.0, 100.0),
    "frequency": (LOWEST_FREQUENCY, HIGHEST_FREQUENCY),
    "bandwidth": (NARROWEST, WIDEST),
}
MOST_BITS = 1 << 24  # of one message
MOST_HOPS = 255
MOST_RETRIES = 100
MOST_ROUNDS = 1_000_000  # of an assignment


def as_plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python, other values as they are."""
    return value.item() if isinstance(value, np.generic) else value


def checked_settings(kind: str, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of a jammer or spoofer (`kind`) in plain values; UnknownNameError or InvalidValueError."""
    settable = SETTINGS[kind]
    if not changes:
        raise InvalidValueError(f"{kind} {name!r}: nothing to change; give {', '.join(settable)}")
    for setting in changes:
        if setting not in settable:
            raise unknown_name(f"setting of a {kind}", setting, settable)
    return checked_changes(changes)


def checked_changes(changes: Mapping[str, Any], restoring: bool = False) -> dict[str, Any]:
    """Return changes of a jammer in plain values; InvalidValueError for those that are not valid.

    The changes of a state that is `restoring` are complete.
    """
    checked: dict[str, Any] = {}
    for name, setting in changes.items():
        value = as_plain(setting)
        if name not in SETTABLE:
            raise unknown_name("setting of a jammer", name, SETTABLE)
        if name in ("on", "scheduled"):
            if not isinstance(value, bool):
                raise InvalidValueError(f"{name} must be true or false, not {value!r}")
            checked[name] = value
        elif name == "vehicle":
            if not isinstance(value, str):
                raise InvalidValueError(f"vehicle must be the name of a vehicle, not {value!r}")
            checked[name] = value
        elif name == "position":
            checked[name] = _position(value)
        else:
            low, high = LIMITS[name]
            if not _is_number(value) or not low <= value <= high:
                raise InvalidValueError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
            checked[name] = float(value)
    if not restoring and "scheduled" in checked and ("on" in checked or not checked["scheduled"]):
        raise InvalidValueError("give on (true or false), or scheduled: true to return to the schedule")
    if ("position" in checked and "vehicle" in checked) or (restoring and not {"position", "vehicle"} & checked.keys()):
        raise InvalidValueError("a jammer has a position or a vehicle, not both")
    return checked


def _position(value: Any) -> list[float]:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(values, list | tuple) and len(values) == 3:
        plain = [as_plain(number) for number in values]
        if all(_is_number(number) and abs(number) <= FARTHEST_PLACE for number in plain):
            return [float(number) for number in plain]
    raise InvalidValueError(f"position must be [x, y, z] in m, not {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return `bits`, `hops` and `lifetime` (s) of a message as plain numbers, without those that are None.

    InvalidValueError for values that are not valid.
    """
    checked = {name: as_plain(value) for name, value in options.items() if value is not None}
    for name, low, high in (("bits", 0, MOST_BITS), ("hops", 1, MOST_HOPS)):
        if name in checked and not (type(checked[name]) is int and low <= checked[name] <= high):
            raise InvalidValueError(f"send: {name} is a whole number from {low} to {high}, not {checked[name]!r}")
    life = checked.get("lifetime", 1.0)
    if not _is_number(life) or not 0.0 < life <= LONGEST:
        raise InvalidValueError(f"send: lifetime is a time in s, > 0 and <= {LONGEST:g}, not {life!r}")
    return checked


def checked_assignment(
    vehicles: Any, cost: Any, period: Any, rounds: Any
) -> tuple[list[str | int], NDArray[np.float64], float, int]:
    """Return the arguments of `assign` as plain values: names or ids, costs (vehicles, tasks), s, rounds.

    InvalidValueError for values that are not valid.
    """
    listed = not isinstance(vehicles, str) and np.iterable(vehicles)
    names = [as_plain(vehicle) for vehicle in vehicles] if listed else []
    if not names or not all(isinstance(vehicle, str) or type(vehicle) is int for vehicle in names):
        raise InvalidValueError(f"assign: vehicles is a list of names or ids, not {vehicles!r:.60}")
    try:
        costs = np.array(cost, np.float64)
    except (TypeError, ValueError):  # texts, or rows of different lengths
        costs = np.zeros(0)
    if costs.ndim != 2 or costs.shape[0] != len(names) or not costs.size or not np.isfinite(costs).all():
        raise InvalidValueError(f"assign: cost has a finite number for each of {len(names)} vehicles and each task")
    time, count = as_plain(period), as_plain(rounds)
    if not _is_number(time) or not 0.0 < time <= LONGEST:
        raise InvalidValueError(f"assign: period is a time in s, > 0 and <= {LONGEST:g}, not {time!r}")
    if type(count) is not int or not 1 <= count <= MOST_ROUNDS:
        raise InvalidValueError(f"assign: rounds is a whole number from 1 to {MOST_ROUNDS}, not {count!r}")
    return names, costs, float(time), count
