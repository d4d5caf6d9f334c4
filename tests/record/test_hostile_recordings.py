"""Recordings are data: they run no code, take no memory beyond limits, and print no control characters."""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcap.writer import CompressionType, Writer

import paddock
from paddock import files
from paddock.cli.main import exit_code
from paddock.engine.actions import Posted, SpawnAction
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


@pytest.mark.parametrize(
    "scenario",
    [
        "track: {file}\nvehicles: []\n",
        "track: {{file: {file}}}\nvehicles: []\n",
        "world: {{ground: {{height_map: {{values: {file}, cell: 1}}}}}}\nvehicles: []\n",
        "world: {{ground: {{friction_map: {{values: {file}, cell: 1}}}}}}\nvehicles: []\n",
        "vehicles: [{{name: dot, model: car.bicycle, subsystems: {{tyre: {file}.tir}}}}]\n",
        "vehicles: [{{name: dot, model: fmu, fmu: {{file: {file}.fmu}}}}]\n",
        "vehicles: []\nmission: {{events: [{{at: 1, vehicle: {{model: quad, subsystems: {{tyre: {file}.tir}}}}}}]}}\n",
    ],
)
def test_a_recording_opens_no_file_that_its_scenario_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scenario: str
) -> None:
    secret = tmp_path / "secret.csv"
    for name in ("secret.csv", "secret.csv.tir", "secret.csv.fmu"):
        (tmp_path / name).write_text("hidden,words\n" * 9)
    file, text = tmp_path / "run.mcap", scenario.format(file=secret)
    with monkeypatch.context() as patch, paddock.load({"vehicles": []}) as sim:
        patch.setattr(Recorder, "_scenario", lambda self: SimpleNamespace(to_yaml=lambda: text, to_dict=dict))
        with Recorder(sim, file):
            sim.step(20)
    opened, open_file = set[str](), files.open_file

    def open_and_note(path: str) -> Any:
        opened.add(os.fspath(path))
        return open_file(path)

    monkeypatch.setattr(files, "open_file", open_and_note)
    for options in (["--verify"], ["--metrics"], ["--report", str(tmp_path)], ["--pace", "0", "--headless"]):
        exit_code(["replay", str(file), *options])
        shown = "".join(capsys.readouterr())
        assert "hidden" not in shown and "Traceback" not in shown
        assert "--verify" not in options or "files are not read here" in shown or "native code" in shown
    assert not [path for path in opened if str(tmp_path) in path]


def test_actions_of_a_recording_open_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.tir").write_text("root:x:0:0\n")
    entry = {"name": "dot", "model": "car.bicycle", "subsystems": {"tyre": str(tmp_path / "a.tir")}}
    with paddock.load({"vehicles": []}) as sim:
        sim.engine.applier.take_up(Posted(0, 1, SpawnAction(entry)))
        [refused] = sim.events.since()
    assert refused.kind == "refused" and "tyre: files are not read here" in refused.detail


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
