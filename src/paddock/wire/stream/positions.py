"""Frames about every vehicle: position and attitude (0x01 and 0x14, 32 or 16 bytes each), telemetry (0x02, 17 bytes).

And of drones the first-person state (0x11, 56 bytes). A pose (0x14) has no id: its order is that of the roster. Its
attitude is a unit quaternion without the largest component, which follows from the others, exact to a quarter of a
degree; positions (0x01) and columns (0x15) are more accurate.
"""

from collections.abc import Iterator, Sequence
from enum import IntFlag
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import FrameType, Records, Target, decode_table, encode_table, open_table

POSITIONS = Record(
    "positions",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("position", "<f4", "m", "x, y, z in the subscriber's frame (Unreal: cm)", 3),
        Field("orientation", "<f4", "", "quaternion x, y, z, w, body to world", 4),
    ),
)
POSES = Record(
    "poses",
    (
        Field("position", "<f4", "m", "x, y, z in the subscriber's frame (Unreal: cm)", 3),
        Field(
            "orientation",
            "<u4",
            "",
            "quaternion, body to world: bits 31-30 index of the largest component (0 x, 1 y, 2 z, 3 w; made positive), "
            "then the three others in order, 10 bits each: round((c / 0.70710678 * 0.5 + 0.5) * 1022)",
        ),
    ),
)
MASK = 1023
STEPS = 1022  # one fewer than ten bits hold, so that 0 is a step
LARGEST_OTHER = 0.70710678


class Poses(NamedTuple):
    """Vehicles to encode: a fleet of a snapshot, or some of its rows."""

    ids: NDArray[np.integer]  # (m,)
    block: NDArray[np.float64]  # (7, m): x, y, z, qx, qy, qz, qw
    rows: NDArray[np.integer] | None = None  # (n,) the rows to encode; None: all

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.ids) if self.rows is None else len(self.rows)


class FrameChange(NamedTuple):
    """A linear change of frame; None is the identity."""

    position: tuple[float, ...] | None = None  # (9,) a matrix, row by row
    quaternion: tuple[float, ...] | None = None  # (16,)

    @classmethod
    def of(cls, position: NDArray[np.float64], quaternion: NDArray[np.float64]) -> Self:
        """Return the change of matrices (3, 3) and (4, 4); make it once per subscription."""
        return cls(_unless_identity(position, 3), _unless_identity(quaternion, 4))


def _unless_identity(matrix: NDArray[np.float64], size: int) -> tuple[float, ...] | None:
    values = np.asarray(matrix, np.float64)
    if values.shape != (size, size):
        raise InvalidValueError(f"a change of frame needs a matrix of {size} x {size}, got {values.shape}")
    return None if np.array_equal(values, np.eye(size)) else tuple(values.ravel().tolist())


NO_CHANGE = FrameChange()


COMPILED_FROM = 2048
"""Vehicles of a part from which its encoding is compiled.

NumPy is fast enough for fewer, and a process that serves few vehicles never imports Numba, which takes a second.
"""


def encode_positions(parts: Sequence[Poses], change: FrameChange = NO_CHANGE, into: Target | None = None) -> memoryview:
    """Encode the vehicles of all parts, in order, as one frame in `into` or a new buffer."""
    out, records = open_table(FrameType.POSITIONS, POSITIONS, sum(part.size for part in parts), into)
    for part, words in _checked_parts(parts, records, POSITIONS):
        pack: Any = _pack_positions
        if part.size >= COMPILED_FROM:
            from paddock.wire.compiled import pack_positions

            pack = pack_positions
        if pack(*part, *change, words.view("<i4"), words.view("<f4")) >> 31:
            raise InvalidValueError("positions: ids must be from 0 to 2^31 - 1")
    return out


def encode_poses(parts: Sequence[Poses], change: FrameChange = NO_CHANGE, into: Target | None = None) -> memoryview:
    """Encode the vehicles of all parts, in order, as one frame; ids are not sent, the roster has them."""
    out, records = open_table(FrameType.POSES, POSES, sum(part.size for part in parts), into)
    for part, words in _checked_parts(parts, records, POSES):
        pack: Any = _pack_poses
        if part.size >= COMPILED_FROM:
            from paddock.wire.compiled import pack_poses

            pack = pack_poses
        pack(*part[1:], *change, words.view("<u4"), words.view("<f4"))
    return out


def _pack_positions(ids: Any, block: Any, rows: Any, turn: Any, spin: Any, whole: Any, real: Any) -> int:
    """Write the same bytes as `compiled.pack_positions`."""
    chosen = ids if rows is None else ids[rows]
    whole[:, 0] = chosen.astype(np.int64).astype(np.int32)  # one out of range wraps here and is refused by the caller
    _pack_numbers(block, rows, turn, spin, real[:, 1:])
    return int(np.bitwise_or.reduce(chosen)) if len(chosen) else 0


def _pack_poses(block: Any, rows: Any, turn: Any, spin: Any, whole: Any, real: Any) -> None:
    """Write the same bytes as `compiled.pack_poses`."""
    quaternion = np.empty((len(real), 7), np.float64)
    _pack_numbers(block, rows, turn, spin, quaternion)
    real[:, :3] = quaternion[:, :3]
    whole[:, 3] = _packed_attitude(*quaternion.T[3:])


