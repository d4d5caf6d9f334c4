"""The parts of the terminal view, each a list of lines of a given width, and a map of vehicles from above.

The map has braille dots, eight per character, in the fleets' colours.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import zip_longest
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.text import Text

from paddock.cli.summary import Tally
from paddock.track.race_log import shown_text
from paddock.world.columns import Floats
from paddock.world.layout import Ints

if TYPE_CHECKING:
    from paddock.engine.events import Event
    from paddock.engine.simulation import Simulation
    from paddock.sitl.host import Progress, SitlHost
    from paddock.world.snapshot import Snapshot

BAR = "bold #101418 on #58c4ff"
INDENT = 4  # of the continuation of a long line
TITLE, FAINT, STRONG, FRAME = "bold #58c4ff", "#8a94a0", "bold", "#4a5562"
BLOCKS = " ▏▎▍▌▋▊▉█"
OUT = 5  # status of a car that did not finish
RACE_TONES = (FAINT, "default", "#7ce07a", "#7ce07a", "#ffb03b", "#ff6f91")
"""Colours of cars in a race by their status: waiting, running, finished, stopped, unsafe stop, did not finish."""
WINDOW = 1.5  # wall-clock s over which rates are averaged
COLOURS = ((88, 196, 255), (255, 176, 59), (124, 224, 122), (255, 111, 145), (190, 146, 255), (255, 230, 109),
           (72, 219, 190), (255, 140, 90), (160, 180, 255), (222, 222, 222))  # fmt: skip
LEVELS = (0.28, 0.5, 0.75, 1.0)  # brightness of a trail, then of increasingly dense cells
ARROWS = "→↗↑↖←↙↓↘"
FEW = 64  # vehicles of fleets up to this size are arrows with trails; those of larger fleets are dots
TRAILED = 256  # maximum number of vehicles with trails
TRAIL = 300  # length of a trail, frames
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
BLANK = 0x2800
SPACE = ord(" ")


class Meter:
    """Measures rates over the last `WINDOW` seconds."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._readings: deque[tuple[float, float, dict[str, tuple[int, int]]]] = deque()
        """Wall-clock s, simulated s, and calls and nanoseconds of each stage."""

    def clear(self) -> None:
        """Discard the readings after a jump in time."""
        self._readings.clear()

    def read(self) -> None:
        """Take a reading."""
        now = time.perf_counter()
        stages = {
            name: (stage.calls, stage.nanoseconds) for name, stage in self.sim.engine.stages.pipeline.times.items()
        }
        self._readings.append((now, self.sim.time, stages))
        while len(self._readings) > 2 and self._readings[1][0] < now - WINDOW:
            self._readings.popleft()

    @property
    def factor(self) -> float:
        """Simulated seconds per wall-clock second."""
        (first, start, _), (last, end, _) = self._readings[0], self._readings[-1]
        return (end - start) / max(last - first, 1e-9)

    def stages(self) -> list[tuple[str, float, float, float]]:
        """Return name, ms per call, calls per second and share of wall time of the stages that ran recently."""
        (first, _, before), (last, _, after) = self._readings[0], self._readings[-1]
        span, rates = max(last - first, 1e-9), []
        for name, (calls, nanoseconds) in after.items():
            calls, nanoseconds = calls - before[name][0], nanoseconds - before[name][1]
            if calls:
                rates.append((name, nanoseconds / calls / 1e6, calls / span, nanoseconds / span / 1e9))
        return rates


def header(name: str, detail: str, mode: str, paused: bool, width: int) -> Text:
    """Return the scenario's name and whether it runs."""
    mode = " ❚❚ paused " if paused else f" ▶ {mode} "
    text = Text(f" PADDOCK │ {name}", style=BAR)
    if detail:
        text.append(f" · {detail}", style="not bold")
    text.truncate(max(width - len(mode), 1), overflow="ellipsis", pad=True)
    return text.append(mode, style="bold #101418 on #ffb03b" if paused else BAR)


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


