"""A MAVLink link without a socket: packets pass through memory, so that a lockstep run repeats byte for byte."""

from __future__ import annotations

from collections import deque
from typing import Any

from paddock.sitl.mavlink.link import Address, MavlinkLink, MavlinkPeers
from paddock.sitl.mavlink.packets import PacketReader

STATION: Address = ("station", 0)
"""Where packets for the station go: no socket has such an address."""


class MemoryLink(MavlinkLink):
    """What one vehicle and the station say to each other."""

    def __init__(self) -> None:
        super().__init__(socket=None, peers=MavlinkPeers(STATION))  # type: ignore[arg-type]
        self.to_station: deque[bytes] = deque(maxlen=1000)
        self._to_vehicle: deque[bytes] = deque()

    def _send_to(self, address: Address, packet: bytes) -> None:
        self.to_station.append(packet)
        self.counters.sent += 1

    def say(self, packet: bytes) -> None:
        """A packet from the station."""
        self._to_vehicle.append(packet)

    def receive(self, reader: PacketReader, wall: float) -> None:
        """Hand over what the station has said."""
        while self._to_vehicle:
            self._take(reader.messages(self._to_vehicle.popleft(), self.counters), STATION, wall)

    def heard(self, reader: PacketReader) -> list[Any]:
        """The messages that have reached the station."""
        messages = [m for packet in self.to_station for m in reader.messages(packet, self.counters)]
        self.to_station.clear()
        return messages
