"""The other modes of rovers."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, cos, degrees, hypot, inf, pi, radians, remainder, sin, tau
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.control.rover import control_rover
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.rc import Sticks

Make = Callable[..., Any]
MANUAL, ACRO, STEERING, HOLD, LOITER, CIRCLE, AUTO, RTL, SMARTRTL, GUIDED = 0, 1, 3, 4, 5, 9, 10, 11, 12, 15


def stick(yard: Any, seconds: float, throttle: float = 0.0, roll: float = 0.0) -> None:
    """Hold the sticks; RC input is continuous."""
    for _ in range(round(seconds / 0.5)):
        yard.autopilot.rc.manual(Sticks(roll=roll, throttle=throttle))
        yard.run(0.5)


def order(yard: Any, **values: Any) -> None:
    answer = yard.autopilot.set_guided_target(GuidedTarget(**values))
    assert answer.accepted, answer.text


def test_all_modes_have_ardupilots_numbers_and_names(skid: Make) -> None:
    modes = {number: kind.name for number, kind in skid().autopilot.vehicle.modes.items()}
    assert modes == {
        0: "MANUAL", 1: "ACRO", 3: "STEERING", 4: "HOLD", 5: "LOITER",
        9: "CIRCLE", 10: "AUTO", 11: "RTL", 12: "SMARTRTL", 15: "GUIDED",
    }  # fmt: skip


def test_manual_passes_the_sticks_through(skid: Make, car: Make) -> None:
    yard = skid()
    yard.begin(MANUAL)
    stick(yard, 2.0, 0.5, 0.2)
    assert yard.autopilot.commands[1:3] == pytest.approx([0.7, 0.3])
    assert yard.autopilot.vehicle.outputs(yard.autopilot.commands)[:3] == [1850, 0, 1650]
    stick(yard, 2.0, 1.0, 0.4)  # too much for the left side: the turn stays, the speed gives way
    assert yard.autopilot.commands[1:3] == pytest.approx([1.0, 0.2])
    yard = car()
    yard.begin(MANUAL)
    stick(yard, 2.0, -0.2, 0.5)
    assert (yard.autopilot.commands[1], yard.autopilot.commands[9]) == pytest.approx((-0.2, 0.5))
    assert yard.autopilot.vehicle.outputs(yard.autopilot.commands)[:3] == [1750, 0, 1400]


def test_disarming_stops_the_motors_immediately(skid: Make) -> None:
    yard = skid()
    yard.begin(MANUAL)
    stick(yard, 2.0, 0.5)
    assert yard.autopilot.disarm().accepted
    yard.run(0.04)
    assert not yard.autopilot.commands.any()


@pytest.mark.parametrize("make", ["skid", "car"])
def test_acro_controls_speed_and_turn_rate_forwards_and_backwards(make: str, request: pytest.FixtureRequest) -> None:
    yard = request.getfixturevalue(make)(ACRO_TURN_RATE=60, WP_SPEED=2)
    yard.begin(ACRO)
    for throttle, roll in ((0.5, 0.5), (1.0, -0.5), (-0.5, 0.3)):
        stick(yard, 8.0, throttle, roll)
        _, _, _, speed, rate = yard.plant.motion()
        assert speed == pytest.approx(2.0 * throttle, abs=0.05)
        assert degrees(rate) == pytest.approx(60.0 * roll, abs=2.0)


def test_a_skid_rover_in_acro_turns_on_the_spot(skid: Make) -> None:
    yard = skid(ACRO_TURN_RATE=60)
    yard.begin(ACRO)
    stick(yard, 5.0, 0.0, 1.0)
    assert degrees(yard.plant.motion()[4]) == pytest.approx(60.0, abs=1.0)
    assert yard.distance((0.0, 0.0)) < 0.01


def test_steering_limits_the_sideways_acceleration(skid: Make) -> None:
    yard = skid(WP_SPEED=3, ATC_TURN_MAX_G=0.2)
    yard.begin(STEERING)
    stick(yard, 8.0, 1.0, 1.0)
    _, _, _, speed, rate = yard.plant.motion()
    assert speed == pytest.approx(3.0, abs=0.05)
    assert speed * rate == pytest.approx(0.2 * 9.80665, rel=0.03)


def test_hold_brakes_within_its_deceleration(skid: Make) -> None:
    yard = skid(ATC_DECEL_MAX=2)
    yard.begin(ACRO)
    stick(yard, 5.0, 1.0)
    start = yard.place
    yard.enter(HOLD)
    yard.run(3.0)
    assert abs(yard.plant.motion()[3]) < 0.005
    assert yard.distance(start) == pytest.approx(2.0**2 / (2.0 * 2.0), abs=0.15)


def test_without_a_position_hold_does_not_trust_the_speed(skid: Make) -> None:
    yard = skid()
    yard.begin(ACRO)
    stick(yard, 3.0, 1.0)
    autopilot = yard.autopilot
    autopilot.estimate = autopilot.estimate._replace(position_ok=0.0)
    autopilot.vehicle.driver.stop()
    rover: Any = autopilot.vehicle
    control_rover(rover.setpoint, rover._gains, rover.memory, np.array(autopilot.estimate), 10.0, autopilot.commands)
    assert not autopilot.commands[1:].any()


def test_loiter_returns_after_being_moved(skid: Make) -> None:
    yard = skid()
    yard.begin(LOITER)
    yard.plant.state = yard.plant.state._replace(x=1.5)
    yard.run(3.0)
    assert yard.distance((0.0, 1.5)) < 0.01  # LOIT_RADIUS is 2 m
    yard.plant.state = yard.plant.state._replace(x=4.0)
    yard.run(10.0)
    assert yard.distance((0.0, 0.0)) < 0.15


@pytest.mark.parametrize(
    ("make", "direction"), [("skid", 0), pytest.param("skid", 1, marks=pytest.mark.slow), ("car", 0)]
)
def test_circle_has_its_radius(make: str, direction: int, request: pytest.FixtureRequest) -> None:
    yard = request.getfixturevalue(make)(heading=1.0, CIRC_RADIUS=8, CIRC_SPEED=1.5, CIRC_DIR=direction)
    yard.begin(CIRCLE)
    middle = (8.0 * cos(1.0), 8.0 * sin(1.0))
    yard.run(15.0)
    yard.track.clear()
    yard.run(2.0 * pi * 8.0 / 1.5)
    radii = [hypot(north - middle[0], east - middle[1]) for north, east, *_ in yard.track]
    assert min(radii) > 7.9 and max(radii) < 8.1
    turned = sum(
        remainder(atan2(b[1] - middle[1], b[0] - middle[0]) - atan2(a[1] - middle[1], a[0] - middle[0]), tau)
        for a, b in zip(yard.track, yard.track[1:], strict=False)
    )
    assert turned == pytest.approx(-tau if direction else tau, rel=0.03)


def test_rtl_drives_straight_home_and_stops(skid: Make) -> None:
    yard = skid(RTL_SPEED=1)
    yard.begin(GUIDED)
    order(yard, position=(12.0, 9.0, 0.0))
    yard.until(lambda: yard.distance((12.0, 9.0)) < 0.15)
    yard.run(1.0)
    yard.track.clear()
    yard.enter(RTL)
    yard.run(30.0)
    assert yard.distance((0.0, 0.0)) < 0.15
    assert yard.crosstrack([(12.0, 9.0), (0.0, 0.0)]) < 0.3
    assert max(point[3] for point in yard.track) == pytest.approx(1.0, abs=0.05)


def test_smart_rtl_retraces_its_path(skid: Make) -> None:
    way = [(0.0, 0.0), (20.0, 0.0), (20.0, 15.0), (5.0, 15.0)]
    yard = skid(SRTL_ACCURACY=1)
    yard.begin(GUIDED)
    for point in way[1:]:
        order(yard, position=(*point, 0.0))
        yard.until(lambda point=point: yard.distance(point) < 0.12)
    yard.track.clear()
    yard.enter(SMARTRTL)
    yard.until(lambda: yard.distance((0.0, 0.0)) < 0.15)
    assert yard.crosstrack(way) < 0.7
    assert max(point[0] for point in yard.track) > 19.0  # not the short way


def test_guided_heading_and_speed_then_stale(skid: Make) -> None:
    yard = skid()
    yard.begin(GUIDED)
    order(yard, yaw=radians(120.0), speed=1.2)
    yard.run(2.9)
    order(yard, yaw=radians(120.0), speed=1.2)
    yard.run(2.9)
    _, _, heading, speed, _ = yard.plant.motion()
    assert degrees(heading) == pytest.approx(120.0, abs=2.0)
    assert speed == pytest.approx(1.2, abs=0.05)
    yard.run(3.0)
    assert abs(yard.plant.motion()[3]) < 0.01
    assert yard.texts.count("Guided: target timed out, stopping") == 1


def test_guided_velocity_with_and_without_a_turn_rate(skid: Make) -> None:
    yard = skid()
    yard.begin(GUIDED)
    for _ in range(4):
        order(yard, velocity=(0.0, -1.0, 0.0))
        yard.run(1.5)
    _, _, heading, speed, _ = yard.plant.motion()
    assert remainder(heading + 0.5 * pi, tau) == pytest.approx(0.0, abs=0.03)
    assert speed == pytest.approx(1.0, abs=0.05)
    order(yard, velocity=(0.0, 1.0, 0.0), yaw_rate=0.0)  # against its heading: it reverses
    yard.run(2.9)
    assert yard.plant.motion()[3] == pytest.approx(-1.0, abs=0.05)


def test_guided_stands_without_a_target_and_discards_old_ones(skid: Make) -> None:
    yard = skid()
    yard.begin(GUIDED)
    order(yard, position=(10.0, 0.0, 0.0), speed=0.7)
    yard.run(4.0)
    assert yard.plant.motion()[3] == pytest.approx(0.7, abs=0.03)
    yard.enter(HOLD)
    yard.run(2.0)
    position = yard.place
    yard.enter(GUIDED)
    yard.run(2.0)
    assert yard.distance(position) < 0.05


def test_rtl_and_smart_rtl_cannot_arm(skid: Make) -> None:
    yard = skid()
    yard.run(2.0)
    yard.enter(RTL)
    assert not yard.autopilot.arm().accepted
    assert yard.autopilot.set_mode(SMARTRTL).text == "Mode SMARTRTL: no return path"


def test_parameters_are_read_while_driving(skid: Make) -> None:
    yard = skid()
    yard.begin(GUIDED)
    order(yard, position=(50.0, 0.0, 0.0))
    yard.run(5.0)
    assert yard.autopilot.parameters.set("WP_SPEED", 1.0)
    yard.run(3.0)
    assert yard.plant.motion()[3] == pytest.approx(1.0, abs=0.03)
    assert min((yard.autopilot.parameters.value(p.name) for p in yard.autopilot.vehicle.parameters), default=inf) >= 0.0


@pytest.mark.parametrize(("heading", "relative", "speed"), [(90.0, 0.0, 1.0), (-90.0, 1.0, 1.0), (180.0, 0.0, -1.0)])
def test_set_yaw_speed_in_guided(skid: Make, heading: float, relative: float, speed: float) -> None:
    """NAV_SET_YAW_SPEED, sent again every second, as ArduRover wants it; the nose starts to the north."""
    yard = skid("skid", WP_SPEED=2.0)
    yard.begin(GUIDED)
    yard.run(1.0)
    assert yard.autopilot.command(213, [heading, speed, relative]).accepted
    for _ in range(3):
        yard.run(2.9)
        assert yard.autopilot.command(213, [heading, speed, 0.0]).accepted
    yard.run(1.0)
    now = yard.autopilot.estimate
    assert abs(remainder(now.yaw - radians(heading), tau)) < radians(6.0)
    assert now.vn * cos(now.yaw) + now.ve * sin(now.yaw) == pytest.approx(speed, abs=0.15)
    assert "Guided: target timed out, stopping" not in yard.texts
    yard.run(5.0)
    now = yard.autopilot.estimate
    assert "Guided: target timed out, stopping" in yard.texts and hypot(now.vn, now.ve) < 0.05


def test_set_yaw_speed_is_refused_clearly(skid: Make) -> None:
    yard = skid()
    yard.begin(HOLD)
    ack = yard.autopilot.command(213, [90.0, 1.0, 0.0])
    assert not ack.accepted and ack.text == "Yaw and speed: mode is HOLD, not GUIDED"
    ack = yard.autopilot.command(213, [720.0, 1.0, 0.0])
    assert not ack.accepted and ack.text == "Yaw and speed: p1 720 is not in -360 to 360"
