"""Lines as arrays of points (k, 2 or 3): even spacing, directions, curvature, speeds. The same bits on every CPU.

Compiled loops over the points smooth a line, open bends that are too tight, and find the nearest point of a line,
exactly, for many places at once. For that, the segments of a line are grouped in blocks of neighbours, each inside a
circle: a block whose circle is farther away than the nearest segment found so far is skipped.
"""

import numpy as np
from numpy import empty, empty_like, zeros
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.compute.math import absolute, clamp, maximum, minimum, sqrt
from paddock.compute.routine import routine

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
    angles: Floats = arrays.arctan2(ahead[:, 1], ahead[:, 0])
    return angles


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
        speed[j] = min(speed[j], sqrt(speed[i] * speed[i] + 2.0 * accelerate * gap[i]))
    for k in range(laps * count - 1, 0, -1):
        i, j = (k - 1) % count, k % count
        speed[i] = min(speed[i], sqrt(speed[j] * speed[j] + 2.0 * brake * gap[i]))
    return speed


def smooth_curve(corners: Floats, closed: bool, parts: int = 8, chordal: bool = False) -> Floats:
    """Return a curve through the corners (k, 2 or 3), `parts` points from each corner to the next.

    Catmull-Rom splines with centripetal parameters: without loops and cusps, however far apart the corners are; or with
    chord lengths as parameters (`chordal`): directions on a circle are exact to third order, however uneven the gaps.
    """
    before, after = neighbours(corners, closed)
    then = np.roll(after, -1, axis=0)
    if not closed:
        before, corners, after, then = before[:-1], corners[:-1], after[:-1], then[:-1]
        then[-1] = 2.0 * after[-1] - corners[-1]
    chords = (lengths(b - a)[:, None] for a, b in ((before, corners), (corners, after), (after, then)))
    first, step, last = chords if chordal else map(np.sqrt, chords)
    leave = step * ((corners - before) / first - (after - before) / (first + step)) + after - corners
    reach = step * ((then - after) / last - (then - corners) / (step + last)) + after - corners
    share = (np.arange(parts) / parts)[None, :, None]
    a, b = 2.0 * (corners - after) + leave + reach, 3.0 * (after - corners) - 2.0 * leave - reach
    fine = ((a[:, None] * share + b[:, None]) * share + leave[:, None]) * share + corners[:, None]
    curve = fine.reshape(-1, corners.shape[1])
    return curve if closed else np.concatenate([curve, after[-1:]])


SHRINK, GROW = 0.5, -0.53  # of a pass: both together leave long waves as they are
ROUNDS = 60  # of opening bends, at most
NEAR = 4  # points on both sides of a tight one that move with it
STEPS = 6  # of smoothing per round


def neighbour(points: Floats, k: int, step: int, closed: bool, column: int) -> float:
    """Return a coordinate of the point `step` (-1 or 1) after point k; open lines continue straight at their ends."""
    count = points.shape[0]
    other = k + step
    if 0 <= other < count:
        return float(points[other, column])
    if closed:
        return float(points[other % count, column])
    return float(2.0 * points[k, column] - points[k - step, column])


def _smoothed(points: Floats, closed: bool, passes: int) -> Floats:
    """Return the points without short waves; long ones keep their size."""
    now, after = points.copy(), empty_like(points)
    for step in range(2 * passes):
        share = SHRINK if step % 2 == 0 else GROW
        for k in range(now.shape[0]):
            for c in range(now.shape[1]):
                middle = 0.5 * (neighbour(now, k, -1, closed, c) + neighbour(now, k, 1, closed, c))
                after[k, c] = now[k, c] + share * (middle - now[k, c])
        now, after = after, now
    return now


def gap(points: Floats, a: int, b: int) -> float:
    """Return the distance of two points, m."""
    dx, dy = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1]
    return sqrt(dx * dx + dy * dy)


