"""Before take-off: pre-arm checks, arming and disarming, calibration of sensors, tests of motors.

PREFLIGHT_CALIBRATION: gyroscopes, accelerometers (level, one position) and ground pressure, from measured samples. A
calibration averages a second of samples of a vehicle that stands still, sets the estimator's biases from the mean and
shows it as parameters. Everything else that the command can ask for is refused: it would not be done.

DO_MOTOR_TEST: a copter on the ground spins one motor after the other, to check wiring and rotation. As in ArduPilot,
motors are counted in test order: clockwise seen from above, from the front right one. Each spins for the given time;
between two of a sequence all rest for half of it. A new command replaces the test. The copter stays disarmed, but
reports itself as armed while a motor may spin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot, isfinite, isnan, sqrt
from typing import TYPE_CHECKING

from paddock.autopilot.contract import PWM_MAX, PWM_MIN, drives
from paddock.autopilot.control import copter as at
from paddock.autopilot.estimate import GRAVITY
from paddock.autopilot.failsafe import ACCEL, BARO, GPS, GYRO, MAG
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.rc import THROTTLE
from paddock.autopilot.telemetry import (
    ACCEPTED,
    Ack,
    CommandDone,
    CommandResult,
    Landed,
    Severity,
    denied,
    rejected,
    require,
    unsupported,
)
from paddock.world.records import Text

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

CHECK_ALL, CHECK_BARO, CHECK_COMPASS, CHECK_GPS, CHECK_INS = 1, 2, 4, 8, 16  # bits of ARMING_CHECK
CHECK_RC, CHECK_BATTERY, CHECK_SYSTEM = 64, 256, 8192

CHECK_PERIOD_US = 1_000_000  # between two checks
REPEAT_US = 30_000_000  # between two reports of the same failures
REPORTED_FOR_US = 120_000_000  # after a failed attempt
MAX_POSITION_ERROR = 5.0  # m, 1 sigma
ACCEL_RANGE = (8.0, 11.6)  # m/s2 at rest
MIN_SATELLITES = 6
NO_POSITION = "Need Position Estimate"
MANUAL_THROTTLE = ("STABILIZE", "ACRO", "MANUAL", "FBWA")
DIRECT = (*MANUAL_THROTTLE, "ALT_HOLD", "LOITER", "POSHOLD", "STEERING")
CALIBRATION = 241  # MAV_CMD_PREFLIGHT_CALIBRATION
CALIBRATION_SAMPLES = 50  # at 50 Hz
MAX_GYRO_BIAS = 0.1  # rad/s: a larger mean is a rotation
MAX_GYRO_SPREAD, MAX_ACCEL_SPREAD = 0.05, 0.4  # rad/s, m/s2: standard deviation of a vehicle that stands
MAX_PRESSURE_SPREAD = 30.0  # Pa
MAX_TILT = 0.5  # m/s2 of gravity along the horizontal axes: about 3 degrees
MAX_SPEED = 0.5  # m/s
CALIBRATE_GYRO, CALIBRATE_ACCEL, CALIBRATE_BARO = "gyro", "accel", "baro"
UNSUPPORTED_CALIBRATIONS = {  # by the index of the parameter
    1: "compass (use a calibrated sensor of the scenario)",
    3: "RC trim",
    5: "compass with motors, airspeed",
    6: "ESC, barometer temperature",
}
SIMPLE_ACCEL = 4.0  # p5; 1 is the one with six positions, 2 the level of the board
TEST_ORDER = (1, 4, 2, 3)  # motors of a quadrotor X in test order
PERCENT, PWM, PILOT = 0.0, 1.0, 2.0  # MOTOR_TEST_THROTTLE_TYPE
SHORTEST_PULSE, LONGEST_PULSE = 800, 2200  # us
LONGEST_TEST = 600.0  # s
TEST_REST = 0.5  # share of the time of a motor


@dataclass(eq=False)
class Arming:
    """Arms and disarms one vehicle. The checks run once a second and on every attempt."""

    autopilot: BuiltInAutopilot
    passes: bool = False
    note: Text = ""  # the first failure
    _checked_us: int = -CHECK_PERIOD_US
    _attempt_us: int = -REPORTED_FOR_US  # last failed attempt
    _reported_us: int = -REPEAT_US
    _reported: list[Text] = field(default_factory=list)

    def update(self) -> None:
        """Run the checks; after a failed attempt, repeat what still fails."""
        now = self.autopilot.now_us
        if now - self._checked_us < CHECK_PERIOD_US:
            return
        self._checked_us = now
        failures = [] if self.autopilot.armed else self.failures()
        self.passes = not failures
        self.note = self.autopilot.status.note = failures[0] if failures else ""
        if failures and now - self._attempt_us < REPORTED_FOR_US and now - self._reported_us >= REPEAT_US:
            self._report(failures)

    def _report(self, failures: list[str]) -> None:
        self._reported_us, self._reported = self.autopilot.now_us, failures
        for failure in failures:
            self.autopilot.send_text(Severity.CRITICAL, f"PreArm: {failure}")

    def report_all(self) -> None:
        """Send every failed check as STATUSTEXT."""
        failures = self.failures()
        self.passes = not failures
        self._report(failures)

    def arm(self, force: bool) -> Ack:
        """Arm if the checks pass, or with `force`."""
        autopilot = self.autopilot
        if autopilot.armed:
            return ACCEPTED
        if failures := [] if force else self._refusals():
            return self._refuse(failures)
        if not autopilot.home_position.locked:
            autopilot.home_position.set_here()
        autopilot.vehicle.reset_control()
        autopilot.armed = True
        if autopilot.log is not None:
            autopilot.log.update()  # it starts now
        self._attempt_us = -REPORTED_FOR_US
        text, severity = ("Arming motors (forced)", Severity.WARNING) if force else ("Arming motors", Severity.INFO)
        autopilot.send_text(severity, text)
        return ACCEPTED

    def _refuse(self, failures: list[str]) -> Ack:
        """Return the first failure; send the others as STATUSTEXT, at most every 30 s while they stay the same."""
        now = self.autopilot.now_us
        self._attempt_us, self.passes = now, False
        if failures != self._reported or now - self._reported_us >= REPEAT_US:
            self._report(failures[1:])
            self._reported = failures
        return Ack(CommandResult.FAILED, f"Arm: {failures[0]}")

    def disarm(self, force: bool) -> Ack:
        """Disarm; in the air only with `force`."""
        autopilot = self.autopilot
        if not autopilot.armed:
            return ACCEPTED
        if not force and autopilot.telemetry.landed in (Landed.IN_AIR, Landed.TAKEOFF, Landed.LANDING):
            return rejected("Disarm: vehicle is flying; land or force")
        autopilot.armed = False
        autopilot.replace_target(GuidedTarget())  # a target must not survive disarming
        autopilot.vehicle.reset_control()
        autopilot.failsafes.on_disarm()
        autopilot.fence.on_disarm()
        autopilot.send_text(Severity.INFO, "Disarming motors")
        return ACCEPTED

    def failures(self) -> list[str]:
        """Return the failures of the checks that ARMING_CHECK enables, whatever the mode and the sticks."""
        enabled = self.autopilot.parameters.whole("ARMING_CHECK")
        return [failure for bit, failure in self._checks() if enabled & (CHECK_ALL | bit)]

    @property
    def _flying(self) -> bool:
        return self.autopilot.telemetry.landed == Landed.IN_AIR

    def _checks(self) -> Iterator[tuple[int, str]]:
        """Yield the bit of ARMING_CHECK and the text of each failure."""
        autopilot, fence = self.autopilot, self.autopilot.fence
        healthy, force = autopilot.health.healthy, autopilot.health.specific_force
        broken = autopilot.health.present & ~healthy  # of the sensors that have reported
        if not healthy & GYRO:
            yield CHECK_INS, "Gyros not healthy"
        elif not healthy & ACCEL:
            yield CHECK_INS, "Accels not healthy"
        elif not (ACCEL_RANGE[0] <= force <= ACCEL_RANGE[1] or self._flying):
            yield CHECK_INS, f"Accels inconsistent ({force:.1f} m/s2 at rest)"
        if not autopilot.estimate.attitude_ok:
            yield CHECK_INS, "AHRS: not healthy"
        if broken & BARO:
            yield CHECK_BARO, "Baro: not healthy"
        if broken & MAG:
            yield CHECK_COMPASS, "Compass: not healthy"
        if autopilot.mode.needs_position or fence.needs_position:
            satellites = autopilot.sensors.gnss_satellites
            if not healthy & GPS:
                yield CHECK_GPS, "GPS: waiting for fix"
            elif satellites < MIN_SATELLITES:
                yield CHECK_GPS, f"GPS: {satellites:.0f} satellites (need {MIN_SATELLITES})"
            error = autopilot.estimate.horizontal_error
            if not autopilot.estimate.position_ok:
                yield CHECK_GPS, NO_POSITION
            elif error > MAX_POSITION_ERROR:
                yield CHECK_GPS, f"EKF: position error {error:.1f}m (need {MAX_POSITION_ERROR:.1f})"
            elif autopilot.home is None:
                yield CHECK_GPS, "Waiting for home"
        if autopilot.battery.present:
            battery, value, voltage = autopilot.battery, autopilot.parameters.value, autopilot.sensors.battery_voltage
            if battery.level:
                yield CHECK_BATTERY, f"Battery 1 low ({battery.reason})"
            elif voltage < value("BATT_ARM_VOLT"):
                yield CHECK_BATTERY, f"Battery 1 below minimum arming voltage ({voltage:.1f}V)"
            elif battery.remaining < value("BATT_ARM_MAH"):
                yield CHECK_BATTERY, f"Battery 1 below minimum arming capacity ({battery.remaining:.0f}mAh)"
        if fence.enabled and fence.breached:
            yield CHECK_SYSTEM, "Vehicle breaching fence"

    def _radio(self) -> str:
        autopilot = self.autopilot
        if not autopilot.rc.seen or autopilot.mode.name not in DIRECT or self._flying:
            return ""
        if autopilot.rc.lost:
            return "Radio failsafe on"
        if drives(autopilot.vehicle.kind):
            return "" if abs(autopilot.rc.sticks.throttle) < 0.05 else "Throttle not neutral"
        limit = 0.1 if autopilot.mode.name in MANUAL_THROTTLE else 0.6
        return "" if autopilot.rc.sticks.throttle <= limit else "Throttle too high"

    def _refusals(self) -> list[str]:
        """Return the failed checks, including those that ARMING_CHECK cannot disable."""
        autopilot = self.autopilot
        failures = self.failures()
        if autopilot.parameters.whole("ARMING_CHECK") & (CHECK_ALL | CHECK_RC):
            failures.append(self._radio())
        if autopilot.mode.needs_position and not autopilot.estimate.position_ok:
            failures.append(NO_POSITION)
        if self._flying and autopilot.vehicle.kind == "copter":  # a plane may start in the air
            failures.append("Already flying")
        failures.append("" if autopilot.motor_test is None else "Motor test running")
        failures.append("" if autopilot.mode.can_arm else f"{autopilot.mode.name} mode not armable")
        return list(dict.fromkeys(failure for failure in failures if failure))


@dataclass
class Calibration:
    """The calibration in progress of one vehicle."""

    autopilot: BuiltInAutopilot
    sensors: tuple[Text, ...] = ()  # GYRO, ACCEL, BARO; empty: none in progress
    count: int = 0
    sums: list[float] = field(default_factory=lambda: [0.0] * 7)  # gyro 3, accel 3, pressure less the first
    squares: list[float] = field(default_factory=lambda: [0.0] * 7)
    first: float = 0.0  # Pa
    baro_altitude: float = 0.0  # m, sum of the estimator's

    def check_saved(self) -> bool:
        """Return whether a restored calibration is one that a command can start."""
        return len(self.sums) == len(self.squares) == 7 and self.count >= 0

    def start(self, sensors: tuple[str, ...]) -> None:
        """Begin to collect samples."""
        self.sensors, self.count, self.sums, self.squares = sensors, 0, [0.0] * 7, [0.0] * 7
        self.first, self.baro_altitude = self.autopilot.sensors.pressure, 0.0

    def update(self) -> None:
        """Add a sample; after the last, set the biases and answer."""
        autopilot, s = self.autopilot, self.autopilot.sensors
        if autopilot.armed:
            self._finish("armed meanwhile")
            return
        sample = (s.gyro_x, s.gyro_y, s.gyro_z, s.accel_x, s.accel_y, s.accel_z, s.pressure - self.first)
        for k, value in enumerate(sample):
            self.sums[k] += value
            self.squares[k] += value * value
        self.baro_altitude += autopilot.estimator.baro_altitude
        self.count += 1
        if self.count >= CALIBRATION_SAMPLES:
            self._finish(self._problem())

    def _problem(self) -> str:
        """Return why the samples cannot be used, or an empty string."""
        means = self._means()
        pairs = zip(self.squares, means, strict=True)
        spreads = [sqrt(max(square / self.count - mean * mean, 0.0)) for square, mean in pairs]
        estimate = self.autopilot.estimate
        if estimate.position_ok and hypot(estimate.vn, estimate.ve, estimate.vd) > MAX_SPEED:
            return "vehicle moves"
        if CALIBRATE_GYRO in self.sensors or CALIBRATE_ACCEL in self.sensors:
            if not all(map(isfinite, means[:6])):
                return "IMU has no data"
            if max(spreads[:3]) > MAX_GYRO_SPREAD or max(map(abs, means[:3])) > MAX_GYRO_BIAS:
                return "vehicle rotates"
            if max(spreads[3:6]) > MAX_ACCEL_SPREAD:
                return "vehicle shakes"
        if CALIBRATE_ACCEL in self.sensors and (hypot(*means[3:5]) > MAX_TILT or abs(means[5] + GRAVITY) > MAX_TILT):
            return "vehicle is not level"
        if CALIBRATE_BARO in self.sensors and not (isfinite(means[6]) and spreads[6] <= MAX_PRESSURE_SPREAD):
            return "pressure is not steady"
        return ""

    def _means(self) -> list[float]:
        return [total / self.count for total in self.sums]

    def _finish(self, problem: str) -> None:
        """Apply, and send the final answer."""
        autopilot, names, means = self.autopilot, self.sensors, self._means() if self.count else [0.0] * 7
        self.sensors = ()
        if problem:
            ack = Ack(CommandResult.FAILED, f"Calibration failed: {problem}")
            autopilot.send_text(Severity.WARNING, ack.text)
            autopilot.outbox.append(CommandDone(CALIBRATION, ack))
            return
        show, parts = autopilot.parameters.show, []
        if CALIBRATE_GYRO in names:
            autopilot.estimator.set_gyro_bias(means[:3])
            for axis, value in zip("XYZ", means[:3], strict=True):
                show(f"INS_GYROFFS_{axis}", value)
            parts.append("gyro {:.4f} {:.4f} {:.4f} rad/s".format(*means[:3]))
        if CALIBRATE_ACCEL in names:
            bias = [means[3], means[4], means[5] + GRAVITY]
            autopilot.estimator.set_accel_bias(bias)
            for axis, value in zip("XYZ", bias, strict=True):
                show(f"INS_ACCOFFS_{axis}", value)
            parts.append("accel {:.3f} {:.3f} {:.3f} m/s2".format(*bias))
        if CALIBRATE_BARO in names:
            autopilot.estimator.set_baro_offset(self.baro_altitude / self.count)
            show("BARO1_GND_PRESS", self.first + means[6])
            parts.append(f"ground pressure {self.first + means[6]:.0f} Pa")
        autopilot.send_text(Severity.INFO, f"Calibrated: {', '.join(parts)}")
        autopilot.outbox.append(CommandDone(CALIBRATION, ACCEPTED))


def calibrate(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """PREFLIGHT_CALIBRATION: p1 1 gyroscopes, p3 1 ground pressure, p5 4 accelerometers of a level vehicle."""
    values = [0.0 if isnan(value) else value for value in p]
    require(any(values), denied("Calibration: no sensor selected"))
    problems = [name for k, name in UNSUPPORTED_CALIBRATIONS.items() if values[k]]
    problems += ["gyro temperature"] if values[0] not in (0.0, 1.0) else []
    if values[4] not in (0.0, SIMPLE_ACCEL):
        problems.append("accelerometers in six positions or board level (only p5 = 4, one level position)")
    if problems:
        text = f"Calibration not supported: {'; '.join(problems)}"
        autopilot.send_text(Severity.WARNING, text)
        return Ack(CommandResult.UNSUPPORTED, text)
    require(not autopilot.armed, rejected("Calibration: disarm first"))
    require(autopilot.motor_test is None, rejected("Calibration: motor test running"))
    require(autopilot.telemetry.landed == Landed.ON_GROUND, rejected("Calibration: not on the ground"))
    require(not autopilot.calibration.sensors, rejected("Calibration: another one is in progress"))
    no_filter = Ack(CommandResult.FAILED, "Calibration: the estimator is replaced by the truth")
    require(not autopilot.estimator.use_truth, no_filter)
    sensors = [
        name
        for name, value in ((CALIBRATE_GYRO, values[0]), (CALIBRATE_ACCEL, values[4]), (CALIBRATE_BARO, values[2]))
        if value
    ]
    autopilot.calibration.start(tuple(sensors))
    return Ack(CommandResult.IN_PROGRESS)


@dataclass
class MotorTest:
    """The test in progress of one copter."""

    autopilot: BuiltInAutopilot
    order: int  # of the motor in the test order, from 0
    left: int  # motors still to test, with the present one
    width: int  # us; 0: the pilot's throttle channel
    period_us: int  # for each motor
    started_us: int

    def check_saved(self) -> bool:
        """Return whether a restored test is one that a command can start."""
        motors = 0 <= self.order < len(TEST_ORDER) and 1 <= self.left <= len(TEST_ORDER) - self.order
        width = self.width == 0 or SHORTEST_PULSE <= self.width <= LONGEST_PULSE
        copter = self.autopilot.vehicle.kind == "copter"
        return copter and motors and width and 0 <= self.period_us <= LONGEST_TEST * 1e6

    def update(self) -> None:
        """Write the setpoint of the motor that is due, after the mode; end when all have been tested."""
        autopilot = self.autopilot
        elapsed = autopilot.now_us - self.started_us
        if self.left > 1 and elapsed >= (1.0 + TEST_REST) * self.period_us:
            self.order, self.left, self.started_us, elapsed = self.order + 1, self.left - 1, autopilot.now_us, 0
        width = self.width or autopilot.rc.sticks.pwm[THROTTLE]
        resting = elapsed >= self.period_us
        if autopilot.armed or (resting and self.left == 1) or not SHORTEST_PULSE <= width <= LONGEST_PULSE:
            self.stop()
            return
        share = min(max((width - PWM_MIN) / (PWM_MAX - PWM_MIN), 0.0), 1.0)
        setpoint = autopilot.vehicle.setpoint_row
        setpoint[at.SPOOL], setpoint[at.TEST_MOTOR] = at.TEST, TEST_ORDER[self.order]
        setpoint[at.SHARE] = 0.0 if resting else share

    def stop(self) -> None:
        """End the test."""
        setpoint = self.autopilot.vehicle.setpoint_row
        if setpoint[at.SPOOL] == at.TEST:
            setpoint[at.SPOOL] = at.STOP
        self.autopilot.motor_test = None
        self.autopilot.send_text(Severity.INFO, "Motor test: finished")


def _test_failed(text: str) -> Ack:
    return Ack(CommandResult.FAILED, f"Motor test: {text}")


def _test_width(autopilot: BuiltInAutopilot, kind: float, value: float) -> int:
    """Return the us of a throttle; 0 for the pilot's."""
    if kind == PERCENT:
        require(0.0 <= value <= 100.0, denied(f"Motor test: {value:g} % is not in 0 to 100"))
        return int(PWM_MIN + (PWM_MAX - PWM_MIN) * value / 100.0)
    if kind == PWM:
        require(
            SHORTEST_PULSE <= value <= LONGEST_PULSE,
            denied(f"Motor test: {value:g} us is not in {SHORTEST_PULSE} to {LONGEST_PULSE}"),
        )
        return int(value)
    require(kind == PILOT, denied(f"Motor test: throttle type {kind:g} is not 0 (percent), 1 (us) or 2 (pilot)"))
    require(autopilot.rc.fresh, _test_failed("no RC"))
    return 0


def test_motors(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_MOTOR_TEST: p1 motor in test order, p2 0 percent, 1 us, 2 pilot, p3 throttle, p4 s, p5 number of motors."""
    require(autopilot.vehicle.kind == "copter", unsupported(autopilot, "Motor test"))
    most = len(TEST_ORDER)
    require(p[0] in range(1, most + 1), denied(f"Motor test: motor {p[0]:g} is not in 1 to {most}"))
    width = _test_width(autopilot, p[1], p[2])
    require(p[3] >= 0.0, denied(f"Motor test: {p[3]:g} s is not a duration"))
    require(0.0 <= p[4] <= most, denied(f"Motor test: {p[4]:g} motors are not in 0 to {most}"))
    require(not autopilot.armed, _test_failed("disarm first"))
    require(autopilot.telemetry.landed == Landed.ON_GROUND, _test_failed("vehicle not landed"))
    order, period_us = int(p[0]) - 1, round(min(p[3], LONGEST_TEST) * 1e6)
    left = min(max(int(p[4]), 1), most - order)
    if autopilot.motor_test is None:
        autopilot.send_text(Severity.INFO, "Motor test: started")
    autopilot.motor_test = MotorTest(autopilot, order, left, width, period_us, autopilot.now_us)
