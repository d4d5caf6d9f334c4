"""The consensus-based bundle algorithm (CBBA: Choi, Brunet and How, 2009): nobody decides for all.

Every agent has its own bundle of tasks and its own belief about who wins each task at which bid, and tells it to those
whom it can reach, round by round, until all agree. Bids are minus what a task adds. As the added way may shrink when
more tasks are on it, bids are warped: never higher than those before them in the bundle (Johnson, Choi and How, 2012:
Allowing non-submodular score functions in distributed task allocation), which is what the proof of convergence needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.planning.ways import Ints
from paddock.world.columns import Floats

NOBODY = -1
HeardBy = Callable[[int], NDArray[np.bool_]]
"""Round (from 0) -> (a, a): whether the agent of a column hears that of a row."""


class Beliefs(NamedTuple):
    """What every agent knows, a row each."""

    bids: Floats  # (a, t) the winning bid on each task; -inf: none
    winners: Ints  # (a, t) whose it is; -1: nobody's
    stamps: Ints  # (a, a) the round in which it last had news of another one
    bundles: Ints  # (a, l) its tasks, in the order in which it took them
    paths: Ints  # (a, l) its tasks, in the order in which it would do them
    counts: Ints  # (a,) how many


class Bidder(Protocol):
    """Lets agents take tasks."""

    def __call__(self, beliefs: Beliefs, /) -> None:
        """Extend the bundle and the path of every agent as far as it can; write its bids and itself as the winner."""


class Consensus:
    """Agents that agree on who does what, a round at a time."""

    def __init__(self, agents: int, tasks: int, most: int, bidder: Bidder) -> None:
        """`most` is how many tasks a bundle holds."""
        bids, winners = np.full((agents, tasks), -np.inf), np.full((agents, tasks), NOBODY)
        stamps, bundles = np.full((agents, agents), -1), np.zeros((agents, most), np.int64)
        self.beliefs = Beliefs(bids, winners, stamps, bundles, bundles.copy(), np.zeros(agents, np.int64))
        self.bidder = bidder
        self.rounds = 0  # gone through
        self.messages = 0  # from one agent to another
        self.quiet = 0  # rounds since anything has changed

    @property
    def agreed(self) -> bool:
        """Whether all believe the same."""
        winners = self.beliefs.winners
        return bool((winners == winners[:1]).all())

    def round(self, links: NDArray[np.bool_]) -> bool:
        """Take tasks, tell those who hear (a, a), and drop what others have won; whether anything has changed."""
        winners, bids = self.beliefs.winners.copy(), self.beliefs.bids.copy()
        self.bidder(self.beliefs)
        heard = links & ~np.eye(len(links), dtype=bool)
        self._talk(heard)
        release(self.beliefs)
        changed = not (np.array_equal(winners, self.beliefs.winners) and np.array_equal(bids, self.beliefs.bids))
        self.rounds += 1
        self.messages += int(heard.sum())
        self.quiet = 0 if changed else self.quiet + 1
        return changed

    def run(self, links: HeardBy | None = None, most: int = 100_000) -> int:
        """Rounds until they agree (or, where not all can reach each other, until nothing changes); how many it took."""
        agents = len(self.beliefs.counts)
        everybody = np.ones((agents, agents), dtype=bool)
        while self.rounds < most:
            self.round(everybody if links is None else links(self.rounds))
            if self.quiet and (self.agreed or self.quiet > agents):
                break
        return self.rounds - self.quiet

    def orders(self) -> list[list[int]]:
        """The path of each agent."""
        return [row[:count].tolist() for row, count in zip(self.beliefs.paths, self.beliefs.counts, strict=True)]

    def _talk(self, heard: NDArray[np.bool_]) -> None:
        b = self.beliefs
        told = (b.bids.copy(), b.winners.copy(), b.stamps.copy())
        listen(*told, np.ascontiguousarray(heard.T), self.rounds, b.bids, b.winners, b.stamps)


def listening(
    told_bids: Floats, told_winners: Ints, told_stamps: Ints, hears: NDArray[np.bool_], now: int,
    bids: Floats, winners: Ints, stamps: Ints,
) -> None:  # fmt: skip
    """Every agent hears what others believed before this round, one after the other; `hears` (listener, speaker)."""
    agents, tasks = bids.shape
    for i in parallel_range(agents):
        for k in range(agents):
            if hears[i, k]:
                for task in range(tasks):
                    zk, yk = told_winners[k, task], told_bids[k, task]
                    zi, yi = winners[i, task], bids[i, task]
                    if zi == zk and yi == yk:
                        continue  # whatever the verdict, nothing changes
                    verdict = decide(i, k, zi, yi, zk, yk, stamps[i], told_stamps[k])
                    if verdict == UPDATE:
                        winners[i, task], bids[i, task] = zk, yk
                    elif verdict == RESET:
                        winners[i, task], bids[i, task] = NOBODY, -INFINITY
                for other in range(agents):
                    stamps[i, other] = max(stamps[i, other], told_stamps[k, other])
                stamps[i, k] = now


INFINITY = float("inf")
LEAVE, UPDATE, RESET = 0, 1, 2


def decide(i: int, k: int, zi: int, yi: float, zk: int, yk: float, si: Ints, sk: Ints) -> int:
    """What i does on a message of k, the paper's table 1; z: winner, y: bid, s: when it last had news of others."""
    higher = yk > yi or (yk == yi and zk < zi)
    if zk == k:
        return told_own(i, k, zi, higher, si, sk)
    if zk == i:
        return told_mine(i, k, zi, si, sk)
    if zk == NOBODY:
        if zi == k:
            return UPDATE
        return UPDATE if zi != i and zi != NOBODY and sk[zi] > si[zi] else LEAVE
    return told_third(i, k, zi, zk, higher, si, sk)


