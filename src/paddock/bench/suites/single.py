"""One vehicle: calls of the public `step()`, and ticks inside one `step(1000)`."""

from collections.abc import Iterator
from typing import Any

from paddock.bench.result import Bench, Result, best_time, measured


def run(quick: bool) -> Iterator[Result]:
    """Measure a car with external commands, and a quadrotor with sensors and a behaviour."""
    from paddock import load

    seconds = 0.3 if quick else 1.5
    car = {"clock": {"rate": 1000}, "vehicles": [{"name": "red", "model": "car.bicycle", "speed": 10.0}]}
    with load(car) as sim:
        sim.command("red", steer=0.05, throttle=0.3)
        sim.step(10)
        each = best_time(lambda: _steps(sim), seconds) / 1000
        many = best_time(lambda: sim.step(1000), seconds) / 1000

        def drive() -> None:
            for _ in range(1000):
                sim.command("red", steer=0.05, throttle=0.3)
                sim.step()

        commanded = best_time(drive, seconds) / 1000
    yield measured("car.bicycle: step()", 1.0 / each, "calls/s", ">= 10000")
    yield measured("car.bicycle: command() and step()", 1.0 / commanded, "calls/s", ">= 60000")
    yield measured("car.bicycle: step(1000)", 1.0 / many, "ticks/s", ">= 50000")
    drone = {"name": "fpv", "model": "quad", "pose": [0, 0, 10, 0], "behaviour": "hold", "sensors": ["imu", "gnss"]}
    with load({"clock": {"rate": 1000}, "vehicles": [drone]}) as sim:
        sim.step(10)
        each = best_time(lambda: _steps(sim), seconds) / 1000
    yield measured("quad with behaviour and sensors: step()", 1.0 / each, "calls/s", ">= 10000")


def _steps(sim: Any) -> None:
    for _ in range(1000):
        sim.step()


BENCH = Bench("one vehicle, one step at a time", run)
