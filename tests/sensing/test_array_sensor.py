"""Sensors with arrays on a fleet: exact delays, rings of samples, growth, removal, save and restore, options."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.errors import InvalidValueError, UnknownNameError
from paddock.sensing.sensor import Around, Cones, find_sensor
from paddock.sensing.suite import FleetArraySensor, fleet_sensor
from paddock.world.archive import pack, unpack
from paddock.world.columns import Environment, defaults_of
from paddock.world.state import load, save

RATE = 1000.0


def made(name: str, **options: Any) -> FleetArraySensor:
    sensor = fleet_sensor(find_sensor(name), options, RATE)
    assert isinstance(sensor, FleetArraySensor)
    return sensor


def posed(n: int, tick: int = 0) -> Any:
    """Cars in a row that drive east at 10 m/s."""
    block = np.zeros((13, n))
    block[0], block[1], block[6] = 0.01 * tick, 3.0 * np.arange(n), 1.0
    return block


def streams(n: int) -> Any:
    return np.random.default_rng(1).integers(-(2**63), 2**63 - 1, size=n, dtype=np.int64)


def around(count: int = 30) -> Around:
    places = np.random.default_rng(2).uniform([5, -10], [40, 10], (count, 2))
    table = np.zeros((count, 6))
    table[:, :2], table[:, 3], table[:, 4], table[:, 5] = places, np.arange(count) % 4, np.arange(count), 0.3
    return Around(cones=Cones(table, np.arange(count) * 7919 + 13))


def take(sensor: Any, tick: int, n: int = 3, seed: int = 7, scene: Around | None = None, names: Any = None) -> None:
    names_of = streams(n) if names is None else names
    environment = defaults_of(Environment).copy()
    sensor.sample(tick, posed(n, tick), n, names_of, environment, seed, None, scene or around(), np.arange(n))


def values(sensor: Any) -> Any:
    return {name: sensor.array(name).copy() for name in sensor.arrays} | {"reading": sensor.published().copy()}


def same(first: Any, other: Any) -> None:
    for name, value in first.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


def test_a_fixed_delay_is_exact_in_ticks() -> None:
    sensor = made("cones", delay=0.05)
    assert (sensor.period, sensor.delay, sensor.delay_max) == (100, 50, 50)
    take(sensor, 0)
    for tick, shown in ((49, -1.0), (50, 0.0), (99, 0.0)):
        sensor.arrive(tick)
        assert sensor.sample_ticks.tolist() == [shown] * 3
    assert np.isfinite(sensor.array("truth")[:, 0, 0]).all()
    take(sensor, 100)
    for tick, shown in ((149, 0.0), (150, 100.0)):
        sensor.arrive(tick)
        assert sensor.sample_ticks.tolist() == [shown] * 3


def test_a_varying_delay_lies_in_its_range_uniformly_and_differs_between_vehicles() -> None:
    n, sensor = 400, made("cones", delay=[0.1, 0.2])
    late = []
    for tick in range(0, 2000, 100):
        take(sensor, tick, n, scene=around(2))
        late.append(sensor.arrivals.copy()[(tick // 100) % 3] - tick)
    late = np.array(late)
    assert late.min() == 100 and late.max() == 200
    # a uniform number of 101 ticks: mean 150, standard deviation sqrt((101^2 - 1) / 12)
    sigma = np.sqrt((101**2 - 1) / 12)
    assert abs(late.mean() - 150.0) < 5 * sigma / np.sqrt(late.size)
    assert late.std() == pytest.approx(sigma, rel=0.03)
    assert abs(np.corrcoef(late[:, 0], late[:, 1])[0, 1]) < 0.9 and (late[:, 0] != late[:, 1]).any()


def test_each_vehicle_shows_the_newest_sample_that_has_arrived() -> None:
    n, sensor = 20, made("cones", delay=[0.1, 0.2], rate=20.0)  # a sample every 50 ticks: later ones may overtake
    arrivals: dict[int, Any] = {}
    for tick in range(0, 1000):
        if tick % 50 == 0:
            take(sensor, tick, n, scene=around(2))
            arrivals[tick] = sensor.arrivals.copy()[(tick // 50) % 5]
        sensor.arrive(tick)
        shown = np.full(n, -1.0)
        for sampled, due in arrivals.items():
            shown = np.where(due <= tick, np.maximum(shown, sampled), shown)
        np.testing.assert_array_equal(sensor.sample_ticks, shown)


@pytest.mark.parametrize("stop", [0, 130, 240, 350])
def test_restoring_in_the_middle_of_a_delay_continues_the_same(stop: int) -> None:
    def run(sensor: Any, first: int, last: int) -> None:
        for tick in range(first, last):
            if tick % 100 == 0:
                take(sensor, tick)
            sensor.arrive(tick)

    whole, part = made("cones"), made("cones")
    run(whole, 0, stop + 1)
    load(part, unpack(pack(save(whole))), state=SimpleNamespace(tick=stop))
    part.arrive(stop)
    same(values(whole), values(part))
    np.testing.assert_array_equal(whole.sample_ticks, part.sample_ticks)
    run(whole, stop + 1, 600)
    run(part, stop + 1, 600)
    same(values(whole), values(part))
    assert whole.ticks.tolist() == part.ticks.tolist()


def test_crafted_states_are_refused() -> None:
    sensor = made("cones")
    for tick in (0, 100, 200):
        take(sensor, tick)
    now = SimpleNamespace(tick=200)
    good = unpack(pack(save(sensor)))
    load(made("cones"), good, state=now)
    late = good["arrivals"].copy()
    late[0, 0] += 1000
    for changed, message in (
        ({"arrivals": late}, "arrivals are not within the delay"),
        ({"arrivals": good["arrivals"].astype(np.float64)}, "sensor.arrivals is an array of float64, not of int64"),
        ({"blocks": {k: v for k, v in good["blocks"].items() if k != "truth"}}, "the field 'truth' is missing"),
        ({"blocks": {**good["blocks"], "truth": good["blocks"]["truth"].astype("f8")}}, "not of float32"),
        ({"blocks": {**good["blocks"], "truth": good["blocks"]["truth"][:, :2]}}, "sensor.blocks.truth has the shape"),
        ({"taken": 1}, "there are samples of ticks"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            load(made("cones"), {**good, **changed}, "sensor", state=now)


def test_vehicles_join_and_leave_without_touching_the_others() -> None:
    sensor = made("cones", delay=0.05)
    take(sensor, 0)
    sensor.arrive(60)
    before = values(sensor)
    sensor.extend(5)
    assert np.isnan(sensor.array("truth")[3:]).all() and sensor.sample_ticks.tolist() == [0, 0, 0, -1, -1]
    same({"truth": sensor.array("truth")[:3]}, {"truth": before["truth"]})
    take(sensor, 100, 5)
    sensor.keep(np.array([1, 4]))
    sensor.arrive(149)
    assert sensor.sample_ticks.tolist() == [0, -1]
    sensor.arrive(150)
    assert sensor.sample_ticks.tolist() == [100, 100]


@given(chosen=st.sets(st.integers(0, 11), min_size=1))
@settings(max_examples=10, deadline=None)
def test_other_vehicles_do_not_change_what_a_vehicle_reads(chosen: set[int]) -> None:
    rows, names, environment = np.array(sorted(chosen)), streams(12), defaults_of(Environment).copy()
    everyone, some = made("cones", delay=0.0), made("cones", delay=0.0)
    block = posed(12)
    everyone.sample(0, block, 12, names, environment, 7, None, around(), np.arange(12))
    few = np.ascontiguousarray(block[:, rows])
    some.sample(0, few, len(rows), names[rows], environment, 7, None, around(), rows)
    for name in everyone.arrays:
        np.testing.assert_array_equal(everyone.array(name)[rows], some.array(name))


def test_one_more_cone_does_not_change_the_others() -> None:
    options = {"delay": 0.0, "clutter": 2.0}
    few, more = made("cones", **options), made("cones", **options)
    scene = around(30)
    take(more, 0, scene=scene)
    kept = np.delete(np.arange(30), 11)
    take(few, 0, scene=Around(cones=Cones(scene.cones.table[kept], scene.cones.keys[kept])))
    for i in range(3):
        with_it, without = (
            {tuple(row) for row in sensor.array("detections")[i].tolist() if row[0] == row[0]} for sensor in (more, few)
        )
        assert without <= with_it and len(with_it) - len(without) <= 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lidar", {"beams": 0}, "'beams' of sensor 'lidar' must lie in 1 to 16384, not 0"),
        ("lidar", {"beams": 1_000_000}, "'beams' of sensor 'lidar' must lie in 1 to 16384"),
        ("lidar", {"beams": 10.5}, "'beams' is a whole number, not 10.5"),
        ("lidar", {"fov_deg": 0}, "'fov_deg' of sensor 'lidar' must lie in 0.1 to 360 deg, not 0"),
        ("lidar", {"fov_deg": 400}, "'fov_deg' of sensor 'lidar' must lie in 0.1 to 360 deg, not 400"),
        ("lidar", {"range_min": 5, "range_max": 2}, "range_min, 5 m, must be less than range_max, 2 m"),
        ("lidar", {"rings": 8}, "8 rings need a vertical_fov_deg above 0"),
        ("lidar", {"rate": 2000}, "cannot sample at 2000 Hz: the clock allows at most 1000 Hz"),
        ("cones", {"range_min": 50}, "range_min, 50 m, must be less than range_max, 45 m"),
        ("cones", {"delay": [0.3, 0.2]}, "the shortest, 0.3 s, is longer than the longest, 0.2 s"),
        ("cones", {"delay": [0.3]}, "'delay' is a time, or [shortest, longest], not [0.3]"),
        ("cones", {"delay": "soon"}, "'delay' of sensor 'cones' must be a finite number, not 'soon'"),
        ("cones", {"noise_range": float("nan")}, "'noise_range' of sensor 'cones' must be a finite number"),
        ("cones", {"max_detections": 0}, "'max_detections' of sensor 'cones' must lie in 1 to 4096, not 0"),
    ],
)
def test_impossible_options_are_one_line(name: str, options: Any, message: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        fleet_sensor(find_sensor(name), options, RATE, None, 1, 0, "vehicles[0].sensors[0]")
    text = str(caught.value)
    assert message in text and text.startswith("vehicles[0].sensors[0]: ") and "\n" not in text


def test_unknown_options_suggest_a_known_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'range_max'"):
        made("lidar", range_mx=3.0)
