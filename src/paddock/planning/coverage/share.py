"""How much of a polygon a path covers."""

from __future__ import annotations

from math import sin

import numpy as np

from paddock.planning.coverage.patches import covered_by
from paddock.planning.coverage.polygon import PolygonShape
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import ends_at
from paddock.world.columns import Floats


def covered_share(shape: PolygonShape, path: Path, spacing: float) -> float:
    """The share (0 to 1) of what the shape wants covered that lies within half a spacing of the path's swaths.

    Its swaths are its straight segments along the sweep.
    """
    swaths = swaths_of(path, shape.sweep.angle)
    if not len(swaths):
        return 0.0
    return float(shape.region.intersection(covered_by(swaths, spacing, corners=64)).area / shape.region.area)


def swaths_of(path: Path, angle: float) -> Floats:
    """The ends (n, 2, 2) of a path's straight segments along an angle (rad), either way."""
    found = [s for s in path.segments if s.curvature == 0.0 and abs(sin(s.heading - angle)) < 1e-9]
    return np.array([((s.x, s.y), ends_at(s)[:2]) for s in found]).reshape(-1, 2, 2)
