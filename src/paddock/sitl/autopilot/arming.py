"""Whether motors may turn: the checks before arming, each with one clear line, and arming and disarming itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.sitl.autopilot import health
from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.targets import GuidedTarget
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

ALL, BARO, COMPASS, GPS, INS, RC, BATTERY, SYSTEM = 1, 2, 4, 8, 16, 64, 256, 8192
"""Bits of ARMING_CHECK."""

PERIOD_US = 1_000_000  # between two looks
REMIND_US = 30_000_000  # between two reminders of what fails
INTEREST_US = 120_000_000  # after an attempt: for how long somebody wants to know
BEST_ERROR = 5.0  # m: a position that is worse is no start
ACCEL_RANGE = (8.0, 11.6)  # m/s2 at rest
MIN_SATELLITES = 6
NO_POSITION = "Need Position Estimate"
MANUAL_THROTTLE = ("STABILIZE", "ACRO", "MANUAL", "FBWA")
DIRECT = (*MANUAL_THROTTLE, "ALT_HOLD", "LOITER", "STEERING")


class Arming:
    """The checks are looked at once a second, and at every attempt."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.passes = False
        self._looked_us = -PERIOD_US
        self._asked_us = -INTEREST_US  # the last attempt that failed
        self._told_us = -REMIND_US
        self._told: list[str] = []

    def update(self) -> None:
        """Look, and remind those who tried of what is still missing."""
        now = self.autopilot.now_us
        if now - self._looked_us < PERIOD_US:
            return
        self._looked_us = now
        failures = [] if self.autopilot.armed else self.failures()
        self.passes = not failures
        self.autopilot.status.note = failures[0] if failures else ""
        if failures and now - self._asked_us < INTEREST_US and now - self._told_us >= REMIND_US:
            self._tell("PreArm", failures)

    def _tell(self, word: str, failures: list[str]) -> None:
        self._told_us, self._told = self.autopilot.now_us, failures
        for failure in failures:
            self.autopilot.say(Severity.CRITICAL, f"{word}: {failure}")

    def tell_all(self) -> None:
        """Every check that fails, now."""
        failures = self.failures()
        self.passes = not failures
        self._tell("PreArm", failures)

    # arming and disarming --------------------------------------------------------------------------------------------

    def arm(self, force: bool) -> Answer:
        """Let motors turn, if the checks agree (or with `force`)."""
        autopilot = self.autopilot
        if autopilot.armed:
            return ACCEPTED
        failures = [] if force else self._refusals()
        if failures:
            return self._refuse(failures)
        autopilot.homes.at_arming()
        autopilot.craft.relax()
        autopilot.armed = True
        self._asked_us = -INTEREST_US
        autopilot.say(Severity.WARNING if force else Severity.INFO, "Arming motors" + (" (forced)" if force else ""))
        return ACCEPTED

    def _refuse(self, failures: list[str]) -> Answer:
        """The answer has the first line; the others are told, but not again and again to who tries twice a second."""
        now = self.autopilot.now_us
        self._asked_us, self.passes = now, False
        if failures != self._told or now - self._told_us >= REMIND_US:
            self._tell("PreArm", failures[1:])
            self._told = failures
        return Answer(Result.FAILED, f"Arm: {failures[0]}")

    def disarm(self, force: bool) -> Answer:
        """Stop the motors; in the air only with `force`."""
        autopilot = self.autopilot
        if not autopilot.armed:
            return ACCEPTED
        if not force and autopilot.telemetry.landed in (Landed.IN_AIR, Landed.TAKEOFF, Landed.LANDING):
            return Answer(Result.TEMPORARILY_REJECTED, "Disarm: in the air; land, or force it")
        autopilot.armed = False
        autopilot.guided = GuidedTarget()  # or it would go on with the old order when it is armed again
        autopilot.craft.relax()
        autopilot.failsafes.disarmed()
        autopilot.fence.disarmed()
        autopilot.say(Severity.INFO, "Disarming motors")
        return ACCEPTED

    # checks ----------------------------------------------------------------------------------------------------------

    def failures(self) -> list[str]:
        """What is wrong whatever the mode and the sticks, in the order in which a pilot would mend it."""
        asked = self.autopilot.parameters.whole("ARMING_CHECK")
        if asked == 0:
            return []
        checks: tuple[tuple[int, Callable[[], str]], ...] = (
            (INS, self._inertial),
            (INS, self._attitude),
            (BARO, self._barometer),
            (COMPASS, self._compass),
            (GPS, self._gnss),
            (GPS, self._position),
            (BATTERY, self._battery),
            (SYSTEM, self._fence),
        )
        found = (check() for bit, check in checks if asked & ALL or asked & bit)
        return [failure for failure in found if failure]

    @property
    def _flying(self) -> bool:
        return self.autopilot.telemetry.landed == Landed.IN_AIR

    def _broken(self, bit: int) -> bool:
        """Whether a sensor that has been heard is silent or wrong."""
        state = self.autopilot.health
        return bool(state.present & bit and not state.healthy & bit)

    def _inertial(self) -> str:
        working = self.autopilot.health.healthy
        if not working & health.GYRO:
            return "Gyros not healthy"
        if not working & health.ACCEL:
            return "Accels not healthy"
        low, high = ACCEL_RANGE
        force = self.autopilot.health.specific_force
        return "" if low <= force <= high or self._flying else f"Accels inconsistent ({force:.1f} m/s2 at rest)"

    def _attitude(self) -> str:
        return "" if self.autopilot.estimate.attitude_ok else "AHRS: not healthy"

    def _barometer(self) -> str:
        return "Baro: not healthy" if self._broken(health.BARO) else ""

    def _compass(self) -> str:
        return "Compass: not healthy" if self._broken(health.MAG) else ""

    def _needs_position(self) -> bool:
        return self.autopilot.mode.needs_position or self.autopilot.fence.needs_position

    def _gnss(self) -> str:
        sensors = self.autopilot.sensors
        if not self._needs_position():
            return ""
        if not self.autopilot.health.healthy & health.GPS:
            return "GPS: waiting for fix"
        if sensors.gnss_satellites < MIN_SATELLITES:
            return f"GPS: {sensors.gnss_satellites:.0f} satellites (need {MIN_SATELLITES})"
        return ""

    def _position(self) -> str:
        estimate = self.autopilot.estimate
        if not self._needs_position():
            return ""
        if not estimate.position_ok:
            return NO_POSITION
        if estimate.horizontal_error > BEST_ERROR:
            return f"EKF: position error {estimate.horizontal_error:.1f}m (need {BEST_ERROR:.1f})"
        return "waiting for home" if self.autopilot.home is None else ""

    def _battery(self) -> str:
        battery, parameters = self.autopilot.battery, self.autopilot.parameters
        if not battery.present:
            return ""
        if battery.level:
            return f"Battery 1 low ({battery.reason})"
        if self.autopilot.sensors.battery_voltage < parameters.value("BATT_ARM_VOLT"):
            return f"Battery 1 below minimum arming voltage ({self.autopilot.sensors.battery_voltage:.1f}V)"
        if battery.remaining < parameters.value("BATT_ARM_MAH"):
            return f"Battery 1 below minimum arming capacity ({battery.remaining:.0f}mAh)"
        return ""

    def _radio(self) -> str:
        autopilot = self.autopilot
        if not autopilot.rc.seen or autopilot.mode.name not in DIRECT or self._flying:
            return ""
        if autopilot.rc.lost:
            return "Radio failsafe on"
        if drives(autopilot.craft.kind):
            return "" if abs(autopilot.sticks.throttle) < 0.05 else "Throttle not neutral"
        most = 0.1 if autopilot.mode.name in MANUAL_THROTTLE else 0.6
        return "" if autopilot.sticks.throttle <= most else "Throttle too high"

    def _fence(self) -> str:
        return "vehicle outside fence" if self.autopilot.fence.enabled and self.autopilot.fence.breached else ""

    def _refusals(self) -> list[str]:
        """The checks that are asked for, and what no setting of ARMING_CHECK lets pass."""
        autopilot = self.autopilot
        failures = self.failures()
        if autopilot.parameters.whole("ARMING_CHECK") & (ALL | RC):
            failures.append(self._radio())
        if autopilot.mode.needs_position and not autopilot.estimate.position_ok:
            failures.append(NO_POSITION)
        if self._flying and autopilot.craft.kind == "copter":  # an aeroplane may begin its day in the air
            failures.append("already flying")
        failures.append("" if autopilot.mode.can_arm else f"{autopilot.mode.name} mode not armable")
        return list(dict.fromkeys(failure for failure in failures if failure))
