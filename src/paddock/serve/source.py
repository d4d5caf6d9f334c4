"""What can be served: something that publishes snapshots and answers operations. A simulation does, a replay too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol

from paddock.errors import PaddockError
from paddock.world.snapshot import Snapshot

Push = Callable[[str, dict[str, Any]], None]
"""(kind, content) -> something that every endpoint hears of: markers, events, frames, control requests, restarts."""


class Source(Protocol):
    """Operations come from the link's thread, on behalf of clients that are known by name."""

    rate: float  # ticks per simulated second

    @property
    def tick(self) -> int:
        """Where it stands."""

    @property
    def time(self) -> float:
        """Simulated s."""

    def period(self, rate: float) -> int:
        """Ticks between the snapshots of whoever wants so many of them per simulated second (Hz)."""

    def watch(self, watcher: Callable[[Snapshot], object], every: int) -> Callable[[], None]:
        """Have snapshots shown, every so many ticks."""

    def operate(self, operation: str, client: str, arguments: Mapping[str, Any]) -> Any | Future[Any]:
        """Do something for a client; PaddockError if it cannot be done, a Future if it takes until the next tick."""

    def gone(self, client: str) -> None:
        """A client has left: it owns and claims nothing any more."""

    def attach(self, push: Push, publish: Callable[[Snapshot], None]) -> None:
        """Begin to tell what happens; `publish` puts a snapshot before every endpoint at once."""

    def detach(self) -> None:
        """End that."""

    def announce(self) -> list[tuple[str, dict[str, Any]]]:
        """What a hub that has just begun must know: (kind, content) as pushes tell it later."""

    def figures(self) -> dict[str, Any]:
        """Numbers about the run for whoever measures it."""


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
