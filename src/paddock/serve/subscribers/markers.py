"""Markers as frames 0x12 in a subscriber's axes and units, or as lines and spheres for simple renderers.

Markers in the world are sent in the world's axes; markers in another frame, in the corresponding body axes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.mirror import FIELDS
from paddock.serve.subscribers.subscription import NATIVE, turned_in_body, units_per_metre
from paddock.wire.stream.drawing import (
    NO_FLAGS,
    MarkerFlag,
    MarkerKind,
    MarkerRecord,
    encode_lines,
    encode_markers,
    encode_spheres,
)
from paddock.world.frames import conversion, convert_position
from paddock.world.marker_shapes import segments, spheres
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

if TYPE_CHECKING:
    from paddock.serve.mirror import Key, Mirror


WORLD = "world"


def known_markers(mirror: Mirror, keys: Iterable[Key], frame: str) -> memoryview | None:
    """Encode the markers of these keys that exist; None if there are none."""
    with np.errstate(over="ignore"):  # removed below
        records = [_record(mirror.markers[key], mirror, frame) for key in keys if key in mirror.markers]
        try:
            return encode_markers(records) if records else None
        except InvalidValueError:
            fitting = list(filter(_fits, records))
            return encode_markers(fitting) if fitting else None


def deleted_markers(content: dict[str, Any]) -> memoryview | None:
    """Encode the removals of a change; None if there are none."""
    gone = [
        MarkerRecord(name, number, MarkerKind.POINTS, MarkerFlag.DELETE) for name, number in content.get("removed", ())
    ]
    if content.get("cleared"):
        gone.append(MarkerRecord("", 0, MarkerKind.POINTS, MarkerFlag.DELETE_ALL))
    return encode_markers(gone) if gone else None


def shown_markers(mirror: Mirror, content: dict[str, Any]) -> list[Key]:
    """The keys of the markers that a change puts, shows or hides."""
    if "namespace" in content:
        return [key for key in mirror.markers if key[0] == content["namespace"]]
    return [(tree["namespace"], tree["id"]) for tree in content.get("put", ())]


def _fits(record: MarkerRecord) -> bool:
    """Whether float32 can hold its numbers: 1e38 m overflows in cm."""
    try:
        encode_markers([record])
    except InvalidValueError:
        return False
    return True


def _record(tree: dict[str, Any], mirror: Mirror, frame: str) -> MarkerRecord:
    change = conversion(NATIVE, frame)
    kind = MarkerKind[tree["kind"].upper()]
    in_world = tree["frame"] == WORLD
    turn = np.asarray(tree["quaternion"], np.float64)
    position = change.position(tree["position"]) if in_world else change.body_vector(tree["position"])
    quaternion = change.quaternion(turn) if in_world else turned_in_body(turn, frame)
    scale = 1.0 if kind is MarkerKind.MESH else change.scale
    return MarkerRecord(
        tree["namespace"],
        tree["id"],
        kind,
        MarkerFlag.HIDDEN if tree["namespace"] in mirror.hidden else NO_FLAGS,
        tuple(round(255 * part) for part in tree["color"]),
        tuple(scale * size for size in tree["scale"]),
        tuple(position.tolist()),
        tuple(quaternion.tolist()),
        inf if tree["expires"] is None else tree["expires"],
        "" if in_world else tree["frame"],
        tree["label"],
        change.body_vector(np.asarray(tree["vertices"], np.float32).reshape(-1, 3)),
    )


AT_ONCE = 200  # markers encoded at a time, so that thousands of them do not block the hub


class MarkerFeed:
    """The keys of markers to send to a subscriber; each is encoded when its turn comes."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, mirror: Mirror, frame: str, put: Callable[[memoryview], None]
    ) -> None:
        self._loop = loop
        self._mirror = mirror
        self._frame = frame
        self._put = put
        self._keys: deque[Key] = deque()
        self._ended = False

    def add(self, keys: Iterable[Key]) -> None:
        """Send these markers too."""
        waiting = bool(self._keys)
        self._keys.extend(keys)
        if not waiting:
            self._send()

    def end(self) -> None:
        """Stop sending."""
        self._ended = True

    def _send(self) -> None:
        if self._ended:
            return
        some = [self._keys.popleft() for _ in range(min(AT_ONCE, len(self._keys)))]
        if frame := known_markers(self._mirror, some, self._frame):
            self._put(frame)
        if self._keys:
            self._loop.call_soon(self._send)


HERE = Transform()
NEW_AT_ONCE = 100  # new markers converted per snapshot; the rest follows with the next ones


class MarkerShape(NamedTuple):
    """Lines and spheres of one or more markers, in some frame."""

    ends: NDArray[np.float32]  # (n, 6) m
    line_colors: NDArray[np.uint8]  # (n, 4)
    thickness: NDArray[np.float64]  # (n,) m
    balls: NDArray[np.float32]  # (m, 4) x, y, z, radius, m
    ball_colors: NDArray[np.uint8]  # (m, 4)


