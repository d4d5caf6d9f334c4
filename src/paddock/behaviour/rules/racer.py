"""Racer: pure pursuit among others: leaves room, overtakes, slows behind, and recovers from a spin."""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import Floats, Rule, Urge, index_in
from paddock.behaviour.rules.pure_pursuit import SEARCH, aim_ahead, nearest_segment, route
from paddock.behaviour.rules.pure_pursuit import Options as LineOptions
from paddock.behaviour.rules.pure_pursuit import prepare_path as prepared
from paddock.compute.math import absolute, clamp, hypot, maximum, minimum, select, sqrt
from paddock.compute.neighbours import NeighbourSpec
from paddock.vehicles.model import Desire
from paddock.world.columns import Column
from paddock.world.pose import Pose

FREE = 1e3  # m/s and m: nothing ahead
SLIDING = 0.75  # speed forward over speed, below which a car slides: 41 degrees of body slip
STUCK, SLOW = 2.0, 0.7  # s below a speed (m/s) after which it is stuck
BACK, BACK_SPEED = 2.5, 3.0  # s and m/s in reverse


class Options(NamedTuple):
    """Line, speeds, and the room for others."""

    speed: Annotated[float, Column("m/s", "top speed", 0.0, 1e3)] = 30.0
    lookahead: Annotated[float, Column("m", "shortest distance to look ahead", 0.01, 1e4)] = 5.0
    lookahead_time: Annotated[float, Column("s", "plus the distance travelled in this time", 0.0, 100.0)] = 0.5
    offset: Annotated[float, Column("m", "drives this far to the left of the path when alone", -1e4, 1e4)] = 0.0
    closed: Annotated[float, Column("0/1", "the path's end joins its start", 0.0, 1.0)] = 1.0
    lateral: Annotated[float, Column("m/s2", "largest lateral acceleration in bends", 0.01, 100.0)] = 6.0
    accelerate: Annotated[float, Column("m/s2", "planned acceleration", 0.01, 100.0)] = 3.0
    brake: Annotated[float, Column("m/s2", "planned deceleration", 0.01, 100.0)] = 5.0
    radius: Annotated[float, Column("m", "others within this distance count", 0.01, 1e4)] = 40.0
    room: Annotated[float, Column("m", "sideways distance to others, from middle to middle", 0.0, 100.0)] = 3.0
    length: Annotated[float, Column("m", "distance to others ahead, from middle to middle", 0.0, 100.0)] = 7.0
    half_width: Annotated[float, Column("m", "of the road: how far from the path it may drive", 0.0, 1e4)] = 6.0
    sidestep: Annotated[float, Column("m/s", "how fast it changes its line", 0.0, 100.0)] = 3.0


class Memory(NamedTuple):
    """Progress, the present line, and recovery."""

    segment: Annotated[float, Column("", "current path segment; -1 before the first decision")] = -1.0
    laps: Annotated[float, Column("", "times it has passed the path's start")] = 0.0
    shift: Annotated[float, Column("m", "to the left of its own line, to pass others")] = 0.0
    stuck: Annotated[float, Column("s", "without motion although it wants to move")] = 0.0
    reverse: Annotated[float, Column("s", "left to drive backwards")] = 0.0


