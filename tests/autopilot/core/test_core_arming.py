"""Arming: every check with its text, forced arming, repeated reports, and the bits of SYS_STATUS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paddock.autopilot.telemetry import CommandResult, Landed

Make = Callable[..., Any]
GYRO, ACCEL, MAG, BARO, GPS, PREARM = 0x1, 0x2, 0x4, 0x8, 0x20, 0x10000000


def test_a_healthy_vehicle_arms(copter: Any) -> None:
    copter.pilot.set_mode(4)
    assert copter.pilot.arm().accepted
    copter.run(0.02)
    assert copter.pilot.armed and copter.pilot.telemetry.system_status == 4  # MAV_STATE_ACTIVE
    assert "Arming motors" in copter.texts()


GOOD = (True, True, True, True, True)


@pytest.mark.parametrize(
    ("health", "senses", "beliefs", "line"),
    [
        ((False, True, True, True, True), {}, {}, "Gyros not healthy"),
        ((True, False, True, True, True), {}, {}, "Accels not healthy"),
        (GOOD, {"accel_z": -5.0}, {}, "Accels inconsistent (5.0 m/s2 at rest)"),
        (GOOD, {}, {"attitude_ok": 0.0}, "AHRS: not healthy"),
        ((True, True, False, True, True), {}, {}, "Compass: not healthy"),
        ((True, True, True, True, False), {}, {}, "Baro: not healthy"),
        ((True, True, True, False, True), {}, {}, "GPS: waiting for fix"),
        (GOOD, {"gnss_satellites": 4}, {}, "GPS: 4 satellites (need 6)"),
        (GOOD, {}, {"position_ok": 0.0}, "Need Position Estimate"),
        (GOOD, {}, {"horizontal_error": 9.0}, "EKF: position error 9.0m (need 5.0)"),
        (GOOD, {"battery_voltage": 9.0}, {}, "Battery 1 low (9.00V)"),
    ],
)
def test_each_check_has_its_text(
    copter: Any, health: tuple[bool, ...], senses: dict[str, float], beliefs: dict[str, float], line: str
) -> None:
    copter.pilot.set_mode(4)
    copter.pilot.parameters.set("BATT_LOW_VOLT", 10.5)
    copter.estimator.health = health
    copter.sense(**senses)
    copter.believe(**beliefs)
    copter.run(12.0)
    assert copter.pilot.arm() == (CommandResult.FAILED, f"Arm: {line}")
    assert not copter.pilot.armed and copter.pilot.status.note == line
    assert copter.pilot.arm(force=True).accepted


def test_arming_check_bits_select_checks(copter: Any) -> None:
    copter.pilot.set_mode(4)
    copter.estimator.health = (True, True, False, True, False)
    copter.run(0.02)
    copter.pilot.parameters.set("ARMING_CHECK", 2)  # only the barometer
    assert copter.pilot.arm().text == "Arm: Baro: not healthy"
    copter.pilot.parameters.set("ARMING_CHECK", 8)
    assert copter.pilot.arm().accepted


def test_without_checks_a_position_is_still_needed_where_the_mode_needs_one(copter: Any) -> None:
    copter.pilot.parameters.set("ARMING_CHECK", 0)
    copter.pilot.set_mode(4)
    copter.believe(position_ok=0.0)
    copter.run(0.02)
    assert copter.pilot.arm().text == "Arm: Need Position Estimate"
    copter.pilot.set_mode(0)
    assert copter.pilot.arm().accepted


def test_modes_that_are_not_armable(copter: Any) -> None:
    copter.pilot.set_mode(9)
    assert copter.pilot.arm().text == "Arm: LAND mode not armable"
    copter.pilot.parameters.set("ARMING_CHECK", 0)
    assert copter.pilot.arm().text == "Arm: LAND mode not armable"


def test_the_prearm_bit_does_not_depend_on_the_mode(copter: Any) -> None:
    copter.pilot.set_mode(9)  # as after a landing
    copter.run(1.1)
    assert copter.pilot.health.healthy & PREARM


def test_throttle_must_be_at_rest(copter: Any, rover: Any) -> None:
    copter.pilot.rc.manual_control(0, 0, 300, 0)
    assert copter.pilot.arm().text == "Arm: Throttle too high"
    copter.pilot.set_mode(4)
    assert copter.pilot.arm().accepted  # GUIDED has no use for the stick
    rover.pilot.rc.manual_control(0, 0, -200, 0)
    assert rover.pilot.arm().text == "Arm: Throttle not neutral"
    rover.pilot.rc.manual_control(0, 0, 0, 0)
    assert rover.pilot.arm().accepted


def test_a_fence_needs_a_position_and_the_vehicle_inside(copter: Any) -> None:
    copter.pilot.parameters.set("FENCE_ENABLE", 1)
    copter.estimator.health = (True, True, True, False, True)
    copter.run(0.1)
    assert copter.pilot.arm().text == "Arm: GPS: waiting for fix"  # in STABILIZE, which needs none
    copter.estimator.health = (True,) * 5
    copter.believe(north=400.0)
    copter.run(0.2)
    assert copter.pilot.arm().text == "Arm: Vehicle breaching fence"


def test_further_failures_are_reported_but_not_on_every_attempt(copter: Any) -> None:
    copter.pilot.set_mode(4)
    copter.estimator.health = (True, True, False, False, True)
    copter.run(0.02)
    copter.texts()
    for _ in range(10):  # twice a second, as MAVSDK tries
        assert copter.pilot.arm().text == "Arm: Compass: not healthy"
        copter.run(0.5)
    assert copter.texts() == ["PreArm: GPS: waiting for fix"]


def test_failures_are_repeated_every_30_s_after_an_attempt_only(copter: Any) -> None:
    copter.pilot.set_mode(4)
    copter.estimator.health = (True, True, False, True, True)
    copter.run(65.0)
    assert copter.texts() == []
    copter.pilot.arm()
    copter.run(91.5)
    assert copter.texts() == ["PreArm: Compass: not healthy"] * 3  # after 30, 60 and 90 s
    copter.run(100.0)
    assert copter.texts() == []  # interest ends after two minutes


def test_disarming_in_the_air_needs_force(copter: Any) -> None:
    copter.fly()
    assert copter.pilot.disarm() == (CommandResult.TEMPORARILY_REJECTED, "Disarm: vehicle is flying; land or force")
    assert copter.pilot.armed
    assert copter.pilot.disarm(force=True).accepted and not copter.pilot.armed
    copter.run(0.1)
    assert copter.pilot.arm().text == "Arm: Already flying"
    copter.pilot.vehicle.landed = Landed.ON_GROUND
    copter.run(0.1)
    assert copter.pilot.arm().accepted and copter.pilot.disarm().accepted


def test_sensor_bits_as_ground_stations_need_them(copter: Any) -> None:
    copter.run(1.1)
    wanted = GYRO | ACCEL | MAG | BARO | GPS | PREARM
    health = copter.pilot.health
    assert health.present & wanted == health.enabled & wanted == wanted
    assert health.healthy & wanted == wanted
    assert copter.pilot.telemetry.system_status == 3  # MAV_STATE_STANDBY
    copter.estimator.health = (True, True, False, True, True)
    copter.run(1.1)
    assert health.healthy & wanted == wanted & ~(MAG | PREARM)
    assert health.present & MAG


def test_motors_and_battery_in_the_sensor_bits(bench: Make) -> None:
    copter = bench(BATT_LOW_VOLT=10.5)
    motors, battery = 0x8000, 0x2000000
    health = copter.pilot.health
    assert health.enabled & (motors | battery) == battery and health.healthy & battery
    copter.fly()
    copter.sense(battery_voltage=9.0)
    copter.run(10.1)
    assert health.enabled & motors and not health.healthy & battery


def test_a_sensor_without_samples_is_not_present(bench: Make) -> None:
    copter = bench()
    fresh = copter.pilot.health
    fresh._present &= ~BARO
    copter.sense(baro_time_us=-1)
    copter.estimator.health = (True, True, True, True, False)
    copter.run(1.1)
    assert not copter.pilot.health.present & BARO
    assert copter.pilot.health.healthy & PREARM
