"""CBBA over radio: vehicles broadcast their beliefs as messages, which are lost or late as the links are.

In each round of a fixed period every vehicle bids and broadcasts what it believes. A vehicle handles what has arrived
by the end of the round with the contents of the time of sending; what arrives later counts in a later round, what is
older than its information about the sender does not. The vehicles agree if all believe in the same winners.
"""

from typing import NamedTuple

import numpy as np

from paddock.planning.costs import Costs
from paddock.planning.methods.cbba import Beliefs, Consensus, Options, bidding_for, listen, release
from paddock.radio import channel
from paddock.radio.messages import Messages
from paddock.radio.network import Ints, component_labels
from paddock.world.columns import Floats

BID_BITS, WINNER_BITS, STAMP_BITS = 32, 16, 16  # of one task, one task and one vehicle in a message
KEPT_ROUNDS = 64  # older messages are ignored
CALM_FACTOR, CALM = 4, 16  # vehicles that disagree give up after 4 n + 16 rounds without a change
Sent = tuple[Floats, Ints, Ints]


class Agreement(NamedTuple):
    """How rounds over radio ended."""

    agreed: bool  # whether all believe in the same winners
    rounds: int  # until the last change
    seconds: float  # of simulated time
    sent: int  # messages
    received: int
    conflicts: int  # tasks in the bundles of several vehicles
    unassigned: int  # tasks in no bundle
    parts: int  # components of the network that have a vehicle

    def describe(self) -> str:
        """Return the result in one line."""
        took = f"{self.rounds} rounds ({self.seconds:g} s), {self.received} of {self.sent} messages heard by others"
        if self.agreed:
            return f"agreed after {took}"
        apart = f"; the network has {self.parts} parts" if self.parts > 1 else ""
        return f"did not agree after {took}: {self.conflicts} tasks with several winners{apart}"


class RadioConsensus:
    """Vehicles that bid and exchange their beliefs over messages."""

    def __init__(
        self, consensus: Consensus, messages: Messages, radios: Ints, start: float = 0.0, period: float = 0.5
    ) -> None:
        """`radios` (a,) are those of the vehicles; the first round begins at `start` and each takes `period` (s)."""
        self.consensus, self.messages, self.radios = consensus, messages, np.asarray(radios, np.int64)
        self.start, self.period = start, period
        self.sent = self.received = 0
        self._first: dict[int, int] = {}  # round -> number of the message of its first vehicle
        self._copies: dict[int, Sent] = {}  # round -> what was sent
        self._read = messages.air.whole[channel.MAILS, self.radios].copy()

    @property
    def bits(self) -> int:
        """The size of a message."""
        vehicles, tasks = self.consensus.beliefs.bids.shape
        return int(tasks) * (BID_BITS + WINNER_BITS) + int(vehicles) * STAMP_BITS

    def round(self) -> bool:
        """Bid, send, handle what arrives, and drop what others have won; return whether anything changed."""
        c, b, now = self.consensus, self.consensus.beliefs, self.consensus.rounds
        before = b.winners.copy(), b.bids.copy()
        c.bidder(b)
        self._copies[now] = b.bids.copy(), b.winners.copy(), b.stamps.copy()
        self._copies.pop(now - KEPT_ROUNDS, None)
        time = self.start + now * self.period
        numbers = [self.messages.send(int(r), channel.BROADCAST, b"", time, bits=self.bits) for r in self.radios]
        self._first[now] = numbers[0] if numbers else 0
        self.sent += len(numbers)
        self.messages.advance(time + self.period)
        for sent, hears in self._arrived(b):
            listen(*self._copies[sent], hears, sent, b.bids, b.winners, b.stamps)
        release(b)
        c.rounds += 1
        changed = not (np.array_equal(before[0], b.winners) and np.array_equal(before[1], b.bids))
        c.quiet = 0 if changed else c.quiet + 1
        return changed

    def _arrived(self, beliefs: Beliefs) -> list[tuple[int, np.ndarray]]:
        """Return the round of sending and (receiver, sender) of what has arrived since, oldest first."""
        count, air, room = len(self.radios), self.messages.air, self.messages.section.mailbox
        rounds = np.array(sorted(self._first), np.int64)
        first = np.array([self._first[k] for k in rounds.tolist()], np.int64)
        found: dict[int, np.ndarray] = {}
        for i, radio in enumerate(self.radios.tolist()):
            total = int(air.whole[channel.MAILS, radio])
            places = np.arange(max(int(self._read[i]), total - room), total) % room
            self._read[i] = total
            mail = air.mail[radio, places, channel.MAIL_NUMBER]
            at = np.searchsorted(first, mail, side="right") - 1
            for k, number in zip(at.tolist(), mail.tolist(), strict=True):
                sender = number - int(first[k]) if k >= 0 else count
                if sender < count and int(rounds[k]) in self._copies:
                    hears = found.setdefault(int(rounds[k]), np.zeros((count, count), bool))
                    hears[i, sender] = beliefs.stamps[i, sender] < rounds[k]
                    self.received += 1
        return sorted(found.items())

    def run(self, most: int = 1000) -> Agreement:
        """Run rounds until all agree, nothing changes for long, or there were `most`; return how it ended."""
        c, vehicles = self.consensus, len(self.radios)
        while c.rounds < most:
            self.round()
            if c.quiet and (c.agreed or c.quiet > CALM_FACTOR * vehicles + CALM):
                break
        return self.result()

    def result(self) -> Agreement:
        """Return how the rounds so far have ended."""
        c = self.consensus
        tasks = c.beliefs.bids.shape[1]
        held = [row[:count] for row, count in zip(c.beliefs.bundles, c.beliefs.counts.tolist(), strict=True)]
        holders = np.bincount(np.concatenate([*held, np.zeros(0, np.int64)]), minlength=tasks)
        labels = component_labels(self.messages.routes.start, self.messages.routes.peer)[self.radios]
        return Agreement(
            bool(c.agreed and c.quiet > 0),
            c.rounds - c.quiet,
            c.rounds * self.period,
            self.sent,
            self.received,
            int((holders > 1).sum()),
            int((holders == 0).sum()),
            len(np.unique(labels)),
        )


def solve_over_radio(
    costs: Costs,
    options: Options,
    messages: Messages,
    radios: Ints,
    start: float = 0.0,
    period: float = 0.5,
    most: int = 1000,
) -> tuple[list[list[int]], Agreement]:
    """Return the tasks of each vehicle in order, and how the vehicles came to agree over radio."""
    rounds = RadioConsensus(bidding_for(costs, options), messages, radios, start, period)
    ended = rounds.run(most)
    return rounds.consensus.orders(), ended
