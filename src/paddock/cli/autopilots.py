"""What people see of autopilots: how to reach them, and how they are doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from paddock.cli.panels import FAINT, STRONG, TITLE, fitted

if TYPE_CHECKING:
    from paddock.sitl.bridge.status import StatusRow
    from paddock.sitl.hosting.host import SitlHost

GOOD, BAD, IDLE = "#7ce07a", "#ff6f91", "#8a94a0"


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
    """A line per autopilot: system id, vehicle, where to reach it, mode, what is going on."""
    rows, ports = host.status(), {row.sysid: row.speaks.rpartition(":")[2] for row in host.ports()}
    lines = [Text(f"{'sys':>3} {'vehicle':<10} {'port':>5} {'mode':<9} autopilot", style=TITLE)]
    shown = rows if len(rows) < most else rows[: max(most - 2, 1)]
    lines += [_line(row, ports.get(row.sysid, "")) for row in shown]
    if len(shown) < len(rows):
        lines.append(Text(f"and {len(rows) - len(shown)} more", style=FAINT))
    return [fitted(line, width) for line in lines]


def _line(row: StatusRow, port: str) -> Text:
    colour = (GOOD if row.armed else IDLE) if row.connected else BAD
    line = Text(f"{row.sysid:>3} ", style=FAINT).append(f"{row.name[:10]:<10} ", style=colour)
    line.append(f"{port if port.isdecimal() else '-':>5} ", style=FAINT)
    line.append(f"{row.mode[:9]:<9} ", style=STRONG if row.armed else FAINT)
    state = "armed" if row.armed else "disarmed" if row.connected else "waiting"
    return line.append(row.note or state, style=FAINT)


def tell_autopilots(host: SitlHost | None) -> None:
    """The same for logs and pipes: lines that have changed since they were last told."""
    told = {} if host is None else host.told
    for row in [] if host is None else host.status():
        line = (
            f"  system {row.sysid:>3}  {row.name:<16} {row.pilot:<9} {row.mode or '-':<10} "
            f"{'armed' if row.armed else 'disarmed':<8}"
        )
        if told.get(row.sysid) != line:
            told[row.sysid] = line
            print(f"{line} {row.note}".rstrip(), flush=True)
