"""Turns between swaths. A swath k flown rightwards is node 2 k, flown leftwards node 2 k + 1."""

from __future__ import annotations

from math import atan2, hypot, pi

import numpy as np

from paddock.planning.coverage.swaths import Swath
from paddock.planning.paths.dubins import dubins, dubins_lengths
from paddock.planning.paths.segment import Segment, line
from paddock.world.columns import Floats


def turn_lengths(swaths: list[Swath], radius: float) -> Floats:
    """m from the end of each node to the start of each other, (2 n, 2 n), with turns of at least `radius` m."""
    starts = np.array([[(s.left, s.y, 0.0), (s.right, s.y, pi)] for s in swaths]).reshape(-1, 3)
    ends = starts.copy()
    ends[:, 0] = [x for s in swaths for x in (s.right, s.left)]
    if radius == 0.0:
        across = ends[:, None, :2] - starts[None, :, :2]
        return np.asarray(np.hypot(across[..., 0], across[..., 1]))
    return np.asarray(dubins_lengths(ends, starts, radius))


def turn(
    start: tuple[float, float, float], goal: tuple[float, float, float], radius: float, z: float
) -> tuple[Segment, ...]:
    """From the end of one swath to the start of another (x, y in m, heading in rad), level at `z`."""
    if radius == 0.0:
        east, north = goal[0] - start[0], goal[1] - start[1]
        return (line(start[0], start[1], atan2(north, east), hypot(east, north), z),)
    return tuple(segment._replace(z=z) for segment in dubins(start, goal, radius).segments)
