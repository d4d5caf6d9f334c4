"""Places on a map: latitude and longitude to and from metres east and north of an origin.

A map has no heights, so a place is taken at the height of the origin above the WGS 84 ellipsoid; both ways agree to
well below a millimetre. Bearings are degrees clockwise from the origin's north.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees, pi, radians, remainder

import numpy as np
from numpy.typing import ArrayLike

from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

ROUNDS = 6
"""Each makes the height's error smaller by the curvature of the Earth: 1e-10 m after a few, even 100 km away."""


def to_local(places: ArrayLike, origin: Origin) -> Floats:
    """Metres east and north (n, 2) of places (n, 2): latitude and longitude in deg."""
    latitude, longitude = np.asarray(places, dtype=np.float64).reshape(-1, 2).T
    return origin.to_local(latitude, longitude, np.full(len(latitude), origin.height_m))[:, :2]


def to_places(points: ArrayLike, origin: Origin) -> Floats:
    """Latitude and longitude in deg (n, 2) of local points (n, 2 or more) in m."""
    x, y = np.asarray(points, dtype=np.float64).T[:2]
    z = np.zeros(len(x))
    for _ in range(ROUNDS):
        latitude, longitude, height = origin.to_geodetic(np.stack([x, y, z], axis=1))
        z = z + origin.height_m - height
    return np.stack([latitude, longitude], axis=1)


def bearing(heading: float) -> float:
    """A heading (rad, counter-clockwise from east) as deg clockwise from north, 0 to 360, in steps of 1e-6."""
    return round(90.0 - degrees(heading), 6) % 360.0


def heading(bearing_deg: float) -> float:
    """A bearing (deg, clockwise from north) as rad counter-clockwise from east, -pi to pi."""
    return remainder(radians(90.0 - bearing_deg), 2.0 * pi)


def plain(points: Floats) -> list[list[float]]:
    """Rows as lists, in steps of 1e-10: 0.01 mm for degrees."""
    rows: list[list[float]] = np.round(points, 10).tolist()
    return rows


def counter_clockwise(ring: Sequence[Sequence[float]]) -> bool:
    """Whether a ring of (x, y) goes round counter-clockwise."""
    x, y = np.array(ring, dtype=np.float64).T
    return bool(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) > 0.0)


def rounded(points: Floats) -> list[list[float]]:
    """Local metres as lists, in steps of 10 nm: below what degrees are written to."""
    rows: list[list[float]] = (np.round(points, 8) + 0.0).tolist()  # + 0.0: no -0.0
    return rows
