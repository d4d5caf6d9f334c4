"""Data for pages: poses and columns of the snapshot, rosters, figures."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

RED = {
    **{"name": "red", "id": 7, "model": "car.kinematic", "preset": "sports", "parameters": {"wheel_radius": 0.4}},
    **{"pose": [3, 4, math.pi / 2], "speed": 5, "sensors": ["imu"]},
}
SCOUTS = {"name": "scouts", "id": 100, "count": 5, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
DRONE = {"name": "drone", "id": 1, "model": "quad", "pose": [1, 2, 30, 0.5]}
SCENARIO = {"clock": {"rate": 240}, "vehicles": [RED, SCOUTS, DRONE]}
ORDER = ["drone", "red", *(f"scouts[{k}]" for k in range(5))]
TICK, POSES, COLUMNS, MARKERS, EVENTS = 0x10, 0x14, 0x15, 0x12, 0x13
POSE = np.dtype([("p", "<f4", 3), ("q", "<u4")])


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    """No thread drives: time passes by the pages' steps."""
    return serve(SCENARIO, web={"port": 0, "rate": 1000})


def quaternions(words: np.ndarray) -> np.ndarray:
    """Unpack one by one, according to the byte table."""
    rows = []
    for word in words.tolist():
        largest = word >> 30
        others = [((word >> shift & 1023) / 1022 * 2 - 1) * 0.70710678 for shift in (20, 10, 0)]
        others.insert(largest, math.sqrt(max(0.0, 1 - sum(c * c for c in others))))
        rows.append(others)
    return np.array(rows)


def names(roster: dict[str, Any]) -> list[str]:
    return [
        fleet["name"] if fleet["single"] else f"{fleet['name']}[{first + k}]"
        for fleet in roster["fleets"]
        for first, count in fleet["members"]
        for k in range(count)
    ]


def test_metadata_says_what_a_fleet_looks_like(served: Any) -> None:
    fleets = {fleet["name"]: fleet for fleet in served.connect().call("metadata")["fleets"]}
    car = {"cg_to_front": 1.2, "cg_to_rear": 1.35, "track_front": 1.58, "track_rear": 1.56, "wheel_radius": 0.4}
    assert (fleets["red"]["preset"], fleets["red"]["dimensions"]) == ("sports", car)
    assert (fleets["drone"]["preset"], fleets["drone"]["dimensions"]) == (None, {})


def test_poses_in_the_order_of_the_roster(served: Any) -> None:
    page = served.connect()
    answer = page.call("subscribe", kinds=["poses"])
    payload = page.frames(POSES)[POSES]
    poses, snapshot = np.frombuffer(payload, POSE, offset=4), served.sim.snapshot()
    assert struct.unpack_from("<I", payload) == (7,) and sorted(names(answer)) == sorted(ORDER)
    vehicles = [snapshot[name] for name in names(answer)]
    assert poses["p"].tolist() == [v.position.astype(np.float32).tolist() for v in vehicles]
    turned = Rotation.from_quat([v.orientation for v in vehicles]).inv() * Rotation.from_quat(quaternions(poses["q"]))
    assert np.degrees(turned.magnitude()).max() < 0.25


def test_a_group_is_one_message_of_tick_poses_and_columns(served: Any) -> None:
    page = served.connect()
    answer = page.call("subscribe", kinds=["poses"], columns=[{"of": None, "columns": ["x"]}])
    parts = page.frames()
    assert list(parts) == [TICK, POSES, COLUMNS]
    assert struct.unpack("<QddII", parts[TICK])[4] == answer["roster"]


def test_columns_are_the_numbers_of_the_snapshot(served: Any, blocks: Callable[..., Any]) -> None:
    page = served.connect()
    reached = page.call("simulation_step", ticks=24)["tick"]
    page.call("release_clock")
    wanted = [
        {"of": "red", "columns": ["x", "vy", "command.steer", "imu.ax", "charge"]},
        {"of": 1, "columns": ["charge", "qw"]},
        {"of": None, "columns": ["y", "charge"]},
        {"of": "scouts", "columns": ["z"]},
        {"of": "gone[3]", "columns": ["x"]},
    ]
    answer = page.call("subscribe", kinds=["poses"], columns=wanted)
    number, columns = blocks(page.group(reached)[COLUMNS])
    snapshot = served.sim.snapshot()
    assert number == answer["wanted"] and snapshot.tick == reached
    red, drone = snapshot["red"], snapshot["drone"]
    assert columns[0][:4, 0].tolist() == [red[name] for name in wanted[0]["columns"][:4]]
    assert math.isnan(columns[0][4, 0])  # a car has no battery
    assert columns[1][:, 0].tolist() == [drone["charge"], drone["qw"]]
    assert columns[2][0].tolist() == [snapshot[name].position[1] for name in names(answer)]
    assert np.isfinite(columns[2][1]).tolist() == [name == "drone" for name in names(answer)]
    assert columns[3][0].tolist() == snapshot.fleet("scouts").position[:, 2].tolist()
    assert columns[4].shape == (1, 0)


def test_derived_columns(served: Any, blocks: Callable[..., Any]) -> None:
    page = served.connect()
    page.call("subscribe", kinds=["poses"], columns=[{"of": None, "columns": ["speed", "heading", "roll", "pitch"]}])
    _, (column,) = blocks(page.frames(COLUMNS)[COLUMNS])
    snapshot = served.sim.snapshot()
    vehicles = [snapshot[name] for name in names(page.call("get_roster"))]
    yaw, pitch, roll = Rotation.from_quat([v.orientation for v in vehicles]).as_euler("ZYX").T
    speed = [math.hypot(*v.velocity) for v in vehicles]
    np.testing.assert_allclose(column, [speed, yaw, roll, pitch], atol=1e-12)


