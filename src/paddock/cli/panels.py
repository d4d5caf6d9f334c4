"""The parts of the terminal view, each a list of lines of a given width."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.text import Text

from paddock.cli.braille import Braille, colour
from paddock.cli.summary import Tally

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.sitl.bridge_vehicle import StatusRow
    from paddock.sitl.host import Progress, SitlHost
    from paddock.world.snapshot import FleetSnapshot, Snapshot


BAR = "bold #101418 on #58c4ff"
TITLE, FAINT, STRONG, FRAME = "bold #58c4ff", "#8a94a0", "bold", "#4a5562"
SHOWN_EVENTS = 5
BLOCKS = " ▏▎▍▌▋▊▉█"


WINDOW = 1.5  # wall-clock s over which rates are averaged


@dataclass(frozen=True)
class StageRate:
    """Recent cost of a stage."""

    name: str
    ms_per_call: float
    per_second: float  # calls per second of wall time
    share: float  # of wall time, 0 to 1


@dataclass(frozen=True)
class _MeterReading:
    wall: float
    sim: float
    stages: dict[str, tuple[int, int]]  # calls, nanoseconds


class Meter:
    """Measures rates over the last `WINDOW` seconds."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._readings: deque[_MeterReading] = deque()

    def clear(self) -> None:
        """Discard the readings after a jump in time."""
        self._readings.clear()

    def read(self) -> None:
        """Take a reading."""
        now = time.perf_counter()
        stages = {name: (stage.calls, stage.nanoseconds) for name, stage in self.sim.engine.pipeline.times.items()}
        self._readings.append(_MeterReading(now, self.sim.time, stages))
        while len(self._readings) > 2 and self._readings[1].wall < now - WINDOW:
            self._readings.popleft()

    @property
    def factor(self) -> float:
        """Simulated seconds per wall-clock second."""
        first, last = self._readings[0], self._readings[-1]
        return (last.sim - first.sim) / max(last.wall - first.wall, 1e-9)

    def stages(self) -> list[StageRate]:
        """Return the stages that ran recently."""
        first, last = self._readings[0], self._readings[-1]
        span = max(last.wall - first.wall, 1e-9)
        rates = []
        for name, (calls, nanoseconds) in last.stages.items():
            calls, nanoseconds = calls - first.stages[name][0], nanoseconds - first.stages[name][1]
            if calls:
                rates.append(StageRate(name, nanoseconds / calls / 1e6, calls / span, nanoseconds / span / 1e9))
        return rates


def header(sim: Simulation, width: int) -> Text:
    """Return the scenario's name and whether it runs."""
    mode = " ❚❚ paused " if sim.clock.paused else " ▶ running "
    text = Text(f" PADDOCK │ {sim.scenario.name}", style=BAR)
    if sim.scenario.description:
        text.append(f" · {sim.scenario.description}", style="not bold")
    text.truncate(max(width - len(mode), 1), overflow="ellipsis", pad=True)
    return text.append(mode, style="bold #101418 on #ffb03b" if sim.clock.paused else BAR)


def status(sim: Simulation, tally: Tally, meter: Meter, width: int) -> Text:
    """Return the line of clocks."""
    pace = f"{sim.clock.pace:g}x" if sim.clock.pace else "max"
    vehicles = sum(fleet.n for fleet in sim.engine.world.fleets.values())
    late = bool(sim.clock.pace) and not sim.clock.paused and meter.factor < 0.9 * sim.clock.pace and tally.wall > 2.0
    pairs = (
        ("t", f"{sim.time:,.2f} s", STRONG),
        ("tick", f"{sim.tick:,}", STRONG),
        ("wall", f"{tally.wall:,.1f} s", STRONG),
        ("real time", f"{meter.factor:.2f}x", "bold #ff6f91" if late else "bold #7ce07a"),
        ("pace", pace, STRONG),
        ("vehicles", f"{vehicles:,}", STRONG),
    )
    gap = "  " if width < 100 else "    "
    line = Text(" ")
    for label, value, style in pairs:
        line.append(f"{label} ", style=FAINT).append(value, style=style).append(gap)
    return fitted(line, width)


def footer(sim: Simulation, keys: bool, width: int, link: str = "") -> Text:
    """Return the keys and the link to the page."""
    if not keys:
        return with_link(Text(" Ctrl-C quits", style=FAINT), link, width)
    line = Text(" ")
    go = "resume" if sim.clock.paused else "pause"
    for key, what in (("space", go), ("+ -", "pace"), ("s", "step"), ("r", "reset"), ("q", "quit")):
        idle = key == "s" and not sim.clock.paused
        line.append(key, style=FRAME if idle else STRONG).append(f" {what}   ", style=FRAME if idle else FAINT)
    return with_link(line, link, width)


