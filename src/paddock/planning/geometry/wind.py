"""Paths in constant wind: the fastest between two poses, and given paths held over the ground.

Distances flown are metres through the air (airspeed times time), which determine range and time. Directions are courses
over the ground; the nose of a vehicle follows from the wind triangle.

In the frame of the air, the vehicle flies an ordinary Dubins path, but its goal drifts: at time T it is at g - w T,
and a path of length T has to end there. In the scalar functions lengths are in turn radii (so is time: the airspeed is
1), the wind is a fraction w < 1 of the airspeed, and the start is at the origin with heading 0.

The length of the shortest word jumps while the goal drifts, so each word is solved as a smooth problem:
- LSL: both turns together are known but for a full turn, and a straight flight to a drifting place remains.
- LSR and LS: with the heading of the straight given, one equation remains, a slowly changing sine of it.
- LRL: with the middle turn given, the duration is known, and one equation remains for the distance of the circles.
- LR, to a point: one equation in the duration.
Paths with an additional full turn are included, because waiting for the goal may be best. LSL and RSR always
have a solution.
"""

from collections.abc import Iterator
from math import ceil, inf, isnan, radians

import numpy as np

from paddock.compute import arrays
from paddock.compute.math import PI, absolute, asin, atan2, hypot, maximum, minimum, sincos, sqrt, wrap_angle
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import (
    HALF_PI,
    NOISE,
    SLACK,
    STRAIGHT,
    TWO_PI,
    dubins,
    shorter,
    turned,
    turns_left,
)
from paddock.planning.geometry.path import (
    LENGTH,
    PACE,
    Path,
    Pose,
    PoseLike,
    Segment,
    along_rows,
    ends_at,
    not_negative,
    point_along,
    pose,
)

Best = tuple[float, int, float, float, float]  # duration, number of the word, its three parts: all in radii
Way = tuple[float, float, float, float, float, float]
"""Vector between the circles (x, y) at T = 0, the wind (x, y), and the duration of the turns, a and b in a z + b."""
LINES, TURNS = 0, 1
PIECES = 16  # pieces of a full turn in a search
STEP = 0.2  # step in time (radii) of the search for two turns


def intercept(x: float, y: float, wx: float, wy: float) -> float:
    """Return the duration of a straight flight to a point on the ground at (x, y)."""
    along = x * wx + y * wy
    rest = 1.0 - wx * wx - wy * wy
    return (sqrt(along * along + rest * (x * x + y * y)) - along) / rest


def same_side_in_wind(cx: float, cy: float, phi: float, wx: float, wy: float) -> tuple[float, float, float, float]:
    """Return duration and parts of LSL; without another full turn if that is possible."""
    turns = turned(phi, SLACK)
    for k in range(2):
        turns += k * TWO_PI
        ex, ey = cx - wx * turns, cy - wy * turns
        p = intercept(ex, ey, wx, wy)
        if p < SLACK:
            return turns, turns, 0.0, 0.0
        slack = SLACK + NOISE / p
        t = turned(atan2(ey - wy * p, ex - wx * p), slack)
        if t <= turns + slack:
            return turns + p, minimum(t, turns), p, maximum(turns - t, 0.0)
    return inf, 0.0, 0.0, 0.0  # not reached: the first turn is less than a full one


def missed(kind: int, z: float, way: Way) -> tuple[float, float]:
    """Return the residual of a solution with the unknown `z`, and its derivative.

    LINES: z is the heading of the straight of LSR (a = 2) or LS (a = 1); the residual is across the straight's path
    over the ground. TURNS: z is the middle turn of LRL; the residual is the squared distance of the circles.
    """
    cx, cy, wx, wy, a, b = way
    s, c = sincos(z)
    x, y = cx - wx * (a * z + b), cy - wy * (a * z + b)
    if kind == LINES:
        return x * s - y * c - a * (1.0 + c * wx + s * wy) + cx * wy - cy * wx, x * c + y * s
    return x * x + y * y - 8.0 + 8.0 * c, -2.0 * a * (x * wx + y * wy) - 8.0 * s


