"""Zones as arrays for compiled code: what a path must not cross.

A zone grown by a clearance is the union of circles and of areas with straight borders, so only circles and edges are
needed, and both are met by lines and arcs in closed form. Everything lies TOUCH inside its true place: a path that
touches a border, or runs along it, does not enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.planning.obstacles.zone import CircleZone, PolygonZone, Zone
from paddock.world.columns import Floats

TOUCH = 1e-7
"""m: who is no deeper inside does not enter."""


Clearance = float | tuple[float, ...]
"""m kept from zones: from all, or from each."""


def each_of(clearance: Clearance, zones: Sequence[object]) -> tuple[float, ...]:
    """The clearance (m) of each zone."""
    return clearance if isinstance(clearance, tuple) else (clearance,) * len(zones)


class Walls(NamedTuple):
    """The borders of k zones."""

    around: Floats  # (k, 3) x, y, radius of a circle that holds the zone
    spans: NDArray[np.int64]  # (k, 5) circles from, to; edges from, those of the polygon itself to, all to
    reach: Floats  # (k,) m: how far the zone reaches beyond its polygon
    circles: Floats  # (c, 3) x, y, radius
    edges: Floats  # (e, 4) x, y, x, y


def walls(zones: Sequence[Zone], clearance: Clearance = 0.0) -> Walls:
    """The borders of zones grown by a clearance (m)."""
    around, spans, circles, edges = [], [], [np.empty((0, 3))], [np.empty((0, 4))]
    c = e = 0
    wide = each_of(clearance, zones)
    for zone, kept in zip(zones, wide, strict=True):
        rounds, own, offset = _parts(zone, kept)
        spans.append((c, c + len(rounds), e, e + len(own), e + len(own) + len(offset)))
        around.append(_holding(zone, kept))
        circles.append(rounds)
        edges += [own, offset]
        c, e = spans[-1][1], spans[-1][4]
    reach = np.maximum(np.array(wide, dtype=np.float64) - TOUCH, 0.0)
    table = np.array(around, dtype=np.float64).reshape(len(zones), 3)
    return Walls(table, np.array(spans, dtype=np.int64).reshape(-1, 5), reach, np.vstack(circles), np.vstack(edges))


def _holding(zone: Zone, clearance: float) -> tuple[float, float, float]:
    if isinstance(zone, CircleZone):
        return zone.x, zone.y, zone.radius + clearance
    low, high = zone.corners.min(0), zone.corners.max(0)
    x, y = 0.5 * (low + high)
    return float(x), float(y), float(np.hypot(*(zone.corners - (x, y)).T).max()) + clearance


def _parts(zone: Zone, clearance: float) -> tuple[Floats, Floats, Floats]:
    """Circles, edges of the polygon, and edges a clearance outside of it."""
    none = np.empty((0, 4))
    if isinstance(zone, CircleZone):
        return np.array([[zone.x, zone.y, zone.radius + clearance - TOUCH]]), none, none
    own = moved_out(zone, -TOUCH)
    edges = np.hstack([own, np.roll(own, -1, axis=0)])
    if clearance <= TOUCH:
        return np.empty((0, 3)), edges, none
    rounds = np.column_stack([zone.corners, np.full(len(zone.corners), clearance - TOUCH)])
    out = normals(zone.corners) * (clearance - TOUCH)
    return rounds, edges, np.hstack([zone.corners + out, np.roll(zone.corners, -1, axis=0) + out])


def normals(corners: Floats) -> Floats:
    """Unit vectors (k, 2) out of a counter-clockwise polygon, for the edge that begins at each corner."""
    edge = np.roll(corners, -1, axis=0) - corners
    out: Floats = np.column_stack([edge[:, 1], -edge[:, 0]]) / np.hypot(*edge.T)[:, None]
    return out


def moved_out(zone: PolygonZone, way: float) -> Floats:
    """The corners (k, 2) when every edge is moved out by so many metres; sharp ones move ten times that at most."""
    after = normals(zone.corners)
    before = np.roll(after, 1, axis=0)
    mitre = np.maximum(1.0 + (before * after).sum(1), 0.02)
    out: Floats = zone.corners + way * (before + after) / mitre[:, None]
    return out
