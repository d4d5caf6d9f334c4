"""Every invalid scenario is an error with its exact location and message."""

import os
from pathlib import Path
from typing import Any

import pytest

from paddock.scenario import ScenarioError, load_scenario
from paddock.scenario.problems import SHOWN_PROBLEMS


def problems(text: str, folder: Path) -> list[str]:
    (folder / "race.yaml").write_text(text)
    previous = Path.cwd()
    os.chdir(folder)
    try:
        with pytest.raises(ScenarioError) as caught:
            load_scenario("race.yaml")
    finally:
        os.chdir(previous)
    assert all("\n" not in line for line in caught.value.problems)
    return caught.value.problems


ONE = "vehicles:\n- model: quad\n  "
NAME_FORM = "a letter or _ and then letters, digits, _ . -"
POSE_FORM = "[x, y, yaw] or [x, y, z, yaw]"

CASES = [
    # keys
    ("seed: 1\n", "1:1: missing key 'vehicles' in scenario"),
    ("vehicles: []\nzzz: {}\n", "2:1: unknown key 'zzz' in scenario; valid: clock, contact, description, every, "
     "mission, name, on_nan, radio and 8 more"),
    ("vehicles:\n  - modle: quad\n    model: quad\n", "2:5: unknown key 'modle' in vehicles[0]; did you mean 'model'?"),
    ("vehicles: []\nclock: {rat: 3}\n", "2:9: unknown key 'rat' in clock; did you mean 'rate'?"),
    ("vehicles: []\nclock: {sync: {evry: 3}}\n", "2:16: unknown key 'evry' in clock.sync; did you mean 'every'?"),
    ("vehicles: []\nevery: {behavior: 3}\n", "2:9: unknown key 'behavior' in every; did you mean 'behaviour'?"),
    (ONE + "spawn: {grid: {spacin: 3, spacing: 3}}\n",
     "3:18: unknown key 'spacin' in vehicles[0].spawn.grid; did you mean 'spacing'?"),
    ("vehicles:\n- {id: 3}\n", "2:3: missing key 'model' in vehicles[0]"),
    # top level
    ("vehicles: 3\n", "1:11: vehicles must be a list, not 3"),
    ("vehicles:\n", "1:10: vehicles must be a list, not null"),
    ("vehicles: [3]\n", "1:12: vehicles[0] must be a mapping, not 3"),
    ("vehicles: []\nclock:\n", "2:7: clock must be a mapping, not null"),
    ("vehicles: []\nname: 3\n", "2:7: name must be text, not 3"),
    ("vehicles: []\nseed: -1\n", "2:7: seed must be >= 0, not -1"),
    ("vehicles: []\nseed: 18446744073709551616\n",
     "2:7: seed must be <= 18446744073709551615, not 18446744073709551616"),
    ("vehicles: []\nseed: 1.0\n", "2:7: seed must be a whole number, not 1.0"),
    ("vehicles: []\nseed: true\n", "2:7: seed must be a whole number, not True"),
    # clock
    ("vehicles: []\nclock: {rate: 100, dt: 0.01}\n", "2:24: give rate or dt, not both"),
    ("vehicles: []\nclock: {rate: 0}\n", "2:15: clock.rate must be >= 0.001, not 0"),
    ("vehicles: []\nclock: {dt: 0}\n", "2:13: clock.dt must be >= 1e-06, not 0"),
    ("vehicles: []\nclock: {dt: -0.1}\n", "2:13: clock.dt must be >= 1e-06, not -0.1"),
    ("vehicles: []\nclock: {rate: .nan}\n", "2:15: '.nan' is not a finite number"),
    ("vehicles: []\nclock: {rate: '100'}\n", "2:15: clock.rate must be a number, not '100'"),
    ("vehicles: []\nclock: {pace: 0.01}\n",
     "2:15: clock.pace must be 0 (as fast as possible) or 0.05 to 100, not 0.01"),
    ("vehicles: []\nclock: {sync: {every: 0}}\n", "2:23: clock.sync.every must be >= 1, not 0"),
    ("vehicles: []\nclock: {sync: {timeout: 0}}\n", "2:25: clock.sync.timeout must be > 0, not 0"),
    ("vehicles: []\nclock: {sync: {on_timeout: hodl}}\n",
     "2:28: clock.sync.on_timeout must be 'hold', 'brake', 'default' or 'pause', not 'hodl'"),
    # world
    ("vehicles: []\nworld: {mu: 0}\n", "2:13: world.mu must be > 0, not 0"),
    ("vehicles: []\nworld: {origin: [91, 0, 0]}\n", "2:18: latitude must be between -90 and 90, not 91"),
    ("vehicles: []\nworld: {origin: [0, 181, 0]}\n", "2:21: longitude must be between -180 and 180, not 181"),
    ("vehicles: []\nworld: {origin: [0, 0]}\n",
     "2:17: world.origin must be [latitude, longitude, height], not [0, 0]"),
    ("vehicles: []\nworld: {wind: [1, a, 0]}\n", "2:19: world.wind[1] must be a number, not 'a'"),
    ("vehicles: []\nworld: {wind: 5}\n", "2:15: world.wind must be [x, y, z], not 5"),
    ("vehicles: []\nworld: {date: 2026-01-01}\n", "2:15: world.date must be a number, not '2026-01-01'"),
    ("vehicles: []\nevery: {snapshot: 0}\n", "2:19: every.snapshot must be >= 1, not 0"),
    # a vehicle
    (ONE + "id: -1\n", "3:7: vehicles[0].id must be >= 0, not -1"),
    (ONE + "id: 2147483648\n", "3:7: vehicles[0].id must be <= 2147483647, not 2147483648"),
    (ONE + "name: 3x\n", f"3:9: vehicles[0].name must be {NAME_FORM}, not '3x'"),
    (ONE + "name: ''\n", f"3:9: vehicles[0].name must be {NAME_FORM}, not ''"),
    (ONE + "count: 0\n", "3:10: vehicles[0].count must be >= 1, not 0"),
    (ONE + "count: 10000001\n", "3:10: vehicles[0].count must be <= 10000000, not 10000001"),
    (ONE + "count: 5\n", "3:10: count is 5: add spawn with the start positions"),
    ("vehicles:\n- {model: ''}\n", "2:11: vehicles[0].model must be text of at least one character, not ''"),
    (ONE + "parameters: {mass: heavy}\n", "3:22: vehicles[0].parameters.mass must be a number, not 'heavy'"),
    (ONE + "spread: {mass: -0.1}\n", "3:18: vehicles[0].spread.mass must be >= 0, not -0.1"),
    (ONE + "timeout: 0\n", "3:12: vehicles[0].timeout must be > 0, not 0"),
    # where it starts
    (ONE + "pose: [0, 0]\n", f"3:9: vehicles[0].pose must be {POSE_FORM}, not [0, 0]"),
    (ONE + "pose: [0, 0, .inf]\n", "3:16: '.inf' is not a finite number"),
    (ONE + "pose: [0, 0, 0]\n  count: 2\n", "3:9: pose is for one vehicle and count is 2; use spawn"),
    (ONE + "pose: [0, 0, 0]\n  spawn: {grid: {spacing: 1}}\n", "3:9: give pose or spawn, not both"),
    (ONE + "spawn: {}\n",
     "3:10: spawn needs exactly one of poses, grid, circle, random, line, track, lane_change; it has none"),
    (ONE + "spawn: {grid: {spacing: 1}, circle: {radius: 1}}\n",
     "3:39: spawn needs exactly one of poses, grid, circle, random, line, track, lane_change; it has grid and circle"),
    (ONE + "spawn: {grid: {spacing: 0}}\n", "3:27: vehicles[0].spawn.grid.spacing must be > 0, not 0"),
    (ONE + "spawn: {grid: {}}\n", "3:17: missing key 'spacing' in vehicles[0].spawn.grid"),
    (ONE + "spawn: {poses: [[0, 0, 0], [1, 1, 1]]}\n", "3:18: count is 1 but there are 2 poses"),
    (ONE + "spawn: {poses: [[0, 0]]}\n", f"3:19: vehicles[0].spawn.poses[0] must be {POSE_FORM}, not [0, 0]"),
    (ONE + "spawn: {circle: {radius: 2, heading: 1}}\n", "3:40: heading needs face: fixed, not face: tangent"),
    (ONE + "spawn: {random: {low: [0, 2, 0], high: [1, 1, 1]}}\n",
     "3:29: low must not exceed high: y from 2 to 1"),
    (ONE + "spawn: {line: {start: [0], end: [0, 0, 0]}}\n",
     "3:25: vehicles[0].spawn.line.start must be [x, y] or [x, y, z], not [0]"),
    ("vehicles: []\nworld: {obstacles: [{wall: {points: [[0, 0]]}}]}\n",
     "2:37: world.obstacles[0].wall.points must be a list of at least 2 items, not [[0, 0]]"),
    # behaviour and sensors
    (ONE + "behaviour: {flock: {}, hold: {}}\n",
     "3:14: a behaviour is one name with its options, not 2 keys (flock, hold)"),
    (ONE + "behaviour: {}\n", "3:14: a behaviour is one name with its options, not 0 keys"),
    (ONE + "behaviour: {flock: 3}\n", "3:22: the options of behaviour 'flock' must be a mapping, not 3"),
    (ONE + "driver: 3\n", "3:11: a behaviour is a name or {name: {options}}, not 3"),
    (ONE + "driver: ''\n", "3:11: vehicles[0].driver must be text of at least one character, not ''"),
    (ONE + "driver: external\n  behaviour: hold\n",
     "4:14: driver and behaviour are the same setting; give one of them"),
    (ONE + "driver: {external: {a: 1}}\n", "3:11: driver 'external' takes no options"),
    (ONE + "sensors: [imu, {gnss: 5}]\n", "3:25: the options of sensor 'gnss' must be a mapping, not 5"),
    (ONE + "sensors: imu\n", "3:12: vehicles[0].sensors must be a list, not 'imu'"),
    # unique names and ids
    ("vehicles:\n- {name: a, model: quad}\n- {name: a, model: car}\n",
     "3:10: name 'a' is already used at race.yaml:2:10"),
    ("vehicles:\n- {id: 4, model: quad}\n- {id: 4, model: car}\n", "3:8: id 4 is already used at race.yaml:2:8"),
    ("vehicles:\n- {id: 10, count: 5, model: quad, spawn: {grid: {spacing: 1}}}\n- {id: 14, model: car}\n",
     "3:8: id 14 is already used at race.yaml:2:8 (ids 10 to 14)"),
    ("vehicles:\n- {id: 14, model: car}\n- {id: 10, count: 5, model: quad, spawn: {grid: {spacing: 1}}}\n",
     "3:8: id 14 is already used at race.yaml:2:8"),
    ("vehicles:\n- {id: 2147483647, count: 2, model: quad, spawn: {grid: {spacing: 1}}}\n",
     "2:8: ids 2147483647 to 2147483648 exceed 2147483647"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), CASES)
