"""Last stage: snapshots for everyone who watches, made once and shared."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable

import numpy as np

from paddock.engine.pipeline import NEVER_DUE, every
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.world.columns import Floats
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot, SnapshotWriter
from paddock.world.world import World

Watcher = Callable[[Snapshot], object]


class PublishStage:
    """Makes snapshots every `period` ticks (if one is set) and whenever a watcher's own period asks for one."""

    name = "publish"

    def __init__(self, world: World, programs: dict[str, FleetProgram], period: int | None) -> None:
        self.world = world
        self.programs = programs
        self.period = period
        self.watchers: list[tuple[int, Watcher]] = []
        self.writer = SnapshotWriter()
        self._layout: Layout | None = None
        self._latest: Snapshot | None = None
        self._published: Snapshot | None = None  # unlike the latest never taken back, so that any thread may read it
        self.broken: set[str] = set()  # fleets with a vehicle whose position is not finite
        self._asked = threading.Event()  # another thread wants a snapshot
        self._served = threading.Event()

    def due(self, tick: int) -> int:
        """The next multiple of any period; at once if another thread asks."""
        if self._asked.is_set():
            return tick
        periods = [period for period, _ in self.watchers]
        if self.period is not None:
            periods.append(self.period)
        return min((every(tick, period) for period in periods), default=NEVER_DUE)

    def run(self, tick: int) -> None:
        """Make this tick's snapshot and show it around."""
        snapshot = self.snapshot()
        self.serve()
        for period, watcher in self.watchers:
            if tick % period == 0:
                watcher(snapshot)

    def snapshot(self) -> Snapshot:
        """The snapshot of the present tick; made at most once per tick."""
        tick = self.world.clock.tick
        if self._latest is not None and self._latest.tick == tick:
            return self._latest
        self._latest = None  # hand its buffer back before taking one
        blocks, finish = self.writer.begin(self.layout(), tick, self.world.clock.time, self.world.run)
        for program, block in zip(self.programs.values(), blocks, strict=True):
            program.write_block(block, self.world.environment, tick)
            self._check_finite(program, block)
        self._latest = self._published = finish()
        return self._latest

    def _check_finite(self, program: FleetProgram, block: Floats) -> None:
        """A position that is no number any more is reported, once a fleet."""
        name = program.fleet.name
        if name not in self.broken and not np.isfinite(block[:3].sum()):
            self.broken.add(name)
            # not an event: those belong to the state, which must not depend on who looks
            warnings.warn(
                f"fleet {name!r} has vehicles whose position is no finite number", RuntimeWarning, stacklevel=2
            )

    def serve(self) -> None:
        """Make the snapshot that another thread has asked for (called by the thread that ticks)."""
        if self._asked.is_set():
            self.snapshot()
            self._asked.clear()
            self._served.set()

    def from_elsewhere(self, patience: float = 1.0) -> Snapshot:
        """A snapshot for a thread other than the one that ticks: asked for, or else the last one made."""
        self._served.clear()
        self._asked.set()
        self._served.wait(patience)  # a tick, or a barrier, may take longer than one is prepared to wait
        if self._published is None:
            raise PaddockError(f"no snapshot could be had within {patience:g} s: the thread that ticks is waiting")
        return self._published

    def layout(self) -> Layout:
        """Who is where in a snapshot's buffer; made anew when vehicles come or go."""
        if self._layout is None or self._layout.roster != self.world.roster:
            fleets = tuple(program.layout() for program in self.programs.values())
            self._layout = Layout(fleets, self.world.roster)
        return self._layout

    def poses(self, fleet: str) -> Floats:
        """A fleet's poses now: from this tick's snapshot if there is one, otherwise worked out."""
        tick = self.world.clock.tick
        if self.period is not None and tick % self.period == 0 and not self._sensors():
            self.snapshot()  # due anyway, and then no second buffer is needed; but it shows what sensors have measured
        latest = self._latest
        if latest is not None and latest.tick == tick and latest.roster == self.world.roster:
            return latest.fleet(fleet).block
        return self.programs[fleet].pose_block(tick)

    def _sensors(self) -> bool:
        return any(program.sensors for program in self.programs.values())

    def forget(self) -> None:
        """The state was changed other than by a tick."""
        self._layout = None
        self._latest = None
        for program in self.programs.values():
            program.forget_poses()
