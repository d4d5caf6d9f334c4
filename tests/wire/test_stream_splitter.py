"""Splitting frames and JSON on one socket, for any chunking of the bytes."""

import struct
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.wire import WireError
from paddock.wire.stream.frames import FrameType, JsonLine, Splitter, StreamFrame, frames_in

LIMIT = 1000


def frame(kind: int, payload: bytes) -> bytes:
    return struct.pack("<BI", kind, len(payload)) + payload


def plain(message: StreamFrame | JsonLine) -> tuple[int, bytes]:
    return (0, message.line) if isinstance(message, JsonLine) else (int(message.type), bytes(message.payload))


FRAMES = st.tuples(st.sampled_from(sorted(FrameType)), st.binary(max_size=60))
LINES = st.tuples(st.just(0), st.binary(max_size=60).map(lambda b: b"{" + b.replace(b"\n", b"")))
BATCHES = st.tuples(st.just(0), st.binary(max_size=60).map(lambda b: b"[" + b.replace(b"\n", b"")))


def joined(messages: list[tuple[int, bytes]]) -> bytes:
    return b"".join(frame(kind, body) if kind else body + b"\n" for kind, body in messages)


@given(st.lists(FRAMES | LINES | BATCHES, max_size=12), st.lists(st.integers(0, 700), max_size=20))
def test_messages_are_complete_for_any_chunking(messages: list[tuple[int, bytes]], cuts: list[int]) -> None:
    data = joined(messages)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    splitter = Splitter(LIMIT, LIMIT)
    got = [plain(m) for a, b in pairwise(edges) for m in splitter.feed(data[a:b])]
    assert got == messages and splitter.held == 0


@given(st.lists(FRAMES | LINES, max_size=8))
def test_one_byte_at_a_time(messages: list[tuple[int, bytes]]) -> None:
    splitter = Splitter(LIMIT, LIMIT)
    got = [plain(m) for byte in joined(messages) for m in splitter.feed(bytes((byte,)))]
    assert got == messages


def test_a_message_comes_as_soon_as_its_last_byte_is_there() -> None:
    splitter = Splitter(LIMIT, LIMIT)
    data = frame(1, b"abc")
    assert list(splitter.feed(data[:-1])) == [] and splitter.held == 2
    assert [plain(m) for m in splitter.feed(data[-1:])] == [(1, b"abc")]
    assert [plain(m) for m in splitter.feed(frame(2, b""))] == [(2, b"")]
    assert list(splitter.feed(b'{"a":1}')) == [] and splitter.held == 7
    assert [plain(m) for m in splitter.feed(b"\n")] == [(0, b'{"a":1}')]


def test_messages_not_taken_are_returned_by_the_next_call() -> None:
    splitter = Splitter(LIMIT, LIMIT)
    first = splitter.feed(frame(1, b"a") + frame(2, b"b") + b"{}\n")
    assert plain(next(first)) == (1, b"a")
    assert [plain(m) for m in splitter.feed(frame(3, b"c"))] == [(2, b"b"), (0, b"{}"), (3, b"c")]
    assert list(first) == []


def test_payloads_stay_as_they_were_when_the_buffer_is_used_again() -> None:
    splitter = Splitter(LIMIT, LIMIT)
    buffer = bytearray(frame(1, b"abc"))
    (message,) = splitter.feed(buffer)  # type: ignore[arg-type]
    buffer[:] = bytes(len(buffer))
    assert plain(message) == (1, b"abc")


@pytest.mark.parametrize("first", [0x00, 0x05, 0x0A, 0x20 + 1, 0x7D, 0xFF])
def test_an_unknown_first_byte_ends_the_connection(first: int) -> None:
    splitter = Splitter(LIMIT, LIMIT)
    messages = splitter.feed(frame(1, b"ok") + bytes((first,)) + frame(1, b"lost"))
    assert plain(next(messages)) == (1, b"ok")
    with pytest.raises(WireError, match=f"not with 0x{first:02x}") as caught:
        next(messages)
    assert caught.value.reason == "type"
    with pytest.raises(WireError, match="not with"):
        list(splitter.feed(frame(1, b"still lost")))
    assert splitter.held == 0


