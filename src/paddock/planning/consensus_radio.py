"""CBBA over radio: vehicles broadcast their beliefs as messages, which are lost or late as the links are.

In each round of a fixed period every vehicle bids, and broadcasts what it believes at a random time within the round:
vehicles that do not hear each other would otherwise collide in every round. A vehicle handles what has arrived
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
from paddock.world.fleet import draw_uniforms

BID_BITS, WINNER_BITS, STAMP_BITS = 32, 16, 16  # of one task, one task and one vehicle in a message
JITTER, JITTER_PURPOSE = 0.8, 904  # share of a round within which vehicles send, and purpose of the draw
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
        self._sent: dict[int, tuple[int, int]] = {}  # number of a message -> round and vehicle
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
        self._broadcast(now, time)
        self.messages.advance(time + self.period)
        for sent, hears in self._arrived(b):
            listen(*self._copies[sent], hears, sent, b.bids, b.winners, b.stamps)
        release(b)
        c.rounds += 1
        changed = not (np.array_equal(before[0], b.winners) and np.array_equal(before[1], b.bids))
        c.quiet = 0 if changed else c.quiet + 1
        return changed

    def _broadcast(self, now: int, time: float) -> None:
        """Send the beliefs of each vehicle at a random time within the round."""
        messages = self.messages
        streams = messages.devices.streams[self.radios]
        later = draw_uniforms(messages.rules.seed, streams, JITTER_PURPOSE, 1, now)[:, 0] * JITTER * self.period
        for k in np.argsort(later, kind="stable").tolist():
            messages.advance(time + float(later[k]))
            radio, at = int(self.radios[k]), time + float(later[k])
            self._sent[messages.send(radio, channel.BROADCAST, b"", at, bits=self.bits)] = now, k
            self.sent += 1

    def _arrived(self, beliefs: Beliefs) -> list[tuple[int, np.ndarray]]:
        """Return the round of sending and (receiver, sender) of what has arrived since, oldest first."""
        count, air, room = len(self.radios), self.messages.air, self.messages.section.mailbox
        found: dict[int, np.ndarray] = {}
        for i, radio in enumerate(self.radios.tolist()):
            total = int(air.whole[channel.MAILS, radio])
            places = np.arange(max(int(self._read[i]), total - room), total) % room
            self._read[i] = total
            for number in air.mail[radio, places, channel.MAIL_NUMBER].tolist():
                sent, sender = self._sent.get(number, (-1, -1))
                if sent in self._copies:
                    hears = found.setdefault(sent, np.zeros((count, count), bool))
                    hears[i, sender] = beliefs.stamps[i, sender] < sent
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
