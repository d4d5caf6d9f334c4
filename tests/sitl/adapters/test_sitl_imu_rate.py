"""No inertial sample is missed: the IMU is as fast as the pilot, or the pilot as fast as the IMU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.guided import GuidedTarget
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.bridge import Bridge
from paddock.sitl.host import SitlHost

CLOCK = {"seed": 5, "clock": {"rate": 250}, "vehicles": []}
GUIDED = 15


@pytest.mark.parametrize(("craft", "period"), [("copter", 4000), ("rover", 20_000), ("plane", 20_000)])
def test_a_spawned_vehicle_has_the_imu_of_its_craft(craft: str, period: int, standalone_world: Any) -> None:
    world = standalone_world(scenario=CLOCK)
    world.connect()
    world.add_vehicle(Placed(1, "one", craft))
    assert world.sensor_period_us(1) == period == BuiltInAutopilot(1, craft).period_us
    world.disconnect()


def test_the_period_of_another_imu_rate_is_reported(standalone_world: Any) -> None:
    world = standalone_world(scenario=CLOCK, imu_rate=125.0)
    world.connect()
    world.add_vehicle(Placed(1, "one", "rover"))
    assert world.sensor_period_us(1) == 8000
    assert SimulatorAdapter.sensor_period_us(world, 1) is None  # unknown
    world.disconnect()


@pytest.mark.parametrize(
    ("craft", "sensor", "period"),
    [
        ("copter", None, 4000),
        ("copter", 10_000, 4000),  # a slow IMU does not slow control down
        ("copter", 1000, 1000),
        ("copter", 2500, 2000),  # control keeps its 4 ms
        ("copter", 1500, 1334),
        ("rover", 4000, 4000),
        ("rover", 3003, 2858),
    ],
)
def test_the_autopilot_exchanges_once_per_imu_sample(craft: str, sensor: int | None, period: int) -> None:
    pilot = BuiltInAutopilot(1, craft)
    pilot.sensor_period_us = sensor
    assert pilot.period_us == period
    assert -(-pilot.vehicle.control_period_us // period) * period - pilot.vehicle.control_period_us < 10


@pytest.mark.soak
def test_a_rover_without_gnss_keeps_its_speed(standalone_world: Any, step: Any) -> None:
    """Accelerometer samples between two exchanges count: otherwise it would drive at twice the speed."""
    bridge, world = Bridge("lockstep"), standalone_world(scenario=CLOCK)
    bridge.register(world)
    pilot = BuiltInAutopilot(2, "rover")
    bridge.spawn(Placed(2, "one", "rover"), pilot, "world")
    step(bridge, 900)
    assert pilot.set_mode(GUIDED).accepted and pilot.arm().accepted
    assert pilot.set_guided_target(GuidedTarget(position=(100.0, 0.0, 0.0))).accepted
    world.set_gnss(2, False)
    speeds = []
    for _ in range(8):
        step(bridge, 25)
        speeds.append(float(np.linalg.norm(world.simulation.snapshot()["one"].velocity[:2])))
    assert max(speeds) == pytest.approx(pilot.parameters.value("WP_SPEED"), rel=0.1)
    bridge.close()


def test_in_a_scenario_the_autopilot_gets_every_sample(own_links: Callable[[int], dict[str, Any]]) -> None:
    """The integral of the accelerometer as the pilot gets it is the change of speed."""
    entry = {"name": "r", "model": "rover", "preset": "skid", "sensors": ["imu", "gnss", "compass", "barometer"]}
    section = {"mavlink": own_links(1), "pilots": [{"vehicles": "r", "mission": [[0, 60, 0]]}]}
    with paddock.load({"seed": 5, "clock": {"rate": 1000}, "vehicles": [entry], "sitl": section}) as sim:
        host = next(o for c in sim.engine.listeners.close if isinstance(o := getattr(c, "__self__", None), SitlHost))
        pilot: Any = host.vehicles[0].autopilot
        times, forces = [], []

        def watch(now_us: int) -> None:
            times.append(pilot.sensors.imu_time_us)
            forces.append(pilot.sensors.accel_x)

        host.bridge.after_exchange.append(watch)
        while sim.snapshot()["r"].velocity[1] < 1.8 and sim.time < 20.0:
            sim.step(100)
        assert set(np.diff(times)) == {host.world.sensor_period_us(1)}
        gained = float(np.diff(times) @ np.array(forces)[1:]) * 1e-6
        assert gained == pytest.approx(float(sim.snapshot()["r"].velocity[1]), rel=0.1)
