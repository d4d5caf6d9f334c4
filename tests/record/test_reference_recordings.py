"""Recordings of an earlier version: they play, and simulated again, every recorded column has the same bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock.errors import PaddockError
from paddock.record import open_run, verify

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(("name", "samples"), [("sitl", 33), ("relay", 135)])
def test_columns_of_a_recording_keep_their_bits(name: str, samples: int) -> None:
    result = verify(DATA / f"reference_{name}.mcap")
    assert result.same and (result.samples, result.hashes) == (samples, 0) and result.ticks >= 400
    assert "hashes of another version (state format 1, here 2); columns: the same bits" in result.lines()[0]


def test_where_the_physics_have_changed_since_verify_names_the_first_column() -> None:
    """Contact has warm-started islands since: bodies that touch differ, at first by less than a micrometre."""
    path = DATA / "reference_contact.mcap"
    with open_run(path) as run:
        assert len(run) == 47
    result = verify(path)
    assert not result.same
    assert "hashes of another version (state format 1, here 2); columns: DIFFERENT" in result.lines()[0]
    first = result.differences[0]
    assert first.tick == 320 and first.recorded.startswith("blue.x ")
    before, now = (float(text.rpartition("(")[2].rstrip(")")) for text in (first.recorded, first.computed))
    assert now == pytest.approx(before, abs=1e-6)


def test_a_recording_that_begins_with_a_saved_state_plays_but_is_not_simulated_again() -> None:
    path = DATA / "reference_restored.mcap"
    with open_run(path) as run:
        assert len(run) == 48
        assert [section.begin.state != b"" for section in run.sections] == [True, True]
        assert next(run.snapshots()).tick == 100
    with pytest.raises(PaddockError, match=r"belongs to another version \(state format 1, here 2\)"):
        verify(path)
