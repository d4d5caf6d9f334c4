"""Contact: its share of a tick while nothing touches, against pairs from SciPy's cKDTree; a pile, cars, the race."""

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from paddock.bench.result import Bench, Result, measured
from paddock.engine.simulation import Simulation
from paddock.scenario import load_scenario

DRONES, DROPPED, CARS = 100_000, 2_000, 20
CLEARANCE = 0.5  # m: distance of two drones that count as a pair for the tree, 1.4 times their size


def run(quick: bool) -> Iterator[Result]:
    """Measure a swarm in flight, a pile of drones, a field of cars, and the race."""
    drones = DRONES // 20 if quick else DRONES
    yield from _swarm(drones, 30 if quick else 240)
    dropped = DROPPED // 10 if quick else DROPPED
    over = {"low": [-1, -1, 5], "high": [1, 1, 6]}
    sim = _loaded({"name": "d", "model": "quad", "count": dropped, "spawn": {"random": over}}, overlap="resolve")
    yield measured(f"{dropped} drones dropped on one spot", 1e3 * _stage_time(sim, 5), "ms per tick")
    rows = {"grid": {"spacing": 7, "columns": 4}}
    sim = _loaded({"name": "cars", "model": "car.bicycle", "count": CARS, "spawn": rows, "speed": 20})
    yield measured(f"{CARS} cars side by side", 1e6 * _stage_time(sim, 240), "us per tick")
    yield from _race(100 if quick else 1000)


def _race(ticks: int) -> Iterator[Result]:
    """Race: 21 cars of eleven fleets and four levels between walls, 16 cones asleep."""
    sim = Simulation(load_scenario("race"))
    sim.step(300)  # past the start, and all that is compiled has run
    each = _stage_time(sim, ticks)
    total = sum(stage.nanoseconds for stage in sim.engine.stages.pipeline.times.values()) * 1e-9 / ticks
    yield measured("the race", 1e6 * each, "us per tick")
    yield measured("the race: share of the tick", each / total, "")


def _loaded(entry: dict[str, Any], **settings: Any) -> Simulation:
    scenario: dict[str, Any] = {"contact": settings, "clock": {"rate": 240}, "vehicles": [entry]}
    return Simulation(load_scenario(scenario))


def _stage_time(sim: Simulation, ticks: int) -> float:
    """Return the time of the contact stage, s per tick."""
    sim.step(2)
    sim.engine.stages.pipeline.reset_times()
    sim.step(ticks)
    return sim.engine.stages.pipeline.times["contact"].nanoseconds * 1e-9 / ticks


def _swarm(n: int, ticks: int) -> Iterator[Result]:
    """Fly a swarm in loose formation; the tree is built and searched between ticks, so that noise affects both."""
    from scipy.spatial import cKDTree

    entry = {"name": "d", "model": "quad", "count": n, "spawn": {"grid": {"spacing": 3, "z": 30}}, "speed": 5}
    sim = _loaded(entry)
    random = np.random.default_rng(1)
    sim.command("d", vx=random.normal(5.0, 0.2, n), vy=random.normal(0.0, 0.2, n))
    sim.step(5)
    times = sim.engine.stages.pipeline.times
    sim.engine.stages.pipeline.reset_times()
    trees = []
    for _ in range(6):
        sim.step(ticks // 6)
        position = np.ascontiguousarray(sim.snapshot().fleet("d").position)
        started = perf_counter()
        cKDTree(position).query_pairs(CLEARANCE, output_type="ndarray")
        trees.append(perf_counter() - started)
    stage, move = times["contact"].nanoseconds, times["move"].nanoseconds
    per_tick = stage * 1e-9 / times["contact"].calls
    full = n == DRONES
    yield measured(f"{n} drones, nothing touches", 1e3 * per_tick, "ms per tick")
    yield measured(f"{n} drones: share of the tick", stage / (stage + move), "", "<= 0.25" if full else None)
    yield measured(f"{n} drones: pairs by cKDTree", 1e3 * median(trees), "ms")
    yield measured(f"{n} drones: speed over cKDTree", median(trees) / per_tick, "times", ">= 3" if full else None)


BENCH = Bench("contact of vehicles: idle swarm, pile, cars, race", run)
