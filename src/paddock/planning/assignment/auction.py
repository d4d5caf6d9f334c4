"""An auction: rows bid for columns, and prices rise until nobody wants to change (Bertsekas).

Bids rise by at least epsilon, so that the total is within n epsilon of the least, n being the shorter side. Epsilon
starts large and shrinks (scaling), prices being kept. With more columns than rows, kept prices could leave a column
dear that nobody has, and then the bound would not hold: after each round of bids, such columns bid for rows (the
combined forward and reverse auction of Bertsekas and Castanon, 1992).
"""

from __future__ import annotations

import numpy as np
from numpy import empty, inf, int64, zeros

from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.planning.search.pairing import allowed, without_infinities
from paddock.planning.ways import Ints
from paddock.world.columns import Floats

PRECISION = 1e-7
"""Of the total, relative to the spread of the costs, where the costs are not whole numbers."""
SHRINK = 0.2
"""Epsilon in the next round of scaling."""


def auction(cost: Floats, epsilon: float | None = None) -> tuple[Ints, Ints]:
    """As many pairs as can be, of a total within min(n, m) epsilon of the least.

    Without an epsilon (in units of the costs) whole numbers are solved exactly, others to 1e-7 of their spread.
    """
    if cost.shape[0] > cost.shape[1]:
        columns, rows = auction(np.ascontiguousarray(cost.T), epsilon)
        order = np.argsort(rows)
        return rows[order], columns[order]
    last = _last_epsilon(cost) if epsilon is None else _checked(epsilon)
    filled = without_infinities(cost, len(cost) * last)
    found = run_auction(np.ascontiguousarray(-filled), float(np.ptp(filled)), last)
    return allowed(cost, np.arange(len(cost)), found)


def _last_epsilon(cost: Floats) -> float:
    finite = cost[np.isfinite(cost)]
    if not len(finite) or np.ptp(finite) == 0.0:
        return 1.0
    whole = bool((finite == np.rint(finite)).all()) and float(np.abs(finite).max()) < 1e9
    return 1.0 / (len(cost) + 1) if whole else PRECISION * float(np.ptp(finite)) / len(cost)


def _checked(epsilon: float) -> float:
    if not 0.0 < epsilon < inf:
        raise InvalidValueError(f"auction: epsilon must be a positive number, not {epsilon!r}")
    return epsilon


def auctioned(values: Floats, spread: float, last: float) -> Ints:
    """The column of each row; values (n, m) with n <= m are to be made large."""
    n, m = values.shape
    prices, profits = zeros(m), zeros(n)
    owner, column = empty(m, int64), empty(n, int64)
    epsilon = max(0.25 * spread, last)
    while True:
        owner[:] = -1
        column[:] = -1
        bids_of_rows(values, epsilon, prices, profits, owner, column)
        bids_of_columns(values, epsilon, prices, profits, owner, column)
        if epsilon <= last:
            return column
        epsilon = max(SHRINK * epsilon, last)


def bids_of_rows(values: Floats, epsilon: float, prices: Floats, profits: Floats, owner: Ints, column: Ints) -> None:
    """Rows without a column bid for the one they want most, until all have one."""
    n, m = values.shape
    waiting, count = empty(n, int64), n
    for k in range(n):
        waiting[k] = n - 1 - k
    while count > 0:
        count -= 1
        row = waiting[count]
        best, first, second = 0, -inf, -inf
        for c in range(m):
            gain = values[row, c] - prices[c]
            if gain > first:
                best, first, second = c, gain, first
            elif gain > second:
                second = gain
        rise = (first - second if m > 1 else 0.0) + epsilon
        prices[best] = risen(prices[best], rise)
        profits[row] = values[row, best] - prices[best]
        if owner[best] >= 0:
            column[owner[best]] = -1
            waiting[count] = owner[best]
            count += 1
        owner[best], column[row] = row, best


def bids_of_columns(values: Floats, epsilon: float, prices: Floats, profits: Floats, owner: Ints, column: Ints) -> None:
    """Columns that nobody has, but that are dearer than one that somebody has, bid for rows or become as cheap."""
    n, m = values.shape
    floor = inf
    for c in column:
        floor = min(floor, prices[c])
    waiting, count = empty(m, int64), 0
    for c in range(m):
        if owner[c] < 0 and prices[c] > floor:
            waiting[count] = c
            count += 1
    while count > 0:
        count -= 1
        c = waiting[count]
        best, first, second = 0, -inf, -inf
        for row in range(n):
            offer = values[row, c] - profits[row]
            if offer > first:
                best, first, second = row, offer, first
            elif offer > second:
                second = offer
        if first - epsilon <= floor:
            prices[c] = floor
            continue
        rise = min(first - floor, (first - second if n > 1 else first - floor) + epsilon)
        profits[best] = risen(profits[best], rise)
        prices[c] = max(values[best, c] - profits[best], floor)
        left = column[best]
        owner[left], owner[c], column[best] = -1, best, c
        if prices[left] > floor:
            waiting[count] = left
            count += 1


def risen(value: float, rise: float) -> float:
    """Higher by `rise`, and by something even where that is less than rounding: or two bidders could go on for ever."""
    higher = value + rise
    return higher if higher > value else value + 4e-16 * abs(value) + 1e-300


run_auction = routine(auctioned)
