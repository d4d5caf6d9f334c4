"""The order of vehicles in memory: a run whose rows are permuted between ticks has the same states and events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddock
from paddock.engine.simulation import Simulation
from paddock.scenario.loading import demo_names

GRID = {"grid": {"spacing": 5, "z": 20}}
STATIONS = [{"name": "base", "position": [0, 0, 5]}]
PATH = [[0, 0, 20], [60, 0, 20], [60, 60, 20]]


def of(*vehicles: dict[str, Any], rate: int = 100, **sections: Any) -> dict[str, Any]:
    return {"seed": 3, "clock": {"rate": rate}, **sections, "vehicles": list(vehicles)}


SCENARIOS: dict[str, dict[str, Any]] = {
    "flock": of(
        {"name": "dots", "count": 30, "model": "quad", "spawn": GRID, "behaviour": {"flock": {}}},
        {"name": "wing", "count": 9, "model": "quad", "spawn": GRID, "behaviour": {"formation": {"target": "dots[3]"}}},
    ),
    "contact": of(
        {"name": "cars", "count": 9, "model": "car.bicycle", "speed": 8, "spawn": {"grid": {"spacing": 5}},
         "behaviour": {"waypoints": {"path": [[10, 10], [12, 12]]}}},
        {"name": "quads", "count": 6, "model": "quad", "spawn": {"grid": {"spacing": 0.8, "z": 4}}},
        contact={},
    ),
    "race": of(
        {"name": "cars", "count": 4, "model": "car.bicycle", "spawn": {"track": {}},
         "behaviour": {"pure_pursuit": {"path": "track"}},
         "sensors": [{"cones": {"delay": [0.1, 0.2]}}, {"lidar": {}}, {"gnss": {"delay": 0.3}}]},
        track={"generate": {"seed": 3, "length": [200, 300]}}, rules={"discipline": "autocross"}, contact={},
    ),
    "radio": of(
        {"name": "dots", "count": 8, "model": "quad", "spawn": GRID, "behaviour": {"flock": {"sees": "heard"}},
         "radio": "default"},
        {"name": "rovers", "count": 5, "model": "rover", "spawn": {"grid": {"spacing": 30}}, "radio": "default",
         "via": {"radio": "base", "telemetry": 5}, "commands": {"speed": 1.0}, "sensors": [{"gnss": {}}]},
        radio={"rate": 10, "messages": {"beacons": True}, "stations": STATIONS,
               "jammers": [{"name": "noise", "kind": "barrage", "position": [20, 20, 5], "power": 20}],
               "spoofers": [{"name": "decoy", "position": [50, 0, 5], "capture": 0.2, "offset": [30, 0, 0]}]},
    ),
    "mission": of(
        {"name": "drone", "count": 4, "model": "point", "radio": "default",
         "spawn": {"poses": [[0, 0, 20, 0], [40, 0, 20, 0], [0, 40, 20, 0], [40, 40, 20, 0]]}},
        rate=20, every={"behaviour": 2}, radio={"rate": 10, "range": 500, "stations": STATIONS},
        mission={"via": {"mtu": 40, "reports": 4.0, "lost_after": 1.0, "timeout": 3.0, "replan_every": 1.0},
                 "altitude": 20, "speed": 10, "separation": None, "objective": "makespan",
                 "tasks": [{"name": f"t{k}", "point": {"at": [60 * k - 100, 150]}} for k in range(5)]},
    ),
}  # fmt: skip


def act(sim: Simulation, name: str) -> None:
    """Change a run in its middle: overrides, removal, commands, damage."""
    if name == "flock":
        sim.behaviours.override(["dots[4]", "dots[9]", "dots[2]"], {"patrol": {"path": PATH, "turn": "back"}})
        sim.behaviours.override("wing[1]", {"waypoints": {"path": PATH}})
        sim.remove("dots[7]")
    elif name == "contact":
        sim.command("quads", motor_1=np.linspace(0.4, 0.6, 6))
    elif name == "radio":
        sim.command("rovers", speed=np.linspace(0.5, 2.0, 5))
        sim.remove("dots[3]")
    elif name == "mission":
        sim.mission.damage("drone[2]")  # type: ignore[union-attr]


def outcome(
    scenario: Any, permute: Callable[[Simulation, int], None], ticks: int = 84, name: str = ""
) -> tuple[list[str], list[dict[str, bytes]], list[Any], bytes]:
    """Return hashes, snapshots, events and the saved state of a run that calls `permute` between its steps."""
    hashes, shown = [], []
    with paddock.load(scenario) as sim:
        for k in range(ticks // 7):
            sim.step(7)
            permute(sim, k)
            if k == ticks // 14:
                act(sim, name)
            hashes.append(sim.state_hash())
            snapshot = sim.snapshot()
            shown.append({fleet.name: fleet.block.tobytes() + np.array(fleet.ids).tobytes() for fleet in snapshot})
        return hashes, shown, sim.events.since(0), sim.save()


def shuffled(seed: int) -> Callable[[Simulation, int], None]:
    random = np.random.default_rng(seed)

    def permute(sim: Simulation, k: int) -> None:
        for name, fleet in sim.engine.world.fleets.items():
            sim.engine.fleets.permute(name, random.permutation(fleet.n))

    return permute


def kept(sim: Simulation, k: int) -> None:
    """Leave the rows as they are."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_results_do_not_depend_on_the_order_in_memory(name: str) -> None:
    expected = outcome(SCENARIOS[name], kept, name=name)
    assert len(set(expected[0])) > 10
    assert outcome(SCENARIOS[name], shuffled(1), name=name) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(demo_names()))
