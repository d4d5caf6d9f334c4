"""Markers: shapes, labels and axes that a program draws into the world, such as a planned path, a goal or a ghost car.

sim.world.markers.put(
    Marker.line("plan", 1, path, color="orange", width=0.1),
    Marker.circle("goal", 1, (40.0, 0.0), radius=2.0, ttl=5.0),
    Marker.axes("frames", 1, frame="lidar"),
)
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.world.columns import FARTHEST
from paddock.world.frames import quaternion_from_euler, unit_quaternion
from paddock.world.transforms import Transform

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Vertices = NDArray[np.float32]
Rgba = tuple[float, float, float, float]  # red, green, blue and opacity, each 0 to 1
Color = str | Sequence[float]  # a name, `#rrggbb`, or three or four numbers from 0 to 1

SCALES: dict[str, tuple[str, ...]] = {
    "points": ("size",), "line_strip": ("width",), "line_list": ("width",), "circle": ("radius",),
    "ring": ("radius", "width"), "arrow": ("length", "shaft", "head"), "text": ("height",), "triangle_list": (),
    "car": ("length", "width", "height"), "mesh": ("x", "y", "z"), "axes": ("length",),
}  # fmt: skip
"""Every kind and the meaning of its scale, in m; factors for a mesh. Other numbers of the scale have no effect.

