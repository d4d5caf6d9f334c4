"""DO_MOTOR_TEST: a copter on the ground spins one motor after the other, to check wiring and rotation.

As in ArduPilot, motors are counted in test order: clockwise seen from above, from the front right one. Each spins for
the given time; between two of a sequence all rest for half of it. A new command replaces the test. The copter stays
disarmed, but reports itself as armed while a motor may spin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.ack import Ack, CommandResult, denied, require, unsupported
from paddock.sitl.autopilot.control import copter as at
from paddock.sitl.autopilot.rc import THROTTLE
from paddock.sitl.autopilot.telemetry import Landed, Severity
from paddock.sitl.autopilot.vehicle import PWM_MAX, PWM_MIN

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

ORDER = (1, 4, 2, 3)  # motors of a quadrotor X in test order
PERCENT, PWM, PILOT = 0.0, 1.0, 2.0  # MOTOR_TEST_THROTTLE_TYPE
SHORTEST, LONGEST = 800, 2200  # us
MOST_SECONDS = 600.0
REST = 0.5  # share of the time of a motor


@dataclass
class MotorTest:
    """The test in progress of one copter."""

    autopilot: BuiltInAutopilot
    place: int  # of the motor in the test order, from 0
    left: int  # motors still to test, with the present one
    width: int  # us; 0: the pilot's throttle channel
    period_us: int  # for each motor
    started_us: int

    def check_saved(self) -> bool:
        """Return whether a restored test is one that a command can start."""
        motors = 0 <= self.place < len(ORDER) and 1 <= self.left <= len(ORDER) - self.place
        width = self.width == 0 or SHORTEST <= self.width <= LONGEST
        copter = self.autopilot.vehicle.kind == "copter"
        return copter and motors and width and 0 <= self.period_us <= MOST_SECONDS * 1e6

    def update(self) -> None:
        """Write the setpoint of the motor that is due, after the mode; end when all have been tested."""
        autopilot = self.autopilot
        elapsed = autopilot.now_us - self.started_us
        if self.left > 1 and elapsed >= (1.0 + REST) * self.period_us:
            self.place, self.left, self.started_us, elapsed = self.place + 1, self.left - 1, autopilot.now_us, 0
        width = self.width or autopilot.rc.sticks.pwm[THROTTLE]
        resting = elapsed >= self.period_us
        if autopilot.armed or (resting and self.left == 1) or not SHORTEST <= width <= LONGEST:
            self.stop()
            return
        share = min(max((width - PWM_MIN) / (PWM_MAX - PWM_MIN), 0.0), 1.0)
        setpoint = autopilot.vehicle.setpoint_row
        setpoint[at.SPOOL], setpoint[at.TESTED] = at.TEST, ORDER[self.place]
        setpoint[at.SHARE] = 0.0 if resting else share

    def stop(self) -> None:
        """End the test."""
        setpoint = self.autopilot.vehicle.setpoint_row
        if setpoint[at.SPOOL] == at.TEST:
            setpoint[at.SPOOL] = at.SHUT
        self.autopilot.motor_test = None
        self.autopilot.send_text(Severity.INFO, "Motor test: finished")


def _failed(text: str) -> Ack:
    return Ack(CommandResult.FAILED, f"Motor test: {text}")


def _width(autopilot: BuiltInAutopilot, kind: float, value: float) -> int:
    """Return the us of a throttle; 0 for the pilot's."""
    if kind == PERCENT:
        require(0.0 <= value <= 100.0, denied(f"Motor test: {value:g} % is not in 0 to 100"))
        return int(PWM_MIN + (PWM_MAX - PWM_MIN) * value / 100.0)
    if kind == PWM:
        require(SHORTEST <= value <= LONGEST, denied(f"Motor test: {value:g} us is not in {SHORTEST} to {LONGEST}"))
        return int(value)
    require(kind == PILOT, denied(f"Motor test: throttle type {kind:g} is not 0 (percent), 1 (us) or 2 (pilot)"))
    require(autopilot.rc.fresh, _failed("no RC"))
    return 0


def test_motors(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_MOTOR_TEST: p1 motor in test order, p2 0 percent, 1 us, 2 pilot, p3 throttle, p4 s, p5 number of motors."""
    require(autopilot.vehicle.kind == "copter", unsupported(autopilot, "Motor test"))
    most = len(ORDER)
    require(p[0] in range(1, most + 1), denied(f"Motor test: motor {p[0]:g} is not in 1 to {most}"))
    width = _width(autopilot, p[1], p[2])
    require(p[3] >= 0.0, denied(f"Motor test: {p[3]:g} s is not a duration"))
    require(0.0 <= p[4] <= most, denied(f"Motor test: {p[4]:g} motors are not in 0 to {most}"))
    require(not autopilot.armed, _failed("disarm first"))
    require(autopilot.telemetry.landed == Landed.ON_GROUND, _failed("vehicle not landed"))
    place, period_us = int(p[0]) - 1, round(min(p[3], MOST_SECONDS) * 1e6)
    left = min(max(int(p[4]), 1), most - place)
    if autopilot.motor_test is None:
        autopilot.send_text(Severity.INFO, "Motor test: started")
    autopilot.motor_test = MotorTest(autopilot, place, left, width, period_us, autopilot.now_us)
