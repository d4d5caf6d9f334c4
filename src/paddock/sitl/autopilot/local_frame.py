"""Metres north, east and down of a point on the Earth, with scalar arithmetic: the map that an autopilot navigates on.

The radii of curvature at the origin make it exact to millimetres over the kilometres that a vehicle covers;
`paddock.world.geodesy` is the exact conversion, on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, degrees, radians, sin, sqrt

from paddock.world.geodesy import ECCENTRICITY_SQUARED, SEMI_MAJOR_AXIS


@dataclass(frozen=True)
class LocalFrame:
    """The origin: WGS84 degrees, metres above mean sea level."""

    latitude: float
    longitude: float
    altitude: float

    @cached_property
    def _radii(self) -> tuple[float, float]:
        """m per rad of latitude and of longitude, at the origin's height."""
        sine = sin(radians(self.latitude))
        bend = 1.0 - ECCENTRICITY_SQUARED * sine * sine
        normal = SEMI_MAJOR_AXIS / sqrt(bend)
        meridian = normal * (1.0 - ECCENTRICITY_SQUARED) / bend
        return meridian + self.altitude, (normal + self.altitude) * max(cos(radians(self.latitude)), 1e-9)

    def to_ned(self, latitude: float, longitude: float, altitude: float) -> tuple[float, float, float]:
        """Metres north, east and down of the origin."""
        north, east = self._radii
        turn = (longitude - self.longitude + 180.0) % 360.0 - 180.0
        return radians(latitude - self.latitude) * north, radians(turn) * east, self.altitude - altitude

    def to_geodetic(self, north: float, east: float, down: float) -> tuple[float, float, float]:
        """Latitude and longitude (deg) and altitude (m)."""
        per_north, per_east = self._radii
        longitude = self.longitude + degrees(east / per_east)
        return self.latitude + degrees(north / per_north), (longitude + 180.0) % 360.0 - 180.0, self.altitude - down
