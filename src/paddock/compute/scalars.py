"""Functions of single numbers with the same bits on every CPU, for plain Python that calls them often.

They are those of `compute.math`, compiled: as Python, each would take microseconds. Compiled code calls the plain ones.
"""

from paddock.compute import math
from paddock.compute.math import maximum, power, select
from paddock.compute.routine import routine


def cube_root(x: float) -> float:
    """Return the cube root of a number >= 0."""
    guess = power(maximum(x, 1e-300), 1.0 / 3.0)
    guess -= (guess * guess * guess - x) / (3.0 * guess * guess)  # Newton's method
    return select(x > 0.0, guess, 0.0)


sin, cos, tan = routine(math.sin), routine(math.cos), routine(math.tan)
asin, atan, atan2 = routine(math.asin), routine(math.atan), routine(math.atan2)
exp, cbrt = routine(math.exp), routine(cube_root)
