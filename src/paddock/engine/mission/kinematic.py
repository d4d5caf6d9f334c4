"""A mission without dynamics: members are placed exactly on their routes, at the exact times of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddock.engine.build import placed_states
from paddock.engine.mission.cast import Cast
from paddock.engine.program import FleetProgram
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.mission import Mission
from paddock.world.world import World


class KinematicExecution:
    """Carries the members along; their own motion is switched off."""

    def __init__(self, mission: Mission, cast: Cast, world: World) -> None:
        self.mission = mission
        self.cast = cast
        self.world = world
        self.flown: KinematicRun | None = None
        self.spacing = None  # paths are exact: nobody gives way

    def join(self, program: FleetProgram) -> None:
        """A fleet takes part."""
        program.carried = True

    def begin(self, time: float) -> None:
        """Plan."""
        self.flown = KinematicRun(self.mission, time)

    def run(self, time: float, fresh: bool) -> None:
        """Place everybody."""
        assert self.flown is not None
        self.flown.advance(max(time - self.flown.time, 0.0))
        poses = self.flown.poses()
        for crew in self.cast.crews([member.name for member in self.mission.agents])[0]:
            speeds = np.array([self._speed(agent) for agent in crew.agents.tolist()])
            fleet = crew.program.fleet
            fleet.state[:, crew.rows] = placed_states(crew.program, poses[crew.agents], speeds, self.world.environment)
            crew.program.forget_poses()

    def _speed(self, agent: int) -> float:
        member = self.mission.agents[agent]
        leg = member.current
        return 0.0 if leg is None or leg.flown == 0.0 else member.agent.speed

    def save(self) -> dict[str, Any]:
        """The run beside its mission."""
        assert self.flown is not None
        saved = self.flown.save()
        del saved["mission"]
        return saved

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Exactly what was saved; the mission is back already."""
        self.flown = KinematicRun(self.mission)
        self.flown.restore({**saved, "mission": self.mission.save()})
        self.cast.forget()
