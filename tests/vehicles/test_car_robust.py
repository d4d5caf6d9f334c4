"""Cars at standstill, at walking speed and under random commands: they stop, stay finite, and match their twins."""

import numpy as np
import pytest
from one_car import Car

from paddock.compute.kernel import kernel
from paddock.compute.twin import vectorised
from paddock.scenario.loading import load_preset, preset_names
from paddock.vehicles.model import Desire, find_model
from paddock.vehicles.parts.car import Command, Parameters
from paddock.world.columns import Environment, column_index

LEVELS = ("car.kinematic", "car.bicycle", "car.double_track", "car.full")
STEPS = (1e-4, 1e-3, 0.01)
NO_AIR: dict[str, float] = {"drag_coefficient": 0.0, "lift_front": 0.0, "lift_rear": 0.0}
CARS = {name: load_preset("car.bicycle", name) for name in preset_names("car.bicycle")}


FEW = ("sedan", "formula", "buggy")  # the representatives of all cars at the levels with wheel spin
LEVELS_AND_CARS = [
    pytest.param(level, name, marks=() if level in LEVELS[:2] or name in FEW else pytest.mark.slow)
    for level in LEVELS
    for name in CARS
]


def motion(car: Car) -> bytes:
    """All columns but the battery's, which its electronics drain, and the clocks of the dead times."""
    moving = [not name.startswith(("charge", "voltage", "current", "steer_", "drive_")) for name in car.state._fields]
    return car.rows[moving].tobytes()


@pytest.mark.parametrize("dt", [pytest.param(1e-3, marks=pytest.mark.slow), 2.5e-3])
@pytest.mark.parametrize("speed", [0.3, 3.0, 30.0, -3.0])
@pytest.mark.parametrize(("level", "name"), LEVELS_AND_CARS)
def test_brakes_stop_the_car_permanently(level: str, name: str, speed: float, dt: float) -> None:
    for pedal, steer in ((0.3, 0.0), (0.3, 0.3), (1.0, 0.3)):
        car = Car(level, speed, **CARS[name]).go(20.0, dt=dt, brake=pedal, steer=steer)
        before = motion(car)
        assert car.vx == 0.0
        assert car.yaw_rate == 0.0
        car.go(5.0, dt=dt, brake=pedal, steer=steer)
        assert motion(car) == before


@pytest.mark.parametrize("level", LEVELS)
def test_rolling_resistance_alone_stops_the_car(level: str) -> None:
    car = Car(level, 2.0).go(30.0, steer=0.2)
    before = motion(car)
    assert car.vx == 0.0
    assert motion(car.go(5.0, steer=0.2)) == before


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(("level", "name"), LEVELS_AND_CARS)
def test_a_standing_car_does_not_move(level: str, name: str, dt: float) -> None:
    car = Car(level, **CARS[name])
    before = motion(car)
    assert motion(car.go(10.0, dt=dt)) == before


@pytest.mark.parametrize("level", LEVELS)
def test_brakes_hold_against_the_engine_and_the_wind(level: str) -> None:
    car = Car(level, world={"wind_x": 20.0, "wind_y": 25.0}).go(5.0, throttle=0.5, brake=1.0, steer=0.4)
    before = car.rows.copy()
    assert abs(car.x) + abs(car.y) + abs(car.yaw) < 0.02  # the contact patches give a little
    assert car.go(20.0, throttle=0.5, brake=1.0, steer=0.4).rows.tobytes() == before.tobytes()


def test_walking_speed_turn_does_not_ring() -> None:
    car = Car("car.bicycle", 1.0, rolling_resistance=0.0, drag_coefficient=0.0)
    rates = [car.go(0.01, dt=0.01, steer=0.3).yaw_rate for _ in range(300)]
    settled = rates[-1]
    assert max(rates) < 1.25 * settled
    assert np.abs(np.array(rates[100:]) / settled - 1.0).max() < 0.02


def test_a_sideways_slide_ends_at_rest() -> None:
    for dt in STEPS:
        car = Car("car.bicycle")
        car.put(vy=12.0, yaw_rate=2.0)
        car.go(20.0, dt=dt, brake=1.0)
        assert (car.vx, car.vy, car.yaw_rate) == (0.0, 0.0, 0.0)
        travelled = np.hypot(car.x, car.y)
        assert 0.8 < travelled / (12.0**2 / (2.0 * 9.80665)) < 1.5


@pytest.mark.parametrize("dt", [pytest.param(dt, marks=() if dt >= 1e-3 else pytest.mark.slow) for dt in STEPS])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ("sedan", "formula") else pytest.mark.slow) for name in CARS]
)
def test_wild_driving_stays_finite_and_bounded(name: str, dt: float) -> None:
    n, rng = 380, np.random.default_rng(5)  # more would need the kernel for several threads
    model = find_model("car.bicycle")
    p, w = Parameters(**CARS[name]), Environment()
    rows = np.zeros((len(model.state._fields), n))  # type: ignore[attr-defined]
    rows[4] = rng.uniform(-10.0, 60.0, n)
    for _ in range(60 if dt > 1e-4 else 12):
        run = kernel(model.step_spec())
        run(n, round(0.25 / dt), rows, random_commands(rng, n), np.array(p), np.array(w), dt)
        assert np.isfinite(rows).all()
        at = column_index(model.state)
        assert np.hypot(rows[at["vx"]], rows[at["vy"]]).max() < 120.0
        assert np.abs(rows[at["yaw_rate"]]).max() < 15.0


