"""The state of a mission as plain values and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from paddock.planning.mission.board import Job
from paddock.planning.mission.described import (
    agent_from,
    drawn_from,
    given,
    request_from,
    request_of,
    task_from,
    values_of,
    zone_from,
)
from paddock.planning.mission.drawn import drawn_again
from paddock.planning.mission.log import LogEntry
from paddock.planning.mission.members import ARRAYS, Member
from paddock.planning.mission.state import MissionState
from paddock.planning.setup import MissionSetup

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
