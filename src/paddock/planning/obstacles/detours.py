"""Ways around zones between all ends of tasks at once: what methods search with, measured on the paths that are built.

A search from each end over the bends of a `ZoneMap` finds the quickest way to every other end that it does not see. The
heading with which a vehicle leaves a task may depend on its tour. Such a way is kept as its first bend and the metres
flown after it, once with a bend to the left and once to the right, so that `around` adds the turn from any heading.
"""

from collections.abc import Sequence
from heapq import heappop
from math import inf, isnan, nan, pi

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.compute.math import atan2, cos, hypot, sin
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.obstacles.around import ZoneMap
from paddock.planning.obstacles.bends import COLUMNS, GROUP, RADIUS, WAY, Links, WayEnds, X, Y, tangent
from paddock.planning.obstacles.crossing import line_entry, within
from paddock.planning.obstacles.search import (
    Heap,
    Ints,
    Visited,
    free_turn,
    leave,
    leave_start,
    nothing_known,
    settled_at,
    tails_of,
    turn_between,
    turned,
)
from paddock.planning.obstacles.zones import Walls
from paddock.planning.paths.wind import held_line, held_turn
from paddock.world.columns import Floats

Flags = NDArray[np.bool_]
Rows = NDArray[np.int32]
WAY_COLUMNS = 6
COST, BEND_X, BEND_Y, BEND, LEAVE, ARRIVAL = range(WAY_COLUMNS)
"""Of a way: metres flown after its first bend; centre and radius (m, negative to the right) of that bend; the headings
(rad) with which it leaves the bend and arrives. Without a bend (NaN) the metres are those of the whole way. Metres of
NaN mean that the straight way is free, infinite ones that there is none."""
NO_TURN = 1.5 * pi  # rad: a turn beyond this is one that another heading of the start has made unnecessary


def ways_around(
    charts: Sequence[ZoneMap], starts: Floats, goals: Floats, closed: Flags, among: Flags
) -> tuple[Rows, Floats]:
    """Return the row (n, m) of the way from each start to each goal, x, y, heading (NaN: any), for pairs `among` all.

    The rows are (k, 2, WAY_COLUMNS); -1 means that the straight way is free, which it never is from starts that are
    `closed` (n,). The first of the charts with a way counts: with the clearance, then without.
    """
    chart = charts[0]
    wanted = ((hidden(chart.walls, charts[-1].walls, starts, goals) > 0) | closed[:, None]) & among
    index, count = np.full(wanted.shape, -1, np.int32), int(wanted.sum())
    index[wanted] = np.arange(count)
    found, left = np.full((count, 2, WAY_COLUMNS), np.nan), index.copy()
    begins, ends = turns_at(starts, chart.radius), turns_at(goals, chart.radius).reshape(-1, COLUMNS)
    arrivals = np.repeat(np.where(chart.radius > 0.0, goals[:, 2], np.nan), 2)
    for one in charts:
        if (left >= 0).any():
            args = (one.walls, one.web.bends, one.links, begins, starts[:, 2].copy(), ends, arrivals)
            all_ways(*args, left, *chart.wind, found)
            left[np.append(np.isfinite(found[:, :, COST]).any(axis=1), False)[left]] = -1
    return index, found


def turns_at(places: Floats, radius: float) -> Floats:
    """Return the bends (n, 2, COLUMNS) to the left and right through places; points where any heading will do."""
    found = np.zeros((len(places), 2, COLUMNS))
    wide = np.where(np.isnan(places[:, 2]), 0.0, radius)[:, None]
    way, (sine, cosine) = np.array([1.0, -1.0]), arrays.sincos(np.nan_to_num(places[:, 2:]))
    found[..., X] = places[:, :1] - way * wide * sine
    found[..., Y] = places[:, 1:2] + way * wide * cosine
    found[..., RADIUS], found[..., WAY], found[..., GROUP] = wide, way, -1.0
    found[:, 1, GROUP] -= wide[:, 0] == 0.0  # a point needs no second turn
    return found


