"""Ways around zones between all ends of tasks at once: what methods search with, measured on the paths that are built.

A search from each end over the turning circles of a `ZoneMap` finds the quickest way to every other end that it does
not see. The heading with which a vehicle leaves a task may depend on its tour. Such a way is kept as its first circle
and the metres flown after it, once with a circle to the left and once to the right: `detour_length` adds the turn from
any heading.
"""

from collections.abc import Sequence
from heapq import heappop
from math import inf, isnan, nan, pi
from typing import NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.compute.math import atan2, cos, hypot, sin
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.geometry.tangent_graph import (
    COLUMNS,
    GROUP,
    RADIUS,
    WAY,
    TangentLinks,
    WayEnds,
    X,
    Y,
    free_turn,
    point_at,
    tangent,
)
from paddock.planning.geometry.tangent_search import (
    Heap,
    Ints,
    Visited,
    expand,
    expand_start,
    initial_states,
    settle,
    tails_of,
    turn_between,
    turned,
)
from paddock.planning.geometry.wind import held_line, held_turn, intercept
from paddock.planning.geometry.zone_map import ZoneMap
from paddock.planning.geometry.zones import Walls, arc_entry, each_of, known_walls, line_entry, within
from paddock.world.columns import Floats

Flags = NDArray[np.bool_]
Rows = NDArray[np.int32]
WAY_COLUMNS = 11
COST, CIRCLE_X, CIRCLE_Y, CIRCLE, LEAVE, ARRIVAL, KEPT, PASSED, INNER, EXACT, REACHED = range(WAY_COLUMNS)
"""Of a way: metres flown after its first circle; centre and radius (m, negative to the right) of that circle; the
headings (rad) with which it leaves the circle and arrives. Without a circle (NaN) the metres are those of the whole
way. Metres of NaN mean that the straight way is free, infinite ones that there is none. Then the number of the zones
that it avoids (`Detours.sets`); here 1 with the clearance, 0 without, as an end lies within it. Then, for ways that end
under or over a zone: the number of the zones outside of which it changes height (negative: at its end; NaN: anywhere),
and the metres on which it cannot, where it turns around others. Last, the metres flown and the heading of arrival
of the path, where it was measured (else NaN)."""
NO_TURN = 1.5 * pi  # rad: a turn beyond this is one that another heading of the start has made unnecessary
ASIDE = 2.0  # turn radii beside the straight way within which a zone may be in the way of a turn


