"""Drive an event from cone detections alone: `python drive.py trackdrive --controller mpc --slam ekf`.

Detections, wheel speeds and IMU -> SLAM -> path -> controller -> commands, 40 times a second, synchronously: the
simulation waits for the driver. On closed tracks the first lap follows the cones in view; the map of that lap gives
the racing line of the others. The pose of the simulation is used for the score only.
"""

import argparse
import os
import time as wall
from collections import deque
from dataclasses import dataclass, field
from math import cos, hypot, sin

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only cost

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

import paddock
from paddock import track

PERIOD, RATE = 0.025, 200  # s between commands; ticks per s
LAPS = {"acceleration": 1, "skidpad": 4, "autocross": 1, "trackdrive": 10}
CONTROLLERS = ("pure_pursuit", "stanley", "lqr", "mpc")
SLAMS = {"ekf": EkfSlam, "graph": GraphSlam}
STAGED = 6.0  # m: autocross and trackdrive start this far before the line
WAIT = 0.8  # s: the first frames arrive
CAUTIOUS, TOP = 0.55, 13.0  # grip used and m/s while the track is unknown
PACE = {"pure_pursuit": (0.5, 0.6), "stanley": (0.55, 0.55), "lqr": (0.65, 0.45), "mpc": (0.65, 0.45)}
"""Share of the grip that the known track allows, and m between car and cones: for errors and a sliding tail."""


@dataclass
class Plan:
    """What to drive: a line, and how far the car may leave it, m."""

    line: Line
    room: float = 0.6
    along: float | None = None
    mapped: bool = False


