"""BRAKE: stop as soon as it can, and hold the place; the sticks do nothing."""

from __future__ import annotations

from math import radians, tan

from paddock.sitl.autopilot.control.copter_track import Limits
from paddock.sitl.autopilot.modes.copter.flying import CopterMode

DECELERATION = 5.0  # m/s2
JERK = 15.0  # m/s3: so quick that the lean is gone again when the copter stands
SHARE = 0.7  # of what ANGLE_MAX allows, so that some lean is left against wind
GRAVITY = 9.80665


class Brake(CopterMode):
    """What ground stations ask for with Pause or Hold. A copter on the ground stays there."""

    name, number, can_arm = "BRAKE", 17, False

    def update(self, dt: float) -> None:
        """Bring the track to rest."""
        if self.stays_down(wants_up=False):
            return
        track = self.craft.track
        track.steer(0.0, 0.0, self._limits(), dt)
        track.climb(0.0, self.vertical_limits("PILOT_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        self.craft.heading.spin(0.0, dt)
        self.craft.follow()

    def _limits(self) -> Limits:
        most = SHARE * GRAVITY * tan(radians(self.value("ANGLE_MAX") / 100.0))
        return Limits(self.value("LOIT_SPEED") / 100.0, min(DECELERATION, most), JERK)
