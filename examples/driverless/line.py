"""A line to drive along: points by distance, with heading, curvature and speed; where is the car beside it?"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import spsolve

Floats = NDArray[np.float64]


class Line(NamedTuple):
    """Points of a line; the last point of a closed one is its first again."""

    points: Floats  # (n, 2) m
    along: Floats  # (n,) m from the start
    heading: Floats  # (n,) rad, without jumps
    curvature: Floats  # (n,) 1/m, positive to the left
    speed: Floats  # (n,) m/s, wanted
    closed: bool

    @property
    def length(self) -> float:
        """Return the length in m."""
        return float(self.along[-1])

    def at(self, along: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
        """Return points (k, 2), headings, curvatures and speeds at distances from the start, m."""
        s = np.asarray(along, dtype=float)
        s = s % self.length if self.closed else s
        x, y = (np.interp(s, self.along, self.points[:, axis]) for axis in (0, 1))
        rest = (np.interp(s, self.along, values) for values in (self.heading, self.curvature, self.speed))
        return np.stack([x, y], axis=-1), *rest

    def closest(self, x: float, y: float, near: float | None = None) -> tuple[float, float]:
        """Return the distance along the line of its point closest to (x, y), and the offset of (x, y) to its left, m.

        Where a line meets itself, `near` (m, the last known distance along) selects the part: 5 m back, 15 m ahead.
        """
        start, step = self.points[:-1], np.diff(self.points, axis=0)
        share = ((x - start[:, 0]) * step[:, 0] + (y - start[:, 1]) * step[:, 1]) / (step * step).sum(axis=1)
        foot = start + np.clip(share, 0.0, 1.0)[:, None] * step
        away = np.hypot(foot[:, 0] - x, foot[:, 1] - y)
        if near is not None:
            ahead = self.along[:-1] - near
            ahead = (ahead + 5.0) % self.length - 5.0 if self.closed else ahead
            window = (ahead >= -5.0) & (ahead <= 15.0)
            away = np.where(window, away, np.inf) if window.any() else away
        i = int(np.argmin(away))
        gap = self.along[i + 1] - self.along[i]
        left = ((y - start[i, 1]) * step[i, 0] - (x - start[i, 0]) * step[i, 1]) / gap
        return float(self.along[i] + min(max(share[i], 0.0), 1.0) * gap), float(left)

    def acceleration(self, along: float, speed: float, time: float = 0.25) -> float:
        """Return the acceleration (m/s2) that leads from a speed to the wanted one within a time (s), at least 1 m."""
        way = max(speed * time, 1.0)
        end = along + way if self.closed else min(along + way, self.length)
        wanted = float(self.at(end)[3])
        return (wanted * wanted - speed * speed) / (2.0 * way)


def line_of(points: ArrayLike, closed: bool = False, speed: ArrayLike = 0.0) -> Line:
    """Return the line through points (n, 2) with the speeds (m/s) wanted there; a closed one needs no last point."""
    p = np.asarray(points, dtype=float)
    if closed:
        p = np.vstack([p[-1:], p, p[:2]])  # neighbours for the differences at both ends
    step = np.diff(p, axis=0)
    gap = np.hypot(step[:, 0], step[:, 1])
    course = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    inner = (gap[1:] * course[:-1] + gap[:-1] * course[1:]) / (gap[1:] + gap[:-1])  # of the parabola through three
    bend = np.diff(course) / (0.5 * (gap[1:] + gap[:-1]))
    if closed:
        p, gap, heading, curvature = p[1:-1], gap[1:-1], inner, bend
    else:
        heading = np.concatenate([[course[0]], inner, [course[-1]]])
        curvature = np.concatenate([bend[:1], bend, bend[-1:]]) if len(bend) else np.zeros(len(p))
    along = np.concatenate([[0.0], np.cumsum(gap)])
    v = np.broadcast_to(np.asarray(speed, dtype=float), len(p) - closed)
    return Line(p, along, heading, curvature, np.append(v, v[:1]) if closed else v.copy(), closed)


def resampled(points: ArrayLike, step: float, closed: bool = False) -> Floats:
    """Return points at equal distances of about `step` (m) along a polyline (n, 2)."""
    p = np.asarray(points, dtype=float)
    p = np.vstack([p, p[:1]]) if closed else p
    gap = np.hypot(*np.diff(p, axis=0).T)
    p, gap = p[np.append(True, gap > 1e-9)], gap[gap > 1e-9]
    along = np.concatenate([[0.0], np.cumsum(gap)])
    count = max(round(float(along[-1]) / step), 3 if closed else 1)
    s = np.linspace(0.0, along[-1], count + 1)[: count if closed else count + 1]
    return np.column_stack([np.interp(s, along, p[:, 0]), np.interp(s, along, p[:, 1])])


def smoothed(points: ArrayLike, stiffness: float, closed: bool = False) -> Floats:
    """Return equally spaced points (n, 2) with the least sum of squared moves and `stiffness` (m4) x squared bends.

    A circle of radius R shrinks by the factor 1 / (1 + stiffness / R^4).
    """
    p = np.asarray(points, dtype=float)
    n = len(p)
    if n < 3:
        return p
    if closed:
        bend = sp.diags_array([1.0, 1.0, -2.0, 1.0, 1.0], offsets=[-(n - 1), -1, 0, 1, n - 1], shape=(n, n))
        gap = float(np.hypot(*(np.roll(p, -1, axis=0) - p).T).mean())
    else:
        bend = sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(n - 2, n))
        gap = float(np.hypot(*np.diff(p, axis=0).T).mean())
    system = sp.eye_array(n) + stiffness / gap**4 * (bend.T @ bend)
    return np.asarray(spsolve(system.tocsc(), p))
