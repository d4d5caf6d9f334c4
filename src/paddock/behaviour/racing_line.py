"""Racing on a closed track: the line of least curvature within it, its speeds, and which line past the others is free.

Positions on the racing line are the distance along the middle line and the offset to its left, both in m. In traffic a
line is the driver's own line shifted sideways. Every vehicle of any fleet within sight counts, at its present speed
along the track and at the offset that it will have half a second later.
"""

from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty

from paddock.compute.math import absolute, clamp, floor, maximum, minimum, select, sqrt
from paddock.compute.routine import routine
from paddock.track.lines import shifted, signed_curvature, speed_profile
from paddock.world.columns import Column, Floats

SWEEPS = 4000
"""Steps towards the line of least curvature; more change it by millimetres on circuits of up to 1,000 points."""
X, Y, Z, SPEED, LEFT_X, LEFT_Y, ALONG, LINE, NARROW_SPEED, BEND = range(10)
"""Columns of a track's points.

Position (m), speed on the line (m/s), unit vector to the left, distance along the middle (m), offset of the line (m),
speed on the inner edge (m/s), and curvature of the line (1/m, left positive).
"""
LINES = 9  # the own line, and shifts to both sides
FORESIGHT = 0.5  # s
PATIENCE = 2.0  # s: it leaves its line for a slower car when the gap is shorter than this times the difference
KEEP = 2.0  # m: the gap behind another car
BLOCKED = 50.0  # the cost of a line beside another car that would be touched, in m/s lost


class Pace(NamedTuple):
    """What a driver demands of the car."""

    top: float  # m/s
    lateral: float  # m/s2
    accelerate: float  # m/s2
    brake: float  # m/s2


def build_track(middle: Floats, room: float, share: float, pace: Pace) -> Floats:
    """Return the points (k, 10) of a closed track whose drivers keep within `room` (m) of its middle.

    `share` of the way from the middle to the line of least curvature is the line to drive.
    """
    left = shifted(middle, 1.0, closed=True)[:, :2] - middle[:, :2]
    gaps = np.linalg.norm(np.roll(middle, -1, axis=0) - middle, axis=1)
    along = np.concatenate([[0.0], np.cumsum(gaps)[:-1]])
    offset = share * np.frombuffer(_least_curvature(middle.tobytes(), left.tobytes(), room))
    line = middle.copy()
    line[:, :2] += offset[:, None] * left
    speed = speed_profile(line, True, *pace)
    # the tightest parallel line: the inner side of each bend
    signed = signed_curvature(middle, closed=True)
    inner = np.maximum(1.0 / np.maximum(np.abs(signed), 1e-9) - room, 0.5)
    narrow = np.minimum(speed, np.sqrt(pace.lateral * inner))
    narrow = speed_profile(middle, True, pace.top, 1e9, pace.accelerate, pace.brake, narrow)
    bend = signed_curvature(line, closed=True)
    return np.column_stack([middle, speed, left, along, offset, narrow, bend])


@lru_cache(maxsize=32)
def _least_curvature(middle: bytes, left: bytes, room: float) -> bytes:
    """Return the offsets within `room` whose line has the least sum of squared second differences.

    Accelerated projected gradient (Nesterov), restarted when it overshoots. The largest eigenvalue of the quadratic
    form is 16.
    """
    points, normal = np.frombuffer(middle).reshape(-1, 3)[:, :2], np.frombuffer(left).reshape(-1, 2)
    offset = ahead = np.zeros(len(points))
    momentum = 1.0
    for _ in range(SWEEPS):
        line = points + ahead[:, None] * normal
        bent = np.roll(line, 1, axis=0) - 2.0 * line + np.roll(line, -1, axis=0)
        force = np.roll(bent, 1, axis=0) - 2.0 * bent + np.roll(bent, -1, axis=0)
        slope = force[:, 0] * normal[:, 0] + force[:, 1] * normal[:, 1]
        moved = np.clip(ahead - slope / 16.0, -room, room)
        momentum, before = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum) ** 0.5), momentum
        change = moved - offset
        if (slope * change).sum() > 0.0:
            momentum = before = 1.0
        offset, ahead = moved, moved + (before - 1.0) / momentum * change
    return offset.tobytes()


