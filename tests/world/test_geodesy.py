"""Geodesy against pymap3d and published numbers of the WGS84 ellipsoid."""

from __future__ import annotations

import numpy as np
import pymap3d
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.world.geodesy import Origin, ecef_to_geodetic, geodetic_to_ecef

EQUATOR_RADIUS = 6378137.0
POLAR_RADIUS = 6356752.314245
TOKYO = Origin(35.6812, 139.7671, 40.0)
ORIGINS = [
    TOKYO,
    Origin(0, 0),
    Origin(90, 0),
    Origin(-90, 45, 2835),
    Origin(-33.9, -70.8, 520),
    Origin(65, 180),
    Origin(-1, -180),
]


def random_points(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return np.rad2deg(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n), rng.uniform(-1e5, 1e5, n)


def test_corners_of_the_ellipsoid_from_the_gulf_of_guinea() -> None:
    origin = Origin(0.0, 0.0, 0.0)
    corners = origin.to_local([0, 0, 90, -90, 0], [90, 180, 0, 0, 0], [0, 0, 0, 0, 12.5])
    a, b = EQUATOR_RADIUS, POLAR_RADIUS
    np.testing.assert_allclose(corners, [[a, 0, -a], [0, 0, -2 * a], [0, b, -a], [0, -b, -a], [0, 0, 12.5]], atol=1e-6)


@pytest.mark.parametrize(
    ("latitude", "metres_per_latitude", "metres_per_longitude"),
    [
        (0, 110574, 111320),
        (15, 110649, 107550),
        (30, 110852, 96486),
        (45, 111132, 78847),
        (60, 111412, 55800),
        (75, 111618, 28902),
    ],
)
def test_published_lengths_of_a_degree(
    latitude: float, metres_per_latitude: float, metres_per_longitude: float
) -> None:
    step = 1e-4
    north = Origin(latitude, 10.0).to_local(latitude + step, 10.0, 0.0)
    east = Origin(latitude, 10.0).to_local(latitude, 10.0 + step, 0.0)
    assert north[1] / step == pytest.approx(metres_per_latitude, abs=1.0)
    assert east[0] / step == pytest.approx(metres_per_longitude, abs=1.0)
    assert abs(north[0]) < 1e-8


@pytest.mark.parametrize("origin", ORIGINS)
def test_local_points_agree_with_pymap3d(origin: Origin) -> None:
    lat, lon, h = random_points(1000)
    reference = (origin.latitude_deg, origin.longitude_deg, origin.height_m)
    expected = np.stack(pymap3d.geodetic2enu(lat, lon, h, *reference), axis=-1)
    np.testing.assert_allclose(origin.to_local(lat, lon, h), expected, atol=1e-7)


@pytest.mark.parametrize("origin", ORIGINS)
def test_geodetic_points_agree_with_pymap3d(origin: Origin) -> None:
    enu = np.random.default_rng(2).uniform(-5e4, 5e4, (1000, 3))
    reference = (origin.latitude_deg, origin.longitude_deg, origin.height_m)
    lat, lon, h = pymap3d.enu2geodetic(*enu.T, *reference)
    geodetic = origin.to_geodetic(enu)
    np.testing.assert_allclose(geodetic[0], lat, atol=1e-9)
    np.testing.assert_allclose((geodetic[1] - lon + 180) % 360 - 180, 0, atol=1e-9)
    np.testing.assert_allclose(geodetic[2], h, atol=1e-6)


@pytest.mark.parametrize("origin", ORIGINS)
def test_round_trip_is_within_a_nanodegree_and_a_micrometre(origin: Origin) -> None:
    lat, lon, h = random_points(20000)
    returned = origin.to_geodetic(origin.to_local(lat, lon, h))
    assert np.abs(returned[0] - lat).max() < 1e-9
    # Longitude degenerates towards the pole: the distance along the ground is compared there.
    assert (np.abs((returned[1] - lon + 180) % 360 - 180) * np.cos(np.deg2rad(lat))).max() < 1e-9
    assert np.abs(returned[2] - h).max() < 1e-6


@pytest.mark.parametrize("latitude", [90.0, -90.0, 90 - 1e-9, -90 + 1e-7, 89.999])
@pytest.mark.parametrize("height", [-1e5, 0.0, 1e5])
@pytest.mark.parametrize("origin", ORIGINS)
def test_the_poles(latitude: float, height: float, origin: Origin) -> None:
    local = origin.to_local(latitude, 33.0, height)
    lat, lon, h = origin.to_geodetic(local)
    assert lat == pytest.approx(latitude, abs=1e-9)
    assert h == pytest.approx(height, abs=1e-6)
    np.testing.assert_allclose(origin.to_local(lat, lon, h), local, atol=1e-6)


@given(lat=st.floats(-90, 90), lon=st.floats(-180, 180), h=st.floats(-1e5, 1e5))
def test_earth_centred_round_trip(lat: float, lon: float, h: float) -> None:
    returned = ecef_to_geodetic(geodetic_to_ecef(lat, lon, h))
    assert returned[0] == pytest.approx(lat, abs=1e-9)
    assert returned[1] == pytest.approx(lon, abs=1e-9)
    assert returned[2] == pytest.approx(h, abs=1e-6)


@pytest.mark.parametrize("height", [-4e6, -2e6, 4e5, 2.02e7, 3.6e7, 4e8])
def test_far_below_and_far_above(height: float) -> None:
    lat = np.linspace(-90, 90, 721)
    returned = ecef_to_geodetic(geodetic_to_ecef(lat, 20.0, height))
    np.testing.assert_allclose(returned[0], lat, atol=1e-9)
    np.testing.assert_allclose(returned[2], height, rtol=1e-14, atol=1e-6)


def test_the_origin_is_zero_and_up_is_up() -> None:
    np.testing.assert_allclose(TOKYO.to_local(35.6812, 139.7671, [40.0, 140.0]), [[0, 0, 0], [0, 0, 100]], atol=1e-8)


def test_the_curvature_of_the_earth_lowers_distant_points() -> None:
    # 20 km out the surface has dropped by d^2 / 2R, 31.4 m for the ellipsoid's east-west radius at the equator.
    _, _, height = Origin(0, 0).to_geodetic([20_000.0, 0.0, 0.0])
    assert height == pytest.approx(20_000.0**2 / (2 * EQUATOR_RADIUS), abs=1e-3)


def test_shapes_broadcast_and_precision_is_double() -> None:
    local = TOKYO.to_local(np.full((2, 1), 35.7, np.float32), np.full(3, 139.8), 0)
    assert (local.shape, local.dtype) == ((2, 3, 3), np.float64)
    assert [part.shape for part in TOKYO.to_geodetic(local.astype(np.float32))] == [(2, 3)] * 3
    assert TOKYO.to_local(35, 139, 0).shape == (3,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((90.1, 0, 0), "origin latitude_deg is 90.1, expected from -90 to 90"),
        ((0, 181, 0), "origin longitude_deg is 181, expected from -180 to 180"),
        ((0, 0, 1e6), r"origin height_m is 1e\+06, expected from -100000 to 100000"),
        ((np.nan, 0, 0), "origin latitude_deg is nan"),
    ],
)
def test_impossible_origins_are_refused(arguments: tuple[float, float, float], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Origin(*arguments)


def test_impossible_points_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="latitude_deg is -91, expected from -90 to 90"):
        TOKYO.to_local([35, -91], 139, 0)
    with pytest.raises(InvalidValueError, match="height_m is inf, expected a finite number"):
        TOKYO.to_local(35, 139, np.inf)
    with pytest.raises(InvalidValueError, match="not finite"):
        TOKYO.to_geodetic([0, np.nan, 0])
    with pytest.raises(InvalidValueError, match=r"expected 3 components along the last axis, got shape \(2,\)"):
        TOKYO.to_geodetic([0, 0])
    with pytest.raises(InvalidValueError, match="within 1000 km of the Earth's centre"):
        TOKYO.to_geodetic([0, 0, -6.37e6])
