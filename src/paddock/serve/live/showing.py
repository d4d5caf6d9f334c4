"""Operations on markers: never part of the state, so that they take effect at once."""

from __future__ import annotations

from typing import Any

from paddock.serve.live.group import Group
from paddock.serve.mirror import marker_from_tree
from paddock.serve.operations import operation


class Showing(Group):
    """Markers are refused to whoever sends one in an unknown or stale frame."""

    @operation
    def mark(self, client: str, markers: list[dict[str, Any]]) -> None:
        """Show markers, in place of those of the same namespace and id."""
        self.sim.markers.put(*map(marker_from_tree, markers), source=client)

    @operation
    def unmark(self, client: str, namespace: str | None = None, number: int | list[int] | None = None) -> None:
        """Take a marker away (or some of a namespace), a whole namespace, or everything."""
        for one in number if isinstance(number, list) else [number]:
            self.sim.markers.remove(namespace, one)

    @operation
    def show_markers(self, client: str, namespace: str, visible: bool = True) -> None:
        """Show or hide a namespace."""
        self.sim.markers.show(namespace, visible)
