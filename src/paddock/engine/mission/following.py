"""The internal behaviour with which vehicles of a mission follow planned segments.

The path is a table of all segments of a fleet: the columns of planning's Segment, then those below. It is replaced
when routes change; each vehicle's memory holds its rows and its progress.
"""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import Floats, Rule, Urge
from paddock.compute.math import absolute, atan, atan2, clamp, maximum, minimum, select, sin, sincos, sqrt, wrap_angle
from paddock.compute.quaternion import axes
from paddock.vehicles.model import Desire
from paddock.world.columns import FARTHEST, Column, Pose

X, Y, Z, HEADING, LENGTH, CURVATURE, SLOPE, GEAR, DRIFT_X, DRIFT_Y, PACE = range(11)
BEGINS, FLOWN, LIMIT, LEAVE = range(11, 15)
"""m flown from the start of the route to its start; m flown on it; maximum m/s on it; maximum m/s at its end."""
COLUMNS = 15

PI = 3.141592653589793
NEWTON_STEPS = 4
"""Newton steps towards the nearest point of a curve in moving air, from the previous nearest point."""


def along_per_flown(path: Floats, k: int) -> float:
    """Return metres along the curve per metre flown on segment k."""
    return float(path[k, PACE] / sqrt(1.0 + path[k, SLOPE] * path[k, SLOPE]))


def place_on(path: Floats, k: int, s: float) -> tuple[float, float, float]:
    """Return the point (m) after `s` metres along segment k."""
    half = 0.5 * path[k, GEAR] * path[k, CURVATURE] * s
    way = s * path[k, GEAR]
    chord = way * (1.0 - half * half / 6.0) if absolute(half) < 1e-4 else way * sin(half) / half
    sine, cosine = sincos(path[k, HEADING] + half)
    x = path[k, X] + chord * cosine + path[k, DRIFT_X] * s
    y = path[k, Y] + chord * sine + path[k, DRIFT_Y] * s
    return x, y, path[k, Z] + path[k, SLOPE] * s


def tangent(path: Floats, k: int, s: float) -> tuple[float, float, float]:
    """Return the horizontal tangent (per metre along the curve) and the turn rate (rad/m) of the course."""
    gear, curvature = path[k, GEAR], path[k, CURVATURE]
    sine, cosine = sincos(path[k, HEADING] + gear * curvature * s)
    tx, ty = gear * cosine + path[k, DRIFT_X], gear * sine + path[k, DRIFT_Y]
    bend = curvature * (tx * cosine + ty * sine) / maximum(tx * tx + ty * ty, 1e-6)
    return tx, ty, bend


def nearest_on(path: Floats, k: int, s: float, x: float, y: float) -> float:
    """Return metres along segment k of the point nearest to (x, y), near `s`; the curve is extended beyond its ends."""
    drifting = absolute(path[k, DRIFT_X]) + absolute(path[k, DRIFT_Y]) > 0.0
    if absolute(path[k, CURVATURE]) < 1e-9:
        tx, ty, _ = tangent(path, k, 0.0)
        return float(((x - path[k, X]) * tx + (y - path[k, Y]) * ty) / maximum(tx * tx + ty * ty, 1e-6))
    if not drifting:
        return _nearest_on_arc(path, k, s, x, y)
    for _ in range(NEWTON_STEPS):
        px, py, _ = place_on(path, k, s)
        tx, ty, bend = tangent(path, k, s)
        square = maximum(tx * tx + ty * ty, 1e-6)
        ahead = (x - px) * tx + (y - py) * ty
        beside = (y - py) * tx - (x - px) * ty  # to the left
        s += ahead / maximum(square - bend * beside, 0.3 * square)
    return s


def _nearest_on_arc(path: Floats, k: int, s: float, x: float, y: float) -> float:
    """Return metres along an arc from the angle about its centre, in the direction nearer to `s`."""
    curvature = path[k, GEAR] * path[k, CURVATURE]  # of the motion, independent of the heading
    moving = path[k, HEADING] + (PI if path[k, GEAR] < 0.0 else 0.0)
    sine, cosine = sincos(moving)
    rx, ry = curvature * (x - path[k, X]) + sine, curvature * (y - path[k, Y]) - cosine
    if rx * rx + ry * ry < 1e-4:
        return s  # at the centre all points are equally near
    return float(s + wrap_angle(atan2(rx, -ry) - moving - curvature * s) / curvature)


