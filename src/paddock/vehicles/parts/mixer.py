"""Motor mixer of an X quadrotor with a saturation priority: roll and pitch, then collective, then yaw.

Motors as ArduPilot numbers them: 1 front right, 2 rear left (both turn counter-clockwise seen from above, so more of
them yaws the nose right), 3 front left, 4 rear right (clockwise).
"""

from __future__ import annotations

from typing import NamedTuple

from paddock.compute.math import absolute, clamp, maximum, minimum

YAW_RESERVE = 0.2
"""Share of a motor's thrust that yaw may use even when the collective leaves less room than that."""


class Mix(NamedTuple):
    """Thrust of each motor as a share of its maximum, and which demands had to be cut."""

    motor_1: float
    motor_2: float
    motor_3: float
    motor_4: float
    tilt_scale: float  # 1: roll and pitch were given in full
    yaw_cut: float  # share of the yaw demand that was refused, with its sign


def mix(collective: float, roll: float, pitch: float, yaw: float) -> Mix:
    """Motor thrusts for a collective (0..1) and the thrust differences that roll, pitch and yaw want, all in shares.

    Roll and pitch keep their ratio when they must be scaled; the collective moves to make room for them; yaw takes
    what is left.
    """
    room = 0.5 / maximum(absolute(roll) + absolute(pitch), 0.5)
    r, p = roll * room, pitch * room
    tilt = absolute(r) + absolute(p)
    level = clamp(collective, 0.0, 1.0)
    spare = minimum(maximum(minimum(level, 1.0 - level) - tilt, YAW_RESERVE), maximum(0.5 - tilt, 0.0))
    y = clamp(yaw, -spare, spare)
    same, opposed = absolute(r + p), absolute(r - p)
    below = maximum(same + y, opposed - y)
    above = maximum(same - y, opposed + y)
    c = minimum(maximum(level, below), 1.0 - above)
    return Mix(
        motor_1=clamp(c - r - p - y, 0.0, 1.0),
        motor_2=clamp(c + r + p - y, 0.0, 1.0),
        motor_3=clamp(c + r - p + y, 0.0, 1.0),
        motor_4=clamp(c - r + p + y, 0.0, 1.0),
        tilt_scale=room,
        yaw_cut=yaw - y,
    )
