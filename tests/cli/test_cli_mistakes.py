"""A usage error is one line on stderr and exit code 2, never a traceback."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock import __version__
from paddock.cli.main import exit_code
from paddock.cli.options import ServeOptions

Result = subprocess.CompletedProcess[str]

CASES = {
    "unknown verb": (["dmo"], "unknown verb or option 'dmo'; did you mean 'demo'?"),
    "unknown option": (["--verison"], "unknown verb or option '--verison'; did you mean '--version'?"),
    "unknown flag": (["demo", "--headles"], "unknown option: --headles. Did you mean --headless?"),
    "unknown demo": (["demo", "swrm"], "unknown demo 'swrm'; did you mean 'swarm'?"),
    "too much": (["schema", "now"], "unexpected argument 'now'"),
    "no value": (["demo", "--pace"], 'command "demo" parameter --pace requires an argument'),
    "no number": (["demo", "--pace", "fast"], 'invalid value for --pace: unable to convert "fast" into float'),
    "pace": (["demo", "--pace", "500"], "--pace must be 0 (as fast as possible) or 0.05 to 100, not 500.0"),
    "pace nan": (["demo", "--pace", "nan"], "--pace must be 0 (as fast as possible) or 0.05 to 100, not nan"),
    "seconds": (["demo", "--seconds", "0"], "--seconds must be a positive number, not 0"),
    "seconds nan": (["demo", "--seconds", "nan"], "--seconds must be a positive number, not nan"),
    "paused": (["demo", "--paused", "--headless"],
               "--paused requires --serve or the terminal view: nothing could resume this run"),
    "seed": (["demo", "--seed", "-1"], "--seed must be in 0..2^64-1, not -1"),
    "missing file": (["run", "none.yaml"], "none.yaml: no such scenario file or demo; valid: contested, driverless, "
                     "mixed, race, relay, sitl, survey, swarm"),
    "nothing": (["run"], "give a scenario file or --model: e.g. paddock run race.yaml, or paddock run --model quad "
                "--height 10"),
    "both": (["run", "a.yaml", "--model", "quad"], "give a scenario file or --model: not both"),
    "flag of a file": (["run", "a.yaml", "--rate", "10"],
                       "--rate requires --model; set it in the scenario file instead"),
    "model": (["run", "--model", "quod"], "--model: unknown model 'quod'; did you mean 'quad'?"),
    "preset": (["run", "--model", "quad", "--preset", "micra"],
               "--preset: unknown preset 'micra' of quad; did you mean 'micro'?"),
    "behaviour": (["run", "--model", "point", "--behaviour", "flok"],
                  "--behaviour: unknown behaviour 'flok'; did you mean 'flock'?"),
    "command": (["run", "--model", "point", "--command", "vx"], "--command takes name=value, not 'vx'"),
    "input": (["run", "--model", "point", "--command", "v=1"],
              "--command v: unknown input 'v' of point; did you mean 'vz'?"),
    "rate": (["run", "--model", "point", "--rate", "0"], "--rate: must be >= 0.001, not 0.0"),
    "token alone": (["demo", "--no-web", "--token", "open sesame"], "--token requires --serve: nothing is served"),
    "lock alone": (["demo", "--no-web", "--lock"], "--lock requires --serve: nothing is served"),
    "insecure alone": (["demo", "--no-web", "--insecure"], "--insecure requires --serve: nothing is served"),
    "bind alone": (["demo", "--no-web", "--bind", "0.0.0.0"], "--bind requires --serve: nothing is served"),
    "short token": (["demo", "--serve", "stream", "--token", "short"],
                    "--token: a token has at least 8 characters, not 5"),
    "twice": (["demo", "--serve", "zmq", "--serve", "zmq=7"], "--serve zmq is given twice"),
    "port": (["demo", "--serve", "stream=abc"],
             "--serve stream: a port is an integer from 0 to 65535, not 'abc'"),
    "last port": (["demo", "--serve", "zmq=65535"],
                  "--serve zmq: there is no port after 65535 for states: use a lower port, or set publish"),
    "record": (["demo", "--record", ""], "--record takes a file name, not ''"),
    "benchmark": (["bench", "swrm"], "unknown benchmark 'swrm'; did you mean 'swarm'?"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_arguments(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, message = CASES[case]
    assert exit_code(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"paddock: error: {message}\n")


def test_a_token_from_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PADDOCK_TOKEN", "from outside")
    assert ServeOptions().over(None) is None
    served = ServeOptions(serve=("stream", "shm=7"), bind="0.0.0.0").over(None)
    assert served is not None and served.options.token == "from outside"
    assert served.options.shm is not None and served.options.shm.name == "7"
    flagged = ServeOptions(serve=("stream",), token="open sesame").over(served.options)
    assert flagged is not None and flagged.options.token == "open sesame"
    monkeypatch.setenv("PADDOCK_TOKEN", "short")
    assert exit_code(["demo", "--serve", "stream"]) == 2
    message = "PADDOCK_TOKEN: a token has at least 8 characters, not 5"
    assert capsys.readouterr().err == f"paddock: error: {message}\n"


FILES = {
    "yaml": ("vehicles: [\n", ["a.yaml:2:1: "]),
    "key": ("vehicles: []\nclok: {}\n", ["a.yaml:2:1: unknown key 'clok' in scenario; did you mean 'clock'?"]),
    "model": ("vehicles:\n  - model: quod\n", ["a.yaml:2:12: unknown model 'quod'; did you mean 'quad'?"]),
    "dt": ("clock: {dt: 0}\nvehicles: []\n", ["a.yaml:1:13: clock.dt must be >= 1e-06, not 0"]),
    "nan": ("vehicles:\n  - {model: quad, speed: .nan}\n", ["a.yaml:2:26: "]),
    "ids": ("vehicles:\n  - {id: 4, model: quad}\n  - {id: 4, model: quad}\n", ["a.yaml:3:10: "]),
    "names": ("vehicles:\n  - {name: a, model: quad}\n  - {name: a, model: quad}\n", ["a.yaml:3:12: "]),
    "option": (
        "vehicles:\n  - {model: point, behaviour: {orbit: {radios: 3}}}\n",
        ["a.yaml:2:48: unknown orbit option 'radios'; did you mean 'radius'?"],
    ),
    "several": ("seed: -1\nclock: {pace: 1000}\nvehicles: 3\n", ["a.yaml:1:7: ", "a.yaml:2:15: ", "a.yaml:3:11: "]),
}


@pytest.mark.parametrize("case", FILES)
def test_files(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text, problems = FILES[case]
    Path("a.yaml").write_text(text)
    assert exit_code(["run", "a.yaml", "--headless", "--seconds", "1"]) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "" and len(lines) == len(problems)
    for line, problem in zip(lines, problems, strict=True):
        assert line.startswith(f"paddock: error: {problem}")


def test_through_the_process(paddock: Callable[..., Result], small: Path) -> None:
    result = paddock("run", "smal.yaml")
    assert result.returncode == 2
    assert result.stderr == "paddock: error: smal.yaml: no such scenario file or demo; did you mean 'small.yaml'?\n"
    assert paddock("--version").stdout == f"{__version__}\n"
    helped = paddock("--help")
    assert helped.returncode == 0 and "Exit codes:" in helped.stdout


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["title"] == "Paddock scenario"
    assert schema["anyOf"] == [{"required": ["vehicles"]}, {"required": ["mission"]}]
