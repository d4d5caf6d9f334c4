"""DO_MOTOR_TEST as the motor tabs of ground stations send it, and what the motors of the model do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from paddock.autopilot.telemetry import Landed

WORLD = {"clock": {"rate": 1000}, "vehicles": []}
TEST, ARM = mavlink.MAV_CMD_DO_MOTOR_TEST, mavlink.MAV_CMD_COMPONENT_ARM_DISARM
PERCENT, PWM, PILOT = 0, 1, 2  # MOTOR_TEST_THROTTLE_TYPE
FORCE = 21196
REST = [1000] * 4


@pytest.fixture
def copter(make_fleet: Callable[..., Any], standalone_world: Any) -> Any:
    fleet = make_fleet(1, "copter", standalone_world(scenario=WORLD))
    fleet.pass_time(0.5)
    return fleet


def shown(station: Any) -> list[list[int]]:
    """The outputs of the motors in the order in which the station has received them."""
    outputs = [m for m in station.received if m.get_type() == "SERVO_OUTPUT_RAW"]
    return [[m.servo1_raw, m.servo2_raw, m.servo3_raw, m.servo4_raw] for m in outputs]


def turns(fleet: Any) -> list[float]:
    """The speeds of the motors of the model, as shares of the highest."""
    state = fleet.bridge.links["world"].adapter.simulation.vehicles.inspect("v1")["state"]
    return [state[f"motor_{k}"] for k in (1, 2, 3, 4)]


def texts(station: Any) -> list[str]:
    return [m.text for m in station.received if m.get_type() == "STATUSTEXT"]


def test_motors_spin_in_test_order_for_the_time_that_was_asked_for(copter: Any) -> None:
    """QGroundControl's tab. On an X, motor 1 is at the front right, 4 rear right, 2 rear left, 3 front left."""
    station = copter.listener()
    station.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, mavlink.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW, 20_000)
    for number, motor in ((1, 1), (2, 4), (3, 2), (4, 3)):
        assert copter.order(station, TEST, number, PERCENT, 20, 0.6, 0, 2) == mavlink.MAV_RESULT_ACCEPTED
        copter.pass_time(0.5)
        wanted = [1200 if k == motor else 1000 for k in (1, 2, 3, 4)]
        assert copter.expect(station, "SERVO_OUTPUT_RAW") and shown(station)[-1] == wanted
        speeds = turns(copter)
        assert speeds.pop(motor - 1) ** 2 == pytest.approx(0.2, rel=0.02)  # thrust grows with the square of the speed
        assert speeds == pytest.approx([0.0] * 3, abs=1e-3)  # some still run out
        copter.pass_time(0.4)
        assert shown(station)[-1] == REST and not copter.autopilots[0].armed
    assert max(turns(copter)) < 0.2
    reported = [text for text in texts(station) if text.startswith("Motor")]
    assert reported == ["Motor test: started", "Motor test: finished"] * 4


def test_a_sequence_rests_between_the_motors(copter: Any) -> None:
    """Mission Planner's button for all motors: 1 s each by PWM, half a second of rest."""
    station = copter.listener()
    station.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, mavlink.MAVLINK_MSG_ID_SERVO_OUTPUT_RAW, 20_000)
    assert copter.order(station, TEST, 2, PWM, 1150, 1.0, 3) == mavlink.MAV_RESULT_ACCEPTED
    station.forget()
    copter.pass_time(4.5)
    station.listen()
    runs = [(outputs, len([*group])) for outputs, group in groupby(shown(station))]
    motors = [outputs.index(1150) + 1 for outputs, _ in runs if outputs != REST]
    assert motors == [4, 2, 3] and all(sorted(outputs)[:3] == [1000] * 3 for outputs, _ in runs)
    assert [count * 0.02 for _, count in runs[:5]] == pytest.approx([1.0, 0.5, 1.0, 0.5, 1.0], abs=0.07)


def test_a_test_ends_with_a_throttle_of_zero_seconds_and_with_arming(copter: Any) -> None:
    station = copter.listener()
    assert copter.order(station, TEST, 1, PERCENT, 30, 100) == 0
    copter.pass_time(0.2)
    assert copter.order(station, ARM, 1) == mavlink.MAV_RESULT_FAILED
    assert copter.expect(station, "STATUSTEXT", lambda m: "Motor test running" in m.text)
    assert copter.expect(station, "HEARTBEAT", lambda m: m.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
    assert copter.order(station, TEST, 1, PERCENT, 0, 0) == 0
    assert copter.expect(station, "STATUSTEXT", lambda m: m.text == "Motor test: finished")
    assert copter.expect(station, "HEARTBEAT", lambda m: not m.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
    assert copter.order(station, TEST, 1, PERCENT, 30, 100) == 0
    assert copter.order(station, ARM, 1, FORCE) == 0
    copter.pass_time(0.2)
    assert copter.autopilots[0].motor_test is None
    assert turns(copter) == pytest.approx(4 * turns(copter)[1:2], rel=0.01)  # all idle


def test_the_pilot_gives_the_throttle(copter: Any) -> None:
    station = copter.listener()
    assert copter.order(station, TEST, 1, PILOT, 0, 2) == mavlink.MAV_RESULT_FAILED
    station.send(mavlink.MAVLink_rc_channels_override_message(1, 1, 1500, 1500, 1100, 1500, 0, 0, 0, 0))
    copter.pass_time(0.1)
    assert copter.order(station, TEST, 1, PILOT, 0, 2) == 0
    copter.pass_time(0.5)
    assert turns(copter)[0] ** 2 == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(
    ("p", "why"),
    [
        ((5, PERCENT, 10, 1), "motor 5 is not in 1 to 4"),
        ((1.5, PERCENT, 10, 1), "motor 1.5 is not in 1 to 4"),
        ((1, PERCENT, 101, 1), "101 % is not in 0 to 100"),
        ((1, PWM, 700, 1), "700 us is not in 800 to 2200"),
        ((1, 3, 10, 1), "throttle type 3 is not 0 (percent), 1 (us) or 2 (pilot)"),
        ((1, PERCENT, 10, -1), "-1 s is not a duration"),
        ((1, PERCENT, 10, float("nan")), "nan s is not a duration"),
        ((1, PERCENT, 10, 1, 9), "9 motors are not in 0 to 4"),
    ],
)
def test_invalid_requests_are_denied(copter: Any, p: tuple[float, ...], why: str) -> None:
    ack = copter.autopilots[0].command(TEST, p)
    assert (ack.result, ack.text) == (mavlink.MAV_RESULT_DENIED, f"Motor test: {why}")


def test_an_armed_or_flying_copter_and_a_rover_refuse(copter: Any, rover: Any) -> None:
    pilot = copter.autopilots[0]
    pilot.arm(force=True)
    assert pilot.command(TEST, (1, PERCENT, 10, 1)).text == "Motor test: disarm first"
    pilot.disarm(force=True)
    pilot.telemetry.landed = Landed.IN_AIR
    ack = pilot.command(TEST, (1, PERCENT, 10, 1))
    assert (ack.result, ack.text) == (mavlink.MAV_RESULT_FAILED, "Motor test: vehicle not landed")
    assert rover.autopilots[0].command(TEST, (1, PERCENT, 10, 1)).result == mavlink.MAV_RESULT_UNSUPPORTED
