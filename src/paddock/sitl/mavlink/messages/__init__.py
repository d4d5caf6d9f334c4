"""Telemetry messages: each encoder turns the autopilot's newest values into a message, or None without data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.messages import motion, status

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

ENCODERS: Mapping[int, Callable[[BuiltInAutopilot], Any]] = {**status.ENCODERS, **motion.ENCODERS}  # by message id

KNOWN = frozenset({*ENCODERS, mav.MAVLINK_MSG_ID_VIBRATION})
"""Every message that can be streamed or requested; VIBRATION is measured over time, by `VibrationMeter`."""
