"""The schema with installed names, for completion in editors."""

from __future__ import annotations

from typing import Any

from paddock.serve.methods import named_schema


def _named(choice: str) -> tuple[dict[str, str], dict[str, Any]]:
    branches = named_schema()["$defs"][choice]["anyOf"]
    names = {branch["const"]: branch["description"] for branch in branches if "const" in branch}
    [options] = [branch["properties"] for branch in branches if "properties" in branch]
    return names, options


def test_behaviours_are_offered_by_name_with_their_options() -> None:
    names, options = _named("BehaviourChoice")
    assert names["goto"] == "Go to a place and stay there."
    assert names["external"] == "Takes commands from outside."
    assert options["goto"]["properties"]["speed"] == {
        "description": "cruising speed, in m/s.",
        "type": "number",
        "minimum": 0.0,
        "maximum": 1000.0,
        "default": 5.0,
    }
    assert options["patrol"]["properties"]["turn"]["enum"] == ["round", "back"]


def test_every_number_fits_into_a_message() -> None:
    assert named_schema()["properties"]["seed"]["maximum"] == 18446744073709551615


def test_paths_and_targets_are_options_and_what_the_builder_sets_is_not() -> None:
    _, options = _named("BehaviourChoice")
    assert "path" in options["waypoints"]["properties"]
    assert "target" in options["orbit"]["properties"]
    assert "has_target" not in options["orbit"]["properties"]


def test_sensors_are_offered_and_other_names_stay_valid() -> None:
    names, options = _named("SensorChoice")
    assert {"imu", "gnss", "barometer"} <= set(names)
    assert "rate" in options["imu"]["properties"]
    free = {"minLength": 1, "type": "string"}
    assert free in named_schema()["$defs"]["BehaviourChoice"]["anyOf"]
