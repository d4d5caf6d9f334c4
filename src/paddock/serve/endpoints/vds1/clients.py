"""Who has been heard, and what each client said last for each car."""

from __future__ import annotations

from paddock.serve.datagrams import Address

SILENCE = 2.0
"""s of wall time without a word after which a client is forgotten."""
PAUSE = 1.0
"""s after which any sequence number counts as a new beginning."""
WINDOW = 1000
"""Sequence numbers that a late datagram may be behind; further back, its sender has begun again."""
IN_A_ROW = 3
"""Datagrams that count up, one by one, from an older number: their sender has begun again."""
HALF = 1 << 31


class Track:
    """The sequence numbers of one client for one car."""

    __slots__ = ("at", "last", "older", "row")

    def __init__(self, sequence: int, now: float) -> None:
        self.last, self.at = sequence, now
        self.older, self.row = 0, 0  # the old number that came last, and how many of them counted up to it

    def takes(self, sequence: int, now: float) -> bool:
        """Whether a datagram counts; a duplicate, a replayed or a late one does not. `now` in s.

        A client that has begun again is taken at once after a pause or from far back, else with its third datagram.
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


class Client:
    """One address."""

    __slots__ = ("heard", "said", "since", "tracks")

    def __init__(self, now: float) -> None:
        self.heard = self.since = now  # s: last heard; when counting `said` began
        self.said = 0  # datagrams in this second
        self.tracks: dict[int, Track] = {}  # car -> its sequence numbers

    def within(self, rate: float, now: float) -> bool:
        """Whether it keeps to so many datagrams per second."""
        if now - self.since >= 1.0:
            self.since, self.said = now, 0
        self.said += 1
        return self.said <= rate

    def takes(self, vehicle: int, sequence: int, now: float) -> bool:
        """Whether its datagram for a car counts."""
        track = self.tracks.get(vehicle)
        if track is None:
            self.tracks[vehicle] = Track(sequence, now)
            return True
        return track.takes(sequence, now)


class Clients:
    """All that were heard lately, up to a number."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: dict[Address, Client] = {}

    def hear(self, address: Address, now: float) -> Client | None:
        """The client at an address, which has just been heard; None if there is no room for one more."""
        client = self.known.get(address)
        if client is None:
            if len(self.known) >= self.most:
                self.forget(now)
            if len(self.known) >= self.most:
                return None
            client = self.known[address] = Client(now)
        client.heard = now
        return client

    def forget(self, now: float) -> int:
        """Drop those that have been silent for too long; how many."""
        silent = [address for address, client in self.known.items() if now - client.heard > SILENCE]
        for address in silent:
            del self.known[address]
        return len(silent)
