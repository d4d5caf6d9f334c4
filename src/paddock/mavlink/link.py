"""Links to ground stations: port numbers, peers, the .tlog, UDP and TCP sockets, non-blocking and polled by the hub.

Over TCP a vehicle listens at one port and serves several clients, as ArduPilot's simulator does. Each client has a
bounded buffer for what it has not taken yet; one that is too slow is disconnected. A client whose first byte does not
start a packet is disconnected, too: a web page can make a browser send a request with packets in its body to any port
of this machine.
"""

import errno
import logging
import secrets
import selectors
import socket
from collections import Counter, deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from paddock.errors import PaddockError
from paddock.mavlink.packets import MARKERS, PacketCounters, mav, read_stream, renumbered

if TYPE_CHECKING:
    from paddock.mavlink.hub import MavlinkVehicle
    from paddock.mavlink.messages import Streams

LOG = logging.getLogger(__name__)
LAST_PORT = 65535
BACKLOG = 4  # TCP clients that wait to be accepted
ARDUPILOT_TCP, TCP_STEP = 5760, 10  # ArduPilot's first TCP port, and the distance to that of the next instance
RECEIVE_BUFFER = 1 << 18  # bytes: for bursts while the simulation is busy

SETTINGS = {"--base-port": "port", "--station-port": "station", "--shared-port": "shared", "--tcp": "tcp"}
"""Flag of `paddock sitl` -> key of a scenario's `mavlink`."""


def where_set(option: str) -> str:
    """Return how to choose another port, by flag or scenario."""
    key = SETTINGS.get(option)
    return f"{option}, or mavlink: {{{key}: ...}} in the scenario's sitl section" if key else option


@dataclass(frozen=True)
class Ports:
    """Vehicle k binds UDP `base_port` + k - 1 and sends to `station_port` + k - 1 of `station_host`.

    `shared_port` is one more socket for all vehicles, which sends to `station_port`; None: none. Vehicle k also listens
    at TCP `tcp_port` + 10 (k - 1), as ArduPilot does; 0: not at all; None: at 5760 and so on where that is free.
    """

    host: str = "127.0.0.1"  # address that all sockets bind, the scenario's `listen`; 0.0.0.0 accepts other machines
    base_port: int = 18570
    station_host: str = "127.0.0.1"
    station_port: int = 14550
    shared_port: int | None = None
    tcp_port: int | None = 0

    def tcp(self, sysid: int) -> int:
        """Return the TCP port of a vehicle; 0: none."""
        if self.tcp_port == 0:
            return 0
        port = (ARDUPILOT_TCP if self.tcp_port is None else self.tcp_port) + TCP_STEP * (sysid - 1)
        if port > LAST_PORT:
            text = f"vehicle {sysid}: TCP port {port} exceeds {LAST_PORT}; choose a lower {where_set('--tcp')}"
            raise PaddockError(text)
        return port

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
        """Raise PaddockError if, on one machine, a vehicle's port is also a ground station's."""
        if not (self.station_host in ("localhost", self.host) or self.station_host.startswith("127.")):
            return
        own = {self.own(sysid): sysid for sysid in sysids}
        stations = {self.station(sysid)[1]: sysid for sysid in sysids}
        if self.shared_port is not None and self.shared_port in stations:
            raise PaddockError(
                f"UDP port {self.shared_port} is both the shared port and the ground station port of vehicle "
                f"{stations[self.shared_port]}; choose another with {where_set('--shared-port')}"
            )
        if both := sorted(own.keys() & stations.keys()):
            raise PaddockError(
                f"UDP port {both[0]} is both the port of vehicle {own[both[0]]} and the ground station port of vehicle "
                f"{stations[both[0]]}; keep --base-port and --station-port at least {max(sysids)} apart"
            )

    def _checked(self, base: int, sysid: int, option: str) -> int:
        port = base + sysid - 1
        if port > LAST_PORT:
            raise PaddockError(f"vehicle {sysid}: port {port} exceeds {LAST_PORT}; choose a lower {where_set(option)}")
        return port


