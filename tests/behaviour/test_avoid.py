"""The option `avoid`: vehicles keep clear of other fleets and of obstacles, under every rule that moves them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import paddock
from paddock.behaviour.avoid import avoid_obstacles
from paddock.behaviour.rule import find_rule
from paddock.engine.simulation import Simulation
from paddock.world.solids import obstacles_of

RULES: dict[str, dict[str, Any]] = {
    "goto": {"x": 34, "y": 0, "z": 4},
    "waypoints": {"path": [[0, 0, 4], [34, 0, 4]]},
    "patrol": {"path": [[0, 0, 4], [34, 0, 4]], "turn": "back"},
    "formation": {"x": 34, "y": 0, "z": 4, "speed": 5},
    "follow": {"target": "lead", "distance": 3, "speed": 5},
    "orbit": {"x": 15, "y": 15, "z": 4, "radius": 15},
    "pursue": {"target": "lead", "speed": 5, "tolerance": 5},
}


class Way(NamedTuple):
    """Of a vehicle whose way a post and another vehicle block."""

    clear: float  # m: nearest to the post
    apart: float  # m: nearest to the vehicle
    farthest: float  # m: how far it got
    touches: int


@pytest.fixture(scope="module")
def ways() -> dict[tuple[str, float], Way]:
    """All rules without and with the option, each on a lane of its own, 100 m apart."""
    lanes = [(rule, avoid) for rule in RULES for avoid in (0.0, 2.0)]
    vehicles: list[dict[str, Any]] = []
    for k, (rule, avoid) in enumerate(lanes):
        options = {**RULES[rule], "avoid": avoid}
        if "y" in options:
            options["y"] += 100.0 * k
        if "path" in options:
            options["path"] = [[x, 100.0 * k, z] for x, _, z in options["path"]]
        if "target" in options:
            options["target"] = f"lead[{k}]"
        pose = [0, 100 * k, 4, 0]
        vehicles.append({"name": f"a{k:02}", "model": "point", "pose": pose, "behaviour": {rule: options}})
    for name, x, y in (("lead", 40, 0.0), ("other", 22, 0.2)):
        poses = [[x, 100 * k + y, 4, 0] for k in range(len(lanes))]
        vehicles.append({"name": name, "model": "point", "count": len(lanes), "spawn": {"poses": poses}})
    posts = [{"cylinder": {"center": [15, 100 * k], "radius": 1, "height": 10}} for k in range(len(lanes))]
    places = []
    tree = {"clock": {"rate": 50}, "contact": True, "world": {"obstacles": posts}, "vehicles": vehicles}
    with paddock.load(tree) as sim:
        for _ in range(200):
            sim.step(5)
            snapshot = sim.snapshot()
            own = [snapshot[f"a{k:02}"].position for k in range(len(lanes))]
            places.append(
                np.stack([own, snapshot.fleet("other").position]) - [[[0, 100 * k, 0] for k in range(len(lanes))]]
            )
        touching = [f"{event.subject} {event.detail}" for event in sim.events.since() if event.kind == "contact"]
    (own, other), passed = np.moveaxis(np.array(places), 1, 0), {}
    for k, lane in enumerate(lanes):
        clear = np.hypot(own[:, k, 0] - 15.0, own[:, k, 1]).min() - 1.0
        apart = np.linalg.norm(own[:, k] - other[:, k], axis=1).min()
        touches = sum(f"a{k:02}" in text for text in touching)
        passed[lane] = Way(float(clear), float(apart), float(own[:, k, 0].max()), touches)
    return passed


@pytest.mark.parametrize("rule", RULES)
def test_a_vehicle_passes_what_is_in_its_way(rule: str, ways: dict[tuple[str, float], Way]) -> None:
    assert ways[rule, 0.0].touches > 0
    way = ways[rule, 2.0]
    assert way.touches == 0
    assert way.clear > 1.6 and way.apart > 1.6
    assert way.farthest > (27.0 if rule == "orbit" else 32.0)


def field(seed: int, avoid: float, order: int = 1) -> Simulation:
    """A flock and a formation that cross a field of forty posts and blocks, and each other's way."""
    random, spots = np.random.default_rng(seed), []
    while len(spots) < 40:
        spot = random.uniform(-30, 30, 2)
        if all(np.hypot(*(spot - other)) > 6 for other in spots):
            spots.append(spot)
    obstacles = [
        {"cylinder": {"center": spot.tolist(), "radius": 0.5, "height": 20}}
        if k % 2
        else {"box": {"center": spot.tolist(), "size": [1.2, 0.6, 20], "heading": float(k)}}
        for k, spot in enumerate(spots)
    ]
    flock = {"x": 80, "y": 0, "z": 8, "range": 10, "layer": 3, "avoid": avoid}
    line = {"x": 0, "y": 45, "z": 8, "spacing": 5, "heading": 1.57, "speed": 4, "avoid": avoid}
    start = {"line": {"start": [-8, -45, 8], "end": [8, -45, 8], "heading": 1.57}}
    vehicles = [
        {"name": "flock", "model": "point", "count": 12, "spawn": {"grid": {"spacing": 4, "z": 8, "origin": [-48, 0]}},
         "speed": 3, "behaviour": {"flock": flock}},
        {"name": "line", "model": "point", "count": 5, "spawn": start, "behaviour": {"formation": line}},
    ]  # fmt: skip
    tree = {"seed": seed, "clock": {"rate": 50}, "every": {"behaviour": 2}, "contact": True}
    return paddock.load({**tree, "world": {"obstacles": obstacles}, "vehicles": vehicles[::order]})


