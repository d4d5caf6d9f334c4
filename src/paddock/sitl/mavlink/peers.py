"""Who listens on a link: ground stations that have spoken, and the one that is spoken to by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.sitl.mavlink.streams import Streams

Address = tuple[str, int]

SILENCE = 30.0
"""s of wall time without a valid packet, after which a ground station is no longer spoken to."""

MOST_PEERS = 32
"""Listeners on one link: the one that has been silent the longest makes room for a new one."""


@dataclass
class Peer:
    """One address."""

    address: Address
    heard: float  # wall time, s, of its last valid packet
    permanent: bool = False
    sequences: dict[int, int] = field(default_factory=dict)  # the next number of each vehicle's packets to it
    streams: dict[int, Streams] = field(default_factory=dict)  # by vehicle, if it has asked for other rates than usual

    def next_sequence(self, sysid: int) -> int:
        """The number of the next packet: each listener sees an unbroken count."""
        number = self.sequences.get(sysid, 0)
        self.sequences[sysid] = (number + 1) % 256
        return number


class Peers:
    """All listeners of a link, in the order in which they came."""

    def __init__(self, target: Address | None, silence: float = SILENCE) -> None:
        """`target` is always spoken to."""
        self.silence = silence
        self._all: dict[Address, Peer] = {}
        if target is not None:
            self._all[target] = Peer(target, heard=0.0, permanent=True)

    def __iter__(self) -> Iterator[Peer]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def heard(self, address: Address, wall: float) -> Peer:
        """A valid packet came from there."""
        peer = self._all.get(address)
        if peer is None:
            self._make_room()
            peer = self._all[address] = Peer(address, wall)
        peer.heard = wall
        return peer

    def _make_room(self) -> None:
        if len(self._all) >= MOST_PEERS:
            leaving = [peer for peer in self._all.values() if not peer.permanent]
            del self._all[min(leaving, key=lambda peer: peer.heard).address]

    def evict(self, wall: float) -> None:
        """Forget those that have been silent."""
        gone = [p.address for p in self._all.values() if not p.permanent and wall - p.heard > self.silence]
        for address in gone:
            del self._all[address]
