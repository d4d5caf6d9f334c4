"""Jamming and spoofing of satellite signals against published values and closed forms."""

from __future__ import annotations

from math import log10, pi, sin

import numpy as np
import pytest
from scipy.integrate import quad

from paddock.radio.physics import satellites as g
from paddock.sensing.sensor import Draw
from paddock.sensing.sensors.gnss import (
    ACQUIRED,
    OPEN_SKY,
    Memory,
    Options,
    Reading,
    Signal,
    carrier_variance,
    code_variance,
    measure,
    satellites_above,
)
from paddock.sensing.site import Site
from paddock.world.columns import Environment, Pose

CHIP = 1.023e6


def test_quality_factors_of_kaplan() -> None:
    """Narrow band: 1; noise over the main lobe: 2.22 (Understanding GPS/GNSS, 9.2.2)."""
    assert 1.0 / g.spectrum_overlap(0.0, 1.0) == pytest.approx(1.0, abs=1e-6)
    assert 1.0 / g.spectrum_overlap(0.0, 2.0 * CHIP) == pytest.approx(2.22, abs=0.01)
    assert g.MATCHED == 1.5
    assert g.spectrum_overlap(CHIP, 10.0) == pytest.approx(0.0, abs=1e-9)  # the null of the spectrum
    assert g.spectrum_overlap(3e6, 1e6) == 0.0


@pytest.mark.parametrize(("offset", "bandwidth"), [(0.0, 1e5), (4e5, 6e5), (0.0, 20e6), (-5e6, 12e6), (9e5, 1e6)])
def test_overlap_is_the_integral_of_both_spectra(offset: float, bandwidth: float) -> None:
    low, high = max(offset - bandwidth / 2, -CHIP), min(offset + bandwidth / 2, CHIP)

    def density(f: float) -> float:
        return (sin(pi * f / CHIP) / (pi * f / CHIP)) ** 2 if f else 1.0

    exact = quad(density, low, high)[0] / bandwidth
    assert g.spectrum_overlap(offset, bandwidth) == pytest.approx(exact, abs=1e-7)


def cn0_under(js: float, quality: float) -> float:
    """C/N0 (dB-Hz) of a satellite's signal under a jammer: J/S (dB) and Q."""
    return g.effective_cn0(g.SIGNAL_POWER, g.SIGNAL_POWER * 10 ** (js / 10) / quality)


def test_effective_cn0() -> None:
    """44.5 dB-Hz and J/S of 40 dB: 20.08 dB-Hz for a carrier, 1.76 dB more for a matched spectrum."""
    assert cn0_under(40.0, 1.0) == pytest.approx(-10.0 * log10(10**-4.45 + 1e4 / CHIP), abs=1e-9)
    assert cn0_under(40.0, 1.0) == pytest.approx(20.08, abs=0.01)
    assert cn0_under(40.0, 1.5) == pytest.approx(21.83, abs=0.01)
    assert cn0_under(-60.0, 1.0) == pytest.approx(44.5, abs=1e-3)
    # J/S that a receiver with a threshold of 28 dB-Hz tolerates: 10 log Rc (10^-2.8 - 10^-4.45)
    tolerated = 10.0 * log10(CHIP * (10**-2.8 - 10**-4.45))
    assert tolerated == pytest.approx(32.0, abs=0.05)
    assert cn0_under(tolerated, 1.0) == pytest.approx(28.0, abs=1e-9)


def test_noise_of_the_tracking_loops() -> None:
    """Code loop with 1 Hz, half a chip and 20 ms; carrier loop with 10 Hz (Kaplan and Hegarty, chapter 8)."""
    for cn0 in (45.0, 35.0, 28.0):
        c = 10.0 ** (cn0 / 10.0)
        code = 293.05**2 * 0.5 / (2.0 * c) * (1.0 + 2.0 / (0.02 * c * 1.5))
        carrier = (0.190294 / (2.0 * pi * 0.02)) ** 2 * 4.0 * 10.0 / c * (1.0 + 1.0 / (0.02 * c))
        assert code_variance(cn0) == pytest.approx(code, rel=2e-4)
        assert carrier_variance(cn0) == pytest.approx(carrier, rel=2e-3)


def levels_of(*dbm: float) -> np.ndarray:
    return 10.0 ** (np.array(dbm)[:, None] / 10.0)


def run(signals: np.ndarray, now: float, level: float, active: float = 1.0, delay: float = 0.0) -> None:
    """One update of one receiver and one spoofer: 3 dB of margin, 1 s to capture, 2 m/s to the east."""
    rules, ways = np.array([[2.0], [1.0], [delay]]), np.array([[0.0], [0.0], [0.0], [2.0], [0.0], [0.0]])
    weights, aimed = np.array([active / 1.5]), np.ones((1, 1))
    spoofing = g.Spoofing(np.zeros(1, np.int64), np.array([active]), aimed, rules, ways)
    g.update_signals(1, 0, now, 0.1, levels_of(level), weights, spoofing, signals)


def open_sky() -> np.ndarray:
    return np.repeat(g.OPEN_SIGNAL[:, None], 1, axis=1)


