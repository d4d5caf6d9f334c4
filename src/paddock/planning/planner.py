"""From a problem to a plan: costs, a method, routes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from paddock.planning.building import Standing, build
from paddock.planning.costs import Costs
from paddock.planning.covering import Covered
from paddock.planning.method import Answer, Method, Tell, find_method
from paddock.planning.plans import Plan
from paddock.planning.problem import Problem

NOTHING: Mapping[Any, Any] = MappingProxyType({})


def solve(
    problem: Problem,
    method: str,
    options: Mapping[str, Any] = NOTHING,
    tell: Tell | None = None,
    covered: Covered | None = None,
) -> Plan:
    """The plan that a method finds for a problem; `tell` hears how far it has come, 0 to 1.

    `covered` keeps the paths of tasks for those who plan again.
    """
    found = find_method(method)
    chosen = found.read(options)
    costs = Costs(problem, covered)
    return build(costs, _first(found, chosen, costs, tell or _silence), method)


def revise(costs: Costs, method: str, options: Mapping[str, Any], orders: list[list[int]], standing: Standing) -> Plan:
    """The plan after an event: `orders` stand so far, and routes `standing` are kept as long as their orders are."""
    found = find_method(method)
    chosen = found.read(options)
    if found.revise is None or not costs.agents or not costs.tasks:
        answer = _first(found, chosen, costs, _silence)
    else:
        answer = found.revise(costs, chosen, orders)
    return build(costs, answer, method, standing)


def _first(method: Method, options: Any, costs: Costs, tell: Tell) -> Answer:
    if any(task.heading is not None for task in costs.problem.tasks):  # chosen by an earlier plan
        costs = Costs(costs.problem.with_headings({}))
    if not costs.agents or not costs.tasks:  # nothing to search for, whatever the method
        return Answer([[] for _ in costs.problem.agents])
    return method.solve(costs, options, tell)


def _silence(part: float) -> None:
    """Nobody listens."""