NOTHING = MarkerShape(
    np.empty((0, 6), np.float32),
    np.empty((0, 4), np.uint8),
    np.empty(0),
    np.empty((0, 4), np.float32),
    np.empty((0, 4), np.uint8),
)


class Drawing:
    """Markers as lines and spheres. They are computed once per marker; with every snapshot only the frames move."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._shapes: dict[int, tuple[dict[str, Any], MarkerShape]] = {}  # by the id() of a marker's tree
        self._by_frame: dict[str, MarkerShape] = {}
        self._version = -1
        self._until = inf  # simulation time at which the next marker expires
        self._still: dict[tuple[str, str], memoryview] = {}  # encoded frames that are valid until something changes

    def lines(self, snapshot: Snapshot, frame: str) -> memoryview:
        """The frame of lines (0x03)."""
        return self._encoded("lines", snapshot, frame)

    def spheres(self, snapshot: Snapshot, frame: str) -> memoryview:
        """The frame of spheres (0x04)."""
        return self._encoded("spheres", snapshot, frame)

    def _encoded(self, kind: str, snapshot: Snapshot, frame: str) -> memoryview:
        self._refresh(snapshot.time)
        if (kind, frame) in self._still:
            return self._still[kind, frame]
        shape = _joined([_moved(shape, where) for shape, where in self._placed(snapshot)])
        encoded = (_lines if kind == "lines" else _spheres)(shape, frame)
        if all(name == WORLD for name in self._by_frame):
            self._still[kind, frame] = encoded
        return encoded

    def _placed(self, snapshot: Snapshot) -> list[tuple[MarkerShape, Transform | None]]:
        """The shapes that can be placed; markers whose frame is missing or stale are skipped."""
        found: list[tuple[MarkerShape, Transform | None]] = []
        for name, shape in self._by_frame.items():
            try:
                found.append((shape, None if name == WORLD else self._to_world(snapshot, name)))
            except PaddockError:
                continue
        return found

    def _to_world(self, snapshot: Snapshot, frame: str) -> Transform:
        tree = self._mirror.frames
        root = tree.root(frame)
        mounted = Transform() if root == frame else tree.lookup(root, frame, snapshot.time)
        if root == WORLD:
            return mounted
        vehicle = snapshot[root]
        return Transform(vehicle.position, vehicle.orientation) @ mounted

    def _refresh(self, time: float) -> None:
        """Apply changes of the mirror."""
        if self._version == self._mirror.version and time < self._until:
            return
        trees = self._mirror.alive(time)
        known = self._shapes
        fresh = [tree for tree in trees if id(tree) not in known]
        made = {id(tree): (tree, _shape(tree)) for tree in fresh[:NEW_AT_ONCE]}
        shapes = {**known, **made}
        self._shapes = {id(tree): shapes[id(tree)] for tree in trees if id(tree) in shapes}
        self._version = self._mirror.version if len(fresh) <= NEW_AT_ONCE else -1
        self._until = min((tree["expires"] for tree in trees if tree["expires"] is not None), default=inf)
        by_frame: dict[str, list[MarkerShape]] = {}
        for tree, shape in self._shapes.values():
            by_frame.setdefault(tree["frame"], []).append(shape)
        self._by_frame = {name: _joined(shapes) for name, shapes in by_frame.items()}
        self._still.clear()


def _shape(tree: dict[str, Any]) -> MarkerShape:
    """One marker relative to its frame."""
    marker = Marker(**{name: tree[name] for name in FIELDS})
    if marker.kind == "points":
        dots = spheres(marker, HERE)
        return NOTHING._replace(balls=dots.balls, ball_colors=dots.colors)
    drawn = segments(marker, HERE)
    thickness = np.full(len(drawn.ends), drawn.thickness)
    return NOTHING._replace(ends=drawn.ends, line_colors=drawn.colors, thickness=thickness)


def _joined(shapes: list[MarkerShape]) -> MarkerShape:
    return MarkerShape(*(np.concatenate(parts) for parts in zip(NOTHING, *shapes, strict=True)))


def _moved(shape: MarkerShape, to_world: Transform | None) -> MarkerShape:
    """The shape in the world; None: it is in the world already."""
    if to_world is None:
        return shape
    ends = to_world.apply(shape.ends.reshape(-1, 3)).reshape(-1, 6).astype(np.float32)
    centres = to_world.apply(shape.balls[:, :3]).astype(np.float32)
    return shape._replace(ends=ends, balls=np.concatenate([centres, shape.balls[:, 3:]], axis=1))


def _lines(shape: MarkerShape, frame: str) -> memoryview:
    start, end = (convert_position(part, NATIVE, frame) for part in (shape.ends[:, :3], shape.ends[:, 3:]))
    return encode_lines(start, end, shape.line_colors, shape.thickness * units_per_metre(frame))


def _spheres(shape: MarkerShape, frame: str) -> memoryview:
    centres = convert_position(shape.balls[:, :3], NATIVE, frame)
    return encode_spheres(centres, shape.balls[:, 3] * units_per_metre(frame), shape.ball_colors)
