"""The copter's compiled control and paths, against Python, formulas and hand calculations."""

from __future__ import annotations

from math import hypot, sqrt
from typing import Any

import numpy as np
import pytest

from paddock.autopilot import vehicle_data
from paddock.autopilot.contract import find_vehicle
from paddock.autopilot.control import copter as at
from paddock.autopilot.control.copter import control_copter, write_gains
from paddock.autopilot.control.copter_cruise import ROW_WIDTH
from paddock.autopilot.control.copter_path import (
    CopterHeading,
    CopterLegs,
    CopterTrack,
    LegLimits,
    MotionLimits,
    StraightLeg,
)
from paddock.autopilot.estimate import ESTIMATE_COLUMN, ESTIMATE_WIDTH
from paddock.autopilot.parameter_tables import COPTER
from paddock.autopilot.parameters import AutopilotParameters
from paddock.autopilot.vehicle_data import Floats
from paddock.autopilot.vehicle_types import Copter
from paddock.compute.routine import routine

LEVEL = MotionLimits(10.0, 2.5, 5.0)
LIMITS = LegLimits(LEVEL, MotionLimits(2.5, 1.0, 5.0), MotionLimits(1.5, 1.0, 5.0))


control_period = routine(control_copter)


@pytest.fixture
def gains() -> Floats:
    row = np.zeros(at.GAINS_WIDTH)
    write_gains(AutopilotParameters(COPTER), row)
    return row


@pytest.fixture
def estimate() -> Floats:
    """At rest at the origin, level, heading north, everything known."""
    row = np.zeros(ESTIMATE_WIDTH)
    for name in ("qw", "attitude_ok", "position_ok", "height_ok"):
        row[ESTIMATE_COLUMN[name]] = 1.0
    return row


def hovering() -> tuple[Floats, Floats]:
    setpoint, memory = np.zeros(at.SETPOINT_WIDTH), np.zeros(at.MEMORY_WIDTH)
    setpoint[[at.SPOOL, at.HORIZONTAL, at.VERTICAL]] = at.FLY, at.POSITION, at.HEIGHT
    memory[[at.PHASE, at.HOVER, at.MEAN_SHARE, at.MEAN_FORCE]] = at.AIRBORNE, 0.4, 0.4, 9.80665
    return setpoint, memory


def commanded(setpoint: Floats, gains: Floats, memory: Floats, estimate: Floats) -> Floats:
    motors = np.zeros(4)
    control_period(setpoint, gains, memory, estimate, 0.004, motors)
    return motors


def test_compiled_control_equals_plain_python(gains: Floats) -> None:
    random = np.random.default_rng(3)
    for spool in (at.STOP, at.IDLE, at.FLY, at.FLY, at.FLY, at.FLY):
        setpoint, memory = random.normal(0.0, 1.0, at.SETPOINT_WIDTH), np.zeros(at.MEMORY_WIDTH)
        setpoint[at.SPOOL] = spool
        setpoint[at.HORIZONTAL], setpoint[at.VERTICAL] = random.integers(0, 2), random.integers(0, 3)
        memory[at.PHASE], memory[at.HOVER] = random.integers(0, 3), 0.3
        twin, twin_setpoint = memory.copy(), setpoint.copy()
        for _ in range(20):
            estimate = random.normal(0.0, 0.3, ESTIMATE_WIDTH)
            estimate[ESTIMATE_COLUMN["qw"]] = 1.0
            estimate[ESTIMATE_COLUMN["attitude_ok"] : ESTIMATE_COLUMN["height_ok"] + 1] = 1.0
            motors, plain = np.zeros(4), np.zeros(4)
            control_period(setpoint, gains, memory, estimate, 0.004, motors)
            control_period.plain(twin_setpoint, gains, twin, estimate, 0.004, plain)
            assert np.array_equal(motors, plain)
            assert np.array_equal(memory, twin)
            assert ((motors >= 0.0) & (motors <= 1.0)).all()


def test_every_motor_gives_hover_thrust_at_rest(gains: Floats, estimate: Floats) -> None:
    setpoint, memory = hovering()
    assert commanded(setpoint, gains, memory, estimate) == pytest.approx([0.4] * 4)


