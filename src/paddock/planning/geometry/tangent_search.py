"""Compiled search for the shortest path over turning circles: A* over the links, then rotation of circles.

A state is a link: the arrival on a circle with the link's heading. Its cost does not depend on later links. An arrival
that another one reaches along the circle at no more cost is dropped.
"""

from heapq import heappop, heappush
from math import inf, isnan, nan, pi
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.math import absolute, cos, sin
from paddock.compute.routine import routine
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
    point_at,
    tangent,
)
from paddock.planning.geometry.wind import held_line, held_rate, held_sum, held_turn, intercept
from paddock.planning.geometry.zones import FULL, Walls, ahead, arc_entry, line_entry
from paddock.world.columns import Floats

Ints = NDArray[np.int64]
Heap = list[tuple[float, Any]]  # a lower bound in metres, and the number of the next state
NO_TURN = 1e-9  # rad: a full turn minus less than this is no turn


def turn_between(way: float, before: float, after: float) -> float:
    """Return radians on a circle from one heading to another, 0 .. 2 pi."""
    turn = ahead(way * (after - before))
    return 0.0 if turn > FULL - NO_TURN else turn


def turned(circle: Floats, heading: float, turn: float, ends: WayEnds) -> float:
    """Return metres flown on a circle from a heading, by an angle (rad)."""
    return held_turn(circle[RADIUS], heading, circle[WAY] * turn, ends.wx, ends.wy)


def remaining(x: float, y: float, ends: WayEnds) -> float:
    """Return metres flown straight to the goal; 0 where there is none."""
    return intercept(ends.x - x, ends.y - y, ends.wx, ends.wy) if len(ends.goals) > 0 else 0.0


def tails_of(w: Walls, circles: Floats, ends: WayEnds) -> tuple[Floats, Floats]:
    """From each circle to each goal: metres flown from leaving the circle (inf: blocked) and the heading there."""
    lengths, headings = empty((len(circles), len(ends.goals))), empty((len(circles), len(ends.goals)))
    for g in range(len(ends.goals)):
        goal, arrival = ends.goals[g], ends.arrivals[g]
        room = inf
        if arrival == arrival:  # backwards from the goal, on the same circle
            room = arc_entry(w, goal[X], goal[Y], goal[RADIUS], arrival - goal[WAY] * 0.5 * pi, -goal[WAY], FULL)[0]
        for i in range(len(circles)):
            length, headings[i, g] = free_tangent(w, circles[i], goal)
            lengths[i, g] = held_line(length, headings[i, g], ends.wx, ends.wy)
            if arrival == arrival and lengths[i, g] < inf:
                turn = turn_between(goal[WAY], headings[i, g], arrival)
                last = held_turn(goal[RADIUS], headings[i, g], goal[WAY] * turn, ends.wx, ends.wy)
                lengths[i, g] = lengths[i, g] + last if turn < room else inf
    return lengths, headings


class Visited(NamedTuple):
    """The states of a search: arrivals from each start on each circle, then the links."""

    cost: Floats  # m to the arrival
    heading: Floats  # rad, of the arrival
    reach: Floats  # rad of free turning from there
    parent: Ints  # the state before; -1: the start
    later: Ints  # the state settled next on the same circle; -1: none
    settled: Ints  # (circles,) the state settled first on each circle; -1: none
    tails: Floats  # (circles, goals) m from leaving a circle to the goal
    tail_headings: Floats  # rad, when leaving it


def initial_states(w: Walls, circles: Floats, links: TangentLinks, ends: WayEnds) -> Visited:
    """Return the states before a search."""
    n, count = len(circles), len(ends.starts) * len(circles) + len(links.target)
    tails, tail_headings = tails_of(w, circles, ends)
    cost, heading, reach = empty(count), empty(count), empty(count)
    parent, later, settled = empty(count, int64), empty(count, int64), empty(n, int64)
    visited = Visited(cost, heading, reach, parent, later, settled, tails, tail_headings)
    visited.cost[:] = inf
    visited.reach[: count - len(links.reach)] = nan
    visited.reach[count - len(links.reach) :] = links.reach
    visited.parent[:] = -1
    visited.later[:] = -1
    visited.settled[:] = -1
    return visited


