"""Arrays of sensors at a remote client: the same as in the simulation's process."""

from typing import Any

import numpy as np

import paddock

CAR = {"model": "car.kinematic", "speed": 5, "sensors": [{"lidar": {"beams": 90}}, {"cones": {"delay": [0.01, 0.05]}}]}
SCENARIO = {
    "clock": {"rate": 200, "pace": 0},
    "track": "acceleration",
    "vehicles": [
        {"name": "red", **CAR},
        {"name": "pack", "count": 3, "spawn": {"track": {"first": 1}}, **CAR},
    ],
}


def same(first: Any, other: Any) -> None:
    assert set(first) == set(other)
    for sensor, readings in first.items():
        assert set(readings) == set(other[sensor])
        for name, value in readings.items():
            np.testing.assert_array_equal(value, other[sensor][name], err_msg=f"{sensor}.{name}")


def test_snapshots_and_sensors_of_a_client_equal_those_of_the_simulation(serve: Any) -> None:
    with paddock.load(SCENARIO) as local, paddock.connect(serve(SCENARIO).url) as remote:
        local.step(60)
        remote.step(60)
        mine, theirs = local.snapshot(), remote.snapshot()
        arrays = ("lidar.ranges", "lidar.sample_pose", "cones.detections", "cones.truth", "cones.sample_pose")
        assert theirs["red"].arrays == mine["red"].arrays == arrays
        for array in mine.fleet("pack").arrays:
            assert theirs.fleet("pack")[array].shape == mine.fleet("pack")[array].shape
            np.testing.assert_array_equal(theirs.fleet("pack")[array], mine.fleet("pack")[array])
            np.testing.assert_array_equal(theirs["red"][array], mine["red"][array])
        for target in ("red", "pack"):
            same(remote.vehicles.sensors(target), local.vehicles.sensors(target))
        assert remote.vehicles.sensors("pack")["cones"]["sample_tick"].shape == (3,)


def test_a_control_request_carries_the_arrays(serve: Any) -> None:
    with paddock.load(SCENARIO) as local, paddock.connect(serve(SCENARIO).url) as remote:
        seen = []

        def drive(request: Any) -> Any:
            seen.append((request.tick, request.sensors["red"]))
            return {"red": {"throttle": 0.0}}

        remote.control.on_request("red", handler=drive)
        remote.step(21)
        local.step(20)
        [carried] = [sensors for tick, sensors in seen if tick == 20]
        same(carried, local.vehicles.sensors("red"))
