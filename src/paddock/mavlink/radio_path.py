"""MAVLink packets of a vehicle over the simulated radio, between its autopilot and the ground station.

They are packets of the run's channel: they share queues, access, reception and routes with messages and commands. The
log of the run has their sizes, so that a replay sends packets of the same size without the programs. Their bytes stay
in this process: a reset or restore loses those under way. Time is simulated: while the simulation is paused, nothing
moves. Sockets are polled every 20 ms of simulated time, so a packet is handled at the first poll after its arrival.
Heartbeats of the scenario's own ground station are a service of the run; the path hands them to the autopilot.
`RadioRelay` takes the packets of a real autopilot's process the same way.
"""

import socket
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from annotated_types import Ge

from paddock.engine.actions import PacketAction
from paddock.engine.applier import Applier
from paddock.mavlink.link import DATAGRAM, MAX_DATAGRAMS, Address, MavlinkLink, MavlinkPeer, Sender, bind

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle


class RadioEnds(NamedTuple):
    """The two ends of a vehicle's MAVLink link, and the options of its packets. For the ticking thread."""

    applier: Applier  # of the run
    vehicle: str
    station: str
    queue: int  # MAVLink packets that wait at a radio, at most
    retries: int  # repetitions at each hop
    header_bits: int  # added to each packet
    heartbeats: bool = False  # the scenario's own ground station sends heartbeats

    def send_down(self, size: int, arrivals: deque[Any], content: Any) -> bool:
        """Send a packet of a size (bytes) to the station; return whether there was room.

        `arrivals` gets the content at the tick after its arrival.
        """
        return self._send(self.vehicle, self.station, size, arrivals, content)

    def send_up(self, size: int, arrivals: deque[Any], content: Any) -> bool:
        """Send a packet of a size (bytes) to the vehicle; return whether there was room."""
        return self._send(self.station, self.vehicle, size, arrivals, content)

    def _send(self, source: str, to: str, size: int, arrivals: deque[Any], content: Any) -> bool:
        packet = PacketAction(source, to, 8 * size, self.header_bits, self.retries, self.queue)
        messages, number = self.applier.radio.messages, self.applier.send_packet(packet)
        if number and messages is not None:
            messages.await_packet(number, arrivals, content)
        return number != 0

    def received_heartbeats(self) -> int:
        """Return how many heartbeats of the scenario's ground station have arrived at the vehicle."""
        stage = self.applier.radio.heartbeats
        return stage.received(self.vehicle) if self.heartbeats and stage is not None else 0

    @property
    def connected(self) -> bool:
        """Whether there is a route in both directions."""
        return self.applier.radio.connected(self.vehicle, self.station)


class RadioPath:
    """The radio link of one vehicle's MAVLink: `up` to the vehicle, `down` to the ground station."""

    beats: Annotated[int, Ge(0)]  # heartbeats that the autopilot has got

    def __init__(self, ends: RadioEnds, vehicle: "MavlinkVehicle") -> None:
        self.ends, self.vehicle = ends, vehicle
        self.up: deque[Any] = deque()  # messages and their senders that have arrived at the vehicle
        self.down: deque[Any] = deque()  # packets, as peers get them, that have arrived at the station
        self.beats = 0
        self._received: deque[Any] = deque()  # messages from programs that are not on the air yet, with their senders
        self._sent: deque[tuple[bytes, list[Any]]] = deque()  # packets of the autopilot, and where each goes

    def send(self, link: MavlinkLink, peer: MavlinkPeer, packet: bytes, numbered: bytes) -> None:
        """Send a packet to a peer at the station with the next `end`; the same one for another peer is sent once."""
        if not self._sent or packet is not self._sent[-1][0]:
            self._sent.append((packet, []))
        self._sent[-1][1].append((link, peer, numbered))

    def receive(self, message: Any, sender: Sender) -> None:
        """Send a message of a program at the station to the vehicle with the next `begin`."""
        if len(self._received) < self.ends.queue:
            self._received.append((message, sender))

    def begin(self, now_us: int) -> None:
        """Handle what has arrived at the vehicle by this time, heartbeats of the scenario's station first."""
        before, self.beats = self.beats, self.ends.received_heartbeats()
        if self.beats > before:
            self.vehicle.autopilot.failsafes.note_gcs_heartbeat(now_us)
        while self._received:
            message, sender = self._received.popleft()
            self.ends.send_up(len(message.get_msgbuf()), self.up, (message, sender))
        while self.up:
            self.vehicle.handle(*self.up.popleft())

    def end(self) -> None:
        """Send the packets of the autopilot, and hand what has arrived at the station to its programs."""
        while self._sent:
            packet, targets = self._sent.popleft()
            self.ends.send_down(len(packet), self.down, targets)
        while self.down:
            for link, peer, numbered in self.down.popleft():
                link.queue(peer, numbered)

    def restart(self) -> None:
        """Drop all packets; continue with the heartbeats that have not arrived yet."""
        self.up, self.down = deque(), deque()  # what still arrives goes to the former ones
        self._received, self._sent = deque(), deque()
        self.beats = self.ends.received_heartbeats()


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
        for data, address in _received(self._near):
            self._autopilot = address
            self.ends.send_down(len(data), self.down, data)
        for data, _ in _received(self._far):
            self.ends.send_up(len(data), self.up, data)
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