def bind(listen: str, port: int, owner: str, option: str, tcp: bool = False) -> socket.socket:
    """Return a non-blocking UDP socket, or a listening TCP one, at an address `listen` and port.

    PaddockError if it fails; it names `owner` and `option`.
    """
    protocol, opened = ("TCP" if tcp else "UDP"), None
    try:
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
        opened.setblocking(False)
        if tcp:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        opened.bind((listen, port))
        if tcp:
            opened.listen(BACKLOG)
    except OSError as error:
        if opened is not None:
            opened.close()
        reasons = {
            errno.EADDRINUSE: f"{protocol} port {port} is in use by another program; close it or choose another with",
            errno.EACCES: f"{protocol} port {port} needs privileges; choose one above 1023 with",
        }
        other = f"cannot open {protocol} port {listen}:{port}: {error.strerror or error}; see"
        raise PaddockError(f"{owner}: {reasons.get(error.errno or 0, other)} {where_set(option)}") from error
    return opened


Address = tuple[str, int]

SILENCE = 30.0  # s of wall time without a valid packet after which a peer is removed
IDLE = 10.0  # s of wall time without a valid packet after which a peer gives way to another if there are too many
MAX_PEERS = 32  # peers of one link


@dataclass
class MavlinkPeer:
    """One address that packets are sent to."""

    address: Address
    last_seen: float  # wall time, s, of its last valid packet
    permanent: bool = False
    since: float = 0.0  # wall time, s, of its first valid packet
    confirmed: bool = True  # whether it is known to receive: a source address of UDP can be forged
    allowance: int = 0  # bytes that may be sent to it before that, headers included
    challenge: int = 0  # number that it has to return
    challenges: int = 0  # sent so far
    challenged: float = 0.0  # wall time, s, of the last one
    sequences: dict[int, int] = field(default_factory=dict)  # next number, by vehicle: each peer sees an unbroken count
    streams: "dict[int, Streams]" = field(default_factory=dict)  # by vehicle, if it has requested rates of its own


