"""Noise, errors of bits and packets, capacity: against scipy, closed forms and simulated symbols."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from paddock.compute.routine import routine
from paddock.compute.twin import vectorised
from paddock.errors import PaddockError
from paddock.radio.physics import signal as s
from paddock.radio.physics.propagation import MODELS
from paddock.scenario.radio import MODELS as MODEL_NAMES
from paddock.scenario.radio_types import BITS_PER_SYMBOL, default_bit_rate
from paddock.scenario.radio_types import MODULATIONS as MODULATION_NAMES

MODULATIONS = st.sampled_from(list(s.MODULATIONS.values()))


def test_thermal_noise() -> None:
    assert s.noise_dbm(20e6, 0.0) == pytest.approx(-100.96, abs=0.005)
    assert s.noise_dbm(1.0, 0.0) == pytest.approx(-173.98, abs=0.005)
    assert s.noise_dbm(20e6, 6.0) == pytest.approx(-94.96, abs=0.005)
    assert s.noise_dbm(20e6, 0.0, 580.0) - s.noise_dbm(20e6, 0.0) == pytest.approx(10 * math.log10(2))


@given(st.floats(-250.0, 250.0))
def test_decibels_and_back(value: float) -> None:
    assert s.decibels(s.power_ratio(value)) == pytest.approx(value, abs=1e-10)


def test_sinr_adds_powers() -> None:
    assert s.sinr_db(-80.0, -100.0, 0.0) == pytest.approx(20.0)
    assert s.sinr_db(-80.0, -100.0, 1e-10) == pytest.approx(20.0 - 10 * math.log10(2))


def test_erfc_against_scipy() -> None:
    x = np.linspace(-6.0, 26.0, 40_001)
    ours, exact = vectorised(s.erfc)(x), special.erfc(x)
    error = np.abs(ours / exact - 1.0)
    assert error[exact > 1e-12].max() < 1e-14
    assert error.max() < 2e-13
    assert (np.diff(ours) <= 0.0).all() and s.erfc(0.0) == pytest.approx(1.0, abs=1e-15)


def test_qpsk_at_9_6_db() -> None:
    rate = s.ber(s.QPSK, s.power_ratio(9.6))
    assert rate == pytest.approx(1e-5, rel=0.03)
    assert rate == pytest.approx(0.5 * special.erfc(math.sqrt(10**0.96)), rel=1e-13)
    assert s.ber(s.BPSK, s.power_ratio(9.6)) == rate


# Eb/N0 (dB) for 1e-5 that textbooks give (Proakis; Sklar): 16-QAM 13.4, 64-QAM 17.8, noncoherent FSK 13.35
@pytest.mark.parametrize(("modulation", "level"), [("16qam", 13.4), ("64qam", 17.8), ("fsk", 13.35)])
def test_published_levels_of_1e_5(modulation: str, level: float) -> None:
    number = s.MODULATIONS[modulation]
    assert s.ber(number, s.power_ratio(level - 0.1)) > 1e-5 > s.ber(number, s.power_ratio(level + 0.1))


def gray(n: int) -> int:
    return n ^ (n >> 1)


@pytest.mark.parametrize(("modulation", "side"), [(s.QAM16, 4), (s.QAM64, 8)])
def test_square_qam_against_every_decision(modulation: int, side: int) -> None:
    """The exact rate of one axis: all levels sent, all levels decided, bits that differ in Gray code."""
    bits = int(math.log2(side))
    for level in (0.0, 3.0, 8.0, 12.0):
        energy = 10 ** (0.1 * level)
        # of the levels, for noise of variance N0 / 2 = 1: (side^2 - 1) spacing^2 / 12 is the energy of one axis
        spacing = math.sqrt(24 * bits / (side**2 - 1) * energy)
        total = 0.0
        for sent in range(side):
            for decided in range(side):
                low = -np.inf if decided == 0 else (decided - sent - 0.5) * spacing
                high = np.inf if decided == side - 1 else (decided - sent + 0.5) * spacing
                probability = special.ndtr(high) - special.ndtr(low)
                total += probability * (gray(sent) ^ gray(decided)).bit_count()
        assert s.ber(modulation, energy) == pytest.approx(total / side / bits, rel=1e-9)


@pytest.mark.parametrize("spreading", [7, 9])
def test_lora_against_simulated_symbols(spreading: int) -> None:
    """Orthogonal chirps, detected by the largest magnitude: the formula is within 0.3 dB."""
    random = np.random.default_rng(5)
    symbols, count = 2**spreading, 20_000
    target = 0.02  # bit error rate
    level = s.needed_eb_n0(spreading, target, 1.0)
    wrong = []
    for offset in (-0.3, 0.3):
        energy = spreading * 10 ** (0.1 * (level + offset))  # Es/N0
        noise = random.exponential(size=(count, symbols - 1)).max(axis=1)
        sent = (math.sqrt(energy) + random.normal(0, math.sqrt(0.5), count)) ** 2 + random.normal(
            0, math.sqrt(0.5), count
        ) ** 2
        wrong.append(np.mean(noise > sent) * 0.5 * symbols / (symbols - 1))
    assert wrong[0] > target > wrong[1]


@given(MODULATIONS, st.floats(-40.0, 40.0), st.floats(0.01, 10.0))
def test_bit_errors_fall_with_the_signal(modulation: int, level: float, more: float) -> None:
    low, high = s.ber(modulation, s.power_ratio(level)), s.ber(modulation, s.power_ratio(level + more))
    assert 0.0 <= high <= low <= 0.5
    assert s.ber(modulation, -1.0) == s.ber(modulation, 0.0) == pytest.approx(0.5, abs=3e-3)


def test_errors_are_compiled_to_the_same_bits() -> None:
    rate, packet = routine(s.ber), routine(s.per)
    for modulation in s.MODULATIONS.values():
        for level in (0.0, 0.1, 1.0, 7.0, 100.0):
            assert rate(modulation, level) == s.ber(modulation, level)
            assert packet(rate(modulation, level), 8192.0) == s.per(s.ber(modulation, level), 8192.0)


@given(st.floats(1e-18, 0.5), st.floats(1.0, 1e6))
def test_packet_errors_are_exact_for_rare_errors(rate: float, bits: float) -> None:
    expected = -math.expm1(bits * math.log1p(-rate))
    assert s.per(rate, bits) == pytest.approx(expected, rel=1e-13)
    assert 0.0 <= s.per(rate, bits) <= 1.0
    assert s.per(rate, bits + 1.0) >= s.per(rate, bits)


@given(MODULATIONS, st.floats(1e-9, 0.9), st.floats(1.0, 1e5))
def test_needed_level_is_the_inverse(modulation: int, target: float, bits: float) -> None:
    most = s.per(s.ber(modulation, 0.0), bits)
    level = s.needed_eb_n0(modulation, target, bits)
    if target < most:
        assert s.per(s.ber(modulation, s.power_ratio(level)), bits) == pytest.approx(target, rel=1e-6)
    needed = s.needed_sinr_db(modulation, 2e6, 1e6, target, bits)
    assert needed == pytest.approx(level - 10 * math.log10(2.0))


def test_needed_level_of_bad_rates() -> None:
    for target, bits in ((0.0, 100.0), (1.0, 100.0), (0.1, 0.0), (math.nan, 10.0)):
        with pytest.raises(PaddockError, match=r"packet error rate .*: use a rate between 0 and 1, and 1 bit or more"):
            s.needed_eb_n0(s.QPSK, target, bits)


def test_capacity() -> None:
    assert s.capacity(20e6, 1.0) == pytest.approx(20e6)
    assert s.capacity(1e6, 1023.0) == pytest.approx(10e6)
    assert s.capacity(1e6, 1e-9) == pytest.approx(1e-3 / math.log(2), rel=1e-8)


def test_eb_n0_and_bit_rates() -> None:
    assert s.eb_n0(4.0, 2e6, 1e6) == 8.0
    assert default_bit_rate("16qam", 1e6) == 4e6
    assert default_bit_rate("lora7", 125e3) == pytest.approx(6835.9, abs=0.1)  # SX1276 data sheet: 6836 at 4/4
    assert {*BITS_PER_SYMBOL, *(f"lora{k}" for k in range(7, 13))} == set(s.MODULATIONS)
    assert list(s.MODULATIONS) == list(MODULATION_NAMES)
    assert list(MODELS) == list(MODEL_NAMES)
