"""The modes that return: RTL and SMARTRTL."""

from __future__ import annotations

from paddock.sitl.autopilot.estimate import Point
from paddock.sitl.autopilot.modes.rover.common import RoverMode
from paddock.sitl.autopilot.telemetry import Severity


class RoverRtl(RoverMode):
    """Drive straight to the nearest rally point or home, and stand there."""

    name, number, can_arm = "RTL", 11, False

    def refusal(self) -> str:
        """Require home."""
        return "" if self.autopilot.home is not None else "requires home"

    def enter(self) -> None:
        """Choose the target."""
        super().enter()
        self.hold_point = self.hold_at(self.autopilot.home_position.return_point()[:2], self.driver.position)

    def update(self, dt: float) -> None:
        """Drive, then stand."""
        self.hold_point.keep(self.value("RTL_SPEED"))


class RoverSmartRtl(RoverMode):
    """Drive back along the path recorded since arming, without its detours."""

    name, number, can_arm = "SMARTRTL", 12, False

    def refusal(self) -> str:
        """Require a complete path."""
        trail = self.rover.trail
        return "no return path" if trail.full or not trail.points else ""

    def enter(self) -> None:
        """Take the recorded path; later driving is not added to it."""
        super().enter()
        self.start: Point = self.driver.position
        self.path = self.rover.trail.way_back(self.start)
        self.hold_point = self.hold_at(self.path[-1])
        self.autopilot.send_text(Severity.INFO, f"SmartRTL: {len(self.path)} points")

    def update(self, dt: float) -> None:
        """Drive to the next point of the path; hold the last."""
        speed = self.value("RTL_SPEED")
        if len(self.path) == 1:
            self.hold_point.start = self.start
            self.path = []
        if not self.path:
            self.hold_point.keep(speed)
            return
        lead = self.driver.along(self.start, self.path[0], self.path[1], speed)
        if self.driver.reached(self.start, self.path[0], lead):
            self.start = self.path.pop(0)
