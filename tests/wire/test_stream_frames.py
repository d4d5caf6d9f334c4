"""Frames of records of a fixed size against bytes packed by hand, round trips, and common parts of all frames."""

import math
import struct
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import shared_memory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.stream.columns import encode_commands
from paddock.wire.stream.drawing import (
    MARKER,
    MarkerKind,
    MarkerRecord,
    decode_lines,
    decode_markers,
    decode_spheres,
    encode_lines,
    encode_markers,
    encode_spheres,
)
from paddock.wire.stream.frames import (
    EventRecord,
    FrameType,
    Tick,
    counted_size,
    decode_events,
    decode_tick,
    encode_events,
    encode_tick,
)
from paddock.wire.stream.positions import (
    FPV_STATE,
    POSITIONS,
    TELEMETRY,
    Poses,
    TelemetryFlag,
    decode_fpv,
    decode_positions,
    decode_telemetry,
    encode_fpv,
    encode_positions,
    encode_telemetry,
)

F32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
IDS = st.integers(0, 2**31 - 1)


def columns(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float32, shape, elements=F32)


def colors(n: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.uint8, (n, 4))


def id_column(n: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.int64, n, elements=IDS)


def poses(n: int) -> Poses:
    return Poses(np.arange(n) + 7, np.random.default_rng(1).normal(size=(7, n)))


# ---- layout


def test_fields_are_packed_in_order() -> None:
    fields = (Field("id", "<i4", "", "who"), Field("at", "<f4", "m", "where", 3), Field("flag", "u1"))
    record = Record("thing", fields, (TailField("name", "UTF-8", "flag"), TailField("rest", "u8", "4")))
    assert record.dtype.fields is not None
    assert {name: offset for name, (_, offset) in record.dtype.fields.items()} == {"id": 0, "at": 4, "flag": 16}
    assert [field.label for field in fields] == ["i32", "f32[3]", "u8"]
    assert record.size == record.dtype.itemsize == record.packer.size == 17
    assert record.packer.pack(1, 2, 3, 4, 5) == struct.pack("<ifffB", 1, 2, 3, 4, 5)


@pytest.mark.parametrize("bad", [">f4", "f4", "U4", "<c8", "O", "=i4"])
def test_only_explicit_little_endian_types_are_accepted(bad: str) -> None:
    with pytest.raises(InvalidValueError, match="'x' has type"):
        Record("thing", (Field("x", bad),))


def test_two_fields_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="a different name"):
        Record("thing", (Field("x", "<f4"), Field("x", "<f4")))


@pytest.mark.parametrize(("record", "size"), [(POSITIONS, 32), (TELEMETRY, 17), (FPV_STATE, 56), (MARKER, 80)])
def test_records_have_their_size(record: Record, size: int) -> None:
    assert record.size == size


def test_json_never_looks_like_a_frame() -> None:
    assert {ord("{"), ord("[")}.isdisjoint(FrameType)


# ---- telemetry, lines, spheres, fpv, tick


def test_telemetry_is_the_bytes_of_the_table() -> None:
    flags = TelemetryFlag.JAMMED | TelemetryFlag.COLLIDED
    frame = bytes(encode_telemetry([7, 8], [0.5, 0.25], 1.0, [0.75, 0.0], [flags, TelemetryFlag.ACTIVE]))
    records = struct.pack("<ifffB", 7, 0.5, 1, 0.75, 9) + struct.pack("<ifffB", 8, 0.25, 1, 0, 2)
    assert frame == struct.pack("<BII", 2, 38, 2) + records
    assert TelemetryFlag.ARMED == 4


def test_debug_lines_are_the_bytes_of_the_table() -> None:
    frame = bytes(encode_lines([[1, 2, 3]], [[4, 5, 6]], [[10, 20, 30, 40]], [0.5]))
    assert frame == struct.pack("<BII6f4Bf", 3, 36, 1, 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 0.5)


def test_debug_spheres_are_the_bytes_of_the_table() -> None:
    frame = bytes(encode_spheres([[1, 2, 3]], [9.5], [[10, 20, 30, 40]]))
    assert frame == struct.pack("<BII4f4B", 4, 24, 1, 1, 2, 3, 9.5, 10, 20, 30, 40)


