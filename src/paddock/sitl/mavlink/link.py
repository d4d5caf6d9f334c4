"""One UDP socket: a vehicle's own, or the one that all vehicles share."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.packets import Counters, Reader, renumbered
from paddock.sitl.mavlink.peers import Address, Peer, Peers

if TYPE_CHECKING:
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle

DATAGRAM = 4096  # bytes: more than any station sends at once
MOST_DATAGRAMS = 64  # read at one go, so that one talkative station does not hold up the world


@dataclass
class Link:
    """The socket, its listeners, and the vehicles that speak on it."""

    socket: socket.socket
    peers: Peers
    vehicles: dict[int, MavlinkVehicle] = field(default_factory=dict)
    counters: Counters = field(default_factory=Counters)

    def send(self, packet: bytes, extra: int, sysid: int, only: Peer | None = None) -> None:
        """To every listener, or to one."""
        for peer in (only,) if only is not None else self.peers:
            self._send_to(peer.address, renumbered(packet, peer.next_sequence(sysid), extra))

    def _send_to(self, address: Address, packet: bytes) -> None:
        try:
            self.socket.sendto(packet, address)
            self.counters.sent += 1
        except OSError:  # nobody there, no route, a full buffer: UDP loses packets, the next one comes soon
            return

    def receive(self, reader: Reader, wall: float) -> None:
        """Hand every waiting message to its vehicle."""
        for _ in range(MOST_DATAGRAMS):
            try:
                datagram, address = self.socket.recvfrom(DATAGRAM)
            except OSError:  # nothing more, or a listener's port is closed
                return
            self._take(reader.messages(datagram, self.counters), address, wall)

    def _take(self, messages: list[Any], address: Address, wall: float) -> None:
        for message in messages:
            peer = self.peers.heard(address, wall)
            for vehicle in self._addressed(message):
                vehicle.handle(message, Origin(self, peer, message))

    def _addressed(self, message: Any) -> list[MavlinkVehicle]:
        """The vehicles that a message is for: all, if it names none."""
        system = getattr(message, "target_system", getattr(message, "target", 0))
        if system == 0:
            return list(self.vehicles.values())
        vehicle = self.vehicles.get(system)
        return [vehicle] if vehicle is not None else []


class Origin:
    """Where a message came from, and so where its answer goes."""

    __slots__ = ("component", "link", "peer", "system")

    def __init__(self, link: Link, peer: Peer, message: Any) -> None:
        self.link, self.peer = link, peer
        self.system: int = message.get_srcSystem()
        self.component: int = message.get_srcComponent()

    @property
    def key(self) -> tuple[Address, int, int]:
        """Who it is."""
        return self.peer.address, self.system, self.component
