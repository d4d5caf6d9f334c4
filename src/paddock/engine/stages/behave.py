"""Second stage: behaviours turn what each vehicle sees into commands."""

from __future__ import annotations

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
        self.lost: set[str] = set()  # fleets whose target has gone, so that it is reported once

    def due(self, tick: int) -> int:
        """The next multiple of the period, if anyone has a behaviour."""
        active = any(program.conduct is not None for program in self.programs.values())
        return every(tick, self.period) if active else NEVER_DUE

    def run(self, tick: int) -> None:
        """All fleets decide on the same state; none sees another's decision before the next tick."""
        for program in self.programs.values():
            if program.conduct is not None:
                dt = self.world.clock.dt * self.period
                lost = program.conduct.run(self.world, self.poses, program.parameters, dt)
                self._note(tick, program.fleet.name, lost)

    def _note(self, tick: int, fleet: str, lost: str | None) -> None:
        if lost is None:
            self.lost.discard(fleet)
        elif fleet not in self.lost:
            self.lost.add(fleet)
            self.events.report(tick, "target_lost", fleet, f"{lost!r} is no longer there")
