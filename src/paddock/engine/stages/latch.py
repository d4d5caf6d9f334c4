"""First stage: apply the actions that are due, and the failsafe to vehicles that have gone unheard."""

from __future__ import annotations

from collections.abc import Callable

from paddock.engine.actions import Posted
from paddock.engine.events import EventLog
from paddock.engine.latch import fail_silent
from paddock.engine.mailbox import Mailbox
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import FleetProgram


class LatchStage:
    """Due when an action waits, or when a vehicle's command may time out."""

    name = "latch"

    def __init__(
        self,
        mailbox: Mailbox,
        programs: dict[str, FleetProgram],
        apply: Callable[[Posted], None],
        events: EventLog,
    ) -> None:
        self.mailbox = mailbox
        self.programs = programs
        self.apply = apply
        self.events = events
        self._timeout: int | None = NEVER_DUE  # None: to be worked out again

    def due(self, tick: int) -> int:
        """The next action or timeout."""
        if self._timeout is None:
            self._timeout = min((program.expires_from for program in self.programs.values()), default=NEVER_DUE)
        waiting = self.mailbox.next_tick(tick)
        return max(tick, min(self._timeout, NEVER_DUE if waiting is None else waiting))

    def run(self, tick: int) -> None:
        """Actions first: a command that arrives in time prevents the failsafe."""
        for posted in self.mailbox.due(tick):
            self.apply(posted)
        for program in self.programs.values():
            if program.expires_from <= tick:
                for row in fail_silent(program, tick):
                    self.events.report(tick, "failsafe", program.fleet.vehicle_name(row), "no command in time")
        self.forget()

    def forget(self) -> None:
        """Vehicles or their commands have changed: work out the next timeout again."""
        self._timeout = None
