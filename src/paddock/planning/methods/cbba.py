"""CBBA: vehicles bid for bundles of tasks and tell each other, until all agree; nobody is in charge."""

from __future__ import annotations

from math import inf, isnan
from typing import Annotated, NamedTuple

from numpy import empty, int64, zeros

from paddock.compute.routine import parallel_range
from paddock.planning.costs import Costs
from paddock.planning.fleet import Fleet, detours_of, jobs_of, mover_of
from paddock.planning.method import Answer, Method, Tell
from paddock.planning.search.consensus import Beliefs, Consensus, HeardBy, warped, wins
from paddock.planning.search.insertion import ROOM, best_position, least_length, trace
from paddock.planning.tours import NOISE, Jobs, slackened, slowest
from paddock.planning.ways import Ints, Mover, parallel_tour_routine
from paddock.world.columns import Column, Floats


class Options(NamedTuple):
    """How much a vehicle may take on."""

    bundle: Annotated[float, Column("", "tasks in a bundle, at most; 0: twice a fair share", 0, 1e6)] = 0


def solve(costs: Costs, options: Options, tell: Tell) -> Answer:
    """The bundles on which all agree, when everybody hears everybody."""
    answer = agreed(costs, options)
    tell(1.0)
    return answer


def agreed(costs: Costs, options: Options, links: HeardBy | None = None) -> Answer:
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
        taken, table, least = zeros(bids.shape[1], int64), empty((bundles.shape[1] + 1, ROOM)), empty(bids.shape[1])
        least[:] = inf
        for n in range(counts[i]):
            taken[bundles[i, n]] = 1
        from_, to = 0, counts[i]
        while counts[i] < bundles.shape[1]:
            task, place, offer = best_task(fleet, by_time, beliefs, i, taken, table, least, from_, to)
            if task < 0:
                break
            for p in range(counts[i], place, -1):
                paths[i, p] = paths[i, p - 1]
            paths[i, place] = task
            bundles[i, counts[i]] = task
            counts[i] += 1
            bids[i, task], winners[i, task], taken[task] = offer, i, 1
            from_, to = place, place + 1
            if not local(mover_of(fleet, i), jobs_of(fleet, i), paths[i], counts[i]):
                from_, to = 0, counts[i]
                least[:] = inf


def local(m: Mover, j: Jobs, path: Ints, count: int) -> bool:
    """Whether what one more task adds at a place depends on nothing but its neighbours: own headings, no windows."""
    for k in range(count):
        t = path[k]
        if isnan(j.leave[t, 2]) or j.opens[t] > m.ready or j.closes[t] < inf:
            return False
    return True


def best_task(
    fleet: Fleet, by_time: bool, beliefs: Beliefs, i: int, taken: Ints, table: Floats,
    least: Floats, from_: int, to: int,
) -> tuple[int, int, float]:  # fmt: skip
    """The task that an agent takes next, its place in the path, and the bid on it; -1: none.

    `least` is what each task adds at least; the places `from_` to `to` in the path are new.
    """
    m, j, extra = mover_of(fleet, i), jobs_of(fleet, i), detours_of(fleet, i)
    path, count = beliefs.paths[i], beliefs.counts[i]
    total, ends = trace(m, j, extra, path, count, table)
    task, place, offer, best = -1, -1, -inf, -inf
    ceiling, limit = warped(inf, i, beliefs), slackened(m.range)
    lower(m, j, table, total, from_, to, least)
    hope, first = most_hoped(m, j, count, by_time, total, least, beliefs, i, taken, ceiling)
    for n in range(-1, len(taken)):
        t = first if n < 0 else n  # what looks best is tried first: most others need not be tried then
        if t < 0 or hope[t] < best or (n == first and n >= 0):
            continue
        least_score = max(best, beliefs.bids[i, t])
        useful = -(least_score + m.ready) * m.speed if by_time else total - least_score  # no longer tour is any good
        most = min(limit, useful + NOISE)
        position, flown, end = best_position(m, j, extra, path, count, t, most, table, total, ends)
        if position < 0:
            continue
        least[t] = flown - total - NOISE
        score = -end if by_time else total - flown
        if (score > best or (score == best and t < task)) and wins(min(score, ceiling), i, beliefs, t):
            task, place, offer, best = t, position, min(score, ceiling), score
    return task, place, offer


def lower(m: Mover, j: Jobs, table: Floats, total: float, from_: int, to: int, least: Floats) -> None:
    """Lower what each task adds at least to what it adds at some new places."""
    slow = slowest(m)
    for t in range(len(least)):
        for position in range(from_, to + 1):
            least[t] = min(least[t], least_length(j, table, position, t, slow) - total)


def most_hoped(
    m: Mover, j: Jobs, count: int, by_time: bool, total: float, least: Floats,
    beliefs: Beliefs, i: int, taken: Ints, ceiling: float,
) -> tuple[Floats, int]:  # fmt: skip
    """The highest score that each task can have (-inf: it cannot be won), and the best task by it; -1: none."""
    hope, first = empty(len(taken)), -1
    for t in range(len(taken)):
        hope[t] = -inf
        if taken[t] == 0 and j.cover[t] < inf and (count == 0 or wins(ceiling, i, beliefs, t)):
            score = -(m.ready + (total + least[t]) / m.speed) if by_time else -least[t]
            if wins(min(score, ceiling), i, beliefs, t):
                hope[t] = score
                first = t if first < 0 or score > hope[first] else first
    return hope, first


extend = parallel_tour_routine(extended)

METHOD = Method("vehicles bid for bundles of tasks and tell each other until all agree (CBBA)", solve, Options)
