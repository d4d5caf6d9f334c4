"""MAVLink packets of a vehicle over the simulated radio, between its autopilot and the ground station.

Packets of each direction wait in a bounded queue, take their airtime at the bit rate of the link, are lost with its
packet error rate and repeated. Time is simulated: while the simulation is paused, nothing moves. Sockets are polled
every 20 ms of simulated time, so a packet is handled at the first poll after its arrival.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from paddock.compute.philox import uniforms
from paddock.errors import PaddockError
from paddock.radio.datalink import BEAT_PURPOSE, DOWN_PURPOSE, UP_PURPOSE, LinkQuality
from paddock.radio.propagation import LIGHT
from paddock.scenario.via import MavlinkViaSection
from paddock.world.archive import typed

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import MavlinkLink, MavlinkPeer, Sender

US = 1e6  # per s
BEAT_BITS = 8 * 21  # of a heartbeat
MOST_ATTEMPTS = 32  # draws of a heartbeat
CONNECTED_BITS, CONNECTED_PER = 1024, 0.5  # a packet of this size gets through more often than not
LATEST = 1e18  # us
Qualities = Callable[[], tuple[LinkQuality, LinkQuality]]
"""Returns the present link from the station to the vehicle, and back."""


@dataclass
class Beat:
    """A heartbeat of the scenario's own ground station on its way."""

    number: int
    posted_us: int
    attempts: int = 0
    arrives_us: float = -1.0  # -1: waits


@dataclass
class RadioPacket:
    """A packet of a connected program, or of the autopilot, on its way."""

    posted_us: int
    bits: int
    contents: Any  # what `deliver` gets
    attempts: int = 0
    arrives_us: float = -1.0


