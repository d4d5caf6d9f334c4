"""A rig for the copter: the built-in autopilot flies the quadrotor's own physics, by truth or by noisy sensors."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, radians
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.autopilot import BuiltInAutopilot
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.vehicle_data import TRUTH, Floats, SensorData
from paddock.compute.quaternion import unrotate
from paddock.compute.routine import routine
from paddock.scenario.loading import load_preset
from paddock.sensing.sensor import find_sensor
from paddock.sensing.site import site_at
from paddock.sensing.suite import FleetSensor
from paddock.vehicles.model import Placement
from paddock.vehicles.models.quad import place, step
from paddock.vehicles.parts.quad import MOTORS, Command, Parameters, State
from paddock.world.columns import Environment, defaults_of
from paddock.world.geodesy import Origin

PLACE = (35.6812, 139.7671, 40.0)
FRAME = LocalFrame(*PLACE)
FIELD = (-4.1e-6, 29.7e-6, -35.6e-6)  # T: east, north, up
PERIOD, SUBSTEPS = 0.004, 4
ROOT_HALF = 0.7071067811865476
SENSORS = ("imu", "gnss", "compass", "barometer")


def steps(s: State, u: Command, p: Parameters, w: Environment, dt: float, count: int) -> State:
    """Several ticks with the same command."""
    for _ in range(count):
        s = step(s, u, p, w, dt)
    return s


moved = routine(steps)


def product(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return the product of quaternions w, x, y, z."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


class Rig:
    """One copter on the ground at the origin, heading north."""

    def __init__(
        self, preset: str = "iris", noisy: bool = False, wind: tuple[float, float] = (0.0, 0.0), **more: float
    ) -> None:
        """`wind`: m/s towards north and east; `more`: the autopilot's parameters."""
        self.parameters = Parameters(**load_preset("quad", preset))
        self.environment = Environment(wind_x=wind[1], wind_y=wind[0])
        self.state = place(Placement(0.0, 0.0, 0.0, radians(90.0), 0.0), self.parameters, self.environment)
        self.autopilot = BuiltInAutopilot(1, "copter", parameters=more, use_truth=not noisy)
        self.noisy, self.tick, self.data = noisy, 0, SensorData()
        self.log: list[tuple[float, ...]] = []
        self.blind = False  # no satellites
        site = site_at(Origin(*PLACE))
        rates: dict[str, dict[str, Any]] = {"imu": {"rate": 250.0}}
        self.sensors = {n: FleetSensor(find_sensor(n), rates.get(n, {}), 1000.0, site) for n in SENSORS if noisy}

    # physics -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """4 ms: sensors, autopilot, physics."""
        self.autopilot.offer(self._sense())
        row = self.autopilot.collect(0.0).row.tolist()
        command = Command(armed=row[0], mode=MOTORS, motor_1=row[1], motor_2=row[2], motor_3=row[3], motor_4=row[4])
        self.before = self.state
        self.state = moved(self.state, command, self.parameters, self.environment, PERIOD / SUBSTEPS, SUBSTEPS)
        self.tick += 4
        s = self.state
        self.log.append((self.time, s.y, s.x, s.z, s.vy, s.vx, s.vz, self.yaw, *row[1:5]))

    @property
    def time(self) -> float:
        """s."""
        return self.tick * 1e-3

    @property
    def ned(self) -> tuple[float, float, float]:
        return self.state.y, self.state.x, -self.state.z

    @property
    def attitude(self) -> tuple[float, float, float, float]:
        """w, x, y, z, body front-right-down to north-east-down."""
        s = self.state
        return product(product((0.0, ROOT_HALF, ROOT_HALF, 0.0), (s.qw, s.qx, s.qy, s.qz)), (0.0, 1.0, 0.0, 0.0))

    @property
    def yaw(self) -> float:
        w, x, y, z = self.attitude
        return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    def _sense(self) -> SensorData:
        values = self._noisy() if self.noisy else self._true()
        return SensorData(self.data.row, time_us=self.tick * 1000.0, **values)

    def _true(self) -> dict[str, Any]:
        s, now = self.state, self.tick * 1000.0
        last = getattr(self, "before", s)
        force = [(a - b) / PERIOD for a, b in zip(s[3:6], last[3:6], strict=True)]
        x, y, z = unrotate(s.qx, s.qy, s.qz, s.qw, force[0], force[1], force[2] + self.environment.gravity)
        self.data.row[TRUTH] = (*self.ned, s.vy, s.vx, -s.vz, *self.attitude)
        quick = {"imu_time_us": now, "gyro": (s.wx, -s.wy, -s.wz), "accel": (x, -y, -z)}
        return quick | self._slow(now) if self.tick % 200 == 0 else quick

    def _slow(self, now: float) -> dict[str, Any]:
        s = self.state
        position = FRAME.to_geodetic(*self.ned)
        x, y, z = unrotate(s.qx, s.qy, s.qz, s.qw, *FIELD)
        return {
            **self._fix(now, position, (s.vy, s.vx, -s.vz)),
            "baro_time_us": now,
            "pressure": 101325.0 * (1.0 - 2.25577e-5 * position[2]) ** 5.25588,
            "compass_time_us": now,
            "mag": (x, -y, -z),
        }

    def _fix(self, time: float, position: tuple[float, ...], velocity: tuple[float, ...]) -> dict[str, Any]:
        if self.blind:
            return {"gnss_time_us": time, "gnss_fix": 0.0}
        latitude, longitude, altitude = position
        return {
            "gnss_time_us": time,
            "gnss_fix": 3.0,
            "gnss_satellites": 12.0,
            "latitude": latitude,
            "longitude": longitude,
            "altitude": altitude,
            "velocity": velocity,
            "gnss_eph": 0.5,
            "gnss_epv": 1.0,
        }

    def _noisy(self) -> dict[str, Any]:
        s = self.state
        pose = np.array([[*s[0:3], s.qx, s.qy, s.qz, s.qw, *s[3:6], s.wx, s.wy, s.wz]]).T.copy()
        for sensor in self.sensors.values():
            if self.tick == sensor.due(self.tick):
                sensor.sample(self.tick, pose, 1, np.array([5]), defaults_of(Environment).copy(), 7)
            sensor.arrive(self.tick)
        read = {n: {k: float(v[0]) for k, v in sensor.readings().items()} for n, sensor in self.sensors.items()}
        time = {n: sensor.sample_tick * 1000.0 for n, sensor in self.sensors.items()}
        imu, gnss, compass = read["imu"], read["gnss"], read["compass"]
        where = FRAME.to_geodetic(gnss["y"], gnss["x"], -gnss["z"])
        return {
            "imu_time_us": time["imu"],
            "gyro": (imu["wx"], -imu["wy"], -imu["wz"]),
            "accel": (imu["ax"], -imu["ay"], -imu["az"]),
            **self._fix(time["gnss"], where, (gnss["vy"], gnss["vx"], -gnss["vz"])),
            "compass_time_us": time["compass"],
            "mag": (compass["field_x"], -compass["field_y"], -compass["field_z"]),
            "baro_time_us": time["barometer"],
            "pressure": read["barometer"]["pressure"],
        }

    # flying ------------------------------------------------------------------------------------------------------

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> Floats:
        """Fly on; the log of that time: time, north, east, up, vn, ve, vup, yaw, motors 1 to 4."""
        first = len(self.log)
        for _ in range(round(seconds / PERIOD)):
            self.step()
            if until is not None and until():
                break
        return np.array(self.log[first:])

    def ready(self) -> None:
        """Wait for a position and arm in GUIDED."""
        self.run(40.0, lambda: bool(self.autopilot.estimate.position_ok) and self.time > 2.0)
        assert self.autopilot.set_mode(4).accepted
        self.run(0.1)
        answer = self.autopilot.arm()
        assert answer.accepted, answer.text

    def take_off(self, height: float = 10.0) -> Floats:
        """Armed, up and settled."""
        self.ready()
        answer = self.autopilot.command(22, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, height))
        assert answer.accepted, answer.text
        up = self.run(30.0, lambda: self.state.z > height - 0.1)
        return np.vstack([up, self.run(4.0)])

    def distance(self, north: float, east: float) -> float:
        return hypot(self.state.y - north, self.state.x - east)


@pytest.fixture
def rig() -> type[Rig]:
    """Make one: rig("micro", wind=(3.0, 0.0))."""
    return Rig


@pytest.fixture(scope="module")
def module_rig() -> type[Rig]:
    """The same for fixtures of a module."""
    return Rig
