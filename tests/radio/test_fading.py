"""Fading and shadowing: distributions, correlation over distance, level crossings, reciprocity."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import empty
from scipy import special, stats

from paddock.compute.math import sincos, sqrt
from paddock.compute.routine import routine
from paddock.compute.threads import limit_threads
from paddock.compute.twin import vectorised
from paddock.radio.physics import fading as f
from paddock.radio.physics.fading import (
    NONE,
    SHADOW_WAVES,
    WAVES,
    diffuse,
    draw_shadow_waves,
    draw_waves,
    fading_gain_db,
    set_phasors,
    set_shadow_phasors,
    shadow_db,
    shadow_sum,
)

K = 2 * math.pi * 2.4e9 / 299_792_458.0  # rad/m
STREAMS = st.integers(-(2**63), 2**63 - 1)
PLACES = st.tuples(*[st.floats(-1e5, 1e5)] * 3)


def fading_db(
    seed: int, stream_a: int, stream_b: int,
    ax: float, ay: float, az: float, bx: float, by: float, bz: float,
    wave_number: float, kind: int, parameter: float,
) -> float:  # fmt: skip
    """Return the gain (dB) of fading between two radios with their streams and places; the same if exchanged."""
    if kind == NONE:
        return 0.0
    waves, phasors = empty((2, 4, WAVES)), empty((2, 2, WAVES))
    draw_waves(seed, stream_a, waves, 0)
    draw_waves(seed, stream_b, waves, 1)
    set_phasors(waves, phasors, 0, ax, ay, az, wave_number)
    set_phasors(waves, phasors, 1, bx, by, bz, wave_number)
    re, im = diffuse(phasors, 0, 1)
    dx, dy, dz = ax - bx, ay - by, az - bz
    return fading_gain_db(kind, parameter, wave_number * sqrt(dx * dx + dy * dy + dz * dz), re, im)


def shadowing_db(
    seed: int, stream: int,
    ax: float, ay: float, az: float, bx: float, by: float, bz: float,
    sigma: float, distance: float,
) -> float:  # fmt: skip
    """Return the shadowing (dB) between two places in the field of a stream; the same if they are exchanged."""
    waves, phasors = empty((4, SHADOW_WAVES)), empty((2, 2, SHADOW_WAVES))
    draw_shadow_waves(seed, stream, waves)
    set_shadow_phasors(waves, phasors, 0, ax, ay, az, distance)
    set_shadow_phasors(waves, phasors, 1, bx, by, bz, distance)
    dx, dy, dz = ax - bx, ay - by, az - bz
    apart = sqrt(dx * dx + dy * dy + dz * dz)
    return shadow_db(shadow_sum(phasors, 0, 1), apart, sigma, distance)


fading_of, shadowing_of = routine(fading_db), routine(shadowing_db)


def phasors_of(streams: np.ndarray, places: np.ndarray, seed: int = 5) -> np.ndarray:
    """The phasors of radios at places (3, n)."""
    waves, phasors = np.empty((len(streams), 4, f.WAVES)), np.empty((len(streams), 2, f.WAVES))
    f.fading_waves(seed, streams, waves)
    f.fading_phasors(waves, np.ascontiguousarray(places), np.full(len(streams), K), phasors)
    return phasors


def fields_of(rows: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The diffuse field of many links, complex, from phasors of their ends, in NumPy."""
    a, b = rows[:, 0] + 1j * rows[:, 1], other[:, 0] + 1j * other[:, 1]
    return (a * b).sum(axis=1) / math.sqrt(f.WAVES)


@pytest.fixture(scope="module")
def fields() -> np.ndarray:
    """Diffuse fields of 4,000 links between different radios at random places."""
    random = np.random.default_rng(3)
    streams = random.integers(-(2**63), 2**63 - 1, 8000)
    phasors = phasors_of(streams, random.uniform(-1e4, 1e4, (3, 8000)))
    return fields_of(phasors[:4000], phasors[4000:])


def test_arguments_of_sines_far_from_the_origin() -> None:
    random = np.random.default_rng(1)
    for size, error in ((1e6, 1e-9), (1e8, 1e-7)):
        angles = random.uniform(-size, size, 20_000)
        s, c = vectorised(sincos)(angles)
        exact = angles.astype(np.longdouble)
        assert np.abs(s - np.sin(exact)).max() < error
        assert np.abs(c - np.cos(exact)).max() < error


