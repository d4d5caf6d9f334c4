"""Frame 0x01 against bytes packed by hand: all vehicles, some, several fleets, other frames."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paddock.errors import InvalidValueError
from paddock.wire.stream.positions import FrameChange, Poses, decode_positions, encode_positions

pytestmark = pytest.mark.usefixtures("each_encoder")
F32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
IDS = st.integers(0, 2**31 - 1)


def columns(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float32, shape, elements=F32)


def id_column(n: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.int64, n, elements=IDS)


def poses(n: int, seed: int = 1) -> Poses:
    rng = np.random.default_rng(seed)
    return Poses(rng.permutation(n) + 7, rng.normal(size=(7, n)))


def by_hand(part: Poses) -> bytes:
    """What struct makes of the vehicles."""
    chosen = range(len(part.ids)) if part.rows is None else part.rows
    records = [struct.pack("<i7f", part.ids[k], *part.block[:, k]) for k in chosen]
    payload = struct.pack("<I", len(records)) + b"".join(records)
    return struct.pack("<BI", 1, len(payload)) + payload


def test_positions_are_the_bytes_of_the_table() -> None:
    part = Poses(np.array([5]), np.array([[1.5], [-2.0], [3.25], [0.0], [0.0], [0.5], [1.0]]))
    expected = bytes.fromhex(
        "01 24000000 01000000 05000000 0000c03f 000000c0 00005040 00000000 00000000 0000003f 0000803f"
    )
    assert bytes(encode_positions([part])) == expected == by_hand(part)


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_positions_of_many(n: int) -> None:
    assert bytes(encode_positions([poses(n)])) == by_hand(poses(n))


def test_positions_of_a_subset_in_its_order() -> None:
    part = poses(50)._replace(rows=np.array([49, 0, 7, 7]))
    assert bytes(encode_positions([part])) == by_hand(part)


def test_positions_of_several_fleets_make_one_frame() -> None:
    first, second = poses(3), poses(20, seed=2)._replace(rows=np.array([4, 2]))
    frame = bytes(encode_positions([first, poses(0), second]))
    assert frame[9:] == by_hand(first)[9:] + by_hand(second)[9:]
    assert decode_positions(frame[5:])["id"].tolist() == [*first.ids, second.ids[4], second.ids[2]]


def test_positions_change_frame_by_two_matrices() -> None:
    part = poses(300)
    rng = np.random.default_rng(3)
    turn, spin = rng.normal(size=(3, 3)), rng.normal(size=(4, 4))
    got = decode_positions(encode_positions([part], FrameChange.of(turn, spin))[5:])
    np.testing.assert_allclose(got["position"], (turn @ part.block[:3]).T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got["orientation"], (spin @ part.block[3:]).T, rtol=1e-6, atol=1e-6)


def test_a_change_to_unreal_of_a_subset() -> None:
    part = poses(10)._replace(rows=np.array([3]))
    change = FrameChange.of(np.diag([100.0, -100.0, 100.0]), np.diag([-1.0, 1.0, -1.0, 1.0]))
    got = decode_positions(encode_positions([part], change)[5:])[0]
    x, y, z, a, b, c, d = part.block[:, 3].astype(np.float32).tolist()
    assert got["position"].tolist() == pytest.approx([100 * x, -100 * y, 100 * z], rel=1e-6)
    assert got["orientation"].tolist() == [-a, b, -c, d]


def test_identity_changes_nothing_and_costs_nothing() -> None:
    assert FrameChange.of(np.eye(3), np.eye(4)) == FrameChange(None, None)


@given(st.data(), st.integers(0, 9))
def test_positions_round_trip(data: st.DataObject, n: int) -> None:
    ids, block = data.draw(id_column(n)), data.draw(columns(7, n))
    got = decode_positions(encode_positions([Poses(ids, block.astype(np.float64))])[5:])
    np.testing.assert_array_equal(got["id"], ids)
    np.testing.assert_array_equal(np.hstack([got["position"], got["orientation"]]), block.T)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_ids_of_any_whole_type(dtype: type) -> None:
    part = poses(4)._replace(ids=np.array([0, 1, 2**31 - 1, 5], dtype))
    assert decode_positions(encode_positions([part])[5:])["id"].tolist() == [0, 1, 2**31 - 1, 5]


@pytest.mark.parametrize("bad", [-1, 2**31, 2**40])
def test_an_id_that_does_not_fit_is_an_error_and_never_wraps(bad: int) -> None:
    with pytest.raises(InvalidValueError, match="ids must be from 0"):
        encode_positions([poses(3)._replace(ids=np.array([1, bad, 2]))])


@pytest.mark.parametrize("rows", [[3], [-1], [0, 99]])
def test_rows_outside_are_refused(rows: list[int]) -> None:
    with pytest.raises(InvalidValueError, match="rows must be from 0 to 2"):
        encode_positions([poses(3)._replace(rows=np.array(rows))])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"\(7, 3\), got \(7, 2\)"):
        encode_positions([poses(3)._replace(block=np.zeros((7, 2)))])
    with pytest.raises(InvalidValueError, match="3 x 3"):
        FrameChange.of(np.eye(4), np.eye(4))


def test_rows_of_a_larger_block_need_no_copy() -> None:
    whole = np.random.default_rng(1).normal(size=(13, 40))
    part = Poses(np.arange(40), whole[:7])
    part.block.flags.writeable = False
    assert bytes(encode_positions([part])) == by_hand(part)
