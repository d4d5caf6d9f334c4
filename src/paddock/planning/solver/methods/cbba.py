"""CBBA: vehicles bid for bundles of tasks and communicate until all agree, without a central planner.

The consensus-based bundle algorithm (Choi, Brunet and How, 2009): every vehicle has its own bundle of tasks and its own
belief about the winner and the bid of each task, and sends it to the connected vehicles in each round. Bids are minus
the added metres. As added metres may shrink with more tasks, bids are warped: never higher than those before
them in the bundle (Johnson, Choi and How, 2012: Allowing non-submodular score functions in distributed task
allocation), which the proof of convergence needs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan
from typing import Annotated, NamedTuple

import numpy as np
from numpy import empty, int64, zeros
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.insertion import ROOM, best_position, least_length, trace
from paddock.planning.solver.methods import Method, MethodResult, Progress
from paddock.planning.solver.tours import (
    NOISE,
    Ints,
    Jobs,
    Mover,
    TourData,
    detours_of,
    jobs_of,
    mover_of,
    slackened,
    slowest,
    tour_routine,
)
from paddock.world.columns import Column, Floats


class Options(NamedTuple):
    """Limits of the bundles."""

    bundle: Annotated[float, Column("", "maximum number of tasks in a bundle; 0: twice a fair share", 0, 1e6)] = 0


def solve(costs: Costs, options: Options, progress: Progress, links: Reach | None = None) -> MethodResult:
    """Return the bundles that vehicles agree on when they communicate over `links` (default: all with all)."""
    bidding = bidding_for(costs, options)
    rounds = bidding.run(links)
    progress(1.0)
    return MethodResult(bidding.orders(), {"rounds": rounds, "messages": bidding.messages})


def bidding_for(costs: Costs, options: Options) -> Consensus:
    """Return vehicles that bid for tasks, before the first round."""
    fair = -(-2 * costs.tasks // costs.vehicles)
    most = min(int(options.bundle) or fair, costs.tasks)
    by_time = costs.problem.objective == "makespan"

    def bid(b: Beliefs) -> None:
        extend(costs.fleet, by_time, b.bids, b.winners, b.stamps, b.bundles, b.paths, b.counts)

    return Consensus(costs.vehicles, costs.tasks, most, bid)


def build_bundles(
    fleet: TourData, by_time: bool, bids: Floats, winners: Ints, stamps: Ints, bundles: Ints, paths: Ints, counts: Ints
) -> None:
    """Let every vehicle add the winnable task that adds least, at its best position, until none is left.

    The arrays of Beliefs are passed one by one: a parallel loop would lose writes to arrays in a tuple.
    """
    for i in parallel_range(len(counts)):
        beliefs = Beliefs(bids, winners, stamps, bundles, paths, counts)
        bundled, table, least = zeros(bids.shape[1], int64), empty((bundles.shape[1] + 1, ROOM)), empty(bids.shape[1])
        least[:] = inf
        for n in range(counts[i]):
            bundled[bundles[i, n]] = 1
        from_, to = 0, counts[i]
        while counts[i] < bundles.shape[1]:
            task, position, offer = best_task(fleet, by_time, beliefs, i, bundled, table, least, from_, to)
            if task < 0:
                break
            for p in range(counts[i], position, -1):
                paths[i, p] = paths[i, p - 1]
            paths[i, position] = task
            bundles[i, counts[i]] = task
            counts[i] += 1
            bids[i, task], winners[i, task], bundled[task] = offer, i, 1
            from_, to = position, position + 1
            if not depends_on_neighbours(mover_of(fleet, i), jobs_of(fleet, i), paths[i], counts[i]):
                from_, to = 0, counts[i]
                least[:] = inf


def depends_on_neighbours(m: Mover, j: Jobs, path: Ints, count: int) -> bool:
    """Return whether the cost of a task depends only on its neighbours: fixed headings, no time windows."""
    for k in range(count):
        t = path[k]
        if isnan(j.leave[t, 2]) or j.opens[t] > m.ready or j.closes[t] < inf:
            return False
    return True


def best_task(
    fleet: TourData, by_time: bool, beliefs: Beliefs, i: int, bundled: Ints, table: Floats,
    least: Floats, from_: int, to: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Return the next task of a vehicle (-1: none), its position and its bid; positions `from_` to `to` are new."""
    m, j, extra = mover_of(fleet, i), jobs_of(fleet, i), detours_of(fleet, i)
    path, count = beliefs.paths[i], beliefs.counts[i]
    total, ends = trace(m, j, extra, path, count, table)
    task, insert_at, offer, best = -1, -1, -inf, -inf
    ceiling, limit = warped(inf, i, beliefs), slackened(m.range)
    lower(m, j, table, total, from_, to, least)
    hope, first = score_bounds(m, j, count, by_time, total, least, beliefs, i, bundled, ceiling)
    for n in range(-1, len(bundled)):
        t = first if n < 0 else n  # the most promising first: then most others need not be tried
        if t < 0 or hope[t] < best or (n == first and n >= 0):
            continue
        least_score = max(best, beliefs.bids[i, t])
        useful = -(least_score + m.ready) * m.speed if by_time else total - least_score  # longer tours cannot win
        most = min(limit, useful + NOISE)
        position, flown, end = best_position(m, j, extra, path, count, t, most, table, total, ends)
        if position < 0:
            continue
        least[t] = flown - total - NOISE
        score = -end if by_time else total - flown
        if (score > best or (score == best and t < task)) and outbids(min(score, ceiling), i, beliefs, t):
            task, insert_at, offer, best = t, position, min(score, ceiling), score
    return task, insert_at, offer


