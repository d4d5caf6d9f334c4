"""Drives a rover: along legs, round circles, to a heading, to a stop. It turns ways into speeds and turn rates."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, pi, radians, sin, sqrt
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.control import rover_path as path
from paddock.sitl.autopilot.control.rover_path import Point
from paddock.sitl.autopilot.control.rover_rates import DIRECT, RATES, Setpoint

if TYPE_CHECKING:
    from paddock.sitl.autopilot.parameters import Parameters
    from paddock.sitl.autopilot.rover import Rover

GRAVITY = 9.80665
STANDING = 0.2  # m/s: slow enough to turn on the spot
PIVOTED = radians(5.0)  # of heading error: turning on the spot is over
STOP_RADIUS = 0.1  # m: so close is at the place where it stops
CREEP = 0.15  # m/s: the least while it is not there
SHORTEST_LOOK = 0.8  # m
CUT = 0.3  # m: how much of a corner may be cut
GENTLE = 0.6  # share of the greatest deceleration that is planned with


@dataclass(frozen=True)
class Limits:
    """What the parameters say about ways."""

    speed: float  # m/s
    deceleration: float  # m/s2
    sideways: float  # m/s2
    turn_rate: float  # rad/s
    turn_acceleration: float  # rad/s2
    heading_p: float
    heading_d: float
    pivot_angle: float  # rad; 0: never
    pivot_rate: float  # rad/s
    look: float  # s of driving to look ahead


def limits(p: Parameters) -> Limits:
    """From the parameters."""
    v = p.value
    return Limits(
        speed=v("WP_SPEED") or v("CRUISE_SPEED"),
        deceleration=GENTLE * (v("ATC_DECEL_MAX") or v("ATC_ACCEL_MAX")),
        sideways=v("ATC_TURN_MAX_G") * GRAVITY,
        turn_rate=radians(v("ATC_STR_RAT_MAX")),
        turn_acceleration=radians(v("ATC_STR_ACC_MAX")),
        heading_p=v("ATC_STR_ANG_P"),
        heading_d=v("ATC_STR_ANG_D"),
        pivot_angle=radians(v("WP_PIVOT_ANGLE")),
        pivot_rate=radians(v("WP_PIVOT_RATE")),
        look=v("NAVL1_PERIOD") * v("NAVL1_DAMPING") / pi,
    )


class Driver:
    """Writes a rover's setpoint from where it should go; remembers only whether it turns on the spot."""

    def __init__(self, rover: Rover) -> None:
        self.rover = rover
        self.limits = limits(rover.autopilot.parameters)
        self.pivoting = False
        self._stood = False  # since it began to pivot

    # where it is -----------------------------------------------------------------------------------------------------

    @property
    def position(self) -> Point:
        """m north and east."""
        return self.rover.autopilot.estimate.north, self.rover.autopilot.estimate.east

    @property
    def speed(self) -> float:
        """m/s along the heading."""
        now = self.rover.autopilot.estimate
        return now.vn * cos(now.yaw) + now.ve * sin(now.yaw)

    def distance(self, point: Point) -> float:
        """m to a point."""
        north, east = self.position
        return hypot(point[0] - north, point[1] - east)

    def reached(self, start: Point, end: Point, radius: float) -> bool:
        """Whether it is within a radius of the end of a leg, or past it."""
        on = path.track(self.position, start, end)
        return self.distance(end) <= radius or (on.length > 0.0 and on.along >= on.length)

    def stopping_point(self) -> Point:
        """Where it comes to a stop if it brakes now."""
        way = self.speed * abs(self.speed) / (2.0 * self.limits.deceleration)
        return path.ahead(self.position, self.rover.autopilot.estimate.yaw, way)

    # what it can do --------------------------------------------------------------------------------------------------

    def rates(self, speed: float, turn_rate: float) -> None:
        """Go at m/s and turn at rad/s (clockwise)."""
        self.rover.setpoint = Setpoint(RATES, 0.0, 0.0, speed, turn_rate)
        self.rover.autopilot.telemetry.speed_error = speed - self.speed

    def halt(self) -> None:
        """Brake, and stand. Without a speed to rely on, the motors simply stop."""
        self.pivoting = False
        self._report_values(0.0, self.rover.autopilot.estimate.yaw, 0.0)
        if self.rover.autopilot.estimate.position_ok:
            self.rates(0.0, 0.0)
        else:
            self.rover.setpoint = Setpoint(DIRECT)

    def heading(self, yaw: float, speed: float) -> None:
        """Turn to a heading (rad) and go at m/s, once it is about there."""
        error = path.turned(self.rover.autopilot.estimate.yaw, yaw)
        if not self._pivot(error):
            self.rates(speed * max(cos(error), 0.2), self._heading_rate(error, self.limits.turn_rate))

    def along(self, start: Point, end: Point, after: Point | None = None, speed: float = 0.0) -> float:
        """Follow the leg from start to end at m/s (0: WP_SPEED), stopping there unless it goes on to `after`.

        Returns how many m before the end the corner begins: there the next leg should be given.
        """
        turn = path.corner(start, end, after)
        through = after if turn < pi and not self._pivots_at(turn) else None
        position, yaw = self.position, self.rover.autopilot.estimate.yaw
        wanted = speed or self.limits.speed
        look = self._look(self.speed)
        on = path.track(position, start, end)
        point = path.look_ahead(on, position, start, end, through, look)
        self._report(end, on, path.bearing(position, point))
        there = min(self._corner_speed(turn), wanted) if through else 0.0
        lead = max(0.5 * self._look(there), STOP_RADIUS) if through else STOP_RADIUS
        if self._pivot(path.turned(yaw, path.bearing(position, point))):
            return lead
        left = on.length - on.along
        most = path.braking_speed(left - lead if through else left, there, self.limits.deceleration)
        self._arc(path.curvature_to(point, position, yaw), max(min(wanted, most), CREEP))
        return lead

    def circle(self, middle: Point, radius: float, clockwise: bool, speed: float = 0.0) -> None:
        """Go round a point at m/s (0: WP_SPEED), from wherever it is."""
        position, yaw = self.position, self.rover.autopilot.estimate.yaw
        wanted = min(speed or self.limits.speed, sqrt(self.limits.sideways * radius))
        look = self._look(self.speed)
        course = path.circle_heading(position, middle, radius, clockwise, look)
        error = path.turned(yaw, course)
        off = self.distance(middle) - radius
        self._report_values(abs(off), course, off)
        if self._pivot(error):
            return
        bend = max(self.speed, 0.0) / radius * look * look / (look * look + off * off)
        turn_rate = (bend if clockwise else -bend) + self.limits.heading_p * error
        self.rates(wanted * max(cos(error), 0.2), turn_rate)

    # how it does it --------------------------------------------------------------------------------------------------

    def _look(self, speed: float) -> float:
        """m to look ahead at m/s."""
        return max(self.limits.look * speed, SHORTEST_LOOK, self.rover.smallest_circle)

    def _corner_speed(self, turn: float) -> float:
        """m/s at which a corner of `turn` rad is rounded, neither sliding nor cutting too much of it."""
        sine = max(sin(0.5 * turn), 1e-3)
        sliding = self.limits.sideways * self.limits.look / (2.0 * sine)
        cutting = CUT / (0.45 * self.limits.look * sine)
        return max(min(sliding, cutting), CREEP)

    def _arc(self, curvature: float, speed: float) -> None:
        """Go at m/s, or as fast as the curvature (1/m) lets it."""
        bend = max(abs(curvature), 1e-6)
        slow = min(speed, sqrt(self.limits.sideways / bend), max(0.8 * self.limits.turn_rate / bend, CREEP))
        self.rates(slow, curvature * max(self.speed, 0.3 * slow))

    def _pivots_at(self, turn: float) -> bool:
        return self.rover.pivots and 0.0 < self.limits.pivot_angle < turn

    def _pivot(self, error: float) -> bool:
        """Turn on the spot if the heading is far off; whether it does. It brakes before it turns."""
        if not self.pivoting:
            self.pivoting, self._stood = self._pivots_at(abs(error)), False
        elif abs(error) < PIVOTED:
            self.pivoting = False
        if not self.pivoting:
            return False
        self._stood = self._stood or abs(self.speed) < STANDING
        self.rates(0.0, self._heading_rate(error, self.limits.pivot_rate) if self._stood else 0.0)
        return True

    def _heading_rate(self, error: float, most: float) -> float:
        """rad/s towards a heading: proportional, damped, and never more than it can stop in time."""
        stoppable = sqrt(self.limits.turn_acceleration * abs(error))
        rate = self.limits.heading_p * error - self.limits.heading_d * self.rover.autopilot.estimate.r
        most = min(most, stoppable)
        return min(max(rate, -most), most)

    def _report(self, end: Point, on: path.Track, course: float) -> None:
        self._report_values(self.distance(end), course, on.across)
        self.rover.autopilot.telemetry.target_bearing = path.bearing(self.position, end)

    def _report_values(self, distance: float, course: float, across: float) -> None:
        telemetry = self.rover.autopilot.telemetry
        telemetry.target_distance, telemetry.crosstrack = distance, across
        telemetry.target_bearing = telemetry.nav_bearing = course
