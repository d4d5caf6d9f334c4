"""Rigid transforms, and a tree of named frames over simulation time.

tree = TransformTree()
tree.set_static("lidar", "red", Transform((1.2, 0.0, 0.4)))
tree.set_dynamic("red", "world", time=0.5, pose=Transform((3.0, 4.0, 0.0)))
tree.lookup("world", "lidar", time=0.5).apply(points)        # points seen by the lidar, in the world
"""

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.world.frames import quaternion_conjugate, quaternion_multiply, rotate, slerp, unit_quaternion

Array = NDArray[np.float64]

SAVED_LINK = frozenset({"parent", "static", "times", "poses"})
SAVED_TREE = frozenset({"history_s", "max_extrapolation_s", "frames"})

TIME_ROUNDING_S = 1e-9  # tolerance of time comparisons: 1.1 s is not more than 0.1 s after 1.0 s


class StaleFrameError(PaddockError):
    """The requested time is too long after a frame's latest pose, or before its earliest."""


class DisconnectedFramesError(PaddockError):
    """Two frames have different roots, so that no transform relates them."""


@dataclass(frozen=True, init=False, eq=False)
class Transform:
    """The pose of a child frame in its parent; transforms points of the child to the parent."""

    position: Array  # the child's origin in the parent (3,), in m; read-only
    quaternion: Array  # rotation from the child to the parent (4,): x, y, z, w; read-only

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), quaternion: ArrayLike = (0.0, 0.0, 0.0, 1.0)) -> None:
        """Normalise the quaternion; an error for values that are not finite or a norm more than 1e-3 from 1."""
        pose = _checked_poses(np.concatenate([_vector(position, 3, "position"), _vector(quaternion, 4, "quaternion")]))
        pose.flags.writeable = False
        object.__setattr__(self, "position", pose[:3])
        object.__setattr__(self, "quaternion", pose[3:])

    def apply(self, points: ArrayLike) -> Array:
        """Transform points (..., 3) of the child to the parent, in m."""
        return np.asarray(rotate(self.quaternion, np.asarray(points, dtype=np.float64)) + self.position)

    def inverse(self) -> "Transform":
        """Return the parent's pose in the child."""
        back = quaternion_conjugate(self.quaternion)
        return Transform(-rotate(back, self.position), back)

    def compose(self, inner: "Transform") -> "Transform":
        """Return this transform after the inner one: the grandchild's pose in the parent. Same as `self @ inner`."""
        return Transform(self.apply(inner.position), quaternion_multiply(self.quaternion, inner.quaternion))

    __matmul__ = compose

    def __eq__(self, other: object) -> bool:
        """Compare the numbers; q and -q, the same rotation, are different."""
        return isinstance(other, Transform) and _row(self) == _row(other)

    def __hash__(self) -> int:
        return hash(tuple(_row(self)))


@dataclass
class _Link:
    """A frame's pose in its parent: a single pose if static, else poses in order of time."""

    parent: str
    static: bool
    times: list[float] = field(default_factory=list)
    poses: list[list[float]] = field(default_factory=list)  # position (3) and quaternion (4) each


