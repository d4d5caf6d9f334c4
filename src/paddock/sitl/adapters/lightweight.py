"""The lightweight simulator: differential-drive rovers on flat ground, exact arcs, the sensors of `paddock.sensing`.

Needs nothing but the core of the package, costs microseconds a step, and is the same bit for bit with the same seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import Capabilities, Placed
from paddock.sitl.equipment.instruments import TIMES
from paddock.sitl.physics.differential_drive import drive_all, show, truth_rows
from paddock.sitl.physics.row_adapter import RowAdapter
from paddock.sitl.sensor_data import TRUTH, Floats
from paddock.world.pose import Pose


class LightweightAdapter(RowAdapter):
    """Differential-drive rovers. Motors 1 (left) and 2 (right) are shares of the top speed of a wheel."""

    adapter_type: ClassVar[str] = "lightweight"
    crafts: ClassVar[tuple[str, ...]] = ("rover",)

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
        super().__init__(name, seed, origin, rate, noise, truth, sensors)
        self.wheel_base = self.options.positive("wheel_base", wheel_base)
        self.speed_max = self.options.positive("speed_max", speed_max)
        self.acceleration = self.options.positive("acceleration", acceleration, endless=True)

    def _clear(self) -> None:
        super()._clear()
        self._pose = np.zeros((len(Pose._fields), self.capacity))
        self._wheels = np.zeros((3, self.capacity))
        self._targets = np.zeros((2, self.capacity))
        self._fresh = False  # somebody has come, or begun anew, since the sensors were last looked at

    def _enter(self, row: int, vehicle: Placed) -> None:
        north, east, down = vehicle.position
        yaw = 0.5 * pi - vehicle.heading
        self._pose[:, row] = 0.0
        self._pose[:3, row] = east, north, -down
        self._wheels[:, row] = yaw, 0.0, 0.0
        self._targets[:, row] = 0.0
        show(self._pose, row, yaw, 0.0, 0.0)
        self._fresh = True

    def _leave(self, row: int, kept: NDArray[np.int64]) -> None:
        for array in (self._pose, self._wheels, self._targets):
            array[:, : len(kept)] = array[:, kept]

    # time ------------------------------------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capabilities:
        """An IMU, GNSS, a compass and a barometer, for all vehicles that there can be; truth if asked for."""
        return Capabilities(frozenset({*TIMES, "truth"} if self.truth else TIMES), self.rate, self.capacity)

    def step(self, dt_us: int, timeout: float = 1.0) -> bool:
        """Drive and sense; the instants at which sensors sample do not depend on how time is cut into steps."""
        with self.lock:
            end = self._end_of(dt_us)
            self._freshen()
            while self._time_us < end:
                until = min(end, *[i.next_us for i in self._instruments]) if self._placed else end
                self._drive(1e-6 * (until - self._time_us))
                self._time_us = until
                self._sense()
            self._publish()
        return True

    def _freshen(self) -> None:
        if self._fresh:
            self._fresh = False
            self._sense()
            self._publish()

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

    def send_actuators(self, commands: ActuatorCommands, vehicle: int = 1) -> None:
        """What its wheels are to do, while it is armed."""
        self.send_block((vehicle,), commands.row[None, :])

    def send_block(self, vehicles: Sequence[int], block: Floats) -> None:
        """All rows at once."""
        with self.lock:
            rows = self._rows(vehicles)
            self._refuse_nan(vehicles, block)
            top = np.where(block[:, 0] > 0.5, self.speed_max, 0.0)
            self._targets[:, rows] = np.clip(block[:, 1:3], -1.0, 1.0).T * top


ADAPTER = LightweightAdapter