def random_commands(rng: np.random.Generator, n: int) -> np.ndarray:
    """Any pedal, any gear."""
    rows = np.empty((len(Command._fields), n))
    rows[0] = rng.uniform(-0.7, 0.7, n)
    rows[1] = rng.uniform(0.0, 1.0, n) * rng.integers(0, 2, n)
    rows[2] = rng.uniform(0.0, 1.0, n) * rng.integers(0, 2, n)
    rows[3] = rng.integers(-1, 2, n)
    rows[4] = rng.integers(0, 2, n) * rng.integers(0, 2, n)
    return rows


@pytest.mark.parametrize(
    "level", ["car.kinematic", "car.full", *(pytest.param(level, marks=pytest.mark.slow) for level in LEVELS[1:3])]
)
def test_python_numpy_and_kernel_agree_to_the_bit(level: str) -> None:
    model, rng, n = find_model(level), np.random.default_rng(3), 12
    p, w = Parameters(), Environment(wind_x=3.0, wind_y=-2.0, mu=0.9)
    rows = np.zeros((len(model.state._fields), n))  # type: ignore[attr-defined]
    rows[4] = rng.uniform(-5.0, 30.0, n)
    rows[4, :4] = 0.0
    oracle = [model.state(*column) for column in rows.T.tolist()]
    arrays = model.state(*rows.copy())
    step = vectorised(model.step)
    for k in range(200):
        commands = random_commands(rng, n) if k % 10 == 0 else commands  # noqa: F821
        kernel(model.step_spec())(n, 1, rows, commands, np.array(p), np.array(w), 0.01)
        drivers = [Command(*column) for column in commands.T.tolist()]
        oracle = [model.step(s, u, p, w, 0.01) for s, u in zip(oracle, drivers, strict=True)]
        arrays = step(arrays, Command(*commands), p, w, 0.01)
    assert np.array(oracle).T.tobytes() == rows.tobytes()
    assert np.array(np.broadcast_arrays(*arrays)).tobytes() == rows.tobytes()


@pytest.mark.parametrize("level", LEVELS)
def test_halving_the_tick_halves_the_error(level: str) -> None:
    def position(dt: float) -> np.ndarray:
        car = Car(level, 20.0, steer_rate_max=0.5).go(1.0, dt=dt, steer=0.05, throttle=0.5)
        return np.array([car.x, car.y, car.yaw]) if car.go(0.5, dt=dt, brake=0.3) else np.zeros(3)

    exact = position(1e-5)
    errors = [np.abs(position(dt) - exact).max() for dt in (0.01, 0.005, 0.0025)]
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]
    assert errors[0] < 0.1


@pytest.mark.parametrize("level", LEVELS)
def test_pose_and_energy_fit_the_state(level: str) -> None:
    car = Car(level, 12.0, {"ground_z": 3.0}).go(1.0, steer=0.1)
    pose = car.model.pose(car.state, car.p)
    ahead = car.go(1e-4, dt=1e-4, steer=0.1)
    later = car.model.pose(ahead.state, ahead.p)
    assert (later.x - pose.x) / 1e-4 == pytest.approx(pose.vx, rel=1e-3)
    assert (later.y - pose.y) / 1e-4 == pytest.approx(pose.vy, rel=1e-3)
    assert pose.z == pytest.approx(3.0, abs=0.02 if level == "car.full" else 0.0)  # the full car rolls
    assert pose.qx**2 + pose.qy**2 + pose.qz**2 + pose.qw**2 == pytest.approx(1.0, rel=1e-12)
    kinetic = 750.0 * (pose.vx**2 + pose.vy**2) + 1250.0 * pose.wz**2
    if "spin_fl" in car.state._fields:  # four wheels of 1 kg m2 that roll at the speed of the car
        kinetic += 0.5 * 4.0 * (car.vx / 0.32) ** 2
    assert car.model.energy(car.state, car.p, car.w) == pytest.approx(kinetic + 1500.0 * 9.80665 * pose.z, rel=2e-3)


@pytest.mark.parametrize(("level", "name"), LEVELS_AND_CARS)
def test_guidance_drives_through_the_point_aimed_at(level: str, name: str) -> None:
    car = Car(level, 3.0, **{**CARS[name], **NO_AIR})
    target = np.array([20.0, 6.0])
    closest, command = 100.0, Command()
    for _ in range(800):
        gap = target - [car.x, car.y]
        away = float(np.hypot(*gap))
        closest = min(closest, away)
        if away < 1.0:
            break
        command = car.model.guide(car.state, command, car.p, Desire(*(4.0 * gap / away), 0.0, away))
        car.go(0.01, **command._asdict())
    assert closest < 1.0
    assert car.vx == pytest.approx(4.0, rel=0.03)
    for _ in range(500):
        command = car.model.guide(car.state, command, car.p, Desire(0.0, 0.0, 0.0, 5.0))
        car.go(0.01, **command._asdict())
    assert car.vx == 0.0
