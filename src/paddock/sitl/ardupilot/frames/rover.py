"""Rover that steers its front wheels: channel 1 steering (+ right), channel 3 throttle, 1500 us in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.sitl.actuators import MOTORS
from paddock.sitl.ardupilot.frame import Frame, deflection, deflection_pwm
from paddock.sitl.sensor_data import Floats


def apply(pwm: Sequence[int], row: Floats) -> None:
    """Throttle -1 to 1 and steering -1 to 1."""
    row[0] = pwm[2] > 0
    row[1] = deflection(pwm[2])
    row[1 + MOTORS] = deflection(pwm[0])


def outputs(row: Floats) -> tuple[int, ...]:
    """Steering and throttle; a disarmed one stands."""
    return deflection_pwm(row[1 + MOTORS]), 0, deflection_pwm(row[1] if row[0] > 0.5 else 0.0)


FRAME = Frame(
    name="rover",
    summary="rover with steered front wheels (SERVO1 GroundSteering, SERVO3 Throttle)",
    craft="rover_ackermann",
    vehicle="Rover",
    binary="ardurover",
    sim_frame="rover",
    defaults=("rover.parm",),
    apply=apply,
    outputs=outputs,
)
