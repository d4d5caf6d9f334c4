"""CBBA over radio: vehicles broadcast their beliefs as messages, which are lost or late as the links are.

In each round of a fixed period every vehicle bids, and broadcasts what it believes at a random time within the round:
vehicles that do not hear each other would otherwise collide in every round. A vehicle handles what has arrived
by the end of the round with the contents of the time of sending; what arrives later counts in a later round, what is
older than its information about the sender does not. The vehicles agree if all believe in the same winners; vehicles in
separate parts of the network agree among themselves.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods.cbba import Beliefs, Consensus, Heard, Options, bidding_for
from paddock.radio.packets.messages import Messages
from paddock.radio.packets.network import Ints, component_labels
from paddock.radio.packets.queues import BROADCAST, DELIVERED, FORGED, MAIL_NUMBER, airtime
from paddock.wire.radio_results import Agreement, NegotiatedAssignment
from paddock.world.columns import Floats
from paddock.world.fleet import draw_uniforms

BID_BITS, WINNER_BITS, STAMP_BITS = 32, 16, 16  # of one task, one task and one vehicle in a message
JITTER, JITTER_PURPOSE = 0.8, 904  # share of a round within which vehicles send, and purpose of the draw
KEPT_ROUNDS = 64  # older messages are ignored
SHORTEST = 0.5  # s, of a round
CALM_FACTOR, CALM = 4, 16  # vehicles that disagree give up after 4 n + 16 rounds without a change


def message_bits(consensus: Consensus) -> int:
    """Return the size of a message of a consensus."""
    vehicles, tasks = consensus.beliefs.bids.shape
    return int(tasks) * (BID_BITS + WINNER_BITS) + int(vehicles) * STAMP_BITS


class RadioConsensus:
    """Vehicles that bid and exchange their beliefs over messages."""

    def __init__(self, consensus: Consensus, messages: Messages, radios: Ints, period: float = SHORTEST) -> None:
        """`radios` (a,) are those of the vehicles; the first round begins at 0 s and each takes `period` (s)."""
        self.consensus, self.messages, self.radios = consensus, messages, np.asarray(radios, np.int64)
        self.period, self.bits = period, message_bits(consensus)
        self.sent = self.received = 0
        self._sent: dict[int, tuple[int, int]] = {}  # number of a message -> round and vehicle
        self._copies: dict[int, tuple[Floats, Ints, Ints]] = {}  # round -> what was sent
        self._read = self._mailed()

    def round(self) -> bool:
        """Bid, send, handle what arrives, and drop what others have won; return whether anything changed."""
        return self.consensus.exchange(self._communicate)

    def _communicate(self) -> list[Heard]:
        """Broadcast for a round; return what has arrived since, oldest first."""
        now = self.consensus.rounds
        self._copies[now] = self.consensus.copied()
        self._copies.pop(now - KEPT_ROUNDS, None)
        self._broadcast(now)
        self.messages.advance(now * self.period + self.period)
        return [(self._copies[sent], hears, sent) for sent, hears in self._arrived(self.consensus.beliefs)]

    def _broadcast(self, now: int) -> None:
        """Send the beliefs of each vehicle at a random time within the round."""
        messages, time = self.messages, now * self.period
        streams = messages.devices.streams[self.radios]
        later = draw_uniforms(messages.rules.seed, streams, JITTER_PURPOSE, 1, now)[:, 0] * JITTER * self.period
        for k in np.argsort(later, kind="stable").tolist():
            messages.advance(time + float(later[k]))
            radio, at = int(self.radios[k]), time + float(later[k])
            self._sent[messages.send(radio, BROADCAST, b"", at, bits=self.bits)] = now, k
            self.sent += 1

    def _arrived(self, beliefs: Beliefs) -> list[tuple[int, np.ndarray]]:
        """Return the round of sending and (receiver, sender) of what has arrived since, oldest first."""
        count, state, room = len(self.radios), self.messages.state, self.messages.section.mailbox
        mailed = self._mailed()
        by_round: dict[int, np.ndarray] = {}
        for i, radio in enumerate(self.radios.tolist()):
            last = int(state.mails[radio])
            first = max(last - int(mailed[i] - self._read[i]), 0)
            slots = (state.mail_head[radio] + np.arange(first, last)) % room
            for number in state.mail[radio, slots, MAIL_NUMBER].tolist():
                sent, sender = self._sent.get(number, (-1, -1))
                if sent in self._copies:
                    hears = by_round.setdefault(sent, np.zeros((count, count), bool))
                    hears[i, sender] = beliefs.stamps[i, sender] < sent
                    self.received += 1
        self._read = mailed
        return sorted(by_round.items())

    def _mailed(self) -> Ints:
        """Return how many messages have come to the mailbox of each vehicle."""
        return np.asarray(self.messages.state.counts[[DELIVERED, FORGED]][:, self.radios].sum(axis=0))

    def run(self, most: int = 1000) -> Agreement:
        """Run rounds until each part agrees, nothing changes for long, or there were `most`; return how it ended."""
        c, vehicles = self.consensus, len(self.radios)
        while c.rounds < most:
            self.round()
            if c.quiet and (self._settled or c.quiet > CALM_FACTOR * vehicles + CALM):
                break
        return self.result()

    def assigned(self, most: int = 1000) -> NegotiatedAssignment:
        """Run rounds as `run`; return the first task of each vehicle and how the rounds ended."""
        ended = self.run(most)
        return NegotiatedAssignment([order[0] if order else None for order in self.consensus.orders()], ended)

    @property
    def _settled(self) -> bool:
        """Whether the vehicles of each part of the network believe in the same winners."""
        _, first, part = np.unique(self._labels(), return_index=True, return_inverse=True)
        winners = self.consensus.beliefs.winners
        return bool((winners == winners[first[part.reshape(-1)]]).all())

    def _labels(self) -> Ints:
        """Return the group of each vehicle. Broadcasts make one hop: stations and other radios do not join groups."""
        routes = self.messages.routes
        vehicle_of = np.full(len(routes.start) - 1, -1)
        vehicle_of[self.radios] = np.arange(len(self.radios))
        rows, peers = vehicle_of[np.repeat(np.arange(len(vehicle_of)), np.diff(routes.start))], vehicle_of[routes.peer]
        links = np.flatnonzero((rows >= 0) & (peers >= 0))
        links = links[np.argsort(rows[links], kind="stable")]
        counts = np.bincount(rows[links], minlength=len(self.radios))
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return component_labels(start, np.ascontiguousarray(peers[links]).astype(np.int64))

    def result(self) -> Agreement:
        """Return how the rounds so far have ended."""
        c = self.consensus
        tasks = c.beliefs.bids.shape[1]
        held = [row[:count] for row, count in zip(c.beliefs.bundles, c.beliefs.counts.tolist(), strict=True)]
        holders = np.bincount(np.concatenate([*held, np.zeros(0, np.int64)]), minlength=tasks)
        return Agreement(
            bool(c.agreed and c.quiet > 0),
            c.rounds - c.quiet,
            c.rounds * self.period,
            self.sent,
            self.received,
            int((holders > 1).sum()),
            int((holders == 0).sum()),
            len(np.unique(self._labels())),
            self._settled and c.quiet > 0,
        )


class Negotiated(NamedTuple):
    """A plan that vehicles have negotiated."""

    bundles: list[list[int]]  # the tasks that each believes to have won, in order
    orders: list[list[int]]  # without those that another vehicle has won with a higher bid
    agreement: Agreement

    def describe(self) -> str:
        """Return the result in one line."""
        count = self.agreement.conflicts
        solved = f"; the higher bid decides on {count} of them" if count else ""
        left = f"; no vehicle has won {self.agreement.unassigned} tasks" if self.agreement.unassigned else ""
        return self.agreement.describe() + solved + left


def negotiate(
    costs: Costs, options: Options, messages: Messages, radios: Ints, present: Sequence[Sequence[int]] = ()
) -> Negotiated:
    """Let vehicles negotiate over radio: they keep the tasks of their `present` orders and bid for the others.

    A round takes twice the time in which all of them can send one after the other, 0.5 s at least.
    """
    consensus = bidding_for(costs, options)
    if any(present):
        consensus = _continued(consensus, present)
    bits = messages.section.header_bits + message_bits(consensus)
    seconds = float(airtime(messages.devices, int(radios[0]), bits)) if len(radios) else 0.0
    rounds = RadioConsensus(consensus, messages, radios, period=max(SHORTEST, 2.0 * len(radios) * seconds))
    ended, bundles = rounds.run(), consensus.orders()
    best: dict[int, tuple[float, int]] = {}
    for vehicle, order in enumerate(bundles):
        for task in order:
            bid = float(consensus.beliefs.bids[vehicle, task]), -vehicle
            best[task] = max(best.get(task, bid), bid)
    orders = [[task for task in order if -best[task][1] == vehicle] for vehicle, order in enumerate(bundles)]
    return Negotiated(bundles, orders, ended)


def _continued(consensus: Consensus, present: Sequence[Sequence[int]]) -> Consensus:
    """Return the vehicles with tasks that no other one can win."""
    old = consensus.beliefs
    vehicles, tasks = old.bids.shape
    most = max(old.bundles.shape[1], *(len(order) for order in present)) if tasks else 0
    continued = Consensus(vehicles, tasks, min(most + max(map(len, present)), tasks), consensus.bidder)
    b = continued.beliefs
    for vehicle, order in enumerate(present):
        b.paths[vehicle, : len(order)] = b.bundles[vehicle, : len(order)] = order
        b.counts[vehicle] = len(order)
        b.bids[vehicle, order], b.winners[vehicle, order] = np.inf, vehicle
    return continued
