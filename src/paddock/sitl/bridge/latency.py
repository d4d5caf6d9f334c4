"""How long it takes from sensors to actuators, per vehicle: wall time, measured and shown, never used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLES = 512
"""The last samples of a vehicle that count."""
VEHICLES = 255


class LatencyBook:
    """A ring of samples per vehicle, by system id; writing them takes no loop."""

    def __init__(self) -> None:
        self.offered = [0] * VEHICLES  # ns on the performance clock at which sensors were handed over
        self._rings = np.zeros((VEHICLES, SAMPLES), dtype=np.int64)
        self._taken = np.zeros(VEHICLES, dtype=np.int64)

    def add(self, sysids: list[int], now_ns: int) -> None:
        """The actuators of these vehicles have been sent now."""
        ids = np.array(sysids, dtype=np.int64)
        self._rings[ids, self._taken[ids] % SAMPLES] = now_ns - np.array([self.offered[k] for k in sysids])
        self._taken[ids] += 1

    def percentiles(self, sysid: int) -> tuple[float, float]:
        """Median and 99th percentile in us; NaN before the first sample."""
        ring: NDArray[np.int64] = self._rings[sysid, : min(int(self._taken[sysid]), SAMPLES)]
        if not len(ring):
            return float("nan"), float("nan")
        median, high = np.percentile(ring, [50.0, 99.0]) * 1e-3
        return float(median), float(high)

    def exchanges(self, sysid: int) -> int:
        """Answers of the vehicle's pilot so far."""
        return int(self._taken[sysid])

    def forget(self, sysid: int) -> None:
        """A new vehicle of that id begins from nothing."""
        self._taken[sysid] = 0