def test_rayleigh_distribution(fields: np.ndarray) -> None:
    power = np.abs(fields) ** 2
    assert power.mean() == pytest.approx(1.0, abs=0.05)
    assert stats.kstest(np.sqrt(power), stats.rayleigh(scale=math.sqrt(0.5)).cdf).pvalue > 0.01
    assert stats.kstest(np.angle(fields), stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > 0.01


@pytest.mark.parametrize("level", [-5.0, 3.0, 10.0])
def test_rician_distribution(fields: np.ndarray, level: float) -> None:
    k = 10 ** (0.1 * level)
    paths = np.random.default_rng(2).uniform(0.0, 1e5, len(fields))
    gains = vectorised(f.rician_gain_db)(k, paths, fields.real, fields.imag)
    power = 10 ** (0.1 * gains)
    assert power.mean() == pytest.approx(1.0, abs=0.05)
    exact = stats.rice(math.sqrt(2 * k), scale=math.sqrt(0.5 / (k + 1)))
    assert stats.kstest(np.sqrt(power), exact.cdf).pvalue > 0.01
    scalar = f.fading_gain_db(f.RICIAN, level, float(paths[7]), float(fields[7].real), float(fields[7].imag))
    assert scalar == pytest.approx(gains[7], abs=1e-9)


@pytest.mark.parametrize("m", [0.5, 1.0, 2.7])
def test_nakagami_distribution(fields: np.ndarray, m: float) -> None:
    power = [10 ** (0.1 * f.fading_gain_db(f.NAKAGAMI, m, 0.0, h.real, h.imag)) for h in fields[:1500].tolist()]
    assert np.mean(power) == pytest.approx(1.0, abs=0.12)
    assert stats.kstest(np.sqrt(power), stats.nakagami(m).cdf).pvalue > 0.01


def test_nakagami_power_against_scipy() -> None:
    for m in (0.5, 0.8, 1.0, 3.0, 12.0, 50.0):
        for p in (1e-9, 1e-4, 0.03, 0.5, 0.69, 0.7, 1.0, 4.0, 12.0):
            expected = special.gammaincinv(m, -math.expm1(-p)) if p < 0.7 else special.gammainccinv(m, math.exp(-p))
            assert f.nakagami_power(p, m) == pytest.approx(expected / m, rel=1e-7)
    assert f.nakagami_power(0.0, 0.5) < 1e-20 and f.nakagami_power(1e9, 50.0) < 4.0


@given(st.floats(1.0, 60.0))
def test_log_gamma(x: float) -> None:
    assert f.log_gamma(x) == pytest.approx(special.gammaln(x), abs=1e-13, rel=1e-13)


def test_no_fading() -> None:
    assert f.fading_gain_db(f.NONE, 0.0, 1.0, 3.0, 4.0) == 0.0
    assert fading_of(1, 2, 3, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, K, f.NONE, 0.0) == 0.0


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.6, 0.8)])
def test_autocorrelation_is_that_of_clarke(direction: tuple[float, float]) -> None:
    """J0(k d) for one moving end, J0^2 for two, over many links."""
    random = np.random.default_rng(4)
    n = 6000
    streams, places = random.integers(-(2**63), 2**63 - 1, 2 * n), random.uniform(-500.0, 500.0, (3, 2 * n))
    before = phasors_of(streams, places)
    start = fields_of(before[:n], before[n:])
    for d in (0.01, 0.03, 0.048, 0.08, 0.125, 0.3):  # m; a wavelength is 0.125
        moved = places + d * np.array([*direction, 0.0])[:, None]
        after = phasors_of(streams, moved)
        correlation = np.mean(start.conj() * fields_of(after[:n], before[n:]))
        assert correlation == pytest.approx(special.j0(K * d), abs=0.04)
        both = np.mean(start.conj() * fields_of(after[:n], after[n:]))
        assert both == pytest.approx(special.j0(K * d) ** 2, abs=0.04)


def test_climbing_changes_the_field_more_slowly() -> None:
    random = np.random.default_rng(4)
    n = 4000
    streams, places = random.integers(-(2**63), 2**63 - 1, 2 * n), random.uniform(-500.0, 500.0, (3, 2 * n))
    before = phasors_of(streams, places)
    start = fields_of(before[:n], before[n:])
    for d in (0.1, 0.25, 0.5):
        after = phasors_of(streams, places + d * np.array([0.0, 0.0, 1.0])[:, None])
        x = f.STEEPEST * K * d  # uniform vertical parts: a sinc
        assert np.mean(start.conj() * fields_of(after[:n], before[n:])) == pytest.approx(math.sin(x) / x, abs=0.05)


