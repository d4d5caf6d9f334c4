"""The barometer against the tables of the standard atmosphere."""

from typing import Any

import numpy as np
import pytest

from paddock.sensing.site import Site, altitude_of, geopotential, pressure_at, temperature_at

# U.S. Standard Atmosphere 1976, by geometric height: m, hPa, K
BY_HEIGHT = [
    (0, 1013.25, 288.150),
    (1000, 898.76, 281.651),
    (1500, 845.59, 278.402),
    (5000, 540.48, 255.676),
    (10000, 264.99, 223.252),
]
# by geopotential height
BY_GEOPOTENTIAL = [(11000, 226.320, 216.65), (15000, 120.446, 216.65), (20000, 54.7489, 216.65)]


@pytest.mark.parametrize(("height", "hectopascal", "kelvin"), BY_HEIGHT)
def test_reading_at_a_height(bench: Any, height: float, hectopascal: float, kelvin: float) -> None:
    barometer = bench.sensor("barometer", noise=0.0, walk=0.0)
    bench.take(barometer, bench.poses(1, z=height))
    assert barometer.readings()["pressure"][0] / 100 == pytest.approx(hectopascal, abs=0.01)
    assert barometer.readings()["temperature"][0] == pytest.approx(kelvin, abs=1e-3)
    assert barometer.readings()["altitude"][0] == pytest.approx(geopotential(height), abs=1e-8)


@pytest.mark.parametrize(("altitude", "hectopascal", "kelvin"), BY_GEOPOTENTIAL)
def test_upper_atmosphere(altitude: float, hectopascal: float, kelvin: float) -> None:
    assert pressure_at(altitude) / 100 == pytest.approx(hectopascal, rel=1e-5)
    assert temperature_at(altitude) == pytest.approx(kelvin)


def test_pressure_altitude_inverts_pressure() -> None:
    for altitude in np.linspace(-4000.0, 20_000.0, 97):
        assert altitude_of(pressure_at(altitude)) == pytest.approx(altitude, abs=1e-7)


def test_the_origin_has_a_height(bench: Any) -> None:
    barometer = bench.sensor("barometer", Site(height=900.0), noise=0.0, walk=0.0)
    bench.take(barometer, bench.poses(1, z=100.0))
    assert barometer.readings()["pressure"][0] == pytest.approx(89876, abs=1)


def test_noise_and_its_height(bench: Any) -> None:
    barometer = bench.sensor("barometer", walk=0.0)
    bench.take(barometer, bench.poses(20_000))
    bench.assert_std(barometer.readings()["pressure"], 1.2)
    bench.assert_mean(barometer.readings()["pressure"], 101325.0, 1.2)
    bench.assert_std(barometer.readings()["altitude"], 1.2 / (1.225 * 9.80665))  # hydrostatic: dp = rho g dh


def test_drift(bench: Any) -> None:
    barometer = bench.sensor("barometer", noise=0.0, walk=2.0)
    bench.run(barometer, lambda tick: bench.poses(4000), 9001)
    bench.assert_std(barometer.readings()["pressure"], 6.0)


def test_readings_stay_finite_far_outside_the_atmosphere(bench: Any) -> None:
    barometer = bench.sensor("barometer")
    bench.take(barometer, bench.poses(2, z=[1e9, -1e9]))
    assert np.isfinite(np.stack(list(barometer.readings().values()))).all()
