"""Which sensors are there and work: the bits of SYS_STATUS."""

from __future__ import annotations

from math import isfinite, isnan, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

# bits of MAV_SYS_STATUS_SENSOR
GYRO, ACCEL, MAG, BARO, AIRSPEED, GPS, RANGE = 0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x100
CONTROLS = 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000  # rates, attitude, yaw, height, position
MOTORS, RC, FENCE, AHRS, BATTERY, PREARM = 0x8000, 0x10000, 0x100000, 0x200000, 0x2000000, 0x10000000

GRAVITY = 9.80665
SMOOTHING = 0.1  # share of a new sample in the mean of what the accelerometers say
RANGE_STALE_US = 1_000_000


class Health:
    """Bits of the sensors that have ever spoken, of those in use, and of those that may be relied on now."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.present = CONTROLS | MOTORS | AHRS | PREARM
        self.enabled = 0
        self.healthy = 0
        self.specific_force = GRAVITY  # m/s2, mean magnitude

    def update(self) -> None:
        """Look at the newest sensor data."""
        autopilot = self.autopilot
        self._meet()
        self._weigh()
        self.enabled = self.present if autopilot.armed else self.present & ~MOTORS
        if not autopilot.fence.enabled:
            self.enabled &= ~FENCE
        self.healthy = self._working() | CONTROLS | MOTORS
        self.healthy |= AHRS if autopilot.estimate.attitude_ok else 0
        self.healthy |= BATTERY if autopilot.battery.present and not autopilot.battery.level else 0
        self.healthy |= RC if autopilot.rc.fresh else 0
        self.healthy |= 0 if autopilot.fence.breached else FENCE
        self.healthy |= PREARM if autopilot.arming.passes else 0
        self.healthy &= self.present

    def _meet(self) -> None:
        """A sensor is there once it has spoken, even if only to say that it has no fix."""
        s, autopilot = self.autopilot.sensors, self.autopilot
        self.present |= GYRO | ACCEL if s.imu_time_us >= 0.0 else 0
        self.present |= MAG if s.compass_time_us >= 0.0 else 0
        self.present |= BARO if s.baro_time_us >= 0.0 else 0
        self.present |= GPS if s.gnss_time_us >= 0.0 else 0
        self.present |= RANGE if s.range_time_us >= 0.0 and not isnan(s.range_1) else 0
        self.present |= 0 if isnan(s.airspeed) else AIRSPEED
        self.present |= BATTERY if autopilot.battery.present else 0
        self.present |= RC if autopilot.rc.seen else 0
        self.present |= FENCE if autopilot.fence.enabled else 0

    def _working(self) -> int:
        s = self.autopilot.sensors
        gyro, accel, mag, gps, baro = self.autopilot.estimator.health
        bits = GYRO * gyro | ACCEL * accel | MAG * mag | GPS * gps | BARO * baro
        if isfinite(s.range_1) and self.autopilot.now_us - s.range_time_us < RANGE_STALE_US:
            bits |= RANGE
        return bits | (AIRSPEED if isfinite(s.airspeed) else 0)

    def _weigh(self) -> None:
        """Follow what the accelerometers say: at rest it is gravity."""
        s = self.autopilot.sensors
        square = s.accel_x * s.accel_x + s.accel_y * s.accel_y + s.accel_z * s.accel_z
        if isfinite(square):
            self.specific_force += (sqrt(square) - self.specific_force) * SMOOTHING
