"""Parallel swaths over a region at the angle with the lowest cost.

In the sweep's frame swaths run along x, in rows along y. Holes cut rows into several swaths that leave room to turn
before them. Rows lie in bands no higher than a spacing; besides even bands, layouts that end at steps of the outline
are tried, because a row across a step would be flown over its full length for a narrow strip. Patches, along rows or
past holes, cover the gaps. Boustrophedon cells are runs of rows between which the region neither splits nor merges.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, pi
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from paddock.compute import arrays
from paddock.compute.math import atan2, cos, hypot, sin
from paddock.errors import InvalidValueError
from paddock.world.columns import Floats

MOST_SWATHS = 1000  # maximum per region: their order is searched in a matrix of all turns
SHORTEST = 0.5  # spacings: shorter pieces of a row are left to its neighbours, or to patches
SPECK = 1e-6  # square spacings: smaller parts of a region in a band are rounding
LEAST = 1e-6  # m: shorter parts of a row between two blocks are rounding, and have no direction
Interval = tuple[float, float]


class Swath(NamedTuple):
    """A straight line to fly in either direction."""

    y: float  # m across the sweep
    left: float  # m along it, of its start
    right: float
    row: int  # counted along y; -1: a patch between rows
    turned: float = 0.0  # rad ccw about its middle: patches need not lie along the rows


class Limits(NamedTuple):
    """Obstacles of swaths and turns."""

    stops: BaseGeometry  # holes with their margin, zones with their clearance: swaths end at them
    walls: BaseGeometry = Polygon()  # holes and zones: turns avoid them
    radius: float = 0.0  # m, of turns


def swaths_over(region: MultiPolygon, limits: Limits, edges: Floats, spacing: float) -> list[Swath]:
    """Return a row of swaths along the middle of each band between `edges` (m, ascending), as long as its region.

    A band is covered as a rectangle, for any slope of its edges: swaths leave the region by no
    more than half a spacing, three quarters where they cross a gap. They stop at holes.
    """
    low_x, _, high_x, _ = region.bounds
    middles = 0.5 * (edges[:-1] + edges[1:])
    frames = [shapely.box(low_x - 1.0, low, high_x + 1.0, high) for low, high in pairwise(edges.tolist())]
    bands = shapely.intersection([region], frames)
    blocks = blocked(limits.stops, middles, low_x - 1.0, high_x + 1.0)
    swaths = [
        Swath(float(y), left, right, row)
        for row, (y, band, block) in enumerate(zip(middles, bands, blocks, strict=True))
        for left, right in subtract(merged(_reach(band, spacing), spacing, block), block)
    ]
    check_count(len(swaths), spacing)
    swaths = shortened_for_turns(swaths, limits)
    long = [s for s in swaths if s.right - s.left >= SHORTEST * spacing]
    return long or sorted(swaths, key=lambda s: s.left - s.right)[:1]


def check_count(count: float, spacing: float) -> None:
    """Raise if there are more swaths than can be ordered."""
    if count > MOST_SWATHS:
        raise InvalidValueError(
            f"polygon: a spacing of {spacing:g} m makes more than {MOST_SWATHS} swaths; "
            f"at least {count * spacing / MOST_SWATHS:.3g} m would be valid"
        )


def blocked(holes: BaseGeometry, rows: Floats, low: float, high: float) -> list[list[Interval]]:
    """Return, for each row at a height y, the intervals of x inside holes."""
    ends = np.array([[(low, y), (high, y)] for y in rows])
    crossings = shapely.intersection([holes], shapely.linestrings(ends))
    return [extents(shapely.get_parts(crossing)) for crossing in crossings]


def extents(parts: NDArray[np.object_]) -> list[Interval]:
    """Return the intervals of x that geometries occupy, merged where they overlap."""
    return merged(sorted((float(b[0]), float(b[2])) for b in shapely.bounds(parts) if b[2] > b[0]))


def merged(intervals: list[Interval], gap: float = 0.0, blocks: Sequence[Interval] = ()) -> list[Interval]:
    """Return sorted intervals, joined over gaps of at most `gap` outside the blocks: cheaper than two turns."""
    joined: list[Interval] = []
    for left, right in intervals:
        before = joined[-1][1] if joined else -np.inf
        if left - before <= gap and not any(low < left and high > before for low, high in blocks):
            joined[-1] = (joined[-1][0], max(before, right))
        else:
            joined.append((left, right))
    return joined


def subtract(intervals: list[Interval], blocks: list[Interval]) -> list[Interval]:
    """Return the parts of intervals outside the blocks, except those without a length."""
    for low, high in blocks:
        parts = [((left, min(right, low)), (max(left, high), right)) for left, right in intervals]
        intervals = [part for pair in parts for part in pair]
    return [(left, right) for left, right in intervals if right - left > LEAST]


def swath_lines(swaths: list[Swath]) -> Floats:
    """Return the ends of swaths, (n, 2, 2)."""
    lines = np.array([[(s.left, s.y), (s.right, s.y)] for s in swaths]).reshape(-1, 2, 2)
    for k, swath in enumerate(swaths):
        if swath.turned:
            middle, half = lines[k].mean(axis=0), 0.5 * (swath.right - swath.left)
            along = half * np.array([cos(swath.turned), sin(swath.turned)])
            lines[k] = middle - along, middle + along
    return lines


RETREATS = np.linspace(0.0, 2.0, 33)  # turn radii by which a swath is shortened near a wall


def shortened_for_turns(swaths: list[Swath], limits: Limits) -> list[Swath]:
    """Return the swaths, shortened until a full turn to one side fits between each end and the walls."""
    if limits.radius == 0.0 or limits.walls.is_empty or not swaths:
        return swaths
    lines = swath_lines(swaths)
    lengths = np.array([s.right - s.left for s in swaths])
    ahead = limits.radius * (lines[:, 1] - lines[:, 0]) / lengths[:, None]
    inward = np.stack([ahead, -ahead], axis=1)[:, :, None]  # of both ends, (n, 2, 1, 2)
    retreats, across = lines[:, :, None] + inward * RETREATS[:, None], inward[..., ::-1] * (-1.0, 1.0)
    shapely.prepare(limits.walls)
    near = [shapely.dwithin(limits.walls, shapely.points(retreats + side), limits.radius) for side in (across, -across)]
    free = np.asarray(~(near[0] & near[1]))
    cuts = np.where(free.any(axis=2), limits.radius * RETREATS[free.argmax(axis=2)], np.inf)
    clipped = []
    for k in np.flatnonzero(cuts.sum(axis=1) < lengths).tolist():
        swath, (left, right) = swaths[k], cuts[k].tolist()
        x, y = 0.5 * (left - right) * cos(swath.turned), 0.5 * (left - right) * sin(swath.turned)  # its middle moves
        half = 0.5 * (left + right)
        clipped.append(swath._replace(y=swath.y + y, left=swath.left + x + half, right=swath.right + x - half))
    return clipped


def _reach(band: BaseGeometry, spacing: float) -> list[Interval]:
    """Return the extent of the region in a band, where they share more than an edge."""
    parts = shapely.get_parts(band)
    return extents(parts[shapely.area(parts) > SPECK * spacing**2])


MOST_STEPS = 6
FLAT, LONG = 0.05, 1.0
"""In spacings: an edge no higher than the first and at least as long as the second is a step."""


def layouts(region: MultiPolygon, spacing: float) -> list[Floats]:
    """Return several layouts of bands, each the ascending heights of their edges in m; even ones first."""
    _, low, _, high = region.bounds
    even = bands(low, high, spacing)
    steps = _steps(region, spacing)
    at_steps = [stacked([low, step, high], spacing) for step in steps]
    whole = np.arange(len(even) - 1) * spacing
    ways = [even, np.append(low + whole, high), np.append(low, high - whole[::-1]), *at_steps]
    return [*ways, stacked([low, *sorted(steps), high], spacing)] if len(steps) > 1 else ways


def stacked(levels: list[float], spacing: float) -> Floats:
    """Return even bands between consecutive levels; nearly equal levels count as one."""
    apart = [levels[0]]
    for level in levels[1:-1]:
        if min(level - apart[-1], levels[-1] - level) > FLAT * spacing:
            apart.append(level)
    parts = [bands(low, high, spacing)[:-1] for low, high in zip(apart, [*apart[1:], levels[-1]], strict=True)]
    return np.append(np.concatenate(parts), levels[-1])


def bands(low: float, high: float, spacing: float) -> Floats:
    """Return edges of even bands, no higher than a spacing."""
    check_count((high - low) / spacing, spacing)
    return np.linspace(low, high, max(1, ceil((high - low) / spacing - 1e-9)) + 1)


def _steps(region: MultiPolygon, spacing: float) -> list[float]:
    """Return the heights of the longest edges along the sweep, other than the lowest and the highest."""
    _, low, _, high = region.bounds
    lengths: dict[float, float] = {}
    for ring in shapely.get_rings(shapely.get_parts(region)):
        corners = shapely.get_coordinates(ring)
        for y, (dx, dy) in zip(corners[:-1, 1], np.diff(corners, axis=0), strict=True):
            if abs(dy) <= FLAT * spacing and abs(dx) >= LONG * spacing:
                level = round(float(y + 0.5 * dy), 9)
                lengths[level] = lengths.get(level, 0.0) + abs(float(dx))
    inside = [y for y in lengths if low + FLAT * spacing < y < high - FLAT * spacing]
    return sorted(inside, key=lambda y: -lengths[y])[:MOST_STEPS]


HAIR = 1e-6  # spacings
LEFT_OVER = 2e-4  # share of the region that may stay uncovered in slivers
SLIVER = 0.02  # square spacings: smaller pieces are covered only if the share requires it
ROUNDS, HEIGHTS = 24, 7
PATCH_TURNS = 6.0  # turn radii: assumed length of the turns to a patch and back
PATCHED = 16.0  # how many times the metres of a swath a patch may take for each covered area


def fill_gaps(region: MultiPolygon, limits: Limits, swaths: list[Swath], spacing: float) -> list[Swath]:
    """Return the swaths, with patches that cover the rest except slivers and areas without room for turns."""
    vain: set[bytes] = set()  # pieces that no patch covers
    for _ in range(ROUNDS):
        missed = shapely.get_parts(region.difference(covered_by(swath_lines(swaths), spacing)))
        areas = shapely.area(missed)
        order = np.argsort(-areas, kind="stable")
        still = areas.sum() - np.concatenate([[0.0], np.cumsum(areas[order])])[:-1]
        pieces = [
            missed[k]
            for k, rest in zip(order, still, strict=True)
            if (areas[k] > SLIVER * spacing**2 or rest > LEFT_OVER * region.area) and missed[k].wkb not in vain
        ]
        patches = [_patch(piece, limits, spacing) for piece in pieces]
        vain.update(piece.wkb for piece, patch in zip(pieces, patches, strict=True) if patch is None)
        more = [patch for patch in patches if patch is not None]
        if not more or len(swaths) + len(more) > MOST_SWATHS:
            break
        swaths = swaths + more
    return swaths


def covered_by(lines: Floats, spacing: float) -> BaseGeometry:
    """Return what a camera or sprayer, a spacing wide, covers along lines (n, 2, 2): rectangles, flat at the ends."""
    return shapely.union_all(_rectangles(lines, spacing))


def _rectangles(lines: Floats, spacing: float) -> NDArray[np.object_]:
    """Return the rectangles along lines (n, 2, 2), wider by a hair, so that the union of neighbours has no gaps."""
    return np.asarray(shapely.buffer(shapely.linestrings(lines), (0.5 + HAIR) * spacing, cap_style="flat"))


def _patch(piece: Polygon, limits: Limits, spacing: float) -> Swath | None:
    """Return the swath that covers most of a piece: along the rows, or near walls also along the piece."""
    swaths = _lying(piece, limits, 0.0)
    if limits.radius > 0.0 and not limits.walls.is_empty:
        sides = np.diff(shapely.get_coordinates(shapely.oriented_envelope(piece)), axis=0)
        east, north = sides[int(np.argmax(arrays.hypot(*sides.T)))].tolist()
        swaths = shortened_for_turns(swaths + _lying(piece, limits, atan2(north, east)), limits)
    reached = _rectangles(swath_lines(swaths), spacing)
    worth = PATCHED * shapely.area(shapely.intersection([piece], reached)) / spacing  # m
    if limits.radius > 0.0:
        worth = worth - [s.right - s.left + PATCH_TURNS * limits.radius for s in swaths]
    return swaths[int(np.argmax(worth))] if swaths and max(worth) > 0.0 else None


def _lying(piece: Polygon, limits: Limits, turned: float) -> list[Swath]:
    """Return swaths over a piece at several heights, rotated by an angle (rad) and cut at `stops`."""
    c, s = cos(turned), sin(turned)

    def back(points: Floats) -> Floats:
        return arrays.rotated(points, -turned)

    flat, stops = shapely.transform(piece, back), shapely.transform(limits.stops, back)
    low_x, low_y, high_x, high_y = flat.bounds
    heights = np.linspace(low_y, high_y, HEIGHTS)
    swaths = []
    for y, block in zip(heights.tolist(), blocked(stops, heights, low_x - 1.0, high_x + 1.0), strict=True):
        for left, right in subtract([(low_x, high_x)], block):
            x, half = 0.5 * (left + right), 0.5 * (right - left)
            swaths.append(Swath(s * x + c * y, c * x - s * y - half, c * x - s * y + half, -1, turned))
    return swaths


Cell = list[int]  # indices of swaths, one in each row, from row to row


def cells_of(swaths: list[Swath]) -> list[Cell]:
    """Return the cells; a patch between rows is a separate cell."""
    above, below = _neighbours(swaths)
    cells: list[Cell] = []
    cell_at: dict[int, Cell] = {}
    for k in sorted(range(len(swaths)), key=lambda k: (swaths[k].row, swaths[k].left)):
        before = below[k]
        if len(before) == 1 and len(above[before[0]]) == 1:
            cell_at[k] = cell_at[before[0]]
            cell_at[k].append(k)
        else:
            cell_at[k] = [k]
            cells.append(cell_at[k])
    return cells


def _neighbours(swaths: list[Swath]) -> tuple[list[list[int]], list[list[int]]]:
    """Return, for each swath, those of the rows above and below that it overlaps."""
    rows: dict[int, list[int]] = {}
    for k, swath in enumerate(swaths):
        rows.setdefault(swath.row, []).append(k)
    above: list[list[int]] = [[] for _ in swaths]
    below: list[list[int]] = [[] for _ in swaths]
    for k, swath in enumerate(swaths):
        for other in rows.get(swath.row + 1, []) if swath.row >= 0 else []:
            if min(swath.right, swaths[other].right) > max(swath.left, swaths[other].left):
                above[k].append(other)
                below[other].append(k)
    return above, below


TURN = 3.0
"""Assumed cost of a turn between swaths, in spacings, to compare angles before a vehicle is known."""
MISSED = 4.0
"""How much more costly it is to leave out a swath than to fly it."""
TRIED = 8  # number of angles for which swaths are laid out, the best by the sum of altitudes
REFINED = 3  # number of those tried with every layout of rows
MOST_ANGLES = 720
APART = 0.01  # minimum rad between two angles that are both tried


@dataclass(frozen=True)
class Sweep:
    """Swaths in their own frame, rotated by `angle` about (x, y)."""

    x: float  # m east
    y: float  # m north
    angle: float  # rad ccw from east, of the swaths
    swaths: list[Swath]
    cells: list[Cell]
    missed: float = 0.0  # m2 that stay uncovered near walls

    def to_world(self, points: Floats) -> Floats:
        """Transform points (..., 2) from the sweep's frame."""
        return arrays.rotated(points, self.angle, (self.x, self.y))

    def from_world(self, points: Floats) -> Floats:
        """(..., 2) into the sweep's frame."""
        return arrays.rotated(points - (self.x, self.y), -self.angle)

    def cost(self, spacing: float) -> float:
        """Estimated metres flown: the swaths, a turn after each, and several times the swaths that are missing."""
        missing = MISSED * self.missed / spacing
        return sum(s.right - s.left for s in self.swaths) + TURN * spacing * len(self.swaths) + missing


