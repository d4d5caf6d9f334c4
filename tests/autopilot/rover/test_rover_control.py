"""Unit tests of the inner loops, the path geometry and the return path."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.control import rover_path as path
from paddock.autopilot.control.rover import DIRECT, RATES, RoverMemory, RoverSetpoint, control_rover, rover_gains
from paddock.autopilot.estimate import ESTIMATE_COLUMN, ESTIMATE_WIDTH, Point
from paddock.autopilot.parameter_tables import ROVER
from paddock.autopilot.parameters import AutopilotParameters
from paddock.autopilot.rc import Sticks
from paddock.autopilot.vehicle_data import ACTUATOR_WIDTH, Floats
from paddock.autopilot.vehicle_types import ReturnPath
from paddock.compute.routine import routine

Make = Callable[..., Any]
DT = 0.02
rover_control = routine(control_rover)


def moving(speed: float, rate: float = 0.0, yaw: float = 0.4) -> Floats:
    row = np.zeros(ESTIMATE_WIDTH)
    row[ESTIMATE_COLUMN["yaw"]], row[ESTIMATE_COLUMN["r"]] = yaw, rate
    row[ESTIMATE_COLUMN["vn"]], row[ESTIMATE_COLUMN["ve"]] = speed * cos(yaw), speed * sin(yaw)
    return row


@pytest.mark.parametrize("skid", [True, False])
def test_compiled_loops_equal_plain_python(skid: bool) -> None:
    chance = np.random.default_rng(3)
    g = rover_gains(AutopilotParameters(ROVER), skid)
    plain = compiled = RoverMemory()
    for k in range(300):
        speed, rate = chance.normal(0.0, 2.0), chance.normal(0.0, 1.0)
        wanted = RoverSetpoint(RATES if k % 7 else DIRECT, *chance.uniform(-1.2, 1.2, 2), *chance.normal(0.0, 1.5, 2))
        first, other = np.zeros(ACTUATOR_WIDTH), np.zeros(ACTUATOR_WIDTH)
        plain = rover_control.plain(wanted, g, plain, moving(speed, rate), DT, first)
        compiled = rover_control(wanted, g, compiled, moving(speed, rate), DT, other)
        assert compiled == plain and (first == other).all()


def test_gains_start_from_the_parameters() -> None:
    """CRUISE_SPEED 2 m/s at 50 %: an ideal rover needs a quarter of the throttle for 1 m/s."""
    g = rover_gains(AutopilotParameters(ROVER), True)
    memory, row = (
        RoverMemory(speed=1.0, turn_rate=0.5, throttle=0.25, steering=0.1, seen_speed=1.0),
        np.zeros(ACTUATOR_WIDTH),
    )
    rover_control(RoverSetpoint(RATES, 0.0, 0.0, 1.0, 0.5), g, memory, moving(1.0, 0.5), DT, row)
    assert row[1:3] == pytest.approx([0.25 + 0.1, 0.25 - 0.1])


def test_turning_has_priority_over_throttle() -> None:
    g = rover_gains(AutopilotParameters(ROVER), True)
    memory, row = RoverMemory(speed=4.0, turn_rate=2.0, throttle=1.0), np.zeros(ACTUATOR_WIDTH)
    rover_control(RoverSetpoint(RATES, 0.0, 0.0, 4.0, 2.0), g, memory, moving(4.0, 2.0), DT, row)
    assert row[1] == pytest.approx(1.0)
    assert row[1] - row[2] == pytest.approx(2.0 * 2.0 * 0.2)


def test_without_brake_the_throttle_never_reverses_to_slow_down() -> None:
    parameters = AutopilotParameters(ROVER)
    memory, row = RoverMemory(speed=1.0), np.zeros(ACTUATOR_WIDTH)
    wanted = RoverSetpoint(RATES, 0.0, 0.0, 1.0, 0.0)
    rover_control(wanted, rover_gains(parameters, True), memory, moving(3.0), DT, row)
    assert row[1] < 0.0
    parameters.set("ATC_BRAKE", 0)
    rover_control(wanted, rover_gains(parameters, True), memory, moving(3.0), DT, row)
    assert row[1] == 0.0


def test_the_throttle_changes_no_faster_than_its_slew_rate() -> None:
    parameters = AutopilotParameters(ROVER)
    parameters.set("MOT_SLEWRATE", 50)
    row = np.zeros(ACTUATOR_WIDTH)
    memory = rover_control(
        RoverSetpoint(DIRECT, 1.0, 0.0), rover_gains(parameters, True), RoverMemory(), moving(0.0), DT, row
    )
    assert memory.throttle == pytest.approx(0.5 * DT)


@pytest.mark.parametrize(("preset", "top", "turn"), [("indoor", 1.0, 13.33), ("outdoor", 2.0, 4.0), ("skid", 4.0, 5.0)])
def test_the_speed_gain_is_learned(skid: Make, preset: str, top: float, turn: float) -> None:
    """A throttle of 1 gives the top speed, a steering of 1 turns by twice that over the wheel base."""
    yard = skid(preset, WP_SPEED=0.5 * top, ACRO_TURN_RATE=50)
    yard.begin(1)
    for _ in range(10):
        yard.autopilot.rc.manual(Sticks(roll=1.0, throttle=1.0))
        yard.run(1.0)
    assert yard.autopilot.vehicle.memory.speed_gain == pytest.approx(top, rel=0.02)
    assert yard.autopilot.vehicle.memory.turn_gain == pytest.approx(turn, rel=0.02)


def test_the_turn_radius_of_a_car_is_learned(car: Make) -> None:
    """Wheel base 0.6 m, 0.61 rad: the middle of the rear axle goes round on 0.6 / tan(0.61) = 0.86 m."""
    yard = car(CIRC_RADIUS=2, WP_SPEED=1, TURN_RADIUS=3)
    yard.begin(9)
    yard.run(30.0)
    assert yard.autopilot.vehicle.min_turn_radius == pytest.approx(0.86, rel=0.25)


def test_position_relative_to_a_leg() -> None:
    on = path.leg_position((3.0, 4.0), (0.0, 0.0), (0.0, 10.0))
    assert on == pytest.approx((4.0, -3.0, 10.0))  # north of a leg to the east is left of it
    assert path.leg_position((3.0, 4.0), (1.0, 1.0), (1.0, 1.0)).length == 0.0


@pytest.mark.parametrize(
    ("position", "after", "point"),
    [
        ((0.0, 0.0), None, (5.0, 0.0)),
        ((0.0, 3.0), None, (4.0, 0.0)),
        ((2.0, 9.0), None, (2.0, 0.0)),  # further off than it looks: straight to the line
        ((8.0, 0.0), None, (13.0, 0.0)),  # straight on beyond the end
        ((8.0, 0.0), (10.0, 20.0), (10.0, sqrt(21.0))),  # round the corner
        ((8.0, 0.0), (10.0, 1.0), (10.0, 1.0)),  # a short leg ends there
        ((-9.0, 0.0), None, (0.0, 0.0)),
    ],
)
def test_looking_ahead_5_m(position: path.Point, after: path.Point | None, point: path.Point) -> None:
    start, end = (0.0, 0.0), (10.0, 0.0)
    on = path.leg_position(position, start, end)
    assert path.look_ahead(on, position, start, end, after, 5.0) == pytest.approx(point)


def test_the_arc_to_a_point() -> None:
    """A point at 45 degrees to the right lies on a circle with a radius of distance / (2 sin 45)."""
    assert path.curvature_to((1.0, 1.0), (0.0, 0.0), 0.0) == pytest.approx(1.0)
    assert path.curvature_to((2.0, 0.0), (0.0, 0.0), 0.0) == 0.0
    assert path.curvature_to((-1.0, -0.01), (0.0, 0.0), 0.0) == pytest.approx(-2.0, rel=1e-3)


def test_corners_and_braking() -> None:
    assert path.corner((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)) == pytest.approx(radians(90.0))
    assert path.corner((0.0, 0.0), (1.0, 0.0), None) == pi
    assert path.braking_speed(4.0, 1.0, 0.5) == pytest.approx(sqrt(5.0))


def test_a_loop_of_the_trail_is_removed() -> None:
    return_path = ReturnPath[Point]()
    return_path.begin(100, 1.0, (0.0, 0.0))
    loop = [(k, 0.0) for k in range(11)] + [(10.0, k) for k in range(8)] + [(10.0 - k, 7.0) for k in range(6)]
    for point in [*loop, (5.0, 5.0), (5.0, 3.0), (5.0, 1.5), (5.0, 0.1)]:
        return_path.add((float(point[0]), float(point[1])))
    assert return_path.return_points((5.0, 0.1)) == [(0.0, 0.0)]


def test_a_trail_that_is_too_long_is_incomplete() -> None:
    return_path = ReturnPath[Point]()
    return_path.begin(5, 1.0, (0.0, 0.0))
    for k in range(1, 30):
        return_path.add((float(k), 0.0))
    assert not return_path.full and len(return_path.points) <= 6  # straight: it was simplified
    for k in range(1, 12):
        return_path.add((29.0 + 3.0 * k, 5.0 * (k % 2)))
    assert return_path.full
