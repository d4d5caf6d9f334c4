"""STEERING: the pilot gives a speed and a sideways acceleration, so that a fast rover turns as safely as a slow one."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.rover.driving import DrivingMode

SLOW = 0.5  # m/s: slower turns as if it went this fast


class Steering(DrivingMode):
    """Full stick is ATC_TURN_MAX_G sideways, but no tighter than TURN_RADIUS."""

    name, number = "STEERING", 3

    def update(self, dt: float) -> None:
        """Control what the sticks ask for; backwards, right stick still swings the tail to the right."""
        speed = self.driver.speed
        pace = max(abs(speed), SLOW)
        most = min(self.driver.limits.sideways / pace, pace / self.value("TURN_RADIUS"))
        way = -1.0 if speed < 0.0 and self.autopilot.sticks.throttle < 0.0 else 1.0
        self.driver.rates(self.stick_speed(), way * self.autopilot.sticks.roll * most)
