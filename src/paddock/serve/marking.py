"""Markers as plain trees, the way they cross the link."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from typing import Any

from paddock.engine.markers import MarkerChange, Placed
from paddock.errors import PaddockError, unknown_name
from paddock.world.markers import Marker

FIELDS = (
    "namespace",
    "id",
    "kind",
    "position",
    "quaternion",
    "scale",
    "color",
    "vertices",
    "label",
    "frame",
    "ttl",
)


def marker_from_tree(tree: Mapping[str, Any]) -> Marker:
    """A marker as a client described it."""
    for name in tree:
        if name not in FIELDS:
            raise unknown_name("field of a marker", name, FIELDS)
    for name in ("namespace", "id", "kind"):
        if name not in tree:
            raise PaddockError(f"a marker needs {name!r}")
    return Marker(**tree)


def placed_tree(placed: Placed) -> dict[str, Any]:
    """A marker and the simulation time (s) at which it goes; None: it stays."""
    tree = {name: getattr(placed.marker, name) for name in FIELDS}
    return {**tree, "expires": None if isinf(placed.until) else placed.until}


def change_tree(change: MarkerChange) -> dict[str, Any]:
    """What happened to the board."""
    match change.kind:
        case "put":
            return {"put": list(map(placed_tree, change.placed))}
        case "removed":
            return {"removed": [(placed.marker.namespace, placed.marker.id) for placed in change.placed]}
        case "cleared":
            return {"cleared": True}
    return {"namespace": change.namespace, "visible": change.visible}
