"""Cars of every level on uneven ground in whole runs: slopes, split friction, ISO 8608 roughness, a height map."""

from math import atan, degrees, pi, radians, sin, tan
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import paddock
from paddock.compute.threads import limit_threads
from paddock.engine.simulation import Simulation
from paddock.world.frames import rotate

LEVELS = ("car.kinematic", "car.bicycle", "car.double_track", "car.full")
G = 9.80665
SEDAN_ROLLING = 1500.0 + 4.0 * 1.0 / 0.32**2  # kg, with four wheels of 1 kg m2
SPRUNG, SOFT = 1500.0 - 160.0, 2.0 / (1.0 / 30e3 + 1.0 / 220e3)  # kg; N/m of an axle: springs and tyres in series
PITCH = SOFT * (1.2**2 + 1.5**2)  # N m/rad
ROLL = sum(1.0 / (1.0 / (0.5 * 30e3 * 1.55**2 + bar) + 2.0 / (220e3 * 1.55**2)) for bar in (24e3, 6e3))  # N m/rad


def on(ground: dict[str, Any], *cars: dict[str, Any]) -> Simulation:
    return paddock.load({"clock": {"rate": 200}, "world": {"ground": ground}, "vehicles": list(cars)})


def each(name: str, y: float = 0.0, yaw: float = 0.0, **entry: Any) -> list[dict[str, Any]]:
    """One car of every level, named by it."""
    return [
        {"name": f"{name}{k + 1}", "model": level, "pose": [0, y + 30 * k, yaw], **entry}
        for k, level in enumerate(LEVELS)
    ]


CRUISE = {"throttle": 0.12}
FAR = {"circle": {"center": [-5000, 0], "radius": 1}, "mu": 1.0}  # no car reaches it
BOTH_KERNELS = pytest.mark.parametrize("patches", [[FAR], pytest.param([], marks=pytest.mark.slow)], ids=["any", "own"])
"""With a patch, the kernel for any ground, which the tests share; without, the faster one for this kind of ground."""


def state(sim: Simulation, name: str) -> Any:
    return sim.vehicles.inspect(name)["state"]


@BOTH_KERNELS
def test_cars_park_on_8_percent_with_brakes_and_roll_back_without(patches: list[Any]) -> None:
    parked, free = {"commands": {"brake": 0.5}}, {"commands": {"gear": 0}, "parameters": {"drag_coefficient": 0.0}}
    cars = (*each("held", **parked), *each("across", 10.0, 0.5 * pi, **parked), *each("free", 20.0, **free))
    with on({"grade": 0.08, "patches": patches}, *cars) as sim:
        sim.step(1)
        for car in cars:  # spawned on the slope and parallel to it
            start = sim.snapshot()[car["name"]]
            assert start.position[2] == pytest.approx(0.08 * start.position[0], abs=1e-3)
            up = rotate(start.orientation, np.array([0.0, 0.0, 1.0]))
            assert_allclose(up, np.array([-0.08, 0.0, 1.0]) / np.hypot(1.0, 0.08), atol=1e-3)
        sim.step(599)
        for k in (1, 2, 3, 4):
            held, across = state(sim, f"held{k}"), state(sim, f"across{k}")
            assert (held["vx"], across["vx"]) == (0.0, 0.0)
            assert abs(held["x"]) + abs(across["x"]) < 0.015  # the contact patches and springs give a little
            assert held["pitch"] == pytest.approx(-atan(0.08), abs=0.006)
            assert across["roll"] == pytest.approx(-atan(0.08), abs=0.01)  # the right side is up
            rolls = state(sim, f"free{k}")
            pull = 1500.0 * G * (0.08 / (1.0 + 0.08**2) - 0.015)
            mass = SEDAN_ROLLING if k > 2 else 1500.0
            assert rolls["vx"] == pytest.approx(-3.0 * pull / mass, rel=0.03)
            assert rolls["z"] == pytest.approx(0.08 * rolls["x"], abs=0.01)
        before = {name: sim.snapshot()[name].position[0] for name in ("held2", "held3", "held4", "across4")}
        sim.step(600)
        assert all(abs(sim.snapshot()[name].position[0] - x) < 1e-4 for name, x in before.items())  # no creep