def test_a_receiver_is_captured_after_the_capture_time_and_pulled() -> None:
    signals = open_sky()
    for k in range(10):
        run(signals, 0.1 * k, g.AUTHENTIC + 10.0)
        assert signals[g.HELD, 0] == pytest.approx(0.1 * k)
        assert signals[g.CAPTOR, 0] == 0.0
        # not captured: noise with a matched spectrum, J/S of 10 dB
        assert signals[g.CN0, 0] == pytest.approx(cn0_under(10.0, 1.5), abs=1e-9)
    for k in range(10, 60):
        run(signals, 0.1 * k, g.AUTHENTIC + 10.0)
    assert signals[g.CAPTOR, 0] == 1.0 and signals[g.SPOOFED, 0] == 1.0
    assert signals[g.OFFSET : g.OFFSET + 3, 0] == pytest.approx([2.0 * (5.9 - 1.0), 0.0, 0.0])
    assert signals[g.DRIFT : g.DRIFT + 3, 0].tolist() == [2.0, 0.0, 0.0]
    assert signals[g.CN0, 0] == pytest.approx(54.0)  # 10 dB above open sky, limited
    run(signals, 6.0, g.AUTHENTIC - 0.1)  # weaker than the satellites
    assert signals[g.CAPTOR, 0] == 0.0 and signals[g.OFFSET, 0] == 0.0
    run(signals, 6.1, g.AUTHENTIC, active=0.0)
    assert (signals == open_sky()).all()


def test_a_signal_below_the_margin_captures_nothing() -> None:
    signals = open_sky()
    for k in range(100):
        run(signals, 0.1 * k, g.AUTHENTIC + 2.9)
    assert signals[g.CAPTOR, 0] == 0.0 and signals[g.CN0, 0] < OPEN_SKY


# the receiver --------------------------------------------------------------------------------------------------------

BLANK = Memory(*[0.0] * len(Memory._fields))
EXACT = Options(noise_horizontal=0.0, noise_vertical=0.0, noise_velocity=0.0, walk=0.0)


def sample(memory: Memory, signal: Signal, tick: int = 0, options: Options = EXACT) -> tuple[Reading, Memory]:
    pose = Pose(*[10.0, 20.0, 30.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    return measure(pose, signal, memory, options, Environment(), Site(), Draw(7, 5, 0, tick), 0.2)


def test_open_sky_is_unchanged() -> None:
    reading, memory = sample(BLANK, Signal())
    assert reading[:6] == (10.0, 20.0, 30.0, 1.0, 2.0, 3.0)
    assert reading[6:10] == (3.0, 12.0, 0.8, 44.5) and memory.lost == 0.0


def test_the_fix_is_lost_below_28_db_and_returns_after_the_reacquisition() -> None:
    reading, memory = sample(BLANK, Signal(cn0=28.0))
    assert reading.fix == 3.0 and reading.satellites == 4.0 and reading.hdop == pytest.approx(2.4)
    reading, memory = sample(memory, Signal(cn0=27.5))
    assert reading.fix == 0.0 and reading.satellites == 0.0 and reading.hdop == 99.99
    assert np.isnan(reading[:6]).all() and memory.lost == 1.0
    for _ in range(20):  # strong enough to be tracked, too weak to be found again
        reading, memory = sample(memory, Signal(cn0=ACQUIRED - 1.0))
        assert reading.fix == 0.0
    rows = []
    for _ in range(15):
        reading, memory = sample(memory, Signal())
        rows.append(reading.fix)
    assert rows.index(3.0) == 9  # the tenth sample at 5 Hz: 2 s


def test_satellites_fall_one_by_one() -> None:
    counts = [satellites_above(cn0, 27.5) for cn0 in np.arange(40.0, 24.0, -0.1)]
    assert counts[0] == 12.0 and counts[-1] == 0.0 and set(np.diff(counts)) <= {0.0, -1.0}


def test_noise_grows_as_the_signals_weaken() -> None:
    spread = {}
    for cn0 in (44.5, 38.0, 30.0):
        draws = [sample(BLANK, Signal(cn0=cn0), tick, Options(walk=0.0))[0] for tick in range(3000)]
        assert draws[0].horizontal_error == pytest.approx(np.std([draw.x for draw in draws]), rel=0.05)
        assert draws[0].vertical_error == pytest.approx(np.std([draw.z for draw in draws]), rel=0.05)
        spread[cn0] = draws[0].horizontal_error
    assert spread[44.5] == 0.5
    added = code_variance(38.0) - code_variance(44.5)
    assert spread[38.0] == pytest.approx((0.25 + added) ** 0.5)
    dilution = (9.0 / (satellites_above(30.0, 27.5) - 3.0)) ** 0.5  # seven satellites
    assert spread[30.0] == pytest.approx(dilution * (0.25 + code_variance(30.0) - code_variance(44.5)) ** 0.5)


def test_false_signals_shift_the_position_and_their_end_costs_the_fix() -> None:
    false = Signal(cn0=50.0, spoofed=1.0, dx=5.0, dy=-6.0, dz=7.0, dvx=0.5, dvy=0.25, dvz=-1.0)
    reading, memory = sample(BLANK, false)
    assert reading[:6] == (15.0, 14.0, 37.0, 1.5, 2.25, 2.0)
    reading, memory = sample(memory, Signal())
    assert reading.fix == 0.0 and memory.lost == 1.0


def test_impossible_signals() -> None:
    assert g.possible_signals(open_sky(), 1, 0.0)
    for row, value in ((g.CAPTOR, 2.0), (g.SPOOFED, 1.0), (g.SINCE, 5.0), (g.CN0, np.nan), (g.CANDIDATE, 0.5)):
        wrong = open_sky()
        wrong[row] = value
        assert not g.possible_signals(wrong, 1, 1.0), row
