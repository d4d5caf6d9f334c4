"""Log times: simulation time that never goes back, over resets and restores too."""

from __future__ import annotations

NANOSECONDS = 1_000_000_000


class Timeline:
    """Turns ticks into log times, ns.

    The first tick that is recorded has the wall time at which the recording began (ns since 1970), so that viewers show
    the right day; from there on it is simulation time that passes. When the run begins anew, log time goes on by one
    tick, and from there with the simulation again.
    """

    def __init__(self, rate: float, started: int) -> None:
        """`rate` in Hz, `started` in ns since 1970."""
        self.rate = rate
        self.offset = 0  # log time of tick 0
        self._next = started  # the earliest log time of a new section

    def begin(self, tick: int) -> int:
        """A section of the run begins at this tick; returns its log time."""
        self.offset = self._next - self._since_start(tick)
        return self.at(tick)

    def at(self, tick: int) -> int:
        """The log time of a tick."""
        log_time = self.offset + self._since_start(tick)
        self._next = max(self._next, log_time + max(1, self._since_start(1)))
        return log_time

    def _since_start(self, tick: int) -> int:
        return round(tick * NANOSECONDS / self.rate)