def _search(w: Walls, circles: Floats, links: TangentLinks, ends: WayEnds) -> tuple[float, Ints]:
    """Return metres flown on the quickest way, and its circles: a start, others, a goal, numbered in that order."""
    n, s, g = len(circles), len(ends.starts), len(ends.goals)
    visited = initial_states(w, circles, links, ends)
    # numbers in the heap: ways to the goal after a state, ways straight to it, states
    direct = len(visited.cost) * g
    heap: Heap = [(inf, int64(direct + s * g))]
    heap.pop()
    for i in range(s):
        expand_start(w, i, circles, ends, 0.0, visited, heap)
    while len(heap) > 0:
        total, number = heappop(heap)
        if number < direct + s * g:
            return total, _chain(number, direct, n, s, g, visited, links)
        state = number - direct - s * g
        circle: Any = state % n if state < s * n else links.target[state - s * n]
        x, y = point_at(circles[circle], visited.heading[state])
        late = total > visited.cost[state] + 1e-9 + remaining(x, y, ends)
        if not late and settle(w, state, circle, circles, ends, visited):
            expand(state, circle, circles, links, ends, visited, heap)
    return inf, empty(0, int64)


def expand_start(w: Walls, i: int, circles: Floats, ends: WayEnds, side: float, visited: Visited, heap: Heap) -> None:
    """All ways from a start: to the goals, and on to the circles to one side (0: any). A heading of NaN is free."""
    n, g, start = len(circles), len(ends.goals), ends.starts[i]
    direct = len(visited.cost) * g
    room = free_turn(w, start, ends.heading)
    lengths, headings = tails_of(w, ends.starts[i : i + 1], ends)
    for j in range(g):
        turn = turn_between(start[WAY], ends.heading, headings[0, j])
        if turn < room and lengths[0, j] < inf:
            heappush(heap, (lengths[0, j] + turned(start, ends.heading, turn, ends), int64(direct + i * g + j)))
    for j in range(n):
        if side * circles[j, WAY] < 0.0:
            continue
        length, heading = free_tangent(w, start, circles[j])
        turn = 0.0 if isnan(ends.heading) else turn_between(start[WAY], ends.heading, heading)
        if turn < room and length < inf:
            cost = turned(start, ends.heading, turn, ends) + held_line(length, heading, ends.wx, ends.wy)
            _arrive(i * n + j, -1, circles[j], cost, heading, ends, visited, heap)


def expand(
    state: int, circle: int, circles: Floats, links: TangentLinks, ends: WayEnds, visited: Visited, heap: Heap
) -> None:
    """All ways on from a state: to the goals, and over the links."""
    way, g = circles[circle, WAY], len(ends.goals)
    cost, heading, reach = visited.cost[state], visited.heading[state], visited.reach[state]
    for j in range(g):
        turn = turn_between(way, heading, visited.tail_headings[circle, j])
        if turn < reach and visited.tails[circle, j] < inf:
            heappush(
                heap,
                (cost + turned(circles[circle], heading, turn, ends) + visited.tails[circle, j], int64(state * g + j)),
            )
    heads, radius = len(ends.starts) * len(circles), circles[circle, RADIUS]
    rate, before = way * held_rate(ends.wx, ends.wy), held_sum(heading, ends.wx, ends.wy)
    for e in range(links.first[circle], links.first[circle + 1]):
        least = cost + links.flown[e]
        if least >= visited.cost[heads + e] - 1e-12:
            continue
        turn = turn_between(way, heading, links.heading[e])
        if not turn < reach:
            continue
        new = least + radius * absolute(rate * turn + links.sums[e] - before)
        if new < visited.cost[heads + e] - 1e-12:
            _arrive(heads + e, state, circles[links.target[e]], new, links.heading[e], ends, visited, heap)


def _arrive(
    state: int, parent: int, circle: Floats, cost: float, heading: float, ends: WayEnds, visited: Visited, heap: Heap
) -> None:
    visited.cost[state], visited.parent[state], visited.heading[state] = cost, parent, heading
    x, y = point_at(circle, heading)
    number = (len(visited.cost) + len(ends.starts)) * len(ends.goals) + state
    heappush(heap, (cost + remaining(x, y, ends), int64(number)))


