"""The full car at the ends of its parameters' ranges, and cars that roll over."""

from math import pi, radians

import numpy as np
import pytest
from one_car import Car

import paddock
from paddock.errors import PaddockError
from paddock.vehicles.model import find_model
from paddock.vehicles.parts.car import Parameters
from paddock.world.columns import columns_of

G = 9.80665
HIGHEST = {column.name: column.high for column in columns_of(Parameters)}
STIFF = [
    ("damper_front", "damper_rear"),
    ("spring_front", "spring_rear"),
    ("roll_bar_front", "roll_bar_rear"),
    ("tyre_damper",),
    ("tyre_spring",),
    ("bump_stop",),
]


def energy(car: Car) -> float:
    return float(car.model.energy(car.state, car.p, car.w))


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("names", STIFF)
def test_the_stiffest_allowed_parameters_are_stable(names: tuple[str, ...], dt: float) -> None:
    parameters = {name: float(HIGHEST[name]) for name in names} | {
        "suspension_travel": 0.001 if "bump_stop" in names else 0.05
    }
    car = Car("car.full", 25.0, **parameters)
    start = energy(car)
    for _ in range(40):
        car.go(0.05, dt, steer=0.05, gear=0.0)
        assert energy(car) < start
        assert abs(car.z) < 0.05
        assert abs(car.roll) < radians(8.0)
    assert 15.0 < car.vx < 25.0


@pytest.mark.parametrize("height", [0.8, 1.2, 5.0])
def test_a_car_that_rolls_over_slides_to_rest(height: float) -> None:
    car = Car("car.full", 25.0, cg_height=height)
    start, rolled = energy(car), 0.0
    for _ in range(160):
        car.go(0.05, steer=0.25, gear=0.0)
        rolled = max(rolled, abs(car.roll))
        assert energy(car) < start + 10.0
    assert rolled > radians(80.0)
    assert max(abs(car.vx), abs(car.vy), abs(car.vz), abs(car.yaw_rate)) < 0.01
    lowest = min(car.z + height * np.cos(car.roll) - 0.92, 0.0)  # half the width of the body, on its side
    assert lowest > -0.05


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_car_on_its_roof_stops_by_friction(dt: float) -> None:
    car = Car("car.full", 15.0)
    fields, roof = car.model.state._fields, 2.6 * 0.55  # type: ignore[attr-defined]
    car.rows[fields.index("roll")] = pi
    car.rows[fields.index("z")] = roof - 0.005
    for w in ("fl", "fr", "rl", "rr"):
        car.rows[fields.index(f"wheel_z_{w}")] = roof - 0.005
    car.go(6.0, dt, throttle=1.0)
    assert (car.vx, car.vy) == (0.0, 0.0)
    assert car.x == pytest.approx(15.0**2 / (2.0 * 0.45 * G), rel=0.06)  # 0.45 of its weight, as in slide tests
    assert car.z == pytest.approx(roof, abs=0.02)
    assert car.roll == pytest.approx(pi, abs=0.02)


IMPOSSIBLE = [
    ({"gear_1": 0.0}, "gear_1 must be above 0 in a gearbox of 5 gears, not 0"),
    ({"gears": 2.5}, "gears must be a whole number from 0 to 6, not 2.5"),
    ({"gear_2": 1.2}, "gear_2 must be below gear_1, 1, not 1.2"),
    ({"shift_up": 100.0, "shift_down": 300.0}, "shift_down must be below 68 rad/s"),
    ({"shift_up": 700.0}, "shift_up must be below engine_speed_max, 600 rad/s, not 700"),
    ({"ackermann": 2.0, "track_front": 9.0, "steer_max": 1.4}, "ackermann must be at most 0.0931"),
    ({"wheel_radius": 2.0}, "wheel_radius must be at most 1.35 m, half the wheelbase"),
    ({"inertia_z": 1e-3}, "inertia_z must be at least 135 kg m2"),
    ({"inertia_x": 60.0}, "inertia_z must be at most the sum of the other two and of the wheels, 2451 kg m2"),
    ({"inertia_y": 9000.0}, "inertia_y must be at most the sum of the other two, 3000 kg m2"),
    ({"inertia_x": 1.0, "inertia_y": 2500.0}, "inertia_x must be at least 45.05 kg m2"),
    ({"tyre_spring": 1000.0}, "tyre_spring must be at least 1.277e+04 N/m"),
]


@pytest.mark.parametrize(("parameters", "problem"), IMPOSSIBLE)
def test_parameters_that_cannot_be_together_are_refused(parameters: dict[str, float], problem: str) -> None:
    entry = {"name": "red", "model": "car.full", "parameters": parameters}
    with pytest.raises(PaddockError) as caught:
        paddock.load({"vehicles": [entry]})
    key = problem.partition(" ")[0]
    position = f"vehicles[0].parameters.{key}" if key in parameters else "vehicles[0].parameters"
    assert str(caught.value).startswith(f"{position}: {problem}")
    assert "\n" not in str(caught.value)


def test_every_level_checks_its_parameters() -> None:
    for level in ("car.kinematic", "car.bicycle", "car.double_track", "car.full"):
        problem = find_model(level).problem
        assert problem is not None
        assert problem(Parameters()) == ""
        assert problem(Parameters(gears=1.5)).startswith("gears must be a whole number")


def test_a_wide_spread_is_refused() -> None:
    with pytest.raises(PaddockError, match=r"spread.mass: must be <= 0.33, not 3"):
        paddock.load({"vehicles": [{"name": "red", "model": "car.kinematic", "spread": {"mass": 3.0}}]})
