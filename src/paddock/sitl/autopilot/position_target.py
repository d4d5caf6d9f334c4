"""Orders for GUIDED from outside: whether they make sense, and taking them."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot, isfinite, isnan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.targets import GuidedTarget

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

FURTHEST = 50_000.0  # m: a target beyond is a mistake
HIGHEST = 20_000.0  # m
FASTEST = 200.0  # m/s


def take(autopilot: BuiltInAutopilot, guided: GuidedTarget) -> Answer:
    """Take the order, or say why not."""
    if autopilot.mode.name == "GUIDED":
        answer = judge(autopilot, guided)
    else:
        answer = Answer(Result.TEMPORARILY_REJECTED, f"Target refused: only in GUIDED, not in {autopilot.mode.name}")
    if answer.accepted:
        follow(autopilot, guided)
    else:
        autopilot.complain(answer.text)
    return answer


def guide(autopilot: BuiltInAutopilot, order: GuidedTarget) -> Answer:
    """An order that came as a command: GUIDED is entered for it, if it makes sense."""
    number = autopilot.mode_number("GUIDED")
    if number is None:
        return Answer(Result.UNSUPPORTED, f"a {autopilot.craft.kind} has no mode GUIDED")
    answer = judge(autopilot, order)
    answer = autopilot.set_mode(number) if answer.accepted else answer
    if answer.accepted:
        follow(autopilot, order)
    return answer


def follow(autopilot: BuiltInAutopilot, guided: GuidedTarget) -> None:
    """The newest order counts, at the speed that DO_CHANGE_SPEED asked for before."""
    guided.time_us = autopilot.now_us
    if isnan(guided.speed):
        guided.speed = autopilot.guided.speed
    autopilot.guided = guided


def judge(autopilot: BuiltInAutopilot, guided: GuidedTarget) -> Answer:
    """Whether an order makes sense, whatever the mode is."""
    wrong = _nonsense(guided) or _too_far(autopilot, guided)
    return Answer(Result.DENIED, f"Target refused: {wrong}") if wrong else ACCEPTED


def _nonsense(guided: GuidedTarget) -> str:
    for name in ("position", "velocity", "attitude"):
        values: Iterable[float] = getattr(guided, name) or ()
        if not all(isfinite(value) for value in values):
            return f"{name} is not a number"
    if any(abs(value) > FASTEST for value in guided.velocity or ()):
        return f"velocity over {FASTEST:.0f} m/s"
    if not isnan(guided.speed) and not 0.0 < guided.speed <= FASTEST:
        return f"speed {guided.speed:g} m/s"
    asked = guided.position or guided.velocity or guided.attitude
    empty = not asked and isnan(guided.yaw) and isnan(guided.yaw_rate) and isnan(guided.takeoff)
    return "nothing is asked for" if empty else ""


def _too_far(autopilot: BuiltInAutopilot, guided: GuidedTarget) -> str:
    if guided.position is None:
        return ""
    north, east, down = guided.position
    distance = hypot(north - autopilot.estimate.north, east - autopilot.estimate.east)
    if distance > FURTHEST:
        return f"{distance / 1000.0:.0f} km away"
    if abs(down) > HIGHEST:
        return f"height {-down:.0f} m"
    return "" if autopilot.fence.allows(north, east, down) else "outside the fence"
