"""Whole ticks of a fixed length."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import InvalidValueError
from paddock.world.world import Clock


@given(rate=st.sampled_from([1.0, 30.0, 60.0, 240.0, 1000.0, 1e6, 1 / 3, 44.1]), tick=st.integers(0, 10**9))
def test_time_is_tick_over_rate_and_back(rate: float, tick: int) -> None:
    clock = Clock(rate)
    clock.tick = tick
    assert clock.time == tick / rate and clock.dt == 1 / rate
    assert clock.tick_at(clock.time) == tick
    assert clock.ticks(clock.time) == tick


@given(rate=st.sampled_from([10.0, 240.0, 1000.0]), time=st.floats(0, 1e4))
def test_tick_at_is_the_first_tick_not_before(rate: float, time: float) -> None:
    tick = Clock(rate).tick_at(time)
    slack = 2e-9 * max(1.0, time)
    assert tick / rate >= time - slack and (tick - 1) / rate < time + slack


def test_a_time_within_rounding_of_a_tick_is_that_tick() -> None:
    assert Clock(10.0).tick_at(0.1 + 0.2) == 3  # 0.30000000000000004
    assert Clock(10.0).tick_at(0.31) == 4
    assert Clock(240.0).ticks(0.5) == 120
    assert Clock(240.0).tick_at(-1.0) == -240


@pytest.mark.parametrize("rate", [0, -1.0, float("nan"), float("inf")])
def test_a_clock_needs_a_rate(rate: Any) -> None:
    with pytest.raises(InvalidValueError, match="clock rate must be a positive number of Hz, not "):
        Clock(rate)