def zero(kind: int, low: float, high: float, way: Way, flat: bool) -> float:
    """Return the root of `missed`, or of its derivative for `flat`, between two values with different signs."""
    f_low = missed(kind, low, way)[1 if flat else 0]
    z = 0.5 * (low + high)
    for _ in range(80):
        value, slope = missed(kind, z, way)
        f = slope if flat else value
        if (f > 0.0) == (f_low > 0.0):
            low = z
        else:
            high = z
        newton = z - value / slope if slope != 0.0 and not flat else low
        following = newton if low < newton < high else 0.5 * (low + high)
        if absolute(following - z) < 1e-15 * (1.0 + absolute(z)):
            break
        z = following
    return z


def judged(kind: int, word: int, z: float, way: Way, best: Best) -> Best:
    """Return the better of the best so far and the path with the unknown `z`, if it is valid: no negative parts."""
    cx, cy, wx, wy, a, b = way
    turns = a * z + b
    if kind == LINES:
        s, c = sincos(z)
        ux, uy = c + wx, s + wy
        p = ((cx - wx * turns - a * s) * ux + (cy - wy * turns + a * c) * uy) / (ux * ux + uy * uy)
        t = z if a == 2.0 else turns
        q, total = turns - t, turns + p
    else:
        p, total = z, turns
        t = turned(atan2(cy - wy * total, cx - wx * total) + 0.5 * z, SLACK)
        q = total - p - t
    if minimum(minimum(t, p), q) < -SLACK:
        return best
    return shorter(best, total, word, maximum(t, 0.0), maximum(p, 0.0), maximum(q, 0.0))


def searched(kind: int, word: int, low: float, high: float, way: Way, best: Best) -> Best:
    """Return the best of all solutions between `low` and `high`, including double roots within a piece."""
    pieces = int((high - low) * PIECES / TWO_PI) + 1
    z0 = low
    f0, g0 = missed(kind, z0, way)
    for k in range(pieces):
        z1 = low + (high - low) * (k + 1) / pieces
        f1, g1 = missed(kind, z1, way)
        middle, f_middle = z1, f1
        if (f0 > 0.0) == (f1 > 0.0) and (g0 > 0.0) != (g1 > 0.0) and (f0 > 0.0) != (g0 > 0.0):
            middle = zero(kind, z0, z1, way, True)
            f_middle = missed(kind, middle, way)[0]
        for half in range(2):
            if (f_middle > 0.0) != ((f0 > 0.0) if half == 0 else (f1 > 0.0)):
                root = zero(kind, z0 if half == 0 else middle, middle if half == 0 else z1, way, False)
                best = judged(kind, word, root, way, best)
        z0, f0, g0 = z1, f1, g1
    return best


def best_with_side(side: int, x: float, y: float, phi: float, wx: float, wy: float, best: Best) -> Best:
    """Return the better of the best so far, LSR and LRL, or for side 1 (mirrored) RSL and RLR."""
    s, c = sincos(phi)
    turn = turned(phi, SLACK)
    apart_x, apart_y = x - s, y - 1.0 + c
    touching = (sqrt(apart_x * apart_x + apart_y * apart_y) - 4.0) / sqrt(wx * wx + wy * wy)
    for m in range(5):
        if m < 2:  # LSR, its last turn between 0 and 2 pi or with another full turn
            kind, b = LINES, m * TWO_PI - turn
            low, high = (turn if m == 0 else 0.0) - SLACK, TWO_PI
            possible = b < best[0]
        else:  # LRL, while its circles are near enough
            kind, b = TURNS, (m - 3) * TWO_PI + turn
            low, high = maximum(maximum(0.0, -b), 0.5 * (touching - b)), minimum(TWO_PI, 0.5 * (best[0] - b))
            possible = low < high
        if possible:
            way = (x + s, y - 1.0 - c, wx, wy, 2.0, b) if kind == LINES else (apart_x, apart_y, wx, wy, 2.0, b)
            best = searched(kind, 2 + side if kind == LINES else 5 - side, low, high, way, best)
    return best


