"""Shapes of tasks (point, line, circle, area), each with an entry and a path that covers it; a survey camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, isfinite, pi, tau
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np

from paddock.compute import arrays
from paddock.compute.math import cos, sin
from paddock.errors import InvalidValueError, PaddockError
from paddock.planning.geometry.path import Path, Segment, arc, ends_at, line
from paddock.planning.geometry.wind import over_ground
from paddock.world.columns import Floats

if TYPE_CHECKING:
    from paddock.planning.geometry.polygon import PolygonShape
    from paddock.planning.geometry.zones import Zone


class InfeasibleError(PaddockError):
    """A path that a vehicle cannot fly; the message is the reason in one line."""


class TightTurnError(InfeasibleError):
    """A circle (m) that is tighter than the turns of a vehicle (m), which wind (m/s) may have made wider."""

    def __init__(
        self, circle: float, radius: float, who: str = "the vehicle", wind: float = 0.0, still: float = 0.0
    ) -> None:
        self.circle, self.radius = circle, radius
        where = f" in {wind:.3g} m/s of wind, where" if radius > still > 0.0 else ":"
        calm = f" ({rounded_up(still)} m in still air)" if radius > still > 0.0 else ""
        super().__init__(f"a circle of {circle:g} m is too tight{where} {who} turns with {rounded_up(radius)} m{calm}")


class Entry(NamedTuple):
    """The start of a task."""

    x: float  # m east
    y: float  # m north
    heading: float | None  # rad; None: any


class Drift(NamedTuple):
    """Wind, and the turns of a vehicle that drift with it."""

    radius: float  # m, of turns in the air
    x: float  # wind over airspeed, east
    y: float  # north


CALM = Drift(0.0, 0.0, 0.0)


class TaskShape(Protocol):
    """The geometry of a task. Shapes are frozen dataclasses in local metres (ENU), checked when they are made."""

    kind: ClassVar[str]  # point, line, circle, area, polygon

    @property
    def entry(self) -> Entry:
        """Where it starts."""

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Return the path that covers it, level at `z`, no turn tighter than `radius` (m); or raise InfeasibleError."""

    def outline(self) -> Floats:
        """Return points (k, 2) that show it on a map: one point, a line, or a closed ring (first point repeated)."""


SLACK = 1e-9  # relative tolerance of a turn radius, for rounding


def check_finite(what: str, **values: float) -> None:
    """Raise unless the values are finite."""
    for name, value in values.items():
        if not isfinite(value):
            raise InvalidValueError(f"{what}: {name} is {value!r}; it must be a finite number")


def check_positive(what: str, **values: float) -> None:
    """Raise unless the values are finite and above zero."""
    for name, value in values.items():
        if not (isfinite(value) and value > 0.0):
            raise InvalidValueError(f"{what}: {name} is {value!r}; it must be a number above 0")


def check_radius(what: str, radius: float) -> None:
    """Raise for an invalid turn radius (m; 0: turns on the spot)."""
    if not (isfinite(radius) and radius >= 0.0):
        raise InvalidValueError(f"{what}: the vehicle's turn radius is {radius!r}; it must be a number of at least 0 m")


def rounded_up(radius: float) -> str:
    """Return a positive radius (m) as text with three digits, never less than it is."""
    digit = 10.0 ** (len(str(int(radius))) - 3)
    return f"{ceil(radius / digit - 1e-6) * digit:g}"


@dataclass(frozen=True)
class PointShape:
    """A point; its path is empty."""

    kind: ClassVar[str] = "point"

    x: float  # m east
    y: float  # m north
    heading: float | None = None  # rad ccw from east; None: any

    def __post_init__(self) -> None:
        check_finite("point", x=self.x, y=self.y, heading=self.heading or 0.0)

    @property
    def entry(self) -> Entry:
        """The point itself."""
        return Entry(self.x, self.y, self.heading)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Return an empty path: the task is done when the point is reached."""
        return Path((), (self.x, self.y, z, self.heading or 0.0))

    def outline(self) -> Floats:
        """Return the point, (1, 2)."""
        return np.array([[self.x, self.y]])


@dataclass(frozen=True)
class HeadedShape:
    """A shape that starts at a position with a heading."""

    kind: ClassVar[str]

    x: float  # m east, of the start
    y: float  # m north
    heading: float  # rad ccw from east, along it

    def __post_init__(self) -> None:
        check_finite(self.kind, x=self.x, y=self.y, heading=self.heading)

    @property
    def entry(self) -> Entry:
        """Its start, in its direction."""
        return Entry(self.x, self.y, self.heading)


@dataclass(frozen=True)
class LineShape(HeadedShape):
    """A straight line from (x, y) along a heading."""

    kind: ClassVar[str] = "line"

    length: float  # m

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("line", length=self.length)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Return the straight path along it, for any radius."""
        return Path([line(self.x, self.y, self.heading, self.length, z)])

    def outline(self) -> Floats:
        """Return its two ends, (2, 2)."""
        end = (self.x + self.length * cos(self.heading), self.y + self.length * sin(self.heading))
        return np.array([(self.x, self.y), end])


