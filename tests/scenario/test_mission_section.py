"""The mission section: defaults, names, the default fleet, round trips, and errors with their location."""

import json
from math import pi
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.scenario import MethodChoice, Scenario, ScenarioError, load_scenario, scenario_schema

WHOLE = """\
mission:
  base: [10, 20, 5, 1.5]
  members: [crew]
  altitude: 80
  range: null
  separation: null
  method: {routing: {iterations: 2000}}
  objective: makespan
  execute: kinematic
  tasks:
    - {name: gate, point: {at: [300, 200], heading: 1.2}}
    - {line: {at: [0, 0], heading: 0, length: 50}}
    - {circle: {at: [0, 0], heading: 0, radius: 90, turn: right}, window: [60, 300]}
    - {area: {at: [0, 0], heading: 0, length: 200, spacing: 160, passes: 3}}
    - {polygon: {outline: [[0, 0], [9, 0], [9, 9]], holes: [[[1, 1], [2, 1], [2, 2]]], spacing: 60}, altitude: 40}
    - polygon:
        outline: [[0, 0], [9, 0], [9, 9]]
        camera: {width_px: 4000, height_px: 3000, sensor_width_mm: 6.3, sensor_height_mm: 4.7, focal_length_mm: 4.5}
  zones:
    - {name: tower, circle: {at: [1, 2], radius: 150}}
    - {polygon: [[0, 0], [1, 0], [1, 1]]}
  events:
    - {at: 120, task: {point: {at: [5, 5]}}}
    - {at: 60, damage: "crew[2]"}
    - {at: 90, vehicle: {model: quad}}
    - {at: 95, damage: added_2}
    - {at: 30, zone: {circle: {at: [8, 8], radius: 2}}}
  generate: {tasks: 3, mix: {point: 1}}
vehicles:
  - {name: crew, count: 3, model: quad, spawn: {grid: {spacing: 5}}}
  - {name: spare, model: quad}
"""


def mission(**fields: Any) -> Scenario:
    return load_scenario({"vehicles": [{"name": "uav", "model": "quad"}], "mission": fields})


def test_a_whole_mission() -> None:
    read = load_scenario(WHOLE).mission
    assert read is not None
    assert (read.base, read.members, read.altitude) == ((10.0, 20.0, 5.0, 1.5), ("crew",), 80.0)
    assert (read.range, read.separation, read.objective, read.execute) == (None, None, "makespan", "kinematic")
    assert read.method == MethodChoice(name="routing", options={"iterations": 2000})
    assert [task.name for task in read.tasks] == ["gate", "task_1", "task_2", "task_3", "task_4", "task_5"]
    assert [task.kind for task in read.tasks] == ["point", "line", "circle", "area", "polygon", "polygon"]
    assert read.tasks[2].window == (60.0, 300.0) and read.tasks[4].altitude == 40.0
    assert read.tasks[5].polygon is not None and read.tasks[5].polygon.camera is not None
    assert read.tasks[5].polygon.camera.side_overlap == 0.7
    assert [zone.name for zone in read.zones] == ["tower", "zone_1"]
    assert [event.kind for event in read.events] == ["task", "damage", "vehicle", "damage", "zone"]
    assert read.events[0].task is not None and read.events[0].task.name == "task_6"
    assert read.events[2].vehicle is not None and read.events[2].vehicle.name == "added_2"
    assert read.events[4].zone is not None and read.events[4].zone.name == "zone_2"
    assert read.generate is not None
    assert (read.generate.mix.point, read.generate.mix.line, read.generate.area) == (1.0, 0.0, (2500.0, 2500.0))


def test_defaults() -> None:
    read = mission().mission
    assert read is not None
    assert (read.base, read.members, read.altitude, read.speed) == ((0.0, 0.0, 0.0), None, 100.0, None)
    assert (read.turn_radius, read.range, read.reserve, read.battery_reserve) == (None, 20000.0, 0.0, 0.2)
    assert read.separation is not None
    assert (read.separation.distance, read.separation.height) == (50.0, 20.0)
    assert (read.execute, read.objective, read.replan) == ("dynamics", "total", True)
    assert read.method.name == "local_search"
    assert (read.tasks, read.zones, read.events, read.generate) == ((), (), (), None)
    mix = mission(generate={}).mission
    assert mix is not None and mix.generate is not None
    assert mix.generate.tasks == 20 and mix.generate.headings == 0.3
    assert mix.generate.mix.model_dump() == {"point": 0.6, "line": 0.2, "circle": 0.1, "area": 0.1}


