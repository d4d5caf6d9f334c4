"""Lines as arrays of points (k, 2 or 3): even spacing, directions, curvature, speeds. The same bits on every CPU."""

import numpy as np
from numpy.typing import NDArray

from paddock.compute import arrays

Floats = NDArray[np.float64]


def lengths(vectors: Floats) -> Floats:
    """Return the length of each vector (k, 2 or 3)."""
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def distances(points: Floats, closed: bool) -> Floats:
    """Return the distance along a line of each of its points, m; of a closed one also that of its end."""
    ends = np.concatenate([points, points[:1]]) if closed else points
    return np.concatenate([[0.0], np.cumsum(lengths(np.diff(ends, axis=0)))])


def evenly(points: Floats, spacing: float, closed: bool) -> Floats:
    """Return points of equal distance, about `spacing` m, on a line; an open one keeps both ends."""
    along = distances(points, closed)
    ends = np.concatenate([points, points[:1]]) if closed else points
    count = max(8 if closed else 2, round(float(along[-1]) / spacing) + (0 if closed else 1))
    at = np.arange(count) * (along[-1] / (count if closed else count - 1))
    return np.stack([np.interp(at, along, ends[:, k]) for k in range(ends.shape[1])], axis=1)


def neighbours(points: Floats, closed: bool) -> tuple[Floats, Floats]:
    """Return the points before and after each; an open line is continued straight at its ends."""
    before, after = np.roll(points, 1, axis=0), np.roll(points, -1, axis=0)
    if not closed:
        before[0], after[-1] = 2.0 * points[0] - points[1], 2.0 * points[-1] - points[-2]
    return before, after


def directions(points: Floats, closed: bool) -> Floats:
    """Return the unit vector along the line at each point."""
    before, after = neighbours(points, closed)
    ahead = after - before
    return ahead / np.maximum(lengths(ahead), 1e-12)[:, None]


def leftwards(ahead: Floats) -> Floats:
    """Return unit vectors turned to the left by a right angle."""
    return np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)


def headings(points: Floats, closed: bool) -> Floats:
    """Return the direction of the line at each point, rad."""
    ahead = directions(points, closed)
    found: Floats = arrays.arctan2(ahead[:, 1], ahead[:, 0])
    return found


def signed_curvature(points: Floats, closed: bool) -> Floats:
    """Return the curvature (1/m, left positive) at each point: of the circle through it and its neighbours (Menger)."""
    points = points[:, :2]
    before, after = neighbours(points, closed)
    a, b, c = points - before, after - points, after - before
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    bend: Floats = 2.0 * cross / np.maximum(lengths(a) * lengths(b) * lengths(c), 1e-12)
    if not closed and len(bend) > 2:
        bend[0], bend[-1] = bend[1], bend[-2]
    return bend


def curvature(points: Floats, closed: bool) -> Floats:
    """Return the curvature (1/m) at each point, left or right; 0 at the ends of an open line."""
    bend = np.abs(signed_curvature(points, closed))
    if not closed:
        bend[0] = bend[-1] = 0.0
    return bend


def shifted(points: Floats, offset: float, closed: bool) -> Floats:
    """Return the line moved to its left by `offset` metres."""
    moved = points.copy()
    moved[:, :2] += offset * leftwards(directions(points[:, :2], closed))
    return moved


def speed_profile(
    points: Floats,
    closed: bool,
    top: float,
    lateral: float,
    accelerate: float,
    brake: float,
    most: Floats | None = None,
) -> Floats:
    """Return the speed (m/s) at each point, within the limits of lateral acceleration, acceleration and braking.

    `most`: the speed limit at each point, besides.
    """
    speed = np.minimum(top, np.sqrt(lateral / np.maximum(curvature(points, closed), 1e-9)))
    if most is not None:
        speed = np.minimum(speed, most)
    gap = lengths(np.roll(points, -1, axis=0) - points)
    if not closed:
        speed[-1] = 0.0  # the line ends there
    count = len(points)
    laps = 2 if closed else 1
    for k in range(laps * count - 1):  # runs once per line, when it is built
        i, j = k % count, (k + 1) % count
        speed[j] = min(speed[j], arrays.root_of_sum(speed[i], 2.0 * accelerate * gap[i]))
    for k in range(laps * count - 1, 0, -1):
        i, j = (k - 1) % count, k % count
        speed[i] = min(speed[i], arrays.root_of_sum(speed[j], 2.0 * brake * gap[i]))
    return speed


def smooth_curve(corners: Floats, closed: bool, parts: int = 8) -> Floats:
    """Return a curve through the corners (k, 2 or 3), `parts` points from each corner to the next.

    Catmull-Rom splines with centripetal parameters: without loops and cusps, however far apart the corners are.
    """
    before, after = neighbours(corners, closed)
    then = np.roll(after, -1, axis=0)
    if not closed:
        before, corners, after, then = before[:-1], corners[:-1], after[:-1], then[:-1]
        then[-1] = 2.0 * after[-1] - corners[-1]
    step = np.sqrt(lengths(after - corners))[:, None]
    first, last = np.sqrt(lengths(corners - before))[:, None], np.sqrt(lengths(then - after))[:, None]
    leave = step * ((corners - before) / first - (after - before) / (first + step)) + after - corners
    reach = step * ((then - after) / last - (then - corners) / (step + last)) + after - corners
    share = (np.arange(parts) / parts)[None, :, None]
    a, b = 2.0 * (corners - after) + leave + reach, 3.0 * (after - corners) - 2.0 * leave - reach
    fine = ((a[:, None] * share + b[:, None]) * share + leave[:, None]) * share + corners[:, None]
    curve = fine.reshape(-1, corners.shape[1])
    return curve if closed else np.concatenate([curve, after[-1:]])
