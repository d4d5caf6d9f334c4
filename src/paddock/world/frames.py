"""Rotations, and conversions between coordinate frames: ENU (native), NWU, NED and Unreal. No other module converts.

| name     | world axes       | body axes           | unit | handed |
|----------|------------------|---------------------|------|--------|
| `enu`    | east, north, up  | forward, left, up   | m    | right  |
| `nwu`    | north, west, up  | forward, left, up   | m    | right  |
| `ned`    | north, east, down| forward, right, down| m    | right  |
| `unreal` | east, south, up  | forward, right, up  | cm   | left   |

All functions are vectorised: components along the last axis, (..., 3) or (..., 4), that broadcast; float32 stays
float32, everything else is float64. Quaternions (x, y, z, w) rotate body components to world components of the same
frame. Unreal's y axis is mirrored, so the axis of a quaternion and an angular rate, which are pseudovectors, change
sign but a velocity does not: a left turn is +z in ENU and -z in Unreal (whose positive yaw is a right turn).

Euler angles are z-y-x (yaw, then pitch, then roll), in rad. Not scipy's Rotation, which is float64 only and differs in
the last bits, so that recorded runs would not verify. Euler angles and `slerp` use NumPy's functions, whose last bits
depend on the processor: they are for interfaces and display. What the state depends on uses `paddock.compute`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, unknown_name

Floats = NDArray[np.floating[Any]]  # an array of float32 or float64
NORM_TOLERANCE = 1e-3
"""Largest deviation of a given quaternion's norm from 1 that is accepted as rounding."""
NORM_ROUNDING = 64
"""Norms within this many epsilons of 1 are kept: normalising twice changes nothing, so a restored state is exact."""
DIRECTIONS = {
    **{"E": (1, 0, 0), "W": (-1, 0, 0), "N": (0, 1, 0), "S": (0, -1, 0)},
    **{"F": (1, 0, 0), "B": (-1, 0, 0), "L": (0, 1, 0), "R": (0, -1, 0)},
    **{"U": (0, 0, 1), "D": (0, 0, -1)},
}
"""Each direction in ENU (world) or FLU (body) components."""


def as_floats(values: ArrayLike, components: int | None = None) -> Floats:
    """Return the values as a float32 (if they were) or float64 array with `components` along the last axis."""
    array = np.asarray(values)
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if components is not None and (array.ndim == 0 or array.shape[-1] != components):
        raise InvalidValueError(f"expected {components} components along the last axis, got shape {array.shape}")
    return array


def unit_quaternion(quaternion: ArrayLike) -> Floats:
    """Return normalised quaternions; an error if not finite or further than NORM_TOLERANCE from norm 1."""
    q = as_floats(quaternion, 4)
    if not np.isfinite(q).all():
        raise InvalidValueError("quaternion has a component that is not finite")
    norm = np.sqrt((q * q).sum(axis=-1, keepdims=True))
    off = np.abs(norm - 1.0)
    if (off > NORM_TOLERANCE).any():
        raise InvalidValueError(f"quaternion is not normalised: norm {float(norm.flat[off.argmax()]):.6g}, expected 1")
    return np.asarray(np.where(off > NORM_ROUNDING * np.finfo(q.dtype).eps, q / norm, q))


def quaternion_conjugate(quaternion: ArrayLike) -> Floats:
    """Return the inverse rotations of unit quaternions (..., 4)."""
    q = as_floats(quaternion, 4)
    return q * np.array([-1, -1, -1, 1], dtype=q.dtype)