def test_demos_do_not_depend_on_the_order_in_memory(name: str) -> None:
    assert outcome(name, shuffled(2)) == outcome(name, kept)


@pytest.mark.soak
@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(sorted(SCENARIOS)), seed=st.integers(0, 2**32), first=st.integers(0, 11))
def test_random_permutations_change_nothing(name: str, seed: int, first: int) -> None:
    permute = shuffled(seed)
    later = outcome(SCENARIOS[name], lambda sim, k: permute(sim, k) if k >= first else None, name=name)
    assert later == outcome(SCENARIOS[name], kept, name=name)


def test_a_group_of_autopilots_flies_on_in_other_rows(own_links: Callable[[int], dict[str, Any]]) -> None:
    """Sensor data and commands of each vehicle follow its row."""
    fleet = {"name": "copters", "count": 3, "model": "quad", "preset": "iris", "spawn": {"grid": {"spacing": 8}}}
    pilots = [{"vehicles": "copters", "mission": [[0, 20, 10], [20, 20, 15]], "start": 0.1}]
    runs = []
    for permute in (kept, shuffled(4)):
        scenario = of(fleet, rate=250, sitl={"mavlink": own_links(3), "pilots": pilots})
        runs.append(outcome(scenario, permute, ticks=700))
    assert runs[0] == runs[1]


def test_the_rows_of_a_permuted_fleet() -> None:
    with paddock.load(of({"name": "dots", "count": 5, "model": "point", "spawn": GRID})) as sim:
        fleet = sim.engine.world.fleets["dots"]
        sim.engine.fleets.permute("dots", np.array([3, 0, 4, 1, 2]))
        assert fleet.members.tolist() == [3, 0, 4, 1, 2] and not fleet.in_order
        assert fleet.rows.tolist() == [1, 3, 4, 0, 2] and fleet.ranks.tolist() == [3, 0, 4, 1, 2]
        assert [fleet.row_of(k) for k in range(6)] == [1, 3, 4, 0, 2, None]
        assert sim.snapshot().fleet("dots").members.tolist() == [0, 1, 2, 3, 4]
        sim.command("dots", vx=np.arange(5.0))
        sim.step()
        assert [sim.vehicles.inspect(f"dots[{k}]")["command"]["vx"] for k in range(5)] == [0, 1, 2, 3, 4]
        sim.remove("dots[0]")
        assert fleet.members.tolist() == [3, 4, 1, 2]
        sim.engine.fleets.permute("dots", fleet.rows)
        assert fleet.in_order
