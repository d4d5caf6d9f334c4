"""Failsafes: conditions, delays, actions, precedence and clearing."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from typing import Any

import pytest

Make = Callable[..., Any]


def heartbeats(vehicle: Any, seconds: int) -> None:
    """A ground station with a heartbeat every second."""
    for _ in range(seconds):
        vehicle.pilot.failsafes.note_gcs_heartbeat(vehicle.pilot.now_us)
        vehicle.run(1.0)


# ground station -------------------------------------------------------------------------------------------------------


def test_gcs_failsafe_triggers_and_clears(bench: Make) -> None:
    copter = bench(FS_GCS_ENABLE=1)
    copter.fly()
    heartbeats(copter, 3)
    copter.run(3.9)  # 4.9 s after the last
    assert copter.pilot.mode.name == "GUIDED"
    copter.run(0.3)
    assert copter.pilot.mode.name == "RTL" and copter.texts() == ["GCS failsafe: RTL"]
    copter.pilot.failsafes.note_gcs_heartbeat(copter.pilot.now_us)
    copter.run(0.5)
    assert copter.pilot.failsafes.gcs.active  # one heartbeat is not enough
    copter.run(0.8)
    assert copter.texts() == ["GCS failsafe cleared"] and copter.pilot.mode.name == "RTL"


def test_no_gcs_failsafe_before_the_first_heartbeat(bench: Make) -> None:
    copter = bench(FS_GCS_ENABLE=1)
    copter.fly()
    copter.run(20.0)
    assert copter.pilot.mode.name == "GUIDED"


@pytest.mark.parametrize(("enable", "mode"), [(0, "GUIDED"), (1, "RTL"), (3, "RTL"), (5, "LAND"), (7, "LOITER")])
def test_gcs_failsafe_actions(bench: Make, enable: int, mode: str) -> None:
    copter = bench(FS_GCS_ENABLE=enable)
    copter.fly()
    heartbeats(copter, 1)
    copter.run(6.0)
    assert copter.pilot.mode.name == mode


def test_a_rover_falls_back_to_smart_rtl(rover: Any) -> None:
    rover.pilot.parameters.set("FS_GCS_ENABLE", 3)
    rover.fly(height=0.0, mode=15)
    heartbeats(rover, 1)
    rover.run(6.0)
    assert rover.pilot.mode.name == "SMARTRTL"


def test_fs_options_continue_in_the_mode(bench: Make) -> None:
    piloted = bench(FS_GCS_ENABLE=1)
    piloted.fly(mode=5)
    heartbeats(piloted, 1)
    piloted.run(6.0)
    assert piloted.pilot.mode.name == "LOITER" and piloted.texts() == ["GCS failsafe: continuing in LOITER"]
    strict = bench(FS_GCS_ENABLE=1, FS_OPTIONS=0)
    strict.fly(mode=5)
    heartbeats(strict, 1)
    strict.run(6.0)
    assert strict.pilot.mode.name == "RTL"


# RC -------------------------------------------------------------------------------------------------------------------


def test_radio_failsafe(copter: Any) -> None:
    copter.fly(mode=5)
    copter.pilot.rc.manual_control(0, 0, 500, 0)
    copter.run(2.9)
    assert copter.pilot.mode.name == "LOITER"
    copter.run(0.3)
    assert copter.pilot.mode.name == "RTL" and copter.texts() == ["Radio failsafe: RTL"]


def test_radio_failsafe_spares_auto_and_guided(copter: Any, bench: Make) -> None:
    strict = bench(FS_OPTIONS=0)
    for vehicle in (copter, strict):
        vehicle.fly(mode=4)
        vehicle.pilot.rc.manual_control(0, 0, 500, 0)
        vehicle.run(4.0)
    assert copter.pilot.mode.name == "GUIDED" and copter.texts() == ["Radio failsafe: continuing in GUIDED"]
    assert strict.pilot.mode.name == "RTL"


def test_released_rc_is_no_radio_failsafe(copter: Any) -> None:
    copter.fly(mode=5)
    copter.pilot.rc.override([1500, 1500, 1500, 1500])
    copter.run(1.0)
    copter.pilot.rc.override([0] * 18)
    copter.run(10.0)
    assert copter.pilot.mode.name == "LOITER" and copter.texts() == []


# battery --------------------------------------------------------------------------------------------------------------


def test_a_low_voltage_must_last_ten_seconds(bench: Make) -> None:
    copter = bench(BATT_LOW_VOLT=10.5, BATT_FS_LOW_ACT=2)
    copter.fly()
    copter.sense(battery_voltage=10.4)
    copter.run(9.5)
    copter.sense(battery_voltage=10.6)  # a dip while it climbed
    copter.run(1.0)
    copter.sense(battery_voltage=10.4)
    copter.run(9.5)
    assert copter.pilot.mode.name == "GUIDED"
    copter.run(0.8)
    assert copter.pilot.mode.name == "RTL"
    assert copter.texts() == ["Battery 1 is low 10.40V", "Battery low: RTL"]


def test_charge_is_counted_in_mah(bench: Make) -> None:
    copter = bench(BATT_CAPACITY=1000, BATT_LOW_MAH=980, BATT_CRT_MAH=960, BATT_FS_LOW_ACT=2, BATT_FS_CRT_ACT=1)
    copter.fly()
    copter.sense(battery_current=3.6)  # 1 mAh per second
    copter.run(19.0)
    assert copter.pilot.battery.consumed == pytest.approx(19.0)
    assert copter.pilot.mode.name == "GUIDED"
    copter.run(1.4)
    assert copter.pilot.mode.name == "RTL"
    copter.run(20.0)
    assert copter.pilot.mode.name == "LAND"  # critical beats low
    assert copter.texts()[-2:] == ["Battery 1 is critical 960mAh remaining", "Battery critical: LAND"]


def test_a_measured_charge_level_takes_precedence(bench: Make) -> None:
    copter = bench(BATT_CAPACITY=2000, BATT_LOW_MAH=500, BATT_FS_LOW_ACT=1)
    copter.fly()
    copter.sense(battery_remaining=0.3)
    copter.run(0.2)
    assert copter.pilot.battery.consumed == pytest.approx(1400.0)
    copter.sense(battery_remaining=0.24)
    copter.run(0.2)
    assert copter.pilot.mode.name == "LAND"


def test_battery_actions_of_rovers(rover: Any) -> None:
    rover.pilot.parameters.set("BATT_FS_LOW_ACT", 1)
    rover.pilot.parameters.set("BATT_LOW_VOLT", 10.5)
    rover.fly(height=0.0, mode=15)
    rover.sense(battery_voltage=9.0)
    rover.run(10.3)
    assert rover.pilot.mode.name == "RTL"


def test_a_later_failsafe_of_lower_rank_only_reports(bench: Make) -> None:
    copter = bench(BATT_CAPACITY=1000, BATT_CRT_MAH=500, BATT_FS_CRT_ACT=1, FS_GCS_ENABLE=1, FENCE_ENABLE=1)
    copter.fly()
    heartbeats(copter, 1)
    copter.sense(battery_remaining=0.4)
    copter.run(0.2)
    assert copter.pilot.mode.name == "LAND"
    copter.believe(north=310.0)
    copter.run(6.0)
    assert copter.pilot.mode.name == "LAND"
    assert "GCS failsafe: LAND has precedence" in copter.texts()


@pytest.mark.parametrize("act", [1, 2])  # LAND, RTL
def test_a_failsafe_overridden_by_the_operator_no_longer_has_precedence(bench: Make, act: int) -> None:
    copter = bench(BATT_CAPACITY=1000, BATT_CRT_MAH=500, BATT_FS_CRT_ACT=act, FENCE_ENABLE=1, FS_GCS_ENABLE=5)
    copter.fly()
    heartbeats(copter, 1)
    copter.sense(battery_remaining=0.4)
    copter.run(0.2)
    assert copter.pilot.mode.name == ("LAND" if act == 1 else "RTL")
    assert copter.pilot.set_mode(4).accepted
    copter.believe(north=310.0)
    copter.run(0.2)
    assert copter.pilot.mode.name == "RTL" and copter.texts()[-1] == "Fence breach: RTL"
    assert copter.pilot.set_mode(4).accepted
    copter.run(6.0)
    assert copter.pilot.mode.name == "LAND" and copter.texts()[-1] == "GCS failsafe: LAND"


def test_a_failsafe_that_continues_does_not_block_the_next(bench: Make) -> None:
    copter = bench(FS_GCS_ENABLE=1)
    copter.fly()
    heartbeats(copter, 1)
    copter.pilot.rc.manual_control(0, 0, 500, 0)
    copter.run(4.0)
    assert copter.texts() == ["Radio failsafe: continuing in GUIDED"]
    copter.run(1.5)
    assert copter.pilot.mode.name == "RTL" and copter.texts() == ["GCS failsafe: RTL"]


def test_no_rtl_without_a_position(bench: Make) -> None:
    copter = bench(BATT_CAPACITY=1000, BATT_CRT_MAH=500, BATT_FS_CRT_ACT=2)
    copter.fly()
    copter.sense(battery_remaining=0.4)
    copter.run(0.2)
    assert copter.pilot.mode.name == "RTL"
    copter.believe(position_ok=0.0)
    copter.run(1.5)
    assert copter.pilot.mode.name == "LAND" and copter.texts()[-1] == "EKF failsafe: LAND"


# position and attitude ------------------------------------------------------------------------------------------------


def test_a_lost_position_makes_a_copter_land(copter: Any) -> None:
    copter.fly()
    copter.believe(position_ok=0.0)
    copter.run(0.8)
    assert copter.pilot.mode.name == "GUIDED"
    copter.run(0.4)
    assert copter.pilot.mode.name == "LAND"
    assert copter.texts() == ["EKF: position lost", "EKF failsafe: LAND"]
    copter.believe(position_ok=1.0)
    copter.run(1.2)
    assert copter.texts() == ["EKF: position recovered"]


def test_short_outages_and_modes_without_position_continue(copter: Any) -> None:
    copter.fly()
    copter.believe(position_ok=0.0)
    copter.run(0.7)
    copter.believe(position_ok=1.0)
    copter.run(2.0)
    assert copter.pilot.mode.name == "GUIDED" and copter.texts() == []
    copter.pilot.set_mode(2)
    copter.believe(position_ok=0.0)
    copter.run(3.0)
    assert copter.pilot.mode.name == "ALT_HOLD"


def test_alt_hold_instead_of_landing(bench: Make) -> None:
    copter = bench(FS_EKF_ACTION=2)
    copter.fly()
    copter.believe(position_ok=0.0)
    copter.run(1.5)
    assert copter.pilot.mode.name == "ALT_HOLD"


def test_a_rover_holds_without_a_position(rover: Any) -> None:
    rover.fly(height=0.0, mode=15)
    rover.believe(position_ok=0.0)
    rover.run(1.5)
    assert rover.pilot.mode.name == "HOLD"


def test_a_copter_on_its_side_disarms_after_two_seconds(copter: Any) -> None:
    copter.fly()
    copter.believe(roll=radians(35.0))
    copter.pilot.telemetry.nav_roll = radians(20.0)
    copter.run(3.0)
    assert copter.pilot.armed  # it leans as commanded
    copter.pilot.telemetry.nav_roll = 0.0
    copter.run(1.8)
    assert copter.pilot.armed
    copter.run(0.4)
    assert not copter.pilot.armed and copter.texts()[0] == "Crash: Disarming: AngErr=35>30"


def test_a_persisting_condition_acts_after_arming_again(bench: Make) -> None:
    copter = bench(FS_GCS_ENABLE=1)
    copter.fly()
    heartbeats(copter, 1)
    copter.run(6.0)
    copter.pilot.disarm(force=True)
    assert not copter.pilot.failsafes.acting
    copter.pilot.set_mode(4)
    copter.pilot.arm(force=True)
    copter.run(0.2)
    assert copter.pilot.mode.name == "RTL"


def test_failsafes_do_not_act_while_disarmed(bench: Make) -> None:
    copter = bench(FS_GCS_ENABLE=1, BATT_FS_LOW_ACT=1, BATT_LOW_VOLT=10.5)
    copter.pilot.set_mode(4)
    heartbeats(copter, 1)
    copter.believe(position_ok=0.0, roll=1.5)
    copter.sense(battery_voltage=3.0)
    copter.run(20.0)
    assert copter.pilot.mode.name == "GUIDED" and not copter.pilot.failsafes.acting
