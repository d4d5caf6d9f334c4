"""Record a run while it happens: actions, events, states and hashes, in one file.

The recorder runs in the simulation's process, so that a recording does not depend on the hub. The ticking thread only
queues jobs; a writing thread encodes, compresses and writes them, which releases the interpreter lock.
"""

import atexit
import os
import platform
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from math import isfinite
from time import monotonic, time_ns
from typing import Any

import numpy as np

from paddock.engine.actions import Posted
from paddock.engine.events import Event
from paddock.engine.markers import MarkerChange
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, file_errors, unknown_name
from paddock.record import channels
from paddock.record.channels import LogTime
from paddock.record.foxglove import SensedArray, array_load, point_cloud, sensed_arrays, track_scene
from paddock.record.mcap_file import McapFile
from paddock.record.surroundings import described_radio, surroundings_of
from paddock.record.writer import (
    FLUSH_EVERY,
    PRECISIONS,
    McapWriter,
    RecordingFile,
    RecordingWriter,
    Timeline,
    present_markers,
)
from paddock.scenario import Scenario
from paddock.wire.messages.states import RunStart, StateHash
from paddock.wire.radio_results import RadioTree, as_tree
from paddock.world.archive import STATE_FORMAT
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot
from paddock.world.state import SETTLED

RATE = 30.0  # default samples per simulated second, Hz
LARGE = 50.0  # MB per simulated minute: arrays that take more are reported at the start


