"""CBBA over messages: perfect, lossy, slow and partitioned links."""

from typing import Any

import numpy as np
import pytest
from radio_messages import links_of, messages_over

from paddock.planning.consensus_radio import RadioConsensus
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.solver.assignment import greedy
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods.cbba import Options, bidding_for, bidding_on, solve
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.scenario.radio_types import MessagesSection

SHARED = MessagesSection(mailbox=64)


def consensus(cost: Any, heard: Any, per: float = 0.0, period: float = 0.5, seed: int = 1) -> RadioConsensus:
    messages = messages_over(links_of(heard, per=per), SHARED, seed)
    return RadioConsensus(bidding_on(cost), messages, np.arange(len(cost)), period=period)


def complete(n: int) -> Any:
    return ~np.eye(n, dtype=bool)


def chain(n: int) -> Any:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1


def chosen(rounds: RadioConsensus) -> set[tuple[int, int]]:
    return {(i, order[0]) for i, order in enumerate(rounds.consensus.orders()) if order}


@pytest.mark.parametrize("heard", [complete(6), chain(6)])
def test_perfect_links_give_the_direct_assignment(heard: Any) -> None:
    cost = np.random.default_rng(3).random((6, 8))
    direct = bidding_on(cost)
    direct.run()
    over = consensus(cost, heard)
    ended = over.run()
    assert ended.agreed and ended.conflicts == 0 and ended.parts == 1
    assert over.consensus.orders() == direct.orders()
    rows, columns = greedy(cost)
    assert chosen(over) == set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert ended.sent == 6 * over.consensus.rounds


@pytest.mark.parametrize("seed", range(4))
def test_lossy_links_still_agree_without_conflicts(seed: int) -> None:
    cost = np.random.default_rng(seed).random((6, 8))
    direct = bidding_on(cost)
    direct.run()
    over = consensus(cost, chain(6), per=0.97, seed=seed)  # of packets of 8192 bits; these have 752
    ended = over.run()
    heard = ended.received / (ended.sent * 10 / 6)  # over ten directed links of six vehicles
    assert heard == pytest.approx(0.03 ** (752 / 8192), abs=0.12)
    assert ended.agreed and ended.conflicts == 0
    assert ended.rounds > direct.rounds
    assert chosen(over) == {(i, order[0]) for i, order in enumerate(direct.orders()) if order}


def test_messages_that_arrive_rounds_later() -> None:
    """At 1 Mbit/s a message takes 0.9 ms: with rounds of 0.5 ms all arrive later than they were sent."""
    cost = np.random.default_rng(7).random((4, 5))
    over = consensus(cost, complete(4), period=5e-4)
    ended = over.run(400)
    direct = bidding_on(cost)
    direct.run()
    assert ended.agreed and over.consensus.orders() == direct.orders()
    assert ended.rounds > direct.rounds


def test_bundles_agree_over_a_chain() -> None:
    """Tasks along a line, by the tours of vehicles: as the direct CBBA."""
    who = tuple(
        Vehicle(f"u{k}", (400.0 * k, 0.0, 0.0, 0.0), (400.0 * k, 0.0, 0.0, 0.0), 17.5, 60.0, 20_000.0) for k in range(3)
    )
    what = tuple(Task(f"t{k}", PointShape(170.0 * k, 300.0 + 40.0 * (k % 3))) for k in range(7))
    costs = Costs(Problem(who, what, seed=1))
    messages = messages_over(links_of(chain(3)), SHARED)
    over = RadioConsensus(bidding_for(costs, Options()), messages, np.arange(3))
    ended, orders = over.run(), over.consensus.orders()
    assert ended.agreed and ended.conflicts == ended.unassigned == 0
    assert orders == solve(costs, Options(), lambda share: None).orders


def test_a_partitioned_network_is_reported() -> None:
    cost = np.tile(np.arange(1.0, 4.0), (4, 1))  # all want the same task
    heard = complete(4)
    heard[:2, 2:] = heard[2:, :2] = False
    ended = consensus(cost, heard).run()
    assert not ended.agreed and ended.parts == 2
    assert ended.conflicts == 2  # both halves assign the two cheapest tasks
    assert "did not agree" in ended.describe() and "there are 2 groups that do not hear each other" in ended.describe()


def test_a_radio_between_two_groups_does_not_join_them() -> None:
    """Broadcasts make one hop: vehicles 0 and 1 hear each other, 3 and 4 too, and all hear radio 2, a station."""
    heard = np.zeros((5, 5), bool)
    heard[:2, :2] = heard[3:, 3:] = True
    heard[2] = heard[:, 2] = True
    np.fill_diagonal(heard, False)
    cost = np.tile(np.arange(1.0, 4.0), (4, 1))
    over = RadioConsensus(bidding_on(cost), messages_over(links_of(heard), SHARED), np.array([0, 1, 3, 4]))
    ended = over.run()
    assert ended.parts == 2 and ended.settled and not ended.agreed
    assert ended.seconds <= 10 * over.period  # each group ends when it agrees
