"""Recordings of earlier versions stay valid."""

from pathlib import Path

import pytest

import paddock
from paddock.record import Recorder, open_run, verify

DATA = Path(__file__).parent / "data"
ALL_ACTIONS = DATA / "all_actions.mcap"
"""Version 0.1: commands, overrides, spawn, removal, a frame, placing; cars, quadrotors, a rover, points."""
DEFAULT_MISSION = DATA / "default_mission.mcap"
"""Version 0.1: four aircraft and ten tasks, without a method; planned by the default of that time, without layers."""
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


def test_mission_without_a_method_is_planned_as_it_was_recorded() -> None:
    assert verify(DEFAULT_MISSION).same
    with open_run(DEFAULT_MISSION) as run:
        mission = run.scenario.mission
        assert mission is not None and mission.separation is not None
        assert (mission.method.name, mission.separation.layers) == ("clustered_greedy", "in_turn")


def test_new_recordings_keep_the_new_defaults(tmp_path: Path) -> None:
    with open_run(DEFAULT_MISSION) as run:
        before = run.scenario.to_dict()
    mission = {name: value for name, value in before["mission"].items() if name not in ("method", "separation")}
    with paddock.load(before | {"mission": mission}) as sim, Recorder(sim, tmp_path / "run.mcap", rate=1):
        sim.step(50)
    assert verify(tmp_path / "run.mcap").same
    with open_run(tmp_path / "run.mcap") as run:
        assert run.scenario.mission is not None and run.scenario.mission.method.name == "local_search"
