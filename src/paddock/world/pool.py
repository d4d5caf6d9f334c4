"""Pooled buffers for the readers of this process.

A snapshot of 100,000 vehicles is 12 MB; asking the operating system for that every tick costs more in page faults than
the copy itself. Nobody returns a buffer: whoever keeps a snapshot, or only one array cut out of it, keeps the buffer's
owning array alive, because every view holds a reference to the array that owns its data. The pool looks at that count.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from threading import Lock
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register."""

GRAIN = 1024
"""Bytes: the sizes of buffers are multiples of this."""


@dataclass(frozen=True)
class PoolStatistics:
    """How a pool has been used so far."""

    allocated: int  # buffers asked from the operating system
    reused: int  # buffers handed out again
    in_use: int  # buffers somebody still looks at
    idle: int  # buffers waiting to be used again


class BufferPool:
    """Hands out byte buffers; safe to use from any thread.

    `idle`: how many unused buffers survive the next `take`. `tracked`: how many buffers are watched at once; whoever
    keeps more than that keeps ordinary arrays, which Python frees with their last view instead of using them again.
    """

    def __init__(self, idle: int = 4, tracked: int = 32) -> None:
        """An empty pool."""
        self._lock = Lock()
        self._limit_idle, self._limit_tracked = idle, tracked
        self._owners: list[Bytes] = []  # oldest first
        self._released: WeakValueDictionary[int, Bytes] = WeakValueDictionary()
        self._allocated = self._reused = 0

    def take(self, nbytes: int) -> Bytes:
        """A writable buffer (nbytes,) aligned to 64 bytes, holding anything; yours while any view of it lives."""
        with self._lock:
            unused = [k for k in range(len(self._owners)) if _references(self._owners, k) == _UNUSED]
            spare = {k: self._owners[k].nbytes - ALIGNMENT - nbytes for k in unused}
            fitting = [k for k in unused if 0 <= spare[k] <= nbytes + (1 << 16)]
            owner = self._owners[fitting[-1]] if fitting else self._allocate(nbytes)
            self._reused += bool(fitting)
            self._drop([k for k in unused if k not in fitting[-1:]][: -self._limit_idle or None])
        start = -owner.ctypes.data % ALIGNMENT
        return owner[start : start + nbytes]

    def statistics(self) -> PoolStatistics:
        """The counts at this moment."""
        with self._lock:
            idle = sum(_references(self._owners, k) == _UNUSED for k in range(len(self._owners)))
            in_use = len(self._owners) - idle + len(self._released)
            return PoolStatistics(self._allocated, self._reused, in_use, idle)

    def _allocate(self, nbytes: int) -> Bytes:
        self._allocated += 1
        # a little more than asked for, so that a world that grows by one vehicle still finds it fitting
        owner = np.empty(-(-nbytes // GRAIN) * GRAIN + ALIGNMENT, np.uint8)
        self._owners.append(owner)
        return owner

    def _drop(self, surplus: list[int]) -> None:
        """Let go of unused buffers, and of the oldest ones while there are more than may be tracked."""
        for k in reversed(surplus):
            del self._owners[k]
        while len(self._owners) > self._limit_tracked:
            self._released[self._allocated + self._reused] = self._owners.pop(0)


def frozen(buffer: Bytes) -> Bytes:
    """The same memory (n,) as an array that cannot be made writable again, nor can any view of it.

    numpy lets anyone set `flags.writeable` on a view of a writable array, but not on one of a read-only memoryview,
    which in turn keeps the buffer, and so its owner, alive.
    """
    return np.frombuffer(buffer.data.toreadonly(), np.uint8)


def _references(owners: list[Bytes], k: int) -> int:
    return sys.getrefcount(owners[k])


_UNUSED = _references([np.empty(0, np.uint8)], 0)
"""The count of an array that only its list holds; measured, since versions of Python count the call differently."""
