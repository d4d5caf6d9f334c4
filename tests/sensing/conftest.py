"""A bench for sensors: poses, a fleet sensor that runs over them, and a statistical check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from paddock.sensing.sensor import find_sensor
from paddock.sensing.site import Site
from paddock.sensing.suite import FleetSensor
from paddock.world.columns import Environment, Floats, Pose, column_index, defaults_of

TICK_RATE = 1000.0


class Bench:
    """Runs one sensor over a fleet at 1000 ticks per second."""

    environment = defaults_of(Environment).copy()  # writable, as that of a world

    @staticmethod
    def poses(n: int, **columns: Any) -> Floats:
        """Level vehicles at the origin, heading east, but for the columns given."""
        block = np.zeros((len(Pose._fields), n))
        block[column_index(Pose)["qw"]] = 1.0
        for name, values in columns.items():
            block[column_index(Pose)[name]] = values
        return block

    @staticmethod
    def streams(n: int) -> Any:
        """Name hashes of `n` vehicles."""
        return np.random.default_rng(1).integers(-(2**63), 2**63 - 1, size=n, dtype=np.int64)

    @staticmethod
    def sensor(name: str, site: Site | None = None, index: int = 0, **options: float) -> FleetSensor:
        """A sensor for a fleet."""
        return FleetSensor(find_sensor(name), options, TICK_RATE, site, index=index)

    def take(self, sensor: FleetSensor, pose: Floats, tick: int = 0, seed: int = 7, streams: Any = None) -> None:
        """One sample of every vehicle in the block."""
        n = pose.shape[1]
        sensor.sample(tick, pose, n, self.streams(n) if streams is None else streams, self.environment, seed)

    def run(self, sensor: FleetSensor, pose_at: Callable[[int], Floats], ticks: int, first: int = 0) -> None:
        """Every sample that is due in a span of ticks."""
        for tick in range(sensor.due(first), first + ticks, sensor.period):
            self.take(sensor, pose_at(tick), tick)

    @staticmethod
    def assert_std(values: Floats, sigma: float) -> None:
        """The spread is that of normal numbers with this standard deviation: a two-sided chi-square test at 1e-5."""
        freedom = values.size - 1
        chance = stats.chi2.cdf(freedom * np.var(values, ddof=1) / sigma**2, freedom)
        assert 0.5e-5 < chance < 1 - 0.5e-5, f"standard deviation {np.std(values, ddof=1)}, expected {sigma}"

    @staticmethod
    def assert_mean(values: Floats, mean: float, sigma: float) -> None:
        """The mean is within five standard errors."""
        assert abs(np.mean(values) - mean) < 5 * sigma / np.sqrt(values.size)


@pytest.fixture
def bench() -> Bench:
    """The bench."""
    return Bench()