def bend_at(points: Floats, k: int) -> float:
    """Return the curvature (1/m) of a closed line at a point, left or right."""
    count = points.shape[0]
    a, b = (k - 1) % count, (k + 1) % count
    ux, uy, vx, vy = points[k, 0] - points[a, 0], points[k, 1] - points[a, 1], points[b, 0] - points[k, 0], 0.0
    vy = points[b, 1] - points[k, 1]
    return 2.0 * absolute(ux * vy - uy * vx) / maximum(gap(points, a, k) * gap(points, k, b) * gap(points, a, b), 1e-12)


def resampled(points: Floats, goal: float) -> Floats:
    """Return a closed line scaled to a length (m), with points about 1 m apart."""
    count = points.shape[0]
    length = 0.0
    for k in range(count):
        length += gap(points, k, (k + 1) % count)
    scale, many = goal / length, max(8, int(goal + 0.5))
    step = length / many
    points_out = empty((many, 2))
    k, passed, segment = 0, 0.0, gap(points, 0, 1 % count)
    for i in range(many):
        at = i * step
        while k < count - 1 and passed + segment < at:
            passed += segment
            k += 1
            segment = gap(points, k, (k + 1) % count)
        share = minimum((at - passed) / maximum(segment, 1e-12), 1.0)
        after = (k + 1) % count
        for c in range(2):
            points_out[i, c] = scale * (points[k, c] + share * (points[after, c] - points[k, c]))
    return points_out


def _opened(points: Floats, goal: float, radius: float) -> Floats:
    """Return a closed line of a length (m) whose bends have at least a radius (m); no points if that fails."""
    line = resampled(points, goal)
    for _ in range(ROUNDS):
        count = line.shape[0]
        near, tight = zeros(count), 0
        for k in range(count):
            if bend_at(line, k) * radius > 1.0:
                tight += 1
                for other in range(k - NEAR, k + NEAR + 1):
                    near[other % count] = 1.0
        if tight == 0:
            return line
        after = empty_like(line)
        for _ in range(STEPS):
            for k in range(count):
                for c in range(2):
                    middle = 0.5 * (line[(k - 1) % count, c] + line[(k + 1) % count, c])
                    after[k, c] = line[k, c] + 0.5 * near[k] * (middle - line[k, c])
            line, after = after, line
        line = resampled(line, goal)
    return empty((0, 2))


def _meets_itself(line: Floats, limit: float, apart: float) -> bool:
    """Return whether points more than `apart` (m) along a closed line of 1 m steps are nearer than `limit` (m)."""
    count = line.shape[0]
    least = int(apart) + 1
    for a in range(count):
        for b in range(a + least, min(count, count + a - least + 1)):
            dx, dy = line[a, 0] - line[b, 0], line[a, 1] - line[b, 1]
            if dx * dx + dy * dy < limit * limit:
                return True
    return False


def side_of(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> float:
    """Return on which side of the line from a to b a point is: positive on the left."""
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax)


def _first_crossing(first: Floats, two: Floats, closed: bool, same: bool) -> int:
    """Return the number of the first segment of `first` that crosses a segment of `two`; -1: none.

    `same`: both are the same line, whose neighbouring segments meet at their common point.
    """
    many, more = first.shape[0], two.shape[0]
    for k in range(many if closed else many - 1):
        ax, ay, bx, by = first[k, 0], first[k, 1], first[(k + 1) % many, 0], first[(k + 1) % many, 1]
        for i in range(k + 2 if same else 0, more if closed else more - 1):
            if same and (i + 1) % more == k:
                continue
            cx, cy, dx, dy = two[i, 0], two[i, 1], two[(i + 1) % more, 0], two[(i + 1) % more, 1]
            if maximum(cx, dx) < minimum(ax, bx) or maximum(ax, bx) < minimum(cx, dx):
                continue
            apart = side_of(ax, ay, bx, by, cx, cy) * side_of(ax, ay, bx, by, dx, dy) <= 0.0
            if apart and side_of(cx, cy, dx, dy, ax, ay) * side_of(cx, cy, dx, dy, bx, by) <= 0.0:
                return k
    return -1


smooth_points, opened, meets_itself = routine(_smoothed), routine(_opened), routine(_meets_itself)
first_crossing = routine(_first_crossing)

BLOCK = 12
"""Segments per block."""