def best_in_wind(x: float, y: float, phi: float, wx: float, wy: float) -> Best:
    """Return the fastest of the six words to (x, y) with heading `phi`."""
    s, c = sincos(phi)
    best = (inf, 0, 0.0, 0.0, 0.0)
    for side in range(2):  # closed forms first: they bound the searches
        m = 1.0 - 2.0 * side
        total, t, p, q = same_side_in_wind(x - m * s, m * y - 1.0 + c, m * phi, wx, m * wy)
        best = shorter(best, total, side, t, p, q)
    for side in range(2):
        m = 1.0 - 2.0 * side
        best = best_with_side(side, x, m * y, m * phi, wx, m * wy, best)
    return best


def two_turns_at(total: float, cx: float, cy: float, wx: float, wy: float, long: bool) -> tuple[float, float]:
    """Return the residual angle of LR for a duration, and its second turn, which is more than half if `long`."""
    x, y = cx - wx * total, cy - wy * total
    square = minimum(maximum(x * x + y * y, 1.0), 9.0)
    at_first = atan2(sqrt((square - 1.0) * (9.0 - square)), square + 3.0)
    at_second = atan2(sqrt((square - 1.0) * (9.0 - square)), 5.0 - square)
    q = TWO_PI - at_second if long else at_second
    t = atan2(y, x) + HALF_PI + (at_first if long else -at_first)
    return wrap_angle(t + q - total), q


def two_turns_between(word: int, low: float, high: float, way: Way, long: bool, best: Best) -> Best:
    """Return the better of the best so far and LR of a duration between two whose residuals have different signs."""
    cx, cy, wx, wy, _, _ = way
    f_low = two_turns_at(low, cx, cy, wx, wy, long)[0]
    for _ in range(60):
        total = 0.5 * (low + high)
        if (two_turns_at(total, cx, cy, wx, wy, long)[0] > 0.0) == (f_low > 0.0):
            low = total
        else:
            high = total
    q = two_turns_at(high, cx, cy, wx, wy, long)[1]
    return shorter(best, high, word, maximum(high - q, 0.0), 0.0, q) if high - q > -SLACK else best


def two_turns_within(word: int, low: float, high: float, way: Way, best: Best) -> Best:
    """Return the better of the best so far and LR of a duration in an interval in which the circles touch."""
    cx, cy, wx, wy, _, _ = way
    steps = int(maximum(high - low, 0.0) / STEP) + 1
    for k in range(steps if high > low else 0):
        t0, t1 = low + (high - low) * k / steps, low + (high - low) * (k + 1) / steps
        for branch in range(2):
            f0 = two_turns_at(t0, cx, cy, wx, wy, branch == 0)[0]
            f1 = two_turns_at(t1, cx, cy, wx, wy, branch == 0)[0]
            if (f0 > 0.0) != (f1 > 0.0) and absolute(f1 - f0) < PI:
                best = two_turns_between(word, t0, t1, way, branch == 0, best)
    return best


def times_within(distance: float, cx: float, cy: float, wx: float, wy: float) -> tuple[float, float]:
    """Return the interval in which the drifting point (cx, cy) is that near; if never, twice the nearest time."""
    square = wx * wx + wy * wy
    nearest = (cx * wx + cy * wy) / square
    half = sqrt(maximum(nearest * nearest - (cx * cx + cy * cy - distance * distance) / square, 0.0))
    return nearest - half, nearest + half


def two_turns_in_wind(word: int, cx: float, cy: float, wx: float, wy: float, best: Best) -> Best:
    """Return the better of the best so far and LR to a point (cx, cy), 1 to 3 radii from the first circle's centre."""
    first, last = times_within(3.0, cx, cy, wx, wy)
    inner_first, inner_last = times_within(1.0, cx, cy, wx, wy)
    way = (cx, cy, wx, wy, 0.0, 0.0)
    for part in range(2):
        low, high = (first, inner_first) if part == 0 else (inner_last, last)
        best = two_turns_within(word, maximum(low, 0.0), minimum(high, best[0]), way, best)
    return best


