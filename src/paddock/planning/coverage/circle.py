"""A full turn."""

from __future__ import annotations

from dataclasses import dataclass
from math import tau
from typing import ClassVar

import numpy as np

from paddock.planning.coverage.checks import check_finite, check_positive, check_turn
from paddock.planning.coverage.shape import Entry
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import arc
from paddock.world.columns import Floats

CORNERS = 72
"""Of the ring that shows it on a map."""


@dataclass(frozen=True)
class CircleShape:
    """A full turn that begins and ends at (x, y) along a heading; its centre lies abeam."""

    kind: ClassVar[str] = "circle"

    x: float  # m east, on the circle
    y: float  # m north
    heading: float  # rad ccw from east, where it begins
    radius: float  # m
    left: bool = True  # the turn's side

    def __post_init__(self) -> None:
        check_finite("circle", x=self.x, y=self.y, heading=self.heading)
        check_positive("circle", radius=self.radius)

    @property
    def entry(self) -> Entry:
        """The place on the circle, along its tangent."""
        return Entry(self.x, self.y, self.heading)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Once around; InfeasibleError when that is tighter than `radius`."""
        what = f"circle at ({self.x:g}, {self.y:g})"
        check_turn(what, self.radius, radius, f"a circle of at least {radius:g} m would be valid")
        return self._turn(z)

    def outline(self) -> Floats:
        """A closed ring, (73, 2)."""
        turn = self._turn(0.0)
        ring = turn.at(np.linspace(0.0, turn.flown, CORNERS + 1))[:, :2]
        ring[-1] = ring[0]
        return ring

    def _turn(self, z: float) -> Path:
        return Path([arc(self.x, self.y, self.heading, self.radius, tau if self.left else -tau, z)])
