"""Read-only parameters that ground stations expect, and the mode switch."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.parameters import ParamKind

GUIDED, LOITER, STABILIZE = 4, 5, 0


@pytest.mark.parametrize("craft", ["copter", "rover", "rover_ackermann", "plane"])
def test_ground_stations_find_read_only_parameters(craft: str) -> None:
    parameters = BuiltInAutopilot(1, craft).parameters
    expected = {
        **{"RCMAP_ROLL": 1, "RCMAP_PITCH": 2, "RCMAP_THROTTLE": 3, "RCMAP_YAW": 4},
        **{"RC1_MIN": 1000, "RC1_TRIM": 1500, "RC1_MAX": 2000, "RC8_MAX": 2000},
        **{"AHRS_ORIENTATION": 0, "BATT_MONITOR": 4, "COMPASS_OFS_X": 0, "INS_ACCOFFS_Z": 0},
    }
    for name, value in expected.items():
        assert parameters.value(name) == value
        assert not parameters.set(name, value + 1.0) and parameters.value(name) == value
    assert parameters.known("SERVO1_FUNCTION").kind is ParamKind.INT16


@pytest.mark.parametrize(
    ("craft", "functions", "rate", "throttle"),
    [
        ("copter", [33, 34, 35, 36], 250, 1000),
        ("rover", [73, 0, 74, 0], 50, 1500),
        ("rover_ackermann", [26, 0, 70, 0], 50, 1500),
        ("plane", [4, 19, 70, 21], 50, 1000),
    ],
)
def test_servo_functions_match_the_vehicle(craft: str, functions: list[int], rate: int, throttle: int) -> None:
    autopilot = BuiltInAutopilot(1, craft)
    value = autopilot.parameters.value
    assert [value(f"SERVO{k}_FUNCTION") for k in range(1, 5)] == functions
    assert value("SCHED_LOOP_RATE") == rate
    assert value("RC3_TRIM") == throttle
    resting = autopilot.vehicle.outputs(autopilot.commands)[:8]
    for k, pulse in enumerate(resting, start=1):
        function = value(f"SERVO{k}_FUNCTION")
        assert (pulse > 0) == (function > 0)
        assert pulse in (0, value(f"SERVO{k}_TRIM"))


def test_only_copters_have_a_range_of_motor_pulses() -> None:
    copter, plane = BuiltInAutopilot(1, "copter").parameters, BuiltInAutopilot(1, "plane").parameters
    assert copter.value("MOT_PWM_MIN") == 1000 and copter.value("MOT_PWM_MAX") == 2000
    assert "MOT_PWM_MIN" not in plane


# the mode switch ------------------------------------------------------------------------------------------------------


def switched(vehicle: Any, width: int, channel: int = 5) -> str:
    """The mode after the switch has been held for half a second."""
    pwm = [65535] * 18
    pwm[channel - 1] = width
    for _ in range(5):
        vehicle.pilot.rc.override(pwm)
        vehicle.run(0.1)
    return str(vehicle.pilot.mode.name)


@pytest.mark.parametrize(
    ("width", "number"), [(1230, 1), (1231, 2), (1360, 2), (1361, 3), (1490, 3), (1620, 4), (1749, 5), (1750, 6)]
)
def test_the_pulse_of_channel_5_chooses_one_of_six_modes(bench: Any, width: int, number: int) -> None:
    others = {f"FLTMODE{k}": STABILIZE for k in range(1, 7)}
    vehicle = bench(**{**others, f"FLTMODE{number}": LOITER})
    assert switched(vehicle, width) == "LOITER"


def test_only_a_change_of_the_switch_sets_the_mode(bench: Any) -> None:
    vehicle = bench(FLTMODE1=LOITER, FLTMODE6=STABILIZE)
    assert switched(vehicle, 1100) == "LOITER"
    vehicle.pilot.set_mode(GUIDED)
    assert switched(vehicle, 1100) == "GUIDED"
    assert switched(vehicle, 1900) == "STABILIZE"
    assert switched(vehicle, 0) == "STABILIZE"


def test_the_switch_must_settle(bench: Any) -> None:
    vehicle = bench(FLTMODE1=GUIDED, FLTMODE3=LOITER, FLTMODE6=GUIDED)
    assert switched(vehicle, 1100) == "GUIDED"
    vehicle.texts()
    vehicle.pilot.rc.override([65535] * 4 + [1425])
    vehicle.run(0.1)
    assert switched(vehicle, 1900) == "GUIDED"
    assert not [text for text in vehicle.texts() if "LOITER" in text]


def test_a_refused_mode_is_reported_once(bench: Any) -> None:
    vehicle = bench(FLTMODE4=77)
    assert switched(vehicle, 1500) == "STABILIZE"
    assert vehicle.texts().count("Mode switch: Mode 77: unknown mode of a copter") == 1
    vehicle.run(1.0)
    assert not vehicle.texts()


def test_the_switch_channel_is_a_parameter(bench: Any, rover: Any) -> None:
    vehicle = bench(FLTMODE_CH=0, FLTMODE1=LOITER)
    assert switched(vehicle, 1100) == "STABILIZE"
    assert rover.pilot.parameters.set("MODE1", 4)
    assert switched(rover, 1100, channel=8) == "HOLD"
