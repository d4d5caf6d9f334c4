"""Satellite navigation: noise and delay."""

from typing import Any

import numpy as np
import pytest


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
