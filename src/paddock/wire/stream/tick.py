"""Frame 0x10: which tick of which run the frames that follow belong to; 32 bytes, no count."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from paddock.errors import InvalidValueError
from paddock.wire.error import WireError
from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import HEADER, Buffer, FrameType, Target, open_frame

TICK = Record(
    "tick",
    (
        Field("tick", "<u8", "", "ticks since the start of the run"),
        Field("sim_time", "<f8", "s", "simulation time"),
        Field("wall_time", "<f8", "s", "when it was published, since 1970 (UTC)"),
        Field("run", "<u4", "", "+1 with every reset"),
        Field("roster", "<u4", "", "+1 when vehicles come or go"),
    ),
)
FRAME_SIZE = HEADER.size + TICK.size
"""Bytes of the whole frame."""


class Tick(NamedTuple):
    """The moment that a group of frames shows."""

    tick: int
    sim_time: float  # s
    wall_time: float  # s since 1970
    run: int
    roster: int


def encode_tick(tick: Tick, into: Target | None = None) -> memoryview:
    """The whole frame, 37 bytes."""
    out = open_frame(FrameType.TICK, TICK.size, into)
    try:
        TICK.packer.pack_into(out, HEADER.size, *tick)
    except struct.error as error:
        raise InvalidValueError(f"tick frame: {error} in {tick}") from error
    return out


def decode_tick(payload: Buffer) -> Tick:
    """The moment; its times are finite."""
    if len(payload) != TICK.size:
        raise WireError("length", f"tick: a payload has {TICK.size} bytes, got {len(payload)}")
    tick = Tick._make(TICK.packer.unpack(payload))
    if not (math.isfinite(tick.sim_time) and math.isfinite(tick.wall_time)):
        raise WireError("value", f"tick: times must be finite, got {tick.sim_time} and {tick.wall_time}")
    return tick
