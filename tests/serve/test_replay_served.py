"""A recording played through the endpoints: pause, seek, pace; no client can change it."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.record import Player, Recorder, open_run
from paddock.serve.host import Host
from paddock.serve.link import operate
from paddock.serve.live import LiveSource, handlers, serve_options, to_stderr
from paddock.serve.replay import ReplaySource
from paddock.wire import rpc
from paddock.wire.stream.drawing import decode_lines
from paddock.wire.stream.frames import FrameType, Splitter, StreamFrame, decode_tick, frames_in
from paddock.wire.stream.positions import decode_positions
from paddock.world.ring import FrameGroup, FrameRingReader

RING = f"paddock_test_replay_{os.getpid()}"  # tests of this file may run in several processes at once
CAR = {"name": "red", "id": 3, "model": "car.kinematic", "speed": 10.0, "pose": [0, 0, 0]}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four seconds of a car that drives straight on, with a line that is shown from 1 s to 2 s."""
    file = tmp_path_factory.mktemp("replay") / "run.mcap"
    with paddock.load({"clock": {"rate": 1000}, "vehicles": [CAR]}) as sim, Recorder(sim, file, rate=50):
        sim.step(1000)
        sim.world.markers.put(paddock.Marker.line("track", 1, [[0, 0, 0], [10, 0, 0]], ttl=1.0))
        sim.step(3000)
    return file


@pytest.fixture
def served(recording: Path) -> Iterator[tuple[Player, Host]]:
    options = {"shm": {"name": RING, "kinds": ["positions", "lines"]}, "stream": {"port": 0}}
    with Player(recording) as player:
        player.pause()
        with Host(ReplaySource(player), serve_options(options), to_stderr) as host:
            thread = threading.Thread(target=lambda: player.run(stay=True))
            thread.start()
            yield player, host
            player.stop()
            thread.join()


def shown(reader: FrameRingReader, tick: int) -> FrameGroup:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        frames = reader.wait(0.1)
        if frames is not None and frames.tick == tick:
            return frames
    raise AssertionError(f"tick {tick} was not shown")


def test_seeking_shows_the_sample_to_all_clients(served: tuple[Player, Host]) -> None:
    _, host = served
    with FrameRingReader(RING) as reader, paddock.load({"clock": {"rate": 1000}, "vehicles": [CAR]}) as live:
        for position in (3.0, 1.0, 0.0, 4.0):
            live.reset()
            live.step(round(1000 * position))
            assert operate(host.source, "seek", "ann", {"position": position}) == position
            frames = shown(reader, round(1000 * position))
            records = decode_positions(next(f.payload for f in frames_in(frames.data) if f.type is FrameType.POSITIONS))
            assert records["id"].tolist() == [3]
            assert records["position"][0] == pytest.approx(live.snapshot()["red"].position, rel=1e-6)


def test_markers_come_and_go_at_their_times(served: tuple[Player, Host]) -> None:
    _, host = served
    with FrameRingReader(RING) as reader:
        for position, lines in ((0.5, 0), (1.5, 1), (2.5, 0), (1.2, 1), (0.2, 0)):
            operate(host.source, "seek", "ann", {"position": position})
            deadline = time.monotonic() + 5
            count = -1
            while count != lines and time.monotonic() < deadline:
                operate(host.source, "snapshot", "ann", {})
                frames = reader.wait(0.1)
                if frames is not None and frames.tick == round(1000 * position):
                    drawn = next(f for f in frames_in(frames.data) if f.type is FrameType.DEBUG_LINES)
                    count = len(decode_lines(drawn.payload))
            assert count == lines, position


