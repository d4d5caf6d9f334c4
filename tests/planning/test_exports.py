"""MissionMetrics as files, read back by other libraries."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from paddock.errors import InvalidValueError, MissingFeatureError, UnknownNameError
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.metrics import MissionMetrics, export, measure, to_csv, to_json
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.problem import MissionSetup, Problem, Task, Vehicle


def metrics(tasks: int = 3) -> MissionMetrics:
    vehicle = Vehicle("a,b", (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 10.0, 0.0, 700.0, moves="hover")
    problem = Problem((vehicle,), tuple(Task(f"t{k}", PointShape(100.0 + 200.0 * k, 0.0)) for k in range(tasks)))
    run = KinematicRun(Mission(MissionSetup(problem, "greedy")))
    run.finish()
    return measure(run.mission)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_json_is_valid_sorted_and_the_same_again() -> None:
    text = to_json(metrics())
    plain = json.loads(text, parse_constant=refuse)
    assert list(plain) == sorted(plain) and text.endswith("}\n")
    assert plain["done"] == 2 and plain["tasks"][2]["completed"] is None and plain["total"] == 600.0
    assert to_json(metrics()) == text


def test_csv_has_a_row_for_each(tmp_path: Path) -> None:
    export(metrics(), tmp_path / "tasks.csv")
    with (tmp_path / "tasks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["completed"] for row in rows] == ["10.0", "30.0", ""]
    vehicles = list(csv.DictReader(to_csv(metrics(), "agents").splitlines()))
    assert vehicles[0]["name"] == "a,b" and vehicles[0]["returning_s"] == "30.0"
    series = list(csv.DictReader(to_csv(metrics(), "series").splitlines()))
    assert series[-1] == {"time": "60.0", "distance": "600.0", "done": "2"}


def test_tables_without_rows_have_their_columns() -> None:
    assert to_csv(metrics(0)).startswith("name,kind,state,agent,")


def test_parquet_keeps_types_and_nulls(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for table in ("tasks", "agents", "series"):
        export(metrics(), tmp_path / f"{table}.parquet", table)
    tasks = parquet.read_table(tmp_path / "tasks.parquet")
    assert tasks["completed"].to_pylist() == [10.0, 30.0, None] and str(tasks.schema.field("name").type) == "string"
    vehicles = parquet.read_table(tmp_path / "agents.parquet")
    assert str(vehicles.schema.field("tasks").type) == "int64" and vehicles["distance"].to_pylist() == [600.0]
    first = (tmp_path / "series.parquet").read_bytes()
    export(metrics(), tmp_path / "series.parquet", "series")
    assert (tmp_path / "series.parquet").read_bytes() == first


def test_unknown_formats_and_missing_libraries_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidValueError, match=r"\.json, \.csv or \.parquet"):
        export(metrics(), tmp_path / "metrics.xlsx")
    with pytest.raises(UnknownNameError, match="did you mean 'tasks'"):
        to_csv(metrics(), "task")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingFeatureError, match="analysis"):
        export(metrics(), tmp_path / "metrics.parquet")
