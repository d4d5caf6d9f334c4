"""Recordings of earlier versions stay valid."""

from pathlib import Path

import pytest

import paddock
from paddock.engine.actions import FrameAction
from paddock.record import open_run, verify

DATA = Path(__file__).parent / "data"
ALL_ACTIONS = DATA / "all_actions.mcap"
"""Version 0.1: commands, overrides, spawn, removal, a frame, placing; cars, quadrotors, a rover, points."""
TICKS = [0, 100, 150, 200, 250, 250, 300, 300, 400, 520]


def test_actions_of_an_earlier_version_move_its_vehicles_as_recorded() -> None:
    """All but the car, whose model has changed since: its state at the start already differs."""
    result = verify(ALL_ACTIONS)
    assert not result.same and result.differences[0].tick == 0
    with open_run(ALL_ACTIONS) as run, paddock.load(run.scenario) as sim:
        for posted in run.actions():
            if not isinstance(posted.action, FrameAction):  # moves nothing, and comes from `sim.world.frames` only
                sim.step(posted.tick - sim.tick)
                sim.engine.applier.post(posted.action)
        sim.step(600 - sim.tick)
        recorded, now = run.snapshot(), sim.snapshot()
        assert recorded.tick == now.tick == 600
        for name in ("birds", "rov"):
            assert recorded.fleet(name).position.tobytes() == now.fleet(name).position.tobytes()
        assert sorted(recorded.fleets) == sorted(now.fleets)


def test_recording_of_an_earlier_version_is_read() -> None:
    with open_run(ALL_ACTIONS) as run:
        assert run.complete and [posted.tick for posted in run.actions()] == TICKS
        assert run.duration == pytest.approx(2.4)
