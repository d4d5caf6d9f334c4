"""Markers, and commands that show, hide and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import unknown_name
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages.values import Buffer, body_of, enumerated, finite, parsed, sending

Vector = tuple[float, float, float]
Four = tuple[float, float, float, float]

KINDS = tuple(value.name.lower() for value in pb.MarkerKind.DESCRIPTOR.values)
"""What can be drawn, in the order of the enum."""
WORLD = "world"


@dataclass(frozen=True, slots=True, eq=False)
class MarkerMessage:
    """One marker, with the fields of `world.markers.Marker`, which validates them."""

    namespace: str
    id: int  # 0 to 2^32 - 1
    kind: str  # one of KINDS
    position: Vector = (0.0, 0.0, 0.0)  # m, in `frame`
    quaternion: Four = (0.0, 0.0, 0.0, 1.0)
    scale: Vector = (1.0, 1.0, 1.0)
    color: Four = (1.0, 1.0, 1.0, 1.0)  # red, green, blue, opacity
    vertices: NDArray[np.float32] = field(
        default_factory=lambda: np.empty((0, 3), np.float32)
    )  # (n, 3) m, from the pose
    label: str = ""
    frame: str = WORLD
    ttl: float | None = None  # simulated s; None: no limit


class PutMarkers(NamedTuple):
    """Show markers in place of those with the same namespace and id."""

    markers: tuple[MarkerMessage, ...]


class DeleteMarkers(NamedTuple):
    """Delete some markers of a namespace."""

    namespace: str
    ids: tuple[int, ...]


class ClearMarkers(NamedTuple):
    """Delete a namespace, or all markers."""

    namespace: str | None = None


class ShowMarkers(NamedTuple):
    """Show or hide a namespace."""

    namespace: str
    visible: bool


MarkerCommand = PutMarkers | DeleteMarkers | ClearMarkers | ShowMarkers


def encode_markers(markers: Sequence[MarkerMessage]) -> bytes:
    """A MarkerArray on its own."""
    with sending("list of markers"):
        return pb.MarkerArray(markers=map(_message, markers)).SerializeToString()


def decode_markers(data: Buffer) -> tuple[MarkerMessage, ...]:
    """A MarkerArray on its own."""
    return tuple(map(_value, parsed(pb.MarkerArray, data).markers))


def encode_marker_command(command: MarkerCommand) -> bytes:
    """A MarkerCommand on its own."""
    with sending("marker command"):
        return command_message(command).SerializeToString()


def decode_marker_command(data: Buffer) -> MarkerCommand:
    """A MarkerCommand on its own."""
    return command_value(parsed(pb.MarkerCommand, data))


def command_message(command: MarkerCommand) -> pb.MarkerCommand:
    """As a part of a request."""
    match command:
        case PutMarkers(markers):
            return pb.MarkerCommand(put=pb.MarkerArray(markers=map(_message, markers)))
        case DeleteMarkers(namespace, ids):
            return pb.MarkerCommand(delete=pb.DeleteMarkers(namespace=namespace, ids=ids))
        case ClearMarkers(everything):
            return pb.MarkerCommand(clear=pb.ClearMarkers(namespace=everything))
        case ShowMarkers(namespace, visible):
            return pb.MarkerCommand(visible=pb.ShowMarkers(namespace=namespace, visible=visible))


def command_value(message: pb.MarkerCommand) -> MarkerCommand:
    """From a part of a request."""
    match body_of(message, "what"):
        case "put":
            return PutMarkers(tuple(map(_value, message.put.markers)))
        case "delete":
            return DeleteMarkers(message.delete.namespace, tuple(message.delete.ids))
        case "clear":
            clear = message.clear
            return ClearMarkers(clear.namespace if clear.HasField("namespace") else None)
    return ShowMarkers(message.visible.namespace, message.visible.visible)


def _message(marker: MarkerMessage) -> pb.Marker:
    if marker.kind not in KINDS:
        raise unknown_name("kind of marker", str(marker.kind), KINDS)
    with np.errstate(over="ignore"):  # overflow becomes infinite, which is refused below
        vertices = np.ascontiguousarray(marker.vertices, "<f4").reshape(-1, 3)
    message = pb.Marker(
        namespace=marker.namespace,
        id=marker.id,
        kind=marker.kind.upper(),
        color=pb.Color(**dict(zip("rgba", marker.color, strict=True))),
        scale=pb.Vector(**dict(zip("xyz", marker.scale, strict=True))),
        position=pb.Vector(**dict(zip("xyz", marker.position, strict=True))),
        quaternion=pb.Quaternion(**dict(zip("xyzw", marker.quaternion, strict=True))),
        frame=marker.frame,
        text=marker.label,
        points=vertices.tobytes(),
        ttl=marker.ttl or 0.0,
    )
    _value(message)  # the receiver would refuse it
    return message


def _value(message: pb.Marker) -> MarkerMessage:
    what = f"marker {message.namespace[:40]!r} {message.id}"
    ttl = finite(message.ttl, f"{what}: ttl", 0.0)
    return MarkerMessage(
        namespace=message.namespace,
        id=message.id,
        kind=enumerated(message.kind, KINDS, f"{what}: kind"),
        position=_numbers(message, "position", "xyz", (0.0, 0.0, 0.0), what),
        quaternion=_numbers(message, "quaternion", "xyzw", (0.0, 0.0, 0.0, 1.0), what),
        scale=_numbers(message, "scale", "xyz", (1.0, 1.0, 1.0), what),
        color=_numbers(message, "color", "rgba", (1.0, 1.0, 1.0, 1.0), what),
        vertices=_vertices(message.points, what),
        label=message.text,
        frame=message.frame or WORLD,
        ttl=ttl or None,
    )


def _numbers(message: pb.Marker, name: str, parts: str, default: Any, what: str) -> Any:
    if not message.HasField(name):
        return default
    inner = getattr(message, name)
    return tuple(finite(getattr(inner, part), f"{what}: {name}") for part in parts)


def _vertices(data: bytes, what: str) -> NDArray[np.float32]:
    if len(data) % 12:
        raise WireError("length", f"{what}: {len(data)} bytes are not points of 3 float32")
    vertices = np.frombuffer(data, "<f4").reshape(-1, 3)
    if not np.isfinite(vertices).all():
        raise WireError("value", f"{what}: points must be finite")
    return vertices