def _hidden(w: Walls, tight: Walls, starts: Floats, goals: Floats) -> NDArray[np.int64]:
    """Return 1 (n, m) where a zone is on the straight way; ends within the clearance keep none."""
    found, near = empty((len(starts), len(goals)), int64), empty(len(goals), int64)
    for k in range(len(goals)):
        near[k] = within(w, goals[k, 0], goals[k, 1])
    for i in parallel_range(len(starts)):
        x, y = starts[i, 0], starts[i, 1]
        close = within(w, x, y) >= 0
        for k in range(len(goals)):
            dx, dy = goals[k, 0] - x, goals[k, 1] - y
            way = max(hypot(dx, dy), 1e-9)
            if close or near[k] >= 0:
                found[i, k] = 1 if line_entry(tight, x, y, dx / way, dy / way, way)[1] >= 0 else 0
            else:
                found[i, k] = 1 if line_entry(w, x, y, dx / way, dy / way, way)[1] >= 0 else 0
    return found


def _all_ways(
    w: Walls, bends: Floats, links: Links, starts: Floats, leaves: Floats, goals: Floats, arrivals: Floats,
    rows: Rows, wx: float, wy: float, found: Floats,
) -> None:  # fmt: skip
    """Write the ways of all pairs with a row: from a heading, or from any and with the first bend to either side."""
    tails, headings = tails_of(w, bends, WayEnds(starts[0], 0.0, goals, arrivals, 0.0, 0.0, wx, wy))
    for i in parallel_range(len(starts)):
        wanted = wanted_turns(rows[i], goals)
        if len(wanted) > 0:
            turns = starts[i][: 1 if isnan(leaves[i]) else 2]
            ends = WayEnds(turns, leaves[i], goals, arrivals, 0.0, 0.0, wx, wy)
            for k in range(2 if isnan(leaves[i]) else 1):
                ways_from(w, bends, links, ends, tails, headings, wanted, rows[i], found, k)


