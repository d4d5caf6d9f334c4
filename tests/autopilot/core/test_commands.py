"""Commands: the right MAV_RESULT for any values and any state."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan, nan, radians
from typing import Any

import pytest

from paddock.autopilot.commands import COMMANDS
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, PlanKind
from paddock.autopilot.telemetry import CommandResult, HomeChanged, Landed

Make = Callable[..., Any]
METRE = 1e-3 / 111.175  # deg of latitude at 47 north
ACCEPTED, NOT_NOW, DENIED, UNSUPPORTED, FAILED, IN_PROGRESS = range(6)


def order(vehicle: Any, command: int, *p: float, frame: int = AltitudeFrame.RELATIVE) -> int:
    """The MAV_RESULT of a command whose last parameters are 0."""
    return int(vehicle.pilot.command(command, [*p, *[0.0] * (7 - len(p))], frame).result)


def test_unknown_commands_are_unsupported(copter: Any) -> None:
    assert copter.pilot.command(31000, [0.0] * 7) == (CommandResult.UNSUPPORTED, "Command 31000 is not supported")


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("value", [nan, inf, -inf, 1e30])
@pytest.mark.parametrize("flying", [False, True])
def test_no_parameter_value_raises(copter: Any, command: int, value: float, flying: bool) -> None:
    if flying:
        copter.fly()
    before = copter.pilot.home
    answer = copter.pilot.command(command, [value] * 7)
    assert isinstance(answer.result, CommandResult)
    assert answer.accepted or answer.text
    assert copter.pilot.home == before
    copter.run(0.1)


@pytest.mark.parametrize(("function", "mode"), [(56, "LOITER"), (70, "ALT_HOLD"), (55, "GUIDED"), (18, "LAND")])
def test_an_aux_function_selects_a_mode(copter: Any, function: int, mode: str) -> None:
    """The numbers of ArduPilot's RCx_OPTION; 2 is the high position of the switch."""
    before = copter.pilot.mode.name
    assert order(copter, 218, function, 0.0) == ACCEPTED and copter.pilot.mode.name == before
    assert order(copter, 218, function, 2.0) == ACCEPTED and copter.pilot.mode.name == mode


def test_aux_functions_switch_relays_fence_and_camera(copter: Any) -> None:
    copter.pilot.parameters.set("RELAY2_FUNCTION", 1)
    for position, on in ((2.0, True), (1.0, True), (0.0, False)):
        assert order(copter, 218, 34.0, position) == ACCEPTED
        assert copter.pilot.servos.relays[1] is on
    assert order(copter, 218, 11.0, 2.0) == ACCEPTED and copter.pilot.parameters.value("FENCE_ENABLE") == 1.0
    assert order(copter, 218, 9.0, 2.0) == ACCEPTED and copter.pilot.camera.taken == 1
    assert order(copter, 218, 54.0, 2.0) == FAILED  # HOLD: a copter does not have it
    assert order(copter, 218, 4.0, 3.0) == DENIED


# arming and modes -----------------------------------------------------------------------------------------------------


def test_arm_and_disarm(copter: Any) -> None:
    copter.pilot.set_mode(4)
    copter.estimator.health = (True, True, False, True, True)
    copter.run(0.02)
    assert order(copter, 400, 1) == FAILED
    assert order(copter, 400, 1, 21196) == ACCEPTED and copter.pilot.armed
    copter.pilot.vehicle.landed = Landed.IN_AIR
    copter.run(0.02)
    assert order(copter, 400, 0) == NOT_NOW
    assert order(copter, 400, 0, 21196) == ACCEPTED and not copter.pilot.armed
    assert order(copter, 400, 7) == DENIED


def test_set_mode(copter: Any) -> None:
    assert order(copter, 176, 1, 4) == ACCEPTED and copter.pilot.mode.name == "GUIDED"
    assert order(copter, 176, 0, 4) == DENIED  # not a custom mode
    assert order(copter, 176, 1, 77) == DENIED
    assert order(copter, 176, 1, 4.5) == DENIED


def test_flight_termination_stops_the_motors_in_the_air(copter: Any) -> None:
    copter.fly()
    assert order(copter, 185, 0) == DENIED
    assert order(copter, 185, 1) == ACCEPTED and not copter.pilot.armed


