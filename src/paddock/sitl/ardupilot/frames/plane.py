"""Fixed wing: channels 1 aileron, 2 elevator, 3 throttle, 4 rudder; above 1500 us rolls right, pulls up, yaws right."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.sitl.actuators import MOTORS
from paddock.sitl.ardupilot.frame import Frame, deflection, deflection_pwm, throttle, throttle_pwm
from paddock.sitl.sensor_data import Floats


def apply(pwm: Sequence[int], row: Floats) -> None:
    """Throttle 0 to 1, surfaces -1 to 1."""
    row[0] = pwm[2] > 0
    row[1] = throttle(pwm[2])
    row[1 + MOTORS] = deflection(pwm[0])
    row[2 + MOTORS] = deflection(pwm[1])
    row[3 + MOTORS] = deflection(pwm[3])


def outputs(row: Floats) -> tuple[int, ...]:
    """Surfaces, and the throttle of an armed one."""
    aileron, elevator, rudder = (deflection_pwm(value) for value in row[1 + MOTORS : 4 + MOTORS].tolist())
    return aileron, elevator, throttle_pwm(row[1] if row[0] > 0.5 else 0.0), rudder


FRAME = Frame(
    name="plane",
    summary="fixed wing with aileron, elevator, throttle, rudder on channels 1 to 4",
    craft="plane",
    vehicle="ArduPlane",
    binary="arduplane",
    sim_frame="plane",
    defaults=("plane.parm",),
    apply=apply,
    outputs=outputs,
)
