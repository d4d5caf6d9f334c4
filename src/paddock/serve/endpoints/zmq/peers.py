"""Who is at the other end: by routing id, since Hello by name too, and how much each may ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from paddock.world.layout import Layout

SILENCE = 5.0
"""s of wall time without a message after which a client is gone."""
IGNORED = 5.0
"""s for which nothing is heard from who was cut off."""
STRIKES = 20
"""Messages without sense, or with a wrong token, before a peer is cut off; forgotten one per second."""
STRANGERS = 256
"""Peers remembered that have not said Hello."""
NAME_LENGTH = 64


@dataclass
class Peer:
    """One connection."""

    address: bytes
    name: str = ""  # how the simulation calls it; empty before Hello
    heard: float = field(default_factory=monotonic)
    ignored_until: float = 0.0
    allowance: float = 0.0  # requests that it may make at once
    strikes: float = 0.0
    open_requests: int = 0
    layout: Layout | None = None  # of the roster it was told last


class Peers:
    """All of them, as many as there may be."""

    def __init__(self, most_clients: int, requests_per_second: float) -> None:
        self.most_clients = most_clients
        self.rate = requests_per_second
        self.clients: dict[str, Peer] = {}  # by name
        self._peers: dict[bytes, Peer] = {}
        self._names = 0

    def at(self, address: bytes) -> Peer:
        """Who speaks, now heard of."""
        peer = self._peers.get(address)
        if peer is None:
            self._forget_strangers()
            peer = self._peers[address] = Peer(address, allowance=self.rate)
        now = monotonic()
        passed, peer.heard = now - peer.heard, now
        peer.allowance = min(self.rate, peer.allowance + passed * self.rate)
        peer.strikes = max(0.0, peer.strikes - passed)
        return peer

    def welcome(self, peer: Peer, wanted: str) -> bool:
        """Give a peer a name of its own; False if there are too many clients."""
        if len(self.clients) >= self.most_clients:
            return False
        told = "".join(letter for letter in wanted if letter.isprintable())[:NAME_LENGTH] or "client"
        self._names += 1  # never the same name again: what is still under way for one client is nobody else's
        peer.name = f"{told} (zmq {self._names})"
        peer.layout = None
        self.clients[peer.name] = peer
        return True

    def part(self, peer: Peer) -> str:
        """A client is one no more; returns its name."""
        name, peer.name = peer.name, ""
        self.clients.pop(name, None)
        return name

    def silent(self) -> list[Peer]:
        """Clients of whom nothing was heard for too long."""
        now = monotonic()
        return [peer for peer in self.clients.values() if now - peer.heard > SILENCE]

    def _forget_strangers(self) -> None:
        """The oldest of those who have not said Hello are forgotten first."""
        if len(self._peers) - len(self.clients) >= STRANGERS:
            oldest = next(address for address, peer in self._peers.items() if not peer.name)
            del self._peers[oldest]
