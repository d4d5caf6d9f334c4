"""The live view of a run: what happens, where, and what it costs, in one terminal screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from paddock.cli.autopilots import status_lines
from paddock.cli.braille import Braille, Floats
from paddock.cli.keyboard import Keyboard
from paddock.cli.meter import Meter
from paddock.cli.panels import beside, event_lines, fleet_lines, footer, framed, header, stage_lines, status
from paddock.cli.shown import Shown
from paddock.cli.summary import Tally

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation

PACES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 0.0)
"""What + and - step through; 0, as fast as possible, is the fastest."""
SHARE = 0.1
"""The view takes about this share of wall time at most; where it costs more, it is drawn less often."""
LOOK_EVERY = 0.5
"""s of wall time between looks at the vehicles when there are many."""
MANY = 1000
NARROW = 64
"""Below this width there is no room for the map."""
SIDE, PILOTS_SIDE = 42, 48
"""The least width of what stands beside the map, and of that with autopilots."""
HEAD, FOOT = 2, 1
LEFT = 7
"""Rows that autopilots leave for fleets and events."""
NOTHING_MORE = Shown()


def run_live(sim: Simulation, tally: Tally, until: float | None, interrupted: Callable[[], bool], shown: Shown) -> None:
    """Run in the terminal until the end, `q` or a signal."""
    console = Console()
    with Keyboard() as keys, Live(console=console, screen=True, auto_refresh=False, redirect_stderr=False) as live:
        view = View(sim, tally, console, keys, shown)

        def beat() -> None:
            view.obey(keys.pressed())
            if interrupted():
                view.leave("quit")
            if view.due():
                live.update(view.draw(), refresh=True)

        while view.wish != "quit":
            view.wish = "quit"  # of a run that comes to its end
            sim.run(until, heartbeat=beat)
            view.act()


class View:
    """Draws the simulation and obeys the keys."""

    def __init__(
        self, sim: Simulation, tally: Tally, console: Console, keys: Keyboard, shown: Shown = NOTHING_MORE
    ) -> None:
        self.sim, self.tally, self.console, self.keys, self.shown = sim, tally, console, keys, shown
        self.meter = Meter(sim)
        self.map = Braille()
        self.wish = ""
        self._next_draw = self._next_look = 0.0
        self._fleets: list[Text] = []
        self._picture: list[Text] = []
        self._look_size = (0, 0)
        self._roster = -1

    # keys ------------------------------------------------------------------------------------------------------------

    def obey(self, keys: str) -> None:
        """Do what the keys say."""
        for key in keys:
            match key:
                case " ":
                    self.sim.resume() if self.sim.paused else self.sim.pause()
                case "+" | "=":
                    self._change_pace(1)
                case "-" | "_":
                    self._change_pace(-1)
                case "s" if self.sim.paused:
                    self.leave("step")
                case "r":
                    self.leave("reset")
                case "q":
                    self.leave("quit")
        if keys:
            self._next_draw = 0.0

    def leave(self, wish: str) -> None:
        """End the run, for time has one owner; `act` does the rest between two runs."""
        self.wish = wish
        self.sim.stop()

    def act(self) -> None:
        """What can only be done while the simulation does not run."""
        if self.wish == "step":
            self.sim.step(1)
        elif self.wish == "reset":
            self.sim.reset()
            self.tally.again()
            self.meter.clear()
            self.map.clear()
            self._roster = -1
        self._next_draw = self._next_look = 0.0

    def _change_pace(self, direction: int) -> None:
        rank = [pace or float("inf") for pace in PACES]
        present = self.sim.pace or float("inf")
        if direction > 0:
            chosen = next((k for k, pace in enumerate(rank) if pace > present), len(rank) - 1)
        else:
            chosen = next((k for k in reversed(range(len(rank))) if rank[k] < present), 0)
        self.sim.pace = PACES[chosen]

    # drawing ---------------------------------------------------------------------------------------------------------

    def due(self) -> bool:
        """Whether it is time for another picture."""
        return time.perf_counter() >= self._next_draw

    def draw(self) -> Text:
        """The whole screen."""
        started = time.perf_counter()
        self.meter.read()
        width, height = self.console.size
        rows = max(height - HEAD - FOOT, 1)
        least = SIDE if self.shown.autopilots is None else PILOTS_SIDE
        side = width if width < NARROW else min(max(least, width * 2 // 5), 54)
        stages, events = self._stages(side, rows), event_lines(self.sim, side)
        pilots = self._pilots(side, rows - len(stages) - LEFT)
        rows_fleets = max(rows - len(stages) - len(pilots) - min(len(events), 3) - 1, 3)
        self._look(side, rows_fleets, width - side - 1, rows)
        column = [*self._fleets, Text(""), *pilots, *stages, *events]
        body = column if width < NARROW else beside(self._picture, column, width - side)
        lines = [header(self.sim, width), status(self.sim, self.tally, self.meter, width), *body[:rows]]
        lines += [Text("")] * (height - FOOT - len(lines))
        lines.append(footer(self.sim, self.keys.active, width, self.shown.link))
        cost = time.perf_counter() - started
        self._next_draw = started + 2.0 * cost / SHARE if cost > 0.1 * SHARE else 0.0  # rich takes as long again
        return Text("\n", no_wrap=True, overflow="crop", end="").join(lines[:height])

    def _stages(self, width: int, rows: int) -> list[Text]:
        """What the stages cost, unless that would leave autopilots without a line."""
        lines = [*stage_lines(self.meter, width), Text("")]
        host = self.shown.autopilots
        return lines if host is None or len(host.seats) + 1 <= rows - len(lines) - LEFT else []

    def _pilots(self, width: int, most: int) -> list[Text]:
        """A line per autopilot, as far as there is room."""
        host = self.shown.autopilots
        return [] if host is None else [*status_lines(host, width, max(most, 3)), Text("")]

    def _look(self, side: int, rows: int, width: int, height: int) -> None:
        """Look at the vehicles: seldom, when there are many of them."""
        now = time.perf_counter()
        if now < self._next_look and self._look_size == (width, height):
            return
        snapshot = self.sim.snapshot()
        self._next_look = now + (LOOK_EVERY if len(snapshot) > MANY and not self.sim.paused else 0.0)
        self._look_size = (width, height)
        self._fleets = fleet_lines(snapshot, side, rows)
        if snapshot.roster != self._roster:
            self._roster, self.map.guides = snapshot.roster, guides(self.sim)
        if width > 2 and height > 2:
            moving = [(fleet.position, fleet.velocity) for fleet in snapshot]
            self._picture = framed(self.map.draw(moving, width - 2, height - 2), self.map)


def guides(sim: Simulation) -> list[tuple[int, Floats]]:
    """The paths that fleets follow, with the fleets' positions in the list."""
    conducts = [program.behaviour for program in sim.engine.programs.values()]
    return [(k, conduct.path) for k, conduct in enumerate(conducts) if conduct is not None and conduct.rule.needs_path]