def open_log(path: Path) -> BinaryIO:
    """Create the log file of one vehicle; raise PaddockError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")
    except OSError as error:
        raise PaddockError(f"cannot write MAVLink log {path}: {error.strerror or error}") from error


AMPLIFICATION = 3  # bytes sent for each byte received, at most, until an address is confirmed, as in RFC 9000, 8.1
HEADERS = 28  # bytes of a datagram's IP and UDP headers
RESERVED = 256  # bytes of that for messages by which a ground station finds a vehicle and confirms its address
CHALLENGE_ROOM = 64  # bytes of those for a challenge: heartbeats, in simulated time, may be fast
CHALLENGE_PERIOD, UNANSWERED = 1.0, 10.0  # s of wall time between challenges, and until a warning
KEPT = {mav.MAVLINK_MSG_ID_HEARTBEAT: CHALLENGE_ROOM, mav.MAVLINK_MSG_ID_PING: 0, mav.MAVLINK_MSG_ID_TIMESYNC: 0}
"""Bytes that a message leaves for more important ones; others leave RESERVED."""
MESSAGE_ID = slice(7, 10)  # of a packet


def is_local(address: Address) -> bool:
    """Return whether an address is one of the loopback network, which other machines cannot claim."""
    return ip_address(address[0]).is_loopback


DATAGRAM = 4096  # bytes
MAX_DATAGRAMS = 256  # received per poll and socket
MAX_WAITING = 64  # datagrams of one sender that wait for their turn; more are dropped
MAX_INBOXES = 2 * MAX_PEERS  # senders whose datagrams wait; peers are admitted beyond it


class SenderQueue(Protocol):
    """What has arrived from one sender and waits for its turn: the hub handles one message of each in turn."""

    def step(self, wall: float) -> bool:
        """Handle the next message; return whether there may be more."""


class UdpInbox:
    """The waiting datagrams of one address."""

    def __init__(self, link: "UdpLink", address: Address) -> None:
        self.link, self.address = link, address
        self.datagrams: deque[bytes] = deque()

    def step(self, wall: float) -> bool:
        """Handle the next message; return whether there may be more."""
        datagram = self.datagrams.popleft()
        messages, rest = read_stream(datagram, self.link.counters, whole=True, most=1)
        if rest:
            self.datagrams.appendleft(rest)
        for message in messages:
            peer = self.link.peer(self.address, wall)
            peer.allowance += AMPLIFICATION * (len(datagram) - len(rest) + (0 if rest else HEADERS))
            self.link.dispatch(message, peer)
        if not self.datagrams:
            del self.link.inboxes[self.address]
        return bool(self.datagrams)


class MavlinkLink:
    """A socket with its peers, in order of arrival, and vehicles: one vehicle's own, or the shared one."""

    number = 0  # in signatures

    def __init__(self, opened: socket.socket) -> None:
        self.socket = opened
        self.peers: dict[Address, MavlinkPeer] = {}
        self.vehicles: dict[int, MavlinkVehicle] = {}
        self.counters = PacketCounters()
        self.turns: deque[SenderQueue] = deque()  # those of all links of a hub

    def send(self, packet: bytes, extra: int, sysid: int, only: MavlinkPeer | None = None) -> None:
        """Send a packet of a system to every peer, or to `only` one, with the next `flush` or over its radio.

        extra: CRC_EXTRA of the message.
        """
        vehicle, signing = self.vehicles[sysid], self.vehicles[sysid].signing
        for peer in (only,) if only is not None else tuple(self.peers.values()):
            number = peer.sequences.get(sysid, 0)
            peer.sequences[sysid] = (number + 1) % 256
            signed = signing.sign(packet, number, extra, self.number) if signing.key else b""
            numbered = signed or renumbered(packet, number, extra)
            if vehicle.path is None:
                self.queue(peer, numbered)
            else:
                vehicle.path.send(self, peer, packet, numbered)

    def queue(self, peer: MavlinkPeer, packet: bytes) -> None:
        """Keep a packet for the next `flush`."""
        raise NotImplementedError

    def flush(self) -> None:
        """Send what waits, without blocking."""
        raise NotImplementedError

    def receive(self, wall: float) -> None:
        """Take what has arrived, without blocking, and queue it for its turn."""
        raise NotImplementedError

    def evict(self, wall: float) -> None:
        """Remove peers that have timed out."""

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def dispatch(self, message: Any, peer: MavlinkPeer) -> None:
        """Pass a message to the vehicles it is meant for."""
        target = getattr(message, "target_system", getattr(message, "target", 0))  # 0: all
        sender = Sender(self, peer, message.get_srcSystem(), message.get_srcComponent())
        for vehicle in [vehicle for sysid, vehicle in self.vehicles.items() if target in (0, sysid)]:
            if vehicle.path is None:
                vehicle.guard(partial(vehicle.handle, message, sender))
            else:
                vehicle.path.receive(message, sender)


