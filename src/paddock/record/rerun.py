"""Simulate a run again from its scenario and actions, which determine it.

`verify` compares the state hashes with those of a recording; `write_run` records a run afterwards.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from paddock.compute.arrays import NUMPY_MATH
from paddock.compute.cuda import find_gpu
from paddock.engine.actions import Posted
from paddock.engine.simulation import Simulation
from paddock.errors import NotFiniteError, PaddockError
from paddock.plugins import installed_only
from paddock.record.reader import RecordedRun, RunSection, open_run
from paddock.record.recorder import RATE, Recorder, RecordingReport, versions
from paddock.world.archive import digest
from paddock.world.columns import column_index

OTHER_PLANS = (
    "recorded by an earlier version, which planned missions in wind and around zones with other costs: the recording "
    "can be replayed, but a new plan differs"
)
Progress = Callable[[float], None]  # called with the share that is done, 0 to 1


@dataclass(frozen=True)
class Difference:
    """The first different state of a section."""

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
    hashes: int  # compared
    ticks: int  # simulated again
    actions: int
    differences: tuple[Difference, ...]  # the first of each section
    other_versions: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> (recorded, here)
    device: str = "cpu"  # that simulated it again: the recorded one, or the CPU where there is no GPU
    reason: str = ""  # of the differences, if known

    @property
    def same(self) -> bool:
        """Whether all hashes are equal."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {**asdict(self), "same": self.same}

    def lines(self) -> list[str]:
        """Return the result as lines of text."""
        what = f"{self.hashes} hashes over {self.ticks:,} ticks, {self.actions} actions, on {self.device}"
        lines = [f"{self.path}: {'the same' if self.same else 'DIFFERENT'} ({what})"]
        for diff in self.differences:
            lines.append(
                f"  section {diff.section}: first differs at tick {diff.tick:,} ({diff.time:.3f} s): "
                f"recorded {diff.recorded}, now {diff.computed}"
            )
        lines += [f"  {self.reason}"] if self.reason else []
        lines += [f"  recorded with {name} {old}, this is {new}" for name, (old, new) in self.other_versions.items()]
        return lines if self.complete else [*lines, "  the recording is truncated: only its readable part is compared"]


def verify(
    path: str | os.PathLike[str], progress: Progress = lambda share: None, allow_imports: bool = False
) -> Verification:
    """Simulate a recording again and compare every recorded hash.

    `allow_imports`: modules that the recording names, such as your own model, are imported if they are not installed.
    """
    with ExitStack() as stack:
        stack.enter_context(installed_only(not allow_imports))
        run = stack.enter_context(open_run(path))
        # earlier versions computed start poses, slots and paths with NumPy's functions
        stack.callback(NUMPY_MATH.reset, NUMPY_MATH.set("math" not in run.metadata))
        device = run.metadata.get("device", "cpu")
        used = device if device == "cpu" or find_gpu().available else "cpu"
        sim = stack.enter_context(Simulation(run.scenario, used))
        sim.engine.stages.guard.enabled = "guard" in run.metadata  # earlier versions did not report crashes
        checked = [_Checked(run, sim, section) for section in run.sections]
        total = max(sum(part.last - part.first for part in checked), 1)
        done = 0
        for part in checked:
            part.simulate(lambda ticks, done=done: progress((done + ticks) / total))  # type: ignore[misc]
            done += part.last - part.first
        here = {**versions(), "device": used}
        differences = tuple(part.difference for part in checked if part.difference is not None)
        recorded = {"device": device, **{name: run.metadata.get(name, "unknown") for name in versions()}}
        return Verification(
            path=run.path,
            complete=run.complete,
            sections=len(checked),
            hashes=sum(part.compared for part in checked),
            ticks=sum(part.reached - part.first for part in checked),
            actions=sum(part.applied for part in checked),
            differences=differences,
            device=used,
            reason=OTHER_PLANS if differences and run.scenario.mission and "math" not in run.metadata else "",
            other_versions={name: (recorded[name], now) for name, now in here.items() if recorded[name] != now},
        )


