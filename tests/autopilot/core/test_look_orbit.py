"""ROI, camera and orbit commands: results for every vehicle type and state."""

from __future__ import annotations

from math import atan2, isnan, nan, radians
from typing import Any

import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.mission_items import MissionItem, PlanKind, check_mission_item
from paddock.autopilot.telemetry import CommandResult, StatusText

FRAME = LocalFrame(47.0, 8.0, 500.0)  # of the bench
ORBIT, LOOK_AT, LOOK_AHEAD, LOOK, PICTURE, GIMBAL, SPEED = 34, 195, 197, 201, 203, 1000, 178


def at(north: float, east: float, *first: float) -> list[float]:
    """Return parameters with a position given in metres from the origin."""
    latitude, longitude, _ = FRAME.to_geodetic(north, east, 0.0)
    return [*first, *[0.0] * (4 - len(first)), latitude, longitude, 0.0]


@pytest.mark.parametrize("command", [LOOK_AT, LOOK])
def test_a_copter_faces_a_region_of_interest(copter: Any, command: int) -> None:
    copter.fly()
    copter.believe(north=10.0, east=0.0)
    copter.run(0.04)
    assert copter.pilot.command(command, at(40.0, -60.0)).accepted
    assert copter.pilot.executor.actions.roi_yaw() == pytest.approx(atan2(-60.0, 30.0), abs=1e-4)
    assert copter.pilot.command(LOOK_AHEAD, [0.0] * 7).accepted
    assert isnan(copter.pilot.executor.actions.roi_yaw())


def test_roi_0_0_clears_it(copter: Any) -> None:
    copter.fly()
    copter.pilot.command(LOOK, at(40.0, -60.0))
    assert copter.pilot.command(LOOK, [0.0] * 7).accepted
    assert isnan(copter.pilot.executor.actions.roi_yaw())


def test_roi_replaces_a_commanded_heading(copter: Any) -> None:
    copter.fly()
    assert copter.pilot.command(115, [90.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).accepted
    assert copter.pilot.guided.yaw == pytest.approx(radians(90.0))
    assert copter.pilot.command(LOOK_AT, at(40.0, 0.0)).accepted
    assert isnan(copter.pilot.guided.yaw)


def test_invalid_roi_is_denied(copter: Any, rover: Any) -> None:
    assert copter.pilot.command(LOOK, at(10.0, 0.0, 1.0)).result == CommandResult.DENIED  # the next waypoint
    assert copter.pilot.command(LOOK_AT, [0.0, 0.0, 0.0, 0.0, 95.0, 8.0, 0.0]).result == CommandResult.DENIED
    for command in (LOOK_AT, LOOK_AHEAD, LOOK):
        assert rover.pilot.command(command, at(10.0, 0.0)).result == CommandResult.UNSUPPORTED


def test_camera_commands_take_pictures_and_gimbal_commands_are_unsupported(copter: Any) -> None:
    assert copter.pilot.command(PICTURE, [0.0] * 7).result == CommandResult.DENIED  # neither zoom nor focus
    assert copter.pilot.command(PICTURE, [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).accepted
    assert copter.pilot.camera.taken == 1
    assert copter.pilot.command(GIMBAL, [0.0] * 7).result == CommandResult.UNSUPPORTED


def test_orbit_needs_a_flying_copter(rover: Any) -> None:
    autopilot = BuiltInAutopilot(1, "copter")
    assert autopilot.command(ORBIT, [10.0, 2.0, 0.0, 0.0, 47.0, 8.0, 20.0]).result == CommandResult.TEMPORARILY_REJECTED
    assert rover.pilot.command(ORBIT, at(10.0, 0.0, 10.0)).result == CommandResult.UNSUPPORTED


@pytest.mark.parametrize(
    "wrong",
    [(0.0, 2.0, 0.0, 0.0), (5e3, 2.0, 0.0, 0.0), (10.0, 0.0, 0.0, 0.0), (10.0, 2.0, 3.0, 0.0), (10.0, 2.0, nan, 6.0)],
)
def test_an_invalid_orbit_is_denied(wrong: tuple[float, ...]) -> None:
    assert BuiltInAutopilot(1, "copter").command(ORBIT, at(10.0, 0.0, *wrong)).result == CommandResult.DENIED


# speeds of climb in missions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "speed", "copter", "rover"),
    [
        *((2.0, 2.0, 0, 6), (3.0, 1.0, 0, 6), (2.0, 11.0, 7, 6), (3.0, 0.05, 7, 6), (2.0, -2.0, 0, 6)),
        *((1.5, 2.0, 6, 6), (1.0, 5.0, 0, 0), (0.0, 0.0, 7, 7), (4.0, 2.0, 6, 6)),
    ],
)
def test_climb_speed_items_need_a_copter(kind: float, speed: float, copter: int, rover: int) -> None:
    item = MissionItem(SPEED, p1=kind, p2=speed)
    assert check_mission_item(item, "copter") == copter
    assert check_mission_item(item, "rover") == rover


def test_roi_is_unsupported_by_planes() -> None:
    plane = BuiltInAutopilot(1, "plane")
    latitude, longitude, _ = FRAME.to_geodetic(50.0, 0.0, 0.0)
    items = [MissionItem(16), MissionItem(LOOK_AT, x=latitude, y=longitude), MissionItem(16, x=latitude, y=longitude)]
    assert plane.set_plan(PlanKind.MISSION, items)[0] == 0
    plane.executor.start()
    plane.executor.update(0.02)
    assert "Mission: 1 SetROI, no gimbal or video on board" in [
        n.text for n in plane.outbox if isinstance(n, StatusText)
    ]
    assert isnan(plane.executor.actions.roi_yaw())
