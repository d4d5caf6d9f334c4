"""Pre-arm checks, arming and disarming."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paddock.sitl.autopilot import health
from paddock.sitl.autopilot.ack import ACCEPTED, Ack, CommandResult, rejected
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.telemetry import Landed, Severity
from paddock.sitl.autopilot.vehicle import drives

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

ALL, BARO, COMPASS, GPS, INS, RC, BATTERY, SYSTEM = 1, 2, 4, 8, 16, 64, 256, 8192  # bits of ARMING_CHECK

PERIOD_US = 1_000_000  # between two checks
REPEAT_US = 30_000_000  # between two reports of the same failures
REPORTED_FOR_US = 120_000_000  # after a failed attempt
MAX_POSITION_ERROR = 5.0  # m, 1 sigma
ACCEL_RANGE = (8.0, 11.6)  # m/s2 at rest
MIN_SATELLITES = 6
NO_POSITION = "Need Position Estimate"
MANUAL_THROTTLE = ("STABILIZE", "ACRO", "MANUAL", "FBWA")
DIRECT = (*MANUAL_THROTTLE, "ALT_HOLD", "LOITER", "POSHOLD", "STEERING")


class Arming:
    """Arms and disarms one vehicle. The checks run once a second and on every attempt."""

    autopilot: "BuiltInAutopilot"
    passes: bool
    _checked_us: int
    _attempt_us: int  # last failed attempt
    _reported_us: int
    _reported: list[str]

    def __init__(self, autopilot: "BuiltInAutopilot") -> None:
        self.autopilot = autopilot
        self.passes = False
        self._checked_us = -PERIOD_US
        self._attempt_us = -REPORTED_FOR_US
        self._reported_us = -REPEAT_US
        self._reported = []

    def update(self) -> None:
        """Run the checks; after a failed attempt, repeat what still fails."""
        now = self.autopilot.now_us
        if now - self._checked_us < PERIOD_US:
            return
        self._checked_us = now
        failures = [] if self.autopilot.armed else self.failures()
        self.passes = not failures
        self.autopilot.status.note = failures[0] if failures else ""
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
        autopilot.guided = GuidedTarget()  # a target must not survive disarming
        autopilot.vehicle.reset_control()
        autopilot.failsafes.on_disarm()
        autopilot.fence.on_disarm()
        autopilot.send_text(Severity.INFO, "Disarming motors")
        return ACCEPTED

    def failures(self) -> list[str]:
        """Return the failures of the checks that ARMING_CHECK enables, whatever the mode and the sticks."""
        enabled = self.autopilot.parameters.whole("ARMING_CHECK")
        return [failure for bit, failure in self._checks() if enabled & (ALL | bit)]

    @property
    def _flying(self) -> bool:
        return self.autopilot.telemetry.landed == Landed.IN_AIR

    def _checks(self) -> Iterator[tuple[int, str]]:
        """Yield the bit of ARMING_CHECK and the text of each failure."""
        autopilot, fence = self.autopilot, self.autopilot.fence
        healthy, force = autopilot.health.healthy, autopilot.health.specific_force
        broken = autopilot.health.present & ~healthy  # of the sensors that have reported
        if not healthy & health.GYRO:
            yield INS, "Gyros not healthy"
        elif not healthy & health.ACCEL:
            yield INS, "Accels not healthy"
        elif not (ACCEL_RANGE[0] <= force <= ACCEL_RANGE[1] or self._flying):
            yield INS, f"Accels inconsistent ({force:.1f} m/s2 at rest)"
        if not autopilot.estimate.attitude_ok:
            yield INS, "AHRS: not healthy"
        if broken & health.BARO:
            yield BARO, "Baro: not healthy"
        if broken & health.MAG:
            yield COMPASS, "Compass: not healthy"
        if autopilot.mode.needs_position or fence.needs_position:
            satellites = autopilot.sensors.gnss_satellites
            if not healthy & health.GPS:
                yield GPS, "GPS: waiting for fix"
            elif satellites < MIN_SATELLITES:
                yield GPS, f"GPS: {satellites:.0f} satellites (need {MIN_SATELLITES})"
            error = autopilot.estimate.horizontal_error
            if not autopilot.estimate.position_ok:
                yield GPS, NO_POSITION
            elif error > MAX_POSITION_ERROR:
                yield GPS, f"EKF: position error {error:.1f}m (need {MAX_POSITION_ERROR:.1f})"
            elif autopilot.home is None:
                yield GPS, "Waiting for home"
        if autopilot.battery.present:
            battery, value, voltage = autopilot.battery, autopilot.parameters.value, autopilot.sensors.battery_voltage
            if battery.level:
                yield BATTERY, f"Battery 1 low ({battery.reason})"
            elif voltage < value("BATT_ARM_VOLT"):
                yield BATTERY, f"Battery 1 below minimum arming voltage ({voltage:.1f}V)"
            elif battery.remaining < value("BATT_ARM_MAH"):
                yield BATTERY, f"Battery 1 below minimum arming capacity ({battery.remaining:.0f}mAh)"
        if fence.enabled and fence.breached:
            yield SYSTEM, "Vehicle breaching fence"

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
        if autopilot.parameters.whole("ARMING_CHECK") & (ALL | RC):
            failures.append(self._radio())
        if autopilot.mode.needs_position and not autopilot.estimate.position_ok:
            failures.append(NO_POSITION)
        if self._flying and autopilot.vehicle.kind == "copter":  # a plane may start in the air
            failures.append("Already flying")
        failures.append("" if autopilot.motor_test is None else "Motor test running")
        failures.append("" if autopilot.mode.can_arm else f"{autopilot.mode.name} mode not armable")
        return list(dict.fromkeys(failure for failure in failures if failure))
