"""Frames in shared memory, read in place by other processes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import paddock
from paddock.errors import PaddockError
from paddock.serve.host import Host
from paddock.wire.stream.drawing import decode_lines
from paddock.wire.stream.frames import FrameType, decode_tick, frames_in
from paddock.wire.stream.positions import decode_fpv, decode_positions, decode_telemetry
from paddock.world.ring import FrameGroup, FrameRingReader

RING = f"paddock_test_shm_{os.getpid()}"  # tests of this file may run in several processes at once
SCENARIO = {
    "clock": {"rate": 240},
    "vehicles": [
        {"name": "red", "id": 7, "model": "car.kinematic", "pose": [3, 4, 0.5], "speed": 5.0},
        {"name": "drones", "id": 20, "count": 50, "model": "quad", "spawn": {"grid": {"spacing": 2, "z": 10}}},
    ],
}


@pytest.fixture
def served() -> Iterator[tuple[paddock.Simulation, Host]]:
    options = {"name": RING, "rate": 240, "kinds": ["positions", "telemetry", "fpv", "lines"], "frame": "ned"}
    with paddock.load(SCENARIO) as sim, paddock.share(sim, shm=options) as host:
        yield sim, host


def at_tick(reader: FrameRingReader, tick: int) -> FrameGroup:
    for _ in range(200):
        frames = reader.wait(0.1)
        if frames is not None and frames.tick == tick:
            return frames
    raise AssertionError(f"tick {tick} was not published")


def test_positions_telemetry_and_the_moment(served: tuple[paddock.Simulation, Host]) -> None:
    sim, host = served
    assert host.addresses["shm"] == {"name": RING}
    with FrameRingReader(RING) as reader:
        sim.step(24)
        frames = at_tick(reader, 24)
        payloads = {frame.type: frame.payload for frame in frames_in(frames.data)}
        moment = decode_tick(payloads[FrameType.TICK])
        assert (moment.tick, moment.sim_time, moment.run) == (24, 0.1, 0)
        assert (frames.time, frames.wall_time) == (0.1, moment.wall_time)
        positions = decode_positions(payloads[FrameType.POSITIONS])
        snap = sim.snapshot()
        by_id = {int(record["id"]): record["position"] for record in positions}
        assert set(by_id) == {7, *range(20, 70)}
        x, y, z = snap["red"].position
        assert np.allclose(by_id[7], [y, x, -z], atol=1e-5)  # north, east, down
        assert len(decode_telemetry(payloads[FrameType.TELEMETRY])) == 51
        views = decode_fpv(payloads[FrameType.FPV_STATE])
        assert views["id"].tolist() == list(range(20, 70))
        assert np.allclose(views["voltage"], snap.fleet("drones")["voltage"], rtol=1e-6)


def test_markers_are_drawn_as_lines(served: tuple[paddock.Simulation, Host]) -> None:
    sim, _ = served
    sim.world.markers.put(paddock.Marker.line("track", 1, [[0, 0, 0], [10, 0, 0]]))
    with FrameRingReader(RING) as reader:
        for tick in range(1, 50):
            sim.step(1)
            lines = next(f for f in frames_in(at_tick(reader, tick).data) if f.type is FrameType.DEBUG_LINES)
            if len(decode_lines(lines.payload)):
                break
        line = decode_lines(lines.payload)[0]
        assert np.allclose(line["start"], [0, 0, 0]) and np.allclose(line["end"], [0, 10, 0])  # east is NED's y


def test_more_vehicles_need_more_room(served: tuple[paddock.Simulation, Host]) -> None:
    sim, _ = served
    with FrameRingReader(RING) as reader:
        sim.step(1)
        at_tick(reader, 1)
        sim.spawn(name="more", count=2000, model="point", spawn={"grid": {"spacing": 1}})
        sim.step(1)
        frames = at_tick(reader, 2)
        positions = next(f for f in frames_in(frames.data) if f.type is FrameType.POSITIONS)
        assert len(decode_positions(positions.payload)) == 2051


def test_a_name_in_use_gives_a_one_line_error(served: tuple[paddock.Simulation, Host]) -> None:
    with paddock.load(SCENARIO) as other, pytest.raises(PaddockError, match="already published by process"):
        paddock.share(other, shm=RING)