def best_free_in_wind(x: float, y: float, wx: float, wy: float) -> Best:
    """Return the fastest of LS, RS, LR and RL to (x, y) with any heading; the search starts from LSL."""
    p = intercept(x, y, wx, wy)
    if p < SLACK:
        return 0.0, 0, 0.0, 0.0, 0.0
    phi = atan2(y - wy * p, x - wx * p)
    if absolute(phi) < SLACK + NOISE / p:
        phi = 0.0  # straight ahead within rounding
    s, c = sincos(phi)
    total, t, p, q = same_side_in_wind(x - s, y - 1.0 + c, phi, wx, wy)
    best = (total, 0, t, p, q)
    for k in range(4):
        m, b = (1.0 if k % 2 == 0 else -1.0), (TWO_PI if k >= 2 else 0.0)
        if b < best[0]:
            best = searched(LINES, k % 2, -SLACK, TWO_PI, (x, m * y - 1.0, wx, m * wy, 1.0, b), best)
    for side in range(2):
        m = 1.0 - 2.0 * side
        best = two_turns_in_wind(2 + side, x, m * y - 1.0, wx, m * wy, best)
    return best


PIECE = radians(5.0)
"""Longest piece of an arc held over the ground: within a piece the pace is constant."""
NODES, WEIGHTS = arrays.gauss_legendre(8)


def heading_on(course: float, wx: float, wy: float) -> float:
    """Return the heading for a course over the ground, rad; the wind is a fraction of the airspeed."""
    s, c = sincos(course)
    return wrap_angle(course - asin(wy * c - wx * s))


def course_of(heading: float, wx: float, wy: float) -> float:
    """Return the course over the ground for a heading, rad."""
    s, c = sincos(heading)
    return atan2(s + wy, c + wx)


def held_line(length: float, course: float, wx: float, wy: float) -> float:
    """Return metres flown along a straight line over the ground."""
    if wx == 0.0 and wy == 0.0:
        return length
    s, c = sincos(wrap_angle(course))
    return length * intercept(c, s, wx, wy)


def held_turn(radius: float, course: float, turn: float, wx: float, wy: float) -> float:
    """Return metres flown on an arc over the ground that begins on a course and turns by an angle (rad, > 0 left).

    At an angle x from the wind w, a metre takes (sqrt(1 - w^2 sin^2 x) - w cos x) / (1 - w^2) of them. The root is
    (1 + r) / 2 |1 + n exp(2 i x)| with r = sqrt(1 - w^2) and n = (1 - r) / (1 + r): a Fourier series in powers of n.
    """
    if (wx == 0.0 and wy == 0.0) or turn == 0.0:
        return radius * absolute(turn)
    return radius * absolute(held_rate(wx, wy) * turn + held_sum(course + turn, wx, wy) - held_sum(course, wx, wy))


def held_rate(wx: float, wy: float) -> float:
    """Return the mean metres flown for each metre of an arc over the ground; `held_turn` adds the change of a sum."""
    square = wx * wx + wy * wy
    root = sqrt(1.0 - square)
    n = (1.0 - root) / (1.0 + root)
    m = n * n
    evenly = 1.0 + m * (1.0 / 4.0 + m * (1.0 / 64.0 + m * (1.0 / 256.0 + m * 25.0 / 16384.0)))
    return 0.5 * (1.0 + root) * evenly / (1.0 - square)


def held_sum(course: float, wx: float, wy: float) -> float:
    """Return what an arc of 1 m radius has taken beyond its mean up to a course."""
    square = wx * wx + wy * wy
    if square == 0.0:
        return 0.0
    root, wind = sqrt(1.0 - square), sqrt(square)
    n = (1.0 - root) / (1.0 + root)
    along, across = _held_series(course, n, n * n, wind, wx, wy)
    return (0.5 * (1.0 + root) * along - across) / (1.0 - square)


