"""Dubins paths: the shortest ways of a vehicle that only moves forwards and turns no tighter than a radius.

Scalar functions without branches in the inner ones, so that a compiled loop over them vectorises; all of them also run
as plain Python, with the same bits. A path has three parts, each a left turn (L), a right turn (R) or straight (S).
Inside, lengths are in turn radii and the start stands at the origin and looks along x.
"""

from __future__ import annotations

from math import inf, isnan

from paddock.compute.math import PI, atan2, clamp, floor, maximum, select, sincos, sqrt, wrap_angle

WORDS = ("LSL", "RSR", "LSR", "RSL", "RLR", "LRL", "SSS")
"""By number; the last is the straight line of a vehicle that turns on the spot."""
STRAIGHT = 6
TWO_PI = 6.283185307179586
TWO_PI_INVERSE = 0.15915494309189535
HALF_PI = 1.5707963267948966
SLACK = 1e-9
"""What lacks less than this of a full turn (rad) is no turn; circles nearer than this (radii) are one."""
NOISE = 1e-11
"""Radii by which rounding may have moved the goal: across a short straight, that is an angle."""
TIE = 1e-12
"""A word has to be shorter by more than this (radii) to be preferred to one before it."""


def turned(angle: float, slack: float) -> float:
    """The angle in [0, 2 pi), rad; one that lacks less than `slack` of a full turn, or is but noise, is 0."""
    turn = angle - TWO_PI * floor(angle * TWO_PI_INVERSE)
    return select((turn > TWO_PI - slack) | (turn < TIE), 0.0, turn)


def same_side(u: float, v: float, theta: float, phi: float) -> tuple[float, float, float]:
    """The turns and the straight of LSL, from the way between its circles (u, v), which points to `theta`.

    Where one of the turns is nothing but noise, the other is all of the turn.
    """
    p = sqrt(u * u + v * v)
    slack = SLACK + NOISE / maximum(p, SLACK)
    t, q, both = turned(theta, slack), turned(phi - theta, slack), turned(phi, SLACK)
    apart = p > SLACK
    no_first = (t == 0.0) & apart
    no_last = (q == 0.0) | (not apart)
    return (
        select(no_first, 0.0, select(no_last, both, t)),
        select(apart, p, 0.0),
        select(no_first, both, select(no_last, 0.0, q)),
    )


def other_side(u: float, v: float, phi: float) -> tuple[float, float, float, float]:
    """Its length (infinite where it does not exist) and the turns and the straight of LSR."""
    square = u * u + v * v - 4.0
    p = sqrt(maximum(square, 0.0))
    theta = atan2(p * v + 2.0 * u, p * u - 2.0 * v)
    t, q = turned(theta, SLACK), turned(theta - phi, SLACK)
    return select(square > -SLACK, t + p + q, inf), t, p, q


def three_turns(u: float, v: float, theta: float, phi: float) -> tuple[float, float, float, float]:
    """Its length (infinite where it does not exist) and the turns of LRL; the one in the middle is more than half."""
    square = u * u + v * v
    opening = atan2(sqrt(maximum(16.0 - square, 0.0)), sqrt(square))
    t = turned(theta + opening + HALF_PI, SLACK)
    p = PI + 2.0 * opening
    q = turned(phi - theta + opening + HALF_PI, SLACK)
    return select(square < 16.0 + SLACK, t + p + q, inf), t, p, q


def best_word(x: float, y: float, s: float, c: float, phi: float) -> tuple[float, int, float, float, float]:
    """The shortest of the six words to (x, y) with heading `phi`, whose sine and cosine are `s` and `c`.

    Its length, its number in WORDS and its three parts, all in radii.
    """
    left_u, left_v, right_u, right_v = x - s, y - 1.0 + c, x + s, -y - 1.0 + c
    left, right = atan2(left_v, left_u), atan2(right_v, right_u)
    t, p, q = same_side(left_u, left_v, left, phi)
    best = (t + p + q, 0, t, p, q)
    t, p, q = same_side(right_u, right_v, right, -phi)
    best = shorter(best, t + p + q, 1, t, p, q)
    length, t, p, q = other_side(right_u, y - 1.0 - c, phi)
    best = shorter(best, length, 2, t, p, q)
    length, t, p, q = other_side(left_u, -y - 1.0 - c, -phi)
    best = shorter(best, length, 3, t, p, q)
    length, t, p, q = three_turns(right_u, right_v, right, -phi)
    best = shorter(best, length, 4, t, p, q)
    length, t, p, q = three_turns(left_u, left_v, left, phi)
    return shorter(best, length, 5, t, p, q)


