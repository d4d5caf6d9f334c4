"""Local kriging: amplitude and slope of the residual field at a place, from the samples near it.

Distances are measured in a frame of each place, along the ray from the transmitter, across it and upward, each divided
by a length: behind a building the field changes little along the ray and much across it. The covariance falls
exponentially with distance; the mean of the field near a place is unknown, with a variance of its own.
"""

from typing import NamedTuple

import numpy as np
from numpy import empty, zeros

from paddock.compute.math import exp, maximum, sqrt
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.splats import Floats, Ints

NEAR = 24  # samples that a value is computed from
POOL = 96  # nearest samples, among which they are chosen by distance in the frame
MEAN_VARIANCE = 0.5  # of the local mean, in units of the variance of the field


class Metric(NamedTuple):
    """How distances are measured, and how rough and noisy the field is."""

    along: float  # length along the ray from the transmitter (or the x axis), relative
    upward: float  # vertically, relative to the length across
    rays: bool  # frames turn with the ray from the transmitter; otherwise they are the axes
    scale: float  # m: distance over which the covariance falls by e
    nugget: float  # variance of the noise of a sample of weight 1, in units of the variance of the field

    def lengths(self) -> Floats:
        """Return the lengths of the frame's axes, of product 1."""
        lengths = np.array([self.along, 1.0, self.upward])
        return np.asarray(lengths / lengths.prod() ** (1.0 / 3.0))


def frames(places: Floats, source: Floats, metric: Metric) -> Floats:
    """Return matrices (n, 3, 3) from world differences to those in the frame of each place."""
    lengths = metric.lengths()
    if not metric.rays:
        return np.repeat(np.diag(1.0 / lengths)[None], len(places), axis=0)
    ray = places - source
    ground = np.hypot(ray[:, 0], ray[:, 1])
    ray = np.where((ground < 1e-6)[:, None], ray + np.array([1e-6, 0.0, 0.0]), ray)
    along = ray / np.sqrt((ray * ray).sum(axis=1))[:, None]
    across = np.stack([-ray[:, 1], ray[:, 0], np.zeros(len(ray))], axis=1)
    across /= np.hypot(ray[:, 0], ray[:, 1])[:, None]
    return np.stack([along, across, np.cross(along, across)], axis=1) / lengths[:, None]


def nearest_in_frame(
    place: Floats, frame: Floats, position: Floats, pool: Ints, skip: int, count: int, chosen: Ints, x: Floats
) -> int:
    """Choose the `count` samples of the pool nearest in the frame; write their indices and coordinates."""
    found, squares = 0, empty(count)
    for p in range(pool.shape[0]):
        j = pool[p]
        if j == skip:
            continue
        dx, dy, dz = position[j, 0] - place[0], position[j, 1] - place[1], position[j, 2] - place[2]
        a = frame[0, 0] * dx + frame[0, 1] * dy + frame[0, 2] * dz
        b = frame[1, 0] * dx + frame[1, 1] * dy + frame[1, 2] * dz
        c = frame[2, 0] * dx + frame[2, 1] * dy + frame[2, 2] * dz
        d2 = a * a + b * b + c * c
        if found == count and d2 >= squares[count - 1]:
            continue
        at = found if found < count else count - 1
        found = min(found + 1, count)
        while at > 0 and squares[at - 1] > d2:
            squares[at], chosen[at] = squares[at - 1], chosen[at - 1]
            x[at, 0], x[at, 1], x[at, 2] = x[at - 1, 0], x[at - 1, 1], x[at - 1, 2]
            at -= 1
        squares[at], chosen[at] = d2, j
        x[at, 0], x[at, 1], x[at, 2] = a, b, c
    return found


def solve_cholesky(matrix: Floats, right: Floats, n: int) -> None:
    """Solve a symmetric positive definite system in place; the solution replaces `right`."""
    for j in range(n):
        for i in range(j, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = sqrt(maximum(total, 1e-12)) if i == j else total / matrix[j, j]
    for i in range(n):
        total = right[i]
        for k in range(i):
            total -= matrix[i, k] * right[k]
        right[i] = total / matrix[i, i]
    for i in range(n - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, n):
            total -= matrix[k, i] * right[k]
        right[i] = total / matrix[i, i]


def covariance(dx: float, dy: float, dz: float, rate: float) -> float:
    """Return the covariance of the field at two places, in units of its variance."""
    return MEAN_VARIANCE + exp(-rate * sqrt(dx * dx + dy * dy + dz * dz))


def krige_places(
    places: Floats, turned: Floats, pools: Ints, skips: Ints, position: Floats, value: Floats, noise: Floats,
    rate: float, step: float, count: int,
) -> Floats:  # fmt: skip
    """Return (n, 4): the field at each place, and its slope in world axes from differences over +-step (frame, m).

    `skips`: sample that a place must not use (-1: none); `noise`: variance of each sample, relative to the field's.
    """
    found = empty((places.shape[0], 4))
    for n in parallel_range(places.shape[0]):
        chosen, x, frame = zeros(count, pools.dtype), zeros((count, 3)), turned[n]
        m = nearest_in_frame(places[n], frame, position, pools[n], skips[n], count, chosen, x)
        matrix, weights = empty((m, m)), empty(m)
        for i in range(m):
            weights[i] = value[chosen[i]]
            for j in range(i):
                matrix[i, j] = covariance(x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2], rate)
            matrix[i, i] = 1.0 + MEAN_VARIANCE + noise[chosen[i]]
        solve_cholesky(matrix, weights, m)
        total, ga, gb, gc = 0.0, 0.0, 0.0, 0.0
        for i in range(m):
            a, b, c, w = x[i, 0], x[i, 1], x[i, 2], weights[i]
            total += w * covariance(a, b, c, rate)
            if step > 0.0:
                ga += w * (covariance(a - step, b, c, rate) - covariance(a + step, b, c, rate))
                gb += w * (covariance(a, b - step, c, rate) - covariance(a, b + step, c, rate))
                gc += w * (covariance(a, b, c - step, rate) - covariance(a, b, c + step, rate))
        found[n, 0] = total
        half = 0.5 / step if step > 0.0 else 0.0
        for k in range(3):
            found[n, 1 + k] = half * (frame[0, k] * ga + frame[1, k] * gb + frame[2, k] * gc)
    return found


krige = parallel_routine(krige_places)