# going places ---------------------------------------------------------------------------------------------------------


def test_take_off(copter: Any, rover: Any) -> None:
    takeoff = (0, 0, 0, 0, 0, 0, 12.0)
    assert order(copter, 22, *takeoff) == NOT_NOW  # disarmed
    copter.pilot.set_mode(0)
    copter.pilot.arm()
    assert order(copter, 22, *takeoff) == NOT_NOW  # STABILIZE
    copter.pilot.set_mode(4)
    assert order(copter, 22, *takeoff) == ACCEPTED
    assert copter.pilot.guided.takeoff == 12.0 and isnan(copter.pilot.guided.yaw)
    for height in (0.0, -3.0, nan, 5000.0):
        assert order(copter, 22, 0, 0, 0, 0, 0, 0, height) == DENIED
    copter.pilot.vehicle.landed = Landed.IN_AIR
    copter.run(0.02)
    assert order(copter, 22, *takeoff) == NOT_NOW
    assert order(rover, 22, *takeoff) == UNSUPPORTED


def test_land_return_and_loiter(copter: Any, rover: Any) -> None:
    copter.fly()
    for command, mode in ((21, "LAND"), (20, "RTL"), (17, "LOITER")):
        assert order(copter, command) == ACCEPTED and copter.pilot.mode.name == mode
    assert order(rover, 21) == UNSUPPORTED
    assert order(rover, 20) == ACCEPTED and rover.pilot.mode.name == "RTL"


def test_reposition(copter: Any) -> None:
    copter.fly(mode=5)
    there = (47.0 + 200 * METRE, 8.0)
    assert order(copter, 192, -1, 0, 0, nan, *there, 20.0) == DENIED  # not in GUIDED, and no leave to change
    assert order(copter, 192, 3.5, 1, 0, radians(90), *there, 20.0) == ACCEPTED
    assert copter.pilot.mode.name == "GUIDED"
    guided = copter.pilot.guided
    assert guided.position == pytest.approx((200.0, 0.0, -20.0), abs=0.01)
    assert guided.speed == 3.5 and guided.yaw == pytest.approx(radians(90)) and guided.time_us == copter.pilot.now_us
    assert order(copter, 192, -1, 1, 0, nan, *there, 530.0, frame=5) == ACCEPTED  # GLOBAL_INT: above sea level
    assert copter.pilot.guided.position[2] == pytest.approx(-30.0)
    assert order(copter, 192, -1, 1, 0, nan, *there, nan) == ACCEPTED
    assert copter.pilot.guided.position[2] == pytest.approx(-10.0)  # as high as it is
    for p in ((91.0, 8.0, 20.0), (47.0, nan, 20.0), (47.0, 190.0, 20.0), (48.0, 8.0, 20.0)):  # the last: 111 km
        assert order(copter, 192, -1, 1, 0, nan, *p) == DENIED
    assert order(copter, 192, -1, 1, 0, nan, *there, 20.0, frame=1) == DENIED  # local frame
    assert order(copter, 192, -7, 1, 0, nan, *there, 20.0) == DENIED


def test_a_waypoint_outside_of_a_mission(copter: Any) -> None:
    copter.fly(mode=5)
    assert order(copter, 16, 0, 0, 0, 0, 47.001, 8.0, 20.0) == NOT_NOW
    copter.pilot.set_mode(4)
    assert order(copter, 16, 0, 0, 0, 0, 47.001, 8.0, 20.0) == ACCEPTED
    assert copter.pilot.guided.position[0] == pytest.approx(111.175, abs=0.01)


