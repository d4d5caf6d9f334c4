"""VIBRATION, from the accelerometer: how much it moves about its own slow mean, and how often it is at its end.

It goes by the samples of the telemetry, 50 a second: a faster shake is seen as what is left of it there. Nothing is
measured until somebody asks.
"""

from __future__ import annotations

from math import exp, isfinite, pi, sqrt
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav

if TYPE_CHECKING:
    from paddock.sitl.autopilot.telemetry import Telemetry

CUT = 2.0  # Hz, of the low-passes of the mean and of the squares
SETTLED = 50  # samples before there is something to tell
CLIPPED = 16.0 * 9.80665  # m/s2
LONGEST_STEP = 0.1  # s


class VibrationMeter:
    """Of one vehicle."""

    def __init__(self) -> None:
        self._wanted = False
        self.restart()

    def restart(self) -> None:
        """Nothing has been measured."""
        self._mean: tuple[float, ...] | None = None
        self._square: tuple[float, ...] = (0.0, 0.0, 0.0)
        self._time_us, self._samples, self._clipped = 0, 0, 0

    def sample(self, told: Telemetry) -> None:
        """Take in the newest sample, if anybody wants to know."""
        s = told.sensors
        if not self._wanted or s is None or told.time_us == self._time_us:
            return
        now = (s.accel_x, s.accel_y, s.accel_z)
        if not all(isfinite(value) for value in now):
            return
        dt = min(max(told.time_us - self._time_us, 0) * 1e-6, LONGEST_STEP)
        self._time_us = told.time_us
        self._take(now, dt)

    def _take(self, now: tuple[float, ...], dt: float) -> None:
        share = 1.0 - exp(-2.0 * pi * CUT * dt)
        before = self._mean or now
        off = [value - mean for mean, value in zip(before, now, strict=True)]
        self._mean = tuple(mean + share * d for mean, d in zip(before, off, strict=True))
        self._square = tuple(q + share * (d * d - q) for q, d in zip(self._square, off, strict=True))
        self._samples += 1
        self._clipped += max(abs(value) for value in now) >= CLIPPED

    def message(self) -> Any:
        """VIBRATION in m/s2; None while too little has been measured."""
        self._wanted = True
        if self._samples < SETTLED:
            return None
        spread = (sqrt(value) for value in self._square)
        return mav.MAVLink_vibration_message(self._time_us, *spread, self._clipped, 0, 0)
