"""How simulated time follows the clock on the wall."""

from __future__ import annotations

from enum import StrEnum
from time import monotonic

from paddock.errors import unknown_name
from paddock.sitl.bridge.checks import positive

LATE = 0.25
"""s of wall time by which a paced run may lag before it gives up catching up."""


class TimeMode(StrEnum):
    """The same for all adapters and pilots of a bridge."""

    LOCKSTEP = "lockstep"  # everybody who is there is waited for; as fast as they are
    FREE = "free"  # nobody is waited for, real time, the latest actuators count
    SCALED = "scaled"  # lockstep, paced at a factor of real time


def time_mode(mode: str) -> TimeMode:
    """From what users write."""
    if mode not in list(TimeMode):
        raise unknown_name("time mode", str(mode), [one.value for one in TimeMode])
    return TimeMode(mode)


def checked_scale(scale: float) -> float:
    """Simulated seconds per second."""
    return positive(scale, "scale must be a positive factor of real time")


class Pace:
    """Tells how long to sleep before a simulated time may begin."""

    def __init__(self, mode: TimeMode, scale: float, time_us: int) -> None:
        self.factor = {TimeMode.LOCKSTEP: 0.0, TimeMode.FREE: 1.0, TimeMode.SCALED: scale}[mode]
        self._anchor = monotonic(), time_us
        self.slips = 0  # times that it fell behind and gave up catching up

    def early(self, time_us: int) -> float:
        """s of wall time until that simulated time is due; 0 if it is, or if nothing is paced."""
        if not self.factor:
            return 0.0
        wall, start_us = self._anchor
        left = wall + (time_us - start_us) * 1e-6 / self.factor - monotonic()
        if left < -LATE:
            self.slips += 1
            self._anchor = monotonic(), time_us
        return max(0.0, left)
