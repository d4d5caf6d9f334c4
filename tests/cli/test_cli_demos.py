"""The demos load and run, and their vehicles move."""

from collections.abc import Callable

import numpy as np
import pytest

import paddock
from paddock.behaviour.paths import path_points
from paddock.cli.main import exit_code
from paddock.engine.simulation import Simulation
from paddock.scenario import Scenario, bundled_names, demo_names, load_scenario


def small_demo(name: str | Scenario) -> Simulation:
    tree = load_scenario(name).to_dict()
    for entry in tree["vehicles"]:
        entry["count"] = min(entry.get("count", 1), 100)
    return paddock.load(tree)


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == bundled_names()
    assert demo_names() == ["contested", "driverless", "mixed", "race", "relay", "sitl", "survey", "swarm"]
    assert all(line.endswith(".") for line in lines)


@pytest.mark.parametrize(
    "name",
    [
        *("mixed", "sitl", "swarm"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("contested", "driverless", "race", "relay", "survey")
        ),
    ],
)
def test_runs(name: str, demo: Callable[[str], Scenario]) -> None:
    with small_demo(demo(name)) as sim:
        sim.step(round(0.2 * sim.scenario.clock.rate))
        for fleet in sim.snapshot():
            assert np.isfinite(fleet.block).all()
        assert {event.kind for event in sim.events.since()} <= {"mission_planned"}


def run_race(seconds: int) -> tuple[dict[str, list[float]], int]:
    """Distance travelled (m), greatest offset from the middle (m) and longest standstill (s) of each racer.

    And the number of touches of two racers; they touch the wall or a cone at other times.
    """
    with small_demo("race") as sim:
        racers = {
            entry.name: entry.controller.options for entry in sim.scenario.vehicles if entry.controller is not None
        }
        middle = path_points(racers["taxis"]["path"])
        assert len(racers) == 10 and all(sim.engine.programs[name].fleet.n == 2 for name in racers)
        driven = {f"{name}[{k}]": [0.0, 0.0, 0.0] for name in racers for k in (0, 1)}
        still = dict.fromkeys(driven, 0.0)
        for _ in range(4 * seconds):
            sim.step(125)
            snapshot = sim.snapshot()
            for name, (travelled, offset, longest) in driven.items():
                racer = snapshot[name]
                still[name] = still[name] + 0.25 if racer.speed < 1.0 else 0.0
                away = float(np.linalg.norm(middle - racer.position, axis=1).min())
                driven[name] = [travelled + 0.25 * racer.speed, max(offset, away), max(longest, still[name])]
        touches = [event for event in sim.events.since() if event.kind == "contact"]
        return driven, sum(touch.subject in driven and touch.detail.partition(":")[0] in driven for touch in touches)


@pytest.mark.slow
def test_racers_start_and_stay_between_the_walls() -> None:
    driven, touches = run_race(5)
    assert touches == 0
    for name, (travelled, offset, _) in driven.items():
        assert travelled > 15.0 and offset < 6.6, name  # the walls


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_racers_lap_and_recover() -> None:
    """Twenty racers of very different pace, in one race: a touch in two laps at most; the circuit has 1,070 m."""
    driven, touches = run_race(100)
    for name, (travelled, offset, still) in driven.items():
        assert travelled > 1070.0 and offset < 6.8 and still < 20.0, name  # more than a lap
    assert touches < 0.5 * sum(travelled for travelled, _, _ in driven.values()) / 1070.0
