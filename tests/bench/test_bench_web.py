"""The benchmark of the page yields all figures with plausible values."""

from __future__ import annotations

import os

import pytest

from paddock.bench.suites.web import cost, processor_seconds


def test_processor_time_is_that_of_the_process() -> None:
    before, own = processor_seconds(os.getpid()), sum(os.times()[:2])
    assert abs(before - own) < 0.1
    assert processor_seconds(2**30) == 0.0


@pytest.mark.slow
def test_cost_of_a_page_for_the_server() -> None:
    figures = {result.case.partition(": ")[2]: result for result in cost(quick=True)}
    assert 10 < figures["groups that arrived"].value < 60
    # 16 bytes a vehicle, 46 around them: a tick frame and two headers
    group = 1e6 * figures["bytes to the page"].value / figures["groups that arrived"].value
    assert abs(group - (16 * 10_000 + 46)) < 0.02 * group
    assert 0 < figures["the hub's processor time"].value < 200
    assert all(result.target is None for result in figures.values())  # a quick look is not judged
