"""Vehicles added and removed during a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paddock.engine.actions import SpawnAction
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError, UnknownNameError

Load = Callable[..., Simulation]
CAR = {"name": "red", "model": "car.kinematic", "speed": 5}
SCOUTS = {"name": "scouts", "count": 4, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}


def test_a_spawned_vehicle_exists_immediately(load: Load) -> None:
    sim = load(CAR)
    sim.step(10)
    assert sim.spawn(name="bee", model="quad", pose=[1, 2, 3, 0.5], commands={"mode": "angle"}) == "bee"
    bee = sim.snapshot()["bee"]
    assert bee.position.tolist() == [1.0, 2.0, 3.0] and bee.yaw == pytest.approx(0.5) and bee.id == 2
    assert sim.vehicles.inspect("bee")["command"]["mode"] == 1.0
    assert sim.spawn(model="point") == "point_2"
    assert [(e.tick, e.kind, e.subject, e.detail) for e in sim.events.since()] == [
        (10, "spawned", "bee", "1 x quad"),
        (10, "spawned", "point_2", "1 x point"),
    ]


def test_vehicles_keep_names_ids_and_order_and_ids_are_not_reused(load: Load) -> None:
    sim = load(CAR, SCOUTS)  # ids by name: red 1, scouts 2..5
    sim.remove("scouts[1]")
    sim.remove(5)
    sim.spawn(fleet="scouts", count=2, spawn={"poses": [[7, 0, 0], [8, 0, 0]]})
    fleet = sim.snapshot().fleet("scouts")
    assert list(fleet.names) == ["scouts[0]", "scouts[2]", "scouts[4]", "scouts[5]"]
    assert fleet.ids.tolist() == [2, 4, 6, 7]
    assert fleet.position[2:, 0].tolist() == [7.0, 8.0]
    sim.remove("scouts")
    with pytest.raises(UnknownNameError):
        sim.remove("scouts")
    assert sim.snapshot().fleets == ("red",)


@pytest.mark.parametrize("number", [1, 3, 5])
def test_an_id_cannot_be_reused_after_its_vehicle_was_removed(load: Load, number: int) -> None:
    sim = load(CAR, SCOUTS)
    sim.remove("red")
    sim.remove("scouts[1]")
    before = sim.state_hash()
    with pytest.raises(PaddockError, match=f"vehicle id {number} has already been used in this run"):
        sim.spawn(model="point", id=number)
    assert sim.state_hash() == before
    sim.spawn(name="own", model="point", id=90)
    sim.spawn(name="next", model="point")
    assert (sim.snapshot()["own"].id, sim.snapshot()["next"].id) == (90, 91)
    sim.spawn(name="gap", model="point", id=50)
    sim.remove("gap")
    sim.restore(sim.save())
    with pytest.raises(PaddockError, match="vehicle id 50 "):
        sim.spawn(name="gap", model="point", id=50)
    sim.reset()
    sim.spawn(name="gap", model="point", id=50)


def test_capacity_doubles(load: Load) -> None:
    sim = load(SCOUTS)
    fleet = sim.engine.world.fleets["scouts"]
    capacities = [fleet.capacity]
    for _ in range(13):
        sim.spawn(fleet="scouts", pose=[0, 0, 0])
        capacities.append(fleet.capacity)
    assert capacities == [4] + [8] * 4 + [16] * 8 + [32]
    sim.command("scouts", vx=np.arange(17.0))
    sim.step(2)
    assert fleet.command[0, :17].tolist() == list(range(17))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "quod"}, "vehicles[0].model: unknown model 'quod'; did you mean 'quad'?"),
        ({"model": "point", "name": "red"}, "vehicles[0].name: the name 'red' is already used by a fleet or vehicle"),
        (
            {"model": "point", "modle": 1},
            "vehicles[0].modle: unknown key 'modle' in vehicles[0]; did you mean 'model'?",
        ),
        (
            {"model": "point", "parameters": {"speed_mx": 1.0}},
            "vehicles[0].parameters.speed_mx: unknown parameter 'speed_mx' of point; did you mean 'speed_max'?",
        ),
        (
            {"model": "point", "commands": {"vv": 1.0}},
            "vehicles[0].commands.vv: unknown input 'vv' of point; valid: vx, vy, vz",
        ),
        (
            {"model": "point", "behaviour": {"follow": {"target": "rad"}}},
            "vehicles[0].behaviour.follow.target: unknown vehicle 'rad'; did you mean 'red'?",
        ),
        ({"model": "point", "sensors": ["gns"]}, "vehicles[0].sensors[0]: unknown sensor 'gns'; did you mean 'gnss'?"),
        ({"model": "point", "id": 2}, "vehicles[0].id: vehicle id 2 has already been used in this run"),
        ({"fleet": "scots", "pose": [0, 0, 0]}, "unknown vehicle 'scots'; did you mean 'scouts'?"),
        ({"fleet": "red", "pose": [0, 0, 0]}, "'red' is a single vehicle, not a fleet; give a new name instead"),
        (
            {"fleet": "scouts", "model": "quad"},
            "new members of 'scouts' take commands, count, id, pose, spawn, speed; not 'model'",
        ),
        ({"fleet": "scouts", "count": 2}, "vehicles[0].count: count is 2: add spawn with the start positions"),
        ({"model": "point", "spread": {"mas": 0.1}}, "vehicles[0].spread.mas: unknown parameter 'mas' of point"),
    ],
)
def test_a_refused_spawn_changes_nothing(load: Load, fields: dict[str, Any], message: str) -> None:
    sim = load(CAR, SCOUTS)
    sim.step(5)
    before = sim.state_hash()
    with pytest.raises(PaddockError) as caught:
        sim.spawn(**fields)
    assert str(caught.value).startswith(message)
    assert sim.state_hash() == before and sim.control.log.complete() == []


def test_new_members_start_with_an_empty_memory_and_no_readings(load: Load) -> None:
    patrol = {"patrol": {"path": [[5, 0], [5, 5], [0, 5]], "speed": 5}}
    sim = load({**SCOUTS, "behaviour": patrol, "sensors": [{"gnss": {"rate": 10}}]})
    sim.step(400)
    assert (sim.engine.world.fleets["scouts"].tables["memory"][0, :4] > 0).any()
    sim.spawn(fleet="scouts", pose=[50, 50, 0])
    assert sim.engine.world.fleets["scouts"].tables["memory"][:, 4].tolist() == [0.0, 1.0]
    assert np.isnan(sim.vehicles.sensors("scouts")["gnss"]["x"]).tolist() == [False] * 4 + [True]


def test_a_posted_spawn_happens_at_its_tick(load: Load) -> None:
    from paddock.engine.actions import RemoveAction

    sim = load(CAR)
    sim.engine.applier.post(SpawnAction({"name": "late", "model": "point"}), at_tick=7)
    sim.engine.applier.post(RemoveAction("late"), at_tick=9)
    sim.engine.applier.post(SpawnAction({"model": "quod"}), at_tick=9, source="web")
    sim.step(12)
    assert [(e.tick, e.kind, e.subject) for e in sim.events.since()] == [
        (7, "spawned", "late"),
        (9, "removed", "late"),
        (9, "refused", "web"),
    ]


def test_removals_are_reported_by_name(load: Load) -> None:
    sim = load(CAR, {"name": "scouts", "id": 10, "count": 5, "model": "point", "spawn": {"grid": {"spacing": 3}}})
    for target in (sim.snapshot()["red"].id, 12, "scouts[0]", "scouts"):
        sim.remove(target)
    assert [(event.subject, event.detail) for event in sim.events.since() if event.kind == "removed"] == [
        ("red", "1 vehicle"),
        ("scouts[2]", "1 vehicle"),
        ("scouts[0]", "1 vehicle"),
        ("scouts", "3 vehicles"),
    ]
