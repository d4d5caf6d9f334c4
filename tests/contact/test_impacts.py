"""What an impact does: low things are not passed through, cones fly, the full car pitches, an aircraft breaks."""

from __future__ import annotations

from itertools import pairwise
from math import cos, sin
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation

RATE, G = 200, 9.80665
LOW: dict[str, dict[str, Any]] = {
    "buggy": {"model": "car.kinematic", "preset": "buggy"},
    "buggy across": {"model": "car.kinematic", "preset": "buggy", "turned": 1.5},
    "rover": {"model": "rover", "preset": "indoor"},
    "rover across": {"model": "rover", "preset": "indoor", "turned": 1.5},
    "micro": {"model": "quad", "preset": "micro"},
    "crate": {"model": "prop.crate", "parameters": {"length": 0.2, "width": 0.2, "height": 0.1, "mass": 1.0}},
    "cone": {"model": "prop.cone"},
}


def launched(vehicles: list[dict[str, Any]], **more: Any) -> Simulation:
    return paddock.load({"clock": {"rate": RATE}, "contact": {"friction": 0.3}, "vehicles": vehicles, **more})


def lay_down(sim: Simulation, name: str, yaw: float, z: float) -> None:
    """Put a cone on its side, its top towards the heading."""
    program = sim.engine.programs[name]
    half = np.sqrt(0.5)
    program.fleet.state[2, 0] = z
    program.fleet.state[6:10, 0] = (
        -half * sin(0.5 * yaw),
        half * cos(0.5 * yaw),
        half * sin(0.5 * yaw),
        half * cos(0.5 * yaw),
    )
    program.forget_poses()
    sim.engine.parts.contact.forget()


def test_a_car_passes_through_nothing_that_is_lower_than_its_bumper() -> None:
    """Each stands 0.6 m beside the middle of a sedan at 15 m/s, near a wheel; the cone lies on its side."""
    vehicles, front = [], 0.82 * 2.7 + 0.1  # m: of a sedan of 4.4 m
    for k, (name, case) in enumerate(LOW.items()):
        turned = case.get("turned", 0.0)
        entry = {key: value for key, value in case.items() if key != "turned"}
        vehicles.append({"name": f"car{k}", "model": "car.bicycle", "pose": [-6, 20 * k, 0], "speed": 15})
        vehicles.append({"name": name.replace(" ", "_"), "pose": [0, 20 * k + 0.6, 0, turned], **entry})
    with launched(vehicles) as sim:
        lay_down(sim, "cone", 1.2, 0.13)
        for _ in range(RATE):
            sim.step()
            snapshot = sim.snapshot()
            for k, name in enumerate(LOW):
                gap = snapshot[name.replace(" ", "_")].position - snapshot[f"car{k}"].position
                if abs(gap[1]) < 0.7 and gap[2] < 1.0:
                    under = 0.22 if name == "cone" else 0.0  # a tenth of the half length lies behind the bumper
                    assert gap[0] > front - 0.25 - under, (name, sim.time)
        hit = {event.subject for event in sim.events.since() if event.kind == "contact"}
        hit |= {event.detail.partition(":")[0] for event in sim.events.since() if event.kind == "contact"}
        assert {name.replace(" ", "_") for name in LOW} <= hit


@pytest.mark.parametrize("height", [0.05, 0.12, 0.28])
def test_low_walls_stop_a_car(height: float) -> None:
    wall = {"wall": {"points": [[8, -4], [8, 4]], "height": height, "thickness": 0.2}}
    vehicles = [{"name": "a", "model": "car.bicycle", "pose": [0, 0, 0], "speed": 15}]
    with launched(vehicles, world={"obstacles": [wall]}) as sim:
        sim.step(RATE)
        car = sim.snapshot()["a"]
        assert car.velocity[0] < 0.0
        assert car.position[0] < 7.9 - 2.0


# cones ---------------------------------------------------------------------------------------------------------------


