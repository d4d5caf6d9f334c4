"""Run by the peers' Python: steps per second of CommonRoad's single-track model. Argument: seconds."""

import json
import sys
import time

from vehiclemodels.init_st import init_st
from vehiclemodels.parameters_vehicle2 import parameters_vehicle2
from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st


def main() -> None:
    """Print one JSON object."""
    parameters = parameters_vehicle2()
    state = init_st([0.0, 0.0, 0.0, 15.0, 0.0, 0.0, 0.0])
    inputs, dt = [0.01, 0.1], 1e-3
    best, end = float("inf"), time.perf_counter() + float(sys.argv[1])
    while time.perf_counter() < end:
        started = time.perf_counter()
        for _ in range(1000):
            change = vehicle_dynamics_st(state, inputs, parameters)
            state = [x + dt * dx for x, dx in zip(state, change, strict=True)]
        best = min(best, time.perf_counter() - started)
        state = init_st([0.0, 0.0, 0.0, 15.0, 0.0, 0.0, 0.0])
    print(json.dumps({"steps_per_second": 1000 / best}))


if __name__ == "__main__":
    main()
