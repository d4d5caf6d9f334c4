"""Results of commands, as COMMAND_ACK carries them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from paddock.sitl.autopilot.mission.items import AltitudeFrame

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

POSITION_FRAMES = (AltitudeFrame.GLOBAL, AltitudeFrame.RELATIVE, AltitudeFrame.TERRAIN)


class CommandResult(IntEnum):
    """MAV_RESULT."""

    ACCEPTED = 0
    TEMPORARILY_REJECTED = 1
    DENIED = 2
    UNSUPPORTED = 3
    FAILED = 4


class Ack(NamedTuple):
    """A result with the reason of a refusal, which is also sent as STATUSTEXT."""

    result: CommandResult = CommandResult.ACCEPTED
    text: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the command is carried out."""
        return self.result == CommandResult.ACCEPTED


ACCEPTED = Ack()


def denied(text: str) -> Ack:
    """Refuse a command whose arguments are invalid."""
    return Ack(CommandResult.DENIED, text)


def rejected(text: str) -> Ack:
    """Refuse a command that may succeed later."""
    return Ack(CommandResult.TEMPORARILY_REJECTED, text)


def unsupported(autopilot: BuiltInAutopilot, what: str) -> Ack:
    """Refuse a command that this vehicle type does not have."""
    return Ack(CommandResult.UNSUPPORTED, f"{what}: not supported by a {autopilot.vehicle.kind}")


def position_error(p: Sequence[float], frame: int) -> str:
    """Return what is wrong with frame, latitude (p[4], deg) or longitude (p[5], deg), or an empty string."""
    if frame not in POSITION_FRAMES:
        return f"unsupported frame {frame}"
    if isnan(p[4]) or isnan(p[5]) or not (-90.0 <= p[4] <= 90.0 and -180.0 <= p[5] <= 180.0):
        return f"invalid position {p[4]:g}, {p[5]:g}"
    return ""


def whole(value: float) -> int | None:
    """Return an integer that was sent as a float, or None if it is not an integer."""
    return int(value) if value == value and value == int(value) else None
