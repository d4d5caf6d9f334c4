"""Run modes: paced against the wall clock or as fast as possible; running, held or paused. Any thread may change them.

- RUNNING: time passes at the pace.
- HELD: time passes only by requested ticks; a client that owns the clock holds it.
- PAUSED: time passes only by requested ticks that are not paced.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from math import ceil
from time import monotonic

import numpy as np

from paddock.engine.clock_thread import ClockThread, in_background
from paddock.errors import InvalidValueError, NotFiniteError, PaddockError
from paddock.world.world import Clock

SLOWEST, FASTEST = 0.05, 100.0
SLICE = 0.01  # s of wall time between checks of the clock, the mode and the pace
HEAVY = 0.5  # share of wall time above which a paced run groups its ticks
LATE = 0.25  # s of wall time by which a paced run may lag before it stops catching up
NO_END = 1 << 62  # a tick that no run reaches
HEARTBEAT = 0.1  # s of wall time between heartbeats
LAST_TIME = 1e12  # s: a time that no run reaches


class RunMode(Enum):
    """How time passes in a run."""

    RUNNING = "running"
    HELD = "held"
    PAUSED = "paused"


@dataclass
class TickRequest:
    """Ticks that the owner of the clock requests from a held run."""

    target: int  # the tick to reach
    paced: bool  # at the pace of the run, and not while it is paused; otherwise as fast as possible
    done: Future[int]  # gets the tick reached


def checked_pace(pace: float) -> float:
    """Return the pace as a float; InvalidValueError unless it is 0 or in the valid range."""
    if isinstance(pace, bool) or not isinstance(pace, int | float | np.number):
        raise InvalidValueError(f"pace must be a number, not {pace!r}")
    if pace != 0 and not SLOWEST <= pace <= FASTEST:
        raise InvalidValueError(f"pace must be 0 (as fast as possible) or {SLOWEST:g} to {FASTEST:g}, not {pace!r}")
    return float(pace)


@dataclass(eq=False, repr=False)
class Pacer:
    """Turns wall time into ticks: `sim.clock`."""

    clock: Clock
    advance: Callable[[int], None]
    _pace: float
    thread: ClockThread
    longest_slice: Callable[[int], int]  # tick -> limit of the ticks per slice
    between: Callable[[], None]  # called between slices, also while paused
    watch: Callable[..., Callable[[], None]]  # `PublishStage.watch`

    def __post_init__(self) -> None:
        self.mode = RunMode.RUNNING
        self._released = RunMode.RUNNING  # the mode while no client owns the clock: of the last `pause` or `resume`
        self.active = False  # whether a run lasts, paused or not
        self.paced_from = 0  # tick: a run takes earlier ticks as fast as possible
        self.pauses_on_failure = False  # pause, instead of ending the run, when a state is not finite
        self.slips = 0  # times that a paced run stopped catching up
        self.behind = 0.0  # s of wall time by which a paced run lags
        self.tick_seconds = 0.0  # recent mean wall time of a tick, s
        self._pace = checked_pace(self._pace)
        self._released_pace: float | None = None  # the pace after `release`; None: the present one
        self._slice_ticks = 1
        self._requests: deque[TickRequest] = deque()
        self._end = NO_END  # tick at which the run ends
        self._sleeping = False  # the running thread sleeps because time is stopped
        self._substituted = False  # another thread advances meanwhile

    def __dir__(self) -> list[str]:
        """List the members for users, which a remote clock has too; the others are for the engine and endpoints."""
        return ["pace", "pause", "paused", "resume", "running", "stop", "watch"]

    # from any thread -------------------------------------------------------------------------------------------------

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second; 0 is as fast as possible."""
        return self._pace

    @pace.setter
    def pace(self, pace: float) -> None:
        self._pace, self._released_pace = checked_pace(pace), None
        self.thread.wake()

    def set_pace_until_release(self, pace: float) -> None:
        """Set the pace for the client that owns the clock; `release` returns to the present one."""
        before = self._pace if self._released_pace is None else self._released_pace
        self.pace = pace
        self._released_pace = before

    @property
    def paused(self) -> bool:
        """Whether the run is paused or held."""
        return self.mode is not RunMode.RUNNING

    def running(self, until: float | None = None, pace: float | None = None) -> AbstractContextManager[None]:
        """Run in another thread while a `with` block lasts: `with sim.clock.running(): ...`."""
        return in_background(lambda: self.run(until, pace), lambda: self.active, self.stop)

    def pause(self) -> None:
        """Pause the run; `step` still works."""
        self._released = RunMode.PAUSED
        self._set_mode(RunMode.PAUSED)

    def resume(self) -> None:
        """Resume a paused or held run."""
        self._released = RunMode.RUNNING
        self._set_mode(RunMode.RUNNING)

    def hold(self, unpause: bool = False) -> None:
        """Let time pass only by requested ticks; a paused run stays paused without `unpause`."""
        if unpause or self.mode is not RunMode.PAUSED:
            self._set_mode(RunMode.HELD)

    def proceed(self) -> None:
        """Let time pass for the client that owns the clock; a run that was paused pauses at the release."""
        self._set_mode(RunMode.RUNNING)

    def release(self) -> None:
        """End a hold: run at the earlier pace, or pause if the run was paused and not resumed."""
        if self._released_pace is not None:
            self.pace = self._released_pace
        self._set_mode(self._released)

    def _set_mode(self, mode: RunMode) -> None:
        self.mode = mode
        self.thread.wake()

    def stop(self) -> None:
        """Make `run` return."""
        self.thread.stopping = True
        self.thread.wake()

    def request_ticks(self, ticks: int, paced: bool = False) -> Future[int]:
        """Let a held run advance by that many ticks; the result is the tick reached."""
        done: Future[int] = Future()
        with self.thread.condition:
            start = self._requests[-1].target if self._requests else self.clock.tick
            self._requests.append(TickRequest(start + ticks, paced, done))
        self.thread.wake()
        return done

    def step_in_place(self, ticks: int) -> bool:
        """Advance a held run in the calling thread while its own thread sleeps; return whether that was possible.

        This saves two thread switches per step. No stage of these ticks may wait for the calling thread.
        """
        with self.thread.condition:
            standing = self._sleeping and self.mode is not RunMode.RUNNING
            if not standing or self._requests or self.clock.tick + ticks > self._end:
                return False
            self._substituted = True
        try:
            with self.thread.substituting():
                self.advance(ticks)
        finally:
            self.thread.notify()
            with self.thread.condition:
                self._substituted = False
                if self.thread.woken:
                    self.thread.condition.notify_all()
        return True

    def tick_until(self, until: float) -> int:
        """Return the tick of a time (s) at which a run ends; InvalidValueError if it is in the past."""
        if not (isinstance(until, int | float | np.number) and abs(until) <= LAST_TIME):
            raise InvalidValueError(f"run(until=...) takes a finite time in s, not {until!r}")
        if (tick := self.clock.tick_at(until)) < self.clock.tick:
            raise InvalidValueError(f"run(until={until:g}) is in the past: the time is {self.clock.time:g} s")
        return tick

    def cancel_ticks(self, reason: str) -> None:
        """Fail the requested ticks with an error."""
        for request in self._take_requests():
            request.done.set_exception(
                PaddockError(f"{reason} at tick {self.clock.tick}, before tick {request.target}")
            )

    def finish_ticks(self) -> None:
        """End the requested ticks early, with the tick reached as their result."""
        for request in self._take_requests():
            request.done.set_result(self.clock.tick)

    def _take_requests(self) -> deque[TickRequest]:
        with self.thread.condition:
            requests, self._requests = self._requests, deque()
        return requests

    # in the running thread -------------------------------------------------------------------------------------------

    def run(
        self, until: float | None = None, pace: float | None = None, heartbeat: Callable[[], None] | None = None
    ) -> None:
        """Run to a simulation time (s; None: until `stop`), at a pace; `heartbeat` is called ten times a second."""
        if until is not None:
            self.tick_until(until)  # refused before another thread's verb is
        if pace is not None:
            self.pace = pace
        with self.thread.driving("run()"):
            end = None if until is None else self.tick_until(until)
            self.thread.stopping, self.active, self._end = False, True, end or NO_END
            try:
                self._run(end, heartbeat)
            finally:
                self.active, self.behind = False, 0.0
                self.cancel_ticks("the run ended")

    def _run(self, end: int | None, heartbeat: Callable[[], None] | None) -> None:
        anchor, beat = (monotonic(), self.clock.tick, self._pace), monotonic()
        while not self.thread.stopping and (end is None or self.clock.tick < end):
            before = self.clock.tick
            self.between()
            if heartbeat is not None and monotonic() >= beat:
                heartbeat()
                beat = monotonic() + HEARTBEAT
            anchor = (anchor[0], anchor[1] + self.clock.tick - before, anchor[2])  # a restored tick is on time
            reached: list[TickRequest] = []
            with self.thread.condition:
                while self._requests and self.clock.tick >= self._requests[0].target:
                    reached.append(self._requests.popleft())
                request = self._requests[0] if self._requests else None  # the first tick not reached
            for done in reached:
                done.done.set_result(self.clock.tick)
            limit = min(end or NO_END, request.target if request else NO_END)
            if request is not None and not request.paced:
                self._slice(limit)
            elif self.mode is RunMode.RUNNING and self.clock.tick < self.paced_from:
                self._slice(min(limit, self.paced_from))
            elif self._is_stopped(request) or anchor[2] != self._pace:
                self._sleep(SLICE if self._is_stopped(request) else 0.0, standing=True)
            else:
                anchor = self._keep_pace(anchor, limit)
                continue
            self.behind = 0.0
            anchor = (monotonic(), self.clock.tick, self._pace)

    def _is_stopped(self, request: TickRequest | None) -> bool:
        """Return whether time is stopped."""
        return self.mode is RunMode.PAUSED or (self.mode is RunMode.HELD and request is None)

    def _keep_pace(self, anchor: tuple[float, int, float], limit: int) -> tuple[float, int, float]:
        """Advance by the ticks due since the anchor (wall time, tick, pace); return the next anchor."""
        due, wanted = self._due(anchor), min(self._group(), limit - self.clock.tick)
        self.behind = max(0, due - self.clock.tick - wanted) / (self.clock.rate * anchor[2]) if anchor[2] else 0.0
        if due < self.clock.tick + wanted:
            started, tick, pace = anchor
            due_in = started + (self.clock.tick + wanted - tick) / (self.clock.rate * pace) - monotonic()
            self._sleep(min(SLICE, max(0.0, due_in)))
            return anchor
        if self._pace and (due - self.clock.tick) / (self.clock.rate * self._pace) > LATE:
            self.slips += 1
            anchor = (monotonic(), self.clock.tick, self._pace)
        self._slice(min(due, limit))
        return anchor

    def _due(self, anchor: tuple[float, int, float]) -> int:
        """Return the tick that should have been reached by now."""
        started, tick, pace = anchor
        return (
            self.clock.tick + (1 << 40) if pace == 0 else tick + int((monotonic() - started) * self.clock.rate * pace)
        )

    def _group(self) -> int:
        """Return the number of ticks to run together: a whole slice if single ticks cost much wall time."""
        if self._pace == 0 or self.tick_seconds * self.clock.rate * self._pace < HEAVY:
            return 1
        return ceil(SLICE * self.clock.rate * self._pace)

    def _slice(self, target: int) -> None:
        """Advance towards the target for about one slice of wall time."""
        ticks = min(self._slice_ticks, target - self.clock.tick, self.longest_slice(self.clock.tick))
        started = monotonic()
        try:
            self.advance(ticks)
        except NotFiniteError as error:
            for request in self._take_requests():
                request.done.set_exception(error)
            if not self.pauses_on_failure:
                raise
            self.pause()
        took = monotonic() - started
        self.thread.notify()
        self.tick_seconds += 0.1 * (took / max(ticks, 1) - self.tick_seconds)
        if took < SLICE and ticks == self._slice_ticks:
            self._slice_ticks = min(2 * self._slice_ticks, 1 << 20)
        elif took > 2.5 * SLICE:
            self._slice_ticks = max(1, self._slice_ticks // 2)

    def _sleep(self, seconds: float, standing: bool = False) -> None:
        if seconds <= 0:
            return
        with self.thread.condition:
            if not self.thread.woken:  # since the last check of the loop
                self._sleeping = standing
                self.thread.condition.wait(seconds)
                while self._substituted:
                    self.thread.condition.wait(SLICE)
                self._sleeping = False
            self.thread.woken = False
