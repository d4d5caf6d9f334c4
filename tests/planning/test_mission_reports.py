"""Missions over radio without a radio: what the station knows from reports, and what vehicles do with late routes."""

from math import inf, nan

import numpy as np
import pytest

from paddock.planning.geometry.shapes import LineShape, PointShape
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.station import VehicleReports
from paddock.planning.solver.problem import LostLink, MissionSetup, Problem, Task, Vehicle
from paddock.world.state import load, save

SPEED = 10.0  # m/s


def drone(name: str = "d", y: float = 0.0) -> Vehicle:
    pose = (0.0, y, 0.0, 0.0)
    return Vehicle(name, pose, pose, SPEED, 0.0, inf, moves="hover")


def point(name: str, x: float, y: float = 0.0) -> Task:
    return Task(name, PointShape(x, y))


class Flight:
    """Vehicles on the x axis and a station; the tests decide what arrives."""

    def __init__(self, tasks: list[Task], vehicles: int = 1, action: str = "return") -> None:
        rules = LostLink(3.0, action, 10.0, 0.0)  # type: ignore[arg-type]
        problem = Problem(tuple(drone(f"d{k}", 100.0 * k) for k in range(vehicles)), tuple(tasks))
        self.mission = Mission(MissionSetup(problem, "greedy", lost_link=rules))
        self.mission.start()
        self.flown = [0.0] * vehicles

    def fly(self, time: float, *progress: float) -> None:
        self.flown = [max(old, new) for old, new in zip(self.flown, progress, strict=True)]
        self.mission.advance_onboard(time, np.array(progress, float), np.array(self.flown))

    def deliver(self, row: int, x: float, y: float = 0.0, number: int | None = None) -> bool:
        """Deliver the newest route, or another, to a vehicle at a place."""
        contact, onboard = self.mission.contact, self.mission.onboard
        assert contact is not None and onboard is not None
        onboard.heard[row] = self.mission.time
        wanted = int(contact.number[row]) if number is None else number
        return onboard.take_up(row, wanted, contact.issued[row][wanted], (x, y, 0.0, 0.0))

    def report(self, row: int, x: float, y: float = 0.0) -> VehicleReports:
        assert self.mission.onboard is not None
        here = np.array([[x, y, 0.0, 0.0]])
        return self.mission.onboard.report(np.array([row]), self.mission.time, np.array([nan]), here)

    def flying(self, row: int = 0) -> list[str]:
        """Return the tasks ahead of a vehicle, as it knows them."""
        assert self.mission.onboard is not None
        vehicle = self.mission.onboard.fleet.vehicles[row]
        return ([vehicle.doing] if vehicle.doing else []) + vehicle.ahead


def together(*reports: VehicleReports) -> VehicleReports:
    """Return reports that arrive in this order."""
    return VehicleReports(*(np.concatenate(values) for values in zip(*reports, strict=True)))


def test_a_vehicle_stays_until_its_route_arrives_and_the_station_knows_by_its_report() -> None:
    flight = Flight([point("a", 100.0), point("b", 200.0)])
    mission = flight.mission
    flight.fly(1.0, 0.0)
    assert mission.update_from_reports() == [] and flight.flying() == []
    flight.deliver(0, 0.0)
    assert flight.flying() == ["a", "b"]
    flight.fly(9.0, 110.0)  # it has passed the first place
    mission.update_from_reports()
    assert mission.tasks["a"].state == "assigned"
    report = flight.report(0, 110.0)
    flight.fly(9.3, 113.0)
    mission.update_from_reports(report)
    assert mission.tasks["a"].completed == 9.3  # when the station learns of it
    assert mission.vehicles[0].progress == 110.0  # what was true when it was sent


def test_reports_that_arrive_in_another_order_do_not_set_the_station_back() -> None:
    flight = Flight([point("a", 100.0), point("b", 200.0)])
    flight.deliver(0, 0.0)
    flight.fly(5.0, 50.0)
    early = flight.report(0, 50.0)
    flight.fly(6.0, 60.0)
    late = flight.report(0, 60.0)
    flight.mission.update_from_reports(together(late, early))
    assert flight.mission.vehicles[0].progress == 60.0


def test_a_late_route_leaves_out_what_is_done_and_starts_where_the_vehicle_is() -> None:
    """The station plans a new task with what it knew at 50 m; the route arrives at 130 m, after the first place."""
    flight = Flight([point("a", 100.0), point("b", 200.0)])
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    flight.deliver(0, 0.0)
    flight.fly(5.0, 50.0)
    mission.add_task(point("c", 300.0))
    assert mission.update_from_reports(flight.report(0, 50.0)) == [0]
    assert mission.vehicles[0].ahead == ["a", "b", "c"]
    flight.fly(13.0, 130.0)
    assert flight.flying() == ["b"]  # the old route
    flight.deliver(0, 130.0)
    assert flight.flying() == ["b", "c"]
    route = onboard.fleet.vehicles[0].route
    assert route.legs[0].start[:2] == (130.0, 0.0)
    assert route.flown == pytest.approx(170.0 + 300.0)  # to the last place, and home
    mission.update_from_reports(flight.report(0, 130.0))
    assert mission.tasks["a"].state == "completed"
    assert mission.vehicles[0].route is route  # reported as it is flown


