"""Markers as frames 0x12 in a subscriber's axes and units, or as lines and spheres for simple renderers.

Markers in the world are sent in the world's axes; markers in another frame, in the corresponding body axes. Lines show
the kinds made of lines (a circle as a 48-gon), spheres show points; text and meshes give neither.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.mirror import FIELDS, Key, Mirror
from paddock.serve.subscribers.subscription import NATIVE, units_per_metre
from paddock.wire.stream import drawing
from paddock.world.frames import conversion, convert_position, quaternion_conjugate, quaternion_multiply
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

WORLD = "world"


def known_markers(mirror: Mirror, keys: Iterable[Key], frame: str) -> memoryview | None:
    """Encode the markers of these keys that exist; None if there are none."""
    with np.errstate(over="ignore"):  # removed below
        records = [_record(mirror.markers[key], mirror, frame) for key in keys if key in mirror.markers]
        try:
            return drawing.encode_markers(records) if records else None
        except InvalidValueError:
            fitting = list(filter(_fits, records))
            return drawing.encode_markers(fitting) if fitting else None


def deleted_markers(content: dict[str, Any]) -> memoryview | None:
    """Encode the removals of a change; None if there are none."""
    gone = [
        drawing.MarkerRecord(name, number, drawing.MarkerKind.POINTS, drawing.MarkerFlag.DELETE)
        for name, number in content.get("removed", ())
    ]
    if content.get("cleared"):
        gone.append(drawing.MarkerRecord("", 0, drawing.MarkerKind.POINTS, drawing.MarkerFlag.DELETE_ALL))
    return drawing.encode_markers(gone) if gone else None


def shown_markers(mirror: Mirror, content: dict[str, Any]) -> list[Key]:
    """Return the keys of the markers that a change puts, shows or hides."""
    if "namespace" in content:
        return [key for key in mirror.markers if key[0] == content["namespace"]]
    return [(tree["namespace"], tree["id"]) for tree in content.get("put", ())]


def _fits(record: drawing.MarkerRecord) -> bool:
    """Return whether float32 can represent its numbers: 1e38 m overflows in cm."""
    try:
        drawing.encode_markers([record])
    except InvalidValueError:
        return False
    return True


def _record(tree: dict[str, Any], mirror: Mirror, frame: str) -> drawing.MarkerRecord:
    change = conversion(NATIVE, frame)
    kind = drawing.MarkerKind[tree["kind"].upper()]
    in_world = tree["frame"] == WORLD
    turn = np.asarray(tree["quaternion"], np.float64)
    position = change.position(tree["position"]) if in_world else change.body_vector(tree["position"])
    axes = change.body.quaternion  # of the body
    in_body = quaternion_multiply(quaternion_multiply(axes, turn), quaternion_conjugate(axes))
    quaternion = change.quaternion(turn) if in_world else in_body
    scale = 1.0 if kind is drawing.MarkerKind.MESH else change.scale
    return drawing.MarkerRecord(
        tree["namespace"],
        tree["id"],
        kind,
        drawing.MarkerFlag.HIDDEN if tree["namespace"] in mirror.hidden else drawing.NO_FLAGS,
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


NEW_AT_ONCE, NEW_POINTS = 100, 100_000  # new markers and points converted per snapshot; the rest follows later
LARGE = 20_000  # lines and spheres beyond which another thread encodes them, so that they do not block the hub


class MarkerDrawing:
    """Markers as lines and spheres. They are computed once per marker; with every snapshot only the frames move."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._shapes: dict[int, tuple[dict[str, Any], MarkerShape]] = {}  # by the id() of a marker's tree
        self._by_frame: dict[str, MarkerShape] = {}
        self._version = -1
        self._until = inf  # simulation time at which the next marker expires
        self._still: dict[tuple[str, str], memoryview] = {}  # encoded frames that are valid until something changes
        self._changes = 0  # of the shapes
        self._encoding: set[tuple[str, str]] = set()  # frames that another thread is encoding
        self._late: dict[tuple[str, str], tuple[object, memoryview]] = {}  # its last results, each with its state

    def encoded(self, kind: str, snapshot: Snapshot, frame: str) -> memoryview:
        """Return the frame of `lines` (0x03) or of `spheres` (0x04); that of a large drawing follows when it is ready.

        Until then, its last frame is returned.
        """
        self._refresh(snapshot.time)
        key = kind, frame
        if key in self._still:
            return self._still[key]
        if sum(len(shape.ends) + len(shape.balls) for shape in self._by_frame.values()) > LARGE:
            return self._encoded_aside(key, snapshot)
        encoded = _encoded(kind, frame, list(self._placed(snapshot)))
        if self._is_still():
            self._still[key] = encoded
        return encoded

    def _encoded_aside(self, key: tuple[str, str], snapshot: Snapshot) -> memoryview:
        """Return the last frame of a large drawing; let another thread encode it if it has changed."""
        state: object = self._changes if self._is_still() else (self._changes, snapshot.run, snapshot.tick)
        known, last = self._late.get(key, (None, None))
        if known != state and key not in self._encoding:
            self._encoding.add(key)
            loop, placed = asyncio.get_running_loop(), list(self._placed(snapshot))
            task = loop.run_in_executor(None, _encoded, *key, placed)
            task.add_done_callback(lambda done: self._arrived(key, state, done))
        return _encoded(*key, []) if last is None else last

    def _arrived(self, key: tuple[str, str], state: object, done: "asyncio.Future[memoryview]") -> None:
        self._encoding.discard(key)
        if not done.cancelled() and done.exception() is None:
            self._late[key] = state, done.result()
            self._mirror.on_redrawn()

    def _is_still(self) -> bool:
        """Return whether no marker moves with a frame."""
        return all(name == WORLD for name in self._by_frame)

    def _placed(self, snapshot: Snapshot) -> "Iterator[tuple[MarkerShape, Transform | None]]":
        """Yield the shapes with the poses of their frames; markers whose frame is missing or stale are skipped."""
        for name, shape in self._by_frame.items():
            with suppress(PaddockError):
                yield shape, None if name == WORLD else self._to_world(snapshot, name)

    def _to_world(self, snapshot: Snapshot, frame: str) -> Transform:
        tree = self._mirror.frames
        root = tree.root(frame)
        mounted = Transform() if root == frame else tree.lookup(root, frame, snapshot.time)
        if root == WORLD:
            return mounted
        vehicle = snapshot[root]
        return Transform(vehicle.position, vehicle.orientation) @ mounted

    def _refresh(self, time: float) -> None:
        if self._version == self._mirror.version and time < self._until:
            return
        trees = self._mirror.alive(time)
        fresh = [tree for tree in trees if id(tree) not in self._shapes]
        before = [0, *accumulate(len(tree["vertices"]) for tree in fresh)]  # points of the markers before each
        now = [tree for tree, points in zip(fresh[:NEW_AT_ONCE], before, strict=False) if points < NEW_POINTS]
        for tree in now:
            self._shapes[id(tree)] = (tree, shape_of(Marker(**{name: tree[name] for name in FIELDS})))
        self._shapes = {id(tree): self._shapes[id(tree)] for tree in trees if id(tree) in self._shapes}
        self._version = self._mirror.version if len(fresh) == len(now) else -1
        self._changes += 1
        self._until = min((tree["expires"] for tree in trees if tree["expires"] is not None), default=inf)
        by_frame: dict[str, list[MarkerShape]] = {}
        for tree, shape in self._shapes.values():
            by_frame.setdefault(tree["frame"], []).append(shape)
        self._by_frame = {name: joined(shapes) for name, shapes in by_frame.items()}
        self._still.clear()


