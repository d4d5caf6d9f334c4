"""The command that sends a copter round a place."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, isnan, radians
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import Answer
from paddock.sitl.autopilot.commands.checks import Place, denied, not_now, place_wrong, unsupported
from paddock.sitl.autopilot.modes.copter.circle import Circle
from paddock.sitl.autopilot.position_target import FASTEST, judge
from paddock.sitl.autopilot.targets import GuidedTarget
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

NOSE_INWARDS = (0.0, 2.0, 5.0)  # ORBIT_YAW_BEHAVIOUR: to the centre, as the vehicle likes, as it was
SMALLEST = 0.5  # m


def orbit(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_ORBIT: p1 radius (m, negative counter-clockwise), p2 m/s, p3 0 nose to the centre, p5 to p7 the centre."""
    number = autopilot.mode_number("CIRCLE")
    if autopilot.craft.kind != "copter" or number is None:
        return unsupported(autopilot, "Orbit")
    wrong = _wrong(autopilot, p)
    if wrong:
        return denied(f"Orbit: {wrong}")
    if not autopilot.armed or autopilot.telemetry.landed != Landed.IN_AIR:
        return not_now("Orbit: take off first")
    centre = _centre(autopilot, p, frame)
    return centre if isinstance(centre, Answer) else _go_round(autopilot, number, p, centre)


def _wrong(autopilot: BuiltInAutopilot, p: Sequence[float]) -> str:
    """What is wrong with the circle, wherever it is; NaN means as the parameters say."""
    largest = autopilot.parameters.known("CIRCLE_RADIUS").high / 100.0
    if not isnan(p[0]) and not SMALLEST <= abs(p[0]) <= largest:
        return f"radius {p[0]:g} m is not in {SMALLEST:g} to {largest:g}"
    if not isnan(p[1]) and not 0.0 < p[1] <= FASTEST:
        return f"{p[1]:g} m/s is not in 0 to {FASTEST:g}"
    if not isnan(p[2]) and p[2] not in NOSE_INWARDS:
        return f"the nose points to the centre (0), not as {p[2]:g} says"
    return "" if isnan(p[3]) or p[3] == 0.0 else "it goes on for ever (0)"


def _centre(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Place | Answer:
    """Of the circle; what is not given is where the copter is."""
    now = autopilot.estimate
    north, east, down = now.north, now.east, now.down
    if not (isnan(p[4]) and isnan(p[5])):
        wrong = place_wrong(p, frame)
        place = None if wrong else autopilot.homes.to_ned(p[4], p[5], p[6], frame)
        if place is None:
            return denied(f"Orbit: {wrong}") if wrong else not_now("Orbit: no position yet")
        north, east = place[:2]
        down = now.down if isnan(p[6]) else place[2]
    answer = judge(autopilot, GuidedTarget(position=(north, east, down)))
    return (north, east, down) if answer.accepted else answer


def _go_round(autopilot: BuiltInAutopilot, number: int, p: Sequence[float], centre: Place) -> Answer:
    value = autopilot.parameters.value
    rate = radians(value("CIRCLE_RATE"))
    radius = value("CIRCLE_RADIUS") / 100.0 if isnan(p[0]) else abs(p[0])
    speed = abs(rate) if isnan(p[1]) else p[1] / max(radius, SMALLEST)
    answer = autopilot.set_mode(number)
    if answer.accepted and isinstance(autopilot.mode, Circle):
        turn = copysign(speed, rate if isnan(p[0]) else p[0])
        autopilot.mode.go_round(centre, radius, turn, on_map=not isnan(p[4]))
    return answer
