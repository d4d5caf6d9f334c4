"""Aircraft of JSBSim (PyPI `jsbsim`), each with the sensors of `paddock.sensing`; as many as are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.compute.philox import normals
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import Capabilities, Placed
from paddock.sitl.equipment.instruments import TIMES
from paddock.sitl.physics.jsbsim_aircraft import Aircraft, Start, Tangent, load_jsbsim
from paddock.sitl.physics.row_adapter import RowAdapter
from paddock.sitl.sensor_data import COLUMN, TRUTH
from paddock.world.pose import Pose

AIRSPEED_NOISE = 0.3  # m/s
AIRSPEED_PURPOSE = 60_000
"""Beyond the purposes of any sensor in `paddock.sensing`."""
STANDS_BELOW = 1.0
"""m: an aircraft placed no higher than this above the origin begins on the ground, at rest."""


class JsbsimAdapter(RowAdapter):
    """Fixed-wing aircraft. One placed above the ground begins in trimmed level flight, one on it at rest, brakes on."""

    adapter_type: ClassVar[str] = "jsbsim"
    crafts: ClassVar[tuple[str, ...]] = ("plane",)

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
        super().__init__(name, seed, origin, rate, noise, truth, sensors)
        self.aircraft = self.options.text("aircraft", aircraft)
        self.speed = self.options.positive("speed", speed)
        self.wind = self.options.triple("wind", wind, "m/s towards north, east, down")
        self.physics_us = max(1, round(1e6 / self.options.positive("physics_rate", physics_rate)))
        self._tangent = Tangent(self.origin)
        self._flying: list[Aircraft] = []

    def _clear(self) -> None:
        super()._clear()
        self._looked_us = -1
        self._pose = np.zeros((len(Pose._fields), self.capacity))
        self._level = np.zeros_like(self._pose)  # the same with z above the origin's sea level: a barometer's world

    def _reach(self) -> None:
        load_jsbsim()

    def _enter(self, row: int, vehicle: Placed) -> None:
        """Flying level at its place, or standing there."""
        north, east, down = vehicle.position
        latitude, longitude, _ = self.origin.to_geodetic([east, north, -down])
        ground = self.origin.height_m
        speed = self.speed if -down > STANDS_BELOW else 0.0
        start = Start(float(latitude), float(longitude), ground - down, ground, vehicle.heading, speed, self.wind)
        self._flying[row : row + 1] = [Aircraft(self.aircraft, start, f"adapter {self.name!r}")]

    def _leave(self, row: int, kept: NDArray[np.int64]) -> None:
        del self._flying[row]

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capabilities:
        """All that an autopilot of an aeroplane wants; truth if asked for."""
        sensors = {*TIMES, "airspeed", *(["truth"] if self.truth else [])}
        return Capabilities(frozenset(sensors), self.rate, self.capacity, wind=True)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Fly and sense; the model's steps end at the instants at which sensors sample, and at the end."""
        with self.lock:
            end = self._end_of(dt_us)
            self._freshen()
            while self._time_us < end:
                grid = (self._time_us // self.physics_us + 1) * self.physics_us
                until = min(end, grid, *(i.next_us for i in self._instruments)) if self._placed else end
                for aircraft in self._flying:
                    aircraft.run(1e-6 * (until - self._time_us))
                self._time_us = until
                self._sense()
            self._publish()
        return True

    def _freshen(self) -> None:
        """Sense the first instant, before anything has moved."""
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
        for k, aircraft in enumerate(self._flying):
            self._pose[:, k] = self._level[:, k] = aircraft.pose(self._tangent)
            self._level[2, k] = aircraft.altitude - self.origin.height_m

    def _publish(self) -> None:
        n = len(self._placed)
        if self.truth and self._looked_us != self._time_us:
            self._look()
        for instrument in self._instruments if n else ():
            instrument.publish(self._time_us, self._block)
        self._block[:n, 0] = self._time_us
        for k, aircraft in enumerate(self._flying):
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

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What its surfaces and engines are to do; a disarmed one idles, its brakes on."""
        with self.lock:
            row = self._row(vehicle)
            self._refuse_nan((vehicle,), commands.row[None, :])
            self._flying[row].steer(commands)


ADAPTER = JsbsimAdapter
