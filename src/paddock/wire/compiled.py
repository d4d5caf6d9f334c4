"""Compiled kernels of the encoders. Importing this imports Numba: only encoders do, when they are first called."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def pack_positions(ids: Any, block: Any, rows: Any, turn: Any, spin: Any, whole: Any, real: Any) -> int:
    """Write one record of eight 4-byte words per agent; returns all ids or-ed together, which shows one out of range.

    `ids` (m,), `block` (7, m) of x, y, z, qx, qy, qz, qw; `rows` (n,) picks agents, or is None for all; `turn` (9,)
    and `spin` (16,), tuples of a matrix row by row, are applied to position and quaternion, or are None; `whole` and
    `real` (n, 8) are the same memory as int32 and float32. Each choice of None is compiled without its branches.
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


@njit(cache=True, nogil=True, error_model="numpy")
def crc32_rows(rows: Any, size: int, table: Any, found: Any) -> None:
    """The CRC32 of the first `size` bytes of each row of `rows` (n, m) uint8, into `found` (n,) uint32.

    `table` (256,) uint32 holds the remainders of single bytes.
    """
    for i in range(len(rows)):
        crc = 0xFFFFFFFF
        for j in range(size):
            crc = table[(crc ^ rows[i, j]) & 0xFF] ^ (crc >> 8)
        found[i] = crc ^ 0xFFFFFFFF
