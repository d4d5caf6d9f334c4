"""What a connection to a subscriber does, whatever the wire: TCP and WebSocket ones are used alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from paddock.serve.subscribers.outbox import Bytes, Group
from paddock.wire.stream.split import Frame, Json

GRACE = 1.0
"""s that a peer has to read why it was cut off."""

Hear = Callable[[Frame | Json], None]
"""Is told every message that arrives."""
Lost = Callable[[str], None]
"""Is told once, when it is over: a word for the reason, empty if the peer left."""


class Connection(Protocol):
    """Messages out, never waited for."""

    open: bool  # neither cut off nor closed
    skipped: int  # groups that a newer one has replaced

    def put(self, message: Bytes) -> None:
        """Send something that must arrive; a peer that lets too much of it wait is cut off."""

    def offer(self, group: Group) -> bool:
        """Send the frames of a tick unless newer ones come first; True if they replace some that had not begun."""

    def withdraw(self) -> None:
        """Forget the group that has not begun."""

    def cut_off(self, reason: str, message: str) -> None:
        """Say why, then close: at the latest after a moment of grace."""

    def close(self) -> None:
        """Let go at once."""


Connect = Callable[[Hear, Lost], Connection]
"""Makes the connection of a client that is there."""
