"""Simulate a run again from its scenario and actions, which determine it.

`verify` compares the state hashes with those of a recording, or the columns if another version recorded it;
`write_run` records a run afterwards.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from paddock.compute.cuda import find_gpu
from paddock.engine.actions import Posted
from paddock.engine.simulation import Simulation
from paddock.errors import NotFiniteError, PaddockError
from paddock.plugins import installed_only
from paddock.record import channels
from paddock.record.reader import RecordedRun, RunSection, open_run
from paddock.record.recorder import RATE, Recorder, RecordingReport, versions
from paddock.world.archive import STATE_FORMAT
from paddock.world.state import SETTLED

Progress = Callable[[float], None]  # called with the share that is done, 0 to 1


@dataclass(frozen=True)
class Difference:
    """The first different state of a section: of its hashes, or of a column."""

    section: int
    tick: int
    time: float  # simulation time, s
    recorded: str
    computed: str


@dataclass(frozen=True)
class Verification:
    """The result of a verification."""

    path: str
    complete: bool  # False: the recording is truncated; its readable part is compared
    sections: int
    hashes: int  # compared; 0 if they belong to another version
    samples: int  # whose columns are compared, in place of hashes
    ticks: int  # simulated again
    actions: int
    differences: tuple[Difference, ...]  # the first of each section
    other_versions: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> (recorded, here)
    device: str = "cpu"  # that simulated it again: the recorded one, or the CPU where there is no GPU

    @property
    def same(self) -> bool:
        """Whether all hashes are equal, or all columns."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {**asdict(self), "same": self.same}

    def lines(self) -> list[str]:
        """Return the result as lines of text."""
        compared = f"{self.samples} samples" if "state_format" in self.other_versions else f"{self.hashes} hashes"
        what = f"{compared} over {self.ticks:,} ticks, {self.actions} actions, on {self.device}"
        result = "the same" if self.same else "DIFFERENT"
        if "state_format" in self.other_versions:
            columns = "the same bits" if self.same else "DIFFERENT"
            result = f"hashes of another version ({formats(*self.other_versions['state_format'])}); columns: {columns}"
        lines = [f"{self.path}: {result} ({what})"]
        for diff in self.differences:
            lines.append(
                f"  section {diff.section}: first differs at tick {diff.tick:,} ({diff.time:.3f} s): "
                f"recorded {diff.recorded}, now {diff.computed}"
            )
        versions = [f"  recorded with {name} {old}, this is {new}" for name, (old, new) in self.other_versions.items()]
        lines += versions[1:] if "state_format" in self.other_versions else versions
        return lines if self.complete else [*lines, "  the recording is truncated: only its readable part is compared"]


def formats(recorded: str, here: str) -> str:
    """Return the formats of the states of two versions as text."""
    return f"state format {recorded}, here {here}"


def verify(
    path: str | os.PathLike[str], progress: Progress = lambda share: None, allow_imports: bool = False
) -> Verification:
    """Simulate a recording again and compare every recorded hash; if a version with other states made it, the columns.

    `allow_imports`: modules that the recording names, such as your own model, are imported if they are not installed.
    PaddockError if a recording of such a version begins with a saved state, or contains a restored one.
    """
    with ExitStack() as stack:
        stack.enter_context(installed_only(not allow_imports))
        run = stack.enter_context(open_run(path))
        if run.state_format != STATE_FORMAT and any(section.begin.state for section in run.sections):
            raise PaddockError(
                f"{run.path} belongs to another version ({formats(run.state_format, STATE_FORMAT)}): it begins with "
                "a saved state or contains one, so it can be played, but not simulated again"
            )
        device = run.metadata.get("device", "cpu")
        used = device if device == "cpu" or find_gpu().available else "cpu"
        sim = stack.enter_context(Simulation(run.scenario, used))
        kind = HashComparison if run.state_format == STATE_FORMAT else ColumnComparison
        checked = [kind(run, sim, section) for section in run.sections]
        total = max(sum(part.last - part.first for part in checked), 1)
        done = 0
        for part in checked:
            part.simulate(lambda ticks, done=done: progress((done + ticks) / total))  # type: ignore[misc]
            done += part.last - part.first
        here = {"state_format": STATE_FORMAT, **versions(), "device": used}
        recorded = {"state_format": run.state_format, "device": device}
        recorded |= {name: run.metadata.get(name, "unknown") for name in versions()}
        compared = sum(part.compared for part in checked)
        return Verification(
            path=run.path,
            complete=run.complete,
            sections=len(checked),
            hashes=compared if kind is HashComparison else 0,
            samples=compared if kind is ColumnComparison else 0,
            ticks=sum(part.reached - part.first for part in checked),
            actions=sum(part.applied for part in checked),
            differences=tuple(part.difference for part in checked if part.difference is not None),
            device=used,
            other_versions={name: (recorded[name], now) for name, now in here.items() if recorded[name] != now},
        )


