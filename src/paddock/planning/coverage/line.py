"""A straight line to fly along."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin
from typing import ClassVar

import numpy as np

from paddock.planning.coverage.checks import check_finite, check_positive
from paddock.planning.coverage.shape import Entry
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import line
from paddock.world.columns import Floats


@dataclass(frozen=True)
class LineShape:
    """From (x, y) so many metres along a heading."""

    kind: ClassVar[str] = "line"

    x: float  # m east, where it begins
    y: float  # m north
    heading: float  # rad ccw from east
    length: float  # m

    def __post_init__(self) -> None:
        check_finite("line", x=self.x, y=self.y, heading=self.heading)
        check_positive("line", length=self.length)

    @property
    def entry(self) -> Entry:
        """Its beginning, along it."""
        return Entry(self.x, self.y, self.heading)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Straight along it, whatever the radius."""
        return Path([line(self.x, self.y, self.heading, self.length, z)])

    def outline(self) -> Floats:
        """Its two ends, (2, 2)."""
        end = (self.x + self.length * cos(self.heading), self.y + self.length * sin(self.heading))
        return np.array([(self.x, self.y), end])
