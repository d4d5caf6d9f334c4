"""A bench for the estimator: motions written down as formulas, seen through the noisy sensors of `paddock.sensing`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import atan, cos, pi, sin
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.estimator import Estimator
from paddock.autopilot.vehicle_data import COLUMN, Floats, SensorData
from paddock.sensing.sensor import find_sensor
from paddock.sensing.site import site_at
from paddock.sensing.suite import FleetSensor
from paddock.world.columns import Environment, defaults_of
from paddock.world.geodesy import Origin

GRAVITY = 9.80665
TICK_RATE = 1000.0
PLACE = (35.6812, 139.7671, 40.0)
NED_TO_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FRD_TO_FLU = np.diag([1.0, -1.0, -1.0])
TIMES = {"imu": 1, "gnss": 8, "compass": 19, "barometer": 23}
STREAM = np.array([5])
ENVIRONMENT = defaults_of(Environment).copy()  # writable, as that of a world


@dataclass
class Truth:
    """Where a vehicle is: north-east-down, body forward-right-down."""

    position: Floats
    velocity: Floats
    euler: tuple[float, float, float]  # rad: roll, pitch, yaw
    rates: Floats  # rad/s

    @property
    def rotation(self) -> Rotation:
        """From body to world."""
        return Rotation.from_euler("ZYX", self.euler[::-1])


Motion = Callable[[float], Truth]


def standing(t: float, heading: float = 1.0) -> Truth:
    return Truth(np.zeros(3), np.zeros(3), (0.03, -0.02, heading), np.zeros(3))


def circle(t: float, radius: float = 20.0, speed: float = 5.0) -> Truth:
    """A rover on a circle, clockwise, level; it starts heading north."""
    turn = speed / radius
    position = np.array([radius * sin(turn * t), radius * (1.0 - cos(turn * t)), 0.0])
    velocity = np.array([speed * cos(turn * t), speed * sin(turn * t), 0.0])
    return Truth(position, velocity, (0.0, 0.0, turn * t), np.array([0.0, 0.0, turn]))


def coordinated_turn(t: float, speed: float = 30.0, radius: float = 200.0, climb: float = 1.0) -> Truth:
    """An aeroplane in a banked climbing turn that its accelerometers do not feel sideways."""
    bank, turn = atan(speed * speed / (GRAVITY * radius)), speed / radius
    flat = circle(t, radius, speed)
    flat.position[2], flat.velocity[2] = -climb * t, -climb
    return Truth(
        flat.position, flat.velocity, (bank, 0.0, turn * t), np.array([0.0, turn * sin(bank), turn * cos(bank)])
    )


def shuttle(t: float, period: float = 8.0, acceleration: float = 3.0) -> Truth:
    """A copter that pitches to fly to and fro along north, at constant height."""
    w = 2.0 * pi / period
    a, jerk = acceleration * sin(w * t), acceleration * w * cos(w * t)
    velocity = acceleration / w * (1.0 - cos(w * t)) - acceleration / w
    position = -acceleration / (w * w) * sin(w * t)
    pitch, rate = -atan(a / GRAVITY), -jerk / GRAVITY / (1.0 + (a / GRAVITY) ** 2)
    return Truth(
        np.array([position, 0.0, -20.0]), np.array([velocity, 0.0, 0.0]), (0.0, pitch, 0.0), np.array([0, rate, 0])
    )


def poses_of(truths: list[Truth]) -> Floats:
    """The columns (n, 13, 1) that sensors see."""
    attitudes = Rotation.from_euler("ZYX", [truth.euler[::-1] for truth in truths]).as_matrix()
    turned = Rotation.from_matrix(NED_TO_ENU @ attitudes @ FRD_TO_FLU).as_quat()
    position, velocity, rates = (
        np.array([getattr(t, name) for t in truths]) for name in ("position", "velocity", "rates")
    )
    return np.concatenate([position @ NED_TO_ENU.T, turned, velocity @ NED_TO_ENU.T, rates @ FRD_TO_FLU], axis=1)[
        :, :, None
    ]


@dataclass
class Flight:
    """A motion, seen through sensors; iterate for (truth, row) at every inertial sample."""

    motion: Motion
    rate: float = 100.0
    seconds: float = 60.0
    seed: int = 7
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    gyro_bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    accel_bias: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __iter__(self) -> Iterator[tuple[Truth, SensorData]]:
        site = site_at(Origin(*PLACE))
        kinds = {"imu": {"rate": self.rate}, "gnss": {}, "compass": {}, "barometer": {}}
        sensors = {
            name: FleetSensor(find_sensor(name), {**options, **self.options.get(name, {})}, TICK_RATE, site)
            for name, options in kinds.items()
        }
        data, step = SensorData(), round(TICK_RATE / self.rate)
        ticks = range(0, round(self.seconds * TICK_RATE), step)
        truths = [self.motion(tick / TICK_RATE) for tick in ticks]
        for tick, truth, pose in zip(ticks, truths, poses_of(truths), strict=True):
            data.row[0] = tick * 1e6 / TICK_RATE
            for name, sensor in sensors.items():
                self._sample(sensor, tick, pose.copy())
                if sensor.sample_tick * 1e6 / TICK_RATE > data.row[TIMES[name]]:
                    data.row[TIMES[name]] = sensor.sample_tick * 1e6 / TICK_RATE
                    self._write(name, sensor, data)
            yield truth, data

    def _sample(self, sensor: FleetSensor, tick: int, pose: Floats) -> None:
        if tick == sensor.due(tick):
            sensor.sample(tick, pose, 1, STREAM, ENVIRONMENT, self.seed)
        sensor.arrive(tick)

    def _write(self, name: str, sensor: FleetSensor, data: SensorData) -> None:
        read = {reading: float(values[0]) for reading, values in sensor.readings().items()}
        if name == "imu":
            data.gyro[:] = np.array([read["wx"], -read["wy"], -read["wz"]]) + self.gyro_bias
            data.accel[:] = np.array([read["ax"], -read["ay"], -read["az"]]) + self.accel_bias
        elif name == "gnss":
            position = LocalFrame(*PLACE).to_geodetic(read["y"], read["x"], -read["z"])
            data.row[9:19] = [3.0, 12.0, *position, read["vy"], read["vx"], -read["vz"], 0.5, 1.0]
        elif name == "compass":
            data.mag[:] = [read["field_x"], -read["field_y"], -read["field_z"]]
        else:
            data.row[COLUMN["pressure"]] = read["pressure"]


@dataclass
class Errors:
    """What the estimator got wrong, one row per inertial sample."""

    time: Floats  # s
    position: Floats  # (n, 3) m
    velocity: Floats  # (n, 3) m/s
    attitude: Floats  # (n, 3) rad, in body axes
    covariance: Floats  # (n, 16, 16)

    def after(self, seconds: float) -> Errors:
        """Those from that time on."""
        late = self.time >= seconds
        return Errors(*(getattr(self, name)[late] for name in self.__dataclass_fields__))


def rms(values: Floats) -> Any:
    """Per axis."""
    return np.sqrt(np.mean(np.square(values), axis=0))


def shift_of(estimator: Estimator) -> Floats:
    """Where the estimator's origin is in the world, m."""
    frame = estimator.frame
    assert frame is not None
    return np.array(LocalFrame(*PLACE).to_ned(frame.latitude, frame.longitude, frame.altitude))


