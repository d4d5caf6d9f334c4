"""The live terminal views of a run and of a recording: map, fleets, autopilots, stage times, events and keys."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from paddock.cli import panels
from paddock.cli.panels import Braille
from paddock.cli.summary import ShownRun, Tally

if TYPE_CHECKING:
    from paddock.engine.pacing import Pacer
    from paddock.engine.simulation import Simulation
    from paddock.record.player import Player
    from paddock.sitl.host import SitlHost
    from paddock.world.snapshot import Snapshot


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
        if self.active:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        if self.active:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def pressed(self) -> str:
        """Return the keys pressed since the last call."""
        if not self.active or not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 64).decode(errors="ignore")


PACES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)  # selected by + and -
JUMP = 5.0  # seconds that an arrow key skips in a recording
ARROWS = {"\x1b[D": "<", "\x1b[C": ">"}  # escape sequences of the arrow keys -> equivalent keys
SHARE = 0.1  # maximum share of wall time spent drawing; a slow view is drawn less often
UPDATE_EVERY = 0.5  # wall-clock s between snapshots of many vehicles
MANY = 1000
NARROW = 64  # terminals narrower than this show no map
SIDE, AUTOPILOTS_SIDE = 42, 48  # minimum width of the column beside the map, without and with autopilots
AROUND = 3  # rows of header, status and footer
LEFT = 7  # rows reserved for fleets and events
LEAST_ROWS = 8  # rows that the commands of real autopilots leave to the rest


class LiveView:
    """A full screen: a map beside a column of lines; the space bar pauses, + and - change the pace."""

    paces: ClassVar[tuple[float, ...]] = PACES

    def __init__(self, name: str, clock: Pacer | Player, console: Console, keys: bool, link: str) -> None:
        """`name`: of the scenario; `keys`: whether keys can be read; `link`: URL of the page."""
        self.name, self.clock, self.console, self.keys, self.link = name, clock, console, keys, link
        self.map = Braille()

    def handle_keys(self, keys: str) -> None:
        """Handle pressed keys."""
        for code, key in ARROWS.items():
            keys = keys.replace(code, key)
        for key in keys:
            match key:
                case " ":
                    self.clock.resume() if self.clock.paused else self.clock.pause()
                case "+" | "=":
                    self._change_pace(1)
                case "-" | "_":
                    self._change_pace(-1)
                case _:
                    self.press(key)

    def press(self, key: str) -> None:
        """Handle a key of this view."""

    def _change_pace(self, direction: int) -> None:
        paces = self.paces[::direction]
        present = self.clock.pace or inf  # 0 is as fast as possible
        self.clock.pace = next((p for p in paces if direction * (p or inf) > direction * present), paces[-1])

    def picture(self, snapshot: Snapshot, width: int, height: int) -> list[Text]:
        """Return the map in its frame."""
        moving = [(fleet.position, fleet.velocity) for fleet in snapshot]
        return panels.framed(self.map.draw(moving, width - 2, height - 2), self.map)

    def vehicles(self, snapshot: Snapshot, width: int, rows: int) -> list[Text]:
        """Return the lines of the race, if there is one, and of the fleets."""
        race = panels.race_lines(snapshot, width, max(rows // 2, 3))
        race += [Text("")] if race else []
        return [*race, *panels.fleet_lines(snapshot, width, max(rows - len(race), 3))]

    def screen(self, detail: str, mode: str, status: Text, body: list[Text], keys: dict[str, str]) -> Text:
        """Return the whole screen; `keys` are those of this view besides pause and pace."""
        (width, height), paused = self.console.size, self.clock.paused
        title = panels.header(self.name, detail, mode, paused, width)
        lines = [title, status, *body[: max(height - AROUND, 1)]]
        lines += [Text("")] * (height - 1 - len(lines))
        keys = {"space": "resume" if paused else "pause", "+ -": "pace", **keys, "q": "quit"} if self.keys else {}
        lines.append(panels.footer(keys, "" if paused else "s", width, self.link))
        return Text("\n", no_wrap=True, overflow="crop", end="").join(lines[:height])


class RunView(LiveView):
    """Draws a simulation and handles keys."""

    paces: ClassVar[tuple[float, ...]] = (*PACES, 0.0)

    def __init__(
        self,
        sim: Simulation,
        tally: Tally,
        console: Console,
        keys: bool,
        link: str = "",
        autopilots: SitlHost | None = None,
    ) -> None:
        super().__init__(sim.scenario.name, sim.clock, console, keys, link)
        self.sim, self.tally, self.autopilots = sim, tally, autopilots
        self.meter = panels.Meter(sim)
        self.request = ""
        self._next_draw = self._next_update = 0.0
        self._fleets: list[Text] = []  # of the race and the fleets
        self._picture: list[Text] = []
        self._drawn_size = (0, 0)
        self._roster = -1

    def handle_keys(self, keys: str) -> None:
        """Handle pressed keys, and draw soon."""
        super().handle_keys(keys)
        if keys:
            self._next_draw = 0.0

    def press(self, key: str) -> None:
        """Step, reset or quit."""
        if key in "rq" or (key == "s" and self.sim.clock.paused):
            self.leave({"s": "step", "r": "reset", "q": "quit"}[key])

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

    def due(self) -> bool:
        """Whether the next frame is due."""
        return time.perf_counter() >= self._next_draw

    def draw(self) -> Text:
        """Return the whole screen."""
        started, host, sim = time.perf_counter(), self.autopilots, self.sim
        self.meter.read()
        width, height = self.console.size
        rows = max(height - AROUND, 1)
        launch = [] if host is None else panels.launch_lines(host, width, max(rows - LEAST_ROWS, 0))
        rows -= len(launch)
        side = width if width < NARROW else min(max(SIDE if host is None else AUTOPILOTS_SIDE, width * 2 // 5), 54)
        stages, autopilots = [*panels.stage_lines(self.meter, side), Text("")], list[Text]()
        if host is not None:
            if len(host.vehicles) + 1 > rows - len(stages) - LEFT:
                stages = []  # the autopilots need the rows
            autopilots = [*panels.status_lines(host, side, max(rows - len(stages) - LEFT, 3)), Text("")]
        recent = sim.events.since(sim.events.count - 5)
        events = panels.event_lines(
            sim.events.count, [(f"{e.tick * sim.engine.world.clock.dt:>8.2f}", e) for e in recent], side
        )
        rows_fleets = max(rows - len(stages) - len(autopilots) - min(len(events), 3) - 1, 3)
        self._update(side, rows_fleets, width - side - 1, rows)
        column = [*self._fleets, Text(""), *autopilots, *stages, *events]
        body = column if width < NARROW else panels.beside(self._picture, column, width - side)
        line = panels.status(sim, self.tally, self.meter, width)
        blank = [Text("")] * max(rows - len(body), 0) if launch else []
        body = [*body[:rows], *blank, *launch]
        drawn = self.screen(sim.scenario.description, "running", line, body, {"s": "step", "r": "reset"})
        cost = time.perf_counter() - started  # rich needs about the same time again
        self._next_draw = started + 2.0 * cost / SHARE if cost > 0.1 * SHARE else 0.0
        return drawn

    def _update(self, side: int, rows: int, width: int, height: int) -> None:
        """Update fleets and map from a snapshot; less often with many vehicles."""
        now = time.perf_counter()
        if now < self._next_update and self._drawn_size == (width, height):
            return
        snapshot = self.sim.snapshot()
        self._next_update = now + (UPDATE_EVERY if len(snapshot) > MANY and not self.sim.clock.paused else 0.0)
        self._drawn_size = (width, height)
        self._fleets = self.vehicles(snapshot, side, rows)
        if snapshot.roster != self._roster:  # the paths that fleets follow, each with the index of its fleet
            behaviours = [program.control.behaviour for program in self.sim.engine.programs.values()]
            guided = [(k, b.path) for k, b in enumerate(behaviours) if b is not None and b.rule.needs_path]
            self._roster, self.map.guides = snapshot.roster, guided
        if width > 2 and height > 2:
            self._picture = self.picture(snapshot, width, height)


class PlaybackView(LiveView):
    """Draws a recording and handles keys."""

    def __init__(self, player: Player, console: Console, keys: bool, link: str = "") -> None:
        super().__init__(player.scenario.name, player, console, keys, link)
        self.player = player

    def press(self, key: str) -> None:
        """Seek or quit."""
        if key == "q":
            self.player.stop()
        elif key in "<>0":
            self.map.clear()
            self.player.seek(0.0 if key == "0" else self.player.position + (JUMP if key == ">" else -JUMP))

    def draw(self) -> Text:
        """Return the whole screen."""
        player, (width, height) = self.player, self.console.size
        rows = max(height - AROUND, 1)
        side = width if width < NARROW else min(max(SIDE, width * 2 // 5), 54)
        snapshot, events = player.snapshot(), player.events()
        shown = panels.event_lines(len(events), [(f"{event.tick:>8,}", event) for event in events[-6:]], side)
        body = [*self.vehicles(snapshot, side, rows - len(shown) - 1), Text(""), *shown]
        if width >= NARROW and rows > 2:
            body = panels.beside(self.picture(snapshot, width - side - 1, rows), body, width - side)
        numbers = f" {player.position:.1f} of {player.duration:.1f} s  tick {player.tick:,}  {player.pace:g}x"
        room = max(width - len(numbers) - 2, 4)
        filled = round(player.position / max(player.duration, 1e-9) * room)
        bar = Text(" ").append("━" * filled, style="#58c4ff").append("─" * (room - filled), style=panels.FRAME)
        line = panels.fitted(bar.append(numbers, style=panels.STRONG), width)
        keys = {"← →": f"{JUMP:g} s", "0": "start"}
        return self.screen(player.recording.path, "replay", line, body, keys)


def run_live(run: ShownRun) -> None:
    """Run with the live view until the end, `q` or a signal."""
    console = Console()
    with Keyboard() as keys, Live(console=console, screen=True, auto_refresh=False, redirect_stderr=False) as live:
        view = RunView(run.sim, run.tally, console, keys.active, run.link, run.autopilots)

        def beat() -> None:
            view.handle_keys(keys.pressed())
            if run.interrupted():
                view.leave("quit")
            if view.due():
                live.update(view.draw(), refresh=True)

        while view.request != "quit":
            view.request = "quit"  # unless a key requests something else
            run.sim.run(run.until, heartbeat=beat)
            view.act()


def play_live(player: Player, until: float | None, interrupted: Callable[[], bool], link: str = "") -> None:
    """Play in the terminal until `q` or a signal; at the end it stays open for seeking."""
    console = Console()
    with Keyboard() as keys, Live(console=console, screen=True, auto_refresh=False, redirect_stderr=False) as live:
        view = PlaybackView(player, console, keys.active, link)

        def beat() -> None:
            view.handle_keys(keys.pressed())
            if interrupted():
                player.stop()
            live.update(view.draw(), refresh=True)

        player.run(until, heartbeat=beat, stay=keys.active)
