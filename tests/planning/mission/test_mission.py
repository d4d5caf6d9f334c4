"""The state machine of a mission, with observations given by the tests."""

from __future__ import annotations

from math import asin, inf, pi
from typing import Any

import numpy as np
import pytest

from paddock.errors import InvalidValueError, UnknownNameError
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.shapes import AreaShape, LineShape, PointShape
from paddock.planning.geometry.zones import CircleZone
from paddock.planning.metrics import measure
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.world.archive import pack, unpack
from paddock.world.state import load, save


def drone(name: str = "d", range_: float = inf, y: float = 0.0) -> Vehicle:
    pose = (0.0, y, 0.0, 0.0)
    return Vehicle(name, pose, pose, 10.0, 0.0, range_, moves="hover")


def point(name: str, x: float, y: float = 0.0) -> Task:
    return Task(name, PointShape(x, y))


def mission_of(vehicles: list[Vehicle], tasks: list[Task], **setup: object) -> Mission:
    mission = Mission(MissionSetup(Problem(tuple(vehicles), tuple(tasks)), "greedy", **setup))  # type: ignore[arg-type]
    mission.start()
    return mission


def observe(
    mission: Mission, time: float, progress: float, x: float, travelled: float, charge: float | None = None
) -> list[int]:
    """One vehicle on the x axis."""
    poses = np.array([[x, 0.0, 0.0, 0.0]])
    charges = None if charge is None else np.array([charge])
    return mission.observe(time, np.array([progress]), poses, np.array([travelled]), charges)


def test_legs_end_where_they_are_passed() -> None:
    mission = mission_of([drone()], [point("a", 100.0), point("b", 200.0)])
    assert observe(mission, 9.0, 99.0, 99.0, 99.5) == []
    assert mission.tasks["a"].state == "assigned" and mission.vehicles[0].status == "transit"
    observe(mission, 11.0, 99.9995, 100.0, 101.0)  # to within a millimetre
    assert mission.tasks["a"].completed == 11.0
    observe(mission, 50.0, 400.0, 0.0, 402.0)  # a coarse report passes all that is left
    assert mission.vehicles[0].status == "home" and mission.finished
    assert mission.tasks["b"].state == "completed"


def test_a_vehicle_that_exceeds_its_plan_gives_tasks_back() -> None:
    mission = mission_of([drone(range_=420.0)], [point("a", 100.0), point("b", 200.0)])
    observe(mission, 5.0, 50.0, 50.0, 60.0)
    assert mission.vehicles[0].ahead == ["a", "b"]
    new = observe(mission, 9.0, 90.0, 90.0, 115.0)  # 115 flown and 310 ahead are 425
    assert new == [0] and mission.vehicles[0].ahead == ["a"] and mission.vehicles[0].progress == 0.0
    assert mission.tasks["b"].state == "undone" and "m there and back" in mission.tasks["b"].reason
    assert mission.vehicles[0].route.flown == pytest.approx(10.0 + 100.0)


def test_a_task_beyond_the_range_is_undone() -> None:
    assert mission_of([drone(range_=420.0)], [point("b", 200.0)]).tasks["b"].state == "assigned"
    assert mission_of([drone(range_=390.0)], [point("b", 200.0)]).tasks["b"].state == "undone"


def test_a_task_that_would_strand_its_vehicle_is_given_up() -> None:
    mission = mission_of([drone(range_=400.0)], [Task("line", LineShape(100.0, 0.0, 0.0, 80.0))])
    observe(mission, 15.0, 150.0, 150.0, 150.0)
    assert mission.vehicles[0].status == "busy"
    assert observe(mission, 16.0, 160.0, 160.0, 220.0) == [0]  # 20 m of it and 180 m home are too many
    assert mission.vehicles[0].status == "returning"
    assert mission.vehicles[0].route.flown == pytest.approx(160.0)
    assert mission.tasks["line"].state == "undone"


