"""Snapshots as groups of frames; everything is encoded once, however many connections want the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from paddock.serve.endpoints.stream.change import NATIVE, change_to
from paddock.serve.endpoints.stream.drawing import Drawing
from paddock.serve.endpoints.stream.outbox import Group
from paddock.serve.endpoints.stream.selection import Selection, Wanted, select
from paddock.serve.endpoints.stream.status import encode_status, encode_views, views_size
from paddock.serve.endpoints.stream.subscription import View
from paddock.wire.stream.frames import Target, counted_size
from paddock.wire.stream.positions import POSITIONS, Poses, encode_positions
from paddock.wire.stream.telemetry import TELEMETRY
from paddock.wire.stream.tick import FRAME_SIZE as TICK_SIZE
from paddock.wire.stream.tick import Tick, encode_tick
from paddock.world.frames import FRAMES
from paddock.world.layout import Layout
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.mirror import Mirror

U32 = 0xFFFFFFFF
DRAWN = ("lines", "spheres")
"""Kinds that are made of markers, not of vehicles."""


class GroupEncoder:
    """Encodes one snapshot at a time; keeps what can be used again for the next."""

    def __init__(self, mirror: Mirror) -> None:
        self._drawing = Drawing(mirror)
        self._layout: Layout | None = None
        self._selections: dict[Wanted | None, Selection] = {}
        self._made: dict[tuple[object, ...], memoryview] = {}
        self._snapshot: Snapshot | None = None
        self._wall_time = 0.0

    def begin(self, snapshot: Snapshot, wall_time: float) -> None:
        """Encode this one from now on; `wall_time` is when it was published, s since 1970."""
        if snapshot.layout is not self._layout:
            self._layout = snapshot.layout
            self._selections.clear()
        self._snapshot, self._wall_time = snapshot, wall_time
        self._made.clear()

    def end(self) -> None:
        """Keep nothing of the snapshot."""
        self._snapshot = None
        self._made.clear()

    def group(self, view: View) -> Group:
        """The frames that a view shows of the snapshot."""
        assert self._snapshot is not None, "begin() comes first"
        snapshot = self._snapshot
        parts = [self._once(("tick",), partial(self._tick, snapshot))] if view.tick else []
        for kind in view.in_groups:
            frame = NATIVE if kind == "telemetry" else view.frame
            wanted = None if kind in ("lines", "spheres") else view.vehicles
            parts.append(self._once((kind, frame, wanted), partial(self._frame, kind, view, snapshot)))
        return Group(tuple(parts))

    def write(self, view: View, room: Callable[[int], memoryview]) -> int:
        """Encode what a view shows straight into the memory that `room(bytes)` gives; how many bytes that are."""
        assert self._snapshot is not None, "begin() comes first"
        snapshot = self._snapshot
        drawn = {kind: self._frame(kind, view, snapshot) for kind in view.in_groups if kind in DRAWN}
        sizes = [self._size(kind, view, snapshot, drawn) for kind in view.in_groups]
        at, total = TICK_SIZE, TICK_SIZE + sum(sizes)
        memory = room(total)
        self._tick(snapshot, memory)
        for kind, size in zip(view.in_groups, sizes, strict=True):
            if kind in drawn:
                memory[at : at + size] = drawn[kind]
            else:
                self._frame(kind, view, snapshot, memory[at : at + size])
            at += size
        return total

    def _size(self, kind: str, view: View, snapshot: Snapshot, drawn: dict[str, memoryview]) -> int:
        selection = self.selection(view.vehicles)
        match kind:
            case "positions":
                return counted_size(POSITIONS, selection.size)
            case "telemetry":
                return counted_size(TELEMETRY, selection.size)
            case "fpv":
                return views_size(snapshot, selection)
        return len(drawn[kind])

    def selection(self, wanted: Wanted | None) -> Selection:
        """The vehicles that are wanted, in the layout of the snapshot."""
        assert self._layout is not None, "begin() comes first"
        if wanted not in self._selections:
            self._selections[wanted] = select(self._layout, wanted)
        return self._selections[wanted]

    def warm(self) -> None:
        """Compile, or load, what encodes positions: nothing may take long once the hub serves."""
        ids, block, rows = np.arange(1, 3), np.zeros((7, 2)), np.array([0])
        ids.flags.writeable = block.flags.writeable = False  # as those of snapshots are: compiled apart
        for frame in FRAMES:
            encode_positions([Poses(ids, block), Poses(ids, block, rows)], change_to(frame))

    def _once(self, key: tuple[object, ...], make: Callable[[], memoryview]) -> memoryview:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _tick(self, snapshot: Snapshot, into: Target | None = None) -> memoryview:
        run, roster = snapshot.run & U32, snapshot.roster & U32
        return encode_tick(Tick(snapshot.tick, snapshot.time, self._wall_time, run, roster), into)

    def _frame(self, kind: str, view: View, snapshot: Snapshot, into: Target | None = None) -> memoryview:
        match kind:
            case "positions":
                return self._positions(view, snapshot, into)
            case "telemetry":
                return encode_status(snapshot, self.selection(view.vehicles), into)
            case "fpv":
                return encode_views(snapshot, self.selection(view.vehicles), view.frame, into)
            case "lines":
                return self._drawing.lines(snapshot, view.frame)
        return self._drawing.spheres(snapshot, view.frame)

    def _positions(self, view: View, snapshot: Snapshot, into: Target | None) -> memoryview:
        layout = snapshot.layout
        parts = [
            Poses(layout.fleets[fleet].ids, layout.block(snapshot.buffer, fleet)[:7], rows)
            for fleet, rows in self.selection(view.vehicles).parts
        ]
        return encode_positions(parts, change_to(view.frame), into)
