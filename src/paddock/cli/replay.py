"""`paddock replay`: play a recording, verify it by simulating it again, or print its summary."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from paddock.cli.options import Flag, ServeOptions, serving
from paddock.cli.progress import Notices, bar
from paddock.cli.summary import counted
from paddock.errors import InvalidValueError, PaddockError
from paddock.plugins import installed_only

if TYPE_CHECKING:
    from paddock.engine.events import Event
    from paddock.record.player import Player

LINE_EVERY = 1.0  # wall-clock s between two log lines


@Parameter(name="*")
@dataclass(frozen=True)
class PlayOptions:
    """How to play."""

    pace: float = 1.0
    "Recorded seconds per wall-clock second, 0.05 to 100; 0: as fast as possible."

    from_: Annotated[float, Parameter(name="--from")] = 0.0
    "Start time, in s from the beginning of the recording."

    seconds: float | None = None
    "Duration to play, in recorded s; default: to the end."

    headless: Flag = False
    "Print log lines instead of the live view."

    def span(self) -> tuple[float, float | None]:
        """Return the first and last time to play, in s; None: to the end."""
        for name, value in (("--from", self.from_), ("--seconds", 0.0 if self.seconds is None else self.seconds)):
            if not (isfinite(value) and value >= 0):
                raise InvalidValueError(f"{name} must be a number of seconds >= 0, not {value:g}")
        return self.from_, None if self.seconds is None else self.from_ + self.seconds


def replay(
    file: str,
    /,
    *,
    verify: Flag = False,
    metrics: Flag = False,
    report: str | None = None,
    play: PlayOptions | None = None,
    json_: Annotated[Flag, Parameter(name="--json")] = False,
    allow_imports: Flag = False,
    serve: ServeOptions | None = None,
) -> int:
    """Play a recording as if it were live.

    Parameters
    ----------
    file
        A recording (MCAP).
    verify
        Simulate again from the recorded commands and compare state hashes; exit code 1 if they differ.
    metrics
        Print distances, speeds, heights and events instead of playing.
    report
        Write a report of the race, or of the radio, to this folder instead of playing: Markdown, JSON, figures.
    json_
        Print only a JSON summary at the end; implies --headless.
    allow_imports
        Import modules that the recording names, such as your own models, also if they are not installed.
    """
    asked = {"--verify": verify, "--metrics": metrics, "--report": report is not None}
    chosen = [name for name, requested in asked.items() if requested]
    if len(chosen) > 1:
        raise PaddockError(f"{' and '.join(chosen)} are mutually exclusive")
    if report is not None:
        return _report(file, report, json_, allow_imports)
    if verify:
        return _verify(file, json_, allow_imports)
    if metrics:
        return _measure(file, json_)
    return _play(file, play or PlayOptions(), json_, allow_imports, serve or ServeOptions())


def _report(file: str, folder: str, as_json: bool, allow_imports: bool) -> int:
    """Write a report to a folder and print its files."""
    from paddock.record.run_report import write_report

    with bar("report"), installed_only(not allow_imports):
        names = write_report(file, folder or ".")
    print(json.dumps({"folder": folder, "files": names}) if as_json else "\n".join(names))
    return 0


def _verify(file: str, as_json: bool, allow_imports: bool) -> int:
    """Simulate again and compare; return 1 if the states differ."""
    from paddock.record import verify

    with bar("verifying") as progress:
        result = verify(file, progress, allow_imports)
    print(json.dumps(result.to_dict(), indent=2) if as_json else "\n".join(result.lines()))
    return 0 if result.same else 1


def _measure(file: str, as_json: bool) -> int:
    """Print the metrics."""
    from paddock.record import metrics, open_run

    with open_run(file) as run:
        numbers = metrics(run)
    print(json.dumps(numbers, indent=2) if as_json else "\n".join(_metric_lines(numbers)))
    return 0


def _play(file: str, options: PlayOptions, as_json: bool, allow_imports: bool, serve: ServeOptions) -> int:
    """Play with the live view and the page, or with log lines."""
    from paddock.cli.session import signals
    from paddock.record.player import Player

    begin, until = options.span()
    quiet = options.headless or as_json
    served = serve.over(None, page=not quiet)
    with Player(file, options.pace) as player, signals(player.stop) as caught, ExitStack() as stack:
        stack.enter_context(installed_only(not allow_imports))
        if not player.recording.complete:
            print(f"paddock: {file} is incomplete: the run was interrupted", file=sys.stderr)
        player.seek(begin)
        notices, link = Notices(), ""
        if served is not None:
            from paddock.serve.replay import ReplaySource

            source = ReplaySource(player, served.options.lock)
            link = stack.enter_context(serving(source, served, notices))().link
        if quiet or not sys.stdout.isatty():  # requested endpoints stay open at the end
            _play_lines(player, until, lambda: bool(caught), as_json, stay=served is not None and served.asked)
        else:
            from paddock.cli.view import play_live

            with notices.holding(True):
                play_live(player, until, lambda: bool(caught), link)
        stack.close()
        print(json.dumps(_summary(player), indent=2) if as_json else _line(player))
    return 128 + caught[0] if caught else 0


def _play_lines(player: Player, until: float | None, interrupted: Callable[[], bool], quiet: bool, stay: bool) -> None:
    """Play with a log line per second and per event, unless quiet. `stay`: keep serving at the end."""
    from paddock.track.race_log import shown_text

    due = [time.perf_counter()]

    def print_event(event: Event) -> None:
        print(f"  tick {event.tick:,}: {event.kind} {event.subject} {shown_text(event.detail)}".rstrip(), flush=True)

    def beat() -> None:
        if interrupted():
            player.stop()
        if not quiet and time.perf_counter() >= due[0]:
            due[0] += LINE_EVERY
            print(f"t {player.time:10.3f} s  tick {player.tick:>10,}  of {player.duration:.3f} s", flush=True)

    if not quiet:
        player.event_listeners.append(print_event)
    player.run(until, heartbeat=beat, stay=stay)


def _summary(player: Player) -> dict[str, Any]:
    run, snapshot = player.recording, player.snapshot()
    return {
        "file": run.path,
        "scenario": run.metadata.get("name", ""),
        "complete": run.complete,
        "duration": run.duration,
        "samples": len(run),
        "position": player.position,
        "tick": snapshot.tick,
        "sim_seconds": snapshot.time,
        "vehicles": len(snapshot),
        "events": len(run.events()),
        "actions": len(run.actions()),
    }


def _line(player: Player) -> str:
    numbers = _summary(player)
    return (
        f"{numbers['scenario']}: played to {numbers['position']:.3f} of {numbers['duration']:.3f} s, "
        f"{numbers['samples']:,} samples, {numbers['events']:,} events, {numbers['actions']:,} actions"
    )


def _metric_lines(numbers: dict[str, Any]) -> list[str]:
    events = ", ".join(f"{count} {kind}" for kind, count in numbers["events"].items()) or "none"
    width = max((len(name) for name in numbers["fleets"]), default=5)
    lines = [
        f"{numbers['scenario']}: {numbers['duration_s']:.3f} s, {numbers['samples']:,} samples, "
        f"{counted(numbers['vehicles'], 'vehicle')}, {counted(numbers['actions'], 'action')}",
        f"  {'fleet':<{width}} {'n':>7} {'distance m':>12} {'mean m/s':>9} {'max m/s':>9} {'moving s':>10}  height m",
    ]
    for name, fleet in numbers["fleets"].items():
        lines.append(
            f"  {name:<{width}} {fleet['vehicles']:>7,} {fleet['distance_m']:>12,.1f} {fleet['mean_speed_mps']:>9.2f} "
            f"{fleet['max_speed_mps']:>9.2f} {fleet['moving_s']:>10,.1f}  "
            f"{fleet['min_height_m']:.2f} to {fleet['max_height_m']:.2f}"
        )
    return [*lines, *_radio_lines(numbers), f"  events: {events}"]


def _radio_lines(numbers: dict[str, Any]) -> list[str]:
    """Return a line for each fleet with radio, for each service, and one of the messages that were sent."""
    from paddock.record.radio import message_summary, service_summary

    lines = []
    if (traffic := numbers.get("messages")) and traffic.get("sent"):
        lines.append(f"  messages: {message_summary(traffic)}")
    for name, counts in numbers.get("services", {}).items():
        lines.append(f"  packets of {name}: {service_summary(counts)}")
    for name, fleet in numbers["fleets"].items():
        if own := fleet.get("radio"):
            sinr = "-" if own["mean_sinr_db"] is None else f"{own['mean_sinr_db']:.1f} dB"
            lines.append(
                f"  radio of {name}: available {100.0 * own['link_availability']:.1f} %, "
                f"mean SINR of direct links {sinr}, "
                f"{counted(own['outages'], 'outage')}, longest {own['longest_outage_s']:.1f} s, "
                f"jammed {own['jammed_s']:.1f} s"
            )
    return lines