def test_a_cone_that_is_hit_flies_as_far_as_a_thrown_body() -> None:
    """It leaves spinning and upwards; while nothing touches it, its path is a parabola with air drag.

    A hit above its centre of mass turns it about its base, until its top strikes the ground and throws it up. Filmed
    cones fly some metres, 0.5 to 4 m high, at road speeds.
    """
    heights = []
    for speed in (10.0, 20.0, 40.0):
        vehicles = [
            {"name": "a", "model": "car.bicycle", "pose": [0, 0, 0], "speed": speed},
            {"name": "k", "model": "prop.cone", "pose": [4, 0.3, 0]},
        ]
        with launched(vehicles) as sim:
            while not len(sim.engine.parts.contact.contacts):
                sim.step()
            highest, flight = 0.0, []
            for _ in range(RATE):
                sim.step()
                cone = sim.snapshot()["k"]
                highest = max(highest, float(cone.position[2]))
                if not len(sim.engine.parts.contact.contacts) and cone.position[2] > 0.5:
                    flight.append((*cone.position[[0, 2]], *cone.velocity[[0, 2]]))
            heights.append(highest)
            assert flight or speed < 15.0
            for before, after in pairwise(flight):
                if abs(after[0] - before[0]) < 1.5 * speed / RATE and after[3] < before[3]:
                    drag = 0.08 / 3.5 * np.hypot(before[2], before[3])
                    assert before[3] - after[3] == pytest.approx((G + drag * before[3]) / RATE, rel=0.15)
    assert 0.3 < heights[0] < heights[1]
    assert all(0.6 < height < 4.0 for height in heights[1:])


def pushed_upright(preset: str, friction: float, speed: float) -> tuple[float, float]:
    """Push a cone with a smooth sedan for six seconds; return how upright it is, and its place ahead of the nose."""
    driver = {"manoeuvre": {"speed": speed}}
    vehicles = [
        {"name": "a", "model": "car.bicycle", "pose": [0, 0, 0], "speed": speed, "driver": driver}
        | {"contact": {"friction": 0.0}},
        {"name": "k", "model": "prop.cone", "preset": preset, "pose": [2.14, 0.02, 0]},
    ]
    with launched(vehicles, contact={"friction": friction}) as sim:
        sim.step(6 * RATE)
        cone, car = sim.snapshot().fleet("k"), sim.snapshot()["a"]
        upright = 1.0 - 2.0 * float(cone["qx"][0] ** 2 + cone["qy"][0] ** 2)
        return upright, float(cone["x"][0] - car.position[0]) - 2.7 * 0.82 + 0.15


@pytest.mark.parametrize(
    ("preset", "base", "height"), [("road", 0.18, 0.451), pytest.param("formula", 0.114, 0.276, marks=pytest.mark.slow)]
)
def test_a_pushed_cone_tips_if_its_base_holds(preset: str, base: float, height: float) -> None:
    """A slow push F at the height h of the bumper: F = mu m g tips it about its front edge if F h > m g r.

    The bumper is at 0.3 of the box of the sedan, from 0.032 to 1.43 m; a lower cone is touched near its top.
    """
    limit = base / height
    stays, ahead = pushed_upright(preset, 0.93 * limit, 0.1)
    assert stays > 0.999 and ahead > 0.0
    tipped, _ = pushed_upright(preset, 1.07 * limit, 0.1)
    assert tipped < 0.75  # past the balance of its centre of mass, cos(atan(r / h_mass))
    assert pushed_upright(preset, 0.5, 1.0)[0] < 0.0  # it lies


def test_a_rover_pushes_a_tall_cone_at_its_foot() -> None:
    """Its bumper is so low that no friction tips the cone."""
    vehicles = [
        {"name": "a", "model": "rover", "preset": "outdoor", "pose": [0, 0, 0], "commands": {"speed": 0.3}},
        {"name": "k", "model": "prop.cone", "pose": [1.0, 0.0, 0]},
    ]
    with launched(vehicles, contact={"friction": 0.5}) as sim:
        sim.step(4 * RATE)
        assert abs(sim.snapshot().fleet("k")["qy"][0]) < 0.05


# level 4 -------------------------------------------------------------------------------------------------------------


