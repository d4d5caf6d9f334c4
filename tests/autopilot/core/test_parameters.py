"""Parameters: types, ranges, values on the wire, and storage between runs."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from paddock.autopilot.parameter_tables import COMMON, COPTER, PLANE, ROVER
from paddock.autopilot.parameters import AutopilotParameters, Parameter, ParamKind
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError

SPEED = Parameter("SPEED", 1.1, 0, 10, summary="m/s")
ACTION = Parameter("ACTION", 2, 0, 5, ParamKind.INT8)
TOTAL = Parameter("TOTAL", 0, 0, 100, ParamKind.INT16, fixed=True)


def test_values_are_rounded_to_float32() -> None:
    parameters = AutopilotParameters([SPEED])
    assert parameters.value("SPEED") == float(np.float32(1.1)) != 1.1
    assert parameters.set("SPEED", 3.3)
    assert parameters.value("SPEED") == float(np.float32(3.3))


def test_integers_are_rounded_and_typed_as_mavlink_does() -> None:
    parameters = AutopilotParameters([ACTION, SPEED])
    assert parameters.set("ACTION", 3.4)
    assert parameters.value("ACTION") == 3.0 and parameters.whole("ACTION") == 3
    kinds = [int(parameters.known(name).kind) for name in parameters.names()]
    assert kinds == [2, 9]  # MAV_PARAM_TYPE_INT8, REAL32


@pytest.mark.parametrize(
    ("name", "value"), [("SPEED", -0.1), ("SPEED", 10.1), ("SPEED", nan), ("SPEED", inf), ("NO", 1)]
)
def test_invalid_values_are_refused_and_change_nothing(name: str, value: float) -> None:
    parameters = AutopilotParameters([SPEED])
    assert not parameters.set(name, value)
    assert parameters.changes == 0 and parameters.names() == ["SPEED"]


def test_range_ends_that_float32_cannot_represent_are_valid() -> None:
    parameters = AutopilotParameters([Parameter("GAIN", 0.1, 0.1, 0.3)])
    assert parameters.set("GAIN", float(np.float32(0.1))) and parameters.set("GAIN", float(np.float32(0.3)))


def test_read_only_parameters_are_changed_by_the_autopilot_only() -> None:
    parameters = AutopilotParameters([TOTAL])
    assert not parameters.set("TOTAL", 5)
    with pytest.raises(InvalidValueError, match="parameter TOTAL is read-only"):
        parameters.override({"TOTAL": 5})
    parameters.show("TOTAL", 5)
    assert parameters.value("TOTAL") == 5.0


def test_values_persist_between_runs(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "rover_1.json"
    first = AutopilotParameters([SPEED, ACTION], path)
    first.override({"ACTION": 4})
    assert first.set("SPEED", 2.5)
    assert json.loads(path.read_text()) == {"SPEED": 2.5}  # a scenario's override is not kept
    second = AutopilotParameters([SPEED, ACTION], path)
    assert second.load() == []
    assert (second.value("SPEED"), second.value("ACTION")) == (2.5, 2.0)


def test_unknown_names_in_a_file_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"SPEED": 3, "GONE": 1, "ACTION": 99, "TOTAL": "x"}')
    parameters = AutopilotParameters([SPEED, ACTION, TOTAL], path)
    assert parameters.load() == ["GONE", "ACTION", "TOTAL"]
    assert parameters.value("SPEED") == 3.0 and parameters.value("ACTION") == 2.0


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_an_invalid_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(PaddockError, match=r"p\.json") as caught:
        AutopilotParameters([SPEED], path).load()
    assert "\n" not in str(caught.value)


def test_an_unwritable_folder_is_reported_and_the_value_applies(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    reported: list[str] = []
    parameters = AutopilotParameters([SPEED], tmp_path / "file" / "p.json", reported.append)
    assert parameters.set("SPEED", 5.0) and parameters.value("SPEED") == 5.0
    assert len(reported) == 1 and "cannot save parameters" in reported[0]
    with pytest.raises(PaddockError, match="cannot save parameters"):
        AutopilotParameters([SPEED], tmp_path / "file" / "p.json").set("SPEED", 5.0)


def test_a_folder_that_cannot_be_created_raises_early(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PaddockError, match=r"file: cannot save parameters: (File exists|Not a directory)"):
        AutopilotParameters([SPEED], tmp_path / "file" / "p.json").make_folder()
    AutopilotParameters([SPEED], tmp_path / "new" / "deep" / "p.json").make_folder()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["deep"]
    assert list((tmp_path / "new" / "deep").iterdir()) == []


def test_reset_restores_the_defaults_and_clears_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    parameters = AutopilotParameters([SPEED], path)
    parameters.set("SPEED", 5.0)
    parameters.reset()
    assert parameters.value("SPEED") == float(np.float32(1.1)) and json.loads(path.read_text()) == {}


def test_errors_name_valid_values() -> None:
    parameters = AutopilotParameters([SPEED])
    with pytest.raises(UnknownNameError, match="did you mean 'SPEED'"):
        parameters.value("SPEDE")
    with pytest.raises(InvalidValueError, match="SPEED: 99 is not in 0 to 10"):
        parameters.override({"SPEED": 99})


@pytest.mark.parametrize("table", [COMMON, COPTER, ROVER, PLANE])
def test_every_parameter_fits_the_wire(table: tuple[Parameter, ...]) -> None:
    names = [parameter.name for parameter in table]
    assert len(set(names)) == len(names) and all(0 < len(name) <= 16 for name in names)
    assert all(parameter.summary and parameter.low <= parameter.default <= parameter.high for parameter in table)
    widest = {ParamKind.INT8: 127, ParamKind.INT16: 32767, ParamKind.INT32: 2**31 - 1}
    assert all(abs(p.high) <= widest.get(p.kind, inf) for p in table)
