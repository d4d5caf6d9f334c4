"""Encodes snapshots as groups of frames, once for all connections with equal views.

Health is 0 of a vehicle that has crashed and is disarmed, that its mission has lost (damaged), or whose pose is not
finite; else 0.5 if a failsafe of its autopilot is active or its battery is below LOW_CHARGE, else 1. Damage and
failsafes come with the heartbeat of the simulation. Signal and jammed are those of the vehicle's radio; without one,
the signal is 1. Whether a quadrotor is armed, its mode and its sticks are its commands, which snapshots carry for
fleets of up to 1,000; in larger fleets it counts as armed, its mode is 255 and its sticks are 0.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from paddock.serve.mirror import Mirror
from paddock.serve.subscribers.client import FrameGroup
from paddock.serve.subscribers.markers import MarkerDrawing
from paddock.serve.subscribers.subscription import (
    MOST_VALUES,
    NATIVE,
    ColumnChoice,
    ColumnReader,
    Floats,
    Selection,
    View,
    Wanted,
    change_to,
    select,
)
from paddock.wire.stream.columns import Block, encode_columns
from paddock.wire.stream.frames import FRAME_SIZE as TICK_SIZE
from paddock.wire.stream.frames import Target, Tick, counted_size, encode_tick
from paddock.wire.stream.positions import (
    COMPILED_FROM,
    FPV_STATE,
    POSES,
    POSITIONS,
    TELEMETRY,
    Poses,
    TelemetryFlag,
    encode_fpv,
    encode_poses,
    encode_positions,
    encode_telemetry,
)
from paddock.world.frames import FRAMES, conversion
from paddock.world.layout import FleetLayout, Ints, Layout
from paddock.world.snapshot import ANGULAR_VELOCITY, VELOCITY, Snapshot

U32 = 0xFFFFFFFF
DRAWN = ("lines", "spheres")  # kinds that show markers, not vehicles
TICK = ("tick",)  # the key of the tick frame


class GroupEncoder:
    """Encodes one snapshot at a time and caches what the next one can reuse."""

    def __init__(self, mirror: Mirror) -> None:
        self._drawing, self._mirror = MarkerDrawing(mirror), mirror
        self._layout: Layout | None = None
        self._selections: dict[Wanted | None, Selection] = {}
        self._reader: ColumnReader | None = None
        self._values: dict[ColumnChoice, Floats] = {}
        self._warming: asyncio.Future[None] | None = None

    def groups(self, snapshot: Snapshot, wall_time: float, views: Iterable[View]) -> list[FrameGroup]:
        """Return the frames of a snapshot for each view; `wall_time` is its time of publication, s since 1970."""
        self._begin(snapshot)
        made: dict[tuple[object, ...], memoryview] = {}
        groups: list[FrameGroup] = []
        for view in views:
            keys = {_key(kind, view): kind for kind in view.in_groups}
            if view.tick and TICK not in made:
                made[TICK] = _tick(snapshot, wall_time)
            for key, kind in keys.items():
                if key not in made:
                    made[key] = self._frame(kind, view, snapshot)
            groups.append(tuple(made[key] for key in ((TICK, *keys) if view.tick else keys)))
        return groups

    def write(self, snapshot: Snapshot, wall_time: float, view: View, room: Callable[[int], memoryview]) -> int:
        """Encode a view into the memory that `room(bytes)` returns; return the number of bytes written."""
        self._begin(snapshot)
        drawn = {kind: self._frame(kind, view, snapshot) for kind in view.in_groups if kind in DRAWN}
        sizes = [self._size(kind, view, snapshot, drawn) for kind in view.in_groups]
        at, total = TICK_SIZE, TICK_SIZE + sum(sizes)
        memory = room(total)
        _tick(snapshot, wall_time, memory)
        for kind, size in zip(view.in_groups, sizes, strict=True):
            if kind in drawn:
                memory[at : at + size] = drawn[kind]
            else:
                self._frame(kind, view, snapshot, memory[at : at + size])
            at += size
        return total

    def _begin(self, snapshot: Snapshot) -> None:
        if snapshot.layout is not self._layout:
            self._layout = snapshot.layout
            self._selections.clear()
            self._reader = ColumnReader(snapshot.layout)
        self._values.clear()

    def _size(self, kind: str, view: View, snapshot: Snapshot, drawn: dict[str, memoryview]) -> int:
        selection = self._selection(view.vehicles)
        if kind in drawn:
            return len(drawn[kind])
        if kind == "fpv":
            quads = sum(len(ids) for fleet, _, ids in _parts(snapshot, selection) if fleet.kind == QUAD)
            return counted_size(FPV_STATE, quads)
        return counted_size({"positions": POSITIONS, "poses": POSES, "telemetry": TELEMETRY}[kind], selection.size)

    def _selection(self, vehicles: Wanted | None) -> Selection:
        """Return the selected vehicles, in the layout of the snapshot."""
        assert self._layout is not None
        if vehicles not in self._selections:
            self._selections[vehicles] = select(self._layout, vehicles)
        return self._selections[vehicles]

    def warm_for(self, layout: Layout, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None] | None:
        """Start to compile or load the encoders of large fleets once there is one; None while there is none."""
        if self._warming is None and layout.vehicles >= COMPILED_FROM:
            self._warming = loop.run_in_executor(None, _warm)
        return self._warming

    def _frame(self, kind: str, view: View, snapshot: Snapshot, into: Target | None = None) -> memoryview:
        match kind:
            case "positions":
                return encode_positions(self._poses(view, snapshot), change_to(view.frame), into)
            case "poses":
                return encode_poses(self._poses(view, snapshot), change_to(view.frame), into)
            case "columns":
                return self._columns(view, snapshot)
            case "telemetry":
                figures = self._mirror.figures
                impaired = figures.get("damaged", ()), figures.get("failsafes", ())
                return encode_status(snapshot, self._selection(view.vehicles), into, *impaired)
            case "fpv":
                return encode_views(snapshot, self._selection(view.vehicles), view.frame, into)
        return self._drawing.encoded(kind, snapshot, view.frame)

    def _poses(self, view: View, snapshot: Snapshot) -> list[Poses]:
        layout = snapshot.layout
        return [
            Poses(layout.fleets[fleet].ids, layout.block(snapshot.buffer, fleet)[:7], rows)
            for fleet, rows in self._selection(view.vehicles).parts
        ]

    def _columns(self, view: View, snapshot: Snapshot) -> memoryview:
        assert self._reader is not None
        blocks, left = [], 2 * MOST_VALUES  # the fleet may have grown since the subscription, within limits
        for k, want in enumerate(view.columns):
            if k in view.held:
                continue
            left -= self._reader.values(want)
            if left >= 0 and want not in self._values:
                self._values[want] = self._reader.read(snapshot, want)
            blocks.append(Block(k, self._values[want] if left >= 0 else np.empty((len(want.columns), 0))))
        return encode_columns(view.wanted, blocks)


def _warm() -> None:
    """Encode as many vehicles as compiled code encodes, in every frame."""
    ids = rows = np.arange(COMPILED_FROM)
    block = np.zeros((7, COMPILED_FROM))
    ids.flags.writeable = block.flags.writeable = False  # like those of snapshots, which are compiled separately
    for frame in FRAMES:
        for encode in (encode_positions, encode_poses):
            encode([Poses(ids, block), Poses(ids, block, rows.copy())], change_to(frame))


def _tick(snapshot: Snapshot, wall_time: float, into: Target | None = None) -> memoryview:
    run, roster = snapshot.run & U32, snapshot.roster & U32
    return encode_tick(Tick(snapshot.tick, snapshot.time, wall_time, run, roster), into)


def _key(kind: str, view: View) -> tuple[object, ...]:
    """Return the key of a frame: everything it depends on besides the snapshot."""
    if kind == "columns":
        return kind, view.columns, view.wanted, view.held
    return kind, NATIVE if kind == "telemetry" else view.frame, None if kind in DRAWN else view.vehicles


QUAD = "quad"  # the kind of vehicle with a first-person view
UNKNOWN_MODE = 255
STICKS = ("throttle", "roll", "pitch", "yaw")


LOW_CHARGE = 0.2  # of the battery
IMPAIRED = 0.5  # health of a vehicle with an active failsafe or a low battery


def encode_status(
    snapshot: Snapshot,
    selection: Selection,
    into: Target | None = None,
    damaged: Sequence[int] = (),
    failsafes: Sequence[int] = (),
) -> memoryview:
    """Return the telemetry frame (0x02) of the selected vehicles.

    `damaged` and `failsafes` are ids of vehicles: lost by their mission, and with an active failsafe.
    """
    battery, signal, flags, health = [np.empty(0)], [np.empty(0)], [np.empty(0, np.uint8)], [np.empty(0)]
    for fleet, block, ids in _parts(snapshot, selection):
        health.append(_health(fleet, block, ids, damaged, failsafes))
        battery.append(_column(fleet, block, "charge", 1.0))
        signal.append(_column(fleet, block, "radio.signal", 1.0))
        jammed = _column(fleet, block, "radio.jammed", 0.0) >= 0.5
        armed = _column(fleet, block, "command.armed", float(fleet.kind == QUAD)) >= 0.5
        collided = _column(fleet, block, "contact.collided", 0.0) >= 0.5
        marked = np.where(armed, TelemetryFlag.ARMED, 0) | np.where(collided, TelemetryFlag.COLLIDED, 0)
        marked |= np.where(jammed, TelemetryFlag.JAMMED, 0)
        flags.append((marked | TelemetryFlag.ACTIVE).astype(np.uint8))
    with np.errstate(over="ignore"):
        return encode_telemetry(
            *(_ids(selection.ids), np.concatenate(battery), np.concatenate(health)),
            *(np.concatenate(signal), np.concatenate(flags)),
            into=into,
        )


def _health(fleet: FleetLayout, block: Floats, ids: Ints, damaged: Sequence[int], failsafes: Sequence[int]) -> Floats:
    """Return the health (n,) of the vehicles of a fleet."""
    impaired = _column(fleet, block, "charge", 1.0) < LOW_CHARGE
    lost = (_column(fleet, block, "contact.disarmed", 0.0) >= 0.5) | ~np.isfinite(block[:7].sum(axis=0))
    if failsafes:
        impaired |= np.isin(ids, failsafes)
    if damaged:
        lost |= np.isin(ids, damaged)
    return np.where(lost, 0.0, np.where(impaired, IMPAIRED, 1.0))


def encode_views(snapshot: Snapshot, selection: Selection, frame: str, into: Target | None = None) -> memoryview:
    """Return the first-person frame (0x11) of the selected quadrotors."""
    parts = [part for part in _parts(snapshot, selection) if part[0].kind == QUAD]
    change = conversion(NATIVE, frame)
    none = np.empty((0, 3))
    velocity = np.concatenate([none, *(block[VELOCITY].T for _, block, _ in parts)])
    rates = np.concatenate([none, *(block[ANGULAR_VELOCITY].T for _, block, _ in parts)])

    def column(name: str, default: float) -> Any:
        return np.concatenate([np.empty(0), *(_column(fleet, block, name, default) for fleet, block, _ in parts)])

    with np.errstate(over="ignore", invalid="ignore"):
        return encode_fpv(
            _ids([ids for _, _, ids in parts]),
            np.clip(column("command.mode", UNKNOWN_MODE), 0, 255).astype(np.uint8),
            (column("command.armed", 1.0) >= 0.5).astype(np.uint8),
            np.stack([column(f"command.{name}", 0.0) for name in STICKS], axis=1),
            change.velocity(velocity),
            change.angular_rate(rates),
            column("voltage", 0.0),
            column("charge", 1.0),
            into=into,
        )


def _parts(snapshot: Snapshot, selection: Selection) -> Iterator[tuple[FleetLayout, Floats, Ints]]:
    """Yield (fleet, columns of the selected vehicles, their ids) for each fleet."""
    for (fleet, rows), ids in zip(selection.parts, selection.ids, strict=True):
        block = snapshot.layout.block(snapshot.buffer, fleet)
        yield snapshot.layout.fleets[fleet], block if rows is None else block[:, rows], ids


def _column(fleet: FleetLayout, block: Floats, name: str, default: float) -> Floats:
    if name in fleet.columns:
        return np.asarray(block[fleet.column(name)])
    return np.full(block.shape[1], default)


def _ids(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.empty(0, np.int64), *parts])
