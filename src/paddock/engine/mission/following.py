"""How vehicles of a mission follow their routes: an internal behaviour, and the tracks of a fleet.

The tracks of a fleet are one table of segments: the columns of planning's Segment, then those below. The table is
replaced when routes change; each vehicle's memory holds its rows and its progress.
"""

from dataclasses import dataclass
from math import inf, remainder, tau
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.behaviour.rule import Rule, Urge
from paddock.compute.math import atan, clamp, maximum, minimum, select, sincos, sqrt
from paddock.compute.quaternion import axes
from paddock.compute.routine import routine
from paddock.engine.behaviours import MEMORY, FleetBehaviour, HeardBlocks, PoseBlocks, RuleSetup
from paddock.engine.events import EventLog
from paddock.engine.fleet_settings import GNSS
from paddock.engine.fleets import Fleets
from paddock.engine.program import FleetProgram
from paddock.engine.radio.stage import RadioStage
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import (
    CURVATURE,
    FIELDS,
    GEAR,
    LENGTH,
    SLOPE,
    Path,
    Segment,
    along_per_flown,
    ends_at,
    flown_of,
    nearest_on,
    point_on,
    tangent_on,
)
from paddock.planning.geometry.path import Pose as RoutePose
from paddock.planning.mission.mission import Mission
from paddock.radio.physics.satellites import HAS_FIX, LOST, OFFSET
from paddock.vehicles.model import Desire
from paddock.world.columns import FARTHEST, Column, Environment, Floats, Pose, column_index, columns_of
from paddock.world.fleet import Ints
from paddock.world.parts import array, fill, part
from paddock.world.world import World

if TYPE_CHECKING:
    from paddock.engine.mission.run import MissionRunState

BEGINS, FLOWN, LIMIT, LEAVE = range(11, 15)
"""m flown from the start of the route to its start; m flown on it; maximum m/s on it; maximum m/s at its end."""
COLUMNS = 15
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
        return hold_position(me, m, o, x, y), with_progress(m, m.row, m.inside, m.before, m.along, travelled, 0.0)
    if blind and o.hovers > 0.5:
        return hold_on_path(me, m, o, path), with_progress(m, m.row, m.inside, m.before, m.along, travelled, m.beside)
    if blind:
        k, s, before = dead_reckoning(m, path, flown)
        x, y, _ = point_on(path, k, s)
        me = believed(me, Urge(x - me.x, y - me.y, 0.0))
    else:
        k, s, before = track_progress(me, m, o, path, dt)
    unit = along_per_flown(path, k)
    along = before + path[k, BEGINS] + s / unit
    stop = stop_distance(m, path)
    along = select((stop - along < o.arrived) & (along < stop), stop, along)
    speed = speed_limit(m, o, path, k, s / unit, stop - along)
    wish, beside = path_velocity(me, m, o, path, k, s, speed)
    return wish, with_progress(m, float(k), s / unit, before, along, travelled, beside)


def believed(me: Pose, error: Urge) -> Pose:
    """Return the pose with a wrong position; heights are those of a barometer."""
    return Pose(
        me.x + error.x, me.y + error.y, me.z, me.qx, me.qy, me.qz, me.qw, me.vx, me.vy, me.vz, me.wx, me.wy, me.wz
    )


def with_progress(
    m: FollowingMemory, row: float, inside: float, before: float, along: float, travelled: float, beside: float
) -> FollowingMemory:
    """Return the memory with a new progress."""
    own = m.speed, m.stop_at, m.offset
    return FollowingMemory(
        m.first, m.last, m.loop, row, inside, before, along, own[0], own[1], own[2], travelled, m.x, m.y, m.z, beside
    )


def hold_on_path(me: Pose, m: FollowingMemory, o: FollowingOptions, path: Floats) -> Desire:
    """Return the desire of a hovering vehicle that waits where it is, at the height of its path."""
    k = int(m.row)
    _, _, z = point_on(path, k, m.inside * along_per_flown(path, k))
    lift = m.offset * clamp((z - o.ground) / LIFT, 0.0, 1.0)
    return Desire(0.0, 0.0, clamp(o.height_gain * (z + lift - me.z), -1.0, 1.0), 1.0, 0.0, 1.0)


def dead_reckoning(m: FollowingMemory, path: Floats, flown: float) -> tuple[int, float, float]:
    """Return row, metres along it and metres of repetitions by dead reckoning, `flown` m after the last position."""
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


