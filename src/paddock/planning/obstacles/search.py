"""The shortest way from bend to bend: A* over the links, compiled.

A state is a link: one has arrived on a bend with the link's heading. Its cost does not depend on what comes after, and
an arrival that another one reaches along the bend at no more cost is dropped.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf, pi
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.routine import routine
from paddock.planning.obstacles.bends import RADIUS, WAY, X, Y
from paddock.planning.obstacles.entry import FULL, ahead, arc_entry
from paddock.planning.obstacles.links import Links, distance, free_tangent, places
from paddock.planning.obstacles.walls import Walls
from paddock.world.columns import Floats

Ints = NDArray[np.int64]
Heap = list[tuple[float, Any]]
"""Metres at least, and a number for what comes next."""
NO_TURN = 1e-9
"""rad: what lacks less than this of a full turn is none."""


class WayEnds(NamedTuple):
    """Where a search begins and ends: bends that hold the start or the goal, each with the heading there."""

    starts: Floats  # (s, 9)
    heading: float  # rad, at the start
    goals: Floats  # (g, 9)
    arrivals: Floats  # (g,) rad; NaN: any (the bend is a point)
    x: float  # m, of the goal
    y: float


def turn_between(way: float, before: float, after: float) -> float:
    """Radians on a bend from one heading to another, 0 .. 2 pi."""
    turn = ahead(way * (after - before))
    return 0.0 if turn > FULL - NO_TURN else turn


def free_turn(w: Walls, bend: Floats, heading: float) -> float:
    """How far (rad) one may turn on a bend before a zone; inf on a point, and where there is none."""
    if bend[RADIUS] == 0.0:
        return inf
    begin = heading - bend[WAY] * 0.5 * pi
    return arc_entry(w, bend[X], bend[Y], bend[RADIUS], begin, bend[WAY], FULL)[0]


def _tails(w: Walls, bends: Floats, ends: WayEnds) -> tuple[Floats, Floats]:
    """From each bend to each goal: metres from leaving the bend (inf: blocked) and the heading there."""
    lengths, headings = empty((len(bends), len(ends.goals))), empty((len(bends), len(ends.goals)))
    for g in range(len(ends.goals)):
        goal, arrival = ends.goals[g], ends.arrivals[g]
        room = inf
        if arrival == arrival:  # backwards from the goal, on the same circle
            room = arc_entry(w, goal[X], goal[Y], goal[RADIUS], arrival - goal[WAY] * 0.5 * pi, -goal[WAY], FULL)[0]
        for i in range(len(bends)):
            lengths[i, g], headings[i, g] = free_tangent(w, bends[i], goal)
            if arrival == arrival and lengths[i, g] < inf:
                turn = turn_between(goal[WAY], headings[i, g], arrival)
                lengths[i, g] = lengths[i, g] + goal[RADIUS] * turn if turn < room else inf
    return lengths, headings


class Visited(NamedTuple):
    """What a search has found out. States are numbered: arrivals from each start on each bend, then the links."""

    cost: Floats  # m to the arrival
    heading: Floats  # rad, of the arrival
    reach: Floats  # rad that one may turn on from there
    parent: Ints  # the state before; -1: the start
    older: Ints  # the state that was settled on the same bend before; -1: none
    settled: Ints  # (bends,) the state that was settled last on each bend; -1: none
    tails: Floats  # (bends, goals) m from leaving a bend to the goal
    tail_headings: Floats  # rad, when leaving it


def _nothing_known(w: Walls, bends: Floats, links: Links, ends: WayEnds) -> Visited:
    n, count = len(bends), len(ends.starts) * len(bends) + len(links.target)
    tails, tail_headings = _tails(w, bends, ends)
    known = Visited(
        empty(count),
        empty(count),
        empty(count),
        empty(count, int64),
        empty(count, int64),
        empty(n, int64),
        tails,
        tail_headings,
    )
    known.cost[:] = inf
    known.parent[:] = -1
    known.older[:] = -1
    known.settled[:] = -1
    return known


def _search(w: Walls, bends: Floats, links: Links, ends: WayEnds) -> tuple[float, Ints]:
    """Metres of the shortest way, and its bends: a start, others, a goal (counted on from the bends)."""
    n, s, g = len(bends), len(ends.starts), len(ends.goals)
    known = _nothing_known(w, bends, links, ends)
    # numbers in the heap: ways to the goal after a state, ways straight to it, states
    direct = len(known.cost) * g
    heap: Heap = [(inf, int64(direct + s * g))]
    heap.pop()
    for i in range(s):
        _leave_start(w, i, bends, ends, known, heap)
    while len(heap) > 0:
        total, number = heappop(heap)
        if number < direct + s * g:
            return total, _chain(number, direct, n, s, g, known, links)
        state = number - direct - s * g
        bend: Any = state % n if state < s * n else links.target[state - s * n]
        x, y = places(bends[bend], known.heading[state])
        late = total > known.cost[state] + 1e-9 + distance(x, y, ends.x, ends.y)
        if not late and not _dominated(state, bend, bends, known):
            _settle(w, state, bend, bends, known)
            _leave(state, bend, bends, links, ends, known, heap)
    return inf, empty(0, int64)


def _leave_start(w: Walls, i: int, bends: Floats, ends: WayEnds, known: Visited, heap: Heap) -> None:
    """All ways from a start: to the goals, and on to the bends."""
    n, g, start = len(bends), len(ends.goals), ends.starts[i]
    direct = len(known.cost) * g
    room = free_turn(w, start, ends.heading)
    lengths, headings = _tails(w, ends.starts[i : i + 1], ends)
    for j in range(g):
        turn = turn_between(start[WAY], ends.heading, headings[0, j])
        if turn < room and lengths[0, j] < inf:
            heappush(heap, (lengths[0, j] + turn * start[RADIUS], int64(direct + i * g + j)))
    for j in range(n):
        length, heading = free_tangent(w, start, bends[j])
        turn = turn_between(start[WAY], ends.heading, heading)
        if turn < room and length < inf:
            _arrive(i * n + j, -1, bends[j], length + turn * start[RADIUS], heading, ends, known, heap)


def _leave(state: int, bend: int, bends: Floats, links: Links, ends: WayEnds, known: Visited, heap: Heap) -> None:
    """All ways on from a state: to the goals, and over the links."""
    radius, way, g = bends[bend, RADIUS], bends[bend, WAY], len(ends.goals)
    cost, heading, reach = known.cost[state], known.heading[state], known.reach[state]
    for j in range(g):
        turn = turn_between(way, heading, known.tail_headings[bend, j])
        if turn < reach and known.tails[bend, j] < inf:
            heappush(heap, (cost + turn * radius + known.tails[bend, j], int64(state * g + j)))
    heads = len(ends.starts) * len(bends)
    for e in range(links.first[bend], links.first[bend + 1]):
        turn = turn_between(way, heading, links.heading[e])
        new = cost + turn * radius + links.length[e]
        if turn < reach and new < known.cost[heads + e] - 1e-12:
            _arrive(heads + e, state, bends[links.target[e]], new, links.heading[e], ends, known, heap)


def _arrive(
    state: int, parent: int, bend: Floats, cost: float, heading: float, ends: WayEnds, known: Visited, heap: Heap
) -> None:
    known.cost[state], known.parent[state], known.heading[state] = cost, parent, heading
    x, y = places(bend, heading)
    number = (len(known.cost) + len(ends.starts)) * len(ends.goals) + state
    heappush(heap, (cost + distance(x, y, ends.x, ends.y), int64(number)))


def _settle(w: Walls, state: int, bend: int, bends: Floats, known: Visited) -> None:
    known.reach[state] = free_turn(w, bends[bend], known.heading[state])
    known.older[state] = known.settled[bend]
    known.settled[bend] = state


def _dominated(state: int, bend: int, bends: Floats, known: Visited) -> bool:
    """Whether an earlier arrival on the bend gets where this one is, for no more."""
    other = known.settled[bend]
    while other >= 0:
        turn = turn_between(bends[bend, WAY], known.heading[other], known.heading[state])
        if turn < known.reach[other] and known.cost[other] + turn * bends[bend, RADIUS] <= known.cost[state] + 1e-9:
            return True
        other = known.older[other]
    return False


def _chain(number: int, direct: int, n: int, s: int, g: int, known: Visited, links: Links) -> Ints:
    """The bends on the way that ends with a number of the heap: n + the start, bends, n + s + the goal."""
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
