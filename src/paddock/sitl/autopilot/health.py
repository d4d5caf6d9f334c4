"""Battery state, sensor health (the bits of SYS_STATUS), and the SIM_ parameters that inject faults."""

from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING

from paddock.sitl.sensor_data import COLUMN, Floats

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.parameters import AutopilotParameters

# bits of MAV_SYS_STATUS_SENSOR
GYRO, ACCEL, MAG, BARO, AIRSPEED, GPS, RANGE = 0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x100
CONTROLS = 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000  # rates, attitude, yaw, altitude, position
MOTORS, RC, FENCE, AHRS, BATTERY, PREARM = 0x8000, 0x10000, 0x100000, 0x200000, 0x2000000, 0x10000000

LOW, CRITICAL = 1, 2  # battery levels
SECONDS_PER_HOUR = 3600.0
GRAVITY = 9.80665
SMOOTHING = 0.1  # weight of a new sample in the mean specific force
RANGE_STALE_US = 1_000_000


class Battery:
    """The battery monitor. A low level latches: the voltage recovers as soon as the load ends."""

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.consumed = nan  # mAh; NaN: not measured
        self.level = 0  # 0, LOW or CRITICAL
        self.reason = ""
        self._low_time = [0.0, 0.0, 0.0]  # s below the voltage limit of each level

    @property
    def present(self) -> bool:
        """Whether a voltage is measured."""
        return not isnan(self.autopilot.sensors.battery_voltage)

    @property
    def remaining(self) -> float:
        """Remaining charge, mAh; NaN: unknown."""
        capacity = self.autopilot.parameters.value("BATT_CAPACITY")
        share = self.autopilot.sensors.battery_remaining
        if not isnan(share):
            return share * capacity
        return capacity - self.consumed if capacity > 0.0 else nan

    def update(self, dt: float) -> None:
        """Integrate the current and check the limits."""
        sensors = self.autopilot.sensors
        if not isnan(sensors.battery_remaining):
            self.consumed = (1.0 - sensors.battery_remaining) * self.autopilot.parameters.value("BATT_CAPACITY")
        elif not isnan(sensors.battery_current):
            drawn = sensors.battery_current * dt / SECONDS_PER_HOUR * 1000.0
            self.consumed = drawn if isnan(self.consumed) else self.consumed + drawn
        if self.level < CRITICAL and self.present:
            self._check(CRITICAL, "CRT", dt)
            if self.level < LOW:
                self._check(LOW, "LOW", dt)

    def _check(self, level: int, word: str, dt: float) -> None:
        parameters = self.autopilot.parameters
        volts, charge = parameters.value(f"BATT_{word}_VOLT"), parameters.value(f"BATT_{word}_MAH")
        voltage = self.autopilot.sensors.battery_voltage
        self._low_time[level] = self._low_time[level] + dt if voltage < volts else 0.0
        if volts > 0.0 and self._low_time[level] > 0.0 and self._low_time[level] >= parameters.value("BATT_LOW_TIMER"):
            self.level, self.reason = level, f"{voltage:.2f}V"
        elif charge > 0.0 and self.remaining < charge:
            self.level, self.reason = level, f"{self.remaining:.0f}mAh remaining"


class Health:
    """MAV_SYS_STATUS_SENSOR bits: sensors that have reported, that are enabled, and that are healthy now."""

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.present = CONTROLS | MOTORS | AHRS | PREARM
        self.enabled = 0
        self.healthy = 0
        self.specific_force = GRAVITY  # m/s2, mean magnitude

    def update(self) -> None:
        """Evaluate the newest sensor data."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        # sensors that have reported, even without a fix
        self.present |= GYRO | ACCEL if s.imu_time_us >= 0.0 else 0
        self.present |= MAG if s.compass_time_us >= 0.0 else 0
        self.present |= BARO if s.baro_time_us >= 0.0 else 0
        self.present |= GPS if s.gnss_time_us >= 0.0 else 0
        self.present |= RANGE if s.range_time_us >= 0.0 and not isnan(s.range_1) else 0
        self.present |= 0 if isnan(s.airspeed) else AIRSPEED
        self.present |= BATTERY if autopilot.battery.present else 0
        self.present |= RC if autopilot.rc.seen else 0
        self.present |= FENCE if autopilot.fence.enabled else 0
        square = s.accel_x * s.accel_x + s.accel_y * s.accel_y + s.accel_z * s.accel_z
        if isfinite(square):
            self.specific_force += (sqrt(square) - self.specific_force) * SMOOTHING
        self.enabled = self.present if autopilot.armed else self.present & ~MOTORS
        if not autopilot.fence.enabled:
            self.enabled &= ~FENCE
        gyro, accel, mag, gps, baro = autopilot.estimator.health
        self.healthy = GYRO * gyro | ACCEL * accel | MAG * mag | GPS * gps | BARO * baro | CONTROLS | MOTORS
        ranging = isfinite(s.range_1) and autopilot.now_us - s.range_time_us < RANGE_STALE_US
        self.healthy |= (RANGE if ranging else 0) | (AIRSPEED if isfinite(s.airspeed) else 0)
        self.healthy |= AHRS if autopilot.estimate.attitude_ok else 0
        self.healthy |= BATTERY if autopilot.battery.present and not autopilot.battery.level else 0
        self.healthy |= RC if autopilot.rc.fresh else 0
        self.healthy |= 0 if autopilot.fence.breached else FENCE
        self.healthy |= PREARM if autopilot.arming.passes else 0
        self.healthy &= self.present


FIX, SATELLITES, VOLTAGE = COLUMN["gnss_fix"], COLUMN["gnss_satellites"], COLUMN["battery_voltage"]
MEASURED = slice(COLUMN["latitude"], COLUMN["gnss_epv"] + 1)


def inject_faults(row: Floats, parameters: "AutopilotParameters", changed: Floats) -> Floats:
    """Return the row as SIM_GPS_DISABLE and SIM_BATT_VOLTAGE change it, in the buffer `changed`."""
    no_gnss, voltage = parameters.value("SIM_GPS_DISABLE"), parameters.value("SIM_BATT_VOLTAGE")
    if not no_gnss and not voltage:
        return row
    changed[:] = row
    if no_gnss:  # the receiver keeps reporting, without a fix
        changed[FIX] = changed[SATELLITES] = 0.0
        changed[MEASURED] = nan
    if voltage:
        changed[VOLTAGE] = voltage
    return changed