def test_a_task_in_progress_is_finished_before_a_late_route() -> None:
    """A line of 100 m begins at 100 m; the new route arrives after 40 m of it, and the rest of 60 m comes first."""
    flight = Flight([Task("line", LineShape(100.0, 0.0, 0.0, 100.0))])
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    flight.deliver(0, 0.0)
    flight.fly(8.0, 80.0)
    mission.add_task(point("c", 300.0))
    mission.update_from_reports(flight.report(0, 80.0))
    assert mission.vehicles[0].doing is None  # as the station knows
    flight.fly(14.0, 140.0)
    flight.deliver(0, 140.0)
    first, second, *_ = onboard.fleet.vehicles[0].route.legs
    assert (first.kind, first.task, first.flown) == ("coverage", "line", pytest.approx(60.0))
    assert second.task == "c" and second.start[:2] == pytest.approx((200.0, 0.0))


def test_an_older_route_does_not_replace_a_newer_one() -> None:
    flight = Flight([point("a", 100.0)])
    flight.mission.add_task(point("b", 200.0))
    flight.fly(1.0, 0.0)
    flight.mission.update_from_reports()
    assert flight.deliver(0, 0.0) and flight.flying() == ["a", "b"]
    assert not flight.deliver(0, 0.0, number=1)
    assert flight.flying() == ["a", "b"]


def test_contact_is_lost_and_regained_by_reports_alone() -> None:
    flight = Flight([point("a", 100.0), point("b", 300.0)], action="continue")
    mission = flight.mission
    flight.deliver(0, 0.0)
    flight.fly(2.0, 20.0)
    mission.update_from_reports(flight.report(0, 20.0))
    for time in (4.9, 5.0, 5.1):
        flight.fly(time, SPEED * time)
        mission.update_from_reports()
        assert mission.in_contact(mission.vehicles[0]) is (time <= 5.0)
    flight.fly(20.0, 200.0)
    mission.update_from_reports(flight.report(0, 200.0))
    kinds = [(entry.kind, entry.time) for entry in mission.log if "contact" in entry.kind]
    assert kinds == [("contact_lost", 5.1), ("contact_regained", 20.0)]
    assert mission.tasks["a"].completed == 20.0


def test_vehicle_and_station_count_their_own_time_outs() -> None:
    """The station gets a report at 2 s, the vehicle a packet at 8 s: tasks go to others at 12 s, it returns at 18 s."""
    flight = Flight([point("a", 300.0), point("b", 310.0)], vehicles=2)
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    holder = mission.vehicles[0].row if mission.vehicles[0].ahead else mission.vehicles[1].row
    other = 1 - holder
    for row in (0, 1):
        flight.deliver(row, 0.0, 100.0 * row)
    flight.fly(2.0, *(20.0 if row == holder else 0.0 for row in (0, 1)))
    mission.update_from_reports(together(*(flight.report(row, 0.0) for row in (0, 1))))
    onboard.heard[:] = 8.0
    given_back = left = None
    for tenth in range(21, 200):
        time = tenth / 10
        flight.fly(time, *(10.0 * time if row == holder else 0.0 for row in (0, 1)))
        onboard.heard[other] = time
        if onboard.act_alone(time, None, lambda row: (10.0 * mission.time, 0.0, 0.0, 0.0)) and left is None:
            left = time
        new = mission.update_from_reports(flight.report(other, 0.0))
        if holder not in new and new and given_back is None:
            given_back = time
            assert set(mission.vehicles[other].ahead) == {"a", "b"}
    assert given_back == pytest.approx(12.1, abs=0.11) and left == pytest.approx(18.1, abs=0.11)
    assert flight.flying(holder) == []  # it returns
    log = [(entry.kind, entry.detail) for entry in mission.log if entry.kind in ("lost_link", "given_back")]
    assert log == [("given_back", "2 tasks"), ("lost_link", "it returns")]


@pytest.mark.parametrize(
    ("action", "falls", "log"),
    [
        ("hold", 5.0, [(5.0, "it returns: its battery is low")]),  # 3 s after the last packet, before the time-out
        ("hold", 12.0, [(10.1, "it holds"), (12.0, "it returns: its battery is low")]),
        ("return", 12.0, [(10.1, "it returns")]),  # it is on its way already
        ("continue", 12.0, [(12.0, "it returns: its battery is low")]),
    ],
)
def test_a_vehicle_without_contact_returns_with_a_low_battery(
    action: str, falls: float, log: list[tuple[float, str]]
) -> None:
    flight = Flight([point("a", 500.0)], action=action)
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    flight.deliver(0, 0.0)
    for tenth in range(1, 151):
        time = tenth / 10
        flight.fly(time, min(10.0 * time, 100.0) if action == "hold" else 10.0 * time)
        charge = np.array([0.1 if time >= falls else 0.9])
        onboard.act_alone(time, charge, lambda row: (100.0, 0.0, 0.0, 0.0))
        if time == 11.0:
            assert flight.flying() == (["a"] if action == "continue" else [])
    losses = [(entry.time, entry.detail) for entry in mission.log if entry.kind == "lost_link"]
    assert losses == [(pytest.approx(at), why) for at, why in log]
    vehicle = onboard.fleet.vehicles[0]
    assert vehicle.status in ("returning", "home") and vehicle.route.path.end[:2] == pytest.approx((0.0, 0.0))


