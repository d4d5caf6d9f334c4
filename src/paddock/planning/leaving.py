"""The shortest way out of zones, for a vehicle that is inside when they are closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddock.planning.coverage.shape import InfeasibleError
from paddock.planning.obstacles.clear import inside
from paddock.planning.obstacles.zone import Zone
from paddock.planning.paths.dubins import dubins, dubins_lengths
from paddock.planning.paths.path import Path
from paddock.world.columns import Floats

OUTSIDE = 0.01
"""m beyond the border, where a zone is left."""
EXITS = 256
"""Places on the border of each zone."""


def way_out(start: tuple[float, float, float], radius: float, zones: Sequence[Zone]) -> Path:
    """The shortest path from a pose (x, y, heading) inside zones to a place outside all; raises InfeasibleError."""
    exits = _exits(start[0], start[1], zones)
    goals = np.column_stack([exits, np.full(len(exits), np.nan)])
    x, y = exits[int(np.argmin(dubins_lengths(np.array([start]), goals, radius)[0]))].tolist()
    return dubins(start, (x, y, None), radius)


def nearest_outside(x: float, y: float, zones: Sequence[Zone]) -> tuple[float, float]:
    """The place itself, or the nearest one outside all zones; (nan, nan) where there is none."""
    if inside(x, y, zones) is None:
        return x, y
    try:
        exits = _exits(x, y, zones)
    except InfeasibleError:
        return np.nan, np.nan
    east, north = exits[int(np.argmin(np.hypot(*(exits - (x, y)).T)))].tolist()
    return east, north


def _exits(x: float, y: float, zones: Sequence[Zone]) -> Floats:
    """Places (k, 2) just outside the zones that are outside all of them."""
    places = np.vstack([_border(zone) for zone in zones])
    free = [inside(px, py, zones) is None for px, py in places.tolist()]
    if not any(free):
        raise InfeasibleError(f"no way leads out of the no-fly zones around ({x:g}, {y:g})")
    return places[free]


def _border(zone: Zone) -> Floats:
    """Places (EXITS, 2) around a zone, evenly along its outline."""
    outline = zone.grown(OUTSIDE).outline()
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(outline, axis=0).T))])
    places = np.linspace(0.0, along[-1], EXITS, endpoint=False)
    found = np.column_stack([np.interp(places, along, outline[:, axis]) for axis in (0, 1)])
    return np.vstack([found, outline[:-1]])
