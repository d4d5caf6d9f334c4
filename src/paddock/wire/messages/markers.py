"""Markers, and commands that show, hide and delete them."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import unknown_name
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages.values import Codec, Oneof, enumerated, finite

Vector = tuple[float, float, float]
Four = tuple[float, float, float, float]

KINDS = tuple(value.name.lower() for value in pb.MarkerKind.DESCRIPTOR.values)
"""The kinds of markers, in the order of the enum."""
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


PARTS: dict[str, tuple[str, tuple[float, ...]]] = {
    "position": ("xyz", (0.0, 0.0, 0.0)),
    "quaternion": ("xyzw", (0.0, 0.0, 0.0, 1.0)),
    "scale": ("xyz", (1.0, 1.0, 1.0)),
    "color": ("rgba", (1.0, 1.0, 1.0, 1.0)),
}
"""Fields of a marker that are messages: their fields, and the numbers if it is absent."""
MarkerCommand = PutMarkers | DeleteMarkers | ClearMarkers | ShowMarkers


def _fields(marker: MarkerMessage) -> dict[str, Any]:
    if marker.kind not in KINDS:
        raise unknown_name("marker kind", str(marker.kind), KINDS)
    with np.errstate(over="ignore"):  # overflow becomes infinite, which is refused below
        vertices = np.ascontiguousarray(marker.vertices, "<f4").reshape(-1, 3)
    return {
        "namespace": marker.namespace,
        "id": marker.id,
        "kind": marker.kind.upper(),
        **{name: dict(zip(PARTS[name][0], getattr(marker, name), strict=True)) for name in PARTS},
        "frame": marker.frame,
        "text": marker.label,
        "points": vertices.tobytes(),
        "ttl": marker.ttl or 0.0,
    }


def _value(message: pb.Marker) -> MarkerMessage:
    what = f"marker {message.namespace[:40]!r} {message.id}"
    ttl = finite(message.ttl, f"{what}: ttl", 0.0)
    return MarkerMessage(
        namespace=message.namespace,
        id=message.id,
        kind=enumerated(message.kind, KINDS, f"{what}: kind"),
        **{name: _numbers(message, name, what) for name in PARTS},
        vertices=_vertices(message.points, what),
        label=message.text,
        frame=message.frame or WORLD,
        ttl=ttl or None,
    )


def _numbers(message: pb.Marker, name: str, what: str) -> Any:
    parts, default = PARTS[name]
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


MARKER = Codec(MarkerMessage, pb.Marker, _fields, _value, check=True)
COMMANDS = Oneof(
    "what",
    {
        "put": Codec(
            PutMarkers,
            pb.MarkerArray,
            lambda command: {"markers": map(MARKER.message, command.markers)},
            lambda message: PutMarkers(tuple(map(MARKER.value, message.markers))),
        ),
        "delete": Codec(DeleteMarkers, pb.DeleteMarkers),
        "clear": Codec(ClearMarkers, pb.ClearMarkers),
        "visible": Codec(ShowMarkers, pb.ShowMarkers),
    },
)
COMMAND: Codec[MarkerCommand, pb.MarkerCommand] = Codec(
    MarkerCommand,  # type: ignore[arg-type]
    pb.MarkerCommand,
    COMMANDS.fields,
    COMMANDS.value,
    "marker command",
)
encode_marker_command, decode_marker_command = COMMAND.encode, COMMAND.decode
