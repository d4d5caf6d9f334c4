"""How actions take effect: each is checked against the world as it is now, applied, and noted in the log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from paddock.engine.actions import Control, MissionOrder, Order, Place, Posted, Remove, Report, SetFrame, Spawn
from paddock.engine.addressing import plain_target
from paddock.engine.events import EventLog
from paddock.engine.frames import place_frame
from paddock.engine.inspect import sensor_readings
from paddock.engine.latch import apply_control, check_control, policy_inputs
from paddock.engine.log import ActionLog
from paddock.engine.ordering import Understood, give, understood
from paddock.engine.placing import checked_place, put
from paddock.engine.program import FleetProgram
from paddock.engine.roster import Roster
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.scenario.vehicle import EXTERNAL
from paddock.world.fleet import Ints
from paddock.world.world import World

LONGEST_TIMEOUT = 1e6
"""s of simulated time."""


class Applier:
    """Finds vehicles by name and changes them. `changed(roster)` is told after every change."""

    def __init__(
        self, world: World, roster: Roster, events: EventLog, log: ActionLog, changed: Callable[[bool], None]
    ) -> None:
        self.world = world
        self.roster = roster
        self.events = events
        self.log = log
        self.changed = changed
        self.refuse_claimed: Callable[[Ints], None] = lambda ids: None  # of vehicles that are to follow a rule
        self.refuse_flown: Callable[[Ints], None] = lambda ids: None  # of vehicles that get commands
        self.direct: Callable[[MissionOrder], None] = lambda order: None  # lets it take effect
        self.rebuilding = threading.RLock()  # held while fleets come and go, and while a vehicle is looked up

    def found(self, target: str | int | Ints) -> tuple[FleetProgram, Ints]:
        """The program and rows that a name or an id stands for. Any thread may ask."""
        with self.rebuilding:
            fleet, rows = self.world.find(target)
            return self.roster.programs[fleet.name], rows

    def exists(self, vehicle: str) -> bool:
        """Whether there is still a vehicle of that name."""
        try:
            self.found(vehicle)
        except UnknownNameError:
            return False
        return True

    def checked(self, control: Control) -> Control:
        """The same command with clean values; refused when the vehicle cannot take it."""
        timeout = control.timeout
        if timeout is not None and not (isinstance(timeout, int | float) and 0 < timeout <= LONGEST_TIMEOUT):
            raise InvalidValueError(f"the timeout of a command is > 0 and <= {LONGEST_TIMEOUT:g} s, not {timeout!r}")
        with self.rebuilding:
            program, rows = self.found(control.target)
            self.refuse_flown(program.fleet.ids[rows])
            return replace(control, inputs=check_control(program, rows, control.inputs, control.target))

    def checked_place(self, place: Place) -> Place:
        """The same in plain floats; refused when that vehicle cannot be put there. Any thread may ask."""
        with self.rebuilding:
            return checked_place(*self.found(place.target), place)

    def _place(self, given: Place) -> None:
        program, rows = self.found(given.target)
        place = checked_place(program, rows, given)
        put(program, rows, place, self.world.environment)
        detail = "at {:g}, {:g}, {:g}".format(*place.pose)
        self.events.report(self.world.clock.tick, "placed", program.fleet.names_of(rows), detail)

    def understood(self, order: Order) -> Understood:
        """What an order means now; refused when it cannot be given. Any thread may ask."""
        with self.rebuilding:
            return understood(self.world, self.roster.programs, order)

    def readings(self, target: str | int) -> dict[str, dict[str, Any]]:
        """What a vehicle's or a fleet's sensors last delivered."""
        program, rows = self.found(target)
        one = bool(program.fleet.single or target != program.fleet.name)
        return sensor_readings(program, rows, self.world.clock.tick, one)

    def readings_if_there(self, vehicle: str) -> dict[str, dict[str, Any]]:
        """What a claimed vehicle's sensors say; nothing for one that has left."""
        return self.readings(vehicle) if self.exists(vehicle) else {}

    def policy_inputs(self, vehicle: str, policy: str) -> dict[str, Any]:
        """What a policy sets; nothing for a vehicle that has left."""
        return policy_inputs(self.found(vehicle)[0], policy) if self.exists(vehicle) else {}

    def report(self, kind: str, subject: str, detail: str) -> None:
        """An event that a replay could not come to by itself: it enters the log."""
        self.apply(Posted(self.world.clock.tick, 0, Report(kind, subject, detail), ""))

    def checked_order(self, given: Order) -> Order:
        """The same order in plain values, with its machine code ready; refused when it cannot be given."""
        with self.rebuilding:
            order = self.understood(given)
            self.refuse_claimed(order.relieved)
        order.compile()
        return Order(plain_target(given.target), order.written)

    def _give(self, given: Order) -> None:
        order = self.understood(given)
        for part in order.parts:
            program, changed = part.program, give(part)
            own = EXTERNAL if program.conduct is None else program.conduct.rule.name
            kind, name = ("order_ended", own) if order.choice is None else ("ordered", order.choice.name)
            if len(changed):
                self.events.report(self.world.clock.tick, kind, program.fleet.names_of(changed), name)

    def take_up(self, posted: Posted) -> None:
        """Apply what was posted; it was valid then, but the world may have changed since."""
        tick = self.world.clock.tick
        try:
            self.apply(posted)
        except PaddockError as error:
            self.events.report(tick, "refused", posted.source, str(error))
            self.log.append(_at(posted, tick))

    def apply(self, posted: Posted) -> str:
        """Let an action take effect at this tick, and note it in the log; returns the name of what was spawned."""
        tick, spawned = self.world.clock.tick, ""
        match posted.action:
            case Control(target, inputs, timeout):
                program, rows = self.found(target)
                lasting = None if timeout is None else max(1, self.world.clock.ticks(timeout))
                if apply_control(program, rows, check_control(program, rows, inputs, target), tick, lasting):
                    self.events.report(tick, "recovered", program.fleet.names_of(rows), "commands are back")
            case Spawn(entry):
                with self.rebuilding:
                    spawned = self.roster.spawn(entry)
            case Remove(target):
                with self.rebuilding:
                    self.roster.remove(target)
            case Place():
                self._place(posted.action)
            case SetFrame():
                place_frame(self.world, posted.action)
            case Order():
                with self.rebuilding:
                    self._give(posted.action)
            case MissionOrder():
                with self.rebuilding:
                    self.direct(posted.action)
            case Report(kind, whom, detail):
                self.events.report(tick, kind, whom, detail)
        self.log.append(_at(posted, tick))
        self.changed(not isinstance(posted.action, Control))
        return spawned


def _at(posted: Posted, tick: int) -> Posted:
    """The same action, taken up at that tick."""
    return posted if posted.tick == tick else replace(posted, tick=tick)
