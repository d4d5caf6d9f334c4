"""Paths: listed points, or a shape, such as the course of ISO 3888-2 (double lane change) with its lanes and cones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from paddock.compute import arrays
from paddock.errors import InvalidValueError, unknown_name
from paddock.track.lines import evenly, smooth_curve
from paddock.world.columns import FARTHEST, Floats

MOST_POINTS = 100_000
"""Maximum number of points of one path."""
CIRCUIT = "circuit"  # the shape that has points of its own
LANE_SECTIONS = (12.0, 13.5, 11.0, 12.5, 12.0)  # m: entry lane, change, side lane, change, exit lane
LANES_APART = 1.0  # m between the left edge of the entry lane and the right edge of the side lane
CONE_ROW = 5  # cones on each side of a lane


def path_points(value: Any, where: str = "") -> Floats:
    """Return points (k, 3) from a list of [x, y] or [x, y, z], or from a shape: `{oval: {...}}`, `{circuit: {...}}`."""
    prefix = f"{where}: " if where else ""
    if isinstance(value, Mapping):
        if len(value) != 1:
            raise InvalidValueError(f"{prefix}a path names exactly one shape: {', '.join([*SHAPES, CIRCUIT])}")
        name, options = next(iter(value.items()))
        if name == CIRCUIT:
            return _circuit(options, where)
        if name not in SHAPES:
            raise unknown_name("path shape", str(name), [*SHAPES, CIRCUIT], where)
        return _shape(str(name), options, where)
    return _listed(value, prefix)


def _shape(name: str, options: Any, where: str) -> Floats:
    build, defaults = SHAPES[name]
    values = dict(defaults)
    if not isinstance(options, Mapping | None):
        raise InvalidValueError(f"{where}: the options of path {name!r} must be a mapping, not {options!r}")
    for key, value in (options or {}).items():
        if key not in values:
            raise unknown_name(f"option of path {name!r}", str(key), values, where)
        if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
            raise InvalidValueError(f"{where}: path {name!r}: {key} must be a finite number, not {value!r}")
        if abs(value) > FARTHEST:
            raise InvalidValueError(f"{where}: path {name!r}: {key} must lie within {FARTHEST:g}, not {value:g}")
        values[key] = float(value)
    for key in ("radius", "spacing", "width"):
        if values.get(key, 1.0) <= 0:
            raise InvalidValueError(f"{where}: path {name!r}: {key} must be positive, not {values[key]:g}")
    straights = (values.get(key, 0.0) for key in ("straight", "straight", "run_up", "run_out"))
    points = (sum(map(abs, straights)) + 2.0 * np.pi * values.get("radius", 0.0)) / values["spacing"]
    if points > MOST_POINTS:
        raise InvalidValueError(f"{where}: path {name!r}: a path has at most {MOST_POINTS:,} points, not {points:,.0f}")
    return build(**values)


def _circuit(options: Any, where: str) -> Floats:
    if not isinstance(options, Mapping) or "points" not in options:
        raise InvalidValueError(f"{where}: path 'circuit' needs points: a list of at least three [x, y] or [x, y, z]")
    for key in options:
        if key not in ("points", "spacing"):
            raise unknown_name("option of path 'circuit'", str(key), ("points", "spacing"), where)
    points, spacing = _listed(options["points"], f"{where}: " if where else ""), options.get("spacing", 3.0)
    if len(points) < 3 or not (points[0] != points[-1]).any():
        raise InvalidValueError(
            f"{where}: path 'circuit' needs at least three points, the last one not the first again"
        )
    if not isinstance(spacing, int | float) or isinstance(spacing, bool) or not 0.01 <= spacing <= FARTHEST:
        raise InvalidValueError(f"{where}: path 'circuit': spacing must lie in 0.01 to {FARTHEST:g} m, not {spacing!r}")
    length = float(np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1).sum())
    if 2.0 * length / spacing > MOST_POINTS:
        raise InvalidValueError(
            f"{where}: path 'circuit': a path has at most {MOST_POINTS:,} points; widen the spacing"
        )
    return circuit(points, float(spacing))


def circuit(corners: Floats, spacing: float) -> Floats:
    """Return a smooth closed curve through the corners, with points of equal distance, about `spacing` m.

    Catmull-Rom splines with centripetal parameters: without loops and cusps, however far apart the corners are.
    """
    return evenly(smooth_curve(corners, closed=True, parts=64), spacing, closed=True)


def _listed(value: Any, prefix: str) -> Floats:
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str) or len(value) < 2:
        raise InvalidValueError(f"{prefix}a path needs at least two points [x, y] or [x, y, z], not {value!r}")
    if any(not _is_point(point) for point in value):
        raise InvalidValueError(f"{prefix}each point of a path is [x, y] or [x, y, z]")
    points = np.array([[*map(float, point), 0.0][:3] for point in value])
    if not np.isfinite(points).all():
        raise InvalidValueError(f"{prefix}a path's points must be finite numbers")
    if not (np.abs(points) <= FARTHEST).all():
        raise InvalidValueError(f"{prefix}a path's points lie within {FARTHEST:g} m of the origin")
    if len(points) > MOST_POINTS:
        raise InvalidValueError(f"{prefix}a path has at most {MOST_POINTS:,} points, not {len(points):,}")
    if (np.linalg.norm(np.diff(points, axis=0), axis=1) < 1e-9).any():
        raise InvalidValueError(f"{prefix}two consecutive points of a path coincide")
    return points


def _is_point(point: Any) -> bool:
    if isinstance(point, str) or not isinstance(point, Sequence | np.ndarray) or len(point) not in (2, 3):
        return False
    return all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in point)


def oval(straight: float, radius: float, x: float, y: float, z: float, heading: float, spacing: float) -> Floats:
    """Return two straights joined by half circles, counter-clockwise from the middle of the lower straight."""
    length = 2.0 * straight + 2.0 * np.pi * radius
    s = np.arange(0.0, length, length / max(8, round(length / spacing)))
    half, turn = 0.5 * straight, np.pi * radius
    u = np.where(s < half, s, 0.0)
    v = np.full_like(s, -radius)
    first = (s >= half) & (s < half + turn)
    angle = (s - half) / radius - 0.5 * np.pi
    u, v = np.where(first, half + radius * arrays.cos(angle), u), np.where(first, radius * arrays.sin(angle), v)
    back = (s >= half + turn) & (s < half + turn + straight)
    u, v = np.where(back, half - (s - half - turn), u), np.where(back, radius, v)
    second = (s >= half + turn + straight) & (s < length - half)
    angle = (s - half - turn - straight) / radius + 0.5 * np.pi
    u, v = np.where(second, -half + radius * arrays.cos(angle), u), np.where(second, radius * arrays.sin(angle), v)
    u = np.where(s >= length - half, s - length, u)
    c, sn = arrays.cos(heading), arrays.sin(heading)
    return np.stack([x + c * u - sn * v, y + sn * u + c * v, np.full_like(u, z)], axis=1)


def circle(radius: float, x: float, y: float, z: float, spacing: float) -> Floats:
    """Return a circle driven counter-clockwise."""
    count = max(12, round(2.0 * np.pi * radius / spacing))
    angle = np.arange(count) * (2.0 * np.pi / count)
    return np.stack([x + radius * arrays.cos(angle), y + radius * arrays.sin(angle), np.full(count, z)], axis=1)


@dataclass(frozen=True)
class LaneChangeCourse:
    """The lanes for a car of one width; x = 0 is the entry, y = 0 the middle of the entry lane."""

    width: float  # m, of the car

    @property
    def lanes(self) -> tuple[tuple[float, float, float, float], ...]:
        """First and last x, right and left edge of the three lanes, m."""
        entry = 0.5 * (1.1 * self.width + 0.25)
        side, leave = self.width + 1.0, max(1.3 * self.width + 0.25, 3.0)
        ends = np.cumsum((0.0, *LANE_SECTIONS)).tolist()
        return (
            (ends[0], ends[1], -entry, entry),
            (ends[2], ends[3], entry + LANES_APART, entry + LANES_APART + side),
            (ends[4], ends[5], entry - leave, entry),
        )

    @property
    def cones(self) -> Floats:
        """The inner edges (k, 2) of the cones, m: along the right, then along the left edge of each lane."""
        return self.cone_middles(0.0)

    def cone_middles(self, radius: float) -> Floats:
        """Return the middles (k, 2) of cones of a radius (m) that stand at the edges, outside of the lanes."""
        return np.array(
            [
                (x, y + outwards * radius)
                for first, last, *edges in self.lanes
                for y, outwards in zip(edges, (-1.0, 1.0), strict=True)
                for x in np.linspace(first, last, CONE_ROW).tolist()
            ]
        )

    def line(self, x: Floats, early: Floats | float, cut: Floats | float) -> Floats:
        """Return the y of a line to drive: the middles of the lanes, joined smoothly.

        A change begins `early` (m) before the end of a lane; the side lane is cut short by `cut` (m).
        """
        (_, a, *first), (b, c, *second), (d, _, *third) = self.lanes
        middles = [0.5 * sum(edges) for edges in (first, second, third)]
        out = np.clip((x - (a - early)) / (b - a + early), 0.0, 1.0)
        back = np.clip((x - (c - early)) / (d - c + early), 0.0, 1.0)
        side, leave = middles[1] - cut, middles[2]
        return middles[0] + (side - middles[0]) * _smooth(out) + (leave - side) * _smooth(back)


def course_cones(width: float, radius: float) -> Floats:
    """Return the middles (k, 2) of the cones of the course for a car of a width, m."""
    return LaneChangeCourse(width).cone_middles(radius)


def _smooth(share: Floats) -> Floats:
    """Return a rise from 0 to 1 without a step of curvature."""
    return np.asarray(share**3 * (10.0 + share * (6.0 * share - 15.0)))


def lane_change(
    width: float, x: float, y: float, z: float, run_up: float, run_out: float, early: float, cut: float, spacing: float
) -> Floats:
    """Return the line of a double lane change (ISO 3888-2) along x, from `run_up` before to `run_out` behind it, m.

    The entry is at x, y; the lanes are those of a car `width` m wide.
    """
    length = sum(LANE_SECTIONS)
    along = np.linspace(-abs(run_up), length + abs(run_out), max(8, round((length + run_up + run_out) / spacing)) + 1)
    return np.stack([x + along, y + LaneChangeCourse(width).line(along, early, cut), np.full_like(along, z)], axis=1)


SHAPES: dict[str, tuple[Callable[..., Floats], dict[str, float]]] = {
    "oval": (
        oval,
        {"straight": 200.0, "radius": 50.0, "x": 0.0, "y": 0.0, "z": 0.0, "heading": 0.0, "spacing": 2.0},
    ),
    "circle": (circle, {"radius": 50.0, "x": 0.0, "y": 0.0, "z": 0.0, "spacing": 2.0}),
    "lane_change": (
        lane_change,
        {"width": 1.8, "x": 0.0, "y": 0.0, "z": 0.0, "run_up": 30.0, "run_out": 60.0, "early": 0.0, "cut": 0.2}
        | {"spacing": 1.0},
    ),
}


def constant_speed(points: Floats, options: Any) -> Floats:
    """Return the points (k, 4) with the option `speed` (m/s) at each."""
    return np.column_stack([points, np.full(len(points), options.speed)])
