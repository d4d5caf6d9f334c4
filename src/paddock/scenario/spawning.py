"""Start poses of a fleet, computed as arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.scenario.vehicle import (
    CirclePattern,
    GridPattern,
    LaneChangePattern,
    LinePattern,
    RandomPattern,
    VehicleEntry,
)

Floats = NDArray[np.float64]
Uniform = Callable[[int, int], NDArray[Any]]
"""`uniform(count, k)` returns (count, k) numbers in [0, 1), row i for vehicle i."""
Ground = Callable[[Floats, Floats], Floats]
"""`ground(x, y)` returns the height of the ground at places, in m."""

RANDOM_COLUMNS = 4
"""Numbers drawn per vehicle: x, y, z, yaw; always all four, so that a fixed heading does not change positions."""
Cones = Callable[[float, float], Floats]
"""`cones(width, radius)` returns the places (30, 2) of the cones of a double lane change, its entry at 0, 0, in m."""


def flat(x: Floats, y: Floats) -> Floats:
    """Return heights of 0."""
    return np.zeros(len(x))


def spawn_poses(
    entry: VehicleEntry,
    uniform: Uniform,
    ground: Ground = flat,
    maths: Any = np,
    track: Any = None,
    cones: Cones | None = None,
) -> Floats:
    """Return (count, 4): x, y, z in m (by default on the ground), yaw in rad within (-pi, pi], world frame ENU.

    `maths` has NumPy's `sin`, `cos` and `arctan2`, or equivalents with the same bits on every CPU. `track` is that of
    the scenario.
    """
    spawn, count = entry.spawn, entry.count
    if spawn is None:
        poses = _listed((entry.pose or ((0.0, 0.0, 0.0) if track is None else track.start),), ground)
    elif spawn.track:
        if track is None:
            raise InvalidValueError("spawn.track needs a track: the scenario has none")
        places = track.grid(count, spawn.track.gap, spawn.track.lanes, spawn.track.first)
        poses = _stacked(places[:, 0], places[:, 1], ground(places[:, 0], places[:, 1]), places[:, 2])
    elif spawn.grid:
        poses = _grid(spawn.grid, count, ground)
    elif spawn.circle:
        poses = _circle(spawn.circle, count, ground, maths)
    elif spawn.random:
        poses = _random(spawn.random, count, uniform, ground)
    elif spawn.line:
        poses = _line(spawn.line, count, ground, maths)
    elif spawn.lane_change:
        assert cones is not None
        poses = _lane_change(spawn.lane_change, cones, ground)
    else:
        poses = _listed(spawn.poses or (), ground)
    yaw = poses[:, 3]
    turned = np.pi - np.mod(np.pi - yaw, 2 * np.pi)
    poses[:, 3] = np.where((yaw > -np.pi) & (yaw <= np.pi), yaw, turned)  # angles in range keep every bit
    return poses


def _listed(poses: tuple[tuple[float, ...], ...], ground: Ground) -> Floats:
    full = [pose if len(pose) == 4 else (pose[0], pose[1], 0.0, pose[2]) for pose in poses]
    table = np.array(full, dtype=np.float64).reshape(len(full), 4)
    low = np.array([len(pose) == 3 for pose in poses], dtype=bool)
    table[low, 2] = ground(table[low, 0], table[low, 1])
    return table


def _grid(grid: GridPattern, count: int, ground: Ground) -> Floats:
    """Fill rows along x, centred on the origin."""
    columns = min(grid.columns or int(np.ceil(np.sqrt(count))), count)
    rows = -(-count // columns)
    row, column = np.divmod(np.arange(count), columns)
    x = grid.origin[0] + (column - (columns - 1) / 2) * grid.spacing
    y = grid.origin[1] + (row - (rows - 1) / 2) * grid.spacing
    return _stacked(x, y, ground(x, y) if grid.z is None else grid.z, grid.heading)


def _circle(circle: CirclePattern, count: int, ground: Ground, maths: Any) -> Floats:
    """Start in the east, counter-clockwise."""
    angle = 2 * np.pi * np.arange(count) / count
    yaws = {"tangent": angle + np.pi / 2, "inward": angle + np.pi, "outward": angle}
    yaw = yaws.get(circle.face, circle.heading or 0.0)
    x = circle.center[0] + circle.radius * maths.cos(angle)
    y = circle.center[1] + circle.radius * maths.sin(angle)
    return _stacked(x, y, ground(x, y) if circle.z is None else circle.z, yaw)


def _random(box: RandomPattern, count: int, uniform: Uniform, ground: Ground) -> Floats:
    drawn = np.asarray(uniform(count, RANDOM_COLUMNS), dtype=np.float64)
    low, high = np.array(box.low), np.array(box.high)
    position = low + drawn[:, : len(low)] * (high - low)
    yaw = 2 * np.pi * drawn[:, 3] - np.pi if box.heading is None else box.heading
    return _stacked(*_placed(position, ground), yaw)


def _line(line: LinePattern, count: int, ground: Ground, maths: Any) -> Floats:
    start, end = np.array(line.start), np.array(line.end)
    along = np.linspace(0.0, 1.0, count)[:, None]
    position = start * (1 - along) + end * along
    east, north = (end - start)[:2]
    yaw = maths.arctan2(north, east) if line.heading is None else line.heading
    return _stacked(*_placed(position, ground), yaw)


def _lane_change(course: LaneChangePattern, cones: Cones, ground: Ground) -> Floats:
    position = np.array(course.entry) + cones(course.width, course.radius)
    return _stacked(*_placed(position, ground), 0.0)


def _placed(position: Floats, ground: Ground) -> tuple[Floats, Floats, Floats]:
    """Return x, y and z of places (n, 2 or 3); those without z are on the ground."""
    x, y = position[:, 0], position[:, 1]
    return x, y, position[:, 2] if position.shape[1] == 3 else ground(x, y)


def _stacked(x: Floats, y: Floats, z: Floats | float, yaw: Floats | float) -> Floats:
    """Stack four columns; a number fills a whole column."""
    poses = np.empty((len(x), 4))
    poses[:, 0], poses[:, 1], poses[:, 2], poses[:, 3] = x, y, z, yaw
    return poses
