"""Rings in shared memory: one writer, any number of readers in other processes; neither waits for the other.

Two rings share this code: snapshots (`RingWriter`, `RingReader`, for the hub) and encoded stream frames
(`FrameRingWriter`, `FrameRingReader`, for local renderers; its bytes are documented in `wire/stream/frames.py`).

`paddock.NAME` is the control segment, `paddock.NAME.G` the data segment of generation G. Words are little-endian u64:
magic, version, token, generation, slots, stride, first, extra, latest, retired. `extra` is the size of the layout
(Layout.to_bytes at byte 128) of a snapshot ring, the room for a group of a frame ring. At `first`, `stride` apart, are
the slots: lock and metadata in 64 bytes, then the payload. Message s (1, 2, ...) goes to slot s % slots; its lock is
2 s + 1 while it is written and 2 s once it is complete. A reader trusts what it has read only if the lock is 2 s before
and after. A message that does not fit starts a new generation.

Memory order: this relies on x86-64, where aligned 8-byte stores are atomic, stores become visible in program order and
loads happen in program order; other machines are refused. The exception are the streaming stores of a large memcpy;
hence the fences.
"""

import os
import secrets
import struct
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from threading import Lock
from time import monotonic, monotonic_ns, sleep
from time import time as wall_clock
from typing import Generic, Self, TypeVar
from weakref import finalize

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.wire.stream.frames import SHM_SLOT_META
from paddock.world.layout import BufferPool, Bytes, Layout, frozen
from paddock.world.shared_memory import RingControl, SharedSegment, Words, data_path
from paddock.world.snapshot import Snapshot

HEAD, SLOT_HEAD, U32 = SharedSegment.HEAD, 64, 0xFFFFFFFF
SLOTS, STRIDE, FIRST, EXTRA, LATEST, RETIRED = range(4, 10)
ATTEMPTS = 10_000  # reads tried before the writer counts as too fast
ROOMY, MOST_SLOTS = 64 << 20, 256  # bytes and slots of a ring that chooses the number of slots
POLL = 0.0002  # s between two polls of the ring while waiting
LIFE_CHECK = 0.1  # s between two checks whether a silent writer is alive
T = TypeVar("T")
_SNAPSHOT_META = struct.Struct("<qddII")  # tick, time, wall time, run, roster


class RingClosedError(PaddockError):
    """The writer has ended or crashed; nothing will follow."""


class OverwrittenError(PaddockError):
    """The writer has overwritten memory that was being read; discard everything computed from it."""


class FrameRingControl(RingControl):
    """The control segment of a ring of frames."""

    MAGIC = int.from_bytes(b"PDKFRAME", "little")


