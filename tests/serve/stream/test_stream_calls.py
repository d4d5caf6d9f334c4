"""Calls: effects, refusals, and independence of each other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paddock.wire.stream.columns import encode_commands

SCOUTS = {"name": "scouts", "id": 100, "count": 50, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
RED = {"name": "red", "id": 7, "model": "car.kinematic", "pose": [0, 40, 0]}
SCENARIO = {"clock": {"rate": 240}, "vehicles": [SCOUTS, RED]}


@pytest.fixture(scope="module")
def served(serve: Callable[..., Any]) -> Any:
    return serve(SCENARIO, running=True)


def test_ping(served: Any) -> None:
    assert set(served.connect().call("ping")) == {"tick", "time", "preparing"}


def test_unknown_methods_suggest_the_closest(served: Any) -> None:
    peer = served.connect()
    assert peer.refused("sbscribe") == (-32601, "unknown method 'sbscribe'; did you mean 'subscribe'?")
    assert peer.refused("cast_ray")[0] == -32601  # there is nothing to hit yet


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("subscribe", {"rate": "fast"}, "subscribe: 'rate' must be a number of 0.01 or more, got \"fast\""),
        ("subscribe", {"rates": 5}, "subscribe: unknown field 'rates'; did you mean 'rate'?"),
        ("subscribe", {"frame": "unrael"}, "subscribe: 'frame' cannot be 'unrael'; did you mean 'unreal'?"),
        ("subscribe", {"kinds": ["position"]}, "'kinds[0]' cannot be 'position'; did you mean 'positions'?"),
        ("simulation_step", {"ticks": 1.5}, "simulation_step: 'ticks' must be a whole number"),
        ("spawn_robots", {"robots": [{"x": 1}]}, "spawn_robots: robots[0]: 'robot_type' is missing"),
        ("set_control", {"steer": 0.1}, "name the vehicle by either 'vehicle_id'"),
        ("set_control", {"vehicle": 1, "vehicle_id": 1, "steer": 0.1}, "name the vehicle by either 'vehicle_id'"),
        ("inspect", {"vehicle": -1}, "'vehicle' must be a text of 1 to 255 characters or a whole number from 0"),
        ("inspect", {"vehicle": 1.5}, "'vehicle' must be a text"),
        ("set_control", {"vehicle": "red", "steer": None}, "'steer' must be a number"),
        ("draw_debug_lines", {"lines": [[1, 2]]}, "'lines[0]' must be a list of 6 numbers"),
        ("set_fpv_control", {"vehicle_id": 3}, "give at least one of"),
    ],
)
def test_bad_parameters_name_the_field(served: Any, method: str, params: dict[str, Any], message: str) -> None:
    code, text = served.connect().refused(method, **params)
    assert code == -32602 and message in text and "\n" not in text


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("set_control", {"vehicle": "rd", "steer": 0}, "did you mean 'red'?"),
        ("set_control", {"vehicle": "red", "stear": 0}, "did you mean 'steer'?"),
        ("spawn_robots", {"robots": [{"robot_type": "quod"}]}, "did you mean 'quad'?"),
        ("remove_vehicle", {"vehicle_id": 12345}, "no vehicle has the id 12345"),
        ("set_pace", {"pace": 1000}, "pace must be 0"),
        ("arm_drone", {"vehicle_id": 7, "armed": True}, "'armed'"),
        ("unsubscribe", {}, "no subscription"),
        ("seek", {"position": 1.0}, "seek"),
    ],
)
def test_refusals_of_the_simulation(served: Any, method: str, params: dict[str, Any], message: str) -> None:
    code, text = served.connect().refused(method, **params)
    assert code == -32000 and message in text and "\n" not in text


def test_malformed_json_is_answered_and_the_connection_lives(served: Any) -> None:
    peer = served.connect()
    peer.socket.sendall(b"{nonsense\n")
    assert peer.answer(None)["error"]["code"] == -32700
    peer.socket.sendall(b'{"jsonrpc":"2.0","id":5,"methud":"ping"}\n')
    assert peer.answer(5)["error"]["code"] == -32600
    assert peer.call("ping")


def test_a_batch_is_answered_as_a_batch(served: Any) -> None:
    peer = served.connect()
    calls = [{"jsonrpc": "2.0", "id": k, "method": "ping" if k else "pong"} for k in range(3)]
    peer.socket.sendall(json.dumps(calls).encode() + b"\n")
    answers = json.loads(peer.next().line)
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    assert answers[0]["error"]["code"] == -32601 and "result" in answers[2]


def test_a_refused_notification_is_reported(served: Any) -> None:
    peer = served.connect()
    peer.socket.sendall(b'{"jsonrpc":"2.0","method":"set_pace","params":{"pace":-1}}\n')
    notice = peer.notification("refused")
    assert notice["of"] == "set_pace" and "'pace' must be a number of 0 or more" in notice["reason"]


def test_set_control_drives(served: Any, eventually: Callable[[Callable[[], bool]], bool]) -> None:
    peer = served.connect()
    peer.call("set_control", vehicle_id=7, throttle=1.0)
    assert eventually(lambda: peer.call("get_state", vehicle="red")["position"][0] > 1.0)
    state = peer.call("get_state", vehicle_id=7, frame="ned")
    assert state["name"] == "red" and state["position"][0] == pytest.approx(40.0)  # north
    assert state["velocity"][1] > 0.0  # east
    peer.call("set_control", vehicle="red", throttle=0.0)


def test_a_batch_of_commands_moves_many(served: Any, eventually: Callable[[Callable[[], bool]], bool]) -> None:
    peer = served.connect()
    ids = np.arange(100, 150)
    peer.socket.sendall(encode_commands(ids, ["vx", "vz"], np.column_stack([np.linspace(0, 5, 50), np.ones(50)])))

    def moving() -> bool:
        velocity = np.array(peer.call("get_all_states", vehicles=["scouts"])["fleets"][0]["velocity"])
        return bool(np.allclose(velocity[:, 0], np.linspace(0, 5, 50)) and np.allclose(velocity[:, 2], 1))

    assert eventually(moving)
    peer.socket.sendall(encode_commands(ids, ["vx", "vz"], [0.0, 0.0]))


def test_refused_batches_are_counted_and_reported_at_a_limited_rate(served: Any) -> None:
    peer, before = served.connect(), served.count("refused_commands", endpoint="stream")
    for _ in range(20):
        peer.socket.sendall(encode_commands([100, 9999], ["vx"], [1.0]))
    notice = peer.notification("command_refused")
    assert "9999" in notice["reason"] and notice["of"] == "commands"
    peer.call("ping")
    while served.count("refused_commands", endpoint="stream") < before + 20:
        peer.call("ping")
    assert len(peer.notifications) <= 2  # not one for each
    assert abs(peer.call("get_state", vehicle_id=100)["velocity"][0]) < 1.0


def test_drones_with_sticks(served: Any, eventually: Callable[[Callable[[], bool]], bool]) -> None:
    peer = served.connect()
    yaw = math.pi / 4  # in NED: north-east, which is 45 deg in ENU too
    drone = peer.call("spawn_fpv_drone", vehicle_id=900, drone_preset="race", x=1, y=2, z=0, yaw=yaw, frame="ned")
    assert drone["id"] == 900
    state = peer.call("get_state", vehicle_id=900)
    np.testing.assert_allclose(state["position"], (2, 1, 0), atol=1e-6)  # x is north there
    assert 2 * math.atan2(state["orientation"][2], state["orientation"][3]) == pytest.approx(math.pi / 4)
    peer.call("arm_drone", vehicle_id=900, armed=True)
    peer.call("set_fpv_control", vehicle_id=900, throttle=0.9, flight_mode="angle")
    assert eventually(lambda: peer.call("get_state", vehicle_id=900)["position"][2] > 1.0)
    assert "did you mean 'acro'?" in peer.refused("set_fpv_control", vehicle_id=900, flight_mode="akro")[1]
    peer.call("remove_vehicle", vehicle_id=900)


def test_similar_robots_become_a_fleet_and_are_added_all_or_none(served: Any) -> None:
    peer = served.connect()
    robots = [{"id": 2000 + k, "robot_type": "rover", "x": 10.0 * k, "y": -50.0} for k in range(3)]
    answer = peer.call("spawn_robots", robots=[*robots, {"robot_type": "rover", "name": "own", "y": -90}])
    assert answer["ids"][:3] == [2000, 2001, 2002] and answer["names"][3] == "own"
    fleet = answer["names"][0].partition("[")[0]
    assert answer["names"][:3] == [f"{fleet}[{k}]" for k in range(3)]
    before = served.sim.snapshot().fleets
    code, message = peer.refused("spawn_robots", robots=[{"robot_type": "rover"}, {"robot_type": "rvoer"}])
    assert code == -32000 and "rvoer" in message
    assert served.sim.snapshot().fleets == before
    for name in (fleet, "own"):
        peer.call("remove_vehicle", vehicle=name)


def test_events_can_be_requested(served: Any) -> None:
    peer = served.connect()
    peer.call("spawn_robots", robots=[{"robot_type": "point", "name": "brief", "z": 5}])
    peer.call("remove_vehicle", vehicle="brief")
    events = peer.call("events", since=0)["events"]
    assert [event["kind"] for event in events if event["subject"] == "brief"] == ["spawned", "removed"]


def test_a_long_step_does_not_delay_other_calls(served: Any) -> None:
    """Neither another's `pause`, nor this connection's own `ping`. The pause outlasts the owner of the clock."""
    peer, other = served.connect(), served.connect()
    step = peer.send("simulation_step", ticks=1 << 40)
    assert peer.call("ping")
    assert other.call("pause")
    code, message = other.refused("simulation_step", ticks=1)
    assert code == -32000 and "the clock belongs to stream client 127.0.0.1:" in message
    peer.close()  # gives the clock back
    while "error" in other.answer(other.send("resume")):
        pass
    tick = other.call("get_all_states", vehicles=["red"])["tick"]
    while other.call("get_all_states", vehicles=["red"])["tick"] <= tick:
        pass
    assert step


def test_reset_and_pace(served: Any) -> None:
    peer = served.connect()
    peer.call("subscribe")
    run = peer.tick()[3]
    peer.call("reset", seed=5)
    while (moment := peer.tick())[3] == run:
        pass
    assert moment[3] == run + 1 and served.sim.engine.world.seed == 5
    assert peer.call("set_pace", pace=2.0) and served.sim.clock.pace == 2.0
    peer.call("set_pace", pace=1.0)


def test_clearing_everything(served: Any) -> None:
    peer = served.connect()
    assert peer.call("clear_all_robots")["removed"] == 51
    assert peer.call("get_roster")["fleets"] == []
    peer.call("subscribe", kinds=["positions", "telemetry", "fpv", "lines"])
    assert len(peer.poses()) == 0
    peer.call("reset")
    assert len(peer.call("get_roster")["fleets"]) == 2
