"""Compiled search for the shortest path over bends: A* over the links, then the bends are rotated to shorten it.

A state is a link: the arrival on a bend with the link's heading. Its cost does not depend on later links. An arrival
that another one reaches along the bend at no more cost is dropped.
"""

from heapq import heappop, heappush
from math import inf, isnan, nan, pi
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.math import absolute, cos, sin
from paddock.compute.routine import routine
from paddock.planning.geometry.intersections import FULL, ahead, arc_entry, line_entry
from paddock.planning.geometry.tangent_graph import (
    ANGLE,
    ARM,
    AT_X,
    AT_Y,
    RADIUS,
    WAY,
    TangentLinks,
    WayEnds,
    X,
    Y,
    free_tangent,
    free_turn,
    places,
    tangent,
)
from paddock.planning.geometry.wind import held_line, held_rate, held_sum, held_turn, intercept
from paddock.planning.geometry.zones import Walls
from paddock.world.columns import Floats

Ints = NDArray[np.int64]
Heap = list[tuple[float, Any]]  # a lower bound in metres, and the number of the next state
NO_TURN = 1e-9  # rad: a full turn minus less than this is no turn


def turn_between(way: float, before: float, after: float) -> float:
    """Return radians on a bend from one heading to another, 0 .. 2 pi."""
    turn = ahead(way * (after - before))
    return 0.0 if turn > FULL - NO_TURN else turn


def turned(bend: Floats, heading: float, turn: float, ends: WayEnds) -> float:
    """Return metres flown on a bend from a heading, by an angle (rad)."""
    return held_turn(bend[RADIUS], heading, bend[WAY] * turn, ends.wx, ends.wy)


def remaining(x: float, y: float, ends: WayEnds) -> float:
    """Return metres flown straight to the goal; 0 where there is none."""
    return intercept(ends.x - x, ends.y - y, ends.wx, ends.wy) if len(ends.goals) > 0 else 0.0


def tails_of(w: Walls, bends: Floats, ends: WayEnds) -> tuple[Floats, Floats]:
    """From each bend to each goal: metres flown from leaving the bend (inf: blocked) and the heading there."""
    lengths, headings = empty((len(bends), len(ends.goals))), empty((len(bends), len(ends.goals)))
    for g in range(len(ends.goals)):
        goal, arrival = ends.goals[g], ends.arrivals[g]
        room = inf
        if arrival == arrival:  # backwards from the goal, on the same circle
            room = arc_entry(w, goal[X], goal[Y], goal[RADIUS], arrival - goal[WAY] * 0.5 * pi, -goal[WAY], FULL)[0]
        for i in range(len(bends)):
            length, headings[i, g] = free_tangent(w, bends[i], goal)
            lengths[i, g] = held_line(length, headings[i, g], ends.wx, ends.wy)
            if arrival == arrival and lengths[i, g] < inf:
                turn = turn_between(goal[WAY], headings[i, g], arrival)
                last = held_turn(goal[RADIUS], headings[i, g], goal[WAY] * turn, ends.wx, ends.wy)
                lengths[i, g] = lengths[i, g] + last if turn < room else inf
    return lengths, headings


class Visited(NamedTuple):
    """The states of a search: arrivals from each start on each bend, then the links."""

    cost: Floats  # m to the arrival
    heading: Floats  # rad, of the arrival
    reach: Floats  # rad of free turning from there
    parent: Ints  # the state before; -1: the start
    later: Ints  # the state settled next on the same bend; -1: none
    settled: Ints  # (bends,) the state settled first on each bend; -1: none
    tails: Floats  # (bends, goals) m from leaving a bend to the goal
    tail_headings: Floats  # rad, when leaving it


def nothing_known(w: Walls, bends: Floats, links: TangentLinks, ends: WayEnds) -> Visited:
    """Return the states before a search."""
    n, count = len(bends), len(ends.starts) * len(bends) + len(links.target)
    tails, tail_headings = tails_of(w, bends, ends)
    cost, heading, reach = empty(count), empty(count), empty(count)
    parent, later, settled = empty(count, int64), empty(count, int64), empty(n, int64)
    known = Visited(cost, heading, reach, parent, later, settled, tails, tail_headings)
    known.cost[:] = inf
    known.reach[: count - len(links.reach)] = nan
    known.reach[count - len(links.reach) :] = links.reach
    known.parent[:] = -1
    known.later[:] = -1
    known.settled[:] = -1
    return known


