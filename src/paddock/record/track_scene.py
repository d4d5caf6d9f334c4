"""The race track in Foxglove's schemas: boundaries, gates and cones, as they stand at the start."""

from collections.abc import Callable
from typing import Any

import numpy as np
from foxglove_schemas_protobuf.LinePrimitive_pb2 import LinePrimitive
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.record.foxglove import WORLD
from paddock.track.track import CONE_COLOURS, CONE_SIZES, Track
from paddock.world.columns import Floats

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
    update = SceneUpdate()
    lines = update.entities.add(frame_id=WORLD, id="track/boundaries")
    cones = update.entities.add(frame_id=WORLD, id="track/cones")
    for entity in (lines, cones):
        entity.metadata.add(key="track", value=track.name)
    kind = LinePrimitive.LINE_LOOP if track.closed else LinePrimitive.LINE_STRIP
    for points, colour in ((track.left, "blue"), (track.right, "yellow")):
        _draw_line(lines, kind, points, LINE, RGB[colour], heights)
    for gate in track.gates:
        _draw_line(lines, LinePrimitive.LINE_STRIP, np.array([gate.left, gate.right]), GATE, WHITE, heights)
    ground = heights(track.cones[:, 0], track.cones[:, 1])
    for (x, y), z, colour in zip(track.cones.tolist(), ground.tolist(), track.colours.tolist(), strict=True):
        draw_cone(cones, CONE_COLOURS[colour], x, y, z)
    return update


def stamped(scene: SceneUpdate, log_time: int) -> bytes:
    """Return the message of a scene at a log time, ns."""
    for entity in scene.entities:
        entity.timestamp.FromNanoseconds(log_time)
    return scene.SerializeToString()


def draw_cone(entity: Any, colour: str, x: float, y: float, ground: float = 0.0, alpha: float = 1.0) -> None:
    """Add a standing cone of a colour of CONE_COLOURS at a place, m."""
    width, height = CONE_SIZES[colour]
    body = entity.cylinders.add(bottom_scale=1.0, top_scale=0.1)
    body.pose.position.x, body.pose.position.y, body.pose.position.z = x, y, ground + 0.5 * height
    body.pose.orientation.w = 1.0
    body.size.x, body.size.y, body.size.z = width, width, height
    body.color.r, body.color.g, body.color.b = RGB[colour]
    body.color.a = alpha


def _draw_line(
    entity: Any, kind: Any, points: Floats, width: float, colour: tuple[float, float, float], heights: Heights
) -> None:
    line = entity.lines.add(type=kind, thickness=width)
    line.pose.orientation.w = 1.0
    line.color.r, line.color.g, line.color.b = colour
    line.color.a = 1.0
    for (x, y), z in zip(points.tolist(), heights(points[:, 0], points[:, 1]).tolist(), strict=True):
        line.points.add(x=x, y=y, z=z)
