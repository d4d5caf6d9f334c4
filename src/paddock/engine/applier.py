"""Check and application of actions: they are checked once, when they are posted, and applied at their tick.

`Applier` is also the stage `latch` of the tick, in which they are applied.

An action is checked again when it is applied if the world has changed since, or if it comes from a recording.
"""

import threading
from collections.abc import Mapping
from dataclasses import replace
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine import actions
from paddock.engine.actions import ActionLog, Mailbox
from paddock.engine.barrier import Claims
from paddock.engine.clock_thread import ClockThread
from paddock.engine.commands import apply_command, check_command, check_place, fail_silent, place_vehicle
from paddock.engine.fleets import PreparedSpawn
from paddock.engine.frames import place_frame
from paddock.engine.overrides import apply_override, check_override, plain_target
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import FleetProgram
from paddock.errors import InvalidValueError, PaddockError, whole_number
from paddock.scenario.vehicle import EXTERNAL
from paddock.world.fleet import Ints

if TYPE_CHECKING:
    from paddock.engine.run_parts import RunParts


class Applier:
    """Checks actions against the present world, applies and logs them; stage of the tick."""

    name = "latch"

    def __init__(self, parts: "RunParts", mailbox: Mailbox, thread: ClockThread, claims: Claims) -> None:
        self.world, self.fleets, self.events = parts.world, parts.fleets, parts.events
        self.mission, self.publisher, self.contact = parts.mission, parts.publisher, parts.contact
        self.rules, self.radio = parts.rules, parts.radio
        self.mailbox, self.thread, self.claims = mailbox, thread, claims
        self.log = ActionLog()
        self.posted_seconds = 0.0  # processor time of the ticking thread for actions that clients have posted
        self._changes = 0  # of overrides, places and frames
        self.rebuilding = threading.RLock()  # held while fleets change, and while a vehicle is looked up
        self._next_timeout: int | None = None  # None: not known
        self._epoch = -1  # of the state of which it is known

    @property
    def version(self) -> tuple[int, ...]:
        """Changes with vehicles, overrides and autopilots: an action checked at another version is checked again."""
        world = self.world
        return self._changes, world.epoch, world.state.roster_version, self.claims.autopilots.joins

    # looking up, from any thread -------------------------------------------------------------------------------------

    def found(self, target: str | int | Ints) -> tuple[FleetProgram, Ints]:
        """Return the program and rows of a name, an id, or ids of one fleet."""
        with self.rebuilding:
            fleet, rows = self.world.find(target)
            return self.world.programs[fleet.name], rows

    def exists(self, vehicle: str) -> bool:
        """Return whether a vehicle or fleet of that name exists."""
        with self.rebuilding:
            return self.world.has(vehicle)

    # checking, from any thread ---------------------------------------------------------------------------------------

    def checked(self, action: actions.Action) -> actions.Action:
        """Return the action with normalised values; PaddockError if it cannot be applied to the present world."""
        match action:
            case actions.CommandAction():
                return self.checked_command(action.target, action.inputs, action.timeout)
            case actions.PlaceAction():
                return check_place(*self.found(action.target), action, self.world)
            case actions.OverrideAction():
                return self.checked_override(action)
            case actions.MissionAction():
                return self.mission.checked(action)
            case actions.RadioAction():
                with self.rebuilding:
                    return self.radio.checked(action)
        actions.check_fields(action, f"{action.saved_as}.")
        return action

    def checked_command(
        self, target: str | int | Ints, inputs: Mapping[str, Any], timeout: float | None = None
    ) -> actions.CommandAction:
        """Return the command with normalised values; PaddockError if the vehicle does not accept it."""
        if timeout is not None and not (isinstance(timeout, int | float) and 0 < timeout <= actions.LONGEST_TIMEOUT):
            raise InvalidValueError(
                f"the timeout of a command is > 0 and <= {actions.LONGEST_TIMEOUT:g} s, not {timeout!r}"
            )
        with self.rebuilding:
            fleet, rows = self.world.find(target)
            program = self.world.programs[fleet.name]
            if self.claims.autopilots.flown:
                self.claims.autopilots.refuse_flown(fleet.ids[rows])
            return actions.CommandAction(target, check_command(program, rows, inputs, target), timeout)

    def checked_now(self, action: actions.CommandAction) -> tuple[actions.CommandAction, tuple[int, ...]]:
        """Return the command with normalised values and the version at which it was checked."""
        version = self.version
        return self.checked_command(action.target, action.inputs, action.timeout), version

    def checked_override(self, action: actions.OverrideAction) -> actions.OverrideAction:
        """Return the override in plain values and compile its kernel; PaddockError if it cannot be applied."""
        with self.rebuilding:
            override = check_override(self.world, self.world.programs, action)
            self.claims.refuse_controlled(override.driven_ids())
        override.compile()
        written = None if override.choice is None else override.choice.model_dump(mode="json")
        return actions.OverrideAction(plain_target(action.target), written)

    # posting and applying, from any thread ---------------------------------------------------------------------------

    def post(self, action: actions.Action, at_tick: int | None = None, source: str = "") -> None:
        """Check an action and queue it for the next tick or `at_tick`."""
        if not isinstance(action, actions.POSTABLE):
            valid = ", ".join(kind.__name__ for kind in actions.POSTABLE)
            raise PaddockError(f"only {valid} can be posted, not {action!r}")
        tick, version = self._due_tick(at_tick), self.version
        action = self.checked(action)
        self.mailbox.refuse_if_full()
        self.mailbox.post(action, tick, source, version)

    def command(self, target: Any, inputs: Mapping[str, Any], at_tick: int | None = None, source: str = "") -> None:
        """Check a command and queue it, as `post` does."""
        tick, version = self._due_tick(at_tick), self.version
        action = self.checked_command(target, inputs)
        self.mailbox.refuse_if_full()
        self.mailbox.post(action, tick, source, version)

    def _due_tick(self, at_tick: int | None) -> int:
        if at_tick is None:
            return actions.NEXT_TICK
        tick, now = whole_number("at_tick takes a whole number of ticks >= 0", at_tick, 2**62), self.world.clock.tick
        if tick < now:
            raise InvalidValueError(f"at_tick {tick} is in the past: the run is at tick {now}")
        return tick

    def apply_now(
        self, action: actions.Action, verb: str, source: str = "", prepared: PreparedSpawn | None = None
    ) -> str:
        """Apply an action; refused while another thread drives. Return the name of a spawned fleet."""
        with self.thread.driving(verb):
            return self.apply(actions.Posted(self.world.clock.tick, 0, action, source), prepared)

    def apply_or_post(
        self,
        action: actions.Action,
        verb: str,
        at_tick: int | None = None,
        source: str = "",
        checked_at: tuple[int, ...] = (),
    ) -> None:
        """Check an action, unless `checked_at` is the present version, and apply it now; or post it for `at_tick`."""
        if at_tick is not None:
            self.post(action, at_tick, source)
            return
        if checked_at != self.version:
            action = self.checked(action)
        self.thread.call(lambda: self.apply_now(action, verb, source), verb)

    # applying, in the ticking thread ---------------------------------------------------------------------------------

    def due(self, tick: int) -> int:
        """Return the tick of the next action, of a command that arrives over the radio, or of a timeout."""
        waiting = self.mailbox.next_tick(tick)
        if waiting == tick:
            return tick
        carried = self.radio.uplink.due(tick)
        return max(tick, min(self._timeout_due(), carried, NEVER_DUE if waiting is None else waiting))

    def run(self, tick: int) -> None:
        """Apply actions and commands that arrive over the radio; then the failsafe where none has come in time."""
        for posted in self.mailbox.due(tick):
            self.take_up(posted)
        if self.radio.uplink.due(tick) <= tick:
            self.radio.uplink.run(tick)
            self._next_timeout = None
        if self._timeout_due() <= tick:
            self._apply_timeouts(tick)

    def take_up(self, posted: actions.Posted) -> None:
        """Apply a posted action; report a refusal as an event, since the world may have changed since the posting.

        Actions of restored states and recordings were not checked; they may fail in any way.
        """
        by_client = posted.source and posted.checked_at and not posted.flown  # not of autopilots and recordings
        began = thread_time() if by_client else 0.0
        try:
            self.apply(posted)
        except Exception as error:
            if not isinstance(error, PaddockError | MemoryError) and (posted.checked_at or posted.flown):
                raise
            tick, unexpected = self.world.clock.tick, f"the {posted.action.saved_as} is not valid"
            text = "not enough memory" if isinstance(error, MemoryError) else unexpected
            text = str(error) if isinstance(error, PaddockError) else text
            self.events.report(tick, "refused", posted.source, text)
            self.log.append(_at(posted, tick))
        if began:
            self.posted_seconds += thread_time() - began

    def apply(self, posted: actions.Posted, prepared: PreparedSpawn | None = None) -> str:
        """Apply an action at this tick and log it; return the name of a spawned fleet, which may be `prepared`."""
        spawned, action = "", posted.action
        match action:
            case actions.CommandAction():
                self._command(action, posted)
            case actions.EventAction(kind, subject, detail):
                self.events.report(self.world.clock.tick, kind, subject, detail)
            case actions.PlaceAction():
                self._place(action)
            case actions.PacketAction():
                self.radio.post_packet(action)
            case _:
                built = self.world.queued_spawns.pop(posted.sequence, None) if prepared is None else None
                if built is not None and self.fleets.fits(built):  # a spawn builds them otherwise
                    prepared = built
                with self.rebuilding:
                    spawned = self._change_fleets(action, prepared)
        self.log.append(_at(posted, self.world.clock.tick))
        if not isinstance(action, actions.CommandAction | actions.PacketAction):
            self._changed()
        return spawned

    def discard(self, ids: Ints, tick: int) -> None:
        """Remove vehicles of a fleet because of their state at a tick; not logged, because a replay finds the same."""
        with self.rebuilding:
            self.fleets.remove(ids, tick)
        self._changed()

    def report(self, kind: str, subject: str, detail: str) -> None:
        """Report an event with a cause outside the simulation; it is logged for replays."""
        self.apply(actions.Posted(self.world.clock.tick, 0, actions.EventAction(kind, subject, detail), ""))

    def send_packet(self, action: actions.PacketAction) -> int:
        """Queue the packet of a program at this tick and log it; return its number on the radio, 0: it was dropped."""
        number = self.radio.post_packet(action)
        self.log.append(actions.Posted(self.world.clock.tick, 0, action))
        return number

    def _command(self, action: actions.CommandAction, posted: actions.Posted) -> None:
        (program, rows), tick = self.found(action.target), self.world.clock.tick
        inputs = action.inputs
        if posted.checked_at != self.version:
            if posted.checked_at and not posted.flown:  # not the command of an autopilot or of a recording
                self.claims.autopilots.refuse_flown(program.fleet.ids[rows])
            inputs = check_command(program, rows, inputs, action.target)
        lasting = None if action.timeout is None else max(1, self.world.clock.ticks(action.timeout))
        if program.settings.via is not None:
            self.radio.uplink.post(program, rows, inputs, tick, lasting)
            return
        if apply_command(program, rows, inputs, tick, lasting):
            self.events.report(tick, "recovered", program.fleet.names_of(rows), "commands are back")
        if self._next_timeout is not None:
            self._next_timeout = min(self._next_timeout, program.control.expires_from)

    def _place(self, action: actions.PlaceAction) -> None:
        program, rows = self.found(action.target)
        action = check_place(program, rows, action)
        place_vehicle(program, rows, action, self.world)
        self.contact.repair(program, rows)
        self.rules.placed(program, rows)
        many = np.ndim(action.pose) > 1
        detail = f"{len(rows)} vehicles" if many else "at {:g}, {:g}, {:g}".format(*action.pose)
        self.events.report(self.world.clock.tick, "placed", program.fleet.names_of(rows), detail)

    def _change_fleets(self, action: actions.Action, prepared: PreparedSpawn | None) -> str:
        match action:
            case actions.SpawnAction(entry):
                return self.fleets.spawn(entry, prepared)
            case actions.RemoveAction(target):
                self.fleets.remove(target)
            case actions.FrameAction():
                place_frame(self.world, action)
            case actions.MissionAction():
                self.mission.apply(action, prepared)
            case actions.RadioAction():
                self.radio.apply(action)
            case actions.OverrideAction():
                override = check_override(self.world, self.world.programs, action)
                for part in override.parts:
                    program, changed = part.program, apply_override(part)
                    behaviour = program.control.behaviour
                    own = EXTERNAL if behaviour is None else behaviour.rule.name
                    kind, name = ("order_ended", own) if override.choice is None else ("ordered", override.choice.name)
                    if len(changed):
                        self.events.report(self.world.clock.tick, kind, program.fleet.names_of(changed), name)
        return ""

    def _timeout_due(self) -> int:
        """Return the tick at which the next command times out."""
        if self._next_timeout is None or self._epoch != self.world.epoch:
            self._epoch = self.world.epoch
            self._next_timeout = min(
                (program.control.expires_from for program in self.world.programs.values()), default=NEVER_DUE
            )
        return self._next_timeout

    def _apply_timeouts(self, tick: int) -> None:
        """Apply the failsafe to vehicles whose command has timed out."""
        for program in self.world.programs.values():
            if program.control.expires_from <= tick:
                for row in fail_silent(program, tick):
                    self.events.report(tick, "failsafe", program.fleet.vehicle_name(row), "no command in time")
        self._next_timeout = None

    def _changed(self) -> None:
        """Discard what was computed from the state, which has changed outside a tick; radios follow their vehicles."""
        self._changes += 1
        self._next_timeout = None
        self.publisher.forget()
        self.contact.forget()
        self.radio.follow_vehicles()


def _at(posted: actions.Posted, tick: int) -> actions.Posted:
    """Return the action with the tick at which it was applied."""
    return posted if posted.tick == tick else replace(posted, tick=tick)
