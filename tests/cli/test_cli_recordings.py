"""Recording, replaying, verifying and exporting from the command line."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

import paddock as library
from paddock.cli.main import exit_code
from paddock.cli.view import PlaybackView
from paddock.record import Player, Recorder

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`here("replay", ...)`: the same as `paddock`, but in this process, which starts faster."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = exit_code(arguments)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, out, err)

    return run


@pytest.fixture
def recorded(small: Path, tmp_path: Path) -> Path:
    """A recording of 3 s, 20 samples a second."""
    with library.load(small) as sim, Recorder(sim, tmp_path / "run.mcap", rate=20):
        sim.step(300)
    return tmp_path / "run.mcap"


def test_record(paddock: Run, here: Run, small: Path) -> None:
    done = paddock("run", str(small), "--headless", "--seconds", "3", "--record", "run.mcap", "--record-rate", "20")
    assert done.returncode == 0, done.stderr
    assert "recorded run.mcap: 61 samples" in done.stdout and "bytes per vehicle and sample" in done.stdout
    assert here("replay", "run.mcap", "--verify").stdout.startswith("run.mcap: the same (")


def test_verify_and_metrics(here: Run, recorded: Path) -> None:
    done = here("replay", "run.mcap", "--verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run.mcap: the same (") and "over 300 ticks" in done.stdout
    numbers = json.loads(here("replay", "run.mcap", "--verify", "--json").stdout)
    assert numbers["same"] is True and numbers["ticks"] == 300
    numbers = json.loads(here("replay", "run.mcap", "--metrics", "--json").stdout)
    assert numbers["vehicles"] == 6 and numbers["fleets"]["red"]["max_speed_mps"] == pytest.approx(2.0, rel=0.2)
    assert "distance m" in here("replay", "run.mcap", "--metrics").stdout


def test_replay(here: Run, recorded: Path) -> None:
    done = here("replay", "run.mcap", "--pace", "0")
    assert done.returncode == 0 and "small: played to 3.000 of 3.000 s, 61 samples" in done.stdout
    numbers = json.loads(here("replay", "run.mcap", "--pace", "0", "--from", "1", "--seconds", "1", "--json").stdout)
    assert (numbers["tick"], numbers["position"], numbers["vehicles"]) == (200, 2.0, 6)


def test_export(here: Run, recorded: Path, tmp_path: Path) -> None:
    done = here("export", "run.mcap", "--to", "csv", "--fleet", "red")
    assert done.returncode == 0 and done.stdout.startswith("run.csv: 61 rows")
    with (tmp_path / "run.csv").open(newline="") as file:
        assert [row["tick"] for row in csv.DictReader(file)][-1] == "300"
    assert here("export", "run.mcap", "--to", "json", "--output", "o.json").stdout.startswith("o.json: 366 rows")
    assert here("export", "run.mcap", "--to", "plots").stdout.split()[0] == "run_plots/tracks.png"


def test_the_scenario_may_set_the_recording(here: Run, small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text() + "record: {file: own.mcap, rate: 10, precision: single}\n")
    done = here("run", str(small), "--json", "--seconds", "1")
    recording = json.loads(done.stdout)["recording"]
    assert (recording["samples"], recording["dropped"], recording["failure"]) == (11, 0, "")
    assert recording["bytes"] == (tmp_path / "own.mcap").stat().st_size
    assert here("replay", "own.mcap", "--verify").returncode == 0


def test_recording_does_not_change_the_run(here: Run, small: Path) -> None:
    plain, recorded = (
        json.loads(here("run", str(small), "--json", "--seconds", "2", *more).stdout)
        for more in ((), ("--record", "run.mcap"))
    )
    assert plain["state_hash"] == recorded["state_hash"] and "recording" not in plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "nothing.mcap"), "cannot read nothing.mcap: No such file or directory"),
        (("replay", "small.yaml"), "small.yaml is not an MCAP file"),
        (("export", "small.yaml", "--to", "csv"), "small.yaml is not an MCAP file"),
        (("run", "small.yaml", "--record", "no/run.mcap"), "cannot record to no/run.mcap: No such file or directory"),
        (("run", "small.yaml", "--record-rate", "5"), "--record-rate requires --record"),
        (("run", "small.yaml", "--record", "a", "--record-rate", "0"), "--record-rate must be a positive number of Hz"),
    ],
)
def test_mistakes_are_one_line(here: Run, small: Path, arguments: tuple[str, ...], message: str) -> None:
    done = here(*arguments, *(("--headless", "--seconds", "1") if arguments[0] == "run" else ()))
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "run.mcap", "--to", "xls"), "--to: unknown format 'xls'; valid: csv, json, parquet, plots"),
        (("export", "run.mcap", "--to", "csv", "--fleet", "rad"), "unknown fleet 'rad'; did you mean 'red'?"),
        (("export", "run.mcap", "--to", "csv", "--output", "no/run.csv"), "folder no does not exist"),
        (("replay", "run.mcap", "--verify", "--metrics"), "mutually exclusive"),
        (("replay", "run.mcap", "--pace", "1000"), "pace must be"),
        (("replay", "run.mcap", "--from", "-1"), "--from must be"),
    ],
)
def test_mistakes_with_a_recording(here: Run, recorded: Path, arguments: tuple[str, ...], message: str) -> None:
    done = here(*arguments)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and message in done.stderr


def test_a_recording_that_was_cut_off(here: Run, recorded: Path) -> None:
    recorded.write_bytes(recorded.read_bytes()[:-100])
    done = here("replay", "run.mcap", "--pace", "0", "--headless")
    assert done.returncode == 0 and "the run was interrupted" in done.stderr
    assert "the recording is truncated" in here("replay", "run.mcap", "--verify").stdout


def test_the_view_and_its_keys(recorded: Path) -> None:
    console = Console(width=100, height=24, file=io.StringIO())
    with Player(recorded, pace=0) as player:
        view = PlaybackView(player, console, keys=True)
        view.handle_keys("-")
        assert player.pace == 100.0
        view.handle_keys("+- -")
        assert player.pace == 20.0 and player.paused
        view.handle_keys("\x1b[C\x1b[D")  # right: to the end of 3 s; left: to its beginning
        assert player.position == 0.0
        player.seek(1.5)
        lines = view.draw().plain.split("\n")
    assert len(lines) == 24 and max(map(len, lines)) == 100
    assert "paused" in lines[0] and "1.5 of 3.0 s" in lines[1] and "tick 150" in lines[1]
    assert any("dots" in line and "point" in line for line in lines)
    assert any(arrow in "".join(lines) for arrow in "←↑→↓↖↗↘↙")  # vehicles on the map
