"""What people see of autopilots: how to reach them, and how they are doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from paddock.cli.panels import FAINT, STRONG, TITLE, fitted, short

if TYPE_CHECKING:
    from paddock.sitl.bridge_vehicle import StatusRow
    from paddock.sitl.host import Progress, SitlHost

GOOD, BAD, IDLE = "#7ce07a", "#ff6f91", "#8a94a0"
LABELS = ("item", "m", "m/s", "bat")
"""Of what an autopilot is doing, the most important first."""
MOST_NAME, MOST_MODE = 10, 9


def print_ports(host: SitlHost) -> None:
    """The table of ports and how to connect, on stdout: it is there to be copied."""
    rows = host.ports()
    headings = ("system", "vehicle", "autopilot", "listens at", "speaks to")
    table = [headings, *((str(row.sysid), row.name, row.autopilot, row.listens, row.speaks) for row in rows)]
    widths = [max(len(line[k]) for line in table) for k in range(len(headings))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for hint in host.hints():
        print(hint)
    print(flush=True)


def status_lines(host: SitlHost, width: int, most: int) -> list[Text]:
    """A line per autopilot: system id, vehicle, where to reach it, armed (●), mode, what it does or what hinders it.

    What does not fit is left out from the right.
    """
    told, ports = host.progress(), {row.sysid: row.speaks.rpartition(":")[2] for row in host.ports()}
    shown = told if len(told) < most else told[: max(most - 2, 1)]
    name, mode = _widths([row for row, _ in shown])
    title = f"{'sys':>3} {'vehicle':<{name}} {'port':>5}   {'mode':<{mode}}"
    columns = _columns([doing for _, doing in shown], width - len(title))
    lines = [Text(title + "".join(f" {label:>{size}}" for _, label, size in columns), style=TITLE)]
    for row, doing in shown:
        line = _line(row, ports.get(row.sysid, ""), name, mode)
        cells = "".join(f" {doing[k]:>{size}}" for k, _, size in columns)
        lines.append(line.append(f" {short(row.note, width - len(line) - 1)}" if row.note else cells, style=FAINT))
    if len(shown) < len(told):
        lines.append(Text(f"and {len(told) - len(shown)} more", style=FAINT))
    return [fitted(line, width) for line in lines]


def _widths(rows: Sequence[StatusRow]) -> tuple[int, int]:
    """Of the columns of names and of modes."""
    names, modes = [len(row.name) for row in rows], [len(row.mode) for row in rows]
    return min(max([*names, len("vehicle")]), MOST_NAME), min(max([*modes, len("mode")]), MOST_MODE)


def _columns(doings: Sequence[Progress], room: int) -> list[tuple[int, str, int]]:
    """Index, label and width of those that say something, as long as there is room."""
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
    """What is always there."""
    colour = (GOOD if row.armed else IDLE) if row.connected else BAD
    line = Text(f"{row.sysid:>3} ", style=FAINT).append(f"{short(row.name, name):<{name}} ", style=colour)
    line.append(f"{port if port.isdecimal() else '-':>5} ", style=FAINT)
    line.append("● " if row.armed else "○ ", style=colour)
    return line.append(f"{short(row.mode, mode):<{mode}}", style=STRONG if row.armed else FAINT)


def tell_autopilots(host: SitlHost | None) -> None:
    """The same for logs and pipes: lines that have changed since they were last told."""
    told = {} if host is None else host.printed
    for row in [] if host is None else host.status():
        line = (
            f"  system {row.sysid:>3}  {row.name:<16} {row.pilot:<9} {row.mode or '-':<10} "
            f"{'armed' if row.armed else 'disarmed':<8}"
        )
        if told.get(row.sysid) != line:
            told[row.sysid] = line
            print(f"{line} {row.note}".rstrip(), flush=True)
