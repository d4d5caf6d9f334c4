"""A ZeroMQ socket in the hub's event loop, the PLAIN handshake that checks the token, and a limit of connections."""

import asyncio
import errno
import hmac
import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar

import zmq

from paddock.serve.admission import Slots, share_of_files
from paddock.serve.hub import Endpoint

T = TypeVar("T")
EVENTS, POLLIN, NOBLOCK = int(zmq.EVENTS), int(zmq.POLLIN), int(zmq.NOBLOCK)  # enums are twice as slow
BATCH = 64  # messages read at a time
WAITING = 1000  # messages that may wait for a peer, in each direction
BEAT_MS, DEAD_MS = 1000, 5000  # ms between heartbeats, and ms without one after which a connection is closed


class Port:
    """Receives messages as they arrive; sending never blocks.

    ZeroMQ's descriptor is edge-triggered: EVENTS is read after every operation that may have consumed an edge.
    """

    def __init__(
        self, context: zmq.Context[Any], kind: int, most_bytes: int, on_message: Callable[[list[bytes]], None]
    ) -> None:
        self.socket: zmq.Socket[bytes] = context.socket(kind)
        self._on_message = on_message
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looking = False
        options = {
            zmq.LINGER: 0,
            zmq.SNDHWM: WAITING,
            zmq.RCVHWM: WAITING,
            zmq.MAXMSGSIZE: most_bytes,
            zmq.HEARTBEAT_IVL: BEAT_MS,
            zmq.HEARTBEAT_TIMEOUT: DEAD_MS,
            zmq.HANDSHAKE_IVL: DEAD_MS,
        }
        for option, value in options.items():
            self.socket.setsockopt(option, value)

    def open(self, address: str) -> str:
        """Listen on a ZeroMQ address and return the actual one. OSError if that is not possible."""
        try:
            self.socket.bind(address)
        except zmq.ZMQError as error:
            raise OSError(error.errno, zmq.strerror(error.errno or errno.EINVAL)) from None
        self.begin()
        return self.socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")

    def begin(self) -> None:
        """Receive from now on."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self.socket.fileno(), self.look)
        self.look()

    def look(self) -> None:
        self._looking = True  # sending need not read EVENTS meanwhile
        for _ in range(BATCH):
            if not self._readable():
                self._looking = False
                return
            self._on_message(self.socket.recv_multipart(NOBLOCK))
        self._look_again()

    def send(self, *frames: bytes) -> bool:
        """Send; False if the peer is gone or does not read."""
        try:
            self.socket.send_multipart(frames, NOBLOCK)
            return True
        except zmq.ZMQError:
            return False
        finally:
            if not self._looking and self._readable():
                self._look_again()

    def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self.socket.fileno())
            self._loop = None
        self.socket.close()

    def _readable(self) -> bool:
        return bool(self.socket.getsockopt(EVENTS) & POLLIN)  # type: ignore[operator]

    def _look_again(self) -> None:
        if self._loop is not None:
            self._looking = True
            self._loop.call_soon(self._look_if_open)

    def _look_if_open(self) -> None:
        if self._loop is not None:
            self.look()


USER = b"paddock"
ZAP = "inproc://zeromq.zap.01"
ZAP_MOST = 4096  # bytes of a frame of an authentication request


class Gate:
    """Answers libzmq's authentication requests (ZAP, RFC 27): user `paddock`, the token as password."""

    def __init__(self, context: zmq.Context[Any], endpoint: Endpoint, *guarded: Port) -> None:
        """Guard sockets before they listen."""
        self._endpoint = endpoint
        self.port = Port(context, zmq.ROUTER, ZAP_MOST, self._take)
        self.port.open(ZAP)
        for port in guarded:
            port.socket.setsockopt(zmq.PLAIN_SERVER, 1)
            port.socket.setsockopt(zmq.ZAP_DOMAIN, b"paddock")

    def _take(self, frames: list[bytes]) -> None:
        """Answer a request [..., version, request, domain, address, identity, mechanism, user, password]."""
        envelope, request = frames[: frames.index(b"") + 1], frames[frames.index(b"") + 1 :]
        allowed = len(request) == 8 and request[5] == b"PLAIN" and request[6] == USER
        allowed = allowed and hmac.compare_digest(request[7], (self._endpoint.hub.options.token or "").encode())
        if not allowed:
            self._endpoint.count("cut_off", reason="token")
        status = [b"200", b"OK"] if allowed else [b"400", b"wrong token"]
        self.port.send(*envelope, request[0], request[1], *status, b"", b"")


EVENT = struct.Struct("=Hi")  # of a monitored socket: what happened, and a descriptor
SPARE = 128  # young connections of a socket


class Doorkeeper:
    """Limits the connections of a listening socket, which libzmq does not.

    libzmq ends connections without a finished handshake after some seconds: older ones are of clients. One more than
    the limit of younger ones ends the first of them (of the address that has most), or the new one itself.
    """

    def __init__(self, context: zmq.Context[Any], endpoint: Endpoint, guarded: Port, clients: int, name: str) -> None:
        """Watch a socket before it listens; `clients` is the maximum number of its clients."""
        self._endpoint, self._guarded = endpoint, guarded
        self._spare = share_of_files(SPARE)
        self._most = clients + self._spare
        self._since: dict[int, float] = {}  # descriptor of an open connection -> when it was accepted, s
        self._young: Slots[int] = Slots(self._spare, self._end)
        self.port = Port(context, zmq.PAIR, ZAP_MOST, self._take)
        self.port.socket.setsockopt(zmq.RCVHWM, 0)  # or libzmq would wait for the hub
        guarded.socket.monitor(f"inproc://{name}", zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self.port.socket.connect(f"inproc://{name}")
        self.port.begin()

    def close(self) -> None:
        self._guarded.socket.disable_monitor()
        self.port.close()

    def _take(self, frames: list[bytes]) -> None:
        event, descriptor = EVENT.unpack(frames[0])
        self._young.leave(descriptor)
        self._since.pop(descriptor, None)
        if event == zmq.EVENT_ACCEPTED:
            now = monotonic()
            for known in [one for one, since in self._since.items() if now - since > DEAD_MS / 1000.0]:
                self._young.leave(known)
            settled = len(self._since) - len(self._young)
            self._young.most = min(self._spare, max(0, self._most - settled))
            self._since[descriptor] = now
            self._young.enter(descriptor, self._with(descriptor, lambda peer: str(peer.getpeername()[0])) or "")

    def _end(self, descriptor: int) -> None:
        """Shut a connection down; libzmq then closes it."""
        self._with(descriptor, lambda peer: peer.shutdown(socket.SHUT_RDWR))
        self._endpoint.count("cut_off", reason="slots")

    def _with(self, descriptor: int, do: Callable[[socket.socket], T]) -> T | None:
        """Call a function with a connection, unless it is gone; its number may be that of another socket by now."""
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as peer:
            number = self._guarded.socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0").rpartition(":")[2]
            if peer.family in (socket.AF_INET, socket.AF_INET6) and str(peer.getsockname()[1]) == number:
                return do(peer)
        return None
