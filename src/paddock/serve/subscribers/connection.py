"""Connections to clients, over TCP or WebSocket, and their outgoing messages. Sending never blocks."""

import asyncio
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from paddock.wire.rpc import notification
from paddock.wire.stream.split import JsonLine, StreamFrame

Bytes = bytes | memoryview
FrameGroup = tuple[Bytes, ...]  # the frames of one tick; peers may share the bytes

MOST_WAITING = 8 << 20  # bytes of unsent messages after which a peer counts as not reading
SEND_BUFFER = 1 << 20
"""Bytes that the kernel may buffer for a peer: enough for a large group in a few pieces, few old small ones."""
WAITING = 128  # connections that may wait to be accepted


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening TCP socket; OSError if that is not possible."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a new hub takes over the port at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)  # inherited by accepted sockets
        listening.bind(address)
        listening.listen(WAITING)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


GRACE = 1.0  # s for a peer to read why its connection ends

OnMessage = Callable[[StreamFrame | JsonLine], None]  # called with every received message
Lost = Callable[[str], None]  # called once at the end with a word for the reason; empty if the peer left


class Connection(ABC):
    """Outgoing data of one peer; a transport implements `_flush` and `close`.

    Messages are never dropped; of groups of frames only the latest waits. A group that has begun is finished; messages
    go between groups.
    """

    most_waiting = MOST_WAITING

    def __init__(self, loop: asyncio.AbstractEventLoop, on_message: OnMessage, lost: Lost) -> None:
        self.loop = loop
        self.open = True  # not ending
        self.skipped = 0  # groups replaced by newer ones
        self._on_message, self._lost = on_message, lost
        self._messages: deque[Bytes] = deque()
        self._waiting_bytes = 0  # bytes of waiting messages
        self._group: FrameGroup | None = None
        self._closed = False
        self._reason = ""

    def put(self, message: Bytes) -> None:
        """Send a message that must not be dropped; a peer that does not read is disconnected."""
        if not self.open:
            return
        if self._waiting_bytes > self.most_waiting:
            self.cut_off("does_not_read", f"more than {self.most_waiting} bytes of replies are unread")
        else:
            self._messages.append(message)
            self._waiting_bytes += len(message)
            self._flush()

    def offer(self, group: FrameGroup) -> bool:
        """Send the frames of a tick unless newer ones replace them; return True if they replace queued ones."""
        if not self.open:
            return False
        skipped, self._group = self._group is not None, group
        self.skipped += skipped
        self._flush()
        return skipped

    def withdraw(self) -> None:
        """Discard the group that has not begun."""
        self._group = None

    def cut_off(self, reason: str, message: str) -> None:
        """Finish the group that has begun, send the reason, then close."""
        if self.open:
            self.open, self._reason = False, reason
            last = notification("closed", {"reason": message})
            self._messages, self._waiting_bytes, self._group = deque([last]), len(last), None
            self.loop.call_later(GRACE, self.close)
            self._flush()

    def _next(self) -> Bytes | FrameGroup | None:
        """Return what to send next; None if nothing waits."""
        if self._messages:
            message = self._messages.popleft()
            self._waiting_bytes -= len(message)
            return message
        group, self._group = self._group, None
        return group

    @abstractmethod
    def close(self) -> None:
        """Close immediately."""

    @abstractmethod
    def _flush(self) -> None:
        """Send the queued data."""


Connect = Callable[[OnMessage, Lost], Connection]  # creates the connection of a client
