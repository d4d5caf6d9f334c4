"""One writer process at full speed, several reader processes: every snapshot read is one whole tick.

Every value of a snapshot is its tick plus a number of its column and row, so a mixture of two ticks shows. The
roster changes every thousand ticks. Run as a program, this file is the family of processes; all are spawned.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from multiprocessing.synchronize import Event
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import numpy as np

from paddock.world.columns import Floats
from paddock.world.layout import POSE, FleetLayout, Layout
from paddock.world.ring import RingClosedError, RingReader, RingWriter
from paddock.world.snapshot import Snapshot, SnapshotWriter

READERS = 3
WANTED = 600
"""Snapshots that each reader verifies."""
ROSTER_TICKS = 1000
"""Ticks between two changes of the roster."""


def make_layout(roster: int) -> Layout:
    """Two fleets whose sizes change with the roster."""
    sizes = {"cars": 3 + roster % 4, "scouts": 100 + 37 * (roster % 5)}
    columns = (*POSE, "battery", "gear")
    fleets = [FleetLayout(k, "k", "m", columns, n, np.arange(n), np.arange(n), False) for k, n in sizes.items()]
    return Layout(tuple(fleets), roster)


def pattern(shape: tuple[int, ...]) -> Floats:
    """Return the block (columns, n) at tick 0."""
    column, row = np.indices(shape)
    return np.asarray(1000.0 * column + row)


def is_whole(snap: Snapshot) -> bool:
    """Return whether all values belong to its tick and its roster."""
    right_roster = snap.roster == snap.tick // ROSTER_TICKS and snap.layout.fleets[0].n == 3 + snap.roster % 4
    same = all(np.array_equal(f.block - snap.tick, pattern(f.block.shape)) for f in snap)
    return right_roster and same and snap.time == snap.tick / 1000


def write(name: str, stop: Event) -> None:
    writer = SnapshotWriter()
    with RingWriter(name) as ring:
        tick = 0
        while tick % 64 or not stop.is_set():
            if tick % ROSTER_TICKS == 0:
                layout = make_layout(tick // ROSTER_TICKS)
                patterns = [pattern((len(f.columns), f.n)) for f in layout.fleets]
            blocks, finish = writer.begin(layout, tick, tick / 1000, 0)
            for block, start in zip(blocks, patterns, strict=True):
                np.add(start, tick, out=block)
            ring.publish(finish())
            tick += 1


def read(name: str, results: Any) -> None:
    reader, whole, last = RingReader(name), 0, -1
    rosters: set[int] = set()
    kept: list[Snapshot] = []
    while whole < WANTED or len(rosters) < 3:
        snap = reader.wait(timeout=30.0)
        assert snap is not None and snap.tick > last and is_whole(snap), (snap, last)
        whole, last = whole + 1, snap.tick
        rosters.add(snap.roster)
        kept = [*kept[-5:], snap] if whole % 100 == 0 else kept
    assert all(map(is_whole, kept))
    results.put({"whole": whole, "rosters": len(rosters), "dropped": reader.dropped, "last": last})


def open_when_there(name: str, results: Any) -> None:
    """Read once the writer has begun."""
    while not Path("/dev/shm", f"paddock.{name}").exists():
        sleep(0.005)
    read(name, results)


def main(name: str) -> None:
    context = multiprocessing.get_context("spawn")
    stop, results = context.Event(), context.Queue()
    writer = context.Process(target=write, args=(name, stop))
    readers = [context.Process(target=open_when_there, args=(name, results)) for _ in range(READERS)]
    for process in (writer, *readers):
        process.start()
    for process in readers:
        process.join()
    stop.set()
    writer.join()
    codes = [process.exitcode for process in (writer, *readers)]
    print(json.dumps({"codes": codes, "readers": [results.get(timeout=10) for c in codes[1:] if c == 0]}))


def test_processes_read_whole_ticks_from_a_writer_at_full_speed() -> None:
    name = f"stress{multiprocessing.current_process().pid}"
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    result = json.loads(done.stdout)
    assert result["codes"] == [0] * (1 + READERS)
    assert all(r["whole"] >= WANTED and r["rosters"] >= 3 for r in result["readers"])
    assert not list(Path("/dev/shm").glob(f"paddock.{name}*"))


def test_a_reader_thread_beside_the_writer_sees_whole_ticks() -> None:
    """The same in one process, where the interpreter may switch threads anywhere inside a publication."""
    writer, layouts, seen = SnapshotWriter(), [make_layout(0), make_layout(1)], [0]
    wrong: list[int] = []
    with RingWriter(slots=2) as ring:

        def watch() -> None:
            reader = RingReader(ring.name)
            try:
                while True:
                    snap = reader.wait(timeout=30.0)
                    assert snap is not None
                    wrong.extend([] if is_whole(snap) else [snap.tick])
                    seen[0] += 1
            except RingClosedError:
                return

        thread = Thread(target=watch)
        thread.start()
        for tick in range(2 * ROSTER_TICKS):
            layout = layouts[tick // ROSTER_TICKS]
            blocks, finish = writer.begin(layout, tick, tick / 1000, 0)
            for block in blocks:
                block[:] = pattern(block.shape) + tick
            ring.publish(finish())
    thread.join()
    assert not wrong and seen[0] > 0


if __name__ == "__main__":
    main(sys.argv[1])
