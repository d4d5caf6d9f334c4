"""Tours, evaluated in compiled code: what a vehicle flies that does some tasks in some order, and goes home.

Plain scalar functions (see compute/routine.py): methods call them inside their own compiled searches.
"""

from __future__ import annotations

from math import atan2, ceil, inf, isnan, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy import int64, zeros
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.planning.paths.reeds_shepp import shortest_length as reeds_shepp_length
from paddock.planning.paths.wind import flown_in_wind
from paddock.planning.paths.words import length_to
from paddock.world.columns import Floats

Ints = NDArray[np.int64]

LEG_COLUMNS = 5
"""Of the table that `write_legs` fills."""


class Mover(NamedTuple):
    """One agent, as compiled code sees it."""

    x: float  # m, where it is free
    y: float
    z: float
    heading: float
    home_x: float
    home_y: float
    home_z: float
    home_heading: float
    height: float  # m, at which it travels
    speed: float  # m/s
    radius: float  # m
    range: float  # m flown
    slope: float
    ready: float  # s
    wind_x: float  # wind over airspeed
    wind_y: float
    circles: float  # 1: waits on circles; 0: waits where it is
    reverse: float  # 1: may drive backwards
    under_way: float  # 1: it has set out, and returns home even without tasks


class Jobs(NamedTuple):
    """All tasks, as one class of agents sees them; arrays over tasks."""

    entry: Floats  # (t, 3) x, y, heading; NaN: any heading
    leave: Floats  # (t, 3) where it ends; NaN heading: as it was entered
    z: Floats  # (t,) NaN: at the agent's height
    cover: Floats  # (t,) m flown on the task itself; inf: cannot be done
    opens: Floats  # (t,) s
    closes: Floats  # (t,) s


class Detours(NamedTuple):
    """Metres that zones add to the way, beyond the straight one; arrays without elements where there are no zones."""

    first: Floats  # (t,) from where the agent is free to each task
    between: Floats  # (t, t) from task to task
    last: Floats  # (t,) home


class Stand(NamedTuple):
    """Where a vehicle stands in its tour."""

    x: float  # m
    y: float
    z: float
    heading: float  # rad
    time: float  # s
    flown: float  # m so far
    before: int  # the task that it has done last; -1: none yet


def transit(
    m: Mover, x: float, y: float, z: float, heading: float, gx: float, gy: float, gz: float, gh: float
) -> tuple[float, float]:
    """Metres flown from a pose to another (heading NaN: any), zones apart, and the heading of arrival."""
    if m.wind_x != 0.0 or m.wind_y != 0.0:
        level, arrival = flown_in_wind(x, y, heading, gx, gy, gh, m.radius, m.wind_x, m.wind_y)
    elif m.reverse > 0.5 and not isnan(gh):
        level, arrival = reeds_shepp_length(x, y, heading, gx, gy, gh, m.radius), gh
    else:
        level, arrival = length_to(x, y, heading, gx, gy, gh, m.radius)
    rise = abs(gz - z)
    if rise > 0.0:
        level = sqrt(max(level, rise / m.slope) ** 2 + rise * rise)
    return level, arrival


def waited(m: Mover, seconds: float) -> tuple[float, float]:
    """Metres flown and seconds passed while waiting at least so long: aircraft fly whole circles."""
    if seconds <= 0.0:
        return 0.0, 0.0
    if m.circles < 0.5:
        return 0.0, seconds
    flown = ceil(seconds * m.speed / (2.0 * pi * m.radius) - 1e-9) * 2.0 * pi * m.radius
    return flown, flown / m.speed


def begin(m: Mover) -> Stand:
    """Before its first task."""
    return Stand(m.x, m.y, m.z, m.heading, m.ready, 0.0, -1)


def step(m: Mover, j: Jobs, extra: Detours, at: Stand, t: int) -> Stand:
    """After one more task; infinite metres flown where that is impossible."""
    way, wait, begin_at, arrival = approach(m, j, extra, at, t)
    height = m.height if isnan(j.z[t]) else j.z[t]
    heading = arrival if isnan(j.leave[t, 2]) else j.leave[t, 2]
    flown = at.flown + way + wait + j.cover[t] if begin_at <= j.closes[t] else inf
    return Stand(j.leave[t, 0], j.leave[t, 1], height, heading, begin_at + j.cover[t] / m.speed, flown, t)


def approach(m: Mover, j: Jobs, extra: Detours, at: Stand, t: int) -> tuple[float, float, float, float]:
    """On the way to a task: metres flown, metres flown while waiting, when the task begins (s), heading of arrival."""
    height = m.height if isnan(j.z[t]) else j.z[t]
    way, arrival = transit(m, at.x, at.y, at.z, at.heading, j.entry[t, 0], j.entry[t, 1], height, j.entry[t, 2])
    if len(extra.first):
        way += extra.first[t] if at.before < 0 else extra.between[at.before, t]
    wait, pause = waited(m, j.opens[t] - (at.time + way / m.speed))
    return way, wait, at.time + way / m.speed + pause, arrival


