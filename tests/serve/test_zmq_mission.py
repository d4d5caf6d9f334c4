"""A mission over ZeroMQ: calls by name, JSON, and outlines as float64 arrays."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import pytest
import zmq

import paddock
from paddock.wire import messages_pb2 as pb

SCENARIO: dict[str, Any] = {
    "clock": {"rate": 10, "pace": 0},
    "vehicles": [{"name": "bus", "model": "rover"}],
    "mission": {
        "execute": "kinematic",
        "method": "greedy",
        "tasks": [{"name": "fence", "line": {"at": [60, -30], "heading": 0.0, "length": 20}}],
        "zones": [{"name": "house", "polygon": [[-50, 70], [50, 70], [0, 90]]}],
    },
}


class Caller:
    """A client by hand."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self.socket = socket
        self.ask(pb.Request(id=1, hello=pb.Hello(protocol=1, client="raw")))

    def ask(self, request: pb.Request) -> pb.Reply:
        self.socket.send(request.SerializeToString())
        return pb.Reply.FromString(self.socket.recv())

    def call(self, method: str, **arguments: Any) -> pb.Reply:
        return self.ask(pb.Request(id=2, call=pb.Call(method=method, json=json.dumps(arguments))))


@pytest.fixture
def caller() -> Iterator[Caller]:
    with (
        paddock.load(SCENARIO) as sim,
        paddock.share(sim, lambda line: None, zmq={"port": 0}) as host,
        zmq.Context() as context,
        context.socket(zmq.DEALER) as socket,
    ):
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVTIMEO, 10_000)
        socket.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}")
        yield Caller(socket)


def test_a_view_is_json_with_arrays(caller: Caller) -> None:
    reply = caller.call("mission_view")
    view = json.loads(reply.result.json)
    task, zone = view["tasks"][0], view["zones"][0]
    assert (task["name"], task["kind"], task["state"], task["vehicle"]) == ("fence", "line", "assigned", "bus")
    line, ring = (reply.result.arrays[item["outline"]["$array"]] for item in (task, zone))
    assert list(line.shape) == [2, 2] and struct.unpack("<4d", line.f64_le) == (60.0, -30.0, 80.0, -30.0)
    assert list(ring.shape) == [4, 2] and struct.unpack("<8d", ring.f64_le)[:2] == (-50.0, 70.0)
    assert view["vehicles"][0]["ahead"] == ["fence"] and view["vehicles"][0]["travelled"] == 0.0
    assert view["metrics"]["completed"] == 0 and not view["finished"]
    assert [entry["kind"] for entry in view["log"]][:2] == ["planned", "assigned"]


def test_verbs_are_calls_by_name(caller: Caller) -> None:
    for method, arguments in {
        "add_task": {"task": {"name": "mill", "point": {"at": [20, -20]}}},
        "add_zone": {"zone": {"name": "pit", "circle": {"at": [0, -60], "radius": 5}}},
        "add_vehicle": {"entry": {"name": "late", "model": "rover", "pose": [1, 2, 0]}},
        "move_task": {"name": "fence", "x": 10, "y": -10},
    }.items():
        assert caller.call(method, **arguments).WhichOneof("body") == "result"
    caller.ask(pb.Request(id=3, admin=pb.Admin(step=pb.Step(ticks=5))))
    view = json.loads(caller.call("mission_view").result.json)
    assert [task["name"] for task in view["tasks"]] == ["fence", "mill"]
    assert [zone["name"] for zone in view["zones"]] == ["house", "pit"]
    assert [vehicle["name"] for vehicle in view["vehicles"]] == ["bus", "late"]
    assert caller.call("remove_task", name="mill").WhichOneof("body") == "result"
    assert caller.call("damage_vehicle", vehicle="late").WhichOneof("body") == "result"


@pytest.mark.parametrize(
    ("method", "arguments", "code", "message"),
    [
        ("add_tsk", {}, "UnknownNameError", "unknown operation 'add_tsk'; did you mean 'add_task'?"),
        ("add_task", {"task": []}, "InvalidValueError", "add_task: 'task' must be an object, got a list"),
        ("add_task", {}, "PaddockError", "add_task: 'task' is missing: an object"),
        ("remove_task", {"name": "fenc"}, "UnknownNameError", "unknown task 'fenc'; did you mean 'fence'?"),
        (
            *("move_task", {"name": "a", "x": "1", "y": 2}, "InvalidValueError"),
            "move_task.x: must be a number, not '1'",
        ),
        ("damage_vehicle", {"vehicle": 77}, "UnknownNameError", "no vehicle has the id 77"),
    ],
)
def test_wrong_arguments_are_named(caller: Caller, method: str, arguments: Any, code: str, message: str) -> None:
    error = caller.call(method, **arguments).error
    assert (error.code, error.message) == (code, message)
