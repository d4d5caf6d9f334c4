"""A bench for the estimator: motions written down as formulas, seen through the noisy sensors of `paddock.sensing`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import atan, cos, pi, sin
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from paddock.sensing.registry import find_sensor
from paddock.sensing.site import site_at
from paddock.sensing.suite import FleetSensor
from paddock.sitl.autopilot.estimator import Estimator
from paddock.sitl.autopilot.local_frame import LocalFrame
from paddock.sitl.sensor_data import Floats, SensorData
from paddock.world.columns import defaults_of
from paddock.world.geodesy import Origin
from paddock.world.pose import Environment

GRAVITY = 9.80665
TICK_RATE = 1000.0
PLACE = (35.6812, 139.7671, 40.0)
NED_TO_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FRD_TO_FLU = np.diag([1.0, -1.0, -1.0])


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


def pose_of(truth: Truth) -> Floats:
    """The column (13, 1) that sensors see."""
    rotation = Rotation.from_matrix(NED_TO_ENU @ truth.rotation.as_matrix() @ FRD_TO_FLU)
    place, velocity = NED_TO_ENU @ truth.position, NED_TO_ENU @ truth.velocity
    return np.concatenate([place, rotation.as_quat(), velocity, FRD_TO_FLU @ truth.rates])[:, None].copy()


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
        for tick in range(0, round(self.seconds * TICK_RATE), step):
            truth = self.motion(tick / TICK_RATE)
            self._sample(sensors, tick, pose_of(truth))
            self._write(sensors, tick, data)
            yield truth, data

    def _sample(self, sensors: dict[str, FleetSensor], tick: int, pose: Floats) -> None:
        for sensor in sensors.values():
            if tick == sensor.due(tick):
                sensor.sample(tick, pose, 1, np.array([5]), defaults_of(Environment), self.seed)
            sensor.arrive(tick)

    def _write(self, sensors: dict[str, FleetSensor], tick: int, data: SensorData) -> None:
        read = {n: {k: float(v[0]) for k, v in s.readings().items()} for n, s in sensors.items()}
        time = {n: s.sample_tick * 1e6 / TICK_RATE for n, s in sensors.items()}
        imu, gnss, compass = read["imu"], read["gnss"], read["compass"]
        latitude, longitude, altitude = LocalFrame(*PLACE).to_geodetic(gnss["y"], gnss["x"], -gnss["z"])
        values = SensorData(
            data.row,
            time_us=tick * 1e6 / TICK_RATE,
            imu_time_us=time["imu"],
            gyro=np.array([imu["wx"], -imu["wy"], -imu["wz"]]) + self.gyro_bias,
            accel=np.array([imu["ax"], -imu["ay"], -imu["az"]]) + self.accel_bias,
            gnss_time_us=time["gnss"],
            gnss_fix=3.0,
            latitude=latitude,
            longitude=longitude,
            altitude=altitude,
            velocity=[gnss["vy"], gnss["vx"], -gnss["vz"]],
            gnss_eph=0.5,
            gnss_epv=1.0,
            compass_time_us=time["compass"],
            mag=[compass["field_x"], -compass["field_y"], -compass["field_z"]],
            baro_time_us=time["barometer"],
            pressure=read["barometer"]["pressure"],
        )
        assert values.row is data.row


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


def error_now(estimator: Estimator, truth: Truth) -> tuple[Floats, Floats, Floats]:
    """Estimate less truth: position, velocity, attitude as a rotation vector in body axes."""
    row, frame = estimator.row, estimator.frame
    shift = np.zeros(3) if frame is None else LocalFrame(*PLACE).to_ned(frame.latitude, frame.longitude, frame.altitude)
    turned = Rotation.from_quat(row[[8, 9, 10, 7]])
    attitude = (truth.rotation.inv() * turned).as_rotvec()
    return row[1:4] + shift - truth.position, row[4:7] - truth.velocity, attitude


def follow(flight: Flight, estimator: Estimator, fault: Callable[[float, SensorData], None] | None = None) -> Errors:
    """Run the estimator over a flight; `fault` may spoil the row."""
    times, errors, covariances = [], [], []
    for truth, data in flight:
        seconds = data.row[0] * 1e-6
        if fault is not None:
            fault(seconds, data)
        estimator.update(data)
        times.append(seconds)
        errors.append(error_now(estimator, truth))
        covariances.append(estimator.covariance)
    position, velocity, attitude = (np.array(e) for e in zip(*errors, strict=True))
    return Errors(np.array(times), position, velocity, attitude, np.array(covariances))


class Bench:
    """What the tests use."""

    Flight = Flight
    motions: ClassVar = {"standing": standing, "circle": circle, "turn": coordinated_turn, "shuttle": shuttle}
    follow = staticmethod(follow)
    error_now = staticmethod(error_now)
    rms = staticmethod(rms)


@pytest.fixture
def bench() -> Bench:
    """The bench."""
    return Bench()
