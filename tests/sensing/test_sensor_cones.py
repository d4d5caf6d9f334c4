"""Cone detections: statistics against the formulas of each stage, geometry, colours, clutter, occlusion."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from paddock.compute.threads import limit_threads
from paddock.errors import InvalidValueError
from paddock.sensing.sensor import Around, Cones, find_sensor
from paddock.sensing.suite import fleet_sensor
from paddock.world.columns import Environment, defaults_of
from paddock.world.solids import BOX, FRUSTUM, SOLID, solids_of

N = 4000  # vehicles: independent trials
PERFECT = {
    "delay": 0.0, "noise_range": 0.0, "noise_bearing": 0.0, "noise_xy": 0.0, "colour_confusion": 0.0, "clutter": 0.0,
    "detection_0": 1.0, "detection_1": 0.0, "detection_2": 0.0,
}  # fmt: skip


def cones(*places: Any) -> Around:
    """Cones at (x, y) or (x, y, colour)."""
    table = np.zeros((len(places), 6))
    for k, (x, y, *colour) in enumerate(places):
        table[k] = x, y, 0.0, colour[0] if colour else 0, k, 0.325
    return Around(cones=Cones(table, np.arange(len(places)) * 104729 + 1))


def seen(scene: Around, n: int = 1, pose: Any = None, seed: int = 3, **options: Any) -> Any:
    """Return the sensor after one sample of `n` cars at the origin, or at poses (13, n)."""
    block = np.zeros((13, n)) if pose is None else pose
    if pose is None:
        block[6] = 1.0
    sensor = fleet_sensor(find_sensor("cones"), options, 1000.0)
    names = np.random.default_rng(9).integers(-(2**63), 2**63 - 1, size=n, dtype=np.int64)
    sensor.sample(0, block, n, names, defaults_of(Environment).copy(), seed, None, scene, np.arange(n))
    sensor.arrive(10_000)
    return sensor


def binomial(hits: int, trials: int, chance: float) -> None:
    """The count is within the central 1 - 1e-6 of its binomial distribution."""
    low, high = stats.binom.interval(1 - 1e-6, trials, chance)
    assert low <= hits <= high, f"{hits} of {trials}, expected {chance:g}"


@pytest.mark.parametrize("distance", [2.0, 10.0, 20.0, 30.0, 44.0])
def test_the_share_of_detections_is_the_polynomial(distance: float) -> None:
    sensor = seen(cones((distance, 0.0)), N, delay=0.0, clutter=0.0)
    expected = max(0.99 - 0.01 * distance - 0.00012 * distance**2, 0.1)
    binomial(int(sensor.published()[0].sum()), N, expected)
    assert (sensor.published()[1] == 1).all()
    detections = sensor.array("detections")[:, 0]
    confidence = detections[np.isfinite(detections[:, 3]), 3]
    # at the measured distance, which is off by centimetres
    np.testing.assert_allclose(confidence, expected, atol=0.005)


def test_the_floor_holds_where_the_polynomial_is_below_it() -> None:
    sensor = seen(cones((95.0, 0.0)), N, delay=0.0, clutter=0.0, range_max=100.0)  # 0.99 - 0.95 - 1.083 < 0.1
    binomial(int(sensor.published()[0].sum()), N, 0.1)


def test_misses_are_a_share_besides() -> None:
    sensor = seen(cones((10.0, 0.0)), N, **{**PERFECT, "miss": 0.25})
    binomial(int(sensor.published()[0].sum()), N, 0.75)


def test_errors_have_the_spreads_and_covariances_that_are_given() -> None:
    noise = {"noise_range": 0.05, "noise_bearing": 0.01, "noise_xy": 0.02}
    x, y = 12.0, 9.0  # 15 m away
    detections = seen(cones((x, y)), N, **{**PERFECT, **noise}).array("detections")[:, 0].astype(np.float64)
    errors = detections[:, :2] - (x, y)
    along, across = errors @ (0.8, 0.6), errors @ (-0.6, 0.8)
    radial, lateral = np.sqrt(0.05**2 + 0.02**2), np.sqrt((15 * 0.01) ** 2 + 0.02**2)
    for values, sigma in ((along, radial), (across, lateral)):
        freedom = N - 1
        chance = stats.chi2.cdf(freedom * np.var(values, ddof=1) / sigma**2, freedom)
        assert 1e-6 < chance < 1 - 1e-6
        assert abs(values.mean()) < 5 * sigma / np.sqrt(N)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    expected = turn @ np.diag([radial**2, lateral**2]) @ turn.T
    upper = [expected[0, 0], expected[0, 1], expected[1, 1]]
    np.testing.assert_allclose(detections[:, 5:8].mean(axis=0), upper, rtol=0.01)
    np.testing.assert_allclose(np.cov(errors.T), expected, rtol=0.15, atol=2e-4)


def test_stages_draw_independently_of_each_other() -> None:
    """More noise in one stage changes neither which cones are detected nor the draws of another stage."""
    scene = cones(*((5.0 + 2 * k, (-1) ** k * 1.5) for k in range(15)))
    plain = seen(scene, 50, delay=0.0, clutter=0.0)
    for change in ({"noise_xy": 0.5}, {"colour_confusion": 0.9}, {"noise_range": 0.0}, {"clutter": 3.0}):
        other = seen(scene, 50, **{"delay": 0.0, "clutter": 0.0, **change})
        if "clutter" in change:
            assert (other.published()[0] >= plain.published()[0]).all()
        else:
            np.testing.assert_array_equal(other.published()[0], plain.published()[0])
    first, two = plain.array("detections"), seen(scene, 50, delay=0.0, clutter=0.0, colour_confusion=0.9)
    np.testing.assert_array_equal(first[..., :2], two.array("detections")[..., :2])


def test_colours_are_known_up_to_their_range_and_sometimes_wrong() -> None:
    scene = cones((10.0, 0.0, 1), (20.0, 0.0, 1))
    detections = seen(scene, N, **{**PERFECT, "colour_confusion": 0.2}).array("detections")
    near, far = detections[:, 0, 2], detections[:, 1, 2]
    assert (far == 4).all() and (detections[:, 1, 4] == 0).all()
    binomial(int((near != 1).sum()), N, 0.2)
    for colour in (0, 2, 3):  # each of the others equally often
        binomial(int((near == colour).sum()), N, 0.2 / 3)
    np.testing.assert_allclose(detections[:, 0, 4], 0.8, rtol=1e-6)


def test_clutter_is_poisson_and_spread_over_the_field_of_view() -> None:
    sensor = seen(cones(), N, delay=0.0, clutter=1.5)
    count = sensor.published()[0]
    assert abs(count.mean() - 1.5) < 5 * np.sqrt(1.5 / N)
    assert count.var() == pytest.approx(1.5, rel=0.12)
    binomial(int((count == 0).sum()), N, np.exp(-1.5))
    clutter = sensor.array("detections").reshape(-1, 8)
    clutter = clutter[np.isfinite(clutter[:, 0])].astype(np.float64)
    away, bearing = np.hypot(clutter[:, 0], clutter[:, 1]), np.degrees(np.arctan2(clutter[:, 1], clutter[:, 0]))
    assert away.min() >= 0.999 and away.max() <= 45.001 and np.abs(bearing).max() <= 60.001
    # evenly over the area: half of them lie within the circle of half the area
    half = np.sqrt(0.5 * (45.0**2 + 1.0))
    binomial(int((away < half).sum()), len(away), 0.5)
    binomial(int((bearing < 0).sum()), len(away), 0.5)


def test_the_truth_is_exact_sorted_and_numbered() -> None:
    scene = cones((20.0, 3.0, 1), (5.0, -2.0, 0), (44.9, 0.0, 3), (45.1, 0.0, 2), (0.5, 0.0, 0), (-5.0, 0.0, 0))
    sensor = seen(scene, **PERFECT)
    truth = sensor.array("truth")[0]
    np.testing.assert_allclose(truth[:3], [[5, -2, 0, 1], [20, 3, 1, 0], [44.9, 0, 3, 2]], rtol=1e-6)
    assert np.isnan(truth[3:]).all() and sensor.published()[1, 0] == 3
    np.testing.assert_allclose(sensor.array("detections")[0, :3, :2], truth[:3, :2], rtol=1e-6)


@pytest.mark.parametrize(("angle", "visible"), [(59.9, 1), (60.1, 0), (-59.9, 1), (-60.1, 0), (180.0, 0)])
def test_the_field_of_view_is_half_to_each_side(angle: float, visible: int) -> None:
    position = 10 * np.cos(np.radians(angle)), 10 * np.sin(np.radians(angle))
    assert seen(cones(position), **PERFECT).published()[1, 0] == visible
    assert seen(cones(position), **PERFECT, fov_deg=360).published()[1, 0] == 1


def test_places_are_in_the_vehicles_frame_with_the_mounting() -> None:
    pose = np.zeros((13, 1))
    yaw = np.radians(40)
    pose[0], pose[1], pose[5], pose[6] = 100.0, 50.0, np.sin(yaw / 2), np.cos(yaw / 2)
    ahead = np.array([np.cos(yaw), np.sin(yaw)])
    position = np.array([100.0, 50.0]) + 8.0 * ahead + 2.0 * np.array([-ahead[1], ahead[0]])
    sensor = seen(cones(tuple(position)), pose=pose, **PERFECT, x=1.5, y=-0.2)
    np.testing.assert_allclose(sensor.array("detections")[0, 0, :2], (8.0, 2.0), rtol=1e-6)
    # the range begins at the sensor, 1.5 m ahead of the pose
    edge = np.array([100.0, 50.0]) + 46.4 * ahead
    assert seen(cones(tuple(edge)), pose=pose, **PERFECT, x=1.5).published()[1, 0] == 1
    assert seen(cones(tuple(edge)), pose=pose, **PERFECT).published()[1, 0] == 0


def test_the_nearest_are_kept_if_there_are_too_many() -> None:
    rng = np.random.default_rng(4)
    places = [(10 + 30 * u, 10 * v) for u, v in rng.uniform(-0.5, 0.5, (100, 2))]
    sensor = seen(cones(*places), **PERFECT, max_detections=10, range_min=0.0)
    away = np.hypot(*sensor.array("detections")[0, :, :2].T)
    distances = np.sort(np.hypot(*np.array([p for p in places if p[0] > 0 and abs(np.arctan2(p[1], p[0])) < 1.04]).T))
    np.testing.assert_allclose(away, distances[:10], rtol=1e-5)
    assert sensor.published()[0, 0] == 10


def test_detections_are_sorted_as_they_are_reported() -> None:
    """With errors of the place that are as large as the gaps between cones, and a sensor ahead of the car's middle."""
    places = [(8.0 + 0.2 * k, 0.5 * (k % 3)) for k in range(40)]
    sensor = seen(cones(*places), 50, **{**PERFECT, "noise_xy": 0.3, "clutter": 2.0}, x=1.5, y=-0.5)
    detections = sensor.array("detections")[:, :, :2].astype(float) - (1.5, -0.5)
    away = np.hypot(detections[:, :, 0], detections[:, :, 1])
    count = np.isfinite(away).sum(axis=1)
    assert (count >= 40).all()
    for row, n in zip(away, count, strict=True):
        assert (np.diff(row[:n]) > -1e-5).all()