@pytest.mark.parametrize(
    ("index", "more", "less"),
    [
        (at.NORTH, (2, 4), (1, 3)),  # forward: the rear pushes
        (at.EAST, (2, 3), (1, 4)),  # to the right: the left side pushes
        (at.YAW, (1, 2), (3, 4)),  # clockwise: the motors that turn counter-clockwise push
    ],
)
def test_each_axis_uses_the_right_motors(
    gains: Floats, estimate: Floats, index: int, more: tuple[int, ...], less: tuple[int, ...]
) -> None:
    setpoint, memory = hovering()
    setpoint[index] = 0.5
    motors = commanded(setpoint, gains, memory, estimate)
    assert min(motors[k - 1] for k in more) > 0.4 > max(motors[k - 1] for k in less)


def test_climbing_needs_more_thrust_and_integrators_are_reset_on_the_ground(gains: Floats, estimate: Floats) -> None:
    setpoint, memory = hovering()
    setpoint[at.DOWN] = -1.0
    assert commanded(setpoint, gains, memory, estimate).min() > 0.5
    learnt = memory[at.HOVER]
    setpoint[at.SPOOL] = at.IDLE
    memory[at.I_NORTH : at.I_YAW + 1] = 1.0
    motors = commanded(setpoint, gains, memory, estimate)
    assert 0.0 < motors.max() <= 0.02
    assert not memory[at.I_NORTH : at.I_YAW + 1].any()
    assert memory[at.HOVER] == learnt


def test_without_a_position_it_stays_level(gains: Floats, estimate: Floats) -> None:
    setpoint, memory = hovering()
    setpoint[at.NORTH] = 50.0
    estimate[ESTIMATE_COLUMN["position_ok"]] = 0.0
    assert np.ptp(commanded(setpoint, gains, memory, estimate)) == 0.0


def test_a_large_error_leans_at_the_limit(gains: Floats, estimate: Floats) -> None:
    setpoint, memory = hovering()
    setpoint[at.NORTH] = 500.0
    commanded(setpoint, gains, memory, estimate)
    assert memory[at.TARGET_PITCH] == pytest.approx(np.radians(-30.0), abs=1e-6)  # ANGLE_MAX, nose down


def test_the_throttle_ramps_up_until_the_copter_rises(gains: Floats, estimate: Floats) -> None:
    setpoint, memory = hovering()
    memory[[at.PHASE, at.HOVER]] = at.GROUND, 0.9
    shares = [commanded(setpoint, gains, memory, estimate).mean() for _ in range(250)]
    assert memory[at.PHASE] == at.TAKING_OFF
    assert np.diff(shares) == pytest.approx(0.2 * 0.004, abs=1e-9)  # a fifth a second
    estimate[ESTIMATE_COLUMN["ad"]] = -2.0
    for _ in range(50):
        commanded(setpoint, gains, memory, estimate)
    assert memory[at.PHASE] == at.AIRBORNE
    assert 0.15 < memory[at.HOVER] < 0.25  # the thrust at lift-off, not the initial value


# ways ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0.05, 1.0, 20.0, 200.0])
def test_a_leg_keeps_its_limits_and_ends_where_it_should(length: float) -> None:
    leg = StraightLeg((1.0, 0.0, 0.0), length, LEVEL)
    states = []
    while not leg.over:
        states.append(leg.state())
        leg.time += 0.01
    way, speed, acceleration = np.array(states).T
    assert speed.max() <= 10.0 + 1e-9 and np.abs(acceleration).max() <= 2.5 + 1e-9
    assert np.abs(np.diff(acceleration)).max() <= 5.0 * 0.01 + 1e-9
    assert way[-1] == pytest.approx(length, abs=1e-3) and leg.state() == (length, 0.0, 0.0)
    assert np.diff(way) == pytest.approx(0.5 * (speed[1:] + speed[:-1]) * 0.01, abs=1e-5)


def flown(legs: CopterLegs, track: CopterTrack, dt: float = 0.02, seconds: float = 60.0) -> tuple[Floats, list[int]]:
    """Positions and velocities until the legs have ended."""
    rows = []
    while legs.running and len(rows) * dt < seconds:
        legs.advance(dt, track)
        rows.append((track.north, track.east, track.down, track.vn, track.ve, track.vd))
    return np.array(rows)


