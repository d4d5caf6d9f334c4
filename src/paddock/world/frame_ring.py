"""Encoded frames for renderers in other processes: a seqlock ring in shared memory, written in place, read in place.

Two kinds of segment, all words little-endian u64 unless noted:
  `paddock.NAME`    control: magic "PDKFRAME", version, token, generation, pid and birth of the writer, closed
  `paddock.NAME.G`  data of generation G: magic, version, token, generation, slots, stride, first, room, latest,
                    retired; at `first`, `stride` apart, the slots: lock, size, tick, time f64 (s), wall time f64
                    (s since 1970), run u32, roster u32; 64 bytes on, `room` bytes for the frames
Group number s (1, 2, ...) goes to slot s % slots; its lock is 2 s + 1 while it is written and 2 s once it is whole. A
reader uses what it finds, and believes it only if the lock is 2 s before and after. A group that does not fit begins a
new generation with more room. Memory order is as for snapshots: see `ring.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Self

from paddock.errors import InvalidValueError, PaddockError
from paddock.world.ring import OverwrittenError, RingClosedError, fence
from paddock.world.segment import Control, Segment, Words, data_path

SLOT_HEAD = 64
SLOTS, STRIDE, FIRST, ROOM, LATEST, RETIRED = range(4, 10)
POLL = 0.0005  # s between two looks while waiting
_META = struct.Struct("<QQddII")


class FrameControl(Control):
    """The segment that a ring of frames is known by."""

    MAGIC = int.from_bytes(b"PDKFRAME", "little")


@dataclass(frozen=True)
class Frames:
    """A group of encoded stream frames, as they would follow each other on a socket."""

    sequence: int
    tick: int
    time: float  # simulated s
    wall_time: float  # s since 1970, when the simulation published
    run: int
    roster: int
    data: memoryview


class FrameRingWriter:
    """`slot(size)` gives memory to encode into, `publish` shows it to the readers; no byte is copied in between."""

    def __init__(self, name: str, slots: int = 4) -> None:
        """Claim the name."""
        if slots < 2:
            raise InvalidValueError(f"a ring needs at least 2 slots, not {slots}")
        self.name = name
        self.sequence = 0
        self._slots = slots
        self._control: FrameControl | None = FrameControl.claim(name)
        self._data: _Data | None = None

    def slot(self, size: int) -> memoryview:
        """Room for the next group (`size` bytes); readers do not see it before `publish`."""
        data = self._with_room(size)
        at = data.slot(self.sequence + 1)
        data.lock(at, 2 * (self.sequence + 1) + 1)
        return data.memory[at + SLOT_HEAD : at + SLOT_HEAD + size]

    def publish(self, size: int, tick: int, time: float, wall_time: float, run: int, roster: int) -> int:
        """Show what was written into the slot; its sequence number."""
        if self._control is None or self._data is None:
            raise RingClosedError(f"ring {self.name!r} is closed")
        data, at = self._data, self._data.slot(self.sequence + 1)
        self.sequence += 1
        _META.pack_into(data.memory, at + 8, size, tick, time, wall_time, run, roster)
        data.lock(at, 2 * self.sequence)
        data.words[LATEST] = self.sequence
        control = self._control.words
        if control[Control.GENERATION] != data.generation:
            control[Control.GENERATION] = data.generation
        return self.sequence

    def close(self) -> None:
        """Tell the readers, and remove the ring."""
        if self._control is not None:
            self._control.words[Control.CLOSED] = 1
            if self._data is not None:
                self._data.segment.remove()
            self._control.remove()
            self._control = self._data = None

    def __enter__(self) -> Self:
        """The writer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _with_room(self, size: int) -> _Data:
        if self._control is None:
            raise RingClosedError(f"ring {self.name!r} is closed")
        if self._data is None or self._data.room < size:
            old = self._data
            generation = 1 if old is None else old.generation + 1
            self._data = _create(self.name, self._control.words, generation, self._slots, size)
            if old is not None:
                old.words[RETIRED] = 1
                old.segment.remove()
        return self._data


