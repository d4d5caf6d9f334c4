"""Frame 0x01: where every vehicle is and how it is turned, 32 bytes each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import Buffer, FrameType, Records, Target, decode_table, open_table

POSITIONS = Record(
    "positions",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("position", "<f4", "m", "x, y, z in the subscriber's frame (Unreal: cm)", 3),
        Field("orientation", "<f4", "", "quaternion x, y, z, w, body to world", 4),
    ),
)


class Poses(NamedTuple):
    """Vehicles to be told about: a fleet of a snapshot, or some of its rows."""

    ids: NDArray[np.integer]  # (m,)
    block: NDArray[np.float64]  # (7, m): x, y, z, qx, qy, qz, qw
    rows: NDArray[np.integer] | None = None  # (n,) which of them; None: all

    @property
    def size(self) -> int:
        """How many records they make."""
        return len(self.ids) if self.rows is None else len(self.rows)


class Change(NamedTuple):
    """A linear change of frame; None where nothing changes."""

    position: tuple[float, ...] | None = None  # (9,) a matrix, row by row
    quaternion: tuple[float, ...] | None = None  # (16,)

    @classmethod
    def of(cls, position: NDArray[np.float64], quaternion: NDArray[np.float64]) -> Change:
        """From matrices (3, 3) and (4, 4); make it once per subscription and keep it."""
        return cls(_unless_identity(position, 3), _unless_identity(quaternion, 4))


def _unless_identity(matrix: NDArray[np.float64], size: int) -> tuple[float, ...] | None:
    values = np.asarray(matrix, np.float64)
    if values.shape != (size, size):
        raise InvalidValueError(f"a change of frame needs a matrix of {size} x {size}, got {values.shape}")
    return None if np.array_equal(values, np.eye(size)) else tuple(values.ravel().tolist())


NO_CHANGE = Change()
Words = NDArray[np.uint8]
"""Bytes of records, one row each."""


def encode_positions(parts: Sequence[Poses], change: Change = NO_CHANGE, into: Target | None = None) -> memoryview:
    """One frame of all the vehicles of `parts`, in their order, written into `into` or a new buffer."""
    out, records = open_table(FrameType.POSITIONS, POSITIONS, sum(part.size for part in parts), into)
    pack_parts(parts, records.view(np.uint8).reshape(-1, POSITIONS.size), "positions", partial(_pack, change))
    return out


def pack_parts(parts: Sequence[Poses], words: Words, what: str, pack: Callable[[Poses, Words], None]) -> None:
    """Check every part, and have its records written into its own rows of `words` (vehicles, bytes)."""
    start = 0
    for part in parts:
        ids, block, rows = part
        if block.shape != (7, len(ids)):
            raise InvalidValueError(f"{what}: {len(ids)} ids need a block of (7, {len(ids)}), got {block.shape}")
        if rows is not None and len(rows) and (rows.min() < 0 or rows.max() >= len(ids)):
            raise InvalidValueError(f"{what}: rows must be from 0 to {len(ids) - 1}")
        pack(part, words[start : start + part.size])
        start += part.size


def _pack(change: Change, part: Poses, words: Words) -> None:
    """Write the records (n, 32) of one part."""
    from paddock.wire.compiled import pack_positions  # imports Numba, which those who only decode do without

    ids, block, rows = part
    seen = pack_positions(ids, block, rows, change.position, change.quaternion, words.view("<i4"), words.view("<f4"))
    if seen >> 31:
        raise InvalidValueError("positions: ids must be from 0 to 2^31 - 1")


def decode_positions(payload: Buffer) -> Records:
    """(n,) records with `id`, `position` (3,) and `orientation` (4,), a view of the payload."""
    return decode_table(payload, POSITIONS)


POSES = Record(
    "poses",
    (
        Field("position", "<f4", "m", "x, y, z in the subscriber's frame (Unreal: cm)", 3),
        Field(
            "orientation",
            "<u4",
            "",
            "quaternion, body to world: bits 31-30 which component is largest (0 x, 1 y, 2 z, 3 w; made positive), "
            "then the three others in order, 10 bits each: round((c / 0.70710678 * 0.5 + 0.5) * 1022)",
        ),
    ),
)
MASK = 1023
STEPS = 1022
"""One fewer than ten bits could tell: 0 is the one in the middle."""
LARGEST_OTHER = 0.70710678


def encode_poses(parts: Sequence[Poses], change: Change = NO_CHANGE, into: Target | None = None) -> memoryview:
    """One frame of all the vehicles of `parts`, in their order; their ids are not sent: the roster tells them."""
    out, records = open_table(FrameType.POSES, POSES, sum(part.size for part in parts), into)
    pack_parts(parts, records.view(np.uint8).reshape(-1, POSES.size), "poses", partial(_pack_poses, change))
    return out


def _pack_poses(change: Change, part: Poses, words: Words) -> None:
    """Write the records (n, 16) of one part."""
    from paddock.wire.compiled import pack_poses  # imports Numba, which those who only decode do without

    _, block, rows = part
    pack_poses(block, rows, change.position, change.quaternion, words.view("<u4"), words.view("<f4"))


def decode_poses(payload: Buffer) -> Records:
    """(n,) records with `position` (3,) and the packed `orientation`, a view of the payload."""
    return decode_table(payload, POSES)


def unpacked_orientation(words: ArrayLike) -> NDArray[np.float64]:
    """Packed attitudes (n,) as quaternions (n, 4): x, y, z, w."""
    packed = np.asarray(words, np.uint32)
    others = [((packed >> np.uint32(shift) & MASK) / STEPS * 2.0 - 1.0) * LARGEST_OTHER for shift in (20, 10, 0)]
    rest = np.sqrt(np.maximum(1.0 - sum(other * other for other in others), 0.0))
    largest = packed >> np.uint32(30)
    found = [np.where(largest == k, rest, others[max(k - 1, 0)]) for k in range(4)]
    for k in range(3):  # before the largest the others stand in their own place, after it one earlier
        found[k] = np.where(largest > k, others[k], found[k])
    return np.stack(found, axis=-1)
