"""A remote simulation has the same track, to the last bit."""

from typing import Any

import numpy as np

import paddock

CAR = {"name": "car", "model": "car.kinematic"}


def test_the_track_of_a_served_simulation(serve: Any) -> None:
    served = serve({"track": {"name": "harbour"}, "vehicles": [CAR]})
    course = served.sim.world.track
    with paddock.connect(served.url) as sim:
        remote = sim.world.track
        assert remote.name == "harbour" and remote.closed
        assert remote.gates == course.gates and remote.start == course.start
        for name in ("cones", "colours", "centre", "left", "right", "left_width", "curvature", "along", "left_cones"):
            np.testing.assert_array_equal(getattr(remote, name), getattr(course, name))
        assert remote.locate(3.0, 4.0) == course.locate(3.0, 4.0)
        tree = sim.world.scenery()["track"]
        assert tree["colour_names"][0] == "blue" and len(tree["gates"]) == 3


def test_without_a_track(serve: Any) -> None:
    with paddock.connect(serve({"vehicles": [CAR]}).url) as sim:
        assert sim.world.track is None
