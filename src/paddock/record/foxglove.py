"""Snapshots, events and markers in Foxglove's schemas, for Foxglove and other MCAP viewers.

A race track has boundaries, gates and cones, as they stand at the start.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms
from foxglove_schemas_protobuf.LaserScan_pb2 import LaserScan
from foxglove_schemas_protobuf.LinePrimitive_pb2 import LinePrimitive
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PackedElementField_pb2 import PackedElementField
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.SceneEntityDeletion_pb2 import SceneEntityDeletion
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.engine.actions import FrameAction
from paddock.engine.events import Event
from paddock.engine.program import FleetProgram
from paddock.record.channels import LogTime
from paddock.sensing.rays import Beams, beams_of
from paddock.sensing.sensor import ArraySensor
from paddock.track.race_log import shown_text
from paddock.track.track import CONE_COLOURS, CONE_SIZES, Track
from paddock.wire.stream.frames import COUNTED
from paddock.wire.stream.positions import POSITIONS, Poses, encode_positions
from paddock.world.columns import Floats
from paddock.world.frames import quaternion_from_matrix
from paddock.world.layout import Layout
from paddock.world.markers import Marker
from paddock.world.snapshot import ORIENTATION, POSITION, Snapshot

WORLD = "world"
DRAWN = 100  # vehicles up to which each has a frame and a body; more are drawn as points
CONE = "cone"  # kind of vehicles that are drawn as points, and not counted: a track has hundreds
SIZES = {
    "car": (4.4, 1.8, 1.3),
    "quad": (0.35, 0.35, 0.12),
    "rover": (0.6, 0.5, 0.3),
    "aircraft": (1.4, 2.0, 0.25),
    "agent": (0.5, 0.5, 0.5),
}
"""Length, width and height of the body of a kind of vehicle, m."""
COLOURS = ("58c4ff", "ffb03b", "7ce07a", "ff6f91", "b98cff", "4fd6c4", "f2e05a", "ff8f5a")
ALARMS = {"failsafe", "refused", "barrier_timeout", "target_lost", "jammed"}  # kinds of event logged as warnings
POSE = slice(POSITION.start, ORIENTATION.stop)


Fields = Any  # of a message: a dict, as constructors take it


def timestamp(time: int) -> Fields:
    """Return a time in ns since 1970."""
    return dict(zip(("seconds", "nanos"), divmod(time, 1_000_000_000), strict=True))


def vector(values: Iterable[float]) -> Fields:
    """Return x, y and z."""
    return dict(zip("xyz", values, strict=True))


def pose(position: Iterable[float] = (0.0, 0.0, 0.0), quaternion: Iterable[float] = (0.0, 0.0, 0.0, 1.0)) -> Fields:
    """Return a position (m) and a quaternion (x, y, z, w)."""
    return {"position": vector(position), "orientation": dict(zip("xyzw", quaternion, strict=True))}


def rgba(colour: Iterable[float], alpha: float = 1.0) -> Fields:
    """Return red, green, blue and opacity, 0 to 1."""
    return dict(zip("rgb", colour, strict=True)) | {"a": alpha}


def cleared_scene(log_time: int) -> SceneUpdate:
    """Return an update that removes all entities of its channel."""
    everything: Fields = {"type": SceneEntityDeletion.ALL, "timestamp": timestamp(log_time)}
    return SceneUpdate(deletions=[everything])


def point_cloud(snapshot: Snapshot, log_time: int) -> PointCloud:
    """Return every vehicle as a point: the records of the stream's positions frame."""
    parts = [Poses(fleet.ids, fleet.block[POSE]) for fleet in snapshot]
    return PointCloud(
        timestamp=timestamp(log_time),
        frame_id=WORLD,
        pose=pose(),
        point_stride=POSITIONS.size,
        fields=_FIELDS,
        data=bytes(encode_positions(parts)[COUNTED.size :]),
    )


_FIELDS = [
    PackedElementField(name=name, offset=4 * k, type=PackedElementField.FLOAT32 if k else PackedElementField.INT32)
    for k, name in enumerate(("id", "x", "y", "z", "qx", "qy", "qz", "qw"))
]


def all_drawn(layout: Layout) -> bool:
    """Return whether each vehicle has a frame and a body."""
    return sum(fleet.n for fleet in layout.fleets if fleet.kind != CONE) <= DRAWN


