"""Links of many radios against a table of all pairs in NumPy, pruning, hysteresis, threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import erfc

from paddock.compute.threads import available_threads, limit_threads
from paddock.radio.links import update as link_update
from paddock.radio.links.paths import PathTables, classes_of
from paddock.radio.links.radios import COLUMN, FleetRadios, Floats, Radios, radios_of
from paddock.radio.links.rows import decibels_of, longest_square
from paddock.radio.links.survey import far_interference
from paddock.radio.links.table import no_links
from paddock.radio.links.update import LinkUpdate
from paddock.scenario.radio import RadioSection
from paddock.scenario.radio_types import FittedRadio
from paddock.wire.radio_results import Links

LIGHT = 299_792_458.0
TYPES = {
    "near": {"bandwidth": 2e6, "power": 10.0, "sensitivity": -70.0, "duty": 0.005, "bit_rate": 2e6},
    "beside": {"bandwidth": 2e6, "power": 12.0, "sensitivity": -70.0, "duty": 0.02, "frequency": 2.401e9},
}
BASE = {"name": "base", "position": [0.0, 0.0, 2.0], "radio": {"type": "near", "power": 30.0, "sensitivity": -80.0}}


def fleet(name: str, first: int, count: int, kind: str) -> FleetRadios:
    ids = np.arange(first, first + count)
    return FleetRadios(name, ids, ids * 7919 + 1, (FittedRadio(type=kind),))


def town(count: int, side: float, **settings: Any) -> tuple[Radios, LinkUpdate]:
    """Radios of two types whose bands overlap by half, and a strong station that hears far."""
    section = RadioSection.model_validate({"types": TYPES, "stations": [BASE], "margin": 3.0, **settings})
    half = count // 2
    radios = radios_of(section, [fleet("a", 0, half, "near"), fleet("b", half, count - half, "beside")])
    random = np.random.default_rng(7)
    for part in radios.parts:
        poses = np.zeros((13, part.n))
        poses[:2], poses[2] = random.uniform(0.0, side, (2, part.n)), random.uniform(20.0, 60.0, part.n)
        poses[6] = 1.0
        radios.place(part, poses)
    classes = classes_of(section, radios.groups)
    paths = PathTables(radios, classes, None, 0.0, 0).paths
    longest = np.inf if section.range is None else section.range
    return radios, LinkUpdate(radios, classes, paths, section.hysteresis, section.margin, longest)


def all_pairs(radios: Radios, exponent: float = 2.0) -> tuple[Floats, Floats]:
    """Return the powers (mW, receivers x transmitters) and their shares in band and time."""
    table, n = radios.table, radios.n
    apart = np.linalg.norm(table[:3, :n, None] - table[:3, None, :n], axis=0)
    f, width = table[COLUMN.frequency, :n], table[COLUMN.bandwidth, :n]
    losses = 20.0 * np.log10(4.0 * np.pi * f / LIGHT)  # free space at 1 m
    loss = losses + 10.0 * exponent * np.log10(np.maximum(apart, 1e-3))
    power = 10.0 ** ((table[COLUMN.power, :n] - loss) / 10.0)
    top = np.minimum((f + width / 2)[:, None], (f + width / 2)[None])
    bottom = np.maximum((f - width / 2)[:, None], (f - width / 2)[None])
    share = np.clip(top - bottom, 0.0, None) / width * table[COLUMN.duty, :n]
    np.fill_diagonal(share, 0.0)
    return power, share


def receivers(links: Links) -> Any:
    return np.repeat(np.arange(len(links.start) - 1), np.diff(links.start))


@pytest.mark.parametrize("exponent", [2.0, 2.7])
def test_links_are_those_of_all_pairs(exponent: float) -> None:
    """300 radios and a station: the same links, power, SINR and packet errors; interference within its bound."""
    default = {"model": "log_distance", "exponent": 2.7} if exponent != 2.0 else {"model": "free_space"}
    radios, update = town(300, 1200.0 if exponent == 2.0 else 300.0, default=default)
    links = update.run(0, np.zeros(radios.n), no_links(radios.n).bursts, no_links(radios.n))
    table, n = radios.table, radios.n
    assert 0 < len(update.members) < n and update.radius < 0.5 * 1200.0
    power, share = all_pairs(radios, exponent)
    dbm = 10.0 * np.log10(power)
    same = np.abs(table[COLUMN.frequency, :n, None] - table[COLUMN.frequency, None, :n]) < 1.0
    heard = same & ~np.eye(n, dtype=bool) & (dbm >= table[COLUMN.sensitivity, :n, None] - 3.0)
    rows = receivers(links)
    compiled = np.zeros_like(heard)
    compiled[rows, links.peer] = True
    assert (compiled == heard).all() and compiled.sum() > 1000
    assert (np.diff(links.peer)[np.diff(rows) == 0] > 0).all()  # ascending within a row
    assert links.power == pytest.approx(dbm[rows, links.peer], abs=1e-9)

    total = (power * share).sum(axis=1)
    far = far_interference(update)
    assert (links.interference <= total * (1.0 + 1e-12)).all()
    assert (total <= (links.interference + far) * (1.0 + 1e-12)).all()
    assert (total - links.interference).max() > 0.0  # something was left out
    noise = table[COLUMN.noise, :n]
    assert noise[0] == pytest.approx(10.0 ** ((-174.0 + 63.0103 + 6.0) / 10.0), rel=0.01)  # kTB of 2 MHz, 6 dB

    own = (power * share)[rows, links.peer]
    sinr = power[rows, links.peer] / (noise[rows] + links.interference[rows] - own)
    assert links.sinr == pytest.approx(10.0 * np.log10(sinr), abs=1e-8)
    assert links.per == pytest.approx(collided(radios, power, share, rows, links.peer), abs=1e-6)
    assert 100 < (links.per < 0.5).sum() < len(rows)


def level(power: Any) -> Any:
    """Return the level of a power: two of them from one power of 2 to the next."""
    mantissa, exponent = np.frexp(power)
    return 2 * exponent + (mantissa >= 0.75)


def collided(radios: Radios, power: Floats, share: Floats, rows: Any, peers: Any) -> Floats:
    """Return packet error rates of links, one by one: who destroys packets by meeting them, and who adds to the noise.

    Powers that would cause 50 % packet errors destroy packets; both are compared as levels.
    """
    table, sums = radios.table[:, : radios.n], np.zeros(len(rows))
    duty, bits = table[COLUMN.duty], table[COLUMN.bits]
    airtime = bits * table[COLUMN.spread] / table[COLUMN.bandwidth]
    reach = table[COLUMN.sensitivity] - 6.0  # dBm: weaker ones are left out
    half = brentq(lambda x: (1.0 - 0.5 * erfc(np.sqrt(x))) ** 8192 - 0.5, 1.0, 20.0, xtol=1e-12)  # Eb/N0, of QPSK
    for k, (i, j) in enumerate(zip(rows.tolist(), peers.tolist(), strict=True)):
        spread, noise = table[COLUMN.spread, i], table[COLUMN.noise, i]
        others = (share[i] > 0.0) & (10.0 * np.log10(power[i]) >= reach[i])
        others[j] = False
        limit = power[i, j] / (half / spread) - noise
        harms = others & (level(share[i] / duty * power[i]) >= level(limit)) if limit > 0.0 else others
        steady = (power[i] * share[i])[others & ~harms].sum()
        lost = 0.5 * erfc(np.sqrt(power[i, j] / (noise + steady) * spread))
        harms[i] = True  # it does not hear while it transmits
        idle = (1.0 - duty[harms]) * np.exp(-airtime[i] * duty[harms] / (1.0 - duty[harms]) / airtime[harms])
        sums[k] = 1.0 - (1.0 - lost) ** bits[i] * np.prod(idle)
    return sums


def test_radios_that_are_alike_have_the_links_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances decide about their links, powers about those of others: the same bits, also while they move."""
    section = RadioSection.model_validate({"types": TYPES, "stations": []})
    radios = radios_of(section, [fleet("a", 0, 300, "near")])
    classes = classes_of(section, radios.groups)
    paths = PathTables(radios, classes, None, 0.0, 0).paths
    random, poses = np.random.default_rng(9), np.zeros((13, 300))
    poses[:2], poses[2], poses[6] = random.uniform(0.0, 900.0, (2, 300)), random.uniform(20.0, 60.0, 300), 1.0
    moves = random.normal(0.0, 2.0, (6, 3, 300)) + np.array([[20.0], [5.0], [0.0]])  # mostly together
    results: list[list[Links]] = []
    for alike in (True, False):
        if not alike:
            monkeypatch.setattr(link_update, "_common_share", lambda seen: np.zeros(0))
        update, known = LinkUpdate(radios, classes, paths, 3.0, 3.0, np.inf), no_links(300)
        results.append([])
        for k in range(len(moves)):
            moved = poses.copy()
            moved[:3] += moves[: k + 1].sum(axis=0)
            radios.place(radios.parts[0], moved)
            known = update.run(k, np.zeros(300), known.bursts, known)
            results[-1].append(known)
        assert (len(update.candidates.share) == 1) == alike
    for first, two in zip(*results, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(first, two, strict=True)) and len(first.peer) > 1000
    dbm = 10.0 * np.log10(all_pairs(radios)[0])
    heard = (dbm >= -73.0) & ~np.eye(300, dtype=bool)
    rows = receivers(results[0][-1])
    assert np.array_equal(np.flatnonzero(heard), rows * 300 + results[0][-1].peer)


