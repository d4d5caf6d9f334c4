"""The lightweight simulator: differential-drive rovers on flat ground with the sensors of `paddock.sensing`.

It needs only the core package, takes microseconds per step, and is bit-identical for the same seed."""

from collections.abc import Mapping
from math import pi
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from paddock.autopilot.vehicle_data import Floats
from paddock.compute.math import absolute, minimum, sincos, wrap_angle
from paddock.compute.routine import routine
from paddock.sitl.adapter import Placed, RowAdapter
from paddock.sitl.equipment import write_truth

Endless = Annotated[float, Field(strict=True, gt=0)]  # infinite, too


def drive(n: int, dt: float, pose: Floats, wheels: Floats, targets: Floats, base: float, acceleration: float) -> None:
    """Move `n` rovers for `dt` s: wheels (yaw, left m/s, right m/s) ramp to their targets; the path is an exact arc."""
    for k in range(n):
        left, go_left = ramp(wheels[1, k], targets[0, k], acceleration, dt)
        right, go_right = ramp(wheels[2, k], targets[1, k], acceleration, dt)
        half = 0.5 * (go_right - go_left) / base
        sine, cosine = sincos(wheels[0, k] + half)
        chord = 0.5 * (go_left + go_right)
        if absolute(half) > 1e-5:
            chord *= sincos(half)[0] / half
        pose[0, k] += chord * cosine
        pose[1, k] += chord * sine
        yaw = wrap_angle(wheels[0, k] + 2.0 * half)
        wheels[0, k], wheels[1, k], wheels[2, k] = yaw, left, right
        show(pose, k, yaw, 0.5 * (left + right), (right - left) / base)


def ramp(speed: float, target: float, acceleration: float, dt: float) -> tuple[float, float]:
    """Return the speed after `dt` s towards a target, and the distance covered (m)."""
    change = minimum(absolute(target - speed), acceleration * dt)
    reached = speed + change if target > speed else speed - change
    ramping = change / acceleration
    return reached, 0.5 * (speed + reached) * ramping + reached * (dt - ramping)


def show(pose: Floats, k: int, yaw: float, speed: float, turn: float) -> None:
    """Write the attitude and the motion of a level rover into its pose."""
    pose[5, k], pose[6, k] = sincos(0.5 * yaw)
    sine, cosine = sincos(yaw)
    pose[7, k], pose[8, k], pose[12, k] = speed * cosine, speed * sine, turn


drive_all = routine(drive)


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
        `acceleration` m/s2 of a wheel (inf: immediate).
        """
        super().__init__(name, seed, origin, rate, noise, truth, sensors)
        self.wheel_base = self.options.positive("wheel_base", wheel_base)
        self.speed_max = self.options.positive("speed_max", speed_max)
        self.acceleration = self.options.positive("acceleration", acceleration, Endless)

    def _clear(self) -> None:
        super()._clear()
        self._wheels = np.zeros((3, self.capacity))
        self._targets = np.zeros((2, self.capacity))

    def _add_row(self, row: int, vehicle: Placed) -> None:
        north, east, down = vehicle.position
        yaw = 0.5 * pi - vehicle.heading
        self._pose[:, row] = 0.0
        self._pose[:3, row] = east, north, -down
        self._wheels[:, row] = yaw, 0.0, 0.0
        self._targets[:, row] = 0.0
        show(self._pose, row, yaw, 0.0, 0.0)

    def _remove_row(self, row: int, kept: NDArray[np.int64]) -> None:
        for array in (self._pose, self._wheels, self._targets):
            array[:, : len(kept)] = array[:, kept]

    def _step_vehicles(self, seconds: float) -> None:
        moved = self._pose, self._wheels, self._targets
        drive_all(len(self._placed), seconds, *moved, self.wheel_base, self.acceleration)

    def _write_rows(self, count: int) -> None:
        if self.truth:
            write_truth(self._pose, self._block[:count])

    def _set_actuators(self, rows: NDArray[np.int64], block: Floats) -> None:
        top = np.where(block[:, 0] > 0.5, self.speed_max, 0.0)
        self._targets[:, rows] = np.clip(block[:, 1:3], -1.0, 1.0).T * top


ADAPTER = LightweightAdapter
