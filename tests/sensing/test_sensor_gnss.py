"""Satellite navigation: noise, delay, latitude and longitude."""

from typing import Any

import numpy as np
import pymap3d
import pytest

from paddock.sensing.sensors.gnss import geodetic
from paddock.world.geodesy import Origin


def test_default_noise_at_five_hertz(bench: Any) -> None:
    gnss = bench.sensor("gnss", walk=0.0)
    assert gnss.period == 200
    bench.take(gnss, bench.poses(20_000, x=100.0, z=30.0, vy=-4.0))
    expected = {"x": (100, 0.5), "y": (0, 0.5), "z": (30, 1), "vx": (0, 0.05), "vy": (-4, 0.05), "vz": (0, 0.05)}
    for name, (mean, sigma) in expected.items():
        bench.assert_std(gnss.readings()[name], sigma)
        bench.assert_mean(gnss.readings()[name], mean, sigma)


def test_position_bias_walks(bench: Any) -> None:
    gnss = bench.sensor("gnss", noise_horizontal=0.0, noise_vertical=0.0, walk=0.1)
    bench.run(gnss, lambda tick: bench.poses(4000), 4001)
    for name in ("x", "y", "z"):
        bench.assert_std(gnss.readings()[name], 0.1 * 2.0)  # 4 s


@pytest.mark.parametrize("delay", [0, 1, 123, 200, 500, 1999])
def test_a_reading_arrives_exactly_its_delay_later(bench: Any, delay: int) -> None:
    gnss = bench.sensor("gnss", delay=delay / 1000, noise_horizontal=0.0, walk=0.0)
    for tick in range(2600):
        if gnss.due(tick) == tick:
            bench.take(gnss, bench.poses(2, x=tick), tick)
        gnss.arrive(tick)
        newest = (tick - delay) // 200 * 200
        if tick < delay:
            assert gnss.sample_tick == -1
            assert np.isnan(gnss.readings()["x"]).all()
        else:
            assert gnss.sample_tick == newest
            np.testing.assert_array_equal(gnss.readings()["x"], newest)


def test_geodetic_agrees_with_pymap3d(bench: Any) -> None:
    gnss = bench.sensor("gnss", walk=0.0)
    bench.take(gnss, bench.poses(50, x=np.linspace(-5000, 5000, 50), y=800.0, z=120.0))
    got = geodetic(gnss.readings(), Origin(35.6812, 139.7671, 40.0))
    east, north, up = (gnss.readings()[name] for name in "xyz")
    expected = pymap3d.enu2geodetic(east, north, up, 35.6812, 139.7671, 40.0)
    for value, reference, tolerance in zip(got, expected, (1e-10, 1e-10, 1e-6), strict=True):
        np.testing.assert_allclose(value, reference, rtol=0, atol=tolerance)


def test_geodetic_without_a_reading_is_nan(bench: Any) -> None:
    gnss = bench.sensor("gnss", delay=1.0)
    bench.take(gnss, bench.poses(3))
    assert np.isnan(geodetic(gnss.readings(), Origin(0.0, 0.0))).all()
