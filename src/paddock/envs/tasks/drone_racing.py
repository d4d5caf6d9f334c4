"""Drone racing: fly through gates in their order, as fast as possible."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.compute import arrays
from paddock.compute.math import absolute, floor, select, sincos, sqrt, whole
from paddock.compute.quaternion import unrotate
from paddock.envs.flight import (
    FlightAction,
    FlightAttitude,
    FlightOptions,
    body_motion,
    flight_task,
    hover_share,
    spread_draws,
)
from paddock.envs.picture import DARK, GREEN, Picture
from paddock.envs.task import Scene, TaskCourse, Verdict
from paddock.errors import InvalidValueError, unknown_name
from paddock.vehicles.model import Placement
from paddock.world.columns import Column, ColumnGroup, Floats, Pose, column_tuple

GATE_DRAW, PLACE_DRAW, HEIGHT_DRAW = 1, 2, 3  # purposes of draws
GATE_COLUMNS = 4  # of a gate: x, y, z (m) of the centre, yaw (rad) of the direction through it


@column_tuple
class Options(FlightOptions):
    """Gates, starts, and the weights of the reward."""

    half: Annotated[float, Column("m", "half the inner width and height of a gate", 0.1, 10.0)] = 1.0
    frame: Annotated[float, Column("m", "width of a gate's frame", 0.0, 10.0)] = 0.2
    laps: Annotated[float, Column("", "laps of a race; 0: any number", 0.0, 1e6)] = 0.0
    anywhere: Annotated[float, Column("0/1", "an episode begins before any gate, not the first", 0.0, 1.0)] = 1.0
    speed: Annotated[float, Column("m/s", "speed at the start", 0.0, 50.0)] = 2.0
    passed: Annotated[float, Column("", "reward of a gate", 0.0, 1e4)] = 10.0
    progress: Annotated[float, Column("1/m", "reward of a metre towards the gate", 0.0, 1e4)] = 1.0
    spin: Annotated[float, Column("s2/rad2", "cost of the squared body rates", 0.0, 10.0)] = 0.0002
    crash: Annotated[float, Column("", "cost of a crash or of getting lost", 0.0, 1e4)] = 1.0
    lost: Annotated[float, Column("m", "an episode ends at this distance from the gate", 1.0, 1e4)] = 25.0


class Memory(NamedTuple):
    """The next gate and the position before the step."""

    gate: Annotated[float, Column("", "number of the next gate")]
    gates: Annotated[float, Column("", "gates passed")]
    x: Annotated[float, Column("m", "position before the step, east")]
    y: Annotated[float, Column("m", "north")]
    z: Annotated[float, Column("m", "up")]


@column_tuple
class GateColumns(ColumnGroup):
    """The ways to the next gates and the velocity, in body axes."""

    gap_x: Annotated[float, Column("m", "way to the gate, forward", -50.0, 50.0)]
    gap_y: Annotated[float, Column("m", "to the left", -50.0, 50.0)]
    gap_z: Annotated[float, Column("m", "up", -50.0, 50.0)]
    normal_x: Annotated[float, Column("", "direction through the gate, forward", -1.1, 1.1)]
    normal_y: Annotated[float, Column("", "to the left", -1.1, 1.1)]
    normal_z: Annotated[float, Column("", "up", -1.1, 1.1)]
    next_x: Annotated[float, Column("m", "way from the gate to the next one, forward", -50.0, 50.0)]
    next_y: Annotated[float, Column("m", "to the left", -50.0, 50.0)]
    next_z: Annotated[float, Column("m", "up", -50.0, 50.0)]
    vx: Annotated[float, Column("m/s", "velocity forward", -40.0, 40.0)]
    vy: Annotated[float, Column("m/s", "to the left", -40.0, 40.0)]
    vz: Annotated[float, Column("m/s", "up", -40.0, 40.0)]


@column_tuple
class Observation(GateColumns, FlightAttitude):
    """All in body axes."""


def start(seed: int, agent: int, episode: int, o: Options, course: Floats) -> tuple[Placement, Memory]:
    """Begin two to four metres before a gate, flying towards it."""
    chosen, back = spread_draws(seed, agent, GATE_DRAW, episode)
    side, turn = spread_draws(seed, agent, PLACE_DRAW, episode)
    lift, _ = spread_draws(seed, agent, HEIGHT_DRAW, episode)
    g = whole(select(o.anywhere > 0.5, floor(0.5 * (chosen + 1.0) * course.shape[0]), 0.0))
    yaw = course[g, 3]
    sine, cosine = sincos(yaw)
    back, side = 3.0 + back, 0.5 * side
    x, y = course[g, 0] - back * cosine - side * sine, course[g, 1] - back * sine + side * cosine
    z = course[g, 2] + 0.3 * lift
    return Placement(x, y, z, yaw + 0.2 * turn, o.speed), Memory(g + 0.0, 0.0, x, y, z)


def judge(
    at: Pose, m: Memory, a: FlightAction, alarm: float, o: Options, course: Floats, poses: Floats, row: int
) -> tuple[Memory, Verdict]:
    """Reward metres towards the gate and passing it; a touched frame is a crash."""
    g = whole(m.gate)
    sine, cosine = sincos(course[g, 3])
    ax, ay, az = m.x - course[g, 0], m.y - course[g, 1], m.z - course[g, 2]
    bx, by, bz = at.x - course[g, 0], at.y - course[g, 1], at.z - course[g, 2]
    before, after = ax * cosine + ay * sine, bx * cosine + by * sine
    crossed = (before < 0.0) & (after >= 0.0)
    share = select(crossed, before / select(crossed, before - after, 1.0), 0.0)  # of the step until the plane
    across = (1.0 - share) * (ay * cosine - ax * sine) + share * (by * cosine - bx * sine)
    height = (1.0 - share) * az + share * bz
    off = select(absolute(across) > absolute(height), absolute(across), absolute(height))
    passed, hit = crossed & (off < o.half), crossed & (off >= o.half) & (off < o.half + o.frame)
    distance = sqrt(bx * bx + by * by + bz * bz)
    closer = sqrt(ax * ax + ay * ay + az * az) - distance
    gates = m.gates + select(passed, 1.0, 0.0)
    following = select(g + 1 < course.shape[0], m.gate + 1.0, 0.0)
    done = (o.laps > 0.0) & (gates >= o.laps * course.shape[0])
    lost = (alarm != 0.0) | hit | (distance > o.lost) | (at.z < 0.05)
    spin = at.wx * at.wx + at.wy * at.wy + at.wz * at.wz
    reward = o.progress * closer + select(passed, o.passed, 0.0) - o.spin * spin
    memory = Memory(select(passed, following, m.gate), gates, at.x, at.y, at.z)
    return memory, Verdict(select(lost, -o.crash, reward), select(lost | done, 1.0, 0.0))


def observe(at: Pose, m: Memory, a: FlightAction, o: Options, course: Floats, poses: Floats, row: int) -> Observation:
    """Return the way to the gate and from there to the next one, and the motion."""
    g = whole(m.gate)
    n = g + 1 if g + 1 < course.shape[0] else 0
    sine, cosine = sincos(course[g, 3])
    gap = unrotate(at.qx, at.qy, at.qz, at.qw, course[g, 0] - at.x, course[g, 1] - at.y, course[g, 2] - at.z)
    normal = unrotate(at.qx, at.qy, at.qz, at.qw, cosine, sine, 0.0)
    dx, dy, dz = course[n, 0] - course[g, 0], course[n, 1] - course[g, 1], course[n, 2] - course[g, 2]
    onward = unrotate(at.qx, at.qy, at.qz, at.qw, dx, dy, dz)
    return Observation(*gap, *normal, *onward, *body_motion(at))


def _around(points: Floats) -> Floats:
    """Return gates at points (k, 3) of a closed course, each across the line from the last to the next one."""
    way = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    return np.column_stack([points, arrays.arctan2(way[:, 1], way[:, 0])])


def _oval() -> Floats:
    angle = np.arange(8) * np.pi / 4.0
    return _around(np.column_stack([10.0 * arrays.cos(angle), 6.0 * arrays.sin(angle), 2.0 + 0.0 * angle]))


def _eight() -> Floats:
    angle = (np.arange(8) + 0.5) * np.pi / 4.0
    height = 2.5 + 0.5 * arrays.cos(2.0 * angle)
    return _around(np.column_stack([12.0 * arrays.sin(angle), 6.0 * arrays.sin(2.0 * angle), height]))


def _climb() -> Floats:
    angle = np.arange(6) * np.pi / 3.0
    return _around(
        np.column_stack([8.0 * arrays.cos(angle), 8.0 * arrays.sin(angle), 3.0 + 1.5 * arrays.sin(2.0 * angle)])
    )


COURSES = {"oval": _oval, "eight": _eight, "climb": _climb}


def gate_course(course: Any) -> Floats:
    """Return gates (k, 4): a named course, or rows of x, y, z (m) and yaw (rad)."""
    if isinstance(course, str):
        if course not in COURSES:
            raise unknown_name("course of gates", course, COURSES)
        return np.ascontiguousarray(COURSES[course]())
    try:
        gates = np.array(course, np.float64)
    except (TypeError, ValueError):
        gates = np.zeros(0)
    if gates.ndim != 2 or gates.shape[1] != GATE_COLUMNS or len(gates) < 2 or not np.isfinite(gates).all():
        raise InvalidValueError("gates: a name, or at least two rows of x, y, z (m) and yaw (rad), all finite")
    if (gates[:, 2] <= 0.0).any():
        raise InvalidValueError(f"gates: the centre of gate {int(np.argmin(gates[:, 2]))} is not above the ground")
    return gates


def prepare(settings: Mapping[str, Any], batch: Any) -> TaskCourse:
    """Return the gates of the setting `gates`."""
    gates = gate_course(settings.get("gates", "oval"))
    return TaskCourse(gates, {"hover": hover_share(batch)})


def draw(picture: Picture, scene: Scene) -> None:
    """Draw the way through the gates, the next one in green, and the quadrotor, from above and from the side."""
    gates, half = scene.course.table, scene.options.half
    middle = 0.5 * (gates[:, :3].min(axis=0) + gates[:, :3].max(axis=0))
    wide, deep = (np.abs(gates[:, :2] - middle[:2]).max(axis=0) + 2.0).tolist()
    for view in picture.above_over_beside(middle, max(deep, 0.5 * wide)):
        view.grid(2.0)
        view.line(gates[:, :3], (175, 184, 193), closed=True)
        for k, (x, y, z, yaw) in enumerate(gates[:, :GATE_COLUMNS].tolist()):
            side, colour = (
                half * np.array([-np.sin(yaw), np.cos(yaw), 0.0]),
                GREEN if k == int(scene.memory[0, 0]) else DARK,
            )
            frame = [(x, y, z) + a * side + (0.0, 0.0, b * half) for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
            view.line(frame, colour, closed=True, width=4.0)
            view.disc(frame, 0.12, colour)
        view.quad(scene.poses[:, 0], size=0.4)


TASK = flight_task(
    summary="Fly a quadrotor through gates",
    observation=Observation,
    memory=Memory,
    options=Options,
    start=start,
    judge=judge,
    observe=observe,
    settings=("gates",),
    prepare=prepare,
    scores=("gates",),
    draw=draw,
)
