"""The loop that runs the stages of a tick, and the last stage, which makes snapshots.

Stages before the motion run at the beginning of a tick, later ones on the new state. Successive ticks in which only the
motion is due form one stride: the kernels loop over them in compiled code, with the same result.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, perf_counter_ns
from typing import Protocol

from paddock.engine.clock_thread import MOMENT, ClockThread
from paddock.engine.published import SnapshotParts
from paddock.engine.run_state import Run
from paddock.errors import PaddockError, whole_number
from paddock.world.columns import Floats
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot, SnapshotWriter
from paddock.world.world import Clock

NEVER_DUE = 1 << 62  # a tick that no run reaches
LONGEST_STRIDE = 4096  # limit of ticks per stride, so that posted actions do not wait long
Watcher = Callable[[Snapshot], object]


class HaltedError(Exception):
    """The run ends before the motion: a stage has ended it, or waits while it stops; the tick has not begun."""


class Stage(Protocol):
    """A part of the tick."""

    name: str

    def due(self, tick: int) -> int:
        """Return the first tick >= `tick` at which the stage must run; NEVER_DUE if none is known."""

    def run(self, tick: int) -> None:
        """Run the stage at this tick."""


class MotionStage(Protocol):
    """The stage that moves all vehicles."""

    name: str

    def run(self, tick: int, ticks: int) -> int:
        """Advance all vehicles from `tick` by at most that many ticks; return how many."""


@dataclass
class StageTime:
    """Accumulated run time of a stage."""

    calls: int = 0
    nanoseconds: int = 0


def every(tick: int, period: int) -> int:
    """Return the first tick >= `tick` that the period divides."""
    return tick + (-tick) % period


class Pipeline:
    """Runs the due stages of each tick, in order, and advances the clock."""

    def __init__(self, clock: Clock, before: tuple[Stage, ...], motion: MotionStage, after: tuple[Stage, ...]) -> None:
        self.clock = clock
        self.before = before
        self.motion = motion
        self.after = after
        self._stages = (*before, *after)
        self.times = {name: StageTime() for name in (*(s.name for s in before), motion.name, *(s.name for s in after))}
        self._before, self._after = (tuple((s, self.times[s.name]) for s in stages) for stages in (before, after))

    def advance(self, ticks: int) -> None:
        """Advance by exactly that many ticks, or fewer if a stage halts."""
        clock, motion, time = self.clock, self.motion, self.times[self.motion.name]
        end = clock.tick + ticks
        while clock.tick < end:
            try:
                self._run_due(self._before, clock.tick)
            except HaltedError:
                return
            tick = clock.tick
            stride = end - tick
            if stride != 1:
                stride = self._until_due(tick + 1, min(end, tick + LONGEST_STRIDE)) - tick
            started = perf_counter_ns()
            stride = motion.run(tick, stride)
            time.nanoseconds += perf_counter_ns() - started
            time.calls += 1
            clock.tick += stride
            self._run_due(self._after, clock.tick)

    def _until_due(self, first: int, last: int) -> int:
        """Return the tick, from `first` to `last`, at which a stage is due next."""
        for stage in self._stages:
            if last == first:  # in lockstep an autopilot is due at every tick: the other stages need not be asked
                break
            last = min(last, stage.due(first))
        return last

    def _run_due(self, stages: tuple[tuple[Stage, StageTime], ...], tick: int) -> None:
        for stage, time in stages:
            if stage.due(tick) == tick:
                started = perf_counter_ns()
                stage.run(tick)
                time.nanoseconds += perf_counter_ns() - started
                time.calls += 1

    def reset_times(self) -> None:
        """Restart the measurement of run times."""
        for time in self.times.values():
            time.calls = time.nanoseconds = 0


class PublishStage:
    """Makes snapshots every `period` ticks (None: never) and at the period of each watcher."""

    name = "publish"

    def __init__(self, world: Run, period: int | None, race: Callable[[], None]) -> None:
        """`race` brings the columns of the race up to date."""
        self.world = world
        self._show_race = race
        self.period = period
        self.watchers: list[tuple[int, Watcher]] = []
        self.writer = SnapshotWriter()
        self._layout: Layout | None = None
        self._version = (-1, -1)  # of the vehicles of the layout
        self._epoch = -1  # of the state in the last snapshot
        self._latest: Snapshot | None = None
        self._published: Snapshot | None = None  # what another thread gets that has waited for too long
        self._requested = threading.Event()  # another thread waits for a snapshot
        self._shared = False  # whether another thread has read a snapshot: from then on the last one is kept
        self._served = threading.Event()

    def watch(self, watcher: Watcher, every: int | None = None) -> Callable[[], None]:
        """Call `watcher(snapshot)` every `every` ticks (default: the period); return a function that ends it."""
        if not callable(watcher):
            raise PaddockError(f"a watcher is a function of a snapshot, not {watcher!r}")
        period = self.period
        if every is not None:
            period = whole_number("every takes a whole number of ticks >= 1", every, low=1)
        if period is None:
            raise PaddockError("watch() needs a period: watch(..., every=ticks), or every: {snapshot: ticks}")
        entry = (period, watcher)
        self.watchers.append(entry)
        return lambda: self.watchers.remove(entry) if entry in self.watchers else None

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
        if self._latest is not None and self._latest.tick == tick and self._epoch == self.world.epoch:
            return self._latest
        self._latest = None
        if not self._shared:
            self._published = None  # no other thread reads it: its buffer returns to the pool before one is taken
        self._show_race()
        blocks, arrays, finish = self.writer.begin_all(self.layout(), tick, self.world.clock.time, self.world.run)
        environment = self.world.environment
        for program, block, more in zip(self.world.programs.values(), blocks, arrays, strict=True):
            program.published.write(block, SnapshotParts(tick, environment, more))
        self._latest, self._epoch = finish(), self.world.epoch
        self._published = self._latest
        return self._latest

    def poses(self, fleet: str) -> Floats:
        """Return the poses of a fleet now, of the snapshot or computed once per tick: rows as in Pose, >= n columns.

        Vehicles are in the order of their members, as in a snapshot; `Fleet.ranks` has the column of each row.
        """
        tick, snapshot, now = self.world.clock.tick, self._latest, (self._epoch, self.world.roster_version)
        if snapshot is not None and snapshot.tick == tick and now == (self.world.epoch, snapshot.roster):
            return snapshot.fleet(fleet).block
        program = self.world.programs[fleet]
        poses = program.pose_block(tick)
        return poses if program.fleet.in_order else program.fleet.by_key(poses)

    def serve(self) -> None:
        """Make the snapshot that another thread waits for. Called by the ticking thread."""
        if self._requested.is_set():
            self.snapshot()
            self._requested.clear()
            self._served.set()

    def from_elsewhere(self, thread: ClockThread, timeout: float = 1.0) -> Snapshot:
        """Return a snapshot to a thread that does not tick: a new one, or the last one after `timeout` seconds."""
        self._shared = True
        self._served.clear()
        self._requested.set()
        end = monotonic() + timeout  # a tick or the barrier may take longer
        while not self._served.wait(MOMENT) and monotonic() < end:
            if not thread.elsewhere():  # the ticking thread has left without serving
                thread.request(self.serve, read=True)
                thread.serve_idle()
        if self._published is None:
            raise PaddockError(f"snapshot timed out after {timeout:g} s: the ticking thread is waiting")
        return self._published

    def layout(self) -> Layout:
        """Return the layout of a snapshot's buffer; it changes when vehicles are added or removed."""
        if self._layout is None or self._version != self.world.version:
            fleets = tuple(program.published.layout() for program in self.world.programs.values())
            self._layout, self._version = Layout(fleets, self.world.roster_version), self.world.version
        return self._layout

    def forget(self) -> None:
        """Discard the cached snapshot and poses, after a change of the state outside a tick."""
        self._layout = None
        self._latest = None
        for program in self.world.programs.values():
            program.forget_poses()