def _search(w: Walls, bends: Floats, links: TangentLinks, ends: WayEnds) -> tuple[float, Ints]:
    """Return metres flown on the quickest way, and its bends: a start, others, a goal (counted on from the bends)."""
    n, s, g = len(bends), len(ends.starts), len(ends.goals)
    known = nothing_known(w, bends, links, ends)
    # numbers in the heap: ways to the goal after a state, ways straight to it, states
    direct = len(known.cost) * g
    heap: Heap = [(inf, int64(direct + s * g))]
    heap.pop()
    for i in range(s):
        leave_start(w, i, bends, ends, 0.0, known, heap)
    while len(heap) > 0:
        total, number = heappop(heap)
        if number < direct + s * g:
            return total, _chain(number, direct, n, s, g, known, links)
        state = number - direct - s * g
        bend: Any = state % n if state < s * n else links.target[state - s * n]
        x, y = places(bends[bend], known.heading[state])
        late = total > known.cost[state] + 1e-9 + remaining(x, y, ends)
        if not late and settled_at(w, state, bend, bends, ends, known):
            leave(state, bend, bends, links, ends, known, heap)
    return inf, empty(0, int64)


def leave_start(w: Walls, i: int, bends: Floats, ends: WayEnds, side: float, known: Visited, heap: Heap) -> None:
    """All ways from a start: to the goals, and on to the bends to one side (0: any). A heading of NaN is free."""
    n, g, start = len(bends), len(ends.goals), ends.starts[i]
    direct = len(known.cost) * g
    room = free_turn(w, start, ends.heading)
    lengths, headings = tails_of(w, ends.starts[i : i + 1], ends)
    for j in range(g):
        turn = turn_between(start[WAY], ends.heading, headings[0, j])
        if turn < room and lengths[0, j] < inf:
            heappush(heap, (lengths[0, j] + turned(start, ends.heading, turn, ends), int64(direct + i * g + j)))
    for j in range(n):
        if side * bends[j, WAY] < 0.0:
            continue
        length, heading = free_tangent(w, start, bends[j])
        turn = 0.0 if isnan(ends.heading) else turn_between(start[WAY], ends.heading, heading)
        if turn < room and length < inf:
            cost = turned(start, ends.heading, turn, ends) + held_line(length, heading, ends.wx, ends.wy)
            _arrive(i * n + j, -1, bends[j], cost, heading, ends, known, heap)


def leave(state: int, bend: int, bends: Floats, links: TangentLinks, ends: WayEnds, known: Visited, heap: Heap) -> None:
    """All ways on from a state: to the goals, and over the links."""
    way, g = bends[bend, WAY], len(ends.goals)
    cost, heading, reach = known.cost[state], known.heading[state], known.reach[state]
    for j in range(g):
        turn = turn_between(way, heading, known.tail_headings[bend, j])
        if turn < reach and known.tails[bend, j] < inf:
            heappush(
                heap, (cost + turned(bends[bend], heading, turn, ends) + known.tails[bend, j], int64(state * g + j))
            )
    heads, radius = len(ends.starts) * len(bends), bends[bend, RADIUS]
    rate, before = way * held_rate(ends.wx, ends.wy), held_sum(heading, ends.wx, ends.wy)
    for e in range(links.first[bend], links.first[bend + 1]):
        least = cost + links.flown[e]
        if least >= known.cost[heads + e] - 1e-12:
            continue
        turn = turn_between(way, heading, links.heading[e])
        if not turn < reach:
            continue
        new = least + radius * absolute(rate * turn + links.sums[e] - before)
        if new < known.cost[heads + e] - 1e-12:
            _arrive(heads + e, state, bends[links.target[e]], new, links.heading[e], ends, known, heap)


def _arrive(
    state: int, parent: int, bend: Floats, cost: float, heading: float, ends: WayEnds, known: Visited, heap: Heap
) -> None:
    known.cost[state], known.parent[state], known.heading[state] = cost, parent, heading
    x, y = places(bend, heading)
    number = (len(known.cost) + len(ends.starts)) * len(ends.goals) + state
    heappush(heap, (cost + remaining(x, y, ends), int64(number)))


def settled_at(w: Walls, state: int, bend: int, bends: Floats, ends: WayEnds, known: Visited) -> bool:
    """Settle a state, unless an earlier arrival on the bend gets where it is, for no more."""
    other, last = known.settled[bend], -1
    while other >= 0:  # the cheapest first
        turn = turn_between(bends[bend, WAY], known.heading[other], known.heading[state])
        if turn < known.reach[other] and known.cost[other] <= known.cost[state] + 1e-9:
            cost = known.cost[other] + turned(bends[bend], known.heading[other], turn, ends)
            if cost <= known.cost[state] + 1e-9:
                return False
        other, last = known.later[other], other
    if isnan(known.reach[state]):
        known.reach[state] = free_turn(w, bends[bend], known.heading[state])
    if known.reach[state] <= 0.0:  # it leads nowhere
        return False
    if last < 0:
        known.settled[bend] = state
    else:
        known.later[last] = state
    return True


