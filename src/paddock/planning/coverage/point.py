"""A place to pass, perhaps with a heading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paddock.planning.coverage.checks import check_finite
from paddock.planning.coverage.shape import Entry
from paddock.planning.paths.path import Path
from paddock.world.columns import Floats


@dataclass(frozen=True)
class PointShape:
    """A place; its path is empty."""

    kind: ClassVar[str] = "point"

    x: float  # m east
    y: float  # m north
    heading: float | None = None  # rad ccw from east; None: any

    def __post_init__(self) -> None:
        check_finite("point", x=self.x, y=self.y, heading=self.heading or 0.0)

    @property
    def entry(self) -> Entry:
        """The place itself."""
        return Entry(self.x, self.y, self.heading)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Empty: to reach it is to have done it."""
        return Path((), (self.x, self.y, z, self.heading or 0.0))

    def outline(self) -> Floats:
        """The place, (1, 2)."""
        return np.array([[self.x, self.y]])