class FrameRingReader:
    """Reads the groups of frames published under a name; never slows the writer down."""

    def __init__(self, name: str) -> None:
        """Attach to a ring that exists."""
        self.name = name
        self.sequence = 0  # of the group read last
        self.dropped = 0  # groups published between those this reader took
        self._control = FrameControl.find(name)
        self._data: _Data | None = None

    @contextmanager
    def view(self) -> Iterator[Frames]:
        """The newest group in the ring's own memory; OverwrittenError at the end if it did not last."""
        found = self._peek()
        if found is None:
            raise self._gone() or PaddockError(f"ring {self.name!r} holds nothing yet")
        yield found
        if not self._lasted(found):
            raise OverwrittenError(f"group {found.sequence} of ring {self.name!r} was overwritten while in view")

    def latest(self) -> Frames | None:
        """The newest group as a copy of one's own; None if there is none newer than the last one taken."""
        for _ in range(1000):
            found = self._peek()
            if found is None or found.sequence == self.sequence:
                gone = self._gone()
                if gone is not None:
                    raise gone
                return None
            copy = Frames(*(*_plain(found), memoryview(bytes(found.data))))
            if self._lasted(found):
                self.dropped += max(found.sequence - self.sequence - 1, 0) if self.sequence else 0
                self.sequence = found.sequence
                return copy
        raise PaddockError(f"ring {self.name!r} is overwritten faster than it can be read; give it more slots")

    def wait(self, timeout: float = 1.0) -> Frames | None:
        """The next newest group; None if none came within `timeout` s of wall time."""
        deadline = monotonic() + timeout
        while (found := self.latest()) is None:
            if monotonic() >= deadline:
                return None
            sleep(POLL)
        return found

    def close(self) -> None:
        """Let go."""
        self._data = None
        self._control.close()

    def __enter__(self) -> Self:
        """The reader itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _current(self) -> _Data | None:
        words = self._control.words
        for _ in range(100):
            generation = int(words[Control.GENERATION])
            if generation == 0 or (self._data is not None and self._data.generation == generation):
                return self._data
            segment = Segment.attach(data_path(self.name, generation))  # None if the writer has moved on meanwhile
            if segment is not None and segment.words[Control.TOKEN] == words[Control.TOKEN]:
                self._data = _Data(segment)
        return self._data

    def _peek(self) -> Frames | None:
        data = self._current()
        if data is None:
            return None
        for _ in range(1000):
            sequence = int(data.words[LATEST])
            if sequence == 0:
                return None
            if (found := data.read(sequence)) is not None:
                return found
        return None

    def _lasted(self, found: Frames) -> bool:
        return self._data is not None and self._data.locked(self._data.slot(found.sequence)) == 2 * found.sequence

    def _gone(self) -> RingClosedError | None:
        words = self._control.words
        if words[Control.CLOSED]:
            return RingClosedError(f"whoever published ring {self.name!r} has ended")
        if not self._control.owner_lives():
            return RingClosedError(f"the process {words[Control.PID]} that published ring {self.name!r} is gone")
        return None


class _Data:
    """The segment of one generation."""

    def __init__(self, segment: Segment) -> None:
        self.segment, self.words, self.memory = segment, segment.words, segment.memory
        self.generation, self.slots, self.stride, self.first, self.room = (int(w) for w in self.words[3:8])

    def slot(self, sequence: int) -> int:
        """Where the slot of a group begins."""
        return self.first + (sequence % self.slots) * self.stride

    def lock(self, at: int, value: int) -> None:
        """Set a slot's lock, after and before everything else that is written to it."""
        fence()
        struct.pack_into("<Q", self.memory, at, value)
        fence()

    def locked(self, at: int) -> int:
        """A slot's lock."""
        value: int = struct.unpack_from("<Q", self.memory, at)[0]
        return value

    def read(self, sequence: int) -> Frames | None:
        """A group in place; None if it is not there, whole."""
        at = self.slot(sequence)
        if self.locked(at) != 2 * sequence:
            return None
        size, tick, time, wall_time, run, roster = _META.unpack_from(self.memory, at + 8)
        if size > self.room:
            return None  # overwritten while it was read
        data = self.memory[at + SLOT_HEAD : at + SLOT_HEAD + size].toreadonly()
        return Frames(sequence, tick, time, wall_time, run, roster, data)


def _create(name: str, control: Words, generation: int, slots: int, size: int) -> _Data:
    room = -(-(size + size // 4 + 4096) // 64) * 64  # a little more, so that a few more vehicles fit
    stride = SLOT_HEAD + room
    path = data_path(name, generation)
    Segment.discard(path)  # left by a writer that crashed
    segment = Segment.create(path, Segment.HEAD + slots * stride)
    segment.words[:SLOTS] = (*control[: Control.GENERATION], generation)
    segment.words[SLOTS:LATEST] = (slots, stride, Segment.HEAD, room)
    return _Data(segment)


def _plain(found: Frames) -> tuple[int, int, float, float, int, int]:
    return (found.sequence, found.tick, found.time, found.wall_time, found.run, found.roster)