def settle(w: Walls, state: int, circle: int, circles: Floats, ends: WayEnds, visited: Visited) -> bool:
    """Settle a state, unless an earlier arrival on the circle gets where it is, for no more."""
    other, last = visited.settled[circle], -1
    while other >= 0:  # the cheapest first
        turn = turn_between(circles[circle, WAY], visited.heading[other], visited.heading[state])
        if turn < visited.reach[other] and visited.cost[other] <= visited.cost[state] + 1e-9:
            cost = visited.cost[other] + turned(circles[circle], visited.heading[other], turn, ends)
            if cost <= visited.cost[state] + 1e-9:
                return False
        other, last = visited.later[other], other
    if isnan(visited.reach[state]):
        visited.reach[state] = free_turn(w, circles[circle], visited.heading[state])
    if visited.reach[state] <= 0.0:  # it leads nowhere
        return False
    if last < 0:
        visited.settled[circle] = state
    else:
        visited.later[last] = state
    return True


def _chain(number: int, direct: int, n: int, s: int, g: int, visited: Visited, links: TangentLinks) -> Ints:
    """Return the circles of the path that ends with a number of the heap: n + the start, circles, n + s + the goal."""
    chain = empty(len(visited.parent) + 3, int64)
    if number >= direct:
        chain[0], chain[1] = n + (number - direct) // g, n + s + (number - direct) % g
        return chain[:2]
    state, k = number // g, len(chain) - 1
    chain[k] = n + s + number % g
    while state >= s * n:
        k -= 1
        chain[k] = links.target[state - s * n]
        state = visited.parent[state]
    chain[k - 1], chain[k - 2] = state % n, n + state // n
    return chain[k - 2 :]


search = routine(_search)


FIRST_STEP = 0.25  # rad, initial step of the rotation of a circle about its pivot
LAST_STEP = 1e-7
ROUNDS = 4  # factor per step


def _build_way(w: Walls, row: Floats, at: WayEnds, arrival: float, out: Floats) -> float:
    """Write the segments (2 n, 5) of the way over a row of circles (n, 9); return the metres flown, inf: none."""
    total, heading = 0.0, at.heading
    for i in range(len(row)):
        radius, way = row[i, RADIUS], row[i, WAY]
        length, course = 0.0, heading if isnan(arrival) else arrival
        if i + 1 < len(row):
            length, course = tangent(
                row[i, X], row[i, Y], radius, way, row[i + 1, X], row[i + 1, Y], row[i + 1, RADIUS], row[i + 1, WAY]
            )
        if length == inf:
            return inf
        turn = 0.0 if radius == 0.0 else turn_between(way, heading, course)
        x, y = point_at(row[i], heading)
        if turn > 0.0 and arc_entry(w, row[i, X], row[i, Y], radius, heading - way * 0.5 * pi, way, turn)[1] >= 0:
            return inf
        _write_segment(out[2 * i], x, y, heading, turn * radius, way / radius if radius > 0.0 else 0.0)
        x, y = point_at(row[i], course)
        if length > 0.0 and line_entry(w, x, y, cos(course), sin(course), length)[1] >= 0:
            return inf
        _write_segment(out[2 * i + 1], x, y, course, length, 0.0)
        total += turned(row[i], heading, turn, at) + held_line(length, course, at.wx, at.wy)
        heading = course
    return total


def _write_segment(out: Floats, x: float, y: float, heading: float, length: float, curvature: float) -> None:
    out[0], out[1], out[2], out[3], out[4] = x, y, heading, length, curvature


def _turn(circle: Floats, angle: float) -> None:
    circle[ANGLE] = angle
    circle[X] = circle[AT_X] + circle[ARM] * cos(angle)
    circle[Y] = circle[AT_Y] + circle[ARM] * sin(angle)


def _with_best_ends(w: Walls, row: Floats, at: WayEnds, arrival: float, out: Floats) -> float:
    """Return the metres flown on the way with the best first and last circles, which are written into the row."""
    best, start, goal = inf, 0, 0
    for i in range(len(at.starts)):
        row[0] = at.starts[i]
        for j in range(len(at.goals)):
            if at.arrivals[j] == arrival or (isnan(at.arrivals[j]) and isnan(arrival)):
                row[-1] = at.goals[j]
                length = _build_way(w, row, at, arrival, out)
                if length < best:
                    best, start, goal = length, i, j
    row[0], row[-1] = at.starts[start], at.goals[goal]
    return best


def _shorten(w: Walls, row: Floats, at: WayEnds, arrival: float) -> Floats:
    """Rotate the circles between the first and the last to shorten the path; return its segments, as `_laid`."""
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
    _build_way(w, row, at, arrival, out)
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