def quaternion_multiply(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the Hamilton product (..., 4): the rotation that applies `second`, then `first`."""
    a, b = as_floats(first, 4), as_floats(second, 4)
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    w = aw * bw - ax * bx - ay * by - az * bz
    return _joined([x, y, z, w])


def rotate(quaternion: ArrayLike, vector: ArrayLike) -> Floats:
    """Rotate vectors (..., 3) by unit quaternions (..., 4), e.g. from body to world components."""
    q, v = as_floats(quaternion, 4), as_floats(vector, 3)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    # v + w t + axis x t with t = 2 axis x v, written out: np.cross is several times slower on one vector
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    turned = [vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx]
    return _joined(turned)


def quaternion_from_euler(roll: ArrayLike, pitch: ArrayLike, yaw: ArrayLike) -> Floats:
    """Return quaternions (..., 4) of roll, pitch and yaw (...), in rad, z-y-x convention."""
    half_roll, half_pitch, half_yaw = (0.5 * as_floats(angle) for angle in (roll, pitch, yaw))
    cr, sr = np.cos(half_roll), np.sin(half_roll)
    cp, sp = np.cos(half_pitch), np.sin(half_pitch)
    cy, sy = np.cos(half_yaw), np.sin(half_yaw)
    x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
    z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
    return np.stack([x, y, z, w], axis=-1)


def euler_from_quaternion(quaternion: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return roll, pitch and yaw (...) in rad, z-y-x convention; in gimbal lock (straight up or down) roll is 0.

    Roll and yaw lie in [-pi, pi], pitch in [-pi/2, pi/2].
    """
    # Sums and differences of components give half (roll + yaw) and half (roll - yaw); unlike arcsin and the rotation
    # matrix this keeps full accuracy near gimbal lock.
    x, y, z, w = np.moveaxis(as_floats(quaternion, 4), -1, 0)
    up, down = np.hypot(x - z, w + y), np.hypot(x + z, w - y)
    difference, total = np.arctan2(x - z, w + y), np.arctan2(x + z, w - y)
    tiny = 8.0 * np.finfo(x.dtype).eps
    total = np.where(down <= tiny * up, -difference, total)
    difference = np.where(up <= tiny * down, -total, difference)
    pitch = 2.0 * np.arctan2(up, down) - 0.5 * np.pi
    return wrap_angle(total + difference), np.asarray(pitch), wrap_angle(total - difference)


def wrap_angle(angle: ArrayLike) -> Floats:
    """Wrap angles (...) in rad to [-pi, pi]."""
    a = as_floats(angle)
    return np.asarray(a - 2.0 * np.pi * np.round(a / (2.0 * np.pi)))


def quaternion_from_matrix(matrix: ArrayLike) -> Floats:
    """Return quaternions (..., 4), w >= 0, of proper rotation matrices (..., 3, 3)."""
    m = as_floats(matrix, 3)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    xw, yw, zw = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    squares = np.stack([1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz], axis=-1)
    sx, sy, sz, sw = np.moveaxis(squares, -1, 0)
    # each row is the quaternion times four times one of its components; the largest loses no digits
    rows = [sx, xy, xz, xw, xy, sy, yz, yw, xz, yz, sz, zw, xw, yw, zw, sw]
    products = np.stack(rows, axis=-1).reshape(*squares.shape, 4)
    best = np.take_along_axis(products, squares.argmax(axis=-1)[..., None, None], axis=-2)[..., 0, :]
    best = np.where(best[..., 3:] < 0.0, -best, best)
    return np.asarray(best / np.sqrt((best * best).sum(axis=-1, keepdims=True)))


def slerp(start: ArrayLike, end: ArrayLike, fraction: ArrayLike) -> Floats:
    """Interpolate on the shorter arc from start (fraction 0) to end (1); other fractions extrapolate."""
    a, b, t = as_floats(start, 4), as_floats(end, 4), as_floats(fraction)[..., None]
    b = np.where((a * b).sum(axis=-1, keepdims=True) < 0.0, -b, b)
    # the angle from chord lengths: arccos of the dot product loses half the digits of a small angle
    apart, together = (np.sqrt((c * c).sum(axis=-1, keepdims=True)) for c in (b - a, b + a))
    angle = 2.0 * np.arctan2(apart, together)
    near = angle < 1e-9
    sine = np.where(near, 1.0, np.sin(angle))
    from_start = np.where(near, 1.0 - t, np.sin((1.0 - t) * angle) / sine)
    from_end = np.where(near, t, np.sin(t * angle) / sine)
    mixed = from_start * a + from_end * b
    return np.asarray(mixed / np.sqrt((mixed * mixed).sum(axis=-1, keepdims=True)))


def _joined(components: Sequence[Floats]) -> Floats:
    """Stack components (...) along a new last axis."""
    result = np.empty((*components[0].shape, len(components)), components[0].dtype)
    for index, component in enumerate(components):
        result[..., index] = component
    return result


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
