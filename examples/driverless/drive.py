"""Drive an event from the car's sensors alone: `python drive.py trackdrive --controller mpc --slam ekf`.

`--track mine.csv` drives another closed track by the rules of the event: of the catalog, the generator, the editor.

The simulation waits for the driver: 40 times a second it steps, the driver senses and commands. The rules of the event
time the car and count its penalties; the pose of the simulation is used for the drawing only. `--plot lap.png` draws
the way, coloured by speed.
"""

import argparse
import os
from dataclasses import dataclass
from math import atan2, hypot
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only cost

import numpy as np
from driver import LAPS, PACE, PERIOD, SLAMS, Driver, StartLine

import paddock
from paddock import track
from paddock.errors import PaddockError
from paddock.track.race_log import shown_text
from paddock.track.standings import Standing
from paddock.track.track import Track

RATE = 200  # ticks per s
OVER = (3, 5)  # race.status: stopped, dnf
REMARKS = ("lap_refused", "cone_hit", "off_course", "stopped", "unsafe_stop", "dnf")
OWN = ("acceleration", "skidpad")  # events whose tracks are prescribed by the rules
SENSORS = ["cones", "imu", "wheel_speeds", "steering_angle"]


@dataclass
class Score:
    """What happened: the result by the rules of the event, and the way."""

    result: Standing  # status, laps, cones, times off course, penalty, time
    remarks: list[str]  # penalties and the end, by the run's events
    apart: float  # m, farthest of the estimated pose from the true one
    trace: list[tuple[float, float, float, float, float]]  # time, x, y, yaw, speed
    hits: list[tuple[float, float]]  # m, where the car was when a cone fell or left its place

    @property
    def laps(self) -> list[float]:
        """Return the times of the laps, s; on an open track, that from its first gate to its last."""
        return list(self.result.lap_times)


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
    course: str | None = None,
) -> tuple[Score, Driver]:
    """Drive an event by its rules until the car has stopped or is out, or for `limit` s.

    `course` is another track than that of the event: a name or a file.
    """
    car = {"name": "car", "model": model, "preset": "driverless", "spawn": {"track": {}}, "sensors": SENSORS}
    rules = {"discipline": event, "laps": laps}
    scenario = {"seed": seed, "clock": {"rate": RATE}, "track": checked(event, course), "contact": True, "rules": rules}
    apart, over = 0.0, False
    trace: list[tuple[float, float, float, float, float]] = []
    hits: list[tuple[float, float]] = []
    with paddock.load({**scenario, "vehicles": [car]}) as sim:
        state = sim.snapshot()["car"]
        start = np.array([*state.position[:2], state.yaw])
        driver = Driver(event, start, controller, slam, laps, line, use, start_line_of(sim.world.track))
        if event == "skidpad":  # its cones are prescribed by the rules
            driver.slam.know(np.array(sim.world.track.cones), sim.world.track.colours.astype(np.int64))
        while sim.time < limit and not over:
            sim.step(round(RATE * PERIOD))
            readings = sim.vehicles.sensors("car")
            driver.sense(readings, sim.time, (sim.tick - readings["cones"]["sample_tick"]) / RATE)
            sim.command("car", **driver.command())
            state, m = sim.snapshot()["car"], driver.motion()
            x, y = state.position[:2].tolist()
            apart = max(apart, hypot(m.x - x, m.y - y))
            trace.append((sim.time, x, y, state.yaw, state.speed))
            hits += [(x, y)] * (int(state["race.cones"]) - len(hits))
            over = int(state["race.status"]) in OVER or driver.stopped
        sim.step(RATE)  # the brake is on: a car below 0.05 m/s has stopped
        remarks = [f"{event.kind}: {shown_text(event.detail)}" for event in sim.events.since() if event.kind in REMARKS]
        return Score(sim.race.standings()["car"], remarks, apart, trace, hits), driver


