"""Data read from a recording equals that of the live simulation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.record import Recorder, open_run
from paddock.world.snapshot import Snapshot


@pytest.fixture
def lived(tmp_path: Path, world: dict[str, Any]) -> tuple[Path, list[Snapshot]]:
    """A recording with an added and a removed vehicle, and every live sample of it."""
    live = []
    with paddock.load(world) as sim:
        sim.clock.watch(live.append, every=10)
        with Recorder(sim, tmp_path / "run.mcap", rate=10):
            live.append(sim.snapshot())
            sim.command("red", steer=0.05, throttle=0.6)
            sim.step(45)
            sim.spawn(fleet="scouts", count=2, spawn={"grid": {"spacing": 3, "z": 9}})
            sim.step(35)
            sim.remove("scouts[1]")
            sim.step(20)
    return tmp_path / "run.mcap", live


def test_snapshots(lived: tuple[Path, list[Snapshot]]) -> None:
    path, live = lived
    with open_run(path) as run:
        assert run.complete and len(run) == 11 and run.duration == pytest.approx(1.0, abs=1e-12)
        assert run.fleets == ("dot", "red", "scouts") and run.rate == 100.0
        assert run.scenario.name == "small" and run.metadata["description"].startswith("A car")
        np.testing.assert_allclose(run.times(), np.arange(11) / 10, atol=1e-9)
        for k, snapshot in enumerate(run.snapshots()):
            assert (snapshot.tick, snapshot.time, snapshot.run) == (10 * k, k / 10, 0)
            assert snapshot.layout == live[k].layout
            for fleet, expected in zip(snapshot, live[k], strict=True):
                np.testing.assert_array_equal(fleet.block, expected.block)
        assert [snap.tick for snap in run.snapshots(0.3, 0.5)] == [30, 40, 50]
        assert run.snapshot().tick == 100 and run.snapshot(at=0.57).tick == 50 and run.snapshot(at=-3).tick == 0
        assert run.sample(-1)["red"].speed == live[-1]["red"].speed


def test_fleet_as_arrays(lived: tuple[Path, list[Snapshot]]) -> None:
    path, live = lived
    with open_run(path) as run:
        scouts, red = run.fleet("scouts"), run.fleet("red", columns=("x", "vx", "vy", "vz"))
    assert scouts["x"].shape == (11, 5) and scouts.position.shape == (11, 5, 3)
    assert scouts.names == tuple(f"scouts[{k}]" for k in range(5)) and red.names == ("red",)
    present = ~np.isnan(scouts["x"])
    assert present.sum(axis=0).tolist() == [11, 9, 11, 6, 6]  # samples after tick 80 lack [1], before 50 [3] and [4]
    np.testing.assert_array_equal(scouts["x"][-1, [0, 2, 3, 4]], live[-1].fleet("scouts")["x"])
    np.testing.assert_array_equal(red["x"][:, 0], [snap["red"].position[0] for snap in live])
    np.testing.assert_allclose(red.speed[:, 0], [snap["red"].speed for snap in live], rtol=1e-15)
    assert red.ticks.tolist() == list(range(0, 101, 10))
    assert red.columns == ("x", "vx", "vy", "vz")
    with pytest.raises(UnknownNameError, match="unknown column 'y'"):
        red["y"]


def test_mistakes(lived: tuple[Path, list[Snapshot]]) -> None:
    with open_run(lived[0]) as run:
        with pytest.raises(UnknownNameError, match="unknown fleet 'scout'; did you mean 'scouts'"):
            run.fleet("scout")
        with pytest.raises(UnknownNameError, match="unknown column 'height'"):
            run.fleet("scouts", columns=["height"])
        with pytest.raises(InvalidValueError, match="sample 11 does not exist"):
            run.sample(11)
        with pytest.raises(InvalidValueError, match="finite number of s"):
            run.snapshot(at=float("nan"))
        with pytest.raises(UnknownNameError, match="unknown fleet"):
            run.to_arrow("unknown")
    with pytest.raises(PaddockError, match="cannot read"):
        run.sample(0)


def test_arrow(lived: tuple[Path, list[Snapshot]]) -> None:
    path, live = lived
    with open_run(path) as run:
        table, scouts = run.to_arrow(), run.to_arrow("scouts")
    assert table.num_rows == sum(len(snap) for snap in live)
    assert table.column_names[:7] == ["time", "tick", "run", "fleet", "vehicle", "id", "x"]
    rows = [row for row in table.to_pylist() if row["vehicle"] == "red"]
    assert [row["x"] for row in rows] == [snap["red"].position[0] for snap in live]
    assert [row["tick"] for row in rows] == list(range(0, 101, 10))
    assert all(row["imu.ax"] is None for row in table.to_pylist() if row["vehicle"] == "dot")  # it has none
    assert "imu.ax" not in scouts.column_names and set(scouts["fleet"].to_pylist()) == {"scouts"}
    assert scouts["id"].to_pylist()[-4:] == live[-1].fleet("scouts").ids.tolist()


def test_many_small_chunks(tmp_path: Path, world: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.record.writer.CHUNK", 2000)
    with paddock.load(world) as sim, Recorder(sim, tmp_path / "run.mcap", rate=100):
        sim.step(200)
    with open_run(tmp_path / "run.mcap") as run:
        assert len(run.file.chunks) > 20
        assert [snap.tick for snap in run.snapshots()] == list(range(201))
        assert run.snapshot(at=1.234).tick == 123


def test_older_values_stay_valid(lived: tuple[Path, list[Snapshot]]) -> None:
    with open_run(lived[0]) as run:
        kept = [run.sample(k) for k in range(11)]
    assert [snap.tick for snap in kept] == list(range(0, 101, 10))
    assert [snap["red"].position[0] for snap in kept] == [snap["red"].position[0] for snap in lived[1]]


def test_a_recording_without_vehicles(record: Callable[..., Path], tmp_path: Path) -> None:
    with paddock.load({"vehicles": []}) as sim, Recorder(sim, tmp_path / "empty.mcap"):
        sim.step(100)
    with open_run(tmp_path / "empty.mcap") as run:
        assert run.fleets == () and len(run) == 14 and len(run.snapshot()) == 0
        assert run.to_arrow().num_rows == 0
