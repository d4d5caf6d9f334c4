"""Timing of cars, compiled: crossings of gates between two ticks, progress, wheels outside the track, cones, stops.

A car is timed by its foremost point, as a light barrier sees it (`timing_points`: another one if it stands over the
line before its start). Between two ticks that point follows the cubic through its places with its velocities (Hermite):
exact for constant velocity and constant acceleration.

`detect_events` updates the table of cars (see its rows below) and writes the events of this tick as rows of (kind, car,
number, share of the tick). It decides nothing: the rules are applied to its events. `course_of` and `shapes_of` return
the track and the cars in the form that it reads.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.math import absolute, atan2, clamp, nearest, sqrt
from paddock.compute.quaternion import axes
from paddock.compute.routine import routine
from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError, users_code
from paddock.track.lines import Floats, line_blocks, nearest_segment, segment_near
from paddock.track.skidpad import find_skidpad
from paddock.track.track import Track

WAITING, RUNNING, FINISHED, STOPPED, UNSAFE_STOP, OUT = range(6)
STATUSES = ("waiting", "running", "finished", "stopped", "unsafe_stop", "dnf")
"""Names of the states of a car: finished ones are still moving, or have no rule to stop."""
CROSSED, LEFT_TRACK, CONE_TOUCHED, AT_REST, TOO_FAR, LATE, BROKEN = range(7)
"""Kinds of events."""
EVENT_COLUMNS = 4

# rows of the table of cars
X, Y = 0, 1  # m: the foremost point at the last tick
VX, VY = 2, 3  # m/s: its velocity
KNOWN = 4  # 1: the rows before are those of the last tick
SEGMENT = 5  # of the middle line, nearest to that point
PROGRESS = 6  # m along the track since the start line, laps added up
STATUS = 7  # see STATUSES
LAPS = 8  # completed
GATE = 9  # number of the next gate
STARTED = 10  # s of simulation time
LAP_BEGAN = 11  # s
SECTOR_BEGAN = 12  # s
LAP_BASE = 13  # m: progress at the line where the lap began
LAST_LAP = 14  # s, 0: none
BEST_LAP = 15  # s, 0: none
ENDED = 16  # s: of the finish, or of the retirement
GAP = 17  # s behind the first car at the last gate
CONES = 18
OFF_COURSE = 19
OUTSIDE = 20  # 1: all wheels are outside the boundaries
LEFT_TURN, RIGHT_TURN = 21, 22  # rad about the centres of the circles since the line was crossed
AFTER = 23  # m driven after the finish
TIME = 24  # s: of a car that has finished, without penalties
POINT = 25  # m: of the point at which it is timed, ahead of the pose
TABLE_ROWS = 26

# rows of the table of shapes of cars, in their body axes, m
NOSE = 0  # foremost point ahead of the pose
HALF_LENGTH, HALF_WIDTH = 1, 2
CENTRE = 3  # of the body, ahead of the pose
FRONT, REAR = 4, 5  # front axle ahead of the pose, rear axle behind it
FRONT_TRACK, REAR_TRACK = 6, 7  # half of them
SHAPE_ROWS = 8
REACH = 3.0  # m, and the way driven in a tick, before and after the last place in which the middle line is searched
LOST = 2.0  # m outside the boundaries: beyond it, the whole line is searched
AT_REST_SPEED = 0.05  # m/s: a slower car has stopped
MOST_ITERATIONS = 80  # most steps of the search for the moment of a crossing
CIRCLES_APART = 18.25  # m between the centres of the circles of a skidpad


class TimedCourse(NamedTuple):
    """The track as `detect_events` needs it."""

    gates: Floats  # (g, 5): x, y of the left end, unit vector to the right end, width
    points: Floats  # (k, 2) m, the middle line
    blocks: Floats  # circles around its blocks
    along: Floats  # (k + 1,) m for a closed line, else (k,)
    left_width: Floats  # (k,) m
    right_width: Floats
    closed: bool
    line: float  # m: where the start line crosses the middle line
    circles: Floats  # (2, 2) m: centres of the left and the right circle of a skidpad; (0, 2) for others
    cones: Floats  # (c, 3) m: x, y, radius of the base, of cones that are not bodies of their own


class TimedPoint(NamedTuple):
    """The foremost point of a car: position (m) and velocity (m/s)."""

    x: float
    y: float
    vx: float
    vy: float


class TimingLimits(NamedTuple):
    """Limits of the rules that `detect_events` checks, infinite where there is no such rule, and the tick."""

    stop_distance: float  # m
    time_limit: float  # s after the start
    start_limit: float  # s of simulation time
    dt: float  # s: length of a tick


def crossing(d0: float, d1: float, v0: float, v1: float) -> float:
    """Return where (0..1) the cubic with ends d0 < 0 <= d1 and slopes v0, v1 is 0.

    Newton's method inside a bracket: an interval that always contains a crossing is halved where Newton would leave it.
    """
    low, high = 0.0, 1.0
    s = d0 / (d0 - d1)
    for _ in range(MOST_ITERATIONS):
        a, b = 2.0 * (d0 - d1) + v0 + v1, 3.0 * (d1 - d0) - 2.0 * v0 - v1
        value = ((a * s + b) * s + v0) * s + d0
        if value == 0.0:
            break
        if value < 0.0:
            low = s
        else:
            high = s
        slope = (3.0 * a * s + 2.0 * b) * s + v0
        following = s - value / slope if absolute(slope) > 1e-300 else 0.5 * (low + high)
        if not low <= following <= high:
            following = 0.5 * (low + high)
        moved = absolute(following - s)
        s = following
        if moved <= 1e-16:
            break
    return s


def interpolate(p0: float, p1: float, v0: float, v1: float, s: float) -> float:
    """Return the cubic through two places with these slopes, at the share s."""
    a, b = 2.0 * (p0 - p1) + v0 + v1, 3.0 * (p1 - p0) - 2.0 * v0 - v1
    return ((a * s + b) * s + v0) * s + p0


def turn_angle(x0: float, y0: float, x1: float, y1: float, cx: float, cy: float) -> float:
    """Return the angle (rad, left positive) that a point has turned about a centre."""
    ax, ay, bx, by = x0 - cx, y0 - cy, x1 - cx, y1 - cy
    return atan2(ax * by - ay * bx, ax * bx + ay * by)


def lateral_offset(x: float, y: float, points: Floats, k: int, t: float) -> float:
    """Return the offset (m, left positive) of a place from the line through segment k."""
    following = k + 1 if k + 1 < points.shape[0] else 0
    ux, uy = points[following, 0] - points[k, 0], points[following, 1] - points[k, 1]
    length = sqrt(ux * ux + uy * uy)
    offset: float = (ux * (y - points[k, 1] - t * uy) - uy * (x - points[k, 0] - t * ux)) / length
    return offset


def is_outside(x: float, y: float, c: TimedCourse, k: int, reach: int) -> bool:
    """Return whether a wheel is outside the boundaries, near segment k of the middle line."""
    j, t = segment_near(x, y, c.points, k - reach, 2 * reach + 1, c.closed)
    following = j + 1 if j + 1 < c.points.shape[0] else 0
    offset = lateral_offset(x, y, c.points, j, t)
    left = c.left_width[j] + t * (c.left_width[following] - c.left_width[j])
    right = c.right_width[j] + t * (c.right_width[following] - c.right_width[j])
    return bool(offset > left or offset < -right)


class CarPose(NamedTuple):
    """Where a car is in the plane: position (m), cosine and sine of its heading."""

    x: float
    y: float
    cos: float
    sin: float


def all_outside(at: CarPose, shape: Any, i: int, c: TimedCourse, k: int, cell: float) -> bool:
    """Return whether all four wheels of a car are outside the boundaries."""
    for wheel in range(4):
        side = 1.0 if wheel % 2 == 0 else -1.0
        if wheel < 2:
            ahead, left = shape[FRONT, i], side * shape[FRONT_TRACK, i]
        else:
            ahead, left = -shape[REAR, i], side * shape[REAR_TRACK, i]
        reach = int((absolute(ahead) + absolute(left) + shape[NOSE, i]) / cell) + 3
        x, y = at.x + ahead * at.cos - left * at.sin, at.y + ahead * at.sin + left * at.cos
        if not is_outside(x, y, c, k, reach):
            return False
    return True


def add_event(rows: Any, count: int, kind: int, car: int, number: int, share: float) -> int:
    """Write an event; return the number of events."""
    rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = kind, car, number, share
    return count + 1


def update_progress(px: float, py: float, table: Any, i: int, c: TimedCourse, cell: float) -> tuple[int, float]:
    """Locate the foremost point of a car on the middle line; return the segment and the share of it."""
    segments, length = c.points.shape[0] if c.closed else c.points.shape[0] - 1, c.along[c.along.shape[0] - 1]
    followed = table[KNOWN, i] > 0.0
    lost = not followed
    k, t = int(table[SEGMENT, i]), 0.0
    if followed:
        moved = absolute(px - table[X, i]) + absolute(py - table[Y, i])
        window = min(int((REACH + moved) / cell) + 2, segments // 2)
        k, t = segment_near(px, py, c.points, k - window, 2 * window + 1, c.closed)
        offset = lateral_offset(px, py, c.points, k, t)
        lost = offset > c.left_width[k] + LOST or offset < -c.right_width[k] - LOST
    if lost:
        k, t = nearest_segment(px, py, c.points, c.blocks, c.closed)
    along = c.along[k] + t * (c.along[k + 1] - c.along[k]) - c.line
    if c.closed:
        before = table[PROGRESS, i] if followed else initial_progress(along, length)
        along = along + length * nearest((before - along) / length)
    table[SEGMENT, i], table[PROGRESS, i] = k, along
    return k, t


def detect_crossings(
    p: TimedPoint, table: Any, i: int, half: float, c: TimedCourse, dt: float, rows: Any, count: int
) -> int:
    """Add the gates that a car of half that width (m) has crossed since the last tick."""
    ox, oy = table[X, i], table[Y, i]
    hx, hy, gx, gy = dt * table[VX, i], dt * table[VY, i], dt * p.vx, dt * p.vy
    for g in range(c.gates.shape[0]):
        lx, ly, ux, uy, width = c.gates[g, 0], c.gates[g, 1], c.gates[g, 2], c.gates[g, 3], c.gates[g, 4]
        d0, d1 = (ox - lx) * -uy + (oy - ly) * ux, (p.x - lx) * -uy + (p.y - ly) * ux
        if d0 < 0.0 <= d1:
            share = crossing(d0, d1, hx * -uy + hy * ux, gx * -uy + gy * ux)
            at_x, at_y = interpolate(ox, p.x, hx, gx, share), interpolate(oy, p.y, hy, gy, share)
            across = (at_x - lx) * ux + (at_y - ly) * uy
            if -half <= across <= width + half:
                count = add_event(rows, count, CROSSED, i, g, share)
    return count


def accumulate_turns(px: float, py: float, table: Any, i: int, c: TimedCourse) -> None:
    """Add the turns about the circles of a skidpad, and the way after the finish, since the last tick."""
    ox, oy = table[X, i], table[Y, i]
    if c.circles.shape[0] > 1:
        table[LEFT_TURN, i] += turn_angle(ox, oy, px, py, c.circles[0, 0], c.circles[0, 1])
        table[RIGHT_TURN, i] += turn_angle(ox, oy, px, py, c.circles[1, 0], c.circles[1, 1])
    if table[STATUS, i] == FINISHED:
        table[AFTER, i] += sqrt((px - ox) * (px - ox) + (py - oy) * (py - oy))


def check_limits(table: Any, i: int, limits: TimingLimits, time: float, rows: Any, count: int) -> int:
    """Add a car that has stopped, has not stopped in time, or is late."""
    status = table[STATUS, i]
    if status == FINISHED:
        vx, vy = table[VX, i], table[VY, i]
        if vx * vx + vy * vy < AT_REST_SPEED * AT_REST_SPEED:
            count = add_event(rows, count, AT_REST, i, 0, 1.0)
        elif table[AFTER, i] > limits.stop_distance:
            count = add_event(rows, count, TOO_FAR, i, 0, 1.0)
    late = status == RUNNING and time - table[STARTED, i] > limits.time_limit
    if late or (status == WAITING and time > limits.start_limit):
        count = add_event(rows, count, LATE, i, 0, 1.0)
    return count


def detect_leaving(at: CarPose, table: Any, shape: Any, i: int, c: TimedCourse, k: int, t: float, cell: float) -> bool:
    """Return whether the last wheel of a car has left the track in this tick; most are far from the boundaries."""
    far = absolute(lateral_offset(at.x, at.y, c.points, k, t)) + absolute(shape[FRONT, i]) + absolute(shape[REAR, i])
    inside = far + shape[FRONT_TRACK, i] < c.left_width[k] and far + shape[FRONT_TRACK, i] < c.right_width[k]
    out = not inside and all_outside(at, shape, i, c, k, cell)
    left = out and table[OUTSIDE, i] == 0.0
    table[OUTSIDE, i] = 1.0 if out else 0.0
    return bool(left)


def detect_cone_contacts(at: CarPose, shape: Any, i: int, c: TimedCourse, hit: Any, rows: Any, count: int) -> int:
    """Add the cones under the outline of a car that were not touched before."""
    cos, sin = at.cos, at.sin
    bx, by = at.x + shape[CENTRE, i] * cos, at.y + shape[CENTRE, i] * sin
    half_length, half_width = shape[HALF_LENGTH, i], shape[HALF_WIDTH, i]
    radius = half_length + half_width
    for j in range(c.cones.shape[0]):
        dx, dy, base = c.cones[j, 0] - bx, c.cones[j, 1] - by, c.cones[j, 2]
        if hit[j] == 0 and absolute(dx) <= radius + base and absolute(dy) <= radius + base:
            ahead, left = dx * cos + dy * sin, dy * cos - dx * sin
            ahead -= clamp(ahead, -half_length, half_length)
            left -= clamp(left, -half_width, half_width)
            if ahead * ahead + left * left <= base * base:
                hit[j] = 1
                count = add_event(rows, count, CONE_TOUCHED, i, j, 1.0)
    return count


def detect_events(
    poses: Any, shape: Any, table: Any, c: TimedCourse, limits: TimingLimits, hit: Any, time: float, rows: Any
) -> int:
    """Follow all cars from the last tick to this one, at `time` (s); return the number of events in `rows`.

    `poses` (13, n) have the rows of Pose, NaN for cars that are not there; `hit` (c,) marks cones that were touched.
    """
    count, segments = 0, c.points.shape[0] if c.closed else c.points.shape[0] - 1
    cell = c.along[c.along.shape[0] - 1] / segments
    for i in range(table.shape[1]):
        status = table[STATUS, i]
        if status >= STOPPED:
            continue
        x, y, qx, qy, qz, qw = poses[0, i], poses[1, i], poses[3, i], poses[4, i], poses[5, i], poses[6, i]
        (cos, sin, _), _, _ = axes(qx, qy, qz, qw)
        level = sqrt(cos * cos + sin * sin)
        speed = poses[7, i] + poses[8, i] + poses[12, i]
        if not absolute(x + y + level + speed) < 1e18:
            count = add_event(rows, count, BROKEN, i, 0, 1.0)
            continue
        if level > 1e-9:
            cos, sin = cos / level, sin / level
        else:
            cos, sin = 1.0, 0.0
        nose = table[POINT, i]
        vx, vy = poses[7, i] - poses[12, i] * nose * sin, poses[8, i] + poses[12, i] * nose * cos
        at, p = CarPose(x, y, cos, sin), TimedPoint(x + nose * cos, y + nose * sin, vx, vy)
        k, t = update_progress(p.x, p.y, table, i, c, cell)
        if table[KNOWN, i] > 0.0:
            count = detect_crossings(p, table, i, shape[HALF_WIDTH, i], c, limits.dt, rows, count)
            accumulate_turns(p.x, p.y, table, i, c)
        table[X, i], table[Y, i], table[VX, i], table[VY, i], table[KNOWN, i] = p.x, p.y, p.vx, p.vy, 1.0
        if status == RUNNING and detect_leaving(at, table, shape, i, c, k, t, cell):
            count = add_event(rows, count, LEFT_TRACK, i, 0, 1.0)
        count = check_limits(table, i, limits, time, rows, count)
        count = detect_cone_contacts(at, shape, i, c, hit, rows, count)
    return count


def initial_progress(along: float, length: float) -> float:
    """Return the first progress of a car on a closed track: negative where it stands before the line."""
    return along - length * nearest(along / length)


detect_race_events = routine(detect_events)


def most_events(cars: int, gates: int, cones: int) -> int:
    """Return the largest number of events of a tick."""
    return cars * (gates + 4) + cones


def check_discipline(track: Track, discipline: str) -> None:
    """Refuse a track on which a discipline cannot be driven."""
    what = f"track {track.name!r} is {'closed' if track.closed else 'open'}"
    pad = find_skidpad(track.cones, track.colours) is not None
    if pad and discipline != "skidpad":
        raise InvalidValueError(f"{discipline} cannot be driven on track {track.name!r}, a skidpad: choose skidpad")
    if discipline == "skidpad" and not pad:
        raise InvalidValueError(f"skidpad needs the two circles of a skidpad; track {track.name!r} has another shape")
    if discipline == "acceleration" and track.closed:
        raise InvalidValueError(f"acceleration needs an open track from a start to a finish; {what}")
    if discipline in ("trackdrive", "race") and not track.closed:
        raise InvalidValueError(f"{discipline} needs a closed track; {what}: choose acceleration or autocross")
    if not track.gates or (discipline in ("acceleration", "autocross") and not track.closed and len(track.gates) < 2):
        raise InvalidValueError(f"track {track.name!r} has no {'finish' if track.gates else 'start'} line")


def sectors_of(track: Track, discipline: str) -> int:
    """Return the number of sectors that are timed; 0 where a lap has only one."""
    sectors = len(track.gates) - (0 if track.closed else 1)
    return 0 if discipline == "skidpad" or sectors < 2 else sectors


def course_of(track: Track, discipline: str, obstacles: Sequence[Any]) -> tuple[TimedCourse, list[str]]:
    """Return the course, and the names of its cones: those of `obstacles`, as a scenario has them."""
    ends = np.array([[*gate.left, *gate.right] for gate in track.gates])
    across = ends[:, 2:] - ends[:, :2]
    width = np.sqrt((across * across).sum(axis=1))
    gates = np.column_stack([ends[:, :2], across / width[:, None], width])
    circles = np.zeros((0, 2))
    if discipline == "skidpad":
        middle, unit = 0.5 * (ends[0, :2] + ends[0, 2:]), gates[0, 2:4]
        circles = np.stack([middle - 0.5 * CIRCLES_APART * unit, middle + 0.5 * CIRCLES_APART * unit])
    listed = [(obstacle.name, obstacle.cone) for obstacle in obstacles if obstacle.cone is not None]
    cones = np.array([(*cone.center[:2], cone.radius) for _, cone in listed], np.float64).reshape(-1, 3)
    names = [f"{name or 'cone'} {k}" for k, (name, _) in enumerate(listed)]
    points = track.centre
    along = np.concatenate([track.along, [track.length]]) if track.closed else track.along
    blocks, widths = line_blocks(points, track.closed), (track.left_width, track.right_width)
    along = np.ascontiguousarray(along)
    course = TimedCourse(gates, points, blocks, along, *widths, track.closed, track.gates[0].along, circles, cones)
    return course, names


def shapes_of(body: Any, parameters: Any, n: int) -> Floats:
    """Return the shapes (SHAPE_ROWS, n) of vehicles from the function of their bodies and their parameters, m.

    Wheels are at the corners of the body where the parameters do not say where they are.
    """
    shape = np.zeros((SHAPE_ROWS, n))
    if body is not None:
        with users_code():
            outline = vectorised(body)(parameters)
        shape[[NOSE, FRONT]] = outline.centre_x + outline.half_length
        shape[HALF_LENGTH], shape[CENTRE] = outline.half_length, outline.centre_x
        shape[REAR] = outline.half_length - outline.centre_x
        shape[[HALF_WIDTH, FRONT_TRACK, REAR_TRACK]] = outline.half_width
    values = parameters._asdict()
    axles = (FRONT, "cg_to_front", 1.0), (REAR, "cg_to_rear", 1.0)
    tracks = (FRONT_TRACK, "track_front", 0.5), (REAR_TRACK, "track_rear", 0.5)
    for row, name, share in (*axles, *tracks):
        if name in values:
            shape[row] = share * np.asarray(values[name])
    return shape


def timing_points(poses: Floats, shapes: Floats, course: TimedCourse) -> Floats:
    """Return how far ahead of its pose each car is timed, m: at its foremost point.

    A car that stands over the start line is timed at its pose if that is before the line, else at its rearmost point:
    so that it can cross the line.
    """
    lx, ly, ux, uy, width = course.gates[0]
    (cosine, sine, _), _, _ = axes(*poses[3:7])
    beyond, rate = (poses[0] - lx) * -uy + (poses[1] - ly) * ux, cosine * -uy + sine * ux  # m, and per m ahead
    across = (poses[0] - lx) * ux + (poses[1] - ly) * uy
    between = (across >= -shapes[HALF_WIDTH]) & (across <= width + shapes[HALF_WIDTH])
    nose, tail = shapes[NOSE], shapes[CENTRE] - shapes[HALF_LENGTH]
    over = between & (beyond + nose * rate >= 0.0) & (beyond + tail * rate < 0.0)
    return np.where(over, np.where(beyond < 0.0, 0.0, tail), nose)
