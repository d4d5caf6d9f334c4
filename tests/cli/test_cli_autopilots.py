"""The autopilot lines of the live view, at typical terminal widths."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from paddock.cli.panels import event_lines, launch_lines, status_lines
from paddock.engine.events import Event
from paddock.sitl.adapter_link import StatusRow
from paddock.sitl.host import PortRow, Progress

NAN = float("nan")


def row(sysid: int, name: str, mode: str, armed: bool, note: str = "") -> StatusRow:
    return StatusRow(sysid, name, "rover", "world", "builtin", True, mode, armed, note, 9, NAN, NAN)


def status_of(*rows: tuple[StatusRow, Progress]) -> Any:
    ports = [PortRow(row.sysid, row.name, "builtin", "udp 1", f"udp 127.0.0.1:{14549 + row.sysid}") for row, _ in rows]
    return SimpleNamespace(progress=lambda: list(rows), ports=lambda: ports)


def lines(host: Any, width: int, most: int = 20) -> list[str]:
    return [line.plain.rstrip() for line in status_lines(host, width, most)]


ROVER = (row(1, "rover[0]", "AUTO", True), Progress("3/12", "", "2.0", "98%"))
COPTER = (row(2, "copter[0]", "STABILIZE", False), Progress("", "100.4", "12.3", "7%"))


def test_everything_fits_the_column_of_a_wide_terminal() -> None:
    assert lines(status_of(ROVER, COPTER), 54) == [
        "sys vehicle    port   mode      item     m  m/s  bat",
        "  1 rover[0]  14550 ● AUTO      3/12        2.0  98%",
        "  2 copter[0] 14551 ○ STABILIZE      100.4 12.3   7%",
    ]


def test_columns_that_do_not_fit_are_dropped_from_the_right() -> None:
    assert [lines(status_of(ROVER, COPTER), width)[0].split()[4:] for width in (52, 51, 46, 41, 35)] == [
        ["item", "m", "m/s", "bat"],
        ["item", "m", "m/s"],
        ["item", "m"],
        ["item"],
        [],
    ]


def test_the_height_column_is_omitted_without_aircraft() -> None:
    assert lines(status_of(ROVER), 54)[0].split() == ["sys", "vehicle", "port", "mode", "item", "m/s", "bat"]


@pytest.mark.parametrize("width", [54, 48, 42])
def test_a_note_is_truncated_with_an_ellipsis(width: int) -> None:
    late = row(7, "a_rover_with_a_long_name", "SMART_RTL_OF_MINE", True, "adapter 'gazebo' is not connected: no server")
    text = lines(status_of((late, Progress())), width)[1]
    assert text.startswith("  7 a_rover_w… 14556 ● SMART_RT… adap") and text.endswith("…") and len(text) == width


def test_excess_rows_are_counted() -> None:
    assert lines(status_of(*[ROVER] * 9), 54, 6)[-1] == "and 5 more"


HINT = "second ArduPilot refused at udp 127.0.0.1:9002, which has another ArduPilot already; start it with -I"


@pytest.mark.parametrize("width", [42, 54, 160])
def test_an_event_is_shown_whole(width: int) -> None:
    event = Event(1, 100, "rejected", "copter", HINT)
    shown = [line.plain for line in event_lines(1, [("    0.10", event)], width)]
    assert all(len(line) == width for line in shown)
    text = " ".join(" ".join(line.split()) for line in shown[1:])
    assert HINT in text and (width == 160) == (len(shown) == 2)


def test_the_commands_of_waiting_autopilots_are_shown_whole_while_there_are_rows() -> None:
    command = "  start:    sim_vehicle.py -v ArduCopter -f quad --model JSON:127.0.0.1 " + "-A --more " * 12
    host: Any = SimpleNamespace(waiting_hints=lambda: ["system 1 copter, waiting for ardupilot:", command])
    shown = [line.plain for line in launch_lines(host, 80, 20)]
    assert all(len(line) == 80 for line in shown) and len(shown) == 4
    assert " ".join(" ".join(line.split()) for line in shown[1:]) == " ".join(command.split())
    assert len(launch_lines(host, 80, 2)) == 2
