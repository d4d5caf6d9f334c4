"""Run by the peers' Python: CommonRoad's vehicle models (BMW 320i), forward Euler at 1 ms.

`speed MODEL SECONDS` measures steps per second; `turn MODEL SPEED STEER` drives a step of the steering at 0.4 rad/s and
prints the yaw rate (rad/s) every 10 ms for four seconds. MODEL: st (single track), std (drift), mb (multi-body).
"""

import json
import sys
import time
from typing import Any

from vehiclemodels.init_mb import init_mb
from vehiclemodels.init_st import init_st
from vehiclemodels.init_std import init_std
from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
from vehiclemodels.vehicle_dynamics_mb import vehicle_dynamics_mb
from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st
from vehiclemodels.vehicle_dynamics_std import vehicle_dynamics_std

DT, STEER_RATE = 1e-3, 0.4
MODELS: dict[str, tuple[Any, Any]] = {
    "st": (lambda start, _: init_st(start), vehicle_dynamics_st),
    "std": (init_std, vehicle_dynamics_std),
    "mb": (init_mb, vehicle_dynamics_mb),
}


def speed(model: str, seconds: float) -> dict[str, Any]:
    """Return the steps per second of the fastest 1,000 steps."""
    parameters = parameters_vehicle2()
    start, dynamics = MODELS[model]
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        state = start([0.0, 0.0, 0.0, 15.0, 0.0, 0.0, 0.0], parameters)
        started = time.perf_counter()
        for _ in range(1000):
            change = dynamics(state, [0.01, 0.1], parameters)
            state = [x + DT * dx for x, dx in zip(state, change, strict=True)]
        best = min(best, time.perf_counter() - started)
    return {"steps_per_second": 1000 / best}


def turn(model: str, forward: float, steer: float) -> dict[str, Any]:
    """Return the yaw rate after a step of the steering, without drive."""
    parameters = parameters_vehicle2()
    start, dynamics = MODELS[model]
    state = start([0.0, 0.0, 0.0, forward, 0.0, 0.0, 0.0], parameters)
    rates = []
    for tick in range(4000):
        rate = STEER_RATE if state[2] < steer - 1e-9 else 0.0
        inputs = [min(rate, (steer - state[2]) / DT), 0.0]
        change = dynamics(state, inputs, parameters)
        state = [x + DT * dx for x, dx in zip(state, change, strict=True)]
        if tick % 10 == 9:
            rates.append(state[5])
    return {"yaw_rate": rates, "speed": state[3]}


if __name__ == "__main__":
    what, model, *numbers = sys.argv[1:]
    print(json.dumps({"speed": speed, "turn": turn}[what](model, *map(float, numbers))))
