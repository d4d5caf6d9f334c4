"""Where the 51 numbers of a STATE come from: columns of a car's snapshot, all cars of a kind at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paddock.wire.vds1 import STATE_NAMES
from paddock.world.columns import Floats
from paddock.world.rotation import euler_from_quaternion, quaternion_conjugate, rotate
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY

Source = tuple[str, float]
"""A column of a snapshot, and what its values are multiplied by."""

AXLES = {"fl": "front", "fr": "front", "rl": "rear", "rr": "rear"}
PLAIN: dict[str, tuple[Source, ...]] = {
    "ax": (("ax", 1.0),),
    "ay": (("ay", 1.0),),
    "steer_applied": (("steer", 1.0),),
    "rack_torque": (("rack_torque", 1.0),),
}
WHEELS: dict[str, tuple[tuple[str, float], ...]] = {
    "wheel_spin": (("wheel_spin_{wheel}", 1.0), ("wheel_speed", 1.0)),
    "load": (("load_{wheel}", 1.0), ("load_{axle}", 0.5)),
    "slip_ratio": (("slip_ratio_{wheel}", 1.0), ("slip_ratio_{axle}", 1.0)),
    "slip_angle": (("slip_angle_{wheel}", 1.0), ("slip_angle_{axle}", 1.0)),
    "suspension": (("suspension_{wheel}", 1.0),),
    "force_x": (("force_x_{wheel}", 1.0), ("force_x_{axle}", 0.5)),
    "force_y": (("force_y_{wheel}", 1.0), ("force_y_{axle}", 0.5)),
}
"""Quantity -> columns it may come from, the best first: of the wheel itself, else of its axle, which has two wheels."""
MEASURED = {
    "measured_ax": ("imu.ax", "ax"),
    "measured_ay": ("imu.ay", "ay"),
    "measured_yaw_rate": ("imu.wz", "yaw_rate"),
    "measured_steer": ("", "steer_applied"),
    "measured_x": ("gnss.x", "x"),
    "measured_y": ("gnss.y", "y"),
}
"""Value -> a sensor's reading, and the true value that stands for it without one."""

ROW = {name: row for row, name in enumerate(STATE_NAMES)}
PLACE = slice(ROW["x"], ROW["z"] + 1)
ANGLES = slice(ROW["roll"], ROW["yaw"] + 1)
SPEEDS = slice(ROW["vx"], ROW["vz"] + 1)
RATES = slice(ROW["roll_rate"], ROW["yaw_rate"] + 1)


def sources(columns: tuple[str, ...]) -> dict[str, Source]:
    """Value -> the column it is taken from, for those that these columns have; the pose and sensors aside."""
    found = {}
    for name, candidates in _candidates():
        for column, factor in candidates:
            if column in columns:
                found[name] = (column, factor)
                break
    return found


def _candidates() -> Iterator[tuple[str, tuple[Source, ...]]]:
    yield from PLAIN.items()
    for quantity, patterns in WHEELS.items():
        for wheel, axle in AXLES.items():
            named = [(pattern.format(wheel=wheel, axle=axle), factor) for pattern, factor in patterns]
            yield f"{quantity}_{wheel}", tuple(named)


class Mapping:
    """Turns blocks of certain columns into values of STATE; what the columns do not have is 0."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        found = sources(columns)
        self._targets = np.array([ROW[name] for name in found], np.intp)
        self._columns = np.array([columns.index(column) for column, _ in found.values()], np.intp)
        self._factors = np.array([factor for _, factor in found.values()], np.float64)[:, None]
        self._measured = [ROW[name] for name in MEASURED]
        self._true = [ROW[true] for _, true in MEASURED.values()]
        readings = {name: reading for name, (reading, _) in MEASURED.items() if reading in columns}
        self._readings = [(ROW[name], columns.index(reading)) for name, reading in readings.items()]

    def values(self, block: Floats, radius: Floats) -> NDArray[np.float64]:
        """(51, n) of a block (columns, n) and the wheels' radius (n,) in m."""
        values = np.zeros((len(STATE_NAMES), block.shape[1]))
        orientation = block[ORIENTATION].T
        values[PLACE] = block[POSITION]
        values[ANGLES] = euler_from_quaternion(orientation)
        values[SPEEDS] = rotate(quaternion_conjugate(orientation), block[VELOCITY].T).T
        values[RATES] = block[ANGULAR_VELOCITY]
        values[self._targets] = block[self._columns] * self._factors
        values[ROW["wheel_radius"]] = radius
        values[self._measured] = values[self._true]
        for row, column in self._readings:  # a sensor that has not sampled yet reads NaN
            np.copyto(values[row], block[column], where=np.isfinite(block[column]))
        return values
