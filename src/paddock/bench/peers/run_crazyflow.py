"""Run by the peers' Python: drone-steps per second of crazyflow under state control. Arguments: drones, seconds."""

import json
import sys
import time

import jax
import numpy as np
from crazyflow.control import Control
from crazyflow.sim import Sim


def main() -> None:
    """Print one JSON object."""
    drones, seconds = int(sys.argv[1]), float(sys.argv[2])
    sim = Sim(n_worlds=drones, n_drones=1, control=Control.state, freq=500, state_freq=100)
    sim.reset()
    command = np.zeros((drones, 1, 16), dtype=np.float32)
    command[..., 2] = 0.5

    def work() -> None:
        sim.state_control(command)
        sim.step(5)

    work()
    jax.block_until_ready(sim.data.states.pos)
    best, calls, end = float("inf"), 0, time.perf_counter() + seconds
    while calls < 3 or time.perf_counter() < end:
        started = time.perf_counter()
        work()
        jax.block_until_ready(sim.data.states.pos)
        best = min(best, time.perf_counter() - started)
        calls += 1
    print(json.dumps({"steps_per_second": 5 * drones / best}))


if __name__ == "__main__":
    main()
