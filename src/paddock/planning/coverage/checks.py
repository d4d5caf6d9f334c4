"""What numbers a shape accepts; an error names the shape, the field and what would be valid."""

from __future__ import annotations

from math import isfinite

from paddock.errors import InvalidValueError
from paddock.planning.coverage.shape import InfeasibleError

SLACK = 1e-9
"""By how much, relatively, a turn may be tighter than a vehicle's radius: rounding."""


def check_finite(what: str, **values: float) -> None:
    """Neither NaN nor infinite."""
    for name, value in values.items():
        if not isfinite(value):
            raise InvalidValueError(f"{what}: {name} is {value!r}; it must be a finite number")


def check_positive(what: str, **values: float) -> None:
    """Finite and above zero."""
    for name, value in values.items():
        if not (isfinite(value) and value > 0.0):
            raise InvalidValueError(f"{what}: {name} is {value!r}; it must be a number above 0")


def check_radius(what: str, radius: float) -> None:
    """A vehicle's turn radius in m; 0 for one that turns on the spot."""
    if not (isfinite(radius) and radius >= 0.0):
        raise InvalidValueError(f"{what}: the vehicle's turn radius is {radius!r}; it must be a number of at least 0 m")


def check_turn(what: str, turn: float, radius: float, remedy: str) -> None:
    """Whether a vehicle of that turn radius can fly a turn of radius `turn` (both m)."""
    check_radius(what, radius)
    if turn < radius * (1.0 - SLACK):
        raise InfeasibleError(
            f"{what}: its turns of radius {turn:g} m are tighter than the vehicle's turn radius of {radius:g} m; "
            f"{remedy}"
        )
