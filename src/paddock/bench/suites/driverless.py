"""Driverless and learning: environments, a car with a lidar, many cars, perception and control; against peers."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from paddock.bench.result import Bench, Result, best_time, best_times, measured
from paddock.bench.suites.peers import PYTHON, run_peer

WORLDS = 4096
BEAMS = 1080
CARS = 1000
TRACK, SPEED = "trackdrive", 6.0  # of the cars with lidars, m/s


def run(quick: bool) -> Iterator[Result]:
    """Measure the environments with constant actions, through Gymnasium's interface."""
    seconds = 0.5 if quick else 4.0
    yield from _quads(256 if quick else WORLDS, seconds, quick)
    yield from _lidar_car(seconds, quick)
    yield from _cars(100 if quick else CARS, seconds, quick)
    yield from _perception(100 if quick else CARS, seconds, quick)
    yield from _control(seconds, quick)


def env_rate(task: str, worlds: int, seconds: float, **options: Any) -> float:
    """Return env-steps per second of a vector environment, resets included."""
    import gymnasium

    from paddock.envs import env_id

    envs = gymnasium.make_vec(env_id(task), num_envs=worlds, **options)
    envs.reset(seed=0)
    action = np.zeros((worlds, *(envs.single_action_space.shape or ())), np.float32)
    envs.step(action)
    return worlds / best_time(lambda: envs.step(action), seconds)


def _quads(worlds: int, seconds: float, quick: bool) -> Iterator[Result]:
    """Compare the hover environment: crazyflow with ten substeps of 2 ms, gym-pybullet-drones with eight of 1/240 s."""
    for rate, ticks in ((500, 10), (240, 8)):
        ours = env_rate("quad_hover", worlds, seconds, preset="crazyflie", rate=rate, ticks=ticks)
        case = f"{worlds} quad worlds, {ticks} substeps"
        yield measured(f"{case}: paddock", ours / 1e6, "M env-steps/s")
        if not PYTHON.exists():
            continue
        if rate == 500:
            theirs = run_peer("crazyflow_env", str(worlds), str(ticks), str(seconds))
            name, target = "crazyflow (float32, CPU)", ">= 2"
        else:
            theirs = run_peer("pybullet_drone", str(ticks), str(seconds))
            name, target = f"{theirs['name']} (one world, one core)", ">= 5"
        per_second = float(theirs["steps_per_second"])
        yield measured(f"{case}: {name}", per_second / 1e6, "M env-steps/s")
        yield measured(f"{case}: over {name}", ours / per_second, "x", None if quick else target)


def follow(batch: Any, track: Any, speed: float) -> Any:
    """Return actions (n, 2) that steer the cars of a batch to a point of the middle line 4 m ahead, at a speed, m/s."""
    x, y, qz, qw, vx, vy = batch.pose[[0, 1, 5, 6, 7, 8]]
    gap = (track.centre[:, 0] - x[:, None]) ** 2 + (track.centre[:, 1] - y[:, None]) ** 2
    ahead = max(1, round(4.0 * len(track.centre) / track.length))
    aim = track.centre[(np.argmin(gap, axis=1) + ahead) % len(track.centre)]
    turn = np.arctan2(aim[:, 1] - y, aim[:, 0] - x) - 2.0 * np.arctan2(qz, qw)
    turn = np.mod(turn + np.pi, 2.0 * np.pi) - np.pi
    drive = 0.5 * (speed - np.hypot(vx, vy))
    return np.clip(np.column_stack([1.5 * turn, drive]), -1.0, 1.0).astype(np.float32)