class UdpLink(MavlinkLink):
    """A UDP socket; each address that sends to it is a peer."""

    def __init__(self, opened: socket.socket, target: Address | None) -> None:
        """`target` is a permanent peer."""
        super().__init__(opened)
        if target is not None:
            self.peers[target] = MavlinkPeer(target, last_seen=0.0, permanent=True)
        self.inboxes: dict[Address, UdpInbox] = {}  # not empty
        self._warned = False  # of an address that does not confirm itself
        self._waiting: list[tuple[bytes, Address]] = []  # packets for `flush`

    def peer(self, address: Address, wall: float) -> MavlinkPeer:
        """Return the peer of an address, from which a valid packet has come."""
        if address not in self.peers and len(self.peers) >= MAX_PEERS:
            del self.peers[self._peer_to_replace(wall).address]
        peer = self.peers.get(address)
        if peer is None:
            named = any(other.permanent and other.address[0] == address[0] for other in self.peers.values())
            peer = MavlinkPeer(address, wall, since=wall, confirmed=named or is_local(address))
            peer.challenge = 0 if peer.confirmed else 1 + secrets.randbelow((1 << 32) - 1)
            self.peers[address] = peer
        peer.last_seen = wall
        return peer

    def challenge(self, wall: float) -> None:
        """Send a number to each unconfirmed peer, which a ground station returns: by TIMESYNC and PING in turn."""
        for peer in [each for each in self.peers.values() if not each.confirmed]:
            if self.vehicles and wall - peer.challenged >= CHALLENGE_PERIOD:
                peer.challenged, vehicle = wall, next(iter(self.vehicles.values()))
                number = peer.challenge
                pairs = mav.MAVLink_timesync_message(0, number), mav.MAVLink_ping_message(number, number, 0, 0)
                message, peer.challenges = pairs[peer.challenges % 2], peer.challenges + 1
                self.send(vehicle.pack(message, logged=False), message.crc_extra, vehicle.sysid, peer)
                if wall - peer.since > UNANSWERED and not self._warned:
                    self._warned = True
                    LOG.warning(
                        "%s:%d answers neither TIMESYNC nor PING: it gets at most %d times the bytes that it sends; "
                        "name it with --station-host, or use TCP",
                        *peer.address,
                        AMPLIFICATION,
                    )

    def _peer_to_replace(self, wall: float) -> MavlinkPeer:
        """Return the peer that gives way: idle, or of the host with most peers, and known for the shortest time."""
        removable = [each for each in self.peers.values() if not each.permanent]
        hosts = Counter(each.address[0] for each in removable)

        def rank(each: MavlinkPeer) -> tuple[bool, int, float, float]:
            active = wall - each.last_seen < IDLE
            return active, -hosts[each.address[0]], each.last_seen - each.since, each.last_seen

        return min(removable, key=rank)

    def evict(self, wall: float) -> None:
        """Remove peers that have timed out."""
        kept = [peer for peer in self.peers.values() if peer.permanent or wall - peer.last_seen <= SILENCE]
        self.peers = {peer.address: peer for peer in kept}

    def queue(self, peer: MavlinkPeer, packet: bytes) -> None:
        """Keep a packet for the next `flush`; an unconfirmed peer gets what its allowance permits."""
        if not peer.confirmed:
            kept = KEPT.get(int.from_bytes(packet[MESSAGE_ID], "little"), RESERVED)
            if len(packet) + HEADERS + kept > peer.allowance:
                self.counters.withheld += 1
                return
            peer.allowance -= len(packet) + HEADERS
        self._waiting.append((packet, peer.address))

    def flush(self) -> None:
        """Send what waits: encoding many packets, then sending many, is faster than taking turns."""
        for packet, address in self._waiting:
            with suppress(OSError):  # no listener, no route, a full buffer: UDP may lose packets
                self.socket.sendto(packet, address)
                self.counters.sent += 1
        self._waiting.clear()

    def receive(self, wall: float) -> None:
        """Queue what has arrived by sender, so that one of them cannot keep the others out."""
        for _ in range(MAX_DATAGRAMS):
            try:
                datagram, address = self.socket.recvfrom(DATAGRAM)
            except OSError:  # no more data, or a peer's port is closed
                return
            inbox = self.inboxes.get(address)
            if inbox is None:
                if address not in self.peers and len(self.inboxes) >= MAX_INBOXES:
                    self.counters.dropped += 1
                    continue
                inbox = self.inboxes[address] = UdpInbox(self, address)
                self.turns.append(inbox)
            if len(inbox.datagrams) < MAX_WAITING:
                inbox.datagrams.append(datagram)
            else:
                self.counters.dropped += 1


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


MAX_CLIENTS = 8  # of one vehicle; another replaces one that is idle, or is refused
MAX_UNSENT = 1 << 18  # bytes that a client has not taken; more, and it is disconnected
SEND_BUFFER = 1 << 16  # bytes in the system's buffer: a slow client must not see minutes of old telemetry
TCP_CHUNK = 1 << 14  # bytes read at once, and only if fewer wait for their turn: the rest stays in the socket
PAGE = 8000  # default port of the page: not taken unless it is configured


