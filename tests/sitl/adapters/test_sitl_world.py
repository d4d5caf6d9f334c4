"""The world adapter: sensors and actuators of vehicles of a Simulation, standalone and hosted."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
import pytest
from hosted_world import ORIGIN, copters, hosted, read, scenario

from paddock.autopilot.vehicle_data import COLUMN, ActuatorCommands, blank_actuators, blank_sensors
from paddock.sitl.adapter import Placed, find_adapter
from paddock.sitl.adapters.world import WorldAdapter
from paddock.world.geodesy import Origin

QUIET: list[Any] = [
    {"imu": {"rate": 250, "accelerometer_noise": 0, "gyro_noise": 0, "accelerometer_walk": 0, "gyro_walk": 0}},
    {"gnss": {"rate": 5, "noise_horizontal": 0, "noise_vertical": 0, "noise_velocity": 0, "walk": 0}},
    {"compass": {"rate": 50, "noise": 0, "walk": 0}},
    {"barometer": {"rate": 25, "noise": 0, "walk": 0}},
    {"rangefinder": {"rate": 20, "noise": 0, "walk": 0}},
]
HOVER = 1.5 * 9.80665 / (4 * 9.68)


@pytest.fixture
def make_world(standalone_world: Any) -> Callable[..., WorldAdapter]:
    """A world with one copter."""

    def make(entry: dict[str, Any], **options: Any) -> Any:
        adapter = standalone_world(scenario=scenario(entry), **options)
        adapter.connect()
        adapter.add_vehicle(Placed(1, entry["name"], "copter"))
        return adapter

    return make


def lifting(share: float) -> ActuatorCommands:
    return ActuatorCommands(armed=True, motors=[share] * 4)


def test_it_is_found_by_its_type() -> None:
    assert find_adapter("world") is WorldAdapter and WorldAdapter().name == "world"


def test_noiseless_sensors_measure_the_truth(make_world: Any) -> None:
    """A copter at rest on the ground, nose to the south-west (ENU yaw 225 deg: heading 225 deg), 30 m east."""
    entry = copters(1, QUIET) | {"spawn": {"poses": [[30.0, -12.0, 0.0, -3 * pi / 4]]}}
    data = read(make_world(entry, truth=True))
    v = data.values()
    assert np.allclose(data.gyro, 0.0) and np.allclose(data.accel, [0.0, 0.0, -9.80665])
    latitude, longitude, height = Origin(*ORIGIN).to_geodetic([30.0, -12.0, 0.0])
    assert v.latitude == pytest.approx(float(latitude), abs=1e-10)
    assert v.longitude == pytest.approx(float(longitude), abs=1e-10)
    assert v.altitude == pytest.approx(float(height), abs=1e-6)
    assert (v.gnss_fix, v.gnss_satellites) == (3.0, 12.0)
    assert v.pressure == pytest.approx(95603.0, abs=60.0)  # standard atmosphere at 488 m
    assert v.range_1 == pytest.approx(0.1) and np.isnan(v.range_2) and np.isnan(v.airspeed)
    assert v.battery_voltage == pytest.approx(12.6) and v.battery_current == 0.0 and v.battery_remaining == 1.0
    # the field points north and down: seen from a nose at 225 deg, north is behind and to the right
    assert v.mag_x < 0 < v.mag_y and v.mag_z > 3e-5
    assert np.hypot(v.mag_x, v.mag_y) == pytest.approx(2.1e-5, abs=2e-6)
    magnetic = np.degrees(np.arctan2(-v.mag_y, v.mag_x)) % 360
    assert 225 - magnetic == pytest.approx(3.5, abs=1.0)  # the declination there, in deg east
    assert (v.true_north, v.true_east, v.true_down) == (-12.0, 30.0, 0.0)
    assert np.allclose(np.abs([v.true_qw, v.true_qz]), np.abs([np.cos(225 * pi / 360), np.sin(225 * pi / 360)]))
    assert 2 * np.arctan2(v.true_qz, v.true_qw) % (2 * pi) == pytest.approx(225 * pi / 180)


def test_samples_have_their_sample_time(make_world: Any) -> None:
    adapter = make_world(copters(1, QUIET))
    assert adapter.step(118_000) and adapter.sim_time_us == 118_000
    v = read(adapter).values()
    assert (v.time_us, v.imu_time_us) == (118_000, 116_000)
    assert (v.gnss_time_us, v.compass_time_us, v.baro_time_us, v.range_time_us) == (0, 100_000, 80_000, 100_000)
    assert adapter.receive_sensors() is None  # no time has passed


def test_accelerometer_gyro_and_velocity_in_the_axes_of_autopilots(make_world: Any) -> None:
    adapter = make_world(copters(1, QUIET), truth=True)
    adapter.send_actuators(lifting(1.2 * HOVER))
    adapter.step(1_000_000)
    v = read(adapter).values()
    assert v.accel_z < -9.9 and v.true_vd < -0.5 and v.true_down < -0.2
    assert v.gnss_vd == pytest.approx(v.true_vd)  # sampled just now
    assert v.battery_current == pytest.approx(18.0 * 9.68 * 4 * (1.2 * HOVER) ** 1.5 / v.battery_voltage, rel=0.01)
    adapter.send_actuators(ActuatorCommands(armed=True, motors=[0.5, 0.5, 0.4, 0.4]))  # 1 and 2 yaw the nose right
    adapter.step(100_000)
    v = read(adapter).values()
    assert v.gyro_z > 0.02 and abs(v.gyro_x) < 1e-3 and abs(v.gyro_y) < 1e-3


def test_truth_only_on_request() -> None:
    sim, adapter = hosted(3)
    block = blank_sensors(3)
    adapter.receive_block(adapter.vehicles, block)
    assert np.isnan(block[:, COLUMN["true_north"] :]).all()
    sim, adapter = hosted(3, truth=True)
    sim.step(4)
    adapter.receive_block(adapter.vehicles, block)
    assert np.isfinite(block[:, COLUMN["true_north"] :]).all()
    x, y, _ = sim.snapshot()["bees[1]"].position
    assert (block[1, COLUMN["true_north"]], block[1, COLUMN["true_east"]]) == (y, x)


def test_noise_is_independent_for_each_vehicle() -> None:
    sim, adapter = hosted(4)
    block, seen = blank_sensors(4), []
    for _ in range(500):
        adapter.receive_block(adapter.vehicles, block)
        seen.append(block[:, 2:8].copy())
        sim.step(4)
    values = np.array(seen)
    # 150 ug and 0.006 deg/s per root of Hz, over the 125 Hz of 250 samples per second
    assert np.allclose(values[..., 3:].std(axis=0), 150e-6 * 9.81 * 125.0**0.5, rtol=0.15)
    assert np.allclose(values[..., :3].std(axis=0), np.deg2rad(0.006) * 125.0**0.5, rtol=0.15)
    assert len(np.unique(values[-1])) == values[-1].size


def test_blocks_of_several_fleets_in_any_order(standalone_world: Any) -> None:
    rovers = {
        "name": "dogs",
        "count": 2,
        "model": "rover",
        "spawn": {"grid": {"spacing": 9}},
        "sensors": ["imu", "gnss"],
    }
    adapter = standalone_world(scenario=scenario(copters(3), rovers), truth=True)
    adapter.connect()
    names = ["dogs[1]", "bees[2]", "bees[0]", "dogs[0]", "bees[1]"]
    for k, name in enumerate(names, 1):
        adapter.add_vehicle(Placed(k, name, "rover" if "dogs" in name else "copter"))
    order = (3, 1, 5, 2, 4)
    actuators = blank_actuators(5)
    actuators[:, 0] = 1.0
    actuators[1, 1:3] = 0.5, 0.5  # vehicle 1, dogs[1]
    actuators[2, 1:5] = 0.6  # vehicle 5, bees[1]
    adapter.send_block(order, actuators)
    adapter.step(1_000_000)
    block = blank_sensors(5)
    adapter.receive_block(order, block)
    for row, vehicle in enumerate(order):
        x, y, z = adapter.simulation.snapshot()[names[vehicle - 1]].position
        assert block[row, COLUMN["true_north"] : COLUMN["true_vn"]].tolist() == [y, x, -z]
    assert all(adapter.receive_sensors(vehicle) is None for vehicle in order)  # nothing newer
    before = block.copy()
    block[:] = -1.0
    adapter.receive_block(order, block)
    assert (block == -1.0).all()
    block[:] = before
    moved = np.hypot(block[:, COLUMN["true_vn"]], block[:, COLUMN["true_ve"]])
    assert [bool(v > 0.4) for v in moved] == [False, True, False, False, False]
    assert [bool(v < -0.5) for v in block[:, COLUMN["true_vd"]]] == [False, False, True, False, False]


def test_spawned_vehicles_start_at_their_place_also_after_a_reset(standalone_world: Any) -> None:
    adapter = standalone_world(truth=True)
    adapter.connect()
    adapter.add_vehicle(Placed(7, "rex", "rover", (3.0, 4.0, 0.0), heading=pi / 2))
    adapter.add_vehicle(Placed(2, "bee", "copter", (-10.0, 0.0, 0.0)))
    assert adapter.vehicles == (2, 7)
    first = read(adapter, 7)
    assert (first.true_north, first.true_east, first.gnss_fix) == (3.0, 4.0, 3.0)
    traces = []
    for _ in range(2):
        adapter.send_actuators(ActuatorCommands(armed=True, motors=[0.5, 0.5]), 7)
        adapter.step(2_000_000)
        traces.append(read(adapter, 7).row.copy())
        adapter.reset()
        assert adapter.sim_time_us == 0
        assert np.array_equal(read(adapter, 7).row, first.row, equal_nan=True)
    assert np.array_equal(traces[0], traces[1], equal_nan=True)
    assert traces[0][COLUMN["true_east"]] > 5.0 and abs(traces[0][COLUMN["true_north"]] - 3.0) < 1e-6
    adapter.remove_vehicle(7)
    assert adapter.vehicles == (2,) and not adapter.simulation.engine.applier.exists("rex")
    adapter.disconnect()
    assert not adapter.is_connected


def test_actuators_hold_their_last_value_and_disarmed_motors_stop(make_world: Any) -> None:
    adapter = make_world(copters(1, QUIET), truth=True)
    adapter.step(500_000)
    assert read(adapter).true_down == 0.0 and read_motor(adapter) == 0.0  # disarmed from the start
    adapter.send_actuators(lifting(0.5))
    adapter.step(300_000)
    adapter.step(300_000)
    assert read_motor(adapter) > 0.6
    adapter.send_actuators(ActuatorCommands(armed=False, motors=[0.5] * 4))
    adapter.step(500_000)
    assert read_motor(adapter) < 1e-6


def read_motor(adapter: WorldAdapter) -> float:
    program, _ = adapter.simulation.engine.applier.found("bees")
    return float(program.fleet.state[13, 0])


def test_unchanged_commands_are_not_logged_again(make_world: Any) -> None:
    adapter = make_world(copters(1))
    log = adapter.simulation.control.log
    for _ in range(5):
        adapter.send_actuators(lifting(0.3))
        adapter.step(4_000)
    entries = len(log.entries)
    assert entries == 2  # at rest when it was added, then the one change
    adapter.send_actuators(lifting(0.4))
    adapter.send_actuators(lifting(0.3))
    adapter.step(4_000)
    assert adapter.simulation.vehicles.inspect("bees")["command"]["motor_1"] == 0.3