def test_speed(copter: Any, rover: Any) -> None:
    copter.fly()
    assert order(copter, 178, 1, 4.0) == ACCEPTED and copter.pilot.guided.speed == 4.0
    assert order(copter, 192, -1, 1, 0, nan, 47.001, 8.0, 20.0) == ACCEPTED
    assert copter.pilot.guided.speed == 4.0  # orders that follow keep it
    assert order(copter, 178, 1, -1) == ACCEPTED and copter.pilot.guided.speed == 4.0
    assert order(copter, 178, 1, -2) == ACCEPTED and isnan(copter.pilot.guided.speed)
    assert order(copter, 178, 1, 60.0) == ACCEPTED and copter.pilot.guided.speed == 20.0  # WPNAV_SPEED: to 2000 cm/s
    assert order(copter, 178, 2, 3.0) == ACCEPTED and copter.pilot.parameters.value("WPNAV_SPEED_UP") == 300
    for kind, speed, result in ((1, -5, DENIED), (1, 0, DENIED), (1, 999, DENIED), (2, 50, DENIED), (9, 1, DENIED)):
        assert order(copter, 178, kind, speed) == result
    assert order(rover, 178, 2, 3.0) == UNSUPPORTED


def test_yaw_and_altitude(copter: Any, rover: Any) -> None:
    copter.fly()
    copter.believe(yaw=radians(30))
    copter.run(0.02)
    assert order(copter, 115, 270) == ACCEPTED and copter.pilot.guided.yaw == pytest.approx(radians(-90))
    assert order(copter, 115, 50, 0, -1, 1) == ACCEPTED and copter.pilot.guided.yaw == pytest.approx(radians(-20))
    assert order(copter, 115, 400) == DENIED
    assert order(copter, 43001, 0, 0, 0, 0, 0, 0, 25.0) == ACCEPTED
    assert copter.pilot.guided.position == pytest.approx((0.0, 0.0, -25.0), abs=1e-6)
    copter.pilot.set_mode(5)
    assert order(copter, 115, 270) == order(copter, 43001, 0, 0, 0, 0, 0, 0, 25.0) == NOT_NOW
    assert order(rover, 115, 270) == order(rover, 43001, 0, 0, 0, 0, 0, 0, 25.0) == UNSUPPORTED


def test_targets_are_checked_and_need_guided(copter: Any) -> None:
    copter.fly(mode=5)
    target = copter.pilot.set_guided_target
    assert int(target(GuidedTarget(position=(1.0, 2.0, -3.0))).result) == NOT_NOW
    assert copter.texts() == ["Target rejected: mode is LOITER, not GUIDED"]
    target(GuidedTarget(position=(1.0, 2.0, -3.0)))
    assert copter.texts() == []  # a stream of them is not a stream of lines
    copter.pilot.set_mode(4)
    assert target(GuidedTarget(position=(1.0, 2.0, -3.0))).accepted
    assert copter.pilot.guided.position == (1.0, 2.0, -3.0) and copter.pilot.guided.time_us == copter.pilot.now_us
    bad = (
        GuidedTarget(position=(nan, 0.0, 0.0)),
        GuidedTarget(velocity=(0.0, inf, 0.0)),
        GuidedTarget(velocity=(0.0, 900.0, 0.0)),
        GuidedTarget(position=(80_000.0, 0.0, 0.0)),
        GuidedTarget(position=(0.0, 0.0, -90_000.0)),
        GuidedTarget(attitude=(nan, 0.0, 0.0, 0.0)),
        GuidedTarget(),
    )
    assert [int(target(order).result) for order in bad] == [DENIED] * len(bad)
    assert copter.pilot.guided.position == (1.0, 2.0, -3.0)


# the mission ----------------------------------------------------------------------------------------------------------


def load(vehicle: Any) -> None:
    points = [MissionItem(16, x=47.0 + k * 1e-3, y=8.0, z=10.0) for k in range(4)]
    assert vehicle.pilot.set_plan(PlanKind.MISSION, points) == (0, 0)


def test_start_pause_and_continue_a_mission(copter: Any) -> None:
    assert order(copter, 300) == FAILED  # no mission
    load(copter)
    assert order(copter, 300) == NOT_NOW  # disarmed
    copter.fly()
    assert order(copter, 193, 1) == NOT_NOW  # nothing is paused
    assert order(copter, 300, 9) == DENIED
    assert order(copter, 300, 2) == ACCEPTED and copter.pilot.mode.name == "AUTO"
    assert copter.pilot.executor.current == 2
    assert order(copter, 193, 0) == ACCEPTED and copter.pilot.mode.name == "LOITER"
    assert order(copter, 193, 0) == ACCEPTED
    assert order(copter, 193, 1) == ACCEPTED and copter.pilot.mode.name == "AUTO"
    assert order(copter, 193, 5) == DENIED


