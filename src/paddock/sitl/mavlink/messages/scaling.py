"""SI values to the integers of MAVLink's fields: scaled, rounded, clipped, with the field's own value for unknown."""

from __future__ import annotations

from math import isfinite

UINT16 = 65535
INT16 = 32767
INT32 = 2147483647


def whole(value: float, scale: float, low: int, high: int, unknown: int) -> int:
    """`value` x `scale` as an integer from `low` to `high`; `unknown` if it is not a number."""
    if not isfinite(value):
        return unknown
    return min(max(round(value * scale), low), high)


def int16(value: float, scale: float) -> int:
    """Signed 16 bits; 0 if it is not a number."""
    return whole(value, scale, -INT16, INT16, 0)


def int32(value: float, scale: float) -> int:
    """Signed 32 bits; 0 if it is not a number."""
    return whole(value, scale, -INT32, INT32, 0)


def uint16(value: float, scale: float) -> int:
    """Unsigned 16 bits; 65535, as most fields say it, if it is not a number."""
    return whole(value, scale, 0, UINT16 - 1, UINT16)


def known(value: float, otherwise: float = 0.0) -> float:
    """The value, if it is a number."""
    return value if isfinite(value) else otherwise
