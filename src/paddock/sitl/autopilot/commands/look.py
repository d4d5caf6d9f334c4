"""Commands about what the vehicle looks at: the nose of a copter is turned; there is no camera and no gimbal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer
from paddock.sitl.autopilot.commands.checks import Place, denied, not_now, place_wrong, unsupported
from paddock.sitl.autopilot.notices import Severity

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

NOSE_MODES = ("AUTO", "GUIDED")
OTHER_ROI = (1.0, 2.0, 4.0)  # MAV_ROI: the next waypoint, a numbered waypoint, another vehicle


def look_at(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_SET_ROI_LOCATION: p5 to p7 the place that a copter's nose points at in AUTO and GUIDED; 0, 0: none."""
    if autopilot.craft.kind != "copter":
        return unsupported(autopilot, "Look at")
    wrong = place_wrong(p, frame)
    if wrong:
        return denied(f"Look at: {wrong}")
    place = autopilot.homes.to_ned(p[4], p[5], 0.0, frame)
    if place is None:
        return not_now("Look at: no position yet")
    return _turn_nose(autopilot, None if p[4] == 0.0 == p[5] else place)


def look(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_SET_ROI: p1 0 or 3, p5 to p7 the place, as DO_SET_ROI_LOCATION."""
    if p[0] in OTHER_ROI:
        return denied(f"Look at: only places (3), not {p[0]:g}")
    return look_at(autopilot, p, frame)


def look_ahead(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_SET_ROI_NONE: the nose of a copter points along its way again."""
    return _turn_nose(autopilot, None) if autopilot.craft.kind == "copter" else unsupported(autopilot, "Look ahead")


def _turn_nose(autopilot: BuiltInAutopilot, place: Place | None) -> Answer:
    """The newest order counts: a heading that was asked for before is forgotten."""
    autopilot.executor.gaze.look(place)
    if place is not None:
        autopilot.guided = replace(autopilot.guided, yaw=nan, yaw_rate=nan)
        if autopilot.mode.name not in NOSE_MODES:
            autopilot.say(Severity.INFO, "Look at: the nose turns in AUTO and GUIDED")
    return ACCEPTED


def picture(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_DIGICAM_CONTROL: accepted and told, but there is no camera on board."""
    autopilot.say(Severity.INFO, "Picture: no camera on board")
    return ACCEPTED
