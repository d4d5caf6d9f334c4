"""The output of a run; the same seed gives the same output."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock.cli.main import exit_code

Result = subprocess.CompletedProcess[str]

KEYS = [
    "scenario", "seed", "ticks", "sim_seconds", "wall_seconds", "real_time_factor", "vehicles", "stages", "events",
    "discarded", "state_hash", "first_tick_seconds", "peak_memory_mb",
]  # fmt: skip


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert exit_code(["run", *arguments, "--seconds", "1", "--json"]) == 0
    numbers: dict[str, Any] = json.loads(capsys.readouterr().out)
    return numbers


def test_the_process_prints_json_only(paddock: Callable[..., Result], small: Path) -> None:
    result = paddock("run", str(small), "--headless", "--seconds", "1", "--json")
    assert result.returncode == 0 and result.stderr == ""
    numbers = json.loads(result.stdout)
    assert list(numbers) == KEYS
    assert (numbers["scenario"], numbers["seed"], numbers["ticks"]) == ("small", 3, 100)
    assert (numbers["sim_seconds"], numbers["vehicles"], numbers["events"]) == (1.0, 6, {})
    assert 0 < numbers["first_tick_seconds"] < 60 and numbers["peak_memory_mb"] > 20
    assert list(numbers["stages"]["move"]) == ["calls", "ms_total", "ms_per_call"]
    assert numbers["real_time_factor"] > 0


def test_the_seed_decides(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = ran(capsys, str(small)), ran(capsys, str(small), "--threads", "1")
    other, same = ran(capsys, str(small), "--seed", "4"), ran(capsys, str(small), "--seed", "3")
    assert first["state_hash"] == again["state_hash"] == same["state_hash"]
    assert other["seed"] == 4 and other["state_hash"] != first["state_hash"]


def test_a_single_vehicle_by_flags(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--model", "point", "--speed", "2", "--height", "3", "--command", "vx=2", "--rate", "50")
    numbers = ran(capsys, *arguments)
    assert (numbers["scenario"], numbers["ticks"], numbers["vehicles"]) == ("point", 50, 1)


def test_the_pace_is_applied(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = ran(capsys, str(small), "--pace", "2")
    assert 0 < numbers["real_time_factor"] < 2.1  # slower on a busy machine, never faster


def test_the_summary_as_text(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["run", str(small), "--headless", "--seconds", "0.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("small: 6 vehicles, 0.500 s simulated (50 ticks) in ")
    assert any(line.startswith("  move ") for line in lines) and "state hash" in lines[-1]


def test_lines_where_there_is_no_terminal(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["run", str(small), "--seconds", "0.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "small: 6 vehicles. Two kinds of vehicle."
    assert lines[1].startswith("t ") and lines[1].endswith(" x real time")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_prints_its_summary(small: Path, number: int, code: int) -> None:
    command = [sys.executable, "-m", "paddock", "run", str(small), "--no-web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("small: 6 vehicles")
        process.stdout.readline()  # it runs
        time.sleep(0.1)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == code and err == ""
    assert "state hash" in out


def test_a_broken_pipe(small: Path) -> None:
    command = [sys.executable, "-m", "paddock", "run", str(small), "--no-web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) == 141
        assert process.stderr.read() == ""


def test_help_imports_nothing_heavy() -> None:
    heavy = ("numba", "numpy", "pydantic", "pymavlink", "scipy", "starlette", "yaml")
    program = (
        "import sys; from paddock.cli.main import exit_code; code = exit_code(['--help']); "
        f"print(code, [name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1] == "0 []"


MISSION = """\
name: errand
clock: {rate: 50}
mission:
  execute: kinematic
  speed: 20
  turn_radius: 80
  range: 5000
  tasks: [{name: near, point: {at: [200, 0]}}, {name: beyond, point: {at: [90000, 0]}}]
"""


def test_the_summary_of_a_mission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "errand.yaml"
    file.write_text(MISSION)
    mission = ran(capsys, str(file))["mission"]
    assert (mission["tasks"], mission["completed"], mission["finished"], mission["makespan"]) == (2, 0, False, None)
    assert mission["travelled"] == pytest.approx(20.0, abs=0.5)  # m in the only second
    assert [entry["task"] for entry in mission["undone"]] == ["beyond"] and mission["undone"][0]["reason"]
    assert exit_code(["run", str(file), "--seconds", "120", "--headless"]) == 0
    out = capsys.readouterr().out
    assert "mission: 1 of 2 tasks done, all back after" in out and "beyond not done: it takes" in out


def test_a_state_that_is_not_finite_ends_a_headless_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "far.yaml"
    file.write_text("vehicles: [{name: red, model: point, behaviour: {counts_down: {after: 20}}}]")
    assert exit_code(["run", str(file), "--seconds", "1", "--json"]) == 1
    out, err = capsys.readouterr()
    numbers = json.loads(out)
    assert numbers["events"] == {"not_finite": 1} and numbers["ticks"] < 240
    assert err.startswith("paddock: the state of 'red' is not finite at tick ") and err.count("\n") == 1
    assert exit_code(["run", str(file), "--seconds", "1", "--headless"]) == 1
    assert "no tick" not in capsys.readouterr().out
    file.write_text(file.read_text() + "\non_nan: remove")
    assert exit_code(["run", str(file), "--seconds", "1", "--json"]) == 1
    out, err = capsys.readouterr()
    numbers = json.loads(out)
    assert (numbers["events"], numbers["discarded"]) == ({"not_finite": 1, "removed": 1}, 1)
    assert numbers["sim_seconds"] == 1.0 and numbers["vehicles"] == 0  # the run went on without it
    assert err == "paddock: 1 vehicle removed: the state was not finite (on_nan: remove)\n"
