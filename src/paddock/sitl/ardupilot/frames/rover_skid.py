"""Skid-steer rover: channel 1 is the left side, channel 3 the right one, 1500 us stands."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.sitl.ardupilot.frame import Frame, deflection, deflection_pwm
from paddock.sitl.sensor_data import Floats


def apply(pwm: Sequence[int], row: Floats) -> None:
    """Shares of top speed of both sides, -1 to 1."""
    row[0] = pwm[0] > 0 or pwm[2] > 0
    row[1] = deflection(pwm[0])
    row[2] = deflection(pwm[2])


def outputs(row: Floats) -> tuple[int, ...]:
    """Both sides; a disarmed one stands."""
    left, right = (row[1], row[2]) if row[0] > 0.5 else (0.0, 0.0)
    return deflection_pwm(left), 0, deflection_pwm(right)


FRAME = Frame(
    name="rover-skid",
    summary="skid-steer rover (SERVO1 ThrottleLeft, SERVO3 ThrottleRight)",
    craft="rover",
    vehicle="Rover",
    binary="ardurover",
    sim_frame="rover-skid",
    defaults=("rover.parm", "rover-skid.parm"),
    apply=apply,
    outputs=outputs,
)