def lower(m: Mover, j: Jobs, table: Floats, total: float, from_: int, to: int, least: Floats) -> None:
    """Lower the least cost of each task to its cost at some new positions."""
    slow = slowest(m)
    for t in range(len(least)):
        for position in range(from_, to + 1):
            least[t] = min(least[t], least_length(j, table, position, t, slow) - total)


def score_bounds(
    m: Mover, j: Jobs, count: int, by_time: bool, total: float, least: Floats,
    beliefs: Beliefs, i: int, bundled: Ints, ceiling: float,
) -> tuple[Floats, int]:  # fmt: skip
    """Return an upper bound of each task's score (-inf: it cannot be won), and the best task by it; -1: none."""
    hope, first = empty(len(bundled)), -1
    for t in range(len(bundled)):
        hope[t] = -inf
        if bundled[t] == 0 and j.cover[t] < inf and (count == 0 or outbids(ceiling, i, beliefs, t)):
            score = -(m.ready + (total + least[t]) / m.speed) if by_time else -least[t]
            if outbids(min(score, ceiling), i, beliefs, t):
                hope[t] = score
                first = t if first < 0 or score > hope[first] else first
    return hope, first


extend = tour_routine(build_bundles, parallel=True)

METHOD = Method("vehicles bid for bundles of tasks and communicate until all agree (CBBA)", solve, Options)


NONE = -1
Reach = Callable[[int], NDArray[np.bool_]]
"""Round (from 0) -> (a, a): whether the vehicle of a column receives from that of a row."""


class Beliefs(NamedTuple):
    """The knowledge of every vehicle, a row each."""

    bids: Floats  # (a, t) the winning bid on each task; -inf: none
    winners: Ints  # (a, t) the winner; -1: none
    stamps: Ints  # (a, a) the round of its last information about another vehicle
    bundles: Ints  # (a, l) its tasks, in the order of adding
    paths: Ints  # (a, l) its tasks, in the order of execution
    counts: Ints  # (a,) how many


Heard = tuple[tuple[Floats, Ints, Ints], NDArray[np.bool_], int]
"""What all vehicles have sent in a round: bids, winners and stamps; who hears whom (receiver, sender); the round."""
Bidder = Callable[[Beliefs], None]
"""Extends the bundle and the path of every vehicle as far as possible; writes its bids, with itself as winner."""


