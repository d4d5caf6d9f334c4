"""Frame 0x02: how every vehicle is, 17 bytes each."""

from __future__ import annotations

from enum import IntFlag

from numpy.typing import ArrayLike

from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import Buffer, FrameType, Records, Target, decode_table, encode_table


class TelemetryFlag(IntFlag):
    """The bits of `flags`."""

    JAMMED = 1
    ACTIVE = 2
    ARMED = 4
    COLLIDED = 8


TELEMETRY = Record(
    "telemetry",
    (
        Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"),
        Field("battery", "<f4", "", "charge left, 0 to 1"),
        Field("health", "<f4", "", "0 to 1"),
        Field("signal", "<f4", "", "radio link, 0 to 1"),
        Field("flags", "u1", "", "bit 0 jammed, 1 active, 2 armed, 3 collided"),
    ),
)


def encode_telemetry(
    ids: ArrayLike,
    battery: ArrayLike,
    health: ArrayLike,
    signal: ArrayLike,
    flags: ArrayLike,
    into: Target | None = None,
) -> memoryview:
    """One frame from columns (n,); all but the ids may be one number for all."""
    columns = {"id": ids, "battery": battery, "health": health, "signal": signal, "flags": flags}
    return encode_table(FrameType.TELEMETRY, TELEMETRY, columns, into)


def decode_telemetry(payload: Buffer) -> Records:
    """(n,) records with the fields of `TELEMETRY`, a view of the payload."""
    return decode_table(payload, TELEMETRY)
