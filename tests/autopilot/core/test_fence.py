"""The fence: circle, heights, uploaded zones; breaches, actions, hysteresis; invalid plans."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any

import pytest
from shapely import Polygon

from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.fence import FenceZone, fence_zones
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, PlanKind
from paddock.autopilot.telemetry import Landed

Make = Callable[..., Any]
FRAME = LocalFrame(47.0, 8.0, 500.0)
SQUARE = ((-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0))


def item(command: int, north: float, east: float, p1: float) -> MissionItem:
    latitude, longitude, _ = FRAME.to_geodetic(north, east, 0.0)
    return MissionItem(command, AltitudeFrame.GLOBAL, p1=p1, x=latitude, y=longitude)


def polygon(command: int, points: tuple[tuple[float, float], ...]) -> list[MissionItem]:
    return [item(command, north, east, len(points)) for north, east in points]


def fenced(bench: Make, **parameters: float) -> Any:
    copter = bench(FENCE_ENABLE=1, **parameters)
    copter.fly()
    return copter


# geometry -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "outside"),
    [((0, 0), -50.0), ((40, 10), -10.0), ((50, 0), 0.0), ((60, 0), 10.0), ((53, 54), 5.0), ((-90, 0), 40.0)],
)
def test_distance_to_a_square(position: tuple[float, float], outside: float) -> None:
    assert FenceZone(True, Polygon(SQUARE)).outside(*position) == pytest.approx(outside)
    assert FenceZone(False, Polygon(SQUARE)).outside(*position) == pytest.approx(-outside)


def test_a_polygon_need_not_be_convex() -> None:
    letter = ((0.0, 0.0), (100.0, 0.0), (100.0, 20.0), (20.0, 20.0), (20.0, 100.0), (0.0, 100.0))  # an L
    zone = FenceZone(True, Polygon(letter))
    assert zone.outside(10.0, 90.0) == pytest.approx(-10.0) and zone.outside(90.0, 10.0) == pytest.approx(-10.0)
    assert zone.outside(50.0, 60.0) == pytest.approx(30.0)
    assert zone.outside(110.0, 30.0) == pytest.approx(sqrt(200.0))


def test_circles_and_polygons_of_a_plan() -> None:
    plan = [item(5003, 10.0, 0.0, 25.0), *polygon(5002, SQUARE), item(5000, 0.0, 0.0, 0.0)]
    circle, square = fence_zones(plan, FRAME)
    assert circle.inclusion and circle.outside(40.0, 0.0) == pytest.approx(5.0, abs=1e-3)
    assert not square.inclusion and square.outside(0.0, 0.0) == pytest.approx(50.0, abs=1e-3)


# breaches -------------------------------------------------------------------------------------------------------------


def test_leaving_the_circle_triggers_rtl(bench: Make) -> None:
    copter = fenced(bench, FENCE_RADIUS=50)
    copter.believe(north=49.0)
    copter.run(0.3)
    assert copter.pilot.mode.name == "GUIDED" and not copter.texts()
    copter.believe(north=51.5)
    copter.run(0.3)
    assert copter.pilot.mode.name == "RTL"
    assert copter.texts() == ["Circle fence breached by 1.5m", "Fence breach: RTL"]
    fence = copter.pilot.fence
    assert (fence.breached, fence.count, fence.last) == (True, 1, 3)  # FENCE_BREACH_BOUNDARY
    assert copter.pilot.telemetry.system_status == 5  # MAV_STATE_CRITICAL


def test_a_breach_clears_inside_the_margin(bench: Make) -> None:
    copter = fenced(bench, FENCE_RADIUS=50, FENCE_MARGIN=3)
    for north, breached in ((51.0, True), (49.0, True), (47.5, True), (46.5, False), (49.0, False)):
        copter.believe(north=north)
        copter.run(0.2)
        assert copter.pilot.fence.breached is breached, north
    assert copter.pilot.fence.count == 1
    assert copter.texts()[-1] == "Circle fence breach cleared"


def test_the_pilot_may_take_over_until_further_outside(bench: Make) -> None:
    copter = fenced(bench, FENCE_RADIUS=50)
    for north, mode in ((51.0, "RTL"), (65.0, "GUIDED"), (72.0, "RTL"), (151.0, "LAND")):
        copter.believe(north=north)
        copter.run(0.2)
        assert copter.pilot.mode.name == mode, north
        copter.pilot.set_mode(4)


def test_a_second_breach_acts_immediately(bench: Make) -> None:
    copter = fenced(bench, FENCE_RADIUS=50)
    for north, mode in ((60.0, "RTL"), (40.0, "GUIDED"), (51.0, "RTL")):
        copter.believe(north=north)
        copter.run(0.2)
        assert copter.pilot.mode.name == mode, north
        copter.pilot.set_mode(4)
    assert copter.pilot.fence.count == 2


def test_too_high_and_too_low(bench: Make) -> None:
    copter = fenced(bench, FENCE_ALT_MAX=30, FENCE_ALT_MIN=5, FENCE_TYPE=15)
    copter.believe(down=-31.0)
    copter.run(0.2)
    assert copter.texts()[0] == "Max Alt fence breached by 1.0m" and copter.pilot.fence.last == 2
    copter.believe(down=-4.0)
    copter.run(0.2)
    assert "Min Alt fence breached by 1.0m" in copter.texts() and copter.pilot.fence.last == 1
    copter.pilot.vehicle.landed = Landed.ON_GROUND
    copter.run(0.2)
    assert not copter.pilot.fence.breached


@pytest.mark.parametrize(("command", "inside", "outside"), [(5001, 0.0, 55.0), (5002, 80.0, 40.0)])
def test_uploaded_zones(bench: Make, command: int, inside: float, outside: float) -> None:
    copter = fenced(bench)
    assert copter.pilot.set_plan(PlanKind.FENCE, polygon(command, SQUARE)) == (0, 0)
    assert copter.pilot.parameters.value("FENCE_TOTAL") == 4
    copter.believe(north=inside)
    copter.run(0.2)
    assert not copter.pilot.fence.breached
    copter.believe(north=outside)
    copter.run(0.2)
    assert copter.pilot.fence.breaches == 4 and copter.pilot.mode.name == "RTL"


@pytest.mark.parametrize(("action", "mode"), [(0, "GUIDED"), (1, "RTL"), (2, "LAND"), (3, "RTL"), (4, "LOITER")])
def test_actions(bench: Make, action: int, mode: str) -> None:
    copter = fenced(bench, FENCE_ACTION=action, FENCE_RADIUS=50)
    copter.believe(north=60.0)
    copter.run(0.2)
    assert copter.pilot.mode.name == mode and copter.pilot.fence.breached


def test_disabled_types_and_a_disabled_fence(bench: Make) -> None:
    copter = fenced(bench, FENCE_TYPE=1, FENCE_RADIUS=50)
    copter.believe(north=500.0)
    copter.run(0.2)
    assert not copter.pilot.fence.breached
    copter.pilot.parameters.set("FENCE_TYPE", 2)
    copter.run(0.2)
    assert copter.pilot.fence.breached
    copter.pilot.parameters.set("FENCE_ENABLE", 0)
    copter.run(0.2)
    assert not copter.pilot.fence.breached


def test_the_fence_does_not_act_while_disarmed_or_without_position(bench: Make) -> None:
    copter = bench(FENCE_ENABLE=1)
    copter.believe(north=400.0)
    copter.run(0.2)
    assert copter.pilot.fence.breached and copter.pilot.mode.name == "STABILIZE"
    lost = fenced(bench, FS_EKF_ACTION=0)
    lost.believe(north=400.0, position_ok=0.0)
    lost.run(0.2)
    assert not lost.pilot.fence.breached


def test_rovers_have_no_altitude_fence(rover: Any) -> None:
    rover.pilot.parameters.set("FENCE_ENABLE", 1)
    rover.fly(height=500.0, mode=15)
    assert not rover.pilot.fence.breached
    rover.believe(north=400.0)
    rover.run(0.2)
    assert rover.pilot.mode.name == "RTL"


# plans ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "answer"),
    [
        (polygon(5001, SQUARE)[:3], (6, 0)),  # a vertex is missing
        ([*polygon(5001, SQUARE)[:3], item(5002, 0, 0, 4)], (6, 3)),
        ([*polygon(5001, SQUARE)[:3], item(5001, 0, 0, 5)], (6, 3)),
        (polygon(5001, SQUARE[:2]), (6, 0)),  # two vertices
        (polygon(5001, SQUARE[:1] * 3), (5, 0)),  # three times the same
        ([item(5003, 0, 0, 9.0), *polygon(5002, ((0.0, 0.0), (50.0, 50.0), (-30.0, -30.0)))], (5, 1)),  # on one line
        ([item(5003, 0, 0, 0.0)], (6, 0)),
        ([item(5004, 0, 0, nan)], (6, 0)),
        ([item(5003, 0, 0, inf)], (6, 0)),
        ([MissionItem(5003, p1=10.0, x=nan, y=8.0)], (10, 0)),
        ([item(5003, 0, 0, 10.0), MissionItem(5003, p1=10.0, x=47.0, y=181.0)], (11, 1)),
        ([MissionItem(5003, AltitudeFrame.MISSION, p1=10.0, x=47.0, y=8.0)], (2, 0)),
        ([item(16, 0, 0, 0)], (3, 0)),
        ([item(5003, 0, 0, 10.0)] * 2001, (4, 2000)),
    ],
)
def test_an_invalid_fence_is_refused_and_the_old_one_kept(
    copter: Any, items: list[MissionItem], answer: tuple[int, int]
) -> None:
    good = polygon(5001, SQUARE)
    copter.pilot.set_plan(PlanKind.FENCE, good)
    assert copter.pilot.set_plan(PlanKind.FENCE, items) == answer
    assert copter.pilot.plans[PlanKind.FENCE] == tuple(good)


def test_self_intersecting_polygons_and_the_date_line(copter: Any) -> None:
    bow_tie = polygon(5001, (SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]))  # both halves cancel in its signed area
    assert copter.pilot.set_plan(PlanKind.FENCE, bow_tie) == (0, 0)
    corners = ((-17.0, 179.9999), (-17.0, -179.9999), (-17.001, 180.0))
    pacific = [MissionItem(5001, AltitudeFrame.GLOBAL, p1=3.0, x=x, y=y) for x, y in corners]
    assert copter.pilot.set_plan(PlanKind.FENCE, pacific) == (0, 0)


def test_a_fence_return_point_is_reported_as_unused(copter: Any) -> None:
    copter.texts()
    assert copter.pilot.set_plan(PlanKind.FENCE, [item(5000, 9.0, 0.0, 0.0)]) == (0, 0)
    assert copter.texts() == ["Fence: return point ignored, RTL uses home or rally points"]


def test_rally_points_are_checked(copter: Any) -> None:
    check = copter.pilot.check_item
    assert check(PlanKind.RALLY, MissionItem(5100, x=47.0, y=8.0, z=20.0)) == 0
    assert check(PlanKind.RALLY, MissionItem(5100, x=47.0, y=8.0, z=nan)) == 12
    assert check(PlanKind.RALLY, MissionItem(5100, x=-91.0, y=8.0)) == 10
    assert check(PlanKind.RALLY, MissionItem(16, x=47.0, y=8.0)) == 3


def test_missions_are_checked_by_their_own_table(copter: Any, rover: Any) -> None:
    takeoff = MissionItem(22, z=10.0)
    assert copter.pilot.check_item(PlanKind.MISSION, takeoff) == 0
    assert rover.pilot.check_item(PlanKind.MISSION, takeoff) == 3
    waypoints = [MissionItem(16, x=47.0, y=8.0, z=10.0), MissionItem(16, x=nan, y=8.0, z=10.0)]
    assert copter.pilot.set_plan(PlanKind.MISSION, waypoints) == (10, 1)
    assert copter.pilot.set_plan(PlanKind.MISSION, waypoints[:1] * 3) == (0, 0)
    assert copter.pilot.parameters.value("MIS_TOTAL") == 3
