"""The demos load and run, and their vehicles move."""

from collections.abc import Callable

import numpy as np
import pytest

import paddock
from paddock.behaviour.paths import path_points, shifted
from paddock.cli.main import exit_code
from paddock.engine.simulation import Simulation
from paddock.scenario import Scenario, demo_names, load_scenario


def small_demo(name: str | Scenario) -> Simulation:
    tree = load_scenario(name).to_dict()
    for entry in tree["vehicles"]:
        entry["count"] = min(entry.get("count", 1), 100)
    return paddock.load(tree)


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == demo_names() == ["mixed", "race", "sitl", "survey", "swarm"]
    assert all(line.endswith(".") for line in lines)


@pytest.mark.parametrize("name", ["mixed", "race", "sitl", pytest.param("survey", marks=pytest.mark.slow), "swarm"])
def test_runs(name: str, demo: Callable[[str], Scenario]) -> None:
    with small_demo(demo(name)) as sim:
        sim.step(round(0.2 * sim.scenario.clock.rate))
        for fleet in sim.snapshot():
            assert np.isfinite(fleet.block).all()
        assert {event.kind for event in sim.events.since()} <= {"mission_planned"}


def test_racers_keep_to_their_lines() -> None:
    with small_demo("race") as sim:
        lines = {}
        for entry in sim.scenario.vehicles:
            assert entry.controller is not None
            options = entry.controller.options
            lines[entry.name] = shifted(path_points(options["path"]), options["offset"], closed=True)
        travelled = dict.fromkeys(lines, 0.0)
        for _ in range(200):
            sim.step(250)
            snapshot = sim.snapshot()
            for name, line in lines.items():
                car = snapshot[name]
                assert np.linalg.norm(line - car.position, axis=1).min() < 2.3, (name, sim.time)  # points are 2 m apart
                travelled[name] += 0.25 * car.speed
        assert min(travelled.values()) > 977.0  # more than a lap each
