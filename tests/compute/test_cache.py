"""The kernel cache: what its key covers, one compilation for several processes, and removal of old entries."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from paddock.compute import cache, numba_extensions
from paddock.compute.cache import SETTINGS, CacheEntry, DamagedError, cache_key, locked, read_sealed, sweep
from paddock.compute.kernel import KernelSpec, Rows, cpu_source, tuple_classes
from paddock.compute.routine import routine
from paddock.errors import PaddockError

MODEL = '''
"""A model with one of everything that can shape machine code."""
from enum import Enum
from typing import NamedTuple

import numpy as np

from toy_parts import helper

GAIN = 2.0
TABLE = (1.0, 2.0)
CURVE = np.linspace(0.0, 1.0, 2000)


class Mode(Enum):
    SLOW = 1
    FAST = 2


class State(NamedTuple):
    x: float
    v: float


class Limits(NamedTuple):
    low: float
    high: float


class Wish(NamedTuple):
    vx: float
    turn: float = 0.0
    limits: Limits = Limits(1.0, 2.0)


def scaled(x, factor=3.0, *, bias=0.5):
    """Scale."""
    return x * factor + bias


def step(s):
    """Advance."""
    parts = [x * 7.0 for x in (1.0, 2.0)]
    wish = Wish(GAIN * s.v + TABLE[1])
    return State(scaled(s.x) + helper(wish.vx) + parts[0] + CURVE[3] + Mode.FAST.value, wish.turn)
'''
PARTS = '"""Parts."""\nOFFSET = 1.0\n\n\ndef helper(x):\n    return x + OFFSET\n'
EDITS = {
    "a constant in the code": ("GAIN * s.v", "GAIN * s.v * 1.5"),
    "a module constant": ("GAIN = 2.0", "GAIN = 2.5"),
    "the sign of a zero": ("turn: float = 0.0", "turn: float = -0.0"),
    "a tuple constant": ("TABLE = (1.0, 2.0)", "TABLE = (1.0, 3.0)"),
    "the middle of a long array": ("np.linspace(0.0, 1.0, 2000)", "np.linspace(0.0, 1.0, 2000) ** 2"),
    "a member of an enum": ("FAST = 2", "FAST = 3"),
    "a default argument": ("factor=3.0", "factor=4.0"),
    "a keyword default": ("bias=0.5", "bias=0.25"),
    "a nested code object": ("x * 7.0 for x", "x * 8.0 for x"),
    "a default of a named tuple": ("turn: float = 0.0", "turn: float = 1.0"),
    "a field of a named tuple": ("    vx: float\n", "    vx: float\n    vy: float = 0.0\n"),
    "the order of fields": ("    x: float\n    v: float\n", "    v: float\n    x: float\n"),
    "the fields of a named tuple in a default": (
        "    low: float\n    high: float\n",
        "    high: float\n    low: float\n",
    ),
    "a constant of another module": ("OFFSET = 1.0", "OFFSET = 2.0"),
    "a function of another module": ("return x + OFFSET", "return x - OFFSET"),
}
NO_EDITS = {
    "nothing": ("", ""),
    "a comment": ("GAIN = 2.0", "GAIN = 2.0  # without unit"),
    "a docstring": ('"""Advance."""', '"""Advance by one tick, at last."""'),
    "a function that is not reached": ("GAIN = 2.0", "GAIN = 2.0\n\n\ndef unused(x):\n    return -x\n"),
}


def key_of(folder: Path, edit: tuple[str, str]) -> str:
    """The key of the toy's kernel, whose sources have been edited and imported again."""
    texts = {"toy_model": MODEL, "toy_parts": PARTS}
    assert not edit[0] or any(edit[0] in text for text in texts.values())
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text.replace(*edit) if edit[0] else text)
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    toy: Any = importlib.import_module("toy_model")
    spec = KernelSpec("toy", toy.step, (Rows("state", toy.State, "update"),))
    return cache_key(cpu_source(spec), [spec.function], tuple_classes(spec).values())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


@pytest.mark.parametrize("what", EDITS)
def test_the_key_follows(what: str, folder: Path) -> None:
    assert key_of(folder, EDITS[what]) != key_of(folder, ("", ""))


@pytest.mark.parametrize("what", NO_EDITS)
def test_the_key_does_not_follow(what: str, folder: Path) -> None:
    assert key_of(folder, NO_EDITS[what]) == key_of(folder, ("", ""))


def test_the_key_follows_text_flags_compiler_and_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: float) -> float:
        return 2.0 * x

    toolchain = cache.toolchain()
    keys = [cache_key("text", [function]), cache_key("other", [function]), cache_key("text", [function], flags=True)]
    for k in range(len(toolchain)):
        other = tuple(part + ("!" if k == i else "") for i, part in enumerate(toolchain))
        monkeypatch.setattr(cache, "toolchain", lambda other=other: other)
        keys.append(cache_key("text", [function]))
    assert len(set(keys)) == len(keys) == 7
    described = " ".join(toolchain)
    assert "numba" in described and "llvmlite" in described and "python" in described


