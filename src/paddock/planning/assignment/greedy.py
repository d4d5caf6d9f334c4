"""The cheapest pair of all first, then the cheapest of what is left."""

from __future__ import annotations

import numpy as np
from numpy import empty, int64, zeros

from paddock.compute.routine import routine
from paddock.planning.ways import Ints
from paddock.world.columns import Floats


def greedy(cost: Floats) -> tuple[Ints, Ints]:
    """Pairs from the cheapest on; of equal ones the first row, then the first column."""
    flat = cost.ravel()
    ranked = np.argsort(flat, kind="stable")
    chosen = take_ranked(ranked[: int(np.isfinite(flat).sum())], *cost.shape)
    return chosen // cost.shape[1], chosen % cost.shape[1]


def taken(ranked: Ints, rows: int, columns: int) -> Ints:
    """Of pairs (row * columns + column) in order, those whose row and column nobody before them has."""
    row_used, column_used = zeros(rows, int64), zeros(columns, int64)
    found, count = empty(min(rows, columns), int64), 0
    for pair in ranked:
        row, column = pair // columns, pair % columns
        if row_used[row] == 0 and column_used[column] == 0:
            row_used[row] = column_used[column] = 1
            found[count] = pair
            count += 1
            if count == len(found):
                break
    return found[:count]


take_ranked = routine(taken)
