"""Loaded scenarios: defaults, short forms, names, locations."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from paddock.scenario import (
    BehaviourChoice,
    ClockSection,
    Scenario,
    SensorChoice,
    SpawnSection,
    VehicleEntry,
    WorldSection,
    load_scenario,
)
from paddock.scenario.base import Section

RACE = """\
name: two_car_race
seed: 7
clock: {rate: 1000, pace: 1.0, sync: {every: 10, timeout: 1.0, on_timeout: brake}}
world: {mu: 0.9, origin: [35.6812, 139.7671, 40.0], wind: [2, 0, 0]}
vehicles:
  - {id: 1, name: red, model: car.bicycle, preset: sports, pose: [0, 0, 0], speed: 12, driver: external}
  - {name: scouts, count: 1000, model: quad, preset: micro, spawn: {grid: {spacing: 3, z: 20}}, behaviour: {flock: {}}}
  - model: car.bicycle
    driver: {pure_pursuit: {path: [[0, 0], [1, 1]], speed: 12}}
    sensors: [imu, {gnss: {rate: 5}}]
    parameters: {mass: 1e3}
every: {behaviour: 8}
"""


def test_a_whole_scenario() -> None:
    race = load_scenario(RACE)
    red, scouts, third = race.vehicles
    assert (race.name, race.seed, race.clock.rate, race.clock.dt) == ("two_car_race", 7, 1000.0, 0.001)
    assert race.clock.sync is not None and race.clock.sync.on_timeout == "brake"
    assert (race.world.mu, race.world.wind) == (0.9, (2.0, 0.0, 0.0))
    assert (red.id, red.pose, red.speed, red.controller) == (1, (0.0, 0.0, 0.0), 12.0, None)
    assert scouts.controller == BehaviourChoice(name="flock") and scouts.controller_key == "behaviour"
    assert third.controller == BehaviourChoice(name="pure_pursuit", options={"path": [[0, 0], [1, 1]], "speed": 12})
    assert third.controller_key == "driver"
    assert third.sensors == (SensorChoice(name="imu"), SensorChoice(name="gnss", options={"rate": 5}))
    assert third.parameters == {"mass": 1000.0}
    assert (race.every.behaviour, race.every.snapshot) == (8, None)


def test_defaults() -> None:
    empty = load_scenario({"vehicles": []})
    assert (empty.name, empty.description, empty.seed, empty.vehicles) == ("scenario", "", 0, ())
    assert (empty.clock.rate, empty.clock.dt, empty.clock.pace, empty.clock.sync) == (240.0, 1 / 240, 1.0, None)
    world = empty.world
    assert (world.mu, world.origin, world.wind) == (1.0, (35.6812, 139.7671, 40.0), (0.0, 0.0, 0.0))
    assert (world.gravity, world.air_density, world.ground_z, world.date) == (9.80665, 1.225, 0.0, 2026.0)
    assert (empty.every.behaviour, empty.every.snapshot) == (1, None)


def test_defaults_of_a_vehicle() -> None:
    (quad,) = load_scenario({"vehicles": [{"model": "quad"}]}).vehicles
    assert (quad.id, quad.name, quad.count, quad.preset, quad.speed) == (None, "quad_0", 1, None, 0.0)
    assert (quad.pose, quad.spawn, quad.driver, quad.behaviour, quad.timeout) == (None, None, None, None, None)
    assert (quad.parameters, quad.spread, quad.commands, quad.failsafe, quad.sensors) == ({}, {}, {}, {}, ())


@pytest.mark.parametrize(
    ("dt", "rate"), [(0.001, 1000.0), (1 / 240, 240.0), (1 / 49, 49.0), (0.004167, 1 / 0.004167), (2, 0.5)]
)
def test_dt_is_a_rate(dt: float, rate: float) -> None:
    clock = load_scenario({"vehicles": [], "clock": {"dt": dt}}).clock
    assert clock.rate == rate
    assert clock.dt == 1 / rate


@pytest.mark.parametrize("pace", [0, 0.05, 1, 100])
def test_pace(pace: float) -> None:
    assert load_scenario({"vehicles": [], "clock": {"pace": pace}}).clock.pace == pace


def test_missing_names_are_generated() -> None:
    entries = [{"model": "car.bicycle"}, {"model": "quad", "name": "quad_2"}, {"model": "quad"}, {"model": "3d print"}]
    names = [entry.name for entry in load_scenario({"vehicles": entries}).vehicles]
    assert names == ["car.bicycle_0", "quad_2", "quad_2_", "_3d_print_3"]


def test_places() -> None:
    race = load_scenario(RACE)
    assert race.at("vehicles", 2, "model") == "<text>:8:12"
    assert race.at("vehicles", 2, "driver", "pure_pursuit", "speed") == "<text>:9:60"
    assert race.at("vehicles", 2, "driver", "pure_pursuit", "gain") == "<text>:9:28"
    assert race.at("vehicles", 2, "name") == "<text>:8:5"
    assert race.at_key("vehicles", 2, "parameters", "mass") == "<text>:11:18"
    assert race.at() == "<text>:1:1"
    made = load_scenario(race.to_dict())
    assert made.at("vehicles", 2, "model") == "vehicles[2].model"
    assert made.at() == "scenario"


def test_files_and_scenarios(tmp_path: Path) -> None:
    file = tmp_path / "race.yaml"
    file.write_text(RACE)
    from_path, from_name = load_scenario(file), load_scenario(str(file))
    assert from_path == from_name == load_scenario(RACE)
    assert from_path.at("seed") == f"{file}:2:7"
    assert load_scenario(from_path) is from_path
    assert from_path != load_scenario({"vehicles": []})
    assert from_path != "race"


def test_demos_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / "swarm.yaml").write_text("name: the swarm\nvehicles: []\n")
    monkeypatch.setattr("paddock.scenario.loading.FOLDER", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert load_scenario("swarm").name == "the swarm"
    (tmp_path / "swarm").write_text("name: a file\nvehicles: []\n")
    assert load_scenario("swarm").name == "a file"


def test_numpy_values_and_tuples_are_accepted() -> None:
    options = {"path": np.array([[0.0, 1.0]]), "laps": np.int64(3)}
    entry = {"model": "quad", "pose": (np.float64(1), 2, np.float32(0.5)), "behaviour": {"follow": options}}
    (vehicle,) = load_scenario({"vehicles": (entry,)}).vehicles
    assert vehicle.pose == (1.0, 2.0, 0.5)
    assert vehicle.controller is not None and vehicle.controller.options == {"path": [[0.0, 1.0]], "laps": 3}


def test_a_scenario_never_changes() -> None:
    race = load_scenario(RACE)
    with pytest.raises(ValidationError, match="frozen"):
        race.seed = 3
    later = race.model_copy(update={"seed": 3})
    assert (later.seed, race.seed, later.at("seed")) == (3, 7, "<text>:2:7")
    with pytest.raises(TypeError, match="unhashable"):
        hash(race)


def test_every_field_is_described() -> None:
    sections = Section.__subclasses__()
    for section in sections:  # grows: subclasses of subclasses too
        sections += section.__subclasses__()
    assert {Scenario, VehicleEntry, ClockSection, WorldSection, SpawnSection} <= set(sections)
    for section in sections:
        for name, field in section.model_fields.items():
            assert field.description, f"{section.__name__}.{name}"


def test_the_room_imports_without_numpy() -> None:
    code = "import sys, paddock.scenario; assert 'numpy' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
