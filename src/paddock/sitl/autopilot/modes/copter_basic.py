"""The modes STABILIZE, ALT_HOLD, LOITER, CIRCLE, LAND, RTL and BRAKE of copters."""

from math import radians

from paddock.compute.scalars import cos, sin, tan
from paddock.sitl.autopilot.control.copter_path import MotionLimits
from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.modes.copter import NEUTRAL, CopterMode, Descent, Homeward, Orbit
from paddock.sitl.autopilot.telemetry import Landed


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
        track.climb(climb, self.pilot_limits(), dt)
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
        track.climb(climb, self.pilot_limits(), dt)
        if vn or ve or climb:  # a position that is held must not drift with gusts
            track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.copter.follow()
        if not (vn or ve or climb):
            self.copter.stay_steady()


class CopterCircle(CopterMode):
    """Fly around a point CIRCLE_RADIUS ahead, or the centre of DO_ORBIT; the throttle changes the altitude."""

    name, number, can_arm = "CIRCLE", 7, False
    orbit: Orbit
    _on_map: bool

    def enter(self) -> None:
        """Set the centre one radius ahead."""
        super().enter()
        track, yaw = self.copter.track, self.copter.heading.yaw
        radius = self.value("CIRCLE_RADIUS") / 100.0
        centre = track.north + radius * cos(yaw), track.east + radius * sin(yaw), track.down
        self.go_round(centre, radius, radians(self.value("CIRCLE_RATE")))

    def go_round(self, centre: Ned, radius: float, rate: float, on_map: bool = False) -> None:
        """Change the circle: centre, radius (m), rad/s (+ clockwise)."""
        self.orbit, self._on_map = Orbit(self, centre, radius, rate), on_map

    def shift(self, north: float, east: float, down: float) -> None:
        """Move a centre chosen from the copter's position along with the estimate; a given one stays on the map."""
        if self._on_map:
            self.orbit.leave_circle()
        else:
            self.orbit.shift(north, east, down)

    def update(self, dt: float) -> None:
        """Continue the circle."""
        if self.stays_down(wants_up=False):
            return
        self.orbit.down -= self.pilot_climb() * dt
        self.orbit.update(dt)


BRAKE_DECELERATION = 5.0  # m/s2
BRAKE_JERK = 15.0  # m/s3: high, so that the copter is level again when it stops
BRAKE_SHARE = 0.7  # of what ANGLE_MAX allows: the rest is left for wind
GRAVITY = 9.80665


class CopterLand(CopterMode):
    """Land at the current position and disarm; sticks may move the position. Works without a position."""

    name, number, needs_position, can_arm = "LAND", 9, False, False
    lands, stage = True, Landed.LANDING
    manoeuvre: Descent | Homeward

    def enter(self) -> None:
        """Brake and descend."""
        super().enter()
        self.manoeuvre = Descent(self)

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
        track.climb(0.0, self.pilot_limits(), dt)
        self.copter.heading.spin(0.0, dt)
        self.copter.follow()
