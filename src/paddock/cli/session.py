"""One run from the command line: with the live view, with log lines, or with only its summary."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

from paddock.cli.options import RunOptions, Served, ServeOptions, serving, windy
from paddock.cli.progress import COMPILING, Notices, bar, compiling
from paddock.cli.summary import ShownRun, Tally, counted, summary_lines
from paddock.errors import NotFiniteError, PaddockError, file_errors

if TYPE_CHECKING:
    from paddock.compute.prepare import Progress
    from paddock.engine.simulation import Simulation
    from paddock.record.recorder import Recorder
    from paddock.scenario import Scenario


WARM_UP = 0.25  # simulated s of warm-up, in which every stage loads or compiles its kernels
LINE_EVERY = 1.0  # wall-clock s between two log lines where there is no terminal


def run_scenario(scenario: Scenario, options: RunOptions, serve: ServeOptions | None = None) -> int:
    """Run a scenario, print its summary and return the exit code.

    A client may load another scenario: it then runs with the same options at the same addresses.
    """
    options.check()
    if options.report is not None and scenario.rules is None and scenario.radio is None:
        raise PaddockError(f"--report is about a race or radio: {scenario.name} has no section `rules` or `radio`")
    if options.seed is not None:
        scenario = scenario.model_copy(update={"seed": options.seed})
    if options.wind is not None:
        scenario = windy(scenario, options.wind)
    served = (serve or ServeOptions()).over(scenario.serve, page=not options.quiet)
    resumable = served is not None and not served.options.lock
    if options.paused and not resumable and (options.quiet or not sys.stdout.isatty()):
        raise PaddockError("--paused requires --serve or the terminal view: nothing could resume this run")
    runs = Runs(options, served, Notices())
    before = None
    while True:
        try:
            code = runs.run(scenario)
        except (PaddockError, MemoryError) as error:
            if before is None:
                raise
            reason = "not enough memory" if isinstance(error, MemoryError) else error
            runs.notices.add(f"{scenario.name} failed to start: {reason}; returning to {before.name}")
            scenario, before = before, None
            continue
        if code or runs.wanted is None:
            return code
        before, scenario = scenario, runs.next()


class Runs:
    """Consecutive runs: a scenario loaded by a client is the next one."""

    def __init__(self, options: RunOptions, served: Served | None, notices: Notices) -> None:
        self.options, self.served, self.notices = options, served, notices
        self.wanted: Scenario | None = None  # set by the thread of a client; the run ends at its next heartbeat

    def run(self, scenario: Scenario) -> int:
        """Run a scenario until it ends or a client loads another one; return the exit code."""
        self.wanted, autopilots = None, None
        waiting = partial(_waiting, f"starting {scenario.name}", self.notices if scenario.sitl is not None else None)
        with waiting() as progress:
            sim, tally, recorder = _built(scenario, self.options, self.served is not None, self.notices, progress)
        going = threading.Event()
        with sim, recorder or nullcontext(), ExitStack() as stack:
            if self.served is not None:
                from paddock.serve.live import LiveSource

                director, limits = partial(setattr, self, "wanted"), self.served.options.limits
                source = LiveSource(sim, self.served.options.lock, director, COMPILING, limits)
                ready = stack.enter_context(serving(source, self.served, self.notices))
            caught = stack.enter_context(signals(sim.clock.stop, at_once=lambda: not going.is_set()))
            with waiting() as progress:
                sim.engine.prepare(progress)
                if scenario.sitl is not None:
                    from paddock.sitl.host import SitlHost

                    autopilots = SitlHost(sim)  # closed with the simulation
                    _first_tick(sim)  # ports are printed when ground stations get answers
                if self.served is not None:
                    self.served = ready()
                    source.prepared()
            if autopilots is not None and not self.options.json:
                from paddock.cli.panels import print_ports

                print_ports(autopilots)
            going.set()
            run, live = _runner(self.options)
            link = self.served.link if self.served is not None else ""
            _warm_up(sim, tally, self.options.seconds)
            with self.notices.holding(live):
                until = None if self.options.seconds is None else max(self.options.seconds, sim.time)
                with suppress(NotFiniteError):
                    run(ShownRun(sim, tally, until, lambda: bool(caught) or self.wanted is not None, link, autopilots))
            if autopilots is not None and live:
                print("\n".join(autopilots.waiting_hints()), flush=True)
            numbers = tally.summary()
            state = sim.engine.world.state
            failure, discarded = state.failure, state.discarded
            if discarded and not failure:
                failure = f"{counted(discarded, 'vehicle')} removed: the state was not finite (on_nan: remove)"
            if autopilots is not None:  # the final status of each, and its link errors
                statuses = {vehicle.sysid: vehicle.autopilot.status for vehicle in autopilots.bridge.vehicles}
                numbers["autopilots"] = [
                    {name: None if value != value else value for name, value in row._asdict().items()}
                    | {name: getattr(statuses[row.sysid], name) for name in ("duplicates", "restarts", "rejected")}
                    for row in autopilots.status()
                ]
        recorded = self._report(numbers, recorder)
        if recorder is not None and self.options.report is not None:
            self._report_race(recorder.path, self.options.report)
        if failure:
            print(f"paddock: {failure}", file=sys.stderr, flush=True)
        return 128 + caught[0] if caught else int(bool(failure) or not recorded)

    def next(self) -> Scenario:
        """Return the scenario that a client loaded, without the sections that clients may not set."""
        assert self.wanted is not None
        if left_out := self.wanted.left_out:
            sections = f"section{'' if len(left_out) == 1 else 's'} {' and '.join(left_out)}"
            self.notices.add(f"{self.wanted.name} was loaded without {sections}")
        if self.options.record is not None:
            self.notices.add(f"{self.options.record} contains only the first run; {self.wanted.name} is not recorded")
        self.options = replace(self.options, record=None, record_rate=None, report=None)
        return self.wanted

    def _report_race(self, recording: str, folder: str) -> None:
        """Write the report of a recorded run, and print where it is."""
        from paddock.record.run_report import write_report

        with bar("report"):
            names = write_report(recording, folder)
        if not self.options.json:
            print(f"  report: {', '.join(os.path.join(folder, name) for name in names)}", flush=True)

    def _report(self, numbers: dict[str, Any], recorder: Recorder | None) -> bool:
        """Print the summary; return whether the recording, if any, is complete."""
        lines, complete = summary_lines(numbers), True
        if recorder is not None:
            report = recorder.close()
            numbers["recording"], complete = report.to_dict(), not report.failure
            lines.append(f"  {report.line()}")
        if not self.options.json:
            print("\n".join(lines), flush=True)
        elif self.wanted is None:  # a single object: the summary of the last run
            print(json.dumps(numbers, indent=2))
        return complete


def _built(
    scenario: Scenario, options: RunOptions, served: bool, notices: Notices, progress: Progress | None
) -> tuple[Simulation, Tally, Recorder | None]:
    """Return the simulation before its first tick; kernels are compiled only if it is recorded."""
    from paddock.compute.threads import limit_threads
    from paddock.engine.simulation import Simulation

    limit_threads(options.threads)
    if scenario.sitl is not None:
        from paddock.sitl.from_scenario import equipped_scenario

        scenario = equipped_scenario(scenario)
    sim = Simulation(scenario, options.device, prepared=False)
    if not served:  # clients read the log; a recorder receives every command directly
        sim.control.log.most_bytes = 0
    # ground stations expect real time
    if options.pace is not None or (options.quiet and not served and scenario.sitl is None):
        sim.clock.pace = options.pace or 0.0
    sim.clock.pauses_on_failure = not options.quiet  # so that the view and the page show what happened
    if options.paused:
        sim.clock.pause()
    return sim, Tally(sim), _recorder(sim, options, notices, progress)


def _first_tick(sim: Simulation) -> None:
    """Compile the kernels of autopilots, unless the clock is paused or a client holds it."""
    with sim.engine.thread.driving("run()"):
        if not sim.clock.paused:
            sim.engine.advance(1)


def _warm_up(sim: Simulation, tally: Tally, seconds: float | None) -> None:
    """Do not pace the first ticks, in which every stage runs once, and measure from there on.

    They are part of the run: a client that holds the clock holds them too.
    """
    # at most a tenth of a short run, so that enough is left to measure
    end = sim.engine.world.clock.ticks(WARM_UP if seconds is None else min(WARM_UP, 0.1 * seconds))
    sim.clock.paced_from = end

    def end_warm_up() -> None:
        tally.note_first_tick()
        if sim.tick >= max(end, 1):
            sim.engine.listeners.idle.remove(end_warm_up)
            sim.clock.paced_from = 0
            tally.begin()

    tally.begin()
    sim.engine.listeners.idle.append(end_warm_up)


def _recorder(sim: Simulation, options: RunOptions, notices: Notices, progress: Progress | None) -> Recorder | None:
    """Return a recorder from the first tick on, if the scenario or the command line asks for one."""
    own = sim.scenario.record
    file = options.record or (own.file if own else None)
    if file is None and options.report is not None:
        file = os.path.join(options.report, "run.mcap")
        with file_errors(f"--report: cannot make the folder {options.report}"):
            os.makedirs(options.report, exist_ok=True)
    if file is None:
        if options.record_rate is not None:
            raise PaddockError("--record-rate requires --record")
        return None
    from paddock.record.recorder import RATE, Recorder

    sim.engine.prepare(progress)  # a recording starts with the state of tick 0
    rate = options.record_rate or (own.rate if own else RATE)
    return Recorder(sim, file, rate=rate, precision=own.precision if own else "auto", on_failure=notices.add)


def _runner(options: RunOptions) -> tuple[Callable[[ShownRun], None], bool]:
    """Return the function that runs, and whether it uses the whole screen."""
    if options.quiet:
        import rich.progress  # noqa: F401  imported now, so that the import is not timed

        return _run_silently, False
    if not sys.stdout.isatty():
        return _run_with_lines, False
    from paddock.cli.view import run_live

    return run_live, True


AUTOPILOT_EVENTS = ("connected", "lost", "timeout", "recovered", "rejected", "restarted")


def print_autopilot_events(run: ShownRun, reported: int, file: IO[str]) -> int:
    """Print the events of autopilots after the one with the number `reported`; return the number of the last event."""
    if run.autopilots is None or run.sim.events.count == reported:
        return reported
    dt = run.sim.engine.world.clock.dt
    for event in run.sim.events.since(reported):
        if event.kind in AUTOPILOT_EVENTS:
            print(f"t {event.tick * dt:10.3f} s  {event.subject}: {event.kind}: {event.detail}", file=file, flush=True)
    return run.sim.events.count


def _run_silently(run: ShownRun) -> None:
    """Run without output; show a progress bar on stderr if it is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    reported = run.sim.events.count
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(run.sim.scenario.name, total=run.until)

        def beat() -> None:
            nonlocal reported
            progress.update(task, completed=run.sim.time)
            reported = print_autopilot_events(run, reported, progress.console.file)
            if run.interrupted():
                run.sim.clock.stop()

        run.sim.run(run.until, heartbeat=beat)
        print_autopilot_events(run, reported, progress.console.file)


