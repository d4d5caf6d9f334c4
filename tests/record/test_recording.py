"""The content of a recording, read with the MCAP library and compared with the live simulation."""

from __future__ import annotations

import os
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError
from paddock.record import Recorder

NS = 1_000_000_000


def decoded(path: Path) -> list[tuple[str, int, Any]]:
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return [(c.topic, m.log_time, d) for _, c, m, d in reader.iter_decoded_messages(log_time_order=False)]


def of(messages: list[tuple[str, int, Any]], topic: str) -> list[Any]:
    return [message for channel, _, message in messages if channel == topic]


def test_states_equal_the_live_snapshots(small: Simulation, tmp_path: Path) -> None:
    live = []
    small.clock.watch(lambda snap: live.append((snap.tick, [fleet.block.tobytes() for fleet in snap])), every=5)
    with Recorder(small, tmp_path / "run.mcap", rate=20):
        first = [fleet.block.tobytes() for fleet in small.snapshot()]
        small.command("red", steer=0.1, throttle=0.4)
        small.step(100)
    states = of(decoded(tmp_path / "run.mcap"), "/paddock/state")
    assert [state.tick for state in states] == list(range(0, 101, 5))
    assert [state.sim_time for state in states] == [tick / 100 for tick in range(0, 101, 5)]
    assert [(state.tick, list(state.blocks)) for state in states] == [(0, first), *live]


def test_single_precision_is_the_nearest_float32(small: Simulation, tmp_path: Path) -> None:
    with Recorder(small, tmp_path / "run.mcap", precision="single"):
        small.step(50)
        live = small.snapshot()
    state = of(decoded(tmp_path / "run.mcap"), "/paddock/state")[-1]
    for fleet, block in zip(live, state.blocks, strict=True):
        assert block == fleet.block.astype("<f4").tobytes()


def test_auto_precision_is_double_up_to_a_thousand_vehicles(tmp_path: Path) -> None:
    for count, nbytes in ((1000, 8), (1001, 4)):
        entry = {"name": "dots", "count": count, "model": "point", "spawn": {"grid": {"spacing": 2, "z": 5}}}
        with paddock.load({"vehicles": [entry]}) as sim, Recorder(sim, tmp_path / "run.mcap"):
            columns = len(sim.snapshot().fleet("dots").columns)
        assert len(of(decoded(tmp_path / "run.mcap"), "/paddock/state")[0].blocks[0]) == nbytes * columns * count


def test_actions_events_roster_and_hashes(small: Simulation, tmp_path: Path) -> None:
    with Recorder(small, tmp_path / "run.mcap"):
        small.command("scouts", vx=[1.0, 2.0, 3.0], source="radio")
        small.step(60)  # the scouts' timeout of 0.25 s passes
        small.spawn(name="late", model="point")
        small.step(40)
    messages = decoded(tmp_path / "run.mcap")
    command, spawn = of(messages, "/paddock/actions")
    assert (command.kind, command.source, command.tick) == ("control", "radio", 0)
    assert [struct.unpack("<3d", array.f64_le) for array in command.arrays] == [(1.0, 2.0, 3.0)]
    assert (spawn.kind, spawn.tick) == ("spawn", 60) and '"late"' in spawn.json
    events = of(messages, "/paddock/events")
    assert Counter(event.kind for event in events) == {"failsafe": 3, "spawned": 1}
    assert of(messages, "/events")[0].message == "failsafe scouts[0] no command in time"
    assert [[fleet.name for fleet in roster.fleets] for roster in of(messages, "/paddock/roster")] == [
        ["dot", "red", "scouts"],
        ["dot", "late", "red", "scouts"],
    ]
    hashes = of(messages, "/paddock/hashes")
    assert [state.tick for state in hashes][:3] == [0, 12, 21] and hashes[-1].tick == 100  # samples are 3 ticks apart
    assert len({state.hash for state in hashes}) == len(hashes) - 1  # the last sample and the end are the same state


def test_log_time_never_goes_back(small: Simulation, tmp_path: Path) -> None:
    with Recorder(small, tmp_path / "run.mcap"):
        small.step(50)
        blob = small.save()
        small.step(50)
        small.restore(blob)
        small.step(20)
        small.reset()
        small.step(10)
    messages = decoded(tmp_path / "run.mcap")
    times = [log_time for _, log_time, _ in messages]
    assert times == sorted(times)
    starts = [(t, m.reason, bool(m.state)) for topic, t, m in messages if topic == "/paddock/run"]
    assert [(reason, state) for _, reason, state in starts] == [(0, False), (2, True), (1, False)]
    tick = NS // 100
    assert [start - starts[0][0] for start, _, _ in starts] == [
        0,
        100 * tick,
        120 * tick,
    ]  # one tick after the last sample, 99 and 69
    states = [(t - starts[0][0], m.tick) for topic, t, m in messages if topic == "/paddock/state"]
    assert (100 * tick, 50) in states and (120 * tick, 0) in states