def hold_position(me: Pose, m: FollowingMemory, o: FollowingOptions, x: float, y: float) -> Desire:
    """Return the desire of a vehicle without a path: hover at (x, y), stand still, or circle."""
    dx, dy, dz = o.hovers * (x - me.x), o.hovers * (y - me.y), m.z - me.z
    distance = maximum(sqrt(dx * dx + dy * dy), 1e-9)
    pace = minimum(o.gain, o.correction / distance)
    sinking = clamp(o.height_gain * dz, -1.0, 1.0)
    return Desire(dx * pace, dy * pace, sinking, distance, 0.0, 1.0)


def track_progress(
    me: Pose, m: FollowingMemory, o: FollowingOptions, path: Floats, dt: float
) -> tuple[int, float, float]:
    """Return row, metres along it and metres of repetitions of the nearest point ahead.

    Only the path after the last position is searched, because other parts of the path may cross it here.
    """
    k, before, last = int(m.row), m.before, int(m.last)
    s = m.inside * along_per_flown(path, k)
    x, y, _ = point_on(path, k, s)
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


def stop_distance(m: FollowingMemory, path: Floats) -> float:
    """Return the distance on the route (m) at which it has to stop."""
    k = int(m.last) - 1
    end = path[k, BEGINS] + path[k, FLOWN]
    return minimum(m.stop_at, select(m.loop >= 0.0, FAR, end))


def speed_limit(m: FollowingMemory, o: FollowingOptions, path: Floats, k: int, inside: float, to_stop: float) -> float:
    """Return the airspeed (m/s) allowed by the rest of this segment and the distance to the next stop."""
    leave = path[k, LEAVE]
    to_end = maximum(path[k, FLOWN] - inside, 0.0)
    corner = sqrt(leave * leave + 2.0 * o.brake * to_end)
    return minimum(minimum(m.speed, path[k, LIMIT]), minimum(corner, braking_speed(to_stop, o.brake)))


def braking_speed(distance: float, brake: float) -> float:
    """Return the speed (m/s) to stop: constant deceleration, then proportional over the last metres."""
    left = maximum(distance, 0.0)
    return minimum(left, sqrt(2.0 * brake * left))


def path_velocity(
    me: Pose, m: FollowingMemory, o: FollowingOptions, path: Floats, k: int, s: float, speed: float
) -> tuple[Desire, float]:
    """Return the velocity along the path, turned towards it, and the cross-track error (m, positive left)."""
    x, y, z = point_on(path, k, s)
    tx, ty, _ = tangent_on(path, k, s)
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
    return tangent_on(path, k, minimum(s, path[k, LENGTH]))[2] * speed * unit


RULE = Rule("Follow the route of a mission", FollowingOptions, desire, FollowingMemory, name="mission")


INERTIAL = 2.0  # s without a fix for which a vehicle still knows its position, from its inertial sensors
ROUNDING = 1e-6  # s
CORNER = 0.1  # rad: smallest change of course between two segments that counts as a corner


@dataclass(frozen=True)
class FollowingStyle:
    """Limits of a fleet."""

    moves: str  # aircraft, hover or ground
    options: FollowingOptions
    lateral: float = inf  # m/s2, maximum lateral acceleration in bends
    turn: float = inf  # rad/s, maximum
    crawl: float = inf  # m/s at corners and where the gear changes

    def limit(self, curvature: float) -> float:
        """Return the maximum speed (m/s) for a curvature (1/m)."""
        bend = abs(curvature)
        return inf if bend < 1e-9 else min(sqrt(self.lateral / bend), self.turn / bend)


