"""Rotation helpers against scipy and hand-made numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from paddock.errors import InvalidValueError
from paddock.world.frames import (
    as_floats,
    euler_from_quaternion,
    quaternion_conjugate,
    quaternion_from_euler,
    quaternion_from_matrix,
    quaternion_multiply,
    rotate,
    slerp,
    unit_quaternion,
    wrap_angle,
)

HALF = np.sqrt(0.5)
angles = st.floats(-3.1, 3.1)


def same_rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angle between two attitudes in rad."""
    return (Rotation.from_quat(a).inv() * Rotation.from_quat(b)).magnitude()


def random_quaternions(n: int, seed: int = 1) -> np.ndarray:
    return Rotation.random(n, rng=np.random.default_rng(seed)).as_quat()


def test_a_quarter_turn_about_each_axis() -> None:
    quarter = np.pi / 2
    np.testing.assert_allclose(quaternion_from_euler(quarter, 0, 0), [HALF, 0, 0, HALF], atol=1e-16)
    np.testing.assert_allclose(quaternion_from_euler(0, quarter, 0), [0, HALF, 0, HALF], atol=1e-16)
    np.testing.assert_allclose(quaternion_from_euler(0, 0, quarter), [0, 0, HALF, HALF], atol=1e-16)
    np.testing.assert_allclose(rotate([0, 0, HALF, HALF], [1, 0, 0]), [0, 1, 0], atol=1e-15)


def test_euler_angles_agree_with_scipy() -> None:
    q = random_quaternions(500)
    yaw, pitch, roll = Rotation.from_quat(q).as_euler("ZYX").T
    np.testing.assert_allclose(euler_from_quaternion(q), [roll, pitch, yaw], atol=1e-12)
    assert same_rotation(quaternion_from_euler(roll, pitch, yaw), q).max() < 1e-12


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_straight_up_or_down_has_no_roll_and_keeps_the_attitude(pitch: float) -> None:
    q = Rotation.from_euler("ZYX", [0.7, pitch, 0.3]).as_quat()
    roll, measured, yaw = euler_from_quaternion(q)
    assert measured == pytest.approx(pitch, abs=1e-15)
    assert roll == pytest.approx(0.0, abs=1e-15)
    assert yaw == pytest.approx(0.7 - 0.3 * np.sign(pitch), abs=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0])
def test_near_gimbal_lock_the_attitude_survives_a_round_trip(gap: float) -> None:
    q = quaternion_from_euler(0.4, np.pi / 2 - gap, -1.1)
    assert same_rotation(quaternion_from_euler(*euler_from_quaternion(q)), q) < 1e-13


@given(roll=angles, pitch=st.floats(-1.57, 1.57), yaw=angles)
def test_euler_round_trip(roll: float, pitch: float, yaw: float) -> None:
    q = quaternion_from_euler(roll, pitch, yaw)
    expected = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_quat()
    assert same_rotation(q, expected) < 1e-13
    assert same_rotation(quaternion_from_euler(*euler_from_quaternion(q)), q) < 1e-13


def test_products_and_inverses_agree_with_scipy() -> None:
    a, b = random_quaternions(200, 1), random_quaternions(200, 2)
    expected = (Rotation.from_quat(a) * Rotation.from_quat(b)).as_quat()
    assert same_rotation(quaternion_multiply(a, b), expected).max() < 1e-14
    np.testing.assert_allclose(
        quaternion_multiply(a, quaternion_conjugate(a)), np.tile([0, 0, 0, 1], (200, 1)), atol=1e-15
    )


def test_rotate_agrees_with_scipy_and_broadcasts() -> None:
    q, v = random_quaternions(50), np.random.default_rng(3).normal(size=(50, 3))
    np.testing.assert_allclose(rotate(q, v), Rotation.from_quat(q).apply(v), atol=1e-14)
    assert rotate(q[:, None], v[None]).shape == (50, 50, 3)
    np.testing.assert_allclose(rotate(q[7], v), Rotation.from_quat(q[7]).apply(v), atol=1e-14)


