"""Sends each station what is due for it: the usual messages, or at the rates that this station has asked for.

A message that is due for several is encoded once. The log holds what is usual, whoever listens; what a station has
asked for beyond that is between the two, so that a station cannot change the log of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.sitl.mavlink.streams import HEARTBEAT, Streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paddock.sitl.mavlink.link import Link
    from paddock.sitl.mavlink.peers import Peer
    from paddock.sitl.mavlink.vehicle import MavlinkVehicle


class Streaming:
    """Of one vehicle."""

    def __init__(self, vehicle: MavlinkVehicle) -> None:
        self.vehicle = vehicle
        self.usual = Streams(vehicle.rate, offset=vehicle.sysid)

    def of(self, peer: Peer) -> Streams:
        """The rates at which a station is told."""
        return peer.streams.get(self.vehicle.sysid, self.usual)

    def own(self, peer: Peer) -> Streams:
        """The rates of this station alone, to be changed; it has the usual ones until it asks for something."""
        sysid = self.vehicle.sysid
        if sysid not in peer.streams:
            peer.streams[sysid] = self.usual.copy()
        return peer.streams[sysid]

    def use_parameter(self, name: str, now_us: int, setter: Peer) -> None:
        """A parameter has changed: it counts for all but those who have asked otherwise, and for who has set it."""
        self.usual.use_parameter(name, now_us, newest=True)
        for peer, own in self._owners():
            own.use_parameter(name, now_us, newest=peer is setter)

    def service(self, now_us: int) -> bool:
        """Send what is due; whether that was a heartbeat for everybody."""
        usual = self.usual.due(now_us)
        wanted: dict[int, list[tuple[Link, Peer]]] = {id: [] for id in usual}
        for link in self.vehicle.links:
            for peer in link.peers:
                own = peer.streams.get(self.vehicle.sysid)
                for id in usual if own is None else own.due(now_us):
                    wanted.setdefault(id, []).append((link, peer))
        for id, listeners in wanted.items():
            self._tell(id, listeners, logged=id in usual and self.vehicle.logs)
        return HEARTBEAT in usual

    def _tell(self, id: int, listeners: list[tuple[Link, Peer]], logged: bool) -> None:
        message = self.vehicle.encode(id) if listeners or logged else None
        if message is None:
            return
        packet = self.vehicle.pack(message) if logged else self.vehicle.pack_aside(message)
        for link, peer in listeners:
            link.send(packet, message.crc_extra, self.vehicle.sysid, peer)

    def restart(self, now_us: int) -> None:
        """Time begins anew; what stations asked for stays."""
        self.usual.restart(now_us)
        for _, own in self._owners():
            own.restart(now_us)

    def forget(self) -> None:
        """The vehicle is gone: another with its number begins with the usual rates."""
        for peer, _ in list(self._owners()):
            del peer.streams[self.vehicle.sysid]

    def _owners(self) -> Iterator[tuple[Peer, Streams]]:
        for link in self.vehicle.links:
            for peer in link.peers:
                if self.vehicle.sysid in peer.streams:
                    yield peer, peer.streams[self.vehicle.sysid]