class Neighbour(NamedTuple):
    """The columns that cars see of each other."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float
    qz: float
    qw: float


class Gathered(NamedTuple):
    """The nearest car ahead in the way, and cars beside."""

    gap: float = FREE
    left: float = 0.0
    pace: float = FREE
    press: float = 0.0
    blocked_left: float = 0.0
    blocked_right: float = 0.0


def visit(
    g: Gathered, me: Neighbour, other: Neighbour, dx: float, dy: float, dz: float, d2: float, o: Options
) -> Gathered:
    """Add a car: ahead and in the way, or beside."""
    hx, hy = 1.0 - 2.0 * me.qz * me.qz, 2.0 * me.qz * me.qw
    forward, left = dx * hx + dy * hy, dy * hx - dx * hy
    beside = absolute(forward) < 1.2 * o.length
    near = absolute(left) < 2.0 * o.room
    way = (forward > 0.3 * o.length) & (absolute(left) < o.room) & (forward < g.gap)
    level = (absolute(forward) < 0.9 * o.length) & (absolute(left) < o.room)
    away = select(left > 0.0, -1.0, 1.0) * (o.room - absolute(left))
    return Gathered(
        gap=select(way, forward, g.gap),
        left=select(way, left, g.left),
        pace=select(way, other.vx * hx + other.vy * hy, g.pace),
        press=g.press + select(level, away, 0.0),
        blocked_left=select(beside & near & (left > 0.0), 1.0, g.blocked_left),
        blocked_right=select(beside & near & (left <= 0.0), 1.0, g.blocked_right),
    )


def finish(g: Gathered, me: Neighbour, o: Options) -> Urge:
    """Return the wanted sidestep (m, left positive), the speed that the car ahead allows (m/s), and who is beside.

    Beside: 0 none, 1 to the left, 2 to the right, 3 both.
    """
    hx, hy = 1.0 - 2.0 * me.qz * me.qz, 2.0 * me.qz * me.qw
    mine = me.vx * hx + me.vy * hy
    ahead = g.gap < 0.9 * FREE
    # the side on which less has to be given way; the other one if a car is there
    by_left = o.room + g.left
    by_right = o.room - g.left
    free_left, free_right = g.blocked_left < 0.5, g.blocked_right < 0.5
    left = free_left & ((by_left <= by_right) | (g.blocked_right > 0.5))
    open_side = free_left | free_right
    catching = g.gap < o.length + 1.5 * maximum(mine - g.pace, 0.0) + 0.5 * maximum(mine, 0.0)
    passes = ahead & open_side & catching
    step = select(passes, select(left, by_left, -by_right), 0.0) + g.press
    # a gap from which it can still brake to the pace of the car ahead
    safe = maximum(g.gap - o.length, 0.0)
    pace = maximum(g.pace, 0.0)
    limit = sqrt(pace * pace + 1.2 * o.brake * safe) - select(safe > 0.0, 0.0, 1.0)
    overlap = ahead & (absolute(g.left) < 0.85 * o.room)
    return Urge(step, select(overlap, maximum(limit, 0.0), FREE), g.blocked_left + 2.0 * g.blocked_right)


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Follow the line beside the path; give way, slow down, or return to the road."""
    count = path.shape[0]
    closed = o.closed > 0.5
    segments = count if closed else count - 1
    fresh = m.segment < -0.5
    searched = segments if fresh else min(SEARCH, segments)
    start = 0 if fresh else index_in(m.segment, count)
    k, t = nearest_segment(me, path, start, searched, segments)
    hx, hy = 1.0 - 2.0 * (me.qy * me.qy + me.qz * me.qz), 2.0 * (me.qx * me.qy + me.qw * me.qz)
    forward, speed = me.vx * hx + me.vy * hy, hypot(me.vx, me.vy)
    # the line: own offset and a sidestep; it returns slowly when the way back is free
    own = clamp(o.offset, -o.half_width, o.half_width)
    right, left = urge.z > 1.5, (urge.z > 0.5) & ((urge.z < 1.5) | (urge.z > 2.5))
    beside = ((m.shift > 0.0) & right) | ((m.shift <= 0.0) & left)
    returns = (absolute(urge.x) < 1e-9) & (not beside)
    goal = clamp(own + select(returns, 0.0, m.shift + urge.x), -o.half_width, o.half_width) - own
    rate = select(returns, 0.4, 1.0) * o.sidestep * dt
    shift = m.shift + clamp(goal - m.shift, -rate, rate)
    reach = maximum(o.lookahead, o.lookahead_time * speed)
    last = 1 << 30 if closed else segments - 1
    x, y, z = aim_ahead(path, k, t, reach, last)
    x2, y2, _ = aim_ahead(path, k, t, reach + 2.0, last)
    along = maximum(hypot(x2 - x, y2 - y), 1e-9)
    tx, ty = (x2 - x) / along, (y2 - y) / along
    dx, dy, dz = x - ty * shift - me.x, y + tx * shift - me.y, z - me.z
    aim = maximum(sqrt(dx * dx + dy * dy + dz * dz), 1e-9)
    before, after = path[k % count, 3] ** 2, path[(k + 1) % count, 3] ** 2
    here = sqrt(maximum(before + t * (after - before), 0.0))
    arrived = (k >= segments - 1) & (t >= 1.0) & (o.closed < 0.5)
    pace = select(arrived, 0.0, minimum(here, urge.y))
    # a spin: brake until it rolls again, turn round slowly, reverse away from what it stands against
    sliding = (speed > 3.0) & (forward < SLIDING * speed)
    astray = (hx * tx + hy * ty < 0.3) & (speed < 15.0)
    pace = select(sliding, 0.0, select(astray, minimum(pace, 4.0), pace))
    idle = (speed < SLOW) & (pace > 1.0)
    stuck = select(idle & (m.reverse <= 0.0), m.stuck + dt, 0.0)
    reverse = select(stuck > STUCK, BACK, maximum(m.reverse - dt, 0.0))
    stuck = select(stuck > STUCK, 0.0, stuck)
    backs = reverse > 0.0
    turn = select(hx * ty - hy * tx > 0.0, 1.0, -1.0)  # the nose has to go to the left
    back_x, back_y = -0.8 * hx + 0.6 * turn * hy, -0.8 * hy - 0.6 * turn * hx
    scale = pace / aim
    wrapped = select(k >= segments, 1.0, 0.0)
    wanted = Desire(
        vx=select(backs, BACK_SPEED * back_x, dx * scale),
        vy=select(backs, BACK_SPEED * back_y, dy * scale),
        vz=select(backs, 0.0, dz * scale),
        ahead=select(backs, 4.0, aim),
        turn=0.0 * aim,
        gear=select(backs, -1.0, 1.0),
    )
    return wanted, Memory(float(k % count), m.laps + wrapped, shift, stuck, reverse)


def line_options(o: Options) -> LineOptions:
    """Return the options of the line."""
    return LineOptions(o.speed, o.lookahead, o.lookahead_time, o.offset, o.closed, o.lateral, o.accelerate, o.brake)


def prepare_path(points: Floats, o: Options) -> Floats:
    """Return the line with the speed that its bends allow at each point."""
    return prepared(points, line_options(o))


RULE = Rule(
    "Race along a path: overtake, slow behind others, leave room, recover from a spin",
    Options,
    desire,
    Memory,
    needs_path=True,
    neighbours=NeighbourSpec("racer", Pose, Neighbour, Gathered, Urge, Options, visit, finish),
    sees_all=True,
    prepare_path=prepare_path,
    route=route,
)
