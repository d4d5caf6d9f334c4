"""A flock of 1,000 drones: each sees only neighbours within 15 m, but all align to one direction."""

import numpy as np

import paddock
from paddock.world.snapshot import Snapshot

scenario = {
    "seed": 7,
    "clock": {"rate": 240},
    "every": {"behaviour": 8, "snapshot": 480},  # ticks: decisions at 30 Hz, a snapshot every 2 s
    "vehicles": [
        {
            "name": "drones",
            "count": 1000,
            "model": "quad",
            "preset": "micro",
            "speed": 4,
            "spawn": {"random": {"low": [-50, -50, 30], "high": [50, 50, 60]}},  # random headings
            "behaviour": {"flock": {"radius": 15, "alignment": 0.8, "z": 45, "range": 50, "homing": 0.1}},
        }
    ],
}


def report(snap: Snapshot) -> None:
    """Print the alignment of the flock: 0 is random directions, 1 is one direction."""
    drones = snap.fleet("drones")  # arrays over the whole fleet: no loop over drones
    speed = np.linalg.norm(drones.velocity, axis=1)
    order = np.linalg.norm((drones.velocity / speed[:, None]).mean(axis=0))
    spread = np.linalg.norm(drones.position - drones.position.mean(axis=0), axis=1).mean()
    print(f"{snap.time:3.0f} s: order {order:.2f}, mean speed {speed.mean():.1f} m/s, spread {spread:.0f} m")


with paddock.load(scenario) as sim:
    sim.clock.watch(report)  # called with every snapshot
    sim.run(until=14, pace=0)  # as fast as possible