def wanted_turns(rows: Rows, goals: Floats) -> Ints:
    """Return the indices of the turns at goals to which a way is wanted."""
    found, n = empty(len(goals), int64), 0
    for q in range(len(goals)):
        if rows[q // 2] >= 0 and goals[q, GROUP] > -2.0:
            found[n] = q
            n += 1
    return found[:n]


def flood(w: Walls, bends: Floats, links: Links, ends: WayEnds, side: float) -> Visited:
    """Return the quickest ways from the starts to all bends; the first of them to one side (0: any)."""
    n, s = len(bends), len(ends.starts)
    known = nothing_known(w, bends, links, ends)
    heap: Heap = [(inf, int64(0))]
    heap.pop()
    for i in range(s):
        leave_start(w, i, bends, ends, side, known, heap)
    while len(heap) > 0:
        total, state = heappop(heap)
        bend = state % n if state < s * n else links.target[state - s * n]
        if total <= known.cost[state] + 1e-9 and settled_at(w, state, bend, bends, ends, known):
            leave(state, bend, bends, links, ends, known, heap)
    return known


def ways_from(
    w: Walls, bends: Floats, links: Links, whole: WayEnds, tails: Floats, headings: Floats, wanted: Ints,
    rows: Rows, found: Floats, alternative: int,
) -> None:  # fmt: skip
    """Write the ways from one start."""
    turns, heading, goals, arrivals, _, _, wx, wy = whole
    n, free = len(bends), isnan(heading)
    ends = WayEnds(turns, heading, empty((0, COLUMNS)), empty(0), 0.0, 0.0, wx, wy)
    known = flood(w, bends, links, ends, 1.0 - 2.0 * alternative if free else 0.0)
    best = empty((len(rows), 4))  # of each goal: metres flown, heading of arrival, last state, which of its turns
    best[:, 0] = inf
    for bend in range(n):
        state = known.settled[bend]
        while state >= 0:
            so_far, course, reach = known.cost[state], known.heading[state], known.reach[state]
            arrive(bends[bend], state, so_far, course, reach, tails[bend], headings[bend], arrivals, wanted, ends, best)
            state = known.older[state]
    if not free:  # without a bend between the turns at both ends
        some = WayEnds(turns, heading, goals[wanted], arrivals[wanted], 0.0, 0.0, wx, wy)
        direct, courses = tails_of(w, turns, some)
        to, on = empty(len(goals)), empty(len(goals))
        for i in range(len(turns)):
            to[wanted], on[wanted] = direct[i], courses[i]
            room = free_turn(w, turns[i], heading)
            arrive(turns[i], -1, 0.0, heading, room, to, on, arrivals, wanted, ends, best)
    for q in wanted:
        k = q // 2
        row = found[rows[k], alternative]
        row[COST], row[BEND_X], row[ARRIVAL] = best[k, 0], nan, best[k, 1]
        if best[k, 0] < inf and free:
            first_bend(bends, known, headings, ends, best[k], row)


def arrive(
    bend: Floats, state: int, cost: float, heading: float, reach: float, tails: Floats, headings: Floats,
    arrivals: Floats, wanted: Ints, ends: WayEnds, best: Floats,
) -> None:  # fmt: skip
    """Take the ways from an arrival on a bend, after some metres, to all wanted goals where they are quicker."""
    for q in wanted:
        k = q // 2
        if cost + tails[q] < best[k, 0]:
            turn = turn_between(bend[WAY], heading, headings[q])
            total = cost + tails[q] + turned(bend, heading, turn, ends)
            if turn < reach and total < best[k, 0]:
                best[k, 0], best[k, 2], best[k, 3] = total, state, q
                best[k, 1] = headings[q] if isnan(arrivals[q]) else arrivals[q]


def first_bend(bends: Floats, known: Visited, headings: Floats, ends: WayEnds, best: Floats, row: Floats) -> None:
    """Write the first bend of a way, and the metres after it."""
    state, leaves = int(best[2]), nan
    while known.parent[state] >= 0:
        leaves = known.heading[state]
        state = known.parent[state]
    n = state % len(bends)
    if isnan(leaves):
        leaves = headings[n, int(best[3])]
    turn = turn_between(bends[n, WAY], known.heading[state], leaves)
    row[COST] -= known.cost[state] + turned(bends[n], known.heading[state], turn, ends)
    row[BEND_X], row[BEND_Y], row[LEAVE] = bends[n, X], bends[n, Y], leaves
    row[BEND] = bends[n, WAY] * bends[n, RADIUS]


def around(
    ways: Floats, x: float, y: float, heading: float, radius: float, wx: float, wy: float
) -> tuple[float, float]:
    """Return metres flown on the better of two ways (2, WAY_COLUMNS) that begin with a heading, and that of arrival."""
    least, arrival = inf, nan
    for k in range(2):
        row = ways[k]
        if isnan(row[BEND_X]):
            if row[COST] < least:
                least, arrival = row[COST], row[ARRIVAL]
            continue
        way, bend = (1.0 if row[BEND] >= 0.0 else -1.0), abs(row[BEND])
        sharp = 0.0 if isnan(heading) else radius
        for side in (1.0, -1.0):
            sx, sy = (x, y) if sharp == 0.0 else (x - side * sharp * sin(heading), y + side * sharp * cos(heading))
            length, course = tangent(sx, sy, sharp, side, row[BEND_X], row[BEND_Y], bend, way)
            if length == inf and side != way:  # the turns overlap: a path bends a little beside, from one to the other
                length, course = 0.0, atan2(row[BEND_Y] - sy, row[BEND_X] - sx) + side * 0.5 * pi
            if length < inf:
                total = row[COST] + held_line(length, course, wx, wy)
                if sharp > 0.0:
                    total += held_turn(sharp, heading, side * turn_between(side, heading, course), wx, wy)
                turn = turn_between(way, course, row[LEAVE])
                if turn < NO_TURN and bend > 0.0:
                    total += held_turn(bend, course, way * turn, wx, wy)
                if total < least:
                    least, arrival = total, row[ARRIVAL]
            if sharp == 0.0:
                break
    return least, arrival


hidden = parallel_routine(_hidden)
all_ways = parallel_routine(_all_ways)
