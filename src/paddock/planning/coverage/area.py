"""A rectangle flown to and fro: passes joined by semicircles."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import ClassVar

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.coverage.checks import check_finite, check_positive, check_turn
from paddock.planning.coverage.shape import Entry
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import Segment, arc, ends_at, line
from paddock.world.columns import Floats


@dataclass(frozen=True)
class AreaShape:
    """N passes of length L at a spacing S: N L + (N - 1) pi S / 2 metres."""

    kind: ClassVar[str] = "area"

    x: float  # m east, where the first pass begins
    y: float  # m north
    heading: float  # rad ccw from east, of the first pass
    length: float  # m, of each pass
    spacing: float  # m between passes
    passes: int
    left: bool = True  # the side of the first pass on which the others lie

    def __post_init__(self) -> None:
        check_finite("area", x=self.x, y=self.y, heading=self.heading)
        check_positive("area", length=self.length, spacing=self.spacing)
        if isinstance(self.passes, bool) or not (self.passes >= 1 and self.passes == int(self.passes)):
            raise InvalidValueError(f"area: passes is {self.passes!r}; it must be a whole number of at least 1")

    @property
    def entry(self) -> Entry:
        """Where the first pass begins, along it."""
        return Entry(self.x, self.y, self.heading)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """All passes; InfeasibleError when half the spacing is tighter than `radius`."""
        if self.passes > 1:
            what = f"area at ({self.x:g}, {self.y:g}) with passes {self.spacing:g} m apart"
            check_turn(what, 0.5 * self.spacing, radius, f"a spacing of at least {2.0 * radius:g} m would be valid")
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
        """The rectangle that the passes cover, half a spacing to each side of them, as a closed ring (5, 2)."""
        side = 1.0 if self.left else -1.0
        near, far = -0.5 * side * self.spacing, (self.passes - 0.5) * side * self.spacing
        ring = np.array([(0.0, near), (self.length, near), (self.length, far), (0.0, far), (0.0, near)])
        c, s = cos(self.heading), sin(self.heading)
        turned: Floats = ring @ np.array([[c, s], [-s, c]]) + (self.x, self.y)
        return turned