def find_detours(
    maps: Sequence[ZoneMap], starts: Floats, goals: Floats, pairs: Ints, closed: Flags
) -> tuple[Rows, Floats]:
    """Return the row (p,) of the way of each pair (p, 2) of a start and a goal, x, y, heading (NaN: any).

    The rows are (k, 2, WAY_COLUMNS); -1 means that no zone is near the straight way, which is never so for starts that
    are `closed` (n,). The first of the charts with a way counts: with the clearance, then without.
    """
    first_map = maps[0]
    aside = known_walls(first_map.zones, max(each_of(first_map.clearance, (None,))) + ASIDE * first_map.radius)
    near = nearby(first_map.walls, aside, starts, goals, pairs)
    blocked = (near > 0) | closed[pairs[:, 0]]
    index, some = np.full(len(pairs), -1, np.int32), pairs[blocked]
    index[blocked] = np.arange(len(some))
    rows, left = np.full((len(some), 2, WAY_COLUMNS), np.nan), np.arange(len(some))
    rows[:, :, KEPT] = (near[blocked] < 2)[:, None]
    same_start, same_goal = _first_equal(starts), _first_equal(goals)  # ways of vehicles that stand together
    for zone_map in maps:
        if not len(left):
            break
        each, copy = np.unique(same_start[some[left, 0]] * len(goals) + same_goal[some[left, 1]], return_inverse=True)
        i, begin = np.unique(each // len(goals), return_inverse=True)
        k, end = np.unique(each % len(goals), return_inverse=True)
        order = np.argsort(begin, kind="stable")
        first = np.searchsorted(begin[order], np.arange(len(i) + 1))
        ends = turns_at(goals[k], first_map.radius).reshape(-1, COLUMNS)
        arrivals = np.repeat(np.where(first_map.radius > 0.0, goals[k, 2], np.nan), 2)
        turns, leaves, links = turns_at(starts[i], first_map.radius), starts[i, 2].copy(), zone_map.links
        searched = np.full((len(each), 2, WAY_COLUMNS), np.nan)
        x, y = goals[k, 0].copy(), goals[k, 1].copy()
        far = ends, arrivals, x, y
        candidate_detours(
            zone_map.walls,
            zone_map.graph.circles,
            links,
            turns,
            leaves,
            *far,
            first,
            end[order],
            *first_map.wind,
            searched,
        )
        at = np.empty(len(each), np.int64)
        at[order] = np.arange(len(each))
        rows[left, :, :KEPT] = searched[at[copy], :, :KEPT]
        left = left[~np.isfinite(rows[left, :, COST]).any(axis=1)]
    return index, rows


def _first_equal(poses: Floats) -> Ints:
    """Return the index of the first equal row for each row (n,)."""
    comparable = np.where(np.isnan(poses), inf, poses)  # no NaN equals another
    _, first, copy = np.unique(comparable, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[copy.ravel()])


def turns_at(poses: Floats, radius: float) -> Floats:
    """Return the circles (n, 2, COLUMNS) to the left and right through poses; points where the heading is free."""
    circles = np.zeros((len(poses), 2, COLUMNS))
    wide = np.where(np.isnan(poses[:, 2]), 0.0, radius)[:, None]
    way, (sine, cosine) = np.array([1.0, -1.0]), arrays.sincos(np.nan_to_num(poses[:, 2:]))
    circles[..., X] = poses[:, :1] - way * wide * sine
    circles[..., Y] = poses[:, 1:2] + way * wide * cosine
    circles[..., RADIUS], circles[..., WAY], circles[..., GROUP] = wide, way, -1.0
    circles[:, 1, GROUP] -= wide[:, 0] == 0.0  # a point needs no second turn
    return circles


def _nearby(w: Walls, aside: Walls, starts: Floats, goals: Floats, pairs: Ints) -> Ints:
    """Return 1 (p,) where a zone is on or near the straight way, 2 where an end is within the clearance; 0: neither."""
    near, close = empty(len(pairs), int64), empty((2, max(len(starts), len(goals))), int64)
    for k in range(len(starts)):
        close[0, k] = within(w, starts[k, 0], starts[k, 1])
    for k in range(len(goals)):
        close[1, k] = within(w, goals[k, 0], goals[k, 1])
    for p in parallel_range(len(pairs)):
        i, k = pairs[p, 0], pairs[p, 1]
        x, y = starts[i, 0], starts[i, 1]
        dx, dy = goals[k, 0] - x, goals[k, 1] - y
        way = max(hypot(dx, dy), 1e-9)
        near[p] = 0
        if line_entry(aside, x, y, dx / way, dy / way, way)[1] >= 0:
            near[p] = 2 if close[0, i] >= 0 or close[1, k] >= 0 else 1
    return near


def _candidate_detours(
    w: Walls, circles: Floats, links: TangentLinks, starts: Floats, leaves: Floats, goals: Floats, arrivals: Floats,
    x: Floats, y: Floats, first: Ints, target: Ints, wx: float, wy: float, table: Floats,
) -> None:  # fmt: skip
    """Write the ways from each start to its targets: from a heading, or from any, with the first circle to either side.

    The targets of start i are the goals `target[first[i]:first[i + 1]]`, which are the rows of `found`.
    """
    tails, headings = tails_of(w, circles, WayEnds(starts[0], 0.0, goals, arrivals, 0.0, 0.0, wx, wy))
    far = FarEnds(tails, headings, arrivals, x, y, wx, wy)
    for i in parallel_range(len(starts)):
        rows = empty(len(goals) // 2, int64)
        rows[:] = -1
        for k in range(first[i], first[i + 1]):
            rows[target[k]] = k
        wanted = wanted_turns(rows, goals)
        turns = starts[i][: 1 if isnan(leaves[i]) else 2]
        ends = WayEnds(turns, leaves[i], goals, arrivals, 0.0, 0.0, wx, wy)
        for k in range(2 if isnan(leaves[i]) else 1):
            detours_from_start(w, circles, links, ends, far, wanted, rows, table, k)


class FarEnds(NamedTuple):
    """The goals of all searches: g of them, each with two turns."""

    tails: Floats  # (circles, 2 g) m flown from leaving a circle; inf: blocked
    headings: Floats  # (circles, 2 g) rad, when leaving it
    arrivals: Floats  # (2 g,) rad; NaN: any
    x: Floats  # (g,) m
    y: Floats
    wx: float  # wind over airspeed
    wy: float


def wanted_turns(rows: Ints, goals: Floats) -> Ints:
    """Return the indices of the turns at goals to which a way is wanted."""
    wanted, n = empty(len(goals), int64), 0
    for q in range(len(goals)):
        if rows[q // 2] >= 0 and goals[q, GROUP] > -2.0:
            wanted[n] = q
            n += 1
    return wanted[:n]


def dijkstra(
    w: Walls, circles: Floats, links: TangentLinks, ends: WayEnds, side: float, far: FarEnds, wanted: Ints, best: Floats
) -> Visited:
    """Write the quickest ways to the wanted goals into `best`; the first circle to one side (0: any).

    Returns the states of the search. It ends where no way on, however straight, could be quicker to any goal.
    """
    n, s = len(circles), len(ends.starts)
    visited = initial_states(w, circles, links, ends)
    heap: Heap = [(inf, int64(0))]
    heap.pop()
    for i in range(s):
        expand_start(w, i, circles, ends, side, visited, heap)
    while len(heap) > 0:
        total, state = heappop(heap)
        circle = state % n if state < s * n else links.target[state - s * n]
        if total > visited.cost[state] + 1e-9 or not may_improve(
            total, circles[circle], float(visited.heading[state]), far, wanted, best
        ):
            continue
        if settle(w, state, circle, circles, ends, visited):
            so_far, course, reach = (
                float(visited.cost[state]),
                float(visited.heading[state]),
                float(visited.reach[state]),
            )
            to, on = far.tails[circle], far.headings[circle]
            arrive(circles[circle], state, so_far, course, reach, to, on, far, wanted, ends, best)
            expand(state, circle, circles, links, ends, visited, heap)
    return visited


def may_improve(cost: float, circle: Floats, heading: float, far: FarEnds, wanted: Ints, best: Floats) -> bool:
    """Return whether a straight way on from an arrival, after some metres, could be the quickest to a wanted goal."""
    x, y = point_at(circle, heading)
    for q in wanted:  # noqa: SIM110 (compiled)
        if cost + intercept(far.x[q // 2] - x, far.y[q // 2] - y, far.wx, far.wy) < best[q // 2, 0]:
            return True
    return False


def detours_from_start(
    w: Walls, circles: Floats, links: TangentLinks, all_ends: WayEnds, far: FarEnds, wanted: Ints, rows: Ints,
    table: Floats, alternative: int,
) -> None:  # fmt: skip
    """Write the ways from one start."""
    turns, heading, goals, arrivals, _, _, wx, wy = all_ends
    free = isnan(heading)
    ends = WayEnds(turns, heading, empty((0, COLUMNS)), empty(0), 0.0, 0.0, wx, wy)
    best = empty((len(rows), 4))  # of each goal: metres flown, heading of arrival, last state, which of its turns
    best[:, 0] = inf
    if not free:  # without a circle between the turns at both ends
        some = WayEnds(turns, heading, goals[wanted], arrivals[wanted], 0.0, 0.0, wx, wy)
        direct, courses = tails_of(w, turns, some)
        to, on = empty(len(goals)), empty(len(goals))
        for i in range(len(turns)):
            to[wanted], on[wanted] = direct[i], courses[i]
            room = free_turn(w, turns[i], heading)
            arrive(turns[i], -1, 0.0, heading, room, to, on, far, wanted, ends, best)
    visited = dijkstra(w, circles, links, ends, 1.0 - 2.0 * alternative if free else 0.0, far, wanted, best)
    for q in wanted:
        k = q // 2
        row = table[rows[k], alternative]
        row[COST], row[CIRCLE_X], row[ARRIVAL] = best[k, 0], nan, best[k, 1]
        if best[k, 0] < inf and free:
            first_circle(circles, visited, far.headings, ends, best[k], row)


def arrive(
    circle: Floats, state: int, cost: float, heading: float, reach: float, tails: Floats, headings: Floats,
    far: FarEnds, wanted: Ints, ends: WayEnds, best: Floats,
) -> None:  # fmt: skip
    """Take the ways from an arrival on a circle, after some metres, to all wanted goals where they are quicker."""
    for q in wanted:
        k = q // 2
        if cost + tails[q] < best[k, 0]:
            turn = turn_between(circle[WAY], heading, headings[q])
            total = cost + tails[q] + turned(circle, heading, turn, ends)
            if turn < reach and total < best[k, 0]:
                best[k, 0], best[k, 2], best[k, 3] = total, state, q
                best[k, 1] = headings[q] if isnan(far.arrivals[q]) else far.arrivals[q]


def first_circle(circles: Floats, visited: Visited, headings: Floats, ends: WayEnds, best: Floats, row: Floats) -> None:
    """Write the first circle of a way, and the metres after it."""
    state, leaves = int(best[2]), nan
    while visited.parent[state] >= 0:
        leaves = visited.heading[state]
        state = visited.parent[state]
    n = state % len(circles)
    if isnan(leaves):
        leaves = headings[n, int(best[3])]
    turn = turn_between(circles[n, WAY], visited.heading[state], leaves)
    row[COST] -= visited.cost[state] + turned(circles[n], visited.heading[state], turn, ends)
    row[CIRCLE_X], row[CIRCLE_Y], row[LEAVE] = circles[n, X], circles[n, Y], leaves
    row[CIRCLE] = circles[n, WAY] * circles[n, RADIUS]


def detour_length(
    ways: Floats, w: Walls, x: float, y: float, heading: float, gx: float, gy: float, gh: float,
    radius: float, wx: float, wy: float,
) -> tuple[float, float]:  # fmt: skip
    """Return metres flown on the best of two ways (2, WAY_COLUMNS) or a direct one, and the heading of arrival.

    All begin with a heading. Of those that are clear of zones the shortest counts, otherwise of all, and another turn:
    whether there is room for it is found on the path.
    """
    least, arrival, clear = inf, nan, False
    sharp = 0.0 if isnan(heading) else radius
    for k in range(2):
        row = ways[k]
        if isnan(row[CIRCLE_X]):
            if row[COST] < least:
                least, arrival, clear = row[COST], row[ARRIVAL], True
            continue
        way, circle = (1.0 if row[CIRCLE] >= 0.0 else -1.0), abs(row[CIRCLE])
        for side in (1.0, -1.0):
            more, free = joined(
                w, x, y, heading, sharp, side, row[CIRCLE_X], row[CIRCLE_Y], circle, way, row[LEAVE], wx, wy, True
            )
            if (free and not clear) or (free == clear and row[COST] + more < least):
                least, arrival, clear = row[COST] + more, row[ARRIVAL], free
            if sharp == 0.0:
                break
    last = 0.0 if isnan(gh) else radius
    for side in (1.0, -1.0):
        for way in (1.0, -1.0):
            cx, cy = (gx, gy) if last == 0.0 else (gx - way * last * sin(gh), gy + way * last * cos(gh))
            more, free = joined(w, x, y, heading, sharp, side, cx, cy, last, way, gh, wx, wy, False)
            if free and (not clear or more < least):
                course = tangent(*centre_of(x, y, heading, sharp, side), sharp, side, cx, cy, last, way)[1]
                least, arrival, clear = more, course if isnan(gh) else gh, True
            if last == 0.0:
                break
        if sharp == 0.0:
            break
    return least if clear else least + 2.0 * pi * sharp, arrival


def centre_of(x: float, y: float, heading: float, radius: float, side: float) -> tuple[float, float]:
    """Return the centre of a turn to one side from a pose; a turn of no radius is a point."""
    if radius == 0.0:
        return x, y
    return x - side * radius * sin(heading), y + side * radius * cos(heading)


def joined(
    w: Walls, x: float, y: float, heading: float, sharp: float, side: float,
    bx: float, by: float, circle: float, way: float, leaves: float, wx: float, wy: float, beside: bool,
) -> tuple[float, bool]:  # fmt: skip
    """Return metres flown on a turn from a pose, the tangent to a circle and that circle to a heading; whether clear.

    A path may pass `beside` a circle: where turn and circle overlap, and where it would be followed almost all around.
    """
    sx, sy = centre_of(x, y, heading, sharp, side)
    length, course = tangent(sx, sy, sharp, side, bx, by, circle, way)
    free = True
    if length == inf:
        if side == way or not beside:
            return inf, False
        length, course = 0.0, atan2(by - sy, bx - sx) + side * 0.5 * pi  # they overlap: a path turns a little beside
    total = held_line(length, course, wx, wy)
    if sharp > 0.0:
        turn = turn_between(side, heading, course)
        total += held_turn(sharp, heading, side * turn, wx, wy)
        free = free and arc_entry(w, sx, sy, sharp, heading - side * 0.5 * pi, side, turn)[1] < 0
    if free and length > 0.0:
        c, s = cos(course), sin(course)
        free = line_entry(w, sx + side * sharp * s, sy - side * sharp * c, c, s, length)[1] < 0
    turn = 0.0 if circle == 0.0 or isnan(leaves) else turn_between(way, course, leaves)
    if 0.0 < turn < (NO_TURN if beside else inf):
        total += held_turn(circle, course, way * turn, wx, wy)
        free = free and arc_entry(w, bx, by, circle, course - way * 0.5 * pi, way, turn)[1] < 0
    return total, free


nearby = parallel_routine(_nearby)
candidate_detours = parallel_routine(_candidate_detours)
