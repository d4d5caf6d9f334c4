"""UDP links: port numbers, peers (ground stations), the .tlog, and the sockets."""

from __future__ import annotations

import errno
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.mavlink.packets import PacketCounters, PacketReader, renumbered

if TYPE_CHECKING:
    from paddock.sitl.mavlink.hub import MavlinkVehicle
    from paddock.sitl.mavlink.streams import Streams

RECEIVE_BUFFER = 1 << 18  # bytes: for bursts while the simulation is busy

SETTINGS = {"--base-port": "port", "--station-port": "station", "--shared-port": "shared"}
"""Flag of `paddock sitl` -> key of a scenario's `mavlink`."""


def where_set(option: str) -> str:
    """Return how to choose another port, by flag or scenario."""
    key = SETTINGS.get(option)
    return f"{option}, or mavlink: {{{key}: ...}} in the scenario's sitl section" if key else option


class PortError(PaddockError):
    """A UDP port is unavailable."""


@dataclass(frozen=True)
class Ports:
    """Vehicle k binds `base_port` + k - 1 and sends to `station_port` + k - 1 of `station_host`.

    `shared_port` is one more socket for all vehicles, which sends to `station_port`; None: none.
    """

    host: str = "127.0.0.1"  # address that vehicles bind; 0.0.0.0 accepts other machines
    base_port: int = 18570
    station_host: str = "127.0.0.1"
    station_port: int = 14550
    shared_port: int | None = None

    def __post_init__(self) -> None:
        for name in ("base_port", "station_port", "shared_port"):
            port = getattr(self, name)
            if port is not None and not 1 <= port <= 65535:
                raise InvalidValueError(f"{name} {port} is not in 1 to 65535")

    def own(self, sysid: int) -> int:
        """Return the port that a vehicle binds."""
        return self._checked(self.base_port, sysid, "--base-port")

    def station(self, sysid: int) -> tuple[str, int]:
        """Return the address of a vehicle's ground station."""
        return self.station_host, self._checked(self.station_port, sysid, "--station-port")

    def shared_station(self) -> tuple[str, int]:
        """Return the address of the ground station of the shared port."""
        return self.station_host, self.station_port

    def refuse_overlap(self, sysids: Collection[int]) -> None:
        """Raise PortError if, on one machine, a vehicle's port is also a ground station's."""
        if not (self.station_host in ("localhost", self.host) or self.station_host.startswith("127.")):
            return
        own = {self.own(sysid): sysid for sysid in sysids}
        stations = {self.station(sysid)[1]: sysid for sysid in sysids}
        if self.shared_port is not None and self.shared_port in stations:
            raise PortError(
                f"UDP port {self.shared_port} is both the shared port and the ground station port of vehicle "
                f"{stations[self.shared_port]}; choose another with {where_set('--shared-port')}"
            )
        if both := sorted(own.keys() & stations.keys()):
            raise PortError(
                f"UDP port {both[0]} is both the port of vehicle {own[both[0]]} and the ground station port of vehicle "
                f"{stations[both[0]]}; keep --base-port and --station-port at least {max(sysids)} apart"
            )

    def _checked(self, base: int, sysid: int, option: str) -> int:
        port = base + sysid - 1
        if port > 65535:
            raise PortError(f"vehicle {sysid}: port {port} exceeds 65535; choose a lower {where_set(option)}")
        return port


