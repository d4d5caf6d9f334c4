"""Run by the peers' Python: env-steps per second of crazyflow's environment. Arguments: worlds, substeps, seconds."""

import json
import sys
import time

import jax
import numpy as np
from crazyflow.envs import ReachPosEnv


def main() -> None:
    """Print one JSON object."""
    worlds, substeps, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    envs = ReachPosEnv(num_envs=worlds, freq=500 // substeps, device="cpu")
    envs.reset(seed=0)
    space = envs.single_action_space
    action = np.tile(np.array([0.0, 0.0, 0.0, 0.5 * (space.low[3] + space.high[3])], np.float32), (worlds, 1))

    def work() -> None:
        found = envs.step(action)
        jax.block_until_ready(found[:4])

    work()
    best, calls, end = float("inf"), 0, time.perf_counter() + seconds
    while calls < 3 or time.perf_counter() < end:
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
        calls += 1
    print(json.dumps({"steps_per_second": worlds / best, "substeps": envs.n_substeps}))


if __name__ == "__main__":
    main()