def test_the_full_car_pitches_over_a_low_wall_and_others_stay_flat() -> None:
    """A blow below the centre of gravity, at the wall's upper edge: J = (1 + e) v / (1 / m + r2 / I) turns the car."""
    wall = {"wall": {"points": [[8, -4], [8, 4]], "height": 0.3, "thickness": 0.2}}
    for model in ("car.bicycle", "car.full"):
        vehicles = [{"name": "a", "model": model, "preset": "sedan", "pose": [0, 0, 0], "speed": 10}]
        fields = {"contact": {"friction": 0.0, "restitution": 0.2}, "world": {"obstacles": [wall]}}
        with launched(vehicles, **fields) as sim:
            while not len(sim.engine.parts.contact.contacts):
                speed = float(sim.snapshot()["a"].velocity[0])
                sim.step()
            car, impulse = sim.snapshot()["a"], float(sim.engine.parts.contact.contacts[0, 8])
            p = sim.engine.programs["a"].parameters.fields()
            if model == "car.full":
                arm = p.cg_height - 0.3
                effective = 1.0 / (1.0 / p.mass + arm * arm / p.inertia_y)
                assert impulse == pytest.approx(1.2 * speed * effective, rel=0.02)
                assert car.angular_velocity[1] == pytest.approx(impulse * arm / p.inertia_y, rel=0.05)
                sim.step(RATE // 10)
                assert 0.01 < sim.snapshot()["a"]["pitch"] < 0.5  # nose down
                sim.step(4 * RATE)
                assert abs(sim.snapshot()["a"]["pitch"]) < 0.01
                assert abs(sim.snapshot()["a"].position[2]) < 0.02
            else:
                assert impulse == pytest.approx(1.2 * speed * p.mass, rel=0.02)
                assert np.abs(car.angular_velocity[:2]).max() == 0.0


def test_the_full_car_leans_when_another_runs_into_its_side() -> None:
    """The tyres hold the wheels while the body is pushed: its struck side dips away, and it comes to rest upright."""
    vehicles = [
        {"name": "struck", "model": "car.full", "preset": "sedan", "pose": [0, 0, 0]},
        {"name": "other", "model": "car.bicycle", "preset": "sedan", "pose": [0.2, -6, 0, 1.5707963], "speed": 12},
    ]
    with launched(vehicles) as sim:
        leaning = []
        for _ in range(3 * RATE):
            sim.step()
            leaning.append(float(sim.snapshot()["struck"]["roll"]))
        assert 0.01 < np.abs(leaning).max() < 0.8
        assert abs(leaning[-1]) < 0.02


# aircraft ------------------------------------------------------------------------------------------------------------


def test_a_fixed_wing_that_hits_a_wall_falls_down_in_front_of_it() -> None:
    """From 20 m a body that keeps a fifth of its speed lands within some metres after two to three seconds."""
    wall = {"wall": {"points": [[30, -15], [30, 15]], "height": 40, "thickness": 0.4}}
    vehicles = [{"name": "a", "model": "fixed_wing", "pose": [0, 0, 20, 0], "speed": 17}]
    with launched(vehicles, world={"obstacles": [wall]}) as sim:
        while not any(event.kind == "contact" for event in sim.events.since()):
            sim.step()
        hit = sim.time
        while sim.snapshot()["a"].position[2] > 0.01:
            sim.step()
            assert sim.time < hit + 10.0
        assert np.sqrt(2 * 19 / G) < sim.time - hit < 3.0
        sim.step(3 * RATE)
        wreck = sim.snapshot()["a"]
        assert wreck.speed == 0.0
        assert 15.0 < wreck.position[0] < 30.0
        assert [event.kind for event in sim.events.since()].count("crashed") == 1
        sim.vehicles.place("a", [0.0, 100.0, 20.0, 0.0], 17.0)
        sim.step(RATE)
        assert sim.snapshot()["a"].speed > 15.0  # repaired


def test_a_head_on_collision_of_full_cars_is_symmetric() -> None:
    """Both dive when they hit; each stays the other's mirror image to ten nanometres."""
    commands = {"gear": 0}
    cars: list[dict[str, Any]] = [
        {"name": "a", "model": "car.full", "pose": [-6, 0, 0], "speed": 10, "commands": commands},
        {"name": "b", "model": "car.full", "pose": [6, 0, np.pi], "speed": 10, "commands": commands},
    ]
    with launched(cars, clock={"rate": 1000}) as sim:
        sim.step(2500)
        first, second = sim.snapshot()["a"], sim.snapshot()["b"]
        assert first.position[0] < -1.5
        assert np.abs(first.position[:2] + second.position[:2]).max() < 1e-8
        assert first.position[2] == pytest.approx(second.position[2], abs=1e-8)


def test_a_car_that_has_rolled_against_a_wall_comes_to_rest() -> None:
    """It leans on the wall with its tyres bent: it neither turns nor leaves it, 12 to 16 s after it touched."""
    car = {"name": "a", "model": "car.double_track", "preset": "sports", "pose": [0, -5, -0.4], "speed": 4}
    wall = {"box": {"center": [0, -10, 0], "size": [200, 2, 1]}}
    with launched([car], clock={"rate": 500}, world={"obstacles": [wall]}) as sim:
        sim.step(6000)
        before, yaw = sim.snapshot()["a"].position.copy(), sim.vehicles.inspect("a")["state"]["yaw"]
        sim.step(2000)
        moved = np.abs(sim.snapshot()["a"].position - before) / 4.0
        assert moved[1] < 2e-4 and moved[0] < 1e-3  # m/s: from the wall, and along it
        assert abs(sim.vehicles.inspect("a")["state"]["yaw"] - yaw) / 4.0 < 2e-4