`points`: diameter. `ring`: outer radius, and width inwards. `arrow`: along x, diameter of the shaft, width (and length)
of the head. `car`: a box that stands on its position. Circles and rings lie in the x-y plane of their pose.
"""
MULTIPLES = {"points": 1, "line_strip": 1, "line_list": 2, "triangle_list": 3}
"""The kinds with vertices, and the number of vertices that belong together."""
DRAWN_POINTS = {"circle": 48, "ring": 96, "arrow": 6, "car": 24, "axes": 6}
"""Points of the kinds without vertices that are drawn as lines; others count as one."""
LABELLED = {"text": "the text to show", "mesh": "the name of the mesh"}

LARGEST_ID = 2**32 - 1
MAX_VERTICES = 1_000_000
MAX_NAME = 255  # bytes of UTF-8 in the name of a namespace or frame
MAX_LABEL = 1_024  # bytes of UTF-8
LARGEST_SCALE = 1e6
LONGEST_TTL = 1e9  # s
NO_VERTICES: Vertices = np.empty((0, 3), np.float32)
ORIGIN: Vector = (0.0, 0.0, 0.0)
UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


class Look(TypedDict, total=False):
    """Options of every kind of marker."""

    color: Color
    frame: str
    ttl: float | None


@dataclass(frozen=True, eq=False)
class Marker:
    """A drawing with a namespace and an id; immutable. Use the class methods to make one.

    Fields accept anything that converts to such a vector, color (a name, `#rrggbb`) or array of points.
    """

    namespace: str
    id: int  # 0 to 2**32 - 1
    kind: str  # one of `SCALES`
    position: Vector = ORIGIN  # in `frame`, m
    quaternion: Quaternion = UPRIGHT  # x, y, z, w, in `frame`
    scale: Vector = (1.0, 1.0, 1.0)  # the meaning depends on the kind: see `SCALES`
    color: Rgba = (1.0, 1.0, 1.0, 1.0)  # red, green, blue, opacity: 0 to 1
    vertices: Vertices = field(default_factory=lambda: NO_VERTICES)
    """(n, 3) float32, in m, relative to the pose; read-only. Empty for kinds without vertices."""
    label: str = ""  # the text of a text, the name of a mesh
    frame: str = "world"  # `world`, a vehicle, or a named frame
    ttl: float | None = None  # lifetime in s of simulation time; None: until it is removed

    def __post_init__(self) -> None:
        """Check all fields; errors name the marker."""
        _checked_name("namespace", self.namespace)
        object.__setattr__(self, "id", checked_id(self.id))
        try:
            values = self._checked()
        except PaddockError as error:
            raise type(error)(f"{self.name}: {error}") from None
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _checked(self) -> dict[str, Any]:
        """Return the converted fields; an error for values that the kind does not have."""
        kind = self.kind
        if not isinstance(kind, str) or kind not in SCALES:
            raise unknown_name("marker kind", str(kind), SCALES)
        return {
            "position": _position("position", self.position),
            "quaternion": tuple(unit_quaternion(_vector("quaternion", self.quaternion, 4)).tolist()),
            "scale": _scale(kind, self.scale),
            "color": rgba(self.color),
            "vertices": _vertices_of(kind, self.vertices),
            "label": _label(kind, self.label),
            "frame": _checked_name("frame", self.frame),
            "ttl": _ttl(self.ttl),
        }

    @property
    def name(self) -> str:
        """The marker's name in errors."""
        return f"marker {self.namespace!r} {self.id}"

    @property
    def drawn_points(self) -> int:
        """Number of points that a renderer draws: the vertices, or the ends of the lines of a kind without them."""
        return len(self.vertices) or DRAWN_POINTS.get(self.kind, 1)

    @cached_property
    def pose(self) -> Transform:
        """The pose of the marker in its frame."""
        return Transform(self.position, self.quaternion)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Marker):
            return NotImplemented
        return self._plain() == other._plain() and np.array_equal(self.vertices, other.vertices)

    def __hash__(self) -> int:
        """Hash everything but the vertices."""
        return hash(self._plain())

    def _plain(self) -> tuple[Any, ...]:
        pose = (self.namespace, self.id, self.kind, self.position, self.quaternion, self.frame)
        return (*pose, self.scale, self.color, self.label, self.ttl)

    @classmethod
    def points(cls, namespace: str, id: int, points: ArrayLike, size: float = 0.2, **look: Unpack[Look]) -> Marker:
        """Return dots at points (n, 3) or (n, 2), in m, with a diameter in m."""
        return _made("points", namespace, id, look, scale=(size, 1.0, 1.0), vertices=points)

    @classmethod
    def line(
        cls, namespace: str, id: int, points: ArrayLike, width: float = 0.05, closed: bool = False, **look: Unpack[Look]
    ) -> Marker:
        """Return a line through points (n, 3) or (n, 2), in m, and back to the first if `closed`."""
        corners = _vertices(points)
        if closed:
            corners = np.concatenate([corners, corners[:1]])
        return _made("line_strip", namespace, id, look, scale=(width, 1.0, 1.0), vertices=corners)

    @classmethod
    def lines(cls, namespace: str, id: int, points: ArrayLike, width: float = 0.05, **look: Unpack[Look]) -> Marker:
        """Return separate lines, each between two consecutive points (2 n, 3) or (2 n, 2), in m."""
        return _made("line_list", namespace, id, look, scale=(width, 1.0, 1.0), vertices=points)

    @classmethod
    def triangles(cls, namespace: str, id: int, points: ArrayLike, **look: Unpack[Look]) -> Marker:
        """Return triangles, each of three consecutive points (3 n, 3) or (3 n, 2), in m."""
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
        """Return a circle around a position, horizontal unless a quaternion rotates it."""
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
        """Return a band between two circles of radius `radius` and `radius - width`."""
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
        """Return an arrow between two positions; diameter of the shaft, width of the head."""
        first, last = _position("start", start), _position("end", end)
        x, y, z = (b - a for a, b in zip(first, last, strict=True))
        turn = quaternion_from_euler(0.0, math.atan2(-z, math.hypot(x, y)), math.atan2(y, x))
        scale = (math.hypot(x, y, z), shaft, head)
        return _made("arrow", namespace, id, look, scale=scale, position=first, quaternion=turn)

    @classmethod
    def text(
        cls, namespace: str, id: int, text: str, position: ArrayLike = ORIGIN, height: float = 0.5, **look: Unpack[Look]
    ) -> Marker:
        """Return a text at a position that faces the viewer; height of a capital letter."""
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
        """Return a car at a position: length, width, height (m); rotated by a yaw (rad) or a quaternion."""
        half = 0.5 * _number("yaw", yaw)
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
        """Return a mesh that the renderer knows by this name, with a factor for each axis."""
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
        """Return the axes of a pose, or of a frame: x red, y green, z blue."""
        return _made("axes", namespace, id, look, scale=(length, 1.0, 1.0), position=position, quaternion=quaternion)


