"""From paths to the rows that the following rule reads: segments, what was flown before them, and how fast they go."""

from __future__ import annotations

from math import inf, remainder, sqrt, tau

import numpy as np

from paddock.engine.mission.curve import COLUMNS
from paddock.engine.mission.following import FAR
from paddock.engine.mission.style import CORNER, FollowingStyle
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import FIELDS, Segment, ends_at, flown_of
from paddock.world.columns import Floats

NOTHING = np.zeros((0, COLUMNS))


def rows_of(path: Path, loop: Path, style: FollowingStyle) -> Floats:
    """The rows (k, 15) of a path and of what is repeated behind it."""
    segments = (*path.segments, *loop.segments)
    if not segments:
        return NOTHING
    table = np.zeros((len(segments), COLUMNS))
    table[:, :FIELDS] = segments
    flown = np.array([flown_of(segment) for segment in segments])
    table[:, FIELDS] = np.cumsum(flown) - flown
    table[:, FIELDS + 1] = flown
    limits = [min(style.limit(segment.curvature), FAR) for segment in segments]
    table[:, FIELDS + 2] = limits
    table[:, FIELDS + 3] = _leaving(segments, limits, style, bool(loop.segments))
    return table


def _leaving(segments: tuple[Segment, ...], limits: list[float], style: FollowingStyle, repeated: bool) -> list[float]:
    """The speed at the end of each segment, m/s: corners are passed slowly, and what follows needs a way to brake."""
    if style.moves == "aircraft":
        return [FAR] * len(segments)
    leave = [FAR] * len(segments)
    leave[-1] = FAR if repeated else max(style.crawl, 0.0)
    for k in range(len(segments) - 2, -1, -1):  # of one route, a few hundred
        after = min(limits[k + 1], sqrt(leave[k + 1] ** 2 + 2.0 * style.options.brake * flown_of(segments[k + 1])))
        leave[k] = min(after, _corner(segments[k], segments[k + 1], style))
    return leave


def _corner(before: Segment, after: Segment, style: FollowingStyle) -> float:
    """The speed (m/s) between two segments."""
    if before.gear != after.gear:
        return style.crawl
    turn = abs(remainder(after.heading - ends_at(before)[3], tau))
    return inf if turn < CORNER else style.crawl
