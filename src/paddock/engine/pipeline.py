"""The loop that runs the stages of a tick.

Stages before the motion run at the beginning of a tick, later ones on the new state. Successive ticks in which only the
motion is due form one stride: the kernels loop over them in compiled code, with the same result.
"""

from dataclasses import dataclass
from time import perf_counter_ns
from typing import Protocol

from paddock.world.world import Clock

NEVER_DUE = 1 << 62  # a tick that no run reaches
LONGEST_STRIDE = 4096  # limit of ticks per stride, so that posted actions do not wait long


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
