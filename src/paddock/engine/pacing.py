"""Run modes: as fast as possible, or paced against the wall clock; pausing; all changeable while it runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import ceil
from time import monotonic

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.world.world import Clock

SLOWEST, FASTEST = 0.05, 100.0
SLICE = 0.01
"""s of wall time between looks at the clock, the pause switch and the pace."""
HEAVY = 0.5
"""Share of wall time from which on the ticks of a paced run are taken several at once."""
LATE = 0.25
"""s of wall time by which a paced run may lag before it gives up catching up."""
NO_END = 1 << 62
"""A tick that no run reaches."""
HEARTBEAT = 0.1
"""s of wall time between heartbeats."""


def checked_pace(pace: float) -> float:
    """0 (as fast as possible) or a factor between the slowest and the fastest."""
    if isinstance(pace, bool) or not isinstance(pace, int | float | np.number):
        raise InvalidValueError(f"pace must be a number, not {pace!r}")
    if pace != 0 and not SLOWEST <= pace <= FASTEST:
        raise InvalidValueError(f"pace must be 0 (as fast as possible) or {SLOWEST:g} to {FASTEST:g}, not {pace!r}")
    return float(pace)


@dataclass
class Grant:
    """Ticks that whoever holds the clock lets pass."""

    target: int  # the tick to reach
    paced: bool  # at the pace of the run, and not while it is paused; otherwise as fast as possible
    done: Future[int]  # has the tick reached


class Pacer:
    """Turns wall time into ticks."""

    def __init__(self, clock: Clock, advance: Callable[[int], None], pace: float) -> None:
        self.clock = clock
        self.advance = advance
        self._pace = checked_pace(pace)
        self._wake = threading.Condition()
        self.running = False
        self.paused = False
        self.held = False  # time passes only by grants
        self.stopping = False
        self.slips = 0  # times that a paced run fell behind and gave up catching up
        self.behind = 0.0  # s of wall time by which a paced run lagged when it was last looked at
        self._slice_ticks = 1
        self._tick_seconds = 0.0  # wall time of a tick, lately
        self._grants: deque[Grant] = deque()
        self._end = NO_END  # of the run, a tick
        self._parked = False  # the running thread sleeps because time stands still
        self._borrowed = False  # another thread advances meanwhile
        self._roused = False  # something has changed since the loop last slept
        self.longest_slice: Callable[[], int] = lambda: 1 << 20
        self.between: Callable[[], None] = lambda: None  # called between slices, also while paused
        self.lend: Callable[[], AbstractContextManager[None]] = nullcontext  # entered by another thread that advances

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second; 0 is as fast as possible."""
        return self._pace

    @pace.setter
    def pace(self, pace: float) -> None:
        self.set(pace=checked_pace(pace))

    @property
    def tick_seconds(self) -> float:
        """Mean wall time of a tick lately, in s."""
        return self._tick_seconds

    def set(
        self,
        *,
        pace: float | None = None,
        paused: bool | None = None,
        held: bool | None = None,
        stopping: bool | None = None,
    ) -> None:
        """Change the mode; a running loop notices at once."""
        with self._wake:
            self._pace = self._pace if pace is None else pace
            self.paused = self.paused if paused is None else paused
            self.held = self.held if held is None else held
            self.stopping = self.stopping if stopping is None else stopping
            self._rouse()

    def wake(self) -> None:
        """Have a running loop look around at once."""
        self.set()

    def grant(self, ticks: int, paced: bool = False) -> Future[int]:
        """Let a run that is held advance by so many ticks; done, with the tick reached, when it has."""
        done: Future[int] = Future()
        with self._wake:
            start = self._grants[-1].target if self._grants else self.clock.tick
            self._grants.append(Grant(start + ticks, paced, done))
            self._rouse()
        return done

    def step_in_place(self, ticks: int) -> bool:
        """Advance a held run in the calling thread while its own sleeps, which need not be woken; whether it could be.

        The caller must not be the one on whom a stage of these ticks waits.
        """
        with self._wake:
            if not (self._parked and self.held) or self._grants or self.clock.tick + ticks > self._end:
                return False
            self._borrowed = True
        try:
            with self.lend():
                self.advance(ticks)
        finally:
            with self._wake:
                self._borrowed = False
                if self._roused:
                    self._wake.notify_all()
        return True

    def revoke(self, why: str) -> None:
        """Take back what was granted and has not passed yet."""
        with self._wake:
            revoked, self._grants = self._grants, deque()
        for grant in revoked:
            grant.done.set_exception(PaddockError(f"{why} at tick {self.clock.tick}, before tick {grant.target}"))

    def finish(self) -> None:
        """Let what was granted end here: whoever waits for it has the tick that was reached."""
        with self._wake:
            ended, self._grants = self._grants, deque()
        for grant in ended:
            grant.done.set_result(self.clock.tick)

    def run(self, end: int | None, heartbeat: Callable[[], None] | None) -> None:
        """Advance until the tick `end` (None: until stopped)."""
        self.stopping, self.running, self._end = False, True, end or NO_END
        try:
            self._run(end, heartbeat)
        finally:
            self.running, self.behind = False, 0.0
            self.revoke("the run ended")

    def _run(self, end: int | None, heartbeat: Callable[[], None] | None) -> None:
        anchor, beat = (monotonic(), self.clock.tick, self._pace), monotonic()
        while not self.stopping and (end is None or self.clock.tick < end):
            self.between()
            if heartbeat is not None and monotonic() >= beat:
                heartbeat()
                beat = monotonic() + HEARTBEAT
            grant = self._open_grant()
            limit = min(end or NO_END, grant.target if grant else NO_END)
            if grant is not None and not grant.paced:
                self._slice(limit)
            elif self._standing(grant) or anchor[2] != self._pace:
                self._sleep(SLICE if self._standing(grant) else 0.0, parked=True)
            else:
                anchor = self._keep_pace(anchor, limit)
                continue
            self.behind = 0.0
            anchor = (monotonic(), self.clock.tick, self._pace)

    def _standing(self, grant: Grant | None) -> bool:
        """Whether time stands still."""
        return self.paused or (self.held and grant is None)

    def _open_grant(self) -> Grant | None:
        """The first grant that is not used up."""
        used: list[Grant] = []
        with self._wake:
            while self._grants and self.clock.tick >= self._grants[0].target:
                used.append(self._grants.popleft())
            first = self._grants[0] if self._grants else None
        for grant in used:
            grant.done.set_result(self.clock.tick)
        return first

    def _keep_pace(self, anchor: tuple[float, int, float], limit: int) -> tuple[float, int, float]:
        """Advance by what is due since the anchor (wall time, tick, pace); returns the anchor to go on from."""
        due, wanted = self._due(anchor), min(self._worthwhile(), limit - self.clock.tick)
        self.behind = max(0, due - self.clock.tick - wanted) / (self.clock.rate * anchor[2]) if anchor[2] else 0.0
        if due < self.clock.tick + wanted:
            self._sleep(self._until(anchor, self.clock.tick + wanted))
            return anchor
        if self._pace and (due - self.clock.tick) / (self.clock.rate * self._pace) > LATE:
            self.slips += 1
            anchor = (monotonic(), self.clock.tick, self._pace)
        self._slice(min(due, limit))
        return anchor

    def _due(self, anchor: tuple[float, int, float]) -> int:
        """The tick that should have been reached by now."""
        started, tick, pace = anchor
        return (
            self.clock.tick + (1 << 40) if pace == 0 else tick + int((monotonic() - started) * self.clock.rate * pace)
        )

    def _worthwhile(self) -> int:
        """Ticks to take at once: one, or those of a slice where they take much of the time there is.

        Several ticks in one stride cost less than one by one, and then leave time to others.
        """
        if self._pace == 0 or self._tick_seconds * self.clock.rate * self._pace < HEAVY:
            return 1
        return ceil(SLICE * self.clock.rate * self._pace)

    def _until(self, anchor: tuple[float, int, float], target: int) -> float:
        """s until a tick is due, but no more than a slice."""
        started, tick, pace = anchor
        return min(SLICE, max(0.0, started + (target - tick) / (self.clock.rate * pace) - monotonic()))

    def _slice(self, target: int) -> None:
        """Advance towards the target for about one slice of wall time."""
        ticks = min(self._slice_ticks, target - self.clock.tick, self.longest_slice())
        started = monotonic()
        self.advance(ticks)
        took = monotonic() - started
        self._tick_seconds += 0.1 * (took / max(ticks, 1) - self._tick_seconds)
        if took < SLICE and ticks == self._slice_ticks:
            self._slice_ticks = min(2 * self._slice_ticks, 1 << 20)
        elif took > 2.5 * SLICE:
            self._slice_ticks = max(1, self._slice_ticks // 2)

    def _sleep(self, seconds: float, parked: bool = False) -> None:
        if seconds > 0:
            with self._wake:
                if not self._roused:  # since the loop last looked around
                    self._parked = parked
                    self._wake.wait(seconds)
                    while self._borrowed:
                        self._wake.wait(SLICE)
                    self._parked = False
                self._roused = False

    def _rouse(self) -> None:
        self._roused = True
        self._wake.notify_all()
