"""ACRO: the pilot gives a turn rate and a speed."""

from __future__ import annotations

from math import radians

from paddock.sitl.autopilot.modes.rover.driving import DrivingMode


class Acro(DrivingMode):
    """Full stick turns at ACRO_TURN_RATE and goes at WP_SPEED; backwards too."""

    name, number = "ACRO", 1

    def update(self, dt: float) -> None:
        """Control what the sticks ask for."""
        turn_rate = self.autopilot.sticks.roll * radians(self.value("ACRO_TURN_RATE"))
        self.driver.rates(self.stick_speed(), turn_rate)
