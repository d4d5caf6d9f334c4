"""Strides: for any set of periods each stage runs at exactly its ticks, in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paddock.engine.pipeline import NEVER_DUE, Pipeline, every
from paddock.world.world import Clock

Trace = list[tuple[str, int]]


class FakeStage:
    """Notes when it ran."""

    def __init__(self, name: str, period: int | None, trace: Trace) -> None:
        self.name, self.period, self.trace = name, period, trace

    def due(self, tick: int) -> int:
        return NEVER_DUE if self.period is None else every(tick, self.period)

    def run(self, tick: int) -> None:
        self.trace.append((self.name, tick))


class FakeMotion:
    """Notes every single tick of its strides."""

    name = "move"

    def __init__(self, trace: Trace) -> None:
        self.trace, self.strides = trace, 0

    def run(self, tick: int, ticks: int) -> int:
        assert ticks >= 1
        self.strides += 1
        self.trace += [("move", tick + k) for k in range(ticks)]
        return ticks


def built(before: list[int | None], after: list[int | None]) -> tuple[Pipeline, FakeMotion, Trace]:
    trace: Trace = []
    motion = FakeMotion(trace)
    stages = [
        tuple(FakeStage(f"{side}{k}", period, trace) for k, period in enumerate(periods))
        for side, periods in (("before", before), ("after", after))
    ]
    return Pipeline(Clock(100.0), stages[0], motion, stages[1]), motion, trace


def tick_by_tick(before: list[int | None], after: list[int | None], ticks: int) -> Trace:
    trace: Trace = []
    for tick in range(ticks):
        trace += [(f"before{k}", tick) for k, period in enumerate(before) if period and tick % period == 0]
        trace.append(("move", tick))
        trace += [(f"after{k}", tick + 1) for k, period in enumerate(after) if period and (tick + 1) % period == 0]
    return trace


PERIODS = st.lists(st.one_of(st.none(), st.integers(1, 40)), max_size=4)


@given(before=PERIODS, after=PERIODS, cuts=st.lists(st.integers(0, 150), max_size=6))
def test_strides_equal_single_ticks(before: list[Any], after: list[Any], cuts: list[int]) -> None:
    pipeline, _, trace = built(before, after)
    for low, high in pairwise([0, *sorted(cuts), 150]):
        pipeline.advance(high - low)
    assert trace == tick_by_tick(before, after, 150)
    assert pipeline.clock.tick == 150


def test_ticks_in_which_nothing_is_due_are_taken_in_one_stride() -> None:
    pipeline, motion, _ = built([10], [25, None])
    pipeline.advance(100)
    assert motion.strides == 12  # cut at 10, 20, 25, 30, ..., 100
    assert {name: time.calls for name, time in pipeline.times.items()} == {
        "before0": 10,
        "move": 12,
        "after0": 4,
        "after1": 0,
    }
    pipeline.reset_times()
    assert all(time.calls == time.nanoseconds == 0 for time in pipeline.times.values())


@given(tick=st.integers(0, 10**15), period=st.integers(1, 10**6))
def test_every(tick: int, period: int) -> None:
    due = every(tick, period)
    assert due % period == 0 and tick <= due < tick + period
