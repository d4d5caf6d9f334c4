"""The mission executor with a vehicle moved by the test."""

from __future__ import annotations

from collections import deque
from math import cos, degrees, isnan, pi, radians, sin
from types import SimpleNamespace
from typing import Any, cast

import pytest

from paddock.autopilot.estimate import ESTIMATE_WIDTH, Estimate, LocalFrame
from paddock.autopilot.mission import MissionExecutor, MissionState
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, NavTarget, NavTask, PlanKind
from paddock.autopilot.parameter_tables import COMMON
from paddock.autopilot.parameters import AutopilotParameters, Parameter
from paddock.autopilot.telemetry import (
    ACCEPTED,
    Ack,
    CommandResult,
    CurrentItem,
    ItemReached,
    Landed,
    Severity,
    StatusText,
    Telemetry,
)

HOME = LocalFrame(47.0, 8.0, 500.0)
COPTER = (
    *(Parameter("WPNAV_RADIUS", 200, 5, 1000), Parameter("CIRCLE_RADIUS", 1000, 0, 200000)),
    Parameter("WPNAV_SPEED", 1000, 10, 2000),
)


class Puppet:
    """An autopilot whose place is set by the test."""

    def __init__(self, *items: MissionItem, craft: str = "copter") -> None:
        self.vehicle = SimpleNamespace(kind=craft)
        self.parameters = AutopilotParameters((*COPTER, *COMMON))
        self.plans = {PlanKind.MISSION: (MissionItem(16), *items)}
        self.frame = HOME
        self.home = (47.0, 8.0, 500.0)
        self.home_position = SimpleNamespace(return_point=lambda: (1.0, 2.0, -15.0))
        self.outbox: deque[Any] = deque()
        self.telemetry = Telemetry(self)  # type: ignore[arg-type]
        self.commanded: list[Any] = []
        self.answer: Ack = ACCEPTED
        self.place(0.0, 0.0, 0.0)
        self.executor = MissionExecutor(cast(Any, self))

    def place(self, north: float, east: float, down: float, yaw: float = 0.0) -> None:
        nothing = Estimate(*[0.0] * ESTIMATE_WIDTH)
        self.estimate = nothing._replace(north=north, east=east, down=down, yaw=yaw)

    def send_text(self, severity: Severity, text: str) -> None:
        self.outbox.append(StatusText(severity, text))

    def command(self, *order: Any) -> Ack:
        self.commanded.append(order)
        return self.answer

    def at(self, north: float, east: float, down: float, yaw: float = 0.0) -> NavTarget:
        self.place(north, east, down, yaw)
        return self.executor.update(0.02)

    @property
    def texts(self) -> list[str]:
        return [notice.text for notice in self.outbox if isinstance(notice, StatusText)]

    @property
    def steps(self) -> list[Any]:
        return [notice for notice in self.outbox if not isinstance(notice, StatusText)]


def item(command: int, north: float, east: float, z: float = 20.0, **values: Any) -> MissionItem:
    latitude, longitude, _ = HOME.to_geodetic(north, east, 0.0)
    return MissionItem(command, x=latitude, y=longitude, z=z, **values)


def test_a_copters_mission_from_take_off_to_landing() -> None:
    puppet = Puppet(MissionItem(22, z=20.0), item(16, 50.0, 0.0), item(16, 50.0, 50.0), item(21, 0.0, 0.0, 0.0))
    executor = puppet.executor
    assert (executor.state, executor.current) == (MissionState.NOT_STARTED, 0)
    executor.start()
    assert (executor.state, executor.current) == (MissionState.ACTIVE, 1)
    climb = puppet.at(0.5, 0.5, -10.0)
    assert climb.task is NavTask.TAKEOFF and climb.target == pytest.approx((0.0, 0.0, -20.0))
    leg = puppet.at(0.5, 0.5, -19.6)
    assert leg.task is NavTask.WAYPOINT
    assert leg.start == pytest.approx((0.0, 0.0, -20.0)) and leg.target == pytest.approx((50.0, 0.0, -20.0), abs=1e-6)
    assert leg.after == pytest.approx((50.0, 50.0, -20.0), abs=1e-6)
    assert puppet.at(47.9, 0.0, -20.0).target[0] == pytest.approx(50.0)  # WPNAV_RADIUS is 2 m
    assert puppet.at(48.1, 0.0, -20.0).target[1] == pytest.approx(50.0)
    land = puppet.at(50.0, 49.0, -20.0)
    assert land.task is NavTask.LAND and land.target == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
    puppet.telemetry.landed = Landed.ON_GROUND
    assert puppet.at(0.0, 0.0, 0.0).task is NavTask.DONE
    assert executor.finished and executor.state == MissionState.COMPLETE
    reached = [ItemReached(k) for k in (1, 2, 3, 4)]
    assert puppet.steps == [entry for k in (1, 2, 3, 4) for entry in (CurrentItem(k), reached[k - 1])]
    assert puppet.texts[-1] == "Mission complete"