class TransformTree:
    """Named frames, each with a fixed pose in its parent (static) or poses over simulation time (dynamic)."""

    def __init__(self, history_s: float = 10.0, max_extrapolation_s: float = 0.1) -> None:
        """Keep poses for `history_s`, and extrapolate up to `max_extrapolation_s` (simulation s)."""
        self._history_s = _checked_duration("history_s", history_s)
        self._max_extrapolation_s = _checked_duration("max_extrapolation_s", max_extrapolation_s)
        self._links: dict[str, _Link] = {}

    def names(self) -> tuple[str, ...]:
        """Return all frames, roots included, in alphabetical order."""
        return tuple(sorted({*self._links, *(link.parent for link in self._links.values())}))

    def root(self, name: str) -> str:
        """Return the root of a frame."""
        return self._upwards(name)[-1]

    def set_static(self, child: str, parent: str, pose: Transform) -> None:
        """Set the permanent pose of a frame in its parent; a different pose later is an error."""
        link = self._link(child, parent, static=True)
        if link.poses and link.poses[0] != _row(pose):
            raise InvalidValueError(f"frame {child!r} is static in {parent!r} and cannot move")
        link.poses = [_row(pose)]
        self._links[child] = link

    def set_dynamic(self, child: str, parent: str, time: float, pose: Transform) -> None:
        """Set the pose of a frame in its parent at a simulation time (s); the same time again replaces the pose."""
        link = self._link(child, parent, static=False)
        if not math.isfinite(time):
            raise InvalidValueError(f"frame {child!r}: time {time} is not finite")
        latest = link.times[-1] if link.times else -math.inf
        if time < latest:
            raise InvalidValueError(f"frame {child!r}: time {time:.3f} s is before its latest pose at {latest:.3f} s")
        if time == latest:
            link.times.pop()
            link.poses.pop()
        link.times.append(float(time))
        link.poses.append(_row(pose))
        # keep one pose at or before the horizon, so that every time within the history can be interpolated
        stale = bisect_right(link.times, link.times[-1] - self._history_s) - 1
        if stale > 0:
            del link.times[:stale]
            del link.poses[:stale]
        self._links[child] = link

    def lookup(self, target: str, source: str, time: float) -> Transform:
        """Return the pose of `source` in `target` at a simulation time (s): transforms points of source to target.

        Only the frames below the nearest common ancestor need a pose near that time.
        """
        if not math.isfinite(time):
            raise InvalidValueError(f"lookup time {time} is not finite")
        from_source, from_target = self._ancestry(source), self._ancestry(target)
        if from_source[-1] != from_target[-1]:
            raise DisconnectedFramesError(
                f"frames {source!r} and {target!r} are not connected: "
                f"their roots are {from_source[-1]!r} and {from_target[-1]!r}"
            )
        common = next(name for name in from_source if name in from_target)
        pose = self._climb(from_source, common, time)
        return pose if common == target else self._climb(from_target, common, time).inverse() @ pose

    def save(self) -> dict[str, Any]:
        """Return the tree as plain dicts, lists, strings and floats, independent of the order of declaration."""
        frames = {name: asdict(link) for name, link in sorted(self._links.items())}
        return {"history_s": self._history_s, "max_extrapolation_s": self._max_extrapolation_s, "frames": frames}

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> "TransformTree":
        """Return exactly the tree that was saved."""
        _check_keys(saved, SAVED_TREE, "saved transform tree")
        fresh = cls(saved["history_s"], saved["max_extrapolation_s"])
        for name, entry in saved["frames"].items():
            where = f"saved frame {name!r}"
            _check_keys(entry, SAVED_LINK, where)
            times, poses = (_array(entry[key], f"{where}: {key}") for key in ("times", "poses"))
            rows = 1 if entry["static"] else max(times.size, 1)
            if poses.shape != (rows, 7) or times.shape != (0 if entry["static"] else rows,):
                raise InvalidValueError(f"{where}: {times.shape} times do not fit poses of shape {poses.shape}")
            if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
                raise InvalidValueError(f"{where}: times must be finite and increase")
            link = _Link(str(entry["parent"]), bool(entry["static"]), times.tolist(), _checked_poses(poses).tolist())
            fresh._link(name, link.parent, link.static)
            fresh._links[name] = link
        return fresh

    def _link(self, child: str, parent: str, static: bool) -> _Link:
        """Return the child's link, or a new one not yet in the tree; an error if the link is invalid."""
        known = self._links.get(child)
        if known is None:
            if not child or not parent:
                raise InvalidValueError("a frame's name cannot be empty")
            path = self._upwards(parent)
            if child in path:
                loop = " in ".join(map(repr, [child, *path[: path.index(child) + 1]]))
                raise InvalidValueError(f"frame {child!r} cannot be its own ancestor: {loop}")
            return _Link(parent, static)
        if known.parent != parent:
            raise InvalidValueError(f"frame {child!r} has parent {known.parent!r} and cannot move to {parent!r}")
        if known.static != static:
            kind = "static" if known.static else "dynamic"
            raise InvalidValueError(f"frame {child!r} is {kind} and cannot change that")
        return known

    def _ancestry(self, name: str) -> list[str]:
        """Return the frame, its parent, and so on up to its root; an error for unknown names."""
        if name not in self._links:
            names = self.names()
            if name not in names:
                raise unknown_name("frame", name, names)
        return self._upwards(name)

    def _upwards(self, name: str) -> list[str]:
        path = [name]
        while path[-1] in self._links:
            path.append(self._links[path[-1]].parent)
        return path

    def _climb(self, path: list[str], ancestor: str, time: float) -> Transform:
        """Return the pose of the first frame of a path in an ancestor on it."""
        links = [self._pose(name, time) for name in path[: path.index(ancestor)]]
        return reduce(lambda inner, outer: outer @ inner, links) if links else Transform()

    def _pose(self, name: str, time: float) -> Transform:
        """Return a frame's pose in its parent at a time, interpolated, or extrapolated a little."""
        link = self._links[name]
        if not link.static:
            allowed = self._max_extrapolation_s + TIME_ROUNDING_S
            limit = f"poses are extrapolated by at most {self._max_extrapolation_s:g} s"
            at = f"frame {name!r} at {time:.3f} s"
            if (age := time - link.times[-1]) > allowed:
                raise StaleFrameError(f"{at}: its latest pose is {age:.3f} s old; {limit}")
            if (early := link.times[0] - time) > allowed:
                raise StaleFrameError(f"{at}: its history begins {early:.3f} s later; {limit}")
        if len(link.poses) == 1:
            return Transform(link.poses[0][:3], link.poses[0][3:])
        after = min(max(bisect_right(link.times, time), 1), len(link.times) - 1)
        start, end = np.array(link.poses[after - 1]), np.array(link.poses[after])
        fraction = (time - link.times[after - 1]) / (link.times[after] - link.times[after - 1])
        position = (1.0 - fraction) * start[:3] + fraction * end[:3]
        return Transform(position, slerp(start[3:], end[3:], fraction))


def _row(pose: Transform) -> list[float]:
    return [*pose.position.tolist(), *pose.quaternion.tolist()]


def _array(values: ArrayLike, what: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{what}: expected an array of numbers") from None


def _vector(values: ArrayLike, size: int, what: str) -> Array:
    vector = _array(values, what)
    if vector.shape != (size,):
        raise InvalidValueError(f"{what} has shape {vector.shape}, expected ({size},)")
    return vector


def _checked_poses(poses: Array) -> Array:
    """Return finite poses (..., 7) with quaternions of norm 1."""
    if not np.isfinite(poses[..., :3]).all():
        raise InvalidValueError("position has a component that is not finite")
    return np.concatenate([poses[..., :3], unit_quaternion(poses[..., 3:])], axis=-1)


def _checked_duration(what: str, seconds: float) -> float:
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise InvalidValueError(f"{what} is {seconds}, expected a finite number of seconds, 0 or more")
    return float(seconds)


def _check_keys(saved: Mapping[str, Any], expected: frozenset[str], where: str) -> None:
    for key in saved:
        if key not in expected:
            raise unknown_name("key", key, expected, where)
    if missing := sorted(expected - set(saved)):
        raise InvalidValueError(f"{where}: missing {', '.join(missing)}")
