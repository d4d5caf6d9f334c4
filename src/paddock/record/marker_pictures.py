"""Markers as Foxglove's scene entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from foxglove_schemas_protobuf.LinePrimitive_pb2 import LinePrimitive
from foxglove_schemas_protobuf.SceneEntityDeletion_pb2 import SceneEntityDeletion
from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

from paddock.world.markers import Marker

DRAWN_VERTICES = 30_000
"""Vertices of a marker that are drawn at most (a multiple of 2 and 3); the exact marker is in its own channel."""
CORNERS = 48
"""Of a circle."""
AXES = ((1.0, 0.2, 0.2), (0.2, 0.8, 0.2), (0.3, 0.4, 1.0))
"""Colours of x, y and z."""


def entity_id(marker: Marker) -> str:
    """One name for namespace and id."""
    return f"{marker.namespace}/{marker.id}"


def put(markers: Iterable[Marker], log_time: int) -> SceneUpdate:
    """Show these, in place of those of the same name."""
    update = SceneUpdate()
    for marker in markers:
        entity = update.entities.add(frame_id=marker.frame, id=entity_id(marker), frame_locked=True)
        entity.timestamp.FromNanoseconds(log_time)
        if marker.ttl is not None:
            entity.lifetime.FromNanoseconds(round(marker.ttl * 1e9))
        DRAW[marker.kind](entity, marker)
    return update


def take_away(markers: Iterable[Marker] | None, log_time: int) -> SceneUpdate:
    """Remove these, or everything."""
    update = SceneUpdate()
    if markers is None:
        update.deletions.add(type=SceneEntityDeletion.ALL).timestamp.FromNanoseconds(log_time)
    for marker in markers or ():
        gone = update.deletions.add(type=SceneEntityDeletion.MATCHING_ID, id=entity_id(marker))
        gone.timestamp.FromNanoseconds(log_time)
    return update


def _dress(part: Any, marker: Marker, colour: tuple[float, ...] | None = None) -> Any:
    """Give a primitive the marker's pose and colour."""
    place, turn, paint = part.pose.position, part.pose.orientation, part.color
    place.x, place.y, place.z = marker.position
    turn.x, turn.y, turn.z, turn.w = marker.quaternion
    paint.r, paint.g, paint.b, paint.a = marker.color if colour is None else (*colour, marker.color[3])
    return part


def _line(entity: Any, marker: Marker, kind: Any, points: Any, width: float, colour: Any = None) -> None:
    line = _dress(entity.lines.add(type=kind, thickness=width), marker, colour)
    for x, y, z in np.asarray(points, np.float64)[:DRAWN_VERTICES].tolist():
        line.points.add(x=x, y=y, z=z)


def _points(entity: Any, marker: Marker) -> None:
    """Upright dashes as long and as thick as the points are wide: one primitive, however many they are."""
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
    arrow = entity.arrows.add(shaft_length=length - head_length, shaft_diameter=shaft)
    arrow.head_length, arrow.head_diameter = head_length, head
    _dress(arrow, marker)


def _text(entity: Any, marker: Marker) -> None:
    _dress(entity.texts.add(text=marker.label, billboard=True, font_size=marker.scale[0]), marker)


def _triangles(entity: Any, marker: Marker) -> None:
    triangles = _dress(entity.triangles.add(), marker)
    for x, y, z in marker.vertices[:DRAWN_VERTICES].tolist():
        triangles.points.add(x=x, y=y, z=z)


def _car(entity: Any, marker: Marker) -> None:
    box = _dress(entity.cubes.add(), marker)
    box.size.x, box.size.y, box.size.z = marker.scale
    middle = marker.pose.apply((0.0, 0.0, 0.5 * marker.scale[2]))  # it stands on its position
    box.pose.position.x, box.pose.position.y, box.pose.position.z = middle


def _mesh(entity: Any, marker: Marker) -> None:
    model = _dress(entity.models.add(url=marker.label, override_color=False), marker)
    model.scale.x, model.scale.y, model.scale.z = marker.scale


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
