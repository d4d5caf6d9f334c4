"""Rates over the last second or so: the real-time factor, and what the stages cost."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation

WINDOW = 1.5
"""s of wall time that rates are taken over."""


@dataclass(frozen=True)
class StageRate:
    """What a stage cost lately."""

    name: str
    ms_per_call: float
    per_second: float  # calls per second of wall time
    share: float  # of wall time, 0 to 1


@dataclass(frozen=True)
class _Reading:
    wall: float
    sim: float
    stages: dict[str, tuple[int, int]]  # calls, nanoseconds


class Meter:
    """Reads the clocks at every call of `read` and compares with a reading about `WINDOW` seconds older."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._readings: deque[_Reading] = deque()

    def clear(self) -> None:
        """Time has jumped."""
        self._readings.clear()

    def read(self) -> None:
        """Take a reading."""
        now = time.perf_counter()
        stages = {name: (stage.calls, stage.nanoseconds) for name, stage in self.sim.engine.pipeline.times.items()}
        self._readings.append(_Reading(now, self.sim.time, stages))
        while len(self._readings) > 2 and self._readings[1].wall < now - WINDOW:
            self._readings.popleft()

    @property
    def factor(self) -> float:
        """Simulated seconds per second of wall time."""
        first, last = self._readings[0], self._readings[-1]
        return (last.sim - first.sim) / max(last.wall - first.wall, 1e-9)

    def stages(self) -> list[StageRate]:
        """The stages that have run lately."""
        first, last = self._readings[0], self._readings[-1]
        span = max(last.wall - first.wall, 1e-9)
        rates = []
        for name, (calls, nanoseconds) in last.stages.items():
            calls, nanoseconds = calls - first.stages[name][0], nanoseconds - first.stages[name][1]
            if calls:
                rates.append(StageRate(name, nanoseconds / calls / 1e6, calls / span, nanoseconds / span / 1e9))
        return rates