@BOTH_KERNELS
@pytest.mark.parametrize(("slope", "angle"), [("grade", 5.0), ("bank", 6.0)])
def test_static_pitch_and_roll_match_grade_and_bank(slope: str, angle: float, patches: list[Any]) -> None:
    with on({slope: tan(radians(angle)), "patches": patches}, *each("car", commands={"brake": 1.0})) as sim:
        sim.step(800)
        moment = SPRUNG * G * 0.55 * sin(radians(angle))  # N m: the wheels carry their own weight
        lean = degrees(moment / ((PITCH if slope == "grade" else ROLL) - SPRUNG * G * 0.55))
        for k in (1, 2, 3, 4):
            now = state(sim, f"car{k}")
            lean_angle, other = (-now["pitch"], now["roll"]) if slope == "grade" else (now["roll"], now["pitch"])
            assert degrees(lean_angle) - angle == pytest.approx(lean if k == 4 else 0.0, rel=0.05, abs=1e-6)
            assert degrees(other) == pytest.approx(0.0, abs=0.02)
            assert (now["vx"], now.get("vy", 0.0)) == (0.0, 0.0)


def test_braking_on_split_friction_turns_to_the_gripping_side_and_controllers_help() -> None:
    none = {"abs_slip": 0.0, "traction_slip": 0.0, "stability_gain": 0.0}
    fitted = {"none": none, "abs": {"stability_gain": 0.0}, "esc": {}}
    ice = {"half_plane": {"point": [0, 0]}, "mu": 0.2}  # on the left
    cars = [
        {"name": f"{name}{k + 1}", "model": LEVELS[k], "pose": [-100, 0, 0], "speed": 25, "parameters": parameters}
        for k in (2, 3)
        for name, parameters in fitted.items()
    ]
    with on({"patches": [ice]}, *cars) as sim:
        for car in cars:
            sim.command(car["name"], brake=1.0)
        sim.step(50)
        for k in (3, 4):
            shown = sim.snapshot().fleet(f"none{k}")
            assert (float(shown["mu_fl"][0]), float(shown["mu_fr"][0])) == pytest.approx((0.2, 1.0))
            assert float(shown["wheel_spin_fl"][0]) == 0.0  # locked on the ice
            assert float(sim.snapshot().fleet(f"abs{k}")["wheel_spin_fl"][0]) > 10.0
        sim.step(150)
        for k in (3, 4):
            yaws = [degrees(state(sim, f"{name}{k}")["yaw"]) for name in fitted]
            assert yaws[0] < -30.0
            assert yaws[0] < yaws[1] - 15.0 < 0.0
        sim.step(600)
        for k in (3, 4):
            assert degrees(state(sim, f"none{k}")["yaw"]) < -360.0
            assert -160.0 < degrees(state(sim, f"abs{k}")["yaw"]) < -90.0
            assert -35.0 < degrees(state(sim, f"esc{k}")["yaw"]) < -10.0
            distance = sim.snapshot()[f"esc{k}"].position[0] + 100.0
            assert distance == pytest.approx(25.0**2 / (2.0 * 0.6 * G), rel=0.1)  # the mean of both frictions


def wheel_load_deviation(roughness: float, speed: float) -> float:
    """Standard deviation (N) of a front wheel's load: the linear quarter car on the spectrum of ISO 8608."""
    n = np.linspace(1.0 / 102.4, 5.0, 20000)  # cycles/m
    s = 2j * pi * n * speed
    sprung, wheel, strut, tyre = 0.5 * 1500.0 * 1.5 / 2.7 - 40.0, 40.0, 30e3 + 3000.0 * s, 220e3 + 150.0 * s
    body = strut / (sprung * s**2 + strut)  # motion of the body per motion of the wheel
    hub = tyre / (wheel * s**2 + tyre + strut * (1.0 - body))
    density = roughness * (n / 0.1) ** -2.0 * np.abs(tyre * (1.0 - hub)) ** 2
    return float(np.sqrt(np.sum(density) * (n[1] - n[0])))