def test_level_crossing_rate_of_rayleigh() -> None:
    """sqrt(2 pi) fd rho exp(-rho^2) crossings per second: here per wavelength, fd = 1."""
    random = np.random.default_rng(6)
    links, steps, wavelengths = 200, 1500, 15.0
    step = wavelengths * (2 * math.pi / K) / steps
    streams = random.integers(-(2**63), 2**63 - 1, 2 * links)
    other = phasors_of(streams[links:], random.uniform(-500.0, 500.0, (3, links)))
    waves = np.empty((links, 4, f.WAVES))
    f.fading_waves(5, streams[:links], waves)
    route = np.arange(steps)[:, None] * step * 0.8, np.arange(steps)[:, None] * step * 0.6
    crossings = dict.fromkeys((0.3, 0.7, 1.2), 0)
    for i in range(links):
        phase = K * (waves[i, 0] * route[0] + waves[i, 1] * route[1]) + waves[i, 3]
        envelope = np.abs((np.exp(1j * phase) * (other[i, 0] + 1j * other[i, 1])).sum(axis=1)) / math.sqrt(f.WAVES)
        for rho in crossings:
            crossings[rho] += int(((envelope[:-1] < rho) & (envelope[1:] >= rho)).sum())
    for rho, count in crossings.items():
        expected = math.sqrt(2 * math.pi) * rho * math.exp(-(rho**2))
        assert count / (links * wavelengths) == pytest.approx(expected, rel=0.06)


def test_doppler_of_the_direct_path() -> None:
    """With a strong direct path, its phase turns by 2 pi per wavelength of distance: the sum beats at that period."""
    re, im = 0.5, 0.0
    gains = [f.rician_gain_db(4.0, 2 * math.pi * turn, re, im) for turn in (0.0, 0.5, 1.0)]
    assert gains[0] == pytest.approx(gains[2], abs=1e-9)
    direct, spread = math.sqrt(0.8), 0.5 * math.sqrt(0.2)
    assert gains[0] - gains[1] == pytest.approx(20 * math.log10((direct + spread) / (direct - spread)))


@settings(max_examples=20)
@given(STREAMS, STREAMS, STREAMS, PLACES, PLACES, st.sampled_from([f.RAYLEIGH, f.RICIAN, f.NAKAGAMI]))
def test_links_are_reciprocal(seed: int, radio: int, other: int, a: tuple, b: tuple, kind: int) -> None:
    there = fading_of(seed, radio, other, *a, *b, K, kind, 2.0)
    assert fading_of(seed, other, radio, *b, *a, K, kind, 2.0) == there
    shadow = shadowing_of(seed, radio, *a, *b, 6.0, 30.0)
    assert shadowing_of(seed, radio, *b, *a, 6.0, 30.0) == shadow


def test_one_link_is_the_same_in_python_compiled_and_in_tables() -> None:
    streams = np.array([12345, -987654321], np.int64)
    places = np.array([[10.0, -400.0], [20.0, 77.0], [5.0, 60.0]])
    arguments = 5, 12345, -987654321, *places[:, 0].tolist(), *places[:, 1].tolist(), K, f.RICIAN, 4.0
    plain = fading_db(*arguments)
    assert fading_of(*arguments) == plain
    phasors = phasors_of(streams, places)
    re, im = f.diffuse(phasors, 0, 1)
    apart = math.sqrt(((places[:, 0] - places[:, 1]) ** 2).sum())
    assert f.fading_gain_db(f.RICIAN, 4.0, K * apart, re, im) == pytest.approx(plain, abs=1e-9)
    shadow = 5, 99, *places[:, 0].tolist(), *places[:, 1].tolist(), 6.0, 30.0
    tables = np.empty((2, 2, f.SHADOW_WAVES))
    f.shadow_phasors(f.shadow_waves(5, 99), places, 30.0, tables)
    expected = f.shadow_db(f.shadow_sum(tables, 0, 1), apart, 6.0, 30.0)
    assert shadowing_of(*shadow) == shadowing_db(*shadow) == pytest.approx(expected, abs=1e-12)


@pytest.mark.usefixtures("all_threads")
def test_tables_do_not_depend_on_threads_or_other_radios() -> None:
    random = np.random.default_rng(8)
    streams, places = random.integers(-(2**63), 2**63 - 1, 700), random.uniform(-1e3, 1e3, (3, 700))
    together = phasors_of(streams, places)
    limit_threads(1)
    assert np.array_equal(phasors_of(streams, places), together)
    assert np.array_equal(phasors_of(streams[333:334], places[:, 333:334]), together[333:334])
    assert not np.array_equal(phasors_of(streams, places, seed=6), together)