def test_fpv_state_is_the_bytes_of_the_table() -> None:
    frame = encode_fpv([3], 2, 1, [[0.5, -1, 1, 0.25]], [[1, 2, 3]], [[4, 5, 6]], 16.5, 0.75)
    values = (3, 2, 1, 0, 0.5, -1, 1, 0.25, 1, 2, 3, 4, 5, 6, 16.5, 0.75)
    assert bytes(frame) == struct.pack("<BIIiBBH12f", 0x11, 60, 1, *values)


def test_a_tick_is_the_bytes_of_the_table() -> None:
    tick = Tick(2**40, 12.5, 1.7e9, 3, 4)
    frame = bytes(encode_tick(tick))
    assert frame == struct.pack("<BIQddII", 0x10, 32, 2**40, 12.5, 1.7e9, 3, 4)
    assert decode_tick(frame[5:]) == tick


@given(
    st.builds(
        Tick,
        st.integers(0, 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**32 - 1),
    )
)
def test_ticks_round_trip(tick: Tick) -> None:
    assert decode_tick(encode_tick(tick)[5:]) == tick


@given(st.data(), st.integers(0, 9))
def test_telemetry_round_trip(data: st.DataObject, n: int) -> None:
    ids, values, flags = data.draw(id_column(n)), data.draw(columns(3, n)), data.draw(hnp.arrays(np.uint8, n))
    got = decode_telemetry(encode_telemetry(ids, *values, flags)[5:])
    for name, column in zip(("id", "battery", "health", "signal", "flags"), (ids, *values, flags), strict=True):
        np.testing.assert_array_equal(got[name], column)


@given(st.data(), st.integers(0, 9))
def test_lines_and_spheres_round_trip(data: st.DataObject, n: int) -> None:
    start, end, width = data.draw(columns(n, 3)), data.draw(columns(n, 3)), data.draw(columns(n))
    color = data.draw(colors(n))
    lines, spheres = (
        decode_lines(encode_lines(start, end, color, width)[5:]),
        decode_spheres(encode_spheres(start, width, color)[5:]),
    )
    for name, column in (("start", start), ("end", end), ("color", color), ("thickness", width)):
        np.testing.assert_array_equal(lines[name], column)
    for name, column in (("centre", start), ("radius", width), ("color", color)):
        np.testing.assert_array_equal(spheres[name], column)


@given(st.data(), st.integers(0, 9))
def test_fpv_round_trip(data: st.DataObject, n: int) -> None:
    drawn = {
        "id": data.draw(id_column(n)),
        "mode": data.draw(hnp.arrays(np.uint8, n)),
        "armed": data.draw(hnp.arrays(np.bool_, n)),
        "sticks": data.draw(columns(n, 4)),
        "velocity": data.draw(columns(n, 3)),
        "rates": data.draw(columns(n, 3)),
        "voltage": data.draw(columns(n)),
        "charge": data.draw(columns(n)),
    }
    got = decode_fpv(encode_fpv(*drawn.values())[5:])
    for name, column in drawn.items():
        np.testing.assert_array_equal(got[name], column)


def test_numbers_that_do_not_fit_are_refused_when_encoding() -> None:
    with pytest.raises(InvalidValueError, match="flags takes whole numbers from 0 to 255"):
        encode_telemetry([1], 1, 1, 1, [256])
    with pytest.raises(InvalidValueError, match="color takes whole numbers"):
        encode_spheres([[1, 2, 3]], 1, [[0.5, 0, 0, 1]])
    with pytest.raises(InvalidValueError, match=r"start has shape \(1, 3\)"):
        encode_lines([[1, 2]], [[1, 2, 3]], (1, 2, 3, 4), 1)
    with pytest.raises(InvalidValueError, match="tick frame"):
        encode_tick(Tick(-1, 0, 0, 0, 0))


# ---- into


def test_frames_are_written_straight_into_shared_memory() -> None:
    slot = shared_memory.SharedMemory(create=True, size=4096)
    try:
        frame = encode_positions([poses(10)], into=slot.buf)
        assert len(frame) == counted_size(POSITIONS, 10) == 329
        assert bytes(slot.buf[:329]) == bytes(encode_positions([poses(10)])) and bytes(slot.buf[329:400]) == bytes(71)
        frame.release()
    finally:
        slot.close()
        slot.unlink()


