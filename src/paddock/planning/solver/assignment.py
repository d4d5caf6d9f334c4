"""Assignment of rows to columns at a low total cost, `assign(cost, method)`, and planning by repeated assignment.

A method is a function `solve(cost (n, m)) -> (rows, columns)` of checked costs, in which inf means never.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from numpy import empty, inf, int64, zeros
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from paddock.compute.routine import routine
from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.solver import methods
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.insertion import append_costs, append_pairs, empty_tours
from paddock.planning.solver.methods import MethodResult, Progress
from paddock.planning.solver.methods.cbba import by_consensus
from paddock.planning.solver.tours import Ints
from paddock.plugins import find_plugin
from paddock.world.columns import Floats

ENTRY_POINTS = "paddock.assignments"


Solve = Callable[[Floats], tuple[Ints, Ints]]


@dataclass(frozen=True)
class Assignment(Sequence[tuple[int, int]]):
    """Pairs of rows and columns; usable as a sequence: `list(found)`, `dict(found)`, `np.array(found)`."""

    pairs: tuple[tuple[int, int], ...]  # (row, column), by rows
    total: float  # the sum of their costs

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: Any) -> Any:
        return self.pairs[index]


def assign(cost: ArrayLike, method: str = "hungarian") -> Assignment:
    """Pair as many rows as possible with columns of `cost` (n, m; inf: never); `method` of `assignment_names()`."""
    matrix = checked_cost(cost)
    rows, columns = find_assignment(method)(matrix)
    order = np.argsort(rows)
    rows, columns = rows[order], columns[order]
    pairs = tuple(zip(rows.tolist(), columns.tolist(), strict=True))
    return Assignment(pairs, float(matrix[rows, columns].sum()))


def assignment_names() -> list[str]:
    """Return the methods that `assign` accepts besides dotted names of a user's own modules."""
    return sorted(ASSIGNMENTS)


def find_assignment(name: str) -> Solve:
    """Return the function `solve(cost) -> (rows, columns)` of a method, shipped or from a user's module."""
    if name in ASSIGNMENTS:
        return ASSIGNMENTS[name]
    if "." not in name:
        raise unknown_name("assignment method", name, ASSIGNMENTS)
    return find_plugin("assignment method", name, methods, ENTRY_POINTS, "solve", FunctionType)


