"""The table of operations: arguments that are accepted, and errors that name the field and the valid values."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock.wire.operations
from paddock.wire.operations import METHODS, OPERATIONS, ArgumentError
from paddock.wire.operations.arguments import Axes, described
from paddock.world.frames import FRAMES


def test_every_entry_is_documented_and_can_be_validated() -> None:
    for operation in OPERATIONS.values():
        assert operation.summary.endswith("."), operation.name
        assert operation.validate is not None
        for argument in operation.arguments:
            assert described(argument.annotation)
    for name, operation in METHODS.items():
        assert operation.entry.rpc == name
        assert all(a.meaning for a in operation.arguments if a.name not in ("inputs", "namespace")), name


def test_axes_are_those_of_the_world() -> None:
    assert Axes.__args__ == tuple(FRAMES)  # type: ignore[attr-defined]


ROBOT = {"robot_type": "quad"}
ACCEPTED: list[tuple[str, Any, dict[str, Any]]] = [
    ("ping", None, {}),
    ("ping", {}, {}),
    ("simulation_step", {}, {"ticks": 1}),
    ("reset", {"seed": 2**64 - 1}, {"seed": 2**64 - 1}),
    ("reset", {"seed": None}, {"seed": None}),
    ("seek", {"position": 2}, {"position": 2.0}),
    (
        "set_control",
        {"vehicle_id": 7, "steer": 1},
        {"target": 7, "inputs": {"steer": 1}, "at_tick": None, "timeout": None},
    ),
    (
        "set_control",
        {"vehicle": "red", "mode": "a", "x": [1, 2.5]},
        {"target": "red", "inputs": {"mode": "a", "x": [1, 2.5]}, "at_tick": None, "timeout": None},
    ),
    ("inspect", {"vehicle": 7, "vehicle_id": None}, {"target": 7, "page": True}),
    ("override", {"vehicles": ["a", 1], "behaviour": None}, {"target": ["a", 1], "behaviour": None}),
    ("move_task", {"name": "t", "x": 1, "y": 2.5}, {"name": "t", "x": 1.0, "y": 2.5}),
]


@pytest.mark.parametrize(("method", "params", "arguments"), ACCEPTED)
def test_arguments_are_returned_with_defaults(method: str, params: Any, arguments: dict[str, Any]) -> None:
    read = METHODS[method].read(params)
    assert read == arguments
    assert [type(read[name]) for name in read] == [type(arguments[name]) for name in read]


REFUSED: list[tuple[str, Any, str, str]] = [
    ("get_scenario", {}, "missing", "get_scenario: 'name' is missing: a text of 1 to 255 characters"),
    ("get_scenario", {"nam": "x"}, "missing", "'nam' is not a field, did you mean 'name'?"),
    ("get_scenario", {"name": ""}, "value", "'name' must be a text of 1 to 255 characters, got \"\""),
    ("get_scenario", {"name": "x" * 300}, "value", f'got "{"x" * 59}...'),
    ("get_scenario", {"name": None}, "value", "'name' must be a text of 1 to 255 characters, got null"),
    ("seek", {"position": True}, "value", "'position' must be a number, got true"),
    ("seek", {"position": "1"}, "value", "'position' must be a number, got \"1\""),
    ("set_pace", {"pace": -1}, "value", "'pace' must be a number of 0 or more, got -1"),
    ("simulation_step", {"ticks": 1.0}, "value", "'ticks' must be a whole number from 0 to 9007199254740991, got 1.0"),
    ("simulation_step", {"ticks": False}, "value", "got false"),
    ("simulation_step", {"ticks": None}, "value", "got null"),
    ("events", {"since": -1}, "value", "'since' must be a whole number of 0 or more, got -1"),
    ("arm_drone", {"vehicle": 1, "armed": 0}, "value", "'armed' must be true or false, got 0"),
    ("draw_debug_lines", {"lines": [[1, 2]]}, "value", "'lines[0]' must be a list of 6 numbers, got a list"),
    ("draw_debug_lines", {"lines": [[1, 2, 3, 4, 5, "6"]]}, "value", "'lines[0][5]' must be a number, got \"6\""),
    ("draw_debug_lines", {"lines": [[0] * 6], "color": [1, 2, 3, 256]}, "value", "'color' must be 4 numbers from 0"),
    ("add_task", {"task": []}, "value", "'task' must be an object, got a list"),
    ("put_markers", {"markers": {}}, "value", "'markers' must be a list of at least 1 and up to 100000 objects"),
    ("put_markers", {"markers": []}, "value", "'markers' must be a list of at least 1"),
    ("put_markers", {"markers": [{}, 1]}, "value", "'markers[1]' must be an object, got 1"),
    ("subscribe", {"frame": "enx"}, "value", "subscribe: 'frame' cannot be 'enx'; did you mean 'enu'?"),
    ("subscribe", {"kinds": ["posses"]}, "value", "'kinds[0]' cannot be 'posses'; did you mean 'poses'?"),
    ("subscribe", {"vehicles": [1, 2.0]}, "value", "'vehicles' must be a list of up to 10000 names"),
    ("subscribe", {"columns": [{"columns": [""]}]}, "value", "subscribe: columns[0]: 'columns' must be a list of up"),
    (
        "spawn_robots",
        {"robots": [ROBOT, {"robot_type": 1}]},
        "value",
        "spawn_robots: robots[1]: 'robot_type' must be a",
    ),
    ("spawn_robots", {"robots": [{"robot_typ": "a"}]}, "missing", "robots[0]: 'robot_type' is missing: a text of 1 to"),
    (
        "spawn_robots",
        {"robots": [{**ROBOT, "yav": 1}]},
        "unknown",
        "robots[0]: unknown field 'yav'; did you mean 'yaw'?",
    ),
    (
        "set_fpv_control",
        {"vehicle": 1, "throtle": 0.5, "zzz": 1},
        "unknown",
        "unknown fields 'throtle', 'zzz'; did you mean 'throttle'?",
    ),
    (
        "set_control",
        {"vehicle": 1, "steer": None},
        "value",
        "'steer' must be a number, a text or a list of numbers, got null",
    ),
    ("set_control", {"vehicle": 1, "steer": True}, "value", "'steer' must be a number, a text"),
    ("set_control", {"steer": 1}, "value", "set_control: name the vehicle by either 'vehicle_id'"),
    ("set_control", {"vehicle": "a", "vehicle_id": 1}, "value", "set_control: name the vehicle by either 'vehicle_id'"),
    ("set_control", {"vehicle_id": 2**31}, "value", "'vehicle_id' must be a whole number from 0 to 2147483647, got"),
    ("ping", [1, 2], "value", "ping: give parameters by name, in an object, not as a list, by position"),
    ("ping", "x", "value", 'ping: give parameters by name, in an object, not as "x"'),
]


@pytest.mark.parametrize(("method", "params", "reason", "text"), REFUSED)
def test_a_wrong_argument_is_named_with_what_would_be_valid(method: str, params: Any, reason: str, text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        METHODS[method].read(params)
    assert text in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.reason == reason


def test_large_objects_are_refused_without_validating_every_member() -> None:
    flood = {f"field_{k}": None for k in range(100_000)}
    with pytest.raises(ArgumentError, match="unknown fields 'field_0', 'field_1'"):
        METHODS["get_scenario"].read(flood)
    with pytest.raises(ArgumentError, match="at most 1000 inputs, got 100000"):
        METHODS["set_control"].read({"vehicle": 1, **flood})
    with pytest.raises(ArgumentError, match=r"'markers\[0\]' must be an object"):
        METHODS["put_markers"].read({"markers": [None] * 100_000})


def test_operations_called_by_name_accept_arrays_as_lists() -> None:
    arguments = {"name": "cam", "position": np.array([1.0, 2.0, 3.0])}
    assert OPERATIONS["set_frame"].validate(arguments)["position"] == [1.0, 2.0, 3.0]
    assert OPERATIONS["override"].validate({"target": np.array([3, 4]), "behaviour": None})["target"] == [3, 4]
    with pytest.raises(ArgumentError, match=r"^position must be a list of numbers, not array.*\]\)$"):
        OPERATIONS["set_frame"].validate({"name": "cam", "position": np.ones((2, 3))})


def test_a_valid_command_is_read_in_one_module() -> None:
    operation, params = METHODS["set_control"], {"vehicle_id": 1, "throttle": 0.3, "timeout": 0.5}
    assert operation.read(params) == {"target": 1, "inputs": {"throttle": 0.3}, "at_tick": None, "timeout": 0.5}
    files: set[str] = set()
    sys.setprofile(lambda frame, event, argument: files.add(frame.f_code.co_filename))
    try:
        operation.read(params)
    finally:
        sys.setprofile(None)
    own = Path(paddock.wire.operations.__file__).parent
    assert [path.name for path in map(Path, sorted(files)) if path.parent == own] == ["operation.py"]