def style_of(program: FleetProgram, environment: Floats, ground: float | None = None) -> FollowingStyle:
    """Return the options with which a fleet follows paths in this wind; `ground` is its height (m) at home if known."""
    rows = column_index(program.model.parameters)
    p = {name: float(program.parameters.values[row]) for name, row in rows.items()}
    e = Environment(*environment.tolist())
    air = {"wind_x": e.wind_x, "wind_y": e.wind_y, "ground": e.ground_z if ground is None else ground}
    kind = program.model.kind
    if kind == "aircraft":
        options = FollowingOptions(preview=p["roll_time"], lookahead_time=3.5, capture=p["turn_radius"], **air)
        return FollowingStyle("aircraft", options)
    if kind in ("quad", "agent"):
        lag, gains = 0.15 if kind == "quad" else 0.0, {"gain": 1.2, "height_gain": 1.2}
        options = FollowingOptions(hovers=1.0, preview=lag, brake=2.5, capture=10.0, arrived=0.25, **gains, **air)
        return FollowingStyle("hover", options, lateral=4.0, crawl=2.0)
    if kind == "rover":
        lag = 0.3 * min(1.0, p["turn_rate_max"] / p["turn_acceleration_max"])
        near = {"lookahead": 0.4, "lookahead_time": 0.5, "capture": 3.0, "arrived": 0.05}
        options = FollowingOptions(preview=lag, brake=0.4 * p["acceleration_max"], align=1.0, **near)
        return FollowingStyle("ground", options, turn=0.9 * p["turn_rate_max"], crawl=min(0.1, 0.2 * p["speed_max"]))
    options = FollowingOptions(lookahead=4.0, lookahead_time=0.8, preview=0.1, brake=1.5, capture=10.0, arrived=0.2)
    return FollowingStyle("ground", options, lateral=4.0, crawl=0.5)


NOTHING = np.zeros((0, COLUMNS))


def rows_of(path: Path, loop: Path, style: FollowingStyle) -> Floats:
    """Return the rows (k, 15) of a path and of the loop after it."""
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
    """Return the speed at the end of each segment, m/s: slow at corners, and with enough distance to brake."""
    leave = [FAR] * len(segments)
    if style.moves == "aircraft":
        return leave
    leave[-1] = FAR if repeated else max(style.crawl, 0.0)
    for k in range(len(segments) - 2, -1, -1):  # of one route, a few hundred
        here, after = segments[k], segments[k + 1]
        straight = here.gear == after.gear and abs(remainder(after.heading - ends_at(here)[3], tau)) < CORNER
        braked = sqrt(leave[k + 1] ** 2 + 2.0 * style.options.brake * flown_of(after))
        leave[k] = min(limits[k + 1], braked, inf if straight else style.crawl)
    return leave


COLUMN = column_index(FollowingMemory)
EMPTY = np.zeros((1, COLUMNS))


class FleetVehicles(NamedTuple):
    """The vehicles of one fleet."""

    program: FleetProgram
    rows: Ints  # of the fleet
    indices: Ints  # of the mission, in the same order


@dataclass(eq=False)
class MissionHost:
    """The run in which a mission takes place. All parts of the mission hold this object alone."""

    world: Run
    fleets: Fleets
    events: EventLog
    poses: PoseBlocks
    radio: RadioStage

    def move_to(self, other: "MissionHost") -> None:
        """Continue in another run, which has taken the state of this one."""
        self.world, self.fleets, self.events = other.world, other.fleets, other.events
        self.poses, self.radio = other.poses, other.radio


class MissionFleets:
    """The names of the fleets that take part, and the rows of their vehicles."""

    def __init__(self, mission: Mission, state: "MissionRunState", host: MissionHost) -> None:
        """`state` has the names."""
        self.mission, self.state, self.host = mission, state, host
        self._version: tuple[object, ...] = ()
        self._programs: dict[str, FleetProgram] = {}
        self._vehicles: list[FleetVehicles] = []
        self._missing: Ints = np.empty(0, np.int64)

    def vehicles(self) -> tuple[list[FleetVehicles], Ints]:
        """Return the vehicles of the mission, fleet by fleet, and the indices of removed ones."""
        count = len(self.mission.vehicles)
        world = self.host.world
        now = *world.version, count
        if now != self._version or self._programs is not world.programs:
            self._version, self._programs = now, world.programs
            indices, seen = self.mission.fleet.row_of, np.zeros(count, bool)
            self._vehicles = []
            for program in (program for name, program in world.programs.items() if name in self.state.fleets):
                fleet, order = program.fleet, program.fleet.rows
                members = np.array([indices.get(fleet.vehicle_name(row), -1) for row in order.tolist()], np.int64)
                rows, members = order[members >= 0], members[members >= 0]
                self._vehicles.append(FleetVehicles(program, rows, members))
                seen[members] = True
            self._missing = np.flatnonzero(~seen)
        return self._vehicles, self._missing


