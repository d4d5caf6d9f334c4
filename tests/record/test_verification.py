"""Verification: a recording gives the recorded hashes, and every change is detected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.cuda import Gpu
from paddock.engine.engine import Engine
from paddock.engine.simulation import Simulation
from paddock.record import Recorder, open_run, rerun, verify
from paddock.record.reader import RecordedRun
from paddock.record.rerun import Verification
from paddock.record.writer import RecordingWriter
from paddock.scenario import demo_names
from paddock.wire.messages import states
from paddock.wire.messages.states import StateHash


def about(sim: Simulation) -> None:
    """Commands; vehicles that come and go; a restore and a reset; something done by hand at the very end."""
    sim.command("red", steer=0.1, throttle=0.4, source="wheel")
    sim.command("scouts", vx=[1.0, 2.0, 3.0], at_tick=10)
    sim.command("scouts[1]", vy=-1.5, at_tick=90)
    sim.step(60)
    sim.spawn(name="late", model="point", pose=[1, 2, 3, 0])
    sim.world.frames.set("gate", "red", [1.0, 0.0, 0.5])
    sim.command("late", vx=1.0, at_tick=104)
    sim.behaviours.override(["scouts[1]", "dot"], {"waypoints": {"path": [[20, 0, 5], [20, 20, 8]]}})
    sim.behaviours.override("scouts[2]", {"follow": {"target": "red"}}, at_tick=80)
    sim.behaviours.override(np.array([1]), "external", at_tick=81)
    sim.command("scouts[0]", vx=1.0, at_tick=120)
    sim.step(45)
    sim.remove("scouts[0]")
    blob = sim.save()  # a command for scouts[0] waits in it, which will be refused
    sim.step(37)
    sim.restore(blob)
    sim.command("red", steer=-0.1)
    sim.step(50)
    sim.reset(seed=11)
    sim.step(73)
    sim.spawn(name="last", model="point")


SLOW = ("contested", "driverless", "race", "survey")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in demo_names()],
)
def test_every_demo(name: str, demo: Any, tmp_path: Path) -> None:
    with paddock.load(demo(name)) as sim, Recorder(sim, tmp_path / "run.mcap", rate=10):
        sim.step(round(sim.engine.world.clock.rate * (0.25 if sim.engine.world.vehicles > 5000 else 1.5)))
        end = sim.tick
    result = verify(tmp_path / "run.mcap")
    assert result.same and result.ticks == end and result.hashes >= 2 and result.complete
    assert result.other_versions == {}


def test_sections(record: Callable[..., Path]) -> None:
    path = record(about)
    with open_run(path) as run:
        assert [section.begin.reason for section in run.sections] == ["start", "restore", "reset"]
        assert [section.begin.seed for section in run.sections] == [5, 5, 11]
        assert run.sections[0].samples.start == 0
        kinds = [[posted.action.__class__.__name__ for posted in run.actions(k)] for k in range(3)]
        refused = [event.kind for event in run.events(1)]
    assert kinds[0][:5] == ["CommandAction", "CommandAction", "SpawnAction", "FrameAction", "OverrideAction"]
    assert kinds[2] == ["SpawnAction"]
    assert "refused" in refused
    result = verify(path)
    assert result.same and result.sections == 3
    assert result.lines()[0].startswith(f"{path}: the same (")


def test_attached_in_the_middle_of_a_run(small: Simulation, tmp_path: Path) -> None:
    small.command("scouts", vx=[1.0, 2.0, 3.0], at_tick=50)
    small.step(40)
    with Recorder(small, tmp_path / "run.mcap"):
        small.step(60)
    with open_run(tmp_path / "run.mcap") as run:
        assert run.sections[0].begin.state and run.sample(0).tick == 40
        assert run.duration == pytest.approx(0.6, abs=1e-9)
        assert [posted.tick for posted in run.actions()] == [50]
    assert verify(tmp_path / "run.mcap").same


def test_a_tampered_command_is_found(
    record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def drive(sim: Simulation) -> None:
        sim.command("red", throttle=0.5, at_tick=100)
        sim.step(200)

    real = states.encode_action

    def forged(action: Any) -> bytes:
        action.action["inputs"]["throttle"] = 0.5 + 1e-9
        return real(action)

    honest = verify(record(drive, "honest.mcap"))
    monkeypatch.setattr(states, "encode_action", forged)
    path = record(drive, "forged.mcap")
    monkeypatch.undo()
    result = verify(path)
    assert honest.same and honest.samples == 0 and not result.same
    (difference,) = result.differences
    assert difference.section == 0 and 100 < difference.tick <= 112  # the first hash after the command
    assert result.to_dict()["same"] is False
    assert f"first differs at tick {difference.tick}" in result.lines()[1]
    monkeypatch.setattr(rerun, "open_run", lambda path: with_metadata(path, state_format="1"))
    columns = verify(path)  # of another version
    assert verify(tmp_path / "honest.mcap").samples > 10 and not columns.same and columns.hashes == 0
    assert 100 < columns.differences[0].tick <= 112 and columns.differences[0].recorded.startswith("red.")
    assert "columns: DIFFERENT" in columns.lines()[0]


def test_a_tampered_hash_is_found(record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    real = RecordingWriter.digest

    def forged(writer: RecordingWriter, state: StateHash, *times: int) -> None:
        real(writer, state._replace(hash="0" * 32) if state.tick == 21 else state, *times)

    monkeypatch.setattr(RecordingWriter, "digest", forged)
    path = record(lambda sim: sim.step(100))
    result = verify(path)
    assert [(difference.tick, difference.recorded) for difference in result.differences] == [(21, "0" * 32)]


def test_other_versions_are_reported(record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = record(lambda sim: sim.step(10))
    monkeypatch.setattr("numpy.__version__", "9.9.9")
    result = verify(path)
    assert list(result.other_versions) == ["numpy"] and result.other_versions["numpy"][1] == "9.9.9"
    assert any("this is 9.9.9" in line for line in result.lines())


def test_the_device_is_recorded_used_and_reported(record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = record(lambda sim: sim.step(10))
    with open_run(path) as run:
        assert run.metadata["device"] == "cpu"
    result = verify(path)
    assert result.same and result.to_dict()["device"] == "cpu" and "on cpu" in result.lines()[0]
    monkeypatch.setattr(rerun, "open_run", lambda path: with_metadata(path, device="cuda"))
    monkeypatch.setattr(rerun, "find_gpu", lambda: Gpu(False))
    elsewhere = verify(path)
    assert elsewhere.same and elsewhere.device == "cpu"
    assert elsewhere.other_versions == {"device": ("cuda", "cpu")}
    assert "  recorded with device cuda, this is cpu" in elsewhere.lines()
    used: list[str] = []
    monkeypatch.setattr(rerun, "find_gpu", lambda: Gpu(True))
    monkeypatch.setattr(Engine, "__init__", lambda engine, scenario, device, prepared: used.append(device) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        verify(path)
    assert used == ["cuda"]


def with_metadata(path: Any, **changes: str | None) -> RecordedRun:
    run = open_run(path)
    changed = {**run.metadata, **changes}
    run.metadata = {name: text for name, text in changed.items() if text is not None}
    return run


def test_progress(record: Callable[..., Path]) -> None:
    shares: list[float] = []
    result: Verification = verify(record(about), shares.append)
    assert len(shares) == result.hashes
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)