def test_an_ongoing_motion_ends_smoothly_while_the_new_leg_starts() -> None:
    track = CopterTrack(np.zeros(ROW_WIDTH))
    track.ve = 5.0
    legs = CopterLegs(track)
    legs.add_leg((40.0, 0.0, -10.0), LIMITS)
    rows = flown(legs, track)
    assert rows[-1, :3] == pytest.approx([40.0, 0.0, -10.0], abs=1e-6)
    assert rows[0, 3:] == pytest.approx([0.0, 5.0, 0.0], abs=0.05)
    assert np.linalg.norm(np.diff(rows[:, 3:], axis=0), axis=1).max() <= 0.02 * 2.0 * 2.5


def test_a_corner_is_cut_by_less_than_the_radius() -> None:
    track = CopterTrack(np.zeros(ROW_WIDTH))
    legs = CopterLegs(track)
    legs.add_leg((50.0, 0.0, 0.0), LIMITS)
    rows = []
    while legs.running:
        legs.round_corner((50.0, 50.0, 0.0), 2.0, LIMITS)
        legs.advance(0.02, track)
        rows.append((track.north, track.east, hypot(track.vn, track.ve)))
    north, east, speed = np.array(rows).T
    assert 0.2 < np.hypot(north - 50.0, east).min() < 2.0
    corner = (north > 45.0) & (east < 5.0)
    assert speed[corner].min() > 0.5  # it does not stop
    assert rows[-1][:2] == pytest.approx((50.0, 50.0), abs=1e-6)


def test_a_waypoint_on_a_straight_line_does_not_change_the_speed() -> None:
    track = CopterTrack(np.zeros(ROW_WIDTH))
    legs = CopterLegs(track)
    legs.add_leg((60.0, 0.0, 0.0), LIMITS)
    rows = []
    while legs.running:
        legs.round_corner((120.0, 0.0, 0.0), 2.0, LIMITS)
        legs.advance(0.02, track)
        rows.append((track.north, track.vn))
    north, speed = np.array(rows).T
    assert speed[(north > 30.0) & (north < 90.0)] == pytest.approx(10.0, abs=0.05)


def test_the_steepness_of_a_leg_limits_its_speed() -> None:
    track = CopterTrack(np.zeros(ROW_WIDTH))
    legs = CopterLegs(track)
    legs.add_leg((0.0, 30.0, -40.0), LIMITS)  # 3-4-5
    rows = flown(legs, track)
    assert -rows[:, 5].min() == pytest.approx(2.5, abs=0.01)
    assert rows[:, 4].max() == pytest.approx(2.5 * 0.75, abs=0.01)


def test_a_track_reaches_its_target_without_overshoot() -> None:
    track = CopterTrack(np.zeros(ROW_WIDTH))
    north = []
    for _ in range(700):
        track.seek(20.0, 0.0, LEVEL, 0.02)
        north.append(track.north)
    assert max(north) < 20.1
    assert track.north == pytest.approx(20.0, abs=0.05)
    assert np.argmax(np.array(north) > 19.5) * 0.02 < 3.0 * sqrt(20.0 / 2.5)  # not three times the possible speed


def test_a_heading_turns_the_shorter_way_within_its_rate() -> None:
    heading = CopterHeading(np.zeros(ROW_WIDTH))
    heading.yaw = np.radians(170.0)
    rates = []
    for _ in range(200):
        heading.turn_to(np.radians(-150.0), 0.5, 0.02)
        rates.append(heading.rate)
    assert min(rates) + 0.02 >= 0.0 and max(rates) == pytest.approx(0.5)
    assert np.degrees(heading.yaw) == pytest.approx(-150.0, abs=0.5)


def test_the_outputs_are_pwm_of_four_motors(rig: Any) -> None:
    craft = rig("iris").autopilot.vehicle
    commands = vehicle_data.ActuatorCommands(motors=(0.0, 0.25, 0.5, 1.0)).row
    assert craft.outputs(commands) == [1000, 1250, 1500, 2000] + [0] * 12
    assert find_vehicle("copter") is Copter
    assert {kind.name: number for number, kind in Copter.modes.items()} == {
        "STABILIZE": 0,
        "ALT_HOLD": 2,
        "AUTO": 3,
        "GUIDED": 4,
        "LOITER": 5,
        "RTL": 6,
        "CIRCLE": 7,
        "LAND": 9,
        "POSHOLD": 16,
        "BRAKE": 17,
        "SMART_RTL": 21,
    }
