"""Piles of crates: they settle, sleep and wake as islands, cost little, and keep their bits; drones on bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.threads import limit_threads
from paddock.contact import solver
from paddock.contact.bodies import ROW
from paddock.contact.solver import SLOP
from paddock.engine.contact_bodies import bodies_of
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.scenario.loading import load_preset
from paddock.vehicles.model import find_model


def pile(count: int, **more: Any) -> Simulation:
    """Return crates that fall onto each other from a column of twice their volume."""
    side = 1.25 * (count / 500.0) ** (1.0 / 3.0) * 2.0
    box = {"low": [-side, -side, 0.4], "high": [side, side, 4.0 * side]}
    crates = {"name": "crates", "model": "prop.crate", "count": count, "spawn": {"random": box}}
    return paddock.load({"contact": {"overlap": "resolve"}, "vehicles": [crates], **more})


def awake(sim: Simulation) -> int:
    return int((sim.snapshot().fleet("crates").block[7:13] != 0.0).any(axis=0).sum())


@pytest.mark.parametrize(("count", "seconds"), [(60, 6), pytest.param(500, 12, marks=pytest.mark.slow)])
def test_a_pile_comes_to_rest_sleeps_and_does_not_sink(count: int, seconds: int) -> None:
    with pile(count) as sim:
        sim.step(240 * seconds)
        assert awake(sim) == 0
        first = sim.snapshot().fleet("crates").block[:13].copy()
        assert first[2].min() > 0.3 - 5.0 * SLOP  # of the centre of a crate of 0.6 m
        assert first[2].max() > 0.9  # they lie on each other
        sim.step(240)
        assert np.array_equal(sim.snapshot().fleet("crates").block[:13], first)


def tower(**more: Any) -> Simulation:
    poses = [[0, 0, 0.3 + 0.6 * k, 0.1 * k] for k in range(4)] + [[9, 0, 0.3, 0]]
    crates = {"name": "crates", "model": "prop.crate", "count": 5, "spawn": {"poses": poses}}
    return paddock.load({"contact": {}, "vehicles": [crates], **more})


def test_a_stack_carries_its_weight() -> None:
    """The impulse that each crate passes on in a tick is the weight of those above it times the tick."""
    with tower() as sim:
        sim.step(60)
        state, ids = sim.engine.world.state.contact, sim.engine.world.fleets["crates"].ids
        assert state is not None
        carried = {tuple(row): float(state.normal[k].sum()) for k, row in enumerate(state.touching.tolist())}
        weight = 20.0 * 9.80665 / 240.0
        assert carried[int(ids[0]), -1] == pytest.approx(4 * weight, rel=1e-3)
        for k in range(3):
            assert carried[int(ids[k]), int(ids[k + 1])] == pytest.approx((3 - k) * weight, rel=1e-3)


def test_what_rests_on_a_body_falls_when_that_leaves() -> None:
    """The three crates above the lowest one wake and fall by its height; the one beside them sleeps on."""
    with tower() as sim:
        sim.step(480)
        assert awake(sim) == 0
        sim.remove("crates[0]")
        sim.step(12)
        moving = (sim.snapshot().fleet("crates").block[7:13] != 0.0).any(axis=0)
        assert moving.tolist() == [True, True, True, False]
        sim.step(720)
        assert sim.snapshot().fleet("crates").position[:3, 2] == pytest.approx([0.3, 0.9, 1.5], abs=0.02)


def test_a_pile_is_the_same_with_any_threads_grouping_rows_and_restore() -> None:
    hashes = {}
    for name, threads, groups in (("plain", None, (300,)), ("one thread", 1, (300,)), ("groups", 2, (1, 99, 200))):
        limit_threads(threads)
        with pile(40) as sim:
            for ticks in groups:
                sim.step(ticks)
            hashes[name] = sim.state_hash()
            assert sim.engine.parts.contact.total > 20
    with pile(40) as sim:
        sim.step(150)
        blob = sim.save()
        sim.step(150)
        hashes["before a restore"] = sim.state_hash()
        sim.restore(blob)
        sim.step(150)
        hashes["restored"] = sim.state_hash()
    assert len(set(hashes.values())) == 1, hashes


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("touching", np.array([[2, 1], [1, 2]]), "contact: touching: contacts are not in ascending order"),
        ("normal", np.array([[-1.0, 0, 0, 0]]), r"contact.normal\[0, 0\]"),
        ("friction", np.full((1, 4), np.nan), r"contact.friction\[0, 0\]"),
    ],
)
def test_crafted_impulses_are_refused(field: str, value: Any, problem: str) -> None:
    with tower() as sim:
        sim.step(30)
        state = sim.engine.world.state.contact
        assert state is not None
        for name, size in (("touching", (2,)), ("points", (4, 3)), ("normal", (4,)), ("friction", (4,))):
            kind = np.int64 if name == "touching" else np.float64
            rows = np.zeros((len(value), *size), kind)
            rows[:] = np.arange(len(value)).reshape(-1, *[1] * len(size)) if name == "touching" else 0.0
            setattr(state, name, rows)
        setattr(state, field, value.astype(getattr(state, field).dtype))
        blob = sim.save()
        with pytest.raises(PaddockError, match=problem):
            sim.restore(blob)


# drones on bodies ----------------------------------------------------------------------------------------------------


def roof_of(car: dict[str, Any]) -> tuple[float, float]:
    """Return the centre of a car's roof ahead of its pose and its height, m."""
    with paddock.load({"contact": {}, "vehicles": [car]}) as sim:
        body = bodies_of(sim.engine.programs["car"])
        return float(body.centre_x[0]), float(body.centre_z[0] + body.half_height[0])


