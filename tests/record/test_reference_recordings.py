"""Recordings of an earlier version: they play, and simulated again, every recorded column has the same bits."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from paddock.engine.simulation import Simulation
from paddock.record import open_run

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["sitl", "contact", "relay"])
def test_columns_of_a_recording_keep_their_bits(name: str) -> None:
    with open_run(DATA / f"reference_{name}.mcap") as run, Simulation(run.scenario) as sim:
        actions = deque(run.actions())
        for recorded in run.snapshots():
            while actions and actions[0].tick < recorded.tick:
                posted = actions.popleft()
                sim.engine.mailbox.post(posted.action, posted.tick, posted.source)
            sim.step(recorded.tick - sim.tick)
            snapshot = sim.snapshot()
            for layout in recorded.layout.fleets:
                now, then = snapshot.fleet(layout.name), recorded.fleet(layout.name)
                assert now.layout.ids.tolist() == layout.ids.tolist()
                for column in (*layout.columns, *layout.array_names):
                    assert now[column].tobytes() == then[column].tobytes(), (recorded.tick, layout.name, column)
    assert sim.tick > 300


def test_a_recording_that_begins_with_a_saved_state_plays() -> None:
    with open_run(DATA / "reference_restored.mcap") as run:
        assert len(run) == 48
        assert [section.begin.state != b"" for section in run.sections] == [True, True]
        assert next(run.snapshots()).tick == 100
