"""Common parts of copter modes: limits, paths, the pilot's sticks, the ground."""

from __future__ import annotations

from math import atan2, cos, hypot, radians, sin
from typing import TYPE_CHECKING, cast

from paddock.sitl.autopilot.control.copter_path import LegLimits, MotionLimits
from paddock.sitl.autopilot.rc import Sticks
from paddock.sitl.autopilot.vehicle import Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.copter import Copter


STICK_DEADBAND = 0.05
STALE_US = 3_000_000  # age at which sticks and targets expire
FACING_DISTANCE = 3.0  # m: closer to a position the heading is kept
NEUTRAL = Sticks(throttle=0.5)  # sticks without RC input: mid throttle holds the altitude


def beyond_deadband(stick: float, deadband: float = STICK_DEADBAND) -> float:
    """Apply a deadband to a stick in -1 to 1."""
    size = max(abs(stick) - deadband, 0.0) / (1.0 - deadband)
    return size if stick > 0.0 else -size


class CopterMode(Mode):
    """A mode of a copter."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.copter = cast("Copter", autopilot.vehicle)

    def enter(self) -> None:
        """Start the track from the current motion."""
        self.copter.begin()

    def level_limits(self, speed: float = float("nan")) -> MotionLimits:
        """Return the horizontal limits; `speed` m/s replaces WPNAV_SPEED unless NaN."""
        wanted = speed if speed > 0.0 else self.value("WPNAV_SPEED") / 100.0
        return MotionLimits(wanted, self.value("WPNAV_ACCEL") / 100.0, self.value("PSC_JERK_XY"))

    def vertical_limits(self, speed: str = "WPNAV_SPEED_DN", acceleration: str = "WPNAV_ACCEL_Z") -> MotionLimits:
        """Return vertical limits, from the parameters of these names."""
        return MotionLimits(self.value(speed) / 100.0, self.value(acceleration) / 100.0, self.value("PSC_JERK_Z"))

    def limits(self, speed: float = float("nan")) -> LegLimits:
        """Return the limits in every direction."""
        return LegLimits(self.level_limits(speed), self.vertical_limits("WPNAV_SPEED_UP"), self.vertical_limits())

    def seek(self, north: float, east: float, down: float, dt: float, speed: float = float("nan")) -> None:
        """Move the track towards a position."""
        self.copter.track.seek(north, east, self.level_limits(speed), dt)
        self.seek_height(down, dt)

    def seek_height(self, down: float, dt: float) -> None:
        """Move the track towards an altitude."""
        self.copter.track.seek_height(down, self.value("WPNAV_SPEED_UP") / 100.0, self.vertical_limits(), dt)

    def stop(self, dt: float) -> None:
        """Bring the track to rest."""
        self.copter.track.steer(0.0, 0.0, self.level_limits(), dt)
        self.copter.track.climb(0.0, self.vertical_limits(), dt)

    def turn_to(self, yaw: float, dt: float, ahead: float = 0.0) -> None:
        """Turn to a heading at up to ATC_SLEW_YAW; the heading itself turns at `ahead` rad/s."""
        self.copter.heading.turn_to(yaw, radians(self.value("ATC_SLEW_YAW") / 100.0), dt, ahead)

    def face(self, north: float, east: float, dt: float, wanted: object) -> None:
        """Turn towards a position, if `wanted` and not too close; otherwise keep the heading."""
        track = self.copter.track
        if wanted and track.distance(north, east) > FACING_DISTANCE:
            self.turn_to(bearing(north - track.north, east - track.east, 0.0), dt)
        else:
            self.copter.heading.spin(0.0, dt)

    def report(self, north: float, east: float, down: float, crosstrack: float = 0.0) -> None:
        """Report distance and bearing of the target in the telemetry."""
        estimate, telemetry = self.autopilot.estimate, self.autopilot.telemetry
        dn, de = north - estimate.north, east - estimate.east
        telemetry.aim(hypot(dn, de), bearing(dn, de, estimate.yaw), crosstrack)
        telemetry.altitude_error = estimate.down - down

    def sticks(self) -> Sticks:
        """Return the pilot's sticks, or neutral ones without current RC input."""
        sticks = self.autopilot.rc.sticks
        current = sticks.time_us >= 0 and self.autopilot.now_us - sticks.time_us <= STALE_US
        return sticks if current else NEUTRAL

    def pilot_climb(self) -> float:
        """Return the climb rate that the throttle asks for, m/s."""
        deadband = self.value("THR_DZ") / 500.0
        stick = beyond_deadband(2.0 * self.sticks().throttle - 1.0, deadband)
        up = self.value("PILOT_SPEED_UP")
        down = self.value("PILOT_SPEED_DN") or up
        return stick * (up if stick > 0.0 else down) / 100.0

    def pilot_turn(self, dt: float) -> None:
        """Turn at the rate of the yaw stick."""
        self.copter.heading.spin(radians(self.value("PILOT_Y_RATE")) * beyond_deadband(self.sticks().yaw), dt)
        self.copter.heading.leash(self.autopilot.estimate)

    def pilot_lean(self) -> tuple[float, float]:
        """Return roll and pitch of the sticks, rad, together limited to ANGLE_MAX."""
        sticks = self.sticks()
        most = radians(self.value("ANGLE_MAX") / 100.0)
        roll, pitch = sticks.roll * most, sticks.pitch * most
        scale = min(1.0, most / max(hypot(roll, pitch), 1e-9))
        return roll * scale, pitch * scale

    def pilot_velocity(self, speed: float) -> tuple[float, float]:
        """Return the velocity of the sticks, m/s north and east, at most `speed`."""
        sticks, yaw = self.sticks(), self.autopilot.estimate.yaw
        forward, right = -beyond_deadband(sticks.pitch) * speed, beyond_deadband(sticks.roll) * speed
        scale = min(1.0, speed / max(hypot(forward, right), 1e-9))
        forward, right = forward * scale, right * scale
        return forward * cos(yaw) - right * sin(yaw), forward * sin(yaw) + right * cos(yaw)

    def stays_down(self, wants_up: bool) -> bool:
        """Idle the motors of a landed copter unless `wants_up`; return whether it stays on the ground."""
        if not self.copter.landed or wants_up:
            return False
        self.copter.idle()
        return True

    def rising(self) -> bool:
        """Return whether the copter still ramps up its throttle; the track restarts from its position."""
        if self.copter.airborne:
            return False
        self.copter.begin()
        self.copter.lean(0.0, 0.0)
        return True


def bearing(dn: float, de: float, default: float) -> float:
    """Return the direction of a horizontal offset, rad, or `default` if it is shorter than 10 cm."""
    return atan2(de, dn) if hypot(dn, de) > 0.1 else default
