"""Round trips, and mutations that must never raise anything but a ScenarioError."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddock.scenario import ScenarioError, load_scenario
from paddock.scenario.marked_yaml import dump_yaml, load_yaml

number = st.floats(allow_nan=False, allow_infinity=False, width=64) | st.integers(-(2**60), 2**60)
small = st.floats(0.01, 1e6)
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
options = st.dictionaries(text, plain, max_size=3)
word = st.sampled_from(["hold", "flock", "imu", "on", "1e3", "null", "007", "yes", "a: b", "0x1", "2026-01-01"])
choice = word | st.builds(lambda name, values: {name: values}, word, options | st.none())
numbers = st.dictionaries(text, number, max_size=3)
vector2, vector3 = st.lists(number, min_size=2, max_size=2), st.lists(number, min_size=3, max_size=3)
pose = st.lists(number, min_size=3, max_size=4)
grid = st.fixed_dictionaries(
    {"spacing": small}, optional={"z": number, "origin": vector2, "columns": st.integers(1, 9)}
)
circle = st.fixed_dictionaries({"radius": small}, optional={"face": st.sampled_from(["inward", "fixed"])})
line = st.fixed_dictionaries({"start": vector3, "end": vector3}, optional={"heading": number})
spawn = st.one_of(
    st.builds(lambda value: {"grid": value}, grid),
    st.builds(lambda value: {"circle": value}, circle),
    st.builds(lambda value: {"line": value}, line),
)
fields: dict[str, Any] = {
    "preset": text, "parameters": numbers,
    "spread": st.dictionaries(text, st.floats(0, 0.33), max_size=2), "speed": number,
    "commands": numbers, "timeout": small, "failsafe": numbers, "sensors": st.lists(choice, max_size=3),
}  # fmt: skip
single = st.fixed_dictionaries({"model": word}, optional={**fields, "pose": pose, "driver": choice})
fleet = st.fixed_dictionaries(
    {"model": word, "count": st.integers(2, 10_000_000), "spawn": spawn}, optional={**fields, "behaviour": choice}
)
sync = st.fixed_dictionaries({}, optional={"every": st.integers(1, 99), "timeout": small})
clock = st.fixed_dictionaries({}, optional={"rate": small, "pace": st.floats(0.05, 100), "sync": sync})
world = st.fixed_dictionaries({}, optional={"mu": small, "wind": vector3, "ground_z": number, "gravity": small})
every = st.fixed_dictionaries({}, optional={"behaviour": st.integers(1, 99), "snapshot": st.integers(1, 99)})
scenario = st.fixed_dictionaries(
    {"vehicles": st.lists(single | fleet, max_size=4)},
    optional={
        "name": text, "description": text, "seed": st.integers(0, 2**64 - 1), "clock": clock, "world": world,
        "every": every,
    },
)  # fmt: skip


@given(scenario)
def test_dict_yaml_and_back(data: dict[str, Any]) -> None:
    first = load_scenario(data)
    for defaults in (False, True):
        assert load_scenario(first.to_dict(defaults=defaults)) == first
        assert load_scenario(first.to_yaml(defaults=defaults) + "\n") == first
    json.dumps(first.to_dict(), allow_nan=False)


@given(st.dictionaries(text, plain, min_size=1, max_size=4))
def test_plain_values_survive_yaml(data: dict[str, Any]) -> None:
    assert load_yaml(dump_yaml(data), "x")[0] == data


SEED_TEXT = """\
name: two_car_race
seed: 7
clock: {rate: 1000, pace: 1.0, sync: {every: 10, timeout: 1.0, on_timeout: hold}}
world: {mu: 1.0, origin: [35.6812, 139.7671, 40.0], wind: &w [2, 0, 0]}
vehicles:
  - {id: 1, name: red, model: car.bicycle, preset: sports, pose: [0, 0, 0], speed: 12, driver: external}
  - {name: scouts, count: 10, model: quad, spawn: {grid: {spacing: 3, z: 20}}, behaviour: {flock: {radius: 1e1}}}
  - model: quad
    spawn: {random: {low: [0, 0, 0], high: [1, 1, 1]}}
    sensors: [imu, {gnss: {rate: 5}}]
    parameters: &p {mass: 1}
  - {model: rover, parameters: *p, pose: *w}
every: {behaviour: 8, snapshot: 8}
"""
pieces = st.sampled_from(
    [
        "", " ", "\n", "\t", ":", "- ", "[", "]", "{", "}", "&a ", "*a", "*p", "<<: ", "!!int ", "!x ", "'", '"', "|",
        "#", "---\n", "...\n", "%YAML 9.9\n", ".nan", "-1", "0", "1e999", "null", "yes", "\x00", "\ufeff", "é",
        "? ", ",", "9" * 40, "model", "vehicles: ", "count: 3, ", "@", "`", ">", "\u2028",
    ]
)  # fmt: skip
edit = st.tuples(st.integers(0, len(SEED_TEXT)), st.integers(0, 12), pieces | text)


def mutated(edits: list[tuple[int, int, str]]) -> str:
    result = SEED_TEXT
    for start, length, piece in edits:
        result = result[:start] + piece + result[start + length :]
    return result


def only_scenario_errors(source: Any) -> None:
    try:
        loaded = load_scenario(source)
    except ScenarioError as error:
        lines = error.problems
        right = bool(lines) and all(line and "\n" not in line for line in lines)
    else:
        right = load_scenario(loaded.to_dict()) == loaded
    assert right


def test_the_text_to_mutate_is_valid() -> None:
    assert len(load_scenario(SEED_TEXT).vehicles) == 4


@given(st.lists(edit, min_size=1, max_size=5))
def test_mutated_text(edits: list[tuple[int, int, str]]) -> None:
    only_scenario_errors(mutated(edits) + "\n")


@given(st.text(max_size=80))
def test_any_text(source: str) -> None:
    only_scenario_errors(source + "\n")


@given(st.dictionaries(st.sampled_from(["vehicles", "clock", "world", "every", "seed", "name"]) | text, plain))
def test_any_mapping(source: dict[str, Any]) -> None:
    only_scenario_errors(source)


@given(st.sampled_from(sorted([*fields, "pose", "spawn", "driver", "behaviour", "id", "count", "name"])), plain)
def test_any_value_in_any_field(key: str, value: Any) -> None:
    only_scenario_errors({"vehicles": [{"model": "quad", key: value}]})
