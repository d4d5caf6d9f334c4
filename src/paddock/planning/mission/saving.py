"""The state of a mission as plain values and arrays, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from itertools import accumulate
from typing import Any

from paddock.errors import InvalidValueError
from paddock.planning.mission.state import Job, LogEntry, MissionState, MoveTask, RemoveTask, Request
from paddock.planning.mission.vehicles import ARRAYS, Drawn, Member, Rest, drawn_again
from paddock.planning.obstacles.zones import CircleZone, PolygonZone, Zone
from paddock.planning.problem import Agent, Happening, MissionSetup, Task

KEPT = ("time", "started", "happened", "replans")


def saved_state(state: MissionState) -> dict[str, Any]:
    """Everything. What the setup holds is referred to."""
    setup, members = state.setup, state.members
    tasks = [*setup.problem.tasks, *(h.task for h in setup.happenings)]
    agents = [*setup.problem.agents, *(h.agent for h in setup.happenings)]
    zones = [*setup.problem.zones, *(h.zone for h in setup.happenings)]
    return {
        **{name: getattr(state, name) for name in KEPT},
        "log": [list(entry) for entry in state.log],
        "tasks": given(state.board.known, tasks),
        "jobs": {name: values_of(job) for name, job in state.board.jobs.items()},
        "zones": given(state.zones, zones),
        "agents": given([member.agent for member in members.list], agents),
        "members": [_saved_member(member) for member in members.list],
        "arrays": {name: getattr(members, name).copy() for name in ARRAYS},
        "queue": [request_of(request) for request in state.queue],
    }


def load_state(setup: MissionSetup, saved: Mapping[str, Any]) -> MissionState:
    """The state again, its routes drawn anew."""
    state = MissionState(setup)
    for name in KEPT:
        setattr(state, name, saved[name])
    state.log = [LogEntry(*row) for row in saved["log"]]
    tasks = [*setup.problem.tasks, *(h.task for h in setup.happenings)]
    zones = [*setup.problem.zones, *(h.zone for h in setup.happenings)]
    state.board.known = [task_from(row, tasks) for row in saved["tasks"]]
    state.board.jobs = {name: Job(**row) for name, row in saved["jobs"].items()}
    state.zones = tuple(zone_from(row, zones) for row in saved["zones"])
    state.queue = [request_from(row) for row in saved["queue"]]
    _load_members(state, saved)
    return state


def _saved_member(member: Member) -> dict[str, Any]:
    return {
        "status": member.status,
        "leg": member.leg,
        "spent": member.spent,
        "drawn": values_of(member.drawn),
        "legs": bool(member.route.legs),
    }


def _load_members(state: MissionState, saved: Mapping[str, Any]) -> None:
    setup, everyone = state.setup, type(state.members)()
    agents: Sequence[Any] = [*setup.problem.agents, *(h.agent for h in setup.happenings)]
    for row, entry in zip(saved["agents"], saved["members"], strict=True):
        member = everyone.add(agent_from(row, agents))
        member.status, member.spent, member.drawn = entry["status"], entry["spent"], drawn_from(entry["drawn"])
        if entry["legs"]:
            member.route = drawn_again(state.problem, state.board.known, member.drawn)
            member.ends = list(accumulate(leg.flown for leg in member.route.legs))
        member.leg = entry["leg"]
    for name in ARRAYS:
        getattr(everyone, name)[:] = saved["arrays"][name]
    state.members = everyone


SHAPES = {
    kind: (f"paddock.planning.coverage.{'polygon' if kind == 'polygon' else 'shapes'}", f"{kind.capitalize()}Shape")
    for kind in ("point", "line", "circle", "area", "polygon")
}

REQUESTS: dict[type[Any], str] = {MoveTask: "Move", RemoveTask: "Remove", Happening: "Happening"}
"""Names in saved states."""


def values_of(thing: Any) -> Any:
    """A dataclass as a mapping of those fields that are not at their default; tuples as lists."""
    if isinstance(thing, (tuple, list)):
        return [values_of(one) for one in thing]
    if not is_dataclass(thing):
        return thing
    own = {f.name: values_of(getattr(thing, f.name)) for f in fields(thing) if _differs(thing, f)}
    if isinstance(thing, CircleZone | PolygonZone):
        return own | {"kind": "circle" if isinstance(thing, CircleZone) else "polygon"}
    kind = getattr(type(thing), "kind", None)
    if kind is not None and kind not in SHAPES:
        raise InvalidValueError(
            f"a state with a task of the shape {kind!r} cannot be saved; valid: {', '.join(SHAPES)}"
        )
    return own if kind is None else own | {"kind": kind}


def given(things: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Things as their places among those that are known beforehand; otherwise all of each."""
    places = {id(one): k for k, one in enumerate(known) if one is not None}
    return [places[id(thing)] if id(thing) in places else values_of(thing) for thing in things]


def task_from(row: Any, known: Sequence[Any] = ()) -> Task:
    """A task again."""
    if isinstance(row, int):
        return known[row]  # type: ignore[no-any-return]
    module, name = SHAPES[row["shape"]["kind"]]
    shape = getattr(import_module(module), name)(**_arguments(row["shape"]))
    return Task(**{**row, "shape": shape})


def zone_from(row: Any, known: Sequence[Any] = ()) -> Zone:
    """A zone again."""
    if isinstance(row, int):
        return known[row]  # type: ignore[no-any-return]
    own = _arguments(row)
    return CircleZone(**own) if row["kind"] == "circle" else PolygonZone(**own)


def agent_from(row: Any, known: Sequence[Any] = ()) -> Agent:
    """A vehicle again."""
    return known[row] if isinstance(row, int) else Agent(**_arguments(row))


def drawn_from(row: Mapping[str, Any]) -> Drawn:
    """What a route was made from, again."""
    rest = row.get("rest")
    return Drawn(
        agent_from(row["agent"]),
        tuple(row["order"]),
        row["zones"],
        None if rest is None else Rest(**_arguments(rest)),
    )


def request_of(request: Request) -> dict[str, Any]:
    """What was asked for."""
    return {"what": REQUESTS[type(request)], **values_of(request)}


def request_from(row: Mapping[str, Any]) -> Request:
    """It again."""
    own = {name: value for name, value in row.items() if name != "what"}
    if row["what"] == REQUESTS[MoveTask]:
        return MoveTask(**own)
    if row["what"] == REQUESTS[RemoveTask]:
        return RemoveTask(**own)
    read: dict[str, Callable[[Any], Any]] = {"task": task_from, "agent": agent_from, "zone": zone_from}
    return Happening(**{name: read[name](value) if name in read else value for name, value in own.items()})


def tuples(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(tuples(one) for one in value) if isinstance(value, (list, tuple)) else value


def _differs(thing: Any, field: Any) -> bool:
    return field.default is MISSING or getattr(thing, field.name) != field.default


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuples(value) for name, value in row.items() if name != "kind"}
