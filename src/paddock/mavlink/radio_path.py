"""MAVLink packets of a vehicle over the simulated radio, between its autopilot and the ground station.

They are packets of the run's channel: they share queues, access, reception and routes with messages and commands. The
log of the run has their sizes, so that a replay sends packets of the same size without the programs. Their bytes are
part of a saved state; those of real autopilots stay in this process. Time is simulated: while the simulation is paused,
nothing moves. Sockets are polled every 20 ms of simulated time, so a packet is handled at the first poll after its
arrival. Heartbeats of the scenario's own ground station are a service of the run; the path hands them to the autopilot.
`RadioRelay` takes the packets of a real autopilot's process the same way.
"""

import socket
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from annotated_types import Ge, Le, Len, MaxLen

from paddock.engine.actions import PacketAction
from paddock.engine.applier import Applier
from paddock.errors import InvalidValueError
from paddock.mavlink.link import DATAGRAM, MAX_DATAGRAMS, Address, MavlinkLink, MavlinkPeer, Sender, bind
from paddock.mavlink.packets import DECODER
from paddock.world.records import Text

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

    def send_down(self, size: int, arrivals: deque[Any], content: Any = None) -> int:
        """Send a packet of a size (bytes) to the station; return its number, 0 if there was no room.

        `arrivals` gets the content, or without one the number, at the tick after its arrival.
        """
        return self._send(self.vehicle, self.station, size, arrivals, content)

    def send_up(self, size: int, arrivals: deque[Any], content: Any = None) -> int:
        """Send a packet of a size (bytes) to the vehicle; return its number, 0 if there was no room."""
        return self._send(self.station, self.vehicle, size, arrivals, content)

    def _send(self, source: str, to: str, size: int, arrivals: deque[Any], content: Any) -> int:
        number = self.applier.send_packet(
            PacketAction(source, to, 8 * size, self.header_bits, self.retries, self.queue)
        )
        if number:
            self.await_packet(number, arrivals, number if content is None else content)
        return number

    def await_packet(self, number: int, arrivals: deque[Any], content: Any) -> None:
        """Let `arrivals` get the content of a packet when it has arrived."""
        if self.applier.radio.messages is not None:
            self.applier.radio.messages.await_packet(number, arrivals, content)

    def awaited(self, number: int) -> bool:
        """Return whether a packet may still arrive."""
        messages = self.applier.radio.messages
        return messages is not None and messages.awaits(number)

    def received_heartbeats(self) -> int:
        """Return how many heartbeats of the scenario's ground station have arrived at the vehicle."""
        stage = self.applier.radio.heartbeats
        return stage.received(self.vehicle) if self.heartbeats and stage is not None else 0

    @property
    def connected(self) -> bool:
        """Whether there is a route in both directions."""
        return self.applier.radio.connected(self.vehicle, self.station)


Program = tuple[Annotated[int, Ge(0), Le(255)], tuple[Text, Annotated[int, Ge(0), Le(65_535)]]]
"""A program at the station: the number of its link, and its address."""


class UpPacket(NamedTuple):
    """A packet of a program to the vehicle."""

    data: bytes
    program: Program


class DownPacket(NamedTuple):
    """A packet of the autopilot, as each program gets it."""

    program: Program
    data: bytes


MOST_UNDER_WAY = 10_000
Numbers = Annotated[deque[int], Len(0, MOST_UNDER_WAY)]


@dataclass
class PathPackets:
    """The packets of a vehicle's MAVLink that are under way, by number, and the numbers of those that have arrived."""

    received: Annotated[deque[UpPacket], Len(0, MOST_UNDER_WAY)] = field(default_factory=deque)  # not on the air yet
    uplinks: Annotated[dict[int, UpPacket], MaxLen(MOST_UNDER_WAY)] = field(default_factory=dict)
    downlinks: Annotated[dict[int, list[DownPacket]], MaxLen(MOST_UNDER_WAY)] = field(default_factory=dict)
    up: Numbers = field(default_factory=deque)
    down: Numbers = field(default_factory=deque)


