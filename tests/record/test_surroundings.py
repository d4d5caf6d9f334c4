"""What viewers draw besides the samples: read with the MCAP library, compared with the scenario."""

from __future__ import annotations

import base64
import json
import math
import zlib
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader

import paddock
from paddock.record import Player, Recorder
from paddock.record.surroundings import recorded_looks, recorded_roads
from paddock.serve.replay import ReplaySource

PATCH = {"circle": {"center": [8, 3], "radius": 2}, "mu": 0.3}
SCENARIO: dict[str, Any] = {
    "clock": {"rate": 100},
    "world": {
        "ground": {"grade": 0.04, "patches": [PATCH]},
        "obstacles": [{"name": "hut", "box": {"center": [30, 40], "size": [4, 6, 3]}}],
    },
    "vehicles": [
        {
            "name": "taxis",
            "count": 2,
            "model": "car.kinematic",
            "preset": "sedan",
            "spawn": {"line": {"start": [0, 50, 0], "end": [0, 44, 0]}},
            "driver": {"racing": {"path": {"circle": {"radius": 50}}, "width": 9}},
        },
        {"name": "dot", "model": "point", "behaviour": {"orbit": {"radius": 10, "z": 2, "speed": 5}}},
    ],
}


def metadata_of(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        (metadata,) = (record for record in make_reader(file).iter_metadata() if record.name == "paddock")
    return dict(metadata.metadata)


def test_scenery_roads_routes_and_looks_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    with paddock.load(SCENARIO) as sim, Recorder(sim, path):
        pass
    metadata = metadata_of(path)
    scenery = json.loads(zlib.decompress(base64.b64decode(metadata["scenery"])))
    ground = scenery["ground"]
    row = ground["heights"][: ground["columns"]]
    for k in (0, 57, len(row) - 1):
        assert row[k] == pytest.approx(0.04 * (ground["x"] + k * ground["cell"]), abs=1e-4)
    assert scenery["section"]["patches"][0]["circle"] == {"center": [8, 3], "radius": 2}
    (hut,) = scenery["obstacles"]
    assert (hut["name"], hut["x"], hut["y"], hut["width"]) == ("hut", 30, 40, 6)
    (road,) = scenery["roads"]  # of both cars
    assert (road["width"], road["closed"]) == (9, True)
    assert all(math.hypot(x, y) == pytest.approx(50, abs=0.2) for x, y, _ in road["points"])
    looks = json.loads(metadata["looks"])
    assert looks["taxis"]["preset"] == "sedan" and looks["dot"]["preset"] is None
    units = json.loads(metadata["units"])
    assert units["taxis"]["steer"] == "rad" and units["dot"]["vx"] == "m/s" and "qw" not in units["dot"]
    assert looks["taxis"]["dimensions"]["cg_to_front"] + looks["taxis"]["dimensions"]["cg_to_rear"] > 2.4
    assert {route["behaviour"] for route in json.loads(metadata["routes"])} == {"racing", "orbit"}

    with Player(path) as player:
        source = ReplaySource(player)
        assert source.scenery("test")["roads"] == scenery["roads"]
        fleets = {fleet["name"]: fleet for fleet in source.metadata("test")["fleets"]}
        assert fleets["taxis"]["preset"] == "sedan"
        assert fleets["taxis"]["dimensions"] == looks["taxis"]["dimensions"]


def test_flat_ground_needs_no_scenery(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    with paddock.load({"vehicles": [{"name": "dot", "model": "point"}]}) as sim, Recorder(sim, path):
        pass
    assert "scenery" not in metadata_of(path)
    assert recorded_roads(metadata_of(path)) == []


@pytest.mark.parametrize("text", ["", "!", "AAAA", base64.b64encode(zlib.compress(b"[1]")).decode(), "eJw="])
def test_damaged_or_missing_surroundings_are_left_out(text: str) -> None:
    assert recorded_roads({"scenery": text}) is None
    assert recorded_looks({"looks": text}) == {}
    assert recorded_looks({"looks": '{"a": {"preset": 3, "dimensions": {"width": "x", "height": 2}}}'}) == {
        "a": {"preset": None, "dimensions": {"height": 2}}
    }


def test_arrays_of_sensors_are_described(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    sensors = [{"lidar": {"beams": 90, "fov_deg": 180}}, {"lidar": {"beams": 12}}, "imu"]
    car = {"name": "car", "model": "car.kinematic", "sensors": sensors}
    with paddock.load({"vehicles": [car, {"name": "dot", "model": "point"}]}) as sim, Recorder(sim, path):
        pass
    described = json.loads(metadata_of(path)["arrays"])
    assert list(described) == ["car"]
    first, pose, second, _ = described["car"]
    assert (pose["name"], pose["shape"], pose["fields"][3]["name"]) == ("lidar.sample_pose", [7], "qx")
    assert (first["name"], first["shape"], first["sensor"], first["unit"]) == ("lidar.ranges", [90], "lidar", "m")
    assert (second["name"], second["shape"]) == ("lidar_2.ranges", [12])
    assert (first["options"]["fov_deg"], second["options"]["fov_deg"]) == (180.0, 270.0)