def follow(flight: Flight, estimator: Estimator, fault: Callable[[float, SensorData], None] | None = None) -> Errors:
    """Run the estimator over a flight; `fault` may spoil the row. Errors are estimate less truth."""
    truths, rows, covariances = [], [], []
    for truth, data in flight:
        if fault is not None:
            fault(data.row[0] * 1e-6, data)
        estimator.update(data)
        truths.append(truth)
        rows.append(estimator.row.copy())
        covariances.append(estimator.covariance.copy())
    estimated = np.array(rows)
    truly = Rotation.from_euler("ZYX", [truth.euler[::-1] for truth in truths])
    return Errors(
        estimated[:, 0] * 1e-6,
        estimated[:, 1:4] + shift_of(estimator) - np.array([truth.position for truth in truths]),
        estimated[:, 4:7] - np.array([truth.velocity for truth in truths]),
        (truly.inv() * Rotation.from_quat(estimated[:, [8, 9, 10, 7]])).as_rotvec(),
        np.array(covariances),
    )


class Bench:
    """What the tests use."""

    Flight = Flight
    motions: ClassVar = {"standing": standing, "circle": circle, "turn": coordinated_turn, "shuttle": shuttle}
    follow = staticmethod(follow)
    rms = staticmethod(rms)


@pytest.fixture
def bench() -> Bench:
    """The bench."""
    return Bench()
