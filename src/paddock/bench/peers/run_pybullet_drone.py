"""Run by the peers' Python: env-steps per second of gym-pybullet-drones. Arguments: substeps, seconds.

No registry has the package, so only the calls of PyBullet that a step of its hover environment makes are measured: an
upper bound of its rate.
"""

import json
import sys
import time


def calls_alone(substeps: int) -> object:
    """Return a function that makes the calls of a step: forces of four rotors, a torque, a step; then the state."""
    import pybullet as p

    p.connect(p.DIRECT)
    p.setGravity(0.0, 0.0, -9.8)
    p.setTimeStep(1.0 / 240.0)
    p.createMultiBody(0.0, p.createCollisionShape(p.GEOM_PLANE))
    shape = p.createCollisionShape(p.GEOM_CYLINDER, radius=0.06, height=0.025)
    body = p.createMultiBody(0.027, shape, basePosition=[0.0, 0.0, 1.0])
    lift = 0.027 * 9.8 / 4.0
    arms = ([0.028, -0.028, 0.0], [-0.028, -0.028, 0.0], [-0.028, 0.028, 0.0], [0.028, 0.028, 0.0])

    def work() -> None:
        for _ in range(substeps):
            for arm in arms:
                p.applyExternalForce(body, -1, forceObj=[0.0, 0.0, lift], posObj=arm, flags=p.LINK_FRAME)
            p.applyExternalTorque(body, -1, torqueObj=[0.0, 0.0, 0.0], flags=p.LINK_FRAME)
            p.stepSimulation()
        _, quaternion = p.getBasePositionAndOrientation(body)
        p.getEulerFromQuaternion(quaternion)
        p.getBaseVelocity(body)

    return work


def main() -> None:
    """Print one JSON object."""
    substeps, seconds = int(sys.argv[1]), float(sys.argv[2])
    work, name = calls_alone(substeps), "PyBullet's part of gym-pybullet-drones"
    best, calls, end = float("inf"), 0, time.perf_counter() + seconds
    while calls < 3 or time.perf_counter() < end:
        started = time.perf_counter()
        for _ in range(100):
            work()
        best = min(best, (time.perf_counter() - started) / 100.0)
        calls += 1
    print(json.dumps({"steps_per_second": 1.0 / best, "name": name}))


if __name__ == "__main__":
    main()