@pytest.mark.parametrize("name", SETTINGS)
def test_the_key_follows_the_settings_of_numba(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.toolchain.__wrapped__()
    monkeypatch.setattr(numba.config, name, "changed")
    assert cache.toolchain.__wrapped__() != before
    documented = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert f"`NUMBA_{name.removesuffix('_DEFAULT')}`" in documented


def test_without_the_compiler_the_error_names_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)

    def plain(x: float) -> float:  # what numba.njit returns with NUMBA_DISABLE_JIT=1
        return x

    with pytest.raises(PaddockError, match="NUMBA_DISABLE_JIT is set, but kernels must be compiled: unset it"):
        CacheEntry("plain", "key", "").guard(plain)


PROGRAM = """
import sys
import numpy as np
from paddock.compute.kernel import KernelSpec, Rows, kernel
from toy import Motion, step
built = kernel(KernelSpec("toy", step, (Rows("state", Motion, "update"),)))
state = np.ones((2, 4))
built(4, 1, state)
stats = built.variants(4)[0].stats
print(state[0, 0], sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
TOY = """
from typing import NamedTuple
class Motion(NamedTuple):
    x: float
    v: float = DEFAULT
def step(s):
    return Motion(FACTOR * s.x)
"""


def start_toy(folder: Path, cache_folder: Path, factor: float = 2.0, default: float = 0.0) -> subprocess.Popen[str]:
    """A fresh process that runs the toy kernel; it prints the result, the kernels loaded and those compiled."""
    (folder / "toy.py").write_text(TOY.replace("FACTOR", str(factor)).replace("DEFAULT", str(default)))
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = os.environ | {"PYTHONPATH": paths, "PADDOCK_CACHE": str(cache_folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=environment)


def result(toy: subprocess.Popen[str]) -> tuple[float, int, int]:
    value, hits, misses = toy.communicate()[0].split()
    return float(value), int(hits), int(misses)


def test_two_processes_compile_a_kernel_once_until_the_source_changes(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    both = [start_toy(tmp_path, kernels) for _ in range(2)]
    assert sorted(map(result, both)) == [(2.0, 0, 1), (2.0, 1, 0)]
    assert result(start_toy(tmp_path, kernels, factor=5.0, default=1.0)) == (5.0, 0, 1)
    assert len(list(kernels.glob("toy-*"))) == 2


ARGUMENT = """
from typing import NamedTuple
class Motion(NamedTuple):
    x: float
    v: float
def twice(motion):
    return motion.x + 2.0 * motion.v
