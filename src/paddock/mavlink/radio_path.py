"""MAVLink packets of a vehicle over the simulated radio, between its autopilot and the ground station.

Packets of each direction wait in a bounded queue, and take the route of the moment: at every hop its airtime, losses
by its packet error rate, and repetitions. Time is simulated: while the simulation is paused, nothing moves. Sockets are
polled every 20 ms of simulated time, so a packet is handled at the first poll after its arrival. Heartbeats of the
scenario's own ground station go over the channel of the simulation; the path hands them to the autopilot.
`RadioRelay` takes the packets of a real autopilot's process the same way.
"""

import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from paddock.compute.philox import uniforms
from paddock.mavlink.link import DATAGRAM, MAX_DATAGRAMS, Address, MavlinkLink, MavlinkPeer, Sender, bind
from paddock.radio.packets.datalink import DOWN_PURPOSE, UP_PURPOSE, Route
from paddock.radio.physics.propagation import LIGHT
from paddock.scenario.via import MavlinkViaSection

US = 1e6  # per s
CONNECTED_BITS, CONNECTED_PER = 1024, 0.5  # at each hop, a packet of this size gets through more often than not
Ways = Callable[[], tuple[Route, Route]]
"""Returns the present route from the station to the vehicle, and back."""


@dataclass
class RadioPacket:
    """A packet of a connected program, or of the autopilot, on its way."""

    posted_us: int
    bits: int
    contents: Any  # what `deliver` gets
    arrives_us: float = -1.0  # -1: waits


@dataclass
class PathCounts:
    """Packets of one direction since the start."""

    sent: int = 0
    delivered: int = 0
    lost: int = 0  # in spite of their repetitions, or without a route
    dropped: int = 0  # because the queue was full


@dataclass
class PacketQueue:
    """Packets of one direction that wait or are on their way, in order."""

    most: int
    retries: int
    header_bits: int
    seed: Callable[[], int]
    stream: int
    purpose: int
    free_us: float = 0.0  # when everything has been sent, over all hops: they share one channel
    number: int = 0  # of draws
    counts: PathCounts = field(default_factory=PathCounts)
    packets: deque[RadioPacket] = field(default_factory=deque)

    def put(self, packet: RadioPacket) -> bool:
        """Queue a packet; False if the queue is full."""
        self.counts.sent += 1
        if len(self.packets) >= self.most:
            self.counts.dropped += 1
            return False
        self.packets.append(packet)
        return True

    def transmit(self, until_us: int, route: Route) -> None:
        """Send what can begin before a time."""
        if not self.packets:
            return
        kept: deque[RadioPacket] = deque()
        for packet in self.packets:
            if packet.arrives_us >= 0.0 or self._send(packet, until_us, route):
                kept.append(packet)
        self.packets = kept

    def _send(self, packet: RadioPacket, until_us: int, route: Route) -> bool:
        """Send a packet over all hops, as often as it takes, unless it has to wait; False if it is lost."""
        now, bits = max(self.free_us, float(packet.posted_us)), self.header_bits + packet.bits
        if now >= until_us:
            return True
        for hop in route:
            error, attempts, through = hop.error_rate(bits), 0, False
            while not through and attempts <= self.retries:
                self.number += 1
                through = uniforms(self.seed(), self.stream, self.purpose, self.number)[0] >= error
                attempts += 1
            now += attempts * (bits + self.header_bits) / hop.bit_rate * US
            self.free_us = now
            if not through:
                break
        else:
            if route:
                flight = sum(hop.distance for hop in route) / LIGHT
                packet.arrives_us = now + (flight - self.header_bits / route[-1].bit_rate) * US
                return True
        self.counts.lost += 1
        return False

    def arrived(self, now_us: int) -> list[RadioPacket]:
        """Take the packets that have arrived by a time."""
        found = []
        while self.packets and 0.0 <= self.packets[0].arrives_us <= now_us:
            found.append(self.packets.popleft())
        self.counts.delivered += len(found)
        return found

    def clear(self) -> None:
        """Drop everything."""
        self.packets.clear()
        self.free_us, self.number, self.counts = 0.0, 0, PathCounts()


