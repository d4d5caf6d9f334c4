"""What a connection to a subscriber does, whatever the wire: TCP and WebSocket ones are used alike."""

from __future__ import annotations

import asyncio
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paddock.wire.rpc import notification
from paddock.wire.stream.split import Frame, Json

Bytes = bytes | memoryview

MOST_WAITING = 8 << 20
"""Bytes of messages that may wait for a peer that does not read."""
AT_ONCE = 64
"""Messages given to the socket in one call."""


@dataclass(frozen=True)
class Group:
    """The frames of one tick; the bytes may be shared between peers."""

    parts: tuple[Bytes, ...]


class Outbox:
    """Messages are never dropped and go between groups; a group that has begun is finished."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self.most_waiting = most_waiting
        self._messages: deque[Bytes] = deque()
        self._waiting = 0  # bytes of those messages
        self._group: Group | None = None
        self._begun: deque[memoryview] = deque()  # what the socket is being given

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not (self._begun or self._messages or self._group)

    def put(self, message: Bytes) -> bool:
        """Have a message sent; False if so much waits already that the peer cannot be reading."""
        if self._waiting > self.most_waiting:
            return False
        self._messages.append(message)
        self._waiting += len(message)
        return True

    def offer(self, group: Group) -> bool:
        """Have a group sent; True if it takes the place of one that had not begun."""
        replaced = self._group is not None
        self._group = group
        return replaced

    def withdraw(self) -> None:
        """Forget the group that has not begun."""
        self._group = None

    def end_with(self, message: Bytes) -> None:
        """Finish what has begun, then send this and nothing else."""
        self._group, self._waiting = None, len(message)
        self._messages = deque([message])

    def next(self) -> Bytes | Group | None:
        """What is to be sent next as one message, for wires that have messages; None if nothing waits."""
        if self._messages:
            message = self._messages.popleft()
            self._waiting -= len(message)
            return message
        group, self._group = self._group, None
        return group

    def send(self, to: socket.socket) -> bool:
        """Give the socket what it takes, without waiting; True once nothing waits. OSError when the peer is gone."""
        while self._begun or self._begin():
            try:
                self._advance(to.sendmsg(self._begun))
            except (BlockingIOError, InterruptedError):
                return False
        return True

    def _begin(self) -> bool:
        """Take up the messages that wait or, without any, the group."""
        if self._messages:
            messages = [self._messages.popleft() for _ in range(min(len(self._messages), AT_ONCE))]
            self._waiting -= sum(map(len, messages))
            self._take(messages)
        elif self._group is not None:
            self._take(self._group.parts)
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


GRACE = 1.0
"""s that a peer has to read why it was cut off."""

Hear = Callable[[Frame | Json], None]
"""Is told every message that arrives."""
Lost = Callable[[str], None]
"""Is told once, when it is over: a word for the reason, empty if the peer left."""


class Connection(ABC):
    """Messages out, never waited for. A wire says how they go (`_flush`), and how it ends (`close`)."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hear: Hear, lost: Lost) -> None:
        self.loop = loop
        self.open = True  # neither cut off nor closed
        self.skipped = 0  # groups that a newer one has replaced
        self._hear, self._lost = hear, lost
        self._outbox = Outbox()
        self._closed = False
        self._reason = ""

    def put(self, message: Bytes) -> None:
        """Send something that must arrive; a peer that lets too much of it wait is cut off."""
        if not self.open:
            return
        if self._outbox.put(message):
            self._flush()
        else:
            self.cut_off("does_not_read", f"more than {self._outbox.most_waiting} bytes of replies are waiting")

    def offer(self, group: Group) -> bool:
        """Send the frames of a tick unless newer ones come first; True if they replace some that had not begun."""
        if not self.open:
            return False
        skipped = self._outbox.offer(group)
        self.skipped += skipped
        self._flush()
        return skipped

    def withdraw(self) -> None:
        """Forget the group that has not begun."""
        self._outbox.withdraw()

    def cut_off(self, reason: str, message: str) -> None:
        """Say why, then close: at the latest after a moment of grace."""
        if self.open:
            self.open, self._reason = False, reason
            self._outbox.end_with(notification("closed", {"reason": message}))
            self.loop.call_later(GRACE, self.close)
            self._flush()

    @abstractmethod
    def close(self) -> None:
        """Let go at once."""

    @abstractmethod
    def _flush(self) -> None:
        """Something waits in the outbox."""


Connect = Callable[[Hear, Lost], Connection]
"""Makes the connection of a client that is there."""