"""


def call_twice(folder: Path, before: str = "", after: str = "") -> tuple[float, int]:
    """Return the result of a routine whose only argument is a named tuple (3, 5), and how often it was compiled."""
    (folder / "toy_argument.py").write_text(ARGUMENT.replace(before, after) if before else ARGUMENT)
    sys.modules.pop("toy_argument", None)
    importlib.invalidate_caches()
    toy: Any = importlib.import_module("toy_argument")
    tuple_class = next(value for value in vars(toy).values() if hasattr(value, "_field_defaults"))
    call = routine(toy.twice).direct()
    return call(tuple_class(3.0, 5.0)), sum(call.stats.cache_misses.values())  # type: ignore[attr-defined]


def test_a_class_that_is_only_an_argument_may_be_renamed_and_change_its_fields(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: folder / "kernels")
    assert call_twice(folder) == (13.0, 1)
    assert call_twice(folder) == (13.0, 0)
    assert call_twice(folder, "Motion", "Movement") == (13.0, 1)
    assert call_twice(folder) == (13.0, 0)  # two versions of a class do not displace each other
    assert call_twice(folder, "    x: float\n    v: float\n", "    v: float\n    x: float\n") == (11.0, 1)
    assert len(list((folder / "kernels").glob("routine-twice-*"))) == 1  # the code is the same


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_compiled_again(folder: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: folder / "kernels")
    assert call_twice(folder) == (13.0, 1)
    (damaged,) = (folder / "kernels").rglob(f"*{suffix}")
    damaged.write_bytes(damaged.read_bytes()[:-20])
    assert call_twice(folder) == (13.0, 1)
    assert call_twice(folder) == (13.0, 0)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_file_with_one_other_bit_is_not_read_any_further(
    folder: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """A pickle or machine code that is damaged may do anything: it is compiled again, whichever bit it is."""
    monkeypatch.setattr(cache, "cache_root", lambda: folder / "kernels")
    assert call_twice(folder) == (13.0, 1)
    (path,) = (folder / "kernels").rglob(f"*{suffix}")
    whole = path.read_bytes()
    for place in np.random.default_rng(5).integers(8 * len(whole), size=200).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(DamagedError, match="is damaged"):
            read_sealed(path)
    read, loads = list[bytes](), pickle.loads
    with monkeypatch.context() as patched:
        patched.setattr(numba_extensions.pickle, "loads", lambda data: read.append(data) or loads(data))
        assert call_twice(folder) == (13.0, 1)
    assert not any(data and data in bytes(damaged) for data in read)
    assert call_twice(folder) == (13.0, 0)


def test_code_that_other_users_can_write_is_not_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: folder / "kernels")
    assert call_twice(folder) == (13.0, 1)
    files = [*(folder / "kernels").rglob("*.nb?")]
    assert len(files) == 2 and all(path.stat().st_mode & 0o077 == 0 for path in files)
    for path in files:
        path.chmod(0o666)
        with pytest.raises(DamagedError, match="can be written by other users"):
            read_sealed(path)
    assert call_twice(folder) == (13.0, 1)
    assert call_twice(folder) == (13.0, 0)


def test_a_file_of_another_name_does_not_match(tmp_path: Path) -> None:
    cache.write_sealed(tmp_path / "one", b"code")
    (tmp_path / "two").write_bytes((tmp_path / "one").read_bytes())
    assert read_sealed(tmp_path / "one") == b"code"
    with pytest.raises(DamagedError, match="two is damaged"):
        read_sealed(tmp_path / "two")


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o777])
def test_the_folder_of_the_cache_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int) -> None:
    chosen = tmp_path / "kernels"
    chosen.mkdir()
    chosen.chmod(mode)
    monkeypatch.setenv("PADDOCK_CACHE", str(chosen))
    assert cache.cache_root.__wrapped__() == chosen
    assert chosen.stat().st_mode & 0o022 == 0


def test_the_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tmp_path / "kernels"
    monkeypatch.setenv("PADDOCK_CACHE", str(chosen))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache.cache_root.__wrapped__() == chosen
    if os.getuid():
        own = os.getuid()
        monkeypatch.setattr("os.getuid", lambda: own + 1)
    else:
        os.chown(chosen, 4711, -1)
    root = cache.cache_root.__wrapped__()
    assert root != chosen and root.parent == tmp_path and root.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_without_a_writable_cache_a_second_process_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    blocked = tmp_path / "a_file"
    blocked.write_text("not a folder")
    assert result(start_toy(tmp_path, blocked / "kernels")) == (2.0, 0, 1)
    assert result(start_toy(tmp_path, blocked / "kernels")) == (2.0, 1, 0)


def test_an_entry_is_written_once_and_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    entry = CacheEntry("car.toy", "key", "text")
    assert entry.source.read_text() == "text" and entry.source.name == "car_toy.py"
    before = entry.source.stat().st_mtime_ns
    CacheEntry("car.toy", "key", "text")
    assert entry.source.stat().st_mtime_ns == before  # Numba discards the machine code of a source with another time
    entry.source.unlink()
    entry.write()
    assert entry.source.read_text() == "text"


def used(root: Path, name: str, age: float, size: int = 10) -> Path:
    """An entry that was used that many seconds ago."""
    entry = root / name
    entry.mkdir()
    (entry / "code").write_bytes(b"x" * size)
    (entry / cache.USED).touch()
    moment = time.time() - age
    os.utime(entry / cache.USED, (moment, moment))
    return entry


def test_old_entries_are_removed(tmp_path: Path) -> None:
    used(tmp_path, "fresh", 10.0)
    used(tmp_path, "stale", 10.0 * 86400)
    assert sweep(tmp_path, oldest=5.0 * 86400) == ["stale"]
    assert [path.name for path in tmp_path.iterdir()] == ["fresh"]


def test_the_least_recently_used_go_first_when_the_cache_is_too_large(tmp_path: Path) -> None:
    for k, age in enumerate([9000.0, 5000.0, 7000.0, 60.0]):
        used(tmp_path, f"entry{k}", age, size=1000)
    assert sweep(tmp_path, most_bytes=2500) == ["entry0", "entry2"]
    assert sweep(tmp_path, most_bytes=0) == ["entry1"]  # the last was used a minute ago: it may be loading


def test_an_entry_that_another_process_compiles_stays(tmp_path: Path) -> None:
    entry = used(tmp_path, "busy", 1e9)
    with locked(entry / "lock") as held:
        assert held
        assert sweep(tmp_path) == []
    assert sweep(tmp_path) == ["busy"]


def test_a_new_entry_sweeps_at_most_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    used(tmp_path, "stale", 1e9)
    CacheEntry("one", "key", "text")
    assert not (tmp_path / "stale").exists()
    used(tmp_path, "stale", 1e9)
    CacheEntry("two", "key", "text")
    assert (tmp_path / "stale").exists()