def test_a_mission_without_vehicles_has_four_aircraft_across_its_base() -> None:
    read = load_scenario({"mission": {"base": [100, 200, pi / 2], "altitude": 50}})
    (uav,) = read.vehicles
    assert (uav.name, uav.count, uav.model, uav.speed) == ("uav", 4, "fixed_wing", 17.5)
    assert uav.spawn is not None and uav.spawn.line is not None
    assert uav.spawn.line.heading == pi / 2
    assert uav.spawn.line.start == (190.0, 200.0, 50.0) and uav.spawn.line.end == (10.0, 200.0, 50.0)
    assert load_scenario({"mission": {"speed": 20}}).vehicles[0].speed == 20.0
    assert load_scenario({"mission": {}, "vehicles": []}).vehicles == ()


def test_round_trips() -> None:
    for scenario in (load_scenario(WHOLE), load_scenario({"mission": {}}), mission(generate={"mix": {"line": 2}})):
        for defaults in (False, True):
            assert load_scenario(scenario.to_dict(defaults=defaults)) == scenario
            assert load_scenario(scenario.to_yaml(defaults=defaults) + "\n") == scenario
        json.dumps(scenario.to_dict(), allow_nan=False)
    written = load_scenario(WHOLE).to_dict()["mission"]
    assert written["range"] is None and written["separation"] is None


def test_places() -> None:
    scenario = load_scenario(WHOLE)
    assert scenario.at("mission", "tasks", 2, "circle", "radius") == "<text>:13:49"
    assert scenario.at("mission", "tasks", 4, "polygon", "holes", 0, 2) == "<text>:15:78"
    assert scenario.at("mission", "zones", 0) == "<text>:20:7"
    assert scenario.at_key("mission", "generate") == "<text>:28:3"


