"""Paths with a change of height, no steeper than a vehicle can climb.

In plan view they are Dubins paths with a constant slope. If the shortest path is too steep, it is
lengthened at its start until the slope is the steepest allowed:

- by less than a full turn: a longer arc at the start, to either side, and the shortest path from where it ends. Where
  the possible lengths skip the wanted one, the path is slightly longer and less steep;
- by more: the smallest whole number of helix turns to the first turn's side, their radius widened to gain the height
  exactly.
"""

from math import ceil, pi

from paddock.planning.paths.dubins import dubins
from paddock.planning.paths.path import Path, Pose, PoseLike, Segment, ends_at, not_negative, numbers

Goal = tuple[float, float, float]


def climbing(start: PoseLike, goal: PoseLike, radius: float, slope: float) -> Path:
    """Return a path between poses (x, y, z, heading; None: any) with a maximum slope and turns of `radius` (m)."""
    x, y, z, heading = numbers("start", start, 4, free=False)
    gx, gy, gz, gheading = numbers("goal", goal, 4, free=True)
    radius, slope = not_negative("radius", radius), not_negative("slope", slope, zero=False)
    target = (gx, gy, gheading)
    level = dubins((x, y, heading), target, radius)
    wanted = abs(gz - z) / slope
    if wanted > level.length:
        level = _lengthened((x, y, 0.0, heading), target, radius, level, wanted)
    return tilted(level, z, gz)


def raised(level: Path, low: float, high: float, slope: float, turn: Path) -> Path:
    """Return a level path changed to lead from one height to another; if too steep, after whole `turn`s."""
    excess = abs(high - low) / slope - along(level)
    turns = ceil(excess / along(turn) - 1e-9) if excess > 0.0 else 0
    return tilted(Path(turn.segments * turns, level.start) + level, low, high)


def along(path: Path) -> float:
    """Return metres along all curves of a path, relative to the air where they drift."""
    return sum(segment.length for segment in path.segments)


def tilted(level: Path, low: float, high: float) -> Path:
    """Return a level path changed to lead from one height to another at a constant slope."""
    x, y, _, heading = level.start
    slope = (high - low) / along(level) if level.segments else 0.0
    segments, z = [], low
    for segment in level.segments:
        segments.append(segment._replace(z=z, slope=slope))
        z += slope * segment.length
    return Path(segments, (x, y, low, heading))


def _lengthened(begin: Pose, goal: Goal, radius: float, level: Path, wanted: float) -> Path:
    """Return the level path, lengthened to a length (m) or, if that is not possible, slightly more."""
    excess = wanted - level.length
    turns = max(1, int(excess / (2.0 * pi * radius))) if radius > 0.0 else 1
    side = -1.0 if level.segments and level.segments[0].curvature < 0.0 else 1.0
    if excess < 2.0 * pi * radius:
        return min((_with_arc(begin, goal, radius, side, wanted) for side in (side, -side)), key=lambda p: p.length)
    wide = excess / (2.0 * pi * turns)
    return Path((Segment(*begin, excess, side / wide), *level.segments), begin)


def _with_arc(begin: Pose, goal: Goal, radius: float, side: float, wanted: float) -> Path:
    """Return an arc to one side and the shortest path from its end, together at least `wanted` m long, by bisection."""

    def through(turn: float) -> Path:
        arc = Segment(*begin, turn * radius, side / radius)
        x, y, _, heading = ends_at(arc)
        return Path((arc,)) + dubins((x, y, heading), goal, radius)

    low, high = 0.0, 2.0 * pi
    for _ in range(60):
        turn = 0.5 * (low + high)
        if through(turn).length < wanted:
            low = turn
        else:
            high = turn
    return through(high)