def _made(kind: str, namespace: str, id: int, look: Look, **fields: Any) -> Marker:
    values: dict[str, Any] = {**fields, **look}
    return Marker(namespace, id, kind, **values)


def checked_id(value: Any) -> int:
    """Return a marker id: a whole number of 32 bits."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value <= LARGEST_ID:
        raise InvalidValueError(f"the id of a marker is a whole number in 0 to 2**32 - 1, not {value!r}")
    return int(value)


def _checked_name(what: str, value: Any, longest: int = MAX_NAME) -> str:
    """Return a text of 1 to `longest` bytes."""
    if not isinstance(value, str):
        raise InvalidValueError(f"the {what} of a marker is text, not {value!r}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidValueError(f"the {what} of a marker has characters that are not Unicode: {value!r}") from None
    if not 1 <= size <= longest:
        raise InvalidValueError(f"the {what} of a marker has 1 to {longest} bytes, not {size}")
    return value


def _number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise InvalidValueError(f"{what} is a finite number, not {value!r}")
    return float(value)


def _array(what: str, value: ArrayLike, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "iuf":
        raise InvalidValueError(f"{what}: expected an array of numbers")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which is an error later
        return array.astype(dtype)


def _vector(what: str, value: ArrayLike, size: int, most: float = FARTHEST) -> tuple[float, ...]:
    """Return `size` finite numbers, none larger than `most` in magnitude."""
    array = _array(what, value, np.float64)
    if array.shape != (size,):
        raise InvalidValueError(f"{what} has shape {array.shape}, expected ({size},)")
    if not np.isfinite(array).all():
        raise InvalidValueError(f"{what} has a component that is not finite: {array.tolist()}")
    if np.abs(array).max() > most:
        raise InvalidValueError(f"{what} has a component beyond -{most:g} to {most:g}: {array.tolist()}")
    return tuple(array.tolist())


def _position(what: str, value: ArrayLike) -> tuple[float, ...]:
    """Return x, y and z in m; z = 0 if only x and y are given."""
    array = _array(what, value, np.float64)
    return _vector(what, np.append(array, 0.0) if array.shape == (2,) else array, 3)


def _vertices(points: ArrayLike) -> Vertices:
    """Return points (n, 3), or (n, 2) on the ground, as a read-only float32 copy (n, 3)."""
    array = _array("points", points, np.float32)
    if array.size == 0:
        array = np.empty((0, 3), np.float32)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InvalidValueError(f"points have shape {array.shape}, expected (n, 3) or (n, 2)")
    if len(array) > MAX_VERTICES:
        raise InvalidValueError(f"a marker has at most {MAX_VERTICES} points, not {len(array)}; use several markers")
    if not (finite := np.isfinite(array).all(axis=1)).all():
        raise InvalidValueError(f"points[{int(finite.argmin())}] is not finite (as float32)")
    if not (near := (np.abs(array) <= FARTHEST).all(axis=1)).all():
        raise InvalidValueError(f"points[{int(near.argmin())}] has a coordinate beyond -{FARTHEST:g} to {FARTHEST:g}")
    own = np.zeros((len(array), 3), np.float32)
    own[:, : array.shape[1]] = array
    own.flags.writeable = False
    return own


def _vertices_of(kind: str, points: ArrayLike) -> Vertices:
    own = _vertices(points)
    if kind not in MULTIPLES:
        if len(own):
            raise InvalidValueError(f"a marker of kind {kind} has no points; those with: {', '.join(MULTIPLES)}")
    elif len(own) % MULTIPLES[kind]:
        raise InvalidValueError(f"the points of a {kind} come in multiples of {MULTIPLES[kind]}, not {len(own)}")
    return own


def _scale(kind: str, value: Any) -> tuple[float, ...]:
    meanings = SCALES[kind]
    scale = _vector(f"scale ({', '.join(meanings)})", value, 3, LARGEST_SCALE)
    for meaning, size in zip(meanings, scale, strict=False):
        if size <= 0.0:
            raise InvalidValueError(f"the {meaning} of a marker of kind {kind} is more than 0, not {size:g}")
    if kind == "ring" and scale[1] > scale[0]:
        raise InvalidValueError(f"the width of a ring is at most its radius {scale[0]:g}, not {scale[1]:g}")
    return scale


def _label(kind: str, label: Any) -> str:
    if kind in LABELLED:
        return _checked_name(f"label ({LABELLED[kind]})", label, MAX_LABEL)
    if label != "":
        raise InvalidValueError(f"a marker of kind {kind} has no label; those with: {', '.join(LABELLED)}")
    return ""


def _ttl(ttl: Any) -> float | None:
    if ttl is None:
        return None
    if not (seconds := _number("ttl", ttl)) > 0.0:
        raise InvalidValueError(f"ttl is a time > 0 in s, or None to stay until it is removed, not {seconds:g}")
    if seconds > LONGEST_TTL:
        raise InvalidValueError(f"ttl is at most {LONGEST_TTL:g} s, or None to stay until removed, not {seconds:g}")
    return seconds


COLORS: dict[str, Rgba] = {
    "black": (0.0, 0.0, 0.0, 1.0), "blue": (0.1, 0.3, 1.0, 1.0), "brown": (0.5, 0.3, 0.1, 1.0),
    "cyan": (0.0, 0.9, 0.9, 1.0), "gray": (0.5, 0.5, 0.5, 1.0), "green": (0.1, 0.8, 0.2, 1.0),
    "grey": (0.5, 0.5, 0.5, 1.0), "magenta": (1.0, 0.0, 1.0, 1.0), "orange": (1.0, 0.5, 0.0, 1.0),
    "pink": (1.0, 0.6, 0.7, 1.0), "purple": (0.5, 0.2, 0.8, 1.0), "red": (1.0, 0.1, 0.1, 1.0),
    "white": (1.0, 1.0, 1.0, 1.0), "yellow": (1.0, 0.9, 0.0, 1.0),
}  # fmt: skip
_HEX = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


def rgba(color: Color) -> Rgba:
    """Return a color as red, green, blue and opacity, by default opaque."""
    if isinstance(color, str) and not color.startswith("#"):
        if color not in COLORS:
            raise unknown_name("color", color, COLORS)
        return COLORS[color]
    if isinstance(color, str):
        if not (match := _HEX.fullmatch(color)):
            raise InvalidValueError(f"a color in hex is '#rgb', '#rrggbb' or '#rrggbbaa', not {color!r}")
        digits = match[1] if len(match[1]) > 4 else "".join(2 * digit for digit in match[1])
        red, green, blue, alpha = bytes.fromhex(digits.ljust(8, "f"))
        return red / 255, green / 255, blue / 255, alpha / 255
    try:
        parts = np.asarray(color, dtype=np.float64)
    except (TypeError, ValueError):
        parts = np.empty(0)
    if parts.shape not in ((3,), (4,)):
        raise InvalidValueError(f"a color is a name, '#rrggbb', or 3 or 4 numbers from 0 to 1, not {color!r}")
    if not ((parts >= 0.0) & (parts <= 1.0)).all():
        raise InvalidValueError(f"the numbers of a color go from 0 to 1, not {parts.tolist()}")
    red, green, blue, *opacity = parts.tolist()
    return red, green, blue, *(opacity or [1.0])


@dataclass(frozen=True)
class PlacedMarker:
    """A marker on the board."""

    marker: Marker
    since: float  # simulation time at which it was put, s
    until: float  # simulation time at which it expires, s; infinite if it stays until it is removed
    source: str = ""  # the client that has put it; empty: the program