def _encoded(kind: str, frame: str, placed: "list[tuple[MarkerShape, Transform | None]]") -> memoryview:
    """Encode shapes, each with the pose of its frame (None: the world), as lines or spheres."""
    shape = joined(still if pose is None else still.moved(pose) for still, pose in placed)
    unit = units_per_metre(frame)
    if kind == "lines":
        start, end = (convert_position(part, NATIVE, frame) for part in (shape.ends[:, :3], shape.ends[:, 3:]))
        return drawing.encode_lines(start, end, shape.line_colors, shape.thickness * unit)
    centres = convert_position(shape.balls[:, :3], NATIVE, frame)
    return drawing.encode_spheres(centres, shape.balls[:, 3] * unit, shape.ball_colors)


Floats = NDArray[np.floating[Any]]
Bytes = NDArray[np.uint8]

CORNERS = 48  # corners of the polygon drawn for a circle; they lie on it
THICKNESS = 0.05  # of lines whose kind has no thickness, m
AXIS_COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
AXIS_SLIMNESS = 20.0  # length of an axis over its thickness


class MarkerShape(NamedTuple):
    """Lines and spheres of one or more markers, in some frame."""

    ends: NDArray[np.float32]  # (n, 6): x, y, z of both ends of each line, m
    line_colors: Bytes  # (n, 4): red, green, blue, opacity
    thickness: NDArray[np.float64]  # (n,) of the lines, m
    balls: NDArray[np.float32]  # (m, 4): x, y, z and radius, m
    ball_colors: Bytes  # (m, 4)

    def moved(self, pose: Transform) -> Self:
        """Return the shape in the parent of its frame, which has this pose there."""
        ends = pose.apply(self.ends.reshape(-1, 3)).reshape(-1, 6).astype(np.float32)
        centres = pose.apply(self.balls[:, :3]).astype(np.float32)
        return self._replace(ends=ends, balls=np.concatenate([centres, self.balls[:, 3:]], axis=1))