@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_a_disarmed_drone_stays_on_the_roof_of_a_car(speed: float) -> None:
    """Dropped from 0.3 m it stands on its feet, on a parked car and on one that drives a bend and brakes at 3 m/s2."""
    car: dict[str, Any] = {"name": "car", "model": "car.bicycle", "pose": [0, 0, 0], "speed": speed}
    ahead, high = roof_of(car)
    parameters = find_model("quad").parameters(**load_preset("quad", "iris"))
    reach = parameters.arm + parameters.prop_radius
    drone = {"name": "drone", "model": "quad", "preset": "iris", "pose": [ahead, 0, high + 0.3, 0], "speed": speed}
    with paddock.load({"contact": {}, "vehicles": [car, {**drone, "commands": {"armed": 0}}]}) as sim:
        places = []
        for second in range(4):
            sim.command("car", steer=0.04 if speed else 0.0, throttle=0.1 if speed else 0.0)
            if second == 3 and speed:
                sim.command("car", throttle=0.0, brake=0.2)
            sim.step(240)
            snapshot = sim.snapshot()
            own, roof = snapshot["drone"], snapshot["car"]
            yaw, upwards = 2.0 * np.arctan2(roof["qz"], roof["qw"]), 1.0 - 2.0 * (own["qx"] ** 2 + own["qy"] ** 2)
            x, y, _ = own.position - roof.position
            places.append([x * np.cos(yaw) + y * np.sin(yaw), y * np.cos(yaw) - x * np.sin(yaw)])
            assert upwards > 0.999
            assert own.position[2] == pytest.approx(high + 0.1 * reach, abs=3.0 * SLOP)
        assert np.abs(np.diff(places[1:], axis=0)).max() < (0.02 if speed else 1e-6)  # m in a second
        assert abs(places[-1][0] - ahead) < 0.2 and abs(places[-1][1]) < 0.2


def test_a_ball_that_rolls_on_a_body_stops(bodies: Any) -> None:
    """Rolling resistance of an arm c slows a ball of radius r at g c / r / (1 + 2/5), without slip."""
    radius, rolling, speed, dt = 0.2, 0.01, 1.0, 1e-3
    ball: dict[str, Any] = {
        "p": (0, 0, radius - 5e-4),
        "v": (speed, 0, 0),
        "w": (0, speed / radius, 0),
        "half": (radius,) * 3,
    }
    ball |= {"inertia": 0.4 * radius**2, "friction": 0.6}
    table = bodies(ball, {"p": (0, 0, -1), "half": (9, 9, 1), "shape": 3.0, "mass": 0, "friction": 0.6})
    table[ROW.rolling, 0] = rolling
    state = solver.Impulses(np.zeros(0, np.int64), np.zeros((0, 4, 3)), np.zeros((0, 4)), np.zeros((0, 4)))
    for _ in range(300):
        table[9, 0] -= 9.81 * dt
        bump, _, state = solver.resolve(table, np.array([0, -2]), np.array([[0], [1]]), dt, 0.05, state)
        table[7:13, 0] += bump[3:9, 0]
    slowing = 9.81 * rolling / radius / 1.4
    assert speed - table[7, 0] == pytest.approx(300 * dt * slowing, rel=0.02)
    assert table[11, 0] * radius == pytest.approx(table[7, 0], rel=2e-3)  # it touches a little above its lowest point