def _pack_numbers(block: Any, rows: Any, turn: Any, spin: Any, real: Any) -> None:
    """Write positions and quaternions, in the subscriber's frame, into `real` (n, 7)."""
    chosen = block if rows is None else block[:, rows]
    for first, size, matrix in ((0, 3, turn), (3, 4, spin)):
        values = chosen[first : first + size]
        if matrix is None:
            real[:, first : first + size] = values.T
            continue
        for k in range(size):  # from left to right, as compiled code adds
            real[:, first + k] = reduce(add, (matrix[size * k + j] * values[j] for j in range(size)))


@np.errstate(all="ignore")
def _packed_attitude(a: Any, b: Any, c: Any, d: Any) -> NDArray[np.uint32]:
    """Return packed attitudes, with the arithmetic of `compiled`; invalid ones (NaN, all 0) are the identity."""
    norm = a * a + b * b + c * c + d * d
    second, fourth = abs(b) > abs(a), abs(d) > abs(c)
    later = np.fmax(abs(c), abs(d)) > np.fmax(abs(a), abs(b))
    left, right = a + (b - a) * second, c + (d - c) * fourth
    scale = np.copysign(0.5 * STEPS / LARGEST_OTHER / np.sqrt(norm), left + (right - left) * later)
    others = b + (a - b) * (later | second), c + (b - c) * later, d + (c - d) * (later & fourth)
    high, middle, low = (
        np.fmin(np.fmax(0.0, component * scale + 511.5), 1022.0).astype(np.uint32) for component in others
    )
    largest = np.where(later, 2 + fourth, second).astype(np.uint32)
    return np.where((norm > 0.0) & (norm < np.inf), largest << 30 | high << 20 | middle << 10 | low, NO_TURN)


NO_TURN = np.uint32(3 << 30 | 511 << 20 | 511 << 10 | 511)
"""The packed attitude x = y = z = 0, w = 1."""


def _checked_parts(
    parts: Sequence[Poses], records: Records, record: Record
) -> Iterator[tuple[Poses, NDArray[np.uint8]]]:
    """Yield each part with the bytes (vehicles, size) of its records."""
    words, start = records.view(np.uint8).reshape(-1, record.size), 0
    for part in parts:
        count = len(part.ids)
        if part.block.shape != (7, count):
            raise InvalidValueError(f"{record.name}: {count} ids need a block of (7, {count}), got {part.block.shape}")
        if part.rows is not None and len(part.rows) and (part.rows.min() < 0 or part.rows.max() >= count):
            raise InvalidValueError(f"{record.name}: rows must be from 0 to {count - 1}")
        yield part, words[start : start + part.size]
        start += part.size


decode_positions = partial(decode_table, record=POSITIONS)
"""Return records (n,) with `id`, `position` (3,) and `orientation` (4,), a view of the payload."""
decode_poses = partial(decode_table, record=POSES)
"""Return records (n,) with `position` (3,) and the packed `orientation`, a view of the payload."""


def unpacked_orientation(words: ArrayLike) -> NDArray[np.float64]:
    """Return packed attitudes (n,) as quaternions (n, 4): x, y, z, w."""
    packed = np.asarray(words, np.uint32)
    others = [((packed >> np.uint32(shift) & MASK) / STEPS * 2.0 - 1.0) * LARGEST_OTHER for shift in (20, 10, 0)]
    rest = np.sqrt(np.maximum(1.0 - sum(other * other for other in others), 0.0))
    largest = packed >> np.uint32(30)
    candidates = [np.where(largest == k, rest, others[max(k - 1, 0)]) for k in range(4)]
    for k in range(3):  # before the largest component the others keep their index, after it they are one earlier
        candidates[k] = np.where(largest > k, others[k], candidates[k])
    return np.stack(candidates, axis=-1)


class TelemetryFlag(IntFlag):
    """The bits of `flags`."""

    JAMMED = 1
    ACTIVE = 2
    ARMED = 4
    COLLIDED = 8


TELEMETRY = Record(
    "telemetry",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("battery", "<f4", "", "charge left, 0 to 1"),
        Field("health", "<f4", "", "0 lost, 0.5 impaired, 1 sound"),
        Field("signal", "<f4", "", "radio link, 0 to 1"),
        Field("flags", "u1", "", "bit 0 jammed, 1 active, 2 armed, 3 collided"),
    ),
)


encode_telemetry = partial(encode_table, FrameType.TELEMETRY, TELEMETRY)
"""`encode_telemetry(ids, battery, health, signal, flags)`; all but the ids may be one number for all."""
decode_telemetry = partial(decode_table, record=TELEMETRY)


FPV_STATE = Record(
    "fpv state",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("mode", "u1", "", "flight mode"),
        Field("armed", "u1", "", "1 armed, 0 not"),
        Field("pad", "<u2", "", "0; ignored by readers"),
        Field("sticks", "<f4", "", "throttle 0 to 1; roll, pitch, yaw -1 to 1", 4),
        Field("velocity", "<f4", "m/s", "vx, vy, vz, world, in the subscriber's frame", 3),
        Field("rates", "<f4", "rad/s", "wx, wy, wz about the body's axes", 3),
        Field("voltage", "<f4", "V", "of the battery"),
        Field("charge", "<f4", "", "of the battery, 0 to 1"),
    ),
)


encode_fpv = partial(encode_table, FrameType.FPV_STATE, FPV_STATE)
"""`encode_fpv(ids, mode, armed, sticks, velocity, rates, voltage, charge)`, columns as in the record."""
decode_fpv = partial(decode_table, record=FPV_STATE)