class RadioPath:
    """The radio link of one vehicle's MAVLink: `up` to the vehicle, `down` to the ground station."""

    def __init__(
        self,
        via: MavlinkViaSection,
        ways: Ways,
        seed: Callable[[], int],
        stream: int,
        deliver: Callable[[Any, Sender], None],
        heartbeats: Callable[[], int],
        on_beat: Callable[[int], None],
    ) -> None:
        """`deliver` handles a message for the vehicle.

        `heartbeats` returns how many of the scenario's ground station have arrived; `on_beat` handles new ones.
        """
        self.via, self._ways, self._deliver = via, ways, deliver
        self._heartbeats, self._on_beat = heartbeats, on_beat
        given = via.queue, via.retries, via.header_bits, seed, stream
        self.up, self.down = PacketQueue(*given, UP_PURPOSE), PacketQueue(*given, DOWN_PURPOSE)
        self.beats = 0  # heartbeats that the autopilot has got
        self._last: tuple[bytes, list[Any] | None] = b"", None  # the packet sent last, and where it goes

    @property
    def connected(self) -> bool:
        """Whether packets get through in both directions."""
        return all(
            route and all(hop.error_rate(CONNECTED_BITS) < CONNECTED_PER for hop in route) for route in self._ways()
        )

    def send(self, now_us: int, link: MavlinkLink, peer: MavlinkPeer, packet: bytes, numbered: bytes) -> None:
        """Send a packet to a peer at the station; the same packet for another peer is sent once."""
        before, targets = self._last
        if packet is not before:
            found: list[Any] = []
            targets = found if self.down.put(RadioPacket(now_us, 8 * len(packet), found)) else None
            self._last = packet, targets
        if targets is not None:
            targets.append((link, peer, numbered))

    def receive(self, now_us: int, message: Any, sender: Sender) -> None:
        """Send a message of a program at the station to the vehicle."""
        self.up.put(RadioPacket(now_us, 8 * len(message.get_msgbuf()), (message, sender)))

    def begin(self, now_us: int) -> None:
        """Handle what has arrived at the vehicle by this time, heartbeats of the scenario's station first."""
        before, self.beats = self.beats, 0 if self.via.heartbeat is None else self._heartbeats()
        if self.beats > before:
            self._on_beat(now_us)
        for packet in self.up.arrived(now_us):
            self._deliver(*packet.contents)

    def end(self, now_us: int, until_us: int) -> None:
        """Hand what has arrived at the station to its programs; send what begins before the next poll."""
        self._last = b"", None
        for packet in self.down.arrived(now_us):
            for link, peer, numbered in packet.contents:
                link.queue(peer, numbered)
        up, down = self._ways()
        self.up.transmit(until_us, up)
        self.down.transmit(until_us, down)

    def restart(self) -> None:
        """Drop all packets; continue with the heartbeats that have not arrived yet."""
        self.up.clear()
        self.down.clear()
        self.beats = 0 if self.via.heartbeat is None else self._heartbeats()


PERIOD_US = 20_000  # us of simulated time between two polls


class RadioRelay:
    """The two sockets of a vehicle: the autopilot sends to `port`; the ground station gets packets from another."""

    def __init__(
        self,
        via: MavlinkViaSection,
        ways: Ways,
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
        self._ways = ways
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
        up, down = self._ways()
        self.up.transmit(now_us + PERIOD_US, up)
        self.down.transmit(now_us + PERIOD_US, down)

    @staticmethod
    def _pass_on(queue: PacketQueue, opened: socket.socket, to: Address | None, now_us: int) -> None:
        for packet in queue.arrived(now_us):
            if to is not None:
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