@dataclass(frozen=True)
class CircleShape(HeadedShape):
    """A full circle that starts and ends at (x, y) with a heading; its centre is to the side."""

    kind: ClassVar[str] = "circle"

    radius: float  # m
    left: bool = True  # side of the turn

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("circle", radius=self.radius)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Return the full circle; TightTurnError if it is tighter than `radius`."""
        check_radius(f"circle at ({self.x:g}, {self.y:g})", radius)
        if self.radius < radius * (1.0 - SLACK):
            raise TightTurnError(self.radius, radius)
        return Path([arc(self.x, self.y, self.heading, self.radius, tau if self.left else -tau, z)])

    def outline(self) -> Floats:
        """Return a closed ring, (73, 2)."""
        turn = self.path(0.0)
        ring = turn.at(np.linspace(0.0, turn.flown, 73))[:, :2]
        ring[-1] = ring[0]
        return ring


@dataclass(frozen=True)
class AreaShape(HeadedShape):
    """N passes of length L at a spacing S: N L + (N - 1) pi S / 2 metres; the first starts at (x, y).

    Passes are flown in another order if half the spacing is tighter than the turn radius, or if a zone blocks them.
    """

    kind: ClassVar[str] = "area"

    length: float  # m, of each pass
    spacing: float  # m between passes
    passes: int
    left: bool = True  # the side of the first pass on which the others lie

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("area", length=self.length, spacing=self.spacing)
        if isinstance(self.passes, bool) or not (self.passes >= 1 and self.passes == int(self.passes)):
            raise InvalidValueError(f"area: passes is {self.passes!r}; it must be a whole number of at least 1")

    @cached_property
    def polygon(self) -> PolygonShape:
        """The rectangle that the passes cover."""
        from paddock.planning.geometry.polygon import PolygonShape  # here: it needs this module

        outline = tuple((x, y) for x, y in self.outline()[:-1].tolist())
        return PolygonShape(outline, (), self.spacing, self.heading, 0.0, (self.x, self.y), "outside")

    def path(
        self, radius: float, z: float = 0.0, zones: tuple[Zone, ...] = (), clearance: float = 0.0, drift: Drift = CALM
    ) -> Path:
        """Return all passes with turns of at least `radius` m over the ground between them, clear of zones."""
        from paddock.planning.geometry.zones import blocked_by

        check_radius("area", radius)
        path = self._in_order(z)
        tight = self.passes > 1 and 0.5 * self.spacing < radius * (1.0 - SLACK)
        if not tight and blocked_by(path, zones, clearance) is None:
            return over_ground(path, 1.0, drift[1:]) if drift != CALM else path
        try:
            return self.polygon.path(radius, z, zones, clearance, drift)
        except InvalidValueError as error:
            raise InfeasibleError(str(error)) from None

    @property
    def row_lengths(self) -> Floats:
        """Metres of each pass with a turn."""
        return np.full(int(self.passes), self.length + 0.5 * pi * self.spacing)

    def parts(self, ends: Sequence[int]) -> list[AreaShape]:
        """Return areas of passes side by side that end before these passes."""
        side = self.spacing if self.left else -self.spacing
        c, s = side * cos(self.heading), side * sin(self.heading)
        return [
            replace(self, x=self.x - s * first, y=self.y + c * first, passes=last - first)
            for first, last in pairwise([0, *ends])
        ]

    def _in_order(self, z: float) -> Path:
        segments: list[Segment] = []
        here = (self.x, self.y, z, self.heading)
        side = 1.0 if self.left else -1.0
        for k in range(int(self.passes)):
            if k:
                segments.append(arc(here[0], here[1], here[3], 0.5 * self.spacing, side * pi, z))
                here, side = ends_at(segments[-1]), -side
            segments.append(line(here[0], here[1], here[3], self.length, z))
            here = ends_at(segments[-1])
        return Path(segments)

    def outline(self) -> Floats:
        """Return the rectangle that the passes cover, half a spacing to each side of them, as a closed ring (5, 2)."""
        side = 1.0 if self.left else -1.0
        near, far = -0.5 * side * self.spacing, (self.passes - 0.5) * side * self.spacing
        ring = np.array([(0.0, near), (self.length, near), (self.length, far), (0.0, far), (0.0, near)])
        return arrays.rotated(ring, self.heading, (self.x, self.y))