def swept(region: MultiPolygon, limits: Limits, spacing: float, angle: float, ways: int | None = None) -> Sweep:
    """Return the region swept at that angle (rad), with the cheapest of all layouts of rows or of the first few."""
    centre = region.envelope.centroid
    frame = Sweep(centre.x, centre.y, angle, [], [])
    turned = shapely.transform(region, frame.from_world)
    stops, walls = (shapely.transform(area, frame.from_world) for area in limits[:2])
    low_x, low_y, high_x, high_y = region.bounds
    touching = 1e-10 * hypot(high_x - low_x, high_y - low_y)  # touching a hole is not crossing it
    shrunk = Limits(stops.buffer(-touching, join_style="mitre"), walls, limits.radius)
    sweeps = []
    for edges in layouts(turned, spacing)[:ways]:
        swaths = fill_gaps(turned, shrunk, swaths_over(turned, shrunk, edges, spacing), spacing)
        whole = limits.radius == 0.0 or limits.walls.is_empty  # all but slivers
        missed = 0.0 if whole else turned.difference(covered_by(swath_lines(swaths), spacing)).area
        sweeps.append(replace(frame, swaths=swaths, cells=cells_of(swaths), missed=missed))
    return _cheapest(sweeps, spacing)


def best_sweep(region: MultiPolygon, limits: Limits, spacing: float, angles: Sequence[float] = ()) -> Sweep:
    """Return the sweep at the angle with the lowest cost among these (rad), or among the most promising ones."""
    if len(angles) == 1:
        return swept(region, limits, spacing, angles[0])
    even = [swept(region, limits, spacing, angle, 1) for angle in angles or promising_angles(region, spacing)]
    even.sort(key=lambda sweep: round(sweep.cost(spacing), 6))
    return _cheapest(
        [swept(region, limits, spacing, sweep.angle) for sweep in even[: 1 if angles else REFINED]], spacing
    )


