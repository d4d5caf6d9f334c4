"""A sensor on a fleet: timing, independence, growth, removal, save and restore, options."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.compute.threads import limit_threads
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.sensing.sensor import ArraySensor, Draw, find_sensor, sensor_names
from paddock.sensing.site import Site
from paddock.sensing.suite import FleetSensor
from paddock.world.archive import pack, unpack
from paddock.world.columns import Environment, Floats, Pose, columns_of, defaults_of
from paddock.world.parts import VEHICLE
from paddock.world.state import load, reserve, save

NAMES = [
    name for name in sensor_names() if not isinstance(find_sensor(name), ArraySensor) and find_sensor(name).seen is None
]


def wandering(n: int, tick: int, width: int | None = None) -> Floats:
    """Poses that differ between vehicles and ticks, with unit quaternions."""
    block = np.random.default_rng(tick).normal(size=(13, width or n))[:, :n]
    block[3:7] /= np.linalg.norm(block[3:7], axis=0)
    block[2] = 10 * abs(block[2])
    return np.ascontiguousarray(block)


def table(sensor: FleetSensor) -> Floats:
    return np.stack(list(sensor.readings().values()))


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_equals_plain_python_bit_for_bit(bench: Any, name: str) -> None:
    n, site, kind = 5, Site(1e-6, 2.1e-5, -4e-5, 250.0), find_sensor(name)
    sensor = bench.sensor(name, site, index=3)
    memories = [kind.memory(*[0.0] * len(kind.memory._fields)) for _ in range(n)]
    options, environment = kind.options(*sensor.options.tolist()), Environment(*defaults_of(Environment).tolist())
    for tick in range(0, 4 * sensor.period, sensor.period):
        block = wandering(n, tick)
        bench.take(sensor, block, tick, seed=99)
        for i, stream in enumerate(bench.streams(n).tolist()):
            pose = Pose(*block[:, i].tolist())
            draw = Draw(kind.key(99), stream, 48, tick), sensor.period / 1000.0
            reading, memories[i] = kind.measure(pose, memories[i], options, environment, site, *draw)
            np.testing.assert_array_equal(table(sensor)[:, i], reading)
            np.testing.assert_array_equal(sensor.memory[:, i], memories[i])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [300, pytest.param(1000, marks=pytest.mark.slow)])  # on one thread and on several
def test_readings_do_not_depend_on_other_vehicles_or_their_order(bench: Any, name: str, n: int) -> None:
    limit_threads(None)
    n = 1000 if name == "gnss" else n
    crowd, alone, mixed = (bench.sensor(name) for _ in range(3))
    order, streams = np.random.default_rng(3).permutation(n), bench.streams(n)
    for tick in range(0, 3 * crowd.period, crowd.period):
        block = wandering(n, tick)
        bench.take(crowd, block, tick, streams=streams)
        bench.take(alone, np.ascontiguousarray(block[:, 17:18]), tick, streams=streams[17:18].copy())
        bench.take(mixed, np.ascontiguousarray(block[:, order]), tick, streams=streams[order])
        np.testing.assert_array_equal(table(crowd)[:, 17:18], table(alone))
        np.testing.assert_array_equal(table(crowd)[:, order], table(mixed))


def test_seed_vehicle_index_tick_and_kind_all_change_the_noise(bench: Any) -> None:
    pose = bench.poses(1)

    def noise(seed: int = 7, stream: int = 5, index: int = 0, tick: int = 0, kind: str = "gnss") -> float:
        sensor = bench.sensor(kind, index=index, rate=1000.0)
        bench.take(sensor, pose, tick, seed, np.array([stream], dtype=np.int64))
        return table(sensor)[0, 0]

    same, others = noise(), [noise(8), noise(stream=6), noise(index=1), noise(tick=1)]
    assert noise() == same
    assert len({same, *others}) == 5
    assert find_sensor("imu").key(7) != find_sensor("gnss").key(7)


def test_sensors_of_one_kind_and_of_different_kinds_are_uncorrelated(bench: Any) -> None:
    sensors = [bench.sensor("imu"), bench.sensor("imu", index=1), bench.sensor("gnss"), bench.sensor("gnss", index=1)]
    for sensor in sensors:
        bench.take(sensor, bench.poses(10_000))
    correlation = np.corrcoef(np.concatenate([table(sensor)[:6] for sensor in sensors]))
    assert np.abs(correlation - np.eye(24)).max() < 5 / np.sqrt(10_000)


@pytest.mark.parametrize(
    ("name", "noises", "walks"),
    [
        ("imu", ["accelerometer_noise", "gyro_noise"], ["accelerometer_walk", "gyro_walk"]),
        ("gnss", ["noise_horizontal", "noise_vertical", "noise_velocity"], ["walk"]),
        ("compass", ["noise"], ["walk"]),
        ("barometer", ["noise"], ["walk"]),
        ("rangefinder", ["noise"], ["walk"]),
        ("wheel_speed", ["noise"], ["walk"]),
    ],
)
def test_noise_and_bias_walk_are_uncorrelated(bench: Any, name: str, noises: list[str], walks: list[str]) -> None:
    noisy = bench.sensor(name, **dict.fromkeys(walks, 0.0))
    drifting = bench.sensor(name, **dict.fromkeys(noises, 0.0), **dict.fromkeys(walks, 1e-4))
    for sensor in (noisy, drifting):
        bench.run(sensor, lambda tick: bench.poses(10_000, z=5.0, vx=8.0), 2 * sensor.period)
    varying = [[c for c in table(sensor) if np.ptp(c) > 1e-12 * abs(c).max()] for sensor in (noisy, drifting)]
    for white in varying[0]:
        for slow in varying[1]:
            assert abs(np.corrcoef(white, slow)[0, 1]) < 5 / np.sqrt(10_000)
    assert varying[0] and varying[1]


@pytest.mark.parametrize(("rate", "period"), [(1000.0, 1), (999.0, 1), (5.0, 200), (300.0, 3), (0.1, 10_000)])
def test_samples_come_in_whole_ticks(bench: Any, rate: float, period: int) -> None:
    sensor = bench.sensor("imu", rate=rate)
    assert sensor.period == period
    assert [sensor.due(t) for t in (0, 1, period, period + 1)] == [0, period, period, 2 * period]


def test_a_rate_above_the_clock_is_refused(bench: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"red: sensor 'imu' cannot sample at 1001 Hz.* at most 1000 Hz"):
        FleetSensor(find_sensor("imu"), {"rate": 1001.0}, 1000.0, where="red")


def test_samples_at_the_wrong_time_are_refused(bench: Any) -> None:
    sensor = bench.sensor("gnss")
    bench.take(sensor, bench.poses(1), 200)
    for tick in (200, 0, 300):
        with pytest.raises(PaddockError, match="samples next at tick 400"):
            bench.take(sensor, bench.poses(1), tick)


def test_before_the_first_sample_readings_are_nan(bench: Any) -> None:
    sensor = bench.sensor("imu")
    sensor.extend(4)
    assert sensor.sample_tick == -1
    assert np.isnan(table(sensor)).all()
    assert table(sensor).shape == (6, 4)


def test_readings_are_read_only_views(bench: Any) -> None:
    sensor = bench.sensor("imu")
    bench.take(sensor, bench.poses(3))
    with pytest.raises(ValueError, match="read-only"):
        sensor.readings()["ax"][0] = 1.0
    assert list(sensor.readings()) == ["ax", "ay", "az", "wx", "wy", "wz"]


def test_new_vehicles_have_no_reading_until_their_own_arrives(bench: Any) -> None:
    sensor = bench.sensor("gnss", delay=0.3)
    streams = bench.streams(5)
    for tick in range(0, 1200, 200):
        n = 2 if tick < 600 else 5
        bench.take(sensor, wandering(n, tick, 5), tick, streams=streams)
        known = np.isfinite(sensor.readings()["x"])
        arrived = [tick >= 400] * 2 + [tick >= 1000] * (n - 2)
        np.testing.assert_array_equal(known, arrived)


def test_growing_changes_no_reading(bench: Any) -> None:
    small, roomy = bench.sensor("imu", delay=0.02), bench.sensor("imu", delay=0.02)
    reserve(roomy, VEHICLE, 64)
    for tick in range(0, 100, 10):
        for sensor in (small, roomy):
            bench.take(sensor, wandering(3, tick), tick)
        reserve(roomy, VEHICLE, 64 + tick)
    np.testing.assert_array_equal(table(small), table(roomy))
    with pytest.raises(PaddockError, match="keep"):
        small.extend(2)


@pytest.mark.parametrize("form", ["mask", "indices"])
@pytest.mark.parametrize("name", NAMES)
def test_removing_vehicles_does_not_affect_the_others(bench: Any, name: str, form: str) -> None:
    whole, cut = bench.sensor(name, delay=0.25), bench.sensor(name, delay=0.25)
    stay, streams = np.array([True, False, True, True, False, True]), bench.streams(6)
    for k in range(40):
        tick, left = k * whole.period, stay if k > 20 else np.full(6, True)
        block = wandering(6, tick)
        bench.take(whole, block, tick, streams=streams)
        bench.take(cut, np.ascontiguousarray(block[:, left]), tick, streams=streams[left])
        if k == 20:
            cut.keep(stay if form == "mask" else np.flatnonzero(stay))
            assert cut.n == 4
        if k >= 20:
            np.testing.assert_array_equal(table(cut), table(whole)[:, stay])


def test_a_vehicle_in_a_freed_row_starts_without_readings(bench: Any) -> None:
    sensor = bench.sensor("imu", accelerometer_walk=1.0)
    bench.run(sensor, lambda tick: bench.poses(3), 100)
    sensor.keep(np.array([0]))
    sensor.extend(3)
    assert not sensor.memory[:, 1:].any()
    assert np.isnan(table(sensor)[:, 1:]).all()
    assert np.isfinite(table(sensor)[:, 0]).all()


@pytest.mark.parametrize("name", NAMES)
def test_restore_then_continue_equals_continue(bench: Any, name: str) -> None:
    sensor, other = bench.sensor(name, delay=0.37), bench.sensor(name, delay=0.37)
    ticks = range(0, 30 * sensor.period, sensor.period)
    for tick in ticks[:15]:
        bench.take(sensor, wandering(4, tick), tick)
    saved = unpack(pack(save(sensor)))
    load(other, saved, state=SimpleNamespace(tick=ticks[14]))
    other.arrive(ticks[14])
    np.testing.assert_array_equal(table(other), table(sensor))
    for tick in ticks[15:]:
        for each in (sensor, other):
            bench.take(each, wandering(4, tick), tick)
        assert other.sample_tick == sensor.sample_tick
        np.testing.assert_array_equal(table(other), table(sensor))
    assert pack(save(sensor)) == pack(save(other))


def test_a_saved_state_of_another_sensor_is_refused(bench: Any) -> None:
    gnss, imu, slow = bench.sensor("gnss"), bench.sensor("imu"), bench.sensor("gnss", delay=3.0)
    bench.take(gnss, bench.poses(2))
    for other in (imu, slow):
        with pytest.raises(InvalidValueError, match="has the shape"):
            load(other, save(gnss), state=SimpleNamespace(tick=0))


def test_the_index_is_limited(bench: Any) -> None:
    bench.sensor("imu", index=4095)
    for index in (-1, 4096):
        with pytest.raises(InvalidValueError, match="index"):
            bench.sensor("imu", index=index)


def test_unknown_options_are_refused_with_the_nearest(bench: Any) -> None:
    with pytest.raises(UnknownNameError, match="unknown option 'noise_horizontl' of sensor 'gnss'; did you mean"):
        bench.sensor("gnss", noise_horizontl=1.0)


@given(
    name=st.sampled_from(NAMES),
    data=st.data(),
    value=st.one_of(st.floats(), st.integers(-10, 10), st.text(max_size=3), st.none()),
)
def test_options_are_taken_inside_their_range_and_refused_outside(name: str, data: st.DataObject, value: Any) -> None:
    kind = find_sensor(name)
    column = data.draw(st.sampled_from(columns_of(kind.options)))
    number = isinstance(value, int | float) and np.isfinite(value)
    if number and column.low <= value <= column.high:
        options = FleetSensor(kind, {column.name: value}, 1e6).options
        assert options[kind.options._fields.index(column.name)] == value
    else:
        with pytest.raises(InvalidValueError, match=column.name):
            FleetSensor(kind, {column.name: value}, 1e6)


@pytest.mark.parametrize("name", [name for name in sensor_names() if find_sensor(name).seen is not None])
def test_kernels_that_read_columns_equal_plain_python_bit_for_bit(bench: Any, name: str) -> None:
    n, kind = 4, find_sensor(name)
    assert kind.seen is not None
    seen = np.random.default_rng(5).uniform(0.5, 3.0, (len(columns_of(kind.seen)), n))
    if name == "wheel_speeds":
        seen[1:5, 1], seen[1:, 2] = np.nan, np.nan  # axles only, and neither
    sensor, block = bench.sensor(name), wandering(n, 0)
    environment = defaults_of(Environment).copy()
    sensor.sample(0, block, n, bench.streams(n), environment, 99, seen)
    options, blank = kind.options(*sensor.options.tolist()), [0.0] * len(columns_of(kind.memory))
    for i, stream in enumerate(bench.streams(n).tolist()):
        arguments = Pose(*block[:, i].tolist()), kind.seen(*seen[:, i].tolist()), kind.memory(*blank), options
        draw = Draw(kind.key(99), stream, 0, 0), sensor.period / 1000.0
        reading, _ = kind.measure(*arguments, Environment(*environment.tolist()), Site(), *draw)
        np.testing.assert_array_equal(table(sensor)[:, i], reading)