class Driver:
    """The software of the car: `sense` takes readings, `command` returns inputs."""

    def __init__(
        self, event: str, start: Floats, controller: str = "mpc", slam: str = "ekf", laps: int | None = None,
        line: str = "racing", use: float | None = None,
    ) -> None:  # fmt: skip
        self.event, self.controller, self.line_kind, self.use = (
            event,
            controller,
            line,
            PACE[controller][0] if use is None else use,
        )
        self.laps = LAPS[event] if laps is None else laps
        self.car, self.start = Car(), start
        self.odometry = Odometry(self.car)
        self.odometry.record(0.0, 0.0, 0.0, 0.0)
        self.slam = SLAMS[slam](self.odometry, (start[0], start[1], start[2]))
        self.plan: Plan | None = None
        self.sent: deque[float] = deque([0.0] * 8, maxlen=8)
        self.steer = self.acceleration = 0.0
        self.lqr, self.mpc = Lqr(self.car, PERIOD), Mpc(self.car)
        self.frame_tick, self.time, self.crossings, self.before = -1, 0.0, 0, -1.0
        self.seconds: dict[str, list[float]] = {"slam": [], "path": [], "control": []}
        if event == "skidpad":  # its cones are prescribed by the rules
            known = track.load("skidpad")
            self.slam.know(np.array(known.cones), known.colours.astype(np.int64))
            self.plan = Plan(skidpad_line(self.car, self.use), along=0.0)

    def sense(self, readings: dict, tick: int) -> None:
        """Take the sensors' readings at a tick."""
        self.time = tick / RATE
        wheels, imu, cones = readings["wheel_speeds"], readings["imu"], readings["cones"]
        self.odometry.sense(self.time, np.array([wheels["rl"], wheels["rr"]]), (imu["ax"], imu["ay"], imu["wz"]))
        if cones["sample_tick"] > self.frame_tick >= -1 and cones["sample_tick"] >= 0:
            self.frame_tick = cones["sample_tick"]
            seen = cones["detections"][: int(cones["detected"])].astype(float)
            seen = seen[np.hypot(seen[:, 0], seen[:, 1]) < 30.0]
            noise = seen[:, [5, 6, 6, 7]].reshape(-1, 2, 2)
            clock = wall.perf_counter()
            self.slam.frame(self.frame_tick / RATE, seen[:, :2], noise, seen[:, 2].astype(np.int64))
            self.seconds["slam"].append(wall.perf_counter() - clock)
            clock = wall.perf_counter()
            self._look_ahead()
            self.seconds["path"].append(wall.perf_counter() - clock)

    def motion(self) -> Motion:
        """Return the estimate of now."""
        x, y, yaw = self.slam.pose(self.time).tolist()
        _, vx, vy, rate = self.odometry.latest
        return Motion(x, y, yaw, vx, vy, rate, self.steer)

    def command(self) -> dict[str, float]:
        """Return the inputs of the car."""
        clock, m = wall.perf_counter(), self.motion()
        self._count_laps(m)
        if self.plan is None or self.time < WAIT:
            return {"steer": 0.0, "throttle": 0.0, "brake": 1.0}
        plan, line = self.plan, self.plan.line
        then = self.car.after_dead_time(m, list(self.sent), self.acceleration, PERIOD)
        plan.along, _ = line.closest(m.x, m.y, plan.along)
        if self.controller == "mpc":
            turn, pull = self.mpc.step(line, then, plan.along, (plan.room, plan.room))
            steer = then.steer + PERIOD * turn
        else:
            pull = line.acceleration(plan.along, m.vx)
            if self.controller == "lqr":
                steer = self.lqr.steer(line, then, plan.along)
            else:
                steer = (stanley if self.controller == "stanley" else pure_pursuit).steer(
                    line, then, self.car, plan.along
                )
        self.seconds["control"].append(wall.perf_counter() - clock)
        grip = 0.9 * self.car.grip(m.vx)
        bend = abs(float(line.at(plan.along)[2])) * m.vx**2
        spare = max(grip * grip - bend * bend, 4.0) ** 0.5
        self.acceleration = min(max(pull, -spare), spare)
        if line.closed is False and plan.along > line.length - 0.7:
            return self._send(steer, 0.0, 1.0)  # the end
        return self._send(steer, *self.car.pedals(self.acceleration, m.vx))

    def _send(self, steer: float, throttle: float, brake: float) -> dict[str, float]:
        oldest = self.sent[len(self.sent) - round(self.car.dead_time / PERIOD)]  # acts in this period
        reach = self.car.steer_rate * PERIOD
        self.steer += min(max(oldest - self.steer, -reach), reach)
        self.sent.append(min(max(steer, -self.car.steer_max), self.car.steer_max))
        return {"steer": self.sent[-1], "throttle": throttle, "brake": brake}

    def _count_laps(self, m: Motion) -> None:
        """Count crossings of the start line, which is `STAGED` m ahead of the start."""
        dx, dy = m.x - self.start[0], m.y - self.start[1]
        c, s = cos(self.start[2]), sin(self.start[2])
        beyond = c * dx + s * dy - STAGED
        if self.before < 0.0 <= beyond and abs(c * dy - s * dx) < 4.0:
            self.crossings += 1
        self.before = beyond

    @property
    def stopped(self) -> bool:
        """Return whether the run is over."""
        plan, (_, vx, _, _) = self.plan, self.odometry.latest
        if plan is None or plan.along is None or self.time < WAIT + 2.0:
            return False
        return vx < 0.2 and (not plan.line.closed and plan.along > plan.line.length - 2.0)

    def _look_ahead(self) -> None:
        """Make the plan of the next frame."""
        if self.event == "skidpad":
            return
        if self.event == "acceleration":
            self._plan_sprint()
        elif self.crossings > self.laps:
            if self.plan is not None and self.plan.line.closed:
                self._plan_stop()
            elif self.plan is not None and self.plan.line.speed[-1] > 0.0:
                self._plan_ahead(stop=True)
        elif self.crossings >= 2 and (self.plan is None or not self.plan.mapped):
            self._plan_map()
        elif self.plan is None or not self.plan.mapped:
            self._plan_ahead()

    def _cones(self, reach: float | None = None, hits: int = 2) -> tuple[Floats, Ints]:
        """Return places and colours of the map's cones within reach of the car."""
        slam, which = self.slam, (self.slam.tally.hits >= hits) & (self.slam.tally.hits > self.slam.tally.misses)
        if reach is not None:
            which &= np.hypot(*(slam.cones - slam.pose(self.time)[:2]).T) < reach
        return slam.cones[which], slam.colours[which]

    def _behind(self, back: float = 5.0) -> tuple[float, float, float]:
        """Return a pose on the last plan behind the car, from where to look for the track."""
        if self.plan is None:
            return tuple(self.slam.pose(self.time).tolist())
        m = self.motion()
        along, _ = self.plan.line.closest(m.x, m.y)
        point, heading, _, _ = self.plan.line.at(max(along - back, 0.0))
        return float(point[0]), float(point[1]), float(heading)

    def _plan_ahead(self, stop: bool = False) -> None:
        """Follow the cones in view, cautiously: at its end, the speed is one at which the car can stop."""
        cones, colours = self._cones(30.0)
        pose = self._behind()
        found = boundaries(cones, colours, pose, length=27.0)
        if found is None:
            return
        middle = centreline(cones, found)
        ahead = np.cos(pose[2]) * (middle[:, 0] - pose[0]) + np.sin(pose[2]) * (middle[:, 1] - pose[1])
        first = int(np.argmax(ahead > 0.5)) if (ahead > 0.5).any() else 0
        points = resampled(np.vstack([pose[:2], middle[first:]]), 0.5)
        if len(points) < 8:
            return
        line = line_of(points)
        m = self.motion()
        line = line._replace(speed=speed_profile(line, self.car, CAUTIOUS, TOP, end=0.0 if stop else 4.0))
        self.plan = Plan(line, along=line.closest(m.x, m.y)[0])

    def _plan_sprint(self) -> None:
        """Drive straight between all cones seen: 75 m flat out from the line, then stop."""
        cones, colours = self._cones(None)
        found = boundaries(cones, colours, (self.start[0], self.start[1], self.start[2]), length=200.0)
        if found is None:
            return
        middle = 0.5 * (cones[found.left] + cones[found.right])
        c, s = cos(self.start[2]), sin(self.start[2])
        ahead, left = (middle - self.start[:2]) @ [c, s], (middle - self.start[:2]) @ [-s, c]
        slope, offset = np.polyfit(ahead, left, 1) if np.ptp(ahead) > 10.0 else (0.0, float(left.mean()))
        finish = 75.3 + self.car.half_length
        way = np.arange(0.0, finish + 60.0, 0.5)
        points = self.start[:2] + np.outer(way, [c, s]) + np.outer(offset + slope * way, [-s, c])
        line = line_of(points)
        top = np.where(line.along < finish + 2.0, 40.0, 12.0)
        speed = np.minimum(speed_profile(line, self.car, self.use, end=0.0), top)
        self.plan = Plan(line._replace(speed=speed), along=line.closest(*self.slam.pose(self.time)[:2])[0])

    def _plan_map(self) -> None:
        """Take the racing line of the whole map."""
        cones, colours = self._cones(None, hits=3)
        found = boundaries(cones, colours, self._behind(), closed=True)
        if found is None:
            self._plan_ahead()
            return
        middle = centreline(cones, found)
        left, right = widths(middle, cones, found)
        if self.line_kind == "racing":
            line, room = racing_line(middle, left, right, self.car, margin=PACE[self.controller][1], use=self.use), 0.3
        else:
            line, room = line_of(middle, closed=True), 0.6
            line = line._replace(speed=speed_profile(line, self.car, self.use))
        m = self.motion()
        self.plan = Plan(line, room, line.closest(m.x, m.y)[0], mapped=True)
        self.boundaries = cones[found.left], cones[found.right]

    def _plan_stop(self) -> None:
        """Stop on the racing line, behind the finish."""
        m, old = self.motion(), self.plan.line
        along, _ = old.closest(m.x, m.y)
        points, _, _, _ = old.at(along + np.arange(-4.0, 26.0, 0.5))
        line = line_of(points)
        self.plan = Plan(line._replace(speed=speed_profile(line, self.car, self.use, end=0.0)), along=4.0)