def test_it_plays_at_its_pace_over_the_stream(served: tuple[Player, Host]) -> None:
    player, host = served
    splitter, ticks = Splitter(1 << 24, 1 << 20), []
    with socket.create_connection(("127.0.0.1", host.addresses["stream"]["port"]), 10) as connection:
        connection.sendall(rpc.request(1, "subscribe", {"kinds": ["positions"], "rate": 60}))
        connection.sendall(rpc.request(2, "set_pace", {"pace": 4.0}) + rpc.request(3, "resume", {}))
        while player.position < 4.0 or len(ticks) < 5:
            for message in splitter.feed(connection.recv(1 << 16)):
                if isinstance(message, StreamFrame) and message.type is FrameType.TICK:
                    ticks.append(decode_tick(message.payload).tick)
    assert player.pace == 4.0
    assert np.all(np.diff(ticks) >= 0) and len(set(ticks)) > 5


def test_a_client_of_the_stream_can_seek(served: tuple[Player, Host]) -> None:
    player, host = served
    address = ("127.0.0.1", host.addresses["stream"]["port"])
    with socket.create_connection(address, 10) as connection, connection.makefile("rb") as lines:
        connection.sendall(rpc.request(1, "seek", {"position": 2.5}))
        assert rpc.parse(lines.readline()) == rpc.Response(1, {"position": 2.5})
        connection.sendall(rpc.request(2, "seek", {"position": "there"}))
        refused = rpc.parse(lines.readline())
    assert player.position == 2.5
    assert isinstance(refused, rpc.Response) and refused.error is not None and refused.error.code == rpc.INVALID_PARAMS


def test_a_recording_cannot_be_changed(served: tuple[Player, Host]) -> None:
    _, host = served
    for operation, arguments in (("step", {"ticks": 1}), ("command", {"target": "red", "inputs": {"steer": 1.0}})):
        with pytest.raises(PaddockError, match=f"{operation} refused: this is a recording; it offers"):
            operate(host.source, operation, "ann", arguments)
    with pytest.raises(PaddockError, match="seek takes a time in s"):
        operate(host.source, "seek", "ann", {"position": float("nan")})
    metadata = operate(host.source, "metadata", "ann", {})
    assert metadata["recording"]["duration"] == pytest.approx(4.0)
    assert metadata["fleets"][0]["driven_by"] == "recording"


def test_series_and_events_do_not_depend_on_the_position(served: tuple[Player, Host], recording: Path) -> None:
    _, host = served
    series = operate(host.source, "series", "ann", {"target": "red", "columns": ["x", "speed", "none"]})()
    with open_run(recording) as run:
        history = run.fleet("red", ["x"])
        events = run.events()
    assert series["times"] == pytest.approx(history.times.tolist()) and len(series["times"]) == 201
    assert series["values"][0] == history["x"][:, 0].tolist()
    assert series["values"][1][0] == pytest.approx(10.0)  # m/s, from the pose
    assert set(series["values"][2]) == {None}
    part = {"target": "red", "columns": ["x"], "start": series["times"][50], "end": series["times"][60]}
    piece = operate(host.source, "series", "ann", part)()
    assert (piece["times"], piece["values"][0]) == (series["times"][50:60], series["values"][0][50:60])
    assert operate(host.source, "series", "ann", {**part, "start": 1e6, "end": None})() == {"times": [], "values": [[]]}
    tree = operate(host.source, "metadata", "ann", {})
    assert [(e.tick, e.kind) for e in tree["recording"]["events"]] == [(e.tick, e.kind) for e in events]
    with paddock.load({"vehicles": [CAR]}) as sim, pytest.raises(PaddockError, match="only a recording has series"):
        handlers()["series"](LiveSource(sim), "ann", target="red", columns=["x"])


def test_the_token_of_the_recorded_server_stays_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret.mcap"
    serve = {"token": "open sesame", "stream": {"port": 0}}
    with paddock.load({"vehicles": [CAR], "serve": serve}) as sim, Recorder(sim, path):
        sim.step(3)
    with Player(path) as player:
        source = ReplaySource(player)
        tree = operate(source, "metadata", "a client", {})
        assert tree["scenario"]["vehicles"] and "open sesame" not in repr(tree)
