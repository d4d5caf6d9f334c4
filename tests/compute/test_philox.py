"""Counter-based random numbers: known answers, distributions, independence, and the same bits everywhere."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from paddock.compute.philox import normals, philox, signed, uniforms, words
from paddock.compute.twin import bound, compiled, vectorised

COUNT = 100_000
TICKS = np.arange(COUNT)
ALL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ALL,) * 4, (ALL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers(counter: tuple, key: tuple, answer: tuple) -> None:
    assert philox(*counter, *key) == answer
    assert compiled(philox)(*counter, *key) == answer
    in_numpy = vectorised(philox)(*(np.full(3, value, dtype=np.int64) for value in (*counter, *key)))
    assert tuple(int(word[1]) for word in in_numpy) == answer


def draws(function: Callable, seed: int = 1, stream: int = 2, purpose: int = 3) -> np.ndarray:
    """Both numbers of a draw for many ticks: shape (2, COUNT)."""
    return np.array(vectorised(function)(seed, stream, purpose, TICKS))


def test_uniforms_are_uniform() -> None:
    for sample in draws(uniforms):
        assert sample.min() >= 0.0
        assert sample.max() < 1.0
        assert sample.mean() == pytest.approx(0.5, abs=4 / np.sqrt(12 * COUNT))
        assert sample.var() == pytest.approx(1 / 12, abs=1e-3)
        assert stats.kstest(sample, "uniform").pvalue > 1e-3


def test_normals_are_normal() -> None:
    for sample in draws(normals):
        assert sample.mean() == pytest.approx(0.0, abs=4 / np.sqrt(COUNT))
        assert sample.std() == pytest.approx(1.0, abs=0.01)
        assert stats.kstest(sample, "norm").pvalue > 1e-3
        assert np.abs(sample).max() > 4.0


def all_zero(seed: int, stream: int, purpose: int, tick: int) -> tuple[int, int, int, int]:
    return 0, 0, 0, 0


def all_ones(seed: int, stream: int, purpose: int, tick: int) -> tuple[int, int, int, int]:
    return ALL, ALL, ALL, ALL


@pytest.mark.parametrize(("extreme", "uniform"), [(all_zero, 0.0), (all_ones, 1.0 - 2.0**-53)])
def test_extreme_words_make_uniforms_below_one_and_finite_normals(extreme: Callable, uniform: float) -> None:
    drawn = bound(uniforms, {"words": extreme})
    assert drawn(0, 0, 0, 0) == (uniform, uniform)
    normal = bound(normals, {"uniforms": drawn})
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform))  # 0 and 8.57
    assert math.hypot(*normal(0, 0, 0, 0)) == pytest.approx(radius, rel=1e-12, abs=1e-300)
    assert compiled(normal)(0, 0, 0, 0) == normal(0, 0, 0, 0)


@pytest.mark.parametrize(
    "other",
    [{"seed": 2}, {"stream": 3}, {"stream": 2 + (1 << 32)}, {"purpose": 4}, {"seed": 1 + (1 << 32)}],
    ids=["seed", "stream", "stream high word", "purpose", "seed high word"],
)
def test_streams_purposes_and_seeds_are_independent(other: dict) -> None:
    ours, theirs = draws(normals), draws(normals, **other)
    samples = np.vstack([ours, theirs])
    correlation = np.corrcoef(samples) - np.eye(4)
    assert np.abs(correlation).max() < 5 / np.sqrt(COUNT)


def test_neighbouring_ticks_are_independent() -> None:
    sample = draws(normals)[0]
    assert abs(np.corrcoef(sample[1:], sample[:-1])[0, 1]) < 5 / np.sqrt(COUNT)


def test_every_input_bit_counts() -> None:
    base = words(0, 0, 0, 0)
    seen = {base}
    for bit in range(64):
        seen |= {words(1 << bit, 0, 0, 0), words(0, 1 << bit, 0, 0)}
    for bit in range(48):
        seen.add(words(0, 0, 0, 1 << bit))
    for bit in range(16):
        seen.add(words(0, 0, 1 << bit, 0))
    assert len(seen) == 1 + 64 + 64 + 48 + 16


@pytest.mark.parametrize("function", [words, uniforms, normals])
def test_python_numpy_and_compiled_code_agree(function: Callable) -> None:
    twin, in_numpy = compiled(function), vectorised(function)
    for seed, stream, purpose, tick in [(0, 0, 0, 0), (7, 12345, 3, 10**6), (-1, -(2**63), 65535, 2**48 - 1)]:
        plain = function(seed, stream, purpose, tick)
        assert twin(seed, stream, purpose, tick) == plain
        assert tuple(v.item() for v in in_numpy(seed, stream, purpose, np.array([tick]))) == plain


def test_unsigned_hashes_as_compiled_code_carries_them() -> None:
    assert signed(2**64 - 1) == -1
    assert signed(2**63) == -(2**63)
    assert signed(5) == 5
    assert words(0, signed(2**64 - 9), 1, 2) == words(0, 2**64 - 9, 1, 2)
