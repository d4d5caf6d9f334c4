"""The proving ground: a fleet of equal cars drives one manoeuvre with different speeds or inputs, and is measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from paddock.compute import arrays
from paddock.compute.quaternion import axes
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError
from paddock.scenario import Scenario, VehicleEntry, bundled_path, load_preset, load_scenario
from paddock.vehicles.model import find_model
from paddock.vehicles.parts.car import Command, Parameters, car_body
from paddock.world.columns import Floats, filled

RATE = 1000  # ticks per second
DECIDE = 10  # ticks between two decisions of a driver, and between two samples
LANE = 60.0  # m between two cars
FLEET = "cars"
GRAVITY, AIR_DENSITY = 9.80665, 1.225

Inputs = Mapping[str, Any]
Driver = Callable[["Sample"], Inputs]


@dataclass(frozen=True)
class TestCar:
    """A car at one level."""

    __test__ = False  # not a test, for pytest

    model: str
    preset: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    subsystems: Mapping[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> str:
        """The short name of the level: `full` for car.full."""
        return self.model.removeprefix("car.")

    @cached_property
    def values(self) -> Parameters:
        """All parameters."""
        parameters = {**load_preset(self.model, self.preset), **self.parameters}
        return Parameters(*filled(Parameters, parameters, f"parameter of {self.model}").tolist())

    @cached_property
    def effective(self) -> frozenset[str]:
        """The parameters that have an effect at this level: cars are compared with the same ones at every level."""
        model = find_model(self.model)
        names = {key: part if isinstance(part, str) else part["name"] for key, part in self.subsystems.items()}
        choices = {key: name for key, name in names.items() if name in model.subsystems[key].choices}
        return model.fitted(choices).effective_parameters

    def outline(self) -> tuple[float, float, float]:
        """Return half the length and half the width of the body, and its centre ahead of the centre of gravity, m."""
        body = car_body(self.values)
        return body.half_length, body.half_width, body.centre_x


def checked_car(model: str, preset: str | None, entry: VehicleEntry | None = None) -> TestCar:
    """Return a car; raise PaddockError unless its model takes the commands and parameters of cars."""
    model_found = find_model(model)
    if (model_found.command, model_found.parameters) != (Command, Parameters):
        raise InvalidValueError(f"model {model!r} is not a car: manoeuvres need the commands and parameters of car.*")
    if entry is None:
        car = TestCar(model, preset)
    else:
        parts = {name: choice.model_dump() for name, choice in entry.subsystems.items()}
        car = TestCar(model, preset or entry.preset, dict(entry.parameters), parts)
    load_preset(model, car.preset)
    return car


@dataclass(frozen=True)
class Sample:
    """All cars at one time; every field but the time is an array (n,)."""

    time: float
    x: Floats  # m, from where the car started
    y: Floats
    heading_x: Floats  # unit vector of the heading
    heading_y: Floats
    speed: Floats  # m/s, forward
    side: Floats  # m/s, to the left
    course_x: Floats  # m/s, velocity
    course_y: Floats
    yaw_rate: Floats  # rad/s
    steer: Floats  # rad, mean of the road wheels
    ax: Floats  # m/s2, force over mass
    ay: Floats
    front_load: Floats  # N; NaN at levels without loads


@dataclass(frozen=True)
class Traces:
    """The samples of a run: fields of Sample by name, (samples, n)."""

    time: Floats  # (samples,) s
    columns: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]

    @property
    def lateral(self) -> Floats:
        """Lateral acceleration across the course: speed times the rate of turn of the car, m/s2."""
        return self["speed"] * self["yaw_rate"]

    @property
    def body_slip(self) -> Floats:
        """Angle between the heading and the course, rad."""
        return np.asarray(arrays.arctan2(self["side"], self["speed"]))


@lru_cache(maxsize=16)
def bundled_manoeuvre(name: str) -> Scenario:
    """Return the scenario of a manoeuvre from the catalog, which defines its speeds, times and ground."""
    return load_scenario(bundled_path(name))


def driver_options(name: str) -> dict[str, Any]:
    """Return the options of the first driver of a manoeuvre from the catalog."""
    driver = bundled_manoeuvre(name).vehicles[0].controller
    assert driver is not None
    return dict(driver.options)


def scenario_of(car: TestCar, count: int, world: Mapping[str, Any] | None = None) -> Scenario:
    """Return the scenario of a manoeuvre: `count` cars in lanes beside each other, along the x axis."""
    end = [0.0, LANE * max(count - 1, 1), 0.0]
    parameters = {name: value for name, value in car.parameters.items() if name in car.effective}
    entry: dict[str, Any] = {"name": FLEET, "count": count, "model": car.model, "parameters": parameters}
    entry |= {"spawn": {"line": {"start": [0.0, 0.0, 0.0], "end": end, "heading": 0.0}}}
    entry |= {"preset": car.preset} if car.preset else {}
    entry |= {"subsystems": dict(car.subsystems)} if car.subsystems else {}
    return load_scenario({"clock": {"rate": RATE}, "world": dict(world or {}), "vehicles": [entry]})


def drive(
    car: TestCar,
    speeds: Any,
    seconds: float,
    driver: Driver,
    *,
    world: Mapping[str, Any] | None = None,
    spacing: tuple[float, float] = (0.0, LANE),
    until: Callable[[Sample], bool] | None = None,
    every: float = DECIDE / RATE,
) -> Traces:
    """Drive cars that start at these speeds (n,), m/s, for a time or `until` a condition; return what they did.

    Car k starts at k times `spacing` (m). The driver decides `every` so many seconds; it sees all cars at once, and
    returns inputs as numbers or arrays (n,).
    """
    starts = np.atleast_1d(np.asarray(speeds, dtype=np.float64))
    n = len(starts)
    x, y = np.outer(spacing, np.arange(n))
    with Simulation(scenario_of(car, n, world)) as sim:
        zero = np.zeros(n)
        poses = np.column_stack([x, y, zero, zero])
        sim.vehicles.place(FLEET, poses if n > 1 else poses[0], starts if n > 1 else float(starts[0]))
        still = _sample(sim, x, y)  # they are placed at the first tick
        samples = [replace(still, x=zero, y=zero, speed=starts, course_x=starts)]
        for _ in range(round(seconds / every)):
            inputs = driver(samples[-1])
            sim.command(FLEET, **{name: _each(value, n) for name, value in inputs.items()})
            sim.step(round(every * RATE))
            samples.append(_sample(sim, x, y))
            if until is not None and until(samples[-1]):
                break
    names = [name for name in Sample.__dataclass_fields__ if name != "time"]
    columns = {name: np.array([getattr(sample, name) for sample in samples]) for name in names}
    return Traces(np.array([sample.time for sample in samples]), columns)


def _each(value: Any, n: int) -> Any:
    """Return an input for every car of the fleet; a single car takes a number."""
    values = np.broadcast_to(np.asarray(value, dtype=np.float64), (n,))
    return np.ascontiguousarray(values) if n > 1 else float(values[0])


def _sample(sim: Simulation, x: Floats, y: Floats) -> Sample:
    fleet = sim.snapshot().fleet(FLEET)
    qx, qy, qz, qw = (fleet[name] for name in ("qx", "qy", "qz", "qw"))
    (ahead_x, ahead_y, _), _, _ = axes(qx, qy, qz, qw)
    level = np.sqrt(ahead_x * ahead_x + ahead_y * ahead_y)
    ahead_x, ahead_y = ahead_x / level, ahead_y / level
    vx, vy = fleet["vx"], fleet["vy"]
    loads = fleet["load_fl"] + fleet["load_fr"] if "load_fl" in fleet.columns else np.full(len(x), np.nan)
    return Sample(
        time=sim.time,
        x=fleet["x"] - x,
        y=fleet["y"] - y,
        heading_x=ahead_x,
        heading_y=ahead_y,
        speed=vx * ahead_x + vy * ahead_y,
        side=vy * ahead_x - vx * ahead_y,
        course_x=vx.copy(),
        course_y=vy.copy(),
        yaw_rate=fleet["wz"].copy(),
        steer=fleet["steer"].copy(),
        ax=fleet["ax"].copy(),
        ay=fleet["ay"].copy(),
        front_load=loads,
    )


def speed_pedals(car: TestCar, target: Any, speed: Floats, turning: Floats | float = 0.0) -> dict[str, Floats]:
    """Return throttle and brake that hold a speed (m/s); `turning` is the drag of the front wheels in a bend, N."""
    p = car.values
    drag = 0.5 * AIR_DENSITY * p.drag_coefficient * p.frontal_area * speed * speed
    braking = p.engine_brake * p.final_drive / p.wheel_radius
    most = np.minimum(p.engine_torque * p.final_drive / p.wheel_radius, p.power_max / np.maximum(speed, 0.1))
    force = p.mass * 4.0 * (target - speed) + drag + p.rolling_resistance * p.mass * GRAVITY + turning
    brakes = 2.0 * p.brake_torque / p.wheel_radius
    return {
        "throttle": np.clip((force + braking) / (most + braking), 0.0, 1.0),
        "brake": np.clip(-(force + braking) / brakes, 0.0, 1.0),
    }


@dataclass(frozen=True)
class LinearBicycle:
    """The linear single-track model of a car: the analytic reference of all levels."""

    base: float  # m
    gradient: float  # rad s2/m: understeer gradient

    def steady_yaw_rate(self, speed: float, steer: float) -> float:
        """Return the yaw rate (rad/s) at a constant speed (m/s) and road-wheel angle (rad)."""
        return speed * steer / (self.base + self.gradient * speed * speed)

    def steer_for(self, lateral: float, speed: float) -> float:
        """Return the road-wheel angle (rad) of a lateral acceleration (m/s2)."""
        return lateral * (self.base / (speed * speed) + self.gradient)


def linear_bicycle(car: TestCar, speed: float) -> LinearBicycle:
    """Return the linear model at a speed (m/s): the slopes of the tyres at their static load and down-force."""
    p = car.values
    base = p.cg_to_front + p.cg_to_rear
    if car.model == "car.kinematic":
        return LinearBicycle(base, 0.0)
    slope_front, slope_rear = (p.tyre_b_lat * p.tyre_c_lat * peak for peak in _axle_peaks(p, speed))
    gradient = p.mass / base * (p.cg_to_rear / slope_front - p.cg_to_front / slope_rear)
    return LinearBicycle(base, gradient)


def lateral_grip(car: TestCar, speed: float) -> float:
    """Return the lateral acceleration (m/s2) of both axles at their peaks, with the down-force of a speed (m/s)."""
    return sum(_axle_peaks(car.values, speed)) / car.values.mass


def _axle_peaks(p: Parameters, speed: float) -> tuple[float, float]:
    """Return the largest lateral forces of the front and of the rear axle, N, at static load and down-force."""
    base, air = p.cg_to_front + p.cg_to_rear, 0.5 * AIR_DENSITY * p.frontal_area * speed * speed
    front = p.mass * GRAVITY * p.cg_to_rear / base + air * p.lift_front
    rear = p.mass * GRAVITY * p.cg_to_front / base + air * p.lift_rear
    return _axle_peak(front, 1.0, p), _axle_peak(rear, p.grip_rear, p)


def _axle_peak(load: float, grip: float, p: Parameters) -> float:
    loss = p.tyre_load_sensitivity * (0.5 * load - p.tyre_load) / p.tyre_load
    return p.tyre_d_lat * p.tyre_mu * grip * max(0.3, 1.0 - loss) * load
