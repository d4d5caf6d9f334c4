"""Fixtures: the command line in another process, with its output and exit code."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import paddock as package

Result = subprocess.CompletedProcess[str]

SMALL = """\
name: small
description: Two kinds of vehicle.
seed: 3
clock: {rate: 100}
vehicles:
  - {name: red, model: point, speed: 1, behaviour: {orbit: {radius: 5, z: 0, speed: 2}}}
  - {name: dots, count: 5, model: point, spawn: {random: {low: [-9, -9, 0], high: [9, 9, 5]}}, speed: 1}
"""


@pytest.fixture(autouse=True)
def _found_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes find the package that is being tested, from any folder."""
    paths = [str(Path(package.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


@pytest.fixture
def paddock(tmp_path: Path) -> Callable[..., Result]:
    """Run `paddock ...` in an empty folder."""

    def run(*arguments: str) -> Result:
        command = [sys.executable, "-m", "paddock", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The file of a scenario that starts fast."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path
