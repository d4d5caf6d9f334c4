"""Pure pursuit: follow a path by steering towards a point ahead on it."""

from typing import Annotated

import numpy as np

from paddock.behaviour.racing_line import on_segment
from paddock.behaviour.rule import Floats, RouteLine, Rule, Urge, index_in
from paddock.compute.arrays import norm
from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.track.lines import shifted, speed_profile
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, ColumnGroup, Pose, column_tuple

SEARCH = 24
"""Path segments that are searched for the nearest point at each decision."""
FARTHEST = 256
"""Maximum number of path segments to the point ahead."""


@column_tuple
class Options(ColumnGroup):
    """Line, speeds and lookahead distance."""

    speed: Annotated[float, Column("m/s", "top speed", 0.0, 1e3)] = 10.0
    lookahead: Annotated[float, Column("m", "shortest distance to look ahead", 0.01, 1e4)] = 4.0
    lookahead_time: Annotated[float, Column("s", "plus the distance travelled in this time", 0.0, 100.0)] = 0.5
    offset: Annotated[float, Column("m", "drives this far to the left of the path", -1e4, 1e4)] = 0.0
    closed: Annotated[float, Column("0/1", "the path's end joins its start", 0.0, 1.0)] = 1.0
    lateral: Annotated[float, Column("m/s2", "largest lateral acceleration in bends", 0.01, 100.0)] = 6.0
    accelerate: Annotated[float, Column("m/s2", "planned acceleration", 0.01, 100.0)] = 3.0
    brake: Annotated[float, Column("m/s2", "planned deceleration", 0.01, 100.0)] = 4.0


@column_tuple
class Memory(ColumnGroup):
    """Progress."""

    segment: Annotated[float, Column("", "current path segment; -1 before the first decision")] = -1.0
    laps: Annotated[float, Column("", "times it has passed the path's start")] = 0.0


def nearest_segment(me: Pose, path: Floats, start: int, searched: int, segments: int) -> tuple[int, float]:
    """Return the nearest of the segments from `start` on, and the position along it."""
    best, best_t, least = start, 0.0, 1e300
    for step in range(searched):
        k = start + step
        if k < segments or segments == path.shape[0]:
            t, gap = on_segment(me.x, me.y, path, k)
            if gap < least:
                best, best_t, least = k, t, gap
    return best, best_t


def aim_ahead(path: Floats, k: int, t: float, distance: float, last: int) -> tuple[float, float, float]:
    """Return the point `distance` m further along the path, at most the last point of an open one."""
    count = path.shape[0]
    a, b = k % count, (k + 1) % count
    x = path[a, 0] + t * (path[b, 0] - path[a, 0])
    y = path[a, 1] + t * (path[b, 1] - path[a, 1])
    z = path[a, 2] + t * (path[b, 2] - path[a, 2])
    left = distance
    for _ in range(FARTHEST):
        dx, dy, dz = path[b, 0] - x, path[b, 1] - y, path[b, 2] - z
        gap = sqrt(dx * dx + dy * dy + dz * dz)
        if gap >= left or k >= last:
            share = clamp(left / maximum(gap, 1e-12), 0.0, 1.0)
            return x + dx * share, y + dy * share, z + dz * share
        left -= gap
        k += 1
        x, y, z = path[b, 0], path[b, 1], path[b, 2]
        b = (k + 1) % count
    return x, y, z


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Go towards the point ahead at the speed that the path allows here."""
    count = path.shape[0]
    closed = o.closed > 0.5
    segments = count if closed else count - 1
    fresh = m.segment < -0.5
    searched = segments if fresh else min(SEARCH, segments)
    start = 0 if fresh else index_in(m.segment, count)
    k, t = nearest_segment(me, path, start, searched, segments)
    speed = sqrt(me.vx * me.vx + me.vy * me.vy)
    reach = maximum(o.lookahead, o.lookahead_time * speed)
    x, y, z = aim_ahead(path, k, t, reach, 1 << 30 if closed else segments - 1)
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    aim = maximum(sqrt(dx * dx + dy * dy + dz * dz), 1e-9)
    # between two points the acceleration is constant, as the speed profile assumes
    before, after = path[k % count, 3] ** 2, path[(k + 1) % count, 3] ** 2
    speed_limit = sqrt(maximum(before + t * (after - before), 0.0))
    arrived = (k >= segments - 1) & (t >= 1.0)
    pace = select(arrived & (o.closed < 0.5), 0.0, speed_limit) / aim
    wrapped = select(k >= segments, 1.0, 0.0)
    return Desire(dx * pace, dy * pace, dz * pace, aim), Memory(float(k % count), m.laps + wrapped)


def with_braking_point(line: Floats, distance: float) -> Floats:
    """Return the open path with a point `distance` m before its end, if its last segment is longer."""
    last = line[-1] - line[-2]
    share = distance / norm(last)
    return line if share >= 1.0 or share <= 0.0 else np.insert(line, -1, line[-1] - share * last, axis=0)


def prepare_path(points: Floats, o: Options) -> Floats:
    """Return the line to drive with the speed that its bends allow at each point."""
    closed = o.closed > 0.5
    line = shifted(points, o.offset, closed)
    if not closed:
        line = with_braking_point(line, o.speed * o.speed / (2.0 * o.brake))
    return np.column_stack([line, speed_profile(line, closed, o.speed, o.lateral, o.accelerate, o.brake)])


def route(o: Options, path: Floats) -> RouteLine:
    """Return the line."""
    return RouteLine(path[:, :3], o.closed > 0.5)


RULE = Rule(
    "Drive along a path by steering at a point ahead",
    Options,
    desire,
    Memory,
    needs_path=True,
    prepare_path=prepare_path,
    route=route,
)
