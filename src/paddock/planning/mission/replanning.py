"""Planning from the present state: who is free where and when, what is still to be done, and what then changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from typing import NamedTuple

from paddock.planning.building import build
from paddock.planning.costs import Costs
from paddock.planning.coverage.shape import InfeasibleError
from paddock.planning.method import Answer
from paddock.planning.mission.drawn import Drawn, Rest, with_rest
from paddock.planning.mission.members import Member
from paddock.planning.mission.state import MissionChange, PoseOf, MissionState
from paddock.planning.paths.segment import Pose
from paddock.planning.planner import revise, solve
from paddock.planning.plans import Plan, Route
from paddock.planning.problem import Agent, Problem
from paddock.planning.routes import route_of

LEVEL = 0.5
"""m: a vehicle this near to its height is taken to be at it, as autopilots never hold it exactly."""


class Free(NamedTuple):
    """A vehicle that can be planned for."""

    member: Member
    agent: Agent  # from where and when it is free, with the range that it has left then
    rest: Rest | None  # what it does until then


def first_plan(state: MissionState, plan: Plan | None = None) -> tuple[Plan, set[int]]:
    """The plan that a mission begins with, taken up; made now unless it is known."""
    free = [Free(member, _at(state, member, member.agent.pose), None) for member in state.members.list]
    tasks = tuple(state.board.known)
    if plan is None:
        problem = replace(state.problem, agents=tuple(one.agent for one in free), tasks=tasks)
        plan = solve(problem, state.setup.method, state.setup.options, covered=state.covered)
    state.tell("planned", detail=f"{plan.done} of {len(tasks)} tasks, {plan.total:.1f} m, {plan.makespan:.1f} s")
    return plan, _take_up(state, plan, free, set())


def replan(state: MissionState, poses: PoseOf, change: MissionChange) -> None:
    """Plan anew what an observation has upset."""
    before, done = state.members.left(), set(change.new)
    if state.setup.replan:
        change.new |= _together(state, poses, change)
    else:
        for row in sorted(change.dirty):
            change.new |= _alone(state, poses, change, state.members.list[row])
    state.replans += 1
    metres, count = state.members.left() - before, len(change.new - done)
    routes = "1 new route" if count == 1 else f"{count} new routes"
    state.tell("replanned", detail=f"{change.cause}: {routes}, {_more(metres)} to fly")


def _more(metres: float) -> str:
    """So many metres more, or fewer: whole ones, or kilometres."""
    if abs(metres) < 0.5:
        return "+0 m"
    return f"{metres:+.0f} m" if abs(metres) < 1000.0 else f"{metres / 1000.0:+.1f} km"


def go_home(state: MissionState, member: Member, pose: Pose) -> None:
    """A vehicle returns from where it is, whatever it was doing."""
    agent = _at(state, member, pose)
    drawn = Drawn(agent, (), len(state.zones))
    try:
        route = route_of(Costs(replace(state.problem, agents=(agent,))), 0, ())
    except InfeasibleError as error:
        route, drawn = straight_home(state, member, agent, str(error))
    state.begin(member, route, drawn)


def straight_home(
    state: MissionState, member: Member, agent: Agent, reason: str, rest: Rest | None = None
) -> tuple[Route, Drawn]:
    """The way home where zones leave none: through them, and told."""
    state.tell("stranded", member, detail=f"no way home around the zones, it takes the straight one: {reason}")
    costs = Costs(Problem((agent,), (), (), state.problem.wind))
    return route_of(costs, 0, ()), Drawn(agent, (), 0, rest)


def way_home(state: MissionState, member: Member, pose: Pose) -> float:
    """Metres flown home from a pose."""
    agent = _at(state, member, pose)
    try:
        return route_of(Costs(replace(state.problem, agents=(agent,))), 0, ()).flown
    except InfeasibleError:
        return route_of(Costs(Problem((agent,), (), (), state.problem.wind)), 0, ()).flown


def _together(state: MissionState, poses: PoseOf, change: MissionChange) -> set[int]:
    """All vehicles and all open tasks."""
    free = [_free(state, member, poses, change) for member in state.members.list if member.able]
    names = state.board.open()
    index = {name: k for k, name in enumerate(names)}
    tasks = tuple(state.board.task(name) for name in names)
    problem = replace(state.problem, agents=tuple(one.agent for one in free), tasks=tasks)
    orders = [[index[task] for task in one.member.ahead if task in index] for one in free]
    standing = {
        k: (order, one.member.route)
        for k, (one, order) in enumerate(zip(free, orders, strict=True))
        if one.member.row not in change.dirty
    }
    plan = revise(
        Costs(problem, state.covered), state.setup.method, state.setup.options, [list(o) for o in orders], standing
    )
    return _take_up(state, plan, free, {k for k in standing if plan.routes[k] is standing[k][1]})


def _alone(state: MissionState, poses: PoseOf, change: MissionChange, member: Member) -> set[int]:
    """One vehicle and the tasks that it has."""
    if not member.able:
        return set()
    one = _free(state, member, poses, change)
    names = [name for name in member.ahead if not state.board.jobs[name].removed]
    tasks = tuple(state.board.task(name) for name in names)
    costs = Costs(replace(state.problem, agents=(one.agent,), tasks=tasks), state.covered)
    return _take_up(state, build(costs, Answer([list(range(len(tasks)))]), state.setup.method), [one], set())


def _take_up(state: MissionState, plan: Plan, free: Sequence[Free], kept: set[int]) -> set[int]:
    """Give routes to their vehicles; the rows of those that are new."""
    _adopt_headings(state, plan)
    new = set()
    for k, (one, route) in enumerate(zip(free, plan.routes, strict=True)):
        _assign(state, one.member, one.member.ahead if k in kept else route.tasks)
        if k not in kept:
            _follow(state, one, route)
            new.add(one.member.row)
    for undone in plan.undone:
        before = "" if free else state.board.jobs[undone.task].reason  # says more than that nobody is able
        state.undo(undone.task, before or undone.reason)
    return new


def _adopt_headings(state: MissionState, plan: Plan) -> None:
    """Tasks are flown with the headings that the plan has chosen."""
    for task in plan.problem.tasks:
        if task.heading != state.board.task(task.name).heading:
            state.board.change(task)


def _follow(state: MissionState, one: Free, route: Route) -> None:
    versions = tuple(state.board.jobs[task].version for task in route.tasks)
    drawn = Drawn(one.agent, versions, len(state.zones), one.rest)
    x, y, *_ = one.agent.pose
    if not route.legs and one.agent.under_way and hypot(x - one.agent.home[0], y - one.agent.home[1]) > 1e-6:
        route, drawn = straight_home(state, one.member, one.agent, "they enclose it", one.rest)
    state.begin(one.member, with_rest(route, drawn, state.problem, state.board.known), drawn)


def _assign(state: MissionState, member: Member, tasks: Sequence[str]) -> None:
    for task in tasks:
        job = state.board.jobs[task]
        if job.state != "assigned" or job.agent != member.name:
            job.state, job.agent, job.assigned, job.reason = "assigned", member.name, state.time, ""
            state.tell("assigned", member, task)


def _free(state: MissionState, member: Member, poses: PoseOf, change: MissionChange) -> Free:
    """A vehicle finishes what it is doing first; otherwise it is free where it is."""
    leg = member.current
    if member.doing is None or member.row in change.aborted or leg is None:
        return Free(member, _at(state, member, poses(member.row)), None)
    all_, k = state.members, member.row
    left = max(float(all_.due[k] - all_.progress[k]), 0.0)
    before = member.drawn.rest.done if member.drawn.rest is not None and member.leg == 0 else 0.0
    done = before + leg.flown - left
    rest = Rest(state.board.jobs[str(leg.task)].version, done, state.time, leg.end)
    return Free(member, _at(state, member, leg.end, left), rest)


def _at(state: MissionState, member: Member, pose: Pose, left: float = 0.0) -> Agent:
    """A vehicle as it is free at a pose, after `left` more metres."""
    own = member.agent
    height = own.pose[2] if own.height is None else own.height
    ready = max(state.time + left / own.speed, own.ready)
    x, y, z, heading = pose
    here = (x, y, height if abs(z - height) < LEVEL else z, heading)
    range_left = max(own.range - state.setup.reserve - member.travelled - left, 0.0)
    under_way = member.status != "idle"
    return replace(own, pose=here, ready=ready, range=range_left, height=height, under_way=under_way)
