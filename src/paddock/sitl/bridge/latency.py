"""How long it takes from sensors to actuators, per vehicle: wall time, measured and shown, never used."""

from __future__ import annotations

from collections import deque

import numpy as np

SAMPLES = 512
"""The last samples of a vehicle that count."""
VEHICLES = 255


class LatencyBook:
    """A ring of samples per vehicle, by system id."""

    def __init__(self) -> None:
        self.offered = [0] * VEHICLES  # ns on the performance clock at which sensors were handed over
        self._rings = [deque[int](maxlen=SAMPLES) for _ in range(VEHICLES)]
        self._taken = [0] * VEHICLES

    def add(self, sysids: list[int], now_ns: int) -> None:
        """The actuators of these vehicles have been sent now."""
        offered, rings, taken = self.offered, self._rings, self._taken
        for k in sysids:
            rings[k].append(now_ns - offered[k])
            taken[k] += 1

    def percentiles(self, sysid: int) -> tuple[float, float]:
        """Median and 99th percentile in us; NaN before the first sample."""
        ring = self._rings[sysid]
        if not ring:
            return float("nan"), float("nan")
        median, high = np.percentile(list(ring), [50.0, 99.0]) * 1e-3
        return float(median), float(high)

    def exchanges(self, sysid: int) -> int:
        """Answers of the vehicle's pilot so far."""
        return self._taken[sysid]

    def forget(self, sysid: int) -> None:
        """A new vehicle of that id begins from nothing."""
        self._rings[sysid].clear()
        self._taken[sysid] = 0
