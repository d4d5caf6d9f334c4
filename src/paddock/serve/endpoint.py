"""The contract of an endpoint: one module of `endpoints/` that lets outsiders watch or drive, in the hub."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.hub import Hub

Send = Callable[[], None]
"""Sends what was encoded from a snapshot."""


class Endpoint(Protocol):
    """Lives in the hub's event loop; nothing it does may take long."""

    every: int  # ticks: it is shown the snapshots whose tick this divides
    latest: bool  # only the newest of those that wait, instead of each of them

    async def open(self) -> Any:
        """Begin to listen; where it can be reached. OSError or PaddockError if it cannot be."""

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Encode what is to be sent of a snapshot, keeping nothing of it; None if nobody is to have anything.

        The snapshot lies in the ring and may be overwritten meanwhile: what is returned is called only if it was not.
        """

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """The simulation tells something.

        That is `event`, `markers`, `hidden`, `frames`, `restart`, `control_request` {client, tick, message: a whole
        reply}, or `refused` {client, kind, message} for a control that is answered only then.
        """

    async def close(self) -> None:
        """Tell the clients and let go."""


def endpoint_class(name: str) -> Callable[[Hub, dict[str, Any], int], Endpoint]:
    """The class of an endpoint, called with the hub, its options and its period in ticks."""
    found: Callable[[Hub, dict[str, Any], int], Endpoint] = import_module(f"paddock.serve.endpoints.{name}").ENDPOINT
    return found
