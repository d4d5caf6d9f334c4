"""Columns of a snapshot besides the pose: telemetry, reports, commands in force, sensor readings."""

from __future__ import annotations

import numpy as np

import paddock

SCENARIO = {
    "clock": {"rate": 1000},
    "vehicles": [
        {"name": "red", "model": "car.bicycle", "preset": "sedan", "speed": 10.0, "sensors": ["imu", "wheel_speed"]},
        {"name": "drones", "count": 3, "model": "quad", "spawn": {"grid": {"spacing": 2, "z": 10}}},
    ],
}


def test_snapshot_readings_equal_those_of_the_sensors() -> None:
    with paddock.load(SCENARIO) as sim:
        sim.step(37)
        red, readings = sim.snapshot()["red"], sim.vehicles.sensors("red")
        for sensor, values in readings.items():
            for name, value in values.items():
                assert red[f"{sensor}.{name}"] == value
        assert red["imu.sample_tick"] <= 37 and abs(red["imu.az"] - 9.80665) < 1.0


def test_readings_of_a_periodic_snapshot_are_of_its_own_tick() -> None:
    scenario = {**SCENARIO, "every": {"snapshot": 10}}
    seen: dict[int, float] = {}
    with paddock.load(scenario) as sim:
        sim.clock.watch(lambda snapshot: seen.update({snapshot.tick: snapshot["red"]["imu.ax"]}))
        expected = {}
        for _ in range(5):
            sim.step(10)
            expected[sim.tick] = sim.vehicles.sensors("red")["imu"]["ax"]
    assert seen == expected


def test_snapshots_have_the_commands_in_force() -> None:
    with paddock.load(SCENARIO) as sim:
        sim.command("red", steer=0.1, throttle=0.4)
        sim.command("drones[1]", mode="angle", roll=0.5)
        sim.step(1)
        snap = sim.snapshot()
        assert (snap["red"]["command.steer"], snap["red"]["command.throttle"]) == (0.1, 0.4)
        assert snap.fleet("drones")["command.roll"].tolist() == [0.0, 0.5, 0.0]


def test_snapshots_of_large_fleets_have_no_commands() -> None:
    grid = {"grid": {"spacing": 1}}
    with paddock.load({"vehicles": [{"name": "birds", "count": 1001, "model": "point", "spawn": grid}]}) as sim:
        assert not [name for name in sim.snapshot().fleet("birds").columns if name.startswith("command.")]
        sim.remove("birds[5]")
        columns = sim.snapshot().fleet("birds").columns
        assert [name for name in columns if name.startswith("command.")] == ["command.vx", "command.vy", "command.vz"]


def test_readings_before_the_first_sample_are_not_numbers() -> None:
    entry = {"name": "red", "model": "car.kinematic", "sensors": [{"gnss": {"delay": 0.2}}]}
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [entry]}) as sim:
        assert np.isnan(sim.snapshot()["red"]["gnss.x"]) and sim.snapshot()["red"]["gnss.sample_tick"] == -1
        sim.step(201)
        assert np.isfinite(sim.snapshot()["red"]["gnss.x"]) and sim.snapshot()["red"]["gnss.sample_tick"] == 0
