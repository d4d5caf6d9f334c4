"""The ground under a point: height, slope and friction.

Models call `surface`, never the fields of the environment, so that the same source runs on flat and on uneven ground.
"""

from typing import NamedTuple

from paddock.world.pose import Environment


class Surface(NamedTuple):
    """The ground at one point."""

    height: float  # m
    slope_x: float  # m of height per m east
    slope_y: float  # m of height per m north
    mu: float  # factor on a tyre's own friction


def surface(x: float, y: float, w: Environment) -> Surface:
    """Return the flat ground at (x, y), in m; `x` and `y` give the result its shape."""
    zero = 0.0 * (x + y)
    return Surface(w.ground_z + zero, zero, zero, w.mu + zero)
