"""Flight controller of a multirotor: cascaded loops from sticks or setpoints down to wanted angular accelerations.

    position -> velocity -> acceleration -> thrust vector -> body rates -> angular acceleration (P, I, D and F)

All modes are computed and one is selected, so that a swarm in mixed modes still runs as packed code. Angular
accelerations, not torques, leave the rate loop: the gains then suit every airframe, and the mixer multiplies by the
inertia. No angle is ever extracted from the attitude: headings stay sine-cosine pairs.
"""

from __future__ import annotations

from typing import Protocol

from paddock.compute.math import absolute, clamp, maximum, minimum, select, sign, sincos, sqrt

ACRO, ANGLE, HORIZON, ALTITUDE, POSITION, VELOCITY, GOTO, TRACK, MOTORS = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0
MODES = ("acro", "angle", "horizon", "altitude", "position", "velocity", "goto", "track", "motors")
"""The names of the modes, in the order of their numbers; in the last an autopilot outside commands each motor."""

STICK_DEADBAND = 0.05
LEASH = 2.0
"""m: how far the held position may run ahead of the vehicle."""
HORIZON_RANGE = 0.75
"""Stick deflection at which horizon mode has become acro."""


class RateGains(Protocol):
    """The gains of a rate loop, among a vehicle's parameters."""

    @property
    def rate_p(self) -> float:
        """P, 1/s."""

    @property
    def rate_d(self) -> float:
        """D, no unit."""

    @property
    def rate_f(self) -> float:
        """Feed-forward, no unit."""

    @property
    def filter_time(self) -> float:
        """Low-pass of the D term, s."""


def climb_stick(throttle: float) -> float:
    """Throttle stick in [0, 1] as a climb demand in [-1, 1] with a dead band around the middle."""
    x = 2.0 * throttle - 1.0
    return sign(x) * maximum(absolute(x) - STICK_DEADBAND, 0.0) / (1.0 - STICK_DEADBAND)


def approach_speed(distance: float, gain: float, deceleration: float) -> float:
    """Speed, m/s, at which to close a distance: proportional near the target, at a constant deceleration far away."""
    near = deceleration / (gain * gain)
    far = sqrt(maximum(2.0 * deceleration * (distance - 0.5 * near), 0.0))
    return select(distance < near, gain * distance, far)


def held(target: float, position: float, velocity: float, dt: float) -> float:
    """The held coordinate, moved by the pilot's velocity but kept on a leash."""
    return clamp(target + velocity * dt, position - LEASH, position + LEASH)


def limited(x: float, y: float, largest: float) -> tuple[float, float]:
    """A horizontal vector, shortened to the largest length."""
    scale = minimum(1.0, largest / maximum(sqrt(x * x + y * y), 1e-9))
    return x * scale, y * scale


def tilt_error(bx: float, by: float, bz: float) -> tuple[float, float]:
    """Rotation about the body's x and y axes that brings its z axis to the direction (bx, by, bz), as sines.

    Beyond 90 degrees the sine falls again; there the full correction is kept.
    """
    across = sqrt(bx * bx + by * by)
    scale = select(bz < 0.0, 1.0 / maximum(across, 1e-6), 1.0)
    return -by * scale, bx * scale


def stick_direction(roll: float, pitch: float, angle_max: float) -> tuple[float, float, float]:
    """Thrust direction for the sticks, in level axes that turn with the heading; right roll and forward pitch are +."""
    sr, cr = sincos(clamp(roll, -1.0, 1.0) * angle_max)
    sp, cp = sincos(clamp(pitch, -1.0, 1.0) * angle_max)
    return sp * cr, -sr, cp * cr


def heading_error(wanted: float, cosine: float, sine: float) -> float:
    """Signed error, as a sine with its full value beyond 90 degrees, between a wanted heading (rad) and the present."""
    s, c = sincos(wanted)
    across, along = s * cosine - c * sine, c * cosine + s * sine
    return select(along < 0.0, select(across < 0.0, -1.0, 1.0), across)


def rate_loop(wanted: float, rate: float, filtered: float, integral: float, feed: float, gains: RateGains) -> float:
    """Wanted angular acceleration, rad/s2, about one axis.

    P on the rate error, I as integrated outside, D on the measured rate (no kick from setpoints) behind a low-pass,
    F on the setpoint's own rate of change.
    """
    damping = (gains.rate_d / gains.filter_time) * (rate - filtered)
    return gains.rate_p * (wanted - rate) + integral - damping + gains.rate_f * feed
