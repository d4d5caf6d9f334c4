"""Markers: what a program wants to be seen in the world, such as a planned path, a goal, a label, a ghost car.

sim.mark(
    Marker.line("plan", 1, path, color="orange", width=0.1),
    Marker.circle("goal", 1, (40.0, 0.0), radius=2.0, ttl=5.0),
    Marker.axes("frames", 1, frame="lidar"),
)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import PaddockError
from paddock.world.colors import Color, Rgba
from paddock.world.marker_values import Vertices, checked_id, checked_name, checked_values, number, place, vertices
from paddock.world.rotation import quaternion_from_euler
from paddock.world.transforms import Transform

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

NO_VERTICES: Vertices = np.empty((0, 3), np.float32)
ORIGIN: Vector = (0.0, 0.0, 0.0)
UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


class Look(TypedDict, total=False):
    """What every kind of marker may be given."""

    color: Color
    frame: str
    ttl: float | None


@dataclass(frozen=True, eq=False)
class Marker:
    """One thing to be seen, known by its namespace and id; immutable. The class methods are the easy way to make one.

    Anything that can be read as such a vector, color (a name, `#rrggbb`) or array of points is taken.
    """

    namespace: str
    id: int
    """0 to 2**32 - 1."""
    kind: str
    """One of `paddock.world.marker_values.SCALES`."""
    position: Vector = ORIGIN
    """In `frame`, m."""
    quaternion: Quaternion = UPRIGHT
    """x, y, z, w, in `frame`."""
    scale: Vector = (1.0, 1.0, 1.0)
    """What each number means depends on the kind: see `SCALES`."""
    color: Rgba = (1.0, 1.0, 1.0, 1.0)
    """Red, green, blue, opacity: 0 to 1."""
    vertices: Vertices = field(default_factory=lambda: NO_VERTICES)
    """(n, 3) float32, in m, relative to the pose; read-only. Empty for kinds that have none."""
    label: str = ""
    """The words of a text, the name of a mesh."""
    frame: str = "world"
    """`world`, a vehicle, or a frame placed by `set_frame`."""
    ttl: float | None = None
    """How long it is shown, in s of simulation time; None: until it is removed."""

    def __post_init__(self) -> None:
        """Check everything; what is wrong is said with the marker's name."""
        checked_name("namespace", self.namespace)
        object.__setattr__(self, "id", checked_id(self.id))
        try:
            values = checked_values(vars(self))
        except PaddockError as error:
            raise type(error)(f"{self.name}: {error}") from None
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def name(self) -> str:
        """What errors call it."""
        return f"marker {self.namespace!r} {self.id}"

    @cached_property
    def pose(self) -> Transform:
        """Takes what is relative to the marker to its frame."""
        return Transform(self.position, self.quaternion)

    def __eq__(self, other: object) -> bool:
        """The same in every field."""
        if not isinstance(other, Marker):
            return NotImplemented
        return self._plain() == other._plain() and np.array_equal(self.vertices, other.vertices)

    def __hash__(self) -> int:
        """Of everything but the vertices."""
        return hash(self._plain())

    def _plain(self) -> tuple[Any, ...]:
        place = (self.namespace, self.id, self.kind, self.position, self.quaternion, self.frame)
        return (*place, self.scale, self.color, self.label, self.ttl)

    @classmethod
    def points(cls, namespace: str, id: int, points: ArrayLike, size: float = 0.2, **look: Unpack[Look]) -> Marker:
        """Dots (n, 3) or (n, 2), in m, of a diameter (m)."""
        return _made("points", namespace, id, look, scale=(size, 1.0, 1.0), vertices=points)

    @classmethod
    def line(
        cls, namespace: str, id: int, points: ArrayLike, width: float = 0.05, closed: bool = False, **look: Unpack[Look]
    ) -> Marker:
        """A line through points (n, 3) or (n, 2), in m, and back to the first of them if `closed`."""
        corners = vertices(points)
        if closed:
            corners = np.concatenate([corners, corners[:1]])
        return _made("line_strip", namespace, id, look, scale=(width, 1.0, 1.0), vertices=corners)

    @classmethod
    def lines(cls, namespace: str, id: int, points: ArrayLike, width: float = 0.05, **look: Unpack[Look]) -> Marker:
        """Separate lines, each from one of the points (2 n, 3) or (2 n, 2), in m, to the next."""
        return _made("line_list", namespace, id, look, scale=(width, 1.0, 1.0), vertices=points)

    @classmethod
    def triangles(cls, namespace: str, id: int, points: ArrayLike, **look: Unpack[Look]) -> Marker:
        """Triangles, each of three consecutive points (3 n, 3) or (3 n, 2), in m."""
        return _made("triangle_list", namespace, id, look, vertices=points)

    @classmethod
    def circle(
        cls,
        namespace: str,
        id: int,
        position: ArrayLike = ORIGIN,
        radius: float = 1.0,
        quaternion: ArrayLike = UPRIGHT,
        **look: Unpack[Look],
    ) -> Marker:
        """A circle around a position; level unless a quaternion turns it."""
        return _made("circle", namespace, id, look, scale=(radius, 1.0, 1.0), position=position, quaternion=quaternion)

    @classmethod
    def ring(
        cls,
        namespace: str,
        id: int,
        position: ArrayLike = ORIGIN,
        radius: float = 1.0,
        width: float = 0.2,
        quaternion: ArrayLike = UPRIGHT,
        **look: Unpack[Look],
    ) -> Marker:
        """A band between two circles: the outer one has the radius, the inner one radius - width."""
        return _made("ring", namespace, id, look, scale=(radius, width, 1.0), position=position, quaternion=quaternion)

    @classmethod
    def arrow(
        cls,
        namespace: str,
        id: int,
        start: ArrayLike,
        end: ArrayLike,
        shaft: float = 0.1,
        head: float = 0.3,
        **look: Unpack[Look],
    ) -> Marker:
        """An arrow from one position to another; diameter of the shaft, width of the head."""
        first, last = place("start", start), place("end", end)
        x, y, z = (b - a for a, b in zip(first, last, strict=True))
        turn = quaternion_from_euler(0.0, math.atan2(-z, math.hypot(x, y)), math.atan2(y, x))
        scale = (math.hypot(x, y, z), shaft, head)
        return _made("arrow", namespace, id, look, scale=scale, position=first, quaternion=turn)

    @classmethod
    def text(
        cls, namespace: str, id: int, text: str, position: ArrayLike = ORIGIN, height: float = 0.5, **look: Unpack[Look]
    ) -> Marker:
        """Words at a position, facing whoever looks; height of a capital letter."""
        return _made("text", namespace, id, look, scale=(height, 1.0, 1.0), position=position, label=text)

    @classmethod
    def car(
        cls,
        namespace: str,
        id: int,
        position: ArrayLike = ORIGIN,
        yaw: float = 0.0,
        size: Sequence[float] = (4.5, 1.8, 1.4),
        quaternion: ArrayLike | None = None,
        **look: Unpack[Look],
    ) -> Marker:
        """A car standing at a position: length, width, height (m); turned by a yaw (rad) or by a quaternion."""
        half = 0.5 * number("yaw", yaw)
        turn = (0.0, 0.0, math.sin(half), math.cos(half)) if quaternion is None else quaternion
        return _made("car", namespace, id, look, scale=size, position=position, quaternion=turn)

    @classmethod
    def mesh(
        cls,
        namespace: str,
        id: int,
        uri: str,
        position: ArrayLike = ORIGIN,
        quaternion: ArrayLike = UPRIGHT,
        scale: Sequence[float] = (1.0, 1.0, 1.0),
        **look: Unpack[Look],
    ) -> Marker:
        """A mesh that the renderer knows by this name, with a factor for each axis."""
        return _made("mesh", namespace, id, look, scale=scale, position=position, quaternion=quaternion, label=uri)

    @classmethod
    def axes(
        cls,
        namespace: str,
        id: int,
        position: ArrayLike = ORIGIN,
        quaternion: ArrayLike = UPRIGHT,
        length: float = 1.0,
        **look: Unpack[Look],
    ) -> Marker:
        """The axes of a pose, or of a whole frame: x red, y green, z blue."""
        return _made("axes", namespace, id, look, scale=(length, 1.0, 1.0), position=position, quaternion=quaternion)


def _made(kind: str, namespace: str, id: int, look: Look, **fields: Any) -> Marker:
    """A marker from values as users write them."""
    given: dict[str, Any] = {**fields, **look}
    return Marker(namespace, id, kind, **given)
