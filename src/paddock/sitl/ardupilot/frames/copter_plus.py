"""Quadrotor plus, as the stock `copter.parm` alone configures it, on an airframe whose motors stand in an X.

The four shares are turned into the same thrust and the same torques of an X with arms of the same length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from paddock.sitl.ardupilot.frame import thrust_pwm, thrust_share
from paddock.sitl.ardupilot.frames.copter import FRAME as COPTER
from paddock.sitl.sensor_data import Floats

LEVER = sqrt(2.0) / 4.0
"""An arm at 45 degrees has 1/sqrt(2) of the lever, and four motors share what two did."""


def apply(pwm: Sequence[int], row: Floats) -> None:
    """Motors of a plus: 1 right and 2 left (counter-clockwise), 3 front and 4 rear (clockwise)."""
    right, left, front, rear = (thrust_share(channel) for channel in pwm[:4])
    roll, pitch = (left - right) * LEVER, (front - rear) * LEVER
    row[0] = max(pwm[:4]) > 1000
    counter_clockwise, clockwise = (right + left) * 0.5, (front + rear) * 0.5
    row[1] = _share(counter_clockwise - roll + pitch)  # front right
    row[2] = _share(counter_clockwise + roll - pitch)  # rear left
    row[3] = _share(clockwise + roll + pitch)  # front left
    row[4] = _share(clockwise - roll - pitch)  # rear right


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def outputs(row: Floats) -> tuple[int, ...]:
    """The four motors of the plus that turn an X like this."""
    front_right, rear_left, front_left, rear_right = row[1:5].tolist()
    roll = (front_left + rear_left - front_right - rear_right) * 0.25 / LEVER
    pitch = (front_left + front_right - rear_left - rear_right) * 0.25 / LEVER
    counter_clockwise, clockwise = (front_right + rear_left) * 0.5, (front_left + rear_right) * 0.5
    shares = (
        counter_clockwise - roll * 0.5,
        counter_clockwise + roll * 0.5,
        clockwise + pitch * 0.5,
        clockwise - pitch * 0.5,
    )
    return tuple(thrust_pwm(share) if row[0] > 0.5 else 1000 for share in shares)


FRAME = replace(
    COPTER,
    name="copter-plus",
    summary="quadrotor plus, as the stock copter.parm has it (FRAME_CLASS 1, FRAME_TYPE 0)",
    apply=apply,
    outputs=outputs,
    own_parameters="",
    caution="FRAME_TYPE 1 (X) in parameters of your own tumbles here: for it use copter",
)
