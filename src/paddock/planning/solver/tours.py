"""Tours in compiled code: metres and times of a vehicle that does tasks in an order and returns home.

Plain scalar functions (see compute/routine.py) that methods call inside their own compiled searches.
"""

from collections.abc import Callable
from functools import cached_property
from math import ceil, inf, isnan, pi
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.math import atan2, hypot, sincos, sqrt, wrap_angle
from paddock.compute.routine import Routine, parallel_range
from paddock.compute.twin import rebound
from paddock.planning.geometry.detours import EXACT, INNER, KEPT, PASSED, REACHED, Rows, detour_length
from paddock.planning.geometry.dubins import STRAIGHT, shortest, turns_left
from paddock.planning.geometry.reeds_shepp import shortest_length as reeds_shepp_length
from paddock.planning.geometry.wind import course_of, heading_on, quickest
from paddock.planning.geometry.zones import Walls, line_entry, segment_entry
from paddock.world.columns import Floats

Ints = NDArray[np.int64]
P = ParamSpec("P")
R = TypeVar("R")


class Mover(NamedTuple):
    """One vehicle, for compiled code."""

    x: float  # m, where it is free
    y: float
    z: float
    heading: float
    home_x: float
    home_y: float
    home_z: float
    home_heading: float
    height: float  # m, travel height
    speed: float  # m/s
    radius: float  # m
    range: float  # m flown
    slope: float
    ready: float  # s
    wind_x: float  # wind over airspeed
    wind_y: float
    circles: float  # 1: waits in circles after departure, 2: always; 0: waits in place
    reverse: float  # 1: may drive backwards
    under_way: float  # 1: it has set out, and returns home even without tasks
    held: float  # m, the radius of its turns over the ground
    circle: float  # m flown on one turn of that radius, over the ground
    circle_length: float  # m over the ground


class Detours(NamedTuple):
    """The ways of one vehicle around zones: rows in `table`, -1 where no zone is near; empty without zones."""

    table: Floats  # (n, 2, WAY_COLUMNS), see geometry/detours.py
    start: Rows  # (t + 1,) from where it is free to each task, and home
    ways: Rows  # (t, t) from the end of each task to the beginning of each
    home: Rows  # (t,) from the end of each task home
    sets: Ints  # (s, 2) the first and the end of each set of zones in what follows: the fields of Walls
    bounds: Floats
    spans: Ints
    reach: Floats
    circles: Floats
    edges: Floats


SPECIAL = [Mover._fields.index(name) for name in ("wind_x", "wind_y", "reverse")]
BACKWARDS = -1  # in place of the number of a word
Word = tuple[float, int, float, float, float]  # metres flown, number of the word, m flown in its parts


def level_word(m: Mover, x: float, y: float, heading: float, gx: float, gy: float, gh: float) -> Word:
    """Return the quickest word from a pose to another (heading NaN: any) on one level."""
    if m.wind_x != 0.0 or m.wind_y != 0.0:
        goal = gh if isnan(gh) else heading_on(gh, m.wind_x, m.wind_y)
        nose = heading_on(heading, m.wind_x, m.wind_y)
        return quickest(x, y, nose, gx, gy, goal, m.radius, m.wind_x, m.wind_y)
    if m.reverse > 0.5 and not isnan(gh):
        length = reeds_shepp_length(x, y, heading, gx, gy, gh, m.radius)
        return length, BACKWARDS, 0.0, length, 0.0
    return shortest(x, y, heading, gx, gy, gh, m.radius)


def forward_word(m: Mover, x: float, y: float, heading: float, gx: float, gy: float, gh: float) -> Word:
    """Return the same without wind, for vehicles that only move forwards."""
    return shortest(x, y, heading, gx, gy, gh, m.radius)


def arrival_of(m: Mover, word: Word, x: float, y: float, heading: float, gx: float, gy: float, gh: float) -> float:
    """Return the heading at the end of a word."""
    flown, number, t, _, q = word
    if not isnan(gh):
        return gh
    if number == STRAIGHT:
        return heading if flown == 0.0 else atan2(gy - y, gx - x)
    turn = (turns_left(number, 0) * t + turns_left(number, 2) * q) / m.radius
    if m.wind_x == 0.0 and m.wind_y == 0.0:
        return wrap_angle(heading + turn)
    return course_of(heading_on(heading, m.wind_x, m.wind_y) + turn, m.wind_x, m.wind_y)


