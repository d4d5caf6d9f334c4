"""What a vehicle tells: one file per group of messages, each a function of the autopilot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages import channels, identity, mission, motion, position, sensors, status

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

Encode = Callable[["BuiltInAutopilot"], Any]
"""A message of the autopilot's newest values; None while there is nothing to tell."""

ENCODERS: Mapping[int, Encode] = {
    **status.ENCODERS,
    **motion.ENCODERS,
    **position.ENCODERS,
    **sensors.ENCODERS,
    **channels.ENCODERS,
    **mission.ENCODERS,
    **identity.ENCODERS,
}
"""Messages of the newest values, by their id."""

KNOWN = frozenset({*ENCODERS, mav.MAVLINK_MSG_ID_VIBRATION})
"""Every message that can be streamed or asked for: vibration is measured over time, by `VibrationMeter`."""