def test_only_requested_types_are_accepted() -> None:
    splitter = Splitter(LIMIT, LIMIT, {FrameType.COMMANDS})
    assert [plain(m) for m in splitter.feed(frame(0x20, b"x"))] == [(0x20, b"x")]
    with pytest.raises(WireError, match="0x01"):
        list(splitter.feed(b"\x01"))


def test_a_length_beyond_the_limit_is_refused_with_the_header_before_anything_is_allocated() -> None:
    splitter = Splitter(LIMIT, LIMIT)
    assert len([*splitter.feed(frame(1, bytes(LIMIT)))]) == 1
    assert list(splitter.feed(struct.pack("<BI", 1, 2**32 - 1)[:4])) == []
    tracemalloc.start()
    try:
        with pytest.raises(WireError, match="at most 1000 bytes, not 4294967295") as caught:
            list(splitter.feed(b"\xff"))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert caught.value.reason == "length"


@pytest.mark.parametrize("step", [1, 7, 5000])
def test_a_line_without_an_end_is_refused_at_the_limit(step: int) -> None:
    splitter = Splitter(LIMIT, LIMIT)
    data = b"{" + b"x" * 5000
    fits = LIMIT // step * step
    for start in range(0, fits, step):
        assert list(splitter.feed(data[start : start + step])) == []
    assert splitter.held == fits
    with pytest.raises(WireError, match="at most 1000 bytes"):
        list(splitter.feed(data[fits : fits + step]))
    assert splitter.held == 0


def test_the_longest_line_is_accepted() -> None:
    line = b"{" + b"x" * (LIMIT - 1)
    assert [plain(m) for m in Splitter(LIMIT, LIMIT).feed(line + b"\n")] == [(0, line)]


def test_work_is_linear_in_the_bytes() -> None:
    """Counted, not timed: every byte of a line is searched once, every byte of a payload copied once."""

    class Counting(bytes):
        searched = 0

        def find(self, *args: object) -> int:  # type: ignore[override]
            Counting.searched += len(self) - int(args[1])  # type: ignore[call-overload]
            return super().find(*args)  # type: ignore[arg-type]

    splitter = Splitter(LIMIT, 100_000)
    for _ in range(20_000):
        splitter._piece, splitter._at = Counting(b"{"), 0
        assert splitter._next() is None
    assert Counting.searched == 20_000


def test_a_large_frame_in_small_pieces_takes_its_own_size_and_no_more() -> None:
    payload = np.random.default_rng(1).bytes(4_000_000)
    data = frame(1, payload)
    splitter = Splitter(4_000_000, LIMIT)
    tracemalloc.start()
    try:
        got = [m for start in range(0, len(data), 1500) for m in splitter.feed(data[start : start + 1500])]
        assert tracemalloc.get_traced_memory()[1] < 4_200_000
    finally:
        tracemalloc.stop()
    assert [plain(m) for m in got] == [(1, payload)]


def test_a_frame_in_one_piece_is_not_copied() -> None:
    data = frame(1, bytes(1000))
    (message,) = Splitter(LIMIT, LIMIT).feed(data)
    assert isinstance(message, StreamFrame) and message.payload.obj is data


def test_frames_of_a_whole_buffer_are_split_in_place() -> None:
    data = bytearray(struct.pack("<BI3s", 0x01, 3, b"abc") + struct.pack("<BI", 0x10, 0))
    frames = list(frames_in(memoryview(data)))
    assert [(frame.type, bytes(frame.payload)) for frame in frames] == [(0x01, b"abc"), (0x10, b"")]
    data[5] = ord("z")
    assert bytes(frames[0].payload) == b"zbc"  # a view, not a copy
    for broken in (data[:-1], data[:7], b"\x99\x00\x00\x00\x00", data + b"\x01"):
        with pytest.raises(WireError):
            list(frames_in(memoryview(broken)))
