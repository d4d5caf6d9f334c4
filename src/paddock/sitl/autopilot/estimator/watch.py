"""Whether a sensor has stopped measuring: it says the same over and over although it used to be noisy."""

from __future__ import annotations

from paddock.sitl.autopilot.estimator.layout import FROZEN, PROBATION, WATCH_WIDTH, WATCHES
from paddock.sitl.sensor_data import Floats


def moving(m: Floats, sensor: int, value: float) -> bool:
    """Whether this sample is news; a sensor that repeats itself from the start is free of noise, and trusted."""
    at = WATCHES + sensor * WATCH_WIDTH
    same = m[at] == value
    m[at] = value
    m[at + 1] = m[at + 1] + 1.0 if same else 0.0
    m[at + 2] += 1.0
    if same and m[at + 2] <= PROBATION:
        m[at + 3] = 1.0
    return bool(m[at + 1] < FROZEN or m[at + 3] == 1.0)
