"""The MAVLink dialect (ardupilotmega, MAVLink 2, by pymavlink), and the scaling of its fields."""

from __future__ import annotations

from math import isfinite
from typing import TypeVar

from paddock.errors import MissingFeatureError

try:
    from pymavlink.dialects.v20 import ardupilotmega as mav
except ImportError as error:
    raise MissingFeatureError("MAVLink needs pymavlink: pip install 'paddock[mavlink]'") from error

__all__ = ["AUTOPILOT", "INT16", "INT32", "UINT16", "by_id", "int16", "int32", "known", "mav", "scaled", "uint16"]

AUTOPILOT = 1  # component id of every autopilot (MAV_COMP_ID_AUTOPILOT1)

UINT16 = 65535
INT16 = 32767
INT32 = 2147483647
T = TypeVar("T")


def by_id(**values: T) -> dict[int, T]:
    """Return values that are given by message names, by message id."""
    return {getattr(mav, f"MAVLINK_MSG_ID_{name}"): value for name, value in values.items()}


def scaled(value: float, scale: float, low: int, high: int, unknown: int) -> int:
    """Return `value` x `scale` as an integer from `low` to `high`; `unknown` if it is not finite."""
    if not isfinite(value):
        return unknown
    return min(max(round(value * scale), low), high)


def int16(value: float, scale: float) -> int:
    """Scale to signed 16 bits; 0 if not finite."""
    return scaled(value, scale, -INT16, INT16, 0)


def int32(value: float, scale: float) -> int:
    """Scale to signed 32 bits; 0 if not finite."""
    return scaled(value, scale, -INT32, INT32, 0)


def uint16(value: float, scale: float) -> int:
    """Scale to unsigned 16 bits; 65535, the usual "unknown", if not finite."""
    return scaled(value, scale, 0, UINT16 - 1, UINT16)


def known(value: float, default: float = 0.0) -> float:
    """Return the value, or `default` if it is not finite."""
    return value if isfinite(value) else default