def _held_series(course: float, n: float, m: float, wind: float, wx: float, wy: float) -> tuple[float, float]:
    """Return the parts of `held_sum`: of the root without its mean, and of the wind along the way."""
    s, c = sincos(wrap_angle(course))
    cosine, sine = (wx * c + wy * s) / wind, (wx * s - wy * c) / wind
    two = 2.0 * (cosine * cosine - sine * sine)
    s1 = 2.0 * sine * cosine
    s2 = two * s1
    s3 = two * s2 - s1
    s4 = two * s3 - s2
    s5 = two * s4 - s3
    s6 = two * s5 - s4
    total = 0.5 * s1 * n * (1.0 - m * (1.0 / 8.0 + m * (1.0 / 64.0 + m * 5.0 / 1024.0)))
    total += 0.25 * s2 * m * (-1.0 / 4.0 + m * (1.0 / 16.0 + m * 5.0 / 512.0))
    total += (1.0 / 6.0) * s3 * n * m * (1.0 / 8.0 - m * (5.0 / 128.0 + m * 7.0 / 1024.0))
    total += 0.125 * s4 * m * m * (-5.0 / 64.0 + m * 7.0 / 256.0)
    total += 0.1 * s5 * n * m * m * (7.0 / 128.0 - m * 21.0 / 1024.0)
    total += (1.0 / 12.0) * s6 * m * m * m * (-21.0 / 512.0)
    return total, wind * sine


def quickest(
    x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float, wx: float, wy: float
) -> tuple[float, int, float, float, float]:
    """Return the fastest path in wind: m flown, number of the word, m flown in its parts; headings through the air."""
    if radius <= 0.0:
        distance = intercept(gx - x, gy - y, wx, wy)
        return distance, STRAIGHT, 0.0, distance, 0.0
    s, c = sincos(wrap_angle(heading))
    dx, dy = (gx - x) / radius, (gy - y) / radius
    ux, uy, vx, vy = dx * c + dy * s, dy * c - dx * s, wx * c + wy * s, wy * c - wx * s
    if isnan(gheading):
        total, word, t, p, q = best_free_in_wind(ux, uy, vx, vy)
    else:
        total, word, t, p, q = best_in_wind(ux, uy, wrap_angle(gheading - heading), vx, vy)
    return total * radius, word, t * radius, p * radius, q * radius


compiled_quickest = routine(quickest)


def _relative(speed: float, wind: PoseLike) -> tuple[float, float]:
    """Return the wind as a fraction of the airspeed, checked."""
    not_negative("speed", speed, zero=False)
    try:
        east, north = (float(part) for part in wind if part is not None)
    except (TypeError, ValueError):
        raise InvalidValueError(f"wind is (east, north) in m/s, not {wind!r}") from None
    strength = hypot(east, north)
    if not strength < speed:
        raise InvalidValueError(f"a wind of {strength:g} m/s cannot be flown against at an airspeed of {speed:g} m/s")
    return east / speed, north / speed


def dubins_in_wind(start: PoseLike, goal: PoseLike, radius: float, speed: float, wind: PoseLike) -> Path:
    """Return the fastest path between poses (x, y, course over the ground) at an airspeed (m/s) in constant wind (m/s).

    `wind` is (east, north), the direction it blows to; turns have at least `radius` (m) in the air. A goal's course may
    be None: any. The path's segments drift; its headings are through the air.
    """
    wx, wy = _relative(speed, wind)
    if wx == 0.0 and wy == 0.0:
        return dubins(start, goal, radius)
    x, y, course = pose("start", start)
    gx, gy, gcourse = pose("goal", goal, free=True)
    radius = not_negative("radius", radius)
    heading = heading_on(course, wx, wy)
    gheading = gcourse if isnan(gcourse) else heading_on(gcourse, wx, wy)
    flown, word, t, p, q = compiled_quickest(x, y, heading, gx, gy, gheading, radius, wx, wy)
    if word == STRAIGHT:
        ahead = heading if flown == 0.0 else heading_on(atan2(gy - y, gx - x), wx, wy)
        return Path([Segment(x, y, 0.0, ahead, flown, drift_x=wx, drift_y=wy)], (x, y, 0.0, ahead))
    return _drifting((x, y, 0.0, heading), word, (t, p, q), radius, (wx, wy))


