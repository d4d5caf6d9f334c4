"""Routines: compiled, on one thread and on several, and cached between processes."""

import os
import subprocess
import sys
from math import sin
from pathlib import Path

import numpy as np
import pytest
from numpy import empty

from paddock.compute.cache import CALLEES
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.compute.threads import limit_threads


def bent(x: float) -> float:
    return sin(x) + 2.0 * x if x > 0.0 else -x


def _table(values: np.ndarray, shift: float) -> np.ndarray:
    """Something with loops and a call, whose rounds do not know of each other."""
    out = empty((len(values), 3))
    for i in parallel_range(len(values)):
        for k in range(3):
            out[i, k] = bent(values[i] + k * shift)
    return out


alone = routine(_table)
shared = parallel_routine(_table)
inlined = parallel_routine(_table, inline=True)


@pytest.mark.usefixtures("all_threads")
def test_a_routine_equals_its_plain_function() -> None:
    values = np.linspace(-3.0, 3.0, 1001)
    expected = _table(values, 0.7)
    assert alone.plain is _table
    np.testing.assert_allclose(alone(values, 0.7), expected, rtol=1e-15)
    np.testing.assert_allclose(shared(values, 0.7), expected, rtol=1e-15)


@pytest.mark.usefixtures("all_threads")
def test_threads_do_not_change_a_bit() -> None:
    values = np.linspace(-3.0, 3.0, 5000)
    several = shared(values, 0.3)
    np.testing.assert_array_equal(alone(values, 0.3), several)
    np.testing.assert_array_equal(inlined(values, 0.3), several)
    limit_threads(1)
    np.testing.assert_array_equal(shared(values, 0.3), several)


@pytest.mark.usefixtures("all_threads")
def test_few_items_stay_on_the_calling_thread() -> None:
    sized = parallel_routine(_table, items=lambda values, shift: len(values), few=10)
    values = np.linspace(-3.0, 3.0, 10)
    np.testing.assert_array_equal(sized(values[:9], 0.3), shared(values[:9], 0.3))
    assert sized._compiled is None and sized.alone._compiled is not None  # the shared loop has not been compiled
    np.testing.assert_array_equal(sized(values, 0.3), shared(values, 0.3))
    assert sized._compiled is not None


def test_keyword_arguments_and_defaults_reach_the_function() -> None:
    values = np.linspace(-3.0, 3.0, 7)
    expected = _table(values, 0.7)
    for made in (alone, shared):
        np.testing.assert_allclose(made(values, shift=0.7), expected, rtol=1e-15)
        np.testing.assert_allclose(made(shift=0.7, values=values), expected, rtol=1e-15)
    assert routine(weighted)(2.0, bias=1.0) == weighted(2.0, bias=1.0) == 7.0
    assert routine(weighted)(2.0, scale=5.0) == 10.0


def weighted(x: float, scale: float = 3.0, bias: float = 0.0) -> float:
    return scale * x + bias


def test_it_keeps_its_name_and_docstring() -> None:
    assert shared.__name__ == "_table"
    assert (shared.__doc__ or "").startswith("Something with loops")


PROGRAM = """
from paddock.compute.routine import routine
from toy import whole
built = routine(whole)
result = built(3.0)
stats = built._compiled.stats
print(result, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
WHOLE = "from part import part\ndef whole(x):\n    return part(x) + 1.0\n"
PART = "def part(x):\n    return FACTOR * x\n"


def run_toy(folder: Path, factor: float) -> tuple[float, int, int]:
    """Result, loads and compilations of a fresh process whose routine reaches a function in another file."""
    (folder / "toy.py").write_text(WHOLE)
    (folder / "part.py").write_text(PART.replace("FACTOR", str(factor)))
    paths = os.pathsep.join([str(folder), *sys.path])
    kept = {"PADDOCK_CACHE": str(folder / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths} | kept,
        check=True,
    )
    result, hits, misses = done.stdout.split()
    return float(result), int(hits), int(misses)


@pytest.mark.slow
def test_kept_between_processes_until_a_source_that_it_reaches_changes(tmp_path: Path) -> None:
    assert run_toy(tmp_path, 2.0) == (7.0, 0, 1)
    assert run_toy(tmp_path, 2.0) == (7.0, 1, 0)
    assert run_toy(tmp_path, 5.0) == (16.0, 0, 1)
    assert len([path for path in (tmp_path / "kept").iterdir() if path.is_dir() and path.name != CALLEES]) == 2
