"""Run modes: as fast as possible, or paced against the wall clock; pausing; all changeable while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

import numpy as np

from paddock.errors import InvalidValueError
from paddock.world.clock import Clock

SLOWEST, FASTEST = 0.05, 100.0
SLICE = 0.01
"""s of wall time between looks at the clock, the pause switch and the pace."""
LATE = 0.25
"""s of wall time by which a paced run may lag before it gives up catching up."""
HEARTBEAT = 0.1
"""s of wall time between heartbeats."""


def checked_pace(pace: float) -> float:
    """0 (as fast as possible) or a factor between the slowest and the fastest."""
    if isinstance(pace, bool) or not isinstance(pace, int | float | np.number):
        raise InvalidValueError(f"pace must be a number, not {pace!r}")
    if pace != 0 and not SLOWEST <= pace <= FASTEST:
        raise InvalidValueError(f"pace must be 0 (as fast as possible) or {SLOWEST:g} to {FASTEST:g}, not {pace!r}")
    return float(pace)


class Pacer:
    """Turns wall time into ticks."""

    def __init__(self, clock: Clock, advance: Callable[[int], None], pace: float) -> None:
        self.clock = clock
        self.advance = advance
        self._pace = checked_pace(pace)
        self._wake = threading.Condition()
        self.paused = False
        self.stopping = False
        self.slips = 0  # times that a paced run fell behind and gave up catching up
        self._slice_ticks = 1
        self.longest_slice: Callable[[], int] = lambda: 1 << 20
        self.between: Callable[[], None] = lambda: None  # called between slices, also while paused

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second; 0 is as fast as possible."""
        return self._pace

    @pace.setter
    def pace(self, pace: float) -> None:
        self.set(pace=checked_pace(pace))

    def set(self, *, pace: float | None = None, paused: bool | None = None, stopping: bool | None = None) -> None:
        """Change the mode; a running loop notices at once."""
        with self._wake:
            self._pace = self._pace if pace is None else pace
            self.paused = self.paused if paused is None else paused
            self.stopping = self.stopping if stopping is None else stopping
            self._wake.notify_all()

    def run(self, end: int | None, heartbeat: Callable[[], None] | None) -> None:
        """Advance until the tick `end` (None: until stopped)."""
        self.stopping = False
        anchor, beat = (monotonic(), self.clock.tick, self._pace), monotonic()
        while not self.stopping and (end is None or self.clock.tick < end):
            self.between()
            if heartbeat is not None and monotonic() >= beat:
                heartbeat()
                beat = monotonic() + HEARTBEAT
            if self.paused or anchor[2] != self._pace:
                self._sleep(SLICE if self.paused else 0.0)
                anchor = (monotonic(), self.clock.tick, self._pace)
                continue
            due = self._due(anchor)
            if due <= self.clock.tick:
                self._sleep(self._until_next(anchor))
                continue
            if self._pace and (due - self.clock.tick) / (self.clock.rate * self._pace) > LATE:
                self.slips += 1
                anchor = (monotonic(), self.clock.tick, self._pace)
            self._slice(due if end is None else min(due, end))

    def _due(self, anchor: tuple[float, int, float]) -> int:
        """The tick that should have been reached by now."""
        started, tick, pace = anchor
        return (
            self.clock.tick + (1 << 40) if pace == 0 else tick + int((monotonic() - started) * self.clock.rate * pace)
        )

    def _until_next(self, anchor: tuple[float, int, float]) -> float:
        started, tick, pace = anchor
        return min(SLICE, max(0.0, started + (self.clock.tick + 1 - tick) / (self.clock.rate * pace) - monotonic()))

    def _slice(self, target: int) -> None:
        """Advance towards the target for about one slice of wall time."""
        ticks = min(self._slice_ticks, target - self.clock.tick, self.longest_slice())
        started = monotonic()
        self.advance(ticks)
        took = monotonic() - started
        if took < 0.5 * SLICE and ticks == self._slice_ticks:
            self._slice_ticks = min(2 * self._slice_ticks, 1 << 20)
        elif took > SLICE:
            self._slice_ticks = max(1, self._slice_ticks // 2)

    def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            with self._wake:
                self._wake.wait(seconds)