def test_passing_a_waypoint_at_a_distance_counts() -> None:
    puppet = Puppet(item(16, 50.0, 0.0), item(16, 50.0, 50.0))
    puppet.place(0.0, 0.0, -20.0)
    puppet.executor.start()
    puppet.at(49.0, 8.0, -20.0)
    assert puppet.executor.current == 1
    puppet.at(50.1, 8.0, -20.0)
    assert puppet.executor.current == 2


def test_altitudes_are_above_home_above_the_sea_or_above_the_ground() -> None:
    for frame, z, down in (
        (AltitudeFrame.RELATIVE, 30.0, -30.0),
        (AltitudeFrame.GLOBAL, 520.0, -20.0),
        (11, 12.0, -12.0),
        (3, 0.0, -7.0),
    ):
        puppet = Puppet(item(16, 50.0, 0.0, z, frame=frame))
        puppet.place(0.0, 0.0, -7.0)  # altitude 0 means the one before
        puppet.executor.start()
        assert puppet.at(0.0, 0.0, -7.0).target[2] == pytest.approx(down)


def test_hold_times_and_delays() -> None:
    puppet = Puppet(item(16, 0.5, 0.0, p1=1.0), item(19, 0.0, 0.0, p1=2.0), MissionItem(93, 2, 1.0), item(17, 0.0, 0.0))
    puppet.place(0.0, 0.0, -20.0)
    puppet.executor.start()
    changes: dict[int, float] = {}
    for tick in range(1, 400):
        puppet.at(0.0, 0.0, -20.0)
        changes.setdefault(puppet.executor.current, tick * 0.02)
    assert changes == pytest.approx({1: 0.02, 2: 1.02, 3: 3.04, 4: 4.04}, abs=0.041)
    assert puppet.executor.state == MissionState.ACTIVE  # loiters indefinitely


def test_circles_are_counted_by_their_angle() -> None:
    puppet = Puppet(item(18, 0.0, 0.0, p1=2.0), item(16, 0.0, 0.0))
    puppet.executor.start()
    turned = 0.0
    while puppet.executor.current == 1 and turned < 20.0:
        circle = puppet.at(10.0 * cos(turned), 10.0 * sin(turned), -20.0)
        turned += 0.05
    assert turned == pytest.approx(4.0 * pi, abs=0.15)
    assert circle.start == pytest.approx((10.0, 0.0, -20.0), abs=1.0)  # the next leg begins where it is


def test_conditions_delay_the_following_actions() -> None:
    speed = MissionItem(178, 2, 1.0, 3.0)
    puppet = Puppet(MissionItem(114, 2, 10.0), speed, item(16, 50.0, 0.0))
    puppet.place(0.0, 0.0, -20.0)
    puppet.executor.start()
    assert isnan(puppet.at(30.0, 0.0, -20.0).speed)
    assert puppet.at(41.0, 0.0, -20.0).speed == 3.0
    puppet = Puppet(MissionItem(112, 2, 0.5), speed, item(16, 50.0, 0.0))
    puppet.executor.start()
    waited = 0.0
    while isnan(puppet.at(0.0, 0.0, -20.0).speed):
        waited += 0.02
    assert waited == pytest.approx(0.5, abs=0.03)


def test_a_speed_beyond_the_vehicles_limits_is_limited_and_reported() -> None:
    puppet = Puppet(
        MissionItem(178, 2, 1.0, 500.0), item(16, 50.0, 0.0), MissionItem(178, 2, 1.0, 0.01), item(16, 0, 0)
    )
    puppet.place(0.0, 0.0, -20.0)
    puppet.executor.start()
    assert puppet.at(0.0, 0.0, -20.0).speed == 20.0  # WPNAV_SPEED of ArduCopter: 0.1 to 20 m/s
    while puppet.executor.current < 4:
        puppet.at(50.0, 0.0, -20.0)
    assert puppet.at(50.0, 0.0, -20.0).speed == 0.1
    assert "Speed: 500 m/s limited to 20 (range of WPNAV_SPEED)" in puppet.texts
    assert "Speed: 0.01 m/s limited to 0.1 (range of WPNAV_SPEED)" in puppet.texts