@pytest.mark.parametrize("blocks", [0.5, 2, -1])
def test_occlusion_is_on_or_off(blocks: float) -> None:
    with pytest.raises(InvalidValueError, match=f"'occlusion' of sensor 'cones' is on or off: 0 or 1, not {blocks:g}"):
        seen(cones((5.0, 0.0)), occlusion=blocks)
    assert seen(cones((5.0, 0.0)), **PERFECT, occlusion=True).published()[0, 0] == 1


def bodies(*places: Any, height: float = 1.4) -> Any:
    """Return cars at (x, y), 4 m long, 1.8 m wide, with the numbers 100, 101, ..."""
    table = np.zeros((len(places), SOLID.size))
    for k, (x, y) in enumerate(places):
        table[k, :3], table[k, 3:12], table[k, 12:15] = (x, y, 0.5 * height), np.eye(3).ravel(), (2, 0.9, 0.5 * height)
        table[k, SOLID.shape], table[k, SOLID.reach], table[k, SOLID.number] = BOX, 2.4, 100 + k
    return table


def test_other_cars_hide_cones_behind_them_and_only_those() -> None:
    scene = cones((20.0, 0.0), (20.0, 4.0), (6.0, 0.0), (10.0, 3.0))
    hides = bodies((10.0, 0.0), (300.0, 0.0))
    full = scene._replace(bodies=solids_of(hides))
    shown = seen(full, **PERFECT).array("truth")[0, :, 3]
    assert set(shown[np.isfinite(shown)].tolist()) == {1.0, 2.0, 3.0}
    assert seen(full, **PERFECT, occlusion=0).published()[1, 0] == 4
    low = bodies((10.0, 0.0), (300.0, 0.0), height=0.4)  # the camera, 1 m high, looks over it
    assert seen(scene._replace(bodies=solids_of(low)), **PERFECT).published()[1, 0] == 4
    own = bodies((0.0, 0.0), (300.0, 0.0))
    own[0, SOLID.number] = 0  # the vehicle itself
    assert seen(scene._replace(bodies=solids_of(own)), **PERFECT).published()[1, 0] == 4


