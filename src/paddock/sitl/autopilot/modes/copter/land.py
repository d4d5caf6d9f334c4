"""The modes that end the flight or stop the copter: LAND, RTL, BRAKE."""

from __future__ import annotations

from math import radians, tan

from paddock.sitl.autopilot.control.copter_path import MotionLimits
from paddock.sitl.autopilot.modes.copter.common import CopterMode
from paddock.sitl.autopilot.modes.copter.manoeuvres import Descent, Homeward
from paddock.sitl.autopilot.telemetry import Landed

BRAKE_DECELERATION = 5.0  # m/s2
BRAKE_JERK = 15.0  # m/s3: high, so that the copter is level again when it stops
BRAKE_SHARE = 0.7  # of what ANGLE_MAX allows: the rest is left for wind
GRAVITY = 9.80665


class CopterLand(CopterMode):
    """Land at the current position and disarm; sticks may move the position. Works without a position."""

    name, number, needs_position, can_arm = "LAND", 9, False, False
    lands, stage = True, Landed.LANDING

    def enter(self) -> None:
        """Brake and descend."""
        super().enter()
        self.manoeuvre: Descent | Homeward = Descent(self)

    def update(self, dt: float) -> None:
        """Move until landed."""
        if not self.stays_down(wants_up=False):
            self.manoeuvre.update(dt)


class CopterRtl(CopterLand):
    """Climb, return to home or the nearest rally point, land."""

    name, number, needs_position, stage = "RTL", 6, True, Landed.IN_AIR

    def enter(self) -> None:
        """Brake, and climb from there."""
        super().enter()
        self.manoeuvre = Homeward(self)


class CopterBrake(CopterMode):
    """Stop as quickly as possible and hold the position; sticks are ignored."""

    name, number, can_arm = "BRAKE", 17, False

    def update(self, dt: float) -> None:
        """Bring the track to rest."""
        if self.stays_down(wants_up=False):
            return
        track, most = self.copter.track, BRAKE_SHARE * GRAVITY * tan(radians(self.value("ANGLE_MAX") / 100.0))
        limits = MotionLimits(self.value("LOIT_SPEED") / 100.0, min(BRAKE_DECELERATION, most), BRAKE_JERK)
        track.steer(0.0, 0.0, limits, dt)
        track.climb(0.0, self.vertical_limits("PILOT_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        self.copter.heading.spin(0.0, dt)
        self.copter.follow()
