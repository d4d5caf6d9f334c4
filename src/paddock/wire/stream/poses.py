"""Frame 0x14: where every vehicle is and how it is turned in 16 bytes each, in the order of the roster.

The attitude is a unit quaternion of which the largest component is left out: it follows from the others. Whoever needs
more than a quarter of a degree takes positions (0x01) or columns (0x15).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import Buffer, FrameType, Records, Target, decode_table, open_table
from paddock.wire.stream.positions import NO_CHANGE, Change, Poses, Words, pack_parts

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
    pack_parts(parts, records.view(np.uint8).reshape(-1, POSES.size), "poses", partial(_pack, change))
    return out


def _pack(change: Change, part: Poses, words: Words) -> None:
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