def test_walls_and_cylinders_hide_cones_and_cones_do_not() -> None:
    scene = cones((20.0, 0.0), (20.0, 8.0), (20.0, -8.0), (6.0, 0.0))
    table = np.zeros((3, SOLID.size))
    table[:, 3:12], table[:, SOLID.number] = np.eye(3).ravel(), -1.0
    table[0, :3], table[0, 12:15], table[0, SOLID.shape] = (10.0, 0.0, 1.0), (0.1, 1.5, 1.0), BOX  # a wall
    table[1:, SOLID.shape], table[1:, 12:15] = FRUSTUM, (0.5, 0.5, 1.0)
    table[1, :3], table[1, SOLID.base : SOLID.top + 1] = (10.0, 4.0, 1.0), 0.5  # a cylinder
    table[2, :3], table[2, SOLID.base] = (10.0, -4.0, 1.0), 0.5  # a cone
    table[:, SOLID.reach] = 2.0
    full = scene._replace(fixed=solids_of(table))
    shown = seen(full, **PERFECT).array("truth")[0, :, 3]
    assert set(shown[np.isfinite(shown)].tolist()) == {2.0, 3.0}
    assert seen(full, **PERFECT, occlusion=0).published()[1, 0] == 4
    table[0, 2], table[0, 14] = 0.1, 0.1  # the sensor, 1 m high, looks over a wall of 0.2 m: 0.58 m high there
    shown = seen(scene._replace(fixed=solids_of(table)), **PERFECT).array("truth")[0, :, 3]
    assert set(shown[np.isfinite(shown)].tolist()) == {0.0, 2.0, 3.0}


@pytest.mark.slow
def test_threads_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(8)
    scene = cones(*((*p, k % 4) for k, p in enumerate(rng.uniform(-60, 60, (150, 2)).tolist())))
    pose = np.zeros((13, 200))
    pose[:2], yaw = rng.uniform(-50, 50, (2, 200)), rng.uniform(-3, 3, 200)
    pose[5], pose[6] = np.sin(yaw / 2), np.cos(yaw / 2)
    rows = []
    for threads in (1, None):
        limit_threads(threads)
        sensor = seen(scene, 200, pose.copy(), delay=0.0)
        rows.append((sensor.array("detections").copy(), sensor.array("truth").copy()))
    np.testing.assert_array_equal(rows[0][0], rows[1][0])
    np.testing.assert_array_equal(rows[0][1], rows[1][1])
