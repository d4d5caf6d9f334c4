"""Assignment of rows to columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from paddock.errors import InvalidValueError, UnknownNameError
from paddock.planning.solver.assignment import Assignment, assign, assignment_names, auction
from paddock.world.columns import Floats

METHODS = ["auction", "cbba", "greedy", "hungarian"]
sizes = st.integers(1, 30)
seeds = st.integers(0, 2**32 - 1)


def least(cost: Floats) -> float:
    rows, columns = linear_sum_assignment(cost)
    return float(cost[rows, columns].sum())


def plain_greedy(cost: Floats) -> list[tuple[int, int]]:
    pairs = sorted((cost[i, j], i, j) for i in range(cost.shape[0]) for j in range(cost.shape[1]))
    rows: set[int] = set()
    columns: set[int] = set()
    assigned = []
    for value, i, j in pairs:
        if np.isfinite(value) and i not in rows and j not in columns:
            rows.add(i)
            columns.add(j)
            assigned.append((i, j))
    return sorted(assigned)


def test_files_are_methods() -> None:
    assert assignment_names() == METHODS


@pytest.mark.parametrize(("method", "first", "second"), [("hungarian", 5, 5), ("auction", 5, 5), ("greedy", 6, 101)])
def test_known_answers(method: str, first: float, second: float) -> None:
    assert assign([[4, 1, 3], [2, 0, 5], [3, 2, 2]], method).total == first
    assert assign([[1, 2], [3, 100]], method).total == second


def test_hungarian_is_the_default_and_pairs_come_by_rows() -> None:
    assignment = assign([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    assert assignment == Assignment(((0, 1), (1, 0), (2, 2)), 5.0)
    assert list(assignment) == [(0, 1), (1, 0), (2, 2)] and len(assignment) == 3 and assignment[1] == (1, 0)
    assert dict(assignment) == {0: 1, 1: 0, 2: 2}
    assert np.array(assignment).tolist() == [[0, 1], [1, 0], [2, 2]]


@given(sizes, sizes, seeds)
def test_hungarian_equals_scipy(n: int, m: int, seed: int) -> None:
    cost = np.random.default_rng(seed).normal(size=(n, m))
    assert assign(cost).total == pytest.approx(least(cost), abs=1e-12)


@given(st.integers(1, 200), st.integers(1, 200), seeds, st.floats(1e-4, 1.0))
def test_auction_keeps_its_bound(n: int, m: int, seed: int, epsilon: float) -> None:
    cost = np.random.default_rng(seed).uniform(-50.0, 50.0, (n, m))
    rows, columns = auction(cost, epsilon)
    assert len(set(rows.tolist())) == len(set(columns.tolist())) == min(n, m)
    assert cost[rows, columns].sum() <= least(cost) + min(n, m) * epsilon + 1e-9


@given(st.integers(1, 200), st.integers(1, 200), seeds, st.integers(1, 1000))
def test_auction_of_whole_numbers_is_exact_below_one_nth(n: int, m: int, seed: int, high: int) -> None:
    cost = np.random.default_rng(seed).integers(0, high, (n, m)).astype(float)
    rows, columns = auction(cost, 0.99 / min(n, m))
    assert cost[rows, columns].sum() == least(cost)
    assert assign(cost, "auction").total == least(cost)


@given(sizes, sizes, seeds, st.floats(0.1, 0.95))
def test_forbidden_pairs_are_never_assigned_and_others_all(n: int, m: int, seed: int, share: float) -> None:
    draw = np.random.default_rng(seed)
    cost = np.where(draw.random((n, m)) < share, np.inf, draw.integers(0, 20, (n, m)))
    # the same by brute weight: a pair that exists is worth more than any total
    weighed = np.where(np.isfinite(cost), cost - 1e6, 0.0)
    rows, columns = linear_sum_assignment(weighed)
    real = np.isfinite(cost[rows, columns])
    for method in ("hungarian", "auction"):
        assignment = assign(cost, method)
        assert np.isfinite(assignment.total)
        assert len(assignment) == real.sum()
        assert assignment.total == cost[rows, columns][real].sum()


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_valid_columns_are_left_out(method: str) -> None:
    inf = np.inf
    assert assign([[inf, inf], [inf, 3.0], [7.0, 9.0]], method).pairs == ((1, 1), (2, 0))
    assert assign([[inf, inf]], method) == Assignment((), 0.0)


@given(sizes, sizes, seeds, st.booleans())
def test_greedy_and_consensus_equal_a_reference(n: int, m: int, seed: int, ties: bool) -> None:
    draw = np.random.default_rng(seed)
    cost = draw.integers(0, 4, (n, m)).astype(float) if ties else draw.random((n, m))
    cost[draw.random((n, m)) < 0.1] = np.inf
    assert list(assign(cost, "greedy")) == plain_greedy(cost)
    assert list(assign(cost, "cbba")) == plain_greedy(cost)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (3, 7), (7, 3)])
def test_rectangles_have_as_many_pairs_as_their_shorter_side(method: str, shape: tuple[int, int]) -> None:
    assignment = assign(np.random.default_rng(3).random(shape), method)
    assert len(assignment) == min(shape)
    assert all(0 <= i < shape[0] and 0 <= j < shape[1] for i, j in assignment)


@pytest.mark.parametrize("method", METHODS)
def test_equal_costs_are_handled(method: str) -> None:
    assert assign(np.full((6, 4), 2.5), method).total == 10.0
    assert assign(np.zeros((5, 5)), method).total == 0.0


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ([[1.0, np.nan]], r"cost\[0, 1\] is nan"),
        ([[1.0], [-np.inf]], r"cost\[1, 0\] is -inf"),
        ([], "shape"),
        ([[]], "shape"),
        ([1.0, 2.0], "shape"),
        (np.zeros((2, 2, 2)), "shape"),
        ([[1.0, 2.0], [3.0]], "one length"),
        ([["a"]], "matrix of numbers"),
        (3.0, "shape"),
    ],
)
def test_invalid_costs_are_refused_in_one_line(cost: object, words: str) -> None:
    with pytest.raises(InvalidValueError, match=words) as caught:
        assign(cost)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_unknown_methods_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hungarian'"):
        assign([[1.0]], "hungarien")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.nan, np.inf])
def test_auction_refuses_an_invalid_epsilon(epsilon: float) -> None:
    with pytest.raises(InvalidValueError, match="epsilon"):
        auction(np.ones((2, 2)), epsilon)