def test_matrices_agree_with_scipy_including_half_turns() -> None:
    matrices = Rotation.random(300, rng=np.random.default_rng(4)).as_matrix()
    half_turns = np.array([np.diag([1, -1, -1]), np.diag([-1, 1, -1]), np.diag([-1, -1, 1]), np.eye(3)])
    every = np.concatenate([matrices, half_turns])
    np.testing.assert_allclose(Rotation.from_quat(quaternion_from_matrix(every)).as_matrix(), every, atol=1e-14)


def test_slerp_agrees_with_scipy() -> None:
    a, b = random_quaternions(2, 5)
    fractions = np.linspace(0, 1, 21)
    expected = Slerp([0, 1], Rotation.from_quat([a, b]))(fractions).as_quat()
    assert same_rotation(slerp(a, b, fractions), expected).max() < 1e-13
    assert same_rotation(slerp(a, -b, fractions), expected).max() < 1e-13


def test_slerp_extrapolates_at_the_same_rate() -> None:
    start, end = quaternion_from_euler(0, 0, [0.1, 0.3])
    _, _, yaw = euler_from_quaternion(slerp(start, end, [-0.5, 2.0, 3.0]))
    np.testing.assert_allclose(yaw, [0.0, 0.5, 0.7], atol=1e-14)


@pytest.mark.parametrize("step", [0.0, 1e-12, 1e-9, 1e-7])
def test_slerp_keeps_small_angles(step: float) -> None:
    _, _, yaw = euler_from_quaternion(slerp([0, 0, 0, 1], quaternion_from_euler(0, 0, step), 0.25))
    assert yaw == pytest.approx(0.25 * step, rel=1e-9, abs=1e-24)


def test_unit_quaternion_fixes_rounding_once_and_refuses_errors() -> None:
    once = unit_quaternion(np.array([0.1, 0.2, 0.3, 0.9273618]) * 1.0005)
    assert np.linalg.norm(once) == pytest.approx(1.0, abs=1e-15)
    assert unit_quaternion(once).tobytes() == once.tobytes()
    with pytest.raises(InvalidValueError, match=r"norm 1\.002, expected 1"):
        unit_quaternion([[0, 0, 0, 1], [0, 0, 0, 1.002]])
    with pytest.raises(InvalidValueError, match="not finite"):
        unit_quaternion([0, 0, np.nan, 1])


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_normalising_twice_changes_nothing(q: list[float]) -> None:
    once = unit_quaternion(np.array(q) / np.linalg.norm(q) * 1.0009)
    assert unit_quaternion(once).tobytes() == once.tobytes()


@given(st.floats(-1e4, 1e4))
def test_wrapped_angles_point_the_same_way(angle: float) -> None:
    wrapped = float(wrap_angle(angle))
    assert abs(wrapped) <= np.pi + 1e-15
    assert np.cos(wrapped) == pytest.approx(np.cos(angle), abs=1e-11)
    assert np.sin(wrapped) == pytest.approx(np.sin(angle), abs=1e-11)


def test_single_precision_stays_single() -> None:
    q, v = random_quaternions(3).astype(np.float32), np.ones((3, 3), np.float32)
    results = [rotate(q, v), quaternion_multiply(q, q), slerp(q, q[::-1], np.float32(0.3)), unit_quaternion(q)]
    results += [quaternion_from_euler(*euler_from_quaternion(q)), quaternion_conjugate(q)]
    assert {result.dtype for result in results} == {np.dtype(np.float32)}
    assert as_floats([1, 2, 3]).dtype == np.float64


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"expected 4 components along the last axis, got shape \(3,\)"):
        rotate([0, 0, 1], [1, 0, 0])
    with pytest.raises(InvalidValueError, match="expected 3 components"):
        rotate([0, 0, 0, 1], 1.0)
