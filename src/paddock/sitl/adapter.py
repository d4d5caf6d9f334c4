"""The contract of a simulator for autopilots, and how one is found by its type."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paddock.autopilot.vehicle_data import ActuatorCommands, Floats, SensorData, blank_sensors
from paddock.errors import PaddockError
from paddock.plugins import PluginFolder
from paddock.scenario.sitl import LAST_SYSID
from paddock.sitl import adapters


class AdapterError(PaddockError):
    """A simulator is unreachable or broke its contract; the message says what to do."""


@dataclass(frozen=True)
class Capabilities:
    """Features of a simulator."""

    sensors: frozenset[str]  # of imu, gnss, compass, barometer, rangefinder, airspeed, battery, truth
    max_rate: float  # Hz: exchanges per second of simulated time
    max_vehicles: int = 1
    terrain: bool = False
    wind: bool = False


@dataclass(frozen=True)
class Placed:
    """A vehicle for a simulator: its craft and where it starts."""

    id: int  # 1 to 254
    name: str
    craft: str  # copter, rover, rover_ackermann, plane
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m north, east, down of the origin
    heading: float = 0.0  # rad, clockwise from north


class SimulatorAdapter(ABC):
    """A simulator with one or several vehicles. All methods may be called from any thread.

    Life cycle: `connect`, `add_vehicle` ..., then `step`, `receive_sensors` and `send_actuators`, then `disconnect`.
    `connect` and `disconnect` are idempotent; other calls on an unconnected adapter raise an AdapterError of one line.
    Actuators hold their last value. `step` advances all vehicles, by exactly `dt_us` where it `supports_lockstep`.
    """

    adapter_type: ClassVar[str]  # name under which it is registered
    hosted: ClassVar[bool] = False  # whether the engine moves its vehicles: the bridge then never calls `step`

    def __init__(self, name: str = "") -> None:
        self.name = name or self.adapter_type
        self.lock = threading.RLock()  # implementations hold it while they access shared state

    @abstractmethod
    def connect(self) -> None:
        """Connect to the simulator, if not connected; AdapterError if it is unreachable."""

    @abstractmethod
    def disconnect(self) -> None:
        """Release everything, if connected."""

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether the simulator is connected, as far as known."""

    @abstractmethod
    def add_vehicle(self, vehicle: Placed) -> None:
        """Add a vehicle; AdapterError if its id is taken or the simulator is full."""

    @abstractmethod
    def remove_vehicle(self, vehicle: int) -> None:
        """Remove a vehicle."""

    @property
    @abstractmethod
    def vehicles(self) -> tuple[int, ...]:
        """Ids of its vehicles, ascending."""

    @abstractmethod
    def reset(self) -> None:
        """Return to the state after `connect` and `add_vehicle`, at time 0, without disconnecting."""

    @property
    @abstractmethod
    def supports_lockstep(self) -> bool:
        """Whether simulated time stands still between two calls of `step`."""

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """Its features."""

    @property
    @abstractmethod
    def sim_time_us(self) -> int:
        """Simulated time, us; only `reset` decreases it."""

    @abstractmethod
    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Advance simulated time by `dt_us`; False if the simulator did not answer within `timeout` s."""

    @abstractmethod
    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """Return a copy of the newest sensor data of a vehicle; None if it has been received already."""

    @abstractmethod
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """Set the actuators of a vehicle. Values out of range are clipped, NaN is an AdapterError."""

    def diagnosis(self) -> str:
        """Return why a step was not answered and what to check, as far as known."""
        return "is the simulator running, and not paused?"

    def sensor_period_us(self, vehicle: int) -> int | None:
        """Return the sample period of a vehicle's IMU, simulated us, rounded down; None: a sample for every exchange.

        A sample is the mean since the previous one, so an autopilot that exchanges less often misses motion. The
        bridge passes the period on; the built-in autopilot then exchanges once per sample.
        """
        return None

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Write the newest sensor data of several vehicles into rows (n, SENSOR_WIDTH); rows without new data stay."""
        for k, vehicle in enumerate(vehicles):
            received = self.receive_sensors(vehicle)
            if received is not None:
                block[k] = received.row

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Set the actuators of several vehicles from rows (n, ACTUATOR_WIDTH)."""
        for k, vehicle in enumerate(vehicles):
            self.send_actuators(ActuatorCommands(block[k]), vehicle)


class BlockAdapter(SimulatorAdapter):
    """Base class of lockstep simulators that exchange blocks: a subclass has `receive_block` and `send_block`."""

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self._placed: dict[int, Placed] = {}  # by id, in order of addition

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ids, ascending."""
        with self.lock:
            return tuple(sorted(self._placed))

    def _not_connected(self) -> AdapterError:
        return AdapterError(f"adapter {self.name!r} is not connected: call connect() first")

    @abstractmethod
    def _check(self) -> None:
        """Raise an AdapterError before `connect`."""

    def _find(self, vehicle: int) -> Placed:
        self._check()
        if vehicle not in self._placed:
            known = ", ".join(map(str, self.vehicles)) or "none"
            raise AdapterError(f"adapter {self.name!r} has no vehicle {vehicle}; it has: {known}")
        return self._placed[vehicle]

    def _check_id(self, vehicle: Placed) -> None:
        """Refuse a new vehicle whose id is invalid or taken."""
        self._check()
        if not 1 <= vehicle.id <= LAST_SYSID:
            raise AdapterError(f"adapter {self.name!r}: a vehicle's id must be 1 to {LAST_SYSID}, not {vehicle.id}")
        if vehicle.id in self._placed:
            raise AdapterError(f"adapter {self.name!r} has a vehicle {vehicle.id} already")

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """Return a copy of its row, if time has passed since the last one."""
        block = blank_sensors(1)
        self.receive_block((vehicle,), block)
        return SensorData(block[0]) if block[0, 0] >= 0.0 else None

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """Set its actuators, as a block of one row."""
        self.send_block((vehicle,), commands.row[None, :])

    def _refuse_nan(self, vehicles: Sequence[int], block: Floats) -> None:
        """Refuse actuator commands (n, ACTUATOR_WIDTH) with NaN."""
        if np.count_nonzero(np.isnan(block)):
            bad = vehicles[int(np.flatnonzero(np.isnan(block).any(axis=1))[0])]
            raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {bad} is NaN")


def _check_adapter(kind: type) -> None:
    if not issubclass(kind, SimulatorAdapter):
        raise PaddockError(f"adapter {kind.__name__} is not a SimulatorAdapter")


ADAPTERS: PluginFolder[Any] = PluginFolder("adapter", adapters, "paddock.adapters", "ADAPTER", type, _check_adapter)
find_adapter, adapter_types = ADAPTERS.find, ADAPTERS.names
