"""Frame 0x14 against bytes packed by hand, and its packed attitudes against scipy."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.compiled import pack_poses
from paddock.wire.stream.positions import (
    FrameChange,
    Poses,
    _pack_poses,
    decode_poses,
    encode_poses,
    unpacked_orientation,
)

pytestmark = pytest.mark.usefixtures("each_encoder")
NO_TURN = 3 << 30 | 511 << 20 | 511 << 10 | 511
QUARTER = 0.25
"""deg: maximum error of a packed attitude."""


def packed(quaternion: list[float]) -> int:
    """By the definition, in plain Python."""
    largest = max(range(4), key=lambda k: abs(quaternion[k]))
    sign = math.copysign(1.0, quaternion[largest])
    word = largest
    for k, component in enumerate(quaternion):
        if k != largest:
            word = word << 10 | math.floor((sign * component / 0.70710678 * 0.5 + 0.5) * 1022 + 0.5)
    return word


def poses(n: int, seed: int = 1) -> Poses:
    rng = np.random.default_rng(seed)
    turns = Rotation.random(n, random_state=seed).as_quat().reshape(n, 4) if n else np.empty((0, 4))
    return Poses(np.arange(n), np.vstack([rng.normal(size=(3, n)), turns.T]))


def by_hand(part: Poses) -> bytes:
    chosen = range(len(part.ids)) if part.rows is None else part.rows
    records = [struct.pack("<3fI", *part.block[:3, k], packed(part.block[3:, k].tolist())) for k in chosen]
    payload = struct.pack("<I", len(records)) + b"".join(records)
    return struct.pack("<BI", 0x14, len(payload)) + payload


def turned_by(words: np.ndarray, quaternions: np.ndarray) -> np.ndarray:
    """deg between the packed and the unpacked attitude."""
    rotation = Rotation.from_quat(unpacked_orientation(words))
    return np.degrees((rotation * Rotation.from_quat(quaternions).inv()).magnitude())


def test_a_pose_is_the_bytes_of_the_table() -> None:
    part = Poses(np.array([5]), np.array([[1.5], [-2.0], [3.25], [0.0], [0.0], [0.0], [1.0]]))
    expected = bytes.fromhex("14 14000000 01000000 0000c03f 000000c0 00005040") + struct.pack("<I", NO_TURN)
    assert bytes(encode_poses([part])) == expected


@pytest.mark.parametrize(
    ("quaternion", "word"),
    [
        ((1.0, 0.0, 0.0, 0.0), 0 << 30 | 511 << 20 | 511 << 10 | 511),
        ((0.0, -1.0, 0.0, 0.0), 1 << 30 | 511 << 20 | 511 << 10 | 511),  # the same turn as +1
        ((0.5, 0.5, 0.6, -0.4), 2 << 30 | 869 << 20 | 869 << 10 | 225),
        ((0.5, 0.5, -0.6, -0.4), 2 << 30 | 153 << 20 | 153 << 10 | 797),
    ],
)
def test_attitudes_by_hand(quaternion: tuple[float, ...], word: int) -> None:
    unit = np.array(quaternion) / np.linalg.norm(quaternion)
    part = Poses(np.array([0]), np.concatenate([np.zeros(3), unit])[:, None])
    assert int(decode_poses(encode_poses([part])[5:])["orientation"][0]) == packed(unit.tolist()) == word


@pytest.mark.parametrize("yaw", [0.0, 0.3, math.pi / 2, 2.0, -3.0])
def test_level_attitudes_stay_level(yaw: float) -> None:
    level = np.array([0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)])
    part = Poses(np.array([0]), np.concatenate([np.zeros(3), level])[:, None])
    placed = unpacked_orientation(decode_poses(encode_poses([part])[5:])["orientation"])
    assert placed[0, :2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_poses_of_many(n: int) -> None:
    assert bytes(encode_poses([poses(n)])) == by_hand(poses(n))


def test_poses_of_a_subset_and_of_several_fleets() -> None:
    first, second = poses(3), poses(20, seed=2)._replace(rows=np.array([4, 2, 4]))
    assert bytes(encode_poses([second])) == by_hand(second)
    assert bytes(encode_poses([first, poses(0), second]))[9:] == by_hand(first)[9:] + by_hand(second)[9:]


def test_attitudes_are_off_by_less_than_a_quarter_of_a_degree() -> None:
    part = poses(200_000, seed=3)
    words = decode_poses(encode_poses([part])[5:])["orientation"]
    assert turned_by(words, part.block[3:].T).max() < QUARTER


@given(hnp.arrays(np.float64, (4,), elements=st.floats(-1, 1)))
def test_any_attitude(quaternion: np.ndarray) -> None:
    norm = np.linalg.norm(quaternion)
    part = Poses(np.array([0]), np.concatenate([np.zeros(3), quaternion])[:, None])
    words = decode_poses(encode_poses([part])[5:])["orientation"]
    if norm * norm < 1e-300:
        assert words.tolist() == [NO_TURN] or turned_by(words, (quaternion / norm)[None]).max() < QUARTER
    else:
        assert turned_by(words, (quaternion / norm)[None]).max() < QUARTER


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0])
def test_invalid_attitudes_become_the_identity_and_nan_positions_stay_nan(bad: float) -> None:
    block = np.zeros((7, 3))
    block[6] = 1.0
    block[:3, 1], block[3:, 1] = np.nan, bad
    records = decode_poses(encode_poses([Poses(np.arange(3), block)])[5:])
    assert records["orientation"].tolist() == [NO_TURN] * 3
    assert np.isnan(records["position"]).all(axis=1).tolist() == [False, True, False]


def test_one_component_is_nan() -> None:
    block = np.array([[0.0, 0, 0, 0, math.nan, 0, 1]]).T
    assert decode_poses(encode_poses([Poses(np.arange(1), block)])[5:])["orientation"].tolist() == [NO_TURN]


def test_poses_change_frame() -> None:
    part = poses(300)
    turn, spin = np.diag([100.0, -100.0, 100.0]), np.diag([-1.0, 1.0, -1.0, 1.0])  # as to Unreal
    for rows in (None, np.arange(299, -1, -1)):
        got = decode_poses(encode_poses([part._replace(rows=rows)], FrameChange.of(turn, spin))[5:])
        block = part.block if rows is None else part.block[:, rows]
        np.testing.assert_allclose(got["position"], (turn @ block[:3]).T, rtol=1e-6)
        assert turned_by(got["orientation"], (spin @ block[3:]).T).max() < QUARTER


def test_shapes_and_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"\(7, 3\), got \(7, 2\)"):
        encode_poses([poses(3)._replace(block=np.zeros((7, 2)))])
    with pytest.raises(InvalidValueError, match="rows must be from 0 to 2"):
        encode_poses([poses(3)._replace(rows=np.array([3]))])


def test_a_payload_has_exactly_its_records() -> None:
    payload = bytes(encode_poses([poses(2)])[5:])
    for wrong in (payload[:-1], payload + b"\0", b"\2\0\0", b"\3" + payload[1:]):
        with pytest.raises(WireError):
            decode_poses(wrong)


@given(hnp.arrays(np.float64, (7, 5)), st.sampled_from([None, tuple(np.linspace(-1, 1, 16).tolist())]))
def test_compiled_and_numpy_code_write_the_same_bytes(block: np.ndarray, spin: tuple[float, ...] | None) -> None:
    """Also for attitudes that are NaN, infinite or not of unit length."""
    turn = None if spin is None else spin[:9]
    compiled = np.zeros((2, 5, 4), np.uint32)
    with np.errstate(all="ignore"):
        for words, pack in zip(compiled, (pack_poses, _pack_poses), strict=True):
            pack(block, None, turn, spin, words, words.view(np.float32))
    np.testing.assert_array_equal(*compiled.view(np.float32)[..., :3])  # a NaN equals any NaN
    np.testing.assert_array_equal(*compiled[..., 3])
