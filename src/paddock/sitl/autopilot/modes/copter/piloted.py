"""The piloted modes: STABILIZE, ALT_HOLD, LOITER."""

from __future__ import annotations

from paddock.sitl.autopilot.control.copter_path import MotionLimits
from paddock.sitl.autopilot.modes.copter.common import NEUTRAL, CopterMode


class CopterStabilize(CopterMode):
    """Sticks set lean angles, the throttle sets thrust; released sticks level the copter."""

    name, number, needs_position = "STABILIZE", 0, False

    def update(self, dt: float) -> None:
        """Lean as the sticks ask; mid throttle hovers."""
        sticks = self.sticks()
        throttle = 0.0 if sticks is NEUTRAL and self.copter.landed else sticks.throttle
        if self.stays_down(throttle > 0.05):
            return
        self.pilot_turn(dt)
        self.copter.track.begin(self.autopilot.estimate)
        hover = self.copter.hover  # share of full thrust: 0 at the bottom, hover thrust at mid stick, 1 at the top
        share = 2.0 * throttle * hover if throttle < 0.5 else hover + (2.0 * throttle - 1.0) * (1.0 - hover)
        self.copter.push(*self.pilot_lean(), share)


class CopterAltHold(CopterMode):
    """Sticks set lean angles, the throttle sets the climb rate; mid stick holds the altitude."""

    name, number, needs_position = "ALT_HOLD", 2, False

    def update(self, dt: float) -> None:
        """Lean and climb as the sticks ask."""
        climb = self.pilot_climb()
        if self.stays_down(climb > 0.0) or self.rising():
            return
        track = self.copter.track
        track.begin_horizontal(self.autopilot.estimate)
        track.climb(climb, self.vertical_limits("PILOT_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.copter.lean(*self.pilot_lean())


class CopterLoiter(CopterMode):
    """Sticks set the velocity over the ground; released sticks brake and hold the position."""

    name, number = "LOITER", 5

    def update(self, dt: float) -> None:
        """Move the position that is held as the sticks ask."""
        climb = self.pilot_climb()
        if self.stays_down(climb > 0.0) or self.rising():
            return
        vn, ve = self.pilot_velocity(self.value("LOIT_SPEED") / 100.0)
        track = self.copter.track
        acceleration = self.value("LOIT_BRK_ACCEL" if vn == 0.0 == ve else "LOIT_ACC_MAX") / 100.0
        limits = MotionLimits(self.value("LOIT_SPEED") / 100.0, acceleration, self.value("PSC_JERK_XY"))
        track.steer(vn, ve, limits, dt)
        track.climb(climb, self.vertical_limits("PILOT_SPEED_UP", "PILOT_ACCEL_Z"), dt)
        if vn or ve or climb:  # a position that is held must not drift with gusts
            track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.copter.follow()