def told_own(i: int, k: int, zi: int, higher: bool, si: Ints, sk: Ints) -> int:
    """The speaker believes that it has won itself."""
    if zi in (k, NOBODY):
        return UPDATE
    if zi == i:
        return UPDATE if higher else LEAVE
    return UPDATE if higher or sk[zi] > si[zi] else LEAVE


def told_mine(i: int, k: int, zi: int, si: Ints, sk: Ints) -> int:
    """The speaker believes that the listener has won."""
    if zi == k:
        return RESET
    return RESET if zi != i and zi != NOBODY and sk[zi] > si[zi] else LEAVE


def told_third(i: int, k: int, zi: int, zk: int, higher: bool, si: Ints, sk: Ints) -> int:
    """The speaker believes that somebody else has won."""
    newer = sk[zk] > si[zk]
    if zi == i:
        return UPDATE if newer and higher else LEAVE
    if zi == k:
        return UPDATE if newer else RESET
    if zi in (NOBODY, zk):
        return UPDATE if newer else LEAVE
    if newer and (sk[zi] > si[zi] or higher):
        return UPDATE
    return RESET if sk[zi] > si[zi] and si[zk] > sk[zk] else LEAVE


def released(beliefs: Beliefs) -> None:
    """Agents give up tasks that others have won, and all that they took after those: they were bid for beside them."""
    for i in range(len(beliefs.counts)):
        kept = 0
        while kept < beliefs.counts[i] and beliefs.winners[i, beliefs.bundles[i, kept]] == i:
            kept += 1
        for n in range(kept, beliefs.counts[i]):
            task = beliefs.bundles[i, n]
            if beliefs.winners[i, task] == i:
                beliefs.winners[i, task], beliefs.bids[i, task] = NOBODY, -INFINITY
        forget(beliefs, i, kept)


def forget(beliefs: Beliefs, i: int, kept: int) -> None:
    """Shorten a bundle, and its path to the same tasks."""
    path, left = beliefs.paths[i], 0
    for p in range(beliefs.counts[i]):
        task, stays = path[p], False
        for n in range(kept):
            stays = stays or beliefs.bundles[i, n] == task
        if stays:
            path[left] = task
            left += 1
    beliefs.counts[i] = kept


def wins(bid: float, i: int, beliefs: Beliefs, task: int) -> bool:
    """Whether a bid of an agent beats what it believes; of equal bids the first agent's."""
    best = beliefs.bids[i, task]
    return bid > best or (bid == best and bid > -INFINITY and i < beliefs.winners[i, task])


def warped(bid: float, i: int, beliefs: Beliefs) -> float:
    """A bid, no higher than those before it in the bundle."""
    for n in range(beliefs.counts[i]):
        bid = min(bid, beliefs.bids[i, beliefs.bundles[i, n]])
    return bid


listen = parallel_routine(listening)
release = routine(released)
