"""Run by Paddock's Python: seconds of a step of the MPC of the examples on a circle. Arguments: their folder, steps."""

import json
import sys
import time

import numpy as np


def main() -> None:
    """Print one JSON object."""
    sys.path.insert(0, sys.argv[1])
    from car import Car, Motion
    from line import line_of
    from mpc import Mpc

    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    line = line_of(20.0 * np.column_stack([np.cos(angle), np.sin(angle)]), True, 10.0)
    car, m, taken = Car(), Motion(20.3, 0.0, 0.5 * np.pi, 9.0), []
    mpc = Mpc(car)
    for _ in range(int(sys.argv[2])):
        started = time.perf_counter()
        rate, pull = mpc.step(line, m)
        taken.append(time.perf_counter() - started)
        m = car.moved(m, m.steer + 0.025 * rate, pull, 0.025)
    print(json.dumps({"median": float(np.median(taken))}))


if __name__ == "__main__":
    main()
