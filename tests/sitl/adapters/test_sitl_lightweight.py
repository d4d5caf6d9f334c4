"""Differential drive against arcs worked out by hand, real sensors against their statistics, and bad input."""

from math import atan2, cos, degrees, inf, pi, sin, sqrt

import numpy as np
import pymap3d
import pytest
from scipy import stats

from paddock.autopilot.vehicle_data import ActuatorCommands, SensorColumns, blank_actuators, blank_sensors
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario.sitl import AdapterEntry
from paddock.sitl.adapter import AdapterError, Placed, adapter_types, find_adapter
from paddock.sitl.adapters.lightweight import LightweightAdapter
from paddock.sitl.from_scenario import build_adapter

ORIGIN = (47.3977, 8.5456, 488.0)


def made(**options: object) -> LightweightAdapter:
    settings = {"noise": False, "truth": True, "wheel_base": 0.5, "speed_max": 2.0, "acceleration": inf, **options}
    adapter = LightweightAdapter(**settings)  # type: ignore[arg-type]
    adapter.connect()
    return adapter


def driven(adapter: LightweightAdapter, left: float, right: float, seconds: float, vehicle: int = 1) -> SensorColumns:
    adapter.send_actuators(ActuatorCommands(armed=True, motors=[left, right]), vehicle)
    for _ in range(round(seconds * 50)):
        adapter.step(20_000)
    received = adapter.receive_sensors(vehicle)
    assert received is not None
    return received.values()


def test_it_is_found_by_its_type() -> None:
    assert "lightweight" in adapter_types()
    assert find_adapter("lightweight") is LightweightAdapter


def test_a_straight_line_follows_the_heading() -> None:
    adapter = made()
    adapter.add_vehicle(Placed(1, "a", "rover", (5.0, -3.0, 0.0), heading=pi / 6))
    seen = driven(adapter, 0.75, 0.75, 10.0)  # 1.5 m/s for 10 s, 30 degrees east of north
    assert (seen.true_north, seen.true_east) == pytest.approx((5.0 + 15.0 * cos(pi / 6), -3.0 + 7.5), abs=1e-9)
    assert (seen.true_vn, seen.true_ve) == pytest.approx((1.5 * cos(pi / 6), 0.75), abs=1e-12)
    assert (seen.true_qw, seen.true_qz) == pytest.approx((cos(pi / 12), sin(pi / 12)), abs=1e-12)


def test_an_arc_is_exact() -> None:
    adapter = made()
    adapter.add_vehicle(Placed(1, "a", "rover"))
    seen = driven(adapter, 0.5, 0.4, 7.0)  # 1.0 and 0.8 m/s: 0.9 m/s, 0.4 rad/s to the right, radius 2.25 m
    turned = 0.4 * 7.0
    assert (seen.true_north, seen.true_east) == pytest.approx((2.25 * sin(turned), 2.25 * (1 - cos(turned))), abs=1e-9)
    assert 2 * atan2(seen.true_qz, seen.true_qw) == pytest.approx(turned, abs=1e-9)
    assert (seen.gyro_x, seen.gyro_y, seen.gyro_z) == pytest.approx((0.0, 0.0, 0.4), abs=1e-12)
    # the accelerometer feels the way to the centre (right) and gravity: chord of the IMU's interval, 20 ms
    assert seen.accel_y == pytest.approx(0.9 * 0.4, rel=1e-4)
    assert seen.accel_z == pytest.approx(-9.80665, abs=1e-9)


def test_one_long_step_is_the_same_arc_as_many_short_ones() -> None:
    ends = []
    for step_us in (20_000, 1_000, 500_000):
        adapter = made()
        adapter.add_vehicle(Placed(1, "a", "rover"))
        adapter.send_actuators(ActuatorCommands(armed=True, motors=[0.2, 0.9]))
        for _ in range(2_000_000 // step_us):
            adapter.step(step_us)
        received = adapter.receive_sensors()
        assert received is not None and adapter.sim_time_us == 2_000_000
        ends.append(received.row)
    np.testing.assert_array_equal(ends[0], ends[2])  # sampled at the same instants, whatever the steps
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-9)


def test_opposite_wheels_turn_on_the_spot() -> None:
    adapter = made()
    adapter.add_vehicle(Placed(1, "a", "rover"))
    seen = driven(adapter, 0.25, -0.25, 1.0)  # 0.5 and -0.5 m/s on 0.5 m: 2 rad/s to the right
    assert (seen.true_north, seen.true_east) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert 2 * atan2(seen.true_qz, seen.true_qw) == pytest.approx(2.0, abs=1e-9)


def test_wheels_ramp_with_the_acceleration() -> None:
    adapter = made(acceleration=0.8)
    adapter.add_vehicle(Placed(1, "a", "rover"))
    seen = driven(adapter, 1.0, 1.0, 4.0)  # 2 m/s after 2.5 s and 2.5 m, then 1.5 s at full speed
    assert seen.true_north == pytest.approx(2.5 + 3.0, abs=1e-9)
    assert seen.true_vn == pytest.approx(2.0, abs=1e-12)


