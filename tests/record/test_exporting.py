"""Exports read back with other libraries; metrics against numbers that can be worked out by hand; plots."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError, UnknownNameError
from paddock.record import Recorder, metrics, open_run, recorded_inputs
from paddock.record.export import export
from paddock.record.plots import plot


def drive(sim: Simulation) -> None:
    sim.command("red", steer=0.05, throttle=0.6)
    sim.step(60)
    sim.remove("scouts[1]")
    sim.step(40)
    sim.reset()
    sim.step(50)


@pytest.fixture
def path(record: Callable[..., Path]) -> Path:
    return record(drive, rate=10)


ROWS = 7 * 5 + 4 * 4 + 6 * 5
"""Vehicles, summed over the samples."""


def test_csv(path: Path, tmp_path: Path) -> None:
    with open_run(path) as run:
        assert export(run, "csv", tmp_path / "run.csv") == ROWS
        red = run.fleet("red")
    with (tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == ROWS
    mine = [row for row in rows if row["vehicle"] == "red"]
    assert [float(row["x"]) for row in mine] == red["x"][:, 0].tolist()  # not one bit is lost
    assert [(int(row["run"]), int(row["tick"])) for row in mine][10:12] == [(0, 100), (1, 0)]
    assert {row["imu.ax"] for row in rows if row["fleet"] == "dot"} == {""}


def test_columns_that_do_not_fit_into_the_memory_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """x of three vehicles in 17 samples: 408 bytes."""
    with open_run(path) as run:
        monkeypatch.setattr("paddock.record.reader.available_bytes", lambda: 408)
        assert run.fleet("scouts", ["x"])["x"].nbytes == 408
        with pytest.raises(
            PaddockError, match=r"2 columns of 3 vehicles of 'scouts' in 17 samples need about 0\.0 GiB"
        ):
            run.fleet("scouts", ["x", "y"])


def test_json(path: Path, tmp_path: Path) -> None:
    with open_run(path) as run:
        assert export(run, "json", tmp_path / "run.json", "scouts") == 7 * 3 + 4 * 2 + 6 * 3
        x = run.fleet("scouts")["x"]
    rows = [json.loads(line) for line in (tmp_path / "run.json").read_text().splitlines()]
    assert [row["x"] for row in rows if row["vehicle"] == "scouts[2]"] == x[:, 2].tolist()
    assert {row["fleet"] for row in rows} == {"scouts"} and "imu.ax" not in rows[0]


def test_parquet(path: Path, tmp_path: Path) -> None:
    with open_run(path) as run:
        assert export(run, "parquet", tmp_path / "run.parquet") == ROWS
        table = run.to_arrow()
    read = parquet.read_table(tmp_path / "run.parquet")
    assert read.num_rows == ROWS and read.schema.metadata[b"paddock.name"] == b"small"
    assert read.to_pydict() == table.to_pydict()


def test_batches_do_not_depend_on_their_size(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run(path) as run:
        for name, rows in (("one", 1 << 16), ("many", 7)):
            monkeypatch.setattr("paddock.record.export.BATCH", rows)
            export(run, "csv", tmp_path / f"{name}.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


def test_export_mistakes(path: Path, tmp_path: Path) -> None:
    with open_run(path) as run:
        with pytest.raises(UnknownNameError, match="unknown format 'xls'"):
            export(run, "xls", tmp_path / "run.xls")
        with pytest.raises(PaddockError, match="is the recording itself"):
            export(run, "csv", path)
        with pytest.raises(PaddockError, match=r"cannot write .*No such file"):
            export(run, "csv", tmp_path / "no" / "run.csv")
        with pytest.raises(UnknownNameError, match="unknown fleet 'rad'; did you mean 'red'"):
            export(run, "csv", tmp_path / "run.csv", "rad")


def test_metrics_of_a_circle(tmp_path: Path) -> None:
    """Two points at constant velocity, one at rest, for 10 s: everything is known."""
    movers = {"name": "movers", "count": 2, "model": "point", "spawn": {"line": {"start": [0, 0, 7], "end": [0, 9, 7]}}}
    rest = {"name": "rest", "model": "point", "pose": [5, 5, 3, 0]}
    with (
        paddock.load({"clock": {"rate": 100}, "vehicles": [movers, rest]}) as sim,
        Recorder(sim, tmp_path / "run.mcap", rate=10),
    ):
        sim.command("movers", vx=[2.0, 0.0], vy=[0.0, 3.0])
        sim.step(500)
        start = sim.snapshot().fleet("movers").position.copy()
        sim.step(500)
        end = sim.snapshot().fleet("movers").position.copy()
    with open_run(tmp_path / "run.mcap") as run:
        numbers = metrics(run)
        positions = run.fleet("movers").position
    fleet = numbers["fleets"]["movers"]
    assert np.linalg.norm(end - start, axis=1) == pytest.approx([10.0, 15.0], rel=1e-3)  # they had got going by then
    chords = np.linalg.norm(np.diff(positions, axis=0), axis=2).sum(axis=0)
    np.testing.assert_allclose(fleet["per_vehicle"]["distance_m"], chords, rtol=1e-12)
    assert fleet["max_speed_mps"] == pytest.approx(3.0, rel=1e-6)
    assert fleet["per_vehicle"]["present_s"] == pytest.approx([10.0, 10.0])
    assert (fleet["min_height_m"], fleet["max_height_m"]) == pytest.approx((7.0, 7.0))
    quiet = numbers["fleets"]["rest"]
    assert (quiet["distance_m"], quiet["moving_s"], quiet["max_height_m"]) == pytest.approx((0.0, 0.0, 3.0))
    assert (numbers["duration_s"], numbers["samples"]) == (pytest.approx(10.0), 101)
    assert "collisions" not in numbers  # nothing collides yet
    assert json.loads(json.dumps(numbers)) == numbers


def test_metrics_do_not_count_jumps_of_resets(path: Path) -> None:
    with open_run(path) as run:
        numbers = metrics(run)
        x = run.fleet("red").position[:, 0]
    parts = [np.linalg.norm(np.diff(x[part], axis=0), axis=1).sum() for part in (slice(0, 11), slice(11, 17))]
    assert numbers["fleets"]["red"]["distance_m"] == pytest.approx(sum(parts), rel=1e-12)
    assert numbers["sections"] == 2 and numbers["events"]["removed"] == 1
    assert numbers["fleets"]["scouts"]["per_vehicle"]["present_s"] == pytest.approx([1.5, 1.1, 1.5])


def test_plots(path: Path, tmp_path: Path) -> None:
    with open_run(path) as run:
        paths = plot(run, tmp_path / "plots")
        with pytest.raises(UnknownNameError, match="unknown fleet"):
            plot(run, tmp_path / "plots", "unknown")
    assert [path.name for path in paths] == ["tracks.png", "speed.png", "height.png"]
    for picture in paths:
        data = picture.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 10_000


def test_recorded_inputs_drive_the_same_way_again(tmp_path: Path) -> None:
    car = {"name": "red", "model": "car.bicycle", "preset": "sedan", "speed": 12.0}
    inputs = [(0.05, 0.3, 0.0), (-0.04, 0.0, 0.2), (0.0, 0.5, 0.0)]
    sim = paddock.load({"clock": {"rate": 500}, "vehicles": [car]})
    with Recorder(sim, tmp_path / "run.mcap", rate=50.0):
        for steer, throttle, brake in inputs:
            sim.command("red", steer=steer, throttle=throttle, brake=brake)
            sim.step(250)
    ended = sim.snapshot()["red"].position
    with open_run(tmp_path / "run.mcap") as run:
        export(run, "csv", tmp_path / "run.csv")
    for rows in (
        recorded_inputs(tmp_path / "run.mcap"),
        recorded_inputs(tmp_path / "run.csv", "red"),
    ):
        assert [row[1:4] for row in rows][-3:] == [list(command) for command in inputs]
        driver = {"playback": {"path": rows}}
        again = paddock.load({"clock": {"rate": 500}, "vehicles": [{**car, "driver": driver}]})
        again.step(750)
        # a sample shows inputs after their tick: up to 1/50 s late
        assert np.hypot(*(again.snapshot()["red"].position - ended)[:2]) < 1.0
    (tmp_path / "other.csv").write_text("time,throttle\n0,1\n")
    with pytest.raises(PaddockError, match="column 'steer' is missing; it has time, throttle"):
        recorded_inputs(tmp_path / "other.csv")
