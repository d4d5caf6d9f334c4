"""The README, block by block: a reader who follows it from the top never needs what is printed later."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paddock.cli.main import build_app

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"# (\w+\.\w+)\n")
USED = re.compile(r"[\w./-]*\w\.(?:yaml|mcap|csv|png|tir|py|ipynb)\b")
WRITES = ("--record", "--generate", "--plot", "-o")
ENDLESS = {"demo": (), "sitl": (), "run": ("--seconds",)}
"""Verbs that run until they are interrupted, and options that end them."""


class Step(NamedTuple):
    """A block, or a command of a block of commands."""

    language: str  # python, yaml, text; "" for a command
    text: str

    @property
    def words(self) -> list[str]:
        """The words of a command, without its comment."""
        return [] if self.language else shlex.split(self.text, comments=True)


def steps() -> Iterator[Step]:
    for language, text in BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        if language:
            yield Step(language, text)
        else:
            yield from (Step("", line) for line in text.splitlines() if line)


STEPS = list(steps())


def test_files_are_printed_or_written_before_they_are_used() -> None:
    files, used = set[str](), 0
    for step in STEPS:
        words = step.words
        written = {words[k + 1] for k, word in enumerate(words) if word in WRITES and USED.fullmatch(words[k + 1])}
        if step.language == "yaml" and (named := NAMED.match(step.text)):
            written.add(named[1])
        for name in USED.findall("\n".join(words[1:]) if words else step.text if step.language != "yaml" else ""):
            assert name in files | written or (ROOT / name).is_file(), f"{name} in {step.text!r}"
            used += 1
        files |= written
    assert used >= 10 and files == {"two_car_race.yaml", "run.mcap", "my.yaml", "lap.png", "mine.csv"}


def test_commands_exist_with_their_options() -> None:
    """Without running them: verbs, options, targets of make, extras, programs and notebooks."""
    app, checked = build_app(), dict[str, int]()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for words in (step.words for step in STEPS if step.words):
        program, *rest = words
        if program == "paddock":
            app.parse_args(rest, exit_on_error=False, print_error=False)
        elif program == "pip":
            assert rest[0] == "install" and set(re.findall(r"\w+", rest[1])) <= set(extras), words
        elif program == "make":
            assert set(rest) <= set(targets), words
        else:
            assert program in (".", "jupyter", "python", "mavproxy.py"), words
        checked[program] = checked.get(program, 0) + 1
    assert checked["paddock"] >= 20 and checked["pip"] >= 5 and checked["make"] >= 5


class Reader:
    """Types what is printed, in a folder with the examples."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        python_path = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": python_path, "BROWSER": "true"}
        self.running: subprocess.Popen[str] | None = None
        self.log = ""

    def type(self, step: Step) -> None:
        """Run a command to its end; one that does not end runs until the next step."""
        if step.language == "text":  # beside the server of the step before
            self.finish(["python", "-c", f"import paddock\n{step.text}"])
            return
        self.interrupt()
        if step.language == "yaml":
            if named := NAMED.match(step.text):
                (self.folder / named[1]).write_text(step.text.removeprefix(named[0]), encoding="utf-8")
        elif step.language == "python":
            self.finish(["python", "-c", step.text])
        elif step.words[0] == "paddock" and self.is_endless(step.words[1:]):
            pipe: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
            self.log = ""
            self.running = subprocess.Popen(step.words, cwd=self.folder, env=self.environment, text=True, **pipe)
            while "x real time" not in self.log:
                line = self.running.stdout.readline() if self.running.stdout else ""
                assert line, f"{step.text}: ended\n{self.log}"
                self.log += line
        elif step.words[0] in ("paddock", "python"):
            self.finish(step.words)

    @staticmethod
    def is_endless(words: list[str]) -> bool:
        return words[0] in ENDLESS and not set(ENDLESS[words[0]]) & set(words)

    def finish(self, words: list[str]) -> None:
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"

    def interrupt(self) -> None:
        if self.running is not None:
            self.running.send_signal(signal.SIGINT)
            rest, _ = self.running.communicate(timeout=60)
            assert self.running.returncode == 130, self.log + rest
            self.running = None


@pytest.mark.soak
def test_every_block_runs_in_order_as_printed(tmp_path: Path) -> None:
    """Without installing anything, and without programs with a window of their own (Jupyter, MAVProxy)."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    reader = Reader(tmp_path)
    try:
        for step in STEPS:
            reader.type(step)
        reader.interrupt()
    finally:
        if reader.running is not None:
            reader.running.kill()
            reader.running.communicate()
    assert all((tmp_path / name).exists() for name in ("run.mcap", "my.yaml", "lap.png", "mine.csv", "survey_plan"))
