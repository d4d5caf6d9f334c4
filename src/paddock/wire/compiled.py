"""Compiled kernels of the encoders. This imports Numba, so encoders import it on their first call."""

from math import copysign, inf, sqrt
from typing import Any

import numpy as np
from numba import int32, njit, uint32


@njit(cache=True, nogil=True, error_model="numpy")
def pack_positions(ids: Any, block: Any, rows: Any, turn: Any, spin: Any, whole: Any, real: Any) -> int:
    """Write one record of eight 4-byte words per vehicle; return the bitwise or of all ids, to find one out of range.

    `ids` (m,), `block` (7, m) of x, y, z, qx, qy, qz, qw; `rows` (n,) selects vehicles, None is all; `turn` (9,)
    and `spin` (16,), matrices row by row, apply to position and quaternion, None is the identity; `whole` and `real`
    (n, 8) are the same memory as int32 and float32. Each choice of None is compiled without its branches.
    """
    x, y, z = block[0], block[1], block[2]
    a, b, c, d = block[3], block[4], block[5], block[6]
    seen = 0
    for i in range(len(whole)):
        k = i if rows is None else rows[i]
        seen |= ids[k]
        whole[i, 0] = ids[k]
        if turn is None:
            real[i, 1], real[i, 2], real[i, 3] = x[k], y[k], z[k]
        else:
            real[i, 1] = turn[0] * x[k] + turn[1] * y[k] + turn[2] * z[k]
            real[i, 2] = turn[3] * x[k] + turn[4] * y[k] + turn[5] * z[k]
            real[i, 3] = turn[6] * x[k] + turn[7] * y[k] + turn[8] * z[k]
        if spin is None:
            real[i, 4], real[i, 5], real[i, 6], real[i, 7] = a[k], b[k], c[k], d[k]
        else:
            real[i, 4] = spin[0] * a[k] + spin[1] * b[k] + spin[2] * c[k] + spin[3] * d[k]
            real[i, 5] = spin[4] * a[k] + spin[5] * b[k] + spin[6] * c[k] + spin[7] * d[k]
            real[i, 6] = spin[8] * a[k] + spin[9] * b[k] + spin[10] * c[k] + spin[11] * d[k]
            real[i, 7] = spin[12] * a[k] + spin[13] * b[k] + spin[14] * c[k] + spin[15] * d[k]
    return seen


STEPS = 511.0 / 0.70710678
"""Steps per unit of the ten bits of a quaternion component; 0.70710678 is the largest beside the largest component.

511 to either side: 0 is a step, so that a level attitude stays level.
"""
ROUNDED = 511.5
"""Offset that turns -511 to 511 steps into a whole part of 0 to 1022, rounded."""
NO_TURN = np.uint32(3 << 30 | 511 << 20 | 511 << 10 | 511).astype(np.int32)
"""The packed attitude x = y = z = 0, w = 1."""


@njit(cache=True, nogil=True, error_model="numpy")
def pack_poses(block: Any, rows: Any, turn: Any, spin: Any, whole: Any, real: Any) -> None:
    """Write one record of four 4-byte words per vehicle: x, y, z and the attitude packed into 32 bits.

    `block`, `rows`, `turn` and `spin` as for positions; `whole` and `real` (n, 4) are the same memory as uint32 and
    float32. The attitude is normalised; an invalid one (NaN, all 0) is sent as the identity.
    """
    x, y, z = block[0], block[1], block[2]
    qx, qy, qz, qw = block[3], block[4], block[5], block[6]
    for i in range(len(whole)):
        k = i if rows is None else rows[i]
        if turn is None:
            real[i, 0], real[i, 1], real[i, 2] = x[k], y[k], z[k]
        else:
            real[i, 0] = turn[0] * x[k] + turn[1] * y[k] + turn[2] * z[k]
            real[i, 1] = turn[3] * x[k] + turn[4] * y[k] + turn[5] * z[k]
            real[i, 2] = turn[6] * x[k] + turn[7] * y[k] + turn[8] * z[k]
    for i in range(len(whole)):  # a separate loop is vectorised
        k = i if rows is None else rows[i]
        a, b, c, d = qx[k], qy[k], qz[k], qw[k]
        if spin is not None:
            a, b, c, d = (
                spin[0] * a + spin[1] * b + spin[2] * c + spin[3] * d,
                spin[4] * a + spin[5] * b + spin[6] * c + spin[7] * d,
                spin[8] * a + spin[9] * b + spin[10] * c + spin[11] * d,
                spin[12] * a + spin[13] * b + spin[14] * c + spin[15] * d,
            )
        whole[i, 3] = _packed_attitude(a, b, c, d)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _step(value: Any) -> Any:
    """Return a whole number of 0 to 1022 for a value of -511 to 511, and some number for NaN."""
    return int32(min(max(0.0, value + ROUNDED), 1022.0))  # in this order, NaN becomes 0


@njit(nogil=True, error_model="numpy", forceinline=True)
def _packed_attitude(a: float, b: float, c: float, d: float) -> Any:
    """Return bits 31-30: index of the largest of x, y, z, w; then the others, ten bits each.

    Selects by arithmetic, without branches, so that the loop around it is vectorised.
    """
    norm = a * a + b * b + c * c + d * d
    second, fourth = int32(abs(b) > abs(a)), int32(abs(d) > abs(c))
    later = int32(max(abs(c), abs(d)) > max(abs(a), abs(b)))
    of_left, of_right, right = second * 1.0, fourth * 1.0, later * 1.0
    left_one, right_one = a + (b - a) * of_left, c + (d - c) * of_right
    scale = copysign(STEPS / sqrt(norm), left_one + (right_one - left_one) * right)
    one = b + (a - b) * max(right, of_left)
    two = c + (b - c) * right
    three = d + (c - d) * (right * of_right)
    high, middle, low = _step(one * scale), _step(two * scale), _step(three * scale)
    largest = later * (int32(2) + fourth) + (int32(1) - later) * second
    fine = -int32((norm > 0.0) & (norm < inf))  # all bits or none: an invalid attitude becomes the identity
    return uint32((largest << 30 | high << 20 | middle << 10 | low) & fine | NO_TURN & ~fine)


@njit(cache=True, nogil=True, error_model="numpy")
def crc32_rows(rows: Any, size: int, table: Any, checksums: Any) -> None:
    """Compute the CRC32 of the first `size` bytes of each row of `rows` (n, m) uint8, into `found` (n,) uint32.

    `table` (256,) uint32 holds the remainders of single bytes.
    """
    for i in range(len(rows)):
        crc = 0xFFFFFFFF
        for j in range(size):
            crc = table[(crc ^ rows[i, j]) & 0xFF] ^ (crc >> 8)
        checksums[i] = crc ^ 0xFFFFFFFF
