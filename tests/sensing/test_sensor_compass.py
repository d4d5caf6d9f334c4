"""The magnetic model against NOAA's test values, and the compass in its field."""

from typing import Any

import numpy as np
import pytest

from paddock.errors import InvalidValueError
from paddock.sensing.site import Site, field_at, site_at
from paddock.world.geodesy import Origin

# The twelve test values published with WMM2025: year, km, deg north, deg east; north, east, down in nT; declination deg
PUBLISHED = [
    (2025.0, 0, 80, 0, 6521.6, 145.9, 54791.5, 1.28),
    (2025.0, 0, 0, 120, 39677.8, -109.6, -10580.2, -0.16),
    (2025.0, 0, -80, -120, 6117.5, 15751.9, -52022.5, 68.78),
    (2025.0, 100, 80, 0, 6216.0, 92.4, 52598.8, 0.85),
    (2025.0, 100, 0, 120, 37688.6, -96.2, -10152.1, -0.15),
    (2025.0, 100, -80, -120, 5907.6, 14780.3, -49540.7, 68.21),
    (2027.5, 0, 80, 0, 6500.8, 294.5, 54869.4, 2.59),
    (2027.5, 0, 0, 120, 39701.6, -167.4, -10381.8, -0.24),
    (2027.5, 0, -80, -120, 6200.7, 15730.3, -51783.7, 68.49),
    (2027.5, 100, 80, 0, 6196.7, 233.8, 52670.5, 2.16),
    (2027.5, 100, 0, 120, 37711.5, -148.7, -9969.8, -0.23),
    (2027.5, 100, -80, -120, 5984.0, 14760.1, -49317.7, 67.93),
]


@pytest.mark.parametrize(("year", "km", "latitude", "longitude", "north", "east", "down", "declination"), PUBLISHED)
def test_published_values(
    year: float,
    km: float,
    latitude: float,
    longitude: float,
    north: float,
    east: float,
    down: float,
    declination: float,
) -> None:
    field = np.array(field_at(latitude, longitude, 1000.0 * km, year)) * 1e9
    np.testing.assert_allclose(field, [east, north, -down], rtol=0, atol=0.051)
    assert np.rad2deg(np.arctan2(field[0], field[1])) == pytest.approx(declination, abs=0.0051)


@pytest.mark.parametrize(
    ("latitude", "longitude", "height", "year", "named"),
    [
        (0, 0, 0, 2024.99, "decimal_year must lie in 2025 to 2030"),
        (0, 0, 0, 2030.01, "decimal_year"),
        (0, 0, 0, float("nan"), "decimal_year"),
        (91, 0, 0, 2026, "latitude_deg"),
        (0, 181, 0, 2026, "longitude_deg"),
        (0, 0, 1e6, 2026, "height_m"),
    ],
)
def test_outside_the_model_is_refused(
    latitude: float, longitude: float, height: float, year: float, named: str
) -> None:
    with pytest.raises(InvalidValueError, match=named):
        field_at(latitude, longitude, height, year)


@pytest.mark.parametrize("latitude", [-90.0, 90.0])
def test_the_poles_have_a_field(latitude: float) -> None:
    assert 5e-5 < np.linalg.norm(field_at(latitude, 0.0, 0.0, 2026.0)) < 7e-5


def test_a_site_has_the_field_and_height_of_its_origin() -> None:
    site = site_at(Origin(0.0, 120.0, 100_000.0), 2027.5)
    np.testing.assert_allclose(np.array(site) * 1e9, [-148.7, 37711.5, 9969.8, 1e14], atol=0.051)


def test_body_field_of_vehicles_heading_east_north_and_upside_down(bench: Any) -> None:
    compass, half = bench.sensor("compass", Site(1e-6, 2e-5, -4e-5), noise=0.0, walk=0.0), np.sqrt(0.5)
    pose = bench.poses(3, qz=[0, half, 0], qw=[1, half, 0], qx=[0, 0, 1])
    bench.take(compass, pose)
    np.testing.assert_allclose(compass.readings()["field_x"], [1e-6, 2e-5, 1e-6], atol=1e-18)
    np.testing.assert_allclose(compass.readings()["field_y"], [2e-5, -1e-6, -2e-5], atol=1e-18)
    np.testing.assert_allclose(compass.readings()["field_z"], [-4e-5, -4e-5, 4e-5], atol=1e-18)
    np.testing.assert_allclose(compass.readings()["heading"], [0, np.pi / 2, 0], atol=1e-15)


@pytest.mark.parametrize("declination", [0.0, 1.2, -3.0])
def test_heading_is_true_for_any_declination(bench: Any, declination: float) -> None:
    site = Site(2e-5 * np.sin(declination), 2e-5 * np.cos(declination), -4e-5)
    compass, yaw = bench.sensor("compass", site, noise=0.0, walk=0.0), np.linspace(-3.1, 3.1, 63)
    bench.take(compass, bench.poses(63, qz=np.sin(yaw / 2), qw=np.cos(yaw / 2)))
    np.testing.assert_allclose(compass.readings()["heading"], yaw, atol=1e-14)


def test_default_noise_turns_the_heading(bench: Any) -> None:
    compass = bench.sensor("compass", walk=0.0)
    bench.take(compass, bench.poses(10_000, qz=np.sin(0.4), qw=np.cos(0.4)))
    bench.assert_std(compass.readings()["heading"], 0.05)
    bench.assert_mean(compass.readings()["heading"], 0.8, 0.05)
    bench.assert_std(compass.readings()["field_z"], 0.05 * 2.2e-5)


def test_field_and_heading_agree(bench: Any) -> None:
    compass = bench.sensor("compass")  # the field of the default site points north: declination 0
    bench.take(compass, bench.poses(100))
    shown = np.pi / 2 - np.arctan2(compass.readings()["field_y"], compass.readings()["field_x"])
    np.testing.assert_allclose(compass.readings()["heading"], shown, atol=1e-14)


def test_bias_walks(bench: Any) -> None:
    compass = bench.sensor("compass", noise=0.0, walk=0.01)
    bench.run(compass, lambda tick: bench.poses(4000), 4001)
    bench.assert_std(compass.readings()["heading"], 0.02)
