"""MAVLink packets of a vehicle over the simulated radio, between its autopilot and the ground station.

They go over a `DataLink`: packets with size, airtime, errors and acknowledgements on the links of the run, in the
queues of the radios, over the cheapest route. Time is simulated: while the simulation is paused, nothing moves. Sockets
are polled every 20 ms of simulated time, so a packet is handled at the first poll after its arrival. Heartbeats of the
scenario's own ground station go over the channel of the simulation; the path hands them to the autopilot.
`RadioRelay` takes the packets of a real autopilot's process the same way.
"""

import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from paddock.engine.radio.datalink import DataLink
from paddock.mavlink.link import DATAGRAM, MAX_DATAGRAMS, Address, MavlinkLink, MavlinkPeer, Sender, bind

S = 1e-6  # per us


class RadioEnds(NamedTuple):
    """The channel of a vehicle's MAVLink packets, and its ends."""

    channel: DataLink
    vehicle: str
    station: str

    def send_down(self, bits: int, now_us: int, arrivals: deque[Any], contents: Any) -> bool:
        """Send a packet to the station; False if the queue of the vehicle's radio is full."""
        return self.channel.post(self.vehicle, self.station, bits, S * now_us, arrivals, contents)

    def send_up(self, bits: int, now_us: int, arrivals: deque[Any], contents: Any) -> bool:
        """Send a packet to the vehicle; False if the queue of the station's radio is full."""
        return self.channel.post(self.station, self.vehicle, bits, S * now_us, arrivals, contents)

    @property
    def connected(self) -> bool:
        """Whether there is a route in both directions."""
        return self.channel.connected(self.vehicle, self.station)


class RadioPath:
    """The radio link of one vehicle's MAVLink: `up` to the vehicle, `down` to the ground station."""

    def __init__(
        self,
        ends: RadioEnds,
        deliver: Callable[[Any, Sender], None],
        heartbeats: Callable[[], int] | None,
        on_beat: Callable[[int], None],
    ) -> None:
        """`deliver` handles a message for the vehicle.

        `heartbeats` returns how many of the scenario's ground station have arrived (None: it sends none); `on_beat`
        handles new ones.
        """
        self.ends, self._deliver, self._heartbeats, self._on_beat = ends, deliver, heartbeats, on_beat
        self.up: deque[Any] = deque()  # messages and their senders that have arrived at the vehicle
        self.down: deque[Any] = deque()  # packets, as peers get them, that have arrived at the station
        self.beats = 0  # heartbeats that the autopilot has got
        self._last: tuple[bytes, list[Any] | None] = b"", None  # the packet sent last, and where it goes

    @property
    def connected(self) -> bool:
        """Whether packets get through in both directions."""
        return self.ends.connected

    def send(self, now_us: int, link: MavlinkLink, peer: MavlinkPeer, packet: bytes, numbered: bytes) -> None:
        """Send a packet to a peer at the station; the same packet for another peer is sent once."""
        before, targets = self._last
        if packet is not before:
            listed: list[Any] = []
            targets = listed if self.ends.send_down(8 * len(packet), now_us, self.down, listed) else None
            self._last = packet, targets
        if targets is not None:
            targets.append((link, peer, numbered))

    def receive(self, now_us: int, message: Any, sender: Sender) -> None:
        """Send a message of a program at the station to the vehicle."""
        self.ends.send_up(8 * len(message.get_msgbuf()), now_us, self.up, (message, sender))

    def begin(self, now_us: int) -> None:
        """Handle what has arrived at the vehicle by this time, heartbeats of the scenario's station first."""
        before, self.beats = self.beats, self._arrived_beats()
        if self.beats > before:
            self._on_beat(now_us)
        self.ends.channel.advance(S * now_us)
        while self.up:
            self._deliver(*self.up.popleft())

    def end(self) -> None:
        """Hand what has arrived at the station to its programs."""
        self._last = b"", None
        while self.down:
            for link, peer, numbered in self.down.popleft():
                link.queue(peer, numbered)

    def _arrived_beats(self) -> int:
        return 0 if self._heartbeats is None else self._heartbeats()

    def restart(self) -> None:
        """Drop all packets; continue with the heartbeats that have not arrived yet."""
        self.up, self.down = deque(), deque()  # what still arrives goes to the former ones
        self.beats = self._arrived_beats()


PERIOD_US = 20_000  # us of simulated time between two polls


class RadioRelay:
    """The two sockets of a vehicle: the autopilot sends to `port`; the ground station gets packets from another."""

    def __init__(self, ends: RadioEnds, owner: str, address: str, port: int, station: Address) -> None:
        """`owner` names the vehicle in errors; `address` is bound, `station` gets the packets of the autopilot."""
        self.ends, self.port, self.station = ends, port, station
        self.up: deque[bytes] = deque()  # that have arrived at the vehicle
        self.down: deque[bytes] = deque()
        self._near = bind(address, port, owner, "relay of its via")
        try:
            self._far = bind(address, 0, owner, "relay of its via")
        except BaseException:
            self._near.close()
            raise
        self._autopilot: Address | None = None  # the address from which it sends
        self._serviced_us = -PERIOD_US

    def service(self, now_us: int) -> None:
        """Receive, and forward what has arrived by this simulated time; cheap when nothing is due."""
        if 0 <= now_us - self._serviced_us < PERIOD_US:
            return
        self._serviced_us = now_us
        self.ends.channel.advance(S * now_us)
        for data, address in _received(self._near):
            self._autopilot = address
            self.ends.send_down(8 * len(data), now_us, self.down, data)
        for data, _ in _received(self._far):
            self.ends.send_up(8 * len(data), now_us, self.up, data)
        self._forward(self.down, self._far, self.station)
        self._forward(self.up, self._near, self._autopilot)

    @staticmethod
    def _forward(arrivals: deque[bytes], opened: socket.socket, to: Address | None) -> None:
        while arrivals:
            data = arrivals.popleft()
            if to is not None:
                with suppress(OSError):  # no listener, a full buffer: UDP may lose packets
                    opened.sendto(data, to)

    def close(self) -> None:
        """Close both sockets."""
        self._near.close()
        self._far.close()


def _received(opened: socket.socket) -> list[tuple[bytes, Address]]:
    """Return the datagrams that wait."""
    datagrams: list[tuple[bytes, Address]] = []
    for _ in range(MAX_DATAGRAMS):
        try:
            datagrams.append(opened.recvfrom(DATAGRAM))
        except OSError:  # no more data, or a peer's port is closed
            break
    return datagrams
