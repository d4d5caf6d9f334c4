"""Quadrotor X: channels 1 to 4 are the motors, numbered as ours."""

from __future__ import annotations

from collections.abc import Sequence

from paddock.sitl.ardupilot.frame import Frame, thrust_pwm, thrust_share
from paddock.sitl.sensor_data import Floats


def apply(pwm: Sequence[int], row: Floats) -> None:
    """Shares of thrust; an ArduPilot that is disarmed holds its motors at 1000 us or sends nothing."""
    row[0] = max(pwm[:4]) > 1000
    row[1] = thrust_share(pwm[0])
    row[2] = thrust_share(pwm[1])
    row[3] = thrust_share(pwm[2])
    row[4] = thrust_share(pwm[3])


def outputs(row: Floats) -> tuple[int, ...]:
    """Motors of an armed vehicle; disarmed they are at rest."""
    return tuple(thrust_pwm(share) if row[0] > 0.5 else 1000 for share in row[1:5].tolist())


FRAME = Frame(
    name="copter",
    summary="quadrotor X (FRAME_CLASS 1, FRAME_TYPE 1)",
    craft="copter",
    vehicle="ArduCopter",
    binary="arducopter",
    sim_frame="quad",
    defaults=("copter.parm",),
    apply=apply,
    outputs=outputs,
    longest_dt=1.0 / 720.0,  # it arms with an IMU at 1.8 times its loop of 400 Hz, or faster
    own_parameters="copter_x.parm",  # the stock file is for a plus frame
    caution="copter.parm without copter_x.parm is a plus (FRAME_TYPE 0), which tumbles here: for it use copter-plus",
)
