"""The software of the car: sensors -> SLAM -> path -> controller -> commands.

On closed tracks the first lap follows the cones in view, cautiously; the map of that lap gives the racing line of the
others. The skidpad is known from the rules; the acceleration track is straight.
"""

import time as wall
from collections import deque
from dataclasses import dataclass
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np
import pure_pursuit
import stanley
from association import Ints
from car import Car, Motion
from cone_path import boundaries, centreline, widths
from ekf_slam import EkfSlam
from graph_slam import GraphSlam
from line import Floats, Line, line_of, resampled, smoothed
from lqr import Lqr
from mpc import Mpc
from odometry import Odometry
from racing_line import corner_speed, racing_line, speed_profile

PERIOD = 0.025  # s between commands
LAPS = {"acceleration": 1, "skidpad": 4, "autocross": 1, "trackdrive": 10}
SLAMS: dict[str, Any] = {"ekf": EkfSlam, "graph": GraphSlam}
PACE = {"pure_pursuit": (0.5, 0.6), "stanley": (0.55, 0.55), "lqr": (0.65, 0.45), "mpc": (0.65, 0.45)}
"""Controller -> share of the grip used on a known track, and m between car and cones: for errors and a sliding tail."""
CAUTIOUS, TOP = 0.55, 13.0  # share of the grip and m/s while the track is unknown
VIEW = 30.0  # m: farther detections are ignored
STAGED = 6.0  # m: autocross and trackdrive start this far before the line
REARMED = 15.0  # m from the start line, after which its next crossing counts
WAIT = 0.8  # s for the first frames to arrive
SPRINT, STOP_WAY = 75.0, 60.0  # m: of the acceleration, and to stop in after it
STOP, BRAKING = 24.0, 60.0  # m: autocross and trackdrive stop this far behind the line (rule: 30 m), planned before it


class StartLine(NamedTuple):
    """The start line: its middle (m), the direction across it (rad), and how far beside its middle it counts (m)."""

    x: float
    y: float
    yaw: float
    reach: float = 4.0


@dataclass
class Plan:
    """What to drive: a line, how far MPC may leave it (m), where the car is on it (m); of the map? To its stop?"""

    line: Line
    room: float = 0.6
    along: float | None = None
    mapped: bool = False
    last: bool = False


