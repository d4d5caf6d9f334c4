"""Callees: compiled code that kernels and processes share through the cache."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from paddock.compute import cache, numba_extensions
from paddock.compute.cache import CALLEES, sweep

PROGRAM = """
from toy import add, total
from paddock.compute.routine import routine
from paddock.compute.twin import _compiled
caller = routine(total).direct()
print(caller(3.0))
for one in (caller, _compiled(add, "float64", False, False)):
    print(sum(one.stats.cache_hits.values()), sum(one.stats.cache_misses.values()))
"""
TOY = """
from typing import NamedTuple
class Pair(NamedTuple):
    a: float
    b: float = 1.0
def scaled(x):
    return FACTOR * x
def add(x, y):
    return Pair(scaled(x) + y, y)
def total(x):
    pair = add(x, 5.0)
    return pair.a + pair.bFURTHER
"""


def run_toy(folder: Path, factor: float = 2.0, further: str = "") -> tuple[float, str, str]:
    """Return the result of a routine in a fresh process, and where it and its callee are from."""
    (folder / "toy.py").write_text(TOY.replace("FACTOR", str(factor)).replace("FURTHER", further))
    paths = os.pathsep.join([str(folder), *sys.path])
    kernels = str(folder / "kernels")
    environment = os.environ | {"PYTHONPATH": paths, "PADDOCK_CACHE": kernels, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)
    value, *counts = done.stdout.splitlines()
    caller, callee = ({"1 0": "loaded", "0 1": "compiled", "0 0": "not needed"}[count] for count in counts)
    return float(value), caller, callee


def test_another_caller_loads_a_callee(tmp_path: Path) -> None:
    assert run_toy(tmp_path) == (16.0, "compiled", "compiled")
    assert run_toy(tmp_path, further=" + 1.0") == (17.0, "compiled", "loaded")


@pytest.mark.slow
def test_callees_that_have_changed_or_are_damaged_are_compiled(tmp_path: Path) -> None:
    assert run_toy(tmp_path) == (16.0, "compiled", "compiled")
    assert run_toy(tmp_path, further=" + 1.0") == (17.0, "compiled", "loaded")
    assert run_toy(tmp_path, further=" + 1.0") == (17.0, "loaded", "not needed")
    assert run_toy(tmp_path, factor=3.0) == (19.0, "compiled", "compiled")  # the callee calls another function
    for file in (tmp_path / "kernels" / CALLEES).iterdir():
        file.write_bytes(file.read_bytes()[:-9])
    assert run_toy(tmp_path, further=" + 2.0") == (18.0, "compiled", "compiled")  # damaged files are replaced
    assert run_toy(tmp_path, further=" + 3.0") == (19.0, "compiled", "loaded")
    for file in (tmp_path / "kernels" / CALLEES).iterdir():  # one bit: the compressed data has no checksum of its own
        damaged = bytearray(file.read_bytes())
        damaged[len(damaged) // 2] ^= 4
        file.write_bytes(damaged)
    assert run_toy(tmp_path, further=" + 4.0") == (20.0, "compiled", "compiled")
    for file in (tmp_path / "kernels" / CALLEES).iterdir():
        file.chmod(0o622)
    assert run_toy(tmp_path, further=" + 5.0") == (21.0, "compiled", "compiled")


class Typed(tuple[Any, ...]):
    """A class that only this module has, under another name than in its namespace."""

    __qualname__ = "Unknown"


def test_classes_that_cannot_be_imported_are_not_kept() -> None:
    assert numba_extensions._is_importable(Path) and not numba_extensions._is_importable(Typed)


def test_old_callees_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / CALLEES
    folder.mkdir()
    for name, age in (("fresh", 10.0), ("older", 9000.0), ("stale", 10.0 * 86400)):
        (folder / name).write_bytes(b"x" * 1000)
        moment = time.time() - age
        os.utime(folder / name, (moment, moment))
    assert sweep(tmp_path, oldest=5.0 * 86400) == ["stale"]
    assert sweep(tmp_path, most_bytes=500) == ["older"]
    assert [path.name for path in folder.iterdir()] == ["fresh"]


def test_types_of_this_process_have_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_extensions, "cache_root", lambda: tmp_path)
    files = numba_extensions.CalleeFiles("one")
    path = files._path(("float64",))
    assert path is not None and path.parent == tmp_path / CALLEES
    assert files._path(("float64", object())) is None
    monkeypatch.setattr(numba_extensions, "toolchain", lambda: (*cache.toolchain(), "another processor"))
    assert files._path(("float64",)) != path
