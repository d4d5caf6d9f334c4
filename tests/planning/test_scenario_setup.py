"""From scenarios to problems: limits of vehicles from their presets, and errors with their location."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from typing import Any

import pytest
import yaml

from paddock.errors import PaddockError
from paddock.planning import plan, simulate
from paddock.planning.from_scenario import setup_of
from paddock.planning.solver.problem import MissionSetup, Vehicle
from paddock.scenario import load_scenario

POINT = {"name": "p", "point": {"at": [500, 0]}}
QUICK: dict[str, Any] = {"method": "greedy", "tasks": [POINT]}


def setup(vehicles: list[dict[str, Any]] | None = None, **mission: Any) -> MissionSetup:
    fleet = {} if vehicles is None else {"vehicles": vehicles}
    return setup_of(load_scenario({"name": "m", **fleet, "mission": QUICK | mission}))


def planned_vehicle(vehicle: dict[str, Any], **mission: Any) -> Vehicle:
    (vehicle,) = setup([{"name": "v", **vehicle}], **mission).problem.vehicles
    return vehicle


# vehicles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "tightest", "planned", "speed", "climb"),
    [("survey", 80.0, 100.0, 17.5, 3.0), ("mapper", 64.0, 80.0, 17.5, 4.0)],
)
def test_fixed_wings_turn_wider_than_the_minimum(
    preset: str, tightest: float, planned: float, speed: float, climb: float
) -> None:
    vehicle = planned_vehicle({"model": "fixed_wing", "preset": preset, "pose": [0, 0, 100, 0]})
    assert (vehicle.moves, vehicle.radius, vehicle.tightest, vehicle.speed) == ("aircraft", planned, tightest, speed)
    assert vehicle.slope == pytest.approx(climb / speed)
    assert (vehicle.range, vehicle.height, vehicle.reverse) == (20_000.0, 100.0, False)


def test_mission_settings_override_the_model() -> None:
    settings = {"turn_radius": 90, "speed": 15, "range": 9000, "reserve": 500, "altitude": 70, "base": [5, 6, 1]}
    vehicle = planned_vehicle({"model": "fixed_wing", "preset": "mapper", "pose": [0, 0, 100, 0]}, **settings)
    assert (vehicle.radius, vehicle.speed, vehicle.range, vehicle.height) == (90.0, 15.0, 8500.0, 70.0)
    assert (vehicle.home, vehicle.tightest) == ((5.0, 6.0, 70.0, 1.0), 64.0)
    assert planned_vehicle({"model": "fixed_wing", "pose": [0, 0, 9, 0]}, range=None, base=[5, 6, 40, 1]).range == inf


def test_ground_vehicles_stay_on_the_ground_and_may_reverse() -> None:
    car = planned_vehicle({"model": "car.bicycle"}, speed=2.0)
    assert (car.moves, car.reverse, car.height, car.home[2]) == ("ground", True, 0.0, 0.0)
    assert 4.0 < car.radius < 12.0  # 1.25 times the minimum: wheelbase / tan(steering angle)
    assert planned_vehicle({"model": "car.bicycle"}, speed=20.0).radius == pytest.approx(1.25 * 20.0**2 / 2.5)
    rover = planned_vehicle({"model": "rover"})
    assert rover.moves == "ground" and 0.0 < rover.speed <= 1.0 and isfinite(rover.radius)


def test_turn_radius_of_hovering_vehicles_follows_from_speed() -> None:
    quad = planned_vehicle({"model": "quad", "pose": [0, 0, 20, 0]}, speed=5.0)
    assert quad.moves == "hover" and quad.radius == pytest.approx(5.0**2 / 2.5)  # v^2 / 2.5 m/s2
    assert planned_vehicle({"model": "quad", "pose": [0, 0, 20, 0]}, speed=5.0, turn_radius=0).radius == 0.0


def test_without_vehicles_four_aircraft_stand_side_by_side() -> None:
    vehicles = setup(base=[0, 0, 0]).problem.vehicles
    assert [vehicle.name for vehicle in vehicles] == ["uav[0]", "uav[1]", "uav[2]", "uav[3]"]
    ys = [vehicle.pose[1] for vehicle in vehicles]
    assert [b - a for a, b in pairwise(ys)] == pytest.approx([60.0] * 3)
    assert {vehicle.radius for vehicle in vehicles} == {100.0}


def test_only_listed_entries_take_part() -> None:
    fleet = [{"name": name, "model": "quad", "pose": [k, 0, 20, 0]} for k, name in enumerate(("zeta", "alpha", "mid"))]
    vehicles = setup(fleet, members=["zeta", "alpha"]).problem.vehicles
    assert [vehicle.name for vehicle in vehicles] == ["alpha", "zeta"]


# tasks, zones, events ------------------------------------------------------------------------------------------------


def test_a_camera_gives_the_spacing() -> None:
    """1-inch sensor at 120 m: 13.2 / 8.8 * 120 m = 180 m across, 60 % of which overlap."""
    camera = {"width_px": 5472, "height_px": 3648, "sensor_width_mm": 13.2, "sensor_height_mm": 8.8,
              "focal_length_mm": 8.8, "side_overlap": 0.6}  # fmt: skip
    field = {"outline": [[0, 0], [1000, 0], [1000, 720], [0, 720]], "camera": camera, "angle": 0.0}
    (task,) = setup(altitude=120, tasks=[{"name": "field", "polygon": field}]).problem.tasks
    path = task.shape.path(30.0)
    straight = sum(segment.length for segment in path.segments if segment.curvature == 0.0 and segment.length > 900.0)
    assert straight == pytest.approx(1000.0 * 10, rel=0.1)  # 720 m in swaths of 72 m


def test_windows_heights_and_names_are_passed_on() -> None:
    tasks = [{"name": "late", "point": {"at": [1, 2], "heading": 0.5}, "window": [10, 20], "altitude": 55}]
    (task,) = setup(tasks=tasks).problem.tasks
    assert (task.name, task.opens, task.closes, task.z, tuple(task.entry)) == (
        "late",
        10.0,
        20.0,
        55.0,
        (1.0, 2.0, 0.5),
    )


def test_events_come_in_their_order_and_damage_may_mean_all() -> None:
    events = [{"at": 9, "damage": "uav"}, {"at": 3, "zone": {"name": "z", "circle": {"at": [9, 9], "radius": 5}}}]
    scheduled = setup(events=events).events
    assert [event.at for event in scheduled] == [3, 9, 9, 9, 9]
    assert {event.damage for event in scheduled[1:]} == {f"uav[{k}]" for k in range(4)}


def test_generated_tasks_are_added() -> None:
    problem = setup(generate={"tasks": 7}).problem
    assert len(problem.tasks) == 8 and len({task.name for task in problem.tasks}) == 8


def test_the_rest_of_the_setup() -> None:
    problem = setup(method={"annealing": {"steps": 50}}, replan=False, separation=None, execute="kinematic")
    assert (problem.method, dict(problem.options), problem.replan) == ("annealing", {"steps": 50}, False)
    assert (problem.separation, problem.execute, problem.battery_reserve) == (None, "kinematic", 0.2)


# places in errors ----------------------------------------------------------------------------------------------------

WRONG = {
    "speed: 300": ("5:10", "'uav' is at most 25 m/s fast, not 300"),
    "turn_radius: 20": ("5:16", "'uav' cannot turn more tightly than 80 m, not 20 m"),
    "zones: [{name: z, polygon: [[0, 5], [4, 9], [4, 5], [0, 9]]}]": (
        "5:11",
        "zone 'z': its border crosses",
    ),
    "events: [{at: 1, task: {name: t, circle: {at: [0, 0], heading: 0, radius: 10}}}]": (
        "5:12",
        "task 't': a circle of 10 m",
    ),
    "method: greedi": ("5:11", "unknown planning method 'greedi'; did you mean 'greedy'?"),
    "method: {annealing: {step: 3}}": ("5:11", "unknown option"),
}


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_reported_with_their_places(line: str, tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(f"name: m\nseed: 1\nmission:\n  tasks: [{{name: p, point: {{at: [500, 0]}}}}]\n  {line}\n")
    mark, message = WRONG[line]
    with pytest.raises(PaddockError) as caught:
        setup_of(load_scenario(str(file)))
    said = str(caught.value)
    assert said.startswith(f"{file}:{mark}: ") and message in said and said.count(str(file)) == 1 and "\n" not in said


def test_too_strong_wind_is_reported_where_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("name: m\nworld: {wind: [30, 0, 0]}\n" + yaml.safe_dump({"mission": QUICK}))
    with pytest.raises(PaddockError, match=r"m\.yaml:2:15: vehicle 'uav\[0\]': a wind of 30 m/s leaves no way forward"):
        setup_of(load_scenario(str(file)))


# plans ---------------------------------------------------------------------------------------------------------------


def test_plan_accepts_every_form_of_a_scenario(tmp_path: Path) -> None:
    values = {"name": "m", "mission": QUICK}
    (tmp_path / "m.yaml").write_text(yaml.safe_dump(values))
    plans = [plan(source) for source in (values, yaml.safe_dump(values), tmp_path / "m.yaml", load_scenario(values))]
    assert len({answer.total for answer in plans}) == 1 and plans[0].done == 1
    assert plan(values, "hungarian").method == "hungarian"
    assert plan(values, objective="makespan").problem.objective == "makespan"
    with pytest.raises(PaddockError, match="unknown objective"):
        plan(values, objective="fast")  # type: ignore[arg-type]
    with pytest.raises(PaddockError, match="has no mission"):
        plan("race")


@pytest.mark.slow
def test_the_demo_is_planned_and_flown_to_its_end() -> None:
    """Everything can be done at first; after a new task, damage and a new zone still nothing is left."""
    run = simulate("survey")
    begun = run.mission.plan
    assert begun is not None and begun.undone == () and begun.done == 14
    assert {job.state for job in run.mission.tasks.values()} == {"completed"} and len(run.mission.tasks) == 15
    kinds = {entry.kind for entry in run.mission.log}
    assert {"task", "damage", "zone", "replanned"} <= kinds and "stranded" not in kinds
    assert sum(vehicle.status == "home" for vehicle in run.mission.vehicles) == 3


def test_a_camera_gives_the_spacing_of_swaths() -> None:
    """A Phantom 4 Pro sees 150 m at 100 m; with 70 % side overlap swaths are 45 m apart."""
    camera = {"width_px": 5472, "height_px": 3648, "sensor_width_mm": 13.2, "sensor_height_mm": 8.8}
    camera |= {"focal_length_mm": 8.8, "side_overlap": 0.7}
    field = {"outline": [[0, 0], [400, 0], [400, 400], [0, 400]], "camera": camera}
    (task,) = setup(altitude=100, tasks=[{"name": "field", "polygon": field}]).problem.tasks
    assert task.shape.spacing == pytest.approx(45.0)  # type: ignore[attr-defined]
