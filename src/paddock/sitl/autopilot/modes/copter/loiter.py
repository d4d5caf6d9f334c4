"""LOITER: the sticks are speeds over the ground; released, the copter brakes and holds its place."""

from __future__ import annotations

from paddock.sitl.autopilot.control.copter_track import Limits
from paddock.sitl.autopilot.modes.copter.flying import CopterMode


class Loiter(CopterMode):
    """The pilot moves the place that is held."""

    name, number = "LOITER", 5

    def update(self, dt: float) -> None:
        """Move the place by the sticks."""
        climb = self.pilot_climb()
        if self.stays_down(climb > 0.0) or self.rising():
            return
        vn, ve = self.pilot_velocity(self.value("LOIT_SPEED") / 100.0)
        track = self.craft.track
        track.steer(vn, ve, self._limits(released=vn == 0.0 == ve), dt)
        track.climb(climb, self.vertical_limits("PILOT_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        if vn or ve or climb:  # a place that is held must not be given up in a gust
            track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.craft.follow()

    def _limits(self, released: bool) -> Limits:
        name = "LOIT_BRK_ACCEL" if released else "LOIT_ACC_MAX"
        return Limits(self.value("LOIT_SPEED") / 100.0, self.value(name) / 100.0, self.value("PSC_JERK_XY"))
