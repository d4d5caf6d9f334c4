"""Car racing: drive along a track as fast as possible, seeing it by lidar, by its cones or as its middle line."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.compute.math import atan2, maximum, minimum, select, whole
from paddock.compute.philox import uniforms
from paddock.compute.quaternion import rotate
from paddock.envs.picture import BLUE, RED, Picture
from paddock.envs.task import LearningTask, Scene, TaskCourse, Verdict
from paddock.envs.track_view import (
    BEAMS,
    checked_observation,
    chosen_track,
    cone_view,
    course_table,
    detection_view,
    lidar_view,
    line_view,
    located,
)
from paddock.errors import InvalidValueError
from paddock.vehicles.model import Placement
from paddock.vehicles.parts.car import Command
from paddock.world.columns import Column, Floats, Pose, column_index

PLACE_DRAW, TURN_DRAW = 1, 2  # purposes of draws
YELLOW = (201, 162, 39)
CONE_PAINT = (BLUE, YELLOW, (251, 143, 68), (188, 76, 0), (110, 119, 129))  # by the colours of cones
ROW, ROOM = 6.0, 10.0  # m between two cars of the grid, and on an open track before its end
ROAD, BEAM = (175, 184, 193), (255, 171, 168)


class Options(NamedTuple):
    """Starts, limits, and the weights of the reward."""

    size: Annotated[float, Column("", "cars of a world: set from the environment", 1.0, 1e4)] = 1.0
    steer: Annotated[float, Column("rad", "road-wheel angle of an action of 1: set from the vehicle", 0.01, 1.5)] = 0.4
    half_width: Annotated[float, Column("m", "half the width of the car: set from the vehicle", 0.0, 10.0)] = 0.6
    spacing: Annotated[float, Column("m", "between points of the middle line: set from the track", 1e-3, 1e3)] = 1.0
    length: Annotated[float, Column("m", "length of the track: set from the track", 1e-3, 1e7)] = 100.0
    begin: Annotated[float, Column("", "point of the start: set from the track", 0.0, 1e9)] = 0.0
    closed: Annotated[float, Column("0/1", "the track is a loop: set from the track", 0.0, 1.0)] = 1.0
    anywhere: Annotated[float, Column("0/1", "an episode begins anywhere, not at the start", 0.0, 1.0)] = 1.0
    speed: Annotated[float, Column("m/s", "speed at the start, at most", 0.0, 100.0)] = 5.0
    laps: Annotated[float, Column("", "laps of a race; 0: any number", 0.0, 1e6)] = 0.0
    progress: Annotated[float, Column("1/m", "reward of a metre along the track", 0.0, 1e4)] = 0.1
    crash: Annotated[float, Column("", "cost of leaving the track", 0.0, 1e4)] = 2.0
    margin: Annotated[float, Column("m", "beyond the boundary before the track is left", -10.0, 100.0)] = 0.0
    jerk: Annotated[float, Column("", "cost of the squared change of steering", 0.0, 1e4)] = 0.02


class CarAction(NamedTuple):
    """Steering and pedals."""

    steer: Annotated[float, Column("", "share of the largest road-wheel angle, + left", -1.0, 1.0)]
    drive: Annotated[float, Column("", "throttle, or brake below 0", -1.0, 1.0)]


class Memory(NamedTuple):
    """Where the car is on the track."""

    distance: Annotated[float, Column("m", "way along the middle line in this episode")]
    segment: Annotated[float, Column("", "nearest point of the middle line")]
    along: Annotated[float, Column("m", "position along the middle line")]
    offset: Annotated[float, Column("m", "to the left of the middle line")]
    laps: Annotated[float, Column("", "laps in this episode")]
    steer: Annotated[float, Column("", "steering of the last step")]


class Observation(NamedTuple):
    """Motion, inputs and the nearest other car, before what it sees of the track."""

    vx: Annotated[float, Column("m/s", "velocity forward, over 20", -5.0, 5.0)]
    vy: Annotated[float, Column("m/s", "velocity to the left, over 5", -5.0, 5.0)]
    turn: Annotated[float, Column("rad/s", "rate of turn, over 2", -10.0, 10.0)]
    steer: Annotated[float, Column("", "steering of the last step", -1.0, 1.0)]
    rival_x: Annotated[float, Column("m", "way to the nearest other car, forward, over 30; 0: none", -1.0, 1.0)]
    rival_y: Annotated[float, Column("m", "to the left, over 30", -1.0, 1.0)]
    rival_v: Annotated[float, Column("m/s", "how much faster it is, over 20", -5.0, 5.0)]


def start(seed: int, agent: int, episode: int, o: Options, course: Floats) -> tuple[Placement, Memory]:
    """Begin on a grid of two columns, 6 m apart, behind the start or behind any point of the track.

    On an open track the grid is moved, so that its last car stands on the track and its first one before the end.
    """
    count = course.shape[0]
    draw, pace = uniforms(seed, 0, PLACE_DRAW, episode)
    side, turn = uniforms(seed, agent, TURN_DRAW, episode)
    alone = select(o.size < 1.5, 1.0, 0.0)
    back = whole(ROW * (agent + 1.0 - alone) / o.spacing)
    ahead = select(o.anywhere > 0.5, draw * count, o.begin)
    low, high = ROW * (o.size - alone) / o.spacing, count - 1.0 - ROOM / o.spacing
    first = whole(select(o.closed > 0.5, ahead, maximum(minimum(ahead, high), low)))
    k = (first + count - back % count) % count
    sine, cosine = course[k, 3], course[k, 2]
    room = maximum(0.5 * (course[k, 4] + course[k, 5]) - o.half_width, 0.0)
    column = select(o.size < 1.5, 0.6 * (side - 0.5), select(agent % 2 == 0, 0.4, -0.4))
    offset = 0.5 * (course[k, 4] - course[k, 5]) + column * room
    yaw = atan2(sine, cosine) + 0.2 * (turn - 0.5)
    x, y = course[k, 0] - offset * sine, course[k, 1] + offset * cosine
    segment, along, offset, _ = located(x, y, k, o.closed > 0.5, course)
    return Placement(x, y, 0.0, yaw, o.speed * pace), Memory(0.0, segment + 0.0, along, offset, 0.0, 0.0)


def act(a: CarAction, at: Pose, m: Memory, o: Options) -> Command:
    """Steer, accelerate or brake."""
    return Command(o.steer * a.steer, maximum(a.drive, 0.0), maximum(-a.drive, 0.0), 1.0, 0.0)


def judge(
    at: Pose, m: Memory, a: CarAction, alarm: float, o: Options, course: Floats, poses: Floats, row: int
) -> tuple[Memory, Verdict]:
    """Reward metres along the track; leaving it ends the episode."""
    closed = o.closed > 0.5
    k, along, offset, apart = located(at.x, at.y, whole(m.segment), closed, course)
    length, moved = o.length, along - m.along
    moved = select(closed & (moved > 0.5 * length), moved - length, moved)
    moved = select(closed & (moved < -0.5 * length), moved + length, moved)
    left, right = course[k, 4] + o.margin - o.half_width, course[k, 5] + o.margin - o.half_width
    away = apart > course[k, 4] + course[k, 5] + o.margin
    ends = (not closed) & (along > length - 3.0 * o.spacing)
    out = (alarm != 0.0) | (offset > left) | (-offset > right) | away
    distance = m.distance + moved
    laps = select(closed, whole(maximum(distance, 0.0) / length) + 0.0, select(ends, 1.0, 0.0))
    done = ends | ((o.laps > 0.0) & (laps >= o.laps))
    change = a.steer - m.steer
    reward = o.progress * moved - o.jerk * change * change
    memory = Memory(distance, k + 0.0, along, offset, laps, a.steer)
    return memory, Verdict(select(out, -o.crash, reward), select(out | done, 1.0, 0.0))


def observe(at: Pose, m: Memory, a: CarAction, o: Options, course: Floats, poses: Floats, row: int) -> Observation:
    """Return the motion in the car's axes and the nearest other car."""
    cosine, sine = 1.0 - 2.0 * at.qz * at.qz, 2.0 * at.qw * at.qz
    first = row - row % whole(o.size)
    rival, least = row, 900.0
    for k in range(first, first + whole(o.size)):
        dx, dy = poses[0, k] - at.x, poses[1, k] - at.y
        if k != row and dx * dx + dy * dy < least:
            rival, least = k, dx * dx + dy * dy
    dx, dy = poses[0, rival] - at.x, poses[1, rival] - at.y
    vx, vy = at.vx * cosine + at.vy * sine, at.vy * cosine - at.vx * sine
    faster = poses[7, rival] * cosine + poses[8, rival] * sine - vx
    return Observation(
        *(vx / 20.0, vy / 5.0, 0.5 * at.wz, m.steer),
        *((dx * cosine + dy * sine) / 30.0, (dy * cosine - dx * sine) / 30.0, faster / 20.0),
    )


