"""The rangefinder: tilt geometry and range."""

from typing import Any

import numpy as np
import pytest

QUIET = {"noise": 0.0, "walk": 0.0}


def test_distance_is_height_by_the_cosine_of_the_tilt(bench: Any) -> None:
    tilt = np.deg2rad([0, 10, 30, 45, 60])
    for axis in ("qx", "qy"):
        rangefinder = bench.sensor("rangefinder", **QUIET)
        bench.take(rangefinder, bench.poses(5, z=10.0, qw=np.cos(tilt / 2), **{axis: np.sin(tilt / 2)}))
        np.testing.assert_allclose(rangefinder.readings()["distance"], 10.0 / np.cos(tilt), rtol=1e-14)
        np.testing.assert_array_equal(rangefinder.readings()["valid"], 1.0)


def test_heading_does_not_matter(bench: Any) -> None:
    rangefinder, yaw = bench.sensor("rangefinder", **QUIET), np.linspace(0, 6, 7)
    bench.take(rangefinder, bench.poses(7, z=3.0, qz=np.sin(yaw / 2), qw=np.cos(yaw / 2)))
    np.testing.assert_allclose(rangefinder.readings()["distance"], 3.0)


def test_outside_the_range_it_is_flagged(bench: Any) -> None:
    rangefinder = bench.sensor("rangefinder", range_min=0.2, range_max=50.0, **QUIET)
    # too high, just inside, too low, on its back low over the ground, on its side
    pose = bench.poses(5, z=[50.1, 49.9, 0.1, 0.02, 10], qx=[0, 0, 0, 1, np.sqrt(0.5)], qw=[1, 1, 1, 0, np.sqrt(0.5)])
    bench.take(rangefinder, pose)
    np.testing.assert_allclose(rangefinder.readings()["distance"], [50.0, 49.9, 0.2, 50.0, 50.0])
    np.testing.assert_array_equal(rangefinder.readings()["valid"], [0, 1, 0, 0, 0])


def test_the_ground_has_a_height(bench: Any) -> None:
    rangefinder = bench.sensor("rangefinder", **QUIET)
    bench.environment = bench.environment.copy()
    bench.environment[-1] = 4.0
    bench.take(rangefinder, bench.poses(1, z=10.0))
    assert rangefinder.readings()["distance"][0] == pytest.approx(6.0)


def test_default_noise(bench: Any) -> None:
    rangefinder = bench.sensor("rangefinder", walk=0.0)
    bench.take(rangefinder, bench.poses(20_000, z=5.0))
    bench.assert_std(rangefinder.readings()["distance"], 0.02)
    bench.assert_mean(rangefinder.readings()["distance"], 5.0, 0.02)