def skidpad_line(car: Car, use: float) -> Line:
    """Return the figure of eight of the rules from 15 m before the crossing: two laps right, two left, 20 m to stop."""
    radius = 9.125
    angle = np.arange(0.0, 4.0 * np.pi, 0.02)
    right = radius * np.column_stack([np.sin(angle), np.cos(angle) - 1.0])
    circles = np.vstack([right, right * [1.0, -1.0]])
    points = np.vstack([[[-15.0, 0.0]], circles, [[0.0, 0.0], [20.0, 0.0]]])
    line = line_of(smoothed(resampled(points, 0.5), 15.0))  # a car cannot turn its steering in no time
    top = 1.02 * float(corner_speed(np.array([1.0 / radius]), car, use, 30.0)[0])
    return line._replace(speed=speed_profile(line, car, use, top, end=0.0))


@dataclass
class Score:
    """What happened: times at which the gates were crossed, cones hit, estimates and speeds over time."""

    crossed: list[float] = field(default_factory=list)  # s, at the first gate
    finished: float | None = None  # s, at the finish line of an open track
    hits: set[int] = field(default_factory=set)
    offset: float = 0.0  # m, farthest of the pose estimate from the truth
    trace: list[tuple[float, ...]] = field(default_factory=list)  # time, x, y, yaw, speed, estimate
    stop: float | None = None  # s

    @property
    def laps(self) -> list[float]:
        """Return the times between crossings, s."""
        return np.diff(self.crossed).tolist()