def test_yaw_follows_condition_yaw_and_roi() -> None:
    puppet = Puppet(
        MissionItem(115, 2, 90.0, 10.0, 0.0, 0.0), item(16, 50.0, 0.0), item(201, 50.0, 50.0), item(16, 90.0, 0.0)
    )
    puppet.place(0.0, 0.0, -20.0)
    puppet.executor.start()
    assert degrees(puppet.at(0.0, 0.0, -20.0).yaw) == pytest.approx(90.0)
    puppet.at(50.0, 0.0, -20.0)
    assert degrees(puppet.at(50.0, 0.0, -20.0).yaw) == pytest.approx(90.0)  # east, to the place that is looked at
    assert degrees(puppet.at(60.0, 40.0, -20.0).yaw) == pytest.approx(135.0)
    fixed = Puppet(item(16, 50.0, 0.0, p4=45.0))
    fixed.executor.start()
    assert fixed.executor.update(0.02).yaw == pytest.approx(radians(45.0))


def test_do_items_run_commands() -> None:
    puppet = Puppet(MissionItem(207, 2, 1.0), MissionItem(206, 2, 12.0), MissionItem(179, 3, 1.0), item(16, 50.0, 0.0))
    puppet.answer = Ack(CommandResult.FAILED, "no fence")
    puppet.executor.start()
    puppet.executor.update(0.02)
    assert [order[0] for order in puppet.commanded] == [207, 206, 179]
    assert "Mission: 2 SetCamTrigDst 12 m" in puppet.texts
    assert "Mission: 1 rejected: no fence" in puppet.texts


def test_a_new_plan_starts_immediately() -> None:
    puppet = Puppet(item(16, 50.0, 0.0), item(16, 80.0, 0.0))
    puppet.executor.start()
    assert puppet.executor.set_current(2).accepted
    puppet.executor.rewind((MissionItem(16), item(16, 0.0, 30.0)))
    assert puppet.executor.update(0.02).target == pytest.approx((0.0, 30.0, -20.0), abs=1e-6)
    assert puppet.executor.current == 1


def test_a_spline_knows_the_next_point_but_ends_level_before_a_landing() -> None:
    puppet = Puppet(item(82, 50.0, 0.0), item(82, 80.0, 30.0), item(21, 80.0, 30.0))
    puppet.executor.start()
    first = puppet.executor.update(0.02)
    assert first.curved and first.after == pytest.approx((80.0, 30.0, -20.0), abs=1e-6)
    puppet.executor.passed = True
    last = puppet.executor.update(0.02)
    assert puppet.executor.current == 2 and last.after is None and not last.curved


def test_return_to_launch_ends_with_a_landing() -> None:
    puppet = Puppet(MissionItem(20, 2))
    puppet.executor.start()
    home = puppet.at(30.0, 0.0, -20.0)
    assert home.task is NavTask.RETURN and home.target == (1.0, 2.0, -15.0)
    assert puppet.at(1.0, 2.0, -15.0).task is NavTask.RETURN
    puppet.telemetry.landed = Landed.ON_GROUND
    assert puppet.at(1.0, 2.0, 0.0).task is NavTask.DONE


def test_a_jump_loop_without_waypoint_ends_the_mission_with_an_error() -> None:
    puppet = Puppet(item(16, 0.0, 0.0), MissionItem(178, 2, 1.0, 2.0), MissionItem(177, 2, 2.0, -1.0))
    puppet.executor.start()
    puppet.at(0.0, 0.0, -20.0)
    assert puppet.executor.finished
    assert puppet.texts[-2:] == ["Mission: DO_JUMP loop without waypoint", "Mission complete"]


def test_set_current_before_the_start_selects_the_first_item() -> None:
    puppet = Puppet(item(16, 50.0, 0.0), item(16, 80.0, 0.0))
    assert puppet.executor.set_current(2).accepted
    assert puppet.executor.current == 2
    puppet.executor.start()
    assert puppet.executor.current == 2
    assert not Puppet().executor.set_current(0).accepted
    assert Puppet().executor.state == MissionState.NO_MISSION
