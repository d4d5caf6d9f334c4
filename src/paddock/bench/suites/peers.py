"""Comparison with other simulators in the same run: crazyflow and CommonRoad's vehicle models."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import paddock.bench
from paddock.bench.result import Bench, Result, best_time, measured
from paddock.errors import MissingFeatureError

PYTHON = Path(".bench-peers/bin/python")  # the peers' Python, made by `make bench-peers`

TARGETS = {10_000: ">= 10", 100_000: ">= 10"}


def run(quick: bool) -> Iterator[Result]:
    """Measure both sides with new setpoints every five ticks of 2 ms, through their public interfaces."""
    from paddock.bench.suites.cars import car_rate  # which runs peers, too

    seconds = 1.0 if quick else 4.0
    for drones in (1, 100) if quick else (1, 100, 10_000, 100_000):
        theirs = _rate("crazyflow", str(drones), str(seconds))
        ours = _quads(drones, seconds)
        yield measured(f"{drones} drones: crazyflow (float32, CPU)", theirs / 1e6, "M drone-steps/s")
        yield measured(f"{drones} drones: paddock (float64)", ours / 1e6, "M drone-steps/s")
        yield measured(f"{drones} drones: ratio", ours / theirs, "x", None if quick else TARGETS.get(drones))
    theirs = _rate("commonroad_speed", "st", str(seconds))
    yield measured("one car: CommonRoad single track, a loop of 1000 steps", theirs / 1e6, "M steps/s")
    for cars, ticks in ((1, 1), (1, 1000), (10_000, 1)):
        ours = car_rate("car.bicycle", cars, ticks, seconds)
        case = f"{cars} car{'s' * (cars > 1)}: paddock car.bicycle, step({ticks})"
        yield measured(case, ours / 1e6, "M car-steps/s")
        yield measured(f"{case}, ratio", ours / theirs, "x")


def _rate(peer: str, *arguments: str) -> float:
    return float(run_peer(peer, *arguments)["steps_per_second"])


def run_peer(name: str, *arguments: str, stdin: str = "", python: Path = PYTHON) -> dict[str, Any]:
    """Return what a peer of `bench/peers.py` finds; `stdin` is its input, `python` that of the peers."""
    if not python.exists():
        raise MissingFeatureError("the peers are not installed: run `make bench-peers` in the repository")
    path = Path(next(iter(paddock.bench.__path__))) / "peers.py"
    command = [str(python.absolute()), "-P", str(path), name, *arguments]  # -P: not the folder of the file
    with TemporaryDirectory() as folder:  # some write a log file to the current folder
        result = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, cwd=folder)
    if result.returncode:
        raise MissingFeatureError(f"{name} failed: {result.stderr.strip().splitlines()[-1]}")
    figures: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    return figures


def _quads(count: int, seconds: float) -> float:
    """Return vehicle-steps per second of quadrotors that fly to positions."""
    from paddock import load

    spawn = {"grid": {"spacing": 1, "z": 0.5}}
    fleet = {"name": "swarm", "count": count, "model": "quad", "preset": "crazyflie", "spawn": spawn}
    with load({"clock": {"rate": 500}, "vehicles": [fleet | {"commands": {"mode": "goto", "z": 0.5}}]}) as sim:
        at = sim.snapshot().fleet("swarm").position
        x, y, z = (np.ascontiguousarray(at[:, k]) for k in range(3))

        def work() -> None:
            sim.command("swarm", x=x, y=y, z=z)
            sim.step(5)

        work()
        return 5 * count / best_time(work, seconds)


BENCH = Bench("comparison with crazyflow and CommonRoad", run, by_default=False)