def test_other_columns_have_another_number(served: Any, blocks: Callable[..., Any]) -> None:
    page = served.connect()
    assert page.refused("set_columns", columns=[])[1] == "no subscription: call subscribe first"
    first = page.call("subscribe", kinds=["poses"])["wanted"]
    assert COLUMNS not in page.frames()
    second = page.call("set_columns", columns=[{"of": "red", "columns": ["x"]}])["wanted"]
    assert second > first
    while blocks(page.frames(COLUMNS)[COLUMNS])[0] != second:
        pass


def test_unknown_columns_are_refused_with_a_suggestion(served: Any) -> None:
    page = served.connect()
    page.call("subscribe", kinds=["poses"], columns=[{"of": "gone", "columns": ["nonsense"]}])
    code, text = page.refused("set_columns", columns=[{"of": "red", "columns": ["hading"]}])
    assert code == -32602 and "unknown column 'hading'; did you mean 'heading'?" in text
    assert page.call("set_columns", columns=[{"of": "gone", "columns": ["x"]}])["wanted"] > 1
    assert "at most" not in page.refused("set_columns", columns=[{"of": 1.5, "columns": ["x"]}])[1]
    assert page.refused("set_columns", columns=[{"of": None, "columns": [3]}])[0] == -32602
    assert page.refused("set_columns", columns=[{"of": None, "columns": ["x"], "more": 1}])[0] == -32602


def test_the_rate_can_be_changed(served: Any) -> None:
    page = served.connect()
    assert page.refused("set_rate", rate=5)[0] == -32000
    page.call("subscribe", kinds=["poses"], rate=50)
    assert page.call("set_rate", rate=5)["rate"] == 5.0
    assert page.call("set_rate", rate=1e9)["rate"] == 1000.0
    assert page.refused("set_rate", rate=0)[0] == -32602


def test_vehicles_added_and_removed(served: Any, blocks: Callable[..., Any]) -> None:
    page, other = served.connect(), served.connect()
    columns = [{"of": "guest", "columns": ["x"]}, {"of": 900, "columns": ["x"]}]
    before = page.call("subscribe", kinds=["poses", "events"], columns=columns)
    other.call("spawn_robots", robots=[{"id": 900, "name": "guest", "robot_type": "car.kinematic", "x": 8}])
    roster = page.notification("roster")
    assert roster["roster"] > before["roster"] and "guest" in names(roster)
    guest = next(fleet for fleet in roster["fleets"] if fleet["name"] == "guest")
    assert (
        guest["ids"] == [[900, 1]] and guest["columns"][:3] == ["x", "y", "z"] and "command.steer" in guest["columns"]
    )
    parts = page.frames(COLUMNS)
    while struct.unpack("<QddII", parts[TICK])[4] != roster["roster"]:
        parts = page.frames(COLUMNS)
    assert [block.tolist() for block in blocks(parts[COLUMNS])[1]] == [[[8.0]], [[8.0]]]
    assert struct.unpack_from("<I", parts[POSES]) == (8,)
    other.call("remove_vehicle", vehicle="guest")
    assert "guest" not in names(page.notification("roster"))
    while blocks(parts[COLUMNS])[1][0].size:
        parts = page.frames(COLUMNS)
    assert struct.unpack_from("<I", parts[POSES]) == (7,)


def test_figures_are_sent_without_a_request(served: Any) -> None:
    page, stepping = served.connect(), served.connect()
    reached = stepping.call("simulation_step", ticks=24)["tick"]
    stepping.close()  # which releases the clock
    page.call("subscribe", kinds=["figures"], rate=30)
    figures = page.notification("figures")
    while figures["tick"] < reached or figures["paused"]:  # the first ones may be older
        figures = page.notification("figures")
    assert (figures["vehicles"], figures["rate"], figures["running"]) == (7, 240.0, False)  # no thread drives it
    assert {"tick", "run", "slips", "lag_seconds", "tick_seconds", "events", "commands", "counts"} <= figures.keys()
    own = f"web client 127.0.0.1:{page.socket.local_address[1]}"
    assert {"name": own, "endpoint": "web", "rate": 30.0, "skipped": 0} in figures["subscribers"]
    assert max(stage["calls"] for stage in figures["stages"].values()) >= 24
    with served.sim.clock.running():
        while not page.notification("figures")["running"]:
            pass


def test_restarts_and_frames_are_notified(served: Any) -> None:
    page, other = served.connect(), served.connect()
    served.sim.world.frames.set("mast", "red", (0.0, 0.0, 2.0))
    page.call("subscribe", kinds=["events", "markers"])
    mast = {"name": "mast", "parent": "red", "position": [0.0, 0.0, 2.0], "quaternion": [0.0, 0.0, 0.0, 1.0]}
    assert page.notification("frames") == {"frames": [mast]} == other.call("get_frames")
    run = page.call("metadata")["run"]
    other.call("reset")
    assert page.notification("restart") == {"how": "reset", "run": run + 1, "tick": 0}
    while page.notification("frames")["frames"]:
        pass  # of when it was placed


def test_no_vehicles_at_all(serve: Callable[..., Any], blocks: Callable[..., Any]) -> None:
    page = serve({"vehicles": []}).connect()
    answer = page.call("subscribe", kinds=["poses", "figures"], columns=[{"of": None, "columns": ["x", "speed"]}])
    assert answer["fleets"] == []
    parts = page.frames(POSES)
    assert parts[POSES] == b"\0\0\0\0"
    assert [block.shape for block in blocks(parts[COLUMNS])[1]] == [(2, 0)]
    assert page.call("metadata")["fleets"] == []
    assert page.call("set_columns", columns=[{"of": None, "columns": ["speed"]}])["wanted"] == 2