def test_a_low_battery_returns_the_vehicle_and_others_take_over() -> None:
    mission = mission_of([drone("a"), drone("b", y=5000.0)], [point("far", 1000.0)], battery_reserve=0.2)
    assert mission.tasks["far"].vehicle == "a"
    poses = np.array([[500.0, 0.0, 0.0, 0.0], [0.0, 5000.0, 0.0, 0.0]])

    def report(time: float, progress: float, charge: float) -> list[int]:
        poses[0, 0] = progress
        way = np.array([progress, 0.0])
        return mission.observe(time, way, poses, way, np.array([charge, 1.0]))

    assert report(0.0, 0.0, 1.0) == []
    assert report(50.0, 500.0, 0.61) == []  # 0.00078 a metre: 0.39 for the way home
    assert report(60.0, 600.0, 0.49) == [0, 1]  # 0.00085 a metre: 0.51 for the way home leaves less than nothing
    assert mission.vehicles[0].status == "returning" and mission.vehicles[0].spent
    assert mission.tasks["far"].vehicle == "b"


def test_a_busy_vehicle_finishes_first() -> None:
    mission = mission_of([drone()], [Task("line", LineShape(100.0, 0.0, 0.0, 50.0))])
    observe(mission, 12.0, 120.0, 120.0, 120.0)
    mission.add_task(point("new", 150.0, 40.0))
    assert observe(mission, 12.0, 120.0, 120.0, 120.0) == [0]
    legs = mission.vehicles[0].route.legs
    assert [leg.kind for leg in legs] == ["coverage", "transit", "coverage", "return"]
    np.testing.assert_allclose([leg.flown for leg in legs], [30.0, 40.0, 0.0, np.hypot(150.0, 40.0)], atol=1e-9)
    np.testing.assert_allclose(legs[0].start[:2], [120.0, 0.0], atol=1e-9)
    observe(mission, 15.0, 30.0, 150.0, 150.0)
    assert (mission.tasks["line"].started, mission.tasks["line"].completed) == (12.0, 15.0)


def test_a_route_with_an_unchanged_order_is_kept() -> None:
    mission = mission_of([drone("a"), drone("b", y=1000.0)], [point("p", 300.0)])
    route = mission.vehicles[0].route
    mission.add_task(point("q", 10.0, 1000.0))
    progress = np.array([50.0, 0.0])
    poses = np.array([[50.0, 0.0, 0.0, 0.0], [0.0, 1000.0, 0.0, 0.0]])
    assert mission.observe(5.0, progress, poses, progress) == [1]
    assert mission.vehicles[0].route is route and mission.vehicles[0].progress == 50.0
    assert "1 new route, +20 m" in next(entry for entry in mission.log if entry.kind == "replanned").detail


def test_tasks_are_moved_and_removed() -> None:
    mission = mission_of([drone()], [point("a", 100.0), point("b", -400.0)])
    mission.move_task("a", 100.0, 50.0)
    mission.remove_task("b")
    assert observe(mission, 0.0, 0.0, 0.0, 0.0) == [0]
    assert mission.vehicles[0].ahead == ["a"]
    assert mission.vehicles[0].route.flown == pytest.approx(2.0 * np.hypot(100.0, 50.0))
    assert mission.tasks["b"].state == "undone" and mission.tasks["b"].reason == "it was removed"
    with pytest.raises(InvalidValueError, match="was removed"):
        mission.remove_task("b")


def test_a_polygon_moves_with_its_mean() -> None:
    square = ((0.0, 0.0), (200.0, 0.0), (200.0, 200.0), (0.0, 200.0))
    mission = mission_of([drone()], [Task("field", PolygonShape(square, spacing=50.0))])
    mission.move_task("field", 1100.0, 100.0)
    observe(mission, 0.0, 0.0, 0.0, 0.0)
    outline = mission.task("field").shape.outline()
    np.testing.assert_allclose([outline.min(0), outline.max(0)], [[1000.0, 0.0], [1200.0, 200.0]])


