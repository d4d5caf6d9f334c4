"""Second stage: behaviours turn what each vehicle sees into commands."""

from __future__ import annotations

from functools import partial

from paddock.engine.conduct import PoseBlocks
from paddock.engine.events import EventLog
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.program import FleetProgram
from paddock.world.world import World


class BehaveStage:
    """Runs every `period` ticks for all fleets that have a behaviour."""

    name = "behave"

    def __init__(
        self, world: World, programs: dict[str, FleetProgram], poses: PoseBlocks, events: EventLog, period: int
    ) -> None:
        self.world = world
        self.programs = programs
        self.poses = poses
        self.events = events
        self.period = period
        self.lost: set[str] = set()  # fleets (and orders: `fleet number`) whose target has gone, reported once

    def due(self, tick: int) -> int:
        """The next multiple of the period, if anyone has a behaviour."""
        active = any(program.acts for program in self.programs.values())
        return every(tick, self.period) if active else NEVER_DUE

    def run(self, tick: int) -> None:
        """All fleets decide on the same state; none sees another's decision before the next tick."""
        dt = self.world.clock.dt * self.period
        for program in self.programs.values():
            if program.orders is not None:
                program.orders.run(self.world, self.poses, dt, partial(self._note, tick))
            elif program.conduct is not None:
                lost = program.conduct.run(self.world, self.poses, program.parameters, dt)
                self._note(tick, program.fleet.name, lost)

    def _note(self, tick: int, who: str, lost: str | None) -> None:
        if lost is None:
            self.lost.discard(who)
        elif who not in self.lost:
            self.lost.add(who)
            self.events.report(tick, "target_lost", who.partition(" ")[0], f"{lost!r} is no longer there")
