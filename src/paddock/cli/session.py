"""One run from the command line: with the live view, with plain lines, or with nothing but its result."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from paddock.cli.hosting import Served, serving
from paddock.cli.notices import Notices
from paddock.cli.options import RunOptions
from paddock.cli.piloted import equipped, started, summary, tell_ports
from paddock.cli.serving import ServeOptions
from paddock.cli.shown import Shown
from paddock.cli.summary import Tally, summary_lines
from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.record.recorder import Recorder
    from paddock.scenario import Scenario
    from paddock.sitl.hosting.host import SitlHost

WARM_UP = 0.25
"""s of simulated time in which stages run for the first time and their kernels are loaded or compiled."""
PREPARING = "kernels are compiled; the first time this takes a minute"
"""What clients are told who connect meanwhile."""
LINE_EVERY = 1.0
"""s of wall time between the lines that stand for the view where there is no terminal."""


def conduct(scenario: Scenario, options: RunOptions, serve: ServeOptions | None = None) -> int:
    """Run a scenario as the options say, tell what it amounted to, and return the exit code.

    A client may have another scenario loaded: it is run in the same way, at the same addresses.
    """
    options.check()
    if options.seed is not None:
        scenario = scenario.model_copy(update={"seed": options.seed})
    served = (serve or ServeOptions()).over(scenario.serve, page=not options.quiet)
    runs = Runs(options, served, Notices())
    before = None
    while True:
        try:
            code = runs.run(scenario)
        except PaddockError as error:
            if before is None:
                raise
            runs.notices.tell(f"{scenario.name} cannot be run: {error}; back to {before.name}")
            scenario, before = before, None
            continue
        if code or runs.wanted is None:
            return code
        before, scenario = scenario, runs.next()


class Runs:
    """One run after the other; what a client loads is the next one."""

    def __init__(self, options: RunOptions, served: Served | None, notices: Notices) -> None:
        self.options, self.served, self.notices = options, served, notices
        self.wanted: Scenario | None = None  # by a client

    def run(self, scenario: Scenario) -> int:
        """Run a scenario to its end, or until a client wants another one; the exit code."""
        self.wanted = None
        with _waiting(f"starting {scenario.name}; the first time, kernels are compiled ..."):
            sim, tally, recorder = _built(scenario, self.options, self.served is not None, self.notices)
        going = threading.Event()
        with (
            sim,
            recorder or nullcontext(),
            self._serving(sim) as ready,
            signals(sim.stop, at_once=lambda: not going.is_set()) as caught,
        ):
            with _waiting(f"starting {scenario.name}; the first time, kernels are compiled ..."):
                sim.engine.prepare()
                autopilots = started(sim)
                _warm_up(sim, tally, self.options.seconds)
                self.served = ready()
            tell_ports(None if self.options.json else autopilots)
            going.set()
            self._go(sim, tally, caught, autopilots)
            numbers = tally.summary() | ({"autopilots": summary(autopilots)} if autopilots is not None else {})
        self._tell(numbers, recorder)
        return 128 + caught[0] if caught else 0

    def _go(self, sim: Simulation, tally: Tally, caught: Sequence[int], autopilots: SitlHost | None) -> None:
        run, live = _runner(self.options)
        shown = Shown(self.served.link if self.served is not None else "", autopilots)
        tally.begin()
        with self.notices.holding(live):
            run(sim, tally, self.options.seconds, lambda: bool(caught) or self.wanted is not None, shown)

    def next(self) -> Scenario:
        """What a client wants to be run, read without what is not a client's to say."""
        assert self.wanted is not None
        if left_out := self.wanted.left_out:
            sections = f"section{'' if len(left_out) == 1 else 's'} {' and '.join(left_out)}"
            self.notices.tell(f"{self.wanted.name} was loaded without its {sections}")
        if self.options.record is not None:
            self.notices.tell(f"{self.options.record} holds the first run only; {self.wanted.name} is not recorded")
        self.options = replace(self.options, record=None, record_rate=None)
        return self.wanted

    @contextmanager
    def _serving(self, sim: Simulation) -> Iterator[Callable[[], Served | None]]:
        if self.served is None:
            yield lambda: None
            return
        from paddock.serve.live import LiveSource

        source = LiveSource(sim, self.served.options.lock, self._want, PREPARING)
        with serving(source, self.served, self.notices) as ready:

            def begin() -> Served:
                served = ready()
                source.prepared()
                return served

            yield begin

    def _want(self, scenario: Scenario) -> None:
        """Called in another thread; the run notices at its next heartbeat, when the client has had its answer."""
        self.wanted = scenario

    def _tell(self, numbers: dict[str, Any], recorder: Recorder | None) -> None:
        recorded = [] if recorder is None else [recorder.close()]
        for report in recorded:
            numbers["recording"] = report.to_dict()
        if self.options.json:
            if self.wanted is None:  # one object, that of the last run
                print(json.dumps(numbers, indent=2))
            return
        print("\n".join([*summary_lines(numbers), *(f"  {report.line()}" for report in recorded)]), flush=True)


