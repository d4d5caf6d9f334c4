"""The complete state of a built-in autopilot, for `Simulation.save`: its objects, and its rows of numbers."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.sitl.autopilot.estimator.kalman import WATCHES
from paddock.sitl.autopilot.group import ARMED, CONTROLLED, DECIDED, NOW, REBOOT
from paddock.sitl.autopilot.mission.executor import FIRST, MissionExecutor
from paddock.sitl.autopilot.mission.items import ITEM_KINDS, MissionItem, PlanKind, Role
from paddock.sitl.autopilot.parameters import single
from paddock.sitl.autopilot.saving import UnsavableError, in_range, load_objects, save_objects, saved_names
from paddock.sitl.sensor_data import Floats
from paddock.world.archive import Tree

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

GAPS_FROM = {"setpoint": 0, "filter_sensors": 0, "filter_memory": WATCHES}  # columns where NaN means: not given
SCRATCH = "work"  # of the filters: holds nothing between two updates


def save_autopilot(autopilot: "BuiltInAutopilot") -> Tree:
    """Return everything that shapes the further flight, as a tree."""
    rows = {name: row.copy() for name, row in _rows(autopilot).items()}
    return {"objects": save_objects(_roots(autopilot)), "rows": rows, "note": autopilot.status.note}


def read_autopilot(autopilot: "BuiltInAutopilot", tree: Any) -> Callable[[], None]:
    """Return a function that loads a saved state, after checking it; PaddockError if it is not valid."""
    if not isinstance(tree, dict) or tree.keys() != {"objects", "rows", "note"}:
        raise UnsavableError("an autopilot's state has objects, rows and a note")
    if not isinstance(tree["note"], str) or not in_range(tree["note"]):
        raise UnsavableError("the note of an autopilot is a short printable text")
    found, rows = load_objects(tree["objects"], _roots(autopilot)), tree["rows"]
    _check_rows(autopilot, rows)
    _check_parameters(autopilot, found["parameters"])
    _check(autopilot, found["autopilot"], rows["status"])

    def load() -> None:
        for name, root in _roots(autopilot).items():
            for attribute in {*saved_names(root)} - found[name].keys():
                object.__delattr__(root, attribute)
            for attribute, value in found[name].items():
                object.__setattr__(root, attribute, value)
        for name, row in _rows(autopilot).items():
            row[...] = rows[name]
        autopilot.restored(tree["note"])

    return load


def _roots(autopilot: "BuiltInAutopilot") -> dict[str, object]:
    """Return the objects that exist as long as the autopilot; the others are replaced when it boots."""
    return {"autopilot": autopilot, "estimator": autopilot.estimator, "parameters": autopilot.parameters}


def _rows(autopilot: "BuiltInAutopilot") -> dict[str, Floats]:
    """Return its rows of the arrays that it shares with its group, by name."""
    place, filters, controls = autopilot.place, autopilot.estimator.arrays, autopilot.controls
    found = {f"filter_{name}": array[place : place + 1] for name, array in filters._asdict().items()}
    found |= {name: array[place : place + 1] for name, array in controls._asdict().items()}
    del found[f"filter_{SCRATCH}"]
    return found


def _check_rows(autopilot: "BuiltInAutopilot", rows: Any) -> None:
    present = _rows(autopilot)
    if not isinstance(rows, dict) or rows.keys() != present.keys():
        raise UnsavableError(f"the rows of an autopilot are {', '.join(present)}")
    for name, row in present.items():
        given = rows[name]
        if not isinstance(given, np.ndarray) or given.shape != row.shape or given.dtype != row.dtype:
            raise UnsavableError(f"rows, {name}: expected {row.dtype} of shape {row.shape}")
        if not in_range(given) or not np.isfinite(given[..., : GAPS_FROM.get(name)]).all():
            raise UnsavableError(f"rows, {name}: not finite, or beyond the range of a state")


def _check_parameters(autopilot: "BuiltInAutopilot", found: Mapping[str, Any]) -> None:
    parameters = autopilot.parameters
    if [*found["_values"]] != parameters.names() or not found["_saved"].keys() <= found["_values"].keys():
        raise UnsavableError("the parameters are not those of this vehicle type")
    for name, value in [*found["_values"].items(), *found["_saved"].items()]:
        known = parameters.known(name)
        if value not in (known.fit(value), single(known.default)):
            raise UnsavableError(f"parameter {name} cannot be {value}")


def _check(autopilot: "BuiltInAutopilot", found: Mapping[str, Any], rows: Floats) -> None:
    """Check what belongs together: vehicle type, mode, plans, mission, times."""
    status, vehicle, mode = rows[0].tolist(), found["vehicle"], found["mode"]
    kind = vehicle.modes.get(type(mode).number)
    if type(vehicle) is not type(autopilot.vehicle) or kind is not type(mode):
        raise UnsavableError(f"{type(mode).__name__} is no mode of a {autopilot.vehicle.kind}")
    times = status[NOW], status[CONTROLLED], status[DECIDED]
    if not all(map(isfinite, status)) or not 0.0 <= max(times) <= status[NOW] or min(times) < -1.0:
        raise UnsavableError("the times of the status are not valid")
    if found["_armed"] != bool(status[ARMED]) or {status[ARMED], status[REBOOT]} - {0.0, 1.0}:
        raise UnsavableError("the status is not valid")
    if found["plans"].keys() != set(PlanKind):
        raise UnsavableError("there is one plan of each kind")
    for each, items in found["plans"].items():
        if (result := autopilot.check_plan(each, items))[0]:
            raise UnsavableError(f"{each.name.lower()} plan: item {result[1]} is not valid")
    _check_progress(autopilot, found["executor"])


def _check_progress(autopilot: "BuiltInAutopilot", executor: MissionExecutor) -> None:
    """Check a mission in progress: items, and indices of items."""
    items: tuple[MissionItem, ...] = tuple(executor.items)
    if autopilot.check_plan(PlanKind.MISSION, items)[0] or not 0 <= executor.current <= max(len(items) - 1, 0):
        raise UnsavableError("the current item of the mission is not valid")
    leg, actions = executor._leg, executor.actions.waiting
    begun = [] if leg is None else [leg.sequence]
    if not all(FIRST <= k < len(items) for k in (*begun, *executor._jumps, *(k for k, _ in actions))):
        raise UnsavableError("the mission in progress has an item that does not exist")
    roles = [ITEM_KINDS[items[k].command].role for k in begun]
    if any(role is not Role.NAV for role in roles) or any(item is not items[k] for k, item in actions):
        raise UnsavableError("the mission in progress does not match its items")