NOTHING = MarkerShape(
    *(np.empty((0, 6), np.float32), np.empty((0, 4), np.uint8), np.empty(0)),
    *(np.empty((0, 4), np.float32), np.empty((0, 4), np.uint8)),
)


def joined(shapes: Iterable[MarkerShape]) -> MarkerShape:
    """Return all lines and spheres of some shapes."""
    return MarkerShape(*(np.concatenate(parts) for parts in zip(NOTHING, *shapes, strict=True)))


def shape_of(marker: Marker) -> MarkerShape:
    """Return the lines or spheres of a marker, in its frame."""
    color = np.rint(255.0 * np.array(marker.color)).astype(np.uint8)
    if marker.kind == "points":
        balls = np.empty((len(marker.vertices), 4), np.float32)
        balls[:, :3] = marker.pose.apply(marker.vertices)
        balls[:, 3] = 0.5 * marker.scale[0]
        return NOTHING._replace(balls=balls, ball_colors=np.tile(color, (len(balls), 1)))
    ends = marker.pose.apply(_pairs(marker)).reshape(-1, 6).astype(np.float32)
    colors = np.tile(color, (len(ends), 1))
    if marker.kind == "axes":
        colors[:, :3] = AXIS_COLORS
    first, second, _ = marker.scale
    thickness = {"line_strip": first, "line_list": first, "arrow": second, "axes": first / AXIS_SLIMNESS}
    return NOTHING._replace(
        ends=ends, line_colors=colors, thickness=np.full(len(ends), thickness.get(marker.kind, THICKNESS))
    )


def _pairs(marker: Marker) -> Floats:
    """Return the ends of the lines of a marker, two by two, relative to its pose: (2 n, 3)."""
    a, b, c = marker.scale
    match marker.kind:
        case "line_strip":
            return _chain(marker.vertices)
        case "line_list":
            return marker.vertices
        case "triangle_list":
            corners = marker.vertices.reshape(-1, 3, 3)
            return np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 3)
        case "circle":
            return _polygon(a)
        case "ring":
            return np.concatenate([_polygon(a), _polygon(a - b)])
        case "arrow":
            return _arrow(a, c)
        case "axes":
            return np.stack([np.zeros((3, 3)), a * np.eye(3)], axis=1).reshape(-1, 3)
        case "car":
            # the twelve edges of a box on the ground: pairs of corners that differ in one coordinate
            corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)])
            edges = [(k, k | bit) for bit in (1, 2, 4) for k in range(8) if not k & bit]
            return np.asarray(corners[np.array(edges).ravel()] * marker.scale)
        case _:
            return np.empty((0, 3))


def _chain(points: Floats) -> Floats:
    """Return the lines from each point to the next: (2 n - 2, 3)."""
    return np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 3)


def _polygon(radius: float) -> Floats:
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    return _chain(radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1))


def _arrow(length: float, head: float) -> Floats:
    """Return the shaft, and four barbs from the tip backwards, as long (along x) as the head is wide."""
    back, side = max(length - head, 0.0), 0.5 * head
    barbs = [[back, side, 0.0], [back, -side, 0.0], [back, 0.0, side], [back, 0.0, -side]]
    others = np.array([[0.0, 0.0, 0.0], *barbs])
    tip = np.broadcast_to([length, 0.0, 0.0], others.shape)
    return np.stack([others, tip], axis=1).reshape(-1, 3)
