"""Checks that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import Answer, Result
from paddock.sitl.autopilot.mission_item import Frame

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

Place = tuple[float, float, float]
PLACED = (Frame.GLOBAL, Frame.RELATIVE, Frame.TERRAIN)


def denied(text: str) -> Answer:
    """It can never be done like that."""
    return Answer(Result.DENIED, text)


def not_now(text: str) -> Answer:
    """It might be done later."""
    return Answer(Result.TEMPORARILY_REJECTED, text)


def unsupported(autopilot: BuiltInAutopilot, what: str) -> Answer:
    """This kind of craft does not do that."""
    return Answer(Result.UNSUPPORTED, f"{what}: not for a {autopilot.craft.kind}")


def place_wrong(p: Sequence[float], frame: int) -> str:
    """What is wrong with latitude and longitude (p[4], p[5], deg); empty if nothing is."""
    if frame not in PLACED:
        return f"frame {frame} is not supported"
    if isnan(p[4]) or isnan(p[5]) or not (-90.0 <= p[4] <= 90.0 and -180.0 <= p[5] <= 180.0):
        return f"no such place: {p[4]:g}, {p[5]:g}"
    return ""


def whole(value: float) -> int | None:
    """An integer that came as a float; None if it is none."""
    return int(value) if value == value and value == int(value) else None
