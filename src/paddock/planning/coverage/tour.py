"""The order of cells, the corner at which each is entered, and at last the order of all swaths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from paddock.planning.coverage.patterns import Nodes, Pattern
from paddock.planning.coverage.polish import polished
from paddock.world.columns import Floats

Choice = tuple[int, int]
"""A cell, and which of its patterns."""
MOST_STARTS, MOST_MOVED = 24, 4
"""Corners from which a tour is grown when it may begin anywhere, and how many of those tours are improved."""


def tour_of(patterns: list[list[Pattern]], turns: Floats, first: int) -> Nodes:
    """All swaths in an order of few metres of turns, beginning with the node `first`, a corner of its cell."""
    starts = [choice for choice in _choices(patterns) if patterns[choice[0]][choice[1]].nodes[0] == first]
    best = _best(starts, patterns, turns)
    return polished(np.concatenate([patterns[cell][k].nodes for cell, k in best]), turns)


def first_of(patterns: list[list[Pattern]], turns: Floats) -> int:
    """The node to begin with."""
    every = _choices(patterns)
    cell, k = _best(every[:: 1 + len(every) // MOST_STARTS], patterns, turns)[0]
    return int(patterns[cell][k].nodes[0])


def _choices(patterns: list[list[Pattern]]) -> list[Choice]:
    return [(cell, k) for cell, options in enumerate(patterns) for k in range(len(options))]


def _best(starts: list[Choice], patterns: list[list[Pattern]], turns: Floats) -> list[Choice]:
    """The shortest of the tours that grow from each of these corners."""
    grown = [_grown(start, patterns, turns) for start in starts]
    grown.sort(key=lambda tour: round(_cost(tour, patterns, turns), 6))
    moved = [_moved(tour, patterns, turns) for tour in grown[:MOST_MOVED]]
    return min(moved, key=lambda tour: round(_cost(tour, patterns, turns), 6))


def _grown(start: Choice, patterns: list[list[Pattern]], turns: Floats) -> list[Choice]:
    """Always on to the cell and corner that is nearest."""
    least = [min(pattern.inner for pattern in options) for options in patterns]
    extra = {(cell, k): patterns[cell][k].inner - least[cell] for cell, k in _choices(patterns)}
    tour = [start]
    left = [cell for cell in range(len(patterns)) if cell != start[0]]
    while left:
        options = [(cell, k) for cell in left for k in range(len(patterns[cell]))]
        costs = [_link(tour[-1], choice, patterns, turns) + extra[choice] for choice in options]
        tour.append(options[int(np.argmin(np.round(costs, 6)))])
        left.remove(tour[-1][0])
    return tour


def _moved(tour: list[Choice], patterns: list[list[Pattern]], turns: Floats) -> list[Choice]:
    """Cells taken out and put in elsewhere, from another corner, as long as that saves way; the first one stays."""
    better = True
    while better:
        better = False
        for cell, _ in list(tour[1:]):
            after = _replaced(cell, tour, patterns, turns)
            if _cost(after, patterns, turns) < _cost(tour, patterns, turns) - 1e-6:
                tour, better = after, True
    return tour


def _replaced(cell: int, tour: list[Choice], patterns: list[list[Pattern]], turns: Floats) -> list[Choice]:
    """The tour with one cell at its best place and corner."""
    rest = [choice for choice in tour if choice[0] != cell]
    best, where = np.inf, (1, (cell, 0))
    for place in range(1, len(rest) + 1):
        before, after = rest[place - 1], rest[place] if place < len(rest) else None
        gap = _link(before, after, patterns, turns)
        for k, pattern in enumerate(patterns[cell]):
            into, out = _link(before, (cell, k), patterns, turns), _link((cell, k), after, patterns, turns)
            if (cost := into + pattern.inner + out - gap) < best - 1e-9:
                best, where = cost, (place, (cell, k))
    return [*rest[: where[0]], where[1], *rest[where[0] :]]


def _link(one: Choice, other: Choice | None, patterns: list[list[Pattern]], turns: Floats) -> float:
    """m from the end of one to the start of the other; after the last there is no way to go."""
    if other is None:
        return 0.0
    return float(turns[patterns[one[0]][one[1]].nodes[-1], patterns[other[0]][other[1]].nodes[0]])


def _cost(tour: list[Choice], patterns: list[list[Pattern]], turns: Floats) -> float:
    links = sum(_link(one, other, patterns, turns) for one, other in pairwise(tour))
    return links + sum(patterns[cell][k].inner for cell, k in tour)
