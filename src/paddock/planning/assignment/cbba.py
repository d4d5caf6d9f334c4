"""Consensus-based bundles of one task: rows bid for columns and tell each other, until all agree."""

from __future__ import annotations

import numpy as np

from paddock.compute.routine import routine
from paddock.planning.search.consensus import Beliefs, Consensus, HeardBy, wins
from paddock.planning.ways import Ints
from paddock.world.columns import Floats


def by_consensus(cost: Floats, links: HeardBy | None = None) -> tuple[Ints, Ints]:
    """What greedy finds, found by rows that hear each other (all, or as `links` tell)."""
    found = bidding_on(cost)
    found.run(links)
    orders = [(row, order[0]) for row, order in enumerate(found.orders()) if order]
    pairs = np.array(orders, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def bidding_on(cost: Floats) -> Consensus:
    """Rows that bid for one column each, before the first round."""
    agents, tasks = cost.shape
    return Consensus(agents, tasks, 1, lambda beliefs: _bid(cost, beliefs))


def bid(cost: Floats, beliefs: Beliefs) -> None:
    """Every row without a column takes the cheapest one that it can win."""
    for i in range(len(cost)):
        best = -1
        for task in range(cost.shape[1]):
            if wins(-cost[i, task], i, beliefs, task) and (best < 0 or cost[i, task] < cost[i, best]):
                best = task
        if beliefs.counts[i] == 0 and best >= 0:
            beliefs.bids[i, best], beliefs.winners[i, best] = -cost[i, best], i
            beliefs.bundles[i, 0] = beliefs.paths[i, 0] = best
            beliefs.counts[i] = 1


_bid = routine(bid)