MOST_SEGMENTS = 64
"""Segments that a vehicle may pass between two decisions."""
FAR = 1e18
WAY = (-1e12, 1e12)  # m, limits of metres flown
LIFT = 10.0
"""m above the ground from which a vehicle's full vertical offset applies."""


class FollowingOptions(NamedTuple):
    """Options of path following, set by the engine for all vehicles of a fleet."""

    hovers: Annotated[float, Column("0/1", "can move in any direction", 0.0, 1.0)] = 0.0
    lookahead: Annotated[float, Column("m", "shortest distance to correct a cross-track error", 0.01, 1e4)] = 20.0
    lookahead_time: Annotated[float, Column("s", "or the distance travelled in this time", 0.0, 100.0)] = 3.0
    gain: Annotated[float, Column("1/s", "cross-track correction per metre, of hovering vehicles", 0.0, 10.0)] = 1.0
    height_gain: Annotated[float, Column("1/s", "correction per metre of height error", 0.0, 10.0)] = 0.4
    preview: Annotated[float, Column("s", "lead time before a bend: the lag of the turn", 0.0, 10.0)] = 0.0
    brake: Annotated[float, Column("m/s2", "deceleration before stops and corners", 0.01, 100.0)] = 1.0
    align: Annotated[float, Column("0/1", "slows down to turn on the spot", 0.0, 1.0)] = 0.0
    capture: Annotated[float, Column("m", "farther from its path it returns before it continues", 0.1, 1e6)] = 80.0
    arrived: Annotated[float, Column("m", "distance to a stop at which it has arrived", 0.0, 100.0)] = 0.0
    correction: Annotated[float, Column("m/s", "fastest correction of hovering vehicles", 0.0, 100.0)] = 3.0
    wind_x: Annotated[float, Column("m/s", "wind towards the east, for the path through the air")] = 0.0
    wind_y: Annotated[float, Column("m/s", "towards the north")] = 0.0
    ground: Annotated[float, Column("m", "height of the ground")] = 0.0


class FollowingMemory(NamedTuple):
    """The rows of the table that belong to a vehicle, and its progress."""

    first: Annotated[float, Column("", "its first row of the table")] = 0.0
    last: Annotated[float, Column("", "the row after its last; not above the first: no path")] = 0.0
    loop: Annotated[float, Column("", "the row from which its path repeats; -1: it stops at the end")] = -1.0
    row: Annotated[float, Column("", "its current row")] = 0.0
    inside: Annotated[float, Column("m", "flown on that row's segment", *WAY)] = 0.0
    before: Annotated[float, Column("m", "flown in repetitions", *WAY)] = 0.0
    along: Annotated[float, Column("m", "flown on its route", *WAY)] = 0.0
    speed: Annotated[float, Column("m/s", "wanted airspeed", 0.0, 1e4)] = 0.0
    stop_at: Annotated[float, Column("m", "distance on its route at which it waits", -FAR, FAR)] = FAR
    offset: Annotated[float, Column("m", "vertical offset from its path", -1e6, 1e6)] = 0.0
    travelled: Annotated[float, Column("m", "flown through the air since the start", *WAY)] = 0.0
    x: Annotated[float, Column("m", "position without a path, east", -FARTHEST, FARTHEST)] = 0.0
    y: Annotated[float, Column("m", "north", -FARTHEST, FARTHEST)] = 0.0
    z: Annotated[float, Column("m", "up", -FARTHEST, FARTHEST)] = 0.0
    beside: Annotated[float, Column("m", "to the left of its path", *WAY)] = 0.0


def desire(
    me: Pose, m: FollowingMemory, o: FollowingOptions, urge: Urge, target: Pose, path: Floats, dt: float
) -> tuple[Desire, FollowingMemory]:
    """Find the position on the path, and return the velocity that follows it.

    `urge` is by how much (m) the vehicle is wrong about its position, where its satellite navigation is spoofed; its z
    is 1 for a vehicle that does not know its position.
    """
    blind = urge.z > 0.5
    me = believed(me, urge)
    ux, uy = me.vx - o.wind_x, me.vy - o.wind_y
    flown = sqrt(ux * ux + uy * uy + me.vz * me.vz) * dt
    travelled = m.travelled + flown
    if m.last <= m.first:
        x, y = select(blind, me.x, m.x), select(blind, me.y, m.y)
        return staying(me, m, o, x, y), remembered(m, m.row, m.inside, m.before, m.along, travelled, 0.0)
    if blind and o.hovers > 0.5:
        return halted(me, m, o, path), remembered(m, m.row, m.inside, m.before, m.along, travelled, m.beside)
    if blind:
        k, s, before = reckoned(m, path, flown)
        x, y, _ = place_on(path, k, s)
        me = believed(me, Urge(x - me.x, y - me.y, 0.0))
    else:
        k, s, before = progressed(me, m, o, path, dt)
    unit = along_per_flown(path, k)
    along = before + path[k, BEGINS] + s / unit
    stop = stop_of(m, path)
    along = select((stop - along < o.arrived) & (along < stop), stop, along)
    speed = speed_at(m, o, path, k, s / unit, stop - along)
    wish, beside = wished(me, m, o, path, k, s, speed)
    return wish, remembered(m, float(k), s / unit, before, along, travelled, beside)