class Driver:
    """`sense` takes readings, `command` returns inputs.

    `use` is the share of the grip to use on a known track; `line` is `racing` or `centre`; without `start_line`, it
    is `STAGED` m ahead of the start.
    """

    def __init__(
        self,
        event: str,
        start: Floats,
        controller: str = "mpc",
        slam: str = "ekf",
        laps: int | None = None,
        line: str = "racing",
        use: float | None = None,
        start_line: StartLine | None = None,
    ) -> None:
        self.event, self.start, self.controller, self.kind = event, start, controller, line
        x, y, yaw = start.tolist()
        self.start_line = start_line or StartLine(x + STAGED * cos(yaw), y + STAGED * sin(yaw), yaw)
        self.laps = LAPS[event] if laps is None else laps
        self.use, self.margin = PACE[controller][0] if use is None else use, PACE[controller][1]
        self.car = Car()
        self.odometry = Odometry(self.car)
        self.odometry.record(0.0, 0.0, 0.0, 0.0)
        self.slam = SLAMS[slam](self.odometry, (start[0], start[1], start[2]))
        self.lqr, self.mpc = Lqr(self.car, PERIOD), Mpc(self.car)
        self.plan: Plan | None = None
        self.sent: deque[float] = deque([0.0] * 8, maxlen=8)  # steering commands
        self.steer = self.acceleration = self.time = self.frame_time = 0.0
        self.crossings, self.armed, self.beyond = 0, True, -1.0  # of the start line; armed: the next one counts
        self.seconds: dict[str, list[float]] = {"slam": [], "path": [], "control": []}  # computing time
        if event == "skidpad":
            self.plan = Plan(skidpad_line(self.car, self.use), along=0.0)

    def sense(self, readings: dict[str, Any], time: float, age: float) -> None:
        """Take the readings of the sensors at a time (s); `age` is that of the cones' sample."""
        self.time = time
        wheels, imu, cones = readings["wheel_speeds"], readings["imu"], readings["cones"]
        self.steer = readings["steering_angle"]["angle"]
        self.odometry.sense(time, np.array([wheels["rl"], wheels["rr"]]), (imu["ax"], imu["ay"], imu["wz"]))
        if time - age > self.frame_time + 1e-6:
            self.frame_time = time - age
            seen = cones["detections"][: int(cones["detected"])].astype(float)
            seen = seen[np.hypot(seen[:, 0], seen[:, 1]) < VIEW]
            noise = seen[:, [5, 6, 6, 7]].reshape(-1, 2, 2)
            clock = wall.perf_counter()
            self.slam.frame(self.frame_time, seen[:, :2], noise, seen[:, 2].astype(np.int64))
            between = wall.perf_counter()
            self._look_ahead()
            self.seconds["slam"].append(between - clock)
            self.seconds["path"].append(wall.perf_counter() - between)

    def motion(self) -> Motion:
        """Return the estimate of now."""
        x, y, yaw = self.slam.pose(self.time).tolist()
        _, vx, vy, rate = self.odometry.latest
        return Motion(x, y, yaw, vx, vy, rate, self.steer)

    def command(self) -> dict[str, float]:
        """Return the inputs of the car."""
        m = self.motion()
        self._count_crossings(m)
        if self.plan is None or self.time < WAIT:
            return {"steer": 0.0, "throttle": 0.0, "brake": 1.0}
        clock, plan, line = wall.perf_counter(), self.plan, self.plan.line
        plan.along, _ = line.closest(m.x, m.y, plan.along)
        steer, pull = self._control(plan, plan.along, m)
        grip, bend = 0.9 * self.car.grip(m.vx), abs(float(line.at(plan.along)[2])) * m.vx**2
        spare = max(grip * grip - bend * bend, 4.0) ** 0.5
        self.acceleration = min(max(pull, -spare), spare)
        throttle, brake = self.car.pedals(self.acceleration, m.vx)
        if self.stopped or (not line.closed and plan.along > line.length - 0.7):  # the end
            throttle, brake = 0.0, 1.0
        self.sent.append(min(max(steer, -self.car.steer_max), self.car.steer_max))
        self.seconds["control"].append(wall.perf_counter() - clock)
        return {"steer": self.sent[-1], "throttle": throttle, "brake": brake}

    def _control(self, plan: Plan, along: float, m: Motion) -> tuple[float, float]:
        """Return the steering angle (rad), chosen for the time when it acts, and the acceleration (m/s2)."""
        line, then = plan.line, self.car.after_dead_time(m, list(self.sent), self.acceleration, PERIOD)
        if self.controller == "mpc":
            turn, pull = self.mpc.step(line, then, along, (plan.room, plan.room))
            return then.steer + PERIOD * turn, pull
        pull = line.acceleration(along, m.vx)
        if self.controller == "lqr":
            return self.lqr.steer(line, then, along), pull
        law = stanley if self.controller == "stanley" else pure_pursuit
        return law.steer(line, then, self.car, along), pull

    @property
    def stopped(self) -> bool:
        """Return whether the car stands at the end of its line."""
        plan, (_, vx, _, _) = self.plan, self.odometry.latest
        if plan is None or plan.along is None or plan.line.closed or self.time < WAIT + 2.0:
            return False
        return vx < 0.2 and plan.along > plan.line.length - 2.0

    def _count_crossings(self, m: Motion) -> None:
        """Count crossings of the start line; a car that stands on it counts once."""
        line = self.start_line
        d, c, s = np.array([m.x - line.x, m.y - line.y]), cos(line.yaw), sin(line.yaw)
        beyond, beside = float(d @ [c, s]), abs(float(d @ [-s, c]))
        if self.armed and self.beyond < 0.0 <= beyond and beside < line.reach:
            self.crossings, self.armed = self.crossings + 1, False
        self.armed |= float(np.hypot(*d)) > REARMED
        self.beyond = beyond

    def _look_ahead(self) -> None:
        """Plan after a frame."""
        mapped = self.plan is not None and self.plan.mapped
        if self.event == "skidpad" or (self.plan is not None and self.plan.last):
            return
        if self.event == "acceleration":
            self._plan_sprint()
        elif self.crossings > self.laps or (mapped and self.crossings == self.laps and self._to_finish() < BRAKING):
            self._plan_stop()
        elif self.crossings >= 2 and not mapped:
            self._plan_map()
        elif not mapped:
            self._plan_ahead()

    def _cones(self, reach: float = 1e9, hits: int = 2) -> tuple[Floats, Ints]:
        """Return places and colours of the map's cones within reach of the car (m)."""
        slam, tally = self.slam, self.slam.tally
        near = np.hypot(*(slam.cones - slam.pose(self.time)[:2]).T) < reach
        which = near & (tally.hits >= hits) & (tally.hits > tally.misses)
        return slam.cones[which], slam.colours[which]

    def _behind(self, back: float = 5.0) -> tuple[float, float, float]:
        """Return a pose on the last plan behind the car, from where to look for the track; at first, the car's."""
        x, y, yaw = self.slam.pose(self.time).tolist()
        if self.plan is None:
            return x, y, yaw
        along, _ = self.plan.line.closest(x, y)
        point, heading, _, _ = self.plan.line.at(max(along - back, 0.0))
        return float(point[0]), float(point[1]), float(heading)

    def _plan_ahead(self) -> None:
        """Follow the cones in view; at the end of the path, the speed is one at which the car can stop."""
        cones, colours = self._cones(VIEW)
        pose = self._behind()
        edges = boundaries(cones, colours, pose, length=27.0)
        if edges is None:
            return
        middle = centreline(cones, edges)
        ahead = (middle - pose[:2]) @ [cos(pose[2]), sin(pose[2])] > 0.5
        points = resampled(np.vstack([pose[:2], middle[int(np.argmax(ahead)) :]]), 0.5)
        if len(points) > 8:
            line = line_of(points)
            line = line._replace(speed=speed_profile(line, self.car, CAUTIOUS, TOP, end=4.0))
            self.plan = Plan(line, along=line.closest(*self.slam.pose(self.time)[:2])[0])

    def _plan_sprint(self) -> None:
        """Drive straight between all cones seen: flat out from the line to the finish, then stop."""
        cones, colours = self._cones()
        edges = boundaries(cones, colours, (self.start[0], self.start[1], self.start[2]), length=200.0)
        if edges is None:
            return
        c, s = cos(self.start[2]), sin(self.start[2])
        middle = 0.5 * (cones[edges.left] + cones[edges.right]) - self.start[:2]
        ahead, left = middle @ [c, s], middle @ [-s, c]
        slope, offset = np.polyfit(ahead, left, 1) if np.ptp(ahead) > 10.0 else (0.0, float(left.mean()))
        finish = SPRINT + 0.3 + self.car.half_length
        way = np.arange(0.0, finish + STOP_WAY, 0.5)
        line = line_of(self.start[:2] + np.outer(way, [c, s]) + np.outer(offset + slope * way, [-s, c]))
        top = np.where(line.along < finish + 2.0, 40.0, 12.0)
        speed = np.minimum(speed_profile(line, self.car, 0.8, end=0.0), top)
        self.plan = Plan(line._replace(speed=speed), along=line.closest(*self.slam.pose(self.time)[:2])[0])

    def _plan_map(self) -> None:
        """Take the racing line, or the middle, of the whole map."""
        cones, colours = self._cones(hits=3)
        edges = boundaries(cones, colours, self._behind(), closed=True)
        if edges is None:
            self._plan_ahead()
            return
        middle = centreline(cones, edges)
        left, right = widths(middle, cones, edges)
        if self.kind == "racing":
            line = racing_line(middle, left, right, self.car, self.margin, self.use)
        else:
            line = line_of(middle, closed=True)
            line = line._replace(speed=speed_profile(line, self.car, self.use))
        here = line.closest(*self.slam.pose(self.time)[:2])[0]
        self.plan = Plan(line, 0.3 if self.kind == "racing" else 0.6, here, mapped=True)

    def _to_finish(self) -> float:
        """Return how far the line is ahead along the plan, m; behind the car, negative on an open plan."""
        assert self.plan is not None
        line = self.plan.line
        here, _ = line.closest(*self.slam.pose(self.time)[:2], self.plan.along)
        ahead = line.closest(self.start_line.x, self.start_line.y)[0] - here
        return ahead % line.length if line.closed else ahead

    def _plan_stop(self) -> None:
        """Drive the present line to its end behind the finish.

        Its end is fixed, whenever this is planned. With a map that is before the finish: where the way behind it is too
        short for the brakes, the car is slower at the finish. Without one, the car can stop in view.
        """
        if self.plan is None:
            return
        old, ahead = self.plan.line, self._to_finish()
        here, _ = old.closest(*self.slam.pose(self.time)[:2], self.plan.along)
        first = here - 4.0 if old.closed else max(here - 4.0, 0.0)
        last = here + ahead + STOP if old.closed else min(here + ahead + STOP, old.length)
        points, _, _, speed = old.at(np.arange(first, last, 0.5))
        line = line_of(points)
        speed = np.minimum(speed, speed_profile(line, self.car, self.use, end=0.0))
        self.plan = Plan(line._replace(speed=speed), self.plan.room, here - first, last=True)


def skidpad_line(car: Car, use: float) -> Line:
    """Return the figure of eight of the rules from 15 m before the crossing: two laps right, two left, 20 m to stop."""
    radius = 9.125
    angle = np.arange(0.0, 4.0 * np.pi, 0.02)
    right = radius * np.column_stack([np.sin(angle), np.cos(angle) - 1.0])
    points = np.vstack([[[-15.0, 0.0]], right, right * [1.0, -1.0], [[0.0, 0.0], [20.0, 0.0]]])
    line = line_of(smoothed(resampled(points, 0.5), 15.0))  # a car cannot turn its steering in no time
    top = 1.02 * float(corner_speed(np.array([1.0 / radius]), car, use, 30.0)[0])
    return line._replace(speed=speed_profile(line, car, use, top, end=0.0))