def clear_of(w: Walls, m: Mover, word: Word, x: float, y: float, heading: float, gx: float, gy: float) -> bool:
    """Return whether a word from a pose to a point enters no zone; backwards, whether the straight line does."""
    return not clear_length(w, m, word, x, y, heading, gx, gy, False) < inf


def clear_length(
    w: Walls, m: Mover, word: Word, x: float, y: float, heading: float, gx: float, gy: float, last: bool
) -> float:
    """Return metres flown from the start of a word, or up to its end if `last`, that enter no zone; inf: all."""
    _, number, t, p, q = word
    dx, dy, row = gx - x, gy - y, empty((3, 11))
    if number in (BACKWARDS, STRAIGHT):
        way, sign = max(hypot(dx, dy), 1e-9), -1.0 if last else 1.0
        return line_entry(w, gx if last else x, gy if last else y, sign * dx / way, sign * dy / way, way)[0]
    nose = heading if m.wind_x == 0.0 and m.wind_y == 0.0 else heading_on(heading, m.wind_x, m.wind_y)
    so_far = 0.0
    for k in range(3):
        length, side = (t if k == 0 else p if k == 1 else q), 0.0
        if k != 1:
            side = turns_left(number, k)
        elif number > 3:
            side = 1.0 if number == 4 else -1.0
        segment = row[k]
        segment[0], segment[1], segment[3], segment[4], segment[5], segment[7] = (
            x,
            y,
            nose,
            length,
            side / m.radius,
            1.0,
        )
        segment[8], segment[9] = m.wind_x, m.wind_y
        if length > 0.0:
            if not last:
                entry, zone = segment_entry(w, segment)
                if zone >= 0:
                    return so_far + entry
            half = 0.5 * length * side / m.radius
            s, c = sincos(half)
            chord = length if half == 0.0 else length * s / half
            s, c = sincos(wrap_angle(nose + half))
            x, y, nose = x + chord * c + m.wind_x * length, y + chord * s + m.wind_y * length, nose + 2.0 * half
            so_far += length
            if last:  # the same part from its end
                segment[0], segment[1], segment[3], segment[5] = x, y, wrap_angle(nose + pi), -segment[5]
                segment[8], segment[9] = -m.wind_x, -m.wind_y
    so_far = 0.0
    for k in range(2, -1 if last else 2, -1):
        if row[k, 4] > 0.0:
            entry, zone = segment_entry(w, row[k])
            if zone >= 0:
                return so_far + entry
            so_far += row[k, 4]
    return inf


