"""What upsets a mission: happenings and requests, ranges and batteries. Each notes what has to be planned anew."""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import numpy as np

from paddock.planning.mission.drawn import Drawn
from paddock.planning.mission.members import Member
from paddock.planning.mission.replanning import go_home, way_home
from paddock.planning.mission.requests import MoveTask, RemoveTask, Request, moved
from paddock.planning.mission.state import MissionChange, PoseOf, MissionState
from paddock.planning.obstacles.clear import blocked_by
from paddock.planning.obstacles.zone import Zone
from paddock.planning.paths.path import Path
from paddock.planning.plans import Leg, Route
from paddock.planning.problem import Agent, Task
from paddock.world.columns import Floats

SLACK = 1e-6
"""Share of its range by which a vehicle may come out longer, by rounding."""
MEASURED = 200.0
"""m that a vehicle has to have flown before its use of the battery is known."""


def happen(state: MissionState, request: Request, poses: PoseOf, change: MissionChange) -> None:
    """Something happens."""
    if isinstance(request, MoveTask):
        _move(state, request, change)
    elif isinstance(request, RemoveTask):
        _remove(state, request.task, change)
    elif request.task is not None:
        _new_task(state, request.task, change)
    elif request.damage is not None:
        _damage(state, state.members.list[state.members.row[request.damage]], poses, change)
    elif request.agent is not None:
        _join(state, request.agent, change)
    elif request.zone is not None:
        _close(state, request.zone, change)


def enforce_range(state: MissionState, change: MissionChange) -> None:
    """Vehicles that would be flown beyond their range give tasks back."""
    all_ = state.members
    need = all_.travelled + all_.whole - all_.progress
    over = (all_.whole > 0.0) & (need > (all_.limit - state.setup.reserve) + SLACK * all_.limit)
    for row in np.flatnonzero(over).tolist():
        member = all_.list[row]
        if not member.able:
            continue
        state.tell("range", member, detail=f"{need[row] - all_.limit[row] + state.setup.reserve:.1f} m too far")
        change.causes.append(f"range of {member.name}")
        change.dirty.add(row)
        leg = member.current
        if leg is not None and leg.kind == "coverage":
            left = float(all_.due[row] - all_.progress[row])
            if member.travelled + left + way_home(state, member, leg.end) > all_.limit[row] - state.setup.reserve:
                _abort(state, member, change, "its vehicle would not come home with its range")


def enforce_battery(state: MissionState, charge: Floats, poses: PoseOf, change: MissionChange) -> None:
    """Vehicles whose charge is needed for the way home return."""
    all_, n = state.members, len(charge)
    all_.fullest[:n] = np.where(np.isnan(all_.fullest[:n]), charge, all_.fullest[:n])
    flown = all_.travelled[:n]
    use = np.where(flown > MEASURED, (all_.fullest[:n] - charge) / np.maximum(flown, MEASURED), 0.0)
    able = np.array([member.able for member in all_.list[:n]], dtype=bool)
    low = able & (charge - np.maximum(use, 0.0) * all_.turning[:n] < state.setup.battery_reserve)
    far = able & ~low & (use > 0.0) & (all_.until[:n] < np.inf)
    if far.any():  # only then is it worth asking where they are
        rows = np.flatnonzero(far)
        here = np.array([poses(row)[:2] for row in rows.tolist()])
        way = np.hypot(*(here - all_.home[rows]).T) + all_.turning[rows]
        low[rows] = charge[rows] - use[rows] * way < state.setup.battery_reserve
    for row in np.flatnonzero(low).tolist():
        _recall(state, all_.list[row], float(charge[row]), poses, change)


def _recall(state: MissionState, member: Member, charge: float, poses: PoseOf, change: MissionChange) -> None:
    """A vehicle goes home for good, as its battery is needed for that."""
    member.spent = True
    state.tell("battery", member, detail=f"{100.0 * charge:.1f} % left")
    had = bool(member.ahead or member.doing)
    why = f"its vehicle {member.name} returned with {100.0 * charge:.1f} % of its charge"
    state.release(member, why, lasting=True)
    if member.current is not None and member.current.kind != "return":
        go_home(state, member, poses(member.row))
        change.new.add(member.row)
    if had and state.setup.replan:
        change.causes.append(f"battery of {member.name}")


