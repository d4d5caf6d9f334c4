"""The last samples of a fleet's sensor: those still on their way, and the newest that has arrived."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.world.columns import Floats

NEVER = -1
"""The tick of a sample that does not exist."""


class History:
    """A ring of samples (slots x columns x capacity); a vehicle that was not there for a sample reads NaN in it."""

    def __init__(self, columns: int, capacity: int, period: int, delay: int) -> None:
        """`period` between samples and `delay` of each, both in ticks."""
        slots = -(-delay // period) + 1  # those under way, and the one that has arrived
        self.delay = delay
        self.samples: Floats = np.full((slots, columns, capacity), np.nan)
        self.clear()

    def clear(self) -> None:
        """Forget every sample."""
        self.samples[:] = np.nan
        self.ticks = np.full(len(self.samples), NEVER, dtype=np.int64)
        self.taken = 0  # samples so far
        self.arrived = 0  # of those

    @property
    def newest_tick(self) -> int:
        """The tick of the last sample taken; -1: none yet."""
        return int(self.ticks[(self.taken - 1) % len(self.ticks)]) if self.taken else NEVER

    @property
    def arrived_tick(self) -> int:
        """The tick at which the newest arrived sample was taken; -1: none yet."""
        return int(self.ticks[(self.arrived - 1) % len(self.ticks)]) if self.arrived else NEVER

    def slot(self, tick: int) -> Floats:
        """Where to write the sample of this tick: (columns, capacity)."""
        k = self.taken % len(self.ticks)
        self.ticks[k] = tick
        self.taken += 1
        sample: Floats = self.samples[k]
        return sample

    def arrive(self, tick: int) -> None:
        """Let every sample arrive whose delay has elapsed at this tick."""
        while self.arrived < self.taken and self.ticks[self.arrived % len(self.ticks)] + self.delay <= tick:
            self.arrived += 1

    def current(self) -> Floats | None:
        """The newest arrived sample (columns, capacity), if any."""
        return self.samples[(self.arrived - 1) % len(self.ticks)] if self.arrived else None

    def save(self, n: int) -> dict[str, Any]:
        """Everything that later readings depend on, for the first `n` vehicles."""
        return {
            "samples": self.samples[:, :, :n].copy(),
            "ticks": self.ticks.copy(),
            "taken": self.taken,
            "arrived": self.arrived,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from what `save` returned."""
        samples, ticks = np.asarray(saved["samples"]), np.asarray(saved["ticks"])
        if samples.shape[:2] != self.samples.shape[:2] or ticks.shape != self.ticks.shape:
            raise InvalidValueError(
                f"saved sensor history has shape {samples.shape[:2]}, this sensor's is {self.samples.shape[:2]}: "
                f"its kind, rate or delay differs"
            )
        self.samples[:] = np.nan
        self.samples[:, :, : samples.shape[2]] = samples
        self.ticks[:] = ticks
        self.taken, self.arrived = int(saved["taken"]), int(saved["arrived"])
