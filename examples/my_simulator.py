"""A simulator of rovers on an infinite plane, as an adapter for autopilots: two wheels, sensors without noise."""

from dataclasses import dataclass, field
from math import cos, radians, sin
from typing import ClassVar

import numpy as np

from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter
from paddock.sitl.vehicle_data import ActuatorCommands, SensorData

LATITUDE, LONGITUDE, HEIGHT = 47.05, 8.31, 430.0  # deg, deg, m: where north = east = 0
DEGREE = 111_195.0  # m of latitude
FIELD_NORTH, FIELD_EAST, FIELD_DOWN = 2.17e-5, 1.27e-6, 4.30e-5  # T: the Earth's field there
SPEED, WHEEL_BASE = 2.0, 0.5  # m/s of a wheel, m
FIX_US = 200_000  # us between two satellite fixes


@dataclass
class Rover:
    """One vehicle."""

    placed: Placed
    north: float  # m
    east: float  # m
    heading: float  # rad, clockwise from north
    wheels: tuple[float, float] = (0.0, 0.0)  # m/s, left and right
    sensors: SensorData = field(default_factory=SensorData)
    received_us: float = -1.0


def move(rover: Rover, dt: float) -> None:
    """Drive for `dt` s."""
    left, right = rover.wheels
    rover.heading += (left - right) / WHEEL_BASE * dt
    rover.north += 0.5 * (left + right) * cos(rover.heading) * dt
    rover.east += 0.5 * (left + right) * sin(rover.heading) * dt


def sense(rover: Rover, now_us: int) -> None:
    """Update its sensors: forward-right-down, north-east-down, SI units, each with the time of its sample."""
    left, right = rover.wheels
    speed, turn = 0.5 * (left + right), (left - right) / WHEEL_BASE
    c, s = cos(rover.heading), sin(rover.heading)
    new = {"time_us": now_us, "imu_time_us": now_us, "gyro": (0, 0, turn), "accel": (0, speed * turn, -9.81)}
    new |= {"compass_time_us": now_us, "baro_time_us": now_us, "pressure": 96_265.0, "temperature": 285.4}
    new["mag"] = (FIELD_NORTH * c + FIELD_EAST * s, FIELD_EAST * c - FIELD_NORTH * s, FIELD_DOWN)
    if now_us - rover.sensors.gnss_time_us >= FIX_US or now_us == 0:
        place = LATITUDE + rover.north / DEGREE, LONGITUDE + rover.east / (DEGREE * cos(radians(LATITUDE)))
        new |= {"gnss_time_us": now_us, "latitude": place[0], "longitude": place[1], "altitude": HEIGHT}
        new |= {"gnss_fix": 3, "gnss_satellites": 12, "gnss_eph": 0.5, "gnss_epv": 0.5}
        new["velocity"] = (speed * c, speed * s, 0)
    rover.sensors = SensorData(rover.sensors.row.copy(), **new)


class MySimulator(SimulatorAdapter):
    """Up to eight rovers."""

    adapter_type: ClassVar[str] = "my_simulator"

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self._rovers: dict[int, Rover] | None = None  # None: not connected
        self._time_us = 0

    def connect(self) -> None:
        """Create the simulation: it runs in this process."""
        with self.lock:
            self._rovers = {} if self._rovers is None else self._rovers

    def disconnect(self) -> None:
        """Discard the simulation."""
        with self.lock:
            self._rovers, self._time_us = None, 0

    @property
    def is_connected(self) -> bool:
        """Whether it is between `connect` and `disconnect`."""
        return self._rovers is not None

    def add_vehicle(self, vehicle: Placed) -> None:
        """Add a rover, at rest."""
        with self.lock:
            rovers = self._all()
            if vehicle.id in rovers or len(rovers) >= self.capabilities.max_vehicles or vehicle.craft != "rover":
                raise AdapterError(f"{self.name}: no room for {vehicle.craft} {vehicle.id}: 8 rovers at most")
            rovers[vehicle.id] = self._started(vehicle)

    def remove_vehicle(self, vehicle: int) -> None:
        """Remove a rover."""
        with self.lock:
            del self._all()[self._rover(vehicle).placed.id]

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ids, ascending."""
        return tuple(sorted(self._rovers or ()))

    def reset(self) -> None:
        """Return all rovers to their start, at time 0."""
        with self.lock:
            rovers, self._time_us = self._all(), 0
            self._rovers = {number: self._started(rover.placed) for number, rover in rovers.items()}

    @property
    def supports_lockstep(self) -> bool:
        """Time stands still between steps."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """The sensors that `sense` updates."""
        return Capabilities(frozenset({"imu", "gnss", "compass", "barometer"}), max_rate=1000.0, max_vehicles=8)

    @property
    def sim_time_us(self) -> int:
        """The sum of the steps."""
        return self._time_us

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Move all rovers; with a simulator in another process, return False if it does not answer in time."""
        with self.lock:
            rovers = self._all().values()
            self._time_us += dt_us
            for rover in rovers:
                move(rover, dt_us * 1e-6)
                sense(rover, self._time_us)
        return True

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """Return a copy of the sensor data, if it is newer than the last one."""
        with self.lock:
            rover = self._rover(vehicle)
            if rover.sensors.time_us <= rover.received_us:
                return None
            rover.received_us = rover.sensors.time_us
            return rover.sensors.copy()

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """Set motors 1 (left) and 2 (right), from -1 to 1; a disarmed rover stands."""
        with self.lock:
            rover = self._rover(vehicle)
            if np.isnan(commands.row).any():
                raise AdapterError(f"{self.name}: an actuator command of vehicle {vehicle} is NaN")
            left, right = np.clip(commands.motors[:2], -1.0, 1.0).tolist()
            rover.wheels = (left * SPEED, right * SPEED) if commands.armed else (0.0, 0.0)

    def _started(self, vehicle: Placed) -> Rover:
        rover = Rover(vehicle, *vehicle.position[:2], vehicle.heading)
        sense(rover, self._time_us)
        return rover

    def _all(self) -> dict[int, Rover]:
        if self._rovers is None:
            raise AdapterError(f"{self.name} is not connected: call connect() first")
        return self._rovers

    def _rover(self, vehicle: int) -> Rover:
        if vehicle not in self._all():
            raise AdapterError(f"{self.name} has no vehicle {vehicle}; it has: {self.vehicles}")
        return self._all()[vehicle]


ADAPTER = MySimulator
