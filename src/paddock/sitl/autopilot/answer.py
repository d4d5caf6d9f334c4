"""How the autopilot answers what it is told to do, in MAVLink's own result codes."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Result(IntEnum):
    """The MAV_RESULTs in use."""

    ACCEPTED = 0
    TEMPORARILY_REJECTED = 1
    DENIED = 2
    UNSUPPORTED = 3
    FAILED = 4


class Answer(NamedTuple):
    """The result, and one line that says why not (also sent as STATUSTEXT by who asked for it)."""

    result: Result = Result.ACCEPTED
    text: str = ""

    @property
    def accepted(self) -> bool:
        """Whether it is being done."""
        return self.result == Result.ACCEPTED


ACCEPTED = Answer()