def with_link(line: Text, link: str, width: int) -> Text:
    """Append a link at the right end; it is never truncated, so that it can be copied."""
    if not link:
        return fitted(line, width)
    return fitted(line, max(width - len(link) - 2, 0)).append(f" {link} ", style=Style(color="#58c4ff", link=link))


def fleet_lines(snapshot: Snapshot, width: int, rows: int) -> list[Text]:
    """Return a line per fleet, in its colour on the map."""
    name_width = min(max(width - 32, 6), 22)
    title = f"{'fleet':<{name_width}} {'model':<11} {'n':>6} {'m/s':>5} {'z m':>5}"
    lines = [Text(title, style=TITLE)]
    fleets = list(snapshot)
    shown = fleets if len(fleets) < rows else fleets[: max(rows - 2, 1)]
    for k, fleet in enumerate(shown):
        line = Text(f"{short(fleet.name, name_width):<{name_width}} ", style=colour(k))
        lines.append(line.append(_fleet_numbers(fleet), style="default"))
    if len(shown) < len(fleets):
        lines.append(Text(f"and {len(fleets) - len(shown)} more", style=FAINT))
    return [fitted(line, width) for line in lines]


def _fleet_numbers(fleet: FleetSnapshot) -> str:
    velocity = fleet.velocity
    speed = float(np.sqrt(np.einsum("ij,ij->i", velocity, velocity)).mean()) if len(fleet) else 0.0
    height = float(fleet.position[:, 2].mean()) if len(fleet) else 0.0
    return f"{short(fleet.model, 11):<11} {_count(len(fleet)):>6} {speed:>5.1f} {height:>5.1f}"


def _count(number: int) -> str:
    return f"{number:,}" if number < 100_000 else f"{number // 1000:,}k"


def stage_lines(meter: Meter, width: int) -> list[Text]:
    """Return the cost of each stage, and the idle time."""
    room = max(width - 32, 4)
    lines = [Text(f"{'stage':<8} {'ms/call':>8} {'calls/s':>7} {'wall':>5}", style=TITLE)]
    rates = meter.stages()
    for rate in rates:
        line = Text(f"{rate.name:<8} {rate.ms_per_call:>8.3f} {rate.per_second:>7.0f} {rate.share:>5.0%} ")
        lines.append(line.append(_bar(rate.share, room), style="#58c4ff"))
    idle = max(0.0, 1.0 - sum(rate.share for rate in rates))
    lines.append(Text(f"{'idle':<8} {'':>8} {'':>7} {idle:>5.0%} {_bar(idle, room)}", style=FRAME))
    return [fitted(line, width) for line in lines]


def _bar(share: float, width: int) -> str:
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + BLOCKS[eighths % 8].strip()


def event_lines(sim: Simulation, width: int) -> list[Text]:
    """Return the latest events, newest first."""
    lines = [Text(f"events {sim.events.count:,}", style=TITLE)]
    for event in reversed(sim.events.since(sim.events.count - SHOWN_EVENTS)):
        when = event.tick * sim.engine.world.clock.dt
        line = Text(f"{when:>8.2f} ", style=FAINT).append(f"{event.kind} ", style="#ffb03b")
        lines.append(line.append(f"{event.subject} ", style=STRONG).append(event.detail, style=FAINT))
    if len(lines) == 1:
        lines.append(Text("none", style=FAINT))
    return [fitted(line, width) for line in lines]


