"""What the modes of copters have in common: the craft, its limits, the pilot's sticks, and the ground."""

from __future__ import annotations

from math import atan2, cos, hypot, radians, sin
from typing import TYPE_CHECKING, cast

from paddock.sitl.autopilot.control.copter_legs import Range
from paddock.sitl.autopilot.control.copter_track import Limits
from paddock.sitl.autopilot.mode import Mode
from paddock.sitl.autopilot.targets import Sticks
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.copter import Copter

STICK_DEADBAND = 0.05
STALE_US = 3_000_000
NEUTRAL = Sticks(throttle=0.5)
"""What a pilot does who is not there: nothing, where the throttle's middle holds the height."""


def copter_of(autopilot: BuiltInAutopilot) -> Copter:
    """The craft, which is a copter where these modes run."""
    return cast("Copter", autopilot.craft)


def beyond_deadband(stick: float, deadband: float = STICK_DEADBAND) -> float:
    """A stick in -1 to 1 whose middle is still."""
    size = max(abs(stick) - deadband, 0.0) / (1.0 - deadband)
    return size if stick > 0.0 else -size


class CopterMode(Mode):
    """A mode of a copter."""

    lands = False  # whether motors stop at once on the ground
    stage = Landed.IN_AIR  # TAKEOFF or LANDING while it does that

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.craft = copter_of(autopilot)

    def enter(self) -> None:
        """From how the copter moves now."""
        self.craft.track.begin(self.autopilot.estimate)
        self.craft.heading.begin(self.autopilot.estimate)

    def shift(self, north: float, east: float, down: float) -> None:
        """The estimate has jumped by so much (m), and the track with it; places of the map stay where they are."""

    def value(self, name: str) -> float:
        """A parameter."""
        return self.autopilot.parameters.value(name)

    # limits ----------------------------------------------------------------------------------------------------------

    def level_limits(self, speed: float = float("nan")) -> Limits:
        """Over the ground; `speed` m/s instead of WPNAV_SPEED, unless NaN."""
        wanted = speed if speed > 0.0 else self.value("WPNAV_SPEED") / 100.0
        return Limits(wanted, self.value("WPNAV_ACCEL") / 100.0, self.value("PSC_JERK_XY"))

    def vertical_limits(self, speed: str = "WPNAV_SPEED_DN", acceleration: str = "WPNAV_ACCEL_Z") -> Limits:
        """Up or down, by the names of their parameters."""
        return Limits(self.value(speed) / 100.0, self.value(acceleration) / 100.0, self.value("PSC_JERK_Z"))

    def limits(self, speed: float = float("nan")) -> Range:
        """In every direction."""
        return Range(self.level_limits(speed), self.vertical_limits("WPNAV_SPEED_UP"), self.vertical_limits())

    # ways ------------------------------------------------------------------------------------------------------------

    def seek(self, north: float, east: float, down: float, dt: float, speed: float = float("nan")) -> None:
        """Move the track towards a place."""
        self.craft.track.seek(north, east, self.level_limits(speed), dt)
        self.seek_height(down, dt)

    def seek_height(self, down: float, dt: float) -> None:
        """Move the track towards a height."""
        self.craft.track.seek_height(down, self.value("WPNAV_SPEED_UP") / 100.0, self.vertical_limits(), dt)

    def stop(self, dt: float) -> None:
        """Bring the track to rest."""
        self.craft.track.steer(0.0, 0.0, self.level_limits(), dt)
        self.craft.track.climb(0.0, self.vertical_limits(), dt)

    def turn_to(self, yaw: float, dt: float, ahead: float = 0.0) -> None:
        """Turn the nose, as fast as modes that navigate do, to a heading that turns at `ahead` rad/s."""
        self.craft.heading.turn_to(yaw, radians(self.value("ATC_SLEW_YAW") / 100.0), dt, ahead)

    def report(self, north: float, east: float, down: float, crosstrack: float = 0.0) -> None:
        """Tell ground stations how far it still is."""
        estimate, telemetry = self.autopilot.estimate, self.autopilot.telemetry
        dn, de = north - estimate.north, east - estimate.east
        telemetry.target_distance, telemetry.target_bearing = hypot(dn, de), bearing(dn, de, estimate.yaw)
        telemetry.nav_bearing, telemetry.crosstrack = telemetry.target_bearing, crosstrack
        telemetry.altitude_error = estimate.down - down

    # pilot -----------------------------------------------------------------------------------------------------------

    def sticks(self) -> Sticks:
        """The pilot's, or neutral ones if nobody is there."""
        sticks = self.autopilot.sticks
        heard = sticks.time_us >= 0 and self.autopilot.now_us - sticks.time_us <= STALE_US
        return sticks if heard else NEUTRAL

    def pilot_climb(self) -> float:
        """m/s upwards that the throttle asks for."""
        deadband = self.value("THR_DZ") / 500.0
        stick = beyond_deadband(2.0 * self.sticks().throttle - 1.0, deadband)
        up = self.value("PILOT_SPEED_UP")
        down = self.value("PILOT_SPEED_DN") or up
        return stick * (up if stick > 0.0 else down) / 100.0

    def pilot_turn(self, dt: float) -> None:
        """Turn as the yaw stick asks."""
        self.craft.heading.spin(radians(self.value("PILOT_Y_RATE")) * beyond_deadband(self.sticks().yaw), dt)
        self.craft.heading.leash(self.autopilot.estimate)

    def pilot_lean(self) -> tuple[float, float]:
        """Roll and pitch, rad, that the sticks ask for; together no more than ANGLE_MAX."""
        sticks = self.sticks()
        most = radians(self.value("ANGLE_MAX") / 100.0)
        roll, pitch = sticks.roll * most, sticks.pitch * most
        scale = min(1.0, most / max(hypot(roll, pitch), 1e-9))
        return roll * scale, pitch * scale

    def pilot_velocity(self, speed: float) -> tuple[float, float]:
        """m/s north and east that the sticks ask for, at most `speed`."""
        sticks, yaw = self.sticks(), self.autopilot.estimate.yaw
        forward, right = -beyond_deadband(sticks.pitch) * speed, beyond_deadband(sticks.roll) * speed
        scale = min(1.0, speed / max(hypot(forward, right), 1e-9))
        forward, right = forward * scale, right * scale
        return forward * cos(yaw) - right * sin(yaw), forward * sin(yaw) + right * cos(yaw)

    # ground ----------------------------------------------------------------------------------------------------------

    def stays_down(self, wants_up: bool) -> bool:
        """On the ground, and nobody wants to leave it: motors idle."""
        if not self.craft.landed or wants_up:
            return False
        self.craft.idle()
        return True

    def rising(self) -> bool:
        """Still on the ground with an opening throttle: the way begins where the copter then is."""
        if self.craft.airborne:
            return False
        self.craft.track.begin(self.autopilot.estimate)
        self.craft.heading.begin(self.autopilot.estimate)
        self.craft.lean(0.0, 0.0)
        return True


def bearing(dn: float, de: float, otherwise: float) -> float:
    """Direction (rad) of a way over the ground, or `otherwise` if it is shorter than 10 cm."""
    return atan2(de, dn) if hypot(dn, de) > 0.1 else otherwise