@given(st.floats(-60.0, 60.0), st.floats(1.0, 1e5), st.floats(-120.0, 0.0))
def test_the_longest_square_is_the_last_with_enough_power(power: float, wave: float, limit: float) -> None:
    strength, least = 10.0 ** (power / 10.0), 10.0 ** (limit / 10.0)
    square = longest_square(strength, wave, least)
    if strength < least:
        assert square == -1.0
    else:
        assert strength / max(wave * square, 1.0) >= least > strength / max(wave * np.nextafter(square, np.inf), 1.0)


def test_the_margin_bounds_what_is_left_out() -> None:
    errors = []
    for margin in (0.0, 6.0, 20.0):
        radios, update = town(300, 1200.0, margin=margin)
        links = update.run(0, np.zeros(radios.n), no_links(radios.n).bursts, no_links(radios.n))
        power, share = all_pairs(radios)
        noise = radios.table[COLUMN.noise, : radios.n]
        missing = 10.0 * np.log10((noise + (power * share).sum(axis=1)) / (noise + links.interference))
        bound = 10.0 * np.log10((noise + links.interference + far_interference(update)) / (noise + links.interference))
        assert (missing <= bound + 1e-9).all()
        errors.append(float(missing.max()))
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.5


@given(st.floats(-299.0, 299.0))
def test_decibels(level: float) -> None:
    assert decibels_of(10.0 ** (level / 10.0)) == pytest.approx(level, abs=1e-12)


