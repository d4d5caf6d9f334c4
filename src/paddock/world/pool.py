"""Memory that many look at: pooled buffers for the readers of this process, shared segments for those of others.

A snapshot of 100,000 vehicles is 12 MB; asking the operating system for that every tick costs more in page faults than
the copy itself. Nobody returns a buffer: whoever keeps a snapshot, or only one array cut out of it, keeps the buffer's
owning array alive, because every view holds a reference to the array that owns its data. The pool looks at that count.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from threading import Lock
from time import sleep
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

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


class Segment(SharedMemory):
    """A named piece of memory that other processes can attach to; only whoever created it removes it."""

    MAGIC, VERSION = int.from_bytes(b"PDKRING\0", "little"), 1
    HEAD = 128
    """Bytes at the start that `words` shows."""

    @classmethod
    def create(cls, path: str, nbytes: int) -> Self:
        """A new zeroed one, its pages reserved now: writing to memory that is not there would kill the process."""
        try:
            segment = cls(path, create=True, size=nbytes)
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(segment._fd, 0, nbytes)  # type: ignore[attr-defined]
            except OSError:
                segment.remove()
                raise
        except FileExistsError:
            raise
        except OSError as error:
            raise PaddockError(f"no room for {nbytes / 1e6:.1f} MB of shared memory: {error.strerror}") from None
        return segment

    @classmethod
    def attach(cls, path: str) -> Self | None:
        """An existing one; None if it is not there, or not ready yet."""
        try:
            if sys.version_info >= (3, 13):
                return cls(path, track=False)
            return _attach_untracked(cls, path)
        except (FileNotFoundError, ValueError):  # ValueError: created, but still of size 0
            return None

    @classmethod
    def discard(cls, path: str) -> None:
        """Remove one that a dead process left behind, if there is one."""
        segment = cls.attach(path)
        if segment is not None:
            if sys.version_info < (3, 13):  # unlink() takes back a registration, so there must be one
                resource_tracker.register(f"/{path}", "shared_memory")
            segment.remove()

    @property
    def memory(self) -> memoryview:
        """All its bytes."""
        assert self.buf is not None, "the segment is closed"
        return self.buf

    @property
    def words(self) -> Words:
        """(16,) its head as u64."""
        return np.frombuffer(self.memory, np.uint64, self.HEAD // 8)

    def remove(self) -> None:
        """Take the name away and let go; whoever is attached keeps the memory until they let go too."""
        with suppress(FileNotFoundError):
            self.unlink()
        self.close()

    def close(self) -> None:
        """Let go; where arrays still look at the memory, it is unmapped with the last of them."""
        try:
            super().close()
        except BufferError:
            self._buf = self._mmap = None
            super().close()  # the file descriptor


class Control(Segment):
    """The segment a ring is known by: which process writes it, and which generation of its data is current."""

    FIRST, FORMAT, TOKEN, GENERATION, PID, BIRTH, CLOSED = range(7)
    """Its words; the first is MAGIC, the second VERSION."""

    @classmethod
    def claim(cls, name: str) -> Self:
        """A new one, owned by this process; a dead owner's is replaced, a living one's respected."""
        for _ in range(100):
            try:
                control = cls.create(_path(name), cls.HEAD)
            except FileExistsError:
                cls._evict(name)
                continue
            pid = os.getpid()
            control.words[cls.FORMAT : cls.CLOSED + 1] = (cls.VERSION, secrets.randbits(63), 0, pid, _birth(pid), 0)
            control.words[cls.FIRST] = cls.MAGIC  # last: from here on it counts
            return control
        raise PaddockError(f"ring {name!r}: another process keeps making it")

    @classmethod
    def find(cls, name: str) -> Self:
        """An existing one, given a moment to be finished."""
        for _ in range(50):
            control = cls.attach(_path(name))
            if control is not None and control.words[cls.FIRST] == cls.MAGIC:
                break
            sleep(0.002)
        else:
            raise unknown_name("ring", name, _present())
        if control.words[cls.FORMAT] != cls.VERSION:
            version = control.words[cls.FORMAT]
            raise PaddockError(f"ring {name!r} is of version {version}; this Paddock reads version {cls.VERSION}")
        return control

    def owner_lives(self) -> bool:
        """Whether the process that claimed it still runs."""
        return _birth(int(self.words[self.PID])) == int(self.words[self.BIRTH])

    @classmethod
    def _evict(cls, name: str) -> None:
        """Remove the segments of a dead owner."""
        generation = 0
        with suppress(UnknownNameError):  # never finished
            control = cls.find(name)
            generation = int(control.words[cls.GENERATION])
            if control.owner_lives() and not control.words[cls.CLOSED]:
                owner = control.words[cls.PID]
                raise PaddockError(f"ring {name!r} is already published by process {owner}; choose another name")
        for path in (_path(name), data_path(name, generation), data_path(name, generation + 1)):
            cls.discard(path)


def data_path(name: str, generation: int) -> str:
    """What the data segment of a ring is called."""
    return f"{_path(name)}.{generation}"


def _path(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise InvalidValueError(f"ring name {name!r}: use up to 40 letters, digits, _ and -")
    return f"paddock.{name}"


def _present() -> list[str]:
    """The names of the rings on this machine, where the operating system lists them."""
    return [p.name.split(".")[1] for p in Path("/dev/shm").glob("paddock.*") if p.name.count(".") == 1]


def _birth(pid: int) -> int:
    """When a running process started (clock ticks since boot); 1 where that is not told, 0 for one that is gone."""
    if sys.platform == "win32":
        return 1  # there a segment vanishes with its last user anyway
    try:
        if not Path("/proc/self/stat").exists():
            os.kill(pid, 0)
            return 1
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError as error:
        return int(isinstance(error, PermissionError))
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


_registering = Lock()
_S = TypeVar("_S", bound=Segment)


def _attach_untracked(kind: type[_S], path: str) -> _S:
    """Before 3.13 attaching registers the segment with a helper process, which removes it when this process ends."""
    with _registering:
        register = resource_tracker.register

        def register_others(name: Any, rtype: str) -> None:
            if name != f"/{path}":
                register(name, rtype)

        resource_tracker.register = register_others
        try:
            return kind(path)
        finally:
            resource_tracker.register = register
