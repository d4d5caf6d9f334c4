"""One run from the command line: with the live view, with plain lines, or with nothing but its result."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any

from paddock.cli.notices import Notices
from paddock.cli.options import RunOptions
from paddock.cli.serving import ServeOptions, serving
from paddock.cli.summary import Tally, summary_lines
from paddock.errors import PaddockError

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.record.recorder import Recorder
    from paddock.scenario import Scenario, Serve

WARM_UP = 0.25
"""s of simulated time in which stages run for the first time and their kernels are loaded or compiled."""
LINE_EVERY = 1.0
"""s of wall time between the lines that stand for the view where there is no terminal."""


def conduct(scenario: Scenario, options: RunOptions, serve: ServeOptions | None = None) -> int:
    """Run a scenario as the options say, tell what it amounted to, and return the exit code."""
    options.check()
    if options.seed is not None:
        scenario = scenario.model_copy(update={"seed": options.seed})
    served = (serve or ServeOptions()).over(scenario.serve)
    notices = Notices()
    with _waiting(f"starting {scenario.name}; the first time, kernels are compiled ..."):
        sim, tally, recorder = _started(scenario, options, served is not None, notices)
    with sim, signals(sim.stop) as caught, recorder or nullcontext(), _serving(sim, served, notices):
        run, live = _runner(options)
        tally.begin()
        with notices.holding(live):
            run(sim, tally, options.seconds, lambda: bool(caught))
        numbers = tally.summary()
    recorded = [] if recorder is None else [recorder.close()]
    for report in recorded:
        numbers["recording"] = report.to_dict()
    lines = [*summary_lines(numbers), *(f"  {report.line()}" for report in recorded)]
    print(json.dumps(numbers, indent=2) if options.json else "\n".join(lines))
    return 128 + caught[0] if caught else 0


def _serving(sim: Simulation, options: Serve | None, notices: Notices) -> AbstractContextManager[None]:
    if options is None:
        return nullcontext()
    from paddock.serve.live import LiveSource

    return serving(LiveSource(sim, options.lock), options, notices)


def _started(
    scenario: Scenario, options: RunOptions, served: bool, notices: Notices
) -> tuple[Simulation, Tally, Recorder | None]:
    """The simulation when it has got going: after its first tick, and all stages have run."""
    from paddock.compute.threads import limit_threads
    from paddock.engine.simulation import Simulation

    limit_threads(options.threads)
    sim = Simulation(scenario, options.device)
    sim.log.most_bytes = 0  # nobody can ask for it afterwards; a recorder hears of every action by itself
    if options.pace is not None or (options.quiet and not served):
        sim.pace = options.pace or 0.0
    tally, recorder = Tally(sim), _recorder(sim, options, notices)
    clock = sim.world.clock
    # of a short run only a tenth is left out, so that there is something to measure
    end = clock.ticks(WARM_UP if options.seconds is None else min(WARM_UP, 0.1 * options.seconds))
    if end > 0:
        sim.step(1)
        tally.first_tick()
        sim.step(end - 1)
    return sim, tally, recorder


def _recorder(sim: Simulation, options: RunOptions, notices: Notices) -> Recorder | None:
    """Records from the first tick on, if the scenario or the command line says so."""
    own = sim.scenario.record
    file = options.record or (own.file if own else None)
    if file is None:
        if options.record_rate is not None:
            raise PaddockError("--record-rate goes with --record")
        return None
    from paddock.record.recorder import RATE, Recorder

    rate = options.record_rate or (own.rate if own else RATE)
    return Recorder(sim, file, rate=rate, precision=own.precision if own else "auto", tell=notices.tell)


Runner = Callable[["Simulation", Tally, float | None, Callable[[], bool]], None]
"""(simulation, tally, simulated time to stop at, whether somebody interrupts) -> None."""


def _runner(options: RunOptions) -> tuple[Runner, bool]:
    """How to run, and whether that fills the screen."""
    if options.quiet:
        import rich.progress  # noqa: F401  now, so that loading it is not taken for simulating

        return _run_silently, False
    if not sys.stdout.isatty():
        return _run_with_lines, False
    from paddock.cli.view import run_live

    return run_live, True


def _run_silently(sim: Simulation, tally: Tally, until: float | None, interrupted: Callable[[], bool]) -> None:
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


def _run_with_lines(sim: Simulation, tally: Tally, until: float | None, interrupted: Callable[[], bool]) -> None:
    """A line now and then, for logs and pipes."""
    due = [time.perf_counter()]
    vehicles = sum(fleet.n for fleet in sim.world.fleets.values())
    print(f"{sim.scenario.name}: {vehicles:,} vehicles. {sim.scenario.description}", flush=True)

    def beat() -> None:
        if interrupted():
            sim.stop()
        if time.perf_counter() >= due[0]:
            due[0] += LINE_EVERY
            factor = (sim.tick - tally.first) * sim.world.clock.dt / max(tally.wall, 1e-9)
            print(f"t {sim.time:10.3f} s  tick {sim.tick:>10,}  {factor:8.2f} x real time", flush=True)

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
def signals(stop: Callable[[], None]) -> Iterator[list[int]]:
    """A first signal ends the run after a whole tick, so that its state can be reported; a second one at once."""
    caught: list[int] = []

    def catch(number: int, frame: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        stop()

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before: dict[signal.Signals, Any] = {getattr(signal, n): signal.signal(getattr(signal, n), catch) for n in names}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
