"""Simulation time: whole ticks of a fixed length."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from paddock.errors import InvalidValueError


@dataclass
class Clock:
    """Counts ticks; the time is always tick / rate, so it never drifts and never depends on how ticks were grouped."""

    rate: float  # Hz
    tick: int = 0

    def __post_init__(self) -> None:
        if not (isfinite(self.rate) and self.rate > 0):
            raise InvalidValueError(f"clock rate must be a positive number of Hz, not {self.rate!r}")

    @property
    def time(self) -> float:
        """Simulation time, s."""
        return self.tick / self.rate

    @property
    def dt(self) -> float:
        """Length of a tick, s."""
        return 1.0 / self.rate

    def ticks(self, seconds: float) -> int:
        """The number of ticks nearest to a duration."""
        return round(seconds * self.rate)

    def tick_at(self, time: float) -> int:
        """The first tick at or after a simulation time; a time that is a tick but for rounding counts as that tick."""
        tick = round(time * self.rate)
        return tick if tick / self.rate >= time - 1e-9 * max(1.0, abs(time)) else tick + 1
