"""Flight controller of a quadrotor: cascaded loops from sticks or setpoints to motor thrusts.

    position -> velocity -> acceleration -> thrust vector -> body rates -> angular acceleration (P, I, D and F) -> mixer

All modes are computed and one is selected, so that a fleet in mixed modes runs as packed code. The rate loop returns
angular accelerations, not torques: its gains suit every airframe, the mixer multiplies by the inertia. No angle is
extracted from the attitude: headings stay sine-cosine pairs."""

from typing import NamedTuple

from paddock.compute.math import absolute, clamp, exp, maximum, minimum, select, sign, sincos, sqrt, tan
from paddock.compute.quaternion import unrotate
from paddock.vehicles.parts.quad import (
    ACRO,
    ALTITUDE,
    GOTO,
    HORIZON,
    MOTORS,
    POSITION,
    Command,
    MotorMix,
    Parameters,
    State,
    aloft,
)
from paddock.world.columns import Environment

STICK_DEADBAND = 0.05
LEASH = 2.0  # m: how far the held position may run ahead of the vehicle
HORIZON_RANGE = 0.75  # stick deflection at which horizon mode has become acro


def climb_stick(throttle: float) -> float:
    """Return the throttle stick in [0, 1] as a climb demand in [-1, 1] with a dead band around the middle."""
    x = 2.0 * throttle - 1.0
    return sign(x) * maximum(absolute(x) - STICK_DEADBAND, 0.0) / (1.0 - STICK_DEADBAND)


def approach_speed(distance: float, gain: float, deceleration: float) -> float:
    """Return the approach speed, m/s: proportional near the target, constant deceleration far away."""
    near = deceleration / (gain * gain)
    far = sqrt(maximum(2.0 * deceleration * (distance - 0.5 * near), 0.0))
    return select(distance < near, gain * distance, far)


def held(target: float, position: float, velocity: float, dt: float) -> float:
    """Return the held coordinate, moved by the pilot's velocity and limited to the leash."""
    return clamp(target + velocity * dt, position - LEASH, position + LEASH)


def limited(x: float, y: float, largest: float) -> tuple[float, float]:
    """Return a horizontal vector, shortened to the largest length."""
    scale = minimum(1.0, largest / maximum(sqrt(x * x + y * y), 1e-9))
    return x * scale, y * scale


def tilt_error(bx: float, by: float, bz: float) -> tuple[float, float]:
    """Return the rotation (sines) about the body's x and y axes that brings its z axis to (bx, by, bz).

    Beyond 90 degrees the sine falls again; there the full correction is kept.
    """
    across = sqrt(bx * bx + by * by)
    scale = select(bz < 0.0, 1.0 / maximum(across, 1e-6), 1.0)
    return -by * scale, bx * scale


def stick_direction(roll: float, pitch: float, angle_max: float) -> tuple[float, float, float]:
    """Return the thrust direction for the sticks in level axes; right roll and forward pitch are positive."""
    sr, cr = sincos(clamp(roll, -1.0, 1.0) * angle_max)
    sp, cp = sincos(clamp(pitch, -1.0, 1.0) * angle_max)
    return sp * cr, -sr, cp * cr


def heading_error(demand: float, cosine: float, sine: float) -> float:
    """Return the heading error as a sine, with its full value beyond 90 degrees."""
    s, c = sincos(demand)
    across, along = s * cosine - c * sine, c * cosine + s * sine
    return select(along < 0.0, select(across < 0.0, -1.0, 1.0), across)


def rate_loop(demand: float, rate: float, filtered: float, integral: float, feed: float, p: Parameters) -> float:
    """Return the wanted angular acceleration, rad/s2, about one axis.

    P on the rate error, I as integrated outside, D on the measured rate (no kick from setpoints) behind a low-pass,
    F on the setpoint's own rate of change.
    """
    damping = (p.rate_d / p.filter_time) * (rate - filtered)
    return p.rate_p * (demand - rate) + integral - damping + p.rate_f * feed


