"""Third stage: the vehicles' dynamics."""

from __future__ import annotations

from paddock.engine.program import FleetProgram
from paddock.world.world import World


class MoveStage:
    """Advances every fleet by the same number of ticks."""

    name = "move"

    def __init__(self, world: World, programs: dict[str, FleetProgram]) -> None:
        self.world = world
        self.programs = programs

    def run(self, tick: int, ticks: int) -> None:
        """One kernel launch per fleet."""
        for program in self.programs.values():
            program.move(ticks, self.world.environment, self.world.clock.dt)
