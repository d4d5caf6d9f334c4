"""The bridge beside an engine: which ticks it needs, and the exchange before them."""

from __future__ import annotations

from paddock.engine.pipeline import HaltedError
from paddock.sitl.bridge.bridge import Bridge
from paddock.sitl.bridge.checks import positive


class EnginePartner:
    """What an engine's barrier asks and calls: the engine moves the hosted world, the bridge follows its ticks."""

    def __init__(self, bridge: Bridge, tick_rate: float) -> None:
        """`tick_rate`: ticks per simulated second."""
        self.bridge = bridge
        self.tick_rate = positive(tick_rate, "tick rate must be a positive number of Hz")

    def time_us(self, tick: int) -> int:
        """The simulated time of a tick, to the nearest us."""
        return round(tick * 1e6 / self.tick_rate)

    def due(self, tick: int) -> int:
        """The first tick, from this one on, before which there is an exchange."""
        due_us = self.bridge.due_us
        if self.time_us(tick) < self.bridge.time_us or self.time_us(tick) >= due_us:
            return tick  # also when the engine has gone back to an earlier tick
        first = max(tick, int(due_us * self.tick_rate / 1e6))
        return first if self.time_us(first) >= due_us else first + 1

    def exchange(self, tick: int) -> None:
        """Exchange at that tick; the engine's halt when it is to stop before everybody has answered."""
        if not self.bridge.exchange(self.time_us(tick)):
            raise HaltedError

    def restarted(self, how: str) -> None:
        """The engine's world has begun anew, or goes on from another state: pilots begin anew with it."""
        self.bridge.reset()
