"""Recordings of earlier versions stay valid."""

import math
from pathlib import Path

import numpy as np
import pytest
import xxhash

import paddock
from paddock.engine.actions import FrameAction
from paddock.record import Recorder, open_run, verify

DATA = Path(__file__).parent / "data"
ALL_ACTIONS = DATA / "all_actions.mcap"
"""Version 0.1: commands, overrides, spawn, removal, a frame, placing; cars, quadrotors, a rover, points."""
DEFAULT_MISSION = DATA / "default_mission.mcap"
"""Version 0.1: four aircraft and ten tasks, without a method; planned by the default of that time, without layers."""
WIND_MISSION = DATA / "wind_mission.mcap"
"""Version 0.1: two aircraft and three tasks in wind, planned with the costs of that time."""
TURN = np.linspace(-7.0, 7.0, 999)
BITS = np.concatenate([np.sin(TURN), np.cos(TURN), [math.atan2(y, 0.3) for y in TURN]]).tobytes()
LIKE_RECORDED = xxhash.xxh3_64_hexdigest(BITS) == "734ced308828a2aa"
"""Whether NumPy and libm give the bits of the machine that recorded the missions; they depend on the processor."""
TICKS = [0, 100, 150, 200, 250, 250, 300, 300, 400, 520]


def test_actions_of_an_earlier_version_move_its_vehicles_as_recorded() -> None:
    """All but the car, whose model has changed since: its state at the start already differs."""
    result = verify(ALL_ACTIONS)
    assert not result.same and result.differences[0].tick == 0
    with open_run(ALL_ACTIONS) as run, paddock.load(run.scenario) as sim:
        for posted in run.actions():
            if not isinstance(posted.action, FrameAction):  # moves nothing, and comes from `sim.frames` only
                sim.step(posted.tick - sim.tick)
                sim.engine.post(posted.action)
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


def test_mission_without_a_method_is_planned_and_flown_as_it_was_recorded() -> None:
    result = verify(DEFAULT_MISSION)
    if not LIKE_RECORDED:  # its paths were computed by another NumPy: the plan at tick 0 is the same
        assert result.hashes > 1 and all(one.tick > 0 for one in result.differences)
        return
    assert result.same and (result.hashes, result.ticks) == (22, 400)
    with open_run(DEFAULT_MISSION) as run:
        mission = run.scenario.mission
        assert mission is not None and mission.separation is not None
        assert (mission.method.name, mission.separation.layers) == ("clustered_greedy", "in_turn")


def test_mission_that_cannot_be_verified_gives_the_reason() -> None:
    result = verify(WIND_MISSION)
    assert not result.same
    (line,) = [line for line in result.lines() if "earlier version" in line]
    assert line.endswith("the recording can be replayed, but a new plan differs")


def test_new_recordings_keep_the_new_defaults(tmp_path: Path) -> None:
    with open_run(DEFAULT_MISSION) as run:
        before = run.scenario.to_dict()
    mission = {name: value for name, value in before["mission"].items() if name not in ("method", "separation")}
    with paddock.load(before | {"mission": mission}) as sim, Recorder(sim, tmp_path / "run.mcap", rate=1):
        sim.step(50)
    assert verify(tmp_path / "run.mcap").same
    with open_run(tmp_path / "run.mcap") as run:
        assert run.scenario.mission is not None and run.scenario.mission.method.name == "local_search"
