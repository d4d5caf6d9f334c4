"""Snapshots for readers in other processes: one writer, any number of readers, nobody waits for anybody.

Two kinds of shared-memory segment, all words little-endian u64 unless noted:
  `paddock.NAME`    control: magic, version, token, generation, pid and birth of the writer, closed
  `paddock.NAME.G`  data of generation G: magic, version, token, generation, slots, stride, first, layout bytes, latest,
                    retired; at 128 the layout (Layout.to_bytes); at `first`, `stride` apart, the slots: lock, tick i64,
                    time f64 (s), wall time f64 (s since 1970), run u32, roster u32; 64 bytes on, the snapshot's buffer
Snapshot number s (1, 2, ...) goes to slot s % slots; its lock is 2 s + 1 while it is written and 2 s once it is whole.
A reader copies, and keeps the copy only if the lock is 2 s before and after. A new layout begins a new generation.

Memory order: this relies on x86-64, where aligned 8-byte stores are atomic, stores become visible in program order and
loads are done in program order. The exception are the streaming stores of a large memcpy; hence the fences.
"""

from __future__ import annotations

import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Lock
from time import monotonic, sleep
from time import time as wall_clock
from typing import Self
from weakref import finalize

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.world.layout import Layout
from paddock.world.pool import BufferPool, Bytes, frozen
from paddock.world.segment import Control, Segment, Words, data_path
from paddock.world.snapshot import Snapshot

HEAD, SLOT_HEAD, U32 = Segment.HEAD, 64, 0xFFFFFFFF
WORD_SLOTS, WORD_STRIDE, WORD_FIRST, WORD_LAYOUT, WORD_LATEST, WORD_RETIRED = range(4, 10)
ATTEMPTS = 10_000  # copies tried before a reader admits that the writer is too fast for it
ROOMY, MOST_SLOTS = 64 << 20, 256  # bytes and slots of a ring that chooses their number itself
POLL = 0.0002  # s between two looks at the ring while waiting
LIFE_CHECK = 0.1  # s between two looks at whether a silent writer still lives

_META = struct.Struct("<qddII")


class RingClosedError(PaddockError):
    """The simulation that published has ended or crashed; nothing will follow."""


class OverwrittenError(PaddockError):
    """The writer came round while its memory was being looked at; what was computed from it is worthless."""


