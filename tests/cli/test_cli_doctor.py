"""The doctor's findings, and the bench verb around its runner."""

import json
import socket
import subprocess
import sys
from importlib import metadata

import pytest

from paddock.bench import result as runner
from paddock.bench.result import Result
from paddock.cli import doctor as checks
from paddock.cli.main import exit_code


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert all(list(finding) == ["group", "name", "mark", "value", "advice"] for finding in findings)
    names = {finding["name"] for finding in findings}
    assert {"python", "cores", "numba", "vector width", "threading layer", "gpu", "kernel cache", "8000/tcp"} <= names
    assert next(f for f in findings if f["name"] == "simulation")["mark"] == "ok"


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["doctor"]) == 0
    assert "ok; kernels ready" in capsys.readouterr().out


def test_a_broken_core(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise OSError("no compiler")

    monkeypatch.setattr(checks, "_short_run", fail)
    assert exit_code(["doctor", "--json"]) == 1
    broken = [finding for finding in json.loads(capsys.readouterr().out) if finding["mark"] == "broken"]
    assert [finding["value"] for finding in broken] == ["OSError: no compiler"]


def test_a_threading_layer_that_has_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise ValueError("Threading layer is not initialized.")

    monkeypatch.setattr("numba.threading_layer", fail)
    marks = {finding.name: (finding.mark, finding.value) for finding in checks.core()}
    assert marks["threading layer"] == ("ok", "not started") and marks["simulation"][0] == "ok"


def test_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["numpy>=2.0", 'numpy>=2; extra == "good"', "no-such-thing>=1; extra == 'bad'", 'x; extra == "dev"']
    monkeypatch.setattr(metadata, "requires", lambda name: needed)
    good, bad = checks.extras()
    assert (good.name, good.mark, good.value) == ("good", "ok", f"numpy {metadata.version('numpy')}")
    assert (bad.name, bad.mark, bad.advice) == ("bad", "warn", "pip install 'paddock[bad]'")


def test_ports() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert not checks.port_is_free(port, "tcp")
    assert checks.port_is_free(port, "tcp")


RESULTS = [
    Result("100 drones", 12.5, "M/s", ">= 10", "swarm"),
    Result("one", 3.0, "us", "<= 2", "swarm"),
    Result("first", 0.7, "s", bench="start"),
]


def test_bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(runner, "run_benchmarks", lambda names, quick, tell=None: RESULTS)
    assert exit_code(["bench", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [list(result) for result in listed] == [["bench", "case", "value", "unit", "target", "ok"]] * 3
    assert exit_code(["bench", "--check"]) == 1
    out, err = capsys.readouterr()
    assert err == "paddock: target missed: swarm one: 3 us, target <= 2\n"
    assert "100 drones" in out and "missed" in out
    monkeypatch.setattr(runner, "run_benchmarks", lambda names, quick, tell=None: RESULTS[::2])
    assert exit_code(["bench", "--check"]) == 0


def test_bench_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["bench", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == runner.benchmark_names()


def test_ports_are_checked_without_pymavlink() -> None:
    program = (
        "import sys; sys.modules['pymavlink'] = None; from paddock.cli.doctor import ports; print(len(list(ports())))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "9\n", done.stderr
