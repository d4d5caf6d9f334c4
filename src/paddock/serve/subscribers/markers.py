"""Markers as frames 0x12 in a subscriber's axes and units, or as lines and spheres for simple renderers.

Markers in the world are sent in the world's axes; markers in another frame, in the corresponding body axes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import inf
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.mirror import FIELDS, Key, Mirror
from paddock.serve.subscribers.subscription import NATIVE, units_per_metre
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
from paddock.world.marker_shapes import MarkerShape, joined, shape_of
from paddock.world.markers import Marker
from paddock.world.rotation import quaternion_conjugate, quaternion_multiply
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

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
    """Return the keys of the markers that a change puts, shows or hides."""
    if "namespace" in content:
        return [key for key in mirror.markers if key[0] == content["namespace"]]
    return [(tree["namespace"], tree["id"]) for tree in content.get("put", ())]


def _fits(record: MarkerRecord) -> bool:
    """Return whether float32 can represent its numbers: 1e38 m overflows in cm."""
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
    axes = change.body.quaternion  # of the body
    in_body = quaternion_multiply(quaternion_multiply(axes, turn), quaternion_conjugate(axes))
    quaternion = change.quaternion(turn) if in_world else in_body
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
    """The keys of markers to send to a subscriber; each marker is encoded when it is sent."""

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


NEW_AT_ONCE = 100  # new markers converted per snapshot; the rest follows with the next ones


class Drawing:
    """Markers as lines and spheres. They are computed once per marker; with every snapshot only the frames move."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._shapes: dict[int, tuple[dict[str, Any], MarkerShape]] = {}  # by the id() of a marker's tree
        self._by_frame: dict[str, MarkerShape] = {}
        self._version = -1
        self._until = inf  # simulation time at which the next marker expires
        self._still: dict[tuple[str, str], memoryview] = {}  # encoded frames that are valid until something changes

    def encoded(self, kind: str, snapshot: Snapshot, frame: str) -> memoryview:
        """Return the frame of `lines` (0x03) or of `spheres` (0x04)."""
        self._refresh(snapshot.time)
        if (kind, frame) in self._still:
            return self._still[kind, frame]
        shape, unit = joined(self._placed(snapshot)), units_per_metre(frame)
        if kind == "lines":
            start, end = (convert_position(part, NATIVE, frame) for part in (shape.ends[:, :3], shape.ends[:, 3:]))
            encoded = encode_lines(start, end, shape.line_colors, shape.thickness * unit)
        else:
            centres = convert_position(shape.balls[:, :3], NATIVE, frame)
            encoded = encode_spheres(centres, shape.balls[:, 3] * unit, shape.ball_colors)
        if all(name == WORLD for name in self._by_frame):
            self._still[kind, frame] = encoded
        return encoded

    def _placed(self, snapshot: Snapshot) -> Iterator[MarkerShape]:
        """Yield the shapes in the world; markers whose frame is missing or stale are skipped."""
        for name, shape in self._by_frame.items():
            with suppress(PaddockError):
                yield shape if name == WORLD else shape.moved(self._to_world(snapshot, name))

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
        fresh = [tree for tree in trees if id(tree) not in self._shapes]
        for tree in fresh[:NEW_AT_ONCE]:
            self._shapes[id(tree)] = (tree, shape_of(Marker(**{name: tree[name] for name in FIELDS})))
        self._shapes = {id(tree): self._shapes[id(tree)] for tree in trees if id(tree) in self._shapes}
        self._version = self._mirror.version if len(fresh) <= NEW_AT_ONCE else -1
        self._until = min((tree["expires"] for tree in trees if tree["expires"] is not None), default=inf)
        by_frame: dict[str, list[MarkerShape]] = {}
        for tree, shape in self._shapes.values():
            by_frame.setdefault(tree["frame"], []).append(shape)
        self._by_frame = {name: joined(shapes) for name, shapes in by_frame.items()}
        self._still.clear()