def checked(event: str, course: str | None) -> str:
    """Return the track to drive, a file by its whole path; PaddockError where the event cannot take place on it."""
    if course is None:
        return event
    if event in OWN:
        raise paddock.PaddockError(f"--track is for autocross and trackdrive: the track of the {event} is prescribed")
    if not track.load(course).closed:
        raise paddock.PaddockError(f"--track {course}: the {event} is driven on closed tracks, and this one is open")
    return str(Path(course).resolve()) if Path(course).is_file() else course


def start_line_of(course: Track) -> StartLine:
    """Return the first gate of a track, which a driver knows as it knows its start."""
    gate = course.gates[0]
    (x, y), (left, across) = np.add(gate.left, gate.right) / 2.0, np.subtract(gate.left, gate.right)
    return StartLine(float(x), float(y), atan2(-left, across), hypot(left, across) / 2.0 + 1.0)


def draw(score: Score, name: str, path: str) -> None:
    """Draw the track and the way, coloured by speed."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    course, way = track.load(name), np.array(score.trace)
    figure, axes = plt.subplots(figsize=(10, 8), layout="constrained")
    paint = np.array(["tab:blue", "gold", "orange", "orangered", "grey"])
    axes.scatter(course.cones[:, 0], course.cones[:, 1], c=paint[course.colours], s=10)
    dots = axes.scatter(way[:, 1], way[:, 2], c=way[:, 4], s=2, cmap="viridis")
    hits = np.array(score.hits).reshape(-1, 2)
    axes.scatter(hits[:, 0], hits[:, 1], c="black", marker="x")
    figure.colorbar(dots, label="speed, m/s")
    axes.set(xlabel="x, m", ylabel="y, m", aspect="equal", title=f"{course.name}: {score.result.cones} cones hit")
    figure.savefig(path, dpi=100)


def main() -> None:
    """Drive, and print times and penalties."""
    parser = argparse.ArgumentParser(description="Drive an event of Formula Student from the car's sensors alone.")
    parser.add_argument("event", choices=LAPS, nargs="?", default="trackdrive", help="default: trackdrive")
    parser.add_argument("--track", metavar="FILE|NAME", help="a closed track to drive; default: that of the event")
    parser.add_argument("--controller", choices=PACE, default="mpc")
    parser.add_argument("--slam", choices=SLAMS, default="ekf")
    parser.add_argument("--line", choices=("racing", "centre"), default="racing", help="from the second lap on")
    parser.add_argument("--laps", type=int, help="default: those of the event")
    parser.add_argument("--use", type=float, help="share of the grip to use where the track is known")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", metavar="FILE", help="draw the way")
    a = parser.parse_args()
    if a.laps is not None and a.laps < 1:
        parser.exit(2, f"{parser.prog}: --laps must be a whole number >= 1, not {a.laps}\n")
    if a.seed < 0:
        parser.exit(2, f"{parser.prog}: --seed must be a whole number >= 0, not {a.seed}\n")
    try:
        score, driver = run(a.event, a.controller, a.slam, a.laps, a.line, a.use, a.seed, course=a.track)
    except PaddockError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    result = score.result
    for number, lap in enumerate(score.laps, start=1):
        print(f"75 m: {lap:.3f} s" if a.event == "acceleration" else f"lap {number}: {lap:.3f} s")
    for remark in score.remarks:
        print(remark)
    end = (
        f"{result.status} {result.reason}".strip()
        if result.result is None
        else f"{result.result:.3f} s, {result.status}"
    )
    print(f"result: {end}; {result.cones} cones, {result.off_course} times off course, penalty {result.penalty:g} s")
    print(f"top speed {max(row[4] for row in score.trace):.1f} m/s")
    print(f"estimated pose within {score.apart:.2f} m of the true one; {len(driver.slam.cones)} cones in the map")
    for name, seconds in driver.seconds.items():
        print(f"{name:8} median {1e3 * np.median(seconds):5.2f} ms, 99 % {1e3 * np.quantile(seconds, 0.99):5.2f} ms")
    if a.plot:
        draw(score, a.track or a.event, a.plot)


if __name__ == "__main__":
    main()
