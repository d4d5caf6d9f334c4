"""Shares of jammers in time and frequency."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import PaddockError
from paddock.radio.links.jamming import on_share, pulsed_share, started, swept_share
from paddock.radio.links.table import common_band
from paddock.radio.settings import checked_changes
from paddock.scenario.radio import JammerSection

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
    whole, largest = swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, 0.37, 1.0)
    assert whole == pytest.approx(0.2, abs=0.02) and largest == 1.0
    assert swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, 0.45, 0.1) == pytest.approx((1.0, 1.0))
    assert swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, 0.7, 0.2) == (0.0, 0.0)
    assert swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 100e6, 0.5, 0.01)[1] == pytest.approx(0.2)  # wider than the band
    around = [swept_share(2.45e9, 20e6, 2.4e9, 2.5e9, 1e6, phase, 0.1)[0] for phase in np.arange(0.0, 1.0, 0.1)]
    assert np.mean(around) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"on": 1}, "on must be true or false, not 1"),
        ({"position": [1, 2]}, r"position must be \[x, y, z\] in m, not \[1, 2\]"),
        ({"position": [1, 2, float("nan")]}, "position must be"),
        ({"position": None}, r"position must be \[x, y, z\] in m, not None"),
        ({"vehicle": None}, "vehicle must be the name of a vehicle, not None"),
        ({"scheduled": "yes"}, "scheduled must be true or false, not 'yes'"),
        ({"scheduled": False}, r"give on \(true or false\), or scheduled: true"),
        ({"scheduled": True, "on": False}, r"give on \(true or false\), or scheduled: true"),
        ({"power": 500}, "power must be a number from -100 to 100, not 500"),
        ({"position": [1, 2, 3], "vehicle": "red"}, "a position or a vehicle, not both"),
        ({"powr": 3}, "unknown setting 'powr' of a jammer; did you mean 'power'"),
    ],
)
def test_changes_that_are_not_valid(changes: dict[str, object], text: str) -> None:
    with pytest.raises(PaddockError, match=text):
        checked_changes(changes)


def test_a_switch_overrides_the_schedule() -> None:
    section = JammerSection(name="j", kind="spot", position=(0, 0, 0), on=((5, 20),))
    state = started(section)

    def active(time: float) -> float:
        return state.active_share(section.on, time, 0.1)

    assert [active(1.0), active(6.0), active(30.0)] == [0.0, pytest.approx(1.0), 0.0]
    state.change(checked_changes({"on": True}))
    assert [active(1.0), active(6.0), active(30.0)] == [1.0, 1.0, 1.0]
    state.change(checked_changes({"on": False}))
    assert [active(1.0), active(6.0)] == [0.0, 0.0]
    state.change(checked_changes({"scheduled": True}))
    assert [active(1.0), active(6.0)] == [0.0, pytest.approx(1.0)]


@pytest.mark.parametrize("width", [1e6, 20e6, 60e6])
@pytest.mark.parametrize("bandwidth", [125e3, 2e6, 20e6])
def test_the_share_of_a_sweep_is_that_of_a_sum(bandwidth: float, width: float) -> None:
    """Against 20,000 phases of the sweep, for bands inside it, at its ends and outside, and parts of a period."""
    random = np.random.default_rng(3)
    for frequency in (2.3e9, 2.4e9, 2.4005e9, *random.uniform(2.25e9, 2.55e9, 6).tolist()):
        phase, span = random.uniform(0.0, 1.0), random.choice([1.0, random.uniform(0.01, 1.0)])
        at = (phase + span * (np.arange(20_000) + 0.5) / 20_000) % 1.0
        centre = 2.3e9 + at * 0.2e9
        top = np.minimum(frequency + bandwidth / 2, centre + width / 2)
        bottom = np.maximum(frequency - bandwidth / 2, centre - width / 2)
        shares = np.maximum(top - bottom, 0.0) / width
        mean, largest = swept_share(frequency, bandwidth, 2.3e9, 2.5e9, width, phase, span)
        assert mean == pytest.approx(shares.mean(), abs=2e-4)
        assert largest == pytest.approx(shares.max(), abs=0.1)
