"""Frames of records of variable length (markers, events, commands) against bytes packed by hand, and round trips."""

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.stream.columns import decode_commands, encode_commands
from paddock.wire.stream.drawing import (
    MarkerFlag,
    MarkerKind,
    MarkerRecord,
    decode_markers,
    encode_markers,
)
from paddock.wire.stream.frames import EventRecord, decode_events, encode_events

F32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
IDS = st.integers(0, 2**31 - 1)
NAME = st.text(max_size=60)


def columns(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float32, shape, elements=F32)


def id_column(n: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.int64, n, elements=IDS)


# ---- markers


def full_marker() -> MarkerRecord:
    flags = MarkerFlag.DELETE | MarkerFlag.HIDDEN
    placed = ((1.5, 2.5, 3.5), (1e7 + 0.125, -2.0, 3.0), (0.0, 0.0, 0.5, 1.0))
    points = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    return MarkerRecord("plan", 42, MarkerKind.TEXT, flags, (1, 2, 3, 4), *placed, 99.5, "map", "grün", points)


def test_a_marker_is_the_bytes_of_the_table() -> None:
    head = struct.pack(
        "<IBBBB4B3f3d4fdII", 42, 6, 5, 4, 3, 1, 2, 3, 4, 1.5, 2.5, 3.5, 1e7 + 0.125, -2, 3, 0, 0, 0.5, 1, 99.5, 5, 2
    )
    record = head + b"plan" + b"map" + b"gr\xc3\xbcn" + struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    assert bytes(encode_markers([full_marker()])) == struct.pack("<BII", 0x12, 4 + len(record), 1) + record
    assert len(head) == 80


def same(a: MarkerRecord, b: MarkerRecord) -> bool:
    slots = [name for name in MarkerRecord.__slots__ if name != "points"]
    return all(getattr(a, name) == getattr(b, name) for name in slots) and np.array_equal(a.points, b.points)


F64 = st.floats(allow_nan=False, allow_infinity=False)
MARKERS = st.builds(
    MarkerRecord,
    NAME,
    st.integers(0, 2**32 - 1),
    st.sampled_from(MarkerKind),
    st.integers(0, 15).map(MarkerFlag),
    st.tuples(*[st.integers(0, 255)] * 4),
    st.tuples(F32, F32, F32),
    st.tuples(F64, F64, F64),
    st.tuples(F32, F32, F32, F32),
    F64 | st.just(math.inf),
    NAME,
    st.text(max_size=1000),
    st.integers(0, 4).flatmap(lambda n: columns(n, 3)),
)


@given(st.lists(MARKERS, max_size=4))
def test_markers_round_trip(markers: list[MarkerRecord]) -> None:
    got = decode_markers(encode_markers(markers)[5:])
    assert len(got) == len(markers) and all(map(same, got, markers))


def changed(**fields: Any) -> MarkerRecord:
    marker = full_marker()
    values = {name: getattr(marker, name) for name in MarkerRecord.__slots__}
    return MarkerRecord(**(values | fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"namespace": "x" * 256},
        {"frame": "é" * 128},
        {"text": "x" * 4097},
        {"text": "\ud800"},
        {"id": -1},
        {"id": 2**32},
        {"kind": 11},
        {"flags": 16},
        {"color": (0, 0, 0, 256)},
        {"color": (0, 0, 0)},
        {"scale": (1, 1, math.nan)},
        {"scale": (1e39, 1, 1)},
        {"scale": (1, 1, 1, 1), "position": (0, 0)},
        {"position": (0, 0, math.inf)},
        {"quaternion": (0, 0, 0)},
        {"expires": math.nan},
        {"expires": -math.inf},
        {"points": np.full((1, 3), math.nan)},
        {"points": np.full((1, 3), 1e39)},
        {"points": np.zeros((1, 4))},
        {"points": np.zeros((1_000_001, 3), np.float32)},
    ],
)
def test_a_marker_that_could_not_be_read_is_not_sent(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="marker"):
        encode_markers([changed(**fields)])


def test_markers_with_the_longest_texts_are_accepted() -> None:
    marker = changed(namespace="n" * 255, frame="f" * 255, text="t" * 4096)
    assert same(decode_markers(encode_markers([marker])[5:])[0], marker)


@pytest.mark.parametrize(
    ("offset", "fmt", "value", "reason"),
    [
        (4, "B", 11, "value"),
        (5, "B", 16, "value"),
        (6, "B", 255, "length"),
        (12, "<f", math.nan, "value"),
        (24, "<d", math.inf, "value"),
        (48, "<f", -math.inf, "value"),
        (64, "<d", math.nan, "value"),
        (72, "<I", 4097, "value"),
        (76, "<I", 1_000_001, "value"),
        (76, "<I", 1_000_000, "length"),
        (76, "<I", 1, "length"),
        (80, "B", 0xFF, "utf8"),
        (92, "<f", math.nan, "value"),
    ],
)
def test_a_marker_with_one_bad_field_is_refused(offset: int, fmt: str, value: float, reason: str) -> None:
    payload = bytearray(encode_markers([full_marker()])[5:])
    struct.pack_into(fmt, payload, 4 + offset, value)
    with pytest.raises(WireError, match="markers") as caught:
        decode_markers(payload)
    assert caught.value.reason == reason


