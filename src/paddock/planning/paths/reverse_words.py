"""Reeds-Shepp paths: the shortest ways of a vehicle that turns no tighter than a radius and moves both ways.

All 48 words come from a few base formulas (J. A. Reeds and L. A. Shepp, Pacific J. Math. 145, 1990, section 8) by two
symmetries: time flip (forwards becomes backwards) and reflection (left becomes right), and for some by running the
word from its end. Lengths are in turn radii (a turn's is its angle), negative backwards; the start stands at the origin
and looks along x.
"""

from __future__ import annotations

from math import inf

from paddock.compute.math import PI, absolute, atan2, clamp, maximum, minimum, sincos, sqrt, wrap_angle
from paddock.planning.paths.words import HALF_PI, NOISE, TIE

Found = tuple[float, int, int, float, float, float]
"""Length, family, flip (1: time, 2: reflection, 3: both) and the three free parts."""
Goal = tuple[float, float, float, float, float]
"""x, y, the change of heading, and its sine and cosine."""

FAMILIES = ("LSL", "LSR", "LRL", "LRL", "LRLR", "LRLR", "LRSL", "LRSR", "LSRL", "RSRL", "LRSLR")
"""By number, before the flips."""
QUARTER = -HALF_PI
"""The turn beside a straight of the words of four and five parts."""


def least(best: Found, family: int, flip: int, t: float, u: float, v: float, fixed: float) -> Found:
    """The best so far, or another word that is shorter; `fixed` is the length of what is not t, u and v."""
    length = absolute(t) + absolute(u) + absolute(v) + fixed
    return (length, family, flip, t, u, v) if length < best[0] - TIE else best


def signed(angle: float) -> float:
    """The angle in [-pi, pi], where rounding noise about 0 and about -pi has no say in a sign.

    That is needed for exact answers only: lengths are continuous, so a word that is missed has a neighbour.
    """
    turn = wrap_angle(angle)
    if absolute(turn) < NOISE:
        return 0.0
    return PI if turn < NOISE - PI else turn


def curve_straight_curve(goal: Goal, flip: int, best: Found) -> Found:
    """L+ S+ L+ and L+ S+ R+ (8.1, 8.2)."""
    x, y, phi, s, c = goal
    xi, eta = x - s, y - 1.0 + c
    u = sqrt(xi * xi + eta * eta)
    theta = atan2(eta, xi) if u > NOISE else maximum(signed(phi), 0.0)
    t, v = signed(theta), signed(phi - theta)
    if t >= 0.0 and v >= 0.0:
        best = least(best, 0, flip, t, u, v, 0.0)
    xi, eta = x + s, y - 1.0 - c
    square = xi * xi + eta * eta - 4.0
    if square >= -NOISE:
        u = sqrt(maximum(square, 0.0))
        t = signed(atan2(u * eta + 2.0 * xi, u * xi - 2.0 * eta))
        v = signed(t - phi)
        if t >= 0.0 and v >= 0.0:
            best = least(best, 1, flip, t, u, v, 0.0)
    return best


def three_curves(goal: Goal, flip: int, family: int, best: Found) -> Found:
    """L+ R- L (8.3, 8.4)."""
    x, y, phi, s, c = goal
    xi, eta = x - s, y - 1.0 + c
    square = xi * xi + eta * eta
    if square > 16.0 + NOISE:
        return best
    half = -atan2(sqrt(square), sqrt(maximum(16.0 - square, 0.0)))
    t = signed(atan2(eta, xi) + half + PI)
    v = signed(phi - t + 2.0 * half)
    return least(best, family, flip, t, 2.0 * half, v, 0.0) if t >= 0.0 else best


def four_curves(goal: Goal, flip: int, best: Found) -> Found:
    """L+ R+ L- R- and L+ R- L- R+ with inner turns of the same angle (8.7, 8.8)."""
    x, y, phi, s, c = goal
    xi, eta = x + s, y - 1.0 - c
    square = xi * xi + eta * eta
    cosine = 0.25 * (2.0 + sqrt(square))
    if cosine <= 1.0 + NOISE:
        best = four_curves_with(xi, eta, phi, minimum(cosine, 1.0), 4, flip, best)
    cosine = (20.0 - square) / 16.0
    if -NOISE <= cosine <= 1.0 + NOISE:
        best = four_curves_with(xi, eta, phi, clamp(cosine, 0.0, 1.0), 5, flip, best)
    return best