def touches(sim: Simulation) -> list[str]:
    """Touches of obstacles and of other fleets; within a flock, its own option `separation` counts."""
    events = [event for event in sim.events.since() if event.kind == "contact"]
    return [e.detail for e in events if not (e.subject.startswith("flock") and e.detail.startswith("flock"))]


@pytest.mark.parametrize("seeds", [[1], pytest.param([0, 2, 3], marks=pytest.mark.slow)])
def test_a_swarm_crosses_fields_of_obstacles_without_contact(seeds: list[int]) -> None:
    """The same without the option touches obstacles in each."""
    for seed in seeds:
        with field(seed, 0.0) as sim:
            sim.step(50 * 30)
            assert len(touches(sim)) >= 3, seed
        with field(seed, 1.5) as sim:
            sim.step(50 * 30)
            assert not touches(sim), (seed, touches(sim))
            assert sim.snapshot().fleet("flock").position[:, 0].min() > 35.0  # all are through
            assert sim.snapshot().fleet("line").position[:, 1].min() > 10.0


def test_it_does_not_depend_on_the_order_of_declaration_and_is_restored() -> None:
    hashes = set()
    for order in (1, -1):
        with field(1, 2.5, order) as sim:
            sim.step(400)
            saved = sim.save()
            sim.step(100)
            hashes.add(sim.state_hash())
            sim.restore(saved)
            sim.step(50)
            sim.step(50)
            hashes.add(sim.state_hash())
    assert len(hashes) == 1


def test_vehicles_of_one_fleet_may_have_different_distances() -> None:
    """Overrides with their own options: only the vehicle that avoids leaves its straight way."""
    posts = [{"cylinder": {"center": [15, y + 1.5], "radius": 0.5, "height": 9}} for y in (0.0, 20.0)]
    pair = {"name": "pair", "model": "point", "count": 2, "spawn": {"poses": [[0, 0, 4, 0], [0, 20, 4, 0]]}}
    with paddock.load({"clock": {"rate": 50}, "world": {"obstacles": posts}, "vehicles": [pair]}) as sim:
        goals = {"x": [30.0, 30.0], "y": [0.0, 20.0], "z": 4.0, "avoid": [0.0, 3.0]}
        sim.behaviours.override("pair", {"goto": goals})
        wide = np.zeros(2)
        for _ in range(100):
            sim.step(5)
            wide = np.maximum(wide, np.abs(sim.snapshot().fleet("pair").position[:, 1] - [0.0, 20.0]))
    assert wide[0] < 1e-6 and 1.0 < wide[1] < 6.0


def test_the_push_of_obstacles_equals_plain_python_and_counts_each_once() -> None:
    """A long wall lies in many cells of the grid; a vehicle abeam of it feels one push, (distance / apart - 1)."""
    from paddock.scenario.scenery import Obstacle

    entries = [{"wall": {"points": [[-40, 3], [40, 3]], "thickness": 2.0}}]
    entries += [{"cylinder": {"center": [float(5 * k), -30.0], "radius": 0.2, "height": 3.0}} for k in range(9)]
    obstacles = obstacles_of(tuple(map(Obstacle.model_validate, entries)), lambda x, y: np.zeros(np.shape(x)))
    seen, random = np.zeros((9, 40)), np.random.default_rng(1)
    seen[:6] = random.normal(0.0, 8.0, (6, 40))
    seen[:6, 0] = 1.0, 0.0, 0.5, 0.0, 0.0, 0.0
    seen[6], seen[7], seen[8] = 6.0, 5.0, 1.0
    compiled, plain = np.zeros((3, 40)), np.zeros((3, 40))
    avoid_obstacles(seen, 40, obstacles.solids, compiled)
    avoid_obstacles.plain(seen, 40, obstacles.solids, plain)
    assert np.array_equal(compiled, plain)
    assert compiled[:, 0] == pytest.approx([0.0, -5.0 * (6.0 / 2.0 - 1.0), 0.0], abs=1e-6)


def test_which_rules_avoid() -> None:
    for rule in (*RULES, "flock", "hold"):
        assert find_rule(rule).options._field_defaults["avoid"] == 0.0  # type: ignore[attr-defined]
