"""Shared memory with a name: segments that other processes attach to, and who may remove them."""

from __future__ import annotations

import os
import re
import secrets
import sys
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from threading import Lock
from time import sleep
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name

Words = NDArray[np.uint64]


class Segment(SharedMemory):
    """A named piece of memory that other processes can attach to; only whoever created it removes it."""

    MAGIC, VERSION = int.from_bytes(b"PDKRING\0", "little"), 1
    HEAD = 128
    """Bytes at the start that `words` shows."""

    @classmethod
    def create(cls, path: str, nbytes: int) -> Self:
        """A new zeroed one, its pages reserved now: writing to memory that is not there would kill the process."""
        try:
            segment = _create_untracked(cls, path, nbytes)
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
        if sys.version_info < (3, 13):  # unlink() takes back a registration, so there must be one
            resource_tracker.register(f"/{self.name.lstrip('/')}", "shared_memory")
        try:
            self.unlink()
        except FileNotFoundError:
            if sys.version_info < (3, 13):
                resource_tracker.unregister(f"/{self.name.lstrip('/')}", "shared_memory")
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
        cls.sweep()
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
    def sweep(cls) -> None:
        """Remove the rings of this kind whose owners died without a chance to do so themselves."""
        for name in _present():
            control = cls.attach(f"paddock.{name}")
            if control is None:
                continue
            words = control.words
            if words[cls.FIRST] == cls.MAGIC and words[cls.FORMAT] == cls.VERSION and not control.owner_lives():
                generation = int(words[cls.GENERATION])
                for path in (_path(name), data_path(name, generation), data_path(name, generation + 1)):
                    cls.discard(path)
            control.close()

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


def _create_untracked(kind: type[_S], path: str, nbytes: int) -> _S:
    """A new segment that outlives this process should it be killed: `Control.sweep` removes what the dead leave.

    The helper process that would otherwise remove it does so by its name, which may be another process's by then.
    """
    if sys.version_info >= (3, 13):
        return kind(path, create=True, size=nbytes, track=False)
    segment = kind(path, create=True, size=nbytes)
    resource_tracker.unregister(f"/{path}", "shared_memory")
    return segment


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
