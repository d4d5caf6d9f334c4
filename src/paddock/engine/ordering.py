"""Giving orders: whom they are for, what they ask, and what changes for the vehicles that get them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from paddock.behaviour.registry import find_rule
from paddock.engine.actions import Order, Target
from paddock.engine.latch import next_timeout
from paddock.engine.orders import COMMANDED, OWN, FleetOrders
from paddock.engine.plan import Plan, plan
from paddock.engine.program import FleetProgram, checked_inputs
from paddock.engine.squad import Squad
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import BehaviourChoice
from paddock.scenario.choice import Behaviour
from paddock.scenario.vehicle import EXTERNAL
from paddock.world.columns import column_index, defaults_of
from paddock.world.fleet import NEVER, Ints
from paddock.world.world import World

MOST_ORDERS = 1000
"""Different orders of rules in one fleet: each is decided on by itself."""
CHOICE: TypeAdapter[BehaviourChoice] = TypeAdapter(Behaviour)


@dataclass(frozen=True)
class Understood:
    """An order that can be given."""

    parts: tuple[tuple[FleetProgram, Ints], ...]  # fleet by fleet, rows ascending
    choice: BehaviourChoice | None  # None: back to what the entry says
    plan: Plan | None  # what a rule is told

    @property
    def written(self) -> str | dict[str, Any] | None:
        """The behaviour in plain values."""
        return None if self.choice is None else self.choice.model_dump(mode="json")

    @property
    def relieved(self) -> Ints:
        """Ids of the vehicles that follow a rule once it is given."""
        ids = [
            program.fleet.ids[rows]
            for program, rows in self.parts
            if self.plan is not None or (self.choice is None and program.conduct is not None)
        ]
        return np.concatenate([np.empty(0, np.int64), *ids])

    def compile(self) -> None:
        """Have the rule's machine code ready for every fleet concerned. Any thread may call this."""
        for program, rows in self.parts:
            if self.choice is not None and self.plan is not None:
                Squad(program, self.choice, self.plan, rows[:1]).compile()


def understood(world: World, programs: Mapping[str, FleetProgram], order: Order) -> Understood:
    """The order, once everything about it has been found to be right."""
    choice = chosen(order.behaviour)
    drawn_up = None if choice is None or choice.name == EXTERNAL else planned(choice)
    if drawn_up is not None and drawn_up.target is not None:
        _check_target(world, drawn_up)
    parts = tuple((programs[name], rows) for name, rows in sorted(_found(world, order.target).items()))
    if drawn_up is not None:
        for program, rows in parts:
            _refuse_too_many(program, rows)
    return Understood(parts, choice, drawn_up)


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


def planned(choice: BehaviourChoice) -> Plan:
    """The rule with its options, checked."""
    try:
        rule = find_rule(choice.name)
    except PaddockError as error:
        raise type(error)(f"order: {error}") from None
    return plan(rule, choice.options, lambda option: f"order.{choice.name}.{option}".rstrip("."))


def _check_target(world: World, drawn_up: Plan) -> None:
    try:
        world.find(str(drawn_up.target))
    except PaddockError as error:
        raise type(error)(f"order.{drawn_up.rule.name}.target: {error}") from None


def _found(world: World, target: Target) -> dict[str, Ints]:
    """Fleet -> rows, ascending."""
    if isinstance(target, str | int | np.integer):
        fleet, rows = world.find(target)
        return {fleet.name: rows}
    if not isinstance(target, Sequence | np.ndarray):
        raise InvalidValueError(f"an order is for a name, an id, or a list of them, not {target!r}")
    if not len(target):
        raise InvalidValueError("an order needs at least one vehicle: the list is empty")
    return _found_all(world, target)


def _found_all(world: World, targets: Sequence[str | int] | Ints) -> dict[str, Ints]:
    if isinstance(targets, np.ndarray):
        ids, names = targets, []
    else:
        ids = np.array([one for one in targets if _is_id(one)], np.int64)
        names = [one for one in targets if not _is_id(one)]
    found = [(fleet, rows) for fleet, rows, _ in world.ids.split(np.unique(ids))] if len(ids) else []
    found += [world.find(name) for name in names]  # each was written by hand; whoever has many gives ids
    rows: dict[str, list[Ints]] = {}
    for fleet, part in found:
        rows.setdefault(fleet.name, []).append(part)
    return {name: np.unique(np.concatenate(parts)) for name, parts in rows.items()}


def plain_target(target: Any) -> Target:
    """Whom an order is for, in values of its own that can be saved: whole numbers as an array."""
    if isinstance(target, str):
        return target
    if isinstance(target, int | np.integer):
        return int(target)
    if all(map(_is_id, target)):
        return np.array(target, np.int64)
    return [int(one) if _is_id(one) else str(one) for one in target]


def _is_id(one: Any) -> bool:
    return isinstance(one, int | np.integer) and not isinstance(one, bool)


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


def give(program: FleetProgram, rows: Ints, order: Understood) -> Ints:
    """Let an order take effect; returns the rows for which it changes anything."""
    orders = program.orders = program.orders or FleetOrders(program)
    ordered, driven = orders.marks[rows] != OWN, program.driven(rows)
    if order.choice is not None and order.plan is not None:
        orders.assign(rows, order.choice, order.plan)
    else:
        external = order.choice is not None and program.conduct is not None
        orders.release(rows, COMMANDED if external else OWN)
    now = program.driven(rows)
    _pass_on(program, rows[now & ~driven], {})  # a rule starts from untouched inputs, not from a driver's last ones
    if order.choice is None:
        _pass_on(program, rows[driven & ~now], program.entry.get("commands", {}))
        if program.conduct is not None:
            program.conduct.admit(rows[ordered])
    _forget_timeouts(program, rows[now | driven])
    program.forget_orders()
    return rows[ordered] if order.choice is None else rows


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


def subject(program: FleetProgram, rows: Ints) -> str:
    """Those rows, as an event's subject."""
    fleet = program.fleet
    if len(rows) == 1:
        return fleet.vehicle_name(int(rows[0]))
    return fleet.name if len(rows) == fleet.n else f"{fleet.name} ({len(rows)} vehicles)"


# saved states --------------------------------------------------------------------------------------------------------


def saved_plans(saved: Mapping[str, Any]) -> dict[int, tuple[BehaviourChoice, Plan]]:
    """Number of an order -> what it asks."""
    written = {int(number): chosen(tree["behaviour"]) for number, tree in saved["squads"].items()}
    return {number: (choice, planned(choice)) for number, choice in written.items() if choice is not None}


def restored_orders(
    program: FleetProgram, saved: Mapping[str, Any], plans: Mapping[int, tuple[BehaviourChoice, Plan]]
) -> FleetOrders:
    """The orders of a fleet whose vehicles are back already."""
    orders = FleetOrders(program)
    orders.restore(saved, plans)
    return orders
