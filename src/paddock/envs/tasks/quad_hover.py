"""Hover: fly to a point and stay there, whatever the start and the heading."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.compute.math import PI, exp, select, sqrt
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
from paddock.envs.picture import GREEN, Picture
from paddock.envs.task import Scene, TaskCourse, Verdict
from paddock.vehicles.model import Placement
from paddock.world.columns import Column, ColumnGroup, Floats, Pose, column_tuple

HEIGHT = 2.0  # m: of the point over the ground
START, TURN, SPEED_DRAW = 1, 2, 3  # purposes of draws


@column_tuple
class Options(FlightOptions):
    """What makes it easy or hard, and the weights of the reward."""

    away: Annotated[float, Column("m", "distance of the start from the point, in each axis, at most", 0.0, 1.5)] = 1.0
    speed: Annotated[float, Column("m/s", "speed at the start, at most", 0.0, 10.0)] = 0.5
    bounds: Annotated[float, Column("m", "an episode ends at this distance from the point", 0.1, 1e3)] = 4.0
    effort: Annotated[float, Column("", "cost of an action's square", 0.0, 10.0)] = 0.01
    spin: Annotated[float, Column("s2/rad2", "cost of the squared body rates", 0.0, 10.0)] = 0.0005
    crash: Annotated[float, Column("", "cost of a crash or of leaving", 0.0, 1e4)] = 5.0


class Memory(NamedTuple):
    """The last distance."""

    distance: Annotated[float, Column("m", "distance to the point")]


@column_tuple
class PointColumns(ColumnGroup):
    """The way to the point and the velocity, in body axes."""

    gap_x: Annotated[float, Column("m", "way to the point, forward", -10.0, 10.0)]
    gap_y: Annotated[float, Column("m", "to the left", -10.0, 10.0)]
    gap_z: Annotated[float, Column("m", "up", -10.0, 10.0)]
    vx: Annotated[float, Column("m/s", "velocity forward", -20.0, 20.0)]
    vy: Annotated[float, Column("m/s", "to the left", -20.0, 20.0)]
    vz: Annotated[float, Column("m/s", "up", -20.0, 20.0)]


@column_tuple
class Observation(PointColumns, FlightAttitude):
    """All in body axes."""


def start(seed: int, agent: int, episode: int, o: Options, course: Floats) -> tuple[Placement, Memory]:
    """Begin around the point, at any heading."""
    x, y = spread_draws(seed, agent, START, episode)
    z, yaw = spread_draws(seed, agent, TURN, episode)
    speed, _ = spread_draws(seed, agent, SPEED_DRAW, episode)
    x, y, z = o.away * x, o.away * y, o.away * z
    return Placement(x, y, HEIGHT + z, PI * yaw, o.speed * speed), Memory(sqrt(x * x + y * y + z * z))


def judge(
    at: Pose, m: Memory, a: FlightAction, alarm: float, o: Options, course: Floats, poses: Floats, row: int
) -> tuple[Memory, Verdict]:
    """Reward being near and calm: at most 1 in a step."""
    gz = at.z - HEIGHT
    distance = sqrt(at.x * at.x + at.y * at.y + gz * gz)
    lost = (alarm != 0.0) | (at.z < 0.05) | (distance > o.bounds)
    spin = at.wx * at.wx + at.wy * at.wy + at.wz * at.wz
    effort = a.roll * a.roll + a.pitch * a.pitch + a.yaw * a.yaw + a.thrust * a.thrust
    near = 0.5 * (1.0 - distance / o.bounds) + 0.5 * exp(-8.0 * distance * distance)
    reward = near - o.effort * effort - o.spin * spin
    return Memory(distance), Verdict(select(lost, -o.crash, reward), select(lost, 1.0, 0.0))


def observe(at: Pose, m: Memory, a: FlightAction, o: Options, course: Floats, poses: Floats, row: int) -> Observation:
    """Return the way to the point and the motion."""
    gap = unrotate(at.qx, at.qy, at.qz, at.qw, -at.x, -at.y, HEIGHT - at.z)
    return Observation(*gap, *body_motion(at))


def prepare(settings: Mapping[str, Any], batch: Any) -> TaskCourse:
    """Take the thrust of hovering from the vehicle."""
    return TaskCourse(np.zeros((1, 1)), {"hover": hover_share(batch)})


def draw(picture: Picture, scene: Scene) -> None:
    """Draw the point and the quadrotor, from above and from the side."""
    for view in picture.above_and_beside(centre=(0.0, 0.0, HEIGHT), reach=2.5):
        view.grid(0.5)
        view.line([(0.0, 0.0, HEIGHT), scene.poses[:3, 0]], (175, 184, 193))
        view.disc((0.0, 0.0, HEIGHT), 0.12, GREEN)
        view.quad(scene.poses[:, 0])


TASK = flight_task(
    summary="Fly a quadrotor to a point and hover there",
    observation=Observation,
    memory=Memory,
    options=Options,
    start=start,
    judge=judge,
    observe=observe,
    prepare=prepare,
    scores=("distance",),
    draw=draw,
)