def way_home(m: Mover, extra: Detours, at: Stand) -> float:
    """Metres flown from there home; 0 for a vehicle without tasks that has not set out, or is at home already."""
    if at.before < 0 and (m.under_way < 0.5 or abs(m.home_x - m.x) + abs(m.home_y - m.y) < 1e-9):
        return 0.0
    way, _ = transit(m, at.x, at.y, at.z, at.heading, m.home_x, m.home_y, m.home_z, m.home_heading)
    if len(extra.last) and at.before >= 0:
        way += extra.last[at.before]
    return way


def tour(m: Mover, j: Jobs, extra: Detours, order: Ints, count: int) -> tuple[float, float]:
    """Metres flown and the time (s) at home, for the first `count` tasks of `order`; inf where it is impossible."""
    at = begin(m)
    for k in range(count):
        at = step(m, j, extra, at, order[k])
        if not at.flown < inf:
            return inf, inf
    way = way_home(m, extra, at)
    return at.flown + way, at.time + way / m.speed


def legs_of(m: Mover, j: Jobs, extra: Detours, order: Ints, table: Floats) -> None:
    """The parts of a tour: rows (way, wait, begin, heading of arrival, end), one a task, and a last one: the way home.

    way and wait in m flown, begin (of the task) and end (of it) in s.
    """
    at = begin(m)
    for k in range(len(order)):
        way, wait, begin_at, arrival = approach(m, j, extra, at, order[k])
        at = step(m, j, extra, at, order[k])
        table[k, 0], table[k, 1], table[k, 2], table[k, 3], table[k, 4] = way, wait, begin_at, arrival, at.time
    k, way = len(order), way_home(m, extra, at)
    table[k, 0], table[k, 1], table[k, 2], table[k, 3], table[k, 4] = (
        way,
        0.0,
        0.0,
        m.home_heading,
        at.time + way / m.speed,
    )


def there(m: Mover, j: Jobs, extra: Detours, found: Floats) -> None:
    """Metres flown (t,) from where the agent is free to each task; inf where it cannot do it."""
    for t in range(len(found)):
        height = m.height if isnan(j.z[t]) else j.z[t]
        way, _ = transit(m, m.x, m.y, m.z, m.heading, j.entry[t, 0], j.entry[t, 1], height, j.entry[t, 2])
        if len(extra.first):
            way += extra.first[t]
        found[t] = way if j.cover[t] < inf else inf


def homewards(m: Mover, j: Jobs, extra: Detours, found: Floats) -> None:
    """Metres flown (t,) from the end of each task home; of a task without a heading, as if it headed there."""
    for t in range(len(found)):
        height = m.height if isnan(j.z[t]) else j.z[t]
        x, y, heading = j.leave[t, 0], j.leave[t, 1], j.leave[t, 2]
        if isnan(heading):
            heading = atan2(m.home_y - y, m.home_x - x)
        way, _ = transit(m, x, y, height, heading, m.home_x, m.home_y, m.home_z, m.home_heading)
        if len(extra.last):
            way += extra.last[t]
        found[t] = way if j.cover[t] < inf else inf


def singles(m: Mover, j: Jobs, extra: Detours, found: Floats) -> None:
    """Metres flown (t,) for each task alone, the way home included."""
    order = zeros(1, int64)
    for t in range(len(found)):
        order[0] = t
        found[t], _ = tour(m, j, extra, order, 1)


def across(m: Mover, j: Jobs, extra: Detours, tasks: Ints, found: Floats) -> None:
    """Metres flown (n, n) from the end of one of the tasks to the beginning of another; 0 on the diagonal."""
    for a in parallel_range(len(tasks)):
        for b in range(len(tasks)):
            s, t = tasks[a], tasks[b]
            from_z = m.height if isnan(j.z[s]) else j.z[s]
            to_z = m.height if isnan(j.z[t]) else j.z[t]
            x, y, heading = j.leave[s, 0], j.leave[s, 1], j.leave[s, 2]
            if isnan(heading):
                heading = atan2(j.entry[t, 1] - y, j.entry[t, 0] - x)
            way, _ = transit(m, x, y, from_z, heading, j.entry[t, 0], j.entry[t, 1], to_z, j.entry[t, 2])
            if len(extra.between):
                way += extra.between[s, t]
            found[a, b] = 0.0 if a == b else way


tour_flown = routine(tour)
write_legs = routine(legs_of)
ways_there = routine(there)
ways_home = routine(homewards)
single_tours = routine(singles)
ways_between = parallel_routine(across)
