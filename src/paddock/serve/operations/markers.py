"""Operations on markers, which are not part of the state and change at once, and on frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddock.serve.mirror import marker_from_tree

if TYPE_CHECKING:
    from paddock.serve.live import LiveSource


def mark(run: LiveSource, client: str, markers: list[dict[str, Any]]) -> None:
    """A marker in an unknown or stale frame is refused."""
    run.sim.markers.put(*map(marker_from_tree, markers), source=client)


def unmark(run: LiveSource, client: str, namespace: str | None = None, number: int | list[int] | None = None) -> None:
    """A list removes several markers of one namespace."""
    for one in number if isinstance(number, list) else [number]:
        run.sim.markers.remove(namespace, one)


def show_markers(run: LiveSource, client: str, namespace: str, visible: bool = True) -> None:
    """Applies to all clients."""
    run.sim.markers.show(namespace, visible)


def set_frame(
    run: LiveSource,
    client: str,
    name: str,
    parent: str,
    position: Sequence[float],
    quaternion: Sequence[float],
    moving: bool,
) -> None:
    """Takes effect before the next tick."""
    run.sim.frames.set(name, parent, position, quaternion, moving)
