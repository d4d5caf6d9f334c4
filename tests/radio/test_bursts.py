"""Packets under jammers that transmit in bursts, against a Monte Carlo simulation of packets and against limits."""

import numpy as np
import pytest

from paddock.radio.links.rows import burst_error, hit_probability
from paddock.radio.physics.signal import QPSK, ber, per

BITS, AIRTIME = 1000.0, 1e-3  # a packet of 1 Mbit/s
QUIET, JAMMED = 100.0, 0.5  # Eb/N0, ratios: no errors, and certain ones


def simulated(share: float, period: float, quiet: float, jammed: float) -> float:
    """Return the packet error rate of packets that begin at any time, bit by bit."""
    random = np.random.default_rng(4)
    start = random.uniform(0.0, period, 4000)
    at = (start[:, None] + (np.arange(BITS) + 0.5) / BITS * AIRTIME) % period
    rates = np.where(at < share * period, ber(QPSK, jammed), ber(QPSK, quiet))
    return float(1.0 - np.exp(np.log1p(-rates).sum(axis=1)).mean())


@pytest.mark.parametrize("period", [1e-4, 2e-3, 1e-2, 0.1])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_errors_of_strong_bursts_are_those_of_packets_that_are_hit(period: float, share: float) -> None:
    """A burst of one bit or more destroys its packet: what counts is whether packets meet bursts."""
    error = burst_error(QPSK, BITS, AIRTIME, QUIET, JAMMED, share, period)
    if share * period * BITS / AIRTIME < 30:  # bursts of few bits
        assert error == pytest.approx(simulated(share, period, QUIET, JAMMED), abs=0.12)
    else:
        assert error == pytest.approx(simulated(share, period, QUIET, JAMMED), abs=0.03)
        assert error == pytest.approx(hit_probability(share, period, AIRTIME), abs=0.01)


@pytest.mark.parametrize("jammed", [2.0, 4.0, 8.0])
def test_errors_of_weak_bursts(jammed: float) -> None:
    for share, period in ((0.3, 1e-5), (0.3, 0.1), (0.05, 1.0)):
        error = burst_error(QPSK, BITS, AIRTIME, QUIET, jammed, share, period)
        assert error == pytest.approx(simulated(share, period, QUIET, jammed), abs=0.03)


def test_limits() -> None:
    """Always on is the mean power; never on is no jammer; slow bursts mix the rates of both."""
    lost = [per(ber(QPSK, ratio), BITS) for ratio in (6.0, 3.0)]
    assert burst_error(QPSK, BITS, AIRTIME, 6.0, 3.0, 1.0, 0.1) == pytest.approx(lost[1], rel=1e-12)
    assert burst_error(QPSK, BITS, AIRTIME, 6.0, 3.0, 0.0, 0.1) == pytest.approx(lost[0], rel=1e-9)
    assert burst_error(QPSK, BITS, 1e-9, 6.0, 3.0, 0.25, 0.1) == pytest.approx(
        0.75 * lost[0] + 0.25 * lost[1], rel=1e-6
    )
