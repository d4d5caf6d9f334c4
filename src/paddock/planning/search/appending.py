"""What one more task at the end of a tour would cost, for all agents and tasks at once."""

from __future__ import annotations

from math import hypot, inf
from typing import NamedTuple

from numpy import empty, int64, zeros

from paddock.compute.routine import parallel_range
from paddock.planning.costs import Costs
from paddock.planning.fleet import Fleet, detours_of, jobs_of, mover_of
from paddock.planning.tours import NOISE, Jobs, Stand, begin, fits, slowest, step, way_home
from paddock.planning.ways import Ints, Mover, parallel_tour_routine, tour_routine
from paddock.world.columns import Floats


class TourEnds(NamedTuple):
    """Where the tours of all agents end, before the way home; arrays over agents."""

    places: Floats  # (a, 7) the fields of Stand but the last; metres flown if it went home now
    before: Ints  # (a,) the last task


def started(costs: Costs) -> TourEnds:
    """Nobody has a task yet."""
    ends = TourEnds(empty((costs.agents, 7)), zeros(costs.agents, int64))
    if costs.agents:
        _start(costs.fleet, ends)
    return ends


def start(fleet: Fleet, ends: TourEnds) -> None:
    """Write where the agents are."""
    for a in range(len(ends.before)):
        put(fleet, ends, a, begin(mover_of(fleet, a)))


def put(fleet: Fleet, ends: TourEnds, agent: int, at: Stand) -> None:
    """Write where a tour ends."""
    row = ends.places[agent]
    row[6] = at.flown + way_home(mover_of(fleet, agent), detours_of(fleet, agent), at)
    row[0], row[1], row[2], row[3], row[4], row[5] = at.x, at.y, at.z, at.heading, at.time, at.flown
    ends.before[agent] = at.before


def end_of(ends: TourEnds, agent: int) -> Stand:
    """Where a tour ends."""
    row = ends.places[agent]
    return Stand(row[0], row[1], row[2], row[3], row[4], row[5], ends.before[agent])


def append_cost(fleet: Fleet, ends: TourEnds, agent: int, task: int, by_time: bool) -> float:
    """Metres that a task adds to a tour (or when it then ends, s), the way home included; inf beyond its range."""
    m, extra, at = mover_of(fleet, agent), detours_of(fleet, agent), end_of(ends, agent)
    after = step(m, jobs_of(fleet, agent), extra, at, task)
    way = way_home(m, extra, after)
    if not fits(after.flown + way, m.range):
        return inf
    return after.time + way / m.speed if by_time else after.flown + way - ends.places[agent, 6]


def least_cost(m: Mover, j: Jobs, at: Stand, home: float, task: int, by_time: bool) -> float:
    """No `append_cost` is lower for a tour that ends so, and is `home` m long: straight ways there and home."""
    slow = slowest(m)
    there = slow * hypot(j.entry[task, 0] - at.x, j.entry[task, 1] - at.y)
    back = slow * hypot(m.home_x - j.leave[task, 0], m.home_y - j.leave[task, 1])
    more: float = there + j.cover[task] + back - NOISE
    return at.time + more / m.speed if by_time else at.flown + more - home


def append(fleet: Fleet, ends: TourEnds, agent: int, task: int) -> None:
    """Give a task to an agent."""
    m, extra = mover_of(fleet, agent), detours_of(fleet, agent)
    put(fleet, ends, agent, step(m, jobs_of(fleet, agent), extra, end_of(ends, agent), task))


def matrix(fleet: Fleet, ends: TourEnds, tasks: Ints, by_time: bool, found: Floats) -> None:
    """`append_cost` for all agents and these tasks, (a, n)."""
    for a in parallel_range(len(ends.before)):
        for k in range(len(tasks)):
            found[a, k] = append_cost(fleet, ends, a, tasks[k], by_time)


def append_all(fleet: Fleet, ends: TourEnds, agents: Ints, tasks: Ints) -> None:
    """Give tasks to agents, pair by pair."""
    for k in range(len(agents)):
        append(fleet, ends, agents[k], tasks[k])


_start = tour_routine(start)
append_costs = parallel_tour_routine(matrix)
append_pairs = tour_routine(append_all)
