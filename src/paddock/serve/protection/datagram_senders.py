"""The senders of datagrams: how many there may be, how much they may send, and which of them receive states.

Source addresses of UDP can be forged. Where other machines can connect, states therefore go only to senders that have
echoed a cookie: 64 bits that only a program at their address can know. Until then a sender is a stranger: its commands
count, and it is sent no more bytes than it sends.
"""

import hashlib
import secrets
import struct
from typing import Any

from paddock.scenario.serve import is_loopback
from paddock.serve.protection.admission import Allowance
from paddock.wire.vds1 import CarCommand, Cookie, Subscribe

Address = tuple[Any, ...]  # as in the socket module: (host, port), and two more numbers for IPv6
LIFE = 30.0  # s: a cookie is valid until the end of the period after its own


class AddressCookies:
    """Makes and checks cookies without remembering them: a hash of address, period and a secret of this process."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def cookie(self, address: Address, period: int) -> Cookie:
        """Return the cookie of an address in a period."""
        text = f"{address[0]} {address[1]} {period}".encode()
        return Cookie(*struct.unpack("<II", hashlib.blake2b(text, key=self._secret, digest_size=8).digest()))

    def fresh(self, address: Address, now: float) -> Cookie:
        """Return the cookie to send at a time, s."""
        return self.cookie(address, int(now // LIFE))

    def valid_until(self, address: Address, message: CarCommand | Subscribe, now: float) -> float:
        """Return until when (s) a message proves that its sender receives at its address; 0: it does not."""
        if isinstance(message, Subscribe):
            for period in (int(now // LIFE), int(now // LIFE) - 1):
                if self.cookie(address, period)[:2] == message[:2]:
                    return (period + 2) * LIFE
        return 0.0


SILENCE = 2.0  # s of silence after which a sender is forgotten
PAUSE = 1.0  # s after which any sequence number counts as a restart
WINDOW = 1000  # how far a late datagram may be behind; further back counts as a restart of its sender
IN_A_ROW = 3  # datagrams that count up one by one from an older number and count as a restart
HALF = 1 << 31


class SequenceTrack:
    """The sequence numbers of one sender for one car."""

    __slots__ = ("at", "last", "older", "row")

    def __init__(self, sequence: int, now: float) -> None:
        self.last, self.at = sequence, now
        self.older, self.row = 0, 0  # the last old number, and how many counted up to it

    def takes(self, sequence: int, now: float) -> bool:
        """Return whether to accept a datagram; duplicates, replays and late ones are refused. `now` in s.

        A restarted sender is accepted after a pause or from far back, otherwise with its third datagram.
        """
        behind = (self.last - sequence) % (1 << 32)
        if behind < HALF and behind <= WINDOW and now - self.at <= PAUSE and not self._begins_again(sequence):
            return False
        self.last, self.at, self.row = sequence, now, 0
        return True

    def _begins_again(self, sequence: int) -> bool:
        counts_up = self.row > 0 and sequence == (self.older + 1) % (1 << 32)
        self.row = self.row + 1 if counts_up else 1
        self.older = sequence
        return self.row >= IN_A_ROW


class Vds1Sender:
    """The sender at one address."""

    __slots__ = ("allowance", "challenged_at", "last_seen", "proven_until", "tracks")

    def __init__(self, rate: float, now: float) -> None:
        self.allowance = Allowance(rate, now)  # datagrams per second
        self.last_seen = now  # s
        self.proven_until: float | None = None  # s; None: it needs no proof
        self.challenged_at = -CHALLENGE_EVERY  # s
        self.tracks: dict[int, SequenceTrack] = {}  # car -> its sequence numbers

    def see(self, now: float) -> None:
        """Note that a datagram has arrived (s)."""
        self.last_seen = now

    def prove(self, until: float) -> None:
        """Require a proof of its address, which it has until that time (s); 0: it has none yet."""
        self.proven_until = until

    def subscribed(self, now: float) -> bool:
        """Return whether it still receives states: it is neither silent nor without proof."""
        return now - self.last_seen <= SILENCE and (self.proven_until is None or now < self.proven_until)

    def challenge_due(self, now: float) -> bool:
        """Return whether to send it a cookie: it has no proof, or one that expires soon."""
        if self.proven_until is None or self.proven_until - now > 0.5 * LIFE:
            return False
        due = now - self.challenged_at >= CHALLENGE_EVERY
        self.challenged_at = now if due else self.challenged_at
        return due

    def takes(self, vehicle: int, sequence: int, now: float) -> bool:
        """Return whether to accept its datagram for a car."""
        track = self.tracks.get(vehicle)
        if track is None:
            self.tracks[vehicle] = SequenceTrack(sequence, now)
            return True
        return track.takes(sequence, now)


CHALLENGE_EVERY = 0.2  # s between two cookies for one sender
UNVERIFIED = 256  # unverified senders that are remembered; a new one replaces the one that has been silent longest


class Senders:
    """The recent senders, up to a limit, each with a limit of datagrams per second.

    With `everyone`, senders on this machine must echo cookies, too.
    """

    def __init__(self, most: int, rate: float, everyone: bool = False) -> None:
        self.most, self.rate, self.everyone = most, rate, everyone
        self.cookies = AddressCookies()
        self.subscribers: dict[Address, Vds1Sender] = {}
        self.unverified_senders: dict[Address, Vds1Sender] = {}  # the one that has been silent longest first

    def receive(self, address: Address, message: CarCommand | Subscribe, now: float) -> Vds1Sender | None:
        """Return the sender of a datagram; None if the limit of subscribers is reached."""
        client = self.subscribers.get(address)
        if client is None and not self.everyone and is_loopback(address[0]):
            client = self._joined(address, now)
        elif client is None or client.proven_until is not None:
            until = self.cookies.valid_until(address, message, now)
            if client is None:
                client = self._joined(address, now) if until else self._unverified(address, now)
            if client is not None and until:
                client.prove(until)
        if client is not None:
            client.see(now)
        return client

    def _unverified(self, address: Address, now: float) -> Vds1Sender:
        client = self.unverified_senders.pop(address, None) or Vds1Sender(self.rate, now)
        client.prove(0.0)
        self.unverified_senders[address] = client  # last
        if len(self.unverified_senders) > UNVERIFIED:
            del self.unverified_senders[next(iter(self.unverified_senders))]
        return client

    def _joined(self, address: Address, now: float) -> Vds1Sender | None:
        """Return a new subscriber, with what is known of it as an unverified one; None if the limit is reached."""
        if len(self.subscribers) >= self.most:
            self.forget(now)
        if len(self.subscribers) >= self.most:
            return None
        client = self.unverified_senders.pop(address, None) or Vds1Sender(self.rate, now)
        self.subscribers[address] = client
        return client

    def forget(self, now: float) -> int:
        """Remove silent senders and those whose proof has expired; return how many subscribers."""
        gone = [address for address, client in self.subscribers.items() if not client.subscribed(now)]
        for address in gone:
            del self.subscribers[address]
        silent = [address for address, client in self.unverified_senders.items() if now - client.last_seen > SILENCE]
        for address in silent:
            del self.unverified_senders[address]
        return len(gone)