def _new_task(state: MissionState, task: Task, change: MissionChange) -> None:
    state.board.add(task, state.time)
    state.tell("task", task=task.name)
    if state.setup.replan:
        change.causes.append(f"new task {task.name}")


def _damage(state: MissionState, member: Member, poses: PoseOf, change: MissionChange) -> None:
    if member.status == "damaged":
        return
    state.tell("damage", member, member.doing)
    had = bool(member.ahead or member.doing)
    state.release(member, f"its vehicle {member.name} was damaged")
    here = replace(member.agent, pose=poses(member.row))
    state.become(member, "damaged")
    state.members.follow(member, Route(member.name, (), member.agent.speed), Drawn(here, (), 0))
    change.new.add(member.row)
    change.damaged.append(member.name)
    change.bereft |= had and state.setup.replan


def _join(state: MissionState, agent: Agent, change: MissionChange) -> None:
    member = state.members.add(agent)
    state.tell("vehicle", member)
    change.dirty.add(member.row)
    change.causes.append(f"new vehicle {member.name}")


def _close(state: MissionState, zone: Zone, change: MissionChange) -> None:
    """A zone is closed: ways through it are found anew, and what lies inside is not done."""
    state.zones = (*state.zones, zone)
    state.tell("zone", detail=zone.name)
    if any(zone.contains(*member.agent.home[:2]) for member in state.members.list):
        state.tell("base", detail=f"home lies in the no-fly zone {zone.name!r}: vehicles return there all the same")
    blocked = [(member, leg) for member in state.members.list if (leg := _blocked(state, member, zone)) is not None]
    for member, leg in blocked:
        change.dirty.add(member.row)
        if leg is member.current and leg.kind == "coverage" and blocked_by(_rest_of(state, member, leg), (zone,)):
            _abort(state, member, change, f"it leads through the no-fly zone {zone.name!r}")
    if blocked:
        change.causes.append(f"new zone {zone.name}")


def _blocked(state: MissionState, member: Member, zone: Zone) -> Leg | None:
    """The first of the legs still to be flown that leads through a zone, or nearer to it than the clearance."""
    drift = 1.0 + hypot(*state.problem.wind) / member.agent.speed
    kept = state.problem.clearance
    for leg in member.route.legs[member.leg :]:
        middle = 0.5 * (leg.start[0] + leg.end[0]), 0.5 * (leg.start[1] + leg.end[1])
        if zone.distance(*middle) - kept >= 0.5 * leg.flown * drift:  # no way of that length reaches it
            continue
        if blocked_by(_rest_of(state, member, leg), (zone,), kept) is not None:
            return leg
    return None


def _rest_of(state: MissionState, member: Member, leg: Leg) -> Path:
    """What is still to be flown of a leg."""
    if leg is not member.current:
        return leg.path
    done = float(state.members.progress[member.row] - state.members.passed[member.row])
    return leg.path.subpath(done, leg.path.flown)


def _move(state: MissionState, request: MoveTask, change: MissionChange) -> None:
    job = state.board.jobs[request.task]
    if job.state == "completed":
        return
    state.board.change(moved(state.board.task(request.task), request.x, request.y))
    state.tell("moved", task=request.task, detail=f"to ({request.x:g}, {request.y:g})")
    if _upset_holder(state, request.task, change, "it was moved while it was being done") or state.setup.replan:
        change.causes.append(f"task {request.task} moved")


def _remove(state: MissionState, task: str, change: MissionChange) -> None:
    job = state.board.jobs[task]
    if job.state == "completed" or job.removed:
        return
    state.tell("removed", task=task)
    if _upset_holder(state, task, change, "it was removed"):
        change.causes.append(f"task {task} removed")
    state.undo(task, "it was removed")
    job.removed = True


def _upset_holder(state: MissionState, task: str, change: MissionChange, reason: str) -> bool:
    """The vehicle that has a task, if any, gets a new route; it gives up the task, for a reason, if it is doing it."""
    job = state.board.jobs[task]
    if job.agent is None:
        return False
    member = state.members.list[state.members.row[job.agent]]
    change.dirty.add(member.row)
    if job.doing:
        _abort(state, member, change, reason)
    return True


def _abort(state: MissionState, member: Member, change: MissionChange, reason: str) -> None:
    """A vehicle gives up what it is doing."""
    task = member.doing
    if task is None or member.row in change.aborted:
        return
    change.aborted.add(member.row)
    state.board.give_back(task)
    if not state.setup.replan:
        state.undo(task, reason)
