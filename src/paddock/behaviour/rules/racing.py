"""Racing: lap a closed track near the limit, pass slower cars where there is room, and recover from spins and walls."""

from typing import Annotated, NamedTuple

from paddock.behaviour.racing_line import Pace, Sight, Space, between, build_track, find_segment, look_around
from paddock.behaviour.rule import Floats, Road, RouteLine, Rule, index_in
from paddock.behaviour.rules.pure_pursuit import Memory as Progress
from paddock.compute.math import absolute, clamp, maximum, minimum, select, sqrt
from paddock.compute.quaternion import axes
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose, column_tuple

SEARCH = 24
"""Segments around the last one that are searched; all of them if none of those is near."""
RESPONSE = 1.5  # 1/s: a car accelerates by this times the speed error
CRAWL = 4.0  # m/s, while it turns round
STILL = 1.0  # m/s
STUCK_AFTER, REVERSE_AT_LEAST, REVERSE_FOR = 1.5, 1.25, 3.5  # s
ROOM_TO_PASS = 1.5  # lengths of a car: the gap from which it can steer past one that stands ahead


class Options(NamedTuple):
    """Track, limits of the car, and space around it."""

    speed: Annotated[float, Column("m/s", "top speed", 0.1, 1e3)] = 40.0
    lateral: Annotated[float, Column("m/s2", "largest lateral acceleration in bends", 0.1, 100.0)] = 6.0
    accelerate: Annotated[float, Column("m/s2", "largest acceleration", 0.1, 100.0)] = 3.0
    brake: Annotated[float, Column("m/s2", "largest deceleration", 0.1, 100.0)] = 5.0
    width: Annotated[float, Column("m", "width of the track", 2.0, 1e3)] = 12.0
    margin: Annotated[float, Column("m", "gap to keep from the edge of the track", 0.0, 1e2)] = 0.8
    line: Annotated[float, Column("", "0: drive in the middle; 1: on the line of least curvature", 0.0, 1.0)] = 0.9
    lookahead: Annotated[float, Column("m", "shortest distance to look ahead", 0.5, 1e3)] = 5.0
    lookahead_time: Annotated[float, Column("s", "plus the distance travelled in this time", 0.0, 10.0)] = 0.35
    sight: Annotated[float, Column("m", "distance at which others ahead are seen", 1.0, 1e3)] = 60.0
    clearance: Annotated[float, Column("m", "gap to keep beside others", 0.0, 1e2)] = 1.0
    car_length: Annotated[float, Column("m", "length of a car", 0.1, 1e2)] = 4.6
    car_width: Annotated[float, Column("m", "width of a car", 0.1, 1e2)] = 1.9
    sidestep: Annotated[float, Column("m/s", "speed of a change of line", 0.1, 1e2)] = 3.5


@column_tuple
class Memory(Progress):
    """Progress (laps less those backwards), the present line, and how long it has been stuck."""

    shift: Annotated[float, Column("m", "shift of its line to the left")] = 0.0
    still: Annotated[float, Column("s", "time at a standstill")] = 0.0
    reversing: Annotated[float, Column("s", "time left to drive backwards")] = 0.0


def room_of(o: Options) -> float:
    """Return how far from the middle a car may drive, m."""
    return maximum(0.5 * (o.width - o.car_width) - o.margin, 0.0)


