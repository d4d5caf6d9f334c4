"""The piloted modes: MANUAL, ACRO, STEERING."""

from __future__ import annotations

from math import radians

from paddock.sitl.autopilot.control.rover import DIRECT, RoverSetpoint
from paddock.sitl.autopilot.modes.rover.common import RoverMode

MIN_STEERING_SPEED = 0.5  # m/s


class RoverManual(RoverMode):
    """Sticks go to the motors directly."""

    name, number, needs_position = "MANUAL", 0, False

    def update(self, dt: float) -> None:
        """Pass the sticks through."""
        sticks = self.autopilot.rc.sticks
        self.rover.setpoint = RoverSetpoint(DIRECT, sticks.throttle, sticks.roll)


class RoverAcro(RoverMode):
    """Sticks set turn rate and speed: full stick is ACRO_TURN_RATE and WP_SPEED, also in reverse."""

    name, number = "ACRO", 1

    def update(self, dt: float) -> None:
        """Control turn rate and speed."""
        turn_rate = self.autopilot.rc.sticks.roll * radians(self.value("ACRO_TURN_RATE"))
        self.driver.rates(self.stick_speed(), turn_rate)


class RoverSteering(RoverMode):
    """Sticks set lateral acceleration and speed: full stick is ATC_TURN_MAX_G, but no tighter than TURN_RADIUS."""

    name, number = "STEERING", 3

    def update(self, dt: float) -> None:
        """Control turn rate and speed; in reverse, right stick still swings the tail to the right."""
        speed = self.driver.speed
        pace = max(abs(speed), MIN_STEERING_SPEED)
        most = min(self.driver.sideways / pace, pace / self.value("TURN_RADIUS"))
        way = -1.0 if speed < 0.0 and self.autopilot.rc.sticks.throttle < 0.0 else 1.0
        self.driver.rates(self.stick_speed(), way * self.autopilot.rc.sticks.roll * most)
