"""Clustered greedy: tasks in clusters, a cluster for each vehicle, and in it always the nearest task next."""

from __future__ import annotations

from math import ceil, inf

import numpy as np
from numpy import int64, zeros
from scipy.optimize import linear_sum_assignment

from paddock.compute.philox import signed
from paddock.planning.costs import Costs
from paddock.planning.fleet import Fleet, detours_of, jobs_of, mover_of
from paddock.planning.method import Answer, Method, NoOptions, Tell
from paddock.planning.search.clusters import clusters_of
from paddock.planning.search.insertion import Packed, packed, unpacked
from paddock.planning.search.joining import join_nearest, take_from_longest
from paddock.planning.tours import approach, begin, fits, step, transit, way_home
from paddock.planning.ways import Ints, tour_routine
from paddock.world.columns import Floats


def solve(costs: Costs, options: NoOptions, tell: Tell) -> Answer:
    """As many clusters as vehicles that can do anything (by k-means), each for the vehicle that suits it."""
    if not costs.agents or not costs.tasks:
        return Answer([[] for _ in range(costs.agents)], {"clusters": 0})
    fleet = costs.fleet
    able = np.flatnonzero(_able(fleet))
    orders = packed(costs, [[] for _ in range(costs.agents)])
    count = min(len(able), costs.tasks)
    if count:
        labels, centres = clusters_of(np.ascontiguousarray(fleet.entry[0, :, :2]), count, signed(costs.problem.seed))
        owner = _owners(fleet, able, centres)
        _sequence(fleet, labels, owner, orders)
        _join(costs, orders)
    tell(1.0)
    return Answer(unpacked(orders), {"clusters": count})


def revise(costs: Costs, options: NoOptions, orders: list[list[int]]) -> Answer:
    """Tasks that nobody has join the nearest tours; otherwise a new vehicle takes over part of the longest."""
    if not any(orders):
        return solve(costs, options, lambda share: None)
    arrays = packed(costs, orders)
    if not _join(costs, arrays) and not all(orders):
        take_from_longest(costs.fleet, arrays, _limits(costs), ceil(costs.tasks / costs.agents))
    return Answer(unpacked(arrays))


def _join(costs: Costs, orders: Packed) -> bool:
    """Have tasks that nobody has join the nearest tours in which they fit; whether there were any."""
    missing = np.ones(costs.tasks, bool)
    for row, count in zip(orders.tasks, orders.counts, strict=True):
        missing[row[:count]] = False
    tasks = costs.possible(np.flatnonzero(missing))
    if len(tasks):
        join_nearest(costs.fleet, orders, _limits(costs), tasks)
    return bool(missing.any())


def _limits(costs: Costs) -> Floats:
    return np.array([agent.range for agent in costs.problem.agents])


def _owners(fleet: Fleet, able: Ints, centres: Floats) -> Ints:
    """The cluster of each agent (-1: none): together they fly the least to the centres of their clusters."""
    away = np.empty((len(able), len(centres)))
    _distances(fleet, able, centres, away)
    agents, clusters = linear_sum_assignment(away)
    owner = np.full(len(fleet.kind), -1)
    owner[able[agents]] = clusters
    return owner


def useful(fleet: Fleet) -> Ints:
    """1 for each agent that can do any of the tasks and be home within its range."""
    found = zeros(len(fleet.kind), int64)
    for a in range(len(found)):
        m, j, extra = mover_of(fleet, a), jobs_of(fleet, a), detours_of(fleet, a)
        for t in range(len(j.cover)):
            at = step(m, j, extra, begin(m), t)
            flown = at.flown + way_home(m, extra, at)
            if fits(flown, m.range):
                found[a] = 1
                break
    return found


def distances(fleet: Fleet, able: Ints, centres: Floats, found: Floats) -> None:
    """Metres flown (agents, centres) to each centre, with any heading."""
    for k in range(len(able)):
        m = mover_of(fleet, able[k])
        for c in range(len(centres)):
            x, y = centres[c]
            found[k, c], _ = transit(m, m.x, m.y, m.z, m.heading, x, y, m.height, float("nan"))


def sequence(fleet: Fleet, labels: Ints, owner: Ints, orders: Packed) -> None:
    """The tasks of each agent's cluster, the one that it can begin first always next, as long as it gets home."""
    for a in range(len(owner)):
        m, j, extra, at = mover_of(fleet, a), jobs_of(fleet, a), detours_of(fleet, a), begin(mover_of(fleet, a))
        open_ = zeros(len(labels), int64)
        for t in range(len(labels)):
            open_[t] = 1 if owner[a] >= 0 and labels[t] == owner[a] and j.cover[t] < inf else 0
        while True:
            task, earliest = len(labels), inf  # a bare -1 would be compiled for by itself
            for t in range(len(labels)):
                if open_[t] == 1:
                    _, _, start, _ = approach(m, j, extra, at, t)
                    if start < earliest:
                        task, earliest = t, start
            if task == len(labels):
                break
            open_[task] = 0
            after = step(m, j, extra, at, task)
            if fits(after.flown + way_home(m, extra, after), m.range):
                orders.tasks[a, orders.counts[a]] = task
                orders.counts[a] += 1
                at = after


_able = tour_routine(useful)
_distances = tour_routine(distances)
_sequence = tour_routine(sequence)

METHOD = Method("k-means clusters, one for each vehicle, in each the nearest task next", solve, NoOptions, revise)
