"""The live view in a pseudo terminal, and its parts."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import paddock
from paddock.cli.panels import ARROWS, Braille
from paddock.cli.summary import Tally
from paddock.cli.view import RunView

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A process in its own pseudo terminal."""

    def __init__(self, *arguments: str, rows: int = 24, columns: int = 80) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        environment = {**os.environ, "TERM": "xterm-256color"}
        command = [sys.executable, "-m", "paddock", *arguments]
        self.process = subprocess.Popen(
            command, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, env=environment, start_new_session=True
        )
        self.seen = b""

    def read_until(self, wanted: bytes, seconds: float = 60.0) -> None:
        """Read on until something has been seen."""
        end = time.monotonic() + seconds
        while wanted not in self.seen:
            assert time.monotonic() < end, f"{wanted!r} not seen in {self.seen[-2000:]!r}"
            if select.select([self.ours], [], [], 0.1)[0]:
                self.seen += os.read(self.ours, 65536)

    def press(self, keys: str) -> None:
        self.seen = b""
        os.write(self.ours, keys.encode())


@pytest.fixture
def terminal(small: Path) -> Iterator[Terminal]:
    screen = Terminal("run", str(small))
    yield screen
    if screen.process.poll() is None:
        screen.process.kill()
        screen.process.wait()
    os.close(screen.ours)
    os.close(screen.theirs)


def test_keys(terminal: Terminal) -> None:
    terminal.read_until("▶ running".encode())
    assert ENTER in terminal.seen
    assert b"Two kinds of vehicle." in terminal.seen
    terminal.press(" ")
    terminal.read_until("❚❚ paused".encode())
    terminal.press("s")
    terminal.read_until(b"step")
    terminal.press("+")
    terminal.read_until(b"2x")
    terminal.press("r")
    terminal.read_until(b"0.00 s")
    terminal.press("q")
    terminal.read_until(b"state hash")
    assert terminal.process.wait(timeout=10) == 0
    assert LEAVE in terminal.seen
    assert termios.tcgetattr(terminal.theirs) == terminal.before


@pytest.mark.slow
def test_a_signal_restores_the_terminal(terminal: Terminal) -> None:
    terminal.read_until("▶ running".encode())
    assert termios.tcgetattr(terminal.theirs) != terminal.before
    terminal.process.terminate()
    terminal.read_until(b"state hash")
    assert terminal.process.wait(timeout=10) == 143
    assert LEAVE in terminal.seen
    assert termios.tcgetattr(terminal.theirs) == terminal.before


def seen_by(size: tuple[int, int], scenario: Path) -> list[str]:
    sim = paddock.load(scenario)
    with open(os.devnull, "w") as nowhere:
        console = Console(file=nowhere, force_terminal=True, width=size[0], height=size[1])
        view = RunView(sim, Tally(sim), console, keys=False)
        view.draw()
        sim.step(30)
        return view.draw().plain.split("\n")


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (60, 20), (200, 60), (30, 8)])
def test_the_screen_is_filled_exactly(size: tuple[int, int], small: Path) -> None:
    lines = seen_by(size, small)
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    text = "\n".join(lines)
    assert "PADDOCK" in lines[0] and "small" in lines[0] and "0.30 s" in lines[1]
    if size[0] >= 80:
        assert "dots" in text and "behave" in text and "none" in text and "├" in text


def test_pace_keys_go_to_both_ends(small: Path) -> None:
    sim = paddock.load(small)
    view = RunView(sim, Tally(sim), Console(), keys=False)
    view.handle_keys("+" * 20)
    assert sim.clock.pace == 0.0
    view.handle_keys("-")
    assert sim.clock.pace == 100.0
    view.handle_keys("-" * 20)
    assert sim.clock.pace == 0.05


def test_one_vehicle_is_an_arrow() -> None:
    lines = Braille().draw([(np.zeros((1, 3)), np.array([[0.0, 2.0, 0.0]]))], 11, 5)
    assert "".join(line.plain for line in lines).strip() == ARROWS[2]


def test_many_vehicles_are_dots_in_place() -> None:
    corners = np.array([[-50.0, -50.0], [50.0, -50.0], [-50.0, 50.0], [50.0, 50.0]]).repeat(25, axis=0)
    lines = Braille().draw([(corners, np.zeros((100, 3)))], 40, 20)
    marked = {(row, column) for row, line in enumerate(lines) for column, c in enumerate(line.plain) if c != " "}
    assert len(marked) == 4
    rows, columns = {row for row, _ in marked}, {column for _, column in marked}
    assert len(rows) == len(columns) == 2
    assert max(rows) - min(rows) > 12 and 2 * (max(rows) - min(rows)) == pytest.approx(
        max(columns) - min(columns), abs=2
    )


def test_a_lost_vehicle_does_not_stop_the_map() -> None:
    plan = Braille()
    places = np.array([[0.0, 0.0, 0.0], [np.nan, np.inf, 0.0], [9.0, 9.0, 0.0]])
    plan.draw([(places, np.full((3, 3), np.nan))], 20, 10)
    plan.draw([(np.zeros((0, 3)), np.zeros((0, 3)))], 20, 10)
    assert plan.scale_bar(8)[1] > 0


def test_leaderboard() -> None:
    """Cars of a race in their order, with laps and gaps; nothing without a race."""
    from paddock.cli.panels import race_lines

    cars = [
        {"name": name, "model": "car.kinematic", "pose": [x, 0.5, 0], "speed": 10.0}
        for name, x in (("red", -9.0), ("blue", -4.0))
    ]
    tree = {"track": "acceleration", "rules": {"discipline": "acceleration", "stop_distance": 0}, "vehicles": cars}
    with paddock.load(tree) as sim:
        sim.step(240)
        lines = [str(line) for line in race_lines(sim.snapshot(), 60, 10)]
    assert [line.split()[:2] for line in lines[1:]] == [["1", "blue"], ["2", "red"]]
    with paddock.load({"vehicles": [{"name": "red", "model": "car.kinematic"}]}) as sim:
        assert race_lines(sim.snapshot(), 60, 10) == []
