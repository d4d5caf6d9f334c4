"""Reconnection: dialling out to a renderer, and a hub that dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.serve.link import HubConnection
from paddock.wire.stream.frames import JsonLine, Splitter, StreamFrame

RED = {"name": "red", "id": 7, "model": "car.kinematic", "pose": [3, 4, 0.5]}
PAIR = {
    "name": "pair",
    "id": 10,
    "count": 2,
    "model": "point",
    "spawn": {"line": {"start": [0, 0, 5], "end": [1, 0, 5]}},
}
SCENARIO = {"clock": {"rate": 240}, "vehicles": [RED, PAIR]}


class Renderer:
    """A program that listens, as a game engine would."""

    def __init__(self, port: int = 0) -> None:
        self.listener = socket.create_server(("127.0.0.1", port))
        self.listener.settimeout(20)
        self.port = self.listener.getsockname()[1]

    def accept(self) -> None:
        self.socket, _ = self.listener.accept()
        self.socket.settimeout(20)
        self.splitter = Splitter(1 << 20, 1 << 20)
        self.inbox: list[StreamFrame | JsonLine] = []

    def next(self) -> StreamFrame | JsonLine:
        while not self.inbox:
            piece = self.socket.recv(1 << 16)
            assert piece, "hung up"
            self.inbox.extend(self.splitter.feed(piece))
        return self.inbox.pop(0)

    def line(self) -> dict[str, Any]:
        while not isinstance(message := self.next(), JsonLine):
            pass
        tree: dict[str, Any] = json.loads(message.line)
        return tree

    def say(self, **message: Any) -> None:
        self.socket.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def close(self) -> None:
        self.socket.close()
        self.listener.close()


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    renderer = Renderer()
    yield renderer
    renderer.close()


def test_a_renderer_that_restarts_is_dialled_again(serve: Callable[..., Any], renderer: Renderer) -> None:
    dial = {"to": f"127.0.0.1:{renderer.port}", "frame": "unreal", "rate": 100}
    served = serve(SCENARIO, running=True, stream={"port": 0, "dial": [dial]})
    renderer.accept()
    first = renderer.next()
    assert isinstance(first, JsonLine)  # the roster comes before any frame
    call = json.loads(first.line)
    assert call["method"] == "spawn_robots"
    robots = {robot["id"]: robot for robot in call["params"]["robots"]}
    assert sorted(robots) == [7, 10, 11]
    assert robots[7]["robot_type"] == "car"
    assert (robots[7]["x"], robots[7]["y"]) == (300.0, -400.0)
    assert robots[7]["yaw"] == pytest.approx(-0.5)  # a left turn is negative there
    renderer.say(id=call["id"], result={})
    for _ in range(3):
        frame = renderer.next()
        assert isinstance(frame, StreamFrame) and frame.type in (0x01, 0x02)  # no tick frames unless asked for
    renderer.say(id="a", method="ping")
    refusal = renderer.line()
    assert refusal["id"] == "a" and refusal["error"]["code"] == -32601
    # vehicles come: the roster again, then frames with them
    peer = served.connect()
    peer.call("spawn_robots", robots=[{"id": 20, "robot_type": "rover"}])
    again = renderer.line()
    assert 20 in [robot["id"] for robot in again["params"]["robots"]] and again["id"] != call["id"]
    renderer.say(id=again["id"], error={"code": 1, "message": "no such mesh"})
    assert 20 in _ids(_positions(renderer))
    # it dies and comes back
    renderer.close()
    renderer.__init__(renderer.port)
    renderer.accept()
    assert sorted(robot["id"] for robot in renderer.line()["params"]["robots"]) == [7, 10, 11, 20]
    assert 20 in _ids(_positions(renderer))
    assert served.count("renderer_errors", endpoint="stream") == 1
    peer.close()


def _positions(renderer: Renderer) -> StreamFrame:
    while not (isinstance(frame := renderer.next(), StreamFrame) and frame.type == 0x01):
        pass
    return frame


def _ids(frame: StreamFrame) -> list[int]:
    return np.frombuffer(frame.payload, np.dtype([("id", "<i4"), ("rest", "V28")]), offset=4)["id"].tolist()


def test_tick_frames_for_a_renderer_that_wants_them(serve: Callable[..., Any], renderer: Renderer) -> None:
    dial = {"to": f"127.0.0.1:{renderer.port}", "frame": "ned", "tick": True, "kinds": ["positions"]}
    serve(SCENARIO, running=True, stream={"port": 0, "dial": [dial]})
    renderer.accept()
    assert renderer.line()["method"] == "spawn_robots"
    tick = renderer.next()
    assert isinstance(tick, StreamFrame) and tick.type == 0x10 and len(tick.payload) == 32
    frame = renderer.next()
    assert isinstance(frame, StreamFrame)
    x, y, _ = struct.unpack("<3f", frame.payload[4 + 2 * 32 + 4 : 4 + 2 * 32 + 16])  # pair, then red
    assert (x, y) == (4.0, 3.0)  # north, east


def test_a_running_simulation_has_a_roster_for_a_hub_that_is_not_ready(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub dials as soon as it has started; the simulation publishes to it once every endpoint is open."""
    calls: list[dict[str, Any]] = []
    wait_ready = HubConnection.wait_ready

    def wait_for_roster(hub: HubConnection, timeout: float) -> dict[str, Any]:
        renderer.accept()
        calls.append(renderer.line())
        return wait_ready(hub, timeout)

    monkeypatch.setattr(HubConnection, "wait_ready", wait_for_roster)
    dial = {"to": f"127.0.0.1:{renderer.port}", "kinds": ["positions"]}
    with (
        paddock.load(SCENARIO) as sim,
        sim.clock.running(),
        paddock.share(sim, lambda line: None, stream={"port": 0, "dial": [dial]}),
    ):
        assert sorted(robot["id"] for robot in calls[0]["params"]["robots"]) == [7, 10, 11]
        assert len(_ids(_positions(renderer))) == 3


def test_after_the_hub_is_killed_clients_find_it_on_the_same_port(
    serve: Callable[..., Any], eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    served = serve(SCENARIO, running=True)
    peer = served.connect()
    peer.call("subscribe")
    before = peer.tick()[0]
    os.kill(served.host.hub_pid, signal.SIGKILL)
    with suppress(EOFError, ConnectionError):
        while peer.next():
            pass
    assert eventually(lambda: bool(served.connect().call("ping")))
    again = served.connect()
    again.call("subscribe")
    assert again.tick()[0] > before  # the simulation has never stopped
    assert len(again.poses()) == 3
