"""A simulation in one process, a controller in another: `python 07_remote.py [tcp://HOST:PORT]` of a running server."""

import sys

import paddock
from paddock.world.snapshot import CommandRequest

car = {"name": "red", "model": "car.bicycle", "preset": "sports", "pose": [0, 3, 0], "speed": 8}
scenario = {"seed": 4, "clock": {"rate": 500, "pace": 0, "sync": {"every": 5, "timeout": 2}}, "vehicles": [car]}


def drive(request: CommandRequest) -> dict[str, dict[str, float]]:
    """Return to the x axis at 10 m/s; the simulation waits for this reply."""
    red = request.snapshot["red"]
    steer = -0.05 * red.position[1] - 0.6 * red.yaw
    return {"red": {"steer": steer, "throttle": 0.2 * (10 - red.speed)}}


def control(url: str) -> None:
    """Use the same verbs as for a local simulation."""
    with paddock.connect(url, name="controller") as sim:
        sim.control.on_request("red", handler=drive)
        for _ in range(4):
            sim.step(1000)
            red = sim.snapshot()["red"]
            print(f"{sim.time:4.1f} s: {red.position[1]:6.3f} m beside the axis, {red.speed:.2f} m/s")
            sim.world.markers.put(paddock.Marker.text("speed", 1, f"{red.speed:.1f} m/s", frame="red"))


if len(sys.argv) > 1:
    control(sys.argv[1])
else:  # no server running: serve one here
    with paddock.load(scenario) as server, paddock.share(server, zmq={"port": 0}) as host:
        control(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}")
