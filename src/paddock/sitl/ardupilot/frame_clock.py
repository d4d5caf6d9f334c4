"""Frames and time of one ArduPilot: how far a packet takes the world, and what time the answer carries."""

from __future__ import annotations

from enum import Enum

from paddock.errors import InvalidValueError

LONGEST_US = 100_000
"""ArduPilot ignores the step of a reply that is this much later than the one before, or more."""

LAST_COUNT = 2**32 - 1


class Arrival(Enum):
    """What a frame count means after the one before."""

    NEW = "new"
    DUPLICATE = "duplicate"
    RESTART = "restart"


class FrameClock:
    """Times in us. The clock of the replies is the peer's own: it begins at 0 whenever the peer does."""

    def __init__(self, dt: float) -> None:
        """`dt` s: the step of the world."""
        if not 0.0 < dt * 1e6 < LONGEST_US:
            raise InvalidValueError(
                f"ArduPilot: a world step of {dt:g} s cannot be lockstepped; it must be shorter than 0.1 s"
            )
        self._dt_us = dt * 1e6
        self._count: int | None = None
        self._ticks = 1  # that the last packet asked for
        self.shortened = False  # it asked for a longer step than ArduPilot itself takes
        self.stamp_us = 0.0  # of the last reply
        self._replied_at_us: float | None = None  # world time of the last reply

    def forget(self) -> None:
        """Nothing is known of a peer: the next frame is the first."""
        self._count = None
        self.begin()

    def begin(self) -> None:
        """Time begins anew."""
        self.stamp_us = 0.0
        self._replied_at_us = None

    def arrive(self, count: int) -> Arrival:
        """Take note of a frame; one with a lower count is of a peer that has restarted."""
        before, self._count = self._count, count
        if before is None:
            return Arrival.NEW
        if count == before:
            return Arrival.DUPLICATE
        return Arrival.RESTART if count < before and (before, count) != (LAST_COUNT, 0) else Arrival.NEW

    def ask(self, frame_rate: int) -> None:
        """A packet takes the world max(1, round(1 / (frame_rate * dt))) ticks on, always less than 0.1 s."""
        most = max(1, int((LONGEST_US - 1) / self._dt_us))
        self._ticks = min(max(1, round(1e6 / (frame_rate * self._dt_us))), most)
        self.shortened = 1e6 / frame_rate >= LONGEST_US

    @property
    def period_us(self) -> int:
        """What a packet asks for, to the nearest us."""
        return max(1, round(self._ticks * self._dt_us))

    def next_us(self, time_us: int) -> int:
        """The time of the tick that a packet asks for, as the world tells it: to the nearest us."""
        return max(time_us + 1, round((round(time_us / self._dt_us) + self._ticks) * self._dt_us))

    def advance(self, time_us: float, in_step: bool = True) -> float | None:
        """The time (s) of a reply at that time of the world; None if the world has not moved since the last reply.

        A peer `in_step` never sees more time than it asked for: what else has passed while it was silent is no time to
        it. It would take a longer step for the pace of the physics, and ask for such steps for ever after.
        """
        before, asked = self._replied_at_us, self._ticks * self._dt_us
        elapsed = asked if before is None else time_us - before
        if elapsed == 0.0:
            return None
        if not 0.0 < elapsed < (asked + 1.0 if in_step else LONGEST_US):
            elapsed = asked
        self._replied_at_us = time_us
        self.stamp_us += elapsed
        return self.stamp_us * 1e-6