def footer(keys: Mapping[str, str], idle: str, width: int, link: str) -> Text:
    """Return the keys with their meanings, the idle one dimmed, and the link to the page."""
    line = Text(" ") if keys else Text(" Ctrl-C quits", style=FAINT)
    for key, what in keys.items():
        dim = key == idle
        line.append(key, style=FRAME if dim else STRONG).append(f" {what}   ", style=FRAME if dim else FAINT)
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
        velocity, n = fleet.velocity, len(fleet)
        speed = float(np.sqrt(np.einsum("ij,ij->i", velocity, velocity)).mean()) if n else 0.0
        height = float(fleet.position[:, 2].mean()) if n else 0.0
        count = f"{n:,}" if n < 100_000 else f"{n // 1000:,}k"
        line = Text(f"{short(fleet.name, name_width):<{name_width}} ", style=colour(k))
        lines.append(line.append(f"{short(fleet.model, 11):<11} {count:>6} {speed:>5.1f} {height:>5.1f}", "default"))
    if len(shown) < len(fleets):
        lines.append(Text(f"and {len(fleets) - len(shown)} more", style=FAINT))
    return [fitted(line, width) for line in lines]


def race_lines(snapshot: Snapshot, width: int, rows: int) -> list[Text]:
    """Return the first cars of a race: position, name, lap, last lap, gap, cones; none without a race."""
    cars: list[tuple[float, str, float, float, float, float, int]] = []
    for fleet in snapshot:
        if "race.status" in fleet.columns:
            columns = (
                fleet[f"race.{key}"].tolist() for key in ("position", "lap", "last_lap", "gap", "cones", "status")
            )
            for name, (position, lap, last, gap, cones, status) in zip(
                fleet.names, zip(*columns, strict=True), strict=True
            ):
                if status >= 0:
                    cars.append((position, name, lap, last, gap, cones, int(status)))
    if not cars:
        return []
    cars.sort()
    name_width = min(max(width - 38, 5), 16)
    lines = [Text(f"{'':>3} {'car':<{name_width}} {'lap':>4} {'last':>8} {'gap':>8} {'cones':>5}", style=TITLE)]
    for position, name, lap, last, gap, cones, status in cars[: max(rows - 1, 1)]:
        tone = RACE_TONES[status]
        line = Text(f"{position:>3.0f} ", style=STRONG).append(f"{short(name, name_width):<{name_width}} ", style=tone)
        behind = "dnf" if status == OUT else "" if position == 1 else f"+{gap:.3f}"
        line.append(f"{lap:>4.0f} {f'{last:.3f}' if last else '-':>8} {behind:>8} {cones:>5.0f}", style="default")
        lines.append(line)
    return [fitted(line, width) for line in lines]


def stage_lines(meter: Meter, width: int) -> list[Text]:
    """Return the cost of each stage, and the idle time."""
    room = max(width - 32, 4)
    lines = [Text(f"{'stage':<8} {'ms/call':>8} {'calls/s':>7} {'wall':>5}", style=TITLE)]
    rates = meter.stages()
    for name, ms_per_call, per_second, share in rates:
        line = Text(f"{name:<8} {ms_per_call:>8.3f} {per_second:>7.0f} {share:>5.0%} ")
        lines.append(line.append(_bar(share, room), style="#58c4ff"))
    idle = max(0.0, 1.0 - sum(share for *_, share in rates))
    lines.append(Text(f"{'idle':<8} {'':>8} {'':>7} {idle:>5.0%} {_bar(idle, room)}", style=FRAME))
    return [fitted(line, width) for line in lines]


