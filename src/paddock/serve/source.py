"""What can be served: something that publishes snapshots and answers operations. A simulation does, a replay too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol

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
