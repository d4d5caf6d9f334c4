"""The pilot against a stand-in of ArduPilot, packet by packet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from paddock.autopilot.vehicle_data import SensorData
from paddock.errors import InvalidValueError, PaddockError
from paddock.sitl.ardupilot import ArduPilotAutopilot

Make = Callable[..., ArduPilotAutopilot]
Sensors = Callable[..., SensorData]
DT = 1.0 / 1000.0


def test_a_frame_advances_one_period_and_is_answered(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot()
    assert not autopilot.live and autopilot.collect(0.0) is None
    assert "waiting for ArduPilot copter" in autopilot.status.note
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    peer.send([1500, 1000, 2000, 0])
    row = world.turn()
    assert row is not None and row[:5] == pytest.approx([1.0, 0.35 * 0.5 + 0.65 * 0.25, 0.0, 1.0, 0.0])
    assert autopilot.live and autopilot.status.connected and autopilot.status.armed and world.time_us == 1000
    state = peer.receive()
    assert state["timestamp"] == [0.001] and state["accel_body"] == [0.0, 0.0, -9.81]
    assert state["quaternion"] == [1.0, 0.0, 0.0, 0.0] and state["position"] == [0.0, 0.0, 0.0]
    for _ in range(50):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    assert peer.steps == 51 and peer.time_s == pytest.approx(0.051) and peer.pending() == 0
    status = autopilot.status
    assert status.exchanges == 51 and status.duplicates == status.restarts == status.rejected == 0


@pytest.mark.parametrize(
    ("dt", "rate", "period"),
    [(0.001, 1200, 1000), (0.001, 100, 10_000), (0.001, 400, 2000), (0.01, 1200, 10_000), (1 / 1200, 1200, 833)],
)
def test_the_frame_rate_sets_the_step(pilot: Make, stand_in: Any, dt: float, rate: int, period: int) -> None:
    autopilot = pilot("rover", dt)
    peer = stand_in(autopilot.port, rate_hz=rate)
    peer.send([1500] * 4)
    assert autopilot.collect(1.0) is not None
    assert autopilot.period_us == period


def test_time_follows_the_ticks_exactly_and_a_late_answer_does_not_slow_the_peer_down(
    pilot: Make, stand_in: Any, world_of: Any
) -> None:
    """ArduPilot takes the step of an answer for the pace of the physics, and asks for that pace from then on."""
    autopilot = pilot("copter", 1 / 1200)
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    for k in range(1, 2501):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
        assert world.time_us == round(k * 1e6 / 1200)
    world.time_us += 50_000  # it was too late once: the bridge went on without it
    for _ in range(20):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    assert peer.time_s == pytest.approx(2520 / 1200, abs=1e-4) and 1195.0 < peer.rate_hz < 1205.0


def test_steps_stay_below_100_ms(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot("rover")
    peer, world = stand_in(autopilot.port, rate_hz=2, wish_hz=2), world_of(autopilot)
    for _ in range(5):
        peer.rate_hz = 2
        peer.send([1500] * 4)
        world.turn()
        peer.receive()
    assert peer.steps == 5 and peer.time_s == pytest.approx(5 * 0.099) and "too slow" in autopilot.status.note


def test_thirty_two_channels(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot("rover-skid")
    peer, world = stand_in(autopilot.port, channels=32), world_of(autopilot)
    peer.send([1750, 0, 1250])
    row = world.turn()
    assert row is not None and row[:3] == [1.0, 0.5, -0.5]


def test_a_reset_is_a_physics_reset_for_ardupilot(pilot: Make, stand_in: Any, world_of: Any) -> None:
    autopilot = pilot()
    peer, world = stand_in(autopilot.port), world_of(autopilot)
    for _ in range(5):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    autopilot.reset()
    world.time_us = 0
    for _ in range(5):
        peer.send([1100] * 4)
        world.turn()
        peer.receive()
    assert peer.resets == 1 and peer.steps == 9 and autopilot.status.restarts == 0


def test_without_lockstep_neither_side_waits(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    autopilot = pilot(lockstep=False)
    peer = stand_in(autopilot.port)
    autopilot.offer(sensors(1000))
    assert autopilot.collect(10.0) is None  # returns at once
    peer.send([1500] * 4)
    assert autopilot.collect(10.0) is not None
    state = peer.receive()
    assert state["no_lockstep"] == [1.0]
    autopilot.offer(sensors(21_000))
    held = autopilot.collect(10.0)  # nothing new: the last commands count
    assert held is not None and held.armed and peer.pending() == 0
    peer.send([1600] * 4)
    assert autopilot.collect(0.0) is not None
    assert peer.receive()["timestamp"][0] == pytest.approx(peer.time_s) and peer.steps == 2


def test_optional_measurements_are_sent_or_omitted(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    autopilot = pilot()
    peer = stand_in(autopilot.port)
    rows = [
        sensors(1000),
        sensors(2000, range_1=1.5, airspeed=12.0, battery_voltage=12.4, battery_current=8.0),
        sensors(3000),
    ]
    seen = []
    for row in rows:
        peer.send([1100] * 4)
        autopilot.collect(1.0)
        autopilot.offer(row)
        seen.append(peer.receive())
    assert not {"rng_1", "rng_2", "airspeed", "voltage"} & set(seen[0])
    assert seen[1]["rng_1"] == [1.5] and seen[1]["airspeed"] == [12.0] and seen[1]["voltage"] == [12.4]
    assert seen[2]["rng_1"] == [10_000.0] and "rng_2" not in seen[2]  # sees nothing now, but is there


def test_a_state_that_is_not_finite_is_not_sent(pilot: Make, stand_in: Any, sensors: Sensors) -> None:
    autopilot = pilot()
    peer = stand_in(autopilot.port)
    peer.send([1100] * 4)
    autopilot.collect(1.0)
    autopilot.offer(sensors(1000, true_vn=math.nan))
    assert peer.pending() == 0 and "velocity must be finite, not nan" in autopilot.status.note
    assert autopilot.collect(1.0) is not None  # the world may go on
    autopilot.offer(sensors(2000))
    assert peer.receive()["velocity"] == [0.0, 0.0, 0.0]


def test_a_clock_rate_too_low_for_a_copter_is_refused() -> None:
    ArduPilotAutopilot("copter", 1.0 / 720.0)
    ArduPilotAutopilot("rover", 0.02)
    with pytest.raises(InvalidValueError, match=r"500 IMU samples per second, too few to arm; .* at least 720 Hz"):
        ArduPilotAutopilot("copter", 0.002)
    with pytest.raises(InvalidValueError, match=r"shorter than 0.1 s"):
        ArduPilotAutopilot("rover", 0.1)
    with pytest.raises(PaddockError, match="unknown ArduPilot frame 'copterr'; did you mean 'copter'"):
        ArduPilotAutopilot("copterr", DT)
    assert ArduPilotAutopilot("rover", 0.02, instance=3).port == 9032
