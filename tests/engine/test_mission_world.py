"""Missions in the world: fleets of every kind complete all tasks with full dynamics, and return home."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError


def fleet(name: str, model: str, preset: str | None, aside: float, z: float) -> dict[str, Any]:
    """An entry of two vehicles, so many metres to the left and right of the base."""
    line = {"start": [0, -aside, z], "end": [0, aside, z]}
    return {"name": name, "count": 2, "model": model, "preset": preset, "spawn": {"line": line}}


TASKS = [
    {"point": {"at": [300, 250]}},
    {"point": {"at": [-350, 200], "heading": 1.0}},
    {"line": {"at": [200, -300], "heading": 0.5, "length": 150}},
    {"circle": {"at": [-300, -200], "heading": 0.0, "radius": 120}},
    {"area": {"at": [100, 400], "heading": 0.0, "length": 200, "spacing": 220, "passes": 2}},
]
PLANES = {
    "clock": {"rate": 20},
    "vehicles": [fleet("uav", "fixed_wing", None, 60, 100)],
    "mission": {"tasks": TASKS, "method": "clustered_greedy"},
}
QUADS = {
    "clock": {"rate": 240},
    "every": {"behaviour": 12},
    "vehicles": [fleet("q", "quad", "long_range", 20, 0)],
    "mission": {
        "method": "clustered_greedy",
        "altitude": 30,
        "speed": 8,
        "separation": {"distance": 10, "height": 4},
        "tasks": [
            {"point": {"at": [100, 50]}},
            {"point": {"at": [-80, 60], "heading": 1.0}},
            {"line": {"at": [50, -100], "heading": 0.5, "length": 60}},
        ],
    },
}
ROVERS = {
    "clock": {"rate": 50},
    "every": {"behaviour": 2},
    "vehicles": [fleet("r", "rover", "outdoor", 5, 0)],
    "mission": {
        "method": "clustered_greedy",
        "tasks": [
            {"point": {"at": [40, 20]}},
            {"point": {"at": [-30, 24], "heading": 1.0}},
            {"line": {"at": [20, -40], "heading": 0.5, "length": 20}},
            {"name": "late", "point": {"at": [8, 50]}, "window": [90, 300]},
        ],
    },
}


def with_mission(scenario: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The same with other fields of its mission."""
    return {**scenario, "mission": {**scenario["mission"], **fields}}


def finished(sim: Simulation, longest: float = 2000.0) -> Simulation:
    """Run until everybody has come to rest."""
    while not _view(sim).finished and sim.time < longest:
        sim.step(round(2.0 * sim.engine.world.clock.rate))
    assert _view(sim).finished
    return sim


def _view(sim: Simulation) -> Any:
    assert sim.mission is not None
    return sim.mission.view()


def kinds(sim: Simulation) -> list[str]:
    """Return the kinds of all events so far."""
    return [event.kind for event in sim.events.since()]


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(PLANES, marks=pytest.mark.slow), QUADS, pytest.param(ROVERS, marks=pytest.mark.slow)],
    ids=["planes", "quads", "rovers"],
)
def test_a_fleet_does_its_tasks_and_comes_home(scenario: dict[str, Any]) -> None:
    """All tasks once, everybody home, within 10 % of the time that the exact flight of the same plan takes."""
    sim = finished(paddock.load(scenario))
    exact = finished(paddock.load(with_mission(scenario, execute="kinematic")))
    view = _view(sim)
    assert [task.state for task in view.tasks] == ["completed"] * len(scenario["mission"]["tasks"])
    assert {vehicle.status for vehicle in view.vehicles} == {"home"}
    assert kinds(sim).count("task_completed") == len(view.tasks)
    assert kinds(sim).count("home") == len(view.vehicles)
    assert view.metrics["makespan"] == pytest.approx(_view(exact).metrics["makespan"], rel=0.1)
    assert view.metrics["travelled"] == pytest.approx(_view(exact).metrics["travelled"], rel=0.05)


def test_hovering_and_ground_vehicles_wait_for_a_window() -> None:
    """A task that opens at 90 s is not begun before, by the vehicle that has it."""
    sim = finished(paddock.load(ROVERS))
    started = next(e.time for e in _view(sim).log if e.kind == "started" and e.task == "late")
    assert started >= 90.0


def test_kinematic_flight_is_exactly_on_its_path() -> None:
    """Without dynamics: after 20 s at 17.5 m/s a vehicle has flown 350 m of its route, and is there."""
    sim = paddock.load(with_mission(PLANES, execute="kinematic"))
    sim.step(400)
    for vehicle in _view(sim).vehicles:
        assert vehicle.progress == pytest.approx(350.0, abs=1e-9)
    run = sim.engine.mission
    assert run is not None
    for k, vehicle in enumerate(run.mission.vehicles):
        here = vehicle.route.path.at(350.0)[0]
        assert sim.snapshot()[f"uav[{k}]"].position == pytest.approx(here[:3], abs=1e-6)


