"""Whole runs: nothing tunnels at 100 m/s and 5 ms, energy never grows, and the race is the same to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.threads import limit_threads
from paddock.engine.simulation import Simulation
from paddock.record import Recorder, verify
from paddock.scenario import load_scenario

SLOW = pytest.mark.slow
THIN = {"wall": {"points": [[20, -9], [20, 9]], "height": 9, "thickness": 0.05}}
CONE = {"name": "cone", "cone": {"center": [20, 0], "radius": 0.114, "height": 0.325, "mass": 0.45}}


def launched(*vehicles: dict[str, Any], obstacles: list[dict[str, Any]] | None = None, **more: Any) -> Simulation:
    tree = {"clock": {"rate": 200}, "contact": {"friction": 0.0}, "world": {"obstacles": obstacles or []}}
    return paddock.load({**tree, "vehicles": list(vehicles), **more})


def touched(sim: Simulation) -> int:
    return sum(event.kind == "contact" for event in sim.events.since())


@pytest.mark.parametrize("model", ["car.bicycle", "quad"])
def test_nothing_passes_a_thin_wall_at_100_m_s(model: str) -> None:
    """From five phases of the tick: a car or a drone moves half a metre in each, ten times the wall's thickness."""
    for phase in np.linspace(0.0, 0.4, 5):
        vehicle = {"name": "a", "model": model, "pose": [phase, 0, 4.0 * (model == "quad"), 0], "speed": 100}
        with launched(vehicle, obstacles=[THIN]) as sim:
            for _ in range(60):
                sim.step()
                assert sim.snapshot()["a"].position[0] < 20.0, phase
            assert touched(sim) == 1


def test_a_car_does_not_pass_through_a_cone_at_100_m_s() -> None:
    """A cone of 0.23 m; hit, it leaves faster than the car comes."""
    for phase in np.linspace(0.0, 0.4, 5):
        with launched(
            {"name": "a", "model": "car.bicycle", "pose": [phase, 0, 0], "speed": 100}, obstacles=[CONE]
        ) as sim:
            fastest = 0.0
            for _ in range(50):
                sim.step()
                fastest = max(fastest, float(sim.snapshot()["cone"].velocity[0]))
            assert touched(sim) == 1
            assert fastest > 20.0
            assert sim.snapshot()["cone"].position[0] > 21.0


def test_drones_do_not_pass_through_each_other_at_100_m_s_each() -> None:
    for phase in np.linspace(0.0, 0.9, 5):
        drone = {"name": "a", "model": "quad", "pose": [-20 - phase, 0, 8, 0], "speed": 100}
        two = {"name": "b", "model": "quad", "pose": [20, 0.1, 8, 3.14159265], "speed": 100}
        with launched(drone, two) as sim:
            for _ in range(60):
                sim.step()
                assert sim.snapshot()["a"].position[0] < sim.snapshot()["b"].position[0]
            assert touched(sim) == 1


@pytest.mark.parametrize(("crates_in", "cones_in", "ticks"), [(8, 3, 300), pytest.param(14, 6, 750, marks=SLOW)])
def test_a_heap_of_crates_and_cones_never_gains_energy(crates_in: int, cones_in: int, ticks: int) -> None:
    """Kinetic and potential energy of all of them together, in every tick of a fall into a heap and its settling."""
    box = {"low": [-0.8, -0.8, 0.4], "high": [0.8, 0.8, 5.0]}
    crates = {"name": "crates", "model": "prop.crate", "count": crates_in, "spawn": {"random": box}}
    cones = {"name": "cones", "model": "prop.cone", "count": cones_in, "spawn": {"random": box}}
    with launched(crates, cones, contact={"overlap": "resolve", "friction": 0.4}, clock={"rate": 500}) as sim:
        sim.step(250)  # those that overlapped have moved apart
        energies = []
        for _ in range(ticks):
            sim.step()
            energies.append(sum(total_energy(sim, name) for name in ("crates", "cones")))
    gain = np.diff(energies)
    assert gain.max() < 2e-3 * energies[0]
    assert max(energies) <= energies[0] * (1.0 + 1e-3)
    assert energies[-1] < 0.6 * energies[0]


def total_energy(sim: Simulation, name: str) -> float:
    block, program = sim.snapshot().fleet(name).block, sim.engine.programs[name]
    p = program.parameters.fields()
    inertia = p.mass / 12.0 * np.array([p.width**2 + p.height**2, p.length**2 + p.height**2, p.length**2 + p.width**2])
    kinetic = 0.5 * p.mass * (block[7:10] ** 2).sum() + 0.5 * (inertia[:, None] * block[10:13] ** 2).sum()
    return float(kinetic + p.mass * 9.80665 * block[2].sum())


# the race ------------------------------------------------------------------------------------------------------------


def pile_up(order: int = 1) -> Simulation:
    """The race, started so that its last row runs into the one in front, and a cone stands in the way."""
    tree = load_scenario("race").to_dict()
    for entry in tree["vehicles"]:
        if entry["name"] in ("prototypes", "roadsters"):
            entry["speed"] = 40.0
    tree["world"]["obstacles"].append({"name": "in the way", "cone": {"center": [31.0, -2.4]}})
    tree["vehicles"] = tree["vehicles"][::order]
    return paddock.load(tree)


@pytest.mark.parametrize("ticks", [120, pytest.param(400, marks=SLOW)])
def test_the_race_is_the_same_with_any_threads_grouping_and_declaration(ticks: int) -> None:
    hashes = {}
    for name, threads, order, groups in (
        ("one thread", 1, 1, (ticks,)),
        ("two threads", 2, 1, (ticks,)),
        ("groups and order", None, -1, (1, 2, 47, 50, ticks - 100)),
    ):
        limit_threads(threads)
        with pile_up(order) as sim:
            for count in groups:
                sim.step(count)
            hashes[name] = sim.state_hash()
            assert touched(sim) >= 3
    assert len(set(hashes.values())) == 1, hashes


@pytest.mark.parametrize("ticks", [60, pytest.param(150, marks=SLOW)])
def test_the_race_is_restored_in_mid_collision_and_verified(tmp_path: Path, ticks: int) -> None:
    with pile_up() as sim:
        with Recorder(sim, tmp_path / "race.mcap", rate=50):
            while not len(sim.engine.parts.contact.contacts):
                sim.step()
            blob = sim.save()
            sim.step(ticks)
            expected = sim.state_hash()
        sim.restore(blob)
        sim.step(ticks - 50)
        sim.step(50)
        assert sim.state_hash() == expected
    assert verify(tmp_path / "race.mcap").same