class TcpLink(MavlinkLink):
    """A listening socket; each connection is a peer until it closes."""

    number = 2

    def __init__(self, opened: socket.socket, selector: selectors.BaseSelector) -> None:
        super().__init__(opened)
        self.port: int = opened.getsockname()[1]
        self.dropped = 0  # clients that were too slow
        self._selector = selector
        self._clients: dict[tuple[str, int], TcpClient] = {}  # by the address of the peer
        selector.register(opened, selectors.EVENT_READ, self)

    def receive(self, wall: float) -> None:
        """Accept waiting clients."""
        for _ in range(MAX_CLIENTS):
            try:
                connection, (host, port, *_) = self.socket.accept()
            except OSError:  # no more, or gone again
                return
            if len(self._clients) >= MAX_CLIENTS:
                idlest = min(self._clients.values(), key=lambda each: each.peer.last_seen)
                if wall - idlest.peer.last_seen < IDLE:
                    connection.close()
                    continue
                self.drop(idlest)
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            address = f"tcp:{host}", port  # differs from the UDP peer with the same numbers
            self.peers[address] = MavlinkPeer(address, wall, permanent=True)
            self._clients[address] = client = TcpClient(self, self.peers[address], connection)
            self._selector.register(connection, selectors.EVENT_READ, client)
            for vehicle in self.vehicles.values():  # a link without clients costs nothing
                if self not in vehicle.links:
                    vehicle.links.append(self)

    def queue(self, peer: MavlinkPeer, packet: bytes) -> None:
        """Keep a packet for the next `flush`; a packet for a client that is gone is dropped."""
        client = self._clients.get(peer.address)
        if client is not None:
            client.waiting += packet
            self.counters.sent += 1

    def flush(self) -> None:
        """Send as much as each client takes; disconnect a client that is too slow."""
        for client in list(self._clients.values()):
            client.flush()
            if len(client.waiting) > MAX_UNSENT:
                self.dropped += 1
                self.drop(client)

    def drop(self, client: "TcpClient") -> None:
        """Close a connection."""
        self.stop_receiving(client)
        client.socket.close()
        client.rest = b""
        self._clients.pop(client.peer.address, None)
        self.peers.pop(client.peer.address, None)
        if not self._clients:
            for vehicle in self.vehicles.values():
                if self in vehicle.links:
                    vehicle.links.remove(self)

    def stop_receiving(self, client: "TcpClient") -> None:
        """Do not receive from a connection any more."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(client.socket)

    def close(self) -> None:
        """Close all connections and the socket."""
        for client in list(self._clients.values()):
            self.drop(client)
        self._selector.unregister(self.socket)
        super().close()


class TcpClient:
    """One connection of a TcpLink: bytes that wait to be sent, and the start of a packet that is not complete."""

    def __init__(self, link: TcpLink, peer: MavlinkPeer, opened: socket.socket) -> None:
        self.link, self.peer, self.socket = link, peer, opened
        self.waiting = bytearray()
        self.rest = b""  # received, and not handled yet
        self._greeted = self._queued = self._ended = False

    def flush(self) -> None:
        """Send what waits, as much as the client takes; a broken connection is closed by the next `receive`."""
        while self.waiting:
            try:
                del self.waiting[: self.socket.send(self.waiting)]
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR):
                    self.link.drop(self)
                return

    def receive(self, wall: float) -> None:
        """Queue what has arrived; close a connection that the client has closed, after its last message."""
        if len(self.rest) >= TCP_CHUNK:
            return
        try:
            data = self.socket.recv(TCP_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data and self._queued:
            self._ended = True
            self.link.stop_receiving(self)
        elif not data or not (self._greeted or data[0] in MARKERS):
            self.link.counters.rejected += bool(data)
            self.link.drop(self)
        else:
            self._greeted = True
            self.rest += data
            if not self._queued:
                self._queued = True
                self.link.turns.append(self)

    def step(self, wall: float) -> bool:
        """Handle the next message; return whether there may be more."""
        messages, self.rest = read_stream(self.rest, self.link.counters, most=1)
        for message in messages:
            self.peer.last_seen = wall
            self.link.dispatch(message, self.peer)
        self._queued = bool(messages and self.rest)
        if self._ended and not self._queued:
            self.link.drop(self)
        return self._queued


def open_tcp(ports: Ports, sysid: int, selector: selectors.BaseSelector) -> TcpLink | None:
    """Return the TCP link of a vehicle; None if TCP is off, or if no port is configured and the usual one is in use."""
    port = ports.tcp(sysid)
    if port == 0:
        return None
    opened = partial(bind, listen=ports.host, port=port, owner=f"vehicle {sysid}", option="--tcp", tcp=True)
    if ports.tcp_port is not None:
        return TcpLink(opened(), selector)
    try:
        return None if port == PAGE else TcpLink(opened(), selector)
    except PaddockError:  # another simulation, or ArduPilot's own, runs on this machine
        return None
