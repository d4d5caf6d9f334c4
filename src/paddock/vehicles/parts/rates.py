"""Stick shaping: from a stick's deflection to a wanted body rate."""

from __future__ import annotations

from paddock.compute.math import absolute, clamp, maximum


def actual_rate(stick: float, center: float, largest: float, expo: float) -> float:
    """Wanted rate, rad/s, for a stick in [-1, 1]: Betaflight's "actual" rates.

    `center` is the slope around the middle and `largest` the rate at full deflection, both rad/s; `expo` (0..1) bends
    the curve between them.
    """
    x = clamp(stick, -1.0, 1.0)
    square = x * x
    bend = absolute(x) * (square * square * x * expo + x * (1.0 - expo))
    return x * center + maximum(largest - center, 0.0) * bend
