"""The zmq endpoint with plain ZeroMQ sockets and the messages of messages.proto."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import urllib.request
from collections.abc import Iterator
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import zmq

import paddock
from paddock.serve.endpoints.zmq.endpoint import ZmqServer
from paddock.wire import messages_pb2 as pb

SCENARIO: dict[str, Any] = {
    "clock": {"rate": 100, "pace": 0, "sync": {"every": 1, "timeout": 5.0}},
    "vehicles": [
        {"id": 7, "name": "red", "model": "car.bicycle", "speed": 8},
        {"id": 9, "name": "blue", "model": "car.bicycle", "pose": [0, 5, 0]},
    ],
}


class Raw:
    """A client by hand."""

    def __init__(self, context: zmq.Context[Any], port: int, hello: bool = True) -> None:
        self.socket = context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, 60_000)  # kernels may have to be compiled
        self.socket.connect(f"tcp://127.0.0.1:{port}")
        if hello:
            self.welcome = self.ask(pb.Request(id=1, hello=pb.Hello(protocol=1, client="raw"))).welcome

    def send(self, request: pb.Request | bytes) -> None:
        self.socket.send(request if isinstance(request, bytes) else request.SerializeToString())

    def receive(self) -> pb.Reply:
        return pb.Reply.FromString(self.socket.recv())

    def ask(self, request: pb.Request | bytes) -> pb.Reply:
        self.send(request)
        return self.receive()

    def until(self, body: str) -> pb.Reply:
        while (reply := self.receive()).WhichOneof("body") != body:
            pass
        return reply


@pytest.fixture(scope="module")
def served() -> Iterator[Any]:
    with (
        paddock.load(SCENARIO) as sim,
        paddock.share(sim, zmq={"port": 0, "rate": 10, "requests": 2000}, metrics={"port": 0}) as host,
    ):
        yield sim, host


@pytest.fixture
def context() -> Iterator[zmq.Context[Any]]:
    with zmq.Context() as made:
        yield made
        made.destroy(linger=0)


@pytest.fixture
def raw(served: Any, context: zmq.Context[Any]) -> Iterator[Any]:
    made: list[Raw] = []

    def connect(hello: bool = True) -> Raw:
        made.append(Raw(context, served[1].addresses["zmq"]["port"], hello))
        return made[-1]

    yield connect
    for client in made:
        if getattr(client, "welcome", None) is not None:
            client.send(pb.Request(id=99, goodbye=pb.Goodbye()))
            sleep(0.05)
        client.socket.close()


def counted(served: Any, name: str, **labels: str) -> float:
    """A counter of the hub."""
    with urllib.request.urlopen(f"http://127.0.0.1:{served[1].addresses['metrics']['port']}/metrics") as page:
        lines = page.read().decode().splitlines()
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    matching = [
        line for line in lines if line.startswith(f"paddock_hub_{name}_total{{") and all(w in line for w in wanted)
    ]
    return sum(float(line.rpartition(" ")[2]) for line in matching)


def control(tick: int, number: int = 5, **inputs: float) -> pb.Request:
    vehicle = pb.VehicleControl(vehicle=7, inputs={name: pb.Input(number=value) for name, value in inputs.items()})
    return pb.Request(id=number, control=pb.Control(tick=tick, vehicles=[vehicle]))


def call_json(client: Raw, method: str, arguments: str = "{}") -> Any:
    return json.loads(client.ask(pb.Request(id=77, call=pb.Call(method=method, json=arguments))).result.json)


def inputs(client: Raw) -> dict[str, float]:
    return dict(call_json(client, "inspect", '{"target": "red"}')["command"])


def test_messages_are_small_before_hello_and_json_has_a_limit(raw: Any) -> None:
    stranger = raw(hello=False)
    reply = stranger.ask(pb.Request(id=3, hello=pb.Hello(protocol=1, client="x" * 5000)))
    assert (reply.error.code, reply.error.message) == ("malformed", "a message before Hello has at most 4096 bytes")
    text = json.dumps({"target": "x" * (4 << 20)})
    reply = raw().ask(pb.Request(id=4, call=pb.Call(method="inspect", json=text)))
    assert reply.error.code == "malformed" and "at most 4 MiB of JSON" in reply.error.message


def test_hello(raw: Any, served: Any) -> None:
    welcome = raw().welcome
    assert (welcome.protocol, welcome.rate, welcome.heartbeat) == (1, 100.0, 5.0)
    assert welcome.client.startswith("raw (zmq ")
    assert welcome.publish == served[1].addresses["zmq"]["publish"]
    stranger = raw(hello=False)
    reply = stranger.ask(pb.Request(id=3, admin=pb.Admin(pause=pb.Pause())))
    assert (reply.id, reply.error.code, reply.error.message) == (3, "hello", "send Hello first")
    reply = stranger.ask(pb.Request(id=4, hello=pb.Hello(protocol=2)))
    assert (reply.error.code, reply.error.message) == ("protocol", "this server speaks protocol 1, not 2")


def test_step_returns_when_the_tick_has_advanced(raw: Any, served: Any) -> None:
    client = raw()
    before = served[0].tick
    reply = client.ask(pb.Request(id=2, admin=pb.Admin(step=pb.Step(ticks=30))))
    assert reply.WhichOneof("body") == "done" and reply.id == 2
    assert reply.tick == before + 30 == served[0].tick
    assert reply.sim_time == pytest.approx(reply.tick / 100)


def test_the_state_is_the_simulations(raw: Any, served: Any) -> None:
    sim, _ = served
    client = raw()
    state = client.ask(pb.Request(id=2, call=pb.Call(method="snapshot"))).state
    assert [fleet.name for fleet in state.roster.fleets] == ["blue", "red"]
    assert [list(fleet.ids) for fleet in state.roster.fleets] == [[9], [7]]
    columns = list(state.roster.fleets[1].columns)
    values = struct.unpack(f"<{len(columns)}d", state.blocks[1])
    red = sim.snapshot()["red"]
    assert values[columns.index("x")] == red.position[0]
    np.testing.assert_array_equal(values, [red[column] for column in columns])
    again = client.ask(pb.Request(id=3, call=pb.Call(method="snapshot"))).state
    assert not again.HasField("roster") and again.roster_number == state.roster_number
    asked = client.ask(pb.Request(id=4, call=pb.Call(method="snapshot", json='{"roster": true}'))).state
    assert asked.roster == state.roster


def test_control_requests_are_answered_once_and_in_time(raw: Any, served: Any) -> None:
    sim, _ = served
    client = raw()
    client.ask(pb.Request(id=1, admin=pb.Admin(step=pb.Step(ticks=1))))
    mode = pb.SetMode(mode=pb.SetMode.SYNCHRONOUS, vehicles=["red"])
    reply = client.ask(pb.Request(id=2, admin=pb.Admin(set_mode=mode)))
    assert reply.result.json.replace(" ", "") == '{"every":1,"timeout":5.0,"on_timeout":"hold"}'
    before, start = counted(served, "refused_controls", endpoint="zmq"), sim.tick
    client.send(pb.Request(id=3, admin=pb.Admin(step=pb.Step(ticks=2))))
    request = client.until("control_request").control_request
    assert (request.tick, list(request.vehicles)) == (start, ["red"])
    assert 0.0 < request.deadline <= 5.0
    assert len(request.state.blocks) == 2
    late = client.ask(control(start - 1, steer=0.3))
    assert (late.id, late.error.code) == (5, "LateReplyError")
    assert late.error.message == f"the reply for tick {start - 1} comes too late; open request: tick {start}"
    early = client.ask(control(start + 9, steer=0.3))
    assert early.error.code == "LateReplyError"
    unknown = client.ask(control(start, stear=0.3))
    assert unknown.error.code == "UnknownNameError" and "did you mean 'steer'" in unknown.error.message
    stranger = pb.VehicleControl(name="blue", inputs={"steer": pb.Input(number=0.3)})
    misdirected = client.ask(pb.Request(id=6, control=pb.Control(tick=start, vehicles=[stranger])))
    assert "has not claimed 'blue'; claimed: red" in misdirected.error.message
    assert served[0].tick == start  # nothing of it has changed anything
    client.send(control(start, steer=0.2, throttle=0.4))
    client.send(control(start, number=8, steer=0.3))
    replies = {(reply := client.receive()).id: reply for _ in range(3)}
    assert replies[5].control_ack.tick == start
    assert replies[8].error.code == "LateReplyError"
    assert replies[0].control_request.tick == start + 1
    assert not replies[0].control_request.state.HasField("roster")  # it is known
    client.send(control(start + 1, number=0, throttle=0.1))  # unnumbered: no acknowledgement that may follow "done"
    client.until("done")
    assert inputs(client)["steer"] == 0.2
    assert inputs(client)["throttle"] == 0.1
    assert counted(served, "refused_controls", endpoint="zmq") == before + 5
    client.ask(pb.Request(id=9, admin=pb.Admin(set_mode=pb.SetMode(mode=pb.SetMode.ASYNCHRONOUS))))
    reply = client.ask(control(start + 2, steer=0.1))
    assert reply.error.message == "a control answers a request: claim vehicles first"


def test_a_control_without_an_id_is_answered_only_if_it_is_refused(raw: Any) -> None:
    client = raw()
    client.ask(pb.Request(id=2, admin=pb.Admin(set_mode=pb.SetMode(mode=1, vehicles=["red"]))))
    client.send(pb.Request(id=3, admin=pb.Admin(step=pb.Step(ticks=1))))
    start = client.receive().control_request.tick
    assert client.ask(control(start - 1, number=0, steer=0.3)).error.code == "LateReplyError"
    client.send(control(start, number=0, steer=0.15))
    assert client.receive().id == 3
    assert inputs(client)["steer"] == 0.15


def test_a_step_may_carry_the_control(raw: Any, served: Any) -> None:
    sim, _ = served
    client = raw()
    client.ask(pb.Request(id=2, admin=pb.Admin(set_mode=pb.SetMode(mode=1, vehicles=["red"]))))
    start = sim.tick
    step = pb.Step(ticks=1, state=True, control=control(start, steer=0.11).control)
    reply = client.ask(pb.Request(id=3, admin=pb.Admin(step=step)))
    assert (reply.id, reply.tick, reply.state.tick) == (3, start + 1, start + 1)
    assert inputs(client)["steer"] == 0.11
    step.control.tick = start + 5  # of another tick: not used, but asked for
    client.send(pb.Request(id=4, admin=pb.Admin(step=step)))
    assert client.receive().control_request.tick == start + 1
    client.send(control(start + 1, number=0, steer=0.12))
    assert client.receive().state.tick == start + 2
    assert inputs(client)["steer"] == 0.12


def test_garbage_is_counted_and_other_clients_are_not_affected(raw: Any, served: Any) -> None:
    good, bad = raw(), raw()
    before = counted(served, "malformed", endpoint="zmq")
    state = call_json(good, "state_hash")
    random = np.random.default_rng(1)
    codes = []
    for k in range(15):
        bad.send(b"\xff" + random.bytes(20 + k))
        codes.append(bad.receive().error.code)
    assert codes == ["malformed"] * 15
    assert counted(served, "malformed", endpoint="zmq") == before + 15
    assert good.ask(pb.Request(id=5, heartbeat=pb.Heartbeat())).id == 5
    assert call_json(good, "state_hash") == state


def test_a_blocked_peer_is_ignored_for_a_while(raw: Any, served: Any) -> None:
    bad, good = raw(), raw()
    bad.socket.setsockopt(zmq.RCVTIMEO, 300)
    before = counted(served, "cut_off", endpoint="zmq", reason="malformed")
    for _ in range(40):
        bad.send(b"\xff\xff")
    while (reply := bad.receive()).error.code != "cut_off":
        pass
    assert reply.error.message.startswith("blocked for 5 s: too many messages like this: these 2 bytes are not a ")
    assert counted(served, "cut_off", endpoint="zmq", reason="malformed") == before + 1
    bad.send(pb.Request(id=1, heartbeat=pb.Heartbeat()))
    with pytest.raises(zmq.Again):
        bad.receive()
    assert good.ask(pb.Request(id=5, heartbeat=pb.Heartbeat())).id == 5


def test_too_many_requests(raw: Any, served: Any) -> None:
    greedy, good = raw(), raw()
    beat = pb.Request(id=7, heartbeat=pb.Heartbeat()).SerializeToString()
    refusals: list[str] = []
    while not refusals:
        for _ in range(100):
            greedy.send(beat)
        while greedy.socket.poll(0):  # a client that does not read loses its connection
            reply = greedy.receive()
            refusals += [reply.error.message] if reply.HasField("error") else []
    assert refusals[0] == "blocked for 5 s: more than 2000 requests per second"
    assert good.ask(pb.Request(id=5, heartbeat=pb.Heartbeat())).id == 5


def test_a_message_of_several_frames_is_refused(raw: Any) -> None:
    client = raw()
    client.socket.send_multipart([b"", pb.Request(id=1, heartbeat=pb.Heartbeat()).SerializeToString()])
    reply = client.receive()
    assert (reply.error.code, reply.error.message) == ("malformed", "a message has one frame, not 2")


def test_unknown_names_are_refused_with_a_suggestion(raw: Any) -> None:
    client = raw()
    reply = client.ask(pb.Request(id=2, call=pb.Call(method="stat_hash")))
    assert reply.error.code == "UnknownNameError"
    assert reply.error.message == "unknown operation 'stat_hash'; did you mean 'state_hash'?"
    reply = client.ask(pb.Request(id=2, call=pb.Call(method="events", json='{"client": "x", "operation": 3}')))
    assert reply.error.message.startswith("events: unknown fields 'client', 'operation'")
    marker = pb.Marker(namespace="a", id=1, kind=pb.CIRCLE, frame="nowhere")
    put = pb.MarkerCommand(put=pb.MarkerArray(markers=[marker]))
    assert "nowhere" in client.ask(pb.Request(id=3, markers=put)).error.message


def test_states_are_published_with_their_roster(raw: Any, served: Any, context: zmq.Context[Any]) -> None:
    _, host = served
    client = raw()
    received: dict[bytes, list[bytes]] = {}
    with context.socket(zmq.SUB) as subscriber:
        subscriber.setsockopt(zmq.LINGER, 0)
        subscriber.setsockopt(zmq.RCVTIMEO, 50)
        subscriber.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['publish']}")
        subscriber.subscribe(b"")
        deadline = monotonic() + 10
        while not {b"state", b"roster"} <= received.keys() and monotonic() < deadline:
            client.ask(pb.Request(id=2, admin=pb.Admin(step=pb.Step(ticks=5))))
            try:
                topic, data = subscriber.recv_multipart()
                received.setdefault(topic, []).append(data)
            except zmq.Again:
                continue
    roster = pb.Roster.FromString(received[b"roster"][0])
    state = pb.StateUpdate.FromString(received[b"state"][0])
    assert [fleet.name for fleet in roster.fleets] == ["blue", "red"]
    assert state.tick % 10 == 0 and state.sim_time == pytest.approx(state.tick / 100)
    assert not state.HasField("roster") and state.roster_number == roster.number
    assert [len(block) for block in state.blocks] == [8 * len(fleet.columns) for fleet in roster.fleets]


def test_the_server_answers_when_a_subscription_is_in_effect(served: Any, context: zmq.Context[Any]) -> None:
    with context.socket(zmq.SUB) as subscriber:
        subscriber.setsockopt(zmq.LINGER, 0)
        subscriber.setsockopt(zmq.RCVTIMEO, 20_000)
        subscriber.connect(f"tcp://127.0.0.1:{served[1].addresses['zmq']['publish']}")
        for every in range(1, 65):  # one too many, beside the topic `state`
            subscriber.subscribe(b"every/%d/" % every)
        for every in (1, 64):
            subscriber.subscribe(b"ready/mine/every/%d/" % every)
        answers = dict(subscriber.recv_multipart() for _ in range(2))
    assert answers == {
        b"ready/mine/every/1/": b"",
        b"ready/mine/every/64/": b"states of 64 different periods are published already",
    }


def test_silent_clients_are_removed(raw: Any, served: Any) -> None:
    client, other = raw(), raw()
    client.ask(pb.Request(id=2, call=pb.Call(method="hold")))
    refused = other.ask(pb.Request(id=2, admin=pb.Admin(step=pb.Step(ticks=1))))
    assert refused.error.message == f"step refused: the clock belongs to {client.welcome.client}"
    deadline = monotonic() + 20
    while monotonic() < deadline:
        reply = other.ask(pb.Request(id=3, admin=pb.Admin(step=pb.Step(ticks=1))))
        if reply.WhichOneof("body") == "done":
            break
        sleep(0.25)
    assert reply.WhichOneof("body") == "done"
    assert counted(served, "cut_off", endpoint="zmq", reason="silent") >= 1
    assert client.ask(pb.Request(id=4, heartbeat=pb.Heartbeat())).error.code == "hello"


def test_a_port_in_use_is_reported(served: Any) -> None:
    port = served[1].addresses["zmq"]["port"]
    with paddock.load(SCENARIO) as sim, pytest.raises(paddock.PaddockError) as caught:
        paddock.share(sim, zmq=port)
    assert str(caught.value) == f"zmq cannot listen on 127.0.0.1:{port}: Address already in use"
    states = served[1].addresses["zmq"]["publish"]
    with paddock.load(SCENARIO) as sim, pytest.raises(paddock.PaddockError) as caught:
        paddock.share(sim, zmq={"port": 0, "publish": states})
    where = f"127.0.0.1:{states} (for states; `publish` sets another port)"
    assert str(caught.value) == f"zmq cannot listen on {where}: Address already in use"


def test_without_pyzmq_the_error_names_the_extra(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zmq.py").write_text("raise ImportError('no zmq here', name='zmq')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    with paddock.load(SCENARIO) as sim, pytest.raises(paddock.PaddockError) as caught:
        paddock.share(sim, zmq={"port": 0})
    assert str(caught.value) == "serving zmq needs pyzmq: pip install paddock[zmq]"


@pytest.mark.parametrize(
    "method",
    ["claim", "release", "control", "command_many", "step_synchronously", "spawn_all", "clear", "put_markers", "ping"],
)
def test_only_documented_operations_can_be_called(raw: Any, method: str) -> None:
    reply = raw().ask(pb.Request(id=2, call=pb.Call(method=method, json='{"vehicles": [1]}')))
    assert (reply.id, reply.error.code) == (2, "UnknownNameError")
    assert reply.error.message.startswith(f"unknown operation {method!r}; ")


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("inspect", '{"target": ["red"]}', "inspect: 'target' must be a text or a whole number, got a list"),
        ("sensors", '{"target": true}', "sensors: 'target' must be a text or a whole number, got true"),
        ("events", '{"since": 1.5}', "events: 'since' must be a whole number of 0 or more, got 1.5"),
        ("spawn", '{"entry": [1]}', "spawn: 'entry' must be an object, got a list"),
        ("transform", '{"target": "red", "source": {}}', "transform: 'source' must be a text, got an object"),
        (
            "transform",
            '{"target": "red", "source": "world", "time": "x"}',
            "transform: 'time' must be a number, got \"x\"",
        ),
        ("restore", '{"state": "x"}', "restore: 'state' must be bytes, got \"x\""),
        ("set_frame", '{"name": "f", "moving": 1}', "set_frame: 'moving' must be true or false, got 1"),
        (
            "set_frame",
            '{"name": "f", "position": [0, "a", 0]}',
            "set_frame: 'position[1]' must be a number, got \"a\"",
        ),
    ],
)
def test_arguments_of_a_wrong_type_are_refused(raw: Any, method: str, arguments: str, message: str) -> None:
    reply = raw().ask(pb.Request(id=2, call=pb.Call(method=method, json=arguments)))
    assert (reply.id, reply.error.code, reply.error.message) == (2, "InvalidValueError", message)


def test_a_live_simulation_cannot_seek(raw: Any) -> None:
    reply = raw().ask(pb.Request(id=2, call=pb.Call(method="seek", json='{"position": 1.0}')))
    assert reply.error.code == "PaddockError"
    assert reply.error.message.startswith("seek refused: this is a live simulation")


def test_an_unreachable_client_loses_its_claim_and_time_continues(
    raw: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim, host = served
    client = raw()

    def fail(*_: object) -> bytes:
        raise RuntimeError("it cannot be sent")

    client.ask(pb.Request(id=2, admin=pb.Admin(set_mode=pb.SetMode(mode=1, vehicles=["red"]))))
    monkeypatch.setattr(host.source.states, "control_request", fail)
    start = sim.tick
    client.send(pb.Request(id=3, admin=pb.Admin(step=pb.Step(ticks=2))))
    replies = {(reply := client.receive()).id: reply for _ in range(2)}
    assert replies[3].WhichOneof("body") == "done" and replies[3].tick == start + 2
    message = f"the simulation could not send the control request of tick {start}: the claim has ended"
    assert (replies[0].error.code, replies[0].error.message) == ("RuntimeError", message)
    reply = client.ask(pb.Request(id=4, admin=pb.Admin(set_mode=pb.SetMode(mode=0))))
    assert reply.error.message == "release: this client has claimed nothing"


@pytest.mark.parametrize(
    "request_",
    [
        pb.Request(id=3, admin=pb.Admin()),
        pb.Request(id=3, call=pb.Call(method="clock", json="{")),
        pb.Request(id=3, admin=pb.Admin(set_mode=pb.SetMode(mode=7))),  # type: ignore[arg-type]
        pb.Request(id=3, command=pb.Command(name="red", inputs={"steer": pb.Input(number=float("nan"))})),
        pb.Request(
            id=3,
            call=pb.Call(
                method="clock", json='{"a": {"$array": 0}}', arrays=[pb.Values(shape=[0, 2**32 - 1, 2**32 - 1])]
            ),
        ),
    ],
)
def test_invalid_requests_are_answered_with_their_id(raw: Any, request_: pb.Request) -> None:
    reply = raw().ask(request_)
    assert (reply.id, reply.error.code) == (3, "malformed")


def test_a_command_without_vehicles_is_refused(raw: Any) -> None:
    inputs = {"steer": pb.Input(number=0.1)}
    reply = raw().ask(pb.Request(id=3, command=pb.Command(vehicles=pb.Ids(), inputs=inputs)))
    assert (reply.id, reply.error.code) == (3, "InvalidValueError")
    assert reply.error.message == "a command needs at least one vehicle: the list of ids is empty"


def test_input_names_are_not_interpreted_on_the_wire(raw: Any, served: Any) -> None:
    client, pid = raw(), served[1].hub_pid
    values = pb.Input(values=pb.Values(f64_le=struct.pack("<d", 0.1)))
    inputs = {"$bytes": pb.Input(number=5.0), "steer": values}
    reply = client.ask(pb.Request(id=3, command=pb.Command(name="red", inputs=inputs)))
    assert (reply.id, reply.error.code) == (3, "UnknownNameError")
    assert reply.error.message.startswith("unknown input '$bytes' of 'red'")
    assert client.ask(pb.Request(id=5, call=pb.Call(method="state_hash"))).id == 5
    assert served[1].hub_pid == pid


def test_unexpected_errors_stay_in_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[pb.Reply] = []

    counted: list[tuple[str, str]] = []

    def count(name: str, amount: int, endpoint: str = "", reason: str = "") -> None:
        counted.append((name, endpoint))

    hub = SimpleNamespace(count=count, tick=4, time=0.04, options=SimpleNamespace(token=None))
    options = {"clients": 2, "requests": 100, "port": 0, "publish": 0}
    endpoint = ZmqServer(hub, options, 1)  # type: ignore[arg-type]

    def fail(*_: object) -> None:
        raise ValueError("an unexpected error")

    monkeypatch.setattr(endpoint, "_serve", fail)
    monkeypatch.setattr(endpoint, "_send", lambda peer, data: sent.append(pb.Reply.FromString(data)))
    endpoint._take([b"a client", pb.Request(id=6, heartbeat=pb.Heartbeat()).SerializeToString()])
    asyncio.run(endpoint.close())
    assert counted == [("endpoint_errors", "zmq")]
    assert [(reply.id, reply.error.code, reply.error.message) for reply in sent] == [
        (6, "PaddockError", "internal error of the server")
    ]
