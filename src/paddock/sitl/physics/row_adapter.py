"""What adapters have in common whose vehicles are rows of arrays: who is there, who is refused, what was received."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.compute.philox import signed
from paddock.sitl.adapter import AdapterError, Placed, SimulatorAdapter
from paddock.sitl.equipment.options import Options
from paddock.sitl.sensor_data import Floats, SensorData, empty_block
from paddock.world.fleet import stream_ids

LAST_ID = 254
RATES = {"gnss": 5.0, "compass": 25.0, "barometer": 25.0}
"""Hz of the sensors that are slower than an adapter's own rate, at which the IMU samples."""


class RowAdapter(SimulatorAdapter):
    """Vehicles in rows, in the order in which they came, with sensors of `paddock.sensing`, in lockstep.

    An implementation puts a vehicle into its row (`_enter`), moves the rows up behind one that goes (`_leave`), and
    fills `_block`, the sensor data of all.
    """

    crafts: ClassVar[tuple[str, ...]]
    """What its vehicles may be."""
    capacity: ClassVar[int] = LAST_ID
    has_imu: ClassVar[bool] = False
    """Whether the simulator has an IMU of its own: then there is none among the instruments."""

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
        self.options = options = Options(f"adapter {self.name!r}")
        self.seed = signed(options.whole("seed", seed))
        self.origin = options.origin(origin)
        self.rate = options.positive("rate", rate)
        self.noise = options.factor("noise", noise)
        self.truth = options.switch("truth", truth)
        rates = RATES if self.has_imu else {"imu": self.rate, **RATES}  # the IMU comes first
        self._instruments = options.instruments(
            {} if sensors is None else sensors, rates, self.noise, self.origin, self.capacity
        )
        self._connected = False
        self._placed: list[Placed] = []
        self._row_of = np.full(256, -1, dtype=np.int64)
        self._clear()

    # what an implementation does -------------------------------------------------------------------------------------

    @abstractmethod
    def _enter(self, row: int, vehicle: Placed) -> None:
        """Put a vehicle at its start, at rest, into the next row, or (at a reset) anew into its own."""

    @abstractmethod
    def _leave(self, row: int, kept: NDArray[np.int64]) -> None:
        """Drop the vehicle of a row; the rows of those that are kept move up."""

    def _reach(self) -> None:
        """See whether the simulator is there; AdapterError if it is not."""

    def _freshen(self) -> None:
        """Measure who has just come, before anything moves."""

    def _clear(self) -> None:
        """Time 0, nothing measured, nobody in the rows."""
        self._time_us = 0
        self._block = empty_block(self.capacity)
        self._received = np.full(self.capacity, -1.0)
        self._streams = np.zeros(self.capacity, dtype=np.int64)
        for instrument in self._instruments:
            instrument.reset()

    # life ------------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Look whether the simulator is there; its time begins."""
        with self.lock:
            self._reach()
            self._connected = True

    def disconnect(self) -> None:
        """Forget the vehicles; the next `connect` begins at time 0."""
        with self.lock:
            if self._connected:
                for vehicle in self.vehicles:
                    self.remove_vehicle(vehicle)
                self._connected = False
                self._clear()

    @property
    def is_connected(self) -> bool:
        """Between `connect` and `disconnect`."""
        return self._connected

    def add_vehicle(self, vehicle: Placed) -> None:
        """Have one more vehicle, at its place."""
        with self.lock:
            self._check()
            self._check_newcomer(vehicle)
            row = len(self._placed)
            self._enter(row, vehicle)
            self._placed.append(vehicle)
            self._row_of[vehicle.id] = row
            self._begin_row(row)
            for instrument in self._instruments:
                instrument.align(self._time_us)

    def _check_newcomer(self, vehicle: Placed) -> None:
        if vehicle.craft not in self.crafts:
            known = ", ".join(map(repr, self.crafts))
            raise AdapterError(f"adapter {self.name!r} drives craft {known} only, not {vehicle.craft!r}")
        if not 1 <= vehicle.id <= LAST_ID:
            raise AdapterError(f"adapter {self.name!r}: a vehicle's id lies in 1 to {LAST_ID}, not {vehicle.id}")
        if self._row_of[vehicle.id] >= 0:
            raise AdapterError(f"adapter {self.name!r} has a vehicle {vehicle.id} already")
        if len(self._placed) == self.capacity:
            raise AdapterError(f"adapter {self.name!r} is full: it has {self.capacity} vehicles")
        if not np.isfinite([*vehicle.position, vehicle.heading]).all():
            raise AdapterError(f"adapter {self.name!r}: the place of vehicle {vehicle.id} is not finite")

    def _begin_row(self, row: int) -> None:
        """Nothing measured, nothing received, its own noise."""
        placed = self._placed[row]
        self._block[row], self._received[row] = empty_block(1)[0], -1.0
        self._streams[row] = stream_ids(placed.name, np.array([placed.id]))[0]

    def remove_vehicle(self, vehicle: int) -> None:
        """Have it no more; the rows after it move up."""
        with self.lock:
            gone, n = self._row(vehicle), len(self._placed)
            kept = np.delete(np.arange(n), gone)
            self._leave(gone, kept)
            for array in (self._block, self._received, self._streams):
                array[: n - 1] = array[kept]
            for instrument in self._instruments:
                instrument.fleet.keep(kept[kept < instrument.fleet.n])
            del self._placed[gone]
            self._row_of[:] = -1
            self._row_of[[placed.id for placed in self._placed]] = np.arange(n - 1)

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ascending, whatever the order in which they came."""
        with self.lock:
            return tuple(sorted(placed.id for placed in self._placed))

    def reset(self) -> None:
        """All vehicles at their places, time 0, the same noise again."""
        with self.lock:
            self._check()
            self._clear()
            for row, placed in enumerate(self._placed):
                self._enter(row, placed)
                self._begin_row(row)

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    @property
    def sim_time_us(self) -> int:
        """The sum of the steps."""
        return self._time_us

    def _end_of(self, dt_us: int) -> int:
        """When a step ends, us; one into the past is refused."""
        self._check()
        if dt_us < 0:
            raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
        return self._time_us + dt_us

    # exchange --------------------------------------------------------------------------------------------------------

    def sensor_period_us(self, vehicle: int) -> int | None:
        """That of the IMU among the instruments; a simulator's own is read at every exchange."""
        with self.lock:
            self._row(vehicle)
            return None if self.has_imu else self._instruments[0].fleet.period

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """A copy of its row, if time has passed since the last one."""
        with self.lock:
            row = self._row(vehicle)
            self._freshen()
            if not self._block[row, 0] > self._received[row]:
                return None
            self._received[row] = self._block[row, 0]
            return SensorData(self._block[row].copy())

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """All rows at once."""
        with self.lock:
            rows = self._rows(vehicles)
            self._freshen()
            news = self._block[rows, 0] > self._received[rows]
            block[news] = self._block[rows[news]]
            self._received[rows] = self._block[rows, 0]

    def _refuse_nan(self, vehicles: Sequence[int], block: Floats) -> None:
        """Actuator commands (n, WIDTH) of these vehicles are numbers."""
        if np.isnan(block).any():
            bad = vehicles[int(np.flatnonzero(np.isnan(block).any(axis=1))[0])]
            raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {bad} is NaN")

    # looking up ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self._connected:
            raise AdapterError(f"adapter {self.name!r} is not connected: connect() comes first")

    def _row(self, vehicle: int) -> int:
        self._check()
        row = int(self._row_of[vehicle]) if 1 <= vehicle <= LAST_ID else -1
        if row < 0:
            known = ", ".join(map(str, self.vehicles)) or "none"
            raise AdapterError(f"adapter {self.name!r} has no vehicle {vehicle}; it has: {known}")
        return row

    def _rows(self, vehicles: Sequence[int]) -> NDArray[np.int64]:
        self._check()
        rows = self._row_of.take(vehicles, mode="clip")
        if len(rows) and rows.min() < 0:
            self._row(vehicles[int(rows.argmin())])  # tells which one
        return rows