@dataclass(frozen=True)
class RecordingReport:
    """The result of a recording."""

    path: str
    samples: int  # in the file
    dropped: int  # samples discarded because the queue was full in real time
    vehicle_samples: int  # vehicles, summed over the samples
    bytes: int  # of the file
    failure: str  # why it stopped early; empty if it did not
    lost: int = 0  # samples due since then, and before but not in the file

    @property
    def bytes_per_vehicle_sample(self) -> float:
        """File size per sample of a vehicle."""
        return self.bytes / max(self.vehicle_samples, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {**asdict(self), "bytes_per_vehicle_sample": self.bytes_per_vehicle_sample}

    def line(self) -> str:
        """Return the report as one line."""
        dropped = f", {self.dropped:,} dropped" if self.dropped else ""
        failed = f", stopped early: {self.failure}, {self.lost:,} samples lost" if self.failure else ""
        return (
            f"recorded {self.path}: {self.samples:,} samples{dropped}, {self.bytes / 1e6:.2f} MB, "
            f"{self.bytes_per_vehicle_sample:.1f} bytes per vehicle and sample{failed}"
        )


class Recorder(AbstractContextManager["Recorder"]):
    """Records until `close`. `on_failure` is called with one line when the recording fails; the run continues."""

    def __init__(
        self,
        sim: Simulation,
        path: str | os.PathLike[str],
        *,
        rate: float = RATE,
        precision: str = "auto",
        on_failure: Callable[[str], None] | None = None,
    ) -> None:
        """`rate` in samples per simulated s; `precision`: double, single, or auto (double up to 1,000 vehicles)."""
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not (isfinite(rate) and rate > 0):
            raise InvalidValueError(f"the rate of a recording must be a positive number of Hz, not {rate!r}")
        if precision not in PRECISIONS:
            raise unknown_name("precision", str(precision), PRECISIONS)
        self.sim, self.path = sim, os.fspath(path)
        self.dropped = 0
        self.failure = ""
        self._due = self._due_vehicles = 0  # samples so far, and their vehicles
        self._readable = 0  # samples in the file after a failure
        self._world = sim.engine.world
        self.every = max(1, round(self._world.clock.rate / rate))  # ticks between two samples
        self._say = on_failure or partial(print, "paddock:", file=sys.stderr, flush=True)
        self._queue = WriteQueue()
        self._hashes = HashSchedule(sim)
        started = time_ns()
        self._timeline = Timeline(self._world.clock.rate, started)
        self._timeline_lock = threading.Lock()
        self._last_sample = -1
        self._layout: Layout | None = None
        self._sensed: tuple[SensedArray, ...] = ()  # of the layout
        self._radio: RadioTree | None = None
        with sim.engine.thread.driving("recording"):
            self._output = RecordingFile.open(path)
            self._writer = self._prepared(precision, started)
            self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
            self._attach()
            self._thread.start()
        self._closed = False
        self._warn_of_size()
        atexit.register(self.close)

    def _warn_of_size(self) -> None:
        layout, rate = self.sim.snapshot().layout, self._world.clock.rate / self.every
        large = 60.0 * array_load(layout, self.sim.engine.programs, rate) / 1e6
        if large > LARGE:
            self._say(
                f"recording to {self.path}: arrays of sensors take up to {large:.0f} MB per simulated minute; "
                "a lower rate of the recording or of the sensors, or fewer beams, make it smaller"
            )

    def _attach(self) -> None:
        sim, log = self.sim, self.sim.control.log
        for part, listener in self._listeners():
            part.listeners.append(listener)
        sim.engine.listeners.restart.append(self._on_restart)
        self._unwatch = sim.clock.watch(self._on_sample, self.every)
        untouched = sim.tick == 0 and log.restored_at is None and not (log.entries or log.lost)
        self._begin("start", with_state=not untouched)
        for event in sim.events.since() if sim.tick == 0 and log.restored_at is None else ():  # e.g. a mission's plan
            self._on_event(event)
        for change in present_markers(sim.world.markers, sim.time):
            self._on_markers(change)
        self._queue.put(self._writer.writer.flush)  # so that the file is readable from the start

    def _detach(self) -> None:
        self._unwatch()
        for part, listener in self._listeners():
            part.listeners.remove(listener)
        self.sim.engine.listeners.restart.remove(self._on_restart)

    def _listeners(self) -> list[tuple[Any, Any]]:
        sim = self.sim
        return [(sim.control.log, self._on_action), (sim.events, self._on_event), (sim.world.markers, self._on_markers)]

    def _on_restart(self, how: str) -> None:
        self._begin(how, with_state=how == "restore")

    def _on_action(self, posted: Posted) -> None:
        self._queue.put(partial(self._writer.action, posted, self._log_time(posted.tick)))

    def _on_event(self, event: Event) -> None:
        self._queue.put(partial(self._writer.event, event, self._log_time(event.tick)))

    def _on_markers(self, change: MarkerChange) -> None:
        """Queue a change of markers, from any thread."""
        self._queue.put(partial(self._writer.markers.write, change, self._log_time()))

    def _on_sample(self, snapshot: Snapshot) -> None:
        self._due += 1
        self._due_vehicles += len(snapshot)
        if self._queue.closed:
            return
        real_time = self.sim.clock.active and self.sim.clock.pace > 0
        if snapshot.layout is not self._layout:
            self._layout, self._sensed = snapshot.layout, sensed_arrays(snapshot.layout, self.sim.engine.programs)
            self._radio = described_radio(self.sim)
        if self._radio is not None:
            assert self.sim.radio is not None
            stage = self.sim.engine.radio
            counts = {"traffic": self.sim.radio.traffic(), "services": as_tree(self.sim.radio.services())}
            more: Any = {**as_tree(stage.emitters()), **counts, "ups": stage.state.ups, "downs": stage.state.downs}
            self._radio = {**self._radio, **more}
        job = partial(self._writer.sample, snapshot, self._log_time(snapshot.tick), self._sensed, self._radio)
        if self._queue.offer(job, snapshot.buffer.nbytes, wait=not real_time):
            self._last_sample = snapshot.tick
        elif not self._queue.closed:
            self.dropped += 1
        if self._hashes.due():
            self._hash()

    def _begin(self, how: str, with_state: bool) -> None:
        """Start a section of the run at the present tick."""
        sim = self.sim
        state = sim.save() if with_state else b""
        begin = RunStart(self._world.run, self._world.seed, self._scenario().to_dict(), versions(), how, state)
        with self._timeline_lock:
            log_time = self._timeline.begin(sim.tick)
        self._queue.put(partial(self._writer.begin, begin, log_time))
        self._hashes.restart()
        self._last_sample = -1
        self._on_sample(sim.snapshot())

    def _hash(self) -> None:
        state = StateHash(self.sim.tick, self._world.run, self._hashes.take())
        self._queue.put(partial(self._writer.digest, state, self._log_time(state.tick)))

    def _log_time(self, tick: int | None = None) -> LogTime:
        """Return the time of a tick, by default the present one."""
        with self._timeline_lock:
            return self._timeline.at(self.sim.tick if tick is None else tick)

    def _prepared(self, precision: str, started: int) -> RecordingWriter:
        """Write the header of the file; an error before the run starts."""
        sim = self.sim
        metadata = {
            "name": sim.scenario.name,
            "description": sim.scenario.description,
            "seed": str(self._world.seed),
            "rate": f"{self._world.clock.rate!r}",
            "sample_ticks": str(self.every),
            "precision": precision,
            "state_format": STATE_FORMAT,  # of the hashes and saved states
            "device": sim.engine.fleets.device,
            **surroundings_of(sim),
            **versions(),
        }
        with ExitStack() as stack, file_errors(f"cannot record to {self.path}"):
            stack.callback(self._output.close)
            writer = McapWriter(self._output, metadata, self._scenario().to_yaml(), started)
            stack.pop_all()
        point_cloud(sim.snapshot(), 0)  # loads its kernel now, not on the writing thread
        track = None if sim.world.track is None else track_scene(sim.world.track, self._world.heights)
        return RecordingWriter(writer, precision, self._world.clock.rate, track)

    def _scenario(self) -> Scenario:
        """Return the scenario without `serve` and `record`, which do not affect the run and may hold a token."""
        return self.sim.scenario.model_copy(update={"serve": None, "record": None})

    def _work(self) -> None:
        writer = self._writer.writer
        try:
            while self._queue.work(0.25 * FLUSH_EVERY):
                writer.flush_if_due()
            writer.finish()
        except Exception as error:  # the run continues after any error
            self._fail(error)
        finally:
            self._output.close()

    def _fail(self, error: Exception) -> None:
        self._queue.close(discard=True)
        self._output.truncate()
        self.failure = (error.strerror or str(error)) if isinstance(error, OSError) else repr(error)
        with suppress(PaddockError), closing(McapFile(self.path)) as file:  # PaddockError: nothing is readable
            self._readable = len(file.index(channels.STATE).times)
        self._say(
            f"recording to {self.path} stopped: {self.failure}; the file is readable up to there, the run continues"
        )

    def close(self) -> RecordingReport:
        """Record the final state, write the rest and detach from the simulation."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self._detach()
            if not self.sim.engine.thread.elsewhere() and not self._queue.closed:
                if self._last_sample != self.sim.tick:
                    self._on_sample(self.sim.snapshot())
                if self._radio is not None:  # the counts at the end
                    self._queue.put(partial(self._writer.radio, self.sim.snapshot(), self._radio, self._log_time()))
                self._hash()
            self._queue.close()
            self._thread.join()
        return self.report()

    def report(self) -> RecordingReport:
        """Return the counts so far."""
        samples, vehicles, lost = self._writer.samples, self._writer.vehicle_samples, 0
        if self.failure:
            vehicles = self._due_vehicles * self._readable // max(self._due, 1)
            samples, lost = self._readable, self._due - self.dropped - self._readable
        return RecordingReport(self.path, samples, self.dropped, vehicles, self._output.position, self.failure, lost)

    def __exit__(self, *_: object) -> None:
        self.close()


def versions() -> dict[str, str]:
    """Return the versions of Paddock and of the libraries that compute its numbers."""
    import numba

    package = import_module(__name__.partition(".")[0])  # by name: rooms do not import the top-level package
    return {
        "paddock": package.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


FEWEST, MOST = 8, 512  # limits of the number of queued samples
ROOM = 64 * 2**20  # bytes of queued samples, if that is more than the fewest


class WriteQueue:
    """Jobs in order, from the ticking thread to the writing thread; only the number of samples is bounded."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Callable[[], None], bool]] = deque()
        self._change = threading.Condition()
        self._samples = 0  # queued or being written
        self.closed = False

    def put(self, job: Callable[[], None]) -> None:
        """Queue a job that must be done; never blocks."""
        with self._change:
            if not self.closed:
                self._jobs.append((job, False))
                self._change.notify_all()

    def offer(self, job: Callable[[], None], nbytes: int, wait: bool) -> bool:
        """Queue a sample; if the queue is full, wait for room or return False."""
        limit = min(max(FEWEST, ROOM // max(nbytes, 1)), MOST)
        with self._change:
            while self._samples >= limit and wait and not self.closed:
                self._change.wait()
            if self._samples >= limit or self.closed:
                return False
            self._samples += 1
            self._jobs.append((job, True))
            self._change.notify_all()
            return True

    def work(self, idle: float) -> bool:
        """Do the next job, waiting up to `idle` s of wall time for one; False when closed and empty."""
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

    def close(self, discard: bool = False) -> None:
        """Accept no more jobs; those queued are still done, unless they are discarded."""
        with self._change:
            self.closed = True
            if discard:
                self._jobs.clear()
            self._change.notify_all()


FEW = 1000  # vehicles up to which the state is hashed often
OFTEN, SELDOM = 0.1, 1.0  # simulated s between two hashes, of few vehicles and of many
SHARE = 0.05  # share of the wall time that hashing may take; a faster run is hashed less often
ALLOWANCE = 0.25  # s of wall time that hashing may take beyond its share, so that short runs are hashed in full


class HashSchedule:
    """Decides when to hash the settled state. The choice of ticks does not change the run."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._next_tick = 0
        self._started, self._spent = monotonic(), 0.0

    def restart(self) -> None:
        """Hash at the next opportunity, after a reset or restore."""
        self._next_tick = 0

    def due(self) -> bool:
        """Return whether to hash now."""
        if self.sim.tick < self._next_tick:
            return False
        return self._spent <= ALLOWANCE + SHARE * (monotonic() - self._started)

    def take(self) -> str:
        """Return the digest of the present state."""
        started = monotonic()
        text = self.sim.engine.state_hash(SETTLED)
        self._spent += monotonic() - started
        world = self.sim.engine.world
        period = max(1, world.clock.ticks(OFTEN if world.vehicles <= FEW else SELDOM))
        self._next_tick = max(self._next_tick + period, self.sim.tick + period // 2)
        return text
