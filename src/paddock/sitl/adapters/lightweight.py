"""The lightweight simulator: differential-drive rovers on flat ground, exact arcs, the sensors of `paddock.sensing`.

Needs nothing but the core of the package, costs microseconds a step, and is the same bit for bit with the same seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, pi
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.compute.philox import signed
from paddock.errors import InvalidValueError, unknown_name
from paddock.sensing.site import site_at
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter
from paddock.sitl.equipment.instruments import TIMES, Instrument
from paddock.sitl.physics.differential_drive import drive_all, show, truth_rows
from paddock.sitl.sensor_data import TRUTH, Floats, SensorData, empty_block
from paddock.world.geodesy import Origin
from paddock.world.pose import Pose
from paddock.world.streams import stream_ids

CRAFT = "rover"
CAPACITY = 254
RATES = {"gnss": 5.0, "compass": 25.0, "barometer": 25.0}
"""Hz of the sensors that are slower than the adapter's own rate, at which the IMU samples."""


class LightweightAdapter(SimulatorAdapter):
    """Differential-drive rovers. Motors 1 (left) and 2 (right) are shares of the top speed of a wheel."""

    adapter_type: ClassVar[str] = "lightweight"

    def __init__(
        self,
        name: str = "",
        *,
        seed: int = 0,
        origin: tuple[float, float, float] = (35.6812, 139.7671, 40.0),
        rate: float = 50.0,
        noise: float | bool = True,
        sensors: Mapping[str, Mapping[str, Any]] | None = None,
        truth: bool = False,
        wheel_base: float = 0.5,
        speed_max: float = 3.0,
        acceleration: float = 3.0,
    ) -> None:
        """`origin`: deg, deg, m; `rate` of the IMU, Hz; `noise`: off, on, or a factor on every noise and random walk.

        `sensors` overrides options, e.g. `{"gnss": {"rate": 10}}`; `wheel_base` m, `speed_max` m/s of a wheel,
        `acceleration` m/s2 of a wheel (inf: at once).
        """
        super().__init__(name)
        self.seed = signed(seed)
        self.origin = Origin(*origin)
        self.truth = truth
        self.wheel_base = _positive("wheel_base", wheel_base)
        self.speed_max = _positive("speed_max", speed_max)
        self.acceleration = _positive("acceleration", acceleration, endless=True)
        self.rate = _positive("rate", rate)
        self._instruments = self._equip(sensors or {}, float(noise))
        self._connected = False
        self._placed: list[Placed] = []
        self._row_of = np.full(256, -1, dtype=np.int64)
        self._fresh = False  # somebody has come, or begun anew, since the sensors were last looked at
        self._clear(0)

    def _equip(self, given: Mapping[str, Mapping[str, Any]], noise: float) -> tuple[Instrument, ...]:
        if not 0.0 <= noise < inf:
            raise InvalidValueError(f"lightweight: noise is a factor from 0 on, not {noise:g}")
        for name in given:
            if name not in TIMES:
                raise unknown_name("sensor", name, TIMES, "lightweight")
        site = site_at(self.origin)
        rates = {"imu": self.rate, **RATES}
        options = {name: {"rate": rates[name], **given.get(name, {})} for name in TIMES}
        return tuple(Instrument(name, options[name], noise, self.origin, site, CAPACITY) for name in TIMES)

    def _clear(self, n: int) -> None:
        """Arrays for `n` rovers at their places, at time 0."""
        self._time_us = 0
        self._pose = np.zeros((len(Pose._fields), CAPACITY))
        self._wheels = np.zeros((3, CAPACITY))
        self._targets = np.zeros((2, CAPACITY))
        self._block = empty_block(CAPACITY)
        self._received = np.full(CAPACITY, -1.0)
        self._streams = np.zeros(CAPACITY, dtype=np.int64)
        for instrument in self._instruments:
            instrument.reset()
        for k in range(n):
            self._put(k)
        self._fresh = n > 0

    def _put(self, k: int) -> None:
        """The rover of that row at its place, at rest."""
        placed = self._placed[k]
        north, east, down = placed.position
        yaw = 0.5 * pi - placed.heading
        self._pose[:, k] = 0.0
        self._pose[:3, k] = east, north, -down
        self._wheels[:, k] = yaw, 0.0, 0.0
        self._targets[:, k] = 0.0
        self._block[k], self._received[k] = empty_block(1)[0], -1.0
        show(self._pose, k, yaw, 0.0, 0.0)
        self._streams[k] = stream_ids(placed.name, np.array([placed.id]))[0]

    # life ------------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """There is nothing to reach: time begins."""
        with self.lock:
            self._connected = True

    def disconnect(self) -> None:
        """Forget the vehicles; the next `connect` begins at time 0."""
        with self.lock:
            if self._connected:
                for vehicle in self.vehicles:
                    self.remove_vehicle(vehicle)
                self._connected = False
                self._clear(0)

    @property
    def is_connected(self) -> bool:
        """Between `connect` and `disconnect`."""
        return self._connected

    def add_vehicle(self, vehicle: Placed) -> None:
        """Have one more rover, at rest at its place."""
        with self.lock:
            self._check()
            if vehicle.craft != CRAFT:
                raise AdapterError(f"adapter {self.name!r} drives craft {CRAFT!r} only, not {vehicle.craft!r}")
            if not 1 <= vehicle.id <= CAPACITY:
                raise AdapterError(f"adapter {self.name!r}: a vehicle's id lies in 1 to {CAPACITY}, not {vehicle.id}")
            if self._row_of[vehicle.id] >= 0:
                raise AdapterError(f"adapter {self.name!r} has a vehicle {vehicle.id} already")
            if not np.isfinite([*vehicle.position, vehicle.heading]).all():
                raise AdapterError(f"adapter {self.name!r}: the place of vehicle {vehicle.id} is not finite")
            self._row_of[vehicle.id] = len(self._placed)
            self._placed.append(vehicle)
            self._put(len(self._placed) - 1)
            for instrument in self._instruments:
                instrument.align(self._time_us)
            self._fresh = True

    def remove_vehicle(self, vehicle: int) -> None:
        """Have it no more; the rows after it move up."""
        with self.lock:
            gone, n = self._row(vehicle), len(self._placed)
            kept = np.delete(np.arange(n), gone)
            for array in (self._pose, self._wheels, self._targets, self._streams, self._received, self._block.T):
                array[..., : n - 1] = array[..., kept]
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
        """All rovers at rest at their places, time 0, the same noise again."""
        with self.lock:
            self._check()
            self._clear(len(self._placed))

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """An IMU, GNSS, a compass and a barometer, for all vehicles that there can be; truth if asked for."""
        return Capabilities(frozenset({*TIMES, "truth"} if self.truth else TIMES), self.rate, CAPACITY)

    @property
    def sim_time_us(self) -> int:
        """The sum of the steps."""
        return self._time_us

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Drive and sense; the instants at which sensors sample do not depend on how time is cut into steps."""
        with self.lock:
            self._begin()
            if dt_us < 0:
                raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
            end = self._time_us + dt_us
            while self._time_us < end:
                until = min(end, *[i.next_us for i in self._instruments]) if self._placed else end
                self._drive(1e-6 * (until - self._time_us))
                self._time_us = until
                self._sense()
            self._publish()
        return True

    def _drive(self, dt: float) -> None:
        moved = self._pose, self._wheels, self._targets
        drive_all(len(self._placed), dt, *moved, self.wheel_base, self.acceleration)

    def _sense(self) -> None:
        for instrument in self._instruments if self._placed else ():
            instrument.sample(self._time_us, self._pose, len(self._placed), self._streams, self.seed)

    def _publish(self) -> None:
        n = len(self._placed)
        for instrument in self._instruments if n else ():
            instrument.publish(self._time_us, self._block)
        self._block[:n, 0] = self._time_us
        if self.truth:
            self._block[:n, TRUTH] = truth_rows(self._pose[:, :n], self._wheels[0, :n])

    # exchange --------------------------------------------------------------------------------------------------------

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """A copy of its row, if time has passed since the last one."""
        with self.lock:
            self._begin()
            row = self._row(vehicle)
            if not self._block[row, 0] > self._received[row]:
                return None
            self._received[row] = self._block[row, 0]
            return SensorData(self._block[row].copy())

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What its wheels are to do, while it is armed."""
        with self.lock:
            row = self._row(vehicle)
            if np.isnan(commands.row).any():
                raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {vehicle} is NaN")
            top = self.speed_max if commands.armed else 0.0
            self._targets[:, row] = np.clip(commands.motors[:2], -1.0, 1.0) * top

    def receive_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """All rows at once."""
        with self.lock:
            self._begin()
            rows = self._rows(vehicles)
            news = self._block[rows, 0] > self._received[rows]
            block[news] = self._block[rows[news]]
            self._received[rows] = self._block[rows, 0]

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """All rows at once."""
        with self.lock:
            rows = self._rows(vehicles)
            if np.isnan(block).any():
                bad = int(np.flatnonzero(np.isnan(block).any(axis=1))[0])
                raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {vehicles[bad]} is NaN")
            top = np.where(block[:, 0] > 0.5, self.speed_max, 0.0)
            self._targets[:, rows] = np.clip(block[:, 1:3], -1.0, 1.0).T * top

    def _begin(self) -> None:
        """What has just come is measured before it moves."""
        self._check()
        if self._fresh:
            self._fresh = False
            self._sense()
            self._publish()

    # looking up ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self._connected:
            raise AdapterError(f"adapter {self.name!r} is not connected: connect() comes first")

    def _row(self, vehicle: int) -> int:
        self._check()
        row = int(self._row_of[vehicle]) if 1 <= vehicle <= CAPACITY else -1
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


def _positive(name: str, value: float, endless: bool = False) -> float:
    if not (value > 0.0 and (endless or value < inf)):
        raise InvalidValueError(f"lightweight: {name} must be a positive number, not {value!r}")
    return float(value)


ADAPTER = LightweightAdapter
