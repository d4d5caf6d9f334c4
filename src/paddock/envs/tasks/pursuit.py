"""Pursuit: quadrotors catch another one that flees from them inside an arena."""

from typing import Annotated, NamedTuple

import numpy as np

from paddock.compute.math import PI, maximum, minimum, select, sincos, sqrt, whole
from paddock.compute.philox import uniforms
from paddock.envs.flight import flight_task, spread_draws
from paddock.envs.picture import DARK, RED, Picture
from paddock.envs.task import Scene, Verdict
from paddock.vehicles.model import Placement
from paddock.vehicles.parts.quad import VELOCITY, Command
from paddock.world.columns import Column, Floats, Pose

RING, LIFT = 1, 2  # purposes of draws
HEIGHT = 6.0  # m: middle of the arena over the ground
LOWEST, HIGHEST = 2.0, 10.0  # m: the fleeing one turns back there


class Options(NamedTuple):
    """Speeds, arena, and the weights of the reward."""

    size: Annotated[float, Column("", "vehicles of a world: set from the environment", 1.0, 1e4)] = 2.0
    players: Annotated[float, Column("", "pursuers of a world: set from the environment", 1.0, 1e4)] = 1.0
    speed: Annotated[float, Column("m/s", "top speed of a pursuer, in each axis", 0.1, 50.0)] = 6.0
    flight: Annotated[float, Column("m/s", "speed of the fleeing one", 0.0, 50.0)] = 3.5
    arena: Annotated[float, Column("m", "radius that the fleeing one stays within", 2.0, 1e4)] = 15.0
    caught: Annotated[float, Column("m", "distance at which it is caught", 0.1, 100.0)] = 1.0
    bonus: Annotated[float, Column("", "reward of a catch, of all pursuers", 0.0, 1e4)] = 20.0
    closing: Annotated[float, Column("1/m", "reward of a metre closer", 0.0, 1e4)] = 0.5
    time: Annotated[float, Column("", "cost of a step", 0.0, 1e4)] = 0.02
    crash: Annotated[float, Column("", "cost of a crash or of leaving", 0.0, 1e4)] = 5.0


class VelocityAction(NamedTuple):
    """The wanted velocity, shares of the option `speed`."""

    vx: Annotated[float, Column("", "velocity east", -1.0, 1.0)]
    vy: Annotated[float, Column("", "velocity north", -1.0, 1.0)]
    vz: Annotated[float, Column("", "velocity up", -1.0, 1.0)]


class Memory(NamedTuple):
    """Distance to the fleeing one; of that one, the way it flees."""

    distance: Annotated[float, Column("m", "distance to the fleeing one")]
    scripted: Annotated[float, Column("0/1", "it is the fleeing one")]
    flee_x: Annotated[float, Column("m/s", "velocity of flight, east")]
    flee_y: Annotated[float, Column("m/s", "north")]
    flee_z: Annotated[float, Column("m/s", "up")]


class Observation(NamedTuple):
    """In world axes."""

    gap_x: Annotated[float, Column("m", "way to the fleeing one, east", -100.0, 100.0)]
    gap_y: Annotated[float, Column("m", "north", -100.0, 100.0)]
    gap_z: Annotated[float, Column("m", "up", -100.0, 100.0)]
    drift_x: Annotated[float, Column("m/s", "its velocity, east", -50.0, 50.0)]
    drift_y: Annotated[float, Column("m/s", "north", -50.0, 50.0)]
    drift_z: Annotated[float, Column("m/s", "up", -50.0, 50.0)]
    vx: Annotated[float, Column("m/s", "own velocity east", -50.0, 50.0)]
    vy: Annotated[float, Column("m/s", "north", -50.0, 50.0)]
    vz: Annotated[float, Column("m/s", "up", -50.0, 50.0)]
    x: Annotated[float, Column("m", "own position from the arena's middle, east", -100.0, 100.0)]
    y: Annotated[float, Column("m", "north", -100.0, 100.0)]
    z: Annotated[float, Column("m", "up", -100.0, 100.0)]
    mate_x: Annotated[float, Column("m", "way to the nearest other pursuer, east; 0: there is none", -100.0, 100.0)]
    mate_y: Annotated[float, Column("m", "north", -100.0, 100.0)]
    mate_z: Annotated[float, Column("m", "up", -100.0, 100.0)]


def start(seed: int, agent: int, episode: int, o: Options, course: Floats) -> tuple[Placement, Memory]:
    """Begin on a ring around the arena, the fleeing one near its middle."""
    flees = agent + 0.0 >= o.players
    around, out = uniforms(seed, agent, RING, episode)
    lift, yaw = spread_draws(seed, agent, LIFT, episode)
    radius = o.arena * select(flees, 0.4 * out, 0.7 + 0.25 * out)
    sine, cosine = sincos(2.0 * PI * around)
    placement = Placement(radius * cosine, radius * sine, HEIGHT + 2.0 * lift, PI * yaw, 0.0 * lift)
    return placement, Memory(-1.0, select(flees, 1.0, 0.0), 0.0, 0.0, 0.0)


