"""What can be served: a live simulation or a recording, as a source of snapshots that answers operations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol

from paddock.errors import PaddockError
from paddock.world.snapshot import Snapshot

Push = Callable[[str, dict[str, Any]], None]
"""Called with (kind, content) to notify every endpoint of markers, events, frames, control requests, restarts."""


class Source(Protocol):
    """Operations come from the link's thread, on behalf of clients that have names."""

    rate: float  # ticks per simulated second

    @property
    def tick(self) -> int:
        """The present tick."""

    @property
    def time(self) -> float:
        """Simulation time, s."""

    def period(self, rate: float) -> int:
        """Ticks between snapshots at a rate per simulated second (Hz)."""

    def watch(self, watcher: Callable[[Snapshot], object], every: int) -> Callable[[], None]:
        """Call `watcher(snapshot)` every `every` ticks; returns the function that ends it."""

    def operate(self, operation: str, client: str, arguments: Mapping[str, Any]) -> Any | Future[Any]:
        """Carry out an operation for a client: its result, a Future of it, or PaddockError."""

    def gone(self, client: str) -> None:
        """Release the clock and the claims of a client that has left."""

    def attach(self, push: Push, publish: Callable[[Snapshot], None]) -> None:
        """Start to push what happens; `publish` passes a snapshot to every endpoint immediately."""

    def detach(self) -> None:
        """Stop pushing."""

    def announce(self) -> list[tuple[str, dict[str, Any]]]:
        """The pushes that bring a new hub up to date."""

    def figures(self) -> dict[str, Any]:
        """Figures of the run, for metrics and pages."""


SERVER = "the server"


class ClockOwner:
    """The owner of the clock: the first client that takes it, until it releases it or leaves."""

    def __init__(self, locked: bool = False) -> None:
        """`locked`: the server keeps the clock."""
        self.locked = locked
        self.client: str | None = SERVER if locked else None
        self._lock = threading.Lock()

    def take(self, client: str, verb: str) -> None:
        """Take the clock, or raise an error that names its owner."""
        with self._lock:
            if self.client not in (None, client):
                raise PaddockError(f"{verb} refused: the clock belongs to {self.client}")
            self.client = client

    def check(self, client: str, verb: str) -> None:
        """Refuse an operation to all clients but the owner, if there is one."""
        with self._lock:
            if self.client not in (None, client):
                raise PaddockError(f"{verb} refused: the clock belongs to {self.client}")

    def release(self, client: str) -> bool:
        """Release the clock; return whether this client owned it."""
        with self._lock:
            had = self.client == client and not self.locked
            if had:
                self.client = None
            return had
