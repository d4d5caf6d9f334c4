"""The state of a mission is complete: saved, restored, hashed, reset, recorded and replayed with its simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation, replayed
from paddock.errors import InvalidValueError, PaddockError
from paddock.record import Recorder, verify
from paddock.serve.describe import simulation_figures

EVENTS = [
    {"at": 12, "task": {"name": "more", "point": {"at": [500, 100]}}},
    {"at": 20, "vehicle": {"name": "late", "model": "fixed_wing", "pose": [0, 200, 100, 0], "speed": 17.5}},
    {"at": 28, "damage": "uav[1]"},
]


def scenario(**fields: Any) -> dict[str, Any]:
    """Three aircraft, random tasks, and events."""
    line = {"start": [0, -60, 100], "end": [0, 60, 100]}
    uav = {"name": "uav", "count": 3, "model": "fixed_wing", "spawn": {"line": line}}
    mission = {"generate": {"tasks": 6, "area": [1500, 1500]}, "events": EVENTS, **fields}
    return {"seed": 5, "clock": {"rate": 20}, "every": {"behaviour": 2}, "vehicles": [uav], "mission": mission}


def interfere(sim: Simulation) -> None:
    """Verbs from outside, at once and later."""
    sim.mission.add_task("extra", line={"at": [-200, 300], "heading": 0.3, "length": 100})
    sim.mission.apply("add_zone", name="shut", circle={"at": [600, 600], "radius": 50}, at_tick=100)
    sim.mission.apply("move_task", task="extra", x=-100.0, y=350.0, at_tick=205)
    sim.mission.apply("add_vehicle", name="third", model="fixed_wing", pose=[0, -200, 100, 0], at_tick=333)


@pytest.mark.parametrize("execute", ["dynamics", pytest.param("kinematic", marks=pytest.mark.slow)])
def test_runs_do_not_depend_on_step_grouping(execute: str) -> None:
    """Same scenario, same verbs: the same hash, in one go or in uneven strides."""
    first, other = paddock.load(scenario(execute=execute)), paddock.load(scenario(execute=execute))
    interfere(first)
    interfere(other)
    first.step(900)
    for ticks in (1, 7, 92, 133, 5, 400, 262):
        other.step(ticks)
    assert first.state_hash() == other.state_hash()


@pytest.mark.parametrize("execute", [pytest.param("dynamics", marks=pytest.mark.slow), "kinematic"])
@pytest.mark.parametrize("at", [437, *(pytest.param(at, marks=pytest.mark.slow) for at in (150, 601))])
def test_restore_and_step_is_step(execute: str, at: int) -> None:
    """A state saved mid-mission goes on as if nothing had applied_events, here and in a new simulation."""
    sim = paddock.load(scenario(execute=execute))
    interfere(sim)
    sim.step(at)
    saved, before = sim.save(), sim.state_hash()
    sim.step(800 - at)
    goal = sim.state_hash()
    sim.restore(saved)
    assert sim.state_hash() == before
    fresh = paddock.load(scenario(execute=execute))
    fresh.restore(saved)
    for again in (sim, fresh):
        again.step(800 - at)
        assert again.state_hash() == goal


def test_a_restored_state_brings_its_seed() -> None:
    """Tasks are inputs from the seed: a state goes on with its own, whatever the simulation was reset to."""
    sim = paddock.load(scenario())
    sim.step(200)
    saved, names = sim.save(), [task.outline.tolist() for task in _view(sim).tasks]
    sim.reset(seed=77)
    assert [task.outline.tolist() for task in _view(sim).tasks][:6] != names[:6]
    sim.restore(saved)
    assert [task.outline.tolist() for task in _view(sim).tasks] == names


def test_reset_starts_the_mission_again() -> None:
    """As a new simulation would."""
    sim = paddock.load(scenario())
    start = sim.state_hash()
    interfere(sim)
    sim.step(700)
    sim.reset()
    assert sim.state_hash() == start
    assert {vehicle.name for vehicle in _view(sim).vehicles} == {"uav[0]", "uav[1]", "uav[2]"}


def test_a_log_replays_the_mission() -> None:
    """Verbs are logged like all that comes from outside."""
    sim = paddock.load(scenario())
    interfere(sim)
    sim.step(500)
    again = replayed(sim.scenario, sim.control.log.complete(), 500)
    assert again.state_hash() == sim.state_hash()
    assert {task.name for task in _view(again).tasks} >= {"extra", "more"}


def test_a_recording_verifies(tmp_path: Path) -> None:
    """What was recorded can be simulated again, to the same hashes."""
    with paddock.load(scenario()) as sim, Recorder(sim, tmp_path / "mission.mcap"):
        interfere(sim)
        sim.step(400)
    result = verify(tmp_path / "mission.mcap")
    assert result.same, result.lines()
    assert result.actions == 4


def test_a_mission_can_be_prepared_later() -> None:
    """A simulation that is not prepared at once is the same once it is."""
    source = paddock.load(scenario()).scenario
    late = Simulation(source, prepared=False)
    late.engine.prepare()
    assert late.state_hash() == Simulation(source).state_hash()


def test_a_vehicle_is_damaged_by_id() -> None:
    sim = paddock.load(scenario())
    fleet, (row,) = sim.engine.world.find("uav[2]")
    sim.mission.damage(int(fleet.ids[row]))
    with pytest.raises(PaddockError, match="no vehicle has the id 77"):
        sim.mission.damage(77)
    sim.step(20)
    assert [vehicle.status == "damaged" for vehicle in sim.mission.vehicles] == [False, False, True]
    assert simulation_figures(sim)["damaged"] == [int(fleet.ids[row])]  # health 0 in telemetry


def test_verbs_are_checked() -> None:
    """Each mistake in one line; nothing of it enters the mission."""
    sim = paddock.load(scenario())
    before = sim.state_hash()
    with pytest.raises(InvalidValueError, match=r"add_task.*exactly one of"):
        sim.mission.add_task("wrong")
    with pytest.raises(InvalidValueError, match="already"):
        sim.mission.add_task("task_0", point={"at": [0, 0]})
    with pytest.raises(PaddockError, match="unknown vehicle"):
        sim.mission.damage("uaw[0]")
    with pytest.raises(PaddockError, match="unknown verb"):
        sim.mission.apply("explode")
    with pytest.raises(PaddockError, match=r"^move_task: missing key 'x' in move_task$"):
        sim.mission.apply("move_task", task="task_0")
    with pytest.raises(InvalidValueError, match=r"^move_task\.x: must be"):
        sim.mission.move_task("task_0", 1e7, 0.0)
    with pytest.raises(InvalidValueError, match=r"^add_task\.point\.at: must be \[x, y\]"):
        sim.mission.apply("add_task", name="later", point={"at": 1}, at_tick=5)
    with pytest.raises(InvalidValueError, match=r"add_vehicle\.behaviour"):
        sim.mission.add_vehicle("more", model="fixed_wing", behaviour="hold")
    assert paddock.load({"vehicles": []}).mission is None
    assert sim.state_hash() == before


def test_a_removed_vehicle_leaves_the_mission() -> None:
    """Its tasks are given to others."""
    sim = paddock.load(scenario(events=[]))
    sim.step(100)
    sim.remove("uav[0]")
    sim.step(100)
    view = _view(sim)
    assert view.vehicles[0].status == "damaged"
    assert not {task.name for task in view.tasks if task.vehicle == "uav[0]" and task.state == "assigned"}
    assert np.isfinite(sim.snapshot().fleet("uav").position).all()


def _view(sim: Simulation) -> Any:
    assert sim.mission is not None
    return sim.mission.view()
