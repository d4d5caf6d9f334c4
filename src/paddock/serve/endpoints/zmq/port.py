"""A ZeroMQ socket in the hub's event loop."""

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zmq

EVENTS, POLLIN, NOBLOCK = int(zmq.EVENTS), int(zmq.POLLIN), int(zmq.NOBLOCK)  # enums are twice as slow
RCVMORE, SRCFD = int(zmq.RCVMORE), int(zmq.SRCFD)
FRAMING = 21  # bytes of the header of a frame, and of the name of a command that subscribes, at most
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
        self.on_arrival: Callable[[int, bytes, int], None] | None = None  # descriptor, first frame, bytes in all
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
            self._on_message(self.socket.recv_multipart(NOBLOCK) if self.on_arrival is None else self._received())
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

    def _received(self) -> list[bytes]:
        """Receive a message, and report it with the connection that it came from."""
        first = self.socket.recv(NOBLOCK, copy=False)
        frames = [first.bytes]
        while self.socket.getsockopt(RCVMORE):
            frames.append(self.socket.recv(NOBLOCK))
        assert self.on_arrival is not None
        with suppress(zmq.ZMQError):
            self.on_arrival(int(first.get(SRCFD)), frames[0], sum(map(len, frames)) + len(frames) * FRAMING)
        return frames

    def _readable(self) -> bool:
        return bool(self.socket.getsockopt(EVENTS) & POLLIN)  # type: ignore[operator]

    def _look_again(self) -> None:
        if self._loop is not None:
            self._looking = True
            self._loop.call_soon(self._look_if_open)

    def _look_if_open(self) -> None:
        if self._loop is not None:
            self.look()
