"""Vehicles on uneven ground: standing, sliding, driving, crashing, starting, sensing; determinism and recordings.

The ground rises by 0.2 m per m to the east, z = 3 + 0.2 x; the numbers follow from this plane.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import paddock
from paddock.compute.threads import limit_threads
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError
from paddock.record import Recorder, verify
from paddock.scenario import load_scenario
from paddock.world.frames import rotate
from paddock.world.snapshot import Snapshot, VehicleSnapshot

GRADE, STEEP = 0.2, np.sqrt(1.04)
NORMAL = np.array([-GRADE, 0.0, 1.0]) / STEEP
ICE = {"rectangle": {"center": [0, 40], "size": [400, 20]}, "mu": 0.05}
CRATE = {"box": {"center": [30, -30], "size": [4, 4, 2]}}
EXACT = [{"rangefinder": {"noise": 0, "walk": 0}}]
VEHICLES: list[Any] = [
    {"name": "lands", "model": "quad", "pose": [5, 0, 7, 0.3], "commands": {"mode": "velocity", "vz": -0.8}},
    {"name": "falls", "model": "quad", "pose": [20, 0, 12, 0], "commands": {"armed": 0}},
    {"name": "slides", "model": "quad", "pose": [20, 40, 0], "commands": {"armed": 0}},
    {"name": "looks", "model": "quad", "pose": [30, -30, 20, 0], "sensors": EXACT},
    {"name": "rover", "model": "rover", "pose": [0, -10, 0.5], "speed": 0.7, "commands": {"speed": 0.7}},
    {"name": "fast", "model": "fixed_wing", "pose": [-30, 20, 6, 0], "speed": 15, "commands": {"speed": 15}},
    {"name": "slow", "model": "fixed_wing", "pose": [-30, 20, 6, 0], "speed": 12, "commands": {"speed": 12}},
]


def scenario(vehicles: list[Any] = VEHICLES, **ground: Any) -> dict[str, Any]:
    world = {"ground_z": 3.0, "ground": {"grade": GRADE, "patches": [ICE], **ground}, "obstacles": [CRATE]}
    return {"clock": {"rate": 240}, "seed": 5, "world": world, "vehicles": vehicles}


class Seen(NamedTuple):
    """One run: snapshots after 1, 8 and 9 s, and the reading of the rangefinder after 1 s."""

    sim: Simulation
    early: Snapshot
    late: Snapshot
    last: Snapshot
    distance: float


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    with paddock.load(scenario()) as sim:
        sim.step(240)
        early, distance = sim.snapshot(), sim.vehicles.sensors("looks")["rangefinder"]["distance"]
        sim.step(1200)
        sim.command("lands", armed=0)
        sim.step(480)
        late = sim.snapshot()
        sim.step(240)
        yield Seen(sim, early, late, sim.snapshot(), distance)


def over(vehicle: VehicleSnapshot) -> float:
    x, _, z = vehicle.position
    return float(z - 3.0 - GRADE * x)


def up_axis(vehicle: VehicleSnapshot) -> np.ndarray:
    return rotate(vehicle.orientation, np.array([0.0, 0.0, 1.0]))


def test_a_drone_slides_where_friction_is_less_than_the_slope(seen: Seen) -> None:
    """After 1 s: v = g (sin a - mu cos a), downhill."""
    speed, slides = 9.80665 * (GRADE - 0.05) / STEEP, seen.early["slides"]
    assert_allclose(slides.velocity, [-speed / STEEP, 0.0, -speed * GRADE / STEEP], atol=0.05)
    assert_allclose(up_axis(slides), NORMAL, atol=1e-3)


def test_a_rover_follows_the_ground_at_its_speed(seen: Seen) -> None:
    rover = seen.early["rover"]
    way = rover.position - [0.0, -10.0, 3.0]
    assert np.linalg.norm(way) == pytest.approx(0.7, rel=1e-9)  # 1 s, along the slope
    assert np.arctan2(way[1], way[0]) == pytest.approx(0.5, rel=1e-9)
    assert over(rover) == pytest.approx(0.0, abs=1e-12)
    assert_allclose(rover.velocity, way, rtol=1e-9)
    assert_allclose(up_axis(rover), NORMAL, atol=1e-12)
    assert rover.yaw == pytest.approx(0.5, rel=1e-9)


def test_a_rangefinder_sees_what_stands_on_the_slope(seen: Seen) -> None:
    top = 3.0 + GRADE * 30.0 + 2.0  # of the crate
    assert seen.distance == pytest.approx(seen.early["looks"].position[2] - top, abs=0.01)


def test_drones_land_fall_and_stand_still_on_a_slope(seen: Seen) -> None:
    for name in ("lands", "falls"):
        assert abs(over(seen.late[name])) < 0.02
        assert_allclose(up_axis(seen.late[name]), NORMAL, atol=2e-3)
        assert_allclose(seen.last[name].position, seen.late[name].position, atol=1e-6)
    events = {event.subject: event for event in seen.sim.events.since() if event.kind == "crashed"}
    assert "lands" not in events
    fall = np.sqrt(2.0 * 9.80665 * (12.0 - 7.0))  # 5 m, without drag
    assert 0.9 * fall < float(events["falls"].detail.split()[-2]) < fall


def test_only_the_faster_aircraft_crashes_into_the_slope(seen: Seen) -> None:
    """15 m/s are 2.94 m/s along the normal, 12 m/s are 2.35; the limit is 2.5. The ground is 9 m lower: 45 m ahead."""
    events = [event for event in seen.sim.events.since() if event.kind == "crashed"]
    crashed = [event for event in events if event.subject in ("fast", "slow")]
    assert [event.subject for event in crashed] == ["fast"]
    assert crashed[0].tick == pytest.approx(45.0 / 15.0 * 240.0, abs=2)
    assert abs(over(seen.late["slow"])) < 1e-9


def test_vehicles_start_on_the_local_ground_and_never_below_it(seen: Seen) -> None:
    sim = seen.sim
    sim.spawn(name="late", model="rover", pose=[50, 0, 1.0])
    assert sim.snapshot()["late"].position[2] == pytest.approx(13.0)
    with pytest.raises(InvalidValueError, match=r"above the ground, z >= 13 m at \(50, 0\), not 12; leave z out"):
        sim.spawn(name="deep", model="rover", pose=[50, 0, 12, 0])
    with pytest.raises(PaddockError, match=r"placed at or above the ground, z >= 13 m at \(50, 0\), not 5"):
        sim.vehicles.place("looks", [50, 0, 5, 0])
    assert sim.vehicles.inspect("late")["ground"] == pytest.approx(
        {"height": 13.0, "slope_x": 0.2, "slope_y": 0.0, "mu": 1.0}
    )
    tree = sim.world.scenery(side=8)
    assert tree["ground"]["rows"] == 8 and tree["obstacles"][0]["top"] == pytest.approx(11.0)


ROUGH = {"roughness": "E", "height_map": {"values": "hill.npy", "cell": 5.0, "origin": [-40, -40]}}
CREW = [
    {"name": "r", "model": "rover", "count": 400, "spawn": {"grid": {"spacing": 1}}, "commands": {"speed": 0.6}},
    {"name": "q", "model": "quad", "commands": {"armed": 0}, "pose": [3, 3, 12, 0]},
]


def hill(folder: Path) -> None:
    y, x = np.mgrid[:17, :17]
    np.save(folder / "hill.npy", 2.0 * np.sin(0.5 * x) * np.cos(0.4 * y))


@pytest.mark.parametrize("count", [100, pytest.param(400, marks=pytest.mark.slow)])  # on one thread and on several
def test_threads_grouping_and_restoring_do_not_change_a_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    hill(tmp_path)
    monkeypatch.chdir(tmp_path)
    hashes, z = [], np.zeros(0)
    for threads, strides in ((1, (150, 90)), (None, (1,) * 5 + (235,))):
        limit_threads(threads)
        with paddock.load(scenario([{**CREW[0], "count": count}, CREW[1]], **ROUGH)) as sim:
            saved = sim.save()
            for ticks in strides:
                sim.step(ticks)
            hashes.append(sim.state_hash())
            sim.restore(saved)
            sim.step(240)
            hashes.append(sim.state_hash())
            z = sim.snapshot().fleet("r").position[:, 2]
    limit_threads(None)
    assert len(set(hashes)) == 1
    assert z.std() > 0.5  # they follow the hill


def test_a_recording_is_verified_without_the_file_of_its_map(tmp_path: Path) -> None:
    hill(tmp_path)
    text = load_scenario(scenario([CREW[1]])).to_yaml()
    map_line = "    height_map: {values: hill.npy, cell: 5.0, origin: [-40, -40]}\n    roughness: E\n"
    (tmp_path / "s.yaml").write_text(text.replace("  ground:\n", "  ground:\n" + map_line))
    with paddock.load(tmp_path / "s.yaml") as sim, Recorder(sim, tmp_path / "run.mcap"):
        sim.step(300)
        height = over(sim.snapshot()["q"])
    assert abs(height) > 0.05  # on the hill, not on the plane
    (tmp_path / "hill.npy").unlink()
    assert verify(tmp_path / "run.mcap").same