def checked_cost(cost: ArrayLike) -> Floats:
    """Return costs as a matrix of floats; raise if they are invalid."""
    try:
        matrix = np.array(cost, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InvalidValueError("cost must be a matrix of numbers, its rows of one length") from None
    if matrix.ndim != 2 or not matrix.size:
        raise InvalidValueError(f"cost must be a matrix with rows and columns, not of shape {matrix.shape}")
    wrong = np.argwhere(np.isnan(matrix) | (matrix == -np.inf))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InvalidValueError(
            f"cost[{row}, {column}] is {matrix[row, column]:g}; a cost is a number, or inf for never"
        )
    return matrix


def without_infinities(cost: Floats, margin: float = 0.0) -> Floats:
    """Return the costs with a finite number for inf, so high that near-optimal totals contain as few as possible."""
    finite = np.isfinite(cost)
    if finite.all():
        return cost
    if not finite.any():
        return np.zeros_like(cost)
    low, high = float(cost[finite].min()), float(cost[finite].max())
    step = max(high - low, margin, 1e-6 * abs(high)) or 1.0
    return np.where(finite, cost, high + (min(cost.shape) + 1) * step)


def allowed(cost: Floats, rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of finite cost."""
    possible = np.isfinite(cost[rows, columns])
    return rows[possible], columns[possible]


def hungarian(cost: Floats) -> tuple[Ints, Ints]:
    """Return the largest number of pairs, at the lowest total cost."""
    rows, columns = linear_sum_assignment(without_infinities(cost))
    return allowed(cost, rows.astype(np.int64), columns.astype(np.int64))


def greedy(cost: Floats) -> tuple[Ints, Ints]:
    """Return pairs, cheapest first; ties go to the first row, then to the first column."""
    flat = cost.ravel()
    ranked = np.argsort(flat, kind="stable")
    chosen = take_ranked(ranked[: int(np.isfinite(flat).sum())], *cost.shape)
    return chosen // cost.shape[1], chosen % cost.shape[1]


def taken(ranked: Ints, rows: int, columns: int) -> Ints:
    """Return the pairs (row * columns + column), in order, whose row and column are still free."""
    row_used, column_used = zeros(rows, int64), zeros(columns, int64)
    pairs, count = empty(min(rows, columns), int64), 0
    for pair in ranked:
        row, column = pair // columns, pair % columns
        if row_used[row] == 0 and column_used[column] == 0:
            row_used[row] = column_used[column] = 1
            pairs[count] = pair
            count += 1
            if count == len(pairs):
                break
    return pairs[:count]


take_ranked = routine(taken)


PRECISION = 1e-7  # of the total, relative to the spread of the costs, where the costs are not whole numbers
SHRINK = 0.2  # epsilon in the next round of scaling


def auction(cost: Floats, epsilon: float | None = None) -> tuple[Ints, Ints]:
    """Return the largest number of pairs, at a total within min(n, m) epsilon of the lowest.

    Without an epsilon (in units of the costs) whole numbers are solved exactly, others to 1e-7 of their spread.
    """
    if cost.shape[0] > cost.shape[1]:
        columns, rows = auction(np.ascontiguousarray(cost.T), epsilon)
        order = np.argsort(rows)
        return rows[order], columns[order]
    if epsilon is not None and not 0.0 < epsilon < inf:
        raise InvalidValueError(f"auction: epsilon must be a positive number, not {epsilon!r}")
    last = _last_epsilon(cost) if epsilon is None else epsilon
    filled = without_infinities(cost, len(cost) * last)
    assigned = run_auction(np.ascontiguousarray(-filled), float(np.ptp(filled)), last)
    return allowed(cost, np.arange(len(cost)), assigned)


def _last_epsilon(cost: Floats) -> float:
    finite = cost[np.isfinite(cost)]
    if not len(finite) or np.ptp(finite) == 0.0:
        return 1.0
    whole = bool((finite == np.rint(finite)).all()) and float(np.abs(finite).max()) < 1e9
    return 1.0 / (len(cost) + 1) if whole else PRECISION * float(np.ptp(finite)) / len(cost)


def auction_columns(values: Floats, spread: float, last: float) -> Ints:
    """Return the column of each row, maximising the values (n, m), n <= m."""
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
    """Let rows without a column bid for their best one, until all rows have one."""
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
        prices[best] = raise_price(prices[best], rise)
        profits[row] = values[row, best] - prices[best]
        if owner[best] >= 0:
            column[owner[best]] = -1
            waiting[count] = owner[best]
            count += 1
        owner[best], column[row] = row, best


def bids_of_columns(values: Floats, epsilon: float, prices: Floats, profits: Floats, owner: Ints, column: Ints) -> None:
    """Let free columns with a higher price than an assigned one bid for rows, or lower their price."""
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
        profits[best] = raise_price(profits[best], rise)
        prices[c] = max(values[best, c] - profits[best], floor)
        left = column[best]
        owner[left], owner[c], column[best] = -1, best, c
        if prices[left] > floor:
            waiting[count] = left
            count += 1


def raise_price(value: float, rise: float) -> float:
    """Return the price plus `rise`, and at least the next float: otherwise two bidders could bid endlessly."""
    higher = value + rise
    return higher if higher > value else value + 4e-16 * abs(value) + 1e-300


run_auction = routine(auction_columns)


def assign_in_rounds(costs: Costs, solve: Solve, progress: Progress) -> MethodResult:
    """Return the result of repeated assignments, each of which gives every vehicle at most one task."""
    orders: list[list[int]] = [[] for _ in range(costs.vehicles)]
    fleet, ends, left = costs.fleet, empty_tours(costs), np.arange(costs.tasks)
    by_time, rounds = costs.problem.objective == "makespan", 0
    while len(left):
        cost = np.empty((costs.vehicles, len(left)))
        append_costs(fleet, ends, left, by_time, cost)
        vehicles, columns = solve(cost)
        if not len(vehicles):
            break
        append_pairs(fleet, ends, vehicles, left[columns])
        for vehicle, task in zip(vehicles.tolist(), left[columns].tolist(), strict=True):
            orders[vehicle].append(task)
        left, rounds = np.delete(left, columns), rounds + 1
        progress(1.0 - len(left) / costs.tasks)
    return MethodResult(orders, {"rounds": rounds})


ASSIGNMENTS: dict[str, Solve] = {"auction": auction, "cbba": by_consensus, "greedy": greedy, "hungarian": hungarian}
"""Assignment methods by name."""
