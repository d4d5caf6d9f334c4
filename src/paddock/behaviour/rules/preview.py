"""Preview: a test driver, who steers by where the car will be in a moment, and may close the throttle on the way."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.behaviour.rule import Floats, Rule, Urge, index_in
from paddock.behaviour.rules.pure_pursuit import Memory, aim_ahead, nearest_segment, route
from paddock.behaviour.rules.pure_pursuit import Options as LineOptions
from paddock.behaviour.rules.pure_pursuit import prepare_path as prepared
from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.compute.quaternion import axes
from paddock.vehicles.model import Desire
from paddock.vehicles.parts.car import Command
from paddock.world.columns import Column, Pose

SEARCH = 24  # path segments that are searched for the nearest point
SPEED, ALONG = 3, 4  # columns of the path
AIM = 4.0  # m: the pursuit of a point at this distance turns the wheels
FORESIGHT = 0.9  # share of the present turn that the preview takes into account
ANY_BEND = 1e9  # m/s2: bends do not slow a test driver down


class Options(NamedTuple):
    """Line, speed and preview."""

    speed: Annotated[float, Column("m/s", "speed to hold", 0.0, 1e3)] = 15.0
    preview: Annotated[float, Column("s", "how far the driver looks ahead", 0.01, 10.0)] = 0.4
    gain: Annotated[float, Column("", "1: the turn that removes the deviation within the preview", 0.01, 10.0)] = 1.7
    closed: Annotated[float, Column("0/1", "the path's end joins its start", 0.0, 1.0)] = 0.0
    brake: Annotated[float, Column("m/s2", "planned deceleration before the end of the path", 0.01, 100.0)] = 4.0
    lift: Annotated[float, Column("m", "throttle closed from here on, along the path; 0: never", 0.0, 1e6)] = 0.0


def preview_curvature(bending: Any, off: Any, reach: Any, gain: Any) -> Any:
    """Return the curvature (1/m) to steer: the present one, and what removes the deviation `off` (m) in `reach` (m).

    Of numbers or arrays.
    """
    return bending + 2.0 * gain * off / (reach * reach)


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Steer so that the place of the car after the preview lies on the path."""
    count, closed = path.shape[0], o.closed > 0.5
    segments = count if closed else count - 1
    fresh = m.segment < -0.5
    start = 0 if fresh else index_in(m.segment, count)
    k, t = nearest_segment(me, path, start, segments if fresh else min(SEARCH, segments), segments)
    (ahead_x, ahead_y, _), _, _ = axes(me.qx, me.qy, me.qz, me.qw)
    level = maximum(sqrt(ahead_x * ahead_x + ahead_y * ahead_y), 1e-9)
    ahead_x, ahead_y = ahead_x / level, ahead_y / level
    forward = maximum(me.vx * ahead_x + me.vy * ahead_y, 1.0)
    reach = maximum(forward * o.preview, 1.0)
    x, y, _ = aim_ahead(path, k, t, reach, 1 << 30 if closed else segments - 1)
    bending = FORESIGHT * me.wz / forward
    # to the left of the course: there the car would be off the path
    dx, dy = x - me.x - me.vx * o.preview, y - me.y - me.vy * o.preview
    off = dy * ahead_x - dx * ahead_y - 0.5 * bending * reach * reach
    sine = clamp(0.5 * AIM * preview_curvature(bending, off, reach, o.gain), -0.9, 0.9)
    cosine = sqrt(1.0 - sine * sine)
    before, after = path[k % count, SPEED] ** 2, path[(k + 1) % count, SPEED] ** 2
    arrived = (k >= segments - 1) & (t >= 1.0) & (o.closed < 0.5)
    pace = select(arrived, 0.0, sqrt(maximum(before + t * (after - before), 0.0)))
    vx, vy = ahead_x * cosine - ahead_y * sine, ahead_y * cosine + ahead_x * sine
    return Desire(pace * vx, pace * vy, 0.0 * pace, AIM + 0.0 * pace), Memory(
        float(k % count), m.laps + select(k >= segments, 1.0, 0.0)
    )


def inputs(guided: Command, me: Pose, m: Memory, o: Options, path: Floats, dt: float) -> tuple[Command, Memory]:
    """Close the throttle behind `lift`."""
    passed = path[index_in(m.segment, path.shape[0]), ALONG] >= o.lift
    lifted = (o.lift > 0.0) & (passed | (m.laps > 0.0))
    throttle = select(lifted, 0.0, guided.throttle)
    return Command(guided.steer, throttle, guided.brake, guided.gear, guided.handbrake), m


def prepare_path(points: Floats, o: Options) -> Floats:
    """Return the line with the speed at each point, and the distance along it."""
    line = prepared(points, LineOptions(o.speed, closed=o.closed, lateral=ANY_BEND, accelerate=ANY_BEND, brake=o.brake))
    gaps = np.linalg.norm(np.diff(line[:, :3], axis=0), axis=1)
    return np.column_stack([line, np.concatenate([[0.0], np.cumsum(gaps)])])


RULE = Rule(
    "Drive along a path like a test driver: steer by where the car will be in a moment",
    Options,
    desire,
    Memory,
    needs_path=True,
    prepare_path=prepare_path,
    route=route,
    inputs=inputs,
    command=Command,
)