def vehicle_frames(snapshot: Snapshot, sensing: Iterable[tuple[int, int]], log_time: int) -> FrameTransforms:
    """Return a frame in the world for each vehicle; beyond DRAWN only for those with sensors: fleets and rows."""
    fleets = snapshot.layout.fleets
    if all_drawn(snapshot.layout):
        shown = [(k, row) for k, fleet in enumerate(fleets) if fleet.kind != CONE for row in range(fleet.n)]
    else:
        shown = sorted(set(sensing))
    blocks = [fleet.block for fleet in snapshot]
    placed = ((WORLD, fleets[k].vehicle_name(row), blocks[k][POSE, row].tolist()) for k, row in shown)
    return frames(placed, log_time)


def named_frame(frame: FrameAction, log_time: int) -> FrameTransforms:
    """Return a named frame in its parent."""
    return frames([(frame.parent, frame.name, (*frame.position, *frame.quaternion))], log_time)


def frames(placed: Iterable[tuple[str, str, Sequence[float]]], log_time: int) -> FrameTransforms:
    """Return frames, each given by its parent, its name, and its position and quaternion there."""
    time, transforms = timestamp(log_time), list[Fields]()
    for parent, name, at in placed:
        moved = {"translation": vector(at[:3]), "rotation": dict(zip("xyzw", at[3:], strict=True))}
        transforms.append({"timestamp": time, "parent_frame_id": parent, "child_frame_id": name, **moved})
    return FrameTransforms(transforms=transforms)


def scene(layout: Layout, log_time: int) -> SceneUpdate:
    """Return a body with a name for each vehicle, fixed to its frame; sent when the roster changes."""
    update = cleared_scene(log_time)
    for k, fleet in enumerate(layout.fleets):
        for row in range(fleet.n if fleet.kind != CONE else 0):
            name = fleet.vehicle_name(row)
            entity = update.entities.add(
                timestamp=timestamp(log_time), frame_id=name, id=name, frame_locked=True,
                metadata=[{"key": "model", "value": fleet.model}],
            )  # fmt: skip
            _draw(entity, name, SIZES.get(fleet.kind, SIZES["agent"]), COLOURS[k % len(COLOURS)])
    return update


def _draw(entity: Any, name: str, size: tuple[float, float, float], colour: str) -> None:
    """Draw a vehicle: a box, an arrow ahead of it, its name above."""
    length, width, height = size
    tone = [part / 255 for part in bytes.fromhex(colour)]
    entity.cubes.add(size=vector(size), pose=pose((0.0, 0.0, 0.5 * height)), color=rgba(tone, 0.9))
    arrow = {"shaft_length": 0.4 * length, "shaft_diameter": 0.15 * width}
    arrow |= {"head_length": 0.2 * length, "head_diameter": 0.35 * width}
    entity.arrows.add(pose=pose((0.5 * length, 0.0, 0.5 * height)), color=rgba(tone), **arrow)
    add_label(entity, name, (0.0, 0.0, 2.0 * height), tone)


def add_label(entity: Any, text: str, position: Iterable[float], colour: Iterable[float]) -> None:
    """Add a text that faces the viewer and keeps its size on the screen."""
    style = {"billboard": True, "font_size": 12.0, "scale_invariant": True}
    entity.texts.add(text=text, pose=pose(position), color=rgba(colour), **style)


def log_line(event: Event, log_time: int) -> Log:
    """Return an event as a line of a log."""
    message = " ".join(filter(None, (event.kind, event.subject, shown_text(event.detail))))
    level = Log.WARNING if event.kind in ALARMS else Log.INFO
    return Log(timestamp=timestamp(log_time), level=level, name=event.subject, message=message)


DRAWN_VERTICES = 30_000
"""Maximum number of vertices drawn per marker (a multiple of 2 and 3); the exact marker is in its own channel."""
CORNERS = 48  # corners of the polygon drawn for a circle
AXES = ((1.0, 0.2, 0.2), (0.2, 0.8, 0.2), (0.3, 0.4, 1.0))  # colours of x, y and z


def entity_id(marker: Marker) -> str:
    """Return the entity id of a marker."""
    return f"{marker.namespace}/{marker.id}"


def put_markers(markers: Iterable[Marker], log_time: int) -> SceneUpdate:
    """Show markers, in place of those with the same namespace and id."""
    update = SceneUpdate()
    for marker in markers:
        about = {"timestamp": timestamp(log_time), "frame_id": marker.frame, "id": entity_id(marker)}
        entity = update.entities.add(**about, frame_locked=True)
        if marker.ttl is not None:
            entity.lifetime.FromNanoseconds(round(marker.ttl * 1e9))
        DRAW[marker.kind](entity, marker)
    return update