class Consensus:
    """Vehicles that agree on an assignment, round by round."""

    def __init__(self, vehicles: int, tasks: int, most: int, bidder: Bidder) -> None:
        """`most`: maximum number of tasks in a bundle."""
        bids, winners = np.full((vehicles, tasks), -np.inf), np.full((vehicles, tasks), NONE)
        stamps, bundles = np.full((vehicles, vehicles), -1), np.zeros((vehicles, most), np.int64)
        self.beliefs = Beliefs(bids, winners, stamps, bundles, bundles.copy(), np.zeros(vehicles, np.int64))
        self.bidder = bidder
        self.rounds = 0  # completed
        self.messages = 0  # from one vehicle to another
        self.quiet = 0  # rounds since the last change

    @property
    def agreed(self) -> bool:
        """Whether all believe the same."""
        winners = self.beliefs.winners
        return bool((winners == winners[:1]).all())

    def round(self, links: NDArray[np.bool_]) -> bool:
        """Bid, communicate over links (a, a), and drop what others have won; return whether anything changed."""
        reached = links & ~np.eye(len(links), dtype=bool)
        self.messages += int(reached.sum())
        return self.exchange(lambda: [(self.copied(), np.ascontiguousarray(reached.T), self.rounds)])

    def copied(self) -> tuple[Floats, Ints, Ints]:
        """Return what all vehicles send: their bids, winners and stamps."""
        return self.beliefs.bids.copy(), self.beliefs.winners.copy(), self.beliefs.stamps.copy()

    def exchange(self, communicate: Callable[[], list[Heard]]) -> bool:
        """Bid, `communicate`, and drop what others have won; return whether anything changed."""
        b, (bids, winners, _) = self.beliefs, self.copied()
        self.bidder(b)
        for sent, hears, when in communicate():
            listen(*sent, hears, when, b.bids, b.winners, b.stamps)
        release(b)
        changed = not (np.array_equal(winners, b.winners) and np.array_equal(bids, b.bids))
        self.rounds += 1
        self.quiet = 0 if changed else self.quiet + 1
        return changed

    def run(self, links: Reach | None = None, most: int = 100_000) -> int:
        """Run rounds until all agree (or nothing changes, if not all are connected); return their number."""
        vehicles = len(self.beliefs.counts)
        complete = np.ones((vehicles, vehicles), dtype=bool)
        while self.rounds < most:
            self.round(complete if links is None else links(self.rounds))
            if self.quiet and (self.agreed or self.quiet > vehicles):
                break
        return self.rounds - self.quiet

    def orders(self) -> list[list[int]]:
        """Return the path of each vehicle."""
        return [row[:count].tolist() for row, count in zip(self.beliefs.paths, self.beliefs.counts, strict=True)]


def receive(
    sent_bids: Floats, sent_winners: Ints, sent_stamps: Ints, hears: NDArray[np.bool_], now: int,
    bids: Floats, winners: Ints, stamps: Ints,
) -> None:  # fmt: skip
    """Update the beliefs of every vehicle with those of others before this round; `hears` (receiver, sender)."""
    vehicles, tasks = bids.shape
    for i in parallel_range(vehicles):
        for k in range(vehicles):
            if hears[i, k]:
                for task in range(tasks):
                    zk, yk = sent_winners[k, task], sent_bids[k, task]
                    zi, yi = winners[i, task], bids[i, task]
                    if zi == zk and yi == yk:
                        continue  # no action changes anything
                    verdict = decide(i, k, zi, yi, zk, yk, stamps[i], sent_stamps[k])
                    if verdict == UPDATE:
                        winners[i, task], bids[i, task] = zk, yk
                    elif verdict == RESET:
                        winners[i, task], bids[i, task] = NONE, -INFINITY
                for other in range(vehicles):
                    stamps[i, other] = max(stamps[i, other], sent_stamps[k, other])
                stamps[i, k] = now


INFINITY = float("inf")
LEAVE, UPDATE, RESET = 0, 1, 2


def decide(i: int, k: int, zi: int, yi: float, zk: int, yk: float, si: Ints, sk: Ints) -> int:
    """Return the action of i on a message of k, table 1 of the paper; z: winner, y: bid, s: time of information."""
    higher = yk > yi or (yk == yi and zk < zi)
    if zk == k:
        return sender_wins(i, k, zi, higher, si, sk)
    if zk == i:
        return receiver_wins(i, k, zi, si, sk)
    if zk == NONE:
        if zi == k:
            return UPDATE
        return UPDATE if zi != i and zi != NONE and sk[zi] > si[zi] else LEAVE
    return third_wins(i, k, zi, zk, higher, si, sk)


