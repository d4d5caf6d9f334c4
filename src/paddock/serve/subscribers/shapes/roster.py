"""Who is there, and the frames that have names."""

from __future__ import annotations

from typing import TypedDict

Range = tuple[int, int]
"""First and count of numbers that follow one another."""
Point = tuple[float, float, float]
"""x, y, z in m."""
Quaternion = tuple[float, float, float, float]
"""x, y, z, w."""


class FleetTree(TypedDict):
    """A fleet as rosters tell it."""

    name: str
    kind: str
    model: str
    single: bool
    ids: list[Range]
    members: list[Range]
    columns: list[str]


class RosterTree(TypedDict):
    """Who is there, in the order of the frames' records."""

    roster: int
    fleets: list[FleetTree]


class FrameTree(TypedDict):
    """A named frame where it was placed in its parent last."""

    name: str
    parent: str
    position: Point
    quaternion: Quaternion


class FramesTree(TypedDict):
    """All named frames."""

    frames: list[FrameTree]
