"""Lidars: beams, noise, lost beams and limits of range, as statistics and as analytic distances."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from paddock.sensing.rays import beams_of
from paddock.sensing.sensor import Around, find_sensor
from paddock.sensing.suite import fleet_sensor
from paddock.world.columns import Environment, defaults_of
from paddock.world.solids import BOX, SOLID, solids_of


def wall(distance: float) -> Around:
    """A wall across the x axis."""
    row = np.zeros((1, SOLID.size))
    row[0, :3], row[0, 3:12], row[0, 12:15] = (distance + 1.0, 0.0, 0.0), np.eye(3).ravel(), (1.0, 100.0, 10.0)
    row[0, SOLID.shape], row[0, SOLID.reach], row[0, SOLID.number] = BOX, 101.0, -1
    return Around(fixed=solids_of(row))


def scanned(scene: Around, n: int = 1, kind: str = "lidar", tick: int = 0, seed: int = 5, **options: Any) -> Any:
    pose = np.zeros((13, n))
    pose[6] = 1.0
    sensor = fleet_sensor(find_sensor(kind), options, 1000.0)
    names = np.random.default_rng(3).integers(-(2**63), 2**63 - 1, size=n, dtype=np.int64)
    sensor.sample(tick, pose, n, names, defaults_of(Environment).copy(), seed, None, scene, np.arange(n))
    return sensor


def test_the_defaults_are_a_scanner_of_1080_beams_over_270_degrees() -> None:
    sensor = scanned(wall(10.0), noise=0.0)
    ranges = sensor.array("ranges")
    assert ranges.shape == (1, 1080) and ranges.dtype == np.float32 and sensor.period == 25
    angle = np.radians(np.linspace(-135, 135, 1080))
    expected = np.where(np.abs(angle) < np.pi / 2, 10.0 / np.cos(angle), np.inf)
    expected[(expected > 30.0) | (expected < 0)] = np.inf
    np.testing.assert_allclose(ranges[0], expected, rtol=1e-6)
    returns, nearest = sensor.published()[:, 0]
    assert returns == np.isfinite(expected).sum() and nearest == pytest.approx(expected.min())


def test_a_whole_turn_has_no_beam_twice() -> None:
    options = find_sensor("lidar").options
    chosen = beams_of(options(beams=4.0, fov_deg=360.0))
    np.testing.assert_allclose(chosen.directions, [[-1, 0, 1, 0], [0, -1, 0, 1]], atol=1e-15)


def test_noise_is_normal_per_beam_and_independent_between_beams_and_scans() -> None:
    scene, sigma = wall(10.0), 0.05
    first, two = (
        scanned(scene, 40, beams=101, fov_deg=10, noise=sigma, tick=t).array("ranges").astype(float) for t in (0, 25)
    )
    truth = 10.0 / np.cos(np.radians(np.linspace(-5, 5, 101)))
    errors = first - truth
    freedom = errors.size - 1
    assert 1e-6 < stats.chi2.cdf(freedom * errors.var(ddof=1) / sigma**2, freedom) < 1 - 1e-6
    assert stats.kstest(errors.ravel() / sigma, "norm").pvalue > 1e-6
    for a, b in ((errors[:, :-1], errors[:, 1:]), (errors[:-1], errors[1:]), (errors, two - truth)):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / np.sqrt(a.size)


def test_lost_beams_are_a_share_without_a_return() -> None:
    sensor = scanned(wall(5.0), 50, beams=201, fov_deg=60, noise=0.0, dropout=0.1)
    lost = int(np.isinf(sensor.array("ranges")).sum())
    low, high = stats.binom.interval(1 - 1e-6, 50 * 201, 0.1)
    assert low <= lost <= high


def test_ranges_end_at_their_limits() -> None:
    assert np.isposinf(scanned(wall(30.1), noise=0.0, beams=1).array("ranges")).all()
    assert scanned(wall(29.9), noise=0.0, beams=1).array("ranges")[0, 0] == pytest.approx(29.9)
    assert np.isneginf(scanned(wall(0.05), noise=0.0, beams=1).array("ranges")).all()
    assert scanned(wall(5.0), noise=0.0, beams=1, x=1.0).array("ranges")[0, 0] == pytest.approx(4.0)
    turned = scanned(wall(5.0), noise=0.0, beams=1, yaw_deg=60.0).array("ranges")[0, 0]
    assert turned == pytest.approx(5.0 / np.cos(np.radians(60)), rel=1e-6)
    down = scanned(Around(), noise=0.0, beams=1, z=1.0, pitch_deg=30.0).array("ranges")[0, 0]
    assert down == pytest.approx(1.0 / np.sin(np.radians(30)), rel=1e-6)


def test_rings_are_spread_over_the_vertical_field_of_view() -> None:
    sensor = scanned(wall(20.0), kind="lidar_3d", noise=0.0)
    ranges = sensor.array("ranges")
    assert ranges.shape == (1, 32, 1024)
    rise = np.radians(np.linspace(-20, 20, 32))
    ahead = ranges[0, :, 512]
    ground = np.where(rise < -1e-3, 1.0 / np.sin(np.maximum(-rise, 1e-9)), np.inf)
    np.testing.assert_allclose(ahead, np.minimum(ground, 20.0 / np.cos(rise)), rtol=1e-6)


def test_two_lidars_of_a_vehicle_draw_different_noise() -> None:
    def noise(index: int) -> Any:
        sensor = fleet_sensor(find_sensor("lidar"), {"beams": 50, "fov_deg": 60}, 1000.0, None, 1, index)
        pose = np.zeros((13, 1))
        pose[6] = 1.0
        sensor.sample(0, pose, 1, np.zeros(1, np.int64), defaults_of(Environment).copy(), 1, None, wall(5.0))
        return sensor.array("ranges")[0].copy()

    assert (noise(0) != noise(1)).all()
    np.testing.assert_array_equal(noise(0), noise(0))
