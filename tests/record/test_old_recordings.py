"""Recordings of earlier versions stay valid."""

from pathlib import Path

import pytest

from paddock.record import open_run, verify

DATA = Path(__file__).parent / "data"
ALL_ACTIONS = DATA / "all_actions.mcap"
"""Version 0.1: commands, overrides, spawn, removal, a frame, placing; cars, quadrotors, a rover, points."""
TICKS = [0, 100, 150, 200, 250, 250, 300, 300, 400, 520]


def test_recording_of_an_earlier_version_verifies() -> None:
    result = verify(ALL_ACTIONS)
    assert result.same
    numbers = result.to_dict()
    assert (numbers["ticks"], numbers["actions"]) == (600, 10)


def test_recording_of_an_earlier_version_is_read() -> None:
    with open_run(ALL_ACTIONS) as run:
        assert run.complete and [posted.tick for posted in run.actions()] == TICKS
        assert run.duration == pytest.approx(2.4)