def line_blocks(points: Floats, closed: bool) -> Floats:
    """Return the circles (b, 3), x, y and radius (m), around the blocks of a line (k, 2)."""
    ends = np.concatenate([points, points[:1]]) if closed else points
    count = -(-(len(ends) - 1) // BLOCK)
    index = np.minimum(np.arange(count)[:, None] * BLOCK + np.arange(BLOCK + 1)[None], len(ends) - 1)
    inside = ends[index]
    middle = 0.5 * (inside.min(axis=1) + inside.max(axis=1))
    gaps = inside - middle[:, None]
    radius = np.sqrt((gaps * gaps).sum(axis=2).max(axis=1))
    return np.ascontiguousarray(np.column_stack([middle, radius * (1.0 + 1e-12) + 1e-9]))


def segment_gap(x: float, y: float, points: Floats, k: int) -> tuple[float, float]:
    """Return the position on segment k (0..1) nearest to a place, and the squared distance to it."""
    following = k + 1 if k + 1 < points.shape[0] else 0
    ax, ay = points[k, 0], points[k, 1]
    ux, uy = points[following, 0] - ax, points[following, 1] - ay
    rx, ry = x - ax, y - ay
    t = clamp((rx * ux + ry * uy) / maximum(ux * ux + uy * uy, 1e-12), 0.0, 1.0)
    ex, ey = rx - t * ux, ry - t * uy
    return t, ex * ex + ey * ey


def nearest_segment(x: float, y: float, points: Floats, blocks: Floats, closed: bool) -> tuple[int, float]:
    """Return the segment nearest to a place and the position on it (0..1); of equally near ones the first."""
    segments = points.shape[0] if closed else points.shape[0] - 1
    first, least = 0, 1e300
    for b in range(blocks.shape[0]):
        dx, dy = x - blocks[b, 0], y - blocks[b, 1]
        if dx * dx + dy * dy < least:
            first, least = b, dx * dx + dy * dy
    best, best_t, least = 0, 0.0, 1e300
    for k in range(first * BLOCK, min((first + 1) * BLOCK, segments)):
        t, gap = segment_gap(x, y, points, k)
        if gap < least:
            best, best_t, least = k, t, gap
    for b in range(blocks.shape[0]):
        dx, dy = x - blocks[b, 0], y - blocks[b, 1]
        reach = blocks[b, 2] + sqrt(least)
        if b == first or dx * dx + dy * dy > reach * reach:
            continue
        for k in range(b * BLOCK, min((b + 1) * BLOCK, segments)):
            t, gap = segment_gap(x, y, points, k)
            if gap < least or (gap == least and k < best):
                best, best_t, least = k, t, gap
    return best, best_t


def segment_near(x: float, y: float, points: Floats, first: int, searched: int, closed: bool) -> tuple[int, float]:
    """Return the nearest of the segments from `first` on, and the position on it (0..1); round a closed line."""
    segments = points.shape[0] if closed else points.shape[0] - 1
    best, best_t, least = 0, 0.0, 1e300
    for step in range(searched):
        k = first + step
        if closed:
            k = k % segments
        elif k < 0 or k >= segments:
            continue
        t, gap = segment_gap(x, y, points, k)
        if gap < least:
            best, best_t, least = k, t, gap
    return best, best_t


def _locate(x: Floats, y: Floats, points: Floats, blocks: Floats, closed: bool) -> Floats:
    """Return segment and position on it (n, 2) for every place."""
    located = empty((x.shape[0], 2))
    for i in range(x.shape[0]):
        k, t = nearest_segment(x[i], y[i], points, blocks, closed)
        located[i, 0], located[i, 1] = k, t
    return located


def _locate_near(x: Floats, y: Floats, points: Floats, first: Floats, searched: int, closed: bool) -> Floats:
    """Return segment and position on it (n, 2), of the segments from `first` on."""
    located = empty((x.shape[0], 2))
    for i in range(x.shape[0]):
        k, t = segment_near(x[i], y[i], points, int(first[i]), searched, closed)
        located[i, 0], located[i, 1] = k, t
    return located


locate_places, locate_places_near = routine(_locate), routine(_locate_near)