# ---- events and commands


def test_events_are_the_bytes_of_the_table() -> None:
    record = struct.pack("<QQBBH", 3, 1000, 7, 3, 2) + b"spawnedredok"
    assert bytes(encode_events([EventRecord(3, 1000, "spawned", "red", "ok")])) == (
        struct.pack("<BII", 0x13, 4 + len(record), 1) + record
    )


EVENTS = st.builds(EventRecord, st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), NAME, NAME, st.text())


@given(st.lists(EVENTS, max_size=5))
def test_events_round_trip(events: list[EventRecord]) -> None:
    assert decode_events(encode_events(events)[5:]) == tuple(events)


@pytest.mark.parametrize(
    "event", [EventRecord(-1, 0, "a", "b"), EventRecord(1, 0, "a" * 256, "b"), EventRecord(1, 0, "a", "\udc00")]
)
def test_an_event_that_does_not_fit_is_an_error(event: EventRecord) -> None:
    with pytest.raises(InvalidValueError, match="does not fit its frame"):
        encode_events([event])


def test_commands_are_the_bytes_of_the_table() -> None:
    frame = encode_commands([7, 9], ["steer", "throttle"], [[0.1, 0.2], [0.3, 0.4]])
    names = b"\x05steer\x08throttle"
    records = struct.pack("<idd", 7, 0.1, 0.2) + struct.pack("<idd", 9, 0.3, 0.4)
    assert bytes(frame) == struct.pack("<BIIB", 0x20, 60, 2, 2) + names + records


def test_one_value_for_all_vehicles() -> None:
    got = decode_commands(encode_commands([1, 2, 3], ["brake"], [1.0])[5:])
    assert got.ids.tolist() == [1, 2, 3] and got.values.tolist() == [[1.0], [1.0], [1.0]]


@given(st.data(), st.integers(0, 5), st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5, unique=True))
def test_commands_round_trip(data: st.DataObject, n: int, names: list[str]) -> None:
    ids = data.draw(id_column(n))
    values = data.draw(hnp.arrays(np.float64, (n, len(names)), elements=F64))
    got = decode_commands(encode_commands(ids, names, values)[5:])
    assert got.names == tuple(names)
    np.testing.assert_array_equal(got.ids, ids)
    np.testing.assert_array_equal(got.values, values)


@pytest.mark.parametrize(
    ("ids", "names", "values"),
    [
        ([1], [], np.zeros((1, 0))),
        ([1], ["x" * 256], [[1]]),
        ([1], [str(k) for k in range(256)], np.zeros((1, 256))),
        ([1], ["a", "a"], [[1, 2]]),
        ([1], [""], [[1]]),
        ([-1], ["a"], [[1]]),
        ([2**31], ["a"], [[1]]),
        ([1], ["a"], [[math.nan]]),
        ([1], ["a"], [[1, 2]]),
        ([1], ["\ud800"], [[1]]),
        ([1, 2], ["a"], np.zeros((3, 1))),
    ],
)
def test_commands_that_could_not_be_read_are_not_sent(ids: Any, names: list[str], values: Any) -> None:
    with pytest.raises(InvalidValueError, match="commands"):
        encode_commands(ids, names, values)


def packed_commands(ids: list[int], names: list[bytes], values: list[float]) -> bytes:
    labels = b"".join(bytes((len(name),)) + name for name in names)
    return (
        struct.pack("<IB", len(ids), len(names))
        + labels
        + b"".join(struct.pack("<id", *pair) for pair in zip(ids, values, strict=True))
    )


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "length"),
        (struct.pack("<IB", 0, 0), "count"),
        (struct.pack("<IB", 2**32 - 1, 255), "length"),
        (packed_commands([1], [b"a"], [1.0])[:-1], "count"),
        (packed_commands([1], [b"a"], [1.0]) + b"x", "count"),
        (packed_commands([-1], [b"a"], [1.0]), "value"),
        (packed_commands([1], [b"a"], [math.inf]), "value"),
        (packed_commands([1], [b""], [1.0]), "value"),
        (packed_commands([1], [b"\xff"], [1.0]), "utf8"),
        (struct.pack("<IB", 0, 2) + b"\x01a\x01a", "value"),
    ],
)
def test_bad_commands_are_refused_whole(payload: bytes, reason: str) -> None:
    with pytest.raises(WireError, match="commands") as caught:
        decode_commands(payload)
    assert caught.value.reason == reason


def test_a_bad_value_names_the_vehicle_and_the_input() -> None:
    payload = packed_commands([7, 8], [b"steer"], [0.0, math.nan])
    with pytest.raises(WireError, match="'steer' of vehicle 8 must be a finite number"):
        decode_commands(payload)