def on_segment(x: float, y: float, track: Floats, k: int) -> tuple[float, float]:
    """Return the position along segment k (0..1) nearest to a place, and the squared distance to it."""
    count = track.shape[0]
    a, b = k % count, (k + 1) % count
    ux, uy = track[b, 0] - track[a, 0], track[b, 1] - track[a, 1]
    rx, ry = x - track[a, 0], y - track[a, 1]
    t = clamp((rx * ux + ry * uy) / maximum(ux * ux + uy * uy, 1e-12), 0.0, 1.0)
    ex, ey = rx - t * ux, ry - t * uy
    return t, ex * ex + ey * ey


def find_segment(x: float, y: float, track: Floats, start: int, searched: int) -> tuple[int, float, float]:
    """Return the nearest of the segments from `start` on, the position along it, and the squared distance."""
    count = track.shape[0]
    best, best_t, least = start % count, 0.0, 1e300
    for step in range(searched):
        k = (start + step) % count
        t, gap = on_segment(x, y, track, k)
        if gap < least:
            best, best_t, least = k, t, gap
    return best, best_t, least


def between(track: Floats, k: int, t: float, column: int) -> float:
    """Return a column at the position t (0..1) on segment k."""
    a, b = track[k, column], track[(k + 1) % track.shape[0], column]
    return float(a + t * (b - a))


def beside(x: float, y: float, track: Floats, k: int, t: float) -> float:
    """Return the offset (m) of a place to the left of the middle at segment k."""
    return (x - between(track, k, t, 0)) * between(track, k, t, 4) + (y - between(track, k, t, 1)) * between(
        track, k, t, 5
    )


def track_length(track: Floats) -> float:
    """Return the length of the middle line, m."""
    last = track.shape[0] - 1
    dx, dy, dz = track[0, 0] - track[last, 0], track[0, 1] - track[last, 1], track[0, 2] - track[last, 2]
    return float(track[last, 6] + sqrt(dx * dx + dy * dy + dz * dz))


class Sight(NamedTuple):
    """The way past the others."""

    shift: Annotated[float, Column("m", "shift of the driven line to the left")] = 0.0
    speed: Annotated[float, Column("m/s", "largest speed behind others")] = 1e3


class Space(NamedTuple):
    """What a driver keeps free."""

    room: float  # m: largest offset from the middle
    length: float  # m
    width: float  # m, of a car with the gap beside it
    sight: float  # m
    brake: float  # m/s2


def _place(poses: Floats, track: Floats, spots: Floats) -> None:
    """Write distance along, offset, speed along and speed to the left of each vehicle (columns of poses)."""
    count = track.shape[0]
    for i in range(poses.shape[1]):
        k, t, _ = find_segment(poses[0, i], poses[1, i], track, 0, count)
        lx, ly = between(track, k, t, 4), between(track, k, t, 5)
        gap = select(k + 1 < count, track[(k + 1) % count, 6], track_length(track)) - track[k, 6]
        spots[0, i] = track[k, 6] + t * gap
        spots[1, i] = beside(poses[0, i], poses[1, i], track, k, t)
        spots[2, i] = poses[7, i] * ly - poses[8, i] * lx
        spots[3, i] = poses[7, i] * lx + poses[8, i] * ly
        spots[4, i] = between(track, k, t, 7)
        spots[5, i] = between(track, k, t, 3)


def behind(gap: float, speed: float, brake: float) -> float:
    """Return the speed from which a car can brake to another's speed within a gap (m)."""
    ahead = maximum(speed, 0.0)
    return select(gap > 0.0, sqrt(ahead * ahead + 2.0 * brake * maximum(gap, 0.0)), maximum(ahead + gap, 0.0))


