"""Run by the peers' Python: steps per second of f1tenth_gym, one car with its lidar of 1,080 beams. Argument: seconds.

No registry has the package: `pip install git+https://github.com/f1tenth/f1tenth_gym`.
"""

import json
import sys
import time

import gymnasium
import numpy as np


def main() -> None:
    """Print one JSON object."""
    seconds = float(sys.argv[1])
    config = {"map": "Spielberg", "num_agents": 1, "timestep": 0.01, "observation_config": {"type": "original"}}
    env = gymnasium.make("f1tenth_gym:f1tenth-v0", config=config)
    start = {"poses": np.array([[0.0, 0.0, 0.0]])}
    env.reset(options=start)
    action = np.array([[0.0, 1.0]])
    best, calls, end = float("inf"), 0, time.perf_counter() + seconds
    while calls < 3 or time.perf_counter() < end:
        started = time.perf_counter()
        for _ in range(100):
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset(options=start)
        best = min(best, (time.perf_counter() - started) / 100.0)
        calls += 1
    print(json.dumps({"steps_per_second": 1.0 / best}))


if __name__ == "__main__":
    main()
