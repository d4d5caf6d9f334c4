"""Save and restore of a mission, as plain values and arrays.

Tasks, vehicles and zones of the setup are saved as their index there, all others with their fields. Routes are not
saved: they are rebuilt from the same inputs, bit for bit.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from itertools import accumulate
from math import inf, isfinite
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.shapes import AreaShape, CircleShape, InfeasibleError, LineShape, PointShape
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone
from paddock.planning.mission.state import Job, LogEntry, MissionData, MoveTask, RemoveTask, Request
from paddock.planning.mission.station import StationContact, saved_row
from paddock.planning.mission.vehicles import ARRAYS, Drawn, MissionFleet, Rest, drawn_again
from paddock.planning.solver.problem import Happening, MissionSetup, Task, Vehicle
from paddock.planning.solver.routes import Status
from paddock.world.archive import typed
from paddock.world.columns import FARTHEST

KEPT = ("time", "started", "happened", "replans")
SHAPES: dict[str, Any] = {shape.kind: shape for shape in (PointShape, LineShape, CircleShape, AreaShape, PolygonShape)}
REQUESTS: dict[type[Any], str] = {MoveTask: "Move", RemoveTask: "Remove", Happening: "Happening"}
FINITE = ("progress", "travelled", "passed", "whole")  # arrays of metres; of the others, some are infinite
FIELDS = {"spec": "agent", "vehicle": "agent"}  # fields that have another name in saved states


def saved_state(state: MissionData) -> dict[str, Any]:
    """Return the whole state."""
    tasks, _, zones = _known(state.setup)
    return {
        **{name: getattr(state, name) for name in KEPT},
        "log": [list(entry) for entry in state.log],
        "tasks": _indexed(state.known, tasks),
        "jobs": {name: values_of(job) for name, job in state.tasks.items()},
        **({} if list(state.tasks) == _first_added(state.known, state.tasks) else {"order": list(state.tasks)}),
        "zones": _indexed(state.chart, zones),
        **({} if _counted(state.closed) == len(state.chart) else {"closed": list(state.closed)}),
        **saved_fleet(state.fleet, state.setup),
        **({} if state.contact is None else {"contact": _saved_contact(state.contact)}),
        "queue": [{"what": REQUESTS[type(request)], **values_of(request)} for request in state.queue],
    }


def saved_fleet(fleet: MissionFleet, setup: MissionSetup) -> dict[str, Any]:
    """Return vehicles with their routes."""
    return {
        "agents": _indexed([vehicle.spec for vehicle in fleet.list], _known(setup)[1]),
        "members": [
            {name: getattr(vehicle, name) for name in ("status", "leg", "spent")}
            | {"drawn": drawn_values(vehicle.drawn), "legs": bool(vehicle.route.legs)}
            for vehicle in fleet.list
        ],
        "arrays": {name: getattr(fleet, name).copy() for name in ARRAYS},
    }


def loaded_fleet(state: MissionData, saved: Mapping[str, Any]) -> MissionFleet:
    """Return the vehicles of `saved_fleet`; tasks and zones of the mission must be restored first."""
    fleet = MissionFleet()
    for spec, entry in zip(_looked_up(saved["agents"], _known(state.setup)[1], _spec), saved["members"], strict=True):
        vehicle = fleet.add(spec)
        vehicle.status = typed(Status, entry["status"], "status")
        vehicle.spent, vehicle.drawn = typed(bool, entry["spent"], "spent"), drawn_from(entry["drawn"])
        _check_drawn(state, vehicle.drawn)
        if entry["legs"]:
            vehicle.route = drawn_again(state.problem, state.known, state.chart, vehicle.drawn)
            vehicle.ends = list(accumulate(leg.flown for leg in vehicle.route.legs))
            fleet.route_until[vehicle.row] = vehicle.route.legs[-1].ends if vehicle.route.legs else inf
        vehicle.leg = typed(int, entry["leg"], "leg")
    for name in ARRAYS:
        getattr(fleet, name)[:] = saved["arrays"][name]
    for name in ARRAYS:
        values = getattr(fleet, name)
        wrong = ~np.isfinite(values) if name in FINITE else np.isnan(values) & (name != "fullest")  # NaN: no battery
        if wrong.any():
            raise InvalidValueError(
                f"{name!r} of vehicle {fleet.list[int(wrong.argmax())].spec.name!r} is not a number"
            )
    for vehicle in fleet.list:
        if isfinite(fleet.due[vehicle.row]) and not 0 <= vehicle.leg < len(vehicle.route.legs):
            raise InvalidValueError(f"vehicle {vehicle.spec.name!r} has no leg {vehicle.leg}")
    return fleet


def _saved_contact(contact: StationContact) -> dict[str, Any]:
    routes = contact.issued.items()
    issued = {str(row): {str(n): drawn_values(drawn) for n, drawn in own.items()} for row, own in routes}
    return contact.save() | {"issued": issued}


def _load_contact(state: MissionData, contact: StationContact, saved: Mapping[str, Any]) -> None:
    contact.restore(saved, len(state.fleet.list))
    for row, own in saved["issued"].items():
        routes = {int(n): drawn_from(values) for n, values in own.items()}
        for drawn in routes.values():
            _check_drawn(state, drawn)
            with suppress(InfeasibleError):  # then the vehicle that receives it keeps its route
                drawn_again(state.problem, state.known, state.chart, drawn)
        contact.issued[saved_row(row, len(contact.seen))] = routes


def load_state(setup: MissionSetup, saved: Mapping[str, Any]) -> MissionData:
    """Return the state that was saved."""
    state = MissionData(setup)
    for name in KEPT:
        setattr(state, name, typed(type(getattr(state, name)), saved[name], name))
    state.log = [typed(LogEntry, row, "log") for row in saved["log"]]
    tasks, _, zones = _known(setup)
    state.known = _looked_up(saved["tasks"], tasks, _task)
    jobs = {name: typed(Job, _renamed(row, "vehicle"), name) for name, row in saved["jobs"].items()}
    order = typed(list[str], saved.get("order", _first_added(state.known, jobs)), "order of tasks")
    if sorted(order) != sorted(jobs):
        raise InvalidValueError("the saved order of tasks does not have the names of the tasks")
    state.tasks = {name: jobs[name] for name in order}
    state.chart = _looked_up(saved["zones"], zones, _zone)
    state.closed = _indices(saved.get("closed", len(state.chart)))
    state.queue = [_request(row) for row in saved["queue"]]
    state.fleet = loaded_fleet(state, saved)
    _check(state)
    if state.contact is not None:
        _load_contact(state, state.contact, saved["contact"])
    return state


def _first_added(known: Sequence[Task], names: Collection[str]) -> list[str]:
    """Return the names of tasks in the order of their first versions: an archive sorts names."""
    return [name for name in dict.fromkeys(task.name for task in known) if name in names]


def _check(state: MissionData) -> None:
    """Refuse what refers to something that does not exist."""
    names = {vehicle.spec.name for vehicle in state.fleet.list}
    for name, job in state.tasks.items():
        if not 0 <= job.version < len(state.known) or job.vehicle not in (None, *names):
            raise InvalidValueError(f"task {name!r} refers to version {job.version} and vehicle {job.vehicle!r}")
    if any(not 0 <= k < len(state.chart) for k in state.closed):
        raise InvalidValueError(f"zones {list(state.closed)} of {len(state.chart)}")
    if not 0 <= state.happened <= len(state.happenings):
        raise InvalidValueError(f"{state.happened} events have happened of {len(state.happenings)}")


def _check_drawn(state: MissionData, drawn: Drawn) -> None:
    """Refuse a route to tasks or around zones that do not exist."""
    rest = () if drawn.rest is None else (drawn.rest.task,)
    if any(not 0 <= k < len(state.known) for k in (*drawn.order, *rest)):
        raise InvalidValueError(f"tasks {[*drawn.order, *rest]} of {len(state.known)}")
    if not all(abs(value) <= FARTHEST for value in (*drawn.spec.pose, *drawn.spec.home, drawn.spec.travels_at)):
        raise InvalidValueError(f"vehicle {drawn.spec.name!r:.60} is not within {FARTHEST:g} m")
    if drawn.rest is not None and not all(map(isfinite, (drawn.rest.done, drawn.rest.begins, *drawn.rest.end))):
        raise InvalidValueError("the rest of a task has numbers that are not finite")
    if any(not 0 <= k < len(state.chart) for k in drawn.zones):
        raise InvalidValueError(f"zones {list(drawn.zones)} of {len(state.chart)}")


def _known(setup: MissionSetup) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the tasks, vehicles and zones of a setup, those of its events included."""
    problem, events = setup.problem, setup.happenings
    return (
        [*problem.tasks, *(event.task for event in events)],
        [*problem.vehicles, *(event.vehicle for event in events)],
        [*problem.zones, *(event.zone for event in events)],
    )


