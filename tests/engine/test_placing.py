"""Vehicles placed during a run: state, log and replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.actions import PlaceAction, Posted
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.record.recorder import Recorder
from paddock.record.rerun import verify

Load = Callable[..., Simulation]
CAR = {"name": "red", "model": "car.kinematic", "speed": 5}
BIRDS = {
    "name": "birds",
    "count": 3,
    "model": "quad",
    "spread": {"mass": 0.1},
    "spawn": {"poses": [[0, 0, 9], [4, 0, 9], [8, 0, 9]]},
}


def test_a_placed_vehicle_has_the_state_of_one_that_starts_there(load: Load) -> None:
    sim = load(CAR, BIRDS)
    sim.step(100)
    sim.vehicles.place("red", [10.0, 20.0, 0.0, 1.5], 2.0)
    assert sim.snapshot()["red"].position[0] > 1.0  # with the next tick, as commands
    sim.step(1)
    red, fresh = sim.snapshot()["red"], load({**CAR, "pose": [10, 20, 1.5], "speed": 2})
    fresh.step(1)
    assert red.position.tolist() == fresh.snapshot()["red"].position.tolist()
    assert sim.vehicles.inspect("red")["state"] == fresh.vehicles.inspect("red")["state"]
    assert [(e.tick, e.kind, e.subject, e.detail) for e in sim.events.since()] == [
        (100, "placed", "red", "at 10, 20, 0")
    ]


def test_a_fleet_is_placed_with_arrays(load: Load, tmp_path: Path) -> None:
    sim = load(CAR, BIRDS)
    poses = np.array([[0.0, 0.0, 30.0, 0.5], [10.0, 0.0, 30.0, 1.0], [20.0, 0.0, 30.0, -1.5]])
    with Recorder(sim, str(tmp_path / "run.mcap")):
        sim.step(10)
        sim.vehicles.place("birds", poses, [0.0, 1.0, 2.0], at_tick=20)
        poses[:] = 0.0  # the caller's array stays the caller's
        sim.step(11)
    placed = load(CAR, {**BIRDS, "spawn": {"poses": [[0, 0, 30, 0.5], [10, 0, 30, 1.0], [20, 0, 30, -1.5]]}})
    placed.vehicles.place("birds[1]", [10, 0, 30, 1.0], 1.0)
    placed.vehicles.place("birds[2]", [20, 0, 30, -1.5], 2.0)
    placed.step(1)
    for name in ("birds[0]", "birds[1]", "birds[2]"):
        assert sim.vehicles.inspect(name)["state"] == placed.vehicles.inspect(name)["state"]
    assert [(e.kind, e.subject, e.detail) for e in sim.events.since()] == [("placed", "birds", "3 vehicles")]
    assert verify(tmp_path / "run.mcap").same
    assert paddock.replayed(sim.scenario, sim.control.log.complete(), sim.tick).state_hash() == sim.state_hash()


def test_other_vehicles_and_commands_stay(load: Load) -> None:
    sim, same = load(CAR, BIRDS), load(CAR, BIRDS)
    for world in (sim, same):
        world.command("red", steer=0.1, throttle=0.3)
        world.step(50)
    sim.vehicles.place(3, [0.0, 50.0, 30.0, 0.0], at_tick=60)  # ids by name: birds 1 to 3, red 4
    for world in (sim, same):
        world.step(20)
    assert sim.snapshot()["birds[2]"].position[1] == pytest.approx(50.0, abs=0.1)
    for name in ("red", "birds[0]", "birds[1]"):
        assert sim.vehicles.inspect(name) == same.vehicles.inspect(name)
    own, other = sim.vehicles.inspect("birds[2]"), same.vehicles.inspect("birds[2]")
    assert own["parameters"] == other["parameters"] and own["command"] == other["command"]


def test_replay_and_restore_repeat_a_placement(load: Load) -> None:
    sim = load(CAR, BIRDS)
    sim.step(30)
    sim.vehicles.place("birds[1]", [5.0, 5.0, 20.0, 0.7], at_tick=45)
    saved = sim.save()
    sim.step(40)
    again = paddock.replayed(sim.scenario, sim.control.log.entries, sim.tick)
    assert again.state_hash() == sim.state_hash()
    restored = load(CAR, BIRDS)
    restored.restore(saved)  # it waits in the mailbox
    restored.step(40)
    assert restored.state_hash() == sim.state_hash()
    (posted,) = sim.control.log.entries
    assert Posted.from_tree(posted.to_tree()) == posted
    assert posted.action == PlaceAction("birds[1]", [5.0, 5.0, 20.0, 0.7], 0.0)


def test_a_recording_has_the_placement(load: Load, tmp_path: Path) -> None:
    sim = load(CAR)
    with Recorder(sim, str(tmp_path / "run.mcap")):
        sim.step(20)
        sim.vehicles.place("red", [7.0, 0.0, 0.0, 0.0])
        sim.step(20)
    assert verify(tmp_path / "run.mcap").same


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rd", [0, 0, 0, 0]), "unknown vehicle 'rd'; did you mean 'red'?"),
        (("birds", [0, 0, 0, 0]), r"'birds' is a fleet of 3: give poses \(3, 4\), or place one vehicle, .*birds\[0\]"),
        (("birds", [[0, 0, 0, 0]] * 2), r"'birds' is a fleet of 3: give poses \(3, 4\)"),
        (("birds", np.zeros((40, 4))), r"give poses \(3, 4\), .*, not an array of shape \(40, 4\)$"),
        (
            ("birds", [[0, 0, 0, 0]] * 3, [1.0, 2.0]),
            r"^the speed is a finite number \(m/s\) or 3 of them, not \[1.0, 2.0\]$",
        ),
        (("birds", np.array([[0, 0, 5, 0]] * 2 + [[0, np.nan, 5, 0]])), r"^y of 'birds\[2\]' must be finite, not nan$"),
        (("birds", [[0, 0, 5, 0]] * 3, [1.0, -np.inf, 1.0]), r"^the speed of 'birds\[1\]' must be finite, not -inf$"),
        (("birds", [[0, 0, 0, 0]] * 2 + [[0, 0, 2e7, 0]]), r"not at \[0.0, 0.0, 20000000.0\]"),
        (("red", [0, 0, 0]), r"^'red' is placed at x, y, z \(m\) and yaw \(rad\), not \[0, 0, 0\]$"),
        (("red", [0, 0, float("nan"), 0]), "^z of 'red' must be finite, not nan$"),
        (("red", "here"), r"yaw \(rad\), not 'here'$"),
        (("red", [0, 0, 0, 0], "fast"), r"^the speed is a finite number \(m/s\), not 'fast'$"),
        (("red", [1e12, 0, 0, 0]), "vehicles are placed within"),
        (("red", [0, 0, -0.5, 0]), "vehicles are placed at or above the ground, z >= 0 m, not -0.5"),
        (("birds", [[0, 0, 0, 0]] * 2 + [[0, 0, -3, 0]]), "z >= 0 m, not -3"),
        (("red", [0, 0, 0, 1e300]), r"^yaw of 'red' must lie in -10000 to 10000 rad, not 1e\+300$"),
        (("red", [0, 0, 0, -np.inf]), "^yaw of 'red' must be finite, not -inf$"),
        (("red", [0, 0, 0, 10**400]), "^'red' is placed at x, y, z"),
        (("birds", [[0, 0, 5, 0]] * 2 + [[0, 0, 5, -2e4]]), r"^yaw of 'birds\[2\]' must lie in .* rad, not -20000$"),
        (("red", [0, 0, 0, 0], 1e9), "the speed is at most 10000 m/s"),
    ],
)
def test_invalid_placements_are_refused_immediately(load: Load, arguments: tuple[Any, ...], message: str) -> None:
    sim = load(CAR, BIRDS)
    before = sim.state_hash()
    with pytest.raises(PaddockError, match=message):
        sim.vehicles.place(*arguments)
    assert sim.state_hash() == before and not sim.engine.mailbox.waiting


def test_placing_a_removed_vehicle_is_an_event(load: Load) -> None:
    sim = load(CAR, BIRDS)
    sim.vehicles.place("red", [0.0, 0.0, 0.0, 0.0], at_tick=10)
    sim.remove("red")
    sim.step(20)
    assert [event.kind for event in sim.events.since()] == ["removed", "refused"]