def prepare(settings: Mapping[str, Any], batch: Any) -> TaskCourse:
    """Return the track of the setting `track`, seen as the setting `observation` says."""
    track = chosen_track(settings.get("track", "harbour"))
    seen = checked_observation(settings.get("observation", "lidar"))
    grid = ROW * batch.size if batch.size > 1 else 0.0
    if grid + (0.0 if track.closed else ROOM) > track.length:
        room = f"{grid:g} m" if track.closed else f"{grid:g} m and {ROOM:g} m to drive"
        raise InvalidValueError(f"{batch.size} cars take {room}; track {track.name!r} is {track.length:.0f} m long")
    table, spacing = course_table(track), track.length / (len(track.centre) - (not track.closed))
    parameters = batch.model.parameters(*batch.program.parameters.values.tolist())
    body = batch.model.body(parameters)
    begin = round(track.locate(*track.start[:2])[0] / spacing) % len(table)
    values = {"steer": parameters.steer_max, "half_width": body.half_width, "spacing": spacing, "closed": track.closed}
    values |= {"length": track.length, "begin": begin}
    if seen == "lidar":
        view = lidar_view(track, settings.get("beams", BEAMS), body)
    elif seen == "track":
        view = line_view(table, spacing, track.closed, column_index(Memory)["segment"])
    else:
        view = cone_view(track) if seen == "cones" else detection_view(track)
    return TaskCourse(table, values, view, track)