def _built(
    scenario: Scenario, options: RunOptions, served: bool, notices: Notices
) -> tuple[Simulation, Tally, Recorder | None]:
    """The simulation before its first tick, still without kernels unless it is recorded from the beginning."""
    from paddock.compute.threads import limit_threads
    from paddock.engine.simulation import Simulation

    limit_threads(options.threads)
    sim = Simulation(equipped(scenario), options.device, prepared=False)
    sim.log.most_bytes = 0  # nobody can ask for it afterwards; a recorder hears of every action by itself
    # who talks to autopilots expects time to pass as it does
    if options.pace is not None or (options.quiet and not served and scenario.sitl is None):
        sim.pace = options.pace or 0.0
    return sim, Tally(sim), _recorder(sim, options, notices)


def _warm_up(sim: Simulation, tally: Tally, seconds: float | None) -> None:
    """Get it going: the first tick, and on until all stages have run."""
    # of a short run only a tenth is left out, so that there is something to measure
    end = sim.engine.world.clock.ticks(WARM_UP if seconds is None else min(WARM_UP, 0.1 * seconds))
    if end > 0:
        sim.step(1)
        tally.first_tick()
        sim.step(end - 1)


def _recorder(sim: Simulation, options: RunOptions, notices: Notices) -> Recorder | None:
    """Records from the first tick on, if the scenario or the command line says so."""
    own = sim.scenario.record
    file = options.record or (own.file if own else None)
    if file is None:
        if options.record_rate is not None:
            raise PaddockError("--record-rate goes with --record")
        return None
    from paddock.record.recorder import RATE, Recorder

    sim.engine.prepare()  # it begins with the state of tick 0
    rate = options.record_rate or (own.rate if own else RATE)
    return Recorder(sim, file, rate=rate, precision=own.precision if own else "auto", tell=notices.tell)


Runner = Callable[["Simulation", Tally, float | None, Callable[[], bool], Shown], None]
"""(simulation, tally, simulated time to stop at, whether somebody interrupts, what is shown beside it) -> None."""


def _runner(options: RunOptions) -> tuple[Runner, bool]:
    """How to run, and whether that fills the screen."""
    if options.quiet:
        import rich.progress  # noqa: F401  now, so that loading it is not taken for simulating

        return _run_silently, False
    if not sys.stdout.isatty():
        return _run_with_lines, False
    from paddock.cli.view import run_live

    return run_live, True


def _run_silently(
    sim: Simulation, tally: Tally, until: float | None, interrupted: Callable[[], bool], shown: Shown
) -> None:
    """Nothing on stdout; a progress bar on stderr if somebody sits there."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(sim.scenario.name, total=until)

        def beat() -> None:
            progress.update(task, completed=sim.time)
            if interrupted():
                sim.stop()

        sim.run(until, heartbeat=beat)


def _run_with_lines(
    sim: Simulation, tally: Tally, until: float | None, interrupted: Callable[[], bool], shown: Shown
) -> None:
    """A line now and then, for logs and pipes."""
    from paddock.cli.autopilots import tell_autopilots

    due = [time.perf_counter()]
    vehicles = sum(fleet.n for fleet in sim.engine.world.fleets.values())
    print(f"{sim.scenario.name}: {vehicles:,} vehicles. {sim.scenario.description}", flush=True)

    def beat() -> None:
        if interrupted():
            sim.stop()
        if time.perf_counter() >= due[0]:
            due[0] += LINE_EVERY
            factor = (sim.tick - tally.first) * sim.engine.world.clock.dt / max(tally.wall, 1e-9)
            print(f"t {sim.time:10.3f} s  tick {sim.tick:>10,}  {factor:8.2f} x real time", flush=True)
            tell_autopilots(shown.autopilots)

    sim.run(until, heartbeat=beat)


@contextmanager
def _waiting(message: str) -> Iterator[None]:
    """Say what is going on, to somebody who sits at the terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


@contextmanager
def signals(stop: Callable[[], None], at_once: Callable[[], bool] = lambda: False) -> Iterator[list[int]]:
    """A first signal ends the run after a whole tick, so that its state can be reported; a second one at once.

    So does a first one while there is nothing to report yet, as `at_once` says. It is noted all the same: foreign code
    that is being left may lose the exception.
    """
    caught: list[int] = []

    def catch(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if len(caught) > 1 or at_once():
            raise KeyboardInterrupt
        stop()

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before: dict[signal.Signals, Any] = {getattr(signal, n): signal.signal(getattr(signal, n), catch) for n in names}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