def believed(me: Pose, error: Urge) -> Pose:
    """Return the pose with a wrong position; heights are those of a barometer."""
    return Pose(
        me.x + error.x, me.y + error.y, me.z, me.qx, me.qy, me.qz, me.qw, me.vx, me.vy, me.vz, me.wx, me.wy, me.wz
    )


def remembered(
    m: FollowingMemory, row: float, inside: float, before: float, along: float, travelled: float, beside: float
) -> FollowingMemory:
    """Return the memory with a new progress."""
    own = m.speed, m.stop_at, m.offset
    return FollowingMemory(
        m.first, m.last, m.loop, row, inside, before, along, own[0], own[1], own[2], travelled, m.x, m.y, m.z, beside
    )


def halted(me: Pose, m: FollowingMemory, o: FollowingOptions, path: Floats) -> Desire:
    """Return the desire of a hovering vehicle that waits where it is, at the height of its path."""
    k = int(m.row)
    _, _, z = place_on(path, k, m.inside * along_per_flown(path, k))
    lift = m.offset * clamp((z - o.ground) / LIFT, 0.0, 1.0)
    return Desire(0.0, 0.0, clamp(o.height_gain * (z + lift - me.z), -1.0, 1.0), 1.0, 0.0, 1.0)


def reckoned(m: FollowingMemory, path: Floats, flown: float) -> tuple[int, float, float]:
    """Return row, metres along it and metres of repetitions by dead reckoning, `flown` m after the last place."""
    k, before, last = int(m.row), m.before, int(m.last)
    inside = m.inside + minimum(flown, maximum(m.stop_at - m.along, 0.0))
    for _ in range(MOST_SEGMENTS):
        if inside < path[k, FLOWN]:
            break
        if k + 1 < last:
            inside -= path[k, FLOWN]
            k += 1
        elif m.loop >= 0.0:
            inside -= path[k, FLOWN]
            before += path[k, BEGINS] + path[k, FLOWN] - path[int(m.loop), BEGINS]
            k = int(m.loop)
        else:
            inside = path[k, FLOWN]
            break
    return k, inside * along_per_flown(path, k), before


def staying(me: Pose, m: FollowingMemory, o: FollowingOptions, x: float, y: float) -> Desire:
    """Return the desire of a vehicle without a path: hover at (x, y), stand still, or circle."""
    dx, dy, dz = o.hovers * (x - me.x), o.hovers * (y - me.y), m.z - me.z
    distance = maximum(sqrt(dx * dx + dy * dy), 1e-9)
    pace = minimum(o.gain, o.correction / distance)
    sinking = clamp(o.height_gain * dz, -1.0, 1.0)
    return Desire(dx * pace, dy * pace, sinking, distance, 0.0, 1.0)


def progressed(me: Pose, m: FollowingMemory, o: FollowingOptions, path: Floats, dt: float) -> tuple[int, float, float]:
    """Return row, metres along it and metres of repetitions of the nearest point ahead.

    Nothing is searched but what follows the place where it was: other parts of the path may cross it here.
    """
    k, before, last = int(m.row), m.before, int(m.last)
    s = m.inside * along_per_flown(path, k)
    x, y, _ = place_on(path, k, s)
    if (me.x - x) * (me.x - x) + (me.y - y) * (me.y - y) > o.capture * o.capture:
        return k, s, before
    left = 2.0 * dt * maximum(m.speed, sqrt(me.vx * me.vx + me.vy * me.vy)) + 0.05  # m: farthest possible progress
    left = minimum(left, maximum(m.stop_at - (before + path[k, BEGINS] + m.inside), 0.0))
    for _ in range(MOST_SEGMENTS):
        unit = along_per_flown(path, k)
        there = minimum(nearest_on(path, k, s, me.x, me.y), s + left * unit)
        if there < path[k, LENGTH]:
            return k, maximum(s, there), before
        left -= (path[k, LENGTH] - s) / unit
        if k + 1 < last:
            k += 1
        elif m.loop >= 0.0:
            before += path[k, BEGINS] + path[k, FLOWN] - path[int(m.loop), BEGINS]
            k = int(m.loop)
        else:
            return k, path[k, LENGTH], before
        s = 0.0
    return k, s, before


