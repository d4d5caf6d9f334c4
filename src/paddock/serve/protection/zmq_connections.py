"""The token of ZeroMQ connections, and limits of connections that libzmq does not have itself."""

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import zmq

from paddock.serve.hub import Endpoint
from paddock.serve.protection.admission import Slots, has_token, share_of_files

if TYPE_CHECKING:
    from paddock.serve.endpoints.zmq.endpoint import Port

T = TypeVar("T")
BEAT_MS, DEAD_MS = 1000, 5000  # ms between heartbeats, and ms without one after which a connection is closed
USER = b"paddock"
ZAP = "inproc://zeromq.zap.01"
ZAP_MOST = 4096  # bytes of a frame of an authentication request


class TokenAuthenticator:
    """Answers libzmq's authentication requests (ZAP, RFC 27): user `paddock`, the token as password."""

    def __init__(self, new_port: "Callable[..., Port]", endpoint: Endpoint, *guarded: "Port") -> None:
        """Guard sockets before they listen."""
        self._endpoint = endpoint
        self.port = new_port(zmq.ROUTER, ZAP_MOST, self._take)
        self.port.open(ZAP)
        for port in guarded:
            port.socket.setsockopt(zmq.PLAIN_SERVER, 1)
            port.socket.setsockopt(zmq.ZAP_DOMAIN, b"paddock")

    def _take(self, frames: list[bytes]) -> None:
        """Answer a request [..., version, request, domain, address, identity, mechanism, user, password]."""
        envelope, request = frames[: frames.index(b"") + 1], frames[frames.index(b"") + 1 :]
        allowed = len(request) == 8 and request[5] == b"PLAIN" and request[6] == USER
        allowed = allowed and has_token(self._endpoint.hub.options, request[7])
        if not allowed:
            self._endpoint.count("cut_off", reason="token")
        status = [b"200", b"OK"] if allowed else [b"400", b"wrong token"]
        self.port.send(*envelope, request[0], request[1], *status, b"", b"")


EVENT = struct.Struct("=Hi")  # of a monitored socket: what happened, and a descriptor
SPARE = 128  # young connections of a socket
WATCH = 0.05  # s between checks of what connections have sent
HANDSHAKE_MOST = 8192  # bytes of a connection before its handshake is finished
IN_ALL = 2  # limits of a connection: what all of them together may have sent that is in no message yet
BEATS = 128.0  # bytes per s that are taken for heartbeats, which libzmq does not report
BYTES_RECEIVED = struct.Struct("=128xQ")  # of Linux's tcp_info


@dataclass
class WatchedConnection:
    """An open connection, and the bytes it has sent that are in no message yet."""

    since: float  # s: when it was accepted
    shaken: bool = False  # whether its handshake is finished
    first: bytes = b""  # frame of its last message
    received: int = 0  # bytes so far
    pending: float = 0.0

    def finish_handshake(self) -> None:
        """Note that its handshake is finished."""
        self.shaken = True

    def take_message(self, first: bytes, size: int) -> None:
        """Subtract a whole message, with that first frame: what came before it is not pending."""
        self.first, self.shaken = first, True
        self.pending = min(0.0, self.pending - size)

    def grow(self, received: int) -> None:
        """Add what has arrived since the last call, of so many bytes so far."""
        self.pending = max(0.0, self.pending + received - self.received - BEATS * WATCH)
        self.received = received

    def end(self) -> None:
        """Count nothing more as pending."""
        self.pending = 0.0


