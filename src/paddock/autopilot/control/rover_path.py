"""The paths of a rover: look-ahead geometry, and the driver that follows legs and circles.

Metres north and east, angles clockwise from north.
"""

from math import dist, hypot, pi, radians, remainder, sqrt, tau
from typing import TYPE_CHECKING, NamedTuple

from paddock.autopilot.control.rover import DIRECT, RATES, RoverSetpoint
from paddock.autopilot.estimate import GRAVITY, Point
from paddock.compute.scalars import atan2, cos, sin

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot
    from paddock.autopilot.parameters import AutopilotParameters
    from paddock.autopilot.vehicle_types import Rover


class LegPosition(NamedTuple):
    """A position relative to a leg."""

    along: float  # m from its start; may be beyond either end
    across: float  # m to the right of it
    length: float  # m


def leg_position(position: Point, start: Point, end: Point) -> LegPosition:
    """Return a position relative to a leg."""
    north, east = end[0] - start[0], end[1] - start[1]
    length = hypot(north, east)
    if length < 1e-6:
        return LegPosition(-dist(position, end), 0.0, 0.0)
    pn, pe = position[0] - start[0], position[1] - start[1]
    return LegPosition((pn * north + pe * east) / length, (pe * north - pn * east) / length, length)


def look_ahead(
    leg: LegPosition, position: Point, start: Point, end: Point, after: Point | None, distance: float
) -> Point:
    """Return the point of the path `distance` m from the position, or the nearest if the path is further away.

    Beyond the end the path continues to `after`, or straight on.
    """
    if leg.length <= 0.0:
        return end
    along = max(leg.along + sqrt(max(distance * distance - leg.across * leg.across, 0.0)), 0.0)
    if along > leg.length and after is not None and after != end:
        following = leg_position(position, end, after)
        along = following.along + sqrt(max(distance * distance - following.across * following.across, 0.0))
        return _point_between(end, after, min(max(along, 0.0), following.length) / following.length)
    return _point_between(start, end, along / leg.length)