def _weigh(
    i: int, j: int, ahead: float, spots: Floats, space: Space, step: float, costs: Floats, limits: Floats
) -> None:
    """Add what vehicle j, `ahead` m further on, means for each line of vehicle i.

    The last of the limits is that of the place where vehicle i is.
    """
    gap, speed, other = ahead - space.length, spots[2, j], spots[1, j] + FORESIGHT * spots[3, j]
    mine, now = spots[1, i], spots[1, j]
    abreast = absolute(ahead) < space.length + 0.5
    for lane in range(LINES):
        offset = clamp(spots[4, j] + (lane - LINES // 2) * step, -space.room, space.room)
        near = minimum(absolute(other - offset), absolute(now - offset)) < space.width
        # a line on the far side of a car abreast, or nearer to it than now, is not free
        across = ((now - mine) * (now - offset) < 0.0) | (near & (absolute(now - offset) < absolute(now - mine) + 0.1))
        costs[lane] += select(abreast & across, BLOCKED, 0.0)
        closing = (ahead < 0.0) & (speed > spots[2, i] + 1.0) & (-gap < 1.5 * (speed - spots[2, i]))
        costs[lane] += select(closing & near & (absolute(now - mine) > space.width), 4.0, 0.0)
        if near and ahead > 0.0:
            costs[lane] += maximum(spots[5, i] - maximum(speed, 0.0) - maximum(gap - KEEP, 0.0) / PATIENCE, 0.0)
            limits[lane] = minimum(limits[lane], behind(gap - KEEP, speed, space.brake))
    if ahead > 0.0 and absolute(other - mine) < space.width - 0.3 and absolute(now - mine) < space.width:
        limits[LINES] = minimum(limits[LINES], behind(gap - 0.5 * KEEP, speed, space.brake))


def _choose(n: int, spots: Floats, order: Any, shifts: Floats, track: Floats, space: Space, rivals: Floats) -> None:
    """Write the shift and the speed of the first n vehicles; `order` sorts all of them along the track."""
    total, count = track_length(track), spots.shape[1]
    step = 2.0 * space.room / (LINES // 2)
    costs, limits = empty(LINES), empty(LINES + 1)
    for slot in range(count):
        i = order[slot]
        if i >= n:
            continue
        for lane in range(LINES):
            shift = (lane - LINES // 2) * step
            costs[lane] = 0.4 * absolute(shift) / step + 0.3 * absolute(shift - shifts[i]) / step
            limits[lane] = 1e3
        limits[LINES] = 1e3
        for direction in (1, -1):
            for further in range(1, count):
                j = order[(slot + direction * further + count) % count]
                ahead = spots[0, j] - spots[0, i]
                ahead -= total * floor(ahead / total + 0.5)
                # the same car is met from both sides on a short track: each sees its own half
                if direction * ahead < 0.0 or absolute(ahead) > select(direction > 0, space.sight, 0.4 * space.sight):
                    break
                if ahead != 0.0 or direction > 0:
                    _weigh(i, j, ahead, spots, space, step, costs, limits)
        best = LINES // 2
        for lane in range(LINES):
            if costs[lane] < costs[best]:
                best = lane
        rivals[0, i] = (best - LINES // 2) * step
        rivals[1, i] = minimum(limits[best], limits[LINES])


place_vehicles, choose_lines = routine(_place), routine(_choose)


def look_around(poses: Floats, n: int, shifts: Floats, track: Floats, space: Space) -> Floats:
    """Return rows of Sight (2, n) for the first n of all vehicles; `shifts` (n,) are their present ones."""
    spots, rivals = np.empty((6, poses.shape[1])), np.empty((2, n))
    place_vehicles(np.ascontiguousarray(poses), track, spots)
    order = np.argsort(spots[0], kind="stable")
    choose_lines(n, spots, order, np.ascontiguousarray(shifts), track, space, rivals)
    return rivals
