"""MAVLink over TCP: a vehicle listens at one port and serves several clients, as ArduPilot's simulator does.

Everything is non-blocking and polled by the hub. Each client has a bounded buffer for what it has not taken yet; one
that is too slow is disconnected. A client whose first byte does not start a packet is disconnected, too: a web page can
make a browser send a request with packets in its body to any port of this machine.
"""

import errno
import selectors
import socket
from contextlib import suppress
from functools import partial

from paddock.errors import PaddockError
from paddock.mavlink.link import IDLE, MavlinkLink, MavlinkPeer, Ports, bind
from paddock.mavlink.packets import MARKERS, read_stream

MAX_CLIENTS = 8  # of one vehicle; another replaces one that is idle, or is refused
MAX_WAITING = 1 << 18  # bytes that a client has not taken; more, and it is disconnected
SEND_BUFFER = 1 << 16  # bytes in the system's buffer: a slow client must not see minutes of old telemetry
CHUNK = 1 << 14  # bytes read at once, and only if fewer wait for their turn: the rest stays in the socket
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
            if len(client.waiting) > MAX_WAITING:
                self.dropped += 1
                self.drop(client)

    def drop(self, client: "TcpClient") -> None:
        """Close a connection."""
        self.forget(client)
        client.socket.close()
        client.rest = b""
        self._clients.pop(client.peer.address, None)
        self.peers.pop(client.peer.address, None)
        if not self._clients:
            for vehicle in self.vehicles.values():
                if self in vehicle.links:
                    vehicle.links.remove(self)

    def forget(self, client: "TcpClient") -> None:
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
        if len(self.rest) >= CHUNK:
            return
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data and self._queued:
            self._ended = True
            self.link.forget(self)
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
