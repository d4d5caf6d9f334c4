"""Snapshots, made once per tick and shared by all watchers, and the poses that other stages read."""

import threading
from collections.abc import Callable
from time import monotonic

from paddock.engine.clock_thread import MOMENT, ClockThread
from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.world.columns import Floats
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot, SnapshotWriter
from paddock.world.world import World

Watcher = Callable[[Snapshot], object]


class PublishStage:
    """Makes snapshots every `period` ticks (None: never) and at the period of each watcher."""

    name = "publish"

    def __init__(self, world: World, programs: dict[str, FleetProgram], period: int | None) -> None:
        self.world = world
        self.programs = programs
        self.period = period
        self.watchers: list[tuple[int, Watcher]] = []
        self.writer = SnapshotWriter()
        self._layout: Layout | None = None
        self._latest: Snapshot | None = None
        self._published: Snapshot | None = None  # never withdrawn, unlike the latest, so that any thread may read it
        self._requested = threading.Event()  # another thread waits for a snapshot
        self._served = threading.Event()

    def due(self, tick: int) -> int:
        """Return the next multiple of any period; `tick` if another thread waits for a snapshot."""
        if self._requested.is_set():
            return tick
        first = NEVER_DUE if self.period is None else every(tick, self.period)
        for period, _ in self.watchers:
            first = min(first, every(tick, period))
        return first

    def run(self, tick: int) -> None:
        """Make the snapshot of this tick and call the watchers that are due."""
        snapshot = self.snapshot()
        self.serve()
        for period, watcher in self.watchers:
            if tick % period == 0:
                watcher(snapshot)

    def snapshot(self) -> Snapshot:
        """Return the snapshot of the present tick."""
        tick = self.world.clock.tick
        if self._latest is not None and self._latest.tick == tick:
            return self._latest
        self._latest = None  # return its buffer to the pool before taking one
        blocks, arrays, finish = self.writer.begin_all(self.layout(), tick, self.world.clock.time, self.world.run)
        for program, block, more in zip(self.programs.values(), blocks, arrays, strict=True):
            program.write_block(block, self.world.environment, tick, more)
        self._latest = self._published = finish()
        return self._latest

    def poses(self, fleet: str) -> Floats:
        """Return the poses of a fleet now, of the snapshot or computed once per tick: rows as in Pose, >= n columns."""
        tick, snapshot = self.world.clock.tick, self._latest
        if snapshot is not None and snapshot.tick == tick and snapshot.roster == self.world.roster_version:
            return snapshot.fleet(fleet).block
        return self.programs[fleet].pose_block(tick)

    def serve(self) -> None:
        """Make the snapshot that another thread waits for. Called by the ticking thread."""
        if self._requested.is_set():
            self.snapshot()
            self._requested.clear()
            self._served.set()

    def from_elsewhere(self, thread: ClockThread, timeout: float = 1.0) -> Snapshot:
        """Return a snapshot to a thread that does not tick: a new one, or the last one after `timeout` seconds."""
        self._served.clear()
        self._requested.set()
        end = monotonic() + timeout  # a tick or the barrier may take longer
        while not self._served.wait(MOMENT) and monotonic() < end:
            if not thread.elsewhere():  # the ticking thread has left without serving
                thread.request(self.serve, look=True)
                thread.serve_idle()
        if self._published is None:
            raise PaddockError(f"snapshot timed out after {timeout:g} s: the ticking thread is waiting")
        return self._published

    def layout(self) -> Layout:
        """Return the layout of a snapshot's buffer; it changes when vehicles are added or removed."""
        if self._layout is None or self._layout.roster != self.world.roster_version:
            fleets = tuple(program.layout() for program in self.programs.values())
            self._layout = Layout(fleets, self.world.roster_version)
        return self._layout

    def forget(self) -> None:
        """Discard the cached snapshot and poses, after a change of the state outside a tick."""
        self._layout = None
        self._latest = None
        for program in self.programs.values():
            program.forget_poses()