class Comparison(ABC):
    """One section, simulated up to its first difference from what was recorded at its `ticks`."""

    topic: ClassVar[str]

    def __init__(self, run: RecordedRun, sim: Simulation, section: RunSection) -> None:
        self.run, self.sim, self.section = run, sim, section
        self.ticks = self._recorded_ticks()
        self.applied_before = run.actions_before(self.topic, section.number)
        self.actions = run.iterate_actions(section.number)
        self.first = self.ticks[0] if self.ticks else 0
        self.last = self.ticks[-1] if self.ticks else 0
        self.reached = self.first
        self.compared = self.applied = 0
        self.difference: Difference | None = None

    @abstractmethod
    def _recorded_ticks(self) -> list[int]:
        """Return the ticks of what is compared."""

    @abstractmethod
    def _difference(self, k: int) -> tuple[str, str] | None:
        """Return what was recorded at the k-th tick, and what is computed now, if they differ."""

    def simulate(self, progress: Progress) -> None:
        """Simulate the section and compare."""
        self._begin()
        for k, (tick, actions) in enumerate(zip(self.ticks, self.applied_before, strict=True)):
            self._advance(tick, actions)
            progress(tick - self.first)
            self.compared += 1
            if (different := self._difference(k)) is not None:
                at = tick / self.sim.engine.world.clock.rate
                self.difference = Difference(self.section.number, tick, at, *different)
                return

    def _begin(self) -> None:
        begin = self.section.begin
        if not begin.state:
            self.sim.reset(begin.seed)
            return
        try:
            self.sim.restore(begin.state)
        except PaddockError as error:
            raise PaddockError(f"the initial state of section {self.section.number}: {error}") from None
        self.sim.engine.mailbox.clear()  # what was queued is among the recorded actions

    def _advance(self, tick: int, actions: int) -> None:
        """Advance to a tick, applying as many actions as before its recorded state."""
        at_the_end = []
        for posted in islice(self.actions, actions - self.applied):
            if posted.tick < tick:
                self.sim.engine.mailbox.post(posted.action, posted.tick, posted.source)
            else:  # applied between two steps, so that the state of that tick includes it
                at_the_end.append(posted)
        self.applied = actions
        with suppress(NotFiniteError):  # the recorded run ended here, too
            self.sim.step(max(0, tick - self.sim.tick))
        self.reached = tick
        for posted in at_the_end:
            self.sim.engine.applier.take_up(posted)


class HashComparison(Comparison):
    """Compares the hashes of the complete state."""

    topic = channels.HASHES

    def _recorded_ticks(self) -> list[int]:
        self.hashes = self.run.hashes(self.section.number)
        return [recorded.tick for recorded in self.hashes]

    def _difference(self, k: int) -> tuple[str, str] | None:
        computed = self.sim.engine.state_hash(SETTLED)
        return None if computed == self.hashes[k].hash else (self.hashes[k].hash, computed)


class ColumnComparison(Comparison):
    """Compares the public columns, bit for bit as they were recorded (float64, or rounded to float32)."""

    topic = channels.STATE

    def _recorded_ticks(self) -> list[int]:
        return [self.run.sample(k).tick for k in self.section.samples]

    def _difference(self, k: int) -> tuple[str, str] | None:
        recorded, computed = self.run.sample(self.section.samples[k]), self.sim.snapshot()
        names = [list(snapshot.fleets) for snapshot in (recorded, computed)]
        if names[0] != names[1]:
            return f"fleets {', '.join(names[0])}", ", ".join(names[1])
        for then in recorded:
            now = computed.fleet(then.name)
            if then.ids.tolist() != now.ids.tolist():
                return f"{len(then)} vehicles of {then.name!r}", f"{len(now)}"
            for column in (*then.layout.columns, *then.layout.array_names):
                was, value = (np.asarray(fleet[column]) for fleet in (then, now))
                if was.tobytes() not in (value.tobytes(), value.astype("f4").astype(value.dtype).tobytes()):
                    first = np.flatnonzero(was != value)[0]
                    return f"{then.name}.{column} {was.flat[first]!r}", f"{value.flat[first]!r}"
        return None


def write_run(
    sim: Any, path: str | os.PathLike[str], *, rate: float = RATE, precision: str = "auto"
) -> RecordingReport:
    """Write the run so far of a simulation, local or remote, to a file, as a `Recorder` from tick 0 would have done.

    The run is simulated again in this process, and the states at the end are compared. PaddockError if the log does not
    begin at tick 0, or if the states differ: time has passed meanwhile, or autopilots in other processes fly vehicles.
    """
    log, state = sim.control.log.complete(), sim.save()
    with Simulation(sim.scenario) as again:
        again.restore(state)
        tick, expected = again.tick, again.engine.state_hash(SETTLED)
        again.reset()
        recorder = Recorder(again, path, rate=rate, precision=precision)
        try:
            mailbox = again.engine.mailbox
            for logged in log:  # a remote simulation has other objects
                posted = logged if isinstance(logged, Posted) else Posted.from_tree(logged._asdict())
                mailbox.post(posted.action, posted.tick, posted.source)
            with suppress(NotFiniteError):  # the run ended here, too
                again.step(tick)
            if mailbox.next_tick(tick) == tick:  # vehicles that were added or removed after the last tick
                again.engine.applier.run(tick)
            reached = again.engine.state_hash(SETTLED)
        finally:
            report = recorder.close()
    if reached != expected:
        raise PaddockError(
            f"{report.path}: the log does not lead to the state of tick {tick}: pause the clock, or use a Recorder"
        )
    return report
