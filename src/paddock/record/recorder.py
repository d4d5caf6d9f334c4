"""Recording a run while it happens: commands, events, states and hashes, in one file.

The recorder lives in the simulation's process, for what it writes is the run's memory and must not depend on whether a
server lives. It takes what the ticking thread tells it and leaves all else to one writing thread; compression and file
writes let the ticking thread go on meanwhile.
"""

from __future__ import annotations

import atexit
import os
import platform
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from math import isfinite
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paddock.engine.actions import Posted
from paddock.engine.events import Event
from paddock.engine.markers import MarkerChange
from paddock.engine.state import settled_state
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.record.foxglove import point_cloud
from paddock.record.writer import FLUSH_EVERY, PRECISIONS, McapWriter, Output, Scribe, Timeline, open_output, present
from paddock.wire.messages.recordings import RunStart, StateHash
from paddock.world.archive import digest
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.scenario import Scenario


def versions() -> dict[str, str]:
    """Versions of Paddock and of what computes its numbers."""
    import numba

    package = import_module(__name__.partition(".")[0])  # by name: this room must not depend on the whole house
    return {
        "paddock": package.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


Job = Callable[[], None]

FEWEST, MOST = 8, 512
"""Samples that may wait: at least, and at most."""
ROOM = 64 * 2**20
"""Bytes of samples that may wait, if that is more than the fewest."""


class Conveyor:
    """A queue of jobs, of which the samples are bounded."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Job, bool]] = deque()
        self._change = threading.Condition()
        self._samples = 0  # that wait or are being written
        self.closed = False

    def put(self, job: Job) -> None:
        """A job that must be done; never waits."""
        with self._change:
            if not self.closed:
                self._jobs.append((job, False))
                self._change.notify_all()

    def offer(self, job: Job, nbytes: int, patient: bool) -> bool:
        """A sample: False if there is no room for it, unless one is `patient` and waits until there is."""
        limit = min(max(FEWEST, ROOM // max(nbytes, 1)), MOST)
        with self._change:
            while self._samples >= limit and patient and not self.closed:
                self._change.wait()
            if self._samples >= limit or self.closed:
                return False
            self._samples += 1
            self._jobs.append((job, True))
            self._change.notify_all()
            return True

    def work(self, idle: float) -> bool:
        """Do the next job, or nothing if none comes for `idle` s of wall time; False when all is done and closed."""
        with self._change:
            if not self._jobs and not self.closed:
                self._change.wait(idle)
            if not self._jobs:
                return not self.closed
            job, is_sample = self._jobs.popleft()
        try:
            job()
        finally:
            if is_sample:
                with self._change:
                    self._samples -= 1
                    self._change.notify_all()
        return True

    def close(self) -> None:
        """Nothing more comes; what is there is still done."""
        with self._change:
            self.closed = True
            self._change.notify_all()

    def abandon(self) -> None:
        """Nothing more is done."""
        with self._change:
            self.closed = True
            self._jobs.clear()
            self._change.notify_all()


FEW = 1000
"""Vehicles up to which the state is hashed often."""
OFTEN, SELDOM = 0.1, 1.0
"""Simulated s between two hashes, of few vehicles and of many."""
SHARE = 0.05
"""Of the wall time, what hashing may take in the long run; a world that runs faster than that is hashed less often."""
ALLOWANCE = 0.25
"""s of wall time that hashing may take beyond its share, so that short runs are hashed in full."""


class HashPlan:
    """Hashes the settled state of a simulation now and then. Which ticks it picks does not change the run."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._next_tick = 0
        self._started, self._spent = monotonic(), 0.0

    def restart(self) -> None:
        """The run begins anew: hash at the next occasion."""
        self._next_tick = 0

    def due(self) -> bool:
        """Whether to hash now."""
        if self.sim.tick < self._next_tick:
            return False
        return self._spent <= ALLOWANCE + SHARE * (monotonic() - self._started)

    def take(self) -> str:
        """The digest of the state now."""
        started = monotonic()
        text = digest(settled_state(self.sim.engine))
        self._spent += monotonic() - started
        period = max(1, self.sim.engine.world.clock.ticks(OFTEN if self.sim.engine.world.vehicles <= FEW else SELDOM))
        self._next_tick = max(self._next_tick + period, self.sim.tick + period // 2)
        return text


RATE = 30.0
"""Samples per simulated second, Hz, unless one says otherwise."""


@dataclass(frozen=True)
class RecordingReport:
    """What became of a recording."""

    path: str
    samples: int  # that were written
    dropped: int  # samples that found no room in real time
    vehicle_samples: int  # vehicles, summed over the samples
    bytes: int  # of the file
    failure: str  # why it stopped early; empty if it did not

    @property
    def bytes_per_vehicle_sample(self) -> float:
        """All of the file, shared among the samples of single vehicles."""
        return self.bytes / max(self.vehicle_samples, 1)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "bytes_per_vehicle_sample": self.bytes_per_vehicle_sample}

    def line(self) -> str:
        """For people."""
        dropped = f", {self.dropped:,} dropped" if self.dropped else ""
        failed = f", stopped early: {self.failure}" if self.failure else ""
        return (
            f"recorded {self.path}: {self.samples:,} samples{dropped}, {self.bytes / 1e6:.2f} MB, "
            f"{self.bytes_per_vehicle_sample:.1f} bytes per vehicle and sample{failed}"
        )


class Recorder:
    """Records from now on until `close`. `tell` is given one line at once when the recording fails; the run goes on."""

    def __init__(
        self,
        sim: Simulation,
        path: str | os.PathLike[str],
        *,
        rate: float = RATE,
        precision: str = "auto",
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """`rate` in samples per simulated s; `precision`: double, single, or auto (double up to 1,000 vehicles)."""
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not (isfinite(rate) and rate > 0):
            raise InvalidValueError(f"the rate of a recording must be a positive number of Hz, not {rate!r}")
        if precision not in PRECISIONS:
            raise unknown_name("precision", str(precision), PRECISIONS)
        self.sim, self.path = sim, os.fspath(path)
        self.every = max(1, round(sim.engine.world.clock.rate / rate))  # ticks between two samples
        self.dropped = 0
        self.failure = ""
        self._tell = tell or _print
        self._conveyor = Conveyor()
        self._hashes = HashPlan(sim)
        started = time_ns()
        self._timeline = Timeline(sim.engine.world.clock.rate, started)
        self._dating = threading.Lock()  # a new section begins, or a time is told: not both at once
        self._last_sample = -1
        with sim.engine.thread.driving("recording"):
            self._output = open_output(path)
            self._scribe = self._prepared(self._output, precision, started)
            self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
            self._attach()
            self._thread.start()
        self._closed = False
        atexit.register(self.close)

    # what the ticking thread tells -----------------------------------------------------------------------------------

    def _attach(self) -> None:
        sim = self.sim
        sim.log.listeners = [*sim.log.listeners, self._on_action]
        sim.events.listeners = [*sim.events.listeners, self._on_event]
        sim.engine.on_restart.append(self._on_restart)
        sim.markers.listeners = [*sim.markers.listeners, self._on_markers]
        self._unwatch = sim.watch(self._on_sample, self.every)
        untouched = sim.tick == 0 and sim.log.restored_at is None and not (sim.log.entries or sim.log.lost)
        self._begin("start", with_state=not untouched)
        for change in present(sim.markers, sim.time):
            self._on_markers(change)
        self._conveyor.put(self._scribe.writer.flush)  # from the first moment on there is something to read

    def _detach(self) -> None:
        sim = self.sim
        self._unwatch()
        sim.log.listeners = [listener for listener in sim.log.listeners if listener != self._on_action]
        sim.events.listeners = [listener for listener in sim.events.listeners if listener != self._on_event]
        sim.markers.listeners = [listener for listener in sim.markers.listeners if listener != self._on_markers]
        sim.engine.on_restart.remove(self._on_restart)

    def _on_restart(self, how: str) -> None:
        self._begin(how, with_state=how == "restore")

    def _on_action(self, posted: Posted) -> None:
        self._conveyor.put(partial(self._scribe.action, posted, self._date(posted.tick), time_ns()))

    def _on_event(self, event: Event) -> None:
        self._conveyor.put(partial(self._scribe.event, event, self._date(event.tick), time_ns()))

    def _on_markers(self, change: MarkerChange) -> None:
        """Any thread may be the one that puts markers."""
        self._conveyor.put(partial(self._scribe.markers.write, change, self._date(), time_ns()))

    def _on_sample(self, snapshot: Snapshot) -> None:
        if self._conveyor.closed:
            return
        real_time = self.sim.engine.pacer.running and self.sim.pace > 0
        job = partial(self._scribe.sample, snapshot, self._date(snapshot.tick), time_ns())
        if self._conveyor.offer(job, snapshot.buffer.nbytes, patient=not real_time):
            self._last_sample = snapshot.tick
        elif not self._conveyor.closed:
            self.dropped += 1
        if self._hashes.due():
            self._hash()

    def _begin(self, how: str, with_state: bool) -> None:
        """A section of the run begins at the present tick."""
        sim = self.sim
        state = sim.save() if with_state else b""
        begin = RunStart(
            sim.engine.world.run, sim.engine.world.seed, self._scenario().to_dict(), versions(), how, state
        )
        with self._dating:
            log_time = self._timeline.begin(sim.tick)
        self._conveyor.put(partial(self._scribe.begin, begin, log_time, time_ns()))
        self._hashes.restart()
        self._last_sample = -1
        self._on_sample(sim.snapshot())

    def _hash(self) -> None:
        state = StateHash(self.sim.tick, self.sim.engine.world.run, self._hashes.take())
        self._conveyor.put(partial(self._scribe.digest, state, self._date(state.tick), time_ns()))

    def _date(self, tick: int | None = None) -> int:
        """The log time of a tick, or of now."""
        with self._dating:
            return self._timeline.at(self.sim.tick if tick is None else tick)

    # the writing thread ----------------------------------------------------------------------------------------------

    def _prepared(self, output: Output, precision: str, started: int) -> Scribe:
        """The file with its head written, or an error before the run begins."""
        sim = self.sim
        metadata = {
            "name": sim.scenario.name,
            "description": sim.scenario.description,
            "seed": str(sim.engine.world.seed),
            "rate": f"{sim.engine.world.clock.rate!r}",
            "sample_ticks": str(self.every),
            "precision": precision,
            **versions(),
        }
        try:
            writer = McapWriter(output, metadata, self._scenario().to_yaml(), started)
        except OSError as error:
            output.close()
            raise PaddockError(f"cannot record to {self.path}: {error.strerror or error}") from None
        point_cloud(sim.snapshot(), 0)  # so that its kernel is loaded now, not by the writing thread
        return Scribe(writer, precision)

    def _scenario(self) -> Scenario:
        """What is simulated, without who was served: that is no matter of the run, and there may be a token in it."""
        return self.sim.scenario.model_copy(update={"serve": None, "record": None})

    def _work(self) -> None:
        writer = self._scribe.writer
        try:
            while self._conveyor.work(0.25 * FLUSH_EVERY):
                writer.flush_if_due()
            writer.finish()
        except Exception as error:  # whatever it is, the run goes on
            self._fail(error)
        finally:
            self._output.close()

    def _fail(self, error: Exception) -> None:
        self._conveyor.abandon()
        self._output.retreat()
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else repr(error)
        self.failure = reason
        self._tell(f"recording to {self.path} stopped: {reason}; the file is readable up to there, the run goes on")

    # the end ---------------------------------------------------------------------------------------------------------

    def close(self) -> RecordingReport:
        """Record how it ended, write the rest, and let the simulation go."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._detach()
            if not self.sim.engine.thread.elsewhere() and not self._conveyor.closed:
                self._finish()
            self._conveyor.close()
            self._thread.join()
        return self.report()

    def _finish(self) -> None:
        if self._last_sample != self.sim.tick:
            self._on_sample(self.sim.snapshot())
        self._hash()

    def report(self) -> RecordingReport:
        """How it stands."""
        scribe = self._scribe
        counts = (scribe.samples, self.dropped, scribe.vehicle_samples, self._output.position)
        return RecordingReport(self.path, *counts, self.failure)

    def __enter__(self) -> Self:
        """The recorder itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


def _print(line: str) -> None:
    print(f"paddock: {line}", file=sys.stderr, flush=True)