def turns_in_wind(
    start: tuple[float, float, float], goal: tuple[float, float, float], radius: float, wind: tuple[float, float]
) -> list[Path]:
    """Return paths between poses (x, y, course) that drift with a wind (over the airspeed), the fastest first.

    The others turn to the left twice and to the right twice: they may keep to an area that the fastest leaves.
    """
    (x, y, course), (gx, gy, gcourse), (wx, wy) = start, goal, wind
    paths = [dubins_in_wind(start, goal, radius, 1.0, wind)]
    heading, gheading = heading_on(course, wx, wy), heading_on(gcourse, wx, wy)
    s, c = sincos(heading)
    dx, dy = (gx - x) / radius, (gy - y) / radius
    ux, uy, vx, vy = dx * c + dy * s, dy * c - dx * s, wx * c + wy * s, wy * c - wx * s
    phi = wrap_angle(gheading - heading)
    s, c = sincos(phi)
    for word, m in enumerate((1.0, -1.0)):
        _, t, p, q = same_side_in_wind(ux - m * s, m * uy - 1.0 + c, m * phi, vx, m * vy)
        parts = t * radius, p * radius, q * radius
        paths.append(_drifting((x, y, 0.0, heading), word, parts, radius, wind))
    return paths


def _drifting(
    begin: Pose, word: int, parts: tuple[float, float, float], radius: float, wind: tuple[float, float]
) -> Path:
    """Return the path of a word with parts of that many metres flown."""
    sides = turns_left(word, 0), {4: 1.0, 5: -1.0}.get(word, 0.0), turns_left(word, 2)
    segments: list[Segment] = []
    for length, side in zip(parts, sides, strict=True):  # 1 left, 0 straight, -1 right
        here = ends_at(segments[-1]) if segments else begin
        segments.append(Segment(*here, length, side / radius, drift_x=wind[0], drift_y=wind[1]))
    return Path(segments, begin)


def over_ground(path: Path, speed: float, wind: PoseLike) -> Path:
    """Return the path held over the ground at an airspeed (m/s) in constant wind (east, north in m/s).

    Each line has the pace of the wind triangle. Arcs are cut into pieces, each with the pace that makes its flown
    distance exact. A climb is part of the airspeed.
    """
    wx, wy = _relative(speed, wind)
    if any(segment.drift_x or segment.drift_y for segment in path.segments):
        raise InvalidValueError("a path that drifts with the wind cannot also be held over the ground")
    return Path([piece for segment in path.segments for piece in _held(segment, wx, wy)], path.start)


def _held(segment: Segment, wx: float, wy: float) -> Iterator[Segment]:
    """Return the pieces of a segment that is held over the ground in a wind (over the airspeed)."""
    pieces = max(1, ceil(abs(segment.curvature) * segment.length / PIECE - 1e-9))
    width = segment.length / pieces
    climb = sqrt(1.0 + segment.slope**2)
    rows = np.tile(np.array(segment, dtype=np.float64), (pieces, 1))
    along = width * np.arange(pieces, dtype=np.float64)
    starts = along_rows(rows, along) if pieces > 1 else np.array([point_along(segment, 0.0)])
    turn = segment.gear * segment.curvature * 0.5 * width * (NODES + 1.0)
    sine, cosine = arrays.sincos(starts[:, 3:] + turn)
    tail = segment.gear * (wx * cosine + wy * sine)  # wind along it
    speed = (tail + np.sqrt(tail**2 + climb**2 * (1.0 - wx * wx - wy * wy))) / climb**2  # over the ground, level
    rows[:, [0, 1, 2, 3]], rows[:, LENGTH], rows[:, PACE] = starts, width, climb / (0.5 * WEIGHTS / speed).sum(axis=1)
    return map(Segment._make, rows.tolist())
