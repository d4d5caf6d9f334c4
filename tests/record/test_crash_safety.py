"""Crash safety: after a kill, a full disk or a damaged file, the written part is readable and the run continues."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.stream_reader import StreamReader

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.record import Recorder, open_run, verify
from paddock.record import recorder as recorder_module
from paddock.record.recorder import FEWEST, WriteQueue
from paddock.record.writer import RecordingFile

KILLED = """
import sys, time
import paddock
from paddock.record import Recorder
dot = {"name": "dot", "model": "point", "speed": 2}
sim = paddock.load({"name": "killed", "clock": {"rate": 100}, "vehicles": [dot]})
Recorder(sim, sys.argv[1])
sim.command("dot", vx=1.0)
print("ready", flush=True)
sim.run(pace=1.0)
"""


class FullDisk:
    """A file on a disk with room for so many bytes."""

    def __init__(self, path: Path, room: int) -> None:
        self.file = path.open("wb", buffering=0)
        self.room = room

    def write(self, data: Any) -> int:
        if self.room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self.file.write(memoryview(data)[: self.room])  # a full disk first accepts a part
        self.room -= taken
        return taken

    def truncate(self, size: int) -> int:
        return self.file.truncate(size)

    def close(self) -> None:
        self.file.close()


def test_killed_process_leaves_a_readable_file(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 60
        size = 0
        while time.monotonic() < deadline and size < 2:  # until a chunk with commands and some samples is there
            size = _samples(path)
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    with open_run(path) as run:
        assert not run.complete
        assert len(run) >= 2 and run.snapshot()["dot"].position[0] > 0.0
        assert [posted.action.inputs for posted in run.actions()] == [{"vx": 1.0}]  # type: ignore[union-attr]
    assert verify(path).same


def _samples(path: Path) -> int:
    try:
        with open_run(path) as run:
            return len(run) if run.actions() else 0
    except PaddockError:
        return 0


@pytest.mark.parametrize(
    "room", [20_000, pytest.param(40_000, marks=pytest.mark.slow), pytest.param(60_000, marks=pytest.mark.slow)]
)
def test_disk_full(small: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: Any, room: int) -> None:
    path = tmp_path / "run.mcap"
    monkeypatch.setattr(recorder_module.RecordingFile, "open", lambda _: RecordingFile(FullDisk(path, room)))  # type: ignore[arg-type]
    reported: list[str] = []
    with Recorder(small, path, rate=100, on_failure=reported.append) as recorder:
        small.step(4000)
        recorder._thread.join(30)
        assert len(reported) == 1 and "No space left on device" in reported[0] and "the run continues" in reported[0]
        small.step(10)
    report = recorder.report()
    assert report.failure == "No space left on device" and report.bytes == path.stat().st_size <= room
    with paddock.load(world) as other:
        other.step(4010)
        assert other.state_hash() == small.state_hash()
    with open_run(path) as run:
        assert not run.complete and len(run) == report.samples > 0
    assert report.samples + report.lost == 4011  # every tick, and the start
    assert report.line().endswith(f"stopped early: No space left on device, {report.lost:,} samples lost")
    assert verify(path).same
    with path.open("rb") as file:  # ends with a whole record: another reader gets as far
        reader = StreamReader(file, validate_crcs=True)
        with pytest.raises(Exception, match=r"^$"):
            list(reader.records)


def test_disk_full_from_the_start(small: Simulation) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with pytest.raises(PaddockError, match="cannot record to /dev/full: No space left on device"):
        Recorder(small, "/dev/full")
    small.step(5)


def test_cut_anywhere(record: Any) -> None:
    """A file that ends too early is read up to there, or refused in one line."""
    path = record(lambda sim: sim.step(300), rate=100)
    data = path.read_bytes()
    with open_run(path) as run:
        whole, ticks = len(run), [run.sample(k).tick for k in range(len(run))]
    counts = []
    cut = path.with_name("cut.mcap")
    for size in [*range(0, 300, 7), *range(300, len(data), max(1, len(data) // 150)), len(data) - 1]:
        cut.write_bytes(data[:size])
        outcome_of = outcome(cut)
        assert isinstance(outcome_of, list) or ("\n" not in outcome_of and str(cut) in outcome_of)
        counts.append(len(outcome_of) if isinstance(outcome_of, list) else -1)
        assert counts[-1] < 0 or outcome_of == ticks[: len(outcome_of)]
    assert counts == sorted(counts) and counts[0] == -1 and counts[-1] == whole


@given(st.data())
def test_damaged_bytes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Bytes that were changed anywhere: the right numbers, or one line."""
    folder = tmp_path_factory.getbasetemp()
    original = folder / "original.mcap"
    if not original.exists():
        dot = {"name": "dot", "model": "point", "speed": 1.0}
        with paddock.load({"clock": {"rate": 100}, "vehicles": [dot]}) as sim, Recorder(sim, original):
            sim.step(100)
    raw = bytearray(original.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    damaged = folder / "damaged.mcap"
    damaged.write_bytes(raw)
    outcome_of = outcome(damaged)
    assert isinstance(outcome_of, list) or "\n" not in outcome_of
    assert isinstance(outcome_of, str) or all(0 <= tick <= 100 for tick in outcome_of)


def outcome(path: Path) -> list[int] | str:
    """Return the ticks of the samples if everything is readable, or the error."""
    try:
        with open_run(path) as run:
            assert run.scenario.vehicles and run.sections
            run.events(), run.actions(), run.hashes(), run.fleets, run.duration
            return [snapshot.tick for snapshot in run.snapshots()]
    except PaddockError as error:
        return str(error)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89MCAP0\r\n", b"\x89MCAP0\r\n" + bytes(100), bytes(1000)])
def test_foreign_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(content)
    expected = "not a recording" if content.startswith(b"\x89MCAP0") else "run.txt is not an MCAP file"
    with pytest.raises(PaddockError, match=expected):
        open_run(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.mcap", tmp_path):
        with pytest.raises(PaddockError, match="cannot read"):
            open_run(path)


# the queue between the threads ---------------------------------------------------------------------------------------


def test_only_samples_are_dropped_when_the_queue_is_full() -> None:
    queue, done = WriteQueue(), []
    large = 1 << 30
    accepted = [queue.offer(lambda k=k: done.append(k), large, wait=False) for k in range(FEWEST + 3)]  # type: ignore[misc]
    assert accepted == [True] * FEWEST + [False] * 3
    for k in range(100, 200):
        queue.put(lambda k=k: done.append(k))  # type: ignore[misc]
    queue.close()
    while queue.work(0.0):
        pass
    assert done == [*range(FEWEST), *range(100, 200)]


def test_a_sample_can_wait_for_room() -> None:
    queue, done = WriteQueue(), []
    for k in range(FEWEST):
        queue.offer(lambda k=k: done.append(k), 1 << 30, wait=True)  # type: ignore[misc]
    waiting = threading.Thread(target=lambda: queue.offer(lambda: done.append("late"), 1 << 30, wait=True))
    waiting.start()
    assert queue.work(1.0)
    waiting.join(10)
    assert not waiting.is_alive()
    queue.close()
    while queue.work(0.0):
        pass
    assert done == [*range(FEWEST), "late"]


def test_waiting_ends_when_writing_has_failed() -> None:
    queue = WriteQueue()
    for _ in range(FEWEST):
        queue.offer(lambda: None, 1 << 30, wait=True)
    results: list[bool] = []
    waiting = threading.Thread(target=lambda: results.append(queue.offer(lambda: None, 1 << 30, wait=True)))
    waiting.start()
    queue.close(discard=True)
    waiting.join(10)
    assert results == [False]


def test_in_real_time_samples_are_dropped_and_counted(small: Simulation, tmp_path: Path) -> None:
    """The writing thread is held up: at a pace the tick does not wait for it, commands and hashes still arrive."""
    hold = threading.Event()
    with Recorder(small, tmp_path / "run.mcap", rate=100) as recorder:
        recorder._queue.put(hold.wait)  # type: ignore[arg-type]
        small.command("red", throttle=0.3, at_tick=790)
        small.run(until=8.0, pace=100.0)
        dropped = recorder.dropped
        hold.set()
    report = recorder.report()
    assert report.dropped == dropped > 0
    assert report.samples + report.dropped in (801, 802)  # the end is sampled once more if its sample was dropped
    with open_run(tmp_path / "run.mcap") as run:
        assert len(run) == report.samples and len(run.actions()) == 1
    assert verify(tmp_path / "run.mcap").same