def _run_with_lines(run: ShownRun) -> None:
    """Print a line per second, for logs and pipes."""
    from paddock.cli.panels import print_autopilots

    sim, tally, due, reported = run.sim, run.tally, [time.perf_counter()], run.sim.events.count
    vehicles = sum(fleet.n for fleet in sim.engine.world.fleets.values())
    print(f"{sim.scenario.name}: {counted(vehicles, 'vehicle')}. {sim.scenario.description}", flush=True)

    def beat() -> None:
        nonlocal reported
        if run.interrupted():
            sim.clock.stop()
        reported = print_autopilot_events(run, reported, sys.stdout)
        if time.perf_counter() >= due[0]:
            due[0] += LINE_EVERY
            factor = (sim.tick - tally.first) * sim.engine.world.clock.dt / max(tally.wall, 1e-9)
            print(f"t {sim.time:10.3f} s  tick {sim.tick:>10,}  {factor:8.2f} x real time", flush=True)
            print_autopilots(run.autopilots)

    sim.run(run.until, heartbeat=beat)


@contextmanager
def _waiting(message: str, notices: Notices | None) -> Iterator[Progress | None]:
    """Show a status message on a terminal; yield a function that shows which kernel is being compiled.

    Elsewhere, add one line to `notices`, if given, when something is compiled: ground stations wait for it.
    """
    if not sys.stderr.isatty():
        with compiling(partial(notices.add, COMPILING)) if notices is not None else nullcontext() as notice:
            yield None if notice is None else lambda number, count: notice()
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status, compiling(partial(status.update, COMPILING)):
        yield lambda number, count: status.update(f"compiling kernel {number} of {count} ...")


@contextmanager
def signals(stop: Callable[[], None], at_once: Callable[[], bool] = lambda: False) -> Iterator[list[int]]:
    """End the run after the current tick at the first signal, immediately at the second.

    While `at_once()` is true, the first signal ends it immediately. It is recorded in any case, because compiled code
    may swallow the exception.
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
