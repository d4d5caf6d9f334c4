"""Entries of the race log: what an event says is what was logged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import PaddockError
from paddock.track.race_log import (
    COLUMNS,
    KINDS,
    REASONS,
    RaceEntry,
    check_log,
    entries_of,
    entry_text,
    read_entry,
    shown_text,
)

names = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=20)
times = st.floats(0.0, 1e6)


@given(
    st.sampled_from(KINDS), names, times, st.integers(0, 10_000), st.integers(0, len(REASONS) - 1), times, names,
)  # fmt: skip
def test_events_say_what_was_logged(
    kind: str, car: str, time: float, lap: int, number: int, value: float, cone: str
) -> None:
    entry = RaceEntry(kind, car, time, lap, number, value, cone if kind == "cone_hit" else "")
    read = read_entry(kind, car, entry_text(entry))
    assert read is not None
    assert read.time == pytest.approx(time, abs=1e-9)
    assert read_entry(kind, car, shown_text(entry_text(entry))) is not None
    if kind in ("sector", "lap", "finished", "stopped", "unsafe_stop", "lap_refused"):
        assert read.value == pytest.approx(value, abs=1e-9)
    if kind in ("sector", "lap", "cone_hit", "off_course", "finished", "dnf", "lap_refused"):
        assert read.lap == lap
    if kind in ("sector", "dnf"):
        assert read.number == number
    assert (read.kind, read.car, read.cone) == (kind, car, entry.cone)


@pytest.mark.parametrize(
    ("kind", "text"), [("spawned", "1 x car"), ("lap", "lap one at 3 s"), ("dnf", "bored at 1.0 s")]
)
def test_other_events_are_no_entries(kind: str, text: str) -> None:
    assert read_entry(kind, "red", text) is None


def test_texts_for_people_have_three_decimals() -> None:
    entry = RaceEntry("lap", "red", 81.1234567891, 2, 0, 40.9876543219)
    assert shown_text(entry_text(entry)) == "lap 2 in 40.988 s at 81.123 s"
    assert shown_text("gap of 0.123456789 m, 3.5 s, cone[12]") == "gap of 0.123 m, 3.5 s, cone[12]"


def test_entries_of_numbers() -> None:
    log = np.array([[2, 1, 80.5, 3, 0, 25.25], [3, 0, 81.0, 2, 7, 0.0]]).T
    assert entries_of(log, ["red", "blue"], {7: "cones[2]"}) == [
        RaceEntry("lap", "blue", 80.5, 3, 0, 25.25),
        RaceEntry("cone_hit", "red", 81.0, 2, 0, 0.0, "cones[2]"),
    ]


@pytest.mark.parametrize(
    ("row", "value"), [(0, 10.0), (0, -1.0), (0, 0.5), (1, 2.0), (2, 101.0), (3, -1.0), (4, 3.0), (5, np.nan)]
)
def test_a_log_that_no_run_writes_is_refused(row: int, value: float) -> None:
    log = np.array([[3.0, 1.0, 80.0, 2.0, 7.0, 0.0]]).T
    check_log(log, 2, [7], 100.0)
    log[row, 0] = value
    with pytest.raises(PaddockError, match="no run writes"):
        check_log(log, 2, [7], 100.0)
    with pytest.raises(PaddockError, match=f"{COLUMNS} columns"):
        check_log(log[:3], 2, [7], 100.0)
