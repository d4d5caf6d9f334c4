"""What waits for one peer: messages that must arrive, and one group of frames of which only the latest counts."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

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
