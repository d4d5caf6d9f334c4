"""Aircraft of JSBSim (PyPI `jsbsim`), each with the sensors of `paddock.sensing`; as many as are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any, ClassVar

import numpy as np

from paddock.compute.philox import normals, signed
from paddock.errors import InvalidValueError, unknown_name
from paddock.sensing.site import site_at
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import AdapterError, Capabilities, Placed, SimulatorAdapter
from paddock.sitl.equipment.instruments import TIMES, Instrument
from paddock.sitl.physics.jsbsim_aircraft import Aircraft, Start, Tangent, load_jsbsim
from paddock.sitl.sensor_data import COLUMN, TRUTH, SensorData, empty_block
from paddock.world.geodesy import Origin
from paddock.world.pose import Pose
from paddock.world.streams import stream_ids

CRAFT = "plane"
CAPACITY = 254
RATES = {"gnss": 5.0, "compass": 25.0, "barometer": 25.0}
"""Hz of the sensors that are slower than the adapter's own rate, at which the IMU samples."""
AIRSPEED_NOISE = 0.3  # m/s
AIRSPEED_PURPOSE = 60_000
"""Beyond the purposes of any sensor in `paddock.sensing`."""
STANDS_BELOW = 1.0
"""m: an aircraft placed no higher than this above the origin begins on the ground, at rest."""


