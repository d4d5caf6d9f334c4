"""Drive an event from the car's sensors alone: `python drive.py trackdrive --controller mpc --slam ekf`.

The simulation waits for the driver: 40 times a second it steps, the driver senses and commands. The pose of the
simulation is used for the score only. `--plot lap.png` draws the way, coloured by speed.
"""

import argparse
import os
from dataclasses import dataclass, field
from math import cos, hypot, sin

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only cost

import numpy as np
from association import Ints
from car import Car
from driver import LAPS, PACE, PERIOD, SLAMS, Driver
from line import Floats

import paddock
from paddock import track

RATE = 200  # ticks per s
SENSORS = ["cones", "imu", "wheel_speeds", "steering_angle"]


@dataclass
class Score:
    """What happened: times of crossings, cones hit, and the way."""

    crossed: list[float] = field(default_factory=list)  # s, of the first gate
    finished: float | None = None  # s, of the finish line of an open track
    stopped: float | None = None  # s
    hits: set[int] = field(default_factory=set)  # numbers of cones
    apart: float = 0.0  # m, farthest of the estimated pose from the true one
    trace: list[tuple[float, float, float, float, float]] = field(default_factory=list)  # time, x, y, yaw, speed

    @property
    def laps(self) -> list[float]:
        """Return the times between crossings, s."""
        return [float(lap) for lap in np.diff(self.crossed)]


def hit_cones(x: float, y: float, yaw: float, car: Car, cones: Floats, radius: Floats) -> Ints:
    """Return the cones that the rectangle of the car touches."""
    d = cones - (x, y)
    ahead, left = d @ [cos(yaw), sin(yaw)], d @ [-sin(yaw), cos(yaw)]
    away = np.hypot(np.maximum(np.abs(ahead) - car.half_length, 0.0), np.maximum(np.abs(left) - car.half_width, 0.0))
    return np.flatnonzero(away < radius)


def crossing(gate: track.Gate, before: Floats, after: Floats) -> float | None:
    """Return the share of a move at which it crosses a gate forwards, or None."""
    left, across = np.array(gate.left), np.array(gate.right) - np.array(gate.left)
    ahead = np.array([-across[1], across[0]])
    one, two = float((before - left) @ ahead), float((after - left) @ ahead)
    if not one < 0.0 <= two:
        return None
    share = one / (one - two)
    return share if 0.0 <= float((before + share * (after - before) - left) @ across) <= across @ across else None


def run(
    event: str,
    controller: str = "mpc",
    slam: str = "ekf",
    laps: int | None = None,
    line: str = "racing",
    use: float | None = None,
    seed: int = 1,
    limit: float = 600.0,
    model: str = "car.double_track",
) -> tuple[Score, Driver]:
    """Drive an event until the car has stopped, or for `limit` s."""
    car = {"name": "car", "model": model, "preset": "driverless", "spawn": {"track": {}}, "sensors": SENSORS}
    scenario = {"seed": seed, "clock": {"rate": RATE}, "track": event, "vehicles": [car]}
    course, score = track.load(event), Score()
    radius = np.where(course.colours == track.CONE_COLOURS.index("big_orange"), 0.1425, 0.114)
    with paddock.load(scenario) as sim:
        state = sim.snapshot()["car"]
        driver = Driver(event, np.array([*state.position[:2], state.yaw]), controller, slam, laps, line, use)
        if event == "skidpad":  # its cones are prescribed by the rules
            driver.slam.know(np.array(course.cones), course.colours.astype(np.int64))
        before = state.position[:2].copy()
        while sim.time < limit and not driver.stopped:
            sim.step(round(RATE * PERIOD))
            readings = sim.sensors("car")
            driver.sense(readings, sim.time, (sim.tick - readings["cones"]["sample_tick"]) / RATE)
            sim.command("car", **driver.command())
            state = sim.snapshot()["car"]
            after = state.position[:2].copy()
            for gate in course.gates:
                share = crossing(gate, before, after)
                if share is not None and gate is course.gates[0]:
                    score.crossed.append(sim.time - (1.0 - share) * PERIOD)
                elif share is not None and gate.name == "finish":
                    score.finished = sim.time - (1.0 - share) * PERIOD
            before, m = after, driver.motion()
            score.hits.update(hit_cones(after[0], after[1], state.yaw, driver.car, course.cones, radius).tolist())
            score.apart = max(score.apart, hypot(m.x - after[0], m.y - after[1]))
            score.trace.append((sim.time, float(after[0]), float(after[1]), state.yaw, state.speed))
        score.stopped = sim.time if driver.stopped else None
    return score, driver


def draw(score: Score, event: str, path: str) -> None:
    """Draw the track and the way, coloured by speed."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    course, way = track.load(event), np.array(score.trace)
    figure, axes = plt.subplots(figsize=(10, 8), layout="constrained")
    paint = np.array(["tab:blue", "gold", "orange", "orangered", "grey"])
    axes.scatter(course.cones[:, 0], course.cones[:, 1], c=paint[course.colours], s=10)
    hit = course.cones[sorted(score.hits)]
    axes.scatter(hit[:, 0], hit[:, 1], c="black", marker="x")
    dots = axes.scatter(way[:, 1], way[:, 2], c=way[:, 4], s=2, cmap="viridis")
    figure.colorbar(dots, label="speed, m/s")
    axes.set(xlabel="x, m", ylabel="y, m", aspect="equal", title=f"{event}: {len(score.hits)} cones hit")
    figure.savefig(path, dpi=100)


def main() -> None:
    """Drive, and print times and hits."""
    parser = argparse.ArgumentParser(description="Drive an event of Formula Student from the car's sensors alone.")
    parser.add_argument("event", choices=LAPS)
    parser.add_argument("--controller", choices=PACE, default="mpc")
    parser.add_argument("--slam", choices=SLAMS, default="ekf")
    parser.add_argument("--line", choices=("racing", "centre"), default="racing", help="from the second lap on")
    parser.add_argument("--laps", type=int, help="default: those of the event")
    parser.add_argument("--use", type=float, help="share of the grip to use where the track is known")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", metavar="FILE", help="draw the way")
    a = parser.parse_args()
    score, driver = run(a.event, a.controller, a.slam, a.laps, a.line, a.use, a.seed)
    if score.finished is not None:
        print(f"75 m: {score.finished - score.crossed[0]:.3f} s")
    for number, lap in enumerate(score.laps, start=1):
        print(f"lap {number}: {lap:.3f} s")
    end = f"stopped at {score.stopped:.1f} s" if score.stopped else "NOT stopped"
    print(f"cones hit: {len(score.hits)}; {end}; top speed {max(row[4] for row in score.trace):.1f} m/s")
    print(f"estimated pose within {score.apart:.2f} m of the true one; {len(driver.slam.cones)} cones in the map")
    for name, seconds in driver.seconds.items():
        print(f"{name:8} median {1e3 * np.median(seconds):5.2f} ms, 99 % {1e3 * np.quantile(seconds, 0.99):5.2f} ms")
    if a.plot:
        draw(score, a.event, a.plot)


if __name__ == "__main__":
    main()
