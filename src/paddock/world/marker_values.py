"""What the values of a marker may be, for each kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, unknown_name
from paddock.world.colors import rgba
from paddock.world.pose import FARTHEST
from paddock.world.rotation import unit_quaternion

Vertices = NDArray[np.float32]

SCALES: dict[str, tuple[str, ...]] = {
    "points": ("size",),
    "line_strip": ("width",),
    "line_list": ("width",),
    "circle": ("radius",),
    "ring": ("radius", "width"),
    "arrow": ("length", "shaft", "head"),
    "text": ("height",),
    "triangle_list": (),
    "car": ("length", "width", "height"),
    "mesh": ("x", "y", "z"),
    "axes": ("length",),
}
"""Every kind, and what the numbers of its scale mean: m, but factors for a mesh. Those not named mean nothing.

`points`: diameter of each. `ring`: outer radius, and width inwards. `arrow`: along x, diameter of the shaft, width (and
length) of the head. `car`: a box that stands on its position. Circles and rings lie in the x-y plane of their pose.
"""
MULTIPLES = {"points": 1, "line_strip": 1, "line_list": 2, "triangle_list": 3}
"""The kinds that have vertices, and how many of them belong together."""
LABELLED = {"text": "the words to show", "mesh": "the name of the mesh"}

LARGEST_ID = 2**32 - 1
MAX_VERTICES = 1_000_000
MAX_NAME = 255
"""Bytes of UTF-8 in the name of a namespace or frame."""
MAX_LABEL = 1_024
"""Bytes of UTF-8."""
LARGEST_SCALE = 1e6
LONGEST_TTL = 1e9
"""s"""


def checked_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a marker other than its name, clean and immutable; refuses what its kind cannot have."""
    kind = given["kind"]
    if not isinstance(kind, str) or kind not in SCALES:
        raise unknown_name("kind of marker", str(kind), SCALES)
    return {
        "position": place("position", given["position"]),
        "quaternion": tuple(unit_quaternion(vector("quaternion", given["quaternion"], 4)).tolist()),
        "scale": _scale(kind, given["scale"]),
        "color": rgba(given["color"]),
        "vertices": _vertices_of(kind, given["vertices"]),
        "label": _label(kind, given["label"]),
        "frame": checked_name("frame", given["frame"]),
        "ttl": _ttl(given["ttl"]),
    }


def checked_name(what: str, value: Any, longest: int = MAX_NAME) -> str:
    """A word of 1 to so many bytes."""
    if not isinstance(value, str):
        raise InvalidValueError(f"the {what} of a marker is a word, not {value!r}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidValueError(f"the {what} of a marker has characters that are not Unicode: {value!r}") from None
    if not 1 <= size <= longest:
        raise InvalidValueError(f"the {what} of a marker has 1 to {longest} bytes, not {size}")
    return value


def checked_id(value: Any) -> int:
    """A whole number that fits 32 bits."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value <= LARGEST_ID:
        raise InvalidValueError(f"the id of a marker is a whole number in 0 to 2**32 - 1, not {value!r}")
    return int(value)


def number(what: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise InvalidValueError(f"{what} is a finite number, not {value!r}")
    return float(value)


def vector(what: str, value: ArrayLike, size: int, most: float = FARTHEST) -> tuple[float, ...]:
    """Numbers, so many of them, none larger than `most` either way."""
    array = _array(what, value, np.float64)
    if array.shape != (size,):
        raise InvalidValueError(f"{what} has shape {array.shape}, expected ({size},)")
    if not np.isfinite(array).all():
        raise InvalidValueError(f"{what} has a component that is not finite: {array.tolist()}")
    if np.abs(array).max() > most:
        raise InvalidValueError(f"{what} has a component beyond -{most:g} to {most:g}: {array.tolist()}")
    return tuple(array.tolist())


def place(what: str, value: ArrayLike) -> tuple[float, ...]:
    """x, y and z in m; z = 0 where only x and y are given."""
    array = _array(what, value, np.float64)
    return vector(what, np.append(array, 0.0) if array.shape == (2,) else array, 3)


def vertices(points: ArrayLike) -> Vertices:
    """Points (n, 3), or (n, 2) on the ground, as a float32 array (n, 3) of its own that cannot be written to."""
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


def _array(what: str, value: ArrayLike, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "iuf":
        raise InvalidValueError(f"{what}: expected an array of numbers")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which is refused
        return array.astype(dtype)


def _scale(kind: str, value: Any) -> tuple[float, ...]:
    meanings = SCALES[kind]
    scale = vector(f"scale ({', '.join(meanings)})", value, 3, LARGEST_SCALE)
    for meaning, size in zip(meanings, scale, strict=False):
        if size <= 0.0:
            raise InvalidValueError(f"the {meaning} of a marker of kind {kind} is more than 0, not {size:g}")
    if kind == "ring" and scale[1] > scale[0]:
        raise InvalidValueError(f"the width of a ring is at most its radius {scale[0]:g}, not {scale[1]:g}")
    return scale


def _vertices_of(kind: str, points: ArrayLike) -> Vertices:
    own = vertices(points)
    if kind not in MULTIPLES:
        if len(own):
            raise InvalidValueError(f"a marker of kind {kind} has no points; those with: {', '.join(MULTIPLES)}")
    elif len(own) % MULTIPLES[kind]:
        raise InvalidValueError(f"the points of a {kind} come in multiples of {MULTIPLES[kind]}, not {len(own)}")
    return own


def _label(kind: str, label: Any) -> str:
    if kind in LABELLED:
        return checked_name(f"label ({LABELLED[kind]})", label, MAX_LABEL)
    if label != "":
        raise InvalidValueError(f"a marker of kind {kind} has no label; those with: {', '.join(LABELLED)}")
    return ""


def _ttl(ttl: Any) -> float | None:
    if ttl is None:
        return None
    if not (seconds := number("ttl", ttl)) > 0.0:
        raise InvalidValueError(f"ttl is a time > 0 in s, or None to stay until it is removed, not {seconds:g}")
    if seconds > LONGEST_TTL:
        raise InvalidValueError(f"ttl is at most {LONGEST_TTL:g} s, or None to stay until removed, not {seconds:g}")
    return seconds