def shorter(
    best: tuple[float, int, float, float, float], length: float, word: int, t: float, p: float, q: float
) -> tuple[float, int, float, float, float]:
    """The best so far, or another word that is shorter."""
    better = length < best[0] - TIE
    return (
        select(better, length, best[0]),
        word if better else best[1],
        select(better, t, best[2]),
        select(better, p, best[3]),
        select(better, q, best[4]),
    )


def turn_and_straight(x: float, y: float) -> tuple[float, float, float]:
    """Length (infinite where it does not exist), turn and straight of LS to a point."""
    u, v = x, y - 1.0
    square = u * u + v * v - 1.0
    p = sqrt(maximum(square, 0.0))
    theta = atan2(p * v + u, p * u - v)
    t = turned(theta, SLACK)
    return select(square > -SLACK, t + p, inf), t, p


def two_turns(x: float, y: float) -> tuple[float, float, float]:
    """Length (infinite where it does not exist) and turns of RL to a point: the way to one inside the left circle.

    The second turn is more than half. With the goal between 1 and 3 radii from the centre of the first circle, the
    triangle of both centres and the goal has sides 2, 1 and that distance.
    """
    u, v = x, -y - 1.0
    square = u * u + v * v
    at_first = atan2(sqrt(maximum((square - 1.0) * (9.0 - square), 0.0)), square + 3.0)
    cosine = clamp(0.25 * (5.0 - square), -1.0, 1.0)
    at_second = atan2(sqrt(1.0 - cosine * cosine), cosine)
    t = turned(atan2(v, u) + at_first + HALF_PI, SLACK)
    q = TWO_PI - at_second
    return select((square > 1.0 - SLACK) & (square < 9.0 + SLACK), t + q, inf), t, q


def best_free_word(x: float, y: float) -> tuple[float, int, float, float, float]:
    """The shortest of LS, RS, RL and LR to (x, y), any heading: as `best_word`, with a last or a middle part of 0."""
    length, t, p = turn_and_straight(x, y)
    best = (length, 0, t, p, 0.0)
    length, t, p = turn_and_straight(x, -y)
    best = shorter(best, length, 1, t, p, 0.0)
    length, t, q = two_turns(x, -y)
    best = shorter(best, length, 2, t, 0.0, q)
    length, t, q = two_turns(x, y)
    return shorter(best, length, 3, t, 0.0, q)


def in_frame(
    dx: float, dy: float, s: float, c: float, goal_s: float, goal_c: float, radius: float
) -> tuple[float, float, float, float]:
    """The goal as seen from the start, in radii, and sine and cosine of the change of heading."""
    scale = 1.0 / radius
    return (
        (dx * c + dy * s) * scale,
        (dy * c - dx * s) * scale,
        goal_s * c - goal_c * s,
        goal_c * c + goal_s * s,
    )


def shortest(
    x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float
) -> tuple[float, int, float, float, float]:
    """The shortest path from one pose to another: its length, its number in WORDS and its three parts, all in m.

    A goal heading of NaN is free: a turn and a straight, or two turns. With a radius of 0 it is a straight line.
    """
    dx, dy = gx - x, gy - y
    if radius <= 0.0:
        distance = sqrt(dx * dx + dy * dy)
        return distance, STRAIGHT, 0.0, distance, 0.0
    s, c = sincos(wrap_angle(heading))
    if isnan(gheading):
        x, y, _, _ = in_frame(dx, dy, s, c, s, c, radius)
        length, word, t, p, q = best_free_word(x, y)
    else:
        goal_s, goal_c = sincos(wrap_angle(gheading))
        x, y, s, c = in_frame(dx, dy, s, c, goal_s, goal_c, radius)
        length, word, t, p, q = best_word(x, y, s, c, wrap_angle(gheading - heading))
    return length * radius, word, t * radius, p * radius, q * radius


def turns_left(word: int, part: int) -> float:
    """1 where the first (0) or the last (2) part of a word turns left, -1 where it turns right."""
    if part == 0:
        return 1.0 if word == 0 or word == 2 or word == 5 else -1.0
    return 1.0 if word == 0 or word == 3 or word == 5 else -1.0


def length_to(
    x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float
) -> tuple[float, float]:
    """Length of the shortest path in m and the heading at its end; a goal heading of NaN is free."""
    length, word, t, _, q = shortest(x, y, heading, gx, gy, gheading, radius)
    if not isnan(gheading):
        return length, gheading
    if word == STRAIGHT:
        return length, heading if length == 0.0 else atan2(gy - y, gx - x)
    turn = turns_left(word, 0) * t + turns_left(word, 2) * q
    return length, wrap_angle(heading + turn / radius)
