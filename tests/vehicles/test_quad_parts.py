"""Parts of the quadrotor by themselves: stick rates, mixer, control laws."""

from __future__ import annotations

from math import pi, radians, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paddock.vehicles.parts.quad import MotorMix
from paddock.vehicles.parts.quad_control import (
    actual_rate,
    approach_speed,
    climb_stick,
    heading_error,
    limited,
    mix,
    stick_direction,
    tilt_error,
)

# Stick rates: |x| (x^5 e + x (1 - e)) (max - centre) + x centre, as Betaflight publishes it, worked out by hand


@pytest.mark.parametrize(
    ("center", "largest", "expo", "stick", "expected"),
    [
        (200.0, 700.0, 0.3, 0.0, 0.0),
        (200.0, 700.0, 0.3, 0.25, 71.91162109375),
        (200.0, 700.0, 0.3, 0.5, 189.84375),
        (200.0, 700.0, 0.3, 1.0, 700.0),
        (200.0, 850.0, 0.5, 0.25, 70.391845703125),
        (200.0, 850.0, 0.5, 0.5, 186.328125),
        (200.0, 850.0, 0.5, 1.0, 850.0),
        (100.0, 300.0, 0.7, 0.25, 28.7841796875),
        (100.0, 300.0, 0.7, 0.5, 67.1875),
        (100.0, 300.0, 0.7, 1.0, 300.0),
    ],
)
def test_actual_rates_follow_the_published_curve(
    center: float, largest: float, expo: float, stick: float, expected: float
) -> None:
    rate = actual_rate(stick, radians(center), radians(largest), expo)
    assert rate == pytest.approx(radians(expected), rel=1e-12, abs=1e-15)
    assert actual_rate(-stick, radians(center), radians(largest), expo) == -rate


@given(center=st.floats(0.1, 10.0), more=st.floats(0.0, 20.0), expo=st.floats(0.0, 1.0))
def test_actual_rates_rise_with_the_stick(center: float, more: float, expo: float) -> None:
    rates = [actual_rate(x, center, center + more, expo) for x in np.linspace(-1.2, 1.2, 49)]
    assert np.all(np.diff(rates) >= 0.0)
    assert rates[-1] == pytest.approx(center + more)
    slope = (actual_rate(1e-6, center, center + more, expo) - actual_rate(-1e-6, center, center + more, expo)) / 2e-6
    assert slope == pytest.approx(center, rel=1e-3)


# Mixer

demand = st.floats(-2.0, 2.0)
small = st.floats(-0.06, 0.06)


def motors(m: MotorMix) -> np.ndarray:
    return np.array([m.motor_1, m.motor_2, m.motor_3, m.motor_4])


def unmixed(m: MotorMix) -> tuple[float, float, float, float]:
    """Collective, roll, pitch and yaw that the motors give: left minus right, rear minus front, clockwise minus not."""
    front_right, rear_left, front_left, rear_right = motors(m) / 4.0
    return (
        front_right + rear_left + front_left + rear_right,
        front_left + rear_left - front_right - rear_right,
        rear_left + rear_right - front_left - front_right,
        front_left + rear_right - front_right - rear_left,
    )


@given(collective=st.floats(-1.0, 2.0), roll=demand, pitch=demand, yaw=demand)
def test_every_motor_stays_between_zero_and_full(collective: float, roll: float, pitch: float, yaw: float) -> None:
    values = motors(mix(collective, roll, pitch, yaw))
    assert np.all(values >= 0.0)
    assert np.all(values <= 1.0)


@given(collective=st.floats(0.2, 0.8), roll=small, pitch=small, yaw=small)
def test_an_easy_demand_is_met_exactly(collective: float, roll: float, pitch: float, yaw: float) -> None:
    m = mix(collective, roll, pitch, yaw)
    assert unmixed(m) == pytest.approx((collective, roll, pitch, yaw), abs=1e-15)
    assert (m.tilt_scale, m.yaw_cut) == (1.0, 0.0)


@given(collective=st.floats(-0.5, 1.5), roll=demand, pitch=demand, yaw=demand)
def test_roll_and_pitch_are_scaled_together_and_come_first(
    collective: float, roll: float, pitch: float, yaw: float
) -> None:
    m = mix(collective, roll, pitch, yaw)
    _, given_roll, given_pitch, given_yaw = unmixed(m)
    assert (given_roll, given_pitch) == pytest.approx((m.tilt_scale * roll, m.tilt_scale * pitch), abs=1e-12)
    assert m.tilt_scale == pytest.approx(min(1.0, 0.5 / max(abs(roll) + abs(pitch), 1e-9)))
    assert given_yaw == pytest.approx(yaw - m.yaw_cut, abs=1e-12)
    assert given_yaw * yaw >= -1e-12
    assert abs(given_yaw) <= abs(yaw) + 1e-12


