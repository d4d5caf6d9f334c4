"""GUIDED: go to the targets of a ground station or companion computer."""

from __future__ import annotations

from math import atan2, hypot, isnan

from paddock.sitl.autopilot.control.plane import HEIGHT_GAIN, roll_for_course
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.modes.plane.common import PlaneMode

CLIMB_TIME = 1.0 / HEIGHT_GAIN  # s: a climb rate becomes an altitude this far ahead


class PlaneGuided(PlaneMode):
    """Circle a position, or fly a velocity or heading, as commanded; circle the position without a target."""

    name, number = "GUIDED", 15

    def enter(self) -> None:
        """Discard earlier targets."""
        self.autopilot.guided = GuidedTarget()
        self.centre, self.down = self.place, self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Follow the newest target."""
        target = self.autopilot.guided
        if target.position is not None:
            self.centre, self.down = target.position[:2], target.position[2]
            self.circle(self.centre, self.down, speed=target.speed)
        elif target.velocity is not None:
            north, east, down = target.velocity
            self.centre, self.down = self.place, self.autopilot.estimate.down
            altitude = self.down + down * CLIMB_TIME
            self.fly(roll_for_course(atan2(east, north), self.velocity), altitude, hypot(north, east))
        elif not isnan(target.yaw):
            self.head(target.yaw, self.down, target.speed)
        else:
            self.circle(self.centre, self.down, speed=target.speed)