def actual_rate(stick: float, center: float, largest: float, expo: float) -> float:
    """Return the wanted rate, rad/s, for a stick in [-1, 1]: Betaflight's "actual" rates.

    `center` is the slope around the middle and `largest` the rate at full deflection, both rad/s; `expo` (0..1) bends
    the curve between them.
    """
    x = clamp(stick, -1.0, 1.0)
    square = x * x
    bend = absolute(x) * (square * square * x * expo + x * (1.0 - expo))
    return x * center + maximum(largest - center, 0.0) * bend


YAW_RESERVE = 0.2  # share of a motor's thrust that yaw may use even when the collective leaves less room than that


def mix(collective: float, roll: float, pitch: float, yaw: float) -> MotorMix:
    """Return motor thrusts for a collective (0..1) and thrust differences for roll, pitch and yaw, all as shares.

    Roll and pitch keep their ratio when scaled; the collective moves to make room for them; yaw gets the rest.
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
    return MotorMix(
        motor_1=clamp(c - r - p - y, 0.0, 1.0),
        motor_2=clamp(c + r + p - y, 0.0, 1.0),
        motor_3=clamp(c + r - p + y, 0.0, 1.0),
        motor_4=clamp(c - r + p + y, 0.0, 1.0),
        tilt_scale=room,
        yaw_cut=yaw - y,
    )


Vector = tuple[float, float, float]
TRIM_MAX = 6.0  # m/s2: largest I term of the velocity loop, enough for a strong wind


class Axes(NamedTuple):
    """The attitude for the controller: upward component of the body's z axis, cosine and sine of the heading."""

    up: float
    cosine: float
    sine: float


class Guidance(NamedTuple):
    """Output of the position and velocity loops, and the velocity error that the trim integrates."""

    ax: float  # m/s2 east
    ay: float
    az: float
    hold_x: float  # m, the position held
    hold_y: float
    hold_z: float
    error_x: float  # m/s
    error_y: float
    error_z: float


class ControlOutput(NamedTuple):
    """Motor thrusts and the rate loop's memory for the next tick."""

    mix: MotorMix
    rate_x: float
    rate_y: float
    rate_z: float
    gyro_x: float
    gyro_y: float
    gyro_z: float
    integral_x: float
    integral_y: float
    integral_z: float