ENCODERS: dict[str, Callable[..., memoryview]] = {
    "positions": lambda into=None: encode_positions([poses(4)], into=into),
    "telemetry": lambda into=None: encode_telemetry([1, 2], 0.5, 1, [0.1, 0.2], [1, 8], into=into),
    "lines": lambda into=None: encode_lines(np.ones((2, 3)), np.zeros((2, 3)), (1, 2, 3, 4), 0.5, into=into),
    "spheres": lambda into=None: encode_spheres(np.ones((2, 3)), 1.5, (1, 2, 3, 4), into=into),
    "tick": lambda into=None: encode_tick(Tick(1, 2.0, 3.0, 4, 5), into),
    "fpv": lambda into=None: encode_fpv([1], 2, 1, [[1, 2, 3, 4]], [[1, 2, 3]], [[4, 5, 6]], 16.8, 1, into=into),
    "markers": lambda into=None: encode_markers([MarkerRecord("a", 1, MarkerKind.CAR)], into),
    "events": lambda into=None: encode_events([EventRecord(1, 2, "a", "b", "c")], into),
    "commands": lambda into=None: encode_commands([1, 2], ["steer"], [[0.1], [0.2]], into),
}


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("make", [bytearray, lambda n: memoryview(bytearray(n)), lambda n: np.zeros(n, np.uint8)])
def test_every_encoder_writes_into_a_given_buffer(name: str, make: Callable[[int], Any]) -> None:
    frame = bytes(ENCODERS[name]())
    target = make(len(frame) + 3)
    ENCODERS[name](into=target)
    assert bytes(target) == frame + bytes(3)


@pytest.mark.parametrize("name", ENCODERS)
def test_no_encoder_writes_where_there_is_no_room(name: str) -> None:
    size = len(ENCODERS[name]())
    for target in (bytearray(size - 1), memoryview(bytes(size)), np.zeros(2 * size, np.uint8)[::2]):
        with pytest.raises(InvalidValueError, match="contiguous writable bytes"):
            ENCODERS[name](into=target)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_header_has_the_length(name: str) -> None:
    frame = bytes(ENCODERS[name]())
    kind, length = struct.unpack_from("<BI", frame)
    assert kind in set(FrameType) and length == len(frame) - 5


# ---- common to all decoders


TABLES = [decode_positions, decode_telemetry, decode_lines, decode_spheres, decode_fpv, decode_markers, decode_events]


@pytest.mark.parametrize("decode", TABLES)
def test_lengths_are_checked_before_they_are_used(decode: Callable[[bytes], Any]) -> None:
    for payload in (b"", b"\0\0\0", b"\xff\xff\xff\xff", struct.pack("<I", 1), struct.pack("<I", 0) + b"x"):
        with pytest.raises(WireError) as caught:
            decode(payload)
        assert caught.value.reason in {"length", "count"}
    assert len(decode(struct.pack("<I", 0))) == 0


@pytest.mark.parametrize("times", [(math.nan, 0.0), (0.0, math.inf)])
def test_a_tick_without_a_time_is_refused(times: tuple[float, float]) -> None:
    with pytest.raises(WireError, match="must be finite"):
        decode_tick(struct.pack("<QddII", 1, *times, 0, 0))
    with pytest.raises(WireError, match="32 bytes, got 31"):
        decode_tick(bytes(31))


def test_decoding_copies_nothing() -> None:
    frame = encode_positions([poses(3)])
    records = decode_positions(frame[5:])
    frame[13:17] = struct.pack("<f", 123.0)
    assert records["position"][0, 0] == 123.0


def test_a_client_that_decodes_and_commands_never_loads_numba() -> None:
    program = (
        "import sys, paddock.wire.stream.frames, paddock.wire.stream.drawing\n"
        "from paddock.wire.stream.columns import encode_commands\n"
        "from paddock.wire.stream.positions import decode_positions\n"
        "encode_commands([1], ['steer'], [[0.5]]); decode_positions(bytes(4))\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
