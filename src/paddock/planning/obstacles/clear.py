"""Whether paths and places keep out of zones: exact for lines and arcs, to a millimetre for curves in moving air."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from paddock.compute.routine import routine
from paddock.planning.obstacles.entry import path_entry, within
from paddock.planning.obstacles.walls import Clearance, Walls, walls
from paddock.planning.obstacles.zone import Zone
from paddock.planning.paths.path import Path

first_entry = routine(path_entry)
zone_at = routine(within)


@lru_cache(maxsize=64)
def _known_walls(zones: tuple[Zone, ...], clearance: Clearance) -> Walls:
    return walls(zones, clearance)


def known_walls(zones: Sequence[Zone], clearance: Clearance = 0.0) -> Walls:
    """The borders of zones grown by a clearance (m), made once for the same zones."""
    return _known_walls(tuple(zones), clearance if isinstance(clearance, tuple) else float(clearance))


def inside(x: float, y: float, zones: Sequence[Zone], clearance: Clearance = 0.0) -> Zone | None:
    """The first zone that a place (m) lies inside, or nearer to than the clearance; None: it is free."""
    k = zone_at(known_walls(zones, clearance), float(x), float(y))
    return zones[k] if k >= 0 else None


def blocked_by(path: Path, zones: Sequence[Zone], clearance: Clearance = 0.0) -> Zone | None:
    """The first zone that a path enters, or comes nearer to than the clearance (m); None: it is clear."""
    if not zones:
        return None
    borders = known_walls(zones, clearance)
    k = zone_at(borders, *path.start[:2])
    if k < 0 and path.segments:
        k = first_entry(borders, path.table)[2]
    return zones[k] if k >= 0 else None


def clear(path: Path, zones: Sequence[Zone], clearance: Clearance = 0.0) -> bool:
    """Whether a path enters no zone and keeps a clearance (m) from all; touching is allowed."""
    return blocked_by(path, zones, clearance) is None
