"""Telemetry and first-person frames out of a snapshot's columns.

Not modelled yet: health and signal are 1, nothing is jammed and nothing has collided. Whether a quadrotor is armed, its
mode and its sticks are its commands, which snapshots carry for fleets of up to 1,000; of larger ones it counts as
armed, its mode is 255 and its sticks are 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.serve.subscribers.change import NATIVE
from paddock.serve.subscribers.selection import Selection
from paddock.wire.stream.frames import Target, counted_size
from paddock.wire.stream.status import FPV_STATE, TelemetryFlag, encode_fpv, encode_telemetry
from paddock.world.frames import conversion
from paddock.world.layout import FleetLayout, Ints
from paddock.world.snapshot import ANGULAR_VELOCITY, VELOCITY, Snapshot

QUAD = "quad"
"""The kind of vehicle that is seen in first person."""
UNKNOWN_MODE = 255
STICKS = ("throttle", "roll", "pitch", "yaw")

Floats = NDArray[np.float64]


def encode_status(snapshot: Snapshot, selection: Selection, into: Target | None = None) -> memoryview:
    """The telemetry frame (0x02) of the selected vehicles."""
    battery, flags = [np.empty(0)], [np.empty(0, np.uint8)]
    for fleet, block, _ in _parts(snapshot, selection):
        battery.append(_column(fleet, block, "charge", 1.0))
        armed = _column(fleet, block, "command.armed", float(fleet.kind == QUAD)) >= 0.5
        flags.append(np.where(armed, TelemetryFlag.ACTIVE | TelemetryFlag.ARMED, TelemetryFlag.ACTIVE).astype(np.uint8))
    with np.errstate(over="ignore"):
        return encode_telemetry(_ids(selection.ids), _joined(battery), 1.0, 1.0, _joined(flags), into)


def encode_views(snapshot: Snapshot, selection: Selection, frame: str, into: Target | None = None) -> memoryview:
    """The first-person frame (0x11) of the selected quadrotors."""
    parts = [part for part in _parts(snapshot, selection) if part[0].kind == QUAD]
    change = conversion(NATIVE, frame)
    none = np.empty((0, 3))
    velocity = _joined([none, *(block[VELOCITY].T for _, block, _ in parts)])
    rates = _joined([none, *(block[ANGULAR_VELOCITY].T for _, block, _ in parts)])

    def column(name: str, default: float) -> Any:
        return _joined([np.empty(0), *(_column(fleet, block, name, default) for fleet, block, _ in parts)])

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
            into,
        )


def views_size(snapshot: Snapshot, selection: Selection) -> int:
    """Bytes of the first-person frame."""
    quads = sum(len(ids) for fleet, _, ids in _parts(snapshot, selection) if fleet.kind == QUAD)
    return counted_size(FPV_STATE, quads)


def _parts(snapshot: Snapshot, selection: Selection) -> Iterator[tuple[FleetLayout, Floats, Ints]]:
    """(fleet, columns of the selected vehicles, their ids) for each fleet."""
    for (fleet, rows), ids in zip(selection.parts, selection.ids, strict=True):
        block = snapshot.layout.block(snapshot.buffer, fleet)
        yield snapshot.layout.fleets[fleet], block if rows is None else block[:, rows], ids


def _column(fleet: FleetLayout, block: Floats, name: str, default: float) -> Floats:
    if name in fleet.columns:
        return np.asarray(block[fleet.column(name)])
    return np.full(block.shape[1], default)


def _ids(parts: Iterable[Ints]) -> Ints:
    return np.concatenate([np.empty(0, np.int64), *parts])


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts)