@dataclass
class PathCounts:
    """Packets of one direction since the start."""

    sent: int = 0
    delivered: int = 0
    lost: int = 0  # in spite of their repetitions
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
    free_us: float = 0.0  # when the transmitter has sent everything
    number: int = 0  # of draws
    counts: PathCounts = field(default_factory=PathCounts)
    packets: deque[Beat | RadioPacket] = field(default_factory=deque)

    def put(self, packet: Beat | RadioPacket) -> bool:
        """Queue a packet; False if the queue is full."""
        self.counts.sent += 1
        if len(self.packets) >= self.most:
            self.counts.dropped += 1
            return False
        self.packets.append(packet)
        return True

    def transmit(self, until_us: int, quality: LinkQuality) -> None:
        """Send what can begin before a time."""
        if not self.packets:
            return
        kept: deque[Beat | RadioPacket] = deque()
        for packet in self.packets:
            if packet.arrives_us >= 0.0 or self._send(packet, until_us, quality):
                kept.append(packet)
        self.packets = kept

    def _send(self, packet: Beat | RadioPacket, until_us: int, quality: LinkQuality) -> bool:
        """Send a packet as often as it takes; False if it is lost."""
        bits = self.header_bits + (BEAT_BITS if isinstance(packet, Beat) else packet.bits)
        error = quality.error_rate(bits)
        while (begin := max(self.free_us, float(packet.posted_us))) < until_us:
            self.free_us = begin + (bits + self.header_bits) / quality.bit_rate * US
            if self._draw(packet) >= error:
                packet.arrives_us = begin + (bits / quality.bit_rate + quality.distance / LIGHT) * US
                return True
            packet.attempts += 1
            if packet.attempts > self.retries:
                self.counts.lost += 1
                return False
        return True

    def _draw(self, packet: Beat | RadioPacket) -> float:
        """Heartbeats have draws of their own: they do not depend on what programs send."""
        if isinstance(packet, Beat):
            return uniforms(self.seed(), self.stream, BEAT_PURPOSE, packet.number * MOST_ATTEMPTS + packet.attempts)[0]
        self.number += 1
        return uniforms(self.seed(), self.stream, self.purpose, self.number)[0]

    def arrived(self, now_us: int) -> list[Beat | RadioPacket]:
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
        qualities: Qualities,
        seed: Callable[[], int],
        stream: int,
        deliver: Callable[[Any, "Sender"], None],
        on_beat: Callable[[int], None],
    ) -> None:
        """`deliver` handles a message for the vehicle, `on_beat` a heartbeat of the scenario's ground station."""
        self.via, self._qualities, self._deliver, self._on_beat = via, qualities, deliver, on_beat
        given = via.queue, via.retries, via.header_bits, seed, stream
        self.up, self.down = PacketQueue(*given, UP_PURPOSE), PacketQueue(*given, DOWN_PURPOSE)
        self.beats = 0
        self._last: tuple[bytes, list[Any] | None] = b"", None  # the packet sent last, and where it goes

    @property
    def connected(self) -> bool:
        """Whether packets get through in both directions."""
        return all(one.error_rate(CONNECTED_BITS) < CONNECTED_PER for one in self._qualities())

    def send(self, now_us: int, link: "MavlinkLink", peer: "MavlinkPeer", packet: bytes, numbered: bytes) -> None:
        """Send a packet to a peer at the station; the same packet for another peer is sent once."""
        before, targets = self._last
        if packet is not before:
            found: list[Any] = []
            targets = found if self.down.put(RadioPacket(now_us, 8 * len(packet), found)) else None
            self._last = packet, targets
        if targets is not None:
            targets.append((link, peer, numbered))

    def receive(self, now_us: int, message: Any, sender: "Sender") -> None:
        """Send a message of a program at the station to the vehicle."""
        self.up.put(RadioPacket(now_us, 8 * len(message.get_msgbuf()), (message, sender)))

    def begin(self, now_us: int) -> None:
        """Handle what has arrived at the vehicle by this time; the station's heartbeat may be due."""
        rate = self.via.heartbeat
        while rate is not None and now_us >= round(self.beats / rate * US):
            self.up.put(Beat(self.beats, now_us))
            self.beats += 1
        for packet in self.up.arrived(now_us):
            if isinstance(packet, Beat):
                self._on_beat(now_us)
            else:
                self._deliver(*packet.contents)

    def end(self, now_us: int, until_us: int) -> None:
        """Hand what has arrived at the station to its programs; send what begins before the next poll."""
        self._last = b"", None
        for packet in self.down.arrived(now_us):
            assert isinstance(packet, RadioPacket)
            for link, peer, numbered in packet.contents:
                link.queue(peer, numbered)
        up, down = self._qualities()
        self.up.transmit(until_us, up)
        self.down.transmit(until_us, down)

    def restart(self, now_us: int) -> None:
        """Drop all packets; continue at another time."""
        self.up.clear()
        self.down.clear()
        self.beats = 0
        if self.via.heartbeat is not None:
            self.beats = max(0, int(now_us / US * self.via.heartbeat))

    # saving -----------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the heartbeats on their way; packets of connected programs are dropped by a restore."""
        beats = [asdict(one) for one in self.up.packets if isinstance(one, Beat)]
        return {"beats": self.beats, "free_us": self.up.free_us, "packets": beats}

    def read(self, tree: Any, now_us: int) -> Callable[[], None]:
        """Check what `save` returned; return the function that loads it."""
        saved = typed(SavedPath, tree, "radio path")
        last = now_us if self.via.heartbeat is None else now_us / US * self.via.heartbeat + 1.0
        if not (0 <= saved.beats <= last + 1.0 and 0.0 <= saved.free_us <= LATEST and isfinite(saved.free_us)):
            raise PaddockError("radio path: the saved numbers are not valid")
        numbers = [one.number for one in saved.packets]
        if numbers != sorted(set(numbers)) or len(numbers) > self.up.most:
            raise PaddockError("radio path: the saved heartbeats are not in order")
        for one in saved.packets:
            tried = 0 <= one.attempts <= self.up.retries and 0 <= one.number < saved.beats
            comes = one.arrives_us == -1.0 or 0.0 <= one.arrives_us < LATEST
            if not (tried and comes and 0 <= one.posted_us <= now_us):
                raise PaddockError("radio path: a saved heartbeat is not valid")

        def load() -> None:
            self.restart(now_us)
            self.beats, self.up.free_us = saved.beats, saved.free_us
            self.up.packets.extend(saved.packets)

        return load


@dataclass
class SavedPath:
    """What `RadioPath.save` returns."""

    beats: int
    free_us: float
    packets: list[Beat]