def remove_markers(markers: Iterable[Marker] | None, log_time: int) -> SceneUpdate:
    """Remove markers, by default all."""
    if markers is None:
        return cleared_scene(log_time)
    gone: Fields = {"type": SceneEntityDeletion.MATCHING_ID, "timestamp": timestamp(log_time)}
    return SceneUpdate(deletions=[gone | {"id": entity_id(marker)} for marker in markers])


def _styled(marker: Marker, colour: Iterable[float] | None = None) -> Fields:
    """Return the pose and the colour of a primitive."""
    color = rgba(marker.color[:3] if colour is None else colour, marker.color[3])
    return {"pose": pose(marker.position, marker.quaternion), "color": color}


def _vertices(points: Any) -> list[Fields]:
    return [vector(point) for point in np.asarray(points, np.float64)[:DRAWN_VERTICES].tolist()]


def _line(entity: Any, marker: Marker, kind: Any, points: Any, width: float, colour: Any = None) -> None:
    entity.lines.add(type=kind, thickness=width, points=_vertices(points), **_styled(marker, colour))


def _points(entity: Any, marker: Marker) -> None:
    """Draw vertical dashes as long and as thick as the points are wide: one primitive for all points."""
    half = np.array([0.0, 0.0, 0.5 * marker.scale[0]])
    dashes = np.stack([marker.vertices - half, marker.vertices + half], axis=1).reshape(-1, 3)
    _line(entity, marker, LinePrimitive.LINE_LIST, dashes, marker.scale[0])


def _circle(entity: Any, marker: Marker, inwards: float = 0.0) -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    radius = marker.scale[0] - inwards
    corners = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(CORNERS)], axis=1)
    _line(entity, marker, LinePrimitive.LINE_LOOP, corners, 0.03 * marker.scale[0])


def _ring(entity: Any, marker: Marker) -> None:
    _circle(entity, marker)
    _circle(entity, marker, marker.scale[1])


def _arrow(entity: Any, marker: Marker) -> None:
    length, shaft, head = marker.scale
    head_length = min(head, length)
    sizes = {"shaft_length": length - head_length, "shaft_diameter": shaft}
    entity.arrows.add(**sizes, head_length=head_length, head_diameter=head, **_styled(marker))


def _text(entity: Any, marker: Marker) -> None:
    entity.texts.add(text=marker.label, billboard=True, font_size=marker.scale[0], **_styled(marker))


def _triangles(entity: Any, marker: Marker) -> None:
    entity.triangles.add(points=_vertices(marker.vertices), **_styled(marker))


def _car(entity: Any, marker: Marker) -> None:
    middle = marker.pose.apply((0.0, 0.0, 0.5 * marker.scale[2]))  # its position is on the ground
    entity.cubes.add(size=vector(marker.scale), **_styled(marker) | {"pose": pose(middle, marker.quaternion)})


def _mesh(entity: Any, marker: Marker) -> None:
    entity.models.add(url=marker.label, override_color=False, scale=vector(marker.scale), **_styled(marker))


def _axes(entity: Any, marker: Marker) -> None:
    for tip, colour in zip(np.eye(3) * marker.scale[0], AXES, strict=True):
        _line(entity, marker, LinePrimitive.LINE_LIST, [np.zeros(3), tip], 0.04 * marker.scale[0], colour)


DRAW: dict[str, Callable[[Any, Marker], None]] = {
    "points": _points,
    "line_strip": lambda e, m: _line(e, m, LinePrimitive.LINE_STRIP, m.vertices, m.scale[0]),
    "line_list": lambda e, m: _line(e, m, LinePrimitive.LINE_LIST, m.vertices, m.scale[0]),
    "circle": _circle,
    "ring": _ring,
    "arrow": _arrow,
    "text": _text,
    "triangle_list": _triangles,
    "car": _car,
    "mesh": _mesh,
    "axes": _axes,
}

TOPIC = "/track"
RGB = {
    "blue": (0.1, 0.3, 1.0),
    "yellow": (1.0, 0.85, 0.0),
    "orange": (1.0, 0.45, 0.0),
    "big_orange": (1.0, 0.3, 0.0),
    "unknown": (0.6, 0.6, 0.6),
}
WHITE = (1.0, 1.0, 1.0)
LINE = 0.05  # m, thickness of a boundary
GATE = 0.15  # m, of a gate
Heights = Callable[[Floats, Floats], Floats]