def _bar(share: float, width: int) -> str:
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return "█" * (eighths // 8) + BLOCKS[eighths % 8].strip()


def event_lines(count: int, latest: Sequence[tuple[str, Event]], width: int) -> list[Text]:
    """Return the number of events, and the latest ones with their times, newest first."""
    lines = [Text(f"events {count:,}", style=TITLE)]
    for when, event in reversed(latest):
        line = Text(f"{when} ", style=FAINT).append(f"{event.kind} ", style="#ffb03b")
        line.append(f"{event.subject} ", style=STRONG).append(shown_text(event.detail), style=FAINT)
        lines += wrapped(line, width)
    if len(lines) == 1:
        lines.append(Text("none", style=FAINT))
    return [fitted(line, width) for line in lines]


def wrapped(line: Text, width: int) -> list[Text]:
    """Break a line at spaces where it does not fit; the rest is indented."""
    text, ends, start, room = line.plain, list[int](), 0, max(width, 2 * INDENT)
    while len(text) - start > room:
        space = text.rfind(" ", start + room // 2, start + room + 1) + 1
        start = space or start + room
        ends.append(start)
        room = max(width, 2 * INDENT) - INDENT
    first, *rest = line.divide(ends)
    return [first, *(Text(" " * INDENT).append_text(more) for more in rest)]


def launch_lines(host: SitlHost, width: int, most: int) -> list[Text]:
    """Return the commands that start the autopilots that are not connected, whole, as far as rows are left."""
    lines = [part for hint in host.waiting_hints() for part in wrapped(Text(hint, style=STRONG), width)]
    return [fitted(line, width) for line in lines[:most]]


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
    pairs = zip_longest(left, right, fillvalue=Text(""))
    return [Text.assemble(fitted(text, width), other) for text, other in pairs]


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
    headings = ("system", "vehicle", "autopilot", "listens on", "sends to")
    table = [headings, *(tuple(map(str, row)) for row in host.ports())]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
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
    name = min(max([*(len(row.name) for row, _ in shown), len("vehicle")]), MOST_NAME)
    mode = min(max([*(len(row.mode) for row, _ in shown), len("mode")]), MOST_MODE)
    title = f"{'sys':>3} {'vehicle':<{name}} {'port':>5}   {'mode':<{mode}}"
    columns = _columns([doing for _, doing in shown], width - len(title))
    lines = [Text(title + "".join(f" {label:>{size}}" for _, label, size in columns), style=TITLE)]
    for row, doing in shown:
        colour, port = (GOOD if row.armed else IDLE) if row.connected else BAD, ports.get(row.sysid, "")
        line = Text(f"{row.sysid:>3} ", style=FAINT).append(f"{short(row.name, name):<{name}} ", style=colour)
        line.append(f"{port if port.isdecimal() else '-':>5} ", style=FAINT)
        line.append("● " if row.armed else "○ ", style=colour)
        line.append(f"{short(row.mode, mode):<{mode}}", style=STRONG if row.armed else FAINT)
        cells = "".join(f" {doing[k]:>{size}}" for k, _, size in columns)
        lines.append(line.append(f" {short(row.note, width - len(line) - 1)}" if row.note else cells, style=FAINT))
    if len(shown) < len(rows):
        lines.append(Text(f"and {len(rows) - len(shown)} more", style=FAINT))
    return [fitted(line, width) for line in lines]


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


@cache
def colour(fleet: int, level: int = len(LEVELS) - 1) -> Style:
    """Return the style of a fleet at a brightness level."""
    red, green, blue = (int(part * LEVELS[level]) for part in COLOURS[fleet % len(COLOURS)])
    return Style(color=f"#{red:02x}{green:02x}{blue:02x}")


class Braille:
    """Keeps the extent of the map and the trails between frames."""

    def __init__(self) -> None:
        self.centre = np.zeros(2)
        self.metres = 0.0  # per dot; 0 before the first frame
        self._size = (0, 0)
        self._trails: deque[dict[int, Floats]] = deque(maxlen=TRAIL)
        self.guides: list[tuple[int, Floats]] = []  # fleet, points (k, 2+) of the path that it follows

    def clear(self) -> None:
        """Discard trails and extent after a jump in time."""
        self._trails.clear()
        self.metres = 0.0

    def draw(self, fleets: Sequence[tuple[Floats, Floats]], width: int, height: int) -> list[Text]:
        """Return the map as `height` lines; fleets: positions (n, 2+) in m and velocities (n, 2+)."""
        places = [np.array(position[:, :2]) for position, _ in fleets]
        few = [f for f, spots in enumerate(places) if len(spots) <= FEW]
        self._frame([*places, *(points[:, :2] for _, points in self.guides)], width, height)
        cells = np.zeros((height, width), np.int64)  # braille bits
        style = np.zeros((height, width), np.int64)  # fleet * levels + level
        faint = [(f, self._dots(points)) for f, points in self.guides]
        if sum(len(places[f]) for f in few) <= TRAILED:
            if self._trails and list(self._trails[-1]) != few:
                self._trails.clear()
            self._trails.append({f: places[f] for f in few})
            faint += [(f, self._dots(np.concatenate([moment[f] for moment in self._trails]))) for f in few]
        for f, dots in faint:
            _mark(cells, dots)
            style[dots[0] // 4, dots[1] // 2] = f * len(LEVELS)
        self._draw_density(places, cells, style)
        letters = np.where(cells > 0, cells + BLANK, SPACE)
        for f in few:
            self._arrows(f, *fleets[f], letters, style)
        return [_line(letters[row], style[row]) for row in range(height)]

    def scale_bar(self, width: int) -> tuple[int, float]:
        """Return characters and metres of a round length that takes at most `width` characters."""
        most = max(self.metres, 1e-9) * 2 * width
        decade = 10.0 ** floor(log10(most))
        length = next(step * decade for step in (5.0, 2.0, 1.0) if step * decade <= most)
        return max(1, round(length / max(self.metres, 1e-9) / 2)), length

    def _frame(self, places: Sequence[Floats], width: int, height: int) -> None:
        """Choose the extent: keep all vehicles visible, and zoom in when it is far too wide."""
        if not sum(map(len, places)):
            self.metres, self._size = self.metres or 1.0, (width, height)
            return
        every = np.concatenate(places)
        every = every[np.isfinite(every).all(axis=1)] if not np.isfinite(every).all() else every
        low, high = every.min(axis=0), every.max(axis=0)
        half = 0.5 * self.metres * np.array([2 * width - 2, 4 * height - 4])
        outside = ((low < self.centre - half) | (high > self.centre + half)).any()
        needed = max(*((high - low) / np.array([2 * width - 4, 4 * height - 4])), 0.25)
        if not self.metres or outside or needed < 0.65 * self.metres or self._size != (width, height):
            self.centre, self.metres, self._size = 0.5 * (low + high), 1.15 * needed, (width, height)

    def _dots(self, points: Floats) -> tuple[Ints, Ints]:
        """Return rows and columns of the visible dots."""
        width, height = self._size
        with np.errstate(invalid="ignore"):
            column = np.floor((points[:, 0] - self.centre[0]) / self.metres + width)
            row = np.floor((self.centre[1] - points[:, 1]) / self.metres + 2 * height)
        seen = (column >= 0) & (column < 2 * width) & (row >= 0) & (row < 4 * height)
        return row[seen].astype(np.int64), column[seen].astype(np.int64)

    def _draw_density(self, places: Sequence[Floats], cells: Ints, style: Ints) -> None:
        """Draw all vehicles: the fleet with most vehicles in a cell sets its colour, their number its brightness."""
        most = np.zeros(cells.shape, np.int64)
        owner = np.zeros(cells.shape, np.int64)
        for f, points in enumerate(places):
            row, column = self._dots(points)
            _mark(cells, (row, column))
            flat = row // 4 * cells.shape[1] + column // 2
            number = np.bincount(flat, minlength=cells.size).reshape(cells.shape)
            owner, most = np.where(number > most, f, owner), np.maximum(number, most)
        top = len(LEVELS) - 1
        relative = np.log1p(most) / np.log1p(max(int(most.max(initial=0)), 1))
        level = np.where(most.max(initial=0) > 3, 1 + np.minimum(top * relative, top - 1).astype(np.int64), top)
        np.copyto(style, owner * len(LEVELS) + level, where=most > 0)

    def _arrows(self, fleet: int, position: Floats, velocity: Floats, letters: Ints, style: Ints) -> None:
        for start, motion in zip(position, velocity, strict=True):
            row, column = self._dots(start[None])
            if len(row):
                heading = float(np.nan_to_num(np.arctan2(motion[1], motion[0])))
                eighth = round(heading / (np.pi / 4)) % 8
                letters[row[0] // 4, column[0] // 2] = ord(ARROWS[eighth])
                style[row[0] // 4, column[0] // 2] = (fleet + 1) * len(LEVELS) - 1


def _mark(cells: Ints, dots: tuple[Ints, Ints]) -> None:
    row, column = dots
    np.bitwise_or.at(cells, (row // 4, column // 2), DOTS[row % 4, column % 2])


def _line(letters: Ints, style: Ints) -> Text:
    """Return one line with a span per style."""
    line = Text("".join(map(chr, letters.tolist())), no_wrap=True)
    style = np.where(letters == SPACE, -1, style)
    starts = np.flatnonzero(np.diff(style, prepend=-2))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(letters)], strict=True):
        if style[start] >= 0:
            line.stylize(colour(*divmod(int(style[start]), len(LEVELS))), start, end)
    return line