class _Data:
    """The data segment of one generation."""

    def __init__(self, segment: SharedSegment) -> None:
        self.segment, self.words, self.memory = segment, segment.words, segment.memory
        self.generation, self.slots, self.stride, self.first, self.extra = (int(w) for w in self.words[3:8])
        self.locks: Words = np.ndarray(self.slots, np.uint64, self.memory, self.first, (self.stride,))

    @classmethod
    def create(cls, name: str, control: Words, generation: int, slots: int, room: int, extra: bytes | int) -> Self:
        """Create a segment of `slots` payloads of `room` bytes; `extra` is stored behind the header, or is the word."""
        header = extra if isinstance(extra, bytes) else b""
        stride, first = SLOT_HEAD + room, -(-(HEAD + len(header)) // 64) * 64
        path = data_path(name, generation)
        SharedSegment.discard(path)  # left by a crashed writer
        segment = SharedSegment.create(path, first + slots * stride)
        segment.memory[HEAD : HEAD + len(header)] = header
        segment.words[:SLOTS] = (*control[: RingControl.GENERATION], generation)
        segment.words[SLOTS:LATEST] = (slots, stride, first, len(header) if header else extra)
        return cls(segment)

    @cached_property
    def layout(self) -> Layout:
        """The layout of the snapshots; a frame ring has none."""
        return Layout.from_bytes(bytes(self.memory[HEAD : HEAD + self.extra]))

    @property
    def latest(self) -> int:
        """The number of the newest complete message."""
        return int(self.words[LATEST])

    def slot(self, sequence: int) -> int:
        """Return the offset of a message's slot."""
        return self.first + (sequence % self.slots) * self.stride

    def holds(self, sequence: int) -> bool:
        """Return whether this message is present and complete."""
        return int(self.locks[sequence % self.slots]) == 2 * sequence

    def begin(self, sequence: int) -> None:
        """Lock the slot of a message before writing to it."""
        self.locks[sequence % self.slots] = 2 * sequence + 1
        fence()

    def end(self, sequence: int) -> None:
        """Make a message visible to readers."""
        fence()
        self.locks[sequence % self.slots] = 2 * sequence
        self.words[LATEST] = sequence


class _BaseWriter:
    """The name, generations and end of a ring."""

    CONTROL: type[RingControl] = RingControl

    def __init__(self, name: str | None, slots: int | None = 4) -> None:
        if slots is not None and slots < 2:
            raise InvalidValueError(f"a ring needs at least 2 slots, not {slots}")
        self.name = secrets.token_hex(4) if name is None else name
        self.sequence = 0
        self._slots, self._generation = slots, 0
        self._data: _Data | None = None
        self._segments: list[SharedSegment] = [self.CONTROL.claim(self.name)]
        self._control: Words | None = self._segments[0].words
        self._finalizer = finalize(self, _shut, self._segments, os.getpid())

    def close(self) -> None:
        """Notify the readers and remove the ring; copies that readers have made stay valid."""
        self._data = self._control = None
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> Words:
        if self._control is None:
            raise RingClosedError(f"ring {self.name!r} is closed")
        return self._control

    def _renew(self, slots: int, room: int, extra: bytes | int) -> _Data:
        """Start a new generation; readers see it with its first message."""
        self._generation += 1
        self._data = _Data.create(self.name, self._open(), self._generation, slots, room, extra)
        self._segments.append(self._data.segment)
        return self._data

    def _published(self, data: _Data) -> int:
        control = self._open()
        if data.generation != control[RingControl.GENERATION]:
            control[RingControl.GENERATION] = data.generation
            for old in self._segments[1:-1]:
                old.words[RETIRED] = 1
                old.remove()
                self._segments.remove(old)
        return self.sequence


class _BaseReader(Generic[T]):
    """The current generation, the newest message and the end of a ring."""

    CONTROL: type[RingControl] = RingControl

    def __init__(self, name: str) -> None:
        self.name = name
        self.sequence = 0  # of the message read last; 0 before the first
        self.dropped = 0  # messages published between those that this reader has read
        self._segment = self.CONTROL.find(name)
        self._control: Words | None = self._segment.words
        self._data: _Data | None = None
        self._checked, self._lives = -inf, True  # last check of the writer (monotonic s), and its result

    def close(self) -> None:
        """Detach from the ring."""
        self._data = self._control = None
        self._segment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _current(self) -> _Data | None:
        """Return the newest generation; None before the first, or when it is gone with its writer."""
        if self._control is None:
            raise RingClosedError(f"this reader of ring {self.name!r} is closed")
        for _ in range(100):
            generation, token = (int(self._control[k]) for k in (RingControl.GENERATION, RingControl.TOKEN))
            if generation == 0 or (self._data is not None and self._data.generation == generation):
                return self._data
            segment = SharedSegment.attach(data_path(self.name, generation))  # None if it has been retired meanwhile
            if segment is not None and segment.words[RingControl.TOKEN] == token:
                self._data = _Data(segment)
        return None

    @abstractmethod
    def _message(self, data: _Data, sequence: int) -> T | None:
        """Return a message in the ring's memory, not copied; None if it was overwritten meanwhile."""

    @abstractmethod
    def _copied(self, message: T) -> T:
        """Return a copy of a message."""

    @contextmanager
    def view(self) -> Iterator[T]:
        """Yield the newest message in the ring's memory, not copied; OverwrittenError at the end if it was overwritten.

        Do not use its arrays after the `with`: their contents change.
        """
        newest = self._newest()
        if newest is None:
            gone = self._gone()
            raise RingClosedError(gone) if gone else PaddockError(f"ring {self.name!r} is still empty")
        data, sequence, message = newest
        yield message
        if not data.holds(sequence):
            raise OverwrittenError(f"message {sequence} of ring {self.name!r} was overwritten while it was read")

    def holds(self, sequence: int) -> bool:
        """Return whether a message has not been overwritten."""
        return self._data is not None and self._data.holds(sequence)

    def _newest(self, after: int = 0) -> tuple[_Data, int, T] | None:
        """Return the newest message and its place, not copied; None before the first, or if it is `after`."""
        for _ in range(ATTEMPTS):
            data = self._current()
            if data is None or (sequence := data.latest) in (0, after):
                return None
            if (message := self._message(data, sequence)) is not None:
                return data, sequence, message
        raise self._too_fast()

    def _advance(self) -> T | None:
        """Return a copy of the newest message; None if it is the one read last."""
        for _ in range(ATTEMPTS):
            newest = self._newest(after=self.sequence)
            if newest is None and (gone := self._gone()) and (newest := self._newest(after=self.sequence)) is None:
                raise RingClosedError(gone)
            if newest is None:
                return None
            data, sequence, message = newest
            copy = self._copied(message)
            if data.holds(sequence):
                self.dropped += max(sequence - self.sequence - 1, 0) if self.sequence else 0
                self.sequence = sequence
                return copy
        raise self._too_fast()

    def _gone(self) -> str:
        """Return why no message will follow; empty while the writer is alive."""
        words = self._segment.words
        if words[RingControl.CLOSED]:
            return f"the simulation that published ring {self.name!r} has ended"
        if monotonic() - self._checked >= LIFE_CHECK:
            self._checked, self._lives = monotonic(), self._segment.owner_lives()
        dead = f"the simulation of ring {self.name!r} is gone: process {words[RingControl.PID]} crashed"
        return "" if self._lives else dead

    def _too_fast(self) -> PaddockError:
        return PaddockError(f"ring {self.name!r} is overwritten faster than it can be read; give it more slots")


class RingWriter(_BaseWriter):
    """Publishes snapshots under a name, by default a random one."""

    def __init__(self, name: str | None = None, slots: int | None = 4) -> None:
        """Claim the name; a reader has `slots` - 1 publications of time to copy a snapshot.

        None gives small snapshots more slots than large ones, for readers that want every snapshot.
        """
        super().__init__(name, slots)
        self._lock = Lock()
        self._layout: Layout | None = None

    def publish(self, snapshot: Snapshot) -> int:
        """Copy a snapshot into the ring, over the oldest one; return its sequence number (1, 2, ...)."""
        with self._lock:
            self._open()
            data, layout = self._data, snapshot.layout
            if data is None or (layout is not self._layout and layout != self._layout):
                slots = self._slots or min(max(ROOMY // max(layout.nbytes, 1), 4), MOST_SLOTS)
                data = self._renew(slots, layout.nbytes, layout.to_bytes())
            self._layout = layout
            self.sequence += 1
            data.begin(self.sequence)
            at = data.slot(self.sequence)
            meta = (snapshot.tick, snapshot.time, wall_clock(), snapshot.run & U32, snapshot.roster & U32)
            _SNAPSHOT_META.pack_into(data.memory, at + 8, *meta)
            np.copyto(_payload(data, at, layout), snapshot.buffer)
            data.end(self.sequence)
            return self._published(data)

    def mark(self, tick: int, passing: bool) -> None:
        """Let readers know the present tick, that the state has changed now, and whether time passes by itself."""
        control = self._control
        if control is not None:
            control[RingControl.TICK], control[RingControl.PASSING] = tick, passing
            control[RingControl.CHANGED] = monotonic_ns()

    def close(self) -> None:
        """Notify the readers and remove the ring; copies that readers have made stay valid."""
        with self._lock:
            super().close()


class RingReader(_BaseReader[Snapshot]):
    """Reads the snapshots published under the name of an existing ring. Not thread-safe: use one reader per thread."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.wall_time = 0.0  # s since 1970: publication of the snapshot read last
        self._pool = BufferPool()
        self._last: Snapshot | None = None

    def latest(self) -> Snapshot | None:
        """Return a copy of the newest snapshot; None before the first.

        After the writer's end the last snapshot is delivered once; then RingClosedError.
        """
        self._last = self._advance() or self._last
        return self._last

    def wait(self, after: int | None = None, timeout: float = 1.0) -> Snapshot | None:
        """Return the newest snapshot after that numbered `after` (default: the last read); None after `timeout` s."""
        after = self.sequence if after is None else after
        deadline = monotonic() + timeout
        while (snapshot := self.latest()) is None or self.sequence <= after:
            if monotonic() >= deadline:
                return None
            sleep(POLL)
        return snapshot

    @property
    def tick(self) -> int:
        """The writer's present tick."""
        return int(self._segment.words[RingControl.TICK])

    @property
    def changed_at(self) -> int | None:
        """When the writer's state last changed, in ns of its monotonic clock; None while time passes by itself."""
        words = self._segment.words
        return None if words[RingControl.PASSING] else int(words[RingControl.CHANGED])

    @property
    def newest(self) -> int:
        """The sequence number of the newest snapshot; 0 before the first."""
        data = self._current()
        return data.latest if data else 0

    def peek(self, sequence: int) -> Snapshot | None:
        """Return a snapshot in the ring's memory, not copied; None if the ring does not hold it.

        Results computed from it are valid only if `holds(sequence)` is still true afterwards. Sets `wall_time`.
        """
        data = self._current()
        return self._message(data, sequence) if data else None

    def _message(self, data: _Data, sequence: int) -> Snapshot | None:
        if not data.holds(sequence):
            return None
        layout, at = data.layout, data.slot(sequence)
        tick, time, wall_time, run, _ = _SNAPSHOT_META.unpack_from(data.memory, at + 8)
        snapshot = Snapshot(tick, time, run, layout, frozen(_payload(data, at, layout)))
        if not data.holds(sequence):
            return None
        self.wall_time = wall_time
        return snapshot

    def _copied(self, message: Snapshot) -> Snapshot:
        buffer = self._pool.take(message.layout.nbytes)
        np.copyto(buffer, message.buffer)
        return replace(message, buffer=frozen(buffer))


def _payload(data: _Data, at: int, layout: Layout) -> Bytes:
    return np.ndarray(layout.nbytes, np.uint8, data.memory, at + SLOT_HEAD)


@dataclass(frozen=True)
class FrameGroup:
    """Encoded stream frames of one tick, one after the other, as on a socket."""

    sequence: int
    tick: int
    time: float  # simulated s
    wall_time: float  # s since 1970, publication by the simulation
    run: int
    roster: int
    data: memoryview


class FrameRingWriter(_BaseWriter):
    """Publishes frames without copying: `slot(size)` returns memory to encode into, `publish` makes it visible."""

    CONTROL = FrameRingControl

    def slot(self, size: int) -> memoryview:
        """Return `size` bytes for the next group; readers do not see them before `publish`."""
        self._open()
        data = self._data
        if data is None or data.extra < size:
            room = -(-(size + size // 4 + 4096) // 64) * 64  # with reserve for a few more vehicles
            data = self._renew(self._slots or 4, room, room)
        data.begin(self.sequence + 1)
        at = data.slot(self.sequence + 1) + SLOT_HEAD
        return data.memory[at : at + size]

    def publish(self, size: int, tick: int, time: float, wall_time: float, run: int, roster: int) -> int:
        """Make the content of the slot visible to readers; return its sequence number."""
        self._open()
        data = self._data
        if data is None:
            raise PaddockError(f"ring {self.name!r}: call slot() before publish()")
        self.sequence += 1
        SHM_SLOT_META.pack_into(data.memory, data.slot(self.sequence) + 8, size, tick, time, wall_time, run, roster)
        data.end(self.sequence)
        return self._published(data)


class FrameRingReader(_BaseReader[FrameGroup]):
    """Reads the groups of frames published under a name."""

    CONTROL = FrameRingControl

    def latest(self) -> FrameGroup | None:
        """Return a copy of the newest group; None if it is the one read last."""
        return self._advance()

    def wait(self, timeout: float = 1.0) -> FrameGroup | None:
        """Return the next group; None after `timeout` s of wall time."""
        deadline = monotonic() + timeout
        while (group := self.latest()) is None:
            if monotonic() >= deadline:
                return None
            sleep(POLL)
        return group

    def _message(self, data: _Data, sequence: int) -> FrameGroup | None:
        if not data.holds(sequence):
            return None
        at = data.slot(sequence)
        size, tick, time, wall_time, run, roster = SHM_SLOT_META.unpack_from(data.memory, at + 8)
        if size > data.extra:  # it was overwritten while it was read
            return None
        payload = data.memory[at + SLOT_HEAD : at + SLOT_HEAD + size].toreadonly()
        return FrameGroup(sequence, tick, time, wall_time, run, roster, payload)

    def _copied(self, message: FrameGroup) -> FrameGroup:
        return replace(message, data=memoryview(bytes(message.data)))


def fence() -> None:
    """Order memory: taking a lock is an atomic read-modify-write, and on x86-64 no store moves across it."""
    with Lock():
        pass


def _shut(segments: list[SharedSegment], pid: int) -> None:
    """Mark the ring as closed and remove its segments, unless this is a forked child of the writer."""
    if os.getpid() == pid:
        segments[0].words[RingControl.CLOSED] = 1
        for segment in segments:
            segment.remove()
