"""Frame 0x15 against bytes packed by hand, and round trips."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.stream.columns import Block, decode_columns, encode_columns

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=5)
BLOCKS = st.lists(hnp.arrays(np.float64, SHAPES, elements=st.floats(allow_nan=True)), max_size=4)


def test_columns_are_the_bytes_of_the_table() -> None:
    frame = encode_columns(7, [Block(0, np.array([[1.5, -2.0], [0.5, 3.0]])), Block(1, np.empty((3, 0)))])
    expected = struct.pack("<II", 7, 2)
    expected += struct.pack("<4I4d", 0, 2, 2, 8, 1.5, -2.0, 0.5, 3.0) + struct.pack("<4I", 1, 0, 3, 8)
    assert bytes(frame) == struct.pack("<BI", 0x15, len(expected)) + expected


@pytest.mark.parametrize(("shape", "width"), [((1, 4096), 8), ((2, 2048), 8), ((1, 4097), 4), ((3, 2000), 4)])
def test_many_values_are_sent_as_float32(shape: tuple[int, int], width: int) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    payload = bytes(encode_columns(0, [Block(0, values)])[5:])
    assert struct.unpack_from("<4I", payload, 8) == (0, shape[1], shape[0], width)
    letter = {4: "f", 8: "d"}[width]
    assert payload[24:] == struct.pack(f"<{values.size}{letter}", *values.ravel())


@given(BLOCKS, st.integers(0, 2**32 - 1))
def test_columns_round_trip(values: list[np.ndarray], wanted: int) -> None:
    blocks = [Block(k, value) for k, value in enumerate(values)]
    decoded = decode_columns(encode_columns(wanted, blocks)[5:])
    assert decoded.wanted == wanted and [block.request for block in decoded.blocks] == list(range(len(values)))
    for block, value in zip(decoded.blocks, values, strict=True):
        np.testing.assert_array_equal(block.values, value)
        assert block.values.shape == value.shape


def test_a_value_too_large_for_a_float_is_infinite() -> None:
    decoded = decode_columns(encode_columns(0, [Block(0, np.full((1, 5000), 1e300))])[5:])
    assert np.isinf(decoded.blocks[0].values).all()


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidValueError):
        encode_columns(-1, [])
    with pytest.raises(InvalidValueError):
        encode_columns(2**32, [])
    with pytest.raises(InvalidValueError):
        encode_columns(0, [Block(0, np.zeros(3))])


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        struct.pack("<I", 1),
        struct.pack("<II", 1, 1),
        struct.pack("<II", 1, 2**32 - 1),
        struct.pack("<II4I", 1, 1, 0, 1, 1, 8),
        struct.pack("<II4Id", 1, 1, 0, 1, 1, 4, 0.0),
        struct.pack("<II4Ih", 1, 1, 0, 1, 1, 2, 0),
        struct.pack("<II4I", 1, 1, 0, 2**32 - 1, 2**32 - 1, 8),
        struct.pack("<IIB", 1, 0, 0),
    ],
)
def test_inconsistent_payloads_are_refused(payload: bytes) -> None:
    with pytest.raises(WireError):
        decode_columns(payload)
