"""The parts of the live view, each a list of lines of a given width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.text import Text

from paddock.cli.braille import Braille, colour
from paddock.cli.meter import Meter
from paddock.cli.summary import Tally

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation
    from paddock.world.snapshot import FleetSnapshot, Snapshot

BAR = "bold #101418 on #58c4ff"
TITLE, FAINT, STRONG, FRAME = "bold #58c4ff", "#8a94a0", "bold", "#4a5562"
SHOWN_EVENTS = 5
BLOCKS = " ▏▎▍▌▋▊▉█"


def header(sim: Simulation, width: int) -> Text:
    """Which scenario, and whether it runs."""
    mode = " ❚❚ paused " if sim.paused else " ▶ running "
    text = Text(f" PADDOCK │ {sim.scenario.name}", style=BAR)
    if sim.scenario.description:
        text.append(f" · {sim.scenario.description}", style="not bold")
    text.truncate(max(width - len(mode), 1), overflow="ellipsis", pad=True)
    return text.append(mode, style="bold #101418 on #ffb03b" if sim.paused else BAR)


def status(sim: Simulation, tally: Tally, meter: Meter, width: int) -> Text:
    """The clocks."""
    pace = f"{sim.pace:g}x" if sim.pace else "max"
    vehicles = sum(fleet.n for fleet in sim.engine.world.fleets.values())
    late = bool(sim.pace) and not sim.paused and meter.factor < 0.9 * sim.pace and tally.wall > 2.0
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
    """What can be pressed, and where the page is."""
    if not keys:
        return with_link(Text(" Ctrl-C quits", style=FAINT), link, width)
    line = Text(" ")
    go = "resume" if sim.paused else "pause"
    for key, what in (("space", go), ("+ -", "pace"), ("s", "step"), ("r", "reset"), ("q", "quit")):
        idle = key == "s" and not sim.paused
        line.append(key, style=FRAME if idle else STRONG).append(f" {what}   ", style=FRAME if idle else FAINT)
    return with_link(line, link, width)


def with_link(line: Text, link: str, width: int) -> Text:
    """A line with a link at its right end, which is never cut: it is there to be copied."""
    if not link:
        return fitted(line, width)
    return fitted(line, max(width - len(link) - 2, 0)).append(f" {link} ", style=Style(color="#58c4ff", link=link))


def fleet_lines(snapshot: Snapshot, width: int, rows: int) -> list[Text]:
    """A line per fleet, in the colour it has on the map."""
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
    """What the stages cost; the rest of the time nothing is done."""
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
    """The latest events, newest first."""
    lines = [Text(f"events {sim.events.count:,}", style=TITLE)]
    for event in reversed(sim.events.since(sim.events.count - SHOWN_EVENTS)):
        when = event.tick * sim.engine.world.clock.dt
        line = Text(f"{when:>8.2f} ", style=FAINT).append(f"{event.kind} ", style="#ffb03b")
        lines.append(line.append(f"{event.subject} ", style=STRONG).append(event.detail, style=FAINT))
    if len(lines) == 1:
        lines.append(Text("none so far", style=FAINT))
    return [fitted(line, width) for line in lines]


def framed(picture: Sequence[Text], plan: Braille) -> list[Text]:
    """The map in its frame, with a scale."""
    width = picture[0].cell_len
    bar, metres = plan.scale_bar(max(width // 3, 1))
    label = f" ├{'─' * max(bar - 2, 0)}┤ {metres:g} m "
    label = label if len(label) < width - 2 else ""
    lines = [Text(f"╭{'─' * width}╮", style=FRAME)]
    lines += [Text.assemble(("│", FRAME), line, ("│", FRAME)) for line in picture]
    bottom = Text("╰─", style=FRAME).append(label, style=FAINT)
    return [*lines, bottom.append("─" * (width - 1 - len(label)) + "╯", style=FRAME)]


def beside(left: Sequence[Text], right: Sequence[Text], width: int) -> list[Text]:
    """Two columns, the left one of a given width."""
    empty = Text("")
    lines = []
    for k in range(max(len(left), len(right))):
        line = fitted(left[k] if k < len(left) else empty, width)
        lines.append(Text.assemble(line, right[k] if k < len(right) else empty))
    return lines


def fitted(line: Text, width: int) -> Text:
    """The line cut or filled to a width."""
    line = line.copy()
    line.truncate(max(width, 0), overflow="crop", pad=True)
    return line


def short(text: str, width: int) -> str:
    """The text, with an ellipsis where it is too long."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