class RingWriter:
    """Publishes snapshots under a name; without one, under a fresh one."""

    def __init__(self, name: str | None = None, slots: int | None = 4) -> None:
        """Claim the name; a reader has `slots` - 1 publications of time to copy a snapshot.

        None gives small snapshots more slots than large ones, for readers that want every one of them.
        """
        if slots is not None and slots < 2:
            raise InvalidValueError(f"a ring needs at least 2 slots, not {slots}")
        self.name = secrets.token_hex(4) if name is None else name
        self.sequence = 0
        self._slots, self._generation, self._lock = slots, 0, Lock()
        self._layout: Layout | None = None
        self._data: _Data | None = None
        self._segments: list[Segment] = [Control.claim(self.name)]
        self._control: Words | None = self._segments[0].words
        self._finalizer = finalize(self, _shut, self._segments, os.getpid())

    def publish(self, snapshot: Snapshot) -> int:
        """Copy a snapshot into the ring, over the oldest one there; its sequence number (1, 2, ...)."""
        with self._lock:
            if self._control is None:
                raise RingClosedError(f"ring {self.name!r} is closed")
            data = self._data_for(snapshot.layout, self._control)
            self.sequence += 1
            data.write(self.sequence, snapshot)
            if data.generation != self._control[Control.GENERATION]:
                self._control[Control.GENERATION] = data.generation
                self._retire_others()
            return self.sequence

    def close(self) -> None:
        """Tell the readers, and remove the ring; what they have copied stays theirs."""
        with self._lock:
            self._data = self._control = None
            self._finalizer()

    def __enter__(self) -> Self:
        """The writer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _data_for(self, layout: Layout, control: Words) -> _Data:
        """The data of a layout; a new generation becomes visible when its first snapshot is whole."""
        if self._data is None or (layout is not self._layout and layout != self._layout):
            self._generation += 1
            path = data_path(self.name, self._generation)
            Segment.discard(path)  # left by a writer that crashed
            slots = self._slots or min(max(ROOMY // max(layout.nbytes, 1), 4), MOST_SLOTS)
            self._segments.append(_create_data(path, layout, slots, control, self._generation))
            self._data = _Data(self._segments[-1])
        self._layout = layout
        return self._data

    def _retire_others(self) -> None:
        for old in self._segments[1:-1]:
            old.words[WORD_RETIRED] = 1
            old.remove()
            self._segments.remove(old)


class RingReader:
    """Reads the snapshots published under a name; never slows the writer down. For one thread; make one for each."""

    def __init__(self, name: str, pool: BufferPool | None = None) -> None:
        """Attach to a ring that exists; copies are made into buffers of the pool."""
        self.name = name
        self.sequence = 0  # of the snapshot read last; 0 before the first
        self.wall_time = 0.0  # s since 1970: when that one was published
        self.dropped = 0  # snapshots published between those this reader took
        self._pool = pool or BufferPool()
        self._segment = Control.find(name)
        self._control: Words | None = self._segment.words
        self._data: _Data | None = None
        self._last: Snapshot | None = None
        self._checked, self._lives = -inf, True  # when (monotonic s) the writer was last looked at, and what was seen

    def latest(self) -> Snapshot | None:
        """The newest snapshot as a copy of one's own; None if there was none yet.

        After the writer's end the last snapshot is still delivered once; then RingClosedError.
        """
        if not self._advance():
            gone = self._gone()
            if gone and not self._advance():
                raise RingClosedError(gone)
        return self._last

    def wait(self, after: int | None = None, timeout: float = 1.0) -> Snapshot | None:
        """The newest snapshot once its sequence number is above `after` (default: the last read); None after timeout.

        `timeout` in s of wall time.
        """
        after = self.sequence if after is None else after
        deadline = monotonic() + timeout
        while (snapshot := self.latest()) is None or self.sequence <= after:
            if monotonic() >= deadline:
                return None
            sleep(POLL)
        return snapshot

    @property
    def newest(self) -> int:
        """The sequence number of the newest snapshot; 0 before the first."""
        data = self._current()
        return data.latest if data else 0

    def peek(self, sequence: int) -> Snapshot | None:
        """A certain snapshot in the ring's own memory, not copied; None if it is no longer (or not yet) there.

        Whatever is made of it counts only if `holds(sequence)` is still true afterwards. Sets `wall_time`.
        """
        data = self._current()
        found = data.read(sequence, None) if data else None
        if found is None:
            return None
        self.wall_time = found[0]
        return found[1]

    def holds(self, sequence: int) -> bool:
        """Whether a snapshot that was peeked at has not been overwritten since."""
        return self._data is not None and self._data.holds(sequence)

    @contextmanager
    def view(self) -> Iterator[Snapshot]:
        """The newest snapshot in the ring's own memory, not copied; OverwrittenError at the end if it did not last.

        Keep no array of it beyond the `with`: its content changes.
        """
        for _ in range(ATTEMPTS):
            data = self._current()
            if data is None:
                gone = self._gone()
                raise RingClosedError(gone) if gone else PaddockError(f"ring {self.name!r} holds no snapshot yet")
            sequence = data.latest
            if found := data.read(sequence, None):
                yield found[1]
                if not data.holds(sequence):
                    raise OverwrittenError(f"snapshot {sequence} of ring {self.name!r} was overwritten while in view")
                return
        raise self._too_fast()

    def close(self) -> None:
        """Let go of the ring."""
        self._data = self._control = None
        self._segment.close()

    def __enter__(self) -> Self:
        """The reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _advance(self) -> bool:
        """Copy the newest snapshot if it is not the last one read."""
        buffer: Bytes | None = None
        for _ in range(ATTEMPTS):
            data = self._current()
            sequence = data.latest if data else self.sequence
            if data is None or sequence == self.sequence:
                return False
            if buffer is None or buffer.nbytes != data.layout.nbytes:
                buffer = self._pool.take(data.layout.nbytes)
            if found := data.read(sequence, buffer):
                self.dropped += max(sequence - self.sequence - 1, 0) if self.sequence else 0
                self.sequence, (self.wall_time, self._last) = sequence, found
                return True
        raise self._too_fast()

    def _current(self) -> _Data | None:
        """The newest generation; None before the first, or when it is gone with its writer."""
        if self._control is None:
            raise RingClosedError(f"this reader of ring {self.name!r} is closed")
        for _ in range(100):
            generation, token = int(self._control[Control.GENERATION]), int(self._control[Control.TOKEN])
            if generation == 0 or (self._data is not None and self._data.generation == generation):
                return self._data
            segment = Segment.attach(data_path(self.name, generation))  # None if the writer has moved on meanwhile
            if segment is not None and segment.words[Control.TOKEN] == token:
                self._data = _Data(segment)
        return None

    def _gone(self) -> str:
        """Why nothing will follow; empty while the writer lives."""
        words = self._segment.words
        if words[Control.CLOSED]:
            return f"the simulation that published ring {self.name!r} has ended"
        if monotonic() - self._checked >= LIFE_CHECK:
            self._checked, self._lives = monotonic(), self._segment.owner_lives()
        dead = f"the simulation of ring {self.name!r} is gone: process {words[Control.PID]} crashed"
        return "" if self._lives else dead

    def _too_fast(self) -> PaddockError:
        return PaddockError(f"ring {self.name!r} is overwritten faster than it can be read; give it more slots")


