"""Giving orders: whom they are for, what they ask, and what changes for the vehicles that get them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from paddock.behaviour.rule import find_rule
from paddock.engine.actions import Order
from paddock.engine.addressing import addressed
from paddock.engine.company import Company
from paddock.engine.latch import next_timeout
from paddock.engine.orders import COMMANDED, OWN, FleetOrders
from paddock.engine.plan import Plan, plan
from paddock.engine.program import FleetProgram, checked_inputs
from paddock.engine.squad import Squad, choice_of
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import BehaviourChoice
from paddock.scenario.base import Behaviour
from paddock.scenario.vehicle import EXTERNAL
from paddock.world.columns import column_index, defaults_of
from paddock.world.fleet import NEVER, Ints
from paddock.world.world import World

MOST_ORDERS = 1000
"""Different orders of rules in one fleet: those of paths and formations are decided on one by one."""
CHOICE: TypeAdapter[BehaviourChoice] = TypeAdapter(Behaviour)


class Part(NamedTuple):
    """What an order means for the vehicles of one fleet."""

    program: FleetProgram
    rows: Ints  # ascending
    choice: BehaviourChoice | None  # None: back to what the entry says; its lists are in the order of the rows
    plan: Plan | None  # what a rule is told


@dataclass(frozen=True)
class Understood:
    """An order that can be given."""

    parts: tuple[Part, ...]
    choice: BehaviourChoice | None  # for all, as it was given

    @property
    def written(self) -> str | dict[str, Any] | None:
        """The behaviour in plain values."""
        return None if self.choice is None else self.choice.model_dump(mode="json")

    @property
    def relieved(self) -> Ints:
        """Ids of the vehicles that follow a rule once it is given."""
        ids = [
            part.program.fleet.ids[part.rows]
            for part in self.parts
            if part.plan is not None or (self.choice is None and part.program.conduct is not None)
        ]
        return np.concatenate([np.empty(0, np.int64), *ids])

    def compile(self) -> None:
        """Have the rule's machine code ready for every fleet concerned. Any thread may call this."""
        for program, rows, choice, drawn_up in self.parts:
            if choice is not None and drawn_up is not None:
                Company(program, {1: Squad(choice, drawn_up.of_one(), rows[:1])}).compile()


def understood(world: World, programs: Mapping[str, FleetProgram], order: Order) -> Understood:
    """The order, once everything about it has been found to be right."""
    choice, whom = chosen(order.behaviour), addressed(world, order.target)
    if choice is None or choice.name == EXTERNAL:
        return Understood(tuple(Part(programs[name], rows, choice, None) for name, rows, _ in whom.parts), choice)
    drawn_up = planned(choice, whom.named)
    if drawn_up.one_by_one and whom.repeated:
        raise InvalidValueError("order: a vehicle is named twice, but takes one value of a list")
    if drawn_up.target is not None:
        _check_target(world, drawn_up)
    for name, rows, _ in whom.parts:
        _refuse_too_many(programs[name], rows)
    parts = (
        Part(programs[name], rows, choice_of(choice, drawn_up, places), drawn_up.of(places))
        for name, rows, places in whom.parts
    )
    return Understood(tuple(parts), choice)


def chosen(behaviour: Any) -> BehaviourChoice | None:
    """A behaviour as a scenario would write it: a name or {name: options}; None stays None."""
    if behaviour is None:
        return None
    try:
        choice = CHOICE.validate_python(dict(behaviour) if isinstance(behaviour, Mapping) else behaviour)
    except ValidationError as error:
        raise InvalidValueError(f"order: {error.errors()[0]['msg']}") from None
    if choice.name == EXTERNAL and choice.options:
        raise InvalidValueError("order: 'external' takes no options")
    return choice


def planned(choice: BehaviourChoice, count: int) -> Plan:
    """The rule with its options, checked, for so many vehicles."""
    try:
        rule = find_rule(choice.name)
    except PaddockError as error:
        raise type(error)(f"order: {error}") from None
    return plan(rule, choice.options, lambda option: f"order.{choice.name}.{option}".rstrip("."), count)


def _check_target(world: World, drawn_up: Plan) -> None:
    try:
        world.find(str(drawn_up.target))
    except PaddockError as error:
        raise type(error)(f"order.{drawn_up.rule.name}.target: {error}") from None


def _refuse_too_many(program: FleetProgram, rows: Ints) -> None:
    if program.orders is None or len(program.orders.squads) < MOST_ORDERS:
        return
    marks = program.orders.marks.copy()
    marks[rows] = OWN
    if len(np.unique(marks[marks > OWN])) >= MOST_ORDERS:
        raise PaddockError(
            f"the vehicles of {program.fleet.name!r} have {MOST_ORDERS} different orders already: "
            "tell several together, or give some back"
        )


# taking effect -------------------------------------------------------------------------------------------------------


def give(part: Part) -> Ints:
    """Let an order take effect in a fleet; returns the rows for which it changes anything."""
    program, rows, choice, drawn_up = part
    orders = program.orders = program.orders or FleetOrders(program)
    ordered, driven = orders.marks[rows] != OWN, program.driven(rows)
    if choice is not None and drawn_up is not None:
        orders.assign(rows, choice, drawn_up)
    else:
        external = choice is not None and program.conduct is not None
        orders.release(rows, COMMANDED if external else OWN)
    now = program.driven(rows)
    _pass_on(program, rows[now & ~driven], {})  # a rule starts from untouched inputs, not from a driver's last ones
    if choice is None:
        _pass_on(program, rows[driven & ~now], program.entry.get("commands", {}))
        if program.conduct is not None:
            program.conduct.admit(rows[ordered])
    _forget_timeouts(program, rows[now | driven])
    program.forget_orders()
    return rows[ordered] if choice is None else rows


def _pass_on(program: FleetProgram, rows: Ints, inputs: Mapping[str, Any]) -> None:
    """The inputs of vehicles that somebody else drives from now on: as at the start."""
    fleet, known = program.fleet, column_index(program.model.command)
    fleet.command[:, rows] = defaults_of(fleet.command_fields)[:, None]
    for name, value in checked_inputs(program.model, inputs, str).items():
        fleet.command[known[name], rows] = value


def _forget_timeouts(program: FleetProgram, rows: Ints) -> None:
    """Nobody waits for the next command of a driver who has been relieved, or has not begun."""
    program.fleet.tables["expires"][rows] = NEVER
    program.fleet.tables["failed"][rows] = 0
    program.expires_from = next_timeout(program)


# saved states --------------------------------------------------------------------------------------------------------


def saved_plans(saved: Mapping[str, Any]) -> dict[int, tuple[BehaviourChoice, Plan]]:
    """Number of an order -> what it asks."""
    written = {int(number): chosen(tree["behaviour"]) for number, tree in saved["squads"].items()}
    counts = {number: int(np.count_nonzero(saved["marks"] == number)) for number in written}
    return {
        number: (choice, planned(choice, counts[number])) for number, choice in written.items() if choice is not None
    }


def restored_orders(
    program: FleetProgram, saved: Mapping[str, Any], plans: Mapping[int, tuple[BehaviourChoice, Plan]]
) -> FleetOrders:
    """The orders of a fleet whose vehicles are back already."""
    orders = FleetOrders(program)
    orders.restore(saved, plans)
    return orders