def control(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> tuple[ControlOutput, Guidance, Vector]:
    """Run all loops once."""
    a = axes(s)
    g = guidance(s, u, p, a, dt)
    lift = maximum(g.az + w.gravity, 0.2 * w.gravity)
    want = wanted_rates(s, u, p, a, g, lift)
    return rate_control(s, u, p, collective(u, p, a, lift), want, dt), g, trimmed(s, u, p, w, g, lift, dt)


def axes(s: State) -> Axes:
    """Return the attitude without trigonometry."""
    fx = 1.0 - 2.0 * (s.qy * s.qy + s.qz * s.qz)
    fy = 2.0 * (s.qx * s.qy + s.qw * s.qz)
    norm = 1.0 / maximum(sqrt(fx * fx + fy * fy), 1e-6)
    return Axes(1.0 - 2.0 * (s.qx * s.qx + s.qy * s.qy), fx * norm, fy * norm)


def guidance(s: State, u: Command, p: Parameters, a: Axes, dt: float) -> Guidance:
    """Run position and velocity loops on the sticks or, in velocity, goto and track mode, on setpoints."""
    by_stick = (u.mode == ALTITUDE) | (u.mode == POSITION)
    goto = u.mode >= GOTO
    alone = u.mode == GOTO  # a position alone: remaining velocity setpoints are ignored
    # the velocity requested by the sticks or the setpoint
    forward, left = u.pitch * p.speed_max, -u.roll * p.speed_max
    stick_vx, stick_vy = a.cosine * forward - a.sine * left, a.sine * forward + a.cosine * left
    ask_x = select(by_stick, stick_vx, select(alone, 0.0, u.vx))
    ask_y = select(by_stick, stick_vy, select(alone, 0.0, u.vy))
    ask_z = select(by_stick, climb_stick(u.throttle) * p.climb_max, select(alone, 0.0, u.vz))
    # the target position: held with sticks, given in goto, the vehicle's own in velocity mode
    hold_x = select(by_stick, held(s.hold_x, s.x, ask_x, dt), s.x)
    hold_y = select(by_stick, held(s.hold_y, s.y, ask_y, dt), s.y)
    hold_z = select(by_stick, held(s.hold_z, s.z, ask_z, dt), s.z)
    gap_x = select(goto, u.x, hold_x) - s.x
    gap_y = select(goto, u.y, hold_y) - s.y
    gap_z = select(goto, u.z, hold_z) - s.z
    distance = sqrt(gap_x * gap_x + gap_y * gap_y)
    closing = approach_speed(distance, p.position_p, 0.5 * p.acceleration_max) / maximum(distance, 1e-9)
    vx, vy = limited(ask_x + closing * gap_x, ask_y + closing * gap_y, p.speed_max)
    vz = clamp(ask_z + p.position_p * gap_z, -p.climb_max, p.climb_max)
    ex, ey, ez = vx - s.vx, vy - s.vy, vz - s.vz
    return Guidance(
        ax=p.velocity_p * ex + s.trim_x,
        ay=p.velocity_p * ey + s.trim_y,
        az=p.velocity_p * ez + s.trim_z,
        hold_x=hold_x,
        hold_y=hold_y,
        hold_z=hold_z,
        error_x=ex,
        error_y=ey,
        error_z=ez,
    )


def wanted_rates(s: State, u: Command, p: Parameters, a: Axes, g: Guidance, lift: float) -> Vector:
    """Return body rates: from the sticks in acro, from the attitude error otherwise, blended in horizon."""
    by_vector = u.mode >= POSITION
    ax, ay = limited(g.ax, g.ay, lift * tan(p.angle_max))
    size = 1.0 / sqrt(ax * ax + ay * ay + lift * lift)
    sx, sy, sz = stick_direction(u.roll, u.pitch, p.angle_max)
    dx = select(by_vector, ax * size, a.cosine * sx - a.sine * sy)
    dy = select(by_vector, ay * size, a.sine * sx + a.cosine * sy)
    dz = select(by_vector, lift * size, sz)
    ex, ey = tilt_error(*unrotate(s.qx, s.qy, s.qz, s.qw, dx, dy, dz))
    stick = maximum(absolute(u.roll), absolute(u.pitch))
    blend = maximum(1.0 - stick * (1.0 / HORIZON_RANGE), 0.0)
    level = select(u.mode == HORIZON, blend, select(u.mode == ACRO, 0.0, 1.0))
    turn = p.yaw_p * heading_error(u.heading, a.cosine, a.sine)
    return (
        level * p.angle_p * ex + (1.0 - level) * actual_rate(u.roll, p.rate_center, p.rate_max, p.rate_expo),
        level * p.angle_p * ey + (1.0 - level) * actual_rate(u.pitch, p.rate_center, p.rate_max, p.rate_expo),
        select(u.mode >= GOTO, turn, actual_rate(u.yaw, p.rate_center, p.rate_max, p.rate_expo)),
    )


def collective(u: Command, p: Parameters, a: Axes, lift: float) -> float:
    """Return the share of full thrust: from the height loop, compensated for tilt, or from the throttle stick."""
    height = (p.mass / (4.0 * p.thrust_max)) * lift / maximum(a.up, 0.5)
    return select(u.mode >= ALTITUDE, height, u.throttle)


def trimmed(s: State, u: Command, p: Parameters, w: Environment, g: Guidance, lift: float, dt: float) -> Vector:
    """Integrate the velocity error: not on the ground, and not outward while the tilt is limited."""
    reach = lift * tan(p.angle_max)
    outward = (g.ax * g.ax + g.ay * g.ay > reach * reach) & (g.ax * g.error_x + g.ay * g.error_y > 0.0)
    active = (u.mode >= ALTITUDE) & (u.mode < MOTORS) & (u.armed > 0.5) & aloft(s, p, w)
    keep = select(active, 1.0, 0.0)
    rise = p.velocity_i * dt
    side = select(outward, 0.0, rise)
    return (
        keep * clamp(s.trim_x + side * clamp(g.error_x, -1.0, 1.0), -TRIM_MAX, TRIM_MAX),
        keep * clamp(s.trim_y + side * clamp(g.error_y, -1.0, 1.0), -TRIM_MAX, TRIM_MAX),
        keep * clamp(s.trim_z + rise * clamp(g.error_z, -1.0, 1.0), -TRIM_MAX, TRIM_MAX),
    )


def rate_control(s: State, u: Command, p: Parameters, thrust: float, want: Vector, dt: float) -> ControlOutput:
    """Run rate loop and mixer; integrals hold while the mixer is saturated."""
    smooth = 1.0 - exp(-dt / p.smoothing_time)
    low_pass = 1.0 - exp(-dt / p.filter_time)
    rate_x, rate_y = s.rate_x + smooth * (want[0] - s.rate_x), s.rate_y + smooth * (want[1] - s.rate_y)
    rate_z = s.rate_z + smooth * (want[2] - s.rate_z)
    gyro_x, gyro_y = s.gyro_x + low_pass * (s.wx - s.gyro_x), s.gyro_y + low_pass * (s.wy - s.gyro_y)
    gyro_z = s.gyro_z + low_pass * (s.wz - s.gyro_z)
    feed = 1.0 / p.smoothing_time
    ax = rate_loop(rate_x, s.wx, gyro_x, s.integral_x, feed * (want[0] - rate_x), p)
    ay = rate_loop(rate_y, s.wy, gyro_y, s.integral_y, feed * (want[1] - rate_y), p)
    az = rate_loop(rate_z, s.wz, gyro_z, s.integral_z, feed * (want[2] - rate_z), p)
    full = 4.0 * p.thrust_max
    lever = 0.7071067811865476 * p.arm
    m = mix(
        thrust,
        ax * (p.inertia_x / (full * lever)),  # in brackets: equal for all vehicles, so divided once per fleet
        ay * (p.inertia_y / (full * lever)),
        az * (p.inertia_z / (full * p.torque_ratio)),
    )
    running = select((u.armed > 0.5) & (u.mode < MOTORS), 1.0, 0.0)
    tilt_gain = running * select(m.tilt_scale < 1.0, 0.0, p.rate_i * dt)
    yaw_gain = running * select(m.yaw_cut == 0.0, p.rate_i * dt, 0.0)
    return ControlOutput(
        mix=commanded(u, m),
        rate_x=rate_x,
        rate_y=rate_y,
        rate_z=rate_z,
        gyro_x=gyro_x,
        gyro_y=gyro_y,
        gyro_z=gyro_z,
        integral_x=running * clamp(s.integral_x + tilt_gain * (rate_x - s.wx), -100.0, 100.0),
        integral_y=running * clamp(s.integral_y + tilt_gain * (rate_y - s.wy), -100.0, 100.0),
        integral_z=running * clamp(s.integral_z + yaw_gain * (rate_z - s.wz), -30.0, 30.0),
    )


def commanded(u: Command, m: MotorMix) -> MotorMix:
    """Return the mixer's thrusts, or those that the command gives for each motor."""
    direct = u.mode == MOTORS
    return MotorMix(
        motor_1=select(direct, clamp(u.motor_1, 0.0, 1.0), m.motor_1),
        motor_2=select(direct, clamp(u.motor_2, 0.0, 1.0), m.motor_2),
        motor_3=select(direct, clamp(u.motor_3, 0.0, 1.0), m.motor_3),
        motor_4=select(direct, clamp(u.motor_4, 0.0, 1.0), m.motor_4),
        tilt_scale=m.tilt_scale,
        yaw_cut=m.yaw_cut,
    )