def test_a_task_that_two_have_done_is_completed_once() -> None:
    """The tasks of a vehicle without reports are given to another; then its report arrives: it has done one of them."""
    flight = Flight([point("a", 100.0), point("b", 300.0)], vehicles=2)
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    holder = 0 if mission.vehicles[0].ahead else 1
    other = 1 - holder
    for row in (0, 1):
        flight.deliver(row, 0.0, 100.0 * row)
    flight.fly(11.0, *(110.0 if row == holder else 0.0 for row in (0, 1)))
    mission.update_from_reports(flight.report(other, 0.0))
    assert mission.tasks["a"].vehicle == mission.vehicles[other].name
    flight.fly(12.0, *(120.0 if row == holder else 0.0 for row in (0, 1)))
    new = mission.update_from_reports(flight.report(holder, 120.0))
    done = [(entry.vehicle, entry.detail) for entry in mission.log if entry.kind == "completed"]
    assert done == [(mission.vehicles[holder].name, "reported late")]
    assert "a" not in [*mission.vehicles[0].ahead, *mission.vehicles[1].ahead]
    assert set(new) == {0, 1}  # both get new routes: the one to leave it out, the other to continue


def test_routes_on_their_way_are_saved() -> None:
    flight = Flight([point("a", 100.0), point("b", 200.0)])
    flight.deliver(0, 0.0)
    flight.fly(2.0, 20.0)
    report = flight.report(0, 20.0)
    flight.fly(12.0, 120.0)
    flight.mission.add_task(point("c", 300.0))
    flight.mission.update_from_reports(report)
    saved = save(flight.mission)
    again = Flight([point("a", 100.0), point("b", 200.0)])
    load(again.mission, saved)
    again.mission.rebuild()
    assert again.mission.onboard is not None and again.mission.onboard.done == [["a"]]
    for run in (flight, again):
        assert run.flying() == ["b"]
        assert run.deliver(0, 120.0) and run.flying() == ["b", "c"]
        run.mission.update_from_reports(run.report(0, 120.0))
    assert flight.mission.log == again.mission.log


def test_damage_is_logged_when_it_happens_and_the_station_does_not_know() -> None:
    flight = Flight([point("a", 100.0), point("b", 200.0)])
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    flight.deliver(0, 0.0)
    flight.fly(5.0, 50.0)
    mission.update_from_reports(flight.report(0, 50.0))
    mission.damage("d0")
    flight.fly(6.0, 60.0)
    assert mission.update_from_reports() == []
    assert [(entry.time, entry.vehicle, entry.travelled) for entry in mission.log if entry.kind == "damage"] == [
        (6.0, "d0", 60.0)
    ]
    assert onboard.fleet.vehicles[0].status == "damaged" and flight.flying() == []
    assert mission.vehicles[0].status == "transit" and mission.vehicles[0].ahead == ["a", "b"]
    mission.damage("d0")
    flight.fly(7.0, 60.0)
    mission.update_from_reports()
    assert [entry.kind for entry in mission.log].count("damage") == 1


@pytest.mark.parametrize("returns", [False, True])
def test_a_vehicle_that_continues_is_missing_when_it_is_overdue(returns: bool) -> None:
    """A plan of 620 m at 10 m/s ends after 62 s; with the time-out of 10 s, its tasks go to the other one at 72 s."""
    flight = Flight([point("a", 300.0), point("b", 310.0)], vehicles=2, action="continue")
    mission, onboard = flight.mission, flight.mission.onboard
    assert onboard is not None
    holder = 0 if mission.vehicles[0].ahead else 1
    other = 1 - holder
    for row in (0, 1):
        flight.deliver(row, 0.0, 100.0 * row)
    mission.update_from_reports(flight.report(holder, 0.0))
    if not returns:
        mission.damage(mission.vehicles[holder].name)
    length = mission.vehicles[holder].route.flown
    for tenth in range(1, 800):
        way = 0.0 if not returns else min(tenth, 290.0)
        flight.fly(tenth / 10, *(way if row == holder else 0.0 for row in (0, 1)))
        mission.update_from_reports(flight.report(other, 0.0))
        if mission.vehicles[holder].status == "missing":
            break
    assert mission.time == pytest.approx(length / SPEED + 10.0, abs=0.11)
    assert set(mission.vehicles[other].ahead) == {"a", "b"}
    assert [entry.detail for entry in mission.log if entry.kind == "given_back"] == ["2 tasks"]
    if returns:  # it was late, and not damaged
        mission.update_from_reports(flight.report(holder, 290.0))
        assert mission.in_contact(mission.vehicles[holder])
        assert mission.vehicles[holder].status == "returning"  # its new route: the other one keeps the tasks
