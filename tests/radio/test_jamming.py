"""Shares of jammers in time and frequency."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import PaddockError
from paddock.radio.jamming import checked_changes, on_share, pulsed_share, swept_share
from paddock.radio.links import common_band

times = st.floats(0.0, 1e4)


@given(times, st.floats(1e-3, 10.0), st.floats(1e-3, 10.0), st.floats(0.01, 1.0))
def test_pulses_are_on_for_their_duty(time: float, interval: float, period: float, duty: float) -> None:
    share = pulsed_share(time, interval, period, duty)
    assert -1e-6 <= share <= 1.0 + 1e-6
    assert abs(share - duty) <= period / interval + 1e-6  # never off by more than one period


def test_pulses_within_a_period() -> None:
    assert pulsed_share(0.0, 0.1, 1.0, 0.3) == pytest.approx(1.0)
    assert pulsed_share(0.25, 0.1, 1.0, 0.3) == pytest.approx(0.5)
    assert pulsed_share(0.4, 0.1, 1.0, 0.3) == pytest.approx(0.0)
    assert pulsed_share(7.0, 0.5, 0.1, 0.3) == pytest.approx(0.3)


def test_schedule() -> None:
    schedule = ((1.0, 2.0), (5.0, 5.05))
    assert [on_share(schedule, t, 0.1) for t in (0.0, 0.95, 1.0, 1.95, 2.0, 5.0)] == pytest.approx(
        [0.0, 0.5, 1.0, 0.5, 0.0, 0.5]
    )
    assert on_share(None, 3.0, 0.1) == 1.0


def test_overlap_of_bands() -> None:
    assert common_band(2.4e9, 20e6, 2.4e9, 20e6) == 1.0
    assert common_band(2.4e9, 20e6, 2.4e9, 100e6) == pytest.approx(0.2)  # a barrage puts a fifth into the band
    assert common_band(2.4e9, 20e6, 2.41e9, 20e6) == pytest.approx(0.5)
    assert common_band(2.4e9, 20e6, 2.45e9, 20e6) < 0.0


def test_a_sweep_shares_its_power_in_time() -> None:
    """Over a whole sweep of 100 MHz with 1 MHz, a band of 20 MHz gets a fifth; a part of the sweep all or nothing."""
    whole = swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, 0.37, 1.0)
    assert whole == pytest.approx(0.2, abs=0.02)
    assert swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, 0.45, 0.1) == pytest.approx(1.0)
    assert swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, 0.7, 0.2) == 0.0
    around = [swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, phase, 0.1) for phase in np.arange(0.0, 1.0, 0.1)]
    assert np.mean(around) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"on": 1}, "on must be true or false, not 1"),
        ({"position": [1, 2]}, r"position must be \[x, y, z\] in m, not \[1, 2\]"),
        ({"position": [1, 2, float("nan")]}, "position must be"),
        ({"power": 500}, "power must be a number from -100 to 100, not 500"),
        ({"position": [1, 2, 3], "vehicle": "red"}, "a position or a vehicle, not both"),
        ({"powr": 3}, "unknown setting 'powr' of a jammer; did you mean 'power'"),
    ],
)
def test_changes_that_are_not_valid(changes: dict[str, object], text: str) -> None:
    with pytest.raises(PaddockError, match=text):
        checked_changes(changes)
