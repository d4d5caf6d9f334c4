"""Consensus-based bundles: the same answer without a central planner."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paddock.planning.geometry.shapes import LineShape, PointShape
from paddock.planning.solver.assignment import greedy
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods.cbba import (
    LEAVE,
    NONE,
    RESET,
    UPDATE,
    Options,
    bidding_for,
    bidding_on,
    decide,
    solve,
)
from paddock.planning.solver.problem import Problem, Task, Vehicle

Graph = NDArray[np.bool_]


def quiet(share: float) -> None:
    """Ignore the progress."""


def graph(kind: str, n: int) -> tuple[Graph, int]:
    """Return which vehicle receives from which, and the diameter."""
    if kind == "complete" or n == 1:
        return np.ones((n, n), dtype=bool), 1
    links = np.zeros((n, n), dtype=bool)
    for k in range(n - 1):
        links[k, k + 1] = links[k + 1, k] = True
    if kind == "ring":
        links[0, -1] = links[-1, 0] = True
        return links, max(n // 2, 1)
    return links, n - 1


def problem(seed: int, vehicles: int, tasks: int) -> Problem:
    draw = np.random.default_rng(seed)
    who = []
    for k in range(vehicles):
        x, y, heading = (float(v) for v in draw.uniform(-1.0, 1.0, 3) * (1000.0, 1000.0, pi))
        who.append(Vehicle(f"u{k}", (x, y, 0.0, heading), (x, y, 0.0, heading), 17.5, 60.0, 20_000.0))
    what = []
    for k in range(tasks):
        x, y, heading = (float(v) for v in draw.uniform(-1.0, 1.0, 3) * (1250.0, 1250.0, pi))
        what.append(Task(f"t{k}", LineShape(x, y, heading, 100.0) if k % 3 == 0 else PointShape(x, y)))
    return Problem(tuple(who), tuple(what), seed=seed)


@pytest.mark.parametrize("kind", ["line", "ring", "complete"])
@given(st.integers(0, 2**32 - 1), st.integers(1, 10), st.integers(1, 12), st.booleans())
@settings(max_examples=settings.default.max_examples // 4)
def test_single_tasks_equal_sequential_greedy_within_the_bound(
    kind: str, seed: int, n: int, m: int, ties: bool
) -> None:
    draw = np.random.default_rng(seed)
    cost = draw.integers(0, 5, (n, m)).astype(float) if ties else draw.random((n, m))
    links, diameter = graph(kind, n)
    bidding = bidding_on(cost)
    rounds = bidding.run(lambda _: links)
    assert bidding.agreed
    assert rounds <= min(n, m) * diameter
    rows, columns = greedy(cost)
    assert {(i, order[0]) for i, order in enumerate(bidding.orders()) if order} == set(
        zip(rows.tolist(), columns.tolist(), strict=True)
    )


@pytest.mark.parametrize("kind", ["line", "ring", "complete"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.soak) for k in range(1, 4))])
def test_bundles_agree_within_the_bound_for_any_graph(kind: str, seed: int) -> None:
    costs = Costs(problem(seed, 5, 14))
    links, diameter = graph(kind, 5)
    bidding = bidding_for(costs, Options())
    rounds = bidding.run(lambda _: links)
    assert bidding.agreed
    assert rounds <= 14 * diameter
    orders = bidding.orders()
    assert sorted(t for order in orders for t in order) == list(range(14))
    winners = bidding.beliefs.winners[0]
    assert all(winners[task] == vehicle for vehicle, order in enumerate(orders) for task in order)


def test_the_graph_does_not_change_the_answer() -> None:
    costs = Costs(problem(9, 4, 12))
    answers = [
        solve(costs, Options(), quiet, lambda _, k=kind: graph(k, 4)[0]).orders for kind in ("line", "ring", "complete")
    ]
    assert answers[0] == answers[1] == answers[2] == solve(costs, Options(), quiet).orders


def test_messages_are_counted() -> None:
    bidding = bidding_on(np.array([[1.0, 2.0], [1.5, 9.0], [3.0, 4.0]]))
    bidding.round(np.ones((3, 3), dtype=bool))
    assert (bidding.rounds, bidding.messages) == (1, 6)
    bidding.round(graph("line", 3)[0])
    assert (bidding.rounds, bidding.messages) == (2, 10)


def test_a_vehicle_without_links_keeps_its_tasks() -> None:
    bidding = bidding_on(np.array([[1.0, 5.0], [1.0, 5.0]]))
    bidding.run(lambda _: np.zeros((2, 2), dtype=bool))
    assert bidding.orders() == [[0], [0]] and bidding.messages == 0 and not bidding.agreed


def test_links_may_come_and_go() -> None:
    draw = np.random.default_rng(4)
    cost = draw.random((6, 8))
    bidding = bidding_on(cost)
    changing = [draw.random((6, 6)) < 0.4 for _ in range(400)]
    for links in changing:
        bidding.round(links)
    rows, columns = greedy(cost)
    assert [order[0] for order in bidding.orders()] == columns[np.argsort(rows)].tolist()


def test_bundles_are_limited() -> None:
    answer = solve(Costs(problem(2, 3, 12)), Options(2), quiet)
    assert [len(order) for order in answer.orders] == [2, 2, 2]
    assert answer.notes["rounds"] >= 1 and answer.notes["messages"] % 6 == 0


# The receiver is 0, the sender 1, others 2 and 3; news: about whom the sender has newer information, or the receiver.
TABLE = [
    # sender's winner, receiver's winner, sender bids higher, sender has newer news of, receiver has, verdict
    (1, 0, True, [], [], UPDATE),
    (1, 0, False, [], [], LEAVE),
    (1, 1, False, [], [], UPDATE),
    (1, 2, False, [2], [], UPDATE),
    (1, 2, True, [], [2], UPDATE),
    (1, 2, False, [], [], LEAVE),
    (1, NONE, False, [], [], UPDATE),
    (0, 0, True, [], [], LEAVE),
    (0, 1, False, [], [], RESET),
    (0, 2, False, [2], [], RESET),
    (0, 2, True, [], [], LEAVE),
    (0, NONE, True, [], [], LEAVE),
    (2, 0, True, [2], [], UPDATE),
    (2, 0, True, [], [], LEAVE),
    (2, 0, False, [2], [], LEAVE),
    (2, 1, False, [2], [], UPDATE),
    (2, 1, True, [], [], RESET),
    (2, 2, False, [2], [], UPDATE),
    (2, 2, True, [], [], LEAVE),
    (2, 3, False, [2, 3], [], UPDATE),
    (2, 3, True, [2], [], UPDATE),
    (2, 3, False, [3], [2], RESET),
    (2, 3, False, [2], [], LEAVE),
    (2, 3, True, [], [], LEAVE),
    (2, NONE, True, [2], [], UPDATE),
    (2, NONE, True, [], [], LEAVE),
    (NONE, 0, False, [], [], LEAVE),
    (NONE, 1, False, [], [], UPDATE),
    (NONE, 2, False, [2], [], UPDATE),
    (NONE, 2, False, [], [], LEAVE),
    (NONE, NONE, False, [], [], LEAVE),
]


@pytest.mark.parametrize(("theirs", "mine", "higher", "newer", "older", "verdict"), TABLE)
def test_the_decision_table(
    theirs: int, mine: int, higher: bool, newer: list[int], older: list[int], verdict: int
) -> None:
    sender, receiver = np.full(4, 5), np.full(4, 5)
    sender[newer] = receiver[older] = 6
    bid = 2.0 if higher else 0.5
    assert decide(0, 1, mine, 1.0, theirs, bid, receiver, sender) == verdict
