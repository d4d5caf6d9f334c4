"""What a connection to a subscriber does, whatever the wire: TCP and WebSocket ones are used alike."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

from paddock.serve.subscribers.outbox import Bytes, Group, Outbox
from paddock.wire.rpc import notification
from paddock.wire.stream.split import Frame, Json

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
