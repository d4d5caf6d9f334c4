"""Results of commands, as COMMAND_ACK carries them, and the requirements that end a command's handler."""

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from paddock.autopilot.mission_items import POSITION_FRAMES

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

T = TypeVar("T")


class CommandResult(IntEnum):
    """MAV_RESULT."""

    ACCEPTED = 0
    TEMPORARILY_REJECTED = 1
    DENIED = 2
    UNSUPPORTED = 3
    FAILED = 4
    IN_PROGRESS = 5


class Ack(NamedTuple):
    """A result with the reason of a refusal, which is also sent as STATUSTEXT."""

    result: CommandResult = CommandResult.ACCEPTED
    text: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the command is carried out."""
        return self.result == CommandResult.ACCEPTED


ACCEPTED = Ack()


class RefusedError(Exception):
    """Ends the handler of a command; `BuiltInAutopilot.command` returns the ack."""

    def __init__(self, ack: Ack) -> None:
        super().__init__(ack.text)
        self.ack = ack


def denied(text: str) -> Ack:
    """Refuse a command whose arguments are invalid."""
    return Ack(CommandResult.DENIED, text)


def rejected(text: str) -> Ack:
    """Refuse a command that may succeed later."""
    return Ack(CommandResult.TEMPORARILY_REJECTED, text)


def unsupported(autopilot: "BuiltInAutopilot", what: str) -> Ack:
    """Refuse a command that this vehicle type does not have."""
    return Ack(CommandResult.UNSUPPORTED, f"{what}: not supported by a {autopilot.vehicle.kind}")


def require(value: T | None, otherwise: Ack) -> T:
    """Return a value; refuse the command if it is None or False."""
    if value is None or value is False:
        raise RefusedError(otherwise)
    return value


def require_position(p: Sequence[float], frame: int, what: str) -> None:
    """Refuse a command whose frame, latitude (p[4], deg) or longitude (p[5], deg) is invalid."""
    require(frame in POSITION_FRAMES, denied(f"{what}: unsupported frame {frame}"))
    valid = -90.0 <= p[4] <= 90.0 and -180.0 <= p[5] <= 180.0  # NaN is in no range
    require(valid, denied(f"{what}: invalid position {p[4]:g}, {p[5]:g}"))
