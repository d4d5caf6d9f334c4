"""CBBA: vehicles bid for bundles of tasks and tell each other, until all agree; nobody is in charge."""

from __future__ import annotations

from math import inf
from typing import Annotated, NamedTuple

from numpy import empty, int64, zeros

from paddock.compute.routine import parallel_range
from paddock.planning.consensus import Beliefs, Consensus, Links, warped, wins
from paddock.planning.costs import Costs
from paddock.planning.fleet import Fleet, detours_of, jobs_of, mover_of
from paddock.planning.insertion import ROOM, best_position, least_length, trace
from paddock.planning.method import Answer, Method, Tell
from paddock.planning.tours import Jobs, slowest
from paddock.planning.ways import Ints, Mover, parallel_tour_routine
from paddock.world.columns import Column, Floats

SLACK = 1e-12
"""Relative: a tour may be longer than the range by rounding."""


class Options(NamedTuple):
    """How much a vehicle may take on."""

    bundle: Annotated[float, Column("", "tasks in a bundle, at most; 0: twice a fair share", 0, 1e6)] = 0


def solve(costs: Costs, options: Options, tell: Tell) -> Answer:
    """The bundles on which all agree, when everybody hears everybody."""
    answer = agreed(costs, options)
    tell(1.0)
    return answer


def agreed(costs: Costs, options: Options, links: Links | None = None) -> Answer:
    """The bundles on which all agree who hear each other as `links` tell."""
    if not costs.agents or not costs.tasks:
        return Answer([[] for _ in range(costs.agents)], {"rounds": 0, "messages": 0})
    found = bidding_for(costs, options)
    rounds = found.run(links)
    return Answer(found.orders(), {"rounds": rounds, "messages": found.messages})


def bidding_for(costs: Costs, options: Options) -> Consensus:
    """Vehicles that bid for tasks, before the first round."""
    fair = -(-2 * costs.tasks // costs.agents)
    most = min(int(options.bundle) or fair, costs.tasks)
    by_time = costs.problem.objective == "makespan"

    def bid(b: Beliefs) -> None:
        extend(costs.fleet, by_time, b.bids, b.winners, b.stamps, b.bundles, b.paths, b.counts)

    return Consensus(costs.agents, costs.tasks, most, bid)


def extended(
    fleet: Fleet, by_time: bool, bids: Floats, winners: Ints, stamps: Ints, bundles: Ints, paths: Ints, counts: Ints
) -> None:
    """Every agent takes the task that adds least, of those that it can win, in its best place; until none is left.

    The arrays are those of Beliefs, one by one: what a parallel loop writes into those of a tuple is lost.
    """
    for i in parallel_range(len(counts)):
        beliefs = Beliefs(bids, winners, stamps, bundles, paths, counts)
        table = empty((bundles.shape[1] + 1, ROOM))
        taken = zeros(bids.shape[1], int64)
        for n in range(counts[i]):
            taken[bundles[i, n]] = 1
        while counts[i] < bundles.shape[1]:
            task, place, offer = best_task(fleet, by_time, beliefs, i, taken, table)
            if task < 0:
                break
            for p in range(counts[i], place, -1):
                paths[i, p] = paths[i, p - 1]
            paths[i, place] = task
            bundles[i, counts[i]] = task
            counts[i] += 1
            bids[i, task], winners[i, task], taken[task] = offer, i, 1


def best_task(
    fleet: Fleet, by_time: bool, beliefs: Beliefs, i: int, taken: Ints, table: Floats
) -> tuple[int, int, float]:
    """The task that an agent takes next, its place in the path, and the bid on it; -1: none."""
    m, j, extra = mover_of(fleet, i), jobs_of(fleet, i), detours_of(fleet, i)
    path, count = beliefs.paths[i], beliefs.counts[i]
    total, ends = trace(m, j, extra, path, count, table)
    task, place, offer, best = -1, -1, -inf, -inf
    ceiling, limit = warped(inf, i, beliefs), m.range * (1.0 + SLACK)
    hope, first = most_hoped(m, j, count, by_time, total, table, beliefs, i, taken, ceiling)
    for n in range(-1, len(taken)):
        t = first if n < 0 else n  # what looks best is tried first: most others need not be tried then
        if t < 0 or hope[t] < best or (n == first and n >= 0):
            continue
        position, flown, end = best_position(m, j, extra, path, count, t, limit, table, total, ends)
        score = -end if by_time else total - flown
        better = score > best or (score == best and t < task)
        if position >= 0 and better and wins(min(score, ceiling), i, beliefs, t):
            task, place, offer, best = t, position, min(score, ceiling), score
    return task, place, offer


def most_hoped(
    m: Mover, j: Jobs, count: int, by_time: bool, total: float, table: Floats,
    beliefs: Beliefs, i: int, taken: Ints, ceiling: float,
) -> tuple[Floats, int]:  # fmt: skip
    """The highest score that each task can have, by straight ways (-inf: it cannot be won), and the best task by it."""
    hope, first, slow = empty(len(taken)), -1, slowest(m)
    for t in range(len(taken)):
        hope[t] = -inf
        if taken[t] == 0 and j.cover[t] < inf and (count == 0 or wins(ceiling, i, beliefs, t)):
            least = inf
            for position in range(count + 1):
                least = min(least, least_length(j, table, position, t, slow))
            score = -(m.ready + least / m.speed) if by_time else total - least
            if wins(min(score, ceiling), i, beliefs, t):
                hope[t] = score
                first = t if first < 0 or score > hope[first] else first
    return hope, first


extend = parallel_tour_routine(extended)

METHOD = Method("vehicles bid for bundles of tasks and tell each other until all agree (CBBA)", solve, Options)
