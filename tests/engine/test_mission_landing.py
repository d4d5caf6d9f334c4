"""Hovering vehicles land at home after their mission, in place when they fail, and take off again."""

from __future__ import annotations

from typing import Any

import pytest

import paddock
from paddock.engine.simulation import Simulation

RATE = 240
QUADS: dict[str, Any] = {
    "clock": {"rate": RATE},
    "every": {"behaviour": 12},
    "vehicles": [
        {
            "name": "q",
            "count": 2,
            "model": "quad",
            "preset": "long_range",
            "spawn": {"line": {"start": [0, -20, 0], "end": [0, 20, 0]}},
        }
    ],
    "mission": {
        "altitude": 20,
        "speed": 8,
        "separation": {"distance": 10, "height": 4},
        "objective": "makespan",
        "tasks": [{"point": {"at": [40, 30]}}, {"point": {"at": [-40, 30]}}],
    },
}


def fly(sim: Simulation, seconds: float) -> Simulation:
    """Go on for some time."""
    sim.step(round(seconds * RATE))
    return sim


def places(sim: Simulation) -> list[tuple[float, float, float]]:
    """Where the two are."""
    snapshot = sim.snapshot()
    return [tuple(snapshot[f"q[{k}]"].position.tolist()) for k in (0, 1)]


def test_hovering_vehicles_land_at_home_and_take_off_again() -> None:
    """From 30 m at most and at 1 m/s they are down half a minute after they are home; a new task is done from there."""
    sim = fly(paddock.load(QUADS), 80.0)
    assert sim.mission is not None and [m.status for m in sim.mission.vehicles] == ["home", "home"]
    first, second = places(sim)
    assert first == pytest.approx((0.0, 0.0, 0.0), abs=0.3)
    assert second[2] == pytest.approx(0.0, abs=0.1)
    assert 1.0 < ((second[0] - first[0]) ** 2 + (second[1] - first[1]) ** 2) ** 0.5 < 5.0  # beside, not upon it
    sim.mission.add_task("again", point={"at": [0, 60]})
    fly(sim, 80.0)
    assert sim.mission is not None and [t.state for t in sim.mission.tasks] == ["completed"] * 3
    assert [z for _, _, z in places(sim)] == pytest.approx([0.0, 0.0], abs=0.1)


def test_a_landing_continues_after_a_restore() -> None:
    """The memory contains the landing: no other state is needed."""
    sim = fly(paddock.load(QUADS), 45.0)
    other = paddock.load(QUADS)
    other.restore(sim.save())
    assert places(fly(sim, 40.0)) == places(fly(other, 40.0))
    assert [z for _, _, z in places(sim)] == pytest.approx([0.0, 0.0], abs=0.1)


def test_a_damaged_vehicle_lands_in_place() -> None:
    """It goes down without going on."""
    sim = fly(paddock.load(QUADS), 8.0)
    x, y, z = places(sim)[0]
    assert z > 5.0
    sim.mission.damage("q[0]")
    fly(sim, 40.0)
    east, north, up = places(sim)[0]
    assert up == pytest.approx(0.0, abs=0.1)
    assert ((east - x) ** 2 + (north - y) ** 2) ** 0.5 < 10.0


def test_a_low_battery_is_reported_and_ends_with_a_landing() -> None:
    """A reserve of nearly the whole charge calls all vehicles home at once; undone tasks have a reason."""
    mission = {**QUADS["mission"], "battery_reserve": 0.999}
    sim = fly(paddock.load({**QUADS, "mission": mission}), 70.0)
    assert sim.mission is not None
    assert [t.state for t in sim.mission.tasks] == ["undone", "undone"]
    assert all("returned with 9" in t.reason and "of its charge" in t.reason for t in sim.mission.tasks)
    assert [z for _, _, z in places(sim)] == pytest.approx([0.0, 0.0], abs=0.1)
