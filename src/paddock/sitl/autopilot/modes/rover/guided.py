"""GUIDED: go to the targets of a ground station or companion computer."""

from __future__ import annotations

from math import atan2, cos, hypot, isnan, sin

from paddock.sitl.autopilot.estimate import Ned, Point
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.modes.rover.common import HoldPoint, RoverMode
from paddock.sitl.autopilot.telemetry import Severity

STALE_US = 3_000_000
MIN_SPEED = 0.01  # m/s: slower has no direction


class RoverGuided(RoverMode):
    """Drive to a position, or with a velocity, turn rate or heading, as commanded; stand without a target."""

    name, number = "GUIDED", 15

    def enter(self) -> None:
        """Discard earlier targets, but keep one that was set together with the mode."""
        super().enter()
        if self.autopilot.guided.time_us < self.autopilot.now_us:
            self.autopilot.guided = GuidedTarget()
        self._hold_point: HoldPoint | None = None
        self._timed_out = False

    def update(self, dt: float) -> None:
        """Follow the newest target."""
        target = self.autopilot.guided
        if target.position is not None:
            self._go(target.position[:2], target.speed)
            return
        self._hold_point = None
        if target.time_us < 0 or self._stale(target):
            self.driver.halt()
        elif target.velocity is not None:
            self._move(target.velocity, target)
        else:
            self._head(target)

    def _stale(self, target: GuidedTarget) -> bool:
        old = self.autopilot.now_us - target.time_us > STALE_US
        if old and not self._timed_out:
            self.autopilot.send_text(Severity.WARNING, "Guided: target timed out, stopping")
        self._timed_out = old
        return old

    def _go(self, place: Point, speed: float) -> None:
        if self._hold_point is None or self._hold_point.place != place:
            self._hold_point = self.hold_at(place, self.driver.position)
        self._hold_point.keep(0.0 if isnan(speed) else speed)

    def _move(self, velocity: Ned, target: GuidedTarget) -> None:
        """Follow a velocity; with a turn rate or heading it counts along the nose and may be negative."""
        yaw = self.autopilot.estimate.yaw
        forward = velocity[0] * cos(yaw) + velocity[1] * sin(yaw)
        if not isnan(target.yaw_rate):
            self.driver.rates(forward, target.yaw_rate)
        elif not isnan(target.yaw):
            self.driver.heading(target.yaw, forward)
        elif hypot(*velocity[:2]) < MIN_SPEED:
            self.driver.halt()
        else:
            self.driver.heading(atan2(velocity[1], velocity[0]), hypot(*velocity[:2]))

    def _head(self, target: GuidedTarget) -> None:
        """Follow a heading or a turn rate, and a speed."""
        speed = 0.0 if isnan(target.speed) else target.speed
        if isnan(target.yaw):
            self.driver.rates(speed, 0.0 if isnan(target.yaw_rate) else target.yaw_rate)
        else:
            self.driver.heading(target.yaw, speed)
