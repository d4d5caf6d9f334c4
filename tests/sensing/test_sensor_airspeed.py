"""The pitot tube against Bernoulli: q = rho v^2 / 2."""

from math import cos, radians, sin
from typing import Any

import numpy as np
import pytest

N = 4000


def read(bench: Any, pose: Any, wind: float = 0.0, **options: float) -> Any:
    sensor = bench.sensor("airspeed", **options)
    environment = bench.environment.copy()
    environment[2] = wind
    n = pose.shape[1]
    sensor.sample(0, pose, n, bench.streams(n), environment, 7)
    return sensor.readings()


def test_pressure_of_the_air_ahead(bench: Any) -> None:
    readings = read(bench, bench.poses(3, vx=[17.5, 30.0, -8.0]), noise=0.0, offset_noise=0.0)
    np.testing.assert_allclose(readings["pressure"], [0.5 * 1.225 * 17.5**2, 0.5 * 1.225 * 900.0, 0.0])
    np.testing.assert_allclose(readings["airspeed"], [17.5, 30.0, 0.0])


def test_wind_and_attitude_count(bench: Any) -> None:
    pose = bench.poses(2, vx=[10.0, 10.0], qz=[0.0, sin(radians(30.0))], qw=[1.0, cos(radians(30.0))])
    readings = read(bench, pose, wind=-6.0, noise=0.0, offset_noise=0.0)
    np.testing.assert_allclose(readings["airspeed"], [16.0, 16.0 * cos(radians(60.0))])


@pytest.mark.parametrize("speed", [12.0, 17.5, 25.0])
def test_in_flight_the_noise_of_the_speed_is_that_of_the_pressure_over_rho_v(bench: Any, speed: float) -> None:
    readings = read(bench, bench.poses(N, vx=speed), offset_noise=0.0)
    bench.assert_std(readings["pressure"], 2.0)
    assert np.std(readings["airspeed"]) == pytest.approx(2.0 / (1.225 * speed), rel=0.05)
    assert np.mean(readings["airspeed"]) == pytest.approx(speed, abs=0.02)


def test_at_rest_it_reads_a_metre_per_second_or_two_and_never_less_than_zero(bench: Any) -> None:
    readings = read(bench, bench.poses(N), offset_noise=0.0)
    assert readings["airspeed"].min() == 0.0
    assert np.mean(readings["airspeed"] == 0.0) == pytest.approx(0.5, abs=0.03)
    # half of the samples are positive: the mean of the root of |2 Pa x normal| is 0.822 sqrt(2 Pa)
    assert np.mean(readings["airspeed"]) == pytest.approx(0.5 * 0.822 * (2.0 * 2.0 / 1.225) ** 0.5, rel=0.05)


def test_the_bias_starts_spread_and_walks(bench: Any) -> None:
    sensor = bench.sensor("airspeed", noise=0.0, offset_noise=3.0, walk=0.5)
    pose = bench.poses(N, vx=20.0)
    true = 0.5 * 1.225 * 400.0
    bench.take(sensor, pose, 0)
    first = sensor.readings()["pressure"].copy()
    bench.assert_std(first - true, 3.0)
    bench.run(sensor, lambda tick: pose, 4000, 40)
    bench.assert_std(sensor.readings()["pressure"] - first, 0.5 * (4.0) ** 0.5)


def test_strong_pressure_is_limited_and_the_same_seed_gives_the_same_readings(bench: Any) -> None:
    pose = bench.poses(8, vx=200.0)
    first, two = read(bench, pose), read(bench, pose)
    assert np.all(first["pressure"] == 6894.76)
    pose = bench.poses(8, vx=15.0)
    first, two = read(bench, pose), read(bench, pose)
    assert first["airspeed"].tobytes() == two["airspeed"].tobytes()