def values_of(thing: Any) -> Any:
    """Return a dataclass as a mapping of the fields that are not at their default; tuples as lists."""
    if isinstance(thing, (tuple, list)):
        return [values_of(one) for one in thing]
    if not is_dataclass(thing):
        return thing
    own = {
        FIELDS.get(f.name, f.name): values_of(getattr(thing, f.name))
        for f in fields(thing)
        if f.default is MISSING or getattr(thing, f.name) != f.default
    }
    if isinstance(thing, CircleZone | PolygonZone):
        return own | {"kind": "circle" if isinstance(thing, CircleZone) else "polygon"}
    kind = getattr(type(thing), "kind", None)
    if kind is not None and kind not in SHAPES:
        raise InvalidValueError(f"cannot save a task of the shape {kind!r}; valid: {', '.join(SHAPES)}")
    return own if kind is None else own | {"kind": kind}


def drawn_from(row: Mapping[str, Any]) -> Drawn:
    """Return the inputs of a route."""
    rest = row.get("rest")
    rest = None if rest is None else typed(Rest, {**rest, "zones": _indices(rest.get("zones", 0))}, "rest")
    return Drawn(_spec(row["agent"]), typed(tuple[int, ...], row["order"], "order"), _indices(row["zones"]), rest)


def drawn_values(drawn: Drawn) -> dict[str, Any]:
    """Return the inputs of a route as a mapping, from which `drawn_from` makes them again."""
    row: dict[str, Any] = {**values_of(drawn), "zones": _counted(drawn.zones)}
    if drawn.rest is not None and drawn.rest.zones:
        row["rest"]["zones"] = _counted(drawn.rest.zones)
    return row