def stop_of(m: FollowingMemory, path: Floats) -> float:
    """Return the distance on the route (m) at which it has to stop."""
    k = int(m.last) - 1
    end = path[k, BEGINS] + path[k, FLOWN]
    return minimum(m.stop_at, select(m.loop >= 0.0, FAR, end))


def speed_at(m: FollowingMemory, o: FollowingOptions, path: Floats, k: int, inside: float, to_stop: float) -> float:
    """Return the airspeed (m/s) allowed by the rest of this segment and the distance to the next stop."""
    leave = path[k, LEAVE]
    to_end = maximum(path[k, FLOWN] - inside, 0.0)
    corner = sqrt(leave * leave + 2.0 * o.brake * to_end)
    return minimum(minimum(m.speed, path[k, LIMIT]), minimum(corner, approach(to_stop, o.brake)))


def approach(distance: float, brake: float) -> float:
    """Return the speed (m/s) to stop: constant deceleration, then proportional over the last metres."""
    left = maximum(distance, 0.0)
    return minimum(left, sqrt(2.0 * brake * left))


def wished(
    me: Pose, m: FollowingMemory, o: FollowingOptions, path: Floats, k: int, s: float, speed: float
) -> tuple[Desire, float]:
    """Return the velocity along the path, turned towards it, and the cross-track error (m, positive left)."""
    x, y, z = place_on(path, k, s)
    tx, ty, _ = tangent(path, k, s)
    size = maximum(sqrt(tx * tx + ty * ty), 1e-6)
    unit = along_per_flown(path, k)
    level = speed * unit * size
    ex, ey = tx / size, ty / size
    dx, dy = x - me.x, y - me.y
    beside = dx * ey - dy * ex
    rise = speed * unit * path[k, SLOPE] + o.height_gain * (
        z + m.offset * clamp((z - o.ground) / LIFT, 0.0, 1.0) - me.z
    )
    gear = path[k, GEAR]
    turn = bend_ahead(m, o, path, k, s, speed)
    if o.hovers > 0.5:
        distance = maximum(sqrt(dx * dx + dy * dy), 1e-9)
        # beyond `capture` there is no progress: it returns to where it left the path
        on = select(distance > o.capture, 0.0, 1.0)
        pace = minimum(o.gain, select(distance > o.capture, m.speed, o.correction) / distance)
        return Desire(ex * level * on + dx * pace, ey * level * on + dy * pace, rise, distance, turn * on, 1.0), beside
    reach = maximum(o.lookahead, o.lookahead_time * level)
    sine, cosine = sincos(-atan(beside / reach))
    hx, hy = ex * cosine - ey * sine, ey * cosine + ex * sine
    level *= alignment(me, o, hx * gear, hy * gear)
    return Desire(hx * level, hy * level, rise, reach, turn, gear), beside


def alignment(me: Pose, o: FollowingOptions, hx: float, hy: float) -> float:
    """Return the share of its speed that a vehicle keeps while its heading differs from (hx, hy)."""
    (fx, fy, _), _, _ = axes(me.qx, me.qy, me.qz, me.qw)
    fits = maximum(fx * hx + fy * hy, 0.0)
    square = fits * fits
    return maximum(1.0 - o.align * (1.0 - square * square * square * square), 0.02)


def bend_ahead(m: FollowingMemory, o: FollowingOptions, path: Floats, k: int, s: float, speed: float) -> float:
    """Return the turn rate (rad/s) of the path at the vehicle's position after the lag of its turn."""
    left, gear = o.preview * speed, path[k, GEAR]
    last = int(m.last)
    for _ in range(MOST_SEGMENTS):
        unit = along_per_flown(path, k)
        s += left * unit
        if s <= path[k, LENGTH]:
            break
        left = (s - path[k, LENGTH]) / unit
        following = k + 1 if k + 1 < last else int(m.loop)
        if following < 0 or path[following, GEAR] != gear:
            s = path[k, LENGTH]
            break
        k, s = following, 0.0
    unit = along_per_flown(path, k)
    return tangent(path, k, minimum(s, path[k, LENGTH]))[2] * speed * unit


RULE = Rule("Follow the route of a mission", FollowingOptions, desire, FollowingMemory, name="mission")