def bind(host: str, port: int, owner: str, option: str) -> socket.socket:
    """Return a non-blocking UDP socket; raise PortError, naming `owner` and `option`, if the port is unavailable."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        reasons = {
            errno.EADDRINUSE: f"UDP port {port} is in use by another program; close it or choose another with",
            errno.EACCES: f"UDP port {port} needs privileges; choose one above 1023 with",
        }
        other = f"cannot open UDP port {host}:{port}: {error.strerror or error}; see"
        raise PortError(f"{owner}: {reasons.get(error.errno or 0, other)} {where_set(option)}") from error
    return opened


# peers ---------------------------------------------------------------------------------------------------------------

Address = tuple[str, int]

SILENCE = 30.0  # s of wall time without a valid packet after which a peer is removed
MAX_PEERS = 32  # peers of one link; a new one replaces the one that has been silent longest


@dataclass
class MavlinkPeer:
    """One address that packets are sent to."""

    address: Address
    last_seen: float  # wall time, s, of its last valid packet
    permanent: bool = False
    sequences: dict[int, int] = field(default_factory=dict)  # next number, by vehicle: each peer sees an unbroken count
    streams: dict[int, Streams] = field(default_factory=dict)  # by vehicle, if it has requested rates of its own


class MavlinkPeers:
    """All peers of a link, in order of arrival."""

    def __init__(self, target: Address | None, silence: float = SILENCE) -> None:
        """`target` is permanent."""
        self.silence = silence
        self._all: dict[Address, MavlinkPeer] = {}
        if target is not None:
            self._all[target] = MavlinkPeer(target, last_seen=0.0, permanent=True)

    def __iter__(self) -> Iterator[MavlinkPeer]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def receive(self, address: Address, wall: float) -> MavlinkPeer:
        """Record a valid packet from an address."""
        peer = self._all.get(address)
        if peer is None:
            if len(self._all) >= MAX_PEERS:
                removable = [each for each in self._all.values() if not each.permanent]
                del self._all[min(removable, key=lambda each: each.last_seen).address]
            peer = self._all[address] = MavlinkPeer(address, wall)
        peer.last_seen = wall
        return peer

    def evict(self, wall: float) -> None:
        """Remove peers that have timed out."""
        kept = [p for p in self._all.values() if p.permanent or wall - p.last_seen <= self.silence]
        self._all = {peer.address: peer for peer in kept}


# log -----------------------------------------------------------------------------------------------------------------

STAMP = Struct(">Q")


class TelemetryLog:
    """The MAVLink log of one vehicle: a .tlog with simulated time.

    Each packet, sent or received, follows its time in us as 8 bytes, big-endian.
    """

    def __init__(self, path: Path) -> None:
        """Create the file; raise PaddockError if that fails."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO | None = path.open("wb")
        except OSError as error:
            raise PaddockError(f"cannot write MAVLink log {path}: {error.strerror or error}") from error

    def write(self, time_us: int, packet: bytes) -> None:
        """Append a packet; ignored after `close`."""
        if self._file is not None:
            self._file.write(STAMP.pack(max(time_us, 0)) + packet)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


# link ----------------------------------------------------------------------------------------------------------------

DATAGRAM = 4096  # bytes
MAX_DATAGRAMS = 64  # per poll: one peer cannot stall the simulation


@dataclass
class MavlinkLink:
    """A UDP socket with its peers and vehicles: one vehicle's own, or the shared one."""

    socket: socket.socket
    peers: MavlinkPeers
    vehicles: dict[int, MavlinkVehicle] = field(default_factory=dict)
    counters: PacketCounters = field(default_factory=PacketCounters)

    def send(self, packet: bytes, extra: int, sysid: int, only: MavlinkPeer | None = None) -> None:
        """Send to every peer, or to one."""
        for peer in (only,) if only is not None else self.peers:
            number = peer.sequences.get(sysid, 0)
            peer.sequences[sysid] = (number + 1) % 256
            self._send_to(peer.address, renumbered(packet, number, extra))

    def _send_to(self, address: Address, packet: bytes) -> None:
        try:
            self.socket.sendto(packet, address)
            self.counters.sent += 1
        except OSError:  # no listener, no route, a full buffer: UDP may lose packets
            return

    def receive(self, reader: PacketReader, wall: float) -> None:
        """Dispatch every waiting message to its vehicles."""
        for _ in range(MAX_DATAGRAMS):
            try:
                datagram, address = self.socket.recvfrom(DATAGRAM)
            except OSError:  # no more data, or a peer's port is closed
                return
            self._take(reader.messages(datagram, self.counters), address, wall)

    def _take(self, messages: list[Any], address: Address, wall: float) -> None:
        for message in messages:
            peer = self.peers.receive(address, wall)
            target = getattr(message, "target_system", getattr(message, "target", 0))  # 0: all
            for vehicle in [vehicle for sysid, vehicle in self.vehicles.items() if target in (0, sysid)]:
                vehicle.handle(message, Sender(self, peer, message.get_srcSystem(), message.get_srcComponent()))


class Sender(NamedTuple):
    """The sender of a message: the reply goes there."""

    link: MavlinkLink
    peer: MavlinkPeer
    system: int
    component: int

    @property
    def key(self) -> tuple[Address, int, int]:
        """Identity of the sender."""
        return self.peer.address, self.system, self.component