@BOTH_KERNELS
def test_wheel_loads_on_rough_roads_follow_the_quarter_car_and_double_with_the_class(patches: list[Any]) -> None:
    deviations = []
    for name, roughness in (("A", 16e-6), ("B", 64e-6), ("C", 256e-6)):
        cars = [
            {"name": f"car{k}", "model": "car.full", "pose": [13 * k, 17 * k, 0.7 * k], "speed": 20, "commands": CRUISE}
            for k in range(6)
        ]
        with on({"roughness": name, "patches": patches}, *cars) as sim:
            sim.step(100)
            loads = []
            for _ in range(300):
                sim.step(1)
                now = sim.snapshot()
                loads.append([float(now.fleet(c["name"])[w][0]) for c in cars for w in ("load_fl", "load_fr")])
            measured = np.array(loads)
            assert measured.mean() == pytest.approx(0.5 * 1500.0 * G * 1.5 / 2.7, rel=0.03)
            deviations.append(float(measured.std(axis=0).mean()))
            assert deviations[-1] == pytest.approx(wheel_load_deviation(roughness, 20.0), rel=0.25)
    assert np.array(deviations[1:]) / deviations[:-1] == pytest.approx(2.0, rel=0.05)


def hills(x: Any, y: Any) -> Any:
    return 1.5 * np.sin(0.12 * x) + 0.05 * y


@pytest.mark.slow  # compiles four kernels more
def test_cars_follow_the_hills_of_a_height_map() -> None:
    columns, rows = np.meshgrid(np.arange(90), np.arange(80))
    values = hills(-20.0 + 2.0 * columns, -20.0 + 2.0 * rows)
    ground = {"height_map": {"values": values.tolist(), "cell": 2.0, "origin": [-20.0, -20.0]}}
    with on(ground, *each("car", speed=12, commands={"throttle": 0.2})) as sim:
        for _ in range(8):
            sim.step(100)
            for k in (1, 2, 3, 4):
                now, car = sim.snapshot()[f"car{k}"], state(sim, f"car{k}")
                x, y, z = now.position
                assert z == pytest.approx(hills(x, y), abs=0.1 if k == 4 else 0.06)
                assert -tan(car["pitch"]) == pytest.approx(0.18 * np.cos(0.12 * x), abs=0.06 if k == 4 else 0.015)
                assert now.velocity[2] == pytest.approx(
                    now.velocity[0] * 0.18 * np.cos(0.12 * x) + 0.05 * now.velocity[1], abs=0.6 if k == 4 else 0.15
                )
        assert state(sim, "car4")["x"] > 35.0


@pytest.mark.parametrize("count", [1, pytest.param(1001, marks=pytest.mark.slow)])  # one: the kernels of these tests
def test_threads_grouping_and_restoring_do_not_change_a_bit_on_rough_ground(count: int) -> None:
    grid = {"spawn": {"grid": {"spacing": 8}}, "speed": 10, "count": count}
    fleets = [{"name": f"fleet{k}", "model": level, **(grid if k < 2 else {})} for k, level in enumerate(LEVELS)]
    ground = {"grade": 0.04, "roughness": "D", "patches": [{"circle": {"center": [20, 20], "radius": 30}, "mu": 0.3}]}
    hashes = []
    for threads, strides in ((1, (60, 40)), (2, (1, 1, 98))):
        limit_threads(threads)
        with on(ground, *fleets) as sim:
            for fleet in fleets:
                sim.command(fleet["name"], steer=0.1, throttle=0.4)
            saved = sim.save()
            for ticks in strides:
                sim.step(ticks)
            hashes.append(sim.state_hash())
            sim.restore(saved)
            sim.step(100)
            hashes.append(sim.state_hash())
    assert len(set(hashes)) == 1


@BOTH_KERNELS
@pytest.mark.parametrize("roughness", ["F", "H"])
def test_a_parked_car_gains_no_energy_on_rough_ground(roughness: str, patches: list[Any]) -> None:
    """Only the springs of the start pose give energy, less than 10 kJ; then the car comes to rest."""
    sim = on(
        {"roughness": roughness, "patches": patches}, {"name": "car", "model": "car.full", "commands": {"gear": 0}}
    )
    lifted, start = [], state(sim, "car")["z"]
    for _ in range(16):
        sim.step(50)
        lifted.append(state(sim, "car")["z"] - start)
    assert max(lifted) < 10e3 / (1500.0 * G)
    assert np.ptp(lifted[-4:]) < 0.02
