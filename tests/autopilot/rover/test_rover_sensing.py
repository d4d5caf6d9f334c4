"""Missions with the noisy sensors of the simulators and the estimator: the motion is compared with the truth."""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.vehicle_data import Floats
from paddock.sitl.adapter import Placed, SimulatorAdapter
from paddock.sitl.adapters.lightweight import LightweightAdapter

ORIGIN = (35.6812, 139.7671, 40.0)
BENDS = [(0.0, 0.0), (12.0, 0.0), (16.0, 7.0), (16.0, 15.0), (0.0, 15.0), (0.0, 0.0)]
SETTLING = 15.0  # s


def drive(adapter: SimulatorAdapter, craft: str, period_us: int, within: float) -> Floats:
    """The true north and east (n, 2), from the start of the mission until it is over."""
    with_truth: Any = adapter
    adapter.connect()
    adapter.add_vehicle(Placed(1, "one", craft))
    autopilot = BuiltInAutopilot(1, craft)
    track = []
    while adapter.sim_time_us < (SETTLING + within) * 1e6:
        sensors = with_truth.receive_sensors(1)
        autopilot.offer(sensors)
        if autopilot.mode.number == 0 and adapter.sim_time_us >= SETTLING * 1e6:
            begin(autopilot)
        elif autopilot.mode.number == 10:
            track.append((sensors.true_north, sensors.true_east))
        elif track:
            break
        adapter.send_actuators(autopilot.collect(0.0), 1)
        adapter.step(period_us)
    adapter.disconnect()
    assert autopilot.executor.finished
    return np.array(track)


def begin(autopilot: BuiltInAutopilot) -> None:
    frame = LocalFrame(*ORIGIN)
    places = [frame.to_geodetic(*point, 0.0) for point in BENDS]
    items = [MissionItem(16, x=latitude, y=longitude) for latitude, longitude, _ in places]
    assert autopilot.set_plan(PlanKind.MISSION, items) == (0, 0)
    armed = autopilot.arm()
    assert armed.accepted, armed.text
    assert autopilot.set_mode(10).accepted


def crosstrack(points: Floats) -> float:
    nearest = np.full(len(points), np.inf)
    for start, end in zip(np.array(BENDS), np.array(BENDS)[1:], strict=False):
        leg = end - start
        share = np.clip((points - start) @ leg / (leg @ leg), 0.0, 1.0)[:, None]
        nearest = np.minimum(nearest, np.hypot(*(points - start - share * leg).T))
    return float(nearest.max())


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak), pytest.param(3, marks=pytest.mark.soak)])
def test_a_lightweight_rover_follows_the_path(seed: int) -> None:
    adapter = LightweightAdapter(seed=seed, origin=ORIGIN, truth=True)
    track = drive(adapter, "rover", 20_000, 100.0)
    assert crosstrack(track) < 1.0
    assert hypot(*track[-1]) < 1.0


@pytest.mark.slow
def test_the_same_seed_is_the_same_drive() -> None:
    first, second = (
        drive(LightweightAdapter(seed=5, origin=ORIGIN, truth=True), "rover", 20_000, 100.0) for _ in range(2)
    )
    assert (first == second).all()


@pytest.mark.parametrize("craft", [pytest.param("rover", marks=pytest.mark.slow), "rover_ackermann"])
def test_rovers_of_the_world_follow_the_path(craft: str, standalone_world: Any) -> None:
    scenario = {"seed": 4, "clock": {"rate": 50}, "world": {"origin": list(ORIGIN)}, "vehicles": []}
    track = drive(standalone_world(scenario=scenario, truth=True, imu_rate=50.0), craft, 20_000, 100.0)
    assert crosstrack(track) < 1.2
    assert hypot(*track[-1]) < 1.0
