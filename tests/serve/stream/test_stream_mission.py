"""A mission over the stream endpoint: described, changed, refused; notifications only after changes."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.errors import PaddockError
from paddock.record import Player, Recorder
from paddock.serve.link import operate
from paddock.serve.operations.vehicles import mission_tree
from paddock.serve.replay import ReplaySource

CREW = {"name": "bus", "count": 2, "model": "rover", "spawn": {"line": {"start": [0, -4, 0], "end": [0, 4, 0]}}}
TASKS = [
    {"name": "gate", "point": {"at": [40, 0], "heading": 0.5}},
    {"name": "fence", "line": {"at": [60, -30], "heading": pi / 2, "length": 20}},
    {"name": "pond", "circle": {"at": [-40, 0], "heading": pi / 2, "radius": 10}},
    {"name": "yard", "polygon": {"outline": [[80, 60], [120, 60], [120, 100], [80, 100]], "spacing": 20}},
    {"name": "tower", "point": {"at": [0, 80]}},
]
SCENARIO: dict[str, Any] = {
    "clock": {"rate": 10},
    "vehicles": [CREW],
    "mission": {
        "base": [5, 6, 7, 0.25],
        "method": "greedy",
        "range": 3000,
        "execute": "kinematic",
        "tasks": TASKS,
        "zones": [{"name": "house", "polygon": [[-5, 70], [5, 70], [5, 90], [-5, 90]]}],
    },
}


@pytest.fixture(scope="module")
def served(serve: Any) -> Any:
    return serve(SCENARIO)


@pytest.fixture
def peer(served: Any) -> Any:
    """A client of a new run."""
    client = served.connect()
    client.call("reset")
    client.call("release_clock")
    return client


def tree(peer: Any) -> dict[str, Any]:
    mission: dict[str, Any] = peer.call("mission")["mission"]
    return mission


def named(trees: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {tree["name"]: tree for tree in trees}


def step(peer: Any, ticks: int = 20) -> None:
    peer.call("simulation_step", ticks=ticks)
    peer.call("release_clock")


def test_a_mission_is_notified(peer: Any) -> None:
    view = tree(peer)
    assert view["base"] == [5.0, 6.0, 7.0, 0.25]
    tasks = named(view["tasks"])
    assert {name: task["kind"] for name, task in tasks.items()} == {
        "gate": "point",
        "fence": "line",
        "pond": "circle",
        "yard": "polygon",
        "tower": "point",
    }
    assert (tasks["gate"]["x"], tasks["gate"]["y"], tasks["gate"]["heading"]) == (40.0, 0.0, 0.5)
    assert tasks["gate"]["outline"] == [[40.0, 0.0]]
    assert tasks["fence"]["outline"] == [[60.0, -30.0], [60.0, -10.0]]
    assert (tasks["yard"]["x"], tasks["yard"]["y"], tasks["yard"]["heading"]) == (100.0, 80.0, None)
    ring = tasks["pond"]["outline"]  # to the left of north lies west: its centre is (-50, 0)
    assert ring[0] == ring[-1] == [-40.0, 0.0]
    assert all((x + 50) ** 2 + y**2 == pytest.approx(100, rel=1e-3) for x, y in ring)
    quarter = ring[(len(ring) - 1) // 4]
    assert quarter == pytest.approx([-50 + 10 * cos(pi / 2), 10 * sin(pi / 2)], abs=1e-3)


def test_impossible_requests_give_the_reason(peer: Any) -> None:
    view = tree(peer)
    undone = [task for task in view["tasks"] if task["state"] == "undone"]
    assert [task["name"] for task in undone] == ["tower"]
    assert "house" in undone[0]["reason"] and undone[0]["vehicle"] is None
    outline = [[-5.0, 70.0], [5.0, 70.0], [5.0, 90.0], [-5.0, 90.0], [-5.0, 70.0]]
    assert view["zones"] == [{"name": "house", "outline": outline, "floor": None, "ceiling": None}]


def test_members_have_ids_ranges_and_tasks_in_order(peer: Any) -> None:
    view = tree(peer)
    assert [(member["id"], member["name"], member["range"]) for member in view["members"]] == [
        (1, "bus[0]", 3000.0),
        (2, "bus[1]", 3000.0),
    ]
    shared = [name for member in view["members"] for name in member["tasks"]]
    assert sorted(shared) == ["fence", "gate", "pond", "yard"]
    for member in view["members"]:
        assert member["travelled"] == 0.0
        for name in member["tasks"]:
            assert named(view["tasks"])[name]["vehicle"] == member["name"]
    fleets = {(route["fleet"], route["behaviour"]) for route in peer.call("routes")["routes"]}
    assert fleets == {("bus", "mission")}


def test_tasks_are_added_moved_and_removed(peer: Any) -> None:
    peer.call("add_task", task={"name": "mill", "point": {"at": [20, -20]}})
    peer.call("move_task", name="yard", x=200, y=180)
    peer.call("move_task", name="gate", x=41.5, y=-2)
    peer.call("remove_task", name="pond")
    step(peer)
    tasks = named(tree(peer)["tasks"])
    assert "pond" not in tasks
    assert tasks["mill"]["outline"] == [[20.0, -20.0]] and tasks["mill"]["state"] in ("assigned", "started")
    assert tasks["gate"]["outline"] == [[41.5, -2.0]] and tasks["gate"]["heading"] == 0.5
    assert (tasks["yard"]["x"], tasks["yard"]["y"]) == (200.0, 180.0)
    assert tasks["yard"]["outline"][0] == [180.0, 160.0]
    kinds = {event["kind"] for event in peer.call("events")["events"]}
    assert {"task_added", "task_moved", "task_removed", "replanned"} <= kinds


def test_a_zone_and_a_damaged_vehicle(peer: Any) -> None:
    peer.call("add_zone", zone={"name": "pit", "circle": {"at": [40, 0], "radius": 8}})
    peer.call("damage_vehicle", vehicle_id=2)
    step(peer)
    view = tree(peer)
    assert [zone["name"] for zone in view["zones"]] == ["house", "pit"]
    assert {member["name"]: member["status"] for member in view["members"]}["bus[1]"] == "damaged"
    assert named(view["members"])["bus[1]"]["tasks"] == []
    gate = named(view["tasks"])["gate"]
    assert gate["state"] == "undone" and "pit" in gate["reason"]


def test_notifications_follow_changes(peer: Any) -> None:
    peer.call("subscribe", kinds=["mission"])
    assert set(named(peer.notification("mission")["tasks"])) == {"gate", "fence", "pond", "yard", "tower"}
    peer.call("add_task", task={"name": "mill", "point": {"at": [20, -20]}})
    step(peer)
    while "mill" not in named(peer.notification("mission")["tasks"]):
        pass
    step(peer, 8000)  # long enough for all of them
    while any(task["state"] in ("assigned", "started") for task in peer.notification("mission")["tasks"]):
        pass
    done = tree(peer)
    states = {task["name"]: task["state"] for task in done["tasks"]}
    assert states.pop("tower") == "undone" and set(states.values()) == {"completed"}
    assert {member["status"] for member in done["members"]} == {"home"}
    assert all(member["travelled"] > 40 for member in done["members"])


@pytest.mark.parametrize(
    ("method", "params", "code", "text"),
    [
        ("move_task", {"name": "gat", "x": 1, "y": 2}, -32000, "unknown task 'gat'; did you mean 'gate'?"),
        ("move_task", {"name": "gate", "x": 1}, -32602, "'y'"),
        ("move_task", {"name": "gate", "x": "1", "y": 2}, -32602, "'x' must be a number"),
        ("remove_task", {"name": "gat"}, -32000, "unknown task 'gat'"),
        ("add_task", {"task": 3}, -32602, "'task' must be an object"),
        ("add_task", {"task": {"name": "a", "pont": {}}}, -32000, "unknown field 'pont' of a task; did you mean"),
        ("add_task", {"task": {"name": "a", "verb": "damage"}}, -32000, "unknown field 'verb' of a task"),
        ("add_task", {"task": {"name": "a"}}, -32000, "exactly one of point, line, circle, area, polygon"),
        ("add_task", {"task": {"point": {"at": [1, 2]}}}, -32000, "name"),
        ("add_task", {"task": {"name": "gate", "point": {"at": [1, 2]}}}, -32000, "there is a task 'gate' already"),
        ("add_zone", {"zone": {"name": "a", "polygon": [[0, 0], [1, 1]]}}, -32000, "at least 3 points"),
        ("remove_zone", {"name": "hous"}, -32000, "unknown zone 'hous'"),
        ("add_zone", {"zone": {"name": "a", "source": "me"}}, -32000, "unknown field 'source' of a zone"),
        ("damage_vehicle", {"vehicle": "bus[7]"}, -32000, "unknown vehicle 'bus[7]'"),
        ("damage_vehicle", {"vehicle_id": 77}, -32000, "77"),
        ("damage_vehicle", {}, -32602, "name the vehicle by either"),
    ],
)
def test_wrong_arguments_are_named(peer: Any, method: str, params: dict[str, Any], code: int, text: str) -> None:
    before = tree(peer)
    refusal, message = peer.refused(method, **params)
    assert refusal == code and text in message and "\n" not in message
    step(peer, 1)
    assert set(named(tree(peer)["tasks"])) == set(named(before["tasks"]))


def test_states_are_named(served: Any) -> None:
    run = served.sim.engine.mission
    job = run.mission.tasks["gate"]
    job.state, job.doing = "assigned", True
    tasks = mission_tree(run.mission, (1.0, 2.0, 0.5), lambda name: None, {})
    assert named(tasks["tasks"])["gate"]["state"] == "started"  # type: ignore[arg-type]
    assert tasks["base"] == [1.0, 2.0, 0.0, 0.5] and tasks["members"][0]["id"] is None


def test_without_a_mission(serve: Any) -> None:
    peer = serve({"clock": {"rate": 100}, "vehicles": [CREW]}).connect()
    assert peer.call("mission") == {"mission": None}
    for method, params in {
        "add_task": {"task": {"name": "a", "point": {"at": [1, 2]}}},
        "move_task": {"name": "a", "x": 1, "y": 2},
        "remove_task": {"name": "a"},
        "add_zone": {"zone": {"name": "a", "circle": {"at": [1, 2], "radius": 3}}},
        "remove_zone": {"name": "a"},
        "damage_vehicle": {"vehicle": "bus[0]"},
    }.items():
        code, message = peer.refused(method, **params)
        assert code == -32000 and "there is no mission" in message and "\n" not in message


def test_the_mission_needs_the_token(serve: Any) -> None:
    peer = serve({"clock": {"rate": 100}, "vehicles": [CREW]}, token="long-enough").connect()
    assert peer.refused("mission")[0] == -32001
    assert peer.refused("remove_task", name="gate")[0] == -32001
    assert peer.call("mission", token="long-enough") == {"mission": None}


def test_a_recording_has_no_mission(tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    with paddock.load({"clock": {"rate": 100}, "vehicles": [CREW]}) as sim, Recorder(sim, file):
        sim.step(10)
    with Player(file) as player:
        source = ReplaySource(player)
        assert operate(source, "mission", "a client", {}) is None
        with pytest.raises(PaddockError, match="move_task refused: this is a recording"):
            operate(source, "move_task", "a client", {"name": "gate", "x": 1.0, "y": 2.0})
