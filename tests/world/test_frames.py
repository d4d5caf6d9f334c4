"""Frame conversions against hand-made numbers and first principles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from paddock.errors import InvalidValueError, UnknownNameError
from paddock.world.frames import (
    FRAMES,
    conversion,
    convert_position,
    convert_quaternion,
)

HALF = np.sqrt(0.5)
NAMES = ["enu", "nwu", "ned", "unreal"]
PAIRS = list(product(NAMES, NAMES))
TUMBLING = (("enu", "ned"), ("ned", "unreal"), ("unreal", "nwu"))  # each frame from and to another
numbers = st.floats(-1e6, 1e6)
vectors = st.tuples(numbers, numbers, numbers)


def unreal_rotator(roll_deg: float, pitch_deg: float, yaw_deg: float) -> list[float]:
    """Unreal Engine's own FRotator::Quaternion, as published: yaw right, pitch up, roll right wing down."""
    cr, cp, cy = np.cos(np.deg2rad([roll_deg, pitch_deg, yaw_deg]) / 2)
    sr, sp, sy = np.sin(np.deg2rad([roll_deg, pitch_deg, yaw_deg]) / 2)
    x, y = cr * sp * sy - sr * cp * cy, -cr * sp * cy - sr * cp * sy
    return [x, y, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy]


def angle_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (Rotation.from_quat(a).inv() * Rotation.from_quat(b)).magnitude()


@pytest.mark.parametrize(
    ("name", "expected"), [("enu", [1, 2, 3]), ("nwu", [2, -1, 3]), ("ned", [2, 1, -3]), ("unreal", [100, -200, 300])]
)
def test_one_metre_east_two_north_three_up(name: str, expected: list[float]) -> None:
    assert convert_position([1.0, 2.0, 3.0], "enu", name).tolist() == expected
    assert conversion("enu", name).velocity([1.0, 2.0, 3.0]).tolist() == expected
    np.testing.assert_allclose(convert_position(expected, name, "enu"), [1, 2, 3], rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "vector", "rate"),
    [
        ("enu", [1, 2, 3], [1, 2, 3]),
        ("nwu", [1, 2, 3], [1, 2, 3]),
        ("ned", [1, -2, -3], [1, -2, -3]),
        ("unreal", [100, -200, 300], [-1, 2, -3]),
    ],
)
def test_body_vectors_and_rates(name: str, vector: list[float], rate: list[float]) -> None:
    assert conversion("enu", name).body_vector([1.0, 2.0, 3.0]).tolist() == vector
    assert conversion("enu", name).angular_rate([1.0, 2.0, 3.0]).tolist() == rate


@pytest.mark.parametrize(
    ("enu_yaw_deg", "ned_yaw_deg", "nwu_yaw_deg", "unreal_yaw_deg"),
    [(0, 90, -90, 0), (90, 0, 0, -90), (180, -90, 90, 180), (-90, 180, 180, 90), (30, 60, -60, -30)],
)
def test_level_headings(enu_yaw_deg: float, ned_yaw_deg: float, nwu_yaw_deg: float, unreal_yaw_deg: float) -> None:
    q = Rotation.from_euler("z", enu_yaw_deg, degrees=True).as_quat()
    for name, yaw_deg in (("ned", ned_yaw_deg), ("nwu", nwu_yaw_deg), ("unreal", unreal_yaw_deg)):
        expected = Rotation.from_euler("z", yaw_deg, degrees=True).as_quat()
        assert angle_between(convert_quaternion(q, "enu", name), expected) < 1e-15


def test_facing_east_level_is_yaw_90_in_ned() -> None:
    np.testing.assert_allclose(convert_quaternion([0, 0, 0, 1], "enu", "ned"), [0, 0, HALF, HALF], atol=1e-16)


def test_nose_up_and_right_wing_down_have_the_textbook_signs() -> None:
    # In FLU nose up is a negative pitch and right wing down a positive roll; in FRD both are positive.
    flu = Rotation.from_euler("ZYX", [np.pi / 2 - 0.3, -0.2, 0.1]).as_quat()
    yaw, pitch, roll = Rotation.from_quat(convert_quaternion(flu, "enu", "ned")).as_euler("ZYX")
    np.testing.assert_allclose([yaw, pitch, roll], [0.3, 0.2, 0.1], atol=1e-15)


