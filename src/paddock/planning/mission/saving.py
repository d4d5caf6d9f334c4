"""Save and restore of a mission, as plain values and arrays.

Tasks, vehicles and zones of the setup are saved as their index there, all others with their fields. Routes are not
saved: they are rebuilt from the same inputs, bit for bit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from itertools import accumulate
from math import isfinite
from typing import Any

from paddock.errors import InvalidValueError
from paddock.planning.coverage.polygon import PolygonShape
from paddock.planning.coverage.shapes import AreaShape, CircleShape, LineShape, PointShape
from paddock.planning.mission.state import Job, LogEntry, MissionData, MoveTask, RemoveTask, Request
from paddock.planning.mission.vehicles import ARRAYS, Drawn, MissionFleet, Rest, Status, drawn_again
from paddock.planning.obstacles.zones import CircleZone, PolygonZone, Zone
from paddock.planning.problem import Happening, MissionSetup, Task, Vehicle
from paddock.world.archive import typed

KEPT = ("time", "started", "happened", "replans")
SHAPES: dict[str, Any] = {shape.kind: shape for shape in (PointShape, LineShape, CircleShape, AreaShape, PolygonShape)}
REQUESTS: dict[type[Any], str] = {MoveTask: "Move", RemoveTask: "Remove", Happening: "Happening"}
FIELDS = {"spec": "agent", "vehicle": "agent"}  # fields that have another name in saved states


def saved_state(state: MissionData) -> dict[str, Any]:
    """Return the whole state."""
    tasks, vehicles, zones = _known(state.setup)
    fleet = state.fleet
    return {
        **{name: getattr(state, name) for name in KEPT},
        "log": [list(entry) for entry in state.log],
        "tasks": _indexed(state.known, tasks),
        "jobs": {name: values_of(job) for name, job in state.tasks.items()},
        "zones": _indexed(state.chart, zones),
        **({} if _counted(state.closed) == len(state.chart) else {"closed": list(state.closed)}),
        "agents": _indexed([vehicle.spec for vehicle in fleet.list], vehicles),
        "members": [
            {name: getattr(vehicle, name) for name in ("status", "leg", "spent")}
            | {"drawn": drawn_values(vehicle.drawn), "legs": bool(vehicle.route.legs)}
            for vehicle in fleet.list
        ],
        "arrays": {name: getattr(fleet, name).copy() for name in ARRAYS},
        **({} if state.contact is None else {"contact": state.contact.save()}),
        "queue": [{"what": REQUESTS[type(request)], **values_of(request)} for request in state.queue],
    }


def load_state(setup: MissionSetup, saved: Mapping[str, Any]) -> MissionData:
    """Return the state that was saved."""
    state = MissionData(setup)
    for name in KEPT:
        setattr(state, name, typed(type(getattr(state, name)), saved[name], name))
    state.log = [typed(LogEntry, row, "log") for row in saved["log"]]
    tasks, vehicles, zones = _known(setup)
    state.known = _looked_up(saved["tasks"], tasks, _task)
    state.tasks = {name: typed(Job, _renamed(row, "vehicle"), name) for name, row in saved["jobs"].items()}
    state.chart = _looked_up(saved["zones"], zones, _zone)
    state.closed = _indices(saved.get("closed", len(state.chart)))
    state.queue = [_request(row) for row in saved["queue"]]
    state.fleet = MissionFleet()
    for spec, entry in zip(_looked_up(saved["agents"], vehicles, _spec), saved["members"], strict=True):
        vehicle = state.fleet.add(spec)
        vehicle.status = typed(Status, entry["status"], "status")
        vehicle.spent, vehicle.drawn = typed(bool, entry["spent"], "spent"), drawn_from(entry["drawn"])
        if entry["legs"]:
            vehicle.route = drawn_again(state.problem, state.known, state.chart, vehicle.drawn)
            vehicle.ends = list(accumulate(leg.flown for leg in vehicle.route.legs))
        vehicle.leg = typed(int, entry["leg"], "leg")
    for name in ARRAYS:
        getattr(state.fleet, name)[:] = saved["arrays"][name]
    _check(state)
    if state.contact is not None:
        state.contact.restore(saved["contact"], state.tasks, len(state.fleet.list))
    return state


def _check(state: MissionData) -> None:
    """Refuse what refers to something that does not exist."""
    fleet, names = state.fleet, {vehicle.spec.name for vehicle in state.fleet.list}
    for vehicle in fleet.list:
        if isfinite(fleet.due[vehicle.row]) and not 0 <= vehicle.leg < len(vehicle.route.legs):
            raise InvalidValueError(f"vehicle {vehicle.spec.name!r} has no leg {vehicle.leg}")
    for name, job in state.tasks.items():
        if not 0 <= job.version < len(state.known) or job.vehicle not in (None, *names):
            raise InvalidValueError(f"task {name!r} refers to version {job.version} and vehicle {job.vehicle!r}")
    for zones in (state.closed, *(vehicle.drawn.zones for vehicle in fleet.list)):
        if any(not 0 <= k < len(state.chart) for k in zones):
            raise InvalidValueError(f"zones {list(zones)} of {len(state.chart)}")
    if not 0 <= state.happened <= len(state.happenings):
        raise InvalidValueError(f"{state.happened} events have happened of {len(state.happenings)}")


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
