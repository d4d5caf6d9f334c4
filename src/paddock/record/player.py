"""Play a recording like a live run: at a pace, with pause and seek; watchers receive its snapshots."""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import monotonic

import numpy as np

from paddock.engine.events import Event
from paddock.engine.pacing import HEARTBEAT, LATE, SLICE, checked_pace
from paddock.errors import PaddockError, whole_number
from paddock.record.reader import RecordedRun, open_run
from paddock.scenario import Scenario
from paddock.world.snapshot import Snapshot

Watcher = Callable[[Snapshot], object]


class Player(AbstractContextManager["Player"]):
    """One thread calls `run`; any thread may `pause`, `resume`, `seek`, `stop`, set the `pace` or read."""

    def __init__(self, source: str | os.PathLike[str] | RecordedRun, pace: float = 1.0) -> None:
        """Play a file, or an open run."""
        self._pace = checked_pace(pace)
        self.recording = source if isinstance(source, RecordedRun) else open_run(source)
        if not len(self.recording):
            self.recording.close()
            raise PaddockError(f"{self.recording.path} holds no samples to play")
        self.event_listeners: list[Callable[[Event], None]] = []  # called with each event at its time
        self.slips = 0  # times that playback fell behind and did not catch up
        self._times = self.recording.times()
        self._events = self.recording.events()
        self._event_times = self.recording.event_times()
        self._change = threading.Condition()
        self._watchers: list[Callable[[Snapshot, bool], None]] = []
        self._paused = self._stopping = self._running = False
        self._sought = False  # whether the present sample was sought and the watchers have not seen it
        self._index = 0
        self._snapshot = self.recording.sample(0)

    @property
    def scenario(self) -> Scenario:
        """The scenario of the recorded run."""
        return self.recording.scenario

    @property
    def tick(self) -> int:
        """Tick of the present sample."""
        return self.snapshot().tick

    @property
    def time(self) -> float:
        """Simulation time of the present sample, s."""
        return self.snapshot().time

    @property
    def position(self) -> float:
        """Playback position, s from the start of the recording."""
        with self._change:
            return float(self._times[self._index])

    @property
    def duration(self) -> float:
        """Duration of the recording, s."""
        return float(self._times[-1])

    def snapshot(self) -> Snapshot:
        """Return the present sample."""
        with self._change:
            return self._snapshot

    def events(self) -> list[Event]:
        """Return the events up to the present position."""
        return self._events[: self._events_by(self.position)]

    def section_events(self) -> list[Event]:
        """Return the events since the last reset, up to the present position."""
        position, sections = self.position, self.recording.sections
        starts = np.array([(section.start - sections[0].start) / 1e9 for section in sections])
        start = float(starts[max(int(np.searchsorted(starts, position + 1e-9, "right")) - 1, 0)])
        first = int(np.searchsorted(self._event_times, start - 1e-9, "left"))
        return self._events[first : self._events_by(position)]

    def watch(self, watcher: Watcher, every: int = 1) -> Callable[[], None]:
        """Call `watcher(snapshot)` with samples `every` ticks apart and after seeks; return a function that ends it."""
        whole_number("every takes a whole number of ticks >= 1", every, low=1)
        run, tick = -1, 0  # of the sample that the watcher received last

        def show(snapshot: Snapshot, sought: bool) -> None:
            nonlocal run, tick
            if sought or snapshot.run != run or not tick <= snapshot.tick < tick + every:
                run, tick = snapshot.run, snapshot.tick
                watcher(snapshot)

        def unwatch() -> None:
            self._watchers = [other for other in self._watchers if other is not show]

        self._watchers = [*self._watchers, show]

        return unwatch

    @property
    def pace(self) -> float:
        """Recorded seconds per wall second; 0 is as fast as possible. May be set at any time."""
        return self._pace

    @pace.setter
    def pace(self, pace: float) -> None:
        pace = checked_pace(pace)
        with self._change:
            self._pace = pace
            self._change.notify_all()

    @property
    def paused(self) -> bool:
        """Whether `run` is paused."""
        return self._paused

    def pause(self) -> None:
        """Pause a running `run`; `seek` still works."""
        self._set(paused=True)

    def resume(self) -> None:
        """Resume a paused run."""
        self._set(paused=False)

    def stop(self) -> None:
        """Make `run` return."""
        self._set(stopping=True)

    def seek(self, at: float) -> None:
        """Go to a time (s from the start of the recording), limited to its ends."""
        index = self.recording.sample_at(at)
        snapshot = self.recording.sample(index)
        with self._change:
            self._index, self._snapshot, self._sought = index, snapshot, True
            idle = not self._running
            self._change.notify_all()
        if idle:
            self._show_sought()

    def run(self, until: float | None = None, heartbeat: Callable[[], None] | None = None, stay: bool = False) -> None:
        """Play to a time (s; None: the end), then return, or `stay` until stopped; `heartbeat` is called at 10 Hz."""
        with self._change:
            if self._running:
                raise PaddockError("run() refused: the recording is already playing")
            self._running, self._stopping = True, False
        last = len(self._times) - 1 if until is None else self.recording.sample_at(until)
        try:
            self._show_sought()
            self._play(last, heartbeat, stay)
        finally:
            self._running = False

    def close(self) -> None:
        """Stop playing and close the file."""
        self.stop()
        self.recording.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _set(self, paused: bool | None = None, stopping: bool | None = None) -> None:
        with self._change:
            self._paused = self._paused if paused is None else paused
            self._stopping = self._stopping if stopping is None else stopping
            self._change.notify_all()

    def _play(self, last: int, heartbeat: Callable[[], None] | None, stay: bool) -> None:
        anchor, beat = self._anchor(), 0.0
        while not self._stopping:
            if heartbeat is not None and monotonic() >= beat:
                heartbeat()
                beat = monotonic() + HEARTBEAT
            index = self._index
            if self._sought:
                self._show_sought()
                anchor = self._anchor()
            elif index >= last and not stay:
                return
            elif self._paused or index >= last or anchor[2] != self._pace:
                self._sleep(SLICE)
                anchor = self._anchor()
            else:
                anchor = self._step(index + 1, anchor)

    def _anchor(self) -> tuple[float, float, float]:
        """Return wall time, recorded time and pace, the reference of the following samples."""
        return monotonic(), float(self._times[self._index]), self._pace

    def _step(self, index: int, anchor: tuple[float, float, float]) -> tuple[float, float, float]:
        """Show the next sample if it is due, else wait briefly."""
        started, position, pace = anchor
        ahead = 0.0 if pace == 0 else started + (self._times[index] - position) / pace - monotonic()
        if ahead > 0:
            self._sleep(min(SLICE, ahead))
            return anchor
        self._show(index)
        if ahead < -LATE:
            self.slips += 1
            return self._anchor()
        return anchor

    def _show_sought(self) -> None:
        """Show the present sample after a jump."""
        with self._change:
            snapshot, self._sought = self._snapshot, False
        for show in self._watchers:
            show(snapshot, True)

    def _show(self, index: int) -> None:
        """Show the sample and the events that follow, unless a seek came first."""
        snapshot = self.recording.sample(index)
        with self._change:
            if self._sought:
                return
            self._index, self._snapshot = index, snapshot
        first, end = (self._events_by(float(self._times[k])) for k in (index - 1, index))
        for event in self._events[first:end]:
            for listener in self.event_listeners:
                listener(event)
        for show in self._watchers:
            show(snapshot, False)

    def _events_by(self, time: float) -> int:
        return int(np.searchsorted(self._event_times, time + 1e-9, "right"))

    def _sleep(self, seconds: float) -> None:
        with self._change:
            if not self._sought and not self._stopping:
                self._change.wait(seconds)