def track_scene(track: Track, heights: Heights) -> SceneUpdate:
    """Return the track as entities of the world, on the ground; `heights` of the ground (m) at x and y."""
    update, about = SceneUpdate(), {"frame_id": WORLD, "metadata": [{"key": "track", "value": track.name}]}
    lines, cones = (update.entities.add(id=f"track/{part}", **about) for part in ("boundaries", "cones"))
    kind = LinePrimitive.LINE_LOOP if track.closed else LinePrimitive.LINE_STRIP
    for points, colour in ((track.left, "blue"), (track.right, "yellow")):
        _draw_line(lines, kind, points, LINE, RGB[colour], heights)
    for gate in track.gates:
        _draw_line(lines, LinePrimitive.LINE_STRIP, np.array([gate.left, gate.right]), GATE, WHITE, heights)
    ground = heights(track.cones[:, 0], track.cones[:, 1])
    for (x, y), z, colour in zip(track.cones.tolist(), ground.tolist(), track.colours.tolist(), strict=True):
        draw_cone(cones, CONE_COLOURS[colour], x, y, z)
    return update


def stamped(scene: SceneUpdate, log_time: int) -> SceneUpdate:
    """Return a scene at a log time, ns."""
    for entity in scene.entities:
        entity.timestamp.FromNanoseconds(log_time)
    return scene


def draw_cone(entity: Any, colour: str, x: float, y: float, ground: float = 0.0, alpha: float = 1.0) -> None:
    """Add a standing cone of a colour of CONE_COLOURS at a position (m)."""
    width, height = CONE_SIZES[colour]
    body = {"pose": pose((x, y, ground + 0.5 * height)), "size": vector((width, width, height))}
    entity.cylinders.add(**body, bottom_scale=1.0, top_scale=0.1, color=rgba(RGB[colour], alpha))


def _draw_line(
    entity: Any, kind: Any, points: Floats, width: float, colour: tuple[float, float, float], heights: Heights
) -> None:
    ground = np.column_stack([points, heights(points[:, 0], points[:, 1])])
    line = {"type": kind, "thickness": width, "pose": pose(), "color": rgba(colour)}
    entity.lines.add(points=[vector(point) for point in ground.tolist()], **line)


SENSED = 20  # vehicles up to which each sensor with arrays has a channel
POINT = [
    PackedElementField(name=name, offset=4 * k, type=PackedElementField.FLOAT32)
    for k, name in enumerate(("x", "y", "z"))
]


class SensedArray(NamedTuple):
    """An array that viewers show."""

    fleet: int
    row: int
    vehicle: str
    sensor: str  # its name on the vehicle: `lidar_2`
    reading: str  # `ranges` or `detections`
    options: Any

    @property
    def topic(self) -> str:
        """The topic of its channel."""
        return f"/sensors/{self.vehicle}/{self.sensor}"


def array_load(layout: Layout, programs: Mapping[str, FleetProgram], rate: float) -> float:
    """Return how many bytes per simulated s the arrays of a layout add to a recording of `rate` samples per s, at most.

    Equal samples compress to almost nothing, measured ranges hardly: a reading counts once, with viewers twice.
    """
    shown = {(sensed.fleet, sensed.sensor, sensed.reading) for sensed in sensed_arrays(layout, programs)}
    total = 0.0
    for k, fleet in enumerate(layout.fleets):
        for array in fleet.arrays:
            sensor, _, reading = array.name.partition(".")
            sensed = programs[fleet.name].sensors.get(sensor)
            options = None if sensed is None else sensed.sensor.options(*sensed.options.tolist())
            own = float(getattr(options, "rate", rate))
            size = prod(array.shape) * np.dtype(array.dtype).itemsize
            viewed = min(fleet.n, SENSED) if (k, sensor, reading) in shown else 0
            total += size * (fleet.n + viewed) * min(own, rate)
    return total


