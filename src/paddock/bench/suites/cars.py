"""Cars at every level: car-steps per second, one car stepped from Python, CommonRoad's models with the same inputs."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from paddock.bench.result import Bench, Result, best_time, measured
from paddock.bench.suites.peers import PYTHON, run_peer

CARS = 10_000
TARGETS = {"car.double_track": ">= 5", "car.full": ">= 1.5"}  # M car-steps/s
PEERS = {"car.bicycle": "st", "car.full": "mb"}
PEER_NAMES = {"st": "single track", "std": "single-track drift", "mb": "multi-body"}
BMW = {
    "mass": 1093.295,
    "inertia_x": 207.265,
    "inertia_y": 1565.818,
    "inertia_z": 1791.6,
    "cg_to_front": 1.156196,
    "cg_to_rear": 1.422717,
    "track_front": 1.38684,
    "track_rear": 1.36398,
    "cg_height": 0.574869,
    "wheel_radius": 0.344,
    "wheel_inertia": 1.7,
    "spring_front": 24453.0,
    "spring_rear": 19635.5,
    "damper_front": 1786.2,
    "damper_rear": 1649.1,
    "roll_bar_front": 6914.9,
    "roll_bar_rear": 2643.6,
    "unsprung_front": 31.9,
    "unsprung_rear": 31.9,
    "tyre_spring": 158294.0,
    "tyre_mu": 1.0489,
    "tyre_b_lat": 21.92 / (1.0489 * 1.3507),
    "tyre_c_lat": 1.3507,
    "tyre_d_lat": 1.0,
    "tyre_e_lat": -0.00747,
    "tyre_b_long": 22.303 / (1.1739 * 1.6411),
    "tyre_c_long": 1.6411,
    "tyre_d_long": 1.1739 / 1.0489,
    "tyre_e_long": 0.46403,
    "tyre_load_sensitivity": 0.0,
    "grip_rear": 1.0,
    "ackermann": 0.0,
    "relaxation_lateral": 0.1,
    "steer_rate_max": 0.4,
    "steer_max": 1.066,
    "rolling_resistance": 0.0,
    "drag_coefficient": 0.0,
    "lift_front": 0.0,
    "lift_rear": 0.0,
}
"""CommonRoad's vehicle 2 (BMW 320i) as parameters of ours; air and rolling resistance, which it lacks, are off."""
TURNS = ((15.0, 0.02), (15.0, 0.06), (25.0, 0.03))  # m/s and rad


def run(quick: bool) -> Iterator[Result]:
    """Measure every level, and CommonRoad where its models are installed (`make bench-peers`)."""
    seconds = 0.5 if quick else 3.0
    count = 1000 if quick else CARS
    compared = PYTHON.exists()
    for model in ("car.kinematic", "car.bicycle", "car.double_track", "car.full"):
        many, single = car_rate(model, count, 10, seconds), car_rate(model, 1, 1000, seconds)
        yield measured(f"{count} cars: {model}", many / 1e6, "M car-steps/s", None if quick else TARGETS.get(model))
        yield measured(f"one car: {model}, step(1000)", single / 1e6, "M ticks/s")
        if compared and model in PEERS:
            peer = PEERS[model]
            theirs = float(run_peer("commonroad_speed", peer, str(seconds))["steps_per_second"])
            name = f"CommonRoad {PEER_NAMES[peer]}"
            yield measured(f"one car: {name}, a loop of 1000 steps", theirs / 1e6, "M steps/s")
            yield measured(f"{count} cars: {model} over {name}", many / theirs, "x", None if quick else ">= 100")
            yield measured(f"one car: {model} over {name}", single / theirs, "x", None if quick else ">= 10")
    yield measured("one car: command() and step()", _commanded(seconds), "calls/s", None if quick else ">= 60000")
    if compared:
        yield from _turns()


def _fleet(model: str, count: int, **fields: Any) -> dict[str, Any]:
    spawn = {} if count == 1 else {"spawn": {"grid": {"spacing": 10}}}
    return {"name": "cars", "count": count, "model": model, "speed": 15.0, **spawn, **fields}


def car_rate(model: str, count: int, ticks: int, seconds: float) -> float:
    """Return car-steps per second of `step(ticks)` at 1 kHz."""
    from paddock import load

    commands = {"steer": 0.01, "throttle": 0.1}
    with load({"clock": {"rate": 1000}, "vehicles": [_fleet(model, count, commands=commands)]}) as sim:
        sim.step(ticks)
        return count * ticks / best_time(lambda: sim.step(ticks), seconds)


def _commanded(seconds: float) -> float:
    """Return calls per second of `command()` and `step()`: the loop of a controller in Python."""
    from paddock import load

    with load({"clock": {"rate": 1000}, "vehicles": [_fleet("car.bicycle", 1)]}) as sim:

        def control() -> None:
            for k in range(1000):
                sim.command("cars", steer=0.01 if k & 1 else 0.02, throttle=0.1)
                sim.step()

        control()
        return 1000.0 / best_time(control, seconds)


def _turns() -> Iterator[Result]:
    """Yield the steady yaw rate after a step of the steering: CommonRoad's three models, and three levels of ours."""
    for speed, steer in TURNS:
        for name, rate in yaw_rates(speed, steer, ("car.bicycle", "car.double_track", "car.full")).items():
            yield measured(f"yaw rate at {speed:g} m/s, {steer:g} rad: {name}", rate, "rad/s")


def yaw_rates(speed: float, steer: float, models: Sequence[str]) -> dict[str, float]:
    """Return the yaw rate (rad/s) after 3.5 to 4 s of CommonRoad's models and of ours, driven by the same inputs."""
    final = {}
    for peer, name in PEER_NAMES.items():
        rates = run_peer("commonroad_turn", peer, str(speed), str(steer))["yaw_rate"]
        final[f"CommonRoad {name}"] = float(np.mean(rates[-50:]))
    return final | {model: float(turned(model, speed, steer)[-50:].mean()) for model in models}


def turned(model: str, speed: float, steer: float) -> Any:
    """Return the yaw rate (rad/s) of the same car at a level of ours, every 10 ms for four seconds, in neutral."""
    from paddock import load
    from paddock.vehicles.model import find_model

    effective = find_model(model).effective_parameters
    parameters = {name: value for name, value in BMW.items() if name in effective}
    commands = {"steer": steer, "gear": 0}
    entry = {"name": "cars", "model": model, "parameters": parameters, "speed": speed, "commands": commands}
    rates = []
    with load({"clock": {"rate": 1000}, "vehicles": [entry]}) as sim:
        for _ in range(400):
            sim.step(10)
            rates.append(float(sim.snapshot().fleet("cars")["wz"][0]))
    return np.array(rates)


BENCH = Bench("cars at every level, against CommonRoad's models", run, by_default=False)