def sender_wins(i: int, k: int, zi: int, higher: bool, si: Ints, sk: Ints) -> int:
    """Return the action if the sender believes that it has won itself."""
    if zi in (k, NONE):
        return UPDATE
    if zi == i:
        return UPDATE if higher else LEAVE
    return UPDATE if higher or sk[zi] > si[zi] else LEAVE


def receiver_wins(i: int, k: int, zi: int, si: Ints, sk: Ints) -> int:
    """Return the action if the sender believes that the receiver has won."""
    if zi == k:
        return RESET
    return RESET if zi != i and zi != NONE and sk[zi] > si[zi] else LEAVE


def third_wins(i: int, k: int, zi: int, zk: int, higher: bool, si: Ints, sk: Ints) -> int:
    """Return the action if the sender believes that a third vehicle has won."""
    newer = sk[zk] > si[zk]
    if zi == i:
        return UPDATE if newer and higher else LEAVE
    if zi == k:
        return UPDATE if newer else RESET
    if zi in (NONE, zk):
        return UPDATE if newer else LEAVE
    if newer and (sk[zi] > si[zi] or higher):
        return UPDATE
    return RESET if sk[zi] > si[zi] and si[zk] > sk[zk] else LEAVE


def release_outbid(beliefs: Beliefs) -> None:
    """Drop the tasks that others have won, and all that were added after them: their bids assumed those tasks."""
    for i in range(len(beliefs.counts)):
        valid = 0
        while valid < beliefs.counts[i] and beliefs.winners[i, beliefs.bundles[i, valid]] == i:
            valid += 1
        for n in range(valid, beliefs.counts[i]):
            task = beliefs.bundles[i, n]
            if beliefs.winners[i, task] == i:
                beliefs.winners[i, task], beliefs.bids[i, task] = NONE, -INFINITY
        truncate_bundle(beliefs, i, valid)


def truncate_bundle(beliefs: Beliefs, i: int, length: int) -> None:
    """Shorten a bundle, and its path to the same tasks."""
    path, left = beliefs.paths[i], 0
    for p in range(beliefs.counts[i]):
        task, stays = path[p], False
        for n in range(length):
            stays = stays or beliefs.bundles[i, n] == task
        if stays:
            path[left] = task
            left += 1
    beliefs.counts[i] = length


def outbids(bid: float, i: int, beliefs: Beliefs, task: int) -> bool:
    """Return whether a bid of a vehicle beats its believed winner; ties go to the first vehicle."""
    best = beliefs.bids[i, task]
    return bid > best or (bid == best and bid > -INFINITY and i < beliefs.winners[i, task])


def warped(bid: float, i: int, beliefs: Beliefs) -> float:
    """Return a bid, no higher than those before it in the bundle."""
    for n in range(beliefs.counts[i]):
        bid = min(bid, beliefs.bids[i, beliefs.bundles[i, n]])
    return bid


listen = parallel_routine(receive)
release = routine(release_outbid)


def by_consensus(cost: Floats) -> tuple[Ints, Ints]:
    """Return the greedy assignment, by rows that all communicate."""
    bidding = bidding_on(cost)
    bidding.run()
    orders = [(row, order[0]) for row, order in enumerate(bidding.orders()) if order]
    pairs = np.array(orders, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def bidding_on(cost: Floats) -> Consensus:
    """Return rows that bid for one column each, before the first round."""
    vehicles, tasks = cost.shape
    return Consensus(vehicles, tasks, 1, lambda beliefs: _bid(cost, beliefs))


def bid(cost: Floats, beliefs: Beliefs) -> None:
    """Let every row without a column take the cheapest winnable one."""
    for i in range(len(cost)):
        best = -1
        for task in range(cost.shape[1]):
            if outbids(-cost[i, task], i, beliefs, task) and (best < 0 or cost[i, task] < cost[i, best]):
                best = task
        if beliefs.counts[i] == 0 and best >= 0:
            beliefs.bids[i, best], beliefs.winners[i, best] = -cost[i, best], i
            beliefs.bundles[i, 0] = beliefs.paths[i, 0] = best
            beliefs.counts[i] = 1


_bid = routine(bid)