def draw(picture: Picture, scene: Scene) -> None:
    """Draw the track, the cars around the first one, and what that one senses, from above."""
    track, poses, view_of_car = scene.course.drawing, scene.poses, scene.course.view
    at = poses[:, 0]
    view = picture.above(at[:3].tolist(), 22.0)
    view.grid(5.0)
    left, right = (np.column_stack([line, np.zeros(len(line))]) for line in (track.left, track.right))
    view.fill([left, right] if track.closed else [np.concatenate([left, right[::-1]])], ROAD)
    for line, colour in ((left, BLUE), (right, YELLOW)):
        view.line(line, colour, closed=track.closed, width=2.0)
    if track.gates:
        view.line([(*end, 0.0) for end in (track.gates[0].left, track.gates[0].right)], (255, 255, 255), width=4.0)
    for colour in np.unique(track.colours):
        cones = track.cones[track.colours == colour]
        view.disc(np.column_stack([cones, np.zeros(len(cones))]), 0.3, CONE_PAINT[int(colour)])
    qx, qy, qz, qw = at[3:7].tolist()
    turned = [rotate(qx, qy, qz, qw, a, b, 0.0) for a, b in scene.seen.tolist()]
    ends = at[:3] + np.array(turned).reshape(-1, 3)
    if view_of_car is not None and view_of_car.beams:
        for end in ends:
            view.line([at[:3], end], BEAM, width=1.0)
    view.disc(ends, 0.15, RED)
    for k in range(poses.shape[1]):
        view.car(poses[:, k], 2.6, 1.4, (130, 80, 223) if k else BLUE)


TASK = LearningTask(
    summary="Drive a car along a track",
    model="car.bicycle",
    preset="driverless",
    levels=("car.kinematic", "car.double_track", "car.full"),
    action=CarAction,
    observation=Observation,
    memory=Memory,
    options=Options,
    start=start,
    act=act,
    judge=judge,
    observe=observe,
    rate=200.0,
    ticks=10,
    steps=1000,
    settings=("track", "observation", "beams"),
    touches=True,
    prepare=prepare,
    agents=4,
    agent_name="car",
    scores=("distance", "laps"),
    draw=draw,
)