def check_packets(values: Mapping[str, Any]) -> None:
    """Refuse the loaded packets of a path that none can have: others than MAVLink, or without a number."""
    for packet in (*values["received"], *values["uplinks"].values()):
        try:
            known = DECODER.decode(bytearray(packet.data)).get_msgId() >= 0
        except Exception:  # pymavlink raises various types for invalid and for truncated bytes
            known = False
        if not known:
            raise InvalidValueError("a packet to the vehicle is not MAVLink")
    if not {*values["up"]} <= values["uplinks"].keys() or not {*values["down"]} <= values["downlinks"].keys():
        raise InvalidValueError("a packet has arrived that was not sent")


class RadioPath:
    """The radio link of one vehicle's MAVLink: up to the vehicle, down to the ground station."""

    saved_fields: ClassVar[tuple[str, ...]] = ("beats",)
    beats: Annotated[int, Ge(0)]  # heartbeats that the autopilot has got

    def __init__(self, ends: RadioEnds, vehicle: "MavlinkVehicle") -> None:
        self.ends, self.vehicle = ends, vehicle
        self.packets = PathPackets()
        self.beats = 0
        self._sent: deque[tuple[bytes, list[DownPacket]]] = deque()  # packets of the autopilot, until the next `end`

    def send(self, link: MavlinkLink, peer: MavlinkPeer, packet: bytes, numbered: bytes) -> None:
        """Send a packet to a peer at the station with the next `end`; the same one for another peer is sent once."""
        if not self._sent or packet is not self._sent[-1][0]:
            self._sent.append((packet, []))
        self._sent[-1][1].append(DownPacket((link.number, peer.address), numbered))

    def receive(self, message: Any, sender: Sender) -> None:
        """Send a message of a program at the station to the vehicle with the next `begin`."""
        if len(self.packets.received) < self.ends.queue:
            program = sender.link.number, sender.peer.address
            self.packets.received.append(UpPacket(bytes(message.get_msgbuf()), program))

    def begin(self, now_us: int) -> None:
        """Handle what has arrived at the vehicle by this time, heartbeats of the scenario's station first."""
        before, self.beats, packets = self.beats, self.ends.received_heartbeats(), self.packets
        if self.beats > before:
            self.vehicle.autopilot.failsafes.note_gcs_heartbeat(now_us)
        while packets.received:
            packet = packets.received.popleft()
            if number := self.ends.send_up(len(packet.data), packets.up):
                packets.uplinks[number] = packet
        while packets.up:
            packet = packets.uplinks.pop(packets.up.popleft())
            message = DECODER.decode(bytearray(packet.data))
            link, peer = self._ends_of(packet.program)
            if link is not None:
                known = peer or MavlinkPeer(packet.program[1], 0.0, confirmed=False)  # it is gone: it gets no reply
                self.vehicle.handle(message, Sender(link, known, message.get_srcSystem(), message.get_srcComponent()))

    def end(self) -> None:
        """Send the packets of the autopilot, and hand what has arrived at the station to its programs."""
        packets = self.packets
        while self._sent:
            packet, copies = self._sent.popleft()
            if number := self.ends.send_down(len(packet), packets.down):
                packets.downlinks[number] = copies
        while packets.down:
            for program, numbered in packets.downlinks.pop(packets.down.popleft()):
                link, peer = self._ends_of(program)
                if link is not None and peer is not None:
                    link.queue(peer, numbered)
        for under_way in (packets.uplinks, packets.downlinks):
            if len(under_way) > 2 * self.ends.queue:  # some were lost
                for number in [number for number in under_way if not self.ends.awaited(number)]:
                    del under_way[number]

    def _ends_of(self, program: Program) -> tuple[MavlinkLink | None, MavlinkPeer | None]:
        """Return the link and the peer of a program; None for what is gone."""
        number, address = program
        links = [link for link in self.vehicle.links if link.number == number]
        link = next((link for link in links if address in link.peers), next(iter(links), None))
        return link, None if link is None else link.peers.get(address)

    def restart(self) -> None:
        """Drop all packets; continue with the heartbeats that have not arrived yet."""
        for name, empty in vars(PathPackets()).items():
            setattr(self.packets, name, empty)  # what still arrives goes to the former ones
        self._sent = deque()
        self.beats = self.ends.received_heartbeats()

    def resume(self) -> None:
        """Wait for the packets of a loaded state."""
        packets = self.packets
        for under_way, arrivals in ((packets.uplinks, packets.up), (packets.downlinks, packets.down)):
            for number in under_way.keys() - {*arrivals}:
                self.ends.await_packet(number, arrivals, number)


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
