"""Scenery that vehicles touch: walls, boxes and cylinders stop every kind of vehicle, cones are knocked over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError

FACE = {"wall": 11.9, "box": 11.8, "cylinder": 11.5}  # m: where a vehicle on the x axis meets the obstacle
STATIC: dict[str, dict[str, Any]] = {
    "wall": {"points": [[12, -15], [12, 15]], "height": 12, "thickness": 0.2},
    "box": {"center": [12, 0], "size": [0.4, 6, 12]},
    "cylinder": {"center": [12, 0], "radius": 0.5, "height": 12},
}
# m/s, height (m), and the distance from the pose to the front of the body (m)
KINDS: dict[str, tuple[float, float, float]] = {
    "car.bicycle": (10.0, 0.0, 2.0),
    "car.full": (10.0, 0.0, 2.0),
    "rover": (0.8, 0.0, 0.06),
    "quad": (8.0, 4.0, 0.15),
    "point": (8.0, 4.0, 0.15),
    "plane": (22.0, 6.0, 0.04),
}
DRIVEN: dict[str, dict[str, Any]] = {
    "rover": {"commands": {"speed": 0.8}},
    "quad": {"behaviour": {"goto": {"x": 40, "y": 0, "z": 4, "speed": 8}}},
    "point": {"commands": {"vx": 8.0}},
}


def driven_at(
    model: str, obstacles: list[dict[str, Any]], rate: float = 200, x: float = 0.0, **more: Any
) -> Simulation:
    speed, z, _ = KINDS[model]
    vehicle = {"name": "a", "model": model, "pose": [x, 0, z, 0], "speed": speed, **DRIVEN.get(model, {}), **more}
    tree = {"clock": {"rate": rate}, "contact": {"friction": 0.0}, "world": {"obstacles": obstacles}}
    return paddock.load({**tree, "vehicles": [vehicle]})


def touches(sim: Simulation) -> list[Any]:
    return [event for event in sim.events.since() if event.kind == "contact"]


@pytest.mark.parametrize("model", KINDS)
def test_walls_boxes_and_cylinders_stop_every_kind_of_vehicle(model: str) -> None:
    """None gets past the face; the impulse is m (1 + e) v, with the restitution e = 0.2."""
    for shape, entry in STATIC.items():
        with driven_at(model, [{"name": "block", shape: entry}], x=11.0 if model == "rover" else 0.0) as sim:
            body = sim.engine.parts.contact.roster.constants
            for _ in range(25):
                sim.step(15)
                assert sim.snapshot()["a"].position[0] < FACE[shape] - KINDS[model][2], (shape, sim.time)
            (first, *_) = touches(sim)
            impulse, speed = (
                float(text) for text in first.detail.partition(": ")[2].replace(" N s at", "").split()[:2]
            )
            assert first.detail.startswith("block")
            if model != "plane":  # its capsule is hit beside its centre of mass and turns
                assert impulse == pytest.approx(1.2 * speed / body[13, 0], rel=0.02)


@pytest.mark.parametrize("model", KINDS)
def test_every_kind_of_vehicle_knocks_over_cones_of_the_world(model: str) -> None:
    flies = KINDS[model][1] > 0.0
    size = {"radius": 0.5, "height": 12, "mass": 0.5} if flies else {"mass": 0.2} if model == "rover" else {}
    cone = {"cone": {"center": [11.5, 0], **size}}
    with driven_at(model, [cone], x=11.0 if model == "rover" else 0.0) as sim:
        assert sim.snapshot()["cones"].position[:2] == pytest.approx([11.5, 0.0])
        before = sim.snapshot()["cones"].position
        sim.step(400)
        moved = np.linalg.norm(sim.snapshot()["cones"].position - before)
        assert {first.subject for first in touches(sim)} | {first.detail.split(":")[0] for first in touches(sim)} == {
            "a",
            "cones",
        }
        assert moved > (0.1 if model == "rover" else 0.5)


def test_a_cone_leaves_with_the_speed_of_a_light_body_that_a_heavy_one_hits() -> None:
    """Its place of impact leaves at (1 + e) times the speed of the car, for a car of 700 times the mass."""
    with driven_at("car.bicycle", [{"cone": {"center": [11.5, 0]}}]) as sim:
        while not touches(sim):
            speed = float(sim.snapshot()["a"].velocity[0])
            sim.step()
        cone = sim.snapshot()["cones"]
        position = np.array([cone[f"contact.{axis}"] for axis in "xyz"])
        hit = cone.velocity + np.cross(cone.angular_velocity, position - cone.position)
        assert hit[0] == pytest.approx(1.2 * speed, rel=0.01)


def test_cones_are_fleets_by_name_and_size_and_rays_see_those_that_stand() -> None:
    """A rangefinder looks down at a cone of 0.5 m: 4.5 m until the car has hit it, then 5 m; so after restoring."""
    cones = [{"cone": {"center": [x, 0.3]}} for x in (10, 14)]
    cones += [{"name": "big one", "cone": {"center": [10, 9, 0.0], "height": 0.75, "radius": 0.18, "mass": 4.0}}]
    scenario = {
        "clock": {"rate": 200},
        "contact": True,
        "world": {"obstacles": [*cones, {"box": {"center": [40, 0], "size": [1, 1, 1]}}]},
        "vehicles": [
            {"name": "cones", "model": "car.bicycle", "pose": [0, 0, 0], "speed": 20},
            {"name": "eye", "model": "quad", "pose": [14, 0.3, 5, 0], "sensors": [{"rangefinder": {"noise": 0}}]},
        ],
    }
    with paddock.load(scenario) as sim:
        assert sorted(sim.engine.world.fleets) == ["big_one", "cones", "cones_0", "eye"]
        assert [obstacle["kind"] for obstacle in sim.world.scenery()["obstacles"]] == ["box"]
        parameters = sim.engine.programs["big_one"].parameters.fields()
        assert (parameters.mass, parameters.height, parameters.length) == (4.0, 0.75, 0.36)
        sim.step(60)
        saved = sim.save()
        assert sim.snapshot()["eye"]["rangefinder.distance"] == pytest.approx(4.5, abs=0.1)
        sim.step(140)
        assert sim.snapshot()["eye"]["rangefinder.distance"] == pytest.approx(5.0, abs=0.1)
        after = sim.state_hash()
        sim.restore(saved)
        sim.step(20)
        assert sim.snapshot()["eye"]["rangefinder.distance"] == pytest.approx(4.5, abs=0.1)
        sim.step(120)
        assert sim.state_hash() == after
    with paddock.load({**scenario, "contact": False}) as sim:  # without contact they are scenery
        assert sorted(sim.engine.world.fleets) == ["cones", "eye"]
        assert [obstacle["kind"] for obstacle in sim.world.scenery()["obstacles"]] == ["box", "cone", "cone", "cone"]


def test_a_vehicle_that_starts_in_a_cone_is_refused() -> None:
    with pytest.raises(PaddockError, match=r"vehicles\[0\].pose: 'a' and 'cones' overlap by 0.0\d m"):
        driven_at("car.bicycle", [{"cone": {"center": [1.0, 0]}}])


@pytest.mark.parametrize(
    ("cone", "problem"),
    [
        ({"radius": 0.0}, "world.obstacles.0..cone.radius.*must be"),
        ({"height": 200}, "must be <= 100, not 200"),
        ({"mass": -1}, "must be > 0, not -1"),
    ],
)
def test_impossible_cones_are_named(cone: dict[str, Any], problem: str) -> None:
    with pytest.raises(PaddockError, match=problem):
        driven_at("point", [{"cone": {"center": [11.5, 0], **cone}}])