class _Data:
    """The segment of one generation, cut into numpy views."""

    def __init__(self, segment: Segment) -> None:
        self._segment, self.words = segment, segment.words
        self.generation, self.slots, self._stride, self._first = (int(w) for w in self.words[3:7])
        size = int(self.words[WORD_LAYOUT])
        self.layout = Layout.from_bytes(bytes(segment.memory[HEAD : HEAD + size]))
        self.locks: Words = np.ndarray(self.slots, np.uint64, segment.memory, self._first, (self._stride,))
        shape, strides = (self.slots, self.layout.nbytes), (self._stride, 1)
        self.payloads: Bytes = np.ndarray(shape, np.uint8, segment.memory, self._first + SLOT_HEAD, strides)

    @property
    def latest(self) -> int:
        """The sequence number of the newest whole snapshot."""
        return int(self.words[WORD_LATEST])

    def holds(self, sequence: int) -> bool:
        """Whether this snapshot is there, whole."""
        return int(self.locks[sequence % self.slots]) == 2 * sequence

    def write(self, sequence: int, snapshot: Snapshot) -> None:
        """Put a snapshot into its slot."""
        slot = sequence % self.slots
        self.locks[slot] = 2 * sequence + 1
        fence()
        meta = (snapshot.tick, snapshot.time, wall_clock(), snapshot.run & U32, snapshot.roster & U32)
        _META.pack_into(self._segment.memory, self._first + slot * self._stride + 8, *meta)
        np.copyto(self.payloads[slot], snapshot.buffer)
        fence()
        self.locks[slot] = 2 * sequence
        self.words[WORD_LATEST] = sequence

    def read(self, sequence: int, into: Bytes | None) -> tuple[float, Snapshot] | None:
        """(wall time, snapshot), copied or, without a buffer, in place; None if it was overwritten meanwhile."""
        slot = sequence % self.slots
        if not self.holds(sequence):
            return None
        tick, at, wall_time, run, _ = _META.unpack_from(self._segment.memory, self._first + slot * self._stride + 8)
        if into is None:
            into = self.payloads[slot]
        else:
            np.copyto(into, self.payloads[slot])
        return (wall_time, Snapshot(tick, at, run, self.layout, frozen(into))) if self.holds(sequence) else None


def _create_data(path: str, layout: Layout, slots: int, control: Words, generation: int) -> Segment:
    """A segment for `slots` snapshots of a layout."""
    description = layout.to_bytes()
    stride = SLOT_HEAD + layout.nbytes
    first = -(-(HEAD + len(description)) // 64) * 64
    segment = Segment.create(path, first + slots * stride)
    segment.memory[HEAD : HEAD + len(description)] = description
    segment.words[:WORD_SLOTS] = (*control[: Control.GENERATION], generation)
    segment.words[WORD_SLOTS:WORD_LATEST] = (slots, stride, first, len(description))
    return segment


def fence() -> None:
    """Taking a lock is an atomic read-modify-write: on x86-64 no store moves across it."""
    with Lock():
        pass


def _shut(segments: list[Segment], pid: int) -> None:
    """Mark the ring as closed and remove its segments, unless this is a forked child of the writer."""
    if os.getpid() == pid:
        segments[0].words[Control.CLOSED] = 1
        for segment in segments:
            segment.remove()