def _chain(number: int, direct: int, n: int, s: int, g: int, known: Visited, links: TangentLinks) -> Ints:
    """Return the bends of the path that ends with a number of the heap: n + the start, bends, n + s + the goal."""
    chain = empty(len(known.parent) + 3, int64)
    if number >= direct:
        chain[0], chain[1] = n + (number - direct) // g, n + s + (number - direct) % g
        return chain[:2]
    state, k = number // g, len(chain) - 1
    chain[k] = n + s + number % g
    while state >= s * n:
        k -= 1
        chain[k] = links.target[state - s * n]
        state = known.parent[state]
    chain[k - 1], chain[k - 2] = state % n, n + state // n
    return chain[k - 2 :]


search = routine(_search)


FIRST_STEP = 0.25  # rad, initial step of the rotation of a bend about its pivot
LAST_STEP = 1e-7
ROUNDS = 4  # factor per step


def _laid(w: Walls, row: Floats, at: WayEnds, arrival: float, out: Floats) -> float:
    """Write the segments (2 n, 5) of the way over a row of bends (n, 9); return the metres flown, inf: none."""
    total, heading = 0.0, at.heading
    for i in range(len(row)):
        radius, way = row[i, RADIUS], row[i, WAY]
        length, leave = 0.0, heading if isnan(arrival) else arrival
        if i + 1 < len(row):
            length, leave = tangent(
                row[i, X], row[i, Y], radius, way, row[i + 1, X], row[i + 1, Y], row[i + 1, RADIUS], row[i + 1, WAY]
            )
        if length == inf:
            return inf
        turn = 0.0 if radius == 0.0 else turn_between(way, heading, leave)
        x, y = places(row[i], heading)
        if turn > 0.0 and arc_entry(w, row[i, X], row[i, Y], radius, heading - way * 0.5 * pi, way, turn)[1] >= 0:
            return inf
        _put(out[2 * i], x, y, heading, turn * radius, way / radius if radius > 0.0 else 0.0)
        x, y = places(row[i], leave)
        if length > 0.0 and line_entry(w, x, y, cos(leave), sin(leave), length)[1] >= 0:
            return inf
        _put(out[2 * i + 1], x, y, leave, length, 0.0)
        total += turned(row[i], heading, turn, at) + held_line(length, leave, at.wx, at.wy)
        heading = leave
    return total


def _put(out: Floats, x: float, y: float, heading: float, length: float, curvature: float) -> None:
    out[0], out[1], out[2], out[3], out[4] = x, y, heading, length, curvature


def _turn(bend: Floats, angle: float) -> None:
    bend[ANGLE] = angle
    bend[X] = bend[AT_X] + bend[ARM] * cos(angle)
    bend[Y] = bend[AT_Y] + bend[ARM] * sin(angle)


def _with_best_ends(w: Walls, row: Floats, at: WayEnds, arrival: float, out: Floats) -> float:
    """Return the metres flown on the way with the best first and last bends, which are written into the row."""
    best, start, goal = inf, 0, 0
    for i in range(len(at.starts)):
        row[0] = at.starts[i]
        for j in range(len(at.goals)):
            if at.arrivals[j] == arrival or (isnan(at.arrivals[j]) and isnan(arrival)):
                row[-1] = at.goals[j]
                length = _laid(w, row, at, arrival, out)
                if length < best:
                    best, start, goal = length, i, j
    row[0], row[-1] = at.starts[start], at.goals[goal]
    return best


def _shorten(w: Walls, row: Floats, at: WayEnds, arrival: float) -> Floats:
    """Rotate the bends between the first and the last to shorten the path; return its segments, as `_laid`."""
    out = empty((2 * len(row), 5))
    best = _with_best_ends(w, row, at, arrival, out)
    step = FIRST_STEP
    while step > LAST_STEP:
        for _ in range(ROUNDS):
            before = best
            for i in range(1, len(row) - 1):
                if row[i, ARM] != 0.0:
                    best = _try_turns(w, row, i, step, at, arrival, out, best)
            if best > before - 1e-9:
                break
        step *= 0.5
    _with_best_ends(w, row, at, arrival, out)  # a trial may have left others
    _laid(w, row, at, arrival, out)
    return out


def _try_turns(
    w: Walls, row: Floats, i: int, step: float, at: WayEnds, arrival: float, out: Floats, best: float
) -> float:
    for side in (step, -step):
        angle = row[i, ANGLE]
        _turn(row[i], angle + side)
        length = _with_best_ends(w, row, at, arrival, out)
        if length < best - 1e-12:
            return length
        _turn(row[i], angle)
    return best


shorten = routine(_shorten)
