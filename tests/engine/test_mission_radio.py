"""Missions over radio: contact with a vehicle is lost and regained, its reports arrive late, others take its tasks."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.scenario import ScenarioError

SPEED = 10.0  # m/s


def scenario(**changes: Any) -> dict[str, Any]:
    """Return two drones with tasks in the east and the north, and a station whose links reach 400 m."""
    via = {"radio": "base", "lost_after": 1.0, "timeout": 5.0, "lost_link": "return", "replan_every": 1.0}
    tree: dict[str, Any] = {
        "clock": {"rate": 20},
        "every": {"behaviour": 2},
        "radio": {"rate": 10, "range": 400, "stations": [{"name": "base", "position": [0, 0, 5]}]},
        "vehicles": [
            {"name": name, "model": "point", "pose": [0, y, 20, 0], "radio": "default"}
            for name, y in (("east", 0.0), ("north", 290.0))
        ],
        "mission": {
            "via": via,
            "altitude": 20,
            "speed": SPEED,
            "separation": None,
            "tasks": [
                {"name": "near", "point": {"at": [300, 0]}},
                {"name": "far", "point": {"at": [430, 0]}},
                {"name": "beyond", "point": {"at": [800, 0]}},
            ],
        },
    }
    tree["mission"]["via"] = {**via, **changes}
    return tree


def kinds(sim: paddock.Simulation, *wanted: str) -> list[tuple[str, str | None]]:
    return [(entry.kind, entry.vehicle) for entry in sim.mission.log if entry.kind in wanted]


def first(sim: paddock.Simulation, kind: str) -> float:
    return next(entry.time for entry in sim.mission.log if entry.kind == kind)


def reach(sim: paddock.Simulation, time: float) -> None:
    sim.step(round((time - sim.time) * 20))


def test_contact_is_lost_at_the_range_and_the_task_beyond_is_reported_on_return() -> None:
    with paddock.load(scenario(lost_link="continue")) as sim:
        reach(sim, 60.0)
        [lost] = [entry for entry in sim.mission.log if entry.kind == "contact_lost"]
        # 400 m at 10 m/s from the station, then 1 s; the drone also accelerates, and links are updated at 10 Hz
        assert lost.vehicle == "east"
        assert lost.time == pytest.approx(400 / SPEED + 1.0, abs=1.5)
        tasks = {task.name: task for task in sim.mission.tasks}
        assert sim.snapshot().fleet("east")["x"][0] > 500.0  # it goes on
        assert tasks["far"].state == "assigned"  # flown over at 43 s, not reported
        reach(sim, 200.0)
        states = {task.name: task.state for task in sim.mission.tasks}
        assert set(states.values()) == {"completed"}
        regained = first(sim, "contact_regained")
        done = {entry.task: entry.time for entry in sim.mission.log if entry.kind == "completed"}
        assert done["far"] == done["beyond"] == regained
        # 800 m out and back to 400 m, and some seconds for braking at each of the points
        assert 120.0 < regained < 140.0
        assert kinds(sim, "lost_link", "replanned") == []


def test_after_the_timeout_it_returns_and_reports_and_the_rest_is_planned_for_those_in_contact() -> None:
    with paddock.load(scenario()) as sim:
        reach(sim, 60.0)
        left = next(entry for entry in sim.mission.log if entry.kind == "lost_link")
        assert left.vehicle == "east"
        assert left.time == pytest.approx(first(sim, "contact_lost") + 4.0, abs=0.3)  # 5 s without a path
        # both tasks are given back: the station does not know that one of them is done
        assert "2 tasks" in left.detail
        given = [entry for entry in sim.mission.log if entry.kind == "assigned" and entry.time >= left.time]
        assert {entry.vehicle for entry in given if entry.time < first(sim, "contact_regained")} == {"north"}
        assert {entry.task for entry in given} >= {"far", "beyond"}
        late = [entry for entry in sim.mission.log if entry.kind == "completed" and entry.detail == "reported late"]
        assert [(entry.task, entry.vehicle) for entry in late] == [("far", "east")]
        assert late[0].time == first(sim, "contact_regained")
        assert len(kinds(sim, "replanned")) >= 2


def test_hold_stays_where_contact_was_lost() -> None:
    tree = scenario(lost_link="hold")
    tree["vehicles"].pop()  # which would come near and relay
    with paddock.load(tree) as sim:
        reach(sim, 60.0)
        x = float(sim.snapshot().fleet("east")["x"][0])
        reach(sim, 70.0)
        assert 440.0 < x < 480.0  # 400 m, and 5 s at 10 m/s
        assert float(sim.snapshot().fleet("east")["x"][0]) == pytest.approx(x, abs=1.0)
        assert not next(one for one in sim.mission.vehicles if one.name == "east").contact


def test_new_routes_wait_for_contact() -> None:
    with paddock.load(scenario(lost_link="continue")) as sim:
        reach(sim, 50.0)
        sim.mission.remove_task("beyond")
        reach(sim, 70.0)
        assert float(sim.snapshot().fleet("east")["x"][0]) > 600.0  # it does not know
        with_contact = {one.name: one.contact for one in sim.mission.vehicles}
        assert with_contact == {"east": False, "north": True}


def test_without_radio_links_nothing_changes() -> None:
    """A mission over radio that is always in contact is the mission without radio."""
    near = scenario()
    near["radio"]["range"] = 5000
    plain = {key: value for key, value in near.items() if key != "radio"}
    plain = {**plain, "mission": {key: value for key, value in near["mission"].items() if key != "via"}}
    plain["vehicles"] = [{key: value for key, value in one.items() if key != "radio"} for one in near["vehicles"]]
    logs = []
    for tree in (near, plain):
        with paddock.load(tree) as sim:
            reach(sim, 80.0)
            logs.append(sim.mission.log)
    assert logs[0] == logs[1]


@pytest.mark.parametrize("action", ["return", "hold"])
def test_saved_and_restored(action: str) -> None:
    with paddock.load(scenario(lost_link=action)) as one, paddock.load(scenario(lost_link=action)) as two:
        reach(one, 52.0)
        saved = one.save()
        reach(one, 110.0)
        two.restore(saved)
        assert two.time == pytest.approx(52.0)
        reach(two, 110.0)
        assert one.state_hash() == two.state_hash()
        assert one.mission.log == two.mission.log


def test_crafted_contact_is_refused() -> None:
    with paddock.load(scenario()) as sim:
        reach(sim, 52.0)
        mission = sim.engine.mission
        assert mission is not None
        good = mission.save()
        for name, value in (
            ("lost", np.ones(7, np.uint8)),
            ("seen", np.full(2, np.nan)),
            ("unreported", {"9": []}),
            ("unreported", {"0": ["nothing"]}),
        ):
            bad = {**good, "mission": {**good["mission"], "contact": {**good["mission"]["contact"], name: value}}}
            with pytest.raises(PaddockError):
                mission.restore(bad)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"radio": "bose"}, "unknown station 'bose'"),
        ({"lost_link": "give up"}, "lost_link"),
        ({"timeout": 0.5}, "before contact is lost"),
    ],
)
def test_mistakes(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        paddock.load(scenario(**change))


def test_vehicles_need_radios_and_dynamics() -> None:
    tree = scenario()
    del tree["vehicles"][1]["radio"]
    with pytest.raises(ScenarioError, match="'north' has no radio"):
        paddock.load(tree)
    tree = scenario()
    tree["mission"]["execute"] = "kinematic"
    with pytest.raises(ScenarioError, match="execute: dynamics"):
        paddock.load(tree)
