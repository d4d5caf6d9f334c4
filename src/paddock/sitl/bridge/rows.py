"""The rows of a simulator's vehicles: sensors in bridge time, actuators as last answered."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.adapter import blank_actuators, blank_sensors
from paddock.sitl.bridge.events import Events
from paddock.sitl.bridge.vehicle import Vehicle
from paddock.sitl.sensor_data import COLUMN, Floats, SensorData

TIMES = np.array([k for name, k in COLUMN.items() if name.endswith("time_us")])
NEVER = -1.0
"""The time of what was not measured yet."""


class Rows:
    """Some vehicles, ordered by id, and a row for each in two blocks."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.vehicles: list[Vehicle] = []
        self._offset_us = 0  # bridge time less the simulator's own
        self.arrange()

    def put(self, vehicle: Vehicle) -> None:
        """Rows for one more."""
        insort(self.vehicles, vehicle, key=lambda other: other.sysid)
        self.arrange()

    def take_out(self, vehicle: Vehicle) -> None:
        """One less; it keeps rows of its own."""
        self.vehicles.remove(vehicle)
        vehicle.adapter, vehicle.sensors, vehicle.actuators = "", SensorData(), ActuatorCommands()
        self.arrange()

    def arrange(self) -> None:
        """Blocks for the vehicles that there are now; each keeps what its rows held."""
        self.ids = tuple(vehicle.sysid for vehicle in self.vehicles)
        self.sensors, self.actuators = blank_sensors(len(self.ids)), blank_actuators(len(self.ids))
        for k, vehicle in enumerate(self.vehicles):
            self.sensors[k], self.actuators[k] = vehicle.sensors.row, vehicle.actuators.row
            vehicle.sensors, vehicle.actuators = SensorData(self.sensors[k]), ActuatorCommands(self.actuators[k])
        self._raw = shifted(self.sensors, -self._offset_us)
        self._good = self.actuators.copy()
        self._newest = self.sensors[:, 0].copy()
        self._rejected: frozenset[int] = frozenset()  # rows that were not finite when last sent

    def shift(self, offset_us: int) -> None:
        """The simulator's own time is behind the bridge's by so much from now on."""
        self._offset_us = offset_us
        self._raw = shifted(self.sensors, -offset_us)

    def fresh(self) -> Sequence[int]:
        """The system ids of those whose sensors are newer than at the last call."""
        times = self.sensors[:, 0]
        news = times > self._newest
        self._newest[:] = times
        return self.ids if news.all() else [self.ids[k] for k in np.flatnonzero(news).tolist()]

    def rewind(self) -> None:
        """Time has gone back: what comes next is new."""
        self._newest[:] = -1.0

    def check_actuators(self) -> None:
        """A row that is not finite is refused, and the one before holds."""
        finite = np.isfinite(self.actuators)
        self._rejected = frozenset() if finite.all() else self._refuse(np.flatnonzero(~finite.all(axis=1)))
        self._good[:] = self.actuators

    def _refuse(self, bad: NDArray[np.int64]) -> frozenset[int]:
        """Have these rows hold what they last had; an event for those that were good until now."""
        for k in [k for k in bad.tolist() if k not in self._rejected]:
            self.events.add("rejected", str(self.vehicles[k]), "actuators are not finite; the last good ones hold")
        self.actuators[bad] = self._good[bad]
        return frozenset(bad.tolist())


def shifted(block: Floats, offset_us: int) -> Floats:
    """A copy whose times are later by so much, but for those of what was never measured."""
    later = block.copy()
    times = later[:, TIMES]
    later[:, TIMES] = np.where(times == NEVER, times, times + offset_us)
    return later
