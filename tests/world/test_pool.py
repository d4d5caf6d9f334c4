"""Pooled buffers: memory in use is never reused; shared segments: nothing is left behind."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import NamedTuple
from weakref import ref

import numpy as np
import pytest

from paddock.errors import InvalidValueError, PaddockError
from paddock.world.layout import _UNUSED, BufferPool, Bytes, _references, frozen
from paddock.world.shared_memory import SharedSegment, data_path


class Counts(NamedTuple):
    """Buffers so far, and now."""

    allocated: int
    reused: int
    in_use: int
    idle: int


class CountingPool(BufferPool):
    """Counts buffers through weak references, which keep none alive."""

    def __init__(self, idle: int = 4, tracked: int = 32) -> None:
        super().__init__(idle, tracked)
        self._taken = 0
        self._made: list[ref[Bytes]] = []

    def take(self, nbytes: int) -> Bytes:
        self._taken += 1
        return super().take(nbytes)

    def counts(self) -> Counts:
        idle = sum(_references(self._owners, k) == _UNUSED for k in range(len(self._owners)))
        alive = sum(reference() is not None for reference in self._made)
        return Counts(len(self._made), self._taken - len(self._made), alive - idle, idle)

    def _allocate(self, nbytes: int) -> Bytes:
        owner = super()._allocate(nbytes)
        self._made.append(ref(owner))
        return owner


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def test_a_dropped_buffer_is_reused() -> None:
    pool = CountingPool()
    first = pool.take(1000)
    where = address(first)
    second = pool.take(1000)
    assert address(second) != where and where % 64 == address(second) % 64 == 0
    assert first.shape == (1000,) and first.flags.writeable
    del first
    assert address(pool.take(1000)) == where
    del second
    assert pool.counts() == Counts(allocated=2, reused=1, in_use=0, idle=2)


@pytest.mark.usefixtures("young_heap")
@pytest.mark.parametrize(
    "keep",
    [
        lambda b: b[8:16],
        lambda b: b.view(np.float64).reshape(5, 25)[:3].T,
        frozen,
        lambda b: frozen(b)[:80].view(np.float64)[3:4],
        lambda b: frozen(b).data,
        lambda b: iter(frozen(b)),
    ],
)
def test_any_view_keeps_the_buffer(keep: object) -> None:
    pool = CountingPool()
    kept = keep(pool.take(1000))  # type: ignore[operator]
    assert pool.counts().in_use == 1
    assert pool.take(1000) is not None and pool.counts().allocated == 2
    del kept
    gc.collect()
    assert pool.counts().in_use == 0


def test_a_frozen_buffer_cannot_be_made_writable() -> None:
    buffer = BufferPool().take(64)
    view = frozen(buffer)
    for array in (view, view[3:], view.view(np.float64).reshape(2, 4).T):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    buffer[:] = 7
    assert view.tolist() == [7] * 64


def test_idle_buffers_are_bounded() -> None:
    pool = CountingPool(idle=2)
    many = [pool.take(4096) for _ in range(10)]
    assert pool.counts().in_use == 10
    many.clear()
    pool.take(4096)
    assert pool.counts().idle == 3  # two, and the one just dropped
    assert BufferPool(idle=0).take(10).nbytes == 10


def test_many_kept_buffers_become_plain_arrays() -> None:
    pool = CountingPool(tracked=4)
    many = [pool.take(4096) for _ in range(20)]
    assert pool.counts() == Counts(allocated=20, reused=0, in_use=20, idle=0)
    assert len({address(b) for b in many}) == 20
    many.clear()
    assert pool.counts() == Counts(allocated=20, reused=0, in_use=0, idle=4)


def test_a_large_buffer_is_not_used_for_a_small_request() -> None:
    pool = CountingPool()
    pool.take(10_000_000)
    pool.take(1000)
    pool.take(20_000_000)
    assert pool.counts().allocated == 3


def test_threads_never_share_a_buffer() -> None:
    pool = CountingPool()

    def work(mark: int) -> bool:
        whole = True
        for size in range(300):
            buffer = pool.take(4096 + size)
            buffer[:] = mark
            view = frozen(buffer)
            del buffer
            whole = whole and bool((view == mark).all())
        return whole

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))
    assert pool.counts().in_use == 0 and pool.counts().reused > 2000


def test_a_segment_closes_cleanly_while_arrays_refer_to_it() -> None:
    resource_tracker.ensure_running()  # its pipe is none of the segment's files
    segment = SharedSegment.create(f"paddock.test{os.getpid()}", 4096)
    words = segment.words
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 1
    segment.remove()
    words[3] = 9
    assert words[3] == 9
    if Path("/proc/self/fd").exists():
        assert len(os.listdir("/proc/self/fd")) == before - 1
    assert SharedSegment.attach(f"paddock.test{os.getpid()}") is None


def test_too_much_memory_is_refused() -> None:
    path = f"paddock.huge{os.getpid()}"
    with pytest.raises(PaddockError, match="cannot allocate"):
        SharedSegment.create(path, 1 << 42)
    assert SharedSegment.attach(path) is None


@pytest.mark.parametrize("name", ["", "a/b", "a.b", "x" * 41, "ä"])
def test_invalid_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match="ring name"):
        data_path(name, 1)


def test_a_reused_buffer_is_never_shorter_than_asked_for() -> None:
    for nbytes in range(64, 64 * 40, 64):  # the allocator's alignment decides; many sizes find one that is off
        pool = CountingPool()
        pool.take(nbytes)
        assert len(pool.take(nbytes + 64)) == nbytes + 64
