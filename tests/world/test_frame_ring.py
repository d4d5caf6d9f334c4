"""Frames in shared memory: complete or not at all, across processes."""

from __future__ import annotations

import struct
import subprocess
import sys
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

from paddock.errors import PaddockError, UnknownNameError
from paddock.wire.stream.frames import SHM_CONTROL, SHM_DATA, SHM_SLOT
from paddock.world.ring import FrameRingReader, FrameRingWriter, OverwrittenError, RingClosedError


def put(writer: FrameRingWriter, data: bytes, tick: int) -> None:
    writer.slot(len(data))[:] = data
    writer.publish(len(data), tick, tick / 10, 1e9 + tick, run=2, roster=3)


def test_a_group_round_trips() -> None:
    with FrameRingWriter("test_frames_1") as writer, FrameRingReader("test_frames_1") as reader:
        assert reader.latest() is None
        with pytest.raises(PaddockError, match="is still empty"), reader.view():
            pass
        put(writer, b"hello", 7)
        frames = reader.latest()
        assert frames is not None and bytes(frames.data) == b"hello"
        assert (frames.tick, frames.time, frames.wall_time, frames.run, frames.roster) == (7, 0.7, 1e9 + 7, 2, 3)
        assert reader.latest() is None and reader.wait(0.01) is None


def test_bytes_match_the_documented_layout() -> None:
    with FrameRingWriter("test_frames_2", slots=3) as writer:
        for tick in range(1, 5):
            put(writer, bytes([tick]) * 10, tick)
        control = SharedMemory("paddock.test_frames_2")
        magic, version, token, generation = struct.unpack_from("<4Q", control.buf)
        assert magic.to_bytes(8, "little") == b"PDKFRAME" and version == 1 and generation == 1
        data = SharedMemory(f"paddock.test_frames_2.{generation}")
        words = struct.unpack_from("<10Q", data.buf)
        assert words[2] == token and words[4] == 3 and words[8] == 4
        at = words[6] + (4 % 3) * words[5]
        assert struct.unpack_from("<QQQddII", data.buf, at) == (8, 10, 4, 0.4, 1e9 + 4, 2, 3)
        assert bytes(data.buf[at + 64 : at + 74]) == b"\x04" * 10
        head = np.frombuffer(data.buf, SHM_DATA.dtype, 1)[0]
        drawn = int(np.frombuffer(control.buf, SHM_CONTROL.dtype, 1)[0]["token"])
        assert (head["slots"], head["latest"], head["token"]) == (3, 4, drawn)
        slot = np.frombuffer(data.buf, SHM_SLOT.dtype, 1, at)[0]
        assert (slot["lock"], slot["size"], slot["tick"], slot["sim_time"], slot["roster"]) == (8, 10, 4, 0.4, 3)
        del head, slot  # they look at the memory
        control.close()
        data.close()


def test_a_larger_group_starts_a_new_generation_that_readers_follow() -> None:
    with FrameRingWriter("test_frames_3") as writer, FrameRingReader("test_frames_3") as reader:
        put(writer, b"small", 1)
        assert reader.wait() is not None
        put(writer, b"x" * 1_000_000, 2)
        frames = reader.wait()
        assert frames is not None and frames.data.nbytes == 1_000_000 and frames.tick == 2


def test_an_overwritten_view_raises() -> None:
    with FrameRingWriter("test_frames_4", slots=2) as writer, FrameRingReader("test_frames_4") as reader:
        put(writer, b"a", 1)
        with reader.view() as frames:
            assert bytes(frames.data) == b"a"
        with pytest.raises(OverwrittenError), reader.view():  # noqa: PT012  the end of the view is what raises
            for tick in range(2, 5):
                put(writer, b"b", tick)
        assert reader.latest() is not None and reader.dropped == 0
        for tick in range(5, 9):
            put(writer, b"c", tick)
        assert reader.latest() is not None and reader.dropped == 3


def test_a_slot_that_is_never_published_is_never_seen() -> None:
    with FrameRingWriter("test_frames_5") as writer, FrameRingReader("test_frames_5") as reader:
        put(writer, b"whole", 1)
        writer.slot(5)[:] = b"torn!"
        frames = reader.latest()
        assert frames is not None and bytes(frames.data) == b"whole"
        put(writer, b"next!", 2)
        frames = reader.latest()
        assert frames is not None and bytes(frames.data) == b"next!"


def test_readers_see_the_end_of_the_writer() -> None:
    writer = FrameRingWriter("test_frames_6")
    with FrameRingReader("test_frames_6") as reader:
        put(writer, b"last", 1)
        assert reader.latest() is not None
        writer.close()
        with pytest.raises(RingClosedError, match="has ended"):
            reader.latest()
    with pytest.raises(UnknownNameError):
        FrameRingReader("test_frames_6")


def test_a_name_in_use_is_refused_and_that_of_a_dead_process_reused() -> None:
    with FrameRingWriter("test_frames_7"), pytest.raises(PaddockError, match="already published by process"):
        FrameRingWriter("test_frames_7")
    code = "import os; from paddock.world.ring import FrameRingWriter as W; W('test_frames_7').slot(3); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stderr=subprocess.DEVNULL)
    with FrameRingWriter("test_frames_7") as writer:
        put(writer, b"mine", 1)


def test_another_process_never_sees_a_torn_group() -> None:
    code = """
import sys
from paddock.world.ring import FrameRingReader
from paddock.world.ring import RingClosedError
seen = 0
with FrameRingReader("test_frames_8") as reader:
    print("ready", flush=True)
    try:
        while True:
            frames = reader.wait(1.0)
            if frames is not None:
                assert len(set(bytes(frames.data))) == 1, "torn"
                assert bytes(frames.data)[0] == frames.tick % 251
                seen += 1
    except RingClosedError:
        print(seen)
"""
    with FrameRingWriter("test_frames_8", slots=2) as writer:
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        for tick in range(3000):
            view = np.frombuffer(writer.slot(200_000), np.uint8)
            view[:] = tick % 251
            writer.publish(200_000, tick, 0.0, 0.0, 0, 0)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0 and int(out) > 0
