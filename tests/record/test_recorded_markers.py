"""Markers in a recording: the changes, and scene entities of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

from paddock.engine.simulation import Simulation
from paddock.record import Recorder, open_run
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, PutMarkers, ShowMarkers
from paddock.world.markers import Marker

PATH = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def scenes(path: Path) -> list[Any]:
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        return [d for _, _, _, d in reader.iter_decoded_messages(topics=["/markers"], log_time_order=False)]


def test_changes_in_their_order(small: Simulation, tmp_path: Path) -> None:
    small.world.markers.put(Marker.text("early", 3, "before", ttl=5.0))
    small.step(100)
    with Recorder(small, tmp_path / "run.mcap"):
        small.world.markers.put(
            Marker.line("plan", 1, PATH, width=0.25), Marker.circle("goal", 2, (1.0, 2.0, 0.0), radius=3.0)
        )
        small.step(10)
        small.world.markers.show("plan", False)
        small.world.markers.show("plan", True)
        small.world.markers.remove("plan", 1)
        small.reset()
        small.step(5)
    with open_run(tmp_path / "run.mcap") as run:
        times, commands = zip(*run.marker_commands(), strict=True)
    kinds = [type(command) for command in commands]
    assert kinds == [PutMarkers, PutMarkers, ShowMarkers, ShowMarkers, DeleteMarkers, ClearMarkers]
    assert commands[0].markers[0].label == "before" and commands[0].markers[0].ttl == pytest.approx(4.0)
    np.testing.assert_array_equal(commands[1].markers[0].vertices, PATH.astype(np.float32))
    assert commands[1].markers[1].scale[0] == 3.0
    assert commands[2:5] == (ShowMarkers("plan", False), ShowMarkers("plan", True), DeleteMarkers("plan", (1,)))
    assert times[1] == 0.0 and times[2] == pytest.approx(0.1) and list(times) == sorted(times)
    pictures = scenes(tmp_path / "run.mcap")
    assert [[entity.id for entity in picture.entities] for picture in pictures] == [
        ["early/3"], ["plan/1", "goal/2"], [], ["plan/1"], [], [],
    ]  # fmt: skip
    assert [[gone.id for gone in picture.deletions] for picture in pictures][2:5] == [["plan/1"], [], ["plan/1"]]
    assert pictures[5].deletions[0].type == 1  # all
    line = pictures[1].entities[0].lines[0]
    assert [(p.x, p.y, p.z) for p in line.points] == [tuple(row) for row in PATH] and line.thickness == 0.25


def test_every_kind_is_drawn(small: Simulation, tmp_path: Path) -> None:
    markers = [
        Marker.points("all", 0, PATH, size=0.5),
        Marker.lines("all", 1, PATH[:2]),
        Marker.triangles("all", 2, PATH),
        Marker.ring("all", 3, radius=2.0, width=0.5),
        Marker.arrow("all", 4, (0, 0, 0), (3, 0, 0), shaft=0.1, head=0.5),
        Marker.text("all", 5, "hello", height=0.7),
        Marker.car("all", 6, (1.0, 2.0, 0.0), size=(4.0, 2.0, 1.0)),
        Marker.mesh("all", 7, "package://cone"),
        Marker.axes("all", 8, frame="red", length=2.0),
    ]
    with Recorder(small, tmp_path / "run.mcap"):
        small.world.markers.put(*markers)
    entities = scenes(tmp_path / "run.mcap")[0].entities
    parts = ("lines", "lines", "triangles", "lines", "arrows", "texts", "cubes", "models", "lines")
    counts = [len(getattr(entity, part)) for entity, part in zip(entities, parts, strict=True)]
    assert counts == [1, 1, 1, 2, 1, 1, 1, 1, 3]
    assert (entities[4].arrows[0].shaft_length, entities[4].arrows[0].head_length) == (2.5, 0.5)
    box = entities[6].cubes[0]
    assert (box.pose.position.x, box.pose.position.y, box.pose.position.z) == (1.0, 2.0, 0.5)
    assert (box.size.x, box.size.y, box.size.z) == (4.0, 2.0, 1.0)
    assert entities[8].frame_id == "red" and entities[8].lines[1].points[1].y == 2.0
    radii = [np.hypot(line.points[5].x, line.points[5].y) for line in entities[3].lines]
    assert radii == pytest.approx([2.0, 1.5])


def test_named_frames_are_in_the_transforms(small: Simulation, tmp_path: Path) -> None:
    with Recorder(small, tmp_path / "run.mcap"):
        small.world.frames.set("gate", "red", (1.0, 2.0, 3.0))
    with (tmp_path / "run.mcap").open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        frames = [t for *_, d in reader.iter_decoded_messages(topics=["/tf"]) for t in d.transforms]
    gate = next(frame for frame in frames if frame.child_frame_id == "gate")
    assert (gate.parent_frame_id, gate.translation.x, gate.translation.z) == ("red", 1.0, 3.0)
