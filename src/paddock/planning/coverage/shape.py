"""What every shape of a task can tell: where it is entered, and the path that covers it."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

from paddock.errors import PaddockError
from paddock.planning.paths.path import Path
from paddock.world.columns import Floats


class InfeasibleError(PaddockError):
    """Something that a vehicle cannot fly, with the reason in one line."""


class Entry(NamedTuple):
    """Where a task begins."""

    x: float  # m east
    y: float  # m north
    heading: float | None  # rad; None: any


class Shape(Protocol):
    """The geometry of a task. Shapes are frozen dataclasses in local metres (ENU), checked when they are made."""

    kind: ClassVar[str]  # point, line, circle, area, polygon

    @property
    def entry(self) -> Entry:
        """Where it begins."""

    def path(self, radius: float, z: float = 0.0) -> Path:
        """The path that covers it, level at `z`, from its entry on, with no turn tighter than `radius` (m).

        Empty for a point. Raises InfeasibleError where the shape itself demands a tighter turn.
        """

    def outline(self) -> Floats:
        """Points (k, 2) that show it on a map: one point, a line, or a closed ring (first point repeated)."""
