"""Pooled buffers for snapshots.

A snapshot of 100,000 vehicles is 12 MB; allocating that every tick costs more in page faults than the copy itself.
Buffers are not returned explicitly: a snapshot, or any array cut out of it, keeps the array that owns the buffer alive,
and the pool reuses a buffer when only the pool refers to it.
"""

import sys
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register

GRAIN = 1024  # bytes: buffer sizes are multiples of this


class BufferPool:
    """Provides byte buffers; thread-safe.

    `idle`: unused buffers that survive the next `take`. `tracked`: buffers that are tracked; older ones become ordinary
    arrays, which Python frees with their last view.
    """

    def __init__(self, idle: int = 4, tracked: int = 32) -> None:
        self._lock = Lock()
        self._limit_idle, self._limit_tracked = idle, tracked
        self._owners: list[Bytes] = []  # oldest first

    def take(self, nbytes: int) -> Bytes:
        """Return a writable, uninitialised buffer (nbytes,) aligned to 64 bytes, valid while any view of it exists."""
        with self._lock:
            unused = [k for k in range(len(self._owners)) if _references(self._owners, k) == _UNUSED]
            spare = {k: self._owners[k].nbytes - ALIGNMENT - nbytes for k in unused}
            fitting = [k for k in unused if 0 <= spare[k] <= nbytes + (1 << 16)]
            owner = self._owners[fitting[-1]] if fitting else self._allocate(nbytes)
            for k in reversed([k for k in unused if k not in fitting[-1:]][: -self._limit_idle or None]):
                del self._owners[k]
            del self._owners[: max(len(self._owners) - self._limit_tracked, 0)]  # the oldest become ordinary arrays
        start = -owner.ctypes.data % ALIGNMENT
        return owner[start : start + nbytes]

    def _allocate(self, nbytes: int) -> Bytes:
        # rounded up, so that the buffer still fits when the world grows by one vehicle
        owner = np.empty(-(-nbytes // GRAIN) * GRAIN + ALIGNMENT, np.uint8)
        self._owners.append(owner)
        return owner


def frozen(buffer: Bytes) -> Bytes:
    """Return the same memory (n,) as an array that cannot be made writable again, nor can its views.

    numpy lets users set `flags.writeable` on a view of a writable array, but not on one of a read-only memoryview,
    which keeps the buffer and its owner alive.
    """
    return np.frombuffer(buffer.data.toreadonly(), np.uint8)


def _references(owners: list[Bytes], k: int) -> int:
    return sys.getrefcount(owners[k])


_UNUSED = _references([np.empty(0, np.uint8)], 0)
"""Reference count of an array that only a list refers to; measured, because it differs between Python versions."""