@given(roll=st.floats(-0.3, 0.3), pitch=st.floats(-0.15, 0.15), full=st.booleans())
def test_the_collective_makes_room_for_roll_and_pitch(roll: float, pitch: float, full: bool) -> None:
    assume(abs(roll) + abs(pitch) > 0.01)
    level, given_roll, given_pitch, _ = unmixed(mix(float(full), roll, pitch, 0.0))
    assert (given_roll, given_pitch) == pytest.approx((roll, pitch), abs=1e-12)
    moved = abs(level - float(full))
    assert moved == pytest.approx(abs(roll) + abs(pitch), abs=1e-12)  # and no further than needed


def test_yaw_keeps_a_reserve_at_full_and_at_no_throttle() -> None:
    for collective in (0.0, 1.0):
        assert unmixed(mix(collective, 0.0, 0.0, 0.9))[3] == pytest.approx(0.2)
        assert mix(collective, 0.0, 0.0, 0.9).yaw_cut == pytest.approx(0.7)
    assert unmixed(mix(0.5, 0.0, 0.0, 0.9))[3] == pytest.approx(0.5)


def test_motor_numbers_match_their_positions() -> None:
    right_roll = motors(mix(0.5, 0.1, 0.0, 0.0))  # lifts the left: rear left and front left
    nose_down = motors(mix(0.5, 0.0, 0.1, 0.0))  # lifts the rear: rear left and rear right
    nose_left = motors(mix(0.5, 0.0, 0.0, 0.1))  # clockwise propellers: front left and rear right
    np.testing.assert_allclose(right_roll, [0.4, 0.6, 0.6, 0.4])
    np.testing.assert_allclose(nose_down, [0.4, 0.6, 0.4, 0.6])
    np.testing.assert_allclose(nose_left, [0.4, 0.4, 0.6, 0.6])


# Control laws


def test_the_throttle_stick_has_a_dead_band_in_the_middle() -> None:
    assert [climb_stick(x) for x in (0.0, 0.48, 0.5, 0.52, 1.0)] == [-1.0, 0.0, 0.0, 0.0, 1.0]


@given(distance=st.floats(0.0, 1000.0), gain=st.floats(0.3, 5.0), deceleration=st.floats(0.5, 10.0))
def test_the_approach_can_always_brake_in_time(distance: float, gain: float, deceleration: float) -> None:
    speed = approach_speed(distance, gain, deceleration)
    assert speed <= gain * distance + 1e-9
    assert speed <= sqrt(2.0 * deceleration * distance) + 1e-9
    near = deceleration / gain**2
    assert approach_speed(near * (1 + 1e-9), gain, deceleration) == pytest.approx(gain * near, rel=1e-6)


@given(x=st.floats(-100.0, 100.0), y=st.floats(-100.0, 100.0))
def test_a_limited_vector_keeps_its_direction(x: float, y: float) -> None:
    a, b = limited(x, y, 5.0)
    assert np.hypot(a, b) <= 5.0 + 1e-9
    assert a * y == pytest.approx(b * x, abs=1e-9)
    if np.hypot(x, y) < 4.999:
        assert (a, b) == (x, y)


@given(wanted=st.floats(-10.0, 10.0), present=st.floats(-3.0, 3.0))
def test_the_heading_error_points_the_short_way(wanted: float, present: float) -> None:
    gap = (wanted - present + pi) % (2.0 * pi) - pi
    assume(0.01 < abs(gap) < pi - 0.01)
    error = heading_error(wanted, np.cos(present), np.sin(present))
    assert np.sign(error) == np.sign(gap)
    assert abs(error) == pytest.approx(np.sin(abs(gap)) if abs(gap) < pi / 2 else 1.0, abs=1e-9)


def test_tilting_towards_a_direction_turns_about_the_right_axis() -> None:
    assert tilt_error(0.5, 0.0, 0.8) == (0.0, 0.5)  # forward: nose down, about y
    assert tilt_error(0.0, 0.5, 0.8) == (-0.5, 0.0)  # left: about -x
    assert tilt_error(0.3, 0.0, -0.9) == pytest.approx((0.0, 1.0))  # upside down: in full


def test_sticks_tilt_the_thrust_forwards_and_to_the_right() -> None:
    x, y, z = stick_direction(0.0, 1.0, radians(30.0))
    assert (x, y, z) == pytest.approx((0.5, 0.0, sqrt(0.75)))
    x, y, z = stick_direction(1.0, 0.0, radians(30.0))
    assert (x, y, z) == pytest.approx((0.0, -0.5, sqrt(0.75)))