def test_shadowing_is_normal_and_correlated_over_its_distance() -> None:
    """Mean 0, sigma, and exp(-d / distance) for one moving end, over many fields."""
    random = np.random.default_rng(9)
    shifts = np.array([0.0, 3.0, 10.0, 30.0, 90.0])
    count = 800
    values = np.empty((count, len(shifts)))
    directions = random.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for k in range(count):
        a, b = random.uniform(-1e3, 1e3, 3), random.uniform(-1e3, 1e3, 3)
        for j, shift in enumerate(shifts):
            values[k, j] = shadowing_of(k, 1, *(a + shift * directions[k]), *b, 6.0, 30.0)
    assert values[:, 0].mean() == pytest.approx(0.0, abs=0.5)
    assert values[:, 0].std() == pytest.approx(6.0, rel=0.08)
    assert stats.kstest(values[:, 0] / 6.0, "norm").pvalue > 0.01
    for j, shift in enumerate(shifts):
        correlation = np.mean(values[:, 0] * values[:, j]) / 36.0
        assert correlation == pytest.approx(math.exp(-shift / 30.0), abs=0.09)


def test_one_field_of_shadowing_has_nearly_its_correlation() -> None:
    """Within one world: links between many places, and receivers beside each other."""
    random = np.random.default_rng(10)
    n = 3000
    fixed, start = random.uniform(-5e3, 5e3, (3, n)), random.uniform(-5e3, 5e3, (3, n))
    directions = random.normal(size=(3, n))
    directions /= np.linalg.norm(directions, axis=0)
    waves = f.shadow_waves(3, 1)

    def values(places: np.ndarray) -> np.ndarray:
        ends = np.empty((2, n, 2, f.SHADOW_WAVES))
        for k, at in enumerate((fixed, places)):
            f.shadow_phasors(waves, np.ascontiguousarray(at), 30.0, ends[k])
        half = f.SHADOW_HALF
        a, b = ends[0, :, 0] + 1j * ends[0, :, 1], ends[1, :, 0] + 1j * ends[1, :, 1]
        total = (a[:, :half] * b[:, half:] + a[:, half:] * b[:, :half]).sum(axis=1).real
        return total / math.sqrt(half)

    first = values(start)
    assert first.std() == pytest.approx(1.0, rel=0.06)
    for shift in (1.0, 10.0, 30.0, 60.0):
        correlation = np.mean(first * values(start + shift * directions))
        assert correlation == pytest.approx(math.exp(-shift / 30.0), abs=0.09)


def test_short_links_have_the_same_spread_of_shadowing() -> None:
    random = np.random.default_rng(11)
    values = []
    for k in range(800):
        a = random.uniform(-1e3, 1e3, 3)
        values.append(shadowing_of(k, 1, *a, *(a + np.array([5.0, 0.0, 0.0])), 6.0, 30.0))
    assert np.std(values) == pytest.approx(6.0, rel=0.08)


def test_shadowing_gains_are_limited_to_what_the_reach_of_links_allows_for() -> None:
    """Three standard deviations, which a normal number exceeds with the probability 0.00135; losses have no limit."""
    places = np.random.default_rng(4).uniform(-2000.0, 2000.0, (3, 1200))
    values = []
    for seed in range(4):
        ends = np.empty((1200, 2, f.SHADOW_WAVES))
        f.shadow_phasors(f.shadow_waves(seed, 1), places, 30.0, ends)
        field = ends[:, 0] + 1j * ends[:, 1]
        sums = (field[:, : f.SHADOW_HALF] @ field[:, f.SHADOW_HALF :].T).real
        sums = (sums + sums.T)[np.triu_indices(1200, 1)]
        values += [f.shadow_db(total, 500.0, 8.0, 30.0) for total in sums[::20].tolist()]
        values += [f.shadow_db(total, 500.0, 8.0, 30.0) for total in (sums.min(), sums.max())]
    deviations = np.array(values) / 8.0
    assert deviations.max() == 3.0 == f.SHADOW_GAIN and deviations.min() < -4.0
    assert (deviations == 3.0).mean() == pytest.approx(0.00135, rel=0.25)
    assert deviations.mean() == pytest.approx(0.0, abs=0.02) and deviations.std() == pytest.approx(1.0, abs=0.02)
