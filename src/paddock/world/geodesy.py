"""WGS84 latitude, longitude and ellipsoidal height to and from metres east, north and up of an origin.

Exact, through Earth-centred coordinates (ECEF): valid at any distance and at the poles. Always float64, vectorised over
arrays of any shape. Not pymap3d, whose results differ in the last bits, so that recorded runs would not verify.
`to_geodetic` uses NumPy's functions, whose last bits depend on the processor: it is for files and other programs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.compute import arrays
from paddock.errors import InvalidValueError

Array = NDArray[np.float64]

SEMI_MAJOR_AXIS = 6378137.0  # WGS84 equatorial radius in m
FLATTENING = 1.0 / 298.257223563
SEMI_MINOR_AXIS = SEMI_MAJOR_AXIS * (1.0 - FLATTENING)  # WGS84 polar radius in m
ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
SECOND_ECCENTRICITY_SQUARED = ECCENTRICITY_SQUARED / (1.0 - ECCENTRICITY_SQUARED)

HEIGHT_LIMIT = 100_000.0  # largest height or depth of an origin in m
CORE_RADIUS = 1_000_000.0  # points closer to the Earth's centre than this (m) have no useful latitude: an error


@dataclass(frozen=True)
class Origin:
    """The origin of the local east-north-up frame on Earth; at a pole the longitude defines north."""

    latitude_deg: float
    longitude_deg: float
    height_m: float = 0.0  # above the WGS84 ellipsoid (not above sea level)

    def __post_init__(self) -> None:
        _check("origin latitude_deg", self.latitude_deg, 90.0)
        _check("origin longitude_deg", self.longitude_deg, 180.0)
        _check("origin height_m", self.height_m, HEIGHT_LIMIT)

    def to_local(self, latitude_deg: ArrayLike, longitude_deg: ArrayLike, height_m: ArrayLike) -> Array:
        """Return metres east, north and up (..., 3) of geodetic points (...)."""
        x, y, z = np.moveaxis(geodetic_to_ecef(latitude_deg, longitude_deg, height_m) - self._ecef, -1, 0)
        sin_lat, cos_lat, sin_lon, cos_lon = self._angles
        outward = cos_lon * x + sin_lon * y
        east = cos_lon * y - sin_lon * x
        return np.stack([east, cos_lat * z - sin_lat * outward, cos_lat * outward + sin_lat * z], axis=-1)

    def to_geodetic(self, enu: ArrayLike) -> tuple[Array, Array, Array]:
        """Return latitude and longitude in deg and height in m, each (...), of local points (..., 3) in m."""
        east, north, up = np.moveaxis(_triples(enu), -1, 0)
        sin_lat, cos_lat, sin_lon, cos_lon = self._angles
        outward = cos_lat * up - sin_lat * north
        x, y = cos_lon * outward - sin_lon * east, sin_lon * outward + cos_lon * east
        return ecef_to_geodetic(np.stack([x, y, sin_lat * up + cos_lat * north], axis=-1) + self._ecef)

    @cached_property
    def _ecef(self) -> Array:
        return geodetic_to_ecef(self.latitude_deg, self.longitude_deg, self.height_m)

    @cached_property
    def _angles(self) -> tuple[float, float, float, float]:
        latitude, longitude = np.deg2rad(self.latitude_deg), np.deg2rad(self.longitude_deg)
        (sin_lat, cos_lat), (sin_lon, cos_lon) = arrays.sincos(latitude), arrays.sincos(longitude)
        return float(sin_lat), float(cos_lat), float(sin_lon), float(cos_lon)


def geodetic_to_ecef(latitude_deg: ArrayLike, longitude_deg: ArrayLike, height_m: ArrayLike) -> Array:
    """Return Earth-centred Earth-fixed positions (..., 3) in m."""
    lat = np.deg2rad(_check("latitude_deg", latitude_deg, 90.0))
    lon = np.deg2rad(_check("longitude_deg", longitude_deg, 180.0))
    height = _check("height_m", height_m, np.inf)
    (sin_lat, cos_lat), (sin_lon, cos_lon) = arrays.sincos(lat), arrays.sincos(lon)
    normal = SEMI_MAJOR_AXIS / np.sqrt(1.0 - ECCENTRICITY_SQUARED * sin_lat**2)
    outward = (normal + height) * cos_lat
    z = (normal * (1.0 - ECCENTRICITY_SQUARED) + height) * sin_lat
    return np.stack(np.broadcast_arrays(outward * cos_lon, outward * sin_lon, z), axis=-1)


def ecef_to_geodetic(ecef: ArrayLike) -> tuple[Array, Array, Array]:
    """Return latitude and longitude in deg and height in m, each (...), of Earth-centred positions (..., 3) in m."""
    x, y, z = np.moveaxis(_triples(ecef), -1, 0)
    outward = np.hypot(x, y)
    if (np.hypot(outward, z) < CORE_RADIUS).any():
        raise InvalidValueError(f"a point is within {CORE_RADIUS / 1000:.0f} km of the Earth's centre")
    # Bowring's iteration on the reduced latitude: near the surface the first round is good to 1e-11 rad; three are
    # enough from CORE_RADIUS to any height, without a branch
    sin_red, cos_red = _unit(SEMI_MAJOR_AXIS * z, SEMI_MINOR_AXIS * outward)
    for _ in range(3):
        rise = z + SECOND_ECCENTRICITY_SQUARED * SEMI_MINOR_AXIS * sin_red**3
        run = outward - ECCENTRICITY_SQUARED * SEMI_MAJOR_AXIS * cos_red**3
        sin_red, cos_red = _unit(SEMI_MINOR_AXIS * rise, SEMI_MAJOR_AXIS * run)
    sin_lat, cos_lat = _unit(rise, run)
    # this form of the height is exact at the poles, where the usual outward / cos(latitude) - N fails
    height = outward * cos_lat + z * sin_lat - SEMI_MAJOR_AXIS * np.sqrt(1.0 - ECCENTRICITY_SQUARED * sin_lat**2)
    return np.rad2deg(np.arctan2(sin_lat, cos_lat)), np.rad2deg(np.arctan2(y, x)), np.asarray(height)


def _unit(rise: Array, run: Array) -> tuple[Array, Array]:
    """Return sine and cosine of the angle with that tangent."""
    length = np.hypot(rise, run)
    return rise / length, run / length


def _triples(values: ArrayLike) -> Array:
    """Return finite points (..., 3) as float64."""
    points = np.asarray(values, dtype=np.float64)
    if points.ndim == 0 or points.shape[-1] != 3:
        raise InvalidValueError(f"expected 3 components along the last axis, got shape {points.shape}")
    if not np.isfinite(points).all():
        raise InvalidValueError("a point has a coordinate that is not finite")
    return points


def _check(field: str, values: ArrayLike, limit: float) -> Array:
    """Return finite values within the limit as float64."""
    array = np.asarray(values, dtype=np.float64)
    wrong = ~np.isfinite(array) | (np.abs(array) > limit)
    if wrong.any():
        allowed = "a finite number" if np.isinf(limit) else f"from {-limit:g} to {limit:g}"
        raise InvalidValueError(f"{field} is {array[wrong].flat[0]:g}, expected {allowed}")
    return array