def sensed_arrays(layout: Layout, programs: Mapping[str, FleetProgram]) -> tuple[SensedArray, ...]:
    """Return the arrays of the first vehicles of a layout that viewers show."""
    arrays: list[SensedArray] = []
    vehicles: set[str] = set()
    for k, fleet in enumerate(layout.fleets):
        shown = [array.name.partition(".")[::2] for array in fleet.arrays]
        for row in range(min(fleet.n, SENSED) if shown else 0):
            name = fleet.vehicle_name(row)
            if len(vehicles) == SENSED:
                return tuple(arrays)
            vehicles.add(name)
            for sensor, reading in shown:
                suite = programs[fleet.name].sensors.get(sensor)
                if suite is None:  # an array of the radio
                    continue
                kind = suite.sensor.name
                if isinstance(suite.sensor, ArraySensor) and (kind, reading) in SHOWN:
                    options = suite.sensor.options(*suite.options.tolist())
                    arrays.append(SensedArray(k, row, name, sensor, reading, options))
    return tuple(arrays)


SHOWN = {("lidar", "ranges"), ("lidar_3d", "ranges"), ("cones", "detections")}


def message_of(array: SensedArray, values: Any, time: int) -> Any:
    """Return a reading as a message; `time` of the sample in ns."""
    if array.reading == "detections":
        return cone_scene(array, values, time)
    beams = beams_of(array.options)
    return laser_scan(array, beams, values, time) if array.options.rings == 1 else cloud(array, beams, values, time)


def _mounted(array: SensedArray, beams: Beams, time: int) -> Fields:
    """Return the fields that scans and clouds share."""
    quaternion = quaternion_from_matrix(beams.mount[3:].reshape(3, 3)).tolist()
    at = pose(beams.mount[:3].tolist(), quaternion)
    return {"timestamp": timestamp(time), "frame_id": array.vehicle, "pose": at}


def laser_scan(array: SensedArray, beams: Beams, ranges: Any, time: int) -> LaserScan:
    """Return a scan in a plane, in the frame of its vehicle."""
    angles = {"start_angle": beams.first, "end_angle": beams.first + beams.step * (ranges.size - 1)}
    return LaserScan(**_mounted(array, beams, time), **angles, ranges=ranges.astype(np.float64).tolist())


def cloud(array: SensedArray, beams: Beams, ranges: Any, time: int) -> PointCloud:
    """Return the returns of a scan with rings as points, in the frame of its vehicle."""
    (cosine, sine), (flat, rise) = beams.directions, beams.rises
    units = np.stack(
        [flat[:, None] * cosine, flat[:, None] * sine, np.broadcast_to(rise[:, None], ranges.shape)], axis=-1
    )
    hit = np.isfinite(ranges)
    points = (units[hit] * ranges[hit][:, None]).astype("<f4")
    return PointCloud(**_mounted(array, beams, time), point_stride=12, fields=POINT, data=points.tobytes())


def cone_scene(array: SensedArray, detections: Any, time: int) -> SceneUpdate:
    """Return the detected cones of a frame as bodies, in the frame of their vehicle, in place of those before."""
    update, name = cleared_scene(time), f"{array.vehicle}/{array.sensor}"
    entity = update.entities.add(timestamp=timestamp(time), frame_id=array.vehicle, id=name)
    for x, y, colour, confidence, *_ in detections[np.isfinite(detections[:, 0])].tolist():
        draw_cone(entity, CONE_COLOURS[int(colour)], x, y, alpha=0.4 + 0.6 * confidence)
    return update


class SensedWriter:
    """Writes each new reading of the shown arrays once."""

    def __init__(self, writer: Any, rate: float) -> None:
        """`writer` writes messages; `rate` in ticks per simulated s."""
        self._writer, self._rate = writer, rate
        self._written: dict[str, float] = {}  # topic -> tick of the last sample

    def begin(self) -> None:
        """Write the readings of a new run from its first sample on."""
        self._written.clear()

    def write(self, snapshot: Snapshot, arrays: tuple[SensedArray, ...], at: LogTime) -> None:
        """Write the readings that are new."""
        layout, buffer = snapshot.layout, snapshot.buffer
        for array in arrays:
            fleet = layout.fleets[array.fleet]
            block = layout.block(buffer, array.fleet)
            tick = block[fleet.column(f"{array.sensor}.sample_tick"), array.row]
            if tick < 0 or self._written.get(array.topic) == tick:
                continue
            self._written[array.topic] = tick
            values = layout.arrays(buffer, array.fleet)[f"{array.sensor}.{array.reading}"][array.row]
            time = at.log - round((snapshot.tick - tick) * 1e9 / self._rate)
            self._writer.write(array.topic, at, message_of(array, values, time))
