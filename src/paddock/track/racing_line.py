"""The racing line of a closed track: the line of least curvature within it, and the speeds that it allows.

Positions on it are the distance along the middle line and the offset to its left, both in m.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from paddock.compute.math import clamp, maximum, sqrt
from paddock.track.lines import shifted, signed_curvature, speed_profile
from paddock.world.columns import Floats

SWEEPS = 4000
"""Steps towards the line of least curvature; more change it by millimetres on circuits of up to 1,000 points."""
X, Y, Z, SPEED, LEFT_X, LEFT_Y, ALONG, LINE, NARROW_SPEED, BEND = range(10)
"""Columns of a track's points.

Position (m), speed on the line (m/s), unit vector to the left, distance along the middle (m), offset of the line (m),
speed on the inner edge (m/s), and curvature of the line (1/m, left positive).
"""


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
