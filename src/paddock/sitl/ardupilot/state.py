"""From a row of sensor data to the state that ArduPilot is told: its IMU as measured, the rest as it is."""

from __future__ import annotations

from math import isfinite

from paddock.sitl.sensor_data import RANGEFINDERS, SensorData
from paddock.wire.ardupilot_json import State

OUT_OF_RANGE = 10_000.0
"""m: what a rangefinder that has worked before says when it sees nothing. ArduPilot keeps a value that is left out."""


class StateReader:
    """Reads rows of one vehicle; remembers which rangefinders it has."""

    def __init__(self, *, lockstep: bool = True, time_sync: bool = True) -> None:
        self._no_lockstep = not lockstep
        self._no_time_sync = not time_sync
        self._seen = [False] * RANGEFINDERS

    def read(self, sensors: SensorData, timestamp: float) -> State:
        """The state at `timestamp` s; NaN where the row has none, which the encoder refuses or leaves out."""
        v = sensors.values()
        return State(
            timestamp,
            (v.gyro_x, v.gyro_y, v.gyro_z),
            (v.accel_x, v.accel_y, v.accel_z),
            (v.true_north, v.true_east, v.true_down),
            (v.true_vn, v.true_ve, v.true_vd),
            (v.true_qw, v.true_qx, v.true_qy, v.true_qz),
            ranges=self._ranges((v.range_1, v.range_2, v.range_3, v.range_4, v.range_5, v.range_6)),
            airspeed=v.airspeed,
            battery=(v.battery_voltage, v.battery_current),
            no_time_sync=self._no_time_sync,
            no_lockstep=self._no_lockstep,
        )

    def _ranges(self, measured: tuple[float, ...]) -> tuple[float | None, ...]:
        if not any(self._seen) and not any(map(isfinite, measured)):
            return ()
        for k, distance in enumerate(measured):
            self._seen[k] |= isfinite(distance)
        known = zip(measured, self._seen, strict=True)
        return tuple((d if isfinite(d) else OUT_OF_RANGE) if seen else None for d, seen in known)
