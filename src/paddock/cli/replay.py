"""`paddock replay`: play a recording, verify it by simulating it again, or print its summary."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from paddock.cli.options import Flag, ServeOptions
from paddock.cli.progress import Notices, bar
from paddock.cli.serving import Served, serving
from paddock.cli.summary import counted
from paddock.errors import InvalidValueError, PaddockError

if TYPE_CHECKING:
    from paddock.record.player import Player


def replay(
    file: str,
    /,
    *,
    verify: Flag = False,
    metrics: Flag = False,
    pace: float = 1.0,
    from_: Annotated[float, Parameter(name="--from")] = 0.0,
    seconds: float | None = None,
    headless: Flag = False,
    json_: Annotated[Flag, Parameter(name="--json")] = False,
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
    pace
        Recorded seconds per wall-clock second, 0.05 to 100; 0: as fast as possible.
    from_
        Start time, in s from the beginning of the recording.
    seconds
        Duration to play, in recorded s; default: to the end.
    headless
        Print log lines instead of the live view.
    json_
        Print only a JSON summary at the end; implies --headless.
    """
    if verify and metrics:
        raise PaddockError("--verify and --metrics are mutually exclusive")
    if verify:
        return _verify(file, json_)
    if metrics:
        return _metrics(file, json_)
    for name, value in (("--from", from_), ("--seconds", 0.0 if seconds is None else seconds)):
        if not (isfinite(value) and value >= 0):
            raise InvalidValueError(f"{name} must be a number of seconds >= 0, not {value:g}")
    quiet = headless or json_
    return _play(file, pace, from_, seconds, quiet, json_, (serve or ServeOptions()).over(None, page=not quiet))


def _play(
    file: str,
    pace: float,
    start: float,
    seconds: float | None,
    headless: bool,
    as_json: bool,
    served: Served | None,
) -> int:
    from paddock.cli.session import signals
    from paddock.record.player import Player

    with Player(file, pace) as player, signals(player.stop) as caught:
        if not player.recording.complete:
            print(f"paddock: {file} is incomplete: the run was interrupted", file=sys.stderr)
        player.seek(start)
        until = None if seconds is None else start + seconds
        _show(player, until, headless, as_json, served, lambda: bool(caught))
        print(json.dumps(_summary(player), indent=2) if as_json else _line(player))
    return 128 + caught[0] if caught else 0


def _show(
    player: Player,
    until: float | None,
    headless: bool,
    quiet: bool,
    served: Served | None,
    interrupted: Callable[[], bool],
) -> None:
    """Play to the terminal and to clients; requested endpoints stay open at the end."""
    from paddock.cli.playback import can_show, play_lines, play_live

    notices, live = Notices(), not headless and can_show()
    with _serving(player, served, notices) as ready:
        there = ready()
        if not live:
            play_lines(player, until, interrupted, quiet=quiet, stay=served is not None and served.asked)
            return
        with notices.holding(live):
            play_live(player, until, interrupted, "" if there is None else there.link)


@contextmanager
def _serving(player: Player, served: Served | None, notices: Notices) -> Iterator[Callable[[], Served | None]]:
    if served is None:
        yield lambda: None
        return
    from paddock.serve.replay import ReplaySource

    with serving(ReplaySource(player, served.options.lock), served, notices) as ready:
        yield ready


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


def _verify(file: str, as_json: bool) -> int:
    from paddock.record import verify as verify_run

    with bar("verifying") as progress:
        result = verify_run(file, progress)
    print(json.dumps(result.to_dict(), indent=2) if as_json else "\n".join(result.lines()))
    return 0 if result.same else 1


def _metrics(file: str, as_json: bool) -> int:
    from paddock.record import metrics, open_run

    with open_run(file) as run:
        numbers = metrics(run)
    print(json.dumps(numbers, indent=2) if as_json else "\n".join(_metric_lines(numbers)))
    return 0


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
    return [*lines, f"  events: {events}; collisions: {numbers['collisions']}"]