class TourRoutine(Routine[P, R]):
    """A routine whose first argument is a Mover or a TourData.

    Paths in wind and backwards are slow to compile: without wind, and for vehicles that only move forwards, a routine
    is compiled without them.
    """

    @cached_property
    def forward(self) -> Routine[P, R]:
        """The routine without them."""
        return Routine(rebound(self.plain, {level_word: forward_word}), self.parallel)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run it, compiled for these vehicles."""
        m: Any = arguments[0]
        special = m.wind_x or m.wind_y or m.reverse if isinstance(m, Mover) else m.movers[:, SPECIAL].any()
        return (super().__call__ if special else self.forward)(*arguments, **named)


def tour_routine(function: Callable[P, R], parallel: bool = False) -> TourRoutine[P, R]:
    """Make a function run compiled, on the calling thread or with its `parallel_range` shared by all threads."""
    return TourRoutine(function, parallel)


NOISE = 1e-6  # m: rounding error of a lower bound
SLACK = 1e-12  # relative tolerance of a tour's length against the range
LEG_COLUMNS = 6  # columns of the table that `write_legs` fills


class Jobs(NamedTuple):
    """All tasks for one class of vehicles; arrays over tasks."""

    entry: Floats  # (t, 3) x, y, heading; NaN: any heading
    leave: Floats  # (t, 3) its end; NaN heading: that of the arrival
    z: Floats  # (t,) NaN: the vehicle's height
    cover: Floats  # (t,) m flown on the task itself; inf: cannot be done
    opens: Floats  # (t,) s
    closes: Floats  # (t,) s


class TourState(NamedTuple):
    """The state of a vehicle within its tour."""

    x: float  # m
    y: float
    z: float
    heading: float  # rad
    time: float  # s
    flown: float  # m so far
    before: int  # the last task done; -1: none yet


def transit(
    m: Mover, x: float, y: float, z: float, heading: float, gx: float, gy: float, gz: float, gh: float
) -> tuple[float, float]:
    """Return metres flown from a pose to another (heading NaN: any) without zones, and the heading of arrival."""
    word = level_word(m, x, y, heading, gx, gy, gh)
    return climbed(m, word[0], abs(gz - z)), arrival_of(m, word, x, y, heading, gx, gy, gh)


def climbed(m: Mover, level: float, rise: float) -> float:
    """Return metres flown on a level way that also rises; where it is too steep, whole circles come first."""
    if rise > 0.0:
        excess = rise / m.slope - level
        turns = ceil(excess / m.circle_length - 1e-9) if excess > 0.0 else 0
        along = level + turns * m.circle_length
        level = (level + turns * m.circle) * sqrt(1.0 + (rise / along) ** 2) if along > 0.0 else rise
    return level


def stepped(m: Mover, level: float, rise: float, room: float) -> float:
    """Return metres flown on a level way that rises on `room` metres of it alone, and on whole circles beside them."""
    excess = rise / m.slope - room
    turns = max(1, ceil(excess / m.circle_length - 1e-9)) if excess > 0.0 or room <= 0.0 else 0
    steep = rise / (room + turns * m.circle_length)
    return level + turns * m.circle + (room + turns * m.circle) * (sqrt(1.0 + steep * steep) - 1.0)


def travel(
    m: Mover, extra: Detours, before: int, x: float, y: float, z: float, heading: float, to: int,
    gx: float, gy: float, gz: float, gh: float,
) -> tuple[float, float]:  # fmt: skip
    """As `transit`, around zones: after a task (-1: none yet) to a task (-1: home); as the path that is built."""
    row = -1
    if len(extra.start) > 0:
        row = extra.start[to] if before < 0 else extra.home[before] if to < 0 else extra.ways[before, to]
    course = atan2(gy - y, gx - x) if isnan(heading) else heading
    if row < 0:
        return transit(m, x, y, z, course, gx, gy, gz, gh)
    way = extra.table[row]
    if way[0, EXACT] >= 0.0 and (isnan(gh) or gh == way[0, REACHED]):
        return way[0, EXACT], way[0, REACHED]
    w = walls_of(extra, int(way[0, KEPT]))
    word = level_word(m, x, y, course, gx, gy, gh)
    step, rise = way[0, PASSED], abs(gz - z)
    if clear_of(w, m, word, x, y, course, gx, gy):
        arrival = arrival_of(m, word, x, y, course, gx, gy, gh)
        if isnan(step):
            return climbed(m, word[0], rise), arrival
        room = clear_length(walls_of(extra, int(abs(step))), m, word, x, y, course, gx, gy, step < 0.0)
        return stepped(m, word[0], rise, min(room, word[0])), arrival
    level, arrival = detour_length(way, w, x, y, heading, gx, gy, gh, m.held, m.wind_x, m.wind_y)
    if not level < inf:
        return inf, arrival
    return climbed(m, level, rise) if isnan(step) else stepped(m, level, rise, max(level - way[0, INNER], 0.0)), arrival


def walls_of(extra: Detours, number: int) -> Walls:
    """Return the borders of a set of zones."""
    a, b = extra.sets[number, 0], extra.sets[number, 1]
    return Walls(extra.bounds[a:b], extra.spans[a:b], extra.reach[a:b], extra.circles, extra.edges)


def slowest(m: Mover) -> float:
    """Return the minimum metres flown per metre over the ground: downwind."""
    return 1.0 / (1.0 + hypot(m.wind_x, m.wind_y))


def slackened(limit: float) -> float:
    """Return a range (m) plus the tolerance for rounding."""
    return limit * (1.0 + SLACK)


def fits(flown: float, limit: float) -> bool:
    """Return whether a tour is possible, and within a range (m)."""
    return flown < inf and flown <= slackened(limit)


def waited(m: Mover, before: int, seconds: float) -> tuple[float, float]:
    """Return metres flown and seconds passed while waiting, after a task (-1: none yet).

    Aircraft fly whole circles, wide enough to end in time, never tighter than their turn radius, so that they
    wait at least one such circle. An aircraft before departure departs later instead.
    """
    if seconds <= 0.0:
        return 0.0, 0.0
    if m.circles < 0.5 or (before < 0 and m.under_way < 0.5 and m.circles < 1.5):
        return 0.0, seconds
    flown = max(seconds * m.speed, m.circle)
    return flown, flown / m.speed


def begin(m: Mover) -> TourState:
    """Return the state before the first task."""
    return TourState(m.x, m.y, m.z, m.heading, m.ready, 0.0, -1)


def step(m: Mover, j: Jobs, extra: Detours, at: TourState, t: int) -> TourState:
    """Return the state after one more task; infinite metres flown if impossible."""
    way, wait, begin_at, arrival = approach(m, j, extra, at, t)
    return after(m, j, at, t, way + wait, begin_at, arrival)


def after(m: Mover, j: Jobs, at: TourState, t: int, way: float, begin_at: float, arrival: float) -> TourState:
    """Return the state after a task, given the metres to it, its start time (s) and the heading of arrival."""
    height = m.height if isnan(j.z[t]) else j.z[t]
    heading = arrival if isnan(j.leave[t, 2]) else j.leave[t, 2]
    flown = at.flown + way + j.cover[t] if begin_at <= j.closes[t] else inf
    return TourState(j.leave[t, 0], j.leave[t, 1], height, heading, begin_at + j.cover[t] / m.speed, flown, t)


def approach(m: Mover, j: Jobs, extra: Detours, at: TourState, t: int) -> tuple[float, float, float, float]:
    """Return metres flown to a task and while waiting, the start of the task (s) and the heading of arrival."""
    height = m.height if isnan(j.z[t]) else j.z[t]
    goal = j.entry[t]
    way, arrival = travel(m, extra, at.before, at.x, at.y, at.z, at.heading, t, goal[0], goal[1], height, goal[2])
    wait, pause = waited(m, at.before, j.opens[t] - (at.time + way / m.speed))
    return way, wait, at.time + way / m.speed + pause, arrival


def way_home(m: Mover, extra: Detours, at: TourState) -> float:
    """Return metres flown home; 0 for a vehicle without tasks that has not departed or is at home."""
    if at.before < 0 and (m.under_way < 0.5 or abs(m.home_x - m.x) + abs(m.home_y - m.y) < 1e-9):
        return 0.0
    return home_from(m, extra, at.before, at.x, at.y, at.z, at.heading)


def home_from(m: Mover, extra: Detours, before: int, x: float, y: float, z: float, heading: float) -> float:
    """Return metres flown home from a pose (heading NaN: towards it) after a task (-1: none yet)."""
    goal = m.home_x, m.home_y, m.home_z, m.home_heading
    return travel(m, extra, before, x, y, z, heading, -1, goal[0], goal[1], goal[2], goal[3])[0]


def tour(m: Mover, j: Jobs, extra: Detours, order: Ints, count: int) -> tuple[float, float]:
    """Return metres flown and the time of return (s) for the first `count` tasks of `order`; inf: impossible."""
    at = begin(m)
    for k in range(count):
        at = step(m, j, extra, at, order[k])
        if not at.flown < inf:
            return inf, inf
    way = way_home(m, extra, at)
    return at.flown + way, at.time + way / m.speed


def legs_of(m: Mover, j: Jobs, extra: Detours, order: Ints, table: Floats) -> None:
    """Write the legs of a tour as rows (way, wait, begin, heading of arrival, end, flown): one per task, one home.

    `way` and `wait` in m flown, `begin` and `end` of the task in s, `flown` in m from the start; inf: impossible.
    """
    at = begin(m)
    for k in range(len(order)):
        way, wait, begin_at, arrival = approach(m, j, extra, at, order[k])
        at = after(m, j, at, order[k], way + wait, begin_at, arrival)
        table[k, 0], table[k, 1], table[k, 2], table[k, 3] = way, wait, begin_at, arrival
        table[k, 4], table[k, 5] = at.time, at.flown
    k, way = len(order), way_home(m, extra, at)
    table[k, 0], table[k, 1], table[k, 2], table[k, 3] = way, 0.0, 0.0, m.home_heading
    table[k, 4], table[k, 5] = at.time + way / m.speed, at.flown + way


def single_lengths(m: Mover, j: Jobs, extra: Detours, tasks: Ints, table: Floats) -> None:
    """Write metres flown (3, n) to each task, from each home (leaving towards it), and for each alone; inf: never."""
    for k in range(len(tasks)):
        t = tasks[k]
        height = m.height if isnan(j.z[t]) else j.z[t]
        leave, start = j.leave[t], begin(m)
        way, wait, begin_at, arrival = approach(m, j, extra, start, t)
        at = after(m, j, start, t, way + wait, begin_at, arrival)
        back = home_from(m, extra, t, leave[0], leave[1], height, leave[2])
        table[0, k] = way if j.cover[t] < inf else inf
        table[1, k] = back if j.cover[t] < inf else inf
        table[2, k] = inf
        if at.flown < inf:
            table[2, k] = at.flown + (way_home(m, extra, at) if isnan(leave[2]) else back)


def transit_lengths(m: Mover, j: Jobs, extra: Detours, tasks: Ints, table: Floats) -> None:
    """Write metres flown (n, n) from the end of a task to the start of another; 0 on the diagonal."""
    for a in parallel_range(len(tasks)):
        for b in range(len(tasks)):
            s, t = tasks[a], tasks[b]
            from_z = m.height if isnan(j.z[s]) else j.z[s]
            to_z = m.height if isnan(j.z[t]) else j.z[t]
            x, y, heading = j.leave[s, 0], j.leave[s, 1], j.leave[s, 2]
            goal = j.entry[t]
            way, _ = travel(m, extra, s, x, y, from_z, heading, t, goal[0], goal[1], to_z, goal[2])
            table[a, b] = 0.0 if a == b else way


write_legs = tour_routine(legs_of)
write_single_lengths = tour_routine(single_lengths)
write_transit_lengths = tour_routine(transit_lengths, parallel=True)


class TourData(NamedTuple):
    """All vehicles (a) of k classes and tasks (t); arrays of detours are empty without zones."""

    movers: Floats  # (a, fields of Mover)
    kind: Ints  # (a,) the class of each vehicle
    entry: Floats  # (k, t, 3) and so on: Jobs of each class
    leave: Floats  # (k, t, 3)
    z: Floats  # (k, t)
    cover: Floats  # (k, t)
    opens: Floats  # (k, t)
    closes: Floats  # (k, t)
    table: Floats  # (n, 2, WAY_COLUMNS) and so on: Detours of each vehicle
    start: Rows  # (a, t + 1)
    ways: Rows  # (k, t, t)
    home: Rows  # (a, t)
    sets: Ints  # (s, 2)
    bounds: Floats
    spans: Ints
    reach: Floats
    circles: Floats
    edges: Floats


def mover_of(fleet: TourData, vehicle: int) -> Mover:
    """Return one vehicle."""
    v = fleet.movers[vehicle]
    return Mover(
        v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15], v[16],
        v[17], v[18], v[19], v[20], v[21],
    )  # fmt: skip


def jobs_of(fleet: TourData, vehicle: int) -> Jobs:
    """Return the tasks for a vehicle."""
    k = fleet.kind[vehicle]
    return Jobs(fleet.entry[k], fleet.leave[k], fleet.z[k], fleet.cover[k], fleet.opens[k], fleet.closes[k])


def detours_of(fleet: TourData, vehicle: int) -> Detours:
    """Return the detours of a vehicle."""
    start, ways, home = fleet.start[vehicle], fleet.ways[fleet.kind[vehicle]], fleet.home[vehicle]
    walls = fleet.bounds, fleet.spans, fleet.reach, fleet.circles, fleet.edges
    return Detours(fleet.table, start, ways, home, fleet.sets, walls[0], walls[1], walls[2], walls[3], walls[4])
