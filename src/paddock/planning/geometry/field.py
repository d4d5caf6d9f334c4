"""The path of a vehicle over a field: every swath once, and turns between them that avoid holes and no-fly zones.

The order of swaths comes from patterns within a cell, the order of cells, then 2-opt and or-opt moves. Swath k flown to
the right is node 2 k, to the left node 2 k + 1. A reversed connection has the same length, so reversing a part of the
tour changes only the connections at its two ends.

A turn is the shortest Dubins path if that is clear, otherwise a detour (`zone_map.py`). In a field whose turns
stay inside, each swath ends where a full circle to one side fits inside: in a convex field the hull of two such
circles, which contains the turn, is inside. Swaths also end where they would leave the field, as beside a concave
corner, and those that no turn inside connects are left out. In other fields turns stay as close to it as possible.
Turns are computed for tours that are tried only: a tour is ordered by the known lengths, its turns are checked, and it
is ordered again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from math import pi, sqrt
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from paddock.compute import arrays
from paddock.compute.math import cos
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import dubins, dubins_lengths, turning_paths
from paddock.planning.geometry.path import Path, Segment, line
from paddock.planning.geometry.shapes import CALM, Drift, InfeasibleError
from paddock.planning.geometry.sweep import Cell, Limits, Sweep, swath_lines
from paddock.planning.geometry.wind import over_ground, turns_in_wind
from paddock.planning.geometry.zone_map import ZoneMap
from paddock.planning.geometry.zones import DRAWN, CircleZone, PolygonZone, Zone, blocked_by
from paddock.world.columns import Floats

TURN_ROOM = 1.0 + 3.0**0.5  # turn radii: the most that a turn between parallel swaths extends beyond their ends
TOUCH = 0.01  # m: a path that leaves an area by less only touches its border
PAST = 0.75  # spacings by which swaths may extend beyond slanted edges
ROUNDS = 8  # orderings of a tour
FAR = 1e7  # m: the length of an impossible turn


def poses_of(lines: Floats) -> tuple[Floats, Floats]:
    """Return the start and the end of each node, (2 n, 3) x, y, heading, of swaths given by their ends (n, 2, 2)."""
    along = lines[:, 1] - lines[:, 0]
    heading = arrays.arctan2(along[:, 1], along[:, 0])[:, None, None] + np.array([0.0, pi])[None, :, None]
    starts = np.concatenate([lines, heading], axis=2).reshape(-1, 3)
    ends = np.concatenate([lines[:, ::-1], heading], axis=2).reshape(-1, 3)
    return starts, ends


Nodes = NDArray[np.int64]
"""Swaths in the order of flight: node 2 k is swath k flown to the right, 2 k + 1 to the left."""
MOST_STRIDES = 32
SHAKES, SHAKEN = 60, 1800  # most shakes, and most shakes times swaths: large tours are shaken less


class Pattern(NamedTuple):
    """A cell, flown from one of its corners."""

    cell: int  # its number
    nodes: Nodes
    inner: float  # m of turns within the cell


def patterns_of(number: int, cell: Cell, turns: Floats) -> list[Pattern]:
    """Return the cheapest pattern from each of the four corners."""
    swaths = np.array(cell)
    patterns = []
    for side in (swaths, swaths[::-1]) if len(swaths) > 1 else (swaths,):
        for first in (0, 1):
            ways = [
                _flown(side[interleaved(len(side), stride)], first)
                for stride in range(1, min((len(side) + 1) // 2, MOST_STRIDES) + 1)
            ]
            costs = [float(turns[way[:-1], way[1:]].sum()) for way in ways]
            best = int(np.argmin(np.round(costs, 6)))
            patterns.append(Pattern(number, ways[best], costs[best]))
    return patterns


def interleaved(count: int, stride: int) -> list[int]:
    """Return 0, s, 1, s + 1, ... in blocks of 2 s: neighbours in this order are about s apart."""
    order: list[int] = []
    for start in range(0, count, 2 * stride):
        size = min(2 * stride, count - start)
        half = (size + 1) // 2
        order += [start + k // 2 + (half if k % 2 else 0) for k in range(size)]
    return order


def _flown(swaths: Nodes, first: int) -> Nodes:
    """Return alternating directions, the first to the right (0) or to the left (1)."""
    return 2 * swaths + (np.arange(len(swaths)) + first) % 2


MOST_STARTS = 24  # corners from which a tour is grown when it may begin anywhere


def tour_of(patterns: list[list[Pattern]], turns: Floats, first: int, shakes: int = SHAKES) -> Nodes:
    """Return all swaths in an order of few metres of turns, beginning with the node `first`, a corner of its cell."""
    starts = [pattern for options in patterns for pattern in options if pattern.nodes[0] == first]
    return polished(np.concatenate([pattern.nodes for pattern in _best(starts, patterns, turns)]), turns, shakes)


def first_of(patterns: list[list[Pattern]], turns: Floats) -> int:
    """Return the best first node."""
    every = [pattern for options in patterns for pattern in options]
    return int(_best(every[:: 1 + len(every) // MOST_STARTS], patterns, turns)[0].nodes[0])


def _best(starts: list[Pattern], patterns: list[list[Pattern]], turns: Floats) -> list[Pattern]:
    """Return the shortest of the greedy tours from these corners."""
    grown = [_grown(start, patterns, turns) for start in starts]
    return min(grown, key=lambda tour: round(_cost(tour, turns), 6))


def _grown(start: Pattern, patterns: list[list[Pattern]], turns: Floats) -> list[Pattern]:
    """Return the tour that always continues with the nearest cell and corner."""
    least = [min(pattern.inner for pattern in options) for options in patterns]
    tour, left = [start], [cell for cell in range(len(patterns)) if cell != start.cell]
    while left:
        options = [pattern for cell in left for pattern in patterns[cell]]
        costs = [_link(tour[-1], option, turns) + (option.inner - least[option.cell]) for option in options]
        tour.append(options[int(np.argmin(np.round(costs, 6)))])
        left.remove(tour[-1].cell)
    return tour


def _link(pattern: Pattern, following: Pattern, turns: Floats) -> float:
    """Return the metres from the end of one to the start of the other."""
    return float(turns[pattern.nodes[-1], following.nodes[0]])


def _cost(tour: list[Pattern], turns: Floats) -> float:
    links = sum(_link(pattern, following, turns) for pattern, following in pairwise(tour))
    return links + sum(pattern.inner for pattern in tour)


MOST_POLISHED = 300  # swaths: every round searches all pairs
MOST_ROUNDS = 1000
LONGEST_MOVED = 4
SAVES = 1e-6  # m, at least: less is rounding
Change = tuple[float, Callable[[], Nodes]]
"""By how many m a change lengthens the tour, and what returns the new tour."""


def polished(tour: Nodes, turns: Floats, shakes: int = SHAKES) -> Nodes:
    """Return the tour (nodes 2 k or 2 k + 1 for swath k), improved; its first node stays. `turns` (2 n, 2 n) in m.

    At a local optimum it is perturbed (two parts exchanged) and improved again.
    """
    if not 2 < len(tour) <= MOST_POLISHED:
        return tour
    free = np.pad(turns, (0, 2))  # a virtual node after the last swath, reached at no cost
    best = _improved(np.append(tour, len(turns)), free)
    draws = np.random.default_rng(len(tour)).random((min(shakes, SHAKEN // len(tour)), 3))
    for cuts in np.sort(1 + (draws * len(tour)).astype(np.int64)) if len(tour) > 4 else ():
        head, part, next_part, tail = np.split(best, cuts)
        shaken = _improved(np.concatenate([head, next_part, part, tail]), free)
        if _length(shaken, free) < _length(best, free) - SAVES:
            best = shaken
    return best[:-1]


def _improved(tour: Nodes, turns: Floats) -> Nodes:
    """Apply the best single change until no change shortens the tour."""
    lengths = range(1, min(LONGEST_MOVED, len(tour) - 3) + 1)
    for _ in range(MOST_ROUNDS):
        moves = (_move(tour, turns, length, backwards) for length in lengths for backwards in (False, True))
        change, changed = min((_reversal(tour, turns), *moves), key=lambda candidate: candidate[0])
        if change > -SAVES:
            break
        tour = changed()
    return tour


def _length(tour: Nodes, turns: Floats) -> float:
    return float(turns[tour[:-1], tour[1:]].sum())


def _reversal(tour: Nodes, turns: Floats) -> Change:
    """Return the best reversal of a part [i, j]."""
    on = turns[tour[:-1], tour[1:]]
    into = turns[np.ix_(tour[:-2], tour[1:-1] ^ 1)]  # [i - 1, j]: from the node before the part to its end, reversed
    out = turns[np.ix_(tour[1:-1] ^ 1, tour[2:])]  # [i, j + 1]: from its start, reversed, to the next node
    change = np.where(np.tri(len(into), k=-1, dtype=bool), np.inf, into + out - on[:-1, None] - on[None, 1:])
    i, j = (int(k) + 1 for k in np.unravel_index(np.argmin(change), change.shape))
    return float(change[i - 1, j - 1]), lambda: np.concatenate([tour[:i], tour[i : j + 1][::-1] ^ 1, tour[j + 1 :]])


def _move(tour: Nodes, turns: Floats, length: int, backwards: bool) -> Change:
    """Return the best move of a part of that many swaths to a position after another swath."""
    starts = np.arange(1, len(tour) - length)  # the part is [i, i + length)
    heads, tails = tour[starts], tour[starts + length - 1]
    saved = turns[tour[starts - 1], heads] + turns[tails, tour[starts + length]]
    saved -= turns[tour[starts - 1], tour[starts + length]]
    if backwards:
        heads, tails = tails ^ 1, heads ^ 1
    gaps = np.arange(len(tour) - 1)  # inserted between q and q + 1
    change = turns[np.ix_(tour[gaps], heads)] + turns[np.ix_(tails, tour[gaps + 1])].T
    change -= turns[tour[gaps], tour[gaps + 1]][:, None] + saved
    inside = (gaps[:, None] >= starts - 1) & (gaps[:, None] < starts + length)
    change[inside] = np.inf
    q, k = (int(index) for index in np.unravel_index(np.argmin(change), change.shape))
    i = int(starts[k])

    def changed() -> Nodes:
        part = tour[i : i + length][::-1] ^ 1 if backwards else tour[i : i + length]
        if q < i:
            return np.concatenate([tour[: q + 1], part, tour[q + 1 : i], tour[i + length :]])
        return np.concatenate([tour[:i], tour[i + length : q + 1], part, tour[q + 1 :]])

    return float(change[q, k]), changed


def polygons_of(area: BaseGeometry) -> MultiPolygon:
    """Return the parts of an area that are polygons."""
    return MultiPolygon([part for part in shapely.get_parts(area) if isinstance(part, Polygon) and part.area > 0.0])


def points_on(area: Polygon) -> tuple[tuple[float, float], ...]:
    """Return the corners of a polygon."""
    return tuple((x, y) for x, y in area.exterior.coords[:-1])


def zone_area(zone: Zone, clearance: float) -> BaseGeometry:
    """Return a polygon that contains a zone and all points closer to it than `kept` (m)."""
    out = 1.0 / cos(pi / DRAWN)
    if isinstance(zone, CircleZone):
        return Polygon(CircleZone(zone.name, zone.x, zone.y, out * (zone.radius + clearance)).outline())
    return Polygon(zone.corners).buffer(out * clearance, quad_segs=DRAWN // 4)


class ObstructedField:
    """An outline with its obstacles: holes and no-fly zones."""

    def __init__(
        self,
        outline: Polygon,
        holes: Sequence[Polygon],
        margin: float,
        zones: Sequence[Zone],
        clearance: float,
        inside: bool = False,
    ) -> None:
        """Swaths keep `margin` (m) from holes; swaths and turns keep `clearance` (m) from zones.

        `inside`: swaths and turns never leave the outline. Otherwise they may, where the margin is too narrow.
        """
        self.outline, self.margin, self.inside = outline, margin, inside
        own = [PolygonZone(f"hole {k}", points_on(hole)) for k, hole in enumerate(holes)]
        self.barriers = (*own, *zones)  # no path crosses them
        self.clearances = (0.0,) * len(own) + (clearance,) * len(zones)  # m, from each
        self.closed = shapely.union_all([zone_area(zone, clearance) for zone in zones])
        cut = shapely.union_all(list(holes))
        self.walls, self.stops = cut | self.closed, cut.buffer(margin, join_style="mitre") | self.closed

    def confines(self, radius: float) -> bool:
        """Return whether swaths end where turns of a radius (m) have room inside the outline."""
        return self.inside or self.margin >= radius > 0.0

    def limits(self, radius: float) -> Limits:
        """Return what swaths with turns of a radius (m) avoid: obstacles, and what is outside if the field confines."""
        if not self.confines(radius):
            return Limits(self.stops, self.walls, radius)
        outside = self.outline.buffer(4.0 * radius, join_style="mitre") - self.outline.buffer(TOUCH, join_style="mitre")
        return Limits(self.stops | outside, self.walls | outside, radius)

    def rooms(self, radius: float, least: float, spacing: float) -> list[Polygon]:
        """Return areas in which turns of that radius (m) should stay, the best first; `least` (m) of room is needed."""
        if self.inside:
            return [Polygon(self.outline.buffer(TOUCH).exterior)]
        past = 0.0 if self.confines(radius) else PAST * spacing
        reaches = ([past] if self.margin >= least > 0.0 else []) + [max(past, TURN_ROOM * radius)]
        grown = (self.outline.buffer(max(reach - self.margin, 0.0) + TOUCH) for reach in reaches)
        return [Polygon(max(shapely.get_parts(area), key=lambda part: part.area).exterior) for area in grown]


def around(area: Polygon) -> tuple[Zone, ...]:
    """Return zones that enclose an area without holes; none if its border touches itself."""
    low_x, low_y, high_x, high_y = area.bounds
    wide, x = max(high_x - low_x, high_y - low_y), area.representative_point().x
    left = shapely.box(low_x - wide, low_y - wide, x + 1e-3 * wide, high_y + wide)
    right = shapely.box(x - 1e-3 * wide, low_y - wide, high_x + wide, high_y + wide)
    pieces = [part for half in (left, right) for part in polygons_of(half - area).geoms]
    try:
        return tuple(PolygonZone("outside", points_on(piece)) for piece in pieces)
    except InvalidValueError:
        return ()


class Turns:
    """The turns between swaths given by their ends (n, 2, 2), computed on demand."""

    def __init__(
        self, field: ObstructedField, lines: Floats, radius: float, drift: Drift, spacing: float, detours: bool = True
    ) -> None:
        """`detours`: also search ways around what blocks a turn."""
        self.field, self.radius, self.drift, self.detours = field, radius, drift, detours
        self.starts, self.ends = poses_of(lines)
        self.drifts = drift != CALM and drift.radius > 0.0
        tightest = drift.radius if self.drifts else radius
        self.lengths = dubins_lengths(self.ends, self.starts, tightest)  # m; lower bounds until a turn is known
        self.turns: dict[tuple[int, int], Path | None] = {}
        wind = sqrt(drift.x * drift.x + drift.y * drift.y)
        self._rooms = field.rooms(radius, tightest * (1.0 - wind), spacing)
        shapely.prepare(self._rooms)
        self._maps: dict[int, ZoneMap] = {}

    def look(self, row: int, next_row: int) -> bool:
        """Compute the turn from one node to another; return whether it is longer than expected."""
        if (row, next_row) in self.turns:
            return False
        rank, path = self._turn(tuple(self.ends[row].tolist()), tuple(self.starts[next_row].tolist()))
        self.turns[row, next_row] = path
        cost = FAR if path is None else (1.0 + rank) * path.flown
        longer = cost > self.lengths[row, next_row] + 1e-6
        if longer:
            self.lengths[row, next_row] = self.lengths[next_row ^ 1, row ^ 1] = cost
        return bool(longer)

    def possible(self, swath: int) -> int:
        """Return how many more of the known turns from and to a swath exist than do not."""
        return sum(1 if way else -1 for pair, way in self.turns.items() if swath in (pair[0] // 2, pair[1] // 2))

    def _turn(self, start: tuple[float, float, float], goal: tuple[float, float, float]) -> tuple[int, Path | None]:
        """Return the index of the first room that holds a turn, and the turn as flown."""
        field = self.field
        ways = turns_in_wind(start, goal, self.drift.radius, self.drift[1:]) if self.drifts else []
        ways = [*ways, self.held(dubins(start, goal, self.radius))]
        if field.confines(self.radius):
            ways += map(self.held, turning_paths(start, goal, self.radius))
        clear = [way for way in ways if blocked_by(way, field.barriers, field.clearances) is None]
        clear.sort(key=lambda way: way.flown)
        lines = [shapely.linestrings(points) for points in map(self._points, clear)]
        for rank, room in enumerate(self._rooms if field.inside else (*self._rooms, None)):
            for way, along in zip(clear, lines, strict=True):
                if room is None or room.covers(along):
                    return rank, way
            if self.detours and (rank or len(self._rooms) == 1 or field.margin >= self.radius):
                with suppress(InfeasibleError):
                    way = self._map(rank).transit(start, goal)
                    if not field.inside or self._rooms[rank].covers(shapely.linestrings(self._points(way))):
                        return rank, self.held(way)
        return 0, None

    def held(self, path: Path) -> Path:
        """Return a path as it is flown in the wind if it is held over the ground."""
        return over_ground(path, 1.0, self.drift[1:]) if self.drift != CALM else path

    def _points(self, way: Path) -> Floats:
        """Return points (n, 2) along a way, at least two."""
        points = way.sample(max(self.radius / 16.0, way.flown / 500.0, 0.01))[:, :2]
        return np.concatenate([points, points[-1:]])

    def _map(self, rank: int) -> ZoneMap:
        if rank not in self._maps:
            outside = around(self._rooms[rank]) if rank < len(self._rooms) else ()
            clearances = (*self.field.clearances, *(0.0 for _ in outside))
            self._maps[rank] = ZoneMap((*self.field.barriers, *outside), self.radius, clearances)
        return self._maps[rank]


def flown_over(turns: Turns, sweep: Sweep, first: int) -> Path:
    """Return the path over all reachable swaths as flown, level at height 0, from the node `first`."""
    cells = sweep.cells
    while True:
        tour = _ordered(turns, cells, first)
        cuts = [(node // 2, after // 2) for node, after in pairwise(tour.tolist()) if turns.turns[node, after] is None]
        if not cuts:
            break
        worth = {k: (turns.possible(k), sweep.swaths[k].right - sweep.swaths[k].left) for pair in cuts for k in pair}
        lost = {min(pair, key=worth.__getitem__) for pair in cuts}
        cells = [rest for cell in cells if (rest := [k for k in cell if k not in lost])]
        if first // 2 in lost:
            first = corner_near(replace(sweep, cells=cells), *turns.starts[first, :2].tolist())
    segments: list[Segment] = []
    for before, node in zip([None, *tour.tolist()[:-1]], tour.tolist(), strict=True):
        segments += () if before is None else turns.turns[before, node].segments  # type: ignore[union-attr]
        (x, y, heading), (end_x, end_y, _) = turns.starts[node].tolist(), turns.ends[node].tolist()
        row = line(x, y, heading, sqrt((end_x - x) ** 2 + (end_y - y) ** 2))
        segments += turns.held(Path([row])).segments
    rows = np.stack([turns.starts[tour, :2], turns.ends[tour, :2]], axis=1)
    return Path(segments, rows=rows)


def _ordered(turns: Turns, cells: Sequence[Cell], first: int) -> Nodes:
    """Return the best tour whose turns are all known."""
    best, least = np.empty(0, np.int64), np.inf
    for k in range(ROUNDS):
        patterns = [patterns_of(number, cell, turns.lengths) for number, cell in enumerate(cells)]
        tour = tour_of(patterns, turns.lengths, first, 0 if k else SHAKES)
        longer = [turns.look(row, next_row) for row, next_row in pairwise(tour.tolist())]
        if (length := float(turns.lengths[tour[:-1], tour[1:]].sum())) < least - 1e-6:
            best, least = tour, length
        if not any(longer):
            break
    return best


def corner_near(sweep: Sweep, x: float, y: float) -> int:
    """Return the node at a corner of a cell whose start is closest to a point (m)."""
    corners = [node for cell in sweep.cells for k in (cell[0], cell[-1]) for node in (2 * k, 2 * k + 1)]
    starts, _ = poses_of(sweep.to_world(swath_lines(sweep.swaths)))
    return corners[int(np.argmin(arrays.hypot(*(starts[corners, :2] - (x, y)).T)))]