def _counted(zones: Sequence[int]) -> int | list[int]:
    """Return the number of zones if they are the first ones, as long as none was opened again, else their indices."""
    return len(zones) if list(zones) == list(range(len(zones))) else list(zones)


def _indices(zones: Any) -> tuple[int, ...]:
    """Return the indices of zones from a count or a list."""
    found: tuple[int, ...] = typed(tuple[int, ...], list(range(zones)) if isinstance(zones, int) else zones, "zones")
    return found


def _indexed(things: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Return the index of each known item, and the values of the others."""
    places = {id(one): k for k, one in enumerate(known) if one is not None}
    return [places[id(thing)] if id(thing) in places else values_of(thing) for thing in things]


def _looked_up(rows: Sequence[Any], known: Sequence[Any], read: Callable[[Any], Any]) -> list[Any]:
    """Return the items of `_indexed`."""
    return [known[row] if isinstance(row, int) else read(row) for row in rows]


def _task(row: Mapping[str, Any]) -> Task:
    return Task(**{**row, "shape": SHAPES[row["shape"]["kind"]](**_arguments(row["shape"]))})


def _zone(row: Mapping[str, Any]) -> Zone:
    return (CircleZone if row["kind"] == "circle" else PolygonZone)(**_arguments(row))


def _spec(row: Mapping[str, Any]) -> Vehicle:
    found: Vehicle = typed(Vehicle, row, "vehicle")
    return found


def _request(row: Mapping[str, Any]) -> Request:
    own = {name: value for name, value in _renamed(row, "vehicle").items() if name != "what"}
    for kind in (MoveTask, RemoveTask):
        if row["what"] == REQUESTS[kind]:
            request: Request = typed(kind, own, "request")
            return request
    read: dict[str, Any] = {"task": _task, "vehicle": _spec, "zone": _zone}
    return Happening(**{name: read[name](value) if name in read else value for name, value in own.items()})


def _renamed(row: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return saved values by field name."""
    return {field if name == FIELDS[field] else name: value for name, value in row.items()}


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tuples(value) for name, value in row.items() if name != "kind"}


def _tuples(value: Any) -> Any:
    """Convert lists to tuples, recursively."""
    return tuple(_tuples(one) for one in value) if isinstance(value, (list, tuple)) else value
