"""The MAVLink dialect that everything here speaks: ardupilotmega, MAVLink 2, by pymavlink."""

from __future__ import annotations

from paddock.errors import MissingFeatureError

try:
    from pymavlink.dialects.v20 import ardupilotmega as mav
except ImportError as error:
    raise MissingFeatureError("MAVLink needs pymavlink: pip install 'paddock[mavlink]'") from error

__all__ = ["AUTOPILOT", "crc", "mav"]

AUTOPILOT = 1
"""The component id of every autopilot (MAV_COMP_ID_AUTOPILOT1)."""


def crc(data: bytes, extra: int) -> int:
    """X.25 checksum of a packet without its marker, with the message's seed."""
    return int(mav.x25crc(data + bytes((extra,))).crc)
