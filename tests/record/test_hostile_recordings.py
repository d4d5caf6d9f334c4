"""Recordings are data: they run no code, take no memory beyond limits, and print no control characters."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from mcap.writer import CompressionType, Writer

import paddock
from paddock.cli.main import exit_code
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.plugins import forget_plugins
from paddock.record import Player, Recorder, mcap_file, open_run, verify
from paddock.record import reader as reading
from paddock.scenario import ScenarioError

OWN = """
from pathlib import Path
from paddock.vehicles.models.point import *
Path(__file__).with_suffix(".ran").touch()
"""


@pytest.fixture
def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of a model that is a module of the current folder, and not imported any more."""
    (tmp_path / "own_point.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "run.mcap"
    with paddock.load({"vehicles": [{"name": "dot", "model": "own_point"}]}) as sim, Recorder(sim, file):
        sim.step(20)
    del sys.modules["own_point"]
    forget_plugins()
    (tmp_path / "own_point.ran").unlink()
    return file


def test_a_recording_runs_no_code_of_the_current_folder(own_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PaddockError, match="model 'own_point' is not installed, and importing it would run code"):
        verify(own_model)
    assert exit_code(["replay", str(own_model), "--verify"]) == 2
    assert "--allow-imports" in capsys.readouterr().err
    assert exit_code(["replay", str(own_model), "--pace", "0", "--headless"]) == 0
    assert not own_model.with_name("own_point.ran").exists()


def test_own_models_are_imported_where_that_is_allowed(own_model: Path) -> None:
    assert verify(own_model, allow_imports=True).same
    assert own_model.with_name("own_point.ran").exists()


def test_a_chunk_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "bomb.mcap"
    with file.open("wb") as stream:
        writer = Writer(stream, chunk_size=2**40, compression=CompressionType.ZSTD)
        writer.start()
        writer.add_metadata("paddock", {"name": "bomb"})
        writer.add_attachment(0, 0, "scenario.yaml", "text/yaml", b"vehicles: []\n")
        schema = writer.register_schema("any", "", b"")
        channel = writer.register_channel("/paddock/state", "", schema)
        writer.add_message(channel, 0, bytes(mcap_file.LARGEST_CHUNK), 0)
        writer.finish()
    assert file.stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(PaddockError, match="is damaged: the chunk at byte"):
        open_run(file)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_topics_that_are_read_as_a_whole_have_a_limit(
    record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spawn(sim: Simulation) -> None:
        for k in range(5):
            sim.spawn(name=f"dot{k}", model="point")
            sim.step(1)

    with open_run(record(spawn)) as run:
        assert len(run.events()) == 5
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    with open_run(record(spawn)) as run, pytest.raises(PaddockError, match="holds more than 0 MiB in"):
        run.events()


def test_control_characters_of_events_are_escaped(
    record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def report(sim: Simulation) -> None:
        sim.step(5)
        sim.engine.events.report(sim.tick, "refused", "\x1b[2J", "\x07\x9b31m")
        sim.step(10)

    with paddock.load({"vehicles": [{"name": "dot", "model": "point"}]}) as sim:
        report(sim)
        assert [(event.subject, event.detail) for event in sim.events.since()] == [("\\x1b[2J", "\\x07\\x9b31m")]
    with monkeypatch.context() as patch:
        patch.setattr("paddock.engine.events.printable", lambda text: text)  # as another program may write it
        file = record(report)
    with Player(file) as player:
        assert player.recording.events()[0].subject == "\\x1b[2J"
    assert exit_code(["replay", str(file), "--pace", "0", "--headless"]) == 0
    shown = capsys.readouterr().out
    assert "\\x1b[2J" in shown and not {"\x1b", "\x07", "\x9b"} & set(shown)


def test_control_characters_in_a_scenario_are_refused() -> None:
    with pytest.raises(ScenarioError, match="name") as refused:
        paddock.load({"name": "a\x1b[31m", "vehicles": []})
    assert "\x1b" not in str(refused.value)