class ConnectionLimiter:
    """Limits the connections of a listening socket, and what they send in part, which libzmq does not.

    libzmq ends connections without a finished handshake after some seconds: older ones are of clients. One more than
    the limit of younger ones ends the first of them (of the address that has most), or the new one itself.

    libzmq limits the size of a frame, from the first byte on, but not the number of frames of a message. On Linux, a
    connection is ended if it has sent more than its limit that has not arrived as a message; and those that have sent
    most if all of them together have sent more than the limit of two.
    """

    def __init__(
        self,
        new_port: "Callable[..., Port]",
        endpoint: Endpoint,
        guarded: "Port",
        clients: int,
        pending: int,
        name: str,
    ) -> None:
        """Watch a socket before it listens.

        `clients` is the maximum number of its clients; `pending` that of the bytes which a connection may have sent in
        part, or in messages that the hub has not read yet.
        """
        self._endpoint, self._guarded, self._most_pending = endpoint, guarded, pending
        self._spare = share_of_files(SPARE)
        self._most = clients + self._spare
        self._open: dict[int, WatchedConnection] = {}  # by descriptor
        self._young: Slots[int] = Slots(self._spare, partial(self._end, reason="slots"))
        self.port = new_port(zmq.PAIR, ZAP_MOST, self._take)
        self.port.socket.setsockopt(zmq.RCVHWM, 0)  # or libzmq would wait for the hub
        events = zmq.EVENT_ACCEPTED | zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        guarded.socket.monitor(f"inproc://{name}", events)
        self.port.socket.connect(f"inproc://{name}")
        self.port.begin()
        self._timer: asyncio.TimerHandle | None = None
        if sys.platform == "linux":
            guarded.on_arrival = self._on_arrival
            self._timer = asyncio.get_running_loop().call_later(WATCH, self._watch)

    def close(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        self._guarded.socket.disable_monitor()
        self.port.close()

    def _take(self, frames: list[bytes]) -> None:
        event, descriptor = EVENT.unpack(frames[0])
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            if descriptor in self._open:
                self._open[descriptor].finish_handshake()
            return
        self._young.leave(descriptor)
        self._open.pop(descriptor, None)
        if event == zmq.EVENT_ACCEPTED:
            now = monotonic()
            for settled_descriptor in [
                open_descriptor
                for open_descriptor, watched in self._open.items()
                if now - watched.since > DEAD_MS / 1000.0
            ]:
                self._young.leave(settled_descriptor)
            settled = len(self._open) - len(self._young)
            self._young.most = min(self._spare, max(0, self._most - settled))
            self._open[descriptor] = WatchedConnection(now)
            self._young.enter(descriptor, self._with(descriptor, lambda peer: str(peer.getpeername()[0])) or "")

    def _on_arrival(self, descriptor: int, first: bytes, size: int) -> None:
        watched = self._open.get(descriptor)
        if watched is None or watched.first != first:  # perhaps of a new connection
            self.port.receive()
            watched = self._open.get(descriptor)
        if watched is not None:
            watched.take_message(first, size)

    def _watch(self) -> None:
        """End connections that have sent more than their limit in part."""
        for descriptor, watched in self._open.items():
            received = self._with(descriptor, bytes_received)
            if received is not None:
                watched.grow(received)
        self.port.receive()
        self._guarded.receive()  # what has arrived by now is not pending
        left = float(IN_ALL * self._most_pending)
        for descriptor, watched in sorted(self._open.items(), key=lambda item: item[1].pending):
            if watched.pending > min(left, self._most_pending if watched.shaken else HANDSHAKE_MOST):
                watched.end()
                self._end(descriptor, "size")
            left -= max(0.0, watched.pending)
        self._timer = asyncio.get_running_loop().call_later(WATCH, self._watch)

    def _end(self, descriptor: int, reason: str) -> None:
        """Shut a connection down; libzmq then closes it."""
        self._with(descriptor, lambda peer: peer.shutdown(socket.SHUT_RDWR))
        self._endpoint.count("cut_off", reason=reason)

    def _with(self, descriptor: int, do: Callable[[socket.socket], T]) -> T | None:
        """Call a function with a connection, unless it is gone; its number may be that of another socket by now."""
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as peer:
            number = self._guarded.socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0").rpartition(":")[2]
            if peer.family in (socket.AF_INET, socket.AF_INET6) and str(peer.getsockname()[1]) == number:
                return do(peer)
        return None


def bytes_received(peer: socket.socket) -> int:
    """Return the bytes that a connection has received so far, on Linux."""
    [count] = BYTES_RECEIVED.unpack(peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_RECEIVED.size))
    return int(count)
