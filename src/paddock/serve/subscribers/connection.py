"""Connections to clients, over TCP or WebSocket, and their outgoing messages. Sending never blocks."""

import asyncio
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence

from paddock.wire.rpc import notification
from paddock.wire.stream.split import JsonLine, StreamFrame

Bytes = bytes | memoryview
FrameGroup = tuple[Bytes, ...]  # the frames of one tick; peers may share the bytes

MOST_WAITING = 8 << 20  # bytes of unsent messages after which a peer counts as not reading
AT_ONCE = 64  # messages per system call
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


class Outbox:
    """Outgoing data of one peer. Messages are never dropped; of groups of frames only the latest waits.

    A group that has begun is finished; messages go between groups.
    """

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self.most_waiting = most_waiting
        self._messages: deque[Bytes] = deque()
        self._waiting = 0  # bytes of waiting messages
        self._group: FrameGroup | None = None
        self._begun: deque[memoryview] = deque()  # being sent

    def put(self, message: Bytes) -> bool:
        """Queue a message; return False if too many bytes are queued."""
        if self._waiting > self.most_waiting:
            return False
        self._messages.append(message)
        self._waiting += len(message)
        return True

    def offer(self, group: FrameGroup) -> bool:
        """Queue a group; return True if it replaces one that had not begun."""
        replaced = self._group is not None
        self._group = group
        return replaced

    def withdraw(self) -> None:
        """Discard the group that has not begun."""
        self._group = None

    def end_with(self, message: Bytes) -> None:
        """Finish the group that has begun, then send only this."""
        self._group, self._waiting = None, len(message)
        self._messages = deque([message])

    def next(self) -> Bytes | FrameGroup | None:
        """Return the next item, for transports with messages; None if the queue is empty."""
        if self._messages:
            message = self._messages.popleft()
            self._waiting -= len(message)
            return message
        group, self._group = self._group, None
        return group

    def send(self, to: socket.socket) -> bool:
        """Send without blocking; return True once the queue is empty. OSError if the peer has disconnected."""
        while self._begun or self._begin():
            try:
                self._advance(to.sendmsg(self._begun))
            except (BlockingIOError, InterruptedError):
                return False
        return True

    def _begin(self) -> bool:
        """Start sending the queued messages or, without any, the group."""
        if self._messages:
            messages = [self._messages.popleft() for _ in range(min(len(self._messages), AT_ONCE))]
            self._waiting -= sum(map(len, messages))
            self._take(messages)
        elif self._group is not None:
            self._take(self._group)
            self._group = None
        return bool(self._begun)

    def _take(self, parts: Sequence[Bytes]) -> None:
        self._begun.extend(view for part in parts if (view := memoryview(part)))

    def _advance(self, sent: int) -> None:
        while sent:
            first = self._begun[0]
            if sent < len(first):
                self._begun[0] = first[sent:]
                return
            sent -= len(first)
            self._begun.popleft()


GRACE = 1.0  # s for a peer to read why its connection ends

OnMessage = Callable[[StreamFrame | JsonLine], None]  # called with every received message
Lost = Callable[[str], None]  # called once at the end with a word for the reason; empty if the peer left


class Connection(ABC):
    """Outgoing messages and frames; a transport implements `_flush` and `close`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_message: OnMessage, lost: Lost) -> None:
        self.loop = loop
        self.open = True  # not ending
        self.skipped = 0  # groups replaced by newer ones
        self._on_message, self._lost = on_message, lost
        self._outbox = Outbox()
        self._closed = False
        self._reason = ""

    def put(self, message: Bytes) -> None:
        """Send a message that must not be dropped; a peer that does not read is disconnected."""
        if not self.open:
            return
        if self._outbox.put(message):
            self._flush()
        else:
            self.cut_off("does_not_read", f"more than {self._outbox.most_waiting} bytes of replies are unread")

    def offer(self, group: FrameGroup) -> bool:
        """Send the frames of a tick unless newer ones replace them; return True if they replace queued ones."""
        if not self.open:
            return False
        skipped = self._outbox.offer(group)
        self.skipped += skipped
        self._flush()
        return skipped

    def withdraw(self) -> None:
        """Discard the group that has not begun."""
        self._outbox.withdraw()

    def cut_off(self, reason: str, message: str) -> None:
        """Send the reason, then close."""
        if self.open:
            self.open, self._reason = False, reason
            self._outbox.end_with(notification("closed", {"reason": message}))
            self.loop.call_later(GRACE, self.close)
            self._flush()

    @abstractmethod
    def close(self) -> None:
        """Close immediately."""

    @abstractmethod
    def _flush(self) -> None:
        """Send the queued data."""


Connect = Callable[[OnMessage, Lost], Connection]  # creates the connection of a client