def test_an_aircraft_circles_at_home() -> None:
    """It loiters within two radii of its home, on and on, and uses up no range."""
    sim = finished(paddock.load(PLANES))
    before = [vehicle.travelled for vehicle in _view(sim).vehicles]
    seen = []
    for _ in range(30):
        sim.step(100)
        seen.append(sim.snapshot().fleet("uav").position[:, :2].copy())
    assert np.hypot(*np.concatenate(seen).T).max() < 2.2 * 100.0
    assert np.ptp(np.array(seen), axis=0).min() > 100.0
    assert [vehicle.travelled for vehicle in _view(sim).vehicles] == before


def test_a_quad_with_a_small_battery_returns() -> None:
    """It goes home while its charge is above the reserve, and its remaining tasks are reported."""
    small = {**QUADS["vehicles"][0], "count": 1, "spawn": None, "pose": [0, 0, 0, 0], "parameters": {"capacity": 120.0}}
    small = {key: value for key, value in small.items() if value is not None}
    far = [
        {"point": {"at": [x, y]}} for x, y in ((150, 0), (150, 150), (-150, 150), (-150, -150), (150, -150), (0, 200))
    ]
    sim = finished(paddock.load(with_mission({**QUADS, "vehicles": [small]}, tasks=far)))
    assert "battery_low" in kinds(sim)
    undone = [task for task in _view(sim).tasks if task.state == "undone"]
    assert undone
    assert all(task.reason for task in undone)
    assert sim.snapshot().fleet("q")["charge"][0] > 0.15
    assert np.hypot(*sim.snapshot()["q"].position[:2]) < 1.0


def test_tasks_of_a_damaged_vehicle_are_reassigned() -> None:
    """The tasks of an aircraft that fails half-way are done by the other; it circles where it was."""
    sim = paddock.load(with_mission(PLANES, events=[{"at": 30, "damage": "uav[0]"}]))
    sim.step(20 * 31)
    assert _view(sim).vehicles[0].status == "damaged"
    there, flown = sim.snapshot()["uav[0]"].position[:2].copy(), _view(sim).vehicles[0].travelled
    finished(sim)
    view = _view(sim)
    assert (
        view.vehicles[0].travelled == flown == pytest.approx(17.5 * 30, rel=0.02)
    )  # its circles are not the mission's
    assert view.metrics["travelled"] == sum(vehicle.travelled for vehicle in view.vehicles)
    assert {task.state for task in view.tasks} == {"completed"}
    assert {task.vehicle for task in view.tasks if task.state == "completed"} <= {"uav[0]", "uav[1]"}
    late = [e for e in view.log if e.kind == "completed" and e.time > 31.0]
    assert {e.vehicle for e in late} == {"uav[1]"}
    assert np.hypot(*(sim.snapshot()["uav[0]"].position[:2] - there)) < 2.5 * 100.0
    assert "damaged" in kinds(sim)
    assert "replanned" in kinds(sim)


def test_a_failed_vehicle_comes_to_rest() -> None:
    """A damaged quad lands where it is, a damaged rover stops."""
    quads, rovers = paddock.load(QUADS), paddock.load(ROVERS)
    for sim, name in ((quads, "q[0]"), (rovers, "r[0]")):
        sim.step(round(8 * sim.engine.world.clock.rate))
        sim.mission.damage(name)
        sim.step(round(45 * sim.engine.world.clock.rate))
        assert np.abs(sim.snapshot()[name].velocity).max() < 0.1
    assert quads.snapshot()["q[0]"].position[2] < 0.2


def test_vehicles_tasks_and_zones_are_added_during_the_run() -> None:
    """A vehicle joins at its time, a new task is done, and a new zone is flown around."""
    joining = {"name": "late", "model": "fixed_wing", "pose": [0, 200, 100, 0], "speed": 17.5}
    events = [
        {"at": 20, "vehicle": joining},
        {"at": 25, "task": {"name": "more", "point": {"at": [600, 0]}}},
        {"at": 30, "zone": {"name": "shut", "circle": {"at": [400, 0], "radius": 60}}},
    ]
    sim = paddock.load(with_mission(PLANES, events=events))
    nearest = np.inf
    while not _view(sim).finished:
        sim.step(20)
        if sim.time > 40:
            places = np.concatenate([fleet.position[:, :2] for fleet in sim.snapshot()])
            nearest = min(nearest, np.hypot(*(places - [400, 0]).T).min())
    view = _view(sim)
    assert {task.state for task in view.tasks} == {"completed"}
    assert [vehicle.name for vehicle in view.vehicles] == ["uav[0]", "uav[1]", "late"]
    assert nearest > 55.0
    assert {"joined", "task_added", "zone_added"} <= set(kinds(sim))


