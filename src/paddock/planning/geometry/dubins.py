"""Dubins paths: the shortest paths of a vehicle that moves forwards only and turns no tighter than a radius.

The scalar functions of the first part have no branches inside, so that a compiled loop over them vectorises; they also
run as plain Python, with the same bits. A path (word) has three parts, each a left turn (L), a right turn (R) or
straight (S). Their lengths are in turn radii; the start is at the origin with heading 0.

Paths with a change of height, no steeper than a vehicle can climb, are Dubins paths in plan view, with a constant
slope. If the shortest path is too steep, it is lengthened at its start until the slope is the steepest allowed:

- by less than a full turn: a longer arc at the start, to either side, and the shortest path from where it ends. Where
  the possible lengths skip the wanted one, the path is slightly longer and less steep;
- by more: the smallest whole number of helix turns to the first turn's side, their radius widened to gain the height
  exactly.
"""

from math import ceil, inf, isnan, pi

import numpy as np
from numpy import empty
from numpy.typing import ArrayLike

from paddock.compute.math import PI, atan2, clamp, floor, hypot, maximum, select, sincos, sqrt, wrap_angle
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.geometry.path import (
    Path,
    Pose,
    PoseLike,
    Segment,
    ends_at,
    line,
    not_negative,
    numbers,
    pose,
    poses,
    radii,
)
from paddock.world.columns import Floats

WORDS = ("LSL", "RSR", "LSR", "RSL", "RLR", "LRL", "SSS")
"""Words by number; the last is the straight line of a vehicle that turns on the spot."""
STRAIGHT = 6
TWO_PI = 6.283185307179586
TWO_PI_INVERSE = 0.15915494309189535
HALF_PI = 1.5707963267948966
SLACK = 1e-9  # rad: a full turn minus less than this is no turn; circles nearer than this (radii) are equal
NOISE = 1e-11  # rounding error of the goal in radii: an angle error on a short straight
TIE = 1e-12  # radii by which a word must be shorter to replace an earlier one


def turned(angle: float, slack: float) -> float:
    """Return the angle in [0, 2 pi), rad; 0 if it is within `slack` of a full turn or rounding noise."""
    turn = angle - TWO_PI * floor(angle * TWO_PI_INVERSE)
    return select((turn > TWO_PI - slack) | (turn < TIE), 0.0, turn)


def same_side(u: float, v: float, theta: float, phi: float) -> tuple[float, float, float]:
    """Return the turns and the straight of LSL, from the vector between its circles (u, v) with direction `theta`.

    If one of the turns is rounding noise, the other is the whole turn.
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
    """Return the length of LSR (infinite if it does not exist), its turns and its straight."""
    square = u * u + v * v - 4.0
    p = sqrt(maximum(square, 0.0))
    theta = atan2(p * v + 2.0 * u, p * u - 2.0 * v)
    t, q = turned(theta, SLACK), turned(theta - phi, SLACK)
    return select(square > -SLACK, t + p + q, inf), t, p, q


def three_turns(u: float, v: float, theta: float, phi: float) -> tuple[float, float, float, float]:
    """Return the length of LRL (infinite if it does not exist) and its turns; the middle one is more than half."""
    square = u * u + v * v
    opening = atan2(sqrt(maximum(16.0 - square, 0.0)), sqrt(square))
    t = turned(theta + opening + HALF_PI, SLACK)
    p = PI + 2.0 * opening
    q = turned(phi - theta + opening + HALF_PI, SLACK)
    return select(square < 16.0 + SLACK, t + p + q, inf), t, p, q


def best_word(x: float, y: float, s: float, c: float, phi: float) -> tuple[float, int, float, float, float]:
    """Return the shortest word to (x, y) with heading `phi`: length, number in WORDS, three parts, all in radii."""
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
    """Return the best so far, or another word if it is shorter."""
    better = length < best[0] - TIE
    return (
        select(better, length, best[0]),
        word if better else best[1],
        select(better, t, best[2]),
        select(better, p, best[3]),
        select(better, q, best[4]),
    )


def turn_and_straight(x: float, y: float) -> tuple[float, float, float]:
    """Return length (inf: none), turn and straight of LS to a point, at most SLACK inside the circle."""
    u, v = x, y - 1.0
    square = u * u + v * v - 1.0
    p = sqrt(maximum(square, 0.0))
    theta = atan2(p * v + u, p * u - v)
    t = turned(theta, SLACK)
    return select(square > -2.5 * SLACK, t + p, inf), t, p


def two_turns(x: float, y: float) -> tuple[float, float, float]:
    """Return length (infinite if it does not exist) and turns of RL to a point, e.g. inside the left circle.

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
    """Return the shortest of LS, RS, RL and LR to (x, y), any heading; parts as of `best_word`."""
    length, t, p = turn_and_straight(x, y)
    here = x * x + y * y < 1.5 * SLACK * SLACK  # near enough to count as equal
    best = (select(here, 0.0, length), 0, select(here, 0.0, t), select(here, 0.0, p), 0.0)
    length, t, p = turn_and_straight(x, -y)
    best = shorter(best, length, 1, t, p, 0.0)
    length, t, q = two_turns(x, -y)
    best = shorter(best, length, 2, t, 0.0, q)
    length, t, q = two_turns(x, y)
    return shorter(best, length, 3, t, 0.0, q)


