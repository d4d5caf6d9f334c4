"""Spoofers and jammers of satellite signals where no receiver is: an error for a named target, otherwise a warning."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import paddock
from paddock.cli.main import _show_warning
from paddock.engine.build import build_problems
from paddock.errors import InvalidValueError, ScenarioWarning
from paddock.scenario import scenario_from_text

TEXT = """
radio:
  jammers: [{name: red, kind: spot, position: [9, 0, 5], frequency: 1575.42e6, on: [[60, 70]]}]
  spoofers: [{name: mirage, position: [0, 0, 5], offset: [9, 0, 0]}]
vehicles:
  - {name: a, count: 2, model: point, spawn: {grid: {spacing: 3}}}
"""
FITTED = TEXT.replace("model: point,", "model: point, sensors: [gnss],")


def loaded(text: str) -> list[str]:
    """Return the warnings of a scenario."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        paddock.load(text).close()
    return [str(warning.message) for warning in warned if warning.category is ScenarioWarning]


@pytest.mark.parametrize("target", ["a", "a[1]"])
def test_a_target_without_receiver_is_an_error_at_its_place(target: str) -> None:
    text = TEXT.replace("offset", f"target: '{target}', offset")
    expected = f"<text>:4:58: '{target}' has no satellite navigation: add `gnss` to its sensors"
    with pytest.raises(InvalidValueError) as error:
        paddock.load(text)
    assert str(error.value) == expected
    assert build_problems(scenario_from_text(text)) == [expected]
    assert loaded(text.replace("model: point,", "model: point, sensors: [gnss],")) == []


def test_emitters_without_any_receiver_are_warned_of() -> None:
    none = "has no effect: no vehicle has the sensor `gnss`"
    assert loaded(TEXT) == [f"<text>:4:14: spoofer 'mirage' {none}", f"<text>:3:13: jammer 'red' {none}"]
    assert loaded(FITTED) == []


def test_a_jammer_of_radios_is_not_warned_of() -> None:
    """It disturbs radios, though satellite signals are in its band, too."""
    wide = TEXT.replace("kind: spot,", "kind: barrage, bandwidth: 2.0e9,").replace("1575.42e6", "2.0e9")
    assert [warning.partition(": ")[2][:7] for warning in loaded(wide)] == ["spoofer", "jammer "]
    assert len(loaded(wide.replace("model: point,", "model: point, radio: default,"))) == 1  # the spoofer


def test_vehicles_with_autopilots_have_standard_sensors() -> None:
    text = TEXT.replace("offset", "target: a, offset").replace("model: point", "model: quad")
    sitl = "sitl: {pilots: [{vehicles: a, autopilot: builtin}]}\n"
    assert build_problems(scenario_from_text(text + sitl)) == []
    assert len(build_problems(scenario_from_text(text))) == 1


def test_the_command_line_prints_warnings_in_one_line(capsys: Any) -> None:
    _show_warning(ScenarioWarning("a.yaml:3:1: no\neffect"), ScenarioWarning, "x.py", 3)
    assert capsys.readouterr().err == "paddock: warning: a.yaml:3:1: no\\neffect\n"
