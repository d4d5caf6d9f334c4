"""The contract of a simulator that autopilots fly in. A new one is a file with `ADAPTER = MyAdapter`."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paddock.errors import PaddockError
from paddock.sitl import actuators, sensor_data
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.sensor_data import Floats, SensorData


class AdapterError(PaddockError):
    """A simulator cannot be reached, or does not do what it should; the message says what to do about it."""


@dataclass(frozen=True)
class Capabilities:
    """What a simulator offers."""

    sensors: frozenset[str]  # of imu, gnss, compass, barometer, rangefinder, airspeed, battery, truth
    max_rate: float  # Hz: exchanges per second of simulated time
    max_vehicles: int = 1
    terrain: bool = False
    wind: bool = False

    @property
    def multi_vehicle(self) -> bool:
        """Whether one adapter carries several vehicles."""
        return self.max_vehicles > 1


@dataclass(frozen=True)
class Placed:
    """A vehicle that is to be in the simulator: what it is and where it starts."""

    id: int  # 1 to 254
    name: str
    craft: str  # copter, rover, rover_ackermann, plane
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m north, east, down of the origin
    heading: float = 0.0  # rad, clockwise from north


class SimulatorAdapter(ABC):
    """A simulator with one or several vehicles. All methods may be called from any thread.

    Life: made -> `connect` -> `add_vehicle` ... `step`, `receive_sensors`, `send_actuators` ... -> `disconnect`.
    `connect` and `disconnect` may be called again; what is done to an adapter that is not connected is an AdapterError
    in one line. Actuators hold their last value. `step` advances all vehicles, by exactly that time where the adapter
    `supports_lockstep`.
    """

    adapter_type: ClassVar[str]
    """The name under which it is registered."""

    def __init__(self, name: str = "") -> None:
        self.name = name or self.adapter_type
        self.lock = threading.RLock()  # implementations hold it while they touch what is shared

    # life ------------------------------------------------------------------------------------------------------------

    @abstractmethod
    def connect(self) -> None:
        """Reach the simulator; nothing if it is connected. AdapterError if it cannot be reached."""

    @abstractmethod
    def disconnect(self) -> None:
        """Let go of everything; nothing if it is not connected."""

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether the simulator can be reached, as far as known."""

    @abstractmethod
    def add_vehicle(self, vehicle: Placed) -> None:
        """Have one more vehicle; an id that is there, or one too many, is an AdapterError."""

    @abstractmethod
    def remove_vehicle(self, vehicle: int) -> None:
        """Have it no more."""

    @property
    @abstractmethod
    def vehicles(self) -> tuple[int, ...]:
        """The ids of its vehicles, ascending."""

    @abstractmethod
    def reset(self) -> None:
        """Everything as after `connect` and `add_vehicle`, time 0; the connection stays."""

    # time ------------------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def supports_lockstep(self) -> bool:
        """Whether simulated time stands still between two calls of `step`."""

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What it offers."""

    @property
    @abstractmethod
    def sim_time_us(self) -> int:
        """Simulated time, us; never falls but by `reset`."""

    @abstractmethod
    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Advance by that much simulated time; False when the simulator did not answer within `timeout` s."""

    # exchange --------------------------------------------------------------------------------------------------------

    @abstractmethod
    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """The newest sensor data of a vehicle, yours to keep; None if there is none newer than what was received."""

    @abstractmethod
    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What the actuators do from now on. Values outside their range are clipped, NaN is an AdapterError."""

    def sensor_period_us(self, vehicle: int) -> int | None:
        """Simulated us between two samples of a vehicle's IMU, rounded down; None: one for every exchange.

        A sample is the mean since the one before: a pilot that exchanges less often misses motion. The bridge tells
        it, and the built-in one then exchanges as often as there are samples.
        """
        return None

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Write the newest sensor data of several vehicles into rows (n, WIDTH); a row without news stays."""
        for k, vehicle in enumerate(vehicles):
            received = self.receive_sensors(vehicle)
            if received is not None:
                block[k] = received.row

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """The actuator commands (n, WIDTH) of several vehicles."""
        for k, vehicle in enumerate(vehicles):
            self.send_actuators(ActuatorCommands(block[k]), vehicle)

    # for coroutines --------------------------------------------------------------------------------------------------

    async def receive_sensors_async(self, vehicle: int = 1) -> SensorData | None:
        """`receive_sensors` without blocking the event loop."""
        return await asyncio.to_thread(self.receive_sensors, vehicle)

    async def send_actuators_async(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """`send_actuators` without blocking the event loop."""
        await asyncio.to_thread(self.send_actuators, commands, vehicle)

    async def step_async(self, dt_us: int, timeout: float = 1.0) -> bool:
        """`step` without blocking the event loop."""
        return await asyncio.to_thread(self.step, dt_us, timeout)


def blank_sensors(count: int) -> Floats:
    """Rows for `receive_block`, nothing measured yet."""
    return sensor_data.empty_block(count)


def blank_actuators(count: int) -> Floats:
    """Rows for `send_block`: disarmed, everything at 0."""
    return np.zeros((count, actuators.WIDTH))
