"""Commands that change what the vehicle is doing: modes, take-off, landing, the mission."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.commands.checks import denied, not_now, unsupported, whole
from paddock.sitl.autopilot.targets import GuidedTarget
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

CUSTOM_MODE = 1  # bit of MAV_MODE_FLAG
HIGHEST_TAKEOFF = 1000.0  # m


def set_mode(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_SET_MODE: p1 MAV_MODE_FLAGs with the custom bit, p2 the mode's number."""
    flags, number = whole(p[0]), whole(p[1])
    if flags is None or not flags & CUSTOM_MODE:
        return denied("Mode: only custom modes (flag 1)")
    return autopilot.set_mode(number) if number is not None else denied(f"Mode: {p[1]:g} is no mode")


def take_off(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """NAV_TAKEOFF: p7 m above home, in GUIDED, armed, on the ground."""
    if autopilot.craft.kind != "copter":
        return unsupported(autopilot, "Takeoff")
    if isnan(p[6]) or not 0.0 < p[6] <= HIGHEST_TAKEOFF:
        return denied(f"Takeoff: {p[6]:g} m is not in 0 to {HIGHEST_TAKEOFF:.0f}")
    if not autopilot.armed:
        return not_now("Takeoff: arm first")
    if autopilot.mode.name != "GUIDED":
        return not_now(f"Takeoff: only in GUIDED, not in {autopilot.mode.name}")
    if autopilot.telemetry.landed == Landed.IN_AIR:
        return not_now("Takeoff: already flying")
    autopilot.guided = GuidedTarget(time_us=autopilot.now_us, takeoff=p[6], speed=autopilot.guided.speed)
    return ACCEPTED


def land(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """NAV_LAND: where the vehicle is, whatever place is given, as ArduPilot does."""
    number = autopilot.mode_number("LAND")
    return autopilot.set_mode(number) if number is not None else unsupported(autopilot, "Land")


def return_to_launch(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """NAV_RETURN_TO_LAUNCH."""
    return autopilot.set_mode(autopilot.craft.return_mode)


def loiter(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """NAV_LOITER_UNLIM: wait where it is."""
    return autopilot.set_mode(autopilot.craft.hold_mode)


def pause(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_PAUSE_CONTINUE: p1 0 wait where it is, 1 go on with the mode that was paused."""
    hold = autopilot.craft.hold_mode
    if p[0] == 0.0:
        before = autopilot.mode.number
        answer = autopilot.set_mode(hold)
        if answer.accepted and before != hold:
            autopilot.paused = before
        return answer
    if p[0] != 1.0:
        return denied(f"Pause: {p[0]:g} is neither 0 (pause) nor 1 (continue)")
    if autopilot.paused is None or autopilot.mode.number != hold:
        return not_now("Continue: nothing is paused")
    answer = autopilot.set_mode(autopilot.paused)
    autopilot.paused = None if answer.accepted else autopilot.paused
    return answer


def set_current(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_SET_MISSION_CURRENT: p1 the item (-1: as it is), p2 1 begins anew."""
    number = whole(p[0])
    if number is None:
        return denied(f"Mission: no item {p[0]:g}")
    if number == -1:
        return autopilot.set_current(0 if p[1] == 1.0 else autopilot.executor.current)
    return autopilot.set_current(number)


def start_mission(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """MISSION_START: AUTO, from item p1 if that is given."""
    number = autopilot.mode_number("AUTO")
    refusal = autopilot.executor.refusal()
    if number is None or refusal:
        return Answer(Result.FAILED, f"Mission start: {refusal or 'there is no mode AUTO'}")
    if not autopilot.armed:
        return not_now("Mission start: arm first")
    first = whole(p[0])
    if first is None or first < 0:
        return denied(f"Mission start: no item {p[0]:g}")
    if first > 0:
        answer = autopilot.set_current(first)
        if not answer.accepted:
            return answer
    return autopilot.set_mode(number)
