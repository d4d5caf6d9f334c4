"""Links: straight lines from bend to bend that meet no zone; compiled."""

from __future__ import annotations

from math import atan2, cos, hypot, inf, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.obstacles.bends import GROUP, RADIUS, WAY, X, Y
from paddock.planning.obstacles.entry import line_entry
from paddock.planning.obstacles.walls import Walls
from paddock.world.columns import Floats

NEAR = 1e-9
"""Circles that touch each other may have come apart by this part of their size."""


class Links(NamedTuple):
    """From each of n bends to others."""

    first: NDArray[np.int64]  # (n + 1,) where the links of a bend begin
    target: NDArray[np.int64]  # (e,) the bend that each leads to
    heading: Floats  # (e,) rad
    length: Floats  # (e,) m


def tangent(
    x: float, y: float, radius: float, way: float, gx: float, gy: float, gradius: float, gway: float
) -> tuple[float, float]:
    """Length (m) and heading (rad) of the line that leaves one circle and joins another; inf: there is none."""
    dx, dy, shift = gx - x, gy - y, way * radius - gway * gradius
    square = dx * dx + dy * dy
    free = square - shift * shift
    if free < -NEAR * square or square == 0.0:
        return inf, 0.0
    length = sqrt(max(free, 0.0))
    return length, atan2(dy, dx) + atan2(shift, length)


def free_tangent(w: Walls, a: Floats, b: Floats) -> tuple[float, float]:
    """As `tangent` between two bends; inf also where a zone is in the way."""
    length, heading = tangent(a[X], a[Y], a[RADIUS], a[WAY], b[X], b[Y], b[RADIUS], b[WAY])
    if length == inf:
        return inf, heading
    c, s = cos(heading), sin(heading)
    side = a[WAY] * a[RADIUS]
    _, zone = line_entry(w, a[X] + side * s, a[Y] - side * c, c, s, length)
    return (length if zone < 0 else inf), heading


def _all_tangents(w: Walls, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    lengths, headings = empty((len(a), len(b))), empty((len(a), len(b)))
    lengths[:, :] = inf
    for i in parallel_range(len(a)):
        for j in range(len(b)):
            if a[i, GROUP] != b[j, GROUP]:
                lengths[i, j], headings[i, j] = free_tangent(w, a[i], b[j])
    return lengths, headings


all_tangents = parallel_routine(_all_tangents)


class Web(NamedTuple):
    """Bends, and the lines between them."""

    bends: Floats  # (n, 9)
    lengths: Floats  # (n, n) m; inf: there is no line, or it enters a zone
    headings: Floats  # (n, n) rad

    def links(self) -> Links:
        """The lines that there are."""
        source, target = np.nonzero(np.isfinite(self.lengths))
        first = np.searchsorted(source, np.arange(len(self.bends) + 1)).astype(np.int64)
        headings, lengths = self.headings[source, target], self.lengths[source, target]
        return Links(first, target.astype(np.int64), headings, lengths)

    def widened(self, w: Walls, more: Floats) -> Web:
        """The same with more bends."""
        there, back, among = (all_tangents(w, a, b) for a, b in ((self.bends, more), (more, self.bends), (more, more)))
        lengths = np.block([[self.lengths, there[0]], [back[0], among[0]]])
        headings = np.block([[self.headings, there[1]], [back[1], among[1]]])
        return Web(np.vstack([self.bends, more]), lengths, headings)


def web(w: Walls, bends: Floats) -> Web:
    """All lines between bends of different groups that enter no zone."""
    return Web(bends, *all_tangents(w, bends, bends))


def places(bend: Floats, heading: float) -> tuple[float, float]:
    """Where on a bend one has that heading."""
    side = bend[WAY] * bend[RADIUS]
    return bend[X] + side * sin(heading), bend[Y] - side * cos(heading)


def distance(x: float, y: float, gx: float, gy: float) -> float:
    """m."""
    return hypot(gx - x, gy - y)