def hit_cones(x: float, y: float, yaw: float, car: Car, cones: Floats, radius: Floats) -> Ints:
    """Return the cones that the rectangle of the car touches."""
    d = cones - (x, y)
    ahead, left = d @ [cos(yaw), sin(yaw)], d @ [-sin(yaw), cos(yaw)]
    out = np.hypot(np.maximum(np.abs(ahead) - car.half_length, 0.0), np.maximum(np.abs(left) - car.half_width, 0.0))
    return np.flatnonzero(out < radius)


def crossing(gate: track.Gate, before: Floats, after: Floats) -> float | None:
    """Return the share of a move at which it crosses a gate forwards, or None."""
    a, b = np.array(gate.left), np.array(gate.right)
    ahead = np.array([b[1] - a[1], a[0] - b[0]])
    ahead = -ahead / np.hypot(*ahead)
    one, two = float((before - a) @ ahead), float((after - a) @ ahead)
    if not one < 0.0 <= two:
        return None
    share = one / (one - two)
    at = before + share * (after - before)
    return share if 0.0 <= float((at - a) @ (b - a)) <= float((b - a) @ (b - a)) else None


def run(
    event: str, controller: str = "mpc", slam: str = "ekf", seed: int = 1, laps: int | None = None,
    line: str = "racing", use: float | None = None, limit: float = 600.0, model: str = "car.double_track",
    layout: str | None = None,
) -> tuple[Score, Driver]:  # fmt: skip
    """Drive an event until the car has stopped, or for `limit` s."""
    sensors = ["cones", "imu", "wheel_speeds", "steering_angle"]
    car = {"name": "car", "model": model, "preset": "driverless", "spawn": {"track": {}}, "sensors": sensors}
    scenario = {"seed": seed, "clock": {"rate": RATE}, "track": layout or event, "vehicles": [car]}
    course, score, ticks = track.load(layout or event), Score(), round(RATE * PERIOD)
    radius = np.where(course.colours == 3, 0.1425, 0.114)
    with paddock.load(scenario) as sim:
        state = sim.snapshot()["car"]
        driver = Driver(event, np.array([*state.position[:2], state.yaw]), controller, slam, laps, line, use)
        before = state.position[:2].copy()
        while sim.time < limit and not driver.stopped:
            sim.step(ticks)
            driver.sense(sim.sensors("car"), sim.tick)
            sim.command("car", **driver.command())
            state = sim.snapshot()["car"]
            after = state.position[:2].copy()
            for k, gate in enumerate(course.gates):
                share = crossing(gate, before, after)
                if share is not None and gate.name in ("start", "finish"):
                    moment = sim.time - (1.0 - share) * PERIOD
                    if k == 0:
                        score.crossed.append(moment)
                    else:
                        score.finished = moment
            before = after
            score.hits.update(hit_cones(after[0], after[1], state.yaw, driver.car, course.cones, radius).tolist())
            m = driver.motion()
            score.offset = max(score.offset, hypot(m.x - after[0], m.y - after[1]))
            score.trace.append((sim.time, *after.tolist(), state.yaw, state.speed, m.x, m.y))
        score.stop = sim.time if driver.stopped else None
    return score, driver


def main() -> None:
    """Drive, and print times and hits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("event", choices=LAPS)
    parser.add_argument("--controller", choices=CONTROLLERS, default="mpc")
    parser.add_argument("--slam", choices=SLAMS, default="ekf")
    parser.add_argument("--line", choices=("racing", "centre"), default="racing")
    parser.add_argument("--laps", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--use", type=float, help="share of the grip to use where the track is known")
    a = parser.parse_args()
    score, driver = run(a.event, a.controller, a.slam, a.seed, a.laps, a.line, a.use)
    if score.finished is not None:
        print(f"75 m in {score.finished - score.crossed[0]:.3f} s")
    print("laps", " ".join(f"{lap:.2f}" for lap in score.laps), "s")
    print(
        f"cones hit: {len(score.hits)}; {'stopped at' if score.stop else 'NOT stopped by'} {score.trace[-1][0]:.1f} s"
    )
    print(f"top speed {max(row[4] for row in score.trace):.1f} m/s; pose within {score.offset:.2f} m")
    for name, seconds in driver.seconds.items():
        if seconds:
            print(f"{name}: median {1e3 * np.median(seconds):.2f} ms, worst {1e3 * max(seconds):.2f} ms")


if __name__ == "__main__":
    main()
