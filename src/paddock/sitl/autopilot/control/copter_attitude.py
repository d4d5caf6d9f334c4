"""From a wanted direction of thrust and a heading to motor thrusts: attitude, body rates, mixer. Compiled."""

from __future__ import annotations

from paddock.compute.math import absolute, atan2, clamp, maximum, select, sign, sincos, sqrt, wrap_angle
from paddock.compute.quaternion import unrotate
from paddock.sitl.autopilot.control.copter_columns import (
    E_P,
    E_Q,
    E_QW,
    E_QX,
    E_QY,
    E_QZ,
    E_R,
    E_YAW,
    FILTER_TIME,
    I_PITCH,
    I_ROLL,
    I_YAW,
    INTEGRAL_MAX,
    LEAN_PITCH,
    LEAN_ROLL,
    LEAN_TIME,
    PITCH,
    PITCH_ANGLE_P,
    PITCH_D,
    PITCH_I,
    PITCH_P,
    ROLL,
    ROLL_ANGLE_P,
    ROLL_D,
    ROLL_I,
    ROLL_P,
    SMOOTH_P,
    SMOOTH_Q,
    SMOOTH_R,
    TILT_RATE_MAX,
    WANTED_PITCH,
    WANTED_ROLL,
    YAW,
    YAW_ANGLE_P,
    YAW_D,
    YAW_I,
    YAW_P,
    YAW_RATE,
    YAW_RATE_MAX,
)
from paddock.sitl.sensor_data import Floats
from paddock.vehicles.parts.quad_control import approach_speed, mix

TILT_DECELERATION = 40.0  # rad/s2: what the slowest airframe can do when a tilt ends
YAW_DECELERATION = 4.0  # rad/s2


def leaning(setpoint: Floats, gains: Floats, memory: Floats, yaw: float, dt: float) -> tuple[float, float, float]:
    """Where the belly is to point (north, east, down) for the pilot's lean, at the present heading."""
    share = dt / (gains[LEAN_TIME] + dt)
    memory[LEAN_ROLL] += share * (setpoint[ROLL] - memory[LEAN_ROLL])
    memory[LEAN_PITCH] += share * (setpoint[PITCH] - memory[LEAN_PITCH])
    sr, cr = sincos(memory[LEAN_ROLL])
    sp, cp = sincos(memory[LEAN_PITCH])
    sy, cy = sincos(yaw)
    return cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp


def show_lean(memory: Floats, zn: float, ze: float, zd: float, yaw: float) -> None:
    """Keep the wanted roll and pitch for display."""
    s, c = sincos(yaw)
    forward, right = zn * c + ze * s, ze * c - zn * s
    memory[WANTED_PITCH] = atan2(forward, zd)
    memory[WANTED_ROLL] = atan2(-right, sqrt(forward * forward + zd * zd))


def turn_rate(error: float, gain: float, deceleration: float, largest: float) -> float:
    """Rate, rad/s, that closes an angle without running past it."""
    return sign(error) * clamp(approach_speed(absolute(error), gain, deceleration), 0.0, largest)


def wanted_rates(
    setpoint: Floats, gains: Floats, estimate: Floats, zn: float, ze: float, zd: float
) -> tuple[float, float, float]:
    """Body rates, rad/s, that bring the belly to a direction by the shortest way, and the nose to its heading."""
    qx, qy, qz, qw = estimate[E_QX], estimate[E_QY], estimate[E_QZ], estimate[E_QW]
    bx, by, bz = unrotate(qx, qy, qz, qw, zn, ze, zd)
    across = sqrt(bx * bx + by * by)
    per_sine = atan2(across, bz) / maximum(across, 1e-9)
    p = turn_rate(-by * per_sine, gains[ROLL_ANGLE_P], TILT_DECELERATION, gains[TILT_RATE_MAX])
    q = turn_rate(bx * per_sine, gains[PITCH_ANGLE_P], TILT_DECELERATION, gains[TILT_RATE_MAX])
    astray = wrap_angle(setpoint[YAW] - estimate[E_YAW])
    turn = turn_rate(astray, gains[YAW_ANGLE_P], YAW_DECELERATION, gains[YAW_RATE_MAX]) + setpoint[YAW_RATE]
    dx, dy, dz = unrotate(qx, qy, qz, qw, 0.0, 0.0, 1.0)
    # a heading has no meaning for a craft on its side
    turn *= maximum(dz, 0.0)
    return p + dx * turn, q + dy * turn, dz * turn


def damped(memory: Floats, place: int, rate: float, filter_time: float, dt: float) -> float:
    """Angular acceleration, rad/s2, of a rate that is smoothed on the way."""
    memory[place] += dt / (filter_time + dt) * (rate - memory[place])
    return float((rate - memory[place]) / filter_time)


def integrate(memory: Floats, place: int, step: float, most: float, free: bool) -> None:
    """Let an I term grow, but not further into a limit that has been reached."""
    grows = step * memory[place] > 0.0
    memory[place] = clamp(memory[place] + select(grows and not free, 0.0, step), -most, most)


def drive(
    wanted: tuple[float, float, float],
    collective: float,
    gains: Floats,
    memory: Floats,
    estimate: Floats,
    dt: float,
    motors: Floats,
) -> None:
    """Rate loops (P, I, and D on the measured rate) and mixer; the four motors' shares of full thrust."""
    p, q, r = wanted[0] - estimate[E_P], wanted[1] - estimate[E_Q], wanted[2] - estimate[E_R]
    time = gains[FILTER_TIME]
    roll = gains[ROLL_P] * p + memory[I_ROLL] - gains[ROLL_D] * damped(memory, SMOOTH_P, estimate[E_P], time, dt)
    pitch = gains[PITCH_P] * q + memory[I_PITCH] - gains[PITCH_D] * damped(memory, SMOOTH_Q, estimate[E_Q], time, dt)
    yaw = gains[YAW_P] * r + memory[I_YAW] - gains[YAW_D] * damped(memory, SMOOTH_R, estimate[E_R], time, dt)
    mixed = mix(collective, roll, -pitch, -yaw)  # the mixer's axes are front-left-up
    most, free = gains[INTEGRAL_MAX], mixed.tilt_scale >= 1.0
    integrate(memory, I_ROLL, gains[ROLL_I] * p * dt, most, free)
    integrate(memory, I_PITCH, gains[PITCH_I] * q * dt, most, free)
    integrate(memory, I_YAW, gains[YAW_I] * r * dt, most, mixed.yaw_cut == 0.0)
    motors[0], motors[1], motors[2], motors[3] = mixed.motor_1, mixed.motor_2, mixed.motor_3, mixed.motor_4
