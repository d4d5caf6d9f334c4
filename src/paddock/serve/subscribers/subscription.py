"""What one connection wants to see, and when it is to be shown something again."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.serve.subscribers.columns import Want
from paddock.serve.subscribers.selection import Wanted

EVERY_TICK = ("positions", "poses", "telemetry", "fpv", "lines", "spheres")
"""Kinds that make up a group of frames; the others are sent when something happens, and never skipped."""
KINDS = (*EVERY_TICK, "markers", "events", "figures", "mission")


@dataclass(frozen=True)
class View:
    """What a group of frames holds; connections with equal views share its bytes."""

    frame: str = "enu"
    kinds: tuple[str, ...] = ("positions",)
    vehicles: Wanted | None = None  # None: all
    tick: bool = True  # whether a tick frame goes first
    columns: tuple[Want, ...] = ()  # what goes into a columns frame; none is sent without any
    wanted: int = 0  # number of that list

    @property
    def in_groups(self) -> tuple[str, ...]:
        """Its kinds that are sent tick by tick, in the order of their frames."""
        kinds = tuple(kind for kind in EVERY_TICK if kind in self.kinds)
        return (*kinds, "columns") if self.columns else kinds

    @property
    def draws(self) -> bool:
        """Whether it shows markers as lines or spheres."""
        return "lines" in self.kinds or "spheres" in self.kinds


class Subscription:
    """A view at a rate: at most so many groups per s of wall time, whatever the pace of the simulation."""

    def __init__(self, view: View, rate: float) -> None:
        self.view = view
        self.rate = rate
        self.behind = True  # there is a snapshot that it was not shown
        self._due = 0.0

    def take(self, now: float) -> bool:
        """Whether a snapshot that is there now (s, monotonic) is to be shown."""
        if not self.view.in_groups:
            return False
        self.behind = True
        period = 1.0 / self.rate
        if now < self._due - 0.25 * period:  # snapshots come a little early and a little late
            return False
        self._due = max(self._due, now - 0.5 * period) + period
        return True

    def change(self, view: View, rate: float) -> None:
        """Want something else from now on; what is there is shown again as soon as the rate allows."""
        if rate != self.rate:
            self._due = min(self._due, self._due - 1.0 / self.rate + 1.0 / rate)
        self.view, self.rate, self.behind = view, rate, True

    def late(self, now: float) -> bool:
        """Whether it should long have been shown what it was not: nothing newer has come."""
        return self.behind and bool(self.view.in_groups) and now > self._due + 1.0 / self.rate
