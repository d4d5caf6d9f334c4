"""The estimator's result: one row of float64 with named columns, in a local north-east-down frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import degrees, hypot, pi, radians, sqrt
from typing import NamedTuple

from paddock.compute.scalars import cos, sin
from paddock.world.geodesy import ECCENTRICITY_SQUARED, SEMI_MAJOR_AXIS

GRAVITY = 9.80665  # m/s2
Ned = tuple[float, float, float]  # north, east and down of a local frame's origin, m


class Estimate(NamedTuple):
    """Position from the origin of the `LocalFrame`, velocity and attitude: north-east-down, front-right-down."""

    time_us: float
    north: float  # m
    east: float
    down: float
    vn: float  # m/s
    ve: float
    vd: float
    qw: float  # attitude, body to north-east-down
    qx: float
    qy: float
    qz: float
    roll: float  # rad
    pitch: float  # rad, + nose up
    yaw: float  # rad, clockwise from north, -pi to pi
    p: float  # rad/s, body rates without gyroscope bias
    q: float
    r: float
    an: float  # m/s2, acceleration over the ground, gravity removed
    ae: float
    ad: float
    attitude_ok: float  # 1: attitude is valid
    position_ok: float  # 1: horizontal position and velocity are valid
    height_ok: float  # 1: height and climb rate are valid
    horizontal_error: float  # m, 1 sigma
    vertical_error: float  # m, 1 sigma
    # normalised innovations (1: at the gate), as in EKF_STATUS_REPORT
    velocity_ratio: float
    position_ratio: float
    height_ratio: float
    compass_ratio: float

    @property
    def position(self) -> Ned:
        """North, east and down of the origin, m."""
        return self.north, self.east, self.down

    def distance(self, point: Sequence[float]) -> float:
        """Return the horizontal distance to a point (north, east), m."""
        return hypot(point[0] - self.north, point[1] - self.east)


ESTIMATE_WIDTH = len(Estimate._fields)
ESTIMATE_COLUMN = {name: k for k, name in enumerate(Estimate._fields)}  # column of each value in a row

MOST_ALTITUDE = 1e6  # m
Point = tuple[float, float]  # north and east, m


def wrap(angle: float) -> float:
    """Wrap an angle to -pi to pi."""
    return (angle + pi) % (2.0 * pi) - pi


def on_earth(latitude: float, longitude: float, altitude: float) -> bool:
    """Return whether a position (deg, deg, m) can be that of a vehicle."""
    return abs(latitude) <= 90.0 and abs(longitude) <= 180.0 and abs(altitude) <= MOST_ALTITUDE


@dataclass(frozen=True)
class LocalFrame:
    """A tangent plane at an origin (WGS84 deg, m above mean sea level), with scalar arithmetic.

    The radii of curvature at the origin make it exact to millimetres over a few kilometres; `paddock.world.geodesy`
    is the exact conversion, on arrays.
    """

    latitude: float
    longitude: float
    altitude: float

    def check_saved(self) -> bool:
        """Return whether a restored origin is on the Earth."""
        return on_earth(self.latitude, self.longitude, self.altitude)

    @cached_property
    def _radii(self) -> tuple[float, float]:
        """m per rad of latitude and of longitude at the origin."""
        sine = sin(radians(self.latitude))
        bend = 1.0 - ECCENTRICITY_SQUARED * sine * sine
        normal = SEMI_MAJOR_AXIS / sqrt(bend)
        meridian = normal * (1.0 - ECCENTRICITY_SQUARED) / bend
        return meridian + self.altitude, (normal + self.altitude) * max(cos(radians(self.latitude)), 1e-9)

    def to_ned(self, latitude: float, longitude: float, altitude: float) -> Ned:
        """Return metres north, east and down of the origin."""
        north, east = self._radii
        turn = (longitude - self.longitude + 180.0) % 360.0 - 180.0
        return radians(latitude - self.latitude) * north, radians(turn) * east, self.altitude - altitude

    def to_geodetic(self, north: float, east: float, down: float) -> tuple[float, float, float]:
        """Return latitude and longitude (deg) and altitude (m)."""
        per_north, per_east = self._radii
        longitude = self.longitude + degrees(east / per_east)
        return self.latitude + degrees(north / per_north), (longitude + 180.0) % 360.0 - 180.0, self.altitude - down