def test_one_line_at_its_place(text: str, message: str, tmp_path: Path) -> None:
    assert problems(text, tmp_path) == [f"race.yaml:{message}"]


def test_several_problems_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = "vehicles:\n- model: 3\n  sped: 4\nseed: -1\nclock:\n  pace: fast\n"
    assert problems(text, tmp_path) == [
        "race.yaml:2:10: vehicles[0].model must be text, not 3",
        "race.yaml:3:3: unknown key 'sped' in vehicles[0]; did you mean 'speed'?",
        "race.yaml:4:7: seed must be >= 0, not -1",
        "race.yaml:6:9: clock.pace must be a number, not 'fast'",
    ]


def test_the_text_of_an_error_stays_short() -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario({"vehicles": [{"model": 3}] * 50})
    lines = str(caught.value).splitlines()
    assert len(caught.value.problems) == 50
    assert lines[0] == "vehicles[0].model: must be text, not 3"
    assert lines[SHOWN_PROBLEMS:] == ["(and 30 more)"]


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"vehicles": [{"modle": "quad"}]}, "vehicles[0]: missing key 'model' in vehicles[0]\n"
         "vehicles[0].modle: unknown key 'modle' in vehicles[0]; did you mean 'model'?"),
        ({"vehicles": [], "world": {"mu": float("nan")}}, "world.mu: nan is not a finite number"),
        ({"vehicles": [{"model": "quad", "behaviour": {"a": {"b": [float("inf")]}}}]},
         "vehicles[0].behaviour.a.b[0]: inf is not a finite number"),
        ({"vehicles": [], 3: 4}, "scenario: the key 3 must be text"),
        ({"vehicles": [object()]}, "vehicles[0]: object is not plain data (numbers, text, lists, mappings)"),
        ({"vehicles": [], "world": cyclic()}, "world.a.a: nested more than 64 deep, or it contains itself"),
        ({"vehicles": [{"name": "a", "model": "x"}, {"name": "a", "model": "x"}]},
         "vehicles[1].name: name 'a' is already used at vehicles[0].name"),
        ({"vehicles": [], "a\nb": 1},
         "a\\nb: unknown key 'a\\nb' in scenario; valid: clock, contact, description, every, mission, name, "
         "on_nan, radio and 8 more"),
        (5, "a scenario is a path, a demo's name, YAML text or a dict, not int"),
    ],
)  # fmt: skip
def test_from_python(source: Any, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source)
    assert sorted(str(caught.value).splitlines()) == sorted(message.splitlines())


def test_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "race.yaml").write_text("vehicles: []\n")
    (tmp_path / "swarm.yml").write_text("vehicles: []\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("paddock.scenario.loading.demo_names", lambda: [])
    for name, message in (
        ("rcae.yaml", "rcae.yaml: no such scenario file or demo; did you mean 'race.yaml'?"),
        ("zzz", "zzz: no such scenario file or demo; valid: race.yaml, swarm.yml"),
        ("nowhere/a.yaml", "nowhere/a.yaml: no such scenario file or demo; there is no folder 'nowhere'"),
        (".", ".: is a folder, not a scenario file; valid: ./race.yaml, ./swarm.yml"),
        ("a\0b", "'a\\x00b': no such scenario file or demo; valid: race.yaml, swarm.yml"),
        ("", "'': no such scenario file or demo; valid: race.yaml, swarm.yml"),
    ):
        with pytest.raises(ScenarioError) as caught:
            load_scenario(name)
        assert str(caught.value) == message
