"""The contract of a mode: what the craft does, decided 50 times a second."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot


class Mode(ABC):
    """One mode of one vehicle; made anew for every entry."""

    name: ClassVar[str]  # as ground stations show it: GUIDED
    number: ClassVar[int]  # the custom mode of HEARTBEAT
    needs_position: ClassVar[bool] = True
    can_arm: ClassVar[bool] = True  # whether the vehicle may be armed in it

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot

    def refusal(self) -> str:
        """Why it cannot be entered now, beyond the lack of a position; empty if it can."""
        return ""

    def enter(self) -> None:  # noqa: B027  most modes have nothing to do
        """It begins."""

    @abstractmethod
    def update(self, dt: float) -> None:
        """Set the craft's setpoint for the next 20 ms; `dt` s since the last call."""

    def leave(self) -> None:  # noqa: B027
        """It ends."""