def test_disarming_stops_the_wheels() -> None:
    adapter = made()
    adapter.add_vehicle(Placed(1, "a", "rover"))
    before = driven(adapter, 1.0, 1.0, 1.0)
    adapter.send_actuators(ActuatorCommands(armed=False, motors=[1.0, 1.0]))
    adapter.step(1_000_000)
    after = adapter.receive_sensors()
    assert after is not None and after.true_north == pytest.approx(before.true_north) and after.true_vn == 0.0


def test_positions_equal_those_of_pymap3d() -> None:
    adapter = made(origin=ORIGIN)
    adapter.add_vehicle(Placed(1, "a", "rover", (3000.0, -4000.0, -25.0)))
    received = adapter.receive_sensors()
    assert received is not None
    expected = pymap3d.ned2geodetic(3000.0, -4000.0, -25.0, *ORIGIN)
    assert (received.latitude, received.longitude) == pytest.approx(expected[:2], abs=1e-11)
    assert received.altitude == pytest.approx(expected[2], abs=1e-6)
    assert (received.gnss_fix, received.gnss_satellites) == (3.0, 12.0)


def test_the_compass_points_to_magnetic_north_in_body_axes() -> None:
    adapter = made(origin=ORIGIN)
    for k, heading in enumerate((0.0, 0.5 * pi, pi)):
        adapter.add_vehicle(Placed(k + 1, f"r{k}", "rover", heading=heading))
    block = blank_sensors(3)
    adapter.receive_block((1, 2, 3), block)
    rows = [SensorColumns(*row) for row in block.tolist()]
    declination = atan2(rows[0].mag_y, rows[0].mag_x)
    assert 2.0 < degrees(declination) < 5.0  # Zurich, 2025: a little east (right) of north
    for row, heading in zip(rows, (0.0, 0.5 * pi, pi), strict=True):
        assert sqrt(row.mag_x**2 + row.mag_y**2 + row.mag_z**2) == pytest.approx(4.8e-5, rel=0.03)
        assert row.mag_z > 3e-5  # the field dips downwards in the north
        assert sin(heading + atan2(row.mag_y, row.mag_x) - declination) == pytest.approx(0.0, abs=1e-9)


def test_the_barometer_shows_the_standard_atmosphere() -> None:
    adapter = made(origin=(0.0, 0.0, 0.0))
    adapter.add_vehicle(Placed(1, "a", "rover", (0.0, 0.0, -1000.0)))
    received = adapter.receive_sensors()
    assert received is not None
    assert received.pressure == pytest.approx(89876.3, abs=0.2)  # ISO 2533 at a geometric height of 1000 m
    assert received.temperature == pytest.approx(281.651, abs=1e-3)


def test_noise_has_its_standard_deviation_and_scales() -> None:
    for factor in (1.0, 3.0):
        adapter = made(noise=factor, sensors={"imu": {"accelerometer_walk": 0.0}})
        ids = tuple(range(1, 201))
        for k in ids:
            adapter.add_vehicle(Placed(k, f"r{k}", "rover"))
        samples = []
        for _ in range(10):
            adapter.step(20_000)
            block = blank_sensors(200)
            adapter.receive_block(ids, block)
            samples.append(block[:, 5:8] - (0.0, 0.0, -9.80665))
        values = np.array(samples).ravel()
        chance = stats.chi2.cdf(values.size * np.var(values) / (0.1 * factor) ** 2, values.size)
        assert 1e-5 < chance < 1 - 1e-5


def test_vehicles_are_independent_of_each_other_and_of_their_order() -> None:
    alone, crowd = made(noise=True, seed=3), made(noise=True, seed=3)
    alone.add_vehicle(Placed(7, "seven", "rover"))
    for k, name in ((9, "nine"), (7, "seven"), (2, "two")):
        crowd.add_vehicle(Placed(k, name, "rover"))
    first, other = driven(alone, 0.3, 0.5, 1.0, 7), driven(crowd, 0.3, 0.5, 1.0, 7)
    assert repr(first) == repr(other)
    crowd.remove_vehicle(9)
    assert crowd.vehicles == (2, 7)
    assert repr(driven(alone, 0.3, 0.5, 1.0, 7)) == repr(driven(crowd, 0.3, 0.5, 1.0, 7))


def test_seeds_differ_and_a_reset_repeats() -> None:
    first, second = made(noise=True, seed=1), made(noise=True, seed=2)
    for adapter in (first, second):
        adapter.add_vehicle(Placed(1, "a", "rover"))
    driven_first, other = driven(first, 0.5, 0.5, 1.0), driven(second, 0.5, 0.5, 1.0)
    assert driven_first.gyro_x != other.gyro_x and driven_first.true_north == other.true_north
    first.reset()
    assert repr(driven(first, 0.5, 0.5, 1.0)) == repr(driven_first)


