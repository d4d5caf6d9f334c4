"""The core of the built-in autopilot: its loops, modes, home, the pilot's sticks, reboot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, PlanKind
from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import CommandResult, HomeChanged, Landed
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError

Make = Callable[..., Any]
METRE = 1e-3 / 111.175  # deg of latitude at 47 north: a degree is 111.175 km


def rally(latitude: float, longitude: float, height: float) -> MissionItem:
    return MissionItem(5100, AltitudeFrame.RELATIVE, x=latitude, y=longitude, z=height)


def test_control_runs_at_its_period_and_decisions_at_50_hz(copter: Any, steps: list[float]) -> None:
    decided: list[float] = []
    copter.pilot.mode.update = decided.append
    copter.run(1.0, dt_us=2000)
    assert len(steps) == 250 and len(decided) == 50
    assert steps[10] == pytest.approx(0.004) and decided[10] == pytest.approx(0.02)


def test_long_gaps_are_clipped(copter: Any, steps: list[float]) -> None:
    copter.now_us += 10_000_000
    copter.run(0.02)
    assert steps[-1] == 0.1


def test_collect_returns_immediately_with_the_armed_flag(copter: Any) -> None:
    assert copter.pilot.live and copter.pilot.collect(0.0).armed is False
    copter.fly()
    commands = copter.pilot.collect(0.0)
    assert commands.armed and commands.motors[:4].tolist() == [0.5] * 4
    assert copter.pilot.vehicle.outputs(copter.pilot.commands)[:4] == [1500] * 4


def test_time_going_backwards_reboots(copter: Any) -> None:
    copter.fly()
    copter.now_us = 0
    copter.run(0.02)
    assert not copter.pilot.armed and copter.pilot.mode.name == "STABILIZE"


def test_reset_keeps_parameters_and_plans_only(copter: Any) -> None:
    copter.pilot.parameters.set("FENCE_RADIUS", 55)
    copter.pilot.set_plan(PlanKind.RALLY, [rally(47.001, 8.0, 10.0)])
    copter.fly()
    copter.pilot.reset()
    assert copter.pilot.parameters.value("FENCE_RADIUS") == 55 and len(copter.pilot.plans[PlanKind.RALLY]) == 1
    assert copter.pilot.home is None and not copter.pilot.armed and copter.pilot.now_us == 0


def test_parameters_are_saved_per_vehicle(bench: Make, tmp_path: Path) -> None:
    bench(folder=tmp_path).pilot.parameters.set("FENCE_RADIUS", 77)
    assert [path.name for path in tmp_path.iterdir()] == ["copter_7.json"]
    assert bench(folder=tmp_path).pilot.parameters.value("FENCE_RADIUS") == 77


def test_invalid_vehicles_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="1 to 254"):
        BuiltInAutopilot(255, "copter")
    with pytest.raises(UnknownNameError, match="did you mean 'copter'"):
        BuiltInAutopilot(1, "coptre")
    with pytest.raises(UnknownNameError, match="FENCE_RADIUS"):
        BuiltInAutopilot(1, "copter", {"FENCE_RADUIS": 40})
    with pytest.raises(InvalidValueError, match="SYSID_THISMAV is read-only"):
        BuiltInAutopilot(1, "copter", {"SYSID_THISMAV": 7})


def test_unsaved_parameters_are_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PaddockError, match="file: cannot save parameters") as caught:
        BuiltInAutopilot(1, "copter", folder=tmp_path / "file")
    assert "\n" not in str(caught.value)


def test_ground_stations_may_ask_for_the_frame() -> None:
    copter, rover = BuiltInAutopilot(1, "copter").parameters, BuiltInAutopilot(2, "rover_ackermann").parameters
    assert (copter.value("FRAME_CLASS"), copter.value("FRAME_TYPE"), rover.value("FRAME_CLASS")) == (1.0, 1.0, 1.0)
    assert not copter.set("FRAME_TYPE", 0) and not rover.set("FRAME_CLASS", 2)


# modes ----------------------------------------------------------------------------------------------------------------


def test_modes_require_a_position_only_when_armed(copter: Any) -> None:
    copter.believe(position_ok=0.0)
    copter.run(0.02)
    assert copter.pilot.set_mode(5).accepted  # waits for its position, disarmed
    assert copter.pilot.set_mode(0).accepted
    assert copter.pilot.arm().accepted  # STABILIZE needs none
    refused = copter.pilot.set_mode(5)
    assert refused == (CommandResult.TEMPORARILY_REJECTED, "Mode LOITER: requires position")
    assert copter.pilot.mode.name == "STABILIZE"
    assert copter.pilot.set_mode(99) == (CommandResult.DENIED, "Mode 99: unknown mode of a copter")


# home -----------------------------------------------------------------------------------------------------------------


def test_home_is_set_at_the_first_position_and_on_arming(copter: Any) -> None:
    assert copter.pilot.home == pytest.approx((47.0, 8.0, 500.0))
    assert sum(isinstance(notice, HomeChanged) for notice in copter.pilot.outbox) == 1
    copter.believe(north=100.0, east=50.0, down=-2.0)
    copter.run(0.1)
    assert copter.pilot.arm().accepted
    assert copter.pilot.home_position.ned() == pytest.approx((100.0, 50.0, -2.0), abs=1e-6)
    assert copter.pilot.home == pytest.approx((47.0 + 100 * METRE, 8.000657, 502.0), abs=1e-6)
    copter.believe(down=-12.0)
    copter.run(0.1)
    assert copter.pilot.telemetry.relative_altitude == pytest.approx(10.0)
    assert copter.pilot.telemetry.altitude == pytest.approx(512.0)


def test_return_point_is_the_nearest_rally_point_within_the_limit(copter: Any) -> None:
    near, far = rally(47.0 + 200 * METRE, 8.0, 30.0), rally(47.0 + 1000 * METRE, 8.0, 30.0)
    assert copter.pilot.set_plan(PlanKind.RALLY, [near, far]) == (0, 0)
    assert copter.pilot.parameters.value("RALLY_TOTAL") == 2
    assert copter.pilot.home_position.return_point() == (0.0, 0.0, 0.0)  # home is nearer
    copter.believe(north=150.0)
    copter.run(0.02)
    assert copter.pilot.home_position.return_point() == pytest.approx((200.0, 0.0, -30.0), abs=0.01)
    copter.believe(north=900.0)
    copter.run(0.02)
    assert copter.pilot.home_position.return_point() == pytest.approx((1000.0, 0.0, -30.0), abs=0.05)
    copter.pilot.parameters.set("RALLY_LIMIT_KM", 0.05)
    assert copter.pilot.home_position.return_point() == (0.0, 0.0, 0.0)


# the pilot's sticks ---------------------------------------------------------------------------------------------------


def test_rc_overrides_become_sticks(copter: Any) -> None:
    copter.pilot.rc.override([1750, 1250, 1300, 2000] + [65535] * 14)
    sticks = copter.pilot.rc.sticks
    assert (sticks.roll, sticks.pitch, sticks.throttle, sticks.yaw) == (0.5, -0.5, 0.3, 1.0)
    copter.pilot.rc.override([65535, 65535, 0, 1500])  # unchanged, unchanged, released, centre
    assert (sticks.roll, sticks.throttle, sticks.yaw, sticks.pwm[:4]) == (0.5, 0.0, 0.0, [1750, 1250, 0, 1500])
    copter.pilot.rc.override([0] * 18)
    assert not copter.pilot.rc.seen


def test_released_throttle_is_neutral(copter: Any, rover: Any) -> None:
    only_yaw = [0, 0, 0, 1600]
    for vehicle in (copter, rover):
        vehicle.pilot.rc.override(only_yaw)
        vehicle.run(0.1)
        assert (vehicle.pilot.rc.sticks.throttle, vehicle.pilot.rc.sticks.yaw) == (0.0, 0.2)
    copter.pilot.vehicle.landed = Landed.IN_AIR  # while the same override holds
    copter.run(0.1)
    assert copter.pilot.rc.sticks.throttle == 0.5
    copter.pilot.rc.override([65535, 65535, 1700, 65535])
    copter.run(0.1)
    assert copter.pilot.rc.sticks.throttle == 0.7
    copter.pilot.rc.override(only_yaw)
    assert copter.pilot.rc.sticks.throttle == 0.5
    copter.pilot.rc.manual_control(0, 0, 32767, 0)  # an axis that the joystick does not have
    assert copter.pilot.rc.sticks.throttle == 0.5


def test_manual_control(copter: Any, rover: Any) -> None:
    copter.pilot.rc.manual_control(500, -250, 600, 32767)
    sticks = copter.pilot.rc.sticks
    assert (sticks.pitch, sticks.roll, sticks.throttle, sticks.yaw) == (-0.5, -0.25, 0.6, 0.0)
    assert sticks.pwm[:4] == [1375, 1250, 1600, 1500]
    rover.pilot.rc.manual_control(0, 1000, -500, 0)
    assert (rover.pilot.rc.sticks.roll, rover.pilot.rc.sticks.throttle) == (1.0, -0.5)
    assert rover.pilot.rc.sticks.pwm[:4] == [2000, 1500, 1250, 1500]


def test_rc_override_time_0_and_minus_1(bench: Make) -> None:
    deaf, patient = bench(RC_OVERRIDE_TIME=0), bench(RC_OVERRIDE_TIME=-1)
    for vehicle in (deaf, patient):
        vehicle.pilot.rc.override([1500] * 8)
        vehicle.run(20.0)
    assert not deaf.pilot.rc.seen and patient.pilot.rc.fresh


def test_disarming_discards_the_guided_target(copter: Any) -> None:
    copter.fly()
    copter.pilot.set_guided_target(GuidedTarget(position=(50.0, 0.0, -10.0)))
    copter.pilot.disarm(force=True)
    assert copter.pilot.guided.position is None


def test_a_rover_stops_when_rc_times_out(rover: Any) -> None:
    rover.pilot.rc.manual(Sticks(throttle=0.8))
    rover.run(2.9)
    assert rover.pilot.rc.sticks.throttle == 0.8 and rover.pilot.rc.fresh
    rover.run(0.3)
    assert rover.pilot.rc.sticks.throttle == 0.0 and rover.pilot.rc.lost
