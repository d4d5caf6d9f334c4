"""Playback of a recording in the terminal: a live view with keys, or log lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from paddock.cli.braille import Braille
from paddock.cli.panels import BAR, FAINT, FRAME, STRONG, TITLE, beside, fitted, fleet_lines, framed, with_link
from paddock.cli.view import Keyboard

if TYPE_CHECKING:
    from paddock.engine.events import Event
    from paddock.record.player import Player

PACES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
JUMP = 5.0  # seconds that an arrow key skips
ARROWS = {"\x1b[D": "<", "\x1b[C": ">"}  # escape sequences of the arrow keys -> equivalent keys
NARROW = 64
SHOWN_EVENTS = 6
LINE_EVERY = 1.0  # wall-clock s between two log lines


def play_lines(
    player: Player, until: float | None, interrupted: Callable[[], bool], quiet: bool, stay: bool = False
) -> None:
    """Play with a log line per second and per event, unless quiet. `stay`: keep serving at the end."""
    due = [time.perf_counter()]

    def print_event(event: Event) -> None:
        print(f"  tick {event.tick:,}: {event.kind} {event.subject} {event.detail}".rstrip(), flush=True)

    def beat() -> None:
        if interrupted():
            player.stop()
        if not quiet and time.perf_counter() >= due[0]:
            due[0] += LINE_EVERY
            print(f"t {player.time:10.3f} s  tick {player.tick:>10,}  of {player.duration:.3f} s", flush=True)

    if not quiet:
        player.event_listeners.append(print_event)
    player.run(until, heartbeat=beat, stay=stay)


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


def can_show() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


class PlaybackView:
    """Draws the recording and handles keys."""

    def __init__(self, player: Player, console: Console, keys: bool, link: str = "") -> None:
        """`link`: URL of the page."""
        self.player, self.console, self.keys, self.link = player, console, keys, link
        self.map = Braille()

    def handle_keys(self, keys: str) -> None:
        """Handle pressed keys."""
        for code, key in ARROWS.items():
            keys = keys.replace(code, key)
        for key in keys:
            match key:
                case " ":
                    self.player.resume() if self.player.paused else self.player.pause()
                case "+" | "=":
                    self.player.pace = next((pace for pace in PACES if pace > self._pace()), PACES[-1])
                case "-" | "_":
                    self.player.pace = next((pace for pace in reversed(PACES) if pace < self._pace()), PACES[0])
                case "<" | ">":
                    self._jump(self.player.position + (JUMP if key == ">" else -JUMP))
                case "0":
                    self._jump(0.0)
                case "q":
                    self.player.stop()

    def _pace(self) -> float:
        """Current pace; as fast as possible counts as infinity."""
        return self.player.pace or inf

    def _jump(self, to: float) -> None:
        self.map.clear()
        self.player.seek(to)

    def draw(self) -> Text:
        """Return the whole screen."""
        width, height = self.console.size
        rows = max(height - 3, 1)
        side = width if width < NARROW else min(max(42, width * 2 // 5), 54)
        snapshot = self.player.snapshot()
        events = self._event_lines(side)
        column = [*fleet_lines(snapshot, side, max(rows - len(events) - 1, 3)), Text(""), *events]
        body = column
        if width >= NARROW and rows > 2:
            moving = [(fleet.position, fleet.velocity) for fleet in snapshot]
            picture = framed(self.map.draw(moving, width - side - 3, rows - 2), self.map)
            body = beside(picture, column, width - side)
        lines = [self._header(width), self._status(width), *body[:rows]]
        lines += [Text("")] * (height - 1 - len(lines)) + [self._footer(width)]
        return Text("\n", no_wrap=True, overflow="crop", end="").join(lines[:height])

    def _header(self, width: int) -> Text:
        mode = " ❚❚ paused " if self.player.paused else " ▶ replay "
        text = Text(f" PADDOCK │ {self.player.scenario.name} · {self.player.recording.path}", style=BAR)
        text.truncate(max(width - len(mode), 1), overflow="ellipsis", pad=True)
        return text.append(mode, style="bold #101418 on #ffb03b" if self.player.paused else BAR)

    def _status(self, width: int) -> Text:
        """Return the position as a bar and in numbers."""
        player = self.player
        share = player.position / max(player.duration, 1e-9)
        numbers = f" {player.position:.1f} of {player.duration:.1f} s  tick {player.tick:,}  {player.pace:g}x"
        room = max(width - len(numbers) - 2, 4)
        filled = round(share * room)
        bar = Text(" ").append("━" * filled, style="#58c4ff").append("─" * (room - filled), style=FRAME)
        return fitted(bar.append(numbers, style=STRONG), width)

    def _event_lines(self, width: int) -> list[Text]:
        events = self.player.events()
        lines = [Text(f"events {len(events):,}", style=TITLE)]
        for event in reversed(events[-SHOWN_EVENTS:]):
            line = Text(f"{event.tick:>8,} ", style=FAINT).append(f"{event.kind} ", style="#ffb03b")
            lines.append(line.append(f"{event.subject} ", style=STRONG).append(event.detail, style=FAINT))
        return [fitted(line, width) for line in lines]

    def _footer(self, width: int) -> Text:
        if not self.keys:
            return with_link(Text(" Ctrl-C quits", style=FAINT), self.link, width)
        line = Text(" ")
        go = "resume" if self.player.paused else "pause"
        for key, what in (("space", go), ("+ -", "pace"), ("← →", f"{JUMP:g} s"), ("0", "start"), ("q", "quit")):
            line.append(key, style=STRONG).append(f" {what}   ", style=FAINT)
        return with_link(line, self.link, width)