class FollowingBehaviour(FleetBehaviour):
    """The behaviour of a fleet in a mission: after an override, a vehicle continues where it left its route.

    Vehicles whose satellite navigation is spoofed follow the route with the position that they believe in. Those
    without a fix for `INERTIAL` s do not know it: hovering ones stop, others go on by dead reckoning.
    """

    def __init__(self, program: FleetProgram, tracks: "FleetTracks") -> None:
        """Follow the path of `tracks`."""
        setup = RuleSetup(RULE, None, np.array(tracks.style.options, dtype=np.float64), EMPTY)
        super().__init__(setup, program.model, program.fleet, program.parameters.varying)
        self.tracks = tracks

    @property
    def path(self) -> Floats:
        """The table of segments of the fleet's vehicles."""
        return self.tracks.path

    def run(
        self,
        world: World,
        poses: PoseBlocks,
        parameters: tuple[Floats, ...],
        dt: float,
        among: tuple[int, Ints] | None = None,
        heard: HeardBlocks | None = None,
    ) -> str | None:
        """Compute the commands of every vehicle."""
        signals, n = self.fleet.tables.get(GNSS), self.fleet.n
        if signals is not None:
            if self.urges.shape[1] < n:
                self.urges = np.zeros((len(self.urges), self.fleet.capacity))
            self.urges[:2, :n] = signals[OFFSET : OFFSET + 2, :n]
            self.urges[2, :n] = without_position(signals[LOST, :n], world.clock.time)
        return super().run(world, poses, parameters, dt, among, heard)

    def restart(self, rows: Ints) -> None:
        """Let vehicles whose override has ended continue where they left their route."""


def without_position(lost: Floats, time: float) -> NDArray[np.bool_]:
    """Return which vehicles do not know their position at a time (s), from when they lost their fix (s)."""
    return np.asarray((lost != HAS_FIX) & (time - lost >= INERTIAL - ROUNDING))


def _path_positions(path: Floats, row: Ints, inside: Floats, positions: Floats) -> None:
    """Set the positions (2, n) in m of vehicles on their rows of a path, `inside` m flown on each."""
    for i in range(len(row)):
        k = row[i]
        x, y, _ = point_on(path, k, inside[i] * along_per_flown(path, k))
        positions[0, i], positions[1, i] = x, y


path_positions = routine(_path_positions)


MEMORY_LOW, MEMORY_HIGH = (
    np.array([getattr(c, side) for c in columns_of(FollowingMemory)]) for side in ("low", "high")
)
SEGMENT_LOW = np.array([*[-FARTHEST] * 3, -1e6, 0.0, -1e3, -1e6, -1.0, -1e3, -1e3, 1e-6, 0.0, 0.0, 0.0, 0.0])
SEGMENT_HIGH = np.array([*[FARTHEST] * 3, 1e6, 1e9, 1e3, 1e6, 1.0, 1e3, 1e3, 1e6, 1e12, 1e12, FAR, FAR])
"""Limits of the columns of saved segments."""
TURNED = 1e6  # rad, limit of the turn of a saved segment


def check_memory(memory: Floats, path: Floats) -> None:
    """Refuse memories (columns, n) out of their limits, or whose rows are not among those of the path."""
    first, last, loop, row = (memory[COLUMN[name]] for name in ("first", "last", "loop", "row"))
    has = last > first
    whole = (memory[[COLUMN[name] for name in ("first", "last", "loop", "row")]] % 1.0 == 0.0).all(axis=0)
    inside = (first >= 0) & (row >= first) & (row < last) & (loop >= -1) & (loop < last) & (last <= len(path))
    limited = ((memory >= MEMORY_LOW[:, None]) & (memory <= MEMORY_HIGH[:, None])).all(axis=0)
    limited &= (np.abs(first) <= FAR) & (np.abs(last) <= FAR)
    if not (limited & (~has | (whole & inside))).all():
        raise InvalidValueError("the progress of a vehicle is not on its track")


