"""A tour of swaths made shorter: parts of it reversed, or moved elsewhere, as long as that saves way.

A way flown backwards is as long as forwards, so a reversed part costs nothing inside: only its two ends count.
"""

from __future__ import annotations

import numpy as np

from paddock.planning.coverage.patterns import Nodes
from paddock.world.columns import Floats

MOST_POLISHED = 300
"""Swaths: the search looks at all pairs of them in every round."""
MOST_ROUNDS = 1000
LONGEST_MOVED = 4
SHAKES, SHAKEN = 60, 1800
"""At most so many, and so many times swaths: large tours are shaken less."""
SAVES = 1e-6
"""m, at least: less is rounding."""


def polished(tour: Nodes, turns: Floats) -> Nodes:
    """The tour (nodes 2 k or 2 k + 1 for swath k), improved; its first node stays. `turns` (2 n, 2 n) in m.

    Where it cannot be improved any more it is shaken, two of its parts exchanged, and improved again.
    """
    if not 2 < len(tour) <= MOST_POLISHED:
        return tour
    free = np.pad(turns, (0, 2))  # behind the last swath stands a node that is reached for nothing
    best = _improved(np.append(tour, len(turns)), free)
    draws = np.random.default_rng(len(tour)).random((min(SHAKES, SHAKEN // len(tour)), 3))
    for cuts in np.sort(1 + (draws * len(tour)).astype(np.int64)) if len(tour) > 4 else ():
        head, one, other, tail = np.split(best, cuts)
        shaken = _improved(np.concatenate([head, other, one, tail]), free)
        if _length(shaken, free) < _length(best, free) - SAVES:
            best = shaken
    return best[:-1]


def _improved(tour: Nodes, turns: Floats) -> Nodes:
    """The best single change, again and again."""
    for _ in range(MOST_ROUNDS):
        change, after = min((_reversal(tour, turns), *_moves(tour, turns)), key=lambda found: found[0])
        if change > -SAVES:
            break
        tour = after
    return tour


def _length(tour: Nodes, turns: Floats) -> float:
    return float(turns[tour[:-1], tour[1:]].sum())


def _reversal(tour: Nodes, turns: Floats) -> tuple[float, Nodes]:
    """The best part [i, j] to fly the other way: m by which the tour changes, and the tour then."""
    on = turns[tour[:-1], tour[1:]]
    into = turns[np.ix_(tour[:-2], tour[1:-1] ^ 1)]  # [i - 1, j]: from before the part to its end, reversed
    out = turns[np.ix_(tour[1:-1] ^ 1, tour[2:])]  # [i, j + 1]: from its beginning, reversed, on
    change = np.where(np.tri(len(into), k=-1, dtype=bool), np.inf, into + out - on[:-1, None] - on[None, 1:])
    i, j = (int(k) + 1 for k in np.unravel_index(np.argmin(change), change.shape))
    after = np.concatenate([tour[:i], tour[i : j + 1][::-1] ^ 1, tour[j + 1 :]])
    return float(change[i - 1, j - 1]), after


def _moves(tour: Nodes, turns: Floats) -> list[tuple[float, Nodes]]:
    """The best move of a part of each length, as it is or reversed."""
    count = len(tour) - 1
    return [
        _move(tour, turns, length, backwards)
        for length in range(1, min(LONGEST_MOVED, count - 2) + 1)
        for backwards in (False, True)
    ]


def _move(tour: Nodes, turns: Floats, length: int, backwards: bool) -> tuple[float, Nodes]:
    """The best part of that many swaths to take out and put in behind another swath."""
    starts = np.arange(1, len(tour) - length)  # the part is [i, i + length)
    heads, tails = tour[starts], tour[starts + length - 1]
    saved = turns[tour[starts - 1], heads] + turns[tails, tour[starts + length]]
    saved -= turns[tour[starts - 1], tour[starts + length]]
    if backwards:
        heads, tails = tails ^ 1, heads ^ 1
    gaps = np.arange(len(tour) - 1)  # it goes between q and q + 1
    change = turns[np.ix_(tour[gaps], heads)] + turns[np.ix_(tails, tour[gaps + 1])].T
    change -= turns[tour[gaps], tour[gaps + 1]][:, None] + saved
    inside = (gaps[:, None] >= starts - 1) & (gaps[:, None] < starts + length)
    change[inside] = np.inf
    q, k = (int(found) for found in np.unravel_index(np.argmin(change), change.shape))
    i = int(starts[k])
    part = tour[i : i + length][::-1] ^ 1 if backwards else tour[i : i + length]
    rest = np.delete(tour, np.s_[i : i + length])
    after = np.insert(rest, q + 1 if q < i else q + 1 - length, part)
    return float(change[q, k]), after
