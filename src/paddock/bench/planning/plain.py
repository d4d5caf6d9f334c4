"""A Dubins solver as one writes it first, in plain Python: what the compiled one is measured against."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, inf, pi, sin, sqrt

FULL = 2.0 * pi
Pose = tuple[float, float, float]


def dubins_length(start: Pose, goal: Pose, radius: float) -> float:
    """Metres of the shortest of the six words."""
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    d = hypot(dx, dy) / radius
    direction = atan2(dy, dx)
    a, b = (start[2] - direction) % FULL, (goal[2] - direction) % FULL
    sa, ca, sb, cb, cab = sin(a), cos(a), sin(b), cos(b), cos(a - b)
    return radius * min(
        _lsl(d, a, b, sa, ca, sb, cb, cab),
        _rsr(d, a, b, sa, ca, sb, cb, cab),
        _lsr(d, a, b, sa, ca, sb, cb, cab),
        _rsl(d, a, b, sa, ca, sb, cb, cab),
        _rlr(d, a, b, sa, ca, sb, cb, cab),
        _rlr(d, -a, -b, -sa, ca, -sb, cb, cab),  # the mirror image of an LRL
    )


def _lsl(d: float, a: float, b: float, sa: float, ca: float, sb: float, cb: float, cab: float) -> float:
    p2 = 2.0 + d * d - 2.0 * cab + 2.0 * d * (sa - sb)
    if p2 < 0.0:
        return inf
    turn = atan2(cb - ca, d + sa - sb)
    return (turn - a) % FULL + sqrt(p2) + (b - turn) % FULL


def _rsr(d: float, a: float, b: float, sa: float, ca: float, sb: float, cb: float, cab: float) -> float:
    return _lsl(d, -a, -b, -sa, ca, -sb, cb, cab)


def _lsr(d: float, a: float, b: float, sa: float, ca: float, sb: float, cb: float, cab: float) -> float:
    p2 = -2.0 + d * d + 2.0 * cab + 2.0 * d * (sa + sb)
    if p2 < 0.0:
        return inf
    p = sqrt(p2)
    turn = atan2(-ca - cb, d + sa + sb) - atan2(-2.0, p)
    return (turn - a) % FULL + p + (turn - b) % FULL


def _rsl(d: float, a: float, b: float, sa: float, ca: float, sb: float, cb: float, cab: float) -> float:
    return _lsr(d, -a, -b, -sa, ca, -sb, cb, cab)


def _rlr(d: float, a: float, b: float, sa: float, ca: float, sb: float, cb: float, cab: float) -> float:
    bend = (6.0 - d * d + 2.0 * cab + 2.0 * d * (sa - sb)) / 8.0
    if abs(bend) > 1.0:
        return inf
    p = FULL - acos(bend)
    t = (a - atan2(ca - cb, d - sa + sb) + 0.5 * p) % FULL
    return t + p + (a - b - t + p) % FULL