def test_set_the_current_item(copter: Any) -> None:
    assert order(copter, 224, 1) == DENIED
    load(copter)
    assert order(copter, 224, 3) == ACCEPTED
    copter.run(0.02)
    assert copter.pilot.executor.current == 3 and len(copter.pilot.executor.items) == 4
    assert order(copter, 224, 4) == order(copter, 224, -2) == order(copter, 224, nan) == DENIED
    assert order(copter, 224, -1) == ACCEPTED


# the vehicle itself ---------------------------------------------------------------------------------------------------


def test_set_and_get_home(copter: Any) -> None:
    copter.texts()
    there = (47.0 + 50 * METRE, 8.0)
    assert order(copter, 179, 0, 0, 0, 0, *there, 5.0) == ACCEPTED  # 5 m above the old one
    assert copter.pilot.home == pytest.approx((*there, 505.0), abs=1e-6)
    assert copter.pilot.home_position.ned() == pytest.approx((50.0, 0.0, -5.0), abs=0.01)
    assert [type(notice) for notice in copter.pilot.outbox] == [HomeChanged]
    copter.pilot.set_mode(4)
    copter.pilot.arm()
    assert copter.pilot.home == pytest.approx((*there, 505.0), abs=1e-6)  # arming keeps a home that was set
    assert order(copter, 179, 0, 0, 0, 0, *there, 480.0, frame=AltitudeFrame.GLOBAL) == ACCEPTED
    assert copter.pilot.home[2] == 480.0
    for p in ((0.0, 0.0, 5.0), (nan, 8.0, 5.0), (47.0, 8.0, nan), (10.0, 8.0, 5.0)):
        assert order(copter, 179, 0, 0, 0, 0, *p) == DENIED
    assert order(copter, 179, 1) == ACCEPTED
    assert copter.pilot.home == pytest.approx((47.0, 8.0, 500.0))
    assert order(copter, 410) == ACCEPTED


def test_home_without_a_position(bench: Make) -> None:
    copter = bench()
    copter.pilot.home_position.position = None
    copter.believe(position_ok=0.0)
    copter.run(0.02)
    assert order(copter, 179, 1) == order(copter, 410) == FAILED


def test_the_fence_by_command(copter: Any) -> None:
    assert order(copter, 207, 1) == ACCEPTED and copter.pilot.fence.enabled
    copter.pilot.parameters.set("FENCE_TYPE", 15)
    assert order(copter, 207, 2) == ACCEPTED and copter.pilot.parameters.value("FENCE_TYPE") == 7
    assert order(copter, 207, 0) == ACCEPTED and not copter.pilot.fence.enabled
    assert order(copter, 207, 3) == DENIED


def test_checks_calibration_and_storage_are_for_the_ground(copter: Any) -> None:
    copter.estimator.health = (True, True, False, True, True)
    copter.run(0.02)
    copter.texts()
    assert order(copter, 401) == ACCEPTED and copter.texts() == ["PreArm: Compass: not healthy"]
    assert order(copter, 241, 1) == IN_PROGRESS and order(copter, 241) == DENIED
    copter.pilot.parameters.set("FENCE_RADIUS", 44)
    assert order(copter, 245, 2) == ACCEPTED and copter.pilot.parameters.value("FENCE_RADIUS") == 300
    assert copter.pilot.parameters.value("SYSID_THISMAV") == 7
    assert order(copter, 245, 9) == DENIED
    copter.pilot.arm(force=True)
    assert [order(copter, command, 1) for command in (401, 241, 245, 246)] == [NOT_NOW] * 4


def test_reboot(copter: Any) -> None:
    copter.pilot.set_mode(4)
    assert order(copter, 246, 2) == UNSUPPORTED  # shut down
    assert order(copter, 246, 1) == ACCEPTED and copter.pilot.mode.name == "GUIDED"  # the answer goes out first
    copter.run(0.02)
    assert copter.pilot.mode.name == "STABILIZE"
