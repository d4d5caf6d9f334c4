"""A region swept at an angle: its swaths and cells, and the angle at which that costs least."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
import shapely
from shapely import MultiPolygon
from shapely.geometry.base import BaseGeometry

from paddock.planning.coverage.cells import Cell, cells_of
from paddock.planning.coverage.patches import patched
from paddock.planning.coverage.rows import layouts
from paddock.planning.coverage.swaths import MOST_SWATHS, Swath, length_of, scale_of, swaths_over
from paddock.world.columns import Floats

TURN = 3.0
"""Spacings that a turn between swaths is reckoned to cost when angles are compared, before a vehicle is known."""
TRIED = 8
"""Angles for which swaths are laid out, the best by the sum of altitudes."""
REFINED = 3
"""Of those, how many are tried with every layout of rows."""
MOST_ANGLES = 720
APART = 0.01
"""rad between two angles that are worth trying both."""


@dataclass(frozen=True)
class Sweep:
    """Swaths in their own frame, turned by `angle` about (x, y)."""

    x: float  # m east
    y: float  # m north
    angle: float  # rad ccw from east, of the swaths
    swaths: list[Swath]
    cells: list[Cell]

    def to_world(self, points: Floats) -> Floats:
        """(..., 2) from the sweep's frame."""
        c, s = cos(self.angle), sin(self.angle)
        turned: Floats = points @ np.array([[c, s], [-s, c]]) + (self.x, self.y)
        return turned

    def cost(self, spacing: float) -> float:
        """m flown, roughly: the swaths, and a turn after each."""
        return length_of(self.swaths) + TURN * spacing * len(self.swaths)


def swept(region: MultiPolygon, holes: BaseGeometry, spacing: float, angle: float, ways: int | None = None) -> Sweep:
    """The region swept at that angle (rad), with the cheapest of all layouts of rows or of the first few."""
    centre = region.envelope.centroid
    c, s = cos(angle), sin(angle)

    def to_sweep(points: Floats) -> Floats:
        turned: Floats = (points - (centre.x, centre.y)) @ np.array([[c, -s], [s, c]])
        return turned

    turned, kept = shapely.transform(region, to_sweep), shapely.transform(holes, to_sweep)
    kept = kept.buffer(-1e-10 * scale_of(region), join_style="mitre")  # to touch a hole is not to cross it
    sweeps = []
    for edges in layouts(turned, spacing)[:ways]:
        swaths = patched(turned, kept, swaths_over(turned, kept, edges, spacing), spacing)
        sweeps.append(Sweep(centre.x, centre.y, angle, swaths, cells_of(swaths)))
    return _cheapest(sweeps, spacing)


def best_sweep(region: MultiPolygon, holes: BaseGeometry, spacing: float) -> Sweep:
    """At the angle of least cost among the most promising."""
    even = [swept(region, holes, spacing, angle, 1) for angle in promising_angles(region, spacing)]
    even.sort(key=lambda sweep: round(sweep.cost(spacing), 6))
    return _cheapest([swept(region, holes, spacing, sweep.angle) for sweep in even[:REFINED]], spacing)


def _cheapest(sweeps: list[Sweep], spacing: float) -> Sweep:
    return min(sweeps, key=lambda sweep: round(sweep.cost(spacing), 6))


def promising_angles(region: BaseGeometry, spacing: float) -> list[float]:
    """Directions of edges (rad, 0 to pi) in the order of the sum of the altitudes of the cells that they would give.

    An edge crosses as many rows as it is high; every swath ends at two edges; so that sum (Huang, 2001) is half of all
    edges' heights. Between the directions of two edges it is concave: its minimum is the direction of an edge.
    """
    simple = region.simplify(0.25 * spacing)  # what is smaller than that costs no row
    hull = _edges(simple.convex_hull)
    edges = np.concatenate([_edges(part.boundary) for part in shapely.get_parts(simple)] or [hull])
    both = np.concatenate([hull, edges])
    longest = both[np.argsort(-np.hypot(both[:, 0], both[:, 1]), kind="stable")][:MOST_ANGLES]
    angles = np.arctan2(longest[:, 1], longest[:, 0]) % pi
    across = np.abs(np.outer(np.cos(angles), edges[:, 1]) - np.outer(np.sin(angles), edges[:, 0]))
    sums = np.round(0.5 * across.sum(axis=1), 6)
    few = sums <= max(sums.min(), 0.5 * MOST_SWATHS * spacing)  # no layout for those with far too many rows
    return _apart(angles[few][np.argsort(sums[few], kind="stable")])


def _apart(angles: Floats) -> list[float]:
    """The first few that differ from those before them."""
    chosen: list[float] = []
    for angle in angles.tolist():
        if all(abs(sin(angle - other)) > APART for other in chosen):
            chosen.append(angle)
        if len(chosen) == TRIED:
            break
    return chosen


def _edges(lines: BaseGeometry) -> Floats:
    """Vectors (n, 2) along the edges of rings."""
    rings = shapely.get_parts(lines if lines.geom_type != "Polygon" else lines.boundary)
    return np.concatenate([np.diff(shapely.get_coordinates(ring), axis=0) for ring in rings])
