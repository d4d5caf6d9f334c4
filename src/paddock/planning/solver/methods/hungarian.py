"""Hungarian: in rounds, one more task for every vehicle by the cheapest assignment."""

from paddock.planning.solver.assignment import assign_in_rounds, hungarian
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import Method, MethodResult, NoOptions, Progress


def solve(costs: Costs, options: NoOptions, progress: Progress) -> MethodResult:
    """Assign one more task to every vehicle in each round, at the lowest total cost."""
    return assign_in_rounds(costs, hungarian, progress)


METHOD = Method("in rounds, one more task for every vehicle by the cheapest assignment", solve)
