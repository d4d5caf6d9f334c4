"""Battery state, and sensor health (the bits of SYS_STATUS)."""

from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING

from paddock.compute.scalars import exp

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

# bits of MAV_SYS_STATUS_SENSOR
GYRO, ACCEL, MAG, BARO, AIRSPEED, GPS, RANGE = 0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x100
CONTROLS = 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000  # rates, attitude, yaw, altitude, position
MOTORS, RC, FENCE, AHRS, BATTERY, PREARM = 0x8000, 0x10000, 0x100000, 0x200000, 0x2000000, 0x10000000

LOW, CRITICAL = 1, 2  # battery levels
LEVELS = ((CRITICAL, "CRT"), (LOW, "LOW"))  # and the parts of their parameters' names
SECONDS_PER_HOUR = 3600.0
GRAVITY = 9.80665
SMOOTHING_TIME = 0.19  # s, of the mean specific force
RANGE_STALE_US = 1_000_000


class Battery:
    """The battery monitor. A low level latches: the voltage recovers as soon as the load ends."""

    autopilot: "BuiltInAutopilot"
    consumed: float  # mAh; NaN: not measured
    level: int  # 0, LOW or CRITICAL
    reason: str
    _low_time: list[float]  # s below the voltage limit of each level
    _limits: dict[int, tuple[float, float]]
    _timer: float
    _capacity: float

    def check_saved(self) -> bool:
        """Return whether a restored battery has the levels of all."""
        known = {level for level, _ in LEVELS}
        return len(self._low_time) == 3 and self._limits.keys() <= known and 0 <= self.level <= max(known)

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.consumed = nan
        self.level, self.reason = 0, ""
        self._low_time = [0.0, 0.0, 0.0]
        self.read_parameters()

    @property
    def present(self) -> bool:
        """Whether a voltage is measured."""
        return not isnan(self.autopilot.sensors.battery_voltage)

    @property
    def remaining(self) -> float:
        """Remaining charge, mAh; NaN: unknown."""
        share = self.autopilot.sensors.battery_remaining
        if not isnan(share):
            return share * self._capacity
        return self._capacity - self.consumed if self._capacity > 0.0 else nan

    def read_parameters(self) -> None:
        """Read capacity, and voltage and charge limits of each level."""
        value = self.autopilot.parameters.value
        self._limits = {level: (value(f"BATT_{word}_VOLT"), value(f"BATT_{word}_MAH")) for level, word in LEVELS}
        self._timer, self._capacity = value("BATT_LOW_TIMER"), value("BATT_CAPACITY")

    def update(self, dt: float) -> None:
        """Integrate the current and check the limits."""
        sensors = self.autopilot.sensors
        if not isnan(sensors.battery_remaining):
            self.consumed = (1.0 - sensors.battery_remaining) * self._capacity
        elif not isnan(sensors.battery_current):
            drawn = sensors.battery_current * dt / SECONDS_PER_HOUR * 1000.0
            self.consumed = drawn if isnan(self.consumed) else self.consumed + drawn
        if not isnan(sensors.battery_voltage):
            for level, (volts, charge) in self._limits.items():
                if self.level < level and (volts or charge):
                    self._check(level, volts, charge, dt)

    def _check(self, level: int, volts: float, charge: float, dt: float) -> None:
        voltage = self.autopilot.sensors.battery_voltage
        self._low_time[level] = self._low_time[level] + dt if voltage < volts else 0.0
        if volts > 0.0 and self._low_time[level] > 0.0 and self._low_time[level] >= self._timer:
            self.level, self.reason = level, f"{voltage:.2f}V"
        elif charge > 0.0 and self.remaining < charge:
            self.level, self.reason = level, f"{self.remaining:.0f}mAh remaining"


class Health:
    """MAV_SYS_STATUS_SENSOR bits: sensors that have reported, that are enabled, and that are healthy now."""

    autopilot: "BuiltInAutopilot"
    specific_force: float  # m/s2, mean magnitude
    _present: int

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self._present = CONTROLS | MOTORS | AHRS | PREARM
        self.specific_force = GRAVITY

    def update(self, dt: float) -> None:
        """Average the specific force and note which sensors report, `dt` s after the last time."""
        s = self.autopilot.sensors
        square = s.accel_x * s.accel_x + s.accel_y * s.accel_y + s.accel_z * s.accel_z
        if isfinite(square):
            self.specific_force += (sqrt(square) - self.specific_force) * (1.0 - exp(-dt / SMOOTHING_TIME))
        _ = self.present

    @property
    def present(self) -> int:
        """The sensors that have reported, even without a fix."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        self._present |= (
            (GYRO | ACCEL if s.imu_time_us >= 0.0 else 0)
            | (MAG if s.compass_time_us >= 0.0 else 0)
            | (BARO if s.baro_time_us >= 0.0 else 0)
            | (GPS if s.gnss_time_us >= 0.0 else 0)
            | (RANGE if s.range_time_us >= 0.0 and not isnan(s.range_1) else 0)
            | (0 if isnan(s.airspeed) else AIRSPEED)
            | (BATTERY if autopilot.battery.present else 0)
            | (RC if autopilot.rc.seen else 0)
            | (FENCE if autopilot.fence.enabled else 0)
        )
        return self._present

    @property
    def enabled(self) -> int:
        """Those in use."""
        off = (0 if self.autopilot.armed else MOTORS) | (0 if self.autopilot.fence.enabled else FENCE)
        return self.present & ~off

    @property
    def healthy(self) -> int:
        """Those that work now."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        gyro, accel, mag, gps, baro = autopilot.estimator.health
        healthy = GYRO * gyro | ACCEL * accel | MAG * mag | GPS * gps | BARO * baro | CONTROLS | MOTORS
        ranging = isfinite(s.range_1) and autopilot.now_us - s.range_time_us < RANGE_STALE_US
        healthy |= (RANGE if ranging else 0) | (AIRSPEED if isfinite(s.airspeed) else 0)
        healthy |= AHRS if autopilot.estimate.attitude_ok else 0
        healthy |= BATTERY if autopilot.battery.present and not autopilot.battery.level else 0
        healthy |= RC if autopilot.rc.fresh else 0
        healthy |= 0 if autopilot.fence.breached else FENCE
        healthy |= PREARM if autopilot.arming.passes else 0
        return healthy & self.present
