"""The order in which swaths are flown: patterns within a cell, the order of cells, then 2-opt and or-opt moves.

Swath k flown to the right is node 2 k, to the left node 2 k + 1. A reversed connection has the same length, so
reversing a part of the tour changes only the connections at its two ends.
"""

from collections.abc import Callable
from itertools import pairwise
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.planning.coverage.sweep import Cell
from paddock.world.columns import Floats


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
    found = []
    for side in (swaths, swaths[::-1]) if len(swaths) > 1 else (swaths,):
        for first in (0, 1):
            ways = [
                _flown(side[interleaved(len(side), stride)], first)
                for stride in range(1, min((len(side) + 1) // 2, MOST_STRIDES) + 1)
            ]
            costs = [float(turns[way[:-1], way[1:]].sum()) for way in ways]
            best = int(np.argmin(np.round(costs, 6)))
            found.append(Pattern(number, ways[best], costs[best]))
    return found


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


def _link(one: Pattern, other: Pattern, turns: Floats) -> float:
    """Return the metres from the end of one to the start of the other."""
    return float(turns[one.nodes[-1], other.nodes[0]])


def _cost(tour: list[Pattern], turns: Floats) -> float:
    links = sum(_link(one, other, turns) for one, other in pairwise(tour))
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
        head, one, other, tail = np.split(best, cuts)
        shaken = _improved(np.concatenate([head, other, one, tail]), free)
        if _length(shaken, free) < _length(best, free) - SAVES:
            best = shaken
    return best[:-1]


def _improved(tour: Nodes, turns: Floats) -> Nodes:
    """Apply the best single change until no change shortens the tour."""
    lengths = range(1, min(LONGEST_MOVED, len(tour) - 3) + 1)
    for _ in range(MOST_ROUNDS):
        moves = (_move(tour, turns, length, backwards) for length in lengths for backwards in (False, True))
        change, changed = min((_reversal(tour, turns), *moves), key=lambda found: found[0])
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
    q, k = (int(found) for found in np.unravel_index(np.argmin(change), change.shape))
    i = int(starts[k])

    def changed() -> Nodes:
        part = tour[i : i + length][::-1] ^ 1 if backwards else tour[i : i + length]
        if q < i:
            return np.concatenate([tour[: q + 1], part, tour[q + 1 : i], tour[i + length :]])
        return np.concatenate([tour[:i], tour[i + length : q + 1], part, tour[q + 1 :]])

    return float(change[q, k]), changed