def _cheapest(sweeps: list[Sweep], spacing: float) -> Sweep:
    return min(sweeps, key=lambda sweep: round(sweep.cost(spacing), 6))


def promising_angles(region: BaseGeometry, spacing: float) -> list[float]:
    """Return directions of edges (rad, 0 to pi), sorted by the resulting sum of altitudes of the cells.

    An edge crosses as many rows as it is high, and every swath ends at two edges: the sum (Huang, 2001) is half of all
    edges' heights. Between the directions of two edges it is concave: its minimum is the direction of an edge.
    """
    simple = region.simplify(0.25 * spacing)  # smaller differences cost no row
    hull = _edges(simple.convex_hull)
    edges = np.concatenate([_edges(part.boundary) for part in shapely.get_parts(simple)] or [hull])
    both = np.concatenate([hull, edges])
    longest = both[np.argsort(-arrays.hypot(both[:, 0], both[:, 1]), kind="stable")][:MOST_ANGLES]
    angles = arrays.arctan2(longest[:, 1], longest[:, 0]) % pi
    sine, cosine = arrays.sincos(angles)
    across = np.abs(np.outer(cosine, edges[:, 1]) - np.outer(sine, edges[:, 0]))
    sums = np.round(0.5 * across.sum(axis=1), 6)
    few = sums <= max(sums.min(), 0.5 * MOST_SWATHS * spacing)  # skip angles with far too many rows
    chosen: list[float] = []
    for angle in angles[few][np.argsort(sums[few], kind="stable")].tolist():
        if len(chosen) < TRIED and all(abs(sin(angle - other)) > APART for other in chosen):
            chosen.append(angle)
    return chosen


def _edges(lines: BaseGeometry) -> Floats:
    """Return vectors (n, 2) along the edges of rings."""
    rings = shapely.get_parts(lines if lines.geom_type != "Polygon" else lines.boundary)
    return np.concatenate([np.diff(shapely.get_coordinates(ring), axis=0) for ring in rings])
