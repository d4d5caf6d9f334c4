"""Arrays of sensors in a recording: read back, in Foxglove's schemas, exported, replayed and verified."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

import paddock
from paddock.record.reader import open_run
from paddock.record.recorder import Recorder
from paddock.record.rerun import verify

RINGS = {"beams": 36, "rings": 4, "z": 1.0, "noise": 0.0, "range_max": 60}
SENSORS = [
    {"lidar": {"beams": 91, "fov_deg": 90, "noise": 0.0, "x": 1.0, "z": 0.6, "yaw_deg": 10}},
    {"lidar_3d": RINGS},
    {"cones": {"delay": [0.02, 0.06], "clutter": 1.0}},
]
SCENARIO = {
    "clock": {"rate": 500},
    "world": {"obstacles": [{"box": {"center": [12, 0], "size": [1, 200, 4]}}]},
    "track": "acceleration",
    "vehicles": [{"name": "red", "model": "car.kinematic", "speed": 5, "pose": [0, 0, 0], "sensors": SENSORS}],
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: Any) -> tuple[Path, Any]:
    path = tmp_path_factory.mktemp("sensed") / "run.mcap"
    with paddock.load(SCENARIO) as sim:
        with Recorder(sim, path, rate=50):
            sim.step(300)
        return path, sim.snapshot()


def decoded(path: Path, topic: str) -> list[Any]:
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        messages = reader.iter_decoded_messages(topics=[topic])
        return [(schema.name if schema else "", message) for schema, _, _, message in messages]


def test_the_last_sample_has_the_arrays_of_the_simulation(recorded: Any) -> None:
    path, last = recorded
    with open_run(path) as run:
        sample = run.sample(-1)
        for fleet in last:
            assert sample.fleet(fleet.name).arrays == fleet.arrays
            for array in fleet.arrays:
                assert sample.fleet(fleet.name)[array].dtype == fleet[array].dtype
                np.testing.assert_array_equal(sample.fleet(fleet.name)[array], fleet[array])


def test_a_scan_in_a_plane_is_a_laser_scan(recorded: Any) -> None:
    path, _ = recorded
    messages = decoded(path, "/sensors/red/lidar")
    assert {name for name, _ in messages} == {"foxglove.LaserScan"}
    assert 20 <= len(messages) <= 31  # 40 Hz in 0.6 s, recorded at 50 Hz
    scan = messages[0][1]
    assert scan.frame_id == "red" and len(scan.ranges) == 91
    assert (scan.start_angle, scan.end_angle) == pytest.approx((-np.pi / 4, np.pi / 4))
    assert (scan.pose.position.x, scan.pose.position.z) == (1.0, pytest.approx(0.6))
    yaw = 2.0 * np.arctan2(scan.pose.orientation.z, scan.pose.orientation.w)
    assert yaw == pytest.approx(np.radians(10))
    # the wall is 10.5 m ahead of the scanner; a beam at the angle a meets it at 10.5 / cos(a)
    angle = np.radians(np.linspace(-45, 45, 91) + 10)
    np.testing.assert_allclose(np.array(scan.ranges), 10.5 / np.cos(angle), rtol=1e-6)


def test_a_scan_with_rings_is_a_point_cloud(recorded: Any) -> None:
    path, _ = recorded
    messages = decoded(path, "/sensors/red/lidar_3d")
    assert {name for name, _ in messages} == {"foxglove.PointCloud"}
    cloud = messages[0][1]
    assert [field.name for field in cloud.fields] == ["x", "y", "z"]
    points = np.frombuffer(cloud.data, "<f4").reshape(-1, 3)
    ground = points[np.abs(points[:, 2] + 1.0) < 1e-4]  # the scanner is 1 m above it
    wall = points[np.abs(points[:, 0] - 11.5) < 1e-4]
    assert len(ground) > 30 and len(wall) > 5


def test_cones_are_bodies_of_a_scene(recorded: Any) -> None:
    path, last = recorded
    messages = decoded(path, "/sensors/red/cones")
    assert {name for name, _ in messages} == {"foxglove.SceneUpdate"}
    bodies = messages[-1][1].entities[0].cylinders
    seen = last["red"]["cones.detections"]
    seen = seen[np.isfinite(seen[:, 0])]
    assert len(bodies) == len(seen) > 3
    np.testing.assert_allclose([[b.pose.position.x, b.pose.position.y] for b in bodies], seen[:, :2], rtol=1e-6)


def test_cones_with_contact_are_not_counted_as_vehicles(tmp_path: Path) -> None:
    """A track of more than 100 cones that are bodies: the car has its frame and its body, and the track is drawn."""
    red = {"name": "red", "model": "car.kinematic", "sensors": [{"cones": {"delay": 0}}]}
    tree = {"clock": {"rate": 100}, "track": "trackdrive", "contact": True, "vehicles": [red]}
    with paddock.load(tree) as sim:
        with Recorder(sim, tmp_path / "run.mcap", rate=50):
            sim.step(20)
        track, cones = sim.world.track, sum(fleet.n for fleet in sim.snapshot().layout.fleets if fleet.kind == "cone")
    assert track is not None and cones == len(track.cones) > 100
    assert [frame.child_frame_id for frame in decoded(tmp_path / "run.mcap", "/tf")[-1][1].transforms] == ["red"]
    assert [body.frame_id for body in decoded(tmp_path / "run.mcap", "/scene")[0][1].entities] == ["red"]
    assert decoded(tmp_path / "run.mcap", "/sensors/red/cones")[0][1].entities[0].frame_id == "red"
    ((_, drawn),) = decoded(tmp_path / "run.mcap", "/track")
    lines, bodies = drawn.entities
    assert lines.frame_id == bodies.frame_id == "world"
    np.testing.assert_array_equal([[p.x, p.y] for p in lines.lines[0].points], track.left)
    np.testing.assert_array_equal([[p.x, p.y] for p in lines.lines[1].points], track.right)
    np.testing.assert_array_equal([[b.pose.position.x, b.pose.position.y] for b in bodies.cylinders], track.cones)


def test_of_many_vehicles_those_with_sensors_have_frames(tmp_path: Path) -> None:
    crowd = {"name": "crowd", "count": 101, "model": "car.kinematic", "spawn": {"grid": {"spacing": 20}}}
    red = {"name": "red", "model": "car.kinematic", "pose": [-50, 0, 0], "sensors": [SENSORS[0]]}
    tree = {"clock": {"rate": 100}, "vehicles": [crowd, red]}
    with paddock.load(tree) as sim, Recorder(sim, tmp_path / "run.mcap", rate=50):
        sim.step(20)
    frames = decoded(tmp_path / "run.mcap", "/tf")
    assert {tuple(transform.child_frame_id for transform in message.transforms) for _, message in frames} == {("red",)}
    assert frames[0][1].transforms[0].translation.x == -50.0
    assert not decoded(tmp_path / "run.mcap", "/scene")


def test_exports_have_the_arrays_where_the_format_can_hold_them(recorded: Any, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path, last = recorded
    with open_run(path) as run:
        for kind in ("parquet", "json", "csv"):
            export(run, kind, tmp_path)
    table = parquet.read_table(tmp_path / "run.parquet")
    np.testing.assert_array_equal(np.array(table["lidar.ranges"][-1].as_py(), np.float32), last["red"]["lidar.ranges"])
    rows = [json.loads(line) for line in (tmp_path / "run.json").read_text().splitlines()]
    ranges = np.array([[np.nan if v is None else v for v in row] for row in rows[-1]["cones.truth"]])
    np.testing.assert_allclose(ranges, last["red"]["cones.truth"], rtol=1e-6)
    header = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    assert "lidar.returns" in header and "lidar.ranges" not in header


def export(run: Any, kind: str, folder: Path) -> None:
    from paddock.record.export import export as write

    write(run, kind, folder / f"run.{kind}", "red")


def test_the_recording_verifies(recorded: Any) -> None:
    path, _ = recorded
    verified = verify(path)
    assert verified.same and verified.hashes >= 5


def test_large_arrays_are_reported_at_the_start(tmp_path: Path) -> None:
    """32 x 1,024 values of 4 bytes, ten times a second, in the state and for viewers: 157 MB a minute."""
    car: dict[str, Any] = {"name": "red", "model": "car.bicycle", "sensors": ["lidar_3d"]}
    for rate, said in ((20.0, "157"), (5.0, "79"), (2.0, "")):
        lines: list[str] = []
        with paddock.load({"clock": {"rate": 100}, "vehicles": [car]}) as sim:
            Recorder(sim, tmp_path / "run.mcap", rate=rate, on_failure=lines.append).close()
        assert len(lines) == (said != "")
        if said:
            assert f"up to {said} MB per simulated minute" in lines[0] and "\n" not in lines[0]
