"""Frames 0x03, 0x04 and 0x12: debug lines, debug spheres, and markers by namespace and id."""

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.stream import frames

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


encode_lines = partial(frames.encode_table, frames.FrameType.DEBUG_LINES, LINES)
"""`encode_lines(start, end, color, thickness)`; colors (n, 4) or (4,), thickness (n,) or a number."""
decode_lines = partial(frames.decode_table, record=LINES)


encode_spheres = partial(frames.encode_table, frames.FrameType.DEBUG_SPHERES, SPHERES)
"""`encode_spheres(centre, radius, color)`; radius (n,) or a number, colors (n, 4) or (4,)."""
decode_spheres = partial(frames.decode_table, record=SPHERES)


MAX_TEXT = 4096  # bytes of a text
MAX_POINTS = 1_000_000


class MarkerKind(IntEnum):
    """The kinds of markers."""

    POINTS = 0
    LINE_STRIP = 1
    LINE_LIST = 2
    CIRCLE = 3
    RING = 4
    ARROW = 5
    TEXT = 6
    TRIANGLE_LIST = 7
    CAR = 8
    MESH = 9
    AXES = 10


class MarkerFlag(IntFlag):
    """The bits of `flags`."""

    DELETE = 1  # this marker
    DELETE_NAMESPACE = 2
    HIDDEN = 4  # the namespace
    DELETE_ALL = 8


NO_FLAGS = MarkerFlag(0)

MARKER = Record(
    "markers",
    (
        Field("id", "<u4", "", "unique in its namespace"),
        Field("kind", "u1", "", ", ".join(f"{kind.value} {kind.name.lower()}" for kind in MarkerKind)),
        Field("flags", "u1", "", "bit 0 delete it, 1 delete the namespace, 2 namespace hidden, 3 delete everything"),
        Field("namespace_bytes", "u1", "B", "length of the namespace"),
        Field("frame_bytes", "u1", "B", "length of the frame"),
        Field("color", "u1", "", "red, green, blue, alpha", 4),
        Field("scale", "<f4", "m", "size along x, y, z", 3),
        Field("position", "<f8", "m", "x, y, z in the frame", 3),
        Field("quaternion", "<f4", "", "x, y, z, w, marker to frame", 4),
        Field("expires", "<f8", "s", "simulation time at which it expires; +inf: never"),
        Field("text_bytes", "<u4", "B", f"length of the text, up to {MAX_TEXT}"),
        Field("points_count", "<u4", "", f"number of points, up to {MAX_POINTS}"),
    ),
    (
        TailField("namespace", "UTF-8", "namespace_bytes", "", ""),
        TailField("frame", "UTF-8", "frame_bytes", "", "reference of position and points; empty: the world"),
        TailField("text", "UTF-8", "text_bytes", "", ""),
        TailField("points", "f32[3] each", "12 * points_count", "m", "x, y, z relative to the marker"),
    ),
)


def _no_points() -> NDArray[np.float32]:
    return np.empty((0, 3), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class MarkerRecord:
    """One marker on the wire; `MARKER` describes the fields."""

    namespace: str
    id: int
    kind: MarkerKind
    flags: MarkerFlag = NO_FLAGS
    color: tuple[int, int, int, int] = (255, 255, 255, 255)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    expires: float = math.inf
    frame: str = ""
    text: str = ""
    points: NDArray[np.float32] = field(default_factory=_no_points)  # (n, 3)


def encode_markers(markers: Iterable[MarkerRecord], into: frames.Target | None = None) -> memoryview:
    """Encode markers, in order, as one frame."""
    return frames.encode_records(frames.FrameType.MARKERS, [_record(marker) for marker in markers], into)


def _record(marker: MarkerRecord) -> bytes:
    where = f"marker {marker.id} of {marker.namespace[:40]!r}"
    try:
        texts = marker.namespace.encode(), marker.frame.encode(), marker.text.encode()
        with np.errstate(over="ignore"):  # too large for float32 becomes infinite, an error below
            points = np.asarray(marker.points).reshape(-1, 3).astype("<f4")
        namespace, frame, text = map(len, texts)
        identity = (marker.id, marker.kind, marker.flags, namespace, frame)
        shape = (*marker.color, *marker.scale, *marker.position, *marker.quaternion)
        if [len(marker.color), len(marker.scale), len(marker.position)] != [4, 3, 3]:
            raise ValueError("color takes 4 numbers, scale and position 3")
        head = MARKER.packer.pack(*identity, *shape, marker.expires, text, len(points))
    except (struct.error, OverflowError, ValueError, TypeError) as error:
        raise InvalidValueError(f"{where} does not fit its frame: {error}") from error
    if problem := _problem(MARKER.packer.unpack(head), points):
        raise InvalidValueError(f"{where}: {problem}")
    return b"".join((head, *texts, points.tobytes()))


def decode_markers(payload: frames.Buffer) -> tuple[MarkerRecord, ...]:
    """Decode the markers of a frame; their points are views of the payload."""
    return frames.decode_records(payload, MARKER, _read)


def _read(cursor: frames.Cursor) -> MarkerRecord:
    start = cursor.at
    head = cursor.fields(MARKER)
    if problem := _problem(head, _no_points()):
        raise WireError("value", f"markers: at byte {start}: {problem}")
    namespace, frame, text = (cursor.text(head[index]) for index in (3, 4, 20))
    at, count = cursor.skip(12 * head[21]), head[21]
    points = np.frombuffer(cursor.payload, "<f4", 3 * count, at).reshape(count, 3) if count else _no_points()
    if problem := _problem(head, points):
        raise WireError("value", f"markers: at byte {start}: {problem}")
    kind, flags = MarkerKind(head[1]), MarkerFlag(head[2])
    color, scale, position, quaternion = head[5:9], head[9:12], head[12:15], head[15:19]
    return MarkerRecord(
        namespace, head[0], kind, flags, color, scale, position, quaternion, head[19], frame, text, points
    )


def _problem(head: tuple[Any, ...], points: NDArray[np.float32]) -> str:
    """Return the problem of a record; empty if there is none."""
    if head[1] > max(MarkerKind):
        return f"kind must be from 0 to {max(MarkerKind)}, got {head[1]}"
    if head[2] >= 2 * MarkerFlag.DELETE_ALL:
        return f"flags must be from 0 to {2 * MarkerFlag.DELETE_ALL - 1}, got {head[2]}"
    if not all(map(math.isfinite, head[9:19])):
        return "scale, position and quaternion must be finite"
    if not head[19] > -math.inf:
        return f"expires must be a time or +inf, got {head[19]}"
    if head[20] > MAX_TEXT or head[21] > MAX_POINTS:
        return f"up to {MAX_TEXT} bytes of text and {MAX_POINTS} points, got {head[20]} and {head[21]}"
    return "" if np.isfinite(points).all() else "points must be finite"