TASK = "mission: {tasks: ["  # the next column is 19
PLAIN = "vehicles: [{name: uav, count: 2, model: quad, spawn: {grid: {spacing: 9}}}]\n"
KINDS = "point, line, circle, area, polygon"
RING = "[[0, 0], [9, 0], [9, 9]]"
CASES = [
    ("mission: {zones: [{circle: {at: [0, 0], radius: 9}, floor: 80, ceiling: 50}]}\n",
     "1:19: a zone's floor must be below its ceiling, not 80 m and 50 m"),
    ("mission: 3\n", "1:10: mission must be a mapping, not 3"),
    ("mission: {basis: 1}\n", "1:11: unknown key 'basis' in mission; did you mean 'base'?"),
    ("mission: {base: [0, 0]}\n",
     "1:17: mission.base must be [x, y, heading] or [x, y, z, heading], not [0, 0]"),
    ("mission: {base: [0, .nan, 0]}\n", "1:21: '.nan' is not a finite number"),
    ("mission: {base: [2e6, 0, 0]}\n", "1:17: a base must be within 1e+06 m of the origin"),
    ("mission: {altitude: high}\n", "1:21: mission.altitude must be a number, not 'high'"),
    ("mission: {speed: 0}\n", "1:18: mission.speed must be > 0, not 0"),
    ("mission: {turn_radius: -1}\n", "1:24: mission.turn_radius must be >= 0, not -1"),
    ("mission: {reserve: 20000}\n", "1:20: a reserve of 20000 m leaves nothing of 20000 m"),
    ("mission: {battery_reserve: 1.5}\n", "1:28: mission.battery_reserve must be <= 1, not 1.5"),
    ("mission: {separation: {distance: 0}}\n", "1:34: mission.separation.distance must be > 0, not 0"),
    ("mission: {execute: teleport}\n", "1:20: mission.execute must be 'dynamics' or 'kinematic', not 'teleport'"),
    ("mission: {method: {a: 1, b: 2}}\n", "1:19: a method is one name with its options, not 2 keys (a, b)"),
    ("mission: {objective: fast}\n", "1:22: mission.objective must be 'total' or 'makespan', not 'fast'"),
    ("mission: {members: [uaw]}\n", "1:21: unknown vehicle 'uaw'; did you mean 'uav'?"),
    # tasks
    (TASK + "{}]}\n", f"1:19: a task needs exactly one of {KINDS}; it has none"),
    (TASK + "{point: {at: [0, 0]}, line: {at: [0, 0], heading: 0, length: 5}}]}\n",
     f"1:47: a task needs exactly one of {KINDS}; it has point and line"),
    (TASK + "{pint: {at: [0, 0]}, point: {at: [0, 0]}}]}\n",
     "1:20: unknown key 'pint' in mission.tasks[0]; did you mean 'point'?"),
    (TASK + "{point: {at: [0, 0], headin: 1}}]}\n",
     "1:40: unknown key 'headin' in mission.tasks[0].point; did you mean 'heading'?"),
    (TASK + "{point: {at: [0]}}]}\n", "1:32: mission.tasks[0].point.at must be [x, y], not [0]"),
    (TASK + "{point: {at: [0, 1e7]}}]}\n",
     "1:32: a position must be within 1e+06 m of the origin, not at [0.0, 10000000.0]"),
    (TASK + "{point: {at: [0, -.inf]}}]}\n", "1:36: '-.inf' is not a finite number"),
    (TASK + "{line: {at: [0, 0], length: 3}}]}\n", "1:26: missing key 'heading' in mission.tasks[0].line"),
    (TASK + "{line: {at: [0, 0], heading: 0, length: 0}}]}\n",
     "1:59: mission.tasks[0].line.length must be > 0, not 0"),
    (TASK + "{circle: {at: [0, 0], heading: 0, radius: 9, turn: up}}]}\n",
     "1:70: mission.tasks[0].circle.turn must be 'left' or 'right', not 'up'"),
    (TASK + "{area: {at: [0, 0], heading: 0, length: 9, spacing: 9, passes: 0}}]}\n",
     "1:82: mission.tasks[0].area.passes must be >= 1, not 0"),
    (TASK + "{polygon: {outline: [[0, 0], [1, 1]], spacing: 9}}]}\n",
     "1:39: a polygon has at least 3 points, not 2"),
    (TASK + f"{{polygon: {{outline: {RING}}}}}]}}\n",
     "1:29: a polygon needs exactly one of spacing, camera; it has none"),
    (TASK + "{point: {at: [0, 0]}, window: [300, 60]}]}\n",
     "1:49: a window must start before it ends, not at 300 s and 60 s"),
    (TASK + "{point: {at: [0, 0]}, window: [3]}]}\n",
     "1:49: mission.tasks[0].window must be [earliest, latest], not [3]"),
    (TASK + "{point: {at: [0, 0]}, window: [-1, 3]}]}\n", "1:50: mission.tasks[0].window[0] must be >= 0, not -1"),
    (TASK + "{name: a, point: {at: [0, 0]}}, {name: a, point: {at: [0, 0]}}]}\n",
     "1:58: name 'a' is already used at plan.yaml:1:26"),
    # zones
    ("mission: {zones: [{}]}\n", "1:19: a zone needs exactly one of circle, polygon; it has none"),
    ("mission: {zones: [{polygon: [[0, 0], [1, 1]]}]}\n", "1:29: a polygon has at least 3 points, not 2"),
    ("mission: {zones: [{circle: {at: [0, 0], radius: -3}}]}\n",
     "1:49: mission.zones[0].circle.radius must be > 0, not -3"),
    # events
    ("mission: {events: [{at: 3}]}\n",
     "1:20: an event needs exactly one of task, damage, vehicle, zone, remove_zone; it has none"),
    ("mission: {events: [{at: -3, damage: uav}]}\n", "1:25: mission.events[0].at must be >= 0, not -3"),
    ("mission: {events: [{at: 3, damage: 'uav[x]'}]}\n",
     "1:36: a vehicle is written name or name[number], e.g. uav[1], not 'uav[x]'"),
    ("mission: {events: [{at: 3, damage: 'uav[4]'}]}\n", "1:36: unknown vehicle 'uav[4]': the last is uav[3]"),
    ("mission: {events: [{at: 3, damage: uaw}]}\n", "1:36: unknown vehicle 'uaw' in the mission; did you mean 'uav'?"),
    ("mission: {events: [{at: 3, vehicle: {name: uav, model: quad}}]}\n" + PLAIN,
     "1:44: name 'uav' is already used at plan.yaml:2:19"),
    ("mission: {events: [{at: 3, vehicle: {modl: quad, model: quad}}]}\n",
     "1:38: unknown key 'modl' in mission.events[0].vehicle; did you mean 'model'?"),
    ("mission:\n  tasks: [{name: a, point: {at: [0, 0]}}]\n  events: [{at: 3, task: {name: a, point: {at: [0, 0]}}}]\n",
     "3:33: name 'a' is already used at plan.yaml:2:18"),
    # drawn tasks
    ("mission: {generate: {tasks: -1}}\n", "1:29: mission.generate.tasks must be >= 0, not -1"),
    ("mission: {generate: {area: [0, 5]}}\n",
     "1:28: an area's sides must be above 0 and at most 1e+06 m, not [0.0, 5.0]"),
    ("mission: {generate: {mix: {point: 0}}}\n", "1:27: a mix needs a share above 0"),
    ("mission: {generate: {mix: {polygon: 1}}}\n",
     "1:28: unknown key 'polygon' in mission.generate.mix; valid: area, circle, line, point"),
    ("mission: {generate: {headings: 30}}\n", "1:32: mission.generate.headings must be <= 1, not 30"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), CASES)