def in_frame(
    dx: float, dy: float, s: float, c: float, goal_s: float, goal_c: float, radius: float
) -> tuple[float, float, float, float]:
    """Return the goal as seen from the start, in radii, and sine and cosine of the change of heading."""
    scale = 1.0 / radius
    return ((dx * c + dy * s) * scale, (dy * c - dx * s) * scale, goal_s * c - goal_c * s, goal_c * c + goal_s * s)


def shortest(
    x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float
) -> tuple[float, int, float, float, float]:
    """Return the shortest path from one pose to another: its length, its number in WORDS and its three parts, all in m.

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
    """Return length of the shortest path in m and the heading at its end; a goal heading of NaN is free."""
    length, word, t, _, q = shortest(x, y, heading, gx, gy, gheading, radius)
    if not isnan(gheading):
        return length, gheading
    if word == STRAIGHT:
        return length, heading if length == 0.0 else atan2(gy - y, gx - x)
    turn = turns_left(word, 0) * t + turns_left(word, 2) * q
    return length, wrap_angle(heading + turn / radius)


def _straight_row(x: float, y: float, gx: Floats, gy: Floats, out: Floats) -> None:
    """Write the distances from one start to many points."""
    for j in range(len(out)):
        dx, dy = gx[j] - x, gy[j] - y
        out[j] = sqrt(dx * dx + dy * dy)


def _fixed_row(
    x: float, y: float, heading: float, radius: float, gx: Floats, gy: Floats, gheading: Floats, out: Floats
) -> None:
    """Write the lengths from one start to many poses. Contiguous rows, no branches: the inlined loop vectorises."""
    s, c = sincos(wrap_angle(heading))
    for j in range(len(out)):
        goal_s, goal_c = sincos(wrap_angle(gheading[j]))
        u, v, ds, dc = in_frame(gx[j] - x, gy[j] - y, s, c, goal_s, goal_c, radius)
        out[j] = best_word(u, v, ds, dc, wrap_angle(gheading[j] - heading))[0] * radius


def _free_row(x: float, y: float, heading: float, radius: float, gx: Floats, gy: Floats, out: Floats) -> None:
    """Write the lengths from one start to many points with any heading."""
    s, c = sincos(wrap_angle(heading))
    for j in range(len(out)):
        u, v, _, _ = in_frame(gx[j] - x, gy[j] - y, s, c, s, c, radius)
        out[j] = best_free_word(u, v)[0] * radius


def _all_lengths(starts: Floats, radii: Floats, goals: Floats, fixed: int) -> Floats:
    """Compute lengths from each start (n, 3) to each goal (3, m: x, y, heading); the first `fixed` have a heading."""
    out = empty((len(starts), goals.shape[1]))
    for i in parallel_range(len(starts)):
        x, y, heading, radius = starts[i, 0], starts[i, 1], starts[i, 2], radii[i]
        gx, gy, gheading = goals[0], goals[1], goals[2]
        if radius <= 0.0:
            _straight_row(x, y, gx, gy, out[i])
        else:
            _fixed_row(x, y, heading, radius, gx[:fixed], gy[:fixed], gheading[:fixed], out[i, :fixed])
            _free_row(x, y, heading, radius, gx[fixed:], gy[fixed:], out[i, fixed:])
    return out


all_lengths = parallel_routine(_all_lengths, inline=True)


SHORT = 1e-6  # shorter straights (radii) take the heading of the preceding turn: their own would be rounding noise


def dubins(start: PoseLike, goal: PoseLike, radius: float) -> Path:
    """Return the shortest path from a pose to a pose (x, y, heading) with no turn tighter than `radius` (m).

    A goal heading of None is free: the best of a turn and a straight, and of two turns. A radius of 0 turns on the
    spot: a straight line.
    """
    x, y, heading = pose("start", start)
    gx, gy, gheading = pose("goal", goal, free=True)
    radius = not_negative("radius", radius)
    return _path((x, y, heading), (gx, gy, gheading), radius, *shortest(x, y, heading, gx, gy, gheading, radius)[1:])


def turning_paths(start: tuple[float, float, float], goal: tuple[float, float, float], radius: float) -> list[Path]:
    """Return the paths of two turns and a straight between poses (x, y, heading), the shortest first.

    With the sides of both turns given: they may keep to an area that the shortest path leaves.
    """
    (x, y, heading), (gx, gy, gheading) = start, goal
    s, c = sincos(wrap_angle(heading))
    goal_s, goal_c = sincos(wrap_angle(gheading))
    x, y, s, c = in_frame(gx - x, gy - y, s, c, goal_s, goal_c, radius)
    phi, left, right = wrap_angle(gheading - heading), (x - s, y - 1.0 + c), (x + s, -y - 1.0 + c)
    ways = [
        (0, 0.0, *same_side(*left, atan2(left[1], left[0]), phi)),
        (1, 0.0, *same_side(*right, atan2(right[1], right[0]), -phi)),
        (2, *other_side(right[0], y - 1.0 - c, phi)),
        (3, *other_side(left[0], -y - 1.0 - c, -phi)),
    ]
    ways = sorted((way for way in ways if way[1] < inf), key=lambda way: way[2] + way[3] + way[4])
    return [_path(start, goal, radius, way[0], *(radius * part for part in way[2:])) for way in ways]


def _path(
    start: tuple[float, float, float], goal: tuple[float, float, float], radius: float, word: int, t: float, p: float,
    q: float,
) -> Path:  # fmt: skip
    """Return the path of a word with parts of these lengths (m)."""
    (x, y, heading), (gx, gy, gheading) = start, goal
    begin: Pose = (x, y, 0.0, heading)
    if word == STRAIGHT:
        distance = hypot(gx - x, gy - y)
        if distance == 0.0:
            return Path((), (x, y, 0.0, heading if isnan(gheading) else gheading))
        return Path([line(x, y, atan2(gy - y, gx - x), distance)])
    first, curvature = Segment(*begin, t, turns_left(word, 0) / radius), turns_left(word, 2) / radius
    here = ends_at(first)
    if p < SHORT * radius or isnan(gheading) or word > 3:  # the parts in sequence
        middle = Segment(*here, p, {4: 1.0, 5: -1.0}.get(word, 0.0) / radius)
        return Path((first, middle, Segment(*ends_at(middle), q, curvature)), begin)
    # the outer parts from the start and from the goal, so that both are exact, and the straight between
    x, y, z, heading = ends_at(Segment(gx, gy, 0.0, gheading, q, curvature, gear=-1.0))
    dx, dy = x - here[0], y - here[1]
    straight = line(here[0], here[1], atan2(dy, dx), hypot(dx, dy))
    return Path((first, straight, Segment(x, y, z, heading, q, curvature)), begin)


def dubins_lengths(starts: ArrayLike, goals: ArrayLike, radius: ArrayLike) -> Floats:
    """Return lengths (n, m) in m of the shortest paths from each of `starts` (n, 3) to each of `goals` (m, 3).

    Rows are x, y, heading; a goal's heading may be NaN: any. `radius` (m) is one for all, or (n,) one for each start.
    """
    begins, ends = poses("starts", starts), poses("goals", goals, free=True)
    turn = radii(radius, len(begins))
    order = np.argsort(np.isnan(ends[:, 2]), kind="stable")  # goals with a heading first: each kind has its own loop
    fixed = int(np.count_nonzero(~np.isnan(ends[:, 2])))
    lengths = all_lengths(begins, turn, np.ascontiguousarray(ends[order].T), fixed)
    if 0 < fixed < len(ends):
        lengths[:, order] = lengths.copy()
    return lengths


Goal = tuple[float, float, float]


def climbing(start: PoseLike, goal: PoseLike, radius: float, slope: float) -> Path:
    """Return a path between poses (x, y, z, heading; None: any) with a maximum slope and turns of `radius` (m)."""
    x, y, z, heading = numbers("start", start, 4, free=False)
    gx, gy, gz, gheading = numbers("goal", goal, 4, free=True)
    radius, slope = not_negative("radius", radius), not_negative("slope", slope, zero=False)
    target = (gx, gy, gheading)
    level = dubins((x, y, heading), target, radius)
    climb = abs(gz - z) / slope
    if climb > level.length:
        level = _lengthened((x, y, 0.0, heading), target, radius, level, climb)
    return tilted(level, z, gz)


def raised(level: Path, low: float, high: float, slope: float, turn: Path) -> Path:
    """Return a level path changed to lead from one height to another; if too steep, after whole `turn`s."""
    excess = abs(high - low) / slope - along(level)
    turns = ceil(excess / along(turn) - 1e-9) if excess > 0.0 else 0
    return tilted(Path(turn.segments * turns, level.start) + level, low, high)


def along(path: Path) -> float:
    """Return metres along all curves of a path, relative to the air where they drift."""
    return sum(segment.length for segment in path.segments)


def tilted(level: Path, low: float, high: float) -> Path:
    """Return a level path changed to lead from one height to another at a constant slope."""
    x, y, _, heading = level.start
    slope = (high - low) / along(level) if level.segments else 0.0
    segments, z = [], low
    for segment in level.segments:
        segments.append(segment._replace(z=z, slope=slope))
        z += slope * segment.length
    return Path(segments, (x, y, low, heading))


def _lengthened(begin: Pose, goal: Goal, radius: float, level: Path, length: float) -> Path:
    """Return the level path, lengthened to a length (m) or, if that is not possible, slightly more."""
    excess = length - level.length
    turns = max(1, int(excess / (2.0 * pi * radius))) if radius > 0.0 else 1
    side = -1.0 if level.segments and level.segments[0].curvature < 0.0 else 1.0
    if excess < 2.0 * pi * radius:
        return min((_with_arc(begin, goal, radius, side, length) for side in (side, -side)), key=lambda p: p.length)
    wide = excess / (2.0 * pi * turns)
    return Path((Segment(*begin, excess, side / wide), *level.segments), begin)


def _with_arc(begin: Pose, goal: Goal, radius: float, side: float, length: float) -> Path:
    """Return an arc to one side and the shortest path from its end, together at least `wanted` m long, by bisection."""

    def through(turn: float) -> Path:
        arc = Segment(*begin, turn * radius, side / radius)
        x, y, _, heading = ends_at(arc)
        return Path((arc,)) + dubins((x, y, heading), goal, radius)

    low, high = 0.0, 2.0 * pi
    for _ in range(60):
        turn = 0.5 * (low + high)
        if through(turn).length < length:
            low = turn
        else:
            high = turn
    return through(high)
