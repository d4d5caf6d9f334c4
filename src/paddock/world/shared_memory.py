"""Named shared-memory segments, and the control segment of a ring.

Only the process that created a segment removes it; its hub or the next writer removes those of a dead process.
"""

import os
import platform
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

from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError, UnknownNameError, unknown_name

Words = NDArray[np.uint64]


def refuse_weak_order() -> None:
    """Raise MissingFeatureError unless stores become visible in program order, on which the rings rely."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        what = f"shared-memory rings need an x86-64 processor, not {platform.machine()}"
        raise MissingFeatureError(f"{what}: run without endpoints (no `serve`, no show())")


class SharedSegment(SharedMemory):
    """A named piece of memory that other processes can attach to."""

    MAGIC, VERSION = int.from_bytes(b"PDKRING\0", "little"), 1
    HEAD = 128  # bytes of the header, the `words`

    @classmethod
    def create(cls, path: str, nbytes: int) -> Self:
        """Create a zeroed segment with all pages reserved: writing to an unreserved page would kill the process."""
        try:
            segment = _opened(cls, path, create=True, size=nbytes)
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(segment._fd, 0, nbytes)  # type: ignore[attr-defined]
            except OSError:
                segment.remove()
                raise
        except FileExistsError:
            raise
        except OSError as error:
            raise PaddockError(f"cannot allocate {nbytes / 1e6:.1f} MB of shared memory: {error.strerror}") from None
        return segment

    @classmethod
    def attach(cls, path: str) -> Self | None:
        """Attach to an existing segment; None if it does not exist or is not ready yet."""
        try:
            return _opened(cls, path)
        except (FileNotFoundError, ValueError):  # ValueError: created, but still of size 0
            return None

    @classmethod
    def discard(cls, path: str) -> None:
        """Remove a segment that a dead process has left, if any."""
        segment = cls.attach(path)
        if segment is not None:
            segment.remove()

    @property
    def memory(self) -> memoryview:
        """All bytes of the segment."""
        assert self.buf is not None, "the segment is closed"
        return self.buf

    @property
    def words(self) -> Words:
        """(16,) the header as u64."""
        return np.frombuffer(self.memory, np.uint64, self.HEAD // 8)

    def remove(self) -> None:
        """Unlink and close; attached processes keep the memory until they close it, too."""
        if sys.version_info < (3, 13):  # unlink() removes a registration, so there must be one
            resource_tracker.register(f"/{self.name.lstrip('/')}", "shared_memory")
        try:
            self.unlink()
        except FileNotFoundError:
            if sys.version_info < (3, 13):
                resource_tracker.unregister(f"/{self.name.lstrip('/')}", "shared_memory")
        self.close()

    def close(self) -> None:
        """Close; memory that arrays still refer to is unmapped with the last of them."""
        try:
            super().close()
        except BufferError:
            self._buf = self._mmap = None
            super().close()  # the file descriptor


class RingControl(SharedSegment):
    """The segment that identifies a ring: its writer, and the current generation of its data."""

    FIRST, FORMAT, TOKEN, GENERATION, PID, BIRTH, CLOSED, CHANGED, PASSING, TICK = range(10)
    """Indices of its words; the first is MAGIC, the second VERSION. The last three are those of `RingWriter.mark`."""

    @classmethod
    def claim(cls, name: str) -> Self:
        """Create the control segment of this process; replace that of a dead process."""
        refuse_weak_order()
        cls.sweep()
        for _ in range(100):
            try:
                control = cls.create(_path(name), cls.HEAD)
            except FileExistsError:
                cls._evict(name)
                continue
            pid = os.getpid()
            control.words[cls.FORMAT : cls.CLOSED + 1] = (cls.VERSION, secrets.randbits(63), 0, pid, _birth(pid), 0)
            control.words[cls.FIRST] = cls.MAGIC  # last: makes it valid
            return control
        raise PaddockError(f"ring {name!r}: another process keeps creating it")

    @classmethod
    def find(cls, name: str) -> Self:
        """Attach to an existing control segment, waiting briefly for it to be ready."""
        refuse_weak_order()
        for _ in range(50):
            control = cls.attach(_path(name))
            if control is not None and control.words[cls.FIRST] == cls.MAGIC:
                break
            sleep(0.002)
        else:
            raise unknown_name("ring", name, _present())
        if control.words[cls.FORMAT] != cls.VERSION:
            version = control.words[cls.FORMAT]
            raise PaddockError(f"ring {name!r} has version {version}; this Paddock reads version {cls.VERSION}")
        return control

    def owner_lives(self) -> bool:
        """Return whether the process that created it still runs."""
        return _birth(int(self.words[self.PID])) == int(self.words[self.BIRTH])

    @classmethod
    def sweep(cls) -> None:
        """Remove the rings of this kind whose writers have died."""
        for name in _present():
            cls.remove_dead(name)

    @classmethod
    def remove_dead(cls, name: str) -> bool:
        """Remove a ring of this kind if its writer has died; return whether there is none now."""
        control = cls.attach(f"paddock.{name}")
        if control is None:
            return True
        words = control.words
        dead = words[cls.FIRST] == cls.MAGIC and words[cls.FORMAT] == cls.VERSION and not control.owner_lives()
        if dead:
            generation = int(words[cls.GENERATION])
            for path in (_path(name), data_path(name, generation), data_path(name, generation + 1)):
                cls.discard(path)
        control.close()
        return bool(dead)

    @classmethod
    def _evict(cls, name: str) -> None:
        """Remove the segments of a dead writer."""
        generation = 0
        with suppress(UnknownNameError):  # not ready
            control = cls.find(name)
            generation = int(control.words[cls.GENERATION])
            if control.owner_lives() and not control.words[cls.CLOSED]:
                owner = control.words[cls.PID]
                raise PaddockError(f"ring {name!r} is already published by process {owner}; choose another name")
        for path in (_path(name), data_path(name, generation), data_path(name, generation + 1)):
            cls.discard(path)


def data_path(name: str, generation: int) -> str:
    """Return the name of a ring's data segment."""
    return f"{_path(name)}.{generation}"


def _path(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise InvalidValueError(f"ring name {name!r}: use up to 40 letters, digits, _ and -")
    return f"paddock.{name}"


def _present() -> list[str]:
    """Return the names of the rings on this machine, where the operating system lists them."""
    return [p.name.split(".")[1] for p in Path("/dev/shm").glob("paddock.*") if p.name.count(".") == 1]


def _birth(pid: int) -> int:
    """Return the start of a running process (clock ticks since boot); 1 if unknown, 0 for a dead process."""
    if sys.platform == "win32":
        return 1  # a segment vanishes with its last user
    try:
        if not Path("/proc/self/stat").exists():
            os.kill(pid, 0)
            return 1
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError as error:
        return int(isinstance(error, PermissionError))
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


_registering = Lock()
_S = TypeVar("_S", bound=SharedSegment)


def _opened(kind: type[_S], path: str, **options: Any) -> _S:
    """Create a segment or attach to one without Python's resource tracker; `RingControl.sweep` removes what is left.

    The tracker would remove it when this process ends: by name, which may belong to another process by then.
    """
    if sys.version_info >= (3, 13):
        return kind(path, track=False, **options)
    with _registering:
        register = resource_tracker.register

        def register_others(name: Any, rtype: str) -> None:
            if name != f"/{path}":
                register(name, rtype)

        resource_tracker.register = register_others
        try:
            return kind(path, **options)
        finally:
            resource_tracker.register = register