def test_sensors_keep_their_rates_and_delays() -> None:
    adapter = made(sensors={"gnss": {"rate": 10.0, "delay": 0.15}})
    adapter.add_vehicle(Placed(1, "a", "rover"))
    times = []
    for _ in range(20):
        adapter.step(50_000)
        received = adapter.receive_sensors()
        assert received is not None
        times.append((received.imu_time_us, received.gnss_time_us, received.baro_time_us))
    assert times[1] == (100_000, -1, 80_000)  # the first position is still on its way
    assert times[2] == (140_000, 0, 120_000)
    assert times[19] == (1_000_000, 800_000, 1_000_000)


def test_a_vehicle_added_late_is_measured_from_then_on() -> None:
    adapter = made()
    adapter.step(30_000)  # no vehicle yet
    adapter.add_vehicle(Placed(1, "a", "rover"))
    assert driven(adapter, 0.0, 0.0, 0.2).gnss_time_us == 200_000
    adapter.add_vehicle(Placed(2, "b", "rover", (1.0, 2.0, 0.0)))
    adapter.step(20_000)
    received = adapter.receive_sensors(2)
    assert received is not None
    assert (received.imu_time_us == 240_000 and received.gnss_fix == 0.0) or np.isnan(received.gnss_fix)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"wheel_base": 0.0}, "wheel_base must be a positive number, not 0.0"),
        ({"speed_max": inf}, "speed_max must be a positive number"),
        ({"acceleration": float("nan")}, "acceleration must be a positive number"),
        ({"noise": -1.0}, "noise must be a factor from 0 on"),
        ({"sensors": {"gns": {}}}, "adapter 'lightweight': unknown sensor 'gns'; did you mean 'gnss'"),
        ({"sensors": {"gnss": {"ratte": 1}}}, "unknown option 'ratte' of sensor 'gnss'; did you mean 'rate'"),
        ({"origin": (99.0, 0.0, 0.0)}, "adapter 'lightweight': origin latitude"),
        ({"origin": 5}, r"origin must be 3 numbers \[latitude deg, longitude deg, height m\], not 5"),
        ({"origin": ["a", 2, 3]}, "origin must be 3 numbers"),
        ({"speed_max": "x"}, "^adapter 'lightweight': speed_max must be a positive number, not 'x'$"),
        ({"speed_max": True}, "speed_max must be a positive number, not True"),
        ({"speed_max": 10**400}, "speed_max must be a positive number"),
        ({"rate": None}, "rate must be a positive number, not None"),
        ({"noise": "loud"}, "noise must be a factor from 0 on, true or false, not 'loud'"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"truth": "yes"}, "truth must be true or false, not 'yes'"),
        ({"sensors": {"gnss": 5}}, "sensors must be options of sensors, e.g. {gnss: {rate: 10}}, not"),
        ({"sensors": []}, r"sensors must be options of sensors, .* not \[\]"),
        ({"sensors": {"gnss": {"rate": "x"}}}, "'rate' of sensor 'gnss' must be a finite number, not 'x'"),
    ],
)
def test_invalid_options_are_errors_of_one_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(PaddockError, match=words):
        LightweightAdapter(**options)  # type: ignore[arg-type]


def test_unsupported_vehicles_are_refused() -> None:
    adapter = made()
    with pytest.raises(AdapterError, match="supports craft 'rover' only, not 'copter'"):
        adapter.add_vehicle(Placed(1, "a", "copter"))
    with pytest.raises(AdapterError, match="id must be 1 to 254, not 255"):
        adapter.add_vehicle(Placed(255, "a", "rover"))
    with pytest.raises(AdapterError, match="place of vehicle 1 is not finite"):
        adapter.add_vehicle(Placed(1, "a", "rover", (float("nan"), 0.0, 0.0)))
    adapter.add_vehicle(Placed(1, "a", "rover"))
    with pytest.raises(AdapterError, match="cannot step back by 5 us"):
        adapter.step(-5)
    with pytest.raises(AdapterError, match="has no vehicle 300; it has: 1"):
        adapter.receive_sensors(300)
    with pytest.raises(AdapterError, match="no vehicle 4; it has: 1"):
        adapter.send_block((1, 4), blank_actuators(2))
    with pytest.raises(InvalidValueError):
        ActuatorCommands(motors=[0.0] * 9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bogus": 1}, "unknown option 'bogus' of adapter 'lightweight'; valid: acceleration, noise"),
        ({"speed_mx": 1}, "did you mean 'speed_max'"),
        ({"speed_max": "x"}, "speed_max must be a .*number, not 'x'"),
        ({"truth": 3}, ": adapter 'sim': truth must be true or false, not 3"),
    ],
)
def test_invalid_options_in_a_scenario_are_errors_of_one_line(options: dict[str, object], words: str) -> None:
    entry = AdapterEntry(type="lightweight", name="sim", options=options)
    with pytest.raises(PaddockError, match=f"^here.*{words}") as caught:
        build_adapter(entry, "here")
    assert "\n" not in str(caught.value)
