"""Runs that are recorded afterwards, from their log."""

from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock import record
from paddock.errors import PaddockError

SCENARIO = {
    "name": "evening",
    "seed": 4,
    "clock": {"rate": 100},
    "vehicles": [{"name": "rover", "model": "rover", "preset": "outdoor", "sensors": ["gnss"]}],
}


def drive(sim: Any) -> None:
    sim.command("rover", speed=1.0)
    sim.step(40)
    sim.command("rover", turn_rate=0.4)
    sim.step(60)
    sim.command("rover", speed=0.2)  # has not been applied yet
    sim.command("rover", speed=0.1, at_tick=400)


def check(path: Path, sim: Any) -> None:
    with record.open_run(path) as run:
        assert run.complete and len(run) == 21  # every fifth tick, and the first
        assert [posted.tick for posted in run.actions()] == [0, 40]
        wanted, last = sim.snapshot(), run.sample(-1)
        assert (last.tick, wanted.tick) == (100, 100)
        assert last["rover"].position.tolist() == wanted["rover"].position.tolist()
        assert last["rover"]["gnss.x"] == wanted["rover"]["gnss.x"]
    assert record.verify(path).same


def test_a_local_run(tmp_path: Path) -> None:
    with paddock.load(SCENARIO) as sim:
        drive(sim)
        before = sim.state_hash()
        report = record.write_run(sim, tmp_path / "run.mcap", rate=20)
        assert report.samples == 21 and sim.state_hash() == before
        check(tmp_path / "run.mcap", sim)


def test_a_run_with_another_seed_and_a_vehicle_added_at_its_end(tmp_path: Path) -> None:
    with paddock.load(SCENARIO) as sim:
        sim.reset(seed=9)
        sim.step(50)
        sim.spawn(name="late", model="rover", pose=[5, 5, 0])
        record.write_run(sim, tmp_path / "run.mcap")
        result = record.verify(tmp_path / "run.mcap")
        assert result.same and result.actions == 1


def test_a_remote_run(tmp_path: Path) -> None:
    with (
        paddock.load(SCENARIO) as server,
        paddock.share(server, zmq={"port": 0}) as host,
        paddock.connect(f"tcp://127.0.0.1:{host.addresses['zmq']['port']}", timeout=60) as sim,
    ):
        drive(sim)
        record.write_run(sim, tmp_path / "run.mcap", rate=20)
        check(tmp_path / "run.mcap", sim)


def test_a_log_that_does_not_begin_at_tick_0(tmp_path: Path) -> None:
    with paddock.load(SCENARIO) as sim:
        sim.step(5)
        sim.restore(sim.save())
        with pytest.raises(PaddockError, match="the log begins with the state restored at tick 5"):
            record.write_run(sim, tmp_path / "run.mcap")
    assert not (tmp_path / "run.mcap").exists()


def test_a_run_that_its_log_does_not_explain(tmp_path: Path) -> None:
    with paddock.load(SCENARIO) as sim:
        drive(sim)
        sim.control.log.entries.pop()  # a command is missing
        with pytest.raises(PaddockError, match="the log does not lead to the state of tick 100"):
            record.write_run(sim, tmp_path / "run.mcap")
