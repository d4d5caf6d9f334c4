"""Reeds-Shepp paths: the shortest paths of a vehicle that moves forwards and backwards.

All 48 words come from a few base formulas (J. A. Reeds and L. A. Shepp, Pacific J. Math. 145, 1990, section 8) by two
symmetries: time flip (forwards becomes backwards) and reflection (left becomes right), and for some by running the
word from its end. Lengths are in turn radii (a turn's is its angle), negative backwards; the start is at the origin
with heading 0.
"""

from collections.abc import Iterator
from math import inf

from numpy import empty
from numpy.typing import ArrayLike

from paddock.compute.math import PI, absolute, atan2, clamp, hypot, maximum, minimum, sincos, sqrt, wrap_angle
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.geometry.dubins import HALF_PI, NOISE, TIE
from paddock.planning.geometry.path import (
    Path,
    Pose,
    PoseLike,
    Segment,
    ends_at,
    line,
    not_negative,
    pose,
    poses,
    radii,
)
from paddock.world.columns import Floats

Found = tuple[float, int, int, float, float, float]
"""Length, family, flip (1: time, 2: reflection, 3: both) and the three free parts."""
Goal = tuple[float, float, float, float, float]  # x, y, the change of heading, and its sine and cosine

FAMILIES = ("LSL", "LSR", "LRL", "LRL", "LRLR", "LRLR", "LRSL", "LRSR", "LSRL", "RSRL", "LRSLR")
"""Families by number, before the flips."""
QUARTER = -HALF_PI  # the turn next to a straight, in words of four and five parts


def least(best: Found, family: int, flip: int, t: float, u: float, v: float, fixed: float) -> Found:
    """Return the shorter of the best so far and another word; `fixed` is the length besides t, u and v."""
    length = absolute(t) + absolute(u) + absolute(v) + fixed
    return (length, family, flip, t, u, v) if length < best[0] - TIE else best


def signed(angle: float) -> float:
    """Return the angle in [-pi, pi]; rounding noise near 0 and -pi does not affect the sign."""
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
    """Return a word of four from the cosine of its inner turns u and v: v = -u in family 4, v = u < 0 in family 5."""
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
    """Return the better of the best so far and the shortest word with one of the four flips."""
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
    """Return the shortest of the 48 words."""
    best = (inf, 0, 0, 0.0, 0.0, 0.0)
    s, c = sincos(phi)
    for flip in range(4):
        best = shortest_flipped(x, y, phi, s, c, flip, best)
    return best


def between(x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float) -> Found:
    """Return the shortest word from one pose to another, in radii (> 0)."""
    s, c = sincos(wrap_angle(heading))
    dx, dy = (gx - x) / radius, (gy - y) / radius
    return shortest_both_ways(dx * c + dy * s, dy * c - dx * s, wrap_angle(gheading - heading))


def shortest_length(x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float) -> float:
    """Return metres of the shortest path, for compiled code; a radius of 0 turns on the spot."""
    dx, dy = gx - x, gy - y
    if radius == 0.0:
        return sqrt(dx * dx + dy * dy)
    return between(x, y, heading, gx, gy, gheading, radius)[0] * radius


def reeds_shepp(start: PoseLike, goal: PoseLike, radius: float) -> Path:
    """Return the shortest path between poses (x, y, heading), forwards and backwards, with turns of `radius` (m).

    Segments have gear 1 forwards and -1 backwards. A radius of 0 turns on the spot: a straight line.
    """
    x, y, heading = pose("start", start)
    gx, gy, gheading = pose("goal", goal)
    if not_negative("radius", radius) == 0.0:
        ahead = atan2(gy - y, gx - x)
        return Path([line(x, y, ahead, hypot(gx - x, gy - y))], (x, y, 0.0, gheading))
    word = between(x, y, heading, gx, gy, gheading, radius)
    begin = (x, y, 0.0, heading)
    return Path(_segments(begin, word, float(radius)), begin)


def _segments(here: Pose, word: Found, radius: float) -> Iterator[Segment]:
    _, family, flip, t, u, v = word
    parts: tuple[float, ...] = {  # of the word before the flips, negative backwards
        "LSL": (t, u, v), "LSR": (t, u, v), "LRL": (t, u, v) if family == 2 else (v, u, t),
        "LRLR": (t, u, -u, v) if family == 4 else (t, u, u, v), "LRSL": (t, QUARTER, u, v), "LRSR": (t, QUARTER, u, v),
        "LSRL": (v, u, QUARTER, t), "RSRL": (v, u, QUARTER, t), "LRSLR": (t, QUARTER, u, QUARTER, v),
    }[FAMILIES[family]]  # fmt: skip
    for kind, part in zip(FAMILIES[family], parts, strict=True):
        side = {"L": 1.0, "S": 0.0, "R": -1.0}[kind] * (-1.0 if flip >= 2 else 1.0)
        gear = 1.0 if (part >= 0.0) != (flip in (1, 3)) else -1.0
        segment = Segment(*here, abs(part) * radius, side / radius, gear=gear)
        here = ends_at(segment)
        yield segment


def _lengths(starts: Floats, turn: Floats, goals: Floats) -> Floats:
    out = empty((len(starts), len(goals)))
    for i in parallel_range(len(starts)):
        x, y, heading, radius = starts[i, 0], starts[i, 1], starts[i, 2], turn[i]
        for j in range(len(goals)):
            out[i, j] = shortest_length(x, y, heading, goals[j, 0], goals[j, 1], goals[j, 2], radius)
    return out


_compiled_lengths = parallel_routine(_lengths)


def reeds_shepp_lengths(starts: ArrayLike, goals: ArrayLike, radius: ArrayLike) -> Floats:
    """Return lengths (n, m) in m of the shortest paths from each of `starts` (n, 3) to each of `goals` (m, 3).

    Rows are x, y, heading; `radius` (m) is one for all, or (n,) one for each start.
    """
    begins, ends = poses("starts", starts), poses("goals", goals)
    return _compiled_lengths(begins, radii(radius, len(begins)), ends)
