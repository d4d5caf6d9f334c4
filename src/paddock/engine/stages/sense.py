"""Fourth stage: sensors measure the new state."""

from __future__ import annotations

from paddock.engine.conduct import PoseBlocks
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.program import FleetProgram
from paddock.world.world import World


class SenseStage:
    """Due when any sensor samples; delayed samples are delivered when somebody asks for them."""

    name = "sense"

    def __init__(self, world: World, programs: dict[str, FleetProgram], poses: PoseBlocks) -> None:
        self.world = world
        self.programs = programs
        self.poses = poses

    def due(self, tick: int) -> int:
        """The earliest sample."""
        sensors = [sensor for program in self.programs.values() for sensor in program.sensors.values()]
        return min((sensor.due(tick) for sensor in sensors), default=NEVER_DUE)

    def run(self, tick: int) -> None:
        """Sample what is due."""
        for program in self.programs.values():
            fleet = program.fleet
            for sensor in program.sensors.values():
                if sensor.due(tick) == tick:
                    streams = fleet.tables["streams"]
                    block = self.poses(fleet.name)
                    sensor.sample(tick, block, fleet.n, streams, self.world.environment, self.world.seed)