def test_an_override_suspends_the_mission_of_a_vehicle() -> None:
    """It follows the override, keeps its place on its route, and goes on when it is given back."""
    sim = paddock.load(ROVERS)
    sim.step(50 * 10)
    sim.behaviours.override("r[0]", {"goto": {"x": 0.0, "y": -5.0, "z": 0.0, "speed": 1.0}})
    sim.step(50 * 60)
    held = _view(sim).vehicles[0].progress
    assert np.hypot(*(sim.snapshot()["r[0]"].position[:2] - [0.0, -5.0])) < 1.5
    sim.step(50 * 5)
    assert _view(sim).vehicles[0].progress == held
    sim.behaviours.override("r[0]", None)
    finished(sim)
    assert {task.state for task in _view(sim).tasks} == {"completed"}


def test_commands_for_vehicles_of_a_mission_are_refused() -> None:
    """A member is driven by its mission."""
    sim = paddock.load(ROVERS)
    with pytest.raises(PaddockError, match=r"r\[0\].*'mission'"):
        sim.command("r[0]", speed=1.0)


@pytest.mark.parametrize("field", [{"behaviour": {"hold": {}}}, {"driver": "external"}, {"commands": {"speed": 1.0}}])
def test_a_vehicle_of_a_mission_has_no_other_driver(field: dict[str, Any]) -> None:
    """The error names its place in the file."""
    wrong = {**ROVERS, "vehicles": [{**ROVERS["vehicles"][0], **field}]}
    with pytest.raises(InvalidValueError, match=rf"vehicles\[0\]\.{next(iter(field))}.*takes part in the mission"):
        paddock.load(wrong)


def test_a_mission_shows_its_routes() -> None:
    """What is left of them, from where the vehicles are to their home."""
    sim = paddock.load(PLANES)
    sim.step(20 * 10)
    routes = [route for route in sim.behaviours.routes() if route.behaviour == "mission"]
    assert len(routes) == 2
    for k, route in enumerate(routes):
        assert route.points[0] == pytest.approx(sim.snapshot()[f"uav[{k}]"].position, abs=30.0)
        assert route.points[-1] == pytest.approx((0, 0, 100 + 25 * k), abs=0.1)  # each in its layer
    assert paddock.load({"vehicles": []}).mission is None


def test_a_joining_vehicle_is_checked_when_the_scenario_is_loaded() -> None:
    """Not when its time comes."""
    wrong = [{"at": 100, "vehicle": {"name": "late", "model": "fixed_wing", "parameters": {"sped": 1.0}}}]
    with pytest.raises(PaddockError, match=r"mission\.events\[0\]\.vehicle\.parameters\.sped"):
        paddock.load(with_mission(PLANES, events=wrong))


def test_a_method_that_stops_by_the_clock_is_refused_in_a_run() -> None:
    """The plan would depend on the machine: no run could be repeated."""
    timed = with_mission(PLANES, method={"routing": {"seconds": 1.0}})
    with pytest.raises(InvalidValueError, match="option 'seconds' of method 'routing' stops by the wall clock"):
        paddock.load(timed)


def test_layers_are_in_the_plan_and_flown() -> None:
    """Two aircraft: the second one is planned and flies 25 m above the first, from the start on."""
    sim = paddock.load(PLANES)
    sim.step(20)
    run = sim.engine.mission
    mission = None if run is None else run.mission
    assert mission is not None and [vehicle.spec.lift for vehicle in mission.vehicles] == [0.0, 25.0]
    assert sim.snapshot().fleet("uav").position[:, 2] == pytest.approx([100.0, 125.0], abs=3.0)


@pytest.mark.parametrize("north", [250.0, -250.0])
def test_an_aircraft_without_tasks_circles_at_home(north: float) -> None:
    """Wherever it starts: also 60 m beside the base, inside its circle of 100 m radius."""
    sim = paddock.load(with_mission(PLANES, tasks=[{"point": {"at": [300, north]}}]))
    sim.step(2400)
    assert "idle" in {vehicle.status for vehicle in _view(sim).vehicles}
    assert np.hypot(*sim.snapshot().fleet("uav").position[:, :2].T).max() < 2.2 * 100.0
