"""The ring between processes: complete snapshots, new rosters, ends and crashes, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, UnknownNameError
from paddock.world.layout import POSE, FleetLayout, Layout
from paddock.world.ring import OverwrittenError, RingClosedError, RingReader, RingWriter
from paddock.world.shared_memory import RingControl, SharedSegment, data_path
from paddock.world.snapshot import Snapshot, SnapshotWriter

CHILD = """
import sys
import numpy as np
from paddock.world.layout import POSE, FleetLayout, Layout
from paddock.world.ring import RingReader, RingWriter
from paddock.world.snapshot import SnapshotWriter
if sys.argv[1] == "read":
    print(int(RingReader(sys.argv[2]).latest()["a[1]"]["x"]), flush=True)
else:
    ring = RingWriter(sys.argv[2])
    layout = Layout((FleetLayout("a", "k", "m", POSE, 2, np.arange(2), np.arange(2), False),), 0)
    blocks, finish = SnapshotWriter().begin(layout, 9, 0.09, 0)
    blocks[0][:] = 9
    ring.publish(finish())
    print("published", flush=True)
    if sys.argv[1] == "write":
        sys.stdin.read()
    else:
        sys.exit(0)  # forgets to close
"""


def make_layout(n: int = 2, roster: int = 0) -> Layout:
    return Layout((FleetLayout("a", "k", "m", POSE, n, np.arange(n), np.arange(n), False),), roster)


def snapshot_of(layout: Layout, tick: int) -> Snapshot:
    blocks, finish = SnapshotWriter().begin(layout, tick, tick / 100, 5)
    blocks[0][:] = tick
    return finish()


def child(role: str, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, role, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def overwrite(ring: RingWriter) -> list[int]:
    """Fill both of two slots."""
    return [ring.publish(snapshot_of(make_layout(), 100)) for _ in range(2)]


def left_behind(name: str) -> list[Path]:
    return list(Path("/dev/shm").glob(f"paddock.{name}*"))


def test_a_snapshot_arrives_whole() -> None:
    layout = make_layout(50, roster=8)
    with RingWriter() as ring, RingReader(ring.name) as reader:
        assert reader.latest() is None
        sent = snapshot_of(layout, 12)
        assert ring.publish(sent) == 1
        got = reader.latest()
        assert got is not None and (got.tick, got.time, got.run, got.roster) == (12, 0.12, 5, 8)
        assert got.layout == layout and got.layout is not layout
        np.testing.assert_array_equal(got.fleet("a").block, sent.fleet("a").block)
        assert reader.latest() is got and reader.sequence == 1 and reader.wall_time > 1.7e9
        assert not got.fleet("a").position.flags.writeable
    assert not left_behind(ring.name) and got["a[3]"]["x"] == 12


def test_skipped_snapshots_are_counted() -> None:
    layout = make_layout()
    with RingWriter(slots=2) as ring, RingReader(ring.name) as reader:
        for tick in range(1, 8):
            ring.publish(snapshot_of(layout, tick))
        assert reader.latest().tick == 7 and reader.dropped == 0  # type: ignore[union-attr]
        for tick in range(8, 12):
            ring.publish(snapshot_of(layout, tick))
        assert reader.latest().tick == 11 and reader.dropped == 3  # type: ignore[union-attr]


def test_a_new_roster_is_followed_and_old_data_removed() -> None:
    with RingWriter() as ring, RingReader(ring.name) as reader:
        kept = []
        for roster in range(1, 6):
            layout = make_layout(10 * roster, roster)
            for tick in (10 * roster, 10 * roster + 1):
                ring.publish(snapshot_of(layout, tick))
            kept.append(reader.latest())
            assert len(left_behind(ring.name)) == 2
        assert [len(s) for s in kept] == [10, 20, 30, 40, 50]  # type: ignore[arg-type]
        assert [s.fleet("a")["x"].mean() for s in kept] == [11, 21, 31, 41, 51]  # type: ignore[union-attr]
        assert reader.sequence == 10 and reader.dropped == 4


def test_an_equal_layout_does_not_begin_a_new_generation() -> None:
    with RingWriter() as ring:
        for tick in range(5):
            ring.publish(snapshot_of(make_layout(), tick))
        assert left_behind(ring.name) and data_path(ring.name, 1) in {p.name for p in left_behind(ring.name)}


def test_a_late_or_slow_reader_gets_the_newest() -> None:
    with RingWriter() as ring, RingReader(ring.name) as early:
        ring.publish(snapshot_of(make_layout(2, 1), 1))
        assert early.latest() is not None
        for roster in range(2, 6):
            ring.publish(snapshot_of(make_layout(roster, roster), roster))
        with RingReader(ring.name) as late:
            assert late.latest().tick == early.latest().tick == 5  # type: ignore[union-attr]


def test_waiting() -> None:
    layout = make_layout()
    with RingWriter() as ring, RingReader(ring.name) as reader:
        assert reader.wait(timeout=0.01) is None
        ring.publish(snapshot_of(layout, 1))
        assert reader.wait().tick == 1  # type: ignore[union-attr]
        assert reader.wait(timeout=0.01) is None and reader.wait(after=0).tick == 1  # type: ignore[union-attr]
        ring.publish(snapshot_of(layout, 2))
        assert reader.wait(after=1).tick == 2  # type: ignore[union-attr]


def test_a_view_is_the_rings_memory_and_detects_overwriting() -> None:
    layout = make_layout()
    with RingWriter(slots=2) as ring, RingReader(ring.name) as reader:
        with pytest.raises(PaddockError, match="is still empty"), reader.view():
            pass
        ring.publish(snapshot_of(layout, 1))
        with reader.view() as snap:
            assert snap["a[1]"]["vz"] == 1.0 and not snap.fleet("a").position.flags.writeable
            with pytest.raises(ValueError, match="WRITEABLE"):
                snap.fleet("a").position.flags.writeable = True
            ring.publish(snapshot_of(layout, 2))  # the other slot
        with pytest.raises(OverwrittenError, match="message 2"), reader.view():
            overwrite(ring)
        with pytest.raises(ZeroDivisionError), reader.view():  # not hidden by the overwriting
            overwrite(ring)[0] / 0


def test_a_slot_being_written_is_never_returned() -> None:
    layout = make_layout()
    with RingWriter() as ring, RingReader(ring.name) as reader:
        ring.publish(snapshot_of(layout, 1))
        assert ring._data is not None
        ring._data.locks[1] = 3  # as in the middle of a publication
        with pytest.raises(PaddockError, match="overwritten faster than it can be read"):
            reader.latest()
        ring._data.locks[1] = 2
        assert reader.latest() is not None


def test_the_end_delivers_the_last_snapshot_first() -> None:
    ring = RingWriter()
    ring.publish(snapshot_of(make_layout(), 1))
    reader = RingReader(ring.name)
    assert reader.latest() is not None
    ring.publish(snapshot_of(make_layout(), 2))
    ring.close()
    ring.close()
    assert reader.latest().tick == 2  # type: ignore[union-attr]
    with pytest.raises(RingClosedError, match="has ended"):
        reader.latest()
    with pytest.raises(RingClosedError, match="is closed"):
        ring.publish(snapshot_of(make_layout(), 3))
    reader.close()
    with pytest.raises(RingClosedError, match=r"reader of ring .* is closed"):
        reader.latest()


def test_a_dropped_writer_cleans_up() -> None:
    ring = RingWriter()
    ring.publish(snapshot_of(make_layout(), 1))
    name = ring.name
    del ring
    assert not left_behind(name)
    process = child("forget", f"forget{os.getpid()}")
    out, err = process.communicate()
    assert (out.strip(), err) == ("published", "") and not left_behind(f"forget{os.getpid()}")


def test_unknown_names_are_named() -> None:
    with RingWriter(f"race{os.getpid()}"), pytest.raises(UnknownNameError, match=f"did you mean 'race{os.getpid()}'"):
        RingReader(f"rcae{os.getpid()}")
    with pytest.raises(InvalidValueError, match="ring name"):
        RingReader("../etc")
    with pytest.raises(InvalidValueError, match="at least 2 slots"):
        RingWriter(slots=1)


def test_another_version_is_named() -> None:
    with RingWriter() as ring:
        control = SharedSegment.attach(f"paddock.{ring.name}")
        assert control is not None
        control.words[RingControl.FORMAT] = 9
        with pytest.raises(PaddockError, match="has version 9; this Paddock reads version 1"):
            RingReader(ring.name)


def test_the_name_of_a_running_writer_is_refused() -> None:
    with RingWriter() as ring:
        with pytest.raises(PaddockError, match=f"already published by process {os.getpid()}"):
            RingWriter(ring.name)
        ring.publish(snapshot_of(make_layout(), 1))
        assert RingReader(ring.name).latest() is not None


def test_a_reader_process_reads_and_its_end_removes_nothing() -> None:
    with RingWriter() as ring:
        ring.publish(snapshot_of(make_layout(), 31))
        for _ in range(2):
            out, err = child("read", ring.name).communicate()
            assert (out.strip(), err) == ("31", "")
        assert len(left_behind(ring.name)) == 2


def test_a_crash_is_detected_and_its_segments_are_replaced() -> None:
    name = f"crash{os.getpid()}"
    process = child("write", name)
    assert process.stdout is not None and process.stdout.readline() == "published\n"
    reader = RingReader(name)
    assert reader.latest().tick == 9 and reader.latest() is not None  # type: ignore[union-attr]
    process.send_signal(signal.SIGKILL)
    with pytest.raises(RingClosedError, match=f"is gone: process {process.pid} crashed"):
        reader.wait(timeout=60.0)
    process.communicate()
    with RingWriter(name) as ring:
        ring.publish(snapshot_of(make_layout(), 77))
        assert RingReader(name).latest().tick == 77  # type: ignore[union-attr]
        with pytest.raises(RingClosedError):
            reader.latest()
    assert not left_behind(name)


def test_segments_left_behind_are_replaced() -> None:
    name = f"stale{os.getpid()}"
    control, data = RingControl.claim(name), SharedSegment.create(data_path(name, 1), 4096)
    control.words[RingControl.GENERATION], control.words[RingControl.BIRTH] = 1, 12345  # of a process that is no more
    with RingWriter(name) as ring:
        ring.publish(snapshot_of(make_layout(), 1))
        assert RingReader(name).latest().tick == 1  # type: ignore[union-attr]
    assert not left_behind(name)
    control.close()
    data.close()
    unfinished = SharedSegment.create(f"paddock.{name}", 128)
    with RingWriter(name) as ring:
        assert RingReader(name).latest() is None
    unfinished.close()


def test_readers_do_not_leak_descriptors() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    if not Path("/proc/self/fd").exists():
        pytest.skip("the operating system does not list descriptors")
    with RingWriter() as ring, RingReader(ring.name) as reader:
        ring.publish(snapshot_of(make_layout(2, 0), 0))
        reader.latest()
        before = descriptors()
        for roster in range(1, 20):
            ring.publish(snapshot_of(make_layout(2 + roster, roster), roster))
            reader.latest()
            with RingReader(ring.name) as other:
                other.latest()
        assert descriptors() == before


def test_machines_with_another_memory_order_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    for use in (RingWriter, RingReader):
        with pytest.raises(
            MissingFeatureError, match=r"^shared-memory rings need an x86-64 processor, not aarch64: run "
        ):
            use("order")
    monkeypatch.setattr("platform.machine", lambda: "AMD64")
    with RingWriter("order"):
        pass