def test_one_line_at_its_place(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError) as caught:
        load_scenario("plan.yaml")
    assert caught.value.problems == [f"plan.yaml:{message}"]


def test_damage_of_a_vehicle_outside_the_mission_is_refused() -> None:
    vehicles = [{"name": "a", "model": "quad"}, {"name": "b", "model": "quad"}]
    with pytest.raises(ScenarioError, match=r"^mission\.events\[0\]\.damage: unknown vehicle 'b' in the mission"):
        load_scenario({"vehicles": vehicles, "mission": {"members": ["a"], "events": [{"at": 1, "damage": "b"}]}})


def test_ids_of_vehicles_that_join_are_their_own() -> None:
    vehicles = [{"name": "a", "count": 3, "id": 5, "model": "quad", "spawn": {"grid": {"spacing": 1}}}]
    events = [{"at": 1, "vehicle": {"model": "quad", "id": 7}}]
    with pytest.raises(ScenarioError, match=r"^mission\.events\[0\]\.vehicle\.id: id 7 is already used$"):
        load_scenario({"vehicles": vehicles, "mission": {"events": events}})


def test_schema_requires_exactly_one() -> None:
    parts = scenario_schema()["$defs"]
    assert [option["required"] for option in parts["TaskEntry"]["oneOf"]] == [
        ["point"],
        ["line"],
        ["circle"],
        ["area"],
        ["polygon"],
    ]
    assert [option["required"] for option in parts["NoFlyZone"]["oneOf"]] == [["circle"], ["polygon"]]
    assert "default" not in parts["TaskEntry"]["properties"]["name"]


coordinate = st.floats(-1e6, 1e6)
position = st.lists(coordinate, min_size=2, max_size=2)
size = st.floats(1e-3, 1e6)
angle = st.floats(-10, 10)
ring = st.lists(position, min_size=3, max_size=5)
point = st.fixed_dictionaries({"at": position}, optional={"heading": angle})
line = st.fixed_dictionaries({"at": position, "heading": angle, "length": size})
circle = st.fixed_dictionaries(
    {"at": position, "heading": angle, "radius": size}, optional={"turn": st.sampled_from(["left", "right"])}
)
polygon = st.fixed_dictionaries(
    {"outline": ring, "spacing": size}, optional={"holes": st.lists(ring, max_size=2), "angle": angle, "margin": size}
)
shape = st.one_of(
    st.builds(lambda kind, value: {kind: value}, st.just("point"), point),
    st.builds(lambda kind, value: {kind: value}, st.just("line"), line),
    st.builds(lambda kind, value: {kind: value}, st.just("circle"), circle),
    st.builds(lambda kind, value: {kind: value}, st.just("polygon"), polygon),
)
extra = st.fixed_dictionaries({}, optional={"altitude": coordinate, "window": st.just([1.0, 2.0])})
task = st.builds(lambda entry, more: entry | more, shape, extra)
zone = st.builds(lambda at, radius: {"circle": {"at": at, "radius": radius}}, position, size)
event = st.one_of(
    st.builds(lambda at, entry: {"at": at, "task": entry}, size, task),
    st.builds(lambda at, entry: {"at": at, "zone": entry}, size, zone),
    st.builds(lambda at: {"at": at, "damage": "uav[3]"}, size),
)
section = st.fixed_dictionaries(
    {},
    optional={
        "base": st.lists(coordinate, min_size=3, max_size=4), "altitude": coordinate, "range": size | st.none(),
        "separation": st.none() | st.fixed_dictionaries({}, optional={"distance": size}), "turn_radius": size,
        "tasks": st.lists(task, max_size=3), "zones": st.lists(zone, max_size=2), "events": st.lists(event, max_size=3),
        "generate": st.fixed_dictionaries({}, optional={"tasks": st.integers(0, 99)}) | st.none(),
        "replan": st.booleans(), "method": st.sampled_from(["greedy", {"auction": {"epsilon": 0.1}}]),
    },
)  # fmt: skip


@given(section)
def test_dict_yaml_and_back(data: dict[str, Any]) -> None:
    first = load_scenario({"mission": data})
    for defaults in (False, True):
        assert load_scenario(first.to_dict(defaults=defaults)) == first
        assert load_scenario(first.to_yaml(defaults=defaults) + "\n") == first


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["at", "point", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.sampled_from(sorted(scenario_schema()["$defs"]["MissionSection"]["properties"])),
    anything | st.lists(task | anything),
)
def test_any_value_in_any_field(key: str, value: Any) -> None:
    try:
        read = load_scenario({"mission": {key: value}})
    except ScenarioError as error:
        right = all(line and "\n" not in line for line in error.problems)
    else:
        right = load_scenario(read.to_dict()) == read
    assert right