def locate(me: Pose, m: Memory, o: Options, path: Floats) -> tuple[int, float]:
    """Return the segment of the track, and the position on it."""
    count = path.shape[0]
    searched = min(SEARCH, count)
    k, t, gap = find_segment(me.x, me.y, path, index_in(m.segment, count) + count - searched // 3, searched)
    if m.segment < -0.5 or gap > o.width * o.width:
        k, t, gap = find_segment(me.x, me.y, path, 0, count)
    return k, t


def aim(path: Floats, k: int, t: float, reach: float, shift: float, room: float) -> tuple[float, float, float]:
    """Return the point of the shifted line `reach` m further along the middle."""
    count = path.shape[0]
    left = reach
    for _ in range(count):
        a, b = path[k, 6], path[(k + 1) % count, 6]
        dx, dy = path[(k + 1) % count, 0] - path[k, 0], path[(k + 1) % count, 1] - path[k, 1]
        gap = maximum(select(b > a, b - a, sqrt(dx * dx + dy * dy)), 1e-9)
        if (1.0 - t) * gap >= left:
            t += left / gap
            break
        left -= (1.0 - t) * gap
        k, t = (k + 1) % count, 0.0
    offset = clamp(between(path, k, t, 7) + shift, -room, room)
    x, y = (
        between(path, k, t, 0) + offset * between(path, k, t, 4),
        between(path, k, t, 1) + offset * between(path, k, t, 5),
    )
    return x, y, between(path, k, t, 2)


def wanted_speed(path: Floats, k: int, t: float, off_line: float, speed: float, slip: float, o: Options) -> float:
    """Return the speed to demand: the plan's speed and acceleration, within what the tyres have left beside the bend.

    Away from its line the plan is nearer to that of the inner edge. A car that slides gets no throttle.
    """
    count = path.shape[0]
    weight = clamp(off_line / maximum(0.5 * o.width, 1e-6), 0.0, 1.0)
    start, ahead = path[k], path[(k + 1) % count]
    before, after = start[3] + weight * (start[8] - start[3]), ahead[3] + weight * (ahead[8] - ahead[3])
    dx, dy = ahead[0] - start[0], ahead[1] - start[1]
    change = (after * after - before * before) / (2.0 * maximum(sqrt(dx * dx + dy * dy), 1e-6))
    plan = sqrt(maximum(before * before + t * (after * after - before * before), 0.0))
    used = absolute(between(path, k, t, 9)) * speed * speed / o.lateral
    left = sqrt(maximum(1.0 - 0.8 * minimum(used * used, 1.0), 0.0))
    grip = clamp(1.5 - 5.0 * slip, 0.0, 1.0)
    rate = clamp(RESPONSE * (plan - speed) + change, -1.3 * o.brake * left, o.accelerate * left * grip)
    return speed + rate / RESPONSE


def recover(m: Memory, along: float, speed: float, free: float, o: Options, dt: float) -> tuple[float, float]:
    """Return the times at a standstill and left to reverse.

    `along`: cosine of the heading against the track; `free`: the largest speed behind others, m/s.
    """
    reversing = maximum(m.reversing - dt, 0.0)
    # long enough backwards: it points along the track and has room to steer past a car, or has met something behind
    room = free * free > 2.0 * o.brake * ROOM_TO_PASS * o.car_length
    enough = (m.reversing > 0.0) & (reversing < REVERSE_FOR - REVERSE_AT_LEAST)
    reversing = select(enough & ((room & (along > 0.9)) | (speed < 0.5 * STILL)), 0.0, reversing)
    waited = m.still + select(free < 2.0, 0.4, 1.0) * dt
    still = select(reversing > 0.0, -STUCK_AFTER, select(speed < STILL, waited, minimum(m.still + dt, 0.0)))
    stuck = still > STUCK_AFTER
    return select(stuck, 0.0, still), select(stuck, REVERSE_FOR, reversing)


def desire(
    me: Pose, m: Memory, o: Options, urge: Sight, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Memory]:
    """Aim at the free line ahead; turn round, or back off, where the car points the wrong way or is stuck."""
    count = path.shape[0]
    room = room_of(o)
    k, t = locate(me, m, o, path)
    lx, ly = between(path, k, t, 4), between(path, k, t, 5)
    (fx, fy, _), _, _ = axes(me.qx, me.qy, me.qz, me.qw)
    along = fx * ly - fy * lx
    speed = sqrt(me.vx * me.vx + me.vy * me.vy)
    ahead = me.vx * fx + me.vy * fy
    slip = absolute(me.vy * fx - me.vx * fy) / maximum(speed, 5.0)
    preview = maximum(o.lookahead, o.lookahead_time * speed)
    used = minimum(absolute(between(path, k, t, 9)) * speed * speed / o.lateral, 1.0)
    # steering at a point `preview` ahead that moves sideways at a speed takes about 2 speed / (preview / speed) of grip
    most = 0.6 * o.lateral * sqrt(1.0 - 0.8 * used * used) * preview / maximum(speed, 1.0)
    sideways = minimum(o.sidestep, most) * dt
    shift = m.shift + clamp(urge.shift - m.shift, -sideways, sideways)
    still, reversing = recover(m, along, speed, urge.speed, o, dt)

    x, y, z = aim(path, k, t, preview, shift, room)
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    reach = maximum(sqrt(dx * dx + dy * dy + dz * dz), 1e-6)
    offset = (me.x - between(path, k, t, 0)) * lx + (me.y - between(path, k, t, 1)) * ly
    pace = wanted_speed(path, k, t, absolute(offset - between(path, k, t, 7)), maximum(ahead, 0.0), slip, o)
    # a car that must slow down behind another brakes at once: without this its speed lags behind by brake / RESPONSE
    held = urge.speed - clamp(ahead - urge.speed, 0.0, 1.0) * o.brake / RESPONSE
    pace = maximum(minimum(pace, held), 0.0)
    turned = along < 0.3  # it points across the track or against it
    spinning = (slip > 0.6) & (speed > CRAWL)
    pace = select(
        spinning, 0.0, select(turned, minimum(pace, CRAWL), maximum(pace, select(urge.speed < 2.0, 0.0, 1.0)))
    )

    back = reversing > 0.0
    # backwards it goes against the track: that turns its nose along the track
    ux, uy = select(back, -ly, dx / reach), select(back, lx, dy / reach)
    pace, reach = select(back, CRAWL, pace), select(back | turned, minimum(reach, 4.0), reach)
    passed = select(m.segment < -0.5, 0.0, m.segment - k)  # half a track backwards is a new lap
    lap = select(passed > 0.5 * count, 1.0, select(passed < -0.5 * count, -1.0, 0.0))
    desire = Desire(ux * pace, uy * pace, select(back, 0.0, dz / reach * pace), reach, 0.0, select(back, -1.0, 1.0))
    return desire, Memory(1.0 * k, m.laps + lap, shift, still, reversing)


def prepare_path(points: Floats, o: Options) -> Floats:
    """Return the track with the driver's line and speeds."""
    return build_track(points, room_of(o), o.line, Pace(o.speed, o.lateral, o.accelerate, o.brake))


def look(poses: Floats, n: int, memory: Floats, o: Options, path: Floats) -> Floats:
    """Return the free line and the speed behind others, for the first n of all vehicles."""
    space = Space(room_of(o), o.car_length, o.car_width + o.clearance, o.sight, o.brake)
    return look_around(poses, n, memory[2, :n], path, space)


def route(o: Options, path: Floats) -> RouteLine:
    """Return the line that it drives on a free track."""
    line = path[:, :3].copy()
    line[:, :2] += path[:, 7:8] * path[:, 4:6]
    return RouteLine(line, True)


def road(o: Options, path: Floats) -> Road:
    """Return the track."""
    return Road(path[:, :3], o.width, True)


RULE = Rule(
    "Race on a closed track: pass slower cars, keep off the walls, recover from spins",
    Options,
    desire,
    Memory,
    needs_path=True,
    senses=Sight,
    look=look,
    prepare_path=prepare_path,
    route=route,
    road=road,
)
