"""Conversions between coordinate frames: ENU (native), NWU, NED and Unreal. No other module converts.

| name     | world axes       | body axes           | unit | handed |
|----------|------------------|---------------------|------|--------|
| `enu`    | east, north, up  | forward, left, up   | m    | right  |
| `nwu`    | north, west, up  | forward, left, up   | m    | right  |
| `ned`    | north, east, down| forward, right, down| m    | right  |
| `unreal` | east, south, up  | forward, right, up  | cm   | left   |

All functions are vectorised: components along the last axis, (..., 3) or (..., 4); float32 stays float32. Quaternions
(x, y, z, w) rotate body components to world components of the same frame. Unreal's y axis is mirrored, so the axis of a
quaternion and an angular rate, which are pseudovectors, change sign but a velocity does not: a left turn is +z in ENU
and -z in Unreal (whose positive yaw is a right turn).
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import unknown_name
from paddock.world.rotation import (
    Floats,
    as_floats,
    quaternion_conjugate,
    quaternion_from_matrix,
    quaternion_multiply,
    unit_quaternion,
)

DIRECTIONS = {
    **{"E": (1, 0, 0), "W": (-1, 0, 0), "N": (0, 1, 0), "S": (0, -1, 0)},
    **{"F": (1, 0, 0), "B": (-1, 0, 0), "L": (0, 1, 0), "R": (0, -1, 0)},
    **{"U": (0, 0, 1), "D": (0, 0, -1)},
}
"""Each direction in ENU (world) or FLU (body) components."""


@dataclass(frozen=True)
class CoordinateFrame:
    """A world frame and the body frame that goes with it."""

    name: str
    world_axes: str  # directions of the world's x, y and z axes: letters of E, W, N, S, U, D
    body_axes: str  # directions of the vehicle's x, y and z axes: letters of F, B, L, R, U, D
    units_per_metre: float = 1.0

    @cached_property
    def world(self) -> "AxisMap":
        """From ENU to this world frame."""
        return AxisMap.between("ENU", self.world_axes)

    @cached_property
    def body(self) -> "AxisMap":
        """From FLU to this body frame."""
        return AxisMap.between("FLU", self.body_axes)


FRAMES = {
    frame.name: frame
    for frame in (
        CoordinateFrame("enu", "ENU", "FLU"),
        CoordinateFrame("nwu", "NWU", "FLU"),
        CoordinateFrame("ned", "NED", "FRD"),
        CoordinateFrame("unreal", "ESU", "FRU", units_per_metre=100.0),
    )
}
"""Every frame by its name."""


@dataclass(frozen=True)
class AxisMap:
    """A change of axes: out[i] = sign[i] * in[index[i]]; exact, and NaN stays in its component."""

    index: tuple[int, ...]
    sign: tuple[int, ...]

    @classmethod
    def between(cls, source: str, target: str) -> "AxisMap":
        """Return the map between two sets of axes, e.g. `between("ENU", "NED")`."""
        matrix = np.array([DIRECTIONS[a] for a in target]) @ np.array([DIRECTIONS[a] for a in source]).T
        return cls(tuple(np.abs(matrix).argmax(axis=1).tolist()), tuple(matrix.sum(axis=1).tolist()))

    @cached_property
    def handedness(self) -> int:
        """+1 for a rotation, -1 for a reflection."""
        return round(float(np.linalg.det(self._matrix)))

    @cached_property
    def quaternion(self) -> NDArray[np.float64]:
        """The rotation (4,); a reflection counts as a reversal of all three axes."""
        return quaternion_from_matrix(self.handedness * self._matrix).astype(np.float64)

    def apply(self, vector: ArrayLike, factor: float = 1.0) -> Floats:
        """Return vectors (..., 3) along the new axes, times a factor."""
        v = as_floats(vector, 3)
        signs = np.array([factor * sign for sign in self.sign], dtype=v.dtype)
        return np.asarray(v[..., list(self.index)] * signs)

    @property
    def _matrix(self) -> NDArray[np.int64]:
        return np.asarray(np.eye(3, dtype=np.int64)[list(self.index)] * np.array(self.sign)[:, None])


@dataclass(frozen=True)
class Conversion:
    """The conversion of every quantity between two frames, made by `conversion`."""

    source: CoordinateFrame
    target: CoordinateFrame

    @cached_property
    def world(self) -> "AxisMap":
        """Between the world axes."""
        return AxisMap.between(self.source.world_axes, self.target.world_axes)

    @cached_property
    def body(self) -> "AxisMap":
        """Between the body axes."""
        return AxisMap.between(self.source.body_axes, self.target.body_axes)

    @cached_property
    def scale(self) -> float:
        """Length units of the target in one of the source."""
        return self.target.units_per_metre / self.source.units_per_metre

    def position(self, position: ArrayLike) -> Floats:
        """Convert world positions (..., 3), in the frames' length units."""
        return self.world.apply(position, self.scale)

    def velocity(self, velocity: ArrayLike) -> Floats:
        """Convert world velocities or accelerations (..., 3), in the frames' length units per s or s^2."""
        return self.world.apply(velocity, self.scale)

    def body_vector(self, vector: ArrayLike) -> Floats:
        """Convert velocities, accelerations or offsets (..., 3) along the body axes, in the frames' length units."""
        return self.body.apply(vector, self.scale)

    def angular_rate(self, rate: ArrayLike) -> Floats:
        """Convert angular rates (..., 3) about the body axes, in rad/s."""
        return self.body.apply(rate, float(self.body.handedness))

    def quaternion(self, quaternion: ArrayLike) -> Floats:
        """Convert attitudes (..., 4), body to world."""
        q = as_floats(quaternion, 4)
        left, right = (side.astype(q.dtype) for side in self._turns)
        return quaternion_multiply(quaternion_multiply(left, q), right)

    @cached_property
    def _turns(self) -> tuple[Floats, Floats]:
        """The constant quaternions (4,) left and right of an attitude."""
        # If both sides mirror, reversing all axes on both sides cancels and leaves two proper rotations.
        # Via ENU, so that signs agree: there and back gives q and not -q.
        left = quaternion_multiply(self.target.world.quaternion, quaternion_conjugate(self.source.world.quaternion))
        right = quaternion_multiply(self.source.body.quaternion, quaternion_conjugate(self.target.body.quaternion))
        return unit_quaternion(left), unit_quaternion(right)


def frame(name: str) -> CoordinateFrame:
    """Return the frame of that name."""
    if name not in FRAMES:
        raise unknown_name("frame", name, FRAMES)
    return FRAMES[name]


@cache
def conversion(source: str, target: str) -> Conversion:
    """Return the conversion between two named frames."""
    return Conversion(frame(source), frame(target))


def convert_position(position: ArrayLike, source: str, target: str) -> Floats:
    """Convert world positions (..., 3) between frames, in the frames' length units."""
    return conversion(source, target).position(position)


def convert_quaternion(quaternion: ArrayLike, source: str, target: str) -> Floats:
    """Convert attitudes (..., 4), body to world, between frames."""
    return conversion(source, target).quaternion(quaternion)
