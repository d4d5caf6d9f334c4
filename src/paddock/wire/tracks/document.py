"""What a track file contains: cones, start pose, timing points, in the terms of all formats together."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from paddock.errors import PaddockError

COLOURS = ("blue", "yellow", "orange", "big_orange", "unknown")
"""Colours of cones."""
SIDES = ("", "left", "right", "unknown")
"""Lists of a lanes file in which a cone stands; "" for other formats."""
LARGEST = 4 << 20
"""Bytes of the largest file that is read."""
MOST_CONES = 20_000
FARTHEST = 1e6  # m from the origin
_SWAPPED = {"blue": "yellow", "yellow": "blue", "left": "right", "right": "left"}


class TrackFileError(PaddockError):
    """A track file that cannot be read: file, line, column, what is wrong and what is valid."""


class Cone(NamedTuple):
    """A cone, or a boundary point without one."""

    colour: str  # one of COLOURS
    x: float  # m
    y: float
    z: float = 0.0
    direction: float = 0.0  # rad; the CSV column, 0 for cones
    x_variance: float = 0.0  # m2
    y_variance: float = 0.0
    xy_covariance: float = 0.0
    side: str = ""  # one of SIDES
    invisible: bool = False  # a point of the boundary where no cone stands


class Start(NamedTuple):
    """The start pose."""

    x: float  # m
    y: float
    yaw: float  # rad
    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    reference: str = "cg"  # "cg" or "front_wing": the point of the car that is at (x, y)
    x_variance: float = 0.0  # m2; columns of CSV
    y_variance: float = 0.0
    xy_covariance: float = 0.0


class Point(NamedTuple):
    """A point besides the cones: on the middle line, or a timing device."""

    x: float  # m
    y: float
    z: float = 0.0
    direction: float = 0.0  # rad
    x_variance: float = 0.0  # m2
    y_variance: float = 0.0
    xy_covariance: float = 0.0


class EarthPlacement(NamedTuple):
    """Where on Earth the origin is: `earthToTrack` of a lanes file."""

    position: tuple[float, float, float]
    orientation: tuple[float, float, float]


@dataclass(frozen=True)
class TrackFile:
    """The contents of a track file. Equal contents are written as equal bytes."""

    cones: tuple[Cone, ...]
    start: Start | None = None
    timing: tuple[Point, ...] = ()  # timing devices, in pairs
    midpoints: tuple[Point, ...] = ()
    closed: bool | None = None  # None: the format does not say
    version: str = ""  # of a lanes file
    earth: EarthPlacement | None = None

    def swapped(self) -> "TrackFile":
        """Return the contents with blue and yellow exchanged; sides stay."""
        return replace(self, cones=tuple(c._replace(colour=_SWAPPED.get(c.colour, c.colour)) for c in self.cones))