def four_curves_with(xi: float, eta: float, phi: float, cosine: float, family: int, flip: int, best: Found) -> Found:
    """A word of four from the cosine of its inner turns u and v: v = -u in family 4, v = u < 0 in family 5."""
    sine = sqrt((1.0 - cosine) * (1.0 + cosine))
    turn = atan2(sine, cosine)
    # a = sin u - sin(u - v), b = cos u - cos(u - v) - 1
    a, b = (sine - 2.0 * sine * cosine, cosine - 2.0 * cosine * cosine) if family == 4 else (-sine, cosine - 2.0)
    t = atan2(eta * a - xi * b, xi * a + eta * b)
    if family == 4:
        # 2 (cos(u - v) - cos v - cos u) + 3 is (2 cos u - 1) squared, never negative: t needs no half turn more
        t, v = signed(t), signed(t - 2.0 * turn - phi)
        return least(best, 4, flip, t, turn, v, turn) if t >= 0.0 and v <= 0.0 else best
    t, v = signed(t), signed(t - phi)
    return least(best, 5, flip, t, -turn, v, turn) if t >= 0.0 and v >= 0.0 else best


def curves_straight_curve(goal: Goal, flip: int, family: int, best: Found) -> Found:
    """L+ R- S- L- and L+ R- S- R- with a quarter turn before the straight (8.9, 8.10)."""
    x, y, phi, s, c = goal
    xi, eta = x - s, y - 1.0 + c
    square = xi * xi + eta * eta - 4.0
    if square >= 4.0:
        r = sqrt(square)
        t = signed(atan2(xi * r - 2.0 * eta, -2.0 * xi - eta * r))
        v = signed(phi - HALF_PI - t)
        if t >= 0.0 and v <= 0.0:
            best = least(best, family, flip, t, 2.0 - r, v, HALF_PI)
    xi, eta = x + s, y - 1.0 - c
    rho = sqrt(xi * xi + eta * eta)
    if rho >= 2.0:
        t = signed(atan2(xi, -eta))
        v = signed(t + HALF_PI - phi)
        if t >= 0.0 and v <= 0.0:
            best = least(best, family + 1, flip, t, 2.0 - rho, v, HALF_PI)
    return best


def five_parts(goal: Goal, flip: int, best: Found) -> Found:
    """L+ R- S- L- R+ with quarter turns beside the straight (8.11)."""
    x, y, phi, s, c = goal
    xi, eta = x + s, y - 1.0 - c
    square = xi * xi + eta * eta - 4.0
    if square < 16.0:
        return best
    u = 4.0 - sqrt(square)
    t = signed(atan2((4.0 - u) * xi - 2.0 * eta, -2.0 * xi + (u - 4.0) * eta))
    v = signed(t - phi)
    return least(best, 10, flip, t, u, v, PI) if t >= 0.0 and v >= 0.0 else best


def shortest_flipped(x: float, y: float, phi: float, s: float, c: float, flip: int, best: Found) -> Found:
    """The better of the best so far and the shortest word with one of the four flips."""
    along = -1.0 if flip == 1 or flip == 3 else 1.0
    across = -1.0 if flip >= 2 else 1.0
    turn = along * across
    goal = (along * x, across * y, turn * phi, turn * s, c)
    back = (along * (x * c + y * s), across * (x * s - y * c), turn * phi, turn * s, c)  # the start, from the end
    best = curve_straight_curve(goal, flip, best)
    best = three_curves(goal, flip, 2, best)
    best = three_curves(back, flip, 3, best)
    best = four_curves(goal, flip, best)
    best = curves_straight_curve(goal, flip, 6, best)
    best = curves_straight_curve(back, flip, 8, best)
    return five_parts(goal, flip, best)


def shortest_both_ways(x: float, y: float, phi: float) -> Found:
    """The shortest of the 48 words."""
    best = (inf, 0, 0, 0.0, 0.0, 0.0)
    s, c = sincos(phi)
    for flip in range(4):
        best = shortest_flipped(x, y, phi, s, c, flip, best)
    return best