def framed(picture: Sequence[Text], plan: Braille) -> list[Text]:
    """Return the map in a frame with a scale bar."""
    width = picture[0].cell_len
    bar, metres = plan.scale_bar(max(width // 3, 1))
    label = f" ├{'─' * max(bar - 2, 0)}┤ {metres:g} m "
    label = label if len(label) < width - 2 else ""
    lines = [Text(f"╭{'─' * width}╮", style=FRAME)]
    lines += [Text.assemble(("│", FRAME), line, ("│", FRAME)) for line in picture]
    bottom = Text("╰─", style=FRAME).append(label, style=FAINT)
    return [*lines, bottom.append("─" * (width - 1 - len(label)) + "╯", style=FRAME)]


def beside(left: Sequence[Text], right: Sequence[Text], width: int) -> list[Text]:
    """Join two columns; the left one has a given width."""
    empty = Text("")
    lines = []
    for k in range(max(len(left), len(right))):
        line = fitted(left[k] if k < len(left) else empty, width)
        lines.append(Text.assemble(line, right[k] if k < len(right) else empty))
    return lines


def fitted(line: Text, width: int) -> Text:
    """Truncate or pad a line to a width."""
    line = line.copy()
    line.truncate(max(width, 0), overflow="crop", pad=True)
    return line


def short(text: str, width: int) -> str:
    """Shorten a text with an ellipsis."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


GOOD, BAD, IDLE = "#7ce07a", "#ff6f91", "#8a94a0"
LABELS = ("item", "m", "m/s", "bat")  # columns of the autopilot table, most important first
MOST_NAME, MOST_MODE = 10, 9


def print_ports(host: SitlHost) -> None:
    """Print the table of ports and connection hints."""
    rows = host.ports()
    headings = ("system", "vehicle", "autopilot", "listens on", "sends to")
    table = [headings, *((str(row.sysid), row.name, row.autopilot, row.listens, row.speaks) for row in rows)]
    widths = [max(len(line[k]) for line in table) for k in range(len(headings))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for hint in host.hints():
        print(hint)
    print(flush=True)


def status_lines(host: SitlHost, width: int, most: int) -> list[Text]:
    """Return a line per autopilot: system id, vehicle, port, armed (●), mode, progress or note.

    Columns that do not fit are dropped from the right.
    """
    rows, ports = host.progress(), {row.sysid: row.speaks.rpartition(":")[2] for row in host.ports()}
    shown = rows if len(rows) < most else rows[: max(most - 2, 1)]
    name, mode = _widths([row for row, _ in shown])
    title = f"{'sys':>3} {'vehicle':<{name}} {'port':>5}   {'mode':<{mode}}"
    columns = _columns([doing for _, doing in shown], width - len(title))
    lines = [Text(title + "".join(f" {label:>{size}}" for _, label, size in columns), style=TITLE)]
    for row, doing in shown:
        line = _line(row, ports.get(row.sysid, ""), name, mode)
        cells = "".join(f" {doing[k]:>{size}}" for k, _, size in columns)
        lines.append(line.append(f" {short(row.note, width - len(line) - 1)}" if row.note else cells, style=FAINT))
    if len(shown) < len(rows):
        lines.append(Text(f"and {len(rows) - len(shown)} more", style=FAINT))
    return [fitted(line, width) for line in lines]


def _widths(rows: Sequence[StatusRow]) -> tuple[int, int]:
    """Return the widths of the name and mode columns."""
    names, modes = [len(row.name) for row in rows], [len(row.mode) for row in rows]
    return min(max([*names, len("vehicle")]), MOST_NAME), min(max([*modes, len("mode")]), MOST_MODE)


def _columns(doings: Sequence[Progress], room: int) -> list[tuple[int, str, int]]:
    """Return index, label and width of the non-empty columns that fit."""
    columns: list[tuple[int, str, int]] = []
    for k, label in enumerate(LABELS):
        longest = max((len(doing[k]) for doing in doings), default=0)
        size = max(longest, len(label), 4)
        if longest and room < size + 1:
            break
        if longest:
            columns.append((k, label, size))
            room -= size + 1
    return columns


def _line(row: StatusRow, port: str, name: int, mode: int) -> Text:
    """Return the columns that are always shown."""
    colour = (GOOD if row.armed else IDLE) if row.connected else BAD
    line = Text(f"{row.sysid:>3} ", style=FAINT).append(f"{short(row.name, name):<{name}} ", style=colour)
    line.append(f"{port if port.isdecimal() else '-':>5} ", style=FAINT)
    line.append("● " if row.armed else "○ ", style=colour)
    return line.append(f"{short(row.mode, mode):<{mode}}", style=STRONG if row.armed else FAINT)


def print_autopilots(host: SitlHost | None) -> None:
    """Print the autopilot lines that changed, for logs and pipes."""
    printed = {} if host is None else host.printed
    for row in [] if host is None else host.status():
        line = (
            f"  system {row.sysid:>3}  {row.name:<16} {row.pilot:<9} {row.mode or '-':<10} "
            f"{'armed' if row.armed else 'disarmed':<8}"
        )
        if printed.get(row.sysid) != line:
            printed[row.sysid] = line
            print(f"{line} {row.note}".rstrip(), flush=True)
