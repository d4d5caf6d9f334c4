"""Clusters of points: k-means in compiled code, the same for the same seed."""

from __future__ import annotations

from math import inf

from numpy import empty, int64, zeros

from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.planning.ways import Ints
from paddock.world.columns import Floats

STREAM = 0x6B6D65616E73
"""Of the numbers drawn."""
ROUNDS = 1000
"""More than it ever takes until no point changes its cluster."""


def kmeans(points: Floats, count: int, seed: int) -> tuple[Ints, Floats]:
    """The cluster of each point (n, 2) and the centres (count, 2). Each point belongs to the nearest centre.

    With fewer distinct points than clusters, the last ones have no points.
    """
    centres, labels = first_centres(points, count, seed), empty(len(points), int64)
    labels[:] = -1
    for _ in range(ROUNDS):
        if not relabelled(points, centres, labels):
            break
        average(points, centres, labels)
    return labels, centres


def squared(points: Floats, p: int, centres: Floats, c: int) -> float:
    """The squared distance of a point and a centre, m2."""
    dx: float = points[p, 0] - centres[c, 0]
    dy: float = points[p, 1] - centres[c, 1]
    return dx * dx + dy * dy


def first_centres(points: Floats, count: int, seed: int) -> Floats:
    """Points drawn far from each other: the squared distance to the nearest one so far is the weight (k-means++)."""
    n = len(points)
    centres, away = empty((count, 2)), empty(n)
    away[:] = inf
    u, _ = uniforms(seed, STREAM, 0, 0)
    chosen = int(u * n)
    for c in range(count):
        centres[c, 0], centres[c, 1] = points[chosen, 0], points[chosen, 1]
        total = 0.0
        for p in range(n):
            away[p] = min(away[p], squared(points, p, centres, c))
            total += away[p]
        u, _ = uniforms(seed, STREAM, 0, c + 1)
        threshold, chosen = u * total, n - 1
        for p in range(n):
            threshold -= away[p]
            if threshold < 0.0:
                chosen = p
                break
    return centres


def relabelled(points: Floats, centres: Floats, labels: Ints) -> bool:
    """Give each point to the nearest centre, the first of equally near ones; whether any changed."""
    changed = False
    for p in range(len(points)):
        best, least = 0, inf
        for c in range(len(centres)):
            away = squared(points, p, centres, c)
            if away < least:
                best, least = c, away
        if labels[p] != best:
            labels[p] = best
            changed = True
    return changed


def average(points: Floats, centres: Floats, labels: Ints) -> None:
    """Move the centres to the middle of their points; one without any goes to the point farthest from its own."""
    sums, counts = zeros(centres.shape), zeros(len(centres), int64)
    for p in range(len(points)):
        sums[labels[p], 0] += points[p, 0]
        sums[labels[p], 1] += points[p, 1]
        counts[labels[p]] += 1
    for c in range(len(centres)):
        if counts[c]:
            centres[c, 0], centres[c, 1] = sums[c, 0] / counts[c], sums[c, 1] / counts[c]
            continue
        farthest, most = -1, 0.0
        for p in range(len(points)):
            away = squared(points, p, centres, labels[p])
            if counts[labels[p]] > 1 and away > most:
                farthest, most = p, away
        if farthest >= 0:
            centres[c, 0], centres[c, 1] = points[farthest, 0], points[farthest, 1]
            counts[labels[farthest]] -= 1
            labels[farthest] = c


clusters_of = routine(kmeans)
