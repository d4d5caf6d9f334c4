"""Frames 0x01 and 0x14: position and attitude of every vehicle, 32 or 16 bytes each.

A pose (0x14) has no id: its order is that of the roster. Its attitude is a unit quaternion without the largest
component, which follows from the others, exact to a quarter of a degree; positions (0x01) and columns (0x15) are more
accurate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import FrameType, Records, Target, decode_table, open_table

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
    def of(cls, position: NDArray[np.float64], quaternion: NDArray[np.float64]) -> FrameChange:
        """Return the change of matrices (3, 3) and (4, 4); make it once per subscription."""
        return cls(_unless_identity(position, 3), _unless_identity(quaternion, 4))


def _unless_identity(matrix: NDArray[np.float64], size: int) -> tuple[float, ...] | None:
    values = np.asarray(matrix, np.float64)
    if values.shape != (size, size):
        raise InvalidValueError(f"a change of frame needs a matrix of {size} x {size}, got {values.shape}")
    return None if np.array_equal(values, np.eye(size)) else tuple(values.ravel().tolist())


NO_CHANGE = FrameChange()


def encode_positions(parts: Sequence[Poses], change: FrameChange = NO_CHANGE, into: Target | None = None) -> memoryview:
    """Encode the vehicles of all parts, in order, as one frame in `into` or a new buffer."""
    from paddock.wire.compiled import pack_positions  # imports Numba, which decoding does not need

    out, records = open_table(FrameType.POSITIONS, POSITIONS, sum(part.size for part in parts), into)
    for (ids, block, rows), words in _checked_parts(parts, records, POSITIONS):
        args = (ids, block, rows, change.position, change.quaternion)
        if pack_positions(*args, words.view("<i4"), words.view("<f4")) >> 31:
            raise InvalidValueError("positions: ids must be from 0 to 2^31 - 1")
    return out


def encode_poses(parts: Sequence[Poses], change: FrameChange = NO_CHANGE, into: Target | None = None) -> memoryview:
    """Encode the vehicles of all parts, in order, as one frame; ids are not sent, the roster has them."""
    from paddock.wire.compiled import pack_poses  # imports Numba, which decoding does not need

    out, records = open_table(FrameType.POSES, POSES, sum(part.size for part in parts), into)
    for (_, block, rows), words in _checked_parts(parts, records, POSES):
        pack_poses(block, rows, change.position, change.quaternion, words.view("<u4"), words.view("<f4"))
    return out


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
    found = [np.where(largest == k, rest, others[max(k - 1, 0)]) for k in range(4)]
    for k in range(3):  # before the largest component the others keep their index, after it they are one earlier
        found[k] = np.where(largest > k, others[k], found[k])
    return np.stack(found, axis=-1)
