"""The live terminal view of a run: map, fleets, autopilots, stage times and events."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from paddock.cli.braille import Braille, Floats
from paddock.cli.panels import (
    Meter,
    beside,
    event_lines,
    fleet_lines,
    footer,
    framed,
    header,
    stage_lines,
    status,
    status_lines,
)
from paddock.cli.summary import Tally, ViewExtras

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation


try:
    import termios
    import tty
except ImportError:  # not on Windows
    HAS_TERMIOS = False
else:
    HAS_TERMIOS = True


class Keyboard:
    """Reads single keys without echo while entered; restores the terminal afterwards."""

    def __init__(self) -> None:
        self.active = HAS_TERMIOS and sys.stdin is not None and sys.stdin.isatty()
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        """Switch the terminal to unbuffered input."""
        if self.active:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the terminal."""
        if self.active:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """Return the keys pressed since the last call."""
        if not self.active or not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 64).decode(errors="ignore")


PACES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 0.0)
"""Paces selected by + and -; 0 is as fast as possible."""
SHARE = 0.1  # maximum share of wall time spent drawing; a slow view is drawn less often
UPDATE_EVERY = 0.5  # wall-clock s between snapshots of many vehicles
MANY = 1000
NARROW = 64  # terminals narrower than this show no map
SIDE, AUTOPILOTS_SIDE = 42, 48  # minimum width of the column beside the map, without and with autopilots
HEAD, FOOT = 2, 1
LEFT = 7  # rows reserved for fleets and events
NO_EXTRAS = ViewExtras()


def run_live(
    sim: Simulation, tally: Tally, until: float | None, interrupted: Callable[[], bool], shown: ViewExtras
) -> None:
    """Run with the live view until the end, `q` or a signal."""
    console = Console()
    with Keyboard() as keys, Live(console=console, screen=True, auto_refresh=False, redirect_stderr=False) as live:
        view = RunView(sim, tally, console, keys, shown)

        def beat() -> None:
            view.handle_keys(keys.pressed())
            if interrupted():
                view.leave("quit")
            if view.due():
                live.update(view.draw(), refresh=True)

        while view.request != "quit":
            view.request = "quit"  # unless a key requests something else
            sim.run(until, heartbeat=beat)
            view.act()


class RunView:
    """Draws the simulation and handles keys."""

    def __init__(
        self, sim: Simulation, tally: Tally, console: Console, keys: Keyboard, shown: ViewExtras = NO_EXTRAS
    ) -> None:
        self.sim, self.tally, self.console, self.keys, self.shown = sim, tally, console, keys, shown
        self.meter = Meter(sim)
        self.map = Braille()
        self.request = ""
        self._next_draw = self._next_update = 0.0
        self._fleets: list[Text] = []
        self._picture: list[Text] = []
        self._drawn_size = (0, 0)
        self._roster = -1

    # keys ------------------------------------------------------------------------------------------------------------

    def handle_keys(self, keys: str) -> None:
        """Handle pressed keys."""
        for key in keys:
            match key:
                case " ":
                    self.sim.clock.resume() if self.sim.clock.paused else self.sim.clock.pause()
                case "+" | "=":
                    self._change_pace(1)
                case "-" | "_":
                    self._change_pace(-1)
                case "s" if self.sim.clock.paused:
                    self.leave("step")
                case "r":
                    self.leave("reset")
                case "q":
                    self.leave("quit")
        if keys:
            self._next_draw = 0.0

    def leave(self, request: str) -> None:
        """Stop the run; `act` then carries out the request."""
        self.request = request
        self.sim.clock.stop()

    def act(self) -> None:
        """Carry out a request that needs a stopped simulation."""
        if self.request == "step":
            self.sim.step(1)
        elif self.request == "reset":
            self.sim.reset()
            self.tally.again()
            self.meter.clear()
            self.map.clear()
            self._roster = -1
        self._next_draw = self._next_update = 0.0

    def _change_pace(self, direction: int) -> None:
        rank = [pace or float("inf") for pace in PACES]
        present = self.sim.clock.pace or float("inf")
        if direction > 0:
            chosen = next((k for k, pace in enumerate(rank) if pace > present), len(rank) - 1)
        else:
            chosen = next((k for k in reversed(range(len(rank))) if rank[k] < present), 0)
        self.sim.clock.pace = PACES[chosen]

    # drawing ---------------------------------------------------------------------------------------------------------

    def due(self) -> bool:
        """Whether the next frame is due."""
        return time.perf_counter() >= self._next_draw

    def draw(self) -> Text:
        """Return the whole screen."""
        started = time.perf_counter()
        self.meter.read()
        width, height = self.console.size
        rows = max(height - HEAD - FOOT, 1)
        least = SIDE if self.shown.autopilots is None else AUTOPILOTS_SIDE
        side = width if width < NARROW else min(max(least, width * 2 // 5), 54)
        stages, events = self._stages(side, rows), event_lines(self.sim, side)
        autopilots = self._autopilots(side, rows - len(stages) - LEFT)
        rows_fleets = max(rows - len(stages) - len(autopilots) - min(len(events), 3) - 1, 3)
        self._update(side, rows_fleets, width - side - 1, rows)
        column = [*self._fleets, Text(""), *autopilots, *stages, *events]
        body = column if width < NARROW else beside(self._picture, column, width - side)
        lines = [header(self.sim, width), status(self.sim, self.tally, self.meter, width), *body[:rows]]
        lines += [Text("")] * (height - FOOT - len(lines))
        lines.append(footer(self.sim, self.keys.active, width, self.shown.link))
        cost = time.perf_counter() - started
        self._next_draw = (
            started + 2.0 * cost / SHARE if cost > 0.1 * SHARE else 0.0
        )  # rich needs about the same time again
        return Text("\n", no_wrap=True, overflow="crop", end="").join(lines[:height])

    def _stages(self, width: int, rows: int) -> list[Text]:
        """Return the stage times, unless the autopilots need the rows."""
        lines = [*stage_lines(self.meter, width), Text("")]
        host = self.shown.autopilots
        return lines if host is None or len(host.vehicles) + 1 <= rows - len(lines) - LEFT else []

    def _autopilots(self, width: int, most: int) -> list[Text]:
        """Return a line per autopilot, as space allows."""
        host = self.shown.autopilots
        return [] if host is None else [*status_lines(host, width, max(most, 3)), Text("")]

    def _update(self, side: int, rows: int, width: int, height: int) -> None:
        """Update fleets and map from a snapshot; less often with many vehicles."""
        now = time.perf_counter()
        if now < self._next_update and self._drawn_size == (width, height):
            return
        snapshot = self.sim.snapshot()
        self._next_update = now + (UPDATE_EVERY if len(snapshot) > MANY and not self.sim.clock.paused else 0.0)
        self._drawn_size = (width, height)
        self._fleets = fleet_lines(snapshot, side, rows)
        if snapshot.roster != self._roster:
            self._roster, self.map.guides = snapshot.roster, guides(self.sim)
        if width > 2 and height > 2:
            moving = [(fleet.position, fleet.velocity) for fleet in snapshot]
            self._picture = framed(self.map.draw(moving, width - 2, height - 2), self.map)


def guides(sim: Simulation) -> list[tuple[int, Floats]]:
    """Return the paths that fleets follow, each with the index of the fleet."""
    behaviours = [program.behaviour for program in sim.engine.programs.values()]
    return [
        (k, behaviour.path)
        for k, behaviour in enumerate(behaviours)
        if behaviour is not None and behaviour.rule.needs_path
    ]