class _Checked:
    """One section, simulated up to its first difference."""

    def __init__(self, run: RecordedRun, sim: Simulation, section: RunSection) -> None:
        self.sim, self.section = sim, section
        self.hashes = run.hashes(section.number)
        self.applied_before = run.actions_before_hashes(section.number)
        self.batteries = "batteries" in run.metadata
        self.actions = run.iterate_actions(section.number)
        self.first = self.hashes[0].tick if self.hashes else 0
        self.last = self.hashes[-1].tick if self.hashes else 0
        self.reached = self.first
        self.compared = self.applied = 0
        self.difference: Difference | None = None

    def simulate(self, progress: Progress) -> None:
        """Simulate the section and compare its hashes."""
        self._begin()
        for recorded, actions in zip(self.hashes, self.applied_before, strict=True):
            self._advance(recorded.tick, actions)
            progress(recorded.tick - self.first)
            computed = digest(self._state())
            self.compared += 1
            if computed != recorded.hash:
                at = recorded.tick / self.sim.engine.world.clock.rate
                self.difference = Difference(self.section.number, recorded.tick, at, recorded.hash, computed)
                return

    def _state(self) -> dict[str, Any]:
        """Return the state; of earlier versions without the batteries of vehicles other than quadrotors."""
        state = self.sim.engine.settled_state()
        for name, fleet in state["world"]["fleets"].items():
            columns = column_index(self.sim.engine.programs[name].model.state)
            if not self.batteries and "current" in columns:
                kept = [row for column, row in columns.items() if column not in ("charge", "voltage", "current")]
                fleet["tables"]["state"] = fleet["tables"]["state"][kept]
        return state

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
        """Advance to a tick, applying as many actions as before its recorded hash."""
        at_the_end = []
        for posted in islice(self.actions, actions - self.applied):
            if posted.tick < tick:
                self.sim.engine.mailbox.post(posted.action, posted.tick, posted.source)
            else:  # applied between two steps, so that the hash of that tick includes it
                at_the_end.append(posted)
        self.applied = actions
        with suppress(NotFiniteError):  # the recorded run ended here, too
            self.sim.step(max(0, tick - self.sim.tick))
        self.reached = tick
        for posted in at_the_end:
            self.sim.engine.applier.take_up(posted)


def write_run(
    sim: Any, path: str | os.PathLike[str], *, rate: float = RATE, precision: str = "auto"
) -> RecordingReport:
    """Write the run so far of a simulation, local or remote, to a file, as a `Recorder` from tick 0 would have done.

    The run is simulated again in this process, and the states at the end are compared. PaddockError if the log does not
    begin at tick 0, or if the states differ: time has passed meanwhile, or autopilots in other processes fly vehicles.
    """
    log, state = sim.log.complete(), sim.save()
    with Simulation(sim.scenario) as again:
        again.restore(state)
        tick, expected = again.tick, digest(again.engine.settled_state())
        again.reset()
        recorder = Recorder(again, path, rate=rate, precision=precision)
        try:
            mailbox = again.engine.mailbox
            for one in log:  # a remote simulation has other objects
                posted = one if isinstance(one, Posted) else Posted.from_tree(one._asdict())
                mailbox.post(posted.action, posted.tick, posted.source)
            with suppress(NotFiniteError):  # the run ended here, too
                again.step(tick)
            if mailbox.next_tick(tick) == tick:  # vehicles that were added or removed after the last tick
                again.engine.stages.latch.run(tick)
            found = digest(again.engine.settled_state())
        finally:
            report = recorder.close()
    if found != expected:
        raise PaddockError(
            f"{report.path}: the log does not lead to the state of tick {tick}: pause the clock, or use a Recorder"
        )
    return report
