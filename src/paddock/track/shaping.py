"""Compiled loops over the points of a line: smoothing, and opening bends that are too tight."""

import numpy as np
from numpy import empty, empty_like, zeros
from numpy.typing import NDArray

from paddock.compute.math import absolute, maximum, minimum, sqrt
from paddock.compute.routine import routine

Floats = NDArray[np.float64]
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
    found = empty((many, 2))
    k, passed, here = 0, 0.0, gap(points, 0, 1 % count)
    for i in range(many):
        at = i * step
        while k < count - 1 and passed + here < at:
            passed += here
            k += 1
            here = gap(points, k, (k + 1) % count)
        share = minimum((at - passed) / maximum(here, 1e-12), 1.0)
        after = (k + 1) % count
        for c in range(2):
            found[i, c] = scale * (points[k, c] + share * (points[after, c] - points[k, c]))
    return found


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


def _first_crossing(one: Floats, two: Floats, closed: bool, same: bool) -> int:
    """Return the number of the first segment of `one` that crosses a segment of `two`; -1: none.

    `same`: both are the same line, whose neighbouring segments meet at their common point.
    """
    many, more = one.shape[0], two.shape[0]
    for k in range(many if closed else many - 1):
        ax, ay, bx, by = one[k, 0], one[k, 1], one[(k + 1) % many, 0], one[(k + 1) % many, 1]
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
