"""Flock: separation, cohesion and alignment with the neighbours, inside a home range."""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import AvoidOption, Floats, Nothing, Rule, SeesOption, Urge
from paddock.compute.math import clamp, maximum, minimum, select, sqrt
from paddock.compute.neighbours import NeighbourSpec
from paddock.compute.quaternion import axes
from paddock.vehicles.model import Desire
from paddock.world.columns import FARTHEST, Column, Pose


class Options(NamedTuple):
    """Urges, speeds and home range."""

    radius: Annotated[float, Column("m", "neighbours within this distance count", 0.01, 1e4)] = 8.0
    distance: Annotated[float, Column("m", "distance to keep from neighbours", 0.0, 1e4)] = 4.0
    separation: Annotated[float, Column("m/s", "urge to keep the distance, at 0.6 of it", 0.0, 1e3)] = 2.0
    cohesion: Annotated[float, Column("1/s", "urge towards the neighbours' centre, per metre", 0.0, 1e2)] = 0.15
    alignment: Annotated[float, Column("", "share of the velocity difference to adopt", 0.0, 10.0)] = 0.6
    speed: Annotated[float, Column("m/s", "cruising speed", 0.01, 1e3)] = 6.0
    x: Annotated[float, Column("m", "centre of the home range, east", -FARTHEST, FARTHEST)] = 0.0
    y: Annotated[float, Column("m", "centre of the home range, north", -FARTHEST, FARTHEST)] = 0.0
    z: Annotated[float, Column("m", "height of the home range, up", -FARTHEST, FARTHEST)] = 20.0
    range: Annotated[float, Column("m", "radius of the home range", 0.0, 1e7)] = 150.0
    layer: Annotated[float, Column("m", "half the height of the home range", 0.0, 1e5)] = 15.0
    homing: Annotated[float, Column("1/s", "urge back into the home range, per metre outside", 0.0, 1e2)] = 0.3
    avoid: AvoidOption = 0.0
    sees: SeesOption = 0.0


class Neighbour(NamedTuple):
    """The columns that neighbours see of each other."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float


class Gathered(NamedTuple):
    """Sums over the neighbours."""

    number: float = 0.0
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    vx: float = 0.0
    vy: float = 0.0
    vz: float = 0.0
    push_x: float = 0.0
    push_y: float = 0.0
    push_z: float = 0.0


def visit(
    g: Gathered, me: Neighbour, other: Neighbour, dx: float, dy: float, dz: float, d2: float, o: Options
) -> Gathered:
    """Add a neighbour; the push away from it is room / distance - distance / room, zero beyond the room."""
    room2 = o.distance * o.distance
    inverse = 1.0 / maximum(o.distance, 1e-9)
    push = maximum(room2 / maximum(d2, 1e-3 * room2 + 1e-12) - 1.0, 0.0) * inverse
    return Gathered(
        g.number + 1.0,
        g.x + dx,
        g.y + dy,
        g.z + dz,
        g.vx + other.vx,
        g.vy + other.vy,
        g.vz + other.vz,
        g.push_x - dx * push,
        g.push_y - dy * push,
        g.push_z - dz * push,
    )


def finish(g: Gathered, me: Neighbour, o: Options) -> Urge:
    """Combine the urges to one change of velocity."""
    share = 1.0 / maximum(g.number, 1.0)
    match = select(g.number > 0.5, o.alignment, 0.0)
    return Urge(
        o.cohesion * g.x * share + match * (g.vx * share - me.vx) + o.separation * g.push_x,
        o.cohesion * g.y * share + match * (g.vy * share - me.vy) + o.separation * g.push_y,
        o.cohesion * g.z * share + match * (g.vz * share - me.vz) + o.separation * g.push_z,
    )


def desire(
    me: Pose, m: Nothing, o: Options, urge: Urge, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Nothing]:
    """Add the urges to the present velocity, and pull towards the cruising speed and back into the home range."""
    hx, hy = o.x - me.x, o.y - me.y
    away = sqrt(hx * hx + hy * hy)
    pull = minimum(o.homing * maximum(away - o.range, 0.0), o.speed) / maximum(away, 1e-9)
    low, high = o.z - o.layer, o.z + o.layer
    climb = 4.0 * o.homing * (clamp(me.z, low, high) - me.z)  # the layer is thin: turn back earlier than at the sides
    # slow vehicles accelerate along the heading: a flock that starts at rest must not stay at rest
    (fx, fy, _), _, _ = axes(me.qx, me.qy, me.qz, me.qw)
    start = maximum(0.5 * o.speed - sqrt(me.vx * me.vx + me.vy * me.vy), 0.0)
    vx, vy = me.vx + urge.x + pull * hx + start * fx, me.vy + urge.y + pull * hy + start * fy
    vz = me.vz + urge.z + climb
    across = maximum(sqrt(vx * vx + vy * vy), 1e-9)
    scale = clamp(o.speed / across, 0.5, 1.2)  # towards the cruising speed without jumping to it
    steep = 0.3 * o.speed
    vx, vy, vz = vx * scale, vy * scale, clamp(vz * 0.9, -steep, steep)
    size = maximum(sqrt(vx * vx + vy * vy + vz * vz), 1e-9)
    most = minimum(1.0, 2.0 * o.speed / size)
    return Desire(vx * most, vy * most, vz * most, maximum(size, 1.0)), m


RULE = Rule(
    "Fly with the neighbours of its own fleet: separation, cohesion, alignment",
    Options,
    desire,
    neighbours=NeighbourSpec("flock", Pose, Neighbour, Gathered, Urge, Options, visit, finish),
)
