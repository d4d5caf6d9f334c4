"""The contract of a simulator for autopilots, base classes of simulators with several vehicles, and the known types."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot.vehicle_data import ActuatorCommands, Floats, SensorData, blank_sensors
from paddock.compute.philox import signed
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.plugins import PluginFolder
from paddock.scenario.base import Flag, NotNegative, Text, Whole
from paddock.scenario.sitl import LAST_SYSID
from paddock.sensing.site import site_at
from paddock.sitl import adapters
from paddock.sitl.equipment import TIMES, AdapterOptions, Instrument
from paddock.world.columns import Pose
from paddock.world.fleet import stream_ids
from paddock.world.geodesy import Origin


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


RATES = {"gnss": 5.0, "compass": 25.0, "barometer": 25.0}
"""Hz of the sensors other than the IMU, which samples at the adapter's rate."""


class RowAdapter(BlockAdapter):
    """Vehicles in rows, in order of addition, with sensors of `paddock.sensing`, in lockstep.

    A subclass initialises the row of a vehicle (`_add_row`), compacts the rows when one is removed (`_remove_row`), and
    moves the vehicles (`_step_vehicles`, `_update_poses`), or has a `step` of its own that fills `_block`, the sensor
    data of all.
    """

    crafts: ClassVar[tuple[str, ...]]  # crafts that it supports
    capacity: ClassVar[int] = LAST_SYSID
    has_imu: ClassVar[bool] = False  # whether the simulator has its own IMU, which is then not among the instruments
    has_airspeed: ClassVar[bool] = False
    terrain: ClassVar[bool] = False
    wind_blows: ClassVar[bool] = False
    physics_us: int = 0  # longest step of its model; 0: any

    def __init__(
        self,
        name: str,
        seed: int,
        origin: tuple[float, float, float],
        rate: float,
        noise: float | bool,
        truth: bool,
        sensors: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """`origin`: deg, deg, m; `rate` of the IMU, Hz; `noise`: a factor; `sensors` overrides their options."""
        super().__init__(name)
        self.options = options = AdapterOptions(f"adapter {self.name!r}")
        self.seed = signed(options.check(Whole, "seed", seed, "a whole number"))
        coordinates = options.triple("origin", origin, "latitude deg, longitude deg, height m")
        try:
            self.origin = Origin(*coordinates)
        except InvalidValueError as error:
            raise InvalidValueError(f"{options.where}: {error}") from None
        self.rate = options.positive("rate", rate)
        self.noise = float(options.check(NotNegative | Flag, "noise", noise, "a factor from 0 on, true or false"))
        self.truth = bool(options.check(Flag, "truth", truth, "true or false"))
        rates = RATES if self.has_imu else {"imu": self.rate, **RATES}  # the IMU comes first
        kind, expected = dict[Text, dict[Text, Any]], "options of sensors, e.g. {gnss: {rate: 10}}"
        settings = options.check(kind, "sensors", {} if sensors is None else sensors, expected)
        for sensor in settings:
            if sensor not in rates:
                raise unknown_name("sensor", str(sensor), rates, options.where)
        site = site_at(self.origin)
        self._instruments = [
            Instrument(kind, {"rate": rate, **settings.get(kind, {})}, self.noise, self.origin, site, self.capacity)
            for kind, rate in rates.items()
        ]
        self._connected = False
        self._row_of = np.full(256, -1, dtype=np.int64)
        self._clear()

    @abstractmethod
    def _add_row(self, row: int, vehicle: Placed) -> None:
        """Place a vehicle at its start, at rest, in the next row, or at a reset in its own."""

    @abstractmethod
    def _remove_row(self, row: int, kept: NDArray[np.int64]) -> None:
        """Drop the vehicle of a row; the `kept` rows move up."""

    @abstractmethod
    def _set_actuators(self, rows: NDArray[np.int64], block: Floats) -> None:
        """Set the actuators of these rows from commands (n, ACTUATOR_WIDTH), none of which is NaN."""

    def _check_available(self) -> None:
        """Check that the simulator is available; AdapterError if not."""

    def _step_vehicles(self, seconds: float) -> None:
        """Move all vehicles."""

    def _update_poses(self) -> None:
        """Bring the poses up to date, before they are measured."""

    def _write_rows(self, count: int) -> None:
        """Write what the instruments do not measure into the first rows of `_block`."""

    def _clear(self) -> None:
        """Return to time 0, nothing measured."""
        self._time_us = 0
        self._pose = self._level = np.zeros((len(Pose._fields), self.capacity))  # `_level`: for the barometer
        self._block = blank_sensors(self.capacity)
        self._received = np.full(self.capacity, -1.0)
        self._streams = np.zeros(self.capacity, dtype=np.int64)
        self._fresh = False  # a vehicle was added or reset since the last sample
        for instrument in self._instruments:
            instrument.reset()

    def connect(self) -> None:
        """Check that the simulator is available."""
        with self.lock:
            self._check_available()
            self._connected = True

    def disconnect(self) -> None:
        """Remove all vehicles; the next `connect` starts at time 0."""
        with self.lock:
            if self._connected:
                for vehicle in self.vehicles:
                    self.remove_vehicle(vehicle)
                self._connected = False
                self._clear()

    @property
    def is_connected(self) -> bool:
        """Whether it is between `connect` and `disconnect`."""
        return self._connected

    def add_vehicle(self, vehicle: Placed) -> None:
        """Add a vehicle at its start."""
        with self.lock:
            self._check_id(vehicle)
            if vehicle.craft not in self.crafts:
                known = ", ".join(map(repr, self.crafts))
                raise AdapterError(f"adapter {self.name!r} supports craft {known} only, not {vehicle.craft!r}")
            if len(self._placed) == self.capacity:
                raise AdapterError(f"adapter {self.name!r} is full with {self.capacity} vehicles")
            if not np.isfinite([*vehicle.position, vehicle.heading]).all():
                raise AdapterError(f"adapter {self.name!r}: the place of vehicle {vehicle.id} is not finite")
            row = len(self._placed)
            self._add_row(row, vehicle)
            self._placed[vehicle.id] = vehicle
            self._row_of[vehicle.id] = row
            self._begin_row(row, vehicle)
            for instrument in self._instruments:
                instrument.align(self._time_us)

    def _begin_row(self, row: int, placed: Placed) -> None:
        """Clear the sensor data of a row and seed its noise."""
        self._fresh = not self.has_imu
        self._block[row], self._received[row] = blank_sensors(1)[0], -1.0
        self._streams[row] = stream_ids(placed.name, np.array([placed.id]))[0]

    def remove_vehicle(self, vehicle: int) -> None:
        """Remove a vehicle; the rows after it move up."""
        with self.lock:
            n, removed = len(self._placed), list(self._placed).index(self._find(vehicle).id)
            kept = np.delete(np.arange(n), removed)
            self._remove_row(removed, kept)
            for array in (self._block, self._received, self._streams):
                array[: n - 1] = array[kept]
            for instrument in self._instruments:
                instrument.sensor.keep(kept[kept < instrument.sensor.n])
            del self._placed[vehicle]
            self._row_of[:] = -1
            self._row_of[list(self._placed)] = np.arange(n - 1)

    def reset(self) -> None:
        """Return all vehicles to their starts at time 0, with the same noise."""
        with self.lock:
            self._check()
            self._clear()
            for row, placed in enumerate(self._placed.values()):
                self._add_row(row, placed)
                self._begin_row(row, placed)

    @property
    def capabilities(self) -> Capabilities:
        """IMU, GNSS, compass, barometer, and what the simulator adds; truth on request."""
        others = ["airspeed"] * self.has_airspeed + ["truth"] * self.truth
        return Capabilities(frozenset([*TIMES, *others]), self.rate, self.capacity, self.terrain, self.wind_blows)

    @property
    def sim_time_us(self) -> int:
        """The sum of the steps."""
        return self._time_us

    def _end_of(self, dt_us: int) -> int:
        """Return the end of a step, us; refuse a negative one."""
        self._check()
        if dt_us < 0:
            raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
        return self._time_us + dt_us

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Move and sense; the vehicles stop at each sample time, whatever the lengths of the steps."""
        with self.lock:
            end = self._end_of(dt_us)
            self._measure_new()
            while self._time_us < end:
                grid = (self._time_us // self.physics_us + 1) * self.physics_us if self.physics_us else end
                until = min(end, grid, *(i.next_us for i in self._instruments)) if self._placed else end
                self._step_vehicles(1e-6 * (until - self._time_us))
                self._time_us = until
                self._sense()
            self._publish()
        return True

    def _measure_new(self) -> None:
        """Measure vehicles that were just added, before they move."""
        if self._fresh:
            self._fresh = False
            self._sense()
            self._publish()

    def _sense(self) -> None:
        due = [i for i in self._instruments if i.next_us == self._time_us] if self._placed else []
        if due:
            self._update_poses()
        for instrument in due:
            pose = self._level if instrument.kind == "barometer" else self._pose
            instrument.sample(self._time_us, pose, len(self._placed), self._streams, self.seed)

    def _publish(self) -> None:
        n = len(self._placed)
        for instrument in self._instruments if n else ():
            instrument.publish(self._time_us, self._block)
        self._block[:n, 0] = self._time_us
        self._write_rows(n)

    def sensor_period_us(self, vehicle: int) -> int | None:
        """Return the period of the instrument; the simulator's own IMU is read at every exchange."""
        with self.lock:
            self._find(vehicle)
            return None if self.has_imu else self._instruments[0].sensor.period

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Write all rows in one copy."""
        with self.lock:
            rows = self._rows(vehicles)
            self._measure_new()
            updated = self._block[rows, 0] > self._received[rows]
            block[updated] = self._block[rows[updated]]
            self._received[rows] = self._block[rows, 0]

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """Set the actuators of several vehicles."""
        with self.lock:
            rows = self._rows(vehicles)
            self._refuse_nan(vehicles, block)
            self._set_actuators(rows, block)

    def _check(self) -> None:
        if not self._connected:
            raise self._not_connected()

    def _rows(self, vehicles: Sequence[int]) -> NDArray[np.int64]:
        self._check()
        rows = self._row_of.take(vehicles, mode="clip")
        if len(rows) and rows.min() < 0:
            self._find(vehicles[int(rows.argmin())])  # the error names it
        return rows


def _check_adapter(kind: type) -> None:
    if not issubclass(kind, SimulatorAdapter):
        raise PaddockError(f"adapter {kind.__name__} is not a SimulatorAdapter")


ADAPTERS: PluginFolder[Any] = PluginFolder("adapter", adapters, "paddock.adapters", "ADAPTER", type, _check_adapter)
find_adapter, adapter_types = ADAPTERS.find, ADAPTERS.names