@part
class FleetTracks:
    """The tracks of one fleet: the path of its vehicles, whose memory has the rows of each."""

    path: Floats = array("f8", "segment", COLUMNS, low=-FAR, high=FAR)

    def __init__(self, program: FleetProgram, environment: Floats, ground: float | None = None) -> None:
        """Let the fleet follow routes from now on."""
        fill(self)
        self.path = EMPTY
        self.program = program
        self.style: FollowingStyle = style_of(program, environment, ground)
        program.control.set_mission_control(FollowingBehaviour(program, self))
        self.parts: dict[int, Floats] = {}  # index -> its rows of the table

    @property
    def memory(self) -> Floats:
        """The memory of the rule, (columns, n)."""
        fleet = self.program.fleet
        return np.asarray(fleet.tables[MEMORY][:, : fleet.n])

    def column(self, name: str, rows: Ints) -> Floats:
        """Return a column of the memory of some vehicles."""
        return np.asarray(self.memory[COLUMN[name], rows])

    def write(self, name: str, rows: Ints, values: Any) -> None:
        """Set a column of some vehicles."""
        self.memory[COLUMN[name], rows] = values

    def follow(self, index: int, row: int, path: Path, loop: Path, rest: RoutePose, speed: float) -> None:
        """Let a vehicle follow a path at a speed (m/s), then a loop, or stay at `rest`; `assemble` afterwards."""
        rows = rows_of(path, loop, self.style)
        self.parts[index] = rows
        values = {
            "first": 0.0,
            "last": float(len(rows)),
            "loop": float(len(path.segments)) if loop.segments else -1.0,
            **{"row": 0.0, "inside": 0.0, "before": 0.0, "along": 0.0, "beside": 0.0, "stop_at": FAR},
            "speed": speed,
            **dict(zip("xyz", rest[:3], strict=True)),
        }
        for name, value in values.items():
            self.memory[COLUMN[name], row] = value

    def assemble(self, rows: Ints, indices: Ints) -> None:
        """Build one table of all tracks; the rows in the vehicles' memory move along."""
        self.parts = {index: self.parts.get(index, NOTHING) for index in indices.tolist()}
        counts = np.array([len(part) for part in self.parts.values()], np.float64)
        first = np.cumsum(counts) - counts
        shift = first - self.column("first", rows)
        repeats = self.column("loop", rows) >= 0.0
        for name in ("first", "last", "row"):
            self.memory[COLUMN[name], rows] += shift
        self.memory[COLUMN["loop"], rows] += np.where(repeats, shift, 0.0)
        table = np.concatenate([NOTHING, *self.parts.values()])
        self.path = np.ascontiguousarray(table) if len(table) else EMPTY

    def heights(self, rows: Ints, otherwise: Floats) -> Floats:
        """Return the heights (m) of the paths at the vehicles' positions; `otherwise` for vehicles without a path."""
        has, k = self._path_rows(rows)
        on = self.path[k]
        along = self.column("inside", rows) * on[:, 10] / np.sqrt(1.0 + on[:, 6] ** 2)
        return np.where(has, on[:, 2] + on[:, 6] * along, otherwise)

    def believed(self, rows: Ints, true_positions: Floats, time: float, away: NDArray[np.bool_]) -> Floats:
        """Return the estimated positions (2, k) in m of vehicles (k,) from their true ones.

        Spoofed ones are wrong by the error of their fix. Those that do not know their position go by their memory of
        the route, except those that are `away` from it.
        """
        signals = self.program.fleet.tables.get(GNSS)
        if signals is None:
            return true_positions
        positions: Floats = true_positions + signals[OFFSET : OFFSET + 2, rows]
        blind = without_position(signals[LOST, rows], time) & ~away
        if blind.any():
            positions[:, blind] = self._remembered(rows[blind])
        return positions

    def _path_rows(self, rows: Ints) -> tuple[NDArray[np.bool_], Ints]:
        """Return whether vehicles have a path, and the rows of the table that they are on, 0 without a path."""
        has = self.column("last", rows) > self.column("first", rows)
        return has, np.where(has, self.column("row", rows), 0.0).astype(np.int64)

    def _remembered(self, rows: Ints) -> Floats:
        """Return the positions (2, k) of vehicles on their paths by their progress; without a path, where they stay."""
        has, k = self._path_rows(rows)
        positions = np.zeros((2, len(rows)))
        path_positions(self.path, k, self.column("inside", rows), positions)
        return np.where(has, positions, [self.column("x", rows), self.column("y", rows)])

    def check(self, state: Any) -> None:
        """Refuse segments out of their limits."""
        valid = ((self.path >= SEGMENT_LOW) & (self.path <= SEGMENT_HIGH)).all(axis=1)
        valid &= np.abs(self.path[:, CURVATURE] * self.path[:, LENGTH]) <= TURNED
        if not len(self.path) or not (valid | (self.path == EMPTY).all(axis=1)).all():
            raise InvalidValueError("a segment of the path is out of its limits")

    def rebuild(self, rows: Ints, indices: Ints) -> None:
        """Let the vehicles follow a loaded path; their memory must be loaded first."""
        check_memory(self.memory, self.path)
        first, last = (self.column(name, rows).astype(int).tolist() for name in ("first", "last"))
        self.parts = {index: self.path[a:b] for index, a, b in zip(indices.tolist(), first, last, strict=True)}