def test_a_longest_range() -> None:
    radios, update = town(60, 400.0, range=80.0)
    links = update.run(0, np.zeros(radios.n), no_links(radios.n).bursts, no_links(radios.n))
    apart = np.linalg.norm(radios.table[:3, receivers(links)] - radios.table[:3, links.peer], axis=0)
    assert len(apart) and apart.max() <= 80.0


@pytest.mark.slow  # `make test` shares the same loops in tests/engine/test_radio_stage.py
@pytest.mark.usefixtures("shared_loops")
def test_threads_do_not_matter() -> None:
    if available_threads() < 2:
        pytest.skip("one core")
    radios, update = town(300, 1200.0)
    rows = []
    for count in (1, 2):
        limit_threads(count)
        rows.append(update.run(0, np.zeros(radios.n), no_links(radios.n).bursts, no_links(radios.n)))
    for first, two in zip(*rows, strict=True):
        assert np.array_equal(first, two)


def test_hysteresis() -> None:
    """A link comes up at the sensitivity, and drops 3 dB below it."""
    section = RadioSection.model_validate(
        {"types": {"t": {"sensitivity": -80.0, "duty": 0.0, "bandwidth": 1e4, "bit_rate": 1e3}}, "stations": []}
    )
    radios = radios_of(section, [fleet("a", 0, 2, "t")])
    classes = classes_of(section, radios.groups)
    update = LinkUpdate(radios, classes, PathTables(radios, classes, None, 0.0, 0).paths, 3.0, 6.0, np.inf)
    known, states = no_links(2), []
    for power in (-80.5, -79.5, -80.5, -82.9, -83.1, -80.5, -79.9):
        poses = np.zeros((13, 2))
        poses[0, 1] = LIGHT / (4.0 * np.pi * 2.4e9) * 10.0 ** ((20.0 - power) / 20.0)
        radios.place(radios.parts[0], poses)
        known = update.run(0, np.zeros(2), known.bursts, known)
        states.append(known.up.tolist() if len(known.up) else [0, 0])
    assert states == [[0, 0], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]]


def test_positions_that_are_not_finite_affect_no_other() -> None:
    radios, update = town(60, 400.0)
    wanted = update.run(0, np.zeros(radios.n), no_links(radios.n).bursts, no_links(radios.n))
    radios.table[0, 5] = np.nan
    links = update.run(0, np.zeros(radios.n), no_links(radios.n).bursts, no_links(radios.n))
    assert links.start[6] == links.start[5] and 5 not in links.peer
    keep = (receivers(wanted) != 5) & (wanted.peer != 5)
    assert np.array_equal(links.peer, wanted.peer[keep]) and np.array_equal(links.power, wanted.power[keep])