class JsbsimAdapter(SimulatorAdapter):
    """Fixed-wing aircraft. One placed above the ground begins in trimmed level flight, one on it at rest, brakes on."""

    adapter_type: ClassVar[str] = "jsbsim"

    def __init__(
        self,
        name: str = "",
        *,
        aircraft: str = "c172x",
        speed: float = 52.0,
        seed: int = 0,
        origin: tuple[float, float, float] = (35.6812, 139.7671, 40.0),
        rate: float = 50.0,
        physics_rate: float = 200.0,
        noise: float | bool = True,
        sensors: Mapping[str, Mapping[str, Any]] | None = None,
        truth: bool = False,
        wind: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """`speed`: calibrated airspeed at the start, m/s; `origin`: deg, deg, m, the ground's height.

        `rate` of the IMU and `physics_rate` of the model, Hz; `noise`: off, on, or a factor on every noise and random
        walk; `sensors` overrides options, e.g. `{"gnss": {"rate": 10}}`; `wind`: m/s towards north, east, down.
        """
        super().__init__(name)
        self.aircraft, self.wind = aircraft, wind
        self.speed, self.rate = _positive("speed", speed), _positive("rate", rate)
        self.physics_us = max(1, round(1e6 / _positive("physics_rate", physics_rate)))
        self.seed = signed(seed)
        self.noise = float(noise)
        self.origin = Origin(*origin)
        self._tangent = Tangent(self.origin)
        self.truth = truth
        self._instruments = self._equip(sensors or {})
        self._connected = False
        self._placed: dict[int, Placed] = {}
        self._flying: dict[int, Aircraft] = {}
        self._clear()

    def _equip(self, given: Mapping[str, Mapping[str, Any]]) -> tuple[Instrument, ...]:
        if not 0.0 <= self.noise < inf:
            raise InvalidValueError(f"jsbsim: noise is a factor from 0 on, not {self.noise:g}")
        for name in given:
            if name not in TIMES:
                raise unknown_name("sensor", name, TIMES, "jsbsim")
        site, rates = site_at(self.origin), {"imu": self.rate, **RATES}
        options = {name: {"rate": rates[name], **given.get(name, {})} for name in TIMES}
        return tuple(Instrument(name, options[name], self.noise, self.origin, site, CAPACITY) for name in TIMES)

    def _clear(self) -> None:
        self._time_us = 0
        self._looked_us = -1
        self._pose = np.zeros((len(Pose._fields), CAPACITY))
        self._level = np.zeros_like(self._pose)  # the same with z above the origin's sea level: a barometer's world
        self._block = empty_block(CAPACITY)
        self._received: dict[int, float] = {}
        self._streams = np.zeros(CAPACITY, dtype=np.int64)
        for instrument in self._instruments:
            instrument.reset()

    # life ------------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Look whether JSBSim is installed."""
        with self.lock:
            load_jsbsim()
            self._connected = True

    def disconnect(self) -> None:
        """Forget the aircraft; the next `connect` begins at time 0."""
        with self.lock:
            if self._connected:
                self._connected = False
                self._placed.clear()
                self._flying.clear()
                for instrument in self._instruments:
                    instrument.fleet.keep(np.arange(0))
                self._clear()

    @property
    def is_connected(self) -> bool:
        """Between `connect` and `disconnect`."""
        return self._connected

    def add_vehicle(self, vehicle: Placed) -> None:
        """Have one more aircraft, flying level at its place or standing there."""
        with self.lock:
            self._check()
            if vehicle.craft != CRAFT:
                raise AdapterError(f"adapter {self.name!r} flies craft {CRAFT!r} only, not {vehicle.craft!r}")
            if not 1 <= vehicle.id <= CAPACITY:
                raise AdapterError(f"adapter {self.name!r}: a vehicle's id lies in 1 to {CAPACITY}, not {vehicle.id}")
            if vehicle.id in self._placed:
                raise AdapterError(f"adapter {self.name!r} has a vehicle {vehicle.id} already")
            if not all(map(isfinite, (*vehicle.position, vehicle.heading))):
                raise AdapterError(f"adapter {self.name!r}: the place of vehicle {vehicle.id} is not finite")
            self._flying[vehicle.id] = self._begin(vehicle)
            self._placed[vehicle.id] = vehicle
            k = len(self._placed) - 1
            self._streams[k] = stream_ids(vehicle.name, np.array([vehicle.id]))[0]
            self._block[k] = empty_block(1)[0]
            for instrument in self._instruments:
                instrument.align(self._time_us)

    def _begin(self, vehicle: Placed) -> Aircraft:
        north, east, down = vehicle.position
        latitude, longitude, _ = self.origin.to_geodetic([east, north, -down])
        ground = self.origin.height_m
        speed = self.speed if -down > STANDS_BELOW else 0.0
        start = Start(float(latitude), float(longitude), ground - down, ground, vehicle.heading, speed, self.wind)
        return Aircraft(self.aircraft, start, f"adapter {self.name!r}")

    def remove_vehicle(self, vehicle: int) -> None:
        """Have it no more; the rows after it move up."""
        with self.lock:
            gone, n = self._row(vehicle), len(self._placed)
            kept = np.delete(np.arange(n), gone)
            for array in (self._streams, self._block.T):
                array[..., : n - 1] = array[..., kept]
            for instrument in self._instruments:
                instrument.fleet.keep(kept[kept < instrument.fleet.n])
            del self._placed[vehicle], self._flying[vehicle]
            self._received.pop(vehicle, None)

    @property
    def vehicles(self) -> tuple[int, ...]:
        """Ascending, whatever the order in which they came."""
        with self.lock:
            return tuple(sorted(self._placed))

    def reset(self) -> None:
        """All aircraft at their places, time 0, the same noise again."""
        with self.lock:
            self._check()
            self._clear()
            self._flying = {vehicle: self._begin(placed) for vehicle, placed in self._placed.items()}
            for k, placed in enumerate(self._placed.values()):
                self._streams[k] = stream_ids(placed.name, np.array([placed.id]))[0]

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def supports_lockstep(self) -> bool:
        """Always."""
        return True

    @property
    def capabilities(self) -> Capabilities:
        """All that an autopilot of an aeroplane wants; truth if asked for."""
        sensors = {*TIMES, "airspeed", *(["truth"] if self.truth else [])}
        return Capabilities(frozenset(sensors), self.rate, CAPACITY, wind=True)

    @property
    def sim_time_us(self) -> int:
        """The sum of the steps."""
        return self._time_us

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Fly and sense; the model's steps end at the instants at which sensors sample, and at the end."""
        with self.lock:
            self._begin_time()
            if dt_us < 0:
                raise AdapterError(f"adapter {self.name!r} cannot step back by {-dt_us} us")
            end = self._time_us + dt_us
            while self._time_us < end:
                grid = (self._time_us // self.physics_us + 1) * self.physics_us
                until = min(end, grid, *(i.next_us for i in self._instruments)) if self._placed else end
                for aircraft in self._flying.values():
                    aircraft.run(1e-6 * (until - self._time_us))
                self._time_us = until
                self._sense()
            self._publish()
        return True

    def _begin_time(self) -> None:
        """Sense the first instant, before anything has moved."""
        self._check()
        if self._placed and any(instrument.next_us == self._time_us for instrument in self._instruments):
            self._sense()
            self._publish()

    def _sense(self) -> None:
        due = [i for i in self._instruments if i.next_us == self._time_us] if self._placed else []
        if due:
            self._look()
        for instrument in due:
            pose = self._level if instrument.fleet.sensor.name == "barometer" else self._pose
            instrument.sample(self._time_us, pose, len(self._placed), self._streams, self.seed)

    def _look(self) -> None:
        """Where all aircraft are now."""
        self._looked_us = self._time_us
        for k, aircraft in enumerate(self._flying.values()):
            self._pose[:, k] = self._level[:, k] = aircraft.pose(self._tangent)
            self._level[2, k] = aircraft.altitude - self.origin.height_m

    def _publish(self) -> None:
        n = len(self._placed)
        if self.truth and self._looked_us != self._time_us:
            self._look()
        for instrument in self._instruments if n else ():
            instrument.publish(self._time_us, self._block)
        self._block[:n, 0] = self._time_us
        for k, aircraft in enumerate(self._flying.values()):
            noise = normals(self.seed, int(self._streams[k]), AIRSPEED_PURPOSE, self._time_us)[0]
            self._block[k, COLUMN["airspeed"]] = max(aircraft.airspeed + self.noise * AIRSPEED_NOISE * noise, 0.0)
            if self.truth:
                self._block[k, TRUTH] = self._true_row(k, aircraft)

    def _true_row(self, k: int, aircraft: Aircraft) -> list[float]:
        """Along the local vertical: height is height, wherever it flies."""
        east, north, up = self._level[:3, k].tolist()
        x, y, z, w = aircraft.quaternion().tolist()
        return [north, east, -up, *aircraft.velocity().tolist(), w, x, y, z]

    # exchange --------------------------------------------------------------------------------------------------------

    def receive_sensors(self, vehicle: int = 1) -> SensorData | None:
        """A copy of its row, if time has passed since the last one."""
        with self.lock:
            self._begin_time()
            row = self._block[self._row(vehicle)]
            if not row[0] > self._received.get(vehicle, -1.0):
                return None
            self._received[vehicle] = float(row[0])
            return SensorData(row.copy())

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What its surfaces and engines are to do; a disarmed one idles, its brakes on."""
        with self.lock:
            self._row(vehicle)
            if np.isnan(commands.row).any():
                raise AdapterError(f"adapter {self.name!r}: an actuator command of vehicle {vehicle} is NaN")
            self._flying[vehicle].steer(commands)

    # looking up ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self._connected:
            raise AdapterError(f"adapter {self.name!r} is not connected: connect() comes first")

    def _row(self, vehicle: int) -> int:
        self._check()
        if vehicle not in self._placed:
            known = ", ".join(map(str, self.vehicles)) or "none"
            raise AdapterError(f"adapter {self.name!r} has no vehicle {vehicle}; it has: {known}")
        return list(self._placed).index(vehicle)


def _positive(name: str, value: float) -> float:
    if not 0.0 < value < inf:
        raise InvalidValueError(f"jsbsim: {name} must be a positive number, not {value!r}")
    return float(value)


ADAPTER = JsbsimAdapter