def test_invalid_requests_are_refused_immediately() -> None:
    mission = mission_of([drone("alpha")], [point("a", 100.0)])
    with pytest.raises(UnknownNameError, match="did you mean 'alpha'"):
        mission.damage("alfa")
    with pytest.raises(UnknownNameError, match="unknown task 'c'"):
        mission.move_task("c", 0.0, 0.0)
    with pytest.raises(InvalidValueError, match="two numbers"):
        mission.move_task("a", np.nan, 0.0)
    with pytest.raises(InvalidValueError, match="already"):
        mission.add_task(point("a", 1.0))
    mission.add_zone(CircleZone("z", 900.0, 0.0, 10.0))
    with pytest.raises(InvalidValueError, match="already"):
        mission.add_zone(CircleZone("z", 0.0, 900.0, 10.0))
    with pytest.raises(UnknownNameError, match="unknown zone 'y'"):
        mission.remove_zone("y")
    mission.remove_zone("z")  # announced
    with pytest.raises(InvalidValueError, match="already"):
        mission.add_vehicle(drone("alpha"))
    with pytest.raises(InvalidValueError, match="speed"):
        mission.add_vehicle(Vehicle("slow", (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 0.0, 0.0))


def test_a_home_inside_a_zone_is_still_the_destination() -> None:
    mission = Mission(MissionSetup(Problem((drone(),), (point("a", 100.0), point("b", 500.0))), "greedy"))
    run = KinematicRun(mission)
    run.advance(20.0)
    mission.add_zone(CircleZone("base", 0.0, 0.0, 80.0))
    run.finish()
    assert mission.tasks["b"].state == "undone"
    assert mission.tasks["b"].reason == "the base lies in the no-fly zone 'base'"
    assert any(e.kind == "base_closed" and "return there all the same" in e.detail for e in mission.log)
    assert mission.vehicles[0].status == "home"
    np.testing.assert_allclose(run.poses()[0, :2], [0.0, 0.0], atol=1e-9)


def test_aircraft_wait_outside_a_zone_that_closes_their_home() -> None:
    """A zone of 400 m around home: a circle of 80 m that touches neither it nor its clearance of 10 m."""
    home, zone = (0.0, 0.0, 50.0, 0.0), CircleZone("base", 0.0, 0.0, 400.0)
    planes = [Vehicle(name, home, home, 15.0, 80.0, 2e4, aloft=name == "idle") for name in ("busy", "idle")]
    problem = Problem(tuple(planes), (point("a", 1500.0, 0.0),), clearance=10.0)
    mission = Mission(MissionSetup(problem, "greedy", replan=True))
    run = KinematicRun(mission)
    run.advance(60.0)
    mission.add_zone(zone)
    run.finish()
    (reported,) = [entry.detail for entry in mission.log if entry.kind == "base_closed"]
    assert reported == "home lies in the no-fly zone 'base': aircraft wait outside in circles"
    assert [vehicle.status for vehicle in mission.vehicles] == ["diverted", "diverted"]
    ends = [(entry.vehicle, entry.detail) for entry in mission.log if entry.kind == "state"][-2:]
    assert sorted(ends) == [("busy", "diverted"), ("idle", "diverted")] and mission.finished
    assert all(vehicle.seconds["home"] == 0.0 for vehicle in measure(mission).vehicles)
    assert mission.tasks["a"].state == "completed"
    for vehicle in mission.vehicles:
        circle = mission.loiter_path(vehicle)
        ring = circle.at(np.linspace(0.0, circle.flown, 200))[:, :2]
        away = [zone.distance(x, y) for x, y in ring.tolist()]
        assert 9.9 < min(away) < 20.0 and circle.length == pytest.approx(2.0 * pi * 80.0)
        np.testing.assert_allclose(run.poses()[vehicle.row, :2], circle.start[:2], atol=1e-6)
    poses = trace(run, 0.5).poses[:, 0]
    later = trace(run, 0.5).times > 60.0
    inner = [zone.contains(x, y) for x, y in poses[later, :2].tolist()]
    assert not any(inner)  # it was outside when the zone appeared


WALL = CircleZone("wall", 500.0, 0.0, 200.0)


@pytest.mark.parametrize("replan", [True, False])
def test_a_zone_that_is_open_again_is_crossed(replan: bool) -> None:
    """1,000 m straight instead of two tangents of sqrt(500^2 - 200^2) m and an arc of 2 asin(0.4) 200 m, both ways."""
    around = 2.0 * (2.0 * (500.0**2 - 200.0**2) ** 0.5 + 400.0 * asin(0.4))
    for opens, wanted in ((False, around), (True, 2000.0)):
        problem = Problem((drone(),), (point("far", 1000.0),), (WALL,))
        run = KinematicRun(Mission(MissionSetup(problem, "greedy", replan=replan)))
        run.advance(0.0)
        if opens:
            run.mission.remove_zone("wall")
        run.finish()
        assert run.mission.vehicles[0].travelled == pytest.approx(wanted, rel=1e-3)
        assert ("zone_removed" in {entry.kind for entry in run.mission.log}) == opens


def test_tasks_in_a_zone_that_is_open_again_are_done() -> None:
    events = (ScheduledEvent(10.0, remove_zone="wall"), ScheduledEvent(20.0, remove_zone="wall"))
    problem = Problem((drone(),), (point("in", 500.0), point("out", 0.0, 300.0)), (WALL,))
    mission = Mission(MissionSetup(problem, "greedy", events=events))
    run = KinematicRun(mission)
    run.advance(5.0)
    assert mission.tasks["in"].state == "undone" and mission.zones == (WALL,)
    run.finish()
    assert mission.tasks["in"].state == "completed" and mission.zones == ()
    assert [entry.time for entry in mission.log if entry.kind == "zone_removed"] == [10.0]
    assert mission.zones_at(5.0) == (WALL,) and mission.zones_at(10.0) == ()


def test_a_home_that_is_open_again_is_returned_to() -> None:
    home, zone = (0.0, 0.0, 50.0, 0.0), CircleZone("base", 0.0, 0.0, 400.0)
    plane = Vehicle("p", home, home, 15.0, 80.0, 2e4)
    mission = Mission(MissionSetup(Problem((plane,), (point("a", 1500.0, 0.0),), clearance=10.0), "greedy"))
    run = KinematicRun(mission)
    run.advance(60.0)
    mission.add_zone(zone)
    run.advance(30.0)
    mission.remove_zone("base")
    mission.add_zone(CircleZone("base", 0.0, 3000.0, 50.0))  # the name is free again
    run.finish()
    assert mission.tasks["a"].state == "completed"
    np.testing.assert_allclose(run.poses()[0, :2], [0.0, 0.0], atol=1e-6)


def test_an_aircraft_circles_at_home_away_from_a_zone() -> None:
    """The zone lies to the left of home, where circles are flown otherwise."""
    home = (0.0, 0.0, 50.0, 0.0)
    plane = Vehicle("p", home, home, 15.0, 80.0)
    mission = Mission(MissionSetup(Problem((plane,), (), (CircleZone("z", 0.0, 150.0, 60.0),)), "greedy"))
    assert mission.loiter_path(mission.vehicles[0]).at([251.0])[0, 1] == pytest.approx(-160.0, abs=1.0)


def test_aircraft_circle_at_home_and_others_stop() -> None:
    home = (10.0, 20.0, 100.0, 0.5)
    plane = Vehicle("p", home, home, 17.5, 80.0)
    mission = mission_of([plane, drone()], [])
    circle = mission.loiter_path(mission.vehicles[0])
    assert circle.length == pytest.approx(2.0 * pi * 80.0)
    np.testing.assert_allclose(circle.at([0.0, circle.flown])[:, :3], [home[:3]] * 2, atol=1e-6)
    assert mission.loiter_path(mission.vehicles[1]).length == 0.0


def test_a_restored_state_continues_identically() -> None:
    home = (0.0, 0.0, 50.0, 0.0)
    plane = Vehicle("p", home, home, 15.0, 40.0, 9000.0)
    area = Task("area", AreaShape(200.0, 100.0, 0.3, 200.0, 90.0, 3))
    setup = MissionSetup(Problem((plane,), (area, point("a", -300.0, 50.0)), (), (2.0, 1.0)), "greedy")

    def run(*, saved: bool) -> tuple[object, ...]:
        run = KinematicRun(Mission(setup))
        run.advance(30.0)
        run.mission.add_task(point("b", 100.0, -200.0))  # asked for, not yet done when it is saved
        run.mission.add_zone(CircleZone("y", 150.0, 160.0, 40.0))
        run.advance(1.0)
        run.mission.add_zone(CircleZone("z", -150.0, 20.0, 60.0))
        run.mission.remove_zone("y")
        if saved:
            kept, run = save(run), KinematicRun(Mission(setup))
            load(run, kept)
            run.rebuild()
        assert [zone.name for zone in run.mission.zones] == ["y"]
        run.advance(5.0)
        assert [zone.name for zone in run.mission.zones] == ["z"]
        if saved:
            kept, run = save(run), KinematicRun(Mission(setup))
            load(run, kept)
            run.rebuild()
        run.finish()
        return run.mission.log, run.time, run.poses().tobytes(), run.mission.vehicles[0].travelled

    assert run(saved=True) == run(saved=False)


def test_tasks_keep_their_order_in_an_archive() -> None:
    """An archive sorts names: task_10 would come before task_2, and plans depend on the order."""
    names = [f"task_{k}" for k in (2, 10, 1)]
    mission = mission_of([drone()], [point(name, 100.0 * k) for k, name in enumerate(names)])
    restored = mission_of([drone()], [point(name, 100.0 * k) for k, name in enumerate(names)])
    saved = unpack(pack(save(mission)))
    load(restored, saved)
    restored.rebuild()
    assert list(restored.tasks) == list(mission.tasks) == names
    with pytest.raises(InvalidValueError, match=r"tasks\[1\]: has a key twice"):
        load(restored, {**saved, "tasks": [saved["tasks"][0], *saved["tasks"][:2]]})


@pytest.mark.parametrize(
    "wrong", [{"damage": "x"}, {"remove_task": "x"}, {"move_task": ["x", 0.0, 0.0]}, {"damage": 3}, {"move_task": "p"}]
)
def test_saved_requests_that_name_nothing_are_refused(wrong: dict[str, Any]) -> None:
    mission = mission_of([drone()], [point("p", 300.0)])
    mission.move_task("p", 200.0, 0.0)
    saved = unpack(pack(save(mission)))
    load(mission, saved)
    assert mission.queue[0].move_task == ("p", 200.0, 0.0)
    names = ("at", "task", "damage", "vehicle", "zone", "remove_zone", "move_task", "remove_task")
    request = {**dict.fromkeys(names), "at": 0.0, **wrong}
    with pytest.raises(InvalidValueError, match=r"a request names|queue\[0\]\.(damage|move_task): is "):
        load(mission, {**saved, "queue": [[*request.values()]]})


def test_simultaneous_failures_are_all_causes() -> None:
    mission = mission_of([drone("a"), drone("b"), drone("c")], [point("p", 300.0)])
    for name in "abc":
        mission.damage(name)
    mission.observe(0.0, np.zeros(3), np.zeros((3, 4)), np.zeros(3))
    detail = next(entry for entry in mission.log if entry.kind == "replanned").detail
    assert detail.startswith("damage of a and 2 more: 0 new routes")


def test_a_low_battery_stays_the_reason() -> None:
    mission = mission_of([drone("a")], [point("p", 300.0)])
    here = np.array([[250.0, 0.0, 0.0, 0.0]])
    mission.observe(0.0, np.zeros(1), np.zeros((1, 4)), np.zeros(1), np.ones(1))
    mission.observe(25.0, np.array([250.0]), here, np.array([250.0]), np.array([0.19]))
    assert mission.tasks["p"].reason == "its vehicle a returned with 19.0 % of its charge"