@pytest.mark.parametrize(("roll", "pitch", "yaw"), [(20, 0, 0), (0, 30, 0), (0, 0, 40), (10, -35, 120), (-50, 60, -70)])
def test_unreal_attitudes_are_those_of_the_engine(roll: float, pitch: float, yaw: float) -> None:
    flu = Rotation.from_euler("ZYX", [-yaw, -pitch, roll], degrees=True).as_quat()
    assert angle_between(convert_quaternion(flu, "enu", "unreal"), unreal_rotator(roll, pitch, yaw)) < 1e-14


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_body_vector_lands_on_the_same_world_vector(source: str, target: str) -> None:
    q = Rotation.random(50, rng=np.random.default_rng(1)).as_quat()
    v = np.random.default_rng(2).normal(size=(50, 3))
    turned_then_converted = conversion(source, target).velocity(Rotation.from_quat(q).apply(v))
    attitude = Rotation.from_quat(convert_quaternion(q, source, target))
    np.testing.assert_allclose(
        attitude.apply(conversion(source, target).body_vector(v)), turned_then_converted, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [pytest.param(*pair, marks=() if pair in TUMBLING else pytest.mark.slow) for pair in PAIRS],
)
def test_a_tumbling_vehicle_integrated_in_either_frame_ends_in_the_same_place(source: str, target: str) -> None:
    times = np.arange(2000) * 1e-3
    rates = np.stack([2 * np.cos(3 * times), 1 + np.sin(times), -1.5 + times], axis=-1)
    speeds = np.stack([10 + times, np.sin(5 * times), -0.3 * times], axis=-1)

    def fly(name: str, start: np.ndarray, attitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rate, speed = conversion(source, name).angular_rate(rates), conversion(source, name).body_vector(speeds)
        turn, position = Rotation.from_quat(attitude), start
        for step in range(times.size):
            position = position + 1e-3 * turn.apply(speed[step])
            turn = turn * Rotation.from_rotvec(1e-3 * rate[step])
        return position, turn.as_quat()

    start, attitude = np.array([1.0, 2.0, 3.0]), Rotation.from_euler("ZYX", [0.4, -0.3, 0.9]).as_quat()
    position, quaternion = fly(source, start, attitude)
    moved, turned = fly(
        target, *(convert_position(start, source, target), convert_quaternion(attitude, source, target))
    )
    np.testing.assert_allclose(moved, convert_position(position, source, target), rtol=1e-11, atol=1e-10)
    assert angle_between(turned, convert_quaternion(quaternion, source, target)) < 1e-11


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(vector=vectors, rotation_vector=st.tuples(*[st.floats(-3, 3)] * 3))
def test_round_trips(source: str, target: str, vector: tuple[float, ...], rotation_vector: tuple[float, ...]) -> None:
    there, back = conversion(source, target), conversion(target, source)
    for kind in ("position", "velocity", "body_vector"):
        np.testing.assert_allclose(getattr(back, kind)(getattr(there, kind)(vector)), vector, rtol=1e-15, atol=1e-300)
    assert back.angular_rate(there.angular_rate(vector)).tolist() == list(vector)
    q = Rotation.from_rotvec(rotation_vector).as_quat()
    np.testing.assert_allclose(back.quaternion(there.quaternion(q)), q, atol=4e-15)


@pytest.mark.parametrize(("middle", "target"), PAIRS)
def test_a_detour_changes_nothing(middle: str, target: str) -> None:
    q = Rotation.random(20, rng=np.random.default_rng(5)).as_quat()
    direct, detour = conversion("enu", target), conversion(middle, target)
    via = detour.quaternion(convert_quaternion(q, "enu", middle))
    np.testing.assert_allclose(via, direct.quaternion(q), atol=4e-15)
    assert (
        detour.angular_rate(conversion("enu", middle).angular_rate(q[:, :3])).tolist()
        == direct.angular_rate(q[:, :3]).tolist()
    )


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shapes_and_precision_are_kept(source: str, target: str, dtype: type) -> None:
    to = conversion(source, target)
    vector, q = np.ones((2, 5, 3), dtype), np.full((2, 5, 4), 0.5, dtype)
    for result in (to.position(vector), to.velocity(vector), to.body_vector(vector), to.angular_rate(vector)):
        assert (result.shape, result.dtype) == ((2, 5, 3), np.dtype(dtype))
    assert (to.quaternion(q).shape, to.quaternion(q).dtype) == ((2, 5, 4), np.dtype(dtype))


def test_the_input_is_not_changed_and_a_missing_component_stays_alone() -> None:
    position = np.array([np.nan, 2.0, 3.0])
    converted = convert_position(position, "enu", "ned")
    converted[0] = 99.0
    assert position[1] == 2.0
    assert np.isnan(converted).tolist() == [False, True, False]


def test_unknown_frames_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown frame 'nedd'; did you mean 'ned'\?"):
        convert_position([0, 0, 0], "enu", "nedd")
    with pytest.raises(UnknownNameError, match="unknown frame 'ecef'; valid: enu, ned, nwu, unreal"):
        convert_quaternion([0, 0, 0, 1], "ecef", "ned")
    with pytest.raises(InvalidValueError, match="expected 3 components"):
        convert_position([0, 0, 0, 1], "enu", "ned")
    assert sorted(FRAMES) == sorted(NAMES)
