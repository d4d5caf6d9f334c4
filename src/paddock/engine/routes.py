"""Where vehicles are to go: the paths and points of what they follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from paddock.behaviour.rule import find_rule, rule_names
from paddock.engine.orders import OWN
from paddock.engine.plan import Plan, plan
from paddock.engine.program import FleetProgram
from paddock.scenario import Scenario
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.snapshot import Snapshot


class PlannedRoute(NamedTuple):
    """A line that some vehicles follow, or a point where they go."""

    fleet: str
    ids: Ints
    behaviour: str
    closed: bool  # the last point joins the first
    points: Floats  # (k, 3) m


def routes_of(program: FleetProgram) -> Iterator[PlannedRoute]:
    """What the fleet's own rule follows, then its orders."""
    fleet, orders = program.fleet, program.orders
    if program.conduct is not None:
        own = fleet.ids if orders is None else fleet.ids[orders.marks == OWN]
        yield from planned_route(fleet.name, own, program.conduct.plan)
    for squad in [] if orders is None else orders.squads.values():
        yield from planned_route(fleet.name, fleet.ids[squad.rows], squad.plan)


def planned_route(fleet: str, ids: Ints, plan: Plan) -> Iterator[PlannedRoute]:
    """The route of a plan, or those of its vehicles where they differ, if it has any and anybody follows it."""
    for places in _alike(plan, len(ids)) if len(ids) else ():
        route = plan.route(int(places[0]))
        if route is not None:
            yield PlannedRoute(fleet, ids[places], plan.rule.name, bool(route.closed), np.array(route.points))


def _alike(plan: Plan, count: int) -> list[Ints]:
    """The places of those of so many vehicles that were told the same, in the order of the first of each."""
    if not plan.one_by_one:
        return [np.arange(count)]
    kinds, sizes = np.unique(plan.options, axis=1, return_inverse=True, return_counts=True)[1:]
    together = np.split(np.argsort(kinds.reshape(-1), kind="stable"), np.cumsum(sizes)[:-1])
    return sorted(together, key=lambda places: int(places[0]))


def entry_routes(scenario: Scenario, snapshot: Snapshot) -> Iterator[PlannedRoute]:
    """What a scenario's entries say, for those of its vehicles that are there; a user's own rules are not imported."""
    ids = {fleet.name: fleet.ids for fleet in snapshot}
    for entry in scenario.vehicles:
        chosen = entry.controller
        if chosen is not None and chosen.name in rule_names() and entry.name in ids:
            yield from planned_route(entry.name, ids[entry.name], plan(find_rule(chosen.name), chosen.options, str))
