"""MAVLink of a real autopilot over the simulated radio: a UDP relay between its process and the ground station."""

import socket
from collections.abc import Callable
from contextlib import suppress

from paddock.radio.datalink import DOWN_PURPOSE, UP_PURPOSE
from paddock.scenario.via import MavlinkViaSection
from paddock.sitl.mavlink.link import DATAGRAM, MAX_DATAGRAMS, Address, bind
from paddock.sitl.mavlink.radio_path import PacketQueue, Qualities, RadioPacket

PERIOD_US = 20_000  # us of simulated time between two polls


class RadioRelay:
    """The two sockets of a vehicle: the autopilot sends to `port`; the ground station gets packets from another."""

    def __init__(
        self,
        via: MavlinkViaSection,
        qualities: Qualities,
        seed: Callable[[], int],
        stream: int,
        owner: str,
        address: str,
        port: int,
        station: Address,
    ) -> None:
        """`owner` names the vehicle in errors; `address` is bound, `station` gets the packets of the autopilot."""
        given = via.queue, via.retries, via.header_bits, seed, stream
        self.up, self.down = PacketQueue(*given, UP_PURPOSE), PacketQueue(*given, DOWN_PURPOSE)
        self.port, self.station = port, station
        self._qualities = qualities
        self._near = bind(address, port, owner, "relay of its via")
        try:
            self._far = bind(address, 0, owner, "relay of its via")
        except BaseException:
            self._near.close()
            raise
        self._autopilot: Address | None = None  # the address from which it sends
        self._serviced_us = -PERIOD_US

    def service(self, now_us: int) -> None:
        """Receive, and pass on what has arrived by this simulated time; cheap when nothing is due."""
        if 0 <= now_us - self._serviced_us < PERIOD_US:
            return
        if now_us < self._serviced_us:  # time has gone back
            self.up.clear()
            self.down.clear()
        self._serviced_us = now_us
        for data, address in _received(self._near):
            self._autopilot = address
            self.down.put(RadioPacket(now_us, 8 * len(data), data))
        for data, _ in _received(self._far):
            self.up.put(RadioPacket(now_us, 8 * len(data), data))
        self._pass_on(self.down, self._far, self.station, now_us)
        self._pass_on(self.up, self._near, self._autopilot, now_us)
        up, down = self._qualities()
        self.up.transmit(now_us + PERIOD_US, up)
        self.down.transmit(now_us + PERIOD_US, down)

    @staticmethod
    def _pass_on(queue: PacketQueue, opened: socket.socket, to: Address | None, now_us: int) -> None:
        for packet in queue.arrived(now_us):
            if to is not None and isinstance(packet, RadioPacket):
                with suppress(OSError):  # no listener, a full buffer: UDP may lose packets
                    opened.sendto(packet.contents, to)

    def close(self) -> None:
        """Close both sockets."""
        self._near.close()
        self._far.close()


def _received(opened: socket.socket) -> list[tuple[bytes, Address]]:
    """Return the datagrams that wait."""
    found: list[tuple[bytes, Address]] = []
    for _ in range(MAX_DATAGRAMS):
        try:
            found.append(opened.recvfrom(DATAGRAM))
        except OSError:  # no more data, or a peer's port is closed
            break
    return found