def test_scene_messages_for_foxglove(small: Simulation, tmp_path: Path) -> None:
    with Recorder(small, tmp_path / "run.mcap"):
        small.step(100)
        live = small.snapshot()
    with (tmp_path / "run.mcap").open("rb") as file:
        channels = make_reader(file).get_summary().channels.values()  # type: ignore[union-attr]
    assert {"/positions", "/tf", "/scene", "/events"} < {channel.topic for channel in channels}
    messages = decoded(tmp_path / "run.mcap")
    cloud = of(messages, "/positions")[-1]
    offsets = [(field.name, field.offset) for field in cloud.fields]
    assert offsets == [(name, 4 * k) for k, name in enumerate(("id", "x", "y", "z", "qx", "qy", "qz", "qw"))]
    assert cloud.point_stride == 32 and len(cloud.data) == 32 * 5
    tick = round((cloud.timestamp.ToNanoseconds() - messages[0][1]) * 100 / NS)
    frames = of(messages, "/tf")[-1].transforms
    assert [frame.child_frame_id for frame in frames] == ["dot", "red", "scouts[0]", "scouts[1]", "scouts[2]"]
    if tick == live.tick:
        assert frames[1].translation.x == live["red"].position[0]
    for k, frame in enumerate(frames):
        x = struct.unpack_from("<f", cloud.data, 32 * k + 4)[0]
        assert x == np.float32(frame.translation.x)
    entities = of(messages, "/scene")[0].entities
    assert [entity.frame_id for entity in entities] == [frame.child_frame_id for frame in frames]
    assert entities[1].cubes[0].size.x > entities[0].cubes[0].size.x  # a car is longer than a dot


def test_metadata_and_scenario(small: Simulation, tmp_path: Path, world: dict[str, Any]) -> None:
    with Recorder(small, tmp_path / "run.mcap"):
        small.step(3)
    with (tmp_path / "run.mcap").open("rb") as file:
        reader = make_reader(file)
        (metadata,), (attachment,) = reader.iter_metadata(), reader.iter_attachments()
    about = metadata.metadata
    assert (about["name"], about["seed"], about["rate"], about["sample_ticks"]) == ("small", "5", "100.0", "3")
    assert about["numpy"] == np.__version__ and about["paddock"] == paddock.__version__
    assert attachment.name == "scenario.yaml"
    assert yaml.safe_load(attachment.data)["vehicles"][0]["name"] == world["vehicles"][0]["name"]


def test_no_secrets(tmp_path: Path, world: dict[str, Any]) -> None:
    served = {**world, "serve": {"zmq": True, "token": "open sesame"}, "record": "elsewhere.mcap"}
    with paddock.load(served) as sim, Recorder(sim, tmp_path / "run.mcap"):
        sim.step(1)
    data = (tmp_path / "run.mcap").read_bytes()
    assert b"sesame" not in data and all(b"sesame" not in str(m).encode() for *_, m in decoded(tmp_path / "run.mcap"))


def test_recording_does_not_change_the_run(small: Simulation, tmp_path: Path, world: dict[str, Any]) -> None:
    with Recorder(small, tmp_path / "run.mcap", rate=100) as recorder:
        small.command("scouts", vx=[1.0, 2.0, 3.0], at_tick=7)
        small.step(150)
        assert recorder.report().dropped == 0
    with paddock.load(world) as other:
        other.command("scouts", vx=[1.0, 2.0, 3.0], at_tick=7)
        other.step(150)
        assert other.state_hash() == small.state_hash()
    assert small.engine.publisher.watchers == [] and small.control.log.listeners == [] and small.events.listeners == []


def test_report_counts(small: Simulation, tmp_path: Path) -> None:
    recorder = Recorder(small, tmp_path / "run.mcap", rate=10)
    small.step(100)
    report = recorder.close()
    assert recorder.close() == report
    assert (report.samples, report.dropped, report.vehicle_samples, report.failure) == (11, 0, 55, "")
    assert report.bytes == os.path.getsize(tmp_path / "run.mcap")
    assert report.bytes_per_vehicle_sample == report.bytes / 55
    assert "11 samples" in report.line() and "bytes per vehicle and sample" in report.line()


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), True, "30"])
def test_bad_rate(small: Simulation, tmp_path: Path, rate: Any) -> None:
    with pytest.raises(InvalidValueError, match="positive number of Hz"):
        Recorder(small, tmp_path / "run.mcap", rate=rate)


def test_bad_precision_and_paths(small: Simulation, tmp_path: Path) -> None:
    with pytest.raises(PaddockError, match="unknown precision 'singel'; did you mean 'single'"):
        Recorder(small, tmp_path / "run.mcap", precision="singel")
    assert not (tmp_path / "run.mcap").exists()
    with pytest.raises(PaddockError, match=r"cannot record to .*No such file"):
        Recorder(small, tmp_path / "no" / "run.mcap")
    with pytest.raises(PaddockError, match=r"cannot record to .*directory"):
        Recorder(small, tmp_path)
    small.step(1)


def test_two_recorders(small: Simulation, tmp_path: Path) -> None:
    with Recorder(small, tmp_path / "a.mcap"), Recorder(small, tmp_path / "b.mcap", rate=100):
        small.command("red", throttle=0.5)
        small.step(30)
    a, b = (decoded(tmp_path / name) for name in ("a.mcap", "b.mcap"))
    assert len(of(a, "/paddock/actions")) == len(of(b, "/paddock/actions")) == 1
    assert of(a, "/paddock/state")[-1].blocks == of(b, "/paddock/state")[-1].blocks


def test_a_mission_that_was_planned_before_is_among_the_events(tmp_path: Path) -> None:
    quad = {"name": "q", "model": "quad", "pose": [0, 0, 100, 0]}
    mission = {"base": [0, 0, 100, 0], "execute": "kinematic", "tasks": [{"name": "a", "point": {"at": [60, 0]}}]}
    with paddock.load({"vehicles": [quad], "mission": mission}) as sim:
        sim.engine.prepare()
        assert [event.kind for event in sim.events.since()] == ["mission_planned"]
        with Recorder(sim, tmp_path / "run.mcap", rate=1):
            sim.run(until=2.0)
        kinds = Counter(event.kind for event in sim.events.since())
    assert Counter(event.kind for event in of(decoded(tmp_path / "run.mcap"), "/paddock/events")) == kinds
