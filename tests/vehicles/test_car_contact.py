"""Cars of every level in contact: head-on, against a wall, spun by another car, and driving on afterwards."""

from math import degrees, pi
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation

LEVELS = ("car.bicycle", "car.full")
OTHERS = ("car.kinematic", "car.double_track")
every_level = pytest.mark.parametrize("levels", [LEVELS, pytest.param(OTHERS, marks=pytest.mark.slow)])
RED, BLUE = 1500.0, 1320.0  # kg, sedan and sports car
LANE = 40.0  # m between the cars of two levels


def loaded(cars: list[dict[str, Any]], **more: Any) -> Simulation:
    contact = {"restitution": 0.2, "friction": 0.3, **more.pop("contact", {})}
    return paddock.load({"clock": {"rate": 240}, "contact": contact, **more, "vehicles": cars})


def state(sim: Simulation, name: str) -> Any:
    return sim.vehicles.inspect(name)["state"]


def check(sim: Simulation, name: str, speed_max: float = 40.0) -> Any:
    """The state of a car that must be finite and drive like a car: its wheels roll, its body is upright."""
    now = state(sim, name)
    assert np.isfinite(list(now.values())).all()
    assert np.hypot(now["vx"], now.get("vy", 0.0)) < speed_max
    assert abs(now["roll"]) + abs(now["pitch"]) < 0.2
    assert abs(now.get("yaw_rate", 0.0)) < 6.0
    return now


def wheels_roll(now: Any, radius: float) -> bool:
    """Whether the free front wheels turn as fast as the car moves; always so without wheel spin."""
    if "spin_fl" not in now:
        return True
    along = now["vx"] * np.cos(now["steer"])
    return bool(abs(0.5 * (now["spin_fl"] + now["spin_fr"]) * radius - along) < 0.1 + 0.03 * abs(along))


@every_level
def test_a_head_on_collision(levels: tuple[str, ...]) -> None:
    cars = [
        {"name": f"{colour}{k}", "model": level, "preset": preset, "pose": [x, LANE * k, yaw], "speed": speed}
        for k, level in enumerate(levels)
        for colour, preset, x, yaw, speed in (("red", "sedan", 0, 0.0, 15), ("blue", "sports", 12, pi, 10))
    ]
    with loaded(cars, contact={"friction": 0.0}) as sim:
        speeds: dict[str, list[float]] = {car["name"]: [] for car in cars}
        for _ in range(120):
            sim.step()
            for name, values in speeds.items():
                values.append(float(sim.snapshot()[name].velocity[0]))
        for k, level in enumerate(levels):
            red, blue = np.array(speeds[f"red{k}"]), np.array(speeds[f"blue{k}"])
            hit = int(np.argmax(np.abs(np.diff(red)))) + 1
            momentum, closing = RED * red + BLUE * blue, (red - blue)[hit - 1]
            # tyres and brakes of one tick (4 ms) besides
            assert momentum[hit] == pytest.approx(momentum[hit - 1], abs=0.01 * RED * 15.0)
            if level == "car.full":  # their lower edges touch first: they pitch, and the upper ones a tick later
                assert 0.15 * closing < (blue - red)[hit + 1] < 0.2 * closing + 0.3
            else:
                assert (blue - red)[hit] == pytest.approx(0.2 * closing, abs=0.3)
        sim.step(120)
        for k in range(len(levels)):
            red, blue = check(sim, f"red{k}"), check(sim, f"blue{k}")
            assert blue["x"] - red["x"] > 4.0  # neither has passed through the other
            assert wheels_roll(red, 0.32)
            assert wheels_roll(blue, 0.33)
            assert abs(red["vx"]) < 6.0


@every_level
def test_a_car_slides_along_a_wall_and_recovers(levels: tuple[str, ...]) -> None:
    lanes = [LANE * k + 6 for k in range(len(levels))]
    walls = [{"wall": {"points": [[-20, y], [200, y]], "height": 1.5}} for y in lanes]
    cars = [
        {"name": f"car{k}", "model": level, "preset": "sedan", "pose": [0, LANE * k, 0.35], "speed": 20}
        for k, level in enumerate(levels)
    ]
    with loaded(cars, world={"obstacles": walls}) as sim:
        for _ in range(4):
            sim.step(60)
            for k, wall in enumerate(lanes):
                assert check(sim, f"car{k}", 21.0)["y"] < wall - 0.7  # half a car's width from the wall
        touched = {event.subject for event in sim.events.since() if event.kind == "contact"}
        assert touched >= {f"car{k}" for k, level in enumerate(levels) if level != "car.double_track"}
        sim.step(240)
        for k in (k for k, level in enumerate(levels) if level != "car.kinematic"):
            now = check(sim, f"car{k}", 20.0)
            assert now["vx"] > 5.0  # it goes on along the wall
            assert wheels_roll(now, 0.32)
            assert abs(now["yaw_rate"]) < 0.5


@pytest.mark.parametrize("levels", [LEVELS, pytest.param(OTHERS[1:], marks=pytest.mark.slow)])
def test_a_car_that_is_spun_by_another_stops_and_drives_on(levels: tuple[str, ...]) -> None:
    count = len(levels)
    cars = [
        car
        for k, level in enumerate(levels)
        for car in (
            {"name": f"red{k}", "model": level, "pose": [0, LANE * k, 0], "speed": 20},
            {"name": f"blue{k}", "model": level, "pose": [3.2, LANE * k + 8.0, -0.5 * pi], "speed": 20},
        )
    ]
    with loaded(cars) as sim:
        turned = np.zeros(count)
        for _ in range(30):
            sim.step(12)
            for k in range(count):
                turned[k] = max(turned[k], abs(degrees(check(sim, f"red{k}")["yaw"])))
                check(sim, f"blue{k}")
        assert turned.min() > 180.0
        for car in cars:
            sim.command(car["name"], brake=1.0)
        sim.step(240 * 7)
        for k in range(count):
            now = check(sim, f"red{k}")
            assert (now["vx"], now["yaw_rate"]) == (0.0, 0.0)
            sim.command(f"red{k}", throttle=0.4, brake=0.0, gear=1.0)
        sim.step(480)
        for k in range(count):
            now = check(sim, f"red{k}")
            assert now["vx"] > 1.5
            assert abs(now["vy"]) < 0.3
            assert wheels_roll(now, 0.32)