def _point_between(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def bearing(a: Point, b: Point) -> float:
    """Return the bearing from a to b, rad."""
    return atan2(b[1] - a[1], b[0] - a[0])


def heading_change(a: float, b: float) -> float:
    """Return the turn from heading a to heading b, rad, + clockwise, -pi to pi."""
    return remainder(b - a, tau)


def curvature_to(point: Point, position: Point, heading: float) -> float:
    """Return the curvature, 1/m, + clockwise, of the arc from the heading to the point; sharpest if it lies behind."""
    distance = max(dist(position, point), 0.05)
    error = heading_change(heading, bearing(position, point))
    sine = sin(error) if abs(error) < 0.5 * pi else (1.0 if error > 0.0 else -1.0)
    return 2.0 * sine / distance


def corner(start: Point, end: Point, after: Point | None) -> float:
    """Return the turn at the end of the leg, rad, 0 to pi; pi if the path ends there."""
    if after is None or after == end or start == end:
        return pi
    return abs(heading_change(bearing(start, end), bearing(end, after)))


def braking_speed(distance: float, speed_there: float, deceleration: float) -> float:
    """Return the maximum speed, m/s, at `distance` m from where it must be `speed_there`."""
    return sqrt(speed_there * speed_there + 2.0 * deceleration * max(distance, 0.0))


def circle_heading(position: Point, centre: Point, radius: float, clockwise: bool, distance: float) -> float:
    """Return the course (rad) that leads onto a circle and around it.

    position, centre: m. radius: m. clockwise: seen from above. distance: look-ahead, m.
    """
    north, east = position[0] - centre[0], position[1] - centre[1]
    sign, radial_error = 1.0 if clockwise else -1.0, hypot(north, east) - radius
    return atan2(east, north) + sign * (0.5 * pi + atan2(radial_error, distance))


def point_ahead(position: Point, heading: float, distance: float) -> Point:
    """Return the point `distance` m away in a direction."""
    return position[0] + distance * cos(heading), position[1] + distance * sin(heading)


STANDING = 0.2  # m/s: slow enough to pivot
PIVOTED = radians(5.0)  # heading error at which pivoting ends
STOP_RADIUS = 0.1  # m: arrival radius where the rover stops
CREEP = 0.15  # m/s: minimum speed before arrival
SHORTEST_LOOK = 0.8  # m
CUT = 0.3  # m: how far a corner may be cut
GENTLE = 0.6  # share of the maximum deceleration that is planned with


class RoverDriver:
    """Follows legs, circles and headings with the setpoint. Its state is whether it pivots and drives backwards."""

    rover: "Rover"
    autopilot: "BuiltInAutopilot"
    pivoting: bool
    reversed: bool = False  # it drives backwards along its path (DO_SET_REVERSE)
    _stood: bool  # since the pivot began
    cruise: float  # m/s
    sideways: float  # m/s2
    _deceleration: float  # m/s2
    _turn_rate: float
    _turn_acceleration: float
    _heading_p: float
    _heading_d: float
    _pivot_angle: float  # 0: never
    _pivot_rate: float
    _look_time: float  # s of driving to look ahead

    def __init__(self, rover: "Rover") -> None:
        self.rover, self.autopilot = rover, rover.autopilot
        self.pivoting = self._stood = False
        self.read_parameters(rover.autopilot.parameters)

    def read_parameters(self, p: "AutopilotParameters") -> None:
        """Derive the limits from the parameters."""
        v = p.value
        self.cruise = v("WP_SPEED") or v("CRUISE_SPEED")
        self._deceleration = GENTLE * (v("ATC_DECEL_MAX") or v("ATC_ACCEL_MAX"))
        self.sideways = v("ATC_TURN_MAX_G") * GRAVITY
        self._turn_rate, self._turn_acceleration = radians(v("ATC_STR_RAT_MAX")), radians(v("ATC_STR_ACC_MAX"))
        self._heading_p, self._heading_d = v("ATC_STR_ANG_P"), v("ATC_STR_ANG_D")
        self._pivot_angle, self._pivot_rate = radians(v("WP_PIVOT_ANGLE")), radians(v("WP_PIVOT_RATE"))
        self._look_time = v("NAVL1_PERIOD") * v("NAVL1_DAMPING") / pi

    @property
    def position(self) -> Point:
        """Position, m north and east."""
        return self.autopilot.estimate.position[:2]

    @property
    def yaw(self) -> float:
        """The direction in which it drives, rad: its heading, or the opposite."""
        return self.autopilot.estimate.yaw + (pi if self.reversed else 0.0)

    @property
    def speed(self) -> float:
        """Speed in the direction in which it drives, m/s."""
        now = self.autopilot.estimate
        return now.vn * cos(self.yaw) + now.ve * sin(self.yaw)

    def reached(self, start: Point, end: Point, radius: float) -> bool:
        """Return whether the end of a leg is within a radius or passed."""
        on = leg_position(self.position, start, end)
        return self.autopilot.estimate.distance(end) <= radius or (on.length > 0.0 and on.along >= on.length)

    def stopping_point(self) -> Point:
        """Return where the rover stops if it brakes now."""
        braking_distance = self.speed * abs(self.speed) / (2.0 * self._deceleration)
        return point_ahead(self.position, self.yaw, braking_distance)

    def set_rates(self, speed: float, turn_rate: float) -> None:
        """Drive at m/s and turn at rad/s (clockwise)."""
        self.rover.setpoint = RoverSetpoint(RATES, 0.0, 0.0, -speed if self.reversed else speed, turn_rate)
        self.autopilot.telemetry.speed_error = speed - self.speed

    def stop(self) -> None:
        """Brake and stand; without a valid speed, switch the motors off."""
        self.pivoting = False
        self.autopilot.telemetry.aim(0.0, self.autopilot.estimate.yaw, 0.0)
        if self.autopilot.estimate.position_ok:
            self.set_rates(0.0, 0.0)
        else:
            self.rover.setpoint = RoverSetpoint(DIRECT)

    def hold_heading(self, yaw: float, speed: float) -> None:
        """Turn to a heading (rad) and drive at m/s, slower while the error is large."""
        error = heading_change(self.autopilot.estimate.yaw, yaw)
        if not self._pivot(error):
            self.set_rates(speed * max(cos(error), 0.2), self._heading_rate(error, self._turn_rate))

    def follow_leg(self, start: Point, end: Point, after: Point | None = None, speed: float = 0.0) -> float:
        """Follow the leg from start to end at m/s (0: WP_SPEED), and stop there unless the path continues to `after`.

        Return the distance before the end, m, at which the corner starts and the next leg should be given.
        """
        turn = corner(start, end, after)
        through = after if turn < pi and not self._pivots_at(turn) else None
        position, yaw = self.position, self.yaw
        on = leg_position(position, start, end)
        point = look_ahead(on, position, start, end, through, self._look_ahead_distance(self.speed))
        self.autopilot.telemetry.aim(self.autopilot.estimate.distance(end), bearing(position, point), on.across)
        self.autopilot.telemetry.target_bearing = bearing(position, end)
        corner_speed = min(self._corner_speed(turn), speed or self.cruise) if through else 0.0
        lead = max(0.5 * self._look_ahead_distance(corner_speed), STOP_RADIUS) if through else STOP_RADIUS
        if self._pivot(heading_change(yaw, bearing(position, point))):
            return lead
        remaining = on.length - on.along
        speed_limit = braking_speed(remaining - lead if through else remaining, corner_speed, self._deceleration)
        self._arc(curvature_to(point, position, yaw), max(min(speed or self.cruise, speed_limit), CREEP))
        return lead

    def follow_circle(self, centre: Point, radius: float, clockwise: bool, speed: float = 0.0) -> None:
        """Circle a point. centre, radius: m. clockwise: seen from above. speed: m/s; 0: WP_SPEED."""
        target_speed = min(speed or self.cruise, sqrt(self.sideways * radius))
        look = self._look_ahead_distance(self.speed)
        course = circle_heading(self.position, centre, radius, clockwise, look)
        error = heading_change(self.yaw, course)
        radial_error = self.autopilot.estimate.distance(centre) - radius
        self.autopilot.telemetry.aim(abs(radial_error), course, radial_error)
        if self._pivot(error):
            return
        feed_forward = max(self.speed, 0.0) / radius * look * look / (look * look + radial_error * radial_error)
        turn_rate = (feed_forward if clockwise else -feed_forward) + self._heading_p * error
        self.set_rates(target_speed * max(cos(error), 0.2), turn_rate)

    def _look_ahead_distance(self, speed: float) -> float:
        """Return the look-ahead distance, m, at a speed."""
        return max(self._look_time * speed, SHORTEST_LOOK, self.rover.min_turn_radius)

    def _corner_speed(self, turn: float) -> float:
        """Return the speed, m/s, for a corner of `turn` rad, limited by lateral acceleration and by cutting it."""
        sine = max(sin(0.5 * turn), 1e-3)
        sliding = self.sideways * self._look_time / (2.0 * sine)
        cutting = CUT / (0.45 * self._look_time * sine)
        return max(min(sliding, cutting), CREEP)

    def _arc(self, curvature: float, speed: float) -> None:
        """Drive an arc at m/s, or as fast as its curvature (1/m) allows."""
        bend = max(abs(curvature), 1e-6)
        slow = min(speed, sqrt(self.sideways / bend), max(0.8 * self._turn_rate / bend, CREEP))
        self.set_rates(slow, curvature * max(self.speed, 0.3 * slow))

    def _pivots_at(self, turn: float) -> bool:
        return self.rover.pivots and 0.0 < self._pivot_angle < turn

    def _pivot(self, error: float) -> bool:
        """Pivot if the heading error is large, after braking; return whether it pivots."""
        if not self.pivoting:
            self.pivoting, self._stood = self._pivots_at(abs(error)), False
        elif abs(error) < PIVOTED:
            self.pivoting = False
        if not self.pivoting:
            return False
        self._stood = self._stood or abs(self.speed) < STANDING
        self.set_rates(0.0, self._heading_rate(error, self._pivot_rate) if self._stood else 0.0)
        return True

    def _heading_rate(self, error: float, most: float) -> float:
        """Return the turn rate towards a heading, rad/s: proportional, damped, and slow enough to stop in time."""
        stoppable = sqrt(self._turn_acceleration * abs(error))
        rate = self._heading_p * error - self._heading_d * self.autopilot.estimate.r
        most = min(most, stoppable)
        return min(max(rate, -most), most)
