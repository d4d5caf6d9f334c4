"""Auction: in rounds, vehicles bid for one more task each."""

from functools import partial
from typing import Annotated, NamedTuple

from paddock.planning.solver.assignment import assign_in_rounds, auction
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import Method, MethodResult, Progress
from paddock.world.columns import Column


class Options(NamedTuple):
    """Precision of the auctions."""

    epsilon: Annotated[
        float,
        Column("m", "minimum raise of a bid: a round is at most this much above the optimum per vehicle", 1e-6, 1e6),
    ] = 0.01


def solve(costs: Costs, options: Options, progress: Progress) -> MethodResult:
    """Assign one more task to every vehicle in each round."""
    return assign_in_rounds(costs, partial(auction, epsilon=options.epsilon), progress)


METHOD = Method("in rounds, vehicles bid for one more task each until no bid changes", solve, Options)
