"""Frames 0x03 and 0x04: lines and spheres that a renderer draws for debugging."""

from __future__ import annotations

from numpy.typing import ArrayLike

from paddock.wire.layout import Field, Record
from paddock.wire.stream.frames import Buffer, FrameType, Records, Target, decode_table, encode_table

LINES = Record(
    "debug lines",
    (
        Field("start", "<f4", "m", "x1, y1, z1 in the subscriber's frame", 3),
        Field("end", "<f4", "m", "x2, y2, z2", 3),
        Field("color", "u1", "", "red, green, blue, alpha", 4),
        Field("thickness", "<f4", "m", "width of the line"),
    ),
)
SPHERES = Record(
    "debug spheres",
    (
        Field("centre", "<f4", "m", "x, y, z in the subscriber's frame", 3),
        Field("radius", "<f4", "m", ""),
        Field("color", "u1", "", "red, green, blue, alpha", 4),
    ),
)


def encode_lines(
    start: ArrayLike, end: ArrayLike, color: ArrayLike, thickness: ArrayLike, into: Target | None = None
) -> memoryview:
    """One frame of n lines: `start` and `end` (n, 3), `color` (n, 4) or (4,), `thickness` (n,) or a number."""
    columns = {"start": start, "end": end, "color": color, "thickness": thickness}
    return encode_table(FrameType.DEBUG_LINES, LINES, columns, into)


def decode_lines(payload: Buffer) -> Records:
    """(n,) records with the fields of `LINES`, a view of the payload."""
    return decode_table(payload, LINES)


def encode_spheres(centre: ArrayLike, radius: ArrayLike, color: ArrayLike, into: Target | None = None) -> memoryview:
    """One frame of n spheres: `centre` (n, 3), `radius` (n,) or a number, `color` (n, 4) or (4,)."""
    columns = {"centre": centre, "radius": radius, "color": color}
    return encode_table(FrameType.DEBUG_SPHERES, SPHERES, columns, into)


def decode_spheres(payload: Buffer) -> Records:
    """(n,) records with the fields of `SPHERES`, a view of the payload."""
    return decode_table(payload, SPHERES)