def _lidar_car(seconds: float, quick: bool) -> Iterator[Result]:
    """Cars drive along a track at 100 Hz with a lidar in every step: a single environment, and worlds of a batch."""
    from paddock.envs import PaddockEnv, PaddockVectorEnv

    options = {"track": TRACK, "observation": "lidar", "beams": BEAMS, "rate": 100, "ticks": 1, "speed": SPEED}
    env = PaddockEnv("car_racing", **options)
    steps = 300
    ours = steps / best_time(_drive(env, env.batch, steps), seconds)
    yield measured(f"one car with {BEAMS} beams: paddock", ours, "steps/s")
    worlds = 8 if quick else 100
    envs = PaddockVectorEnv("car_racing", worlds, **options)
    many = worlds * steps / best_time(_drive(envs, envs.batch, steps), seconds)
    yield measured(f"{worlds} cars with {BEAMS} beams: paddock", many, "car-steps/s")
    peer = run_peer("distance_field", str(BEAMS), str(seconds), TRACK, python=Path(sys.executable))
    theirs, name = float(peer["scans_per_second"]), "the scan of f1tenth_gym's method alone"
    yield measured(f"one car with {BEAMS} beams: {name}", theirs, "scans/s")
    yield measured(f"one car with {BEAMS} beams: over {name}", ours / theirs, "x")


def _drive(env: Any, batch: Any, steps: int) -> Callable[[], None]:
    """Drive once, keep the actions, and return a function that resets and takes them again."""
    track = batch.course.drawing
    env.reset(seed=0)
    actions = []
    for _ in range(steps):
        chosen = follow(batch, track, SPEED)
        actions.append(chosen if batch.worlds > 1 else chosen[0])
        env.step(actions[-1])

    def work() -> None:
        env.reset(seed=0)
        for action in actions:
            env.step(action)

    return work


def _cars(count: int, seconds: float, quick: bool) -> Iterator[Result]:
    """Drive cars at 100 Hz, new commands in every tick: simulated seconds per second."""
    from paddock import load

    fleet = {"name": "cars", "count": count, "model": "car.bicycle", "preset": "driverless", "speed": 10.0}
    fleet |= {"spawn": {"grid": {"spacing": 10}}}
    with load({"clock": {"rate": 100}, "vehicles": [fleet]}) as sim:
        steer, throttle = np.full(count, 0.02), np.full(count, 0.1)

        def work() -> None:
            for _ in range(10):
                sim.command("cars", steer=steer, throttle=throttle)
                sim.step()

        work()
        factor = 0.1 / best_time(work, seconds)
    yield measured(f"{count} cars at 100 Hz, command() and step()", factor, "x real time", ">= 1")


def _perception(count: int, seconds: float, quick: bool) -> Iterator[Result]:
    """A frame of cone detections of every car on a track: ticks with frames against ticks without."""
    from paddock import load

    gap = 420.0 / count
    fleet = {"name": "cars", "count": count, "model": "car.kinematic", "spawn": {"track": {"gap": gap}}}
    scenario = {"clock": {"rate": 10}, "track": "trackdrive"}
    sensor = {"cones": {"rate": 10, "delay": 0.0, "occlusion": 0}}
    with (
        load({**scenario, "vehicles": [fleet]}) as plain,
        load({**scenario, "vehicles": [fleet | {"sensors": [sensor]}]}) as seeing,
    ):
        cones = len(seeing.world.track.cones) if seeing.world.track is not None else 0
        for sim in (plain, seeing):
            sim.step(2)
        times = best_times({"plain": plain.step, "seeing": seeing.step}, seconds)
    frame = 1e3 * (times["seeing"] - times["plain"])
    yield measured(f"cones seen by {count} cars on a track of {cones}, a frame", frame, "ms", None if quick else "<= 2")


def _control(seconds: float, quick: bool) -> Iterator[Result]:
    """A step of the MPC of the examples along a bend, where the examples are (a clone of the repository)."""
    folder = Path(__file__).parents[4] / "examples" / "driverless"
    if not (folder / "mpc.py").exists():
        return
    figures = run_peer("mpc", str(folder), str(20 if quick else 400), python=Path(sys.executable))
    median = 1e3 * float(figures["median"])
    yield measured("MPC step of the examples, median", median, "ms", None if quick else "<= 5")


BENCH = Bench("environments for learning and driverless cars, against peers", run, by_default=False)
