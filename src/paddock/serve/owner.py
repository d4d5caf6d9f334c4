"""Time has one owner: which client may let it pass."""

from __future__ import annotations

import threading

from paddock.errors import PaddockError

SERVER = "the server"


class ClockOwner:
    """The first client that asks for the clock has it until it lets go or leaves."""

    def __init__(self, locked: bool = False) -> None:
        """`locked`: the server keeps it for itself."""
        self.locked = locked
        self.client: str | None = SERVER if locked else None
        self._lock = threading.Lock()

    def take(self, client: str, verb: str) -> None:
        """Have the clock, or be refused by the name of whoever has it."""
        with self._lock:
            if self.client not in (None, client):
                raise PaddockError(f"{verb} refused: the clock belongs to {self.client}")
            self.client = client

    def check(self, client: str, verb: str) -> None:
        """Refuse a verb to everyone but the owner, if there is one."""
        with self._lock:
            if self.client not in (None, client):
                raise PaddockError(f"{verb} refused: the clock belongs to {self.client}")

    def release(self, client: str) -> bool:
        """Let go; whether this client had it."""
        with self._lock:
            had = self.client == client and not self.locked
            if had:
                self.client = None
            return had