def act(a: VelocityAction, at: Pose, m: Memory, o: Options) -> Command:
    """Fly at the wanted velocity; the fleeing one at that of its memory."""
    flees = m.scripted > 0.5
    vx = select(flees, m.flee_x, o.speed * a.vx)
    vy = select(flees, m.flee_y, o.speed * a.vy)
    vz = select(flees, m.flee_z, o.speed * a.vz)
    return Command(1.0, VELOCITY, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, vx, vy, vz, 0.0, 0.0, 0.0, 0.0)


def fleeing(at: Pose, o: Options, poses: Floats, first: int) -> tuple[float, float, float]:
    """Return the velocity away from the pursuers, the nearest most, and back from the arena's edge."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(first, first + whole(o.players)):
        gx, gy, gz = at.x - poses[0, k], at.y - poses[1, k], at.z - poses[2, k]
        square = maximum(gx * gx + gy * gy + gz * gz, 0.25)
        x, y, z = x + gx / square, y + gy / square, z + gz / square
    out = maximum(sqrt(at.x * at.x + at.y * at.y) - 0.8 * o.arena, 0.0) / o.arena
    x, y = x - out * at.x, y - out * at.y
    z = 0.5 * z + maximum(LOWEST + 1.0 - at.z, 0.0) - maximum(at.z - HIGHEST + 1.0, 0.0)
    scale = o.flight / maximum(sqrt(x * x + y * y + z * z), 1e-6)
    return x * scale, y * scale, z * scale


def judge(
    at: Pose, m: Memory, a: VelocityAction, alarm: float, o: Options, course: Floats, poses: Floats, row: int
) -> tuple[Memory, Verdict]:
    """Reward coming closer, and the catch."""
    first = row - row % whole(o.size)
    target = first + whole(o.players)
    nearest = 1e9
    for k in range(first, target):
        gx, gy, gz = poses[0, target] - poses[0, k], poses[1, target] - poses[1, k], poses[2, target] - poses[2, k]
        nearest = minimum(nearest, sqrt(gx * gx + gy * gy + gz * gz))
    gx, gy, gz = poses[0, target] - at.x, poses[1, target] - at.y, poses[2, target] - at.z
    distance = sqrt(gx * gx + gy * gy + gz * gz)
    closer = select(m.distance < 0.0, 0.0, m.distance - distance)
    caught = nearest < o.caught
    lost = (alarm != 0.0) | (at.z < 0.1) | (sqrt(at.x * at.x + at.y * at.y) > 2.0 * o.arena)
    reward = o.closing * closer - o.time + select(caught, o.bonus, 0.0)
    flee = fleeing(at, o, poses, first)
    verdict = Verdict(select(lost, -o.crash, reward), select(lost | caught, 1.0, 0.0))
    return Memory(distance, m.scripted, *flee), verdict


def observe(at: Pose, m: Memory, a: VelocityAction, o: Options, course: Floats, poses: Floats, row: int) -> Observation:
    """Return the way to the fleeing one, its velocity, the own motion and the nearest other pursuer."""
    first = row - row % whole(o.size)
    target = first + whole(o.players)
    mate, least = row, 1e12
    for k in range(first, target):
        dx, dy, dz = poses[0, k] - at.x, poses[1, k] - at.y, poses[2, k] - at.z
        square = dx * dx + dy * dy + dz * dz
        if k != row and square < least:
            mate, least = k, square
    return Observation(
        *(poses[0, target] - at.x, poses[1, target] - at.y, poses[2, target] - at.z),
        *(poses[7, target], poses[8, target], poses[9, target]),
        *(at.vx, at.vy, at.vz, at.x, at.y, at.z - HEIGHT),
        *(poses[0, mate] - at.x, poses[1, mate] - at.y, poses[2, mate] - at.z),
    )


def draw(picture: Picture, scene: Scene) -> None:
    """Draw all quadrotors, from above and from the side; the fleeing one in red."""
    for view in picture.above_and_beside((0.0, 0.0, HEIGHT), reach=1.3 * scene.options.arena):
        view.grid(5.0)
        if view.axes == (0, 1):
            angle = np.linspace(0.0, 2.0 * np.pi, 90)
            rim = scene.options.arena * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
            view.line(rim, (175, 184, 193))
        for k in range(scene.poses.shape[1]):
            view.quad(scene.poses[:, k], size=0.8, colour=RED if scene.memory[1, k] else DARK)


TASK = flight_task(
    summary="Quadrotors catch another one that flees",
    action=VelocityAction,
    observation=Observation,
    memory=Memory,
    options=Options,
    start=start,
    act=act,
    judge=judge,
    observe=observe,
    ticks=25,
    steps=400,
    agents=3,
    scripted=1,
    agent_name="pursuer",
    scores=("distance",),
    draw=draw,
)
