"""Random terms of a sensor, as scalar code: each call draws from its own purposes, so no two terms are correlated."""

from __future__ import annotations

from paddock.compute.math import sqrt
from paddock.compute.philox import normals

PURPOSES = 16
"""Purposes that one sensor may use, counted from the one it is given; the next sensor of its kind starts after them."""

Three = tuple[float, float, float]


def three(seed: int, stream: int, purpose: int, tick: int) -> Three:
    """Three independent standard normal numbers, from two purposes."""
    a, b = normals(seed, stream, purpose, tick)
    c, _ = normals(seed, stream, purpose + 1, tick)
    return a, b, c


def six(seed: int, stream: int, purpose: int, tick: int) -> tuple[float, float, float, float, float, float]:
    """Six independent standard normal numbers, from three purposes."""
    a, b = normals(seed, stream, purpose, tick)
    c, d = normals(seed, stream, purpose + 1, tick)
    e, f = normals(seed, stream, purpose + 2, tick)
    return a, b, c, d, e, f


def walk(bias: float, density: float, interval: float, primed: float, normal: float) -> float:
    """The bias after `interval` s of a random walk (`density` in units per root second); it rests until `primed`."""
    return bias + primed * density * sqrt(interval) * normal
