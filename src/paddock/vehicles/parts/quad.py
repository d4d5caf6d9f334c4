"""Columns and physics of a quadrotor: motors with lag, LiPo battery, thrust and torques, drag and ground contact.

Motors as ArduPilot numbers them: 1 front right, 2 rear left (both turn counter-clockwise seen from above, so more of
them yaws the nose right), 3 front left, 4 rear right (clockwise)."""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, clamp, exp, maximum, minimum, select, sqrt
from paddock.compute.quaternion import rotate, turned, unrotate
from paddock.vehicles.parts.battery import FULL_CELL, discharged
from paddock.vehicles.parts.rigid_body import RigidBodyColumns
from paddock.world.columns import Column, Environment, column_tuple
from paddock.world.ground import Surface, is_sloped, normal, surface

ACRO, ANGLE, HORIZON, ALTITUDE, POSITION, VELOCITY, GOTO, TRACK, MOTORS = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0
MODES = ("acro", "angle", "horizon", "altitude", "position", "velocity", "goto", "track", "motors")
"""Names of the modes by number; in the last one an external autopilot commands each motor."""


@column_tuple
class State(RigidBodyColumns):
    """Rigid body, motors, controller memory and battery."""

    wx: Annotated[float, Column("rad/s", "roll rate", -1e3, 1e3)]
    wy: Annotated[float, Column("rad/s", "pitch rate", -1e3, 1e3)]
    wz: Annotated[float, Column("rad/s", "yaw rate", -1e3, 1e3)]
    motor_1: Annotated[float, Column("", "speed of the front right motor, share of its maximum", -10.0, 10.0)]
    motor_2: Annotated[float, Column("", "speed of the rear left motor", -10.0, 10.0)]
    motor_3: Annotated[float, Column("", "speed of the front left motor", -10.0, 10.0)]
    motor_4: Annotated[float, Column("", "speed of the rear right motor", -10.0, 10.0)]
    integral_x: Annotated[float, Column("rad/s2", "I term of the roll rate loop")]
    integral_y: Annotated[float, Column("rad/s2", "I term of the pitch rate loop")]
    integral_z: Annotated[float, Column("rad/s2", "I term of the yaw rate loop")]
    gyro_x: Annotated[float, Column("rad/s", "low-passed roll rate of the D term")]
    gyro_y: Annotated[float, Column("rad/s", "low-passed pitch rate")]
    gyro_z: Annotated[float, Column("rad/s", "low-passed yaw rate")]
    rate_x: Annotated[float, Column("rad/s", "smoothed roll rate setpoint")]
    rate_y: Annotated[float, Column("rad/s", "smoothed pitch rate setpoint")]
    rate_z: Annotated[float, Column("rad/s", "smoothed yaw rate setpoint")]
    trim_x: Annotated[float, Column("m/s2", "I term of the velocity loop, east")]
    trim_y: Annotated[float, Column("m/s2", "I term of the velocity loop, north")]
    trim_z: Annotated[float, Column("m/s2", "I term of the velocity loop, up")]
    hold_x: Annotated[float, Column("m", "position held, east")]
    hold_y: Annotated[float, Column("m", "position held, north")]
    hold_z: Annotated[float, Column("m", "position held, up")]
    charge: Annotated[float, Column("", "battery charge, 1 full, 0 empty")]
    voltage: Annotated[float, Column("V", "battery voltage under load")]


class Command(NamedTuple):
    """Sticks for pilots, setpoints for programs, motors for external autopilots; the mode selects which are used."""

    armed: Annotated[float, Column("0/1", "motors may turn", 0.0, 1.0)] = 1.0
    mode: Annotated[float, Column("", "flight mode", 0.0, 8.0, failsafe=VELOCITY, brake=VELOCITY, choices=MODES)] = 5.0
    roll: Annotated[float, Column("", "roll stick, + right", -1.0, 1.0, failsafe=0.0)] = 0.0
    pitch: Annotated[float, Column("", "pitch stick, + forward", -1.0, 1.0, failsafe=0.0)] = 0.0
    yaw: Annotated[float, Column("", "yaw stick, + left", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0
    throttle: Annotated[float, Column("", "throttle stick; 0.5 holds the height where it is held", 0.0, 1.0)] = 0.0
    x: Annotated[float, Column("m", "goto and track: position east")] = 0.0
    y: Annotated[float, Column("m", "goto and track: position north")] = 0.0
    z: Annotated[float, Column("m", "goto and track: position up")] = 0.0
    heading: Annotated[float, Column("rad", "goto and track: heading")] = 0.0
    vx: Annotated[float, Column("m/s", "velocity and track: velocity east", failsafe=0.0, brake=0.0)] = 0.0
    vy: Annotated[float, Column("m/s", "velocity and track: velocity north", failsafe=0.0, brake=0.0)] = 0.0
    vz: Annotated[float, Column("m/s", "velocity and track: velocity up", failsafe=-0.7, brake=0.0)] = 0.0
    motor_1: Annotated[float, Column("", "motors: share of full thrust, front right", 0.0, 1.0, failsafe=0.0)] = 0.0
    motor_2: Annotated[float, Column("", "motors: share of full thrust, rear left", 0.0, 1.0, failsafe=0.0)] = 0.0
    motor_3: Annotated[float, Column("", "motors: share of full thrust, front left", 0.0, 1.0, failsafe=0.0)] = 0.0
    motor_4: Annotated[float, Column("", "motors: share of full thrust, rear right", 0.0, 1.0, failsafe=0.0)] = 0.0


class Parameters(NamedTuple):
    """Airframe, battery, controller gains and limits; the defaults are the 5 inch race quad."""

    mass: Annotated[float, Column("kg", "take-off mass", 1e-3, 1e3)] = 0.65
    thrust_max: Annotated[float, Column("N", "largest thrust of one motor", 1e-3, 1e4)] = 11.77
    inertia_x: Annotated[float, Column("kg m2", "moment of inertia in roll", 1e-6, 1e3)] = 0.003
    inertia_y: Annotated[float, Column("kg m2", "moment of inertia in pitch", 1e-6, 1e3)] = 0.003
    inertia_z: Annotated[float, Column("kg m2", "moment of inertia in yaw", 1e-6, 1e3)] = 0.005
    arm: Annotated[float, Column("m", "centre to motor", 1e-3, 10.0)] = 0.11
    drag: Annotated[float, Column("N s2/m2", "drag force over speed squared", 0.0, 100.0)] = 0.012
    motor_lag: Annotated[float, Column("s", "time constant of the motors", 1e-3, 1.0)] = 0.03
    motor_idle: Annotated[float, Column("", "slowest speed of an armed motor, share of its maximum", 0.0, 0.5)] = 0.05
    torque_ratio: Annotated[float, Column("m", "motor torque over thrust", 1e-4, 1.0)] = 0.016
    prop_radius: Annotated[float, Column("m", "radius of a propeller", 1e-3, 5.0)] = 0.064
    ground_effect: Annotated[float, Column("", "strength of the ground effect, 1 as for a free rotor", 0.0, 2.0)] = 0.0
    cells: Annotated[float, Column("", "battery cells in series", 1.0, 24.0)] = 6.0
    capacity: Annotated[float, Column("mAh", "battery capacity", 1.0, 1e6)] = 1300.0
    cell_resistance: Annotated[float, Column("ohm", "internal resistance of one cell", 0.0, 1.0)] = 0.004
    power_ratio: Annotated[float, Column("W/N", "electrical power over thrust at full throttle", 0.1, 1e3)] = 34.0
    angle_max: Annotated[float, Column("rad", "largest tilt outside acro", 0.01, 1.5)] = 0.96
    rate_center: Annotated[float, Column("rad/s", "rate per stick around the middle", 0.0, 50.0)] = 3.49
    rate_max: Annotated[float, Column("rad/s", "rate at full stick", 0.1, 50.0)] = 12.2
    rate_expo: Annotated[float, Column("", "bend of the rate curve", 0.0, 1.0)] = 0.3
    rate_p: Annotated[float, Column("1/s", "rate loop P", 0.0, 1e4)] = 80.0
    rate_i: Annotated[float, Column("1/s2", "rate loop I", 0.0, 1e5)] = 40.0
    rate_d: Annotated[float, Column("", "rate loop D", 0.0, 100.0)] = 1.6
    rate_f: Annotated[float, Column("", "rate loop feed-forward", 0.0, 100.0)] = 1.0
    filter_time: Annotated[float, Column("s", "low-pass of the D term", 1e-4, 0.1)] = 0.004
    smoothing_time: Annotated[float, Column("s", "smoothing of rate setpoints", 1e-4, 0.2)] = 0.02
    angle_p: Annotated[float, Column("1/s", "attitude loop P", 0.0, 100.0)] = 10.0
    yaw_p: Annotated[float, Column("1/s", "heading loop P", 0.0, 100.0)] = 3.0
    velocity_p: Annotated[float, Column("1/s", "velocity loop P", 0.0, 100.0)] = 3.0
    velocity_i: Annotated[float, Column("1/s2", "velocity loop I", 0.0, 100.0)] = 1.0
    position_p: Annotated[float, Column("1/s", "position loop P", 0.0, 100.0)] = 1.2
    speed_max: Annotated[float, Column("m/s", "largest horizontal speed setpoint", 0.1, 200.0)] = 15.0
    climb_max: Annotated[float, Column("m/s", "largest vertical speed setpoint", 0.1, 100.0)] = 5.0
    acceleration_max: Annotated[float, Column("m/s2", "deceleration planned for approaches", 0.1, 100.0)] = 5.0
    leg_travel: Annotated[float, Column("m", "by how much the legs give way under the weight", 5e-3, 0.5)] = 0.03


# landing gear: four legs on a circle, each a strut like an aircraft's, act as one foot of that radius. At rest they
# carry the vehicle at the height of the ground. Their force is 0 at the touchdown: the spring's grows with the cube of
# the travel, as of a gas strut; the damper's with the travel, and on the way down with the square of the speed (an
# orifice), so that most of a touchdown is absorbed within `leg_travel` at any speed
LEG_ORIFICE = 2.0  # damping by the orifice: force over mass is this times speed squared over `leg_travel`
LEG_VISCOUS = 0.2  # m/s: linear damping on the way down: force over mass is this times speed over `leg_travel`
LEG_REBOUND = 2.4  # m/s: the same on the way up: strong, against bouncing
LEG_FRICTION = 0.05  # m/s2: vertical acceleration that friction in the legs resists, so that it comes to rest
LEG_STOP = 0.5  # share of `leg_travel` by which the legs give way at most, below the height of the ground
FOOT = 0.7  # radius of the foot, share of the arm
UPRIGHT, FALLEN = 0.5, 0.05  # cosine of the tilt at which it tips over; share of the foot's torque left beyond
LEVELLING = 12.0  # 1/s: rate at which a tilted vehicle comes to stand on all legs
SETTLING = 60.0  # 1/s: rate at which its body rates follow


class MotorMix(NamedTuple):
    """Thrust of each motor as a share of its maximum, and the demands that were cut."""

    motor_1: float
    motor_2: float
    motor_3: float
    motor_4: float
    tilt_scale: float  # 1: roll and pitch were applied in full
    yaw_cut: float  # share of the yaw demand that was refused, with its sign


class Motors(NamedTuple):
    """Motor speeds (shares of the maximum), battery charge (share) and voltage (V) after a tick."""

    motor_1: float
    motor_2: float
    motor_3: float
    motor_4: float
    charge: float
    voltage: float


class RigidBody(NamedTuple):
    """Position, velocity, attitude and body rates after a tick."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float
    qx: float
    qy: float
    qz: float
    qw: float
    wx: float
    wy: float
    wz: float


def motors(s: State, u: Command, p: Parameters, m: MotorMix, dt: float) -> Motors:
    """Move the motors towards the speed of the wanted thrust, limited by the battery voltage."""
    cubes = (
        s.motor_1 * s.motor_1 * s.motor_1
        + s.motor_2 * s.motor_2 * s.motor_2
        + s.motor_3 * s.motor_3 * s.motor_3
        + s.motor_4 * s.motor_4 * s.motor_4
    )
    power = p.power_ratio * p.thrust_max * cubes
    battery = discharged(s.charge, power, p.cells, p.cell_resistance, p.capacity, dt)
    top = select(u.armed > 0.5, battery.voltage * (1.0 / (p.cells * FULL_CELL)), 0.0)
    # armed motors never stop, which also keeps the root away from its steep end;
    # an external autopilot has its own idle speed
    idle = select(u.mode == MOTORS, 0.0, p.motor_idle * p.motor_idle)
    share = 1.0 - exp(-dt / p.motor_lag)
    return Motors(
        s.motor_1 + share * (minimum(sqrt(maximum(m.motor_1, idle)), top) - s.motor_1),
        s.motor_2 + share * (minimum(sqrt(maximum(m.motor_2, idle)), top) - s.motor_2),
        s.motor_3 + share * (minimum(sqrt(maximum(m.motor_3, idle)), top) - s.motor_3),
        s.motor_4 + share * (minimum(sqrt(maximum(m.motor_4, idle)), top) - s.motor_4),
        battery.charge,
        battery.voltage,
    )


def body(s: State, p: Parameters, w: Environment, n: Motors, dt: float) -> RigidBody:
    """Integrate the rigid body by semi-implicit Euler: rates and velocity, then attitude and position."""
    f1, f2 = p.thrust_max * n.motor_1 * n.motor_1, p.thrust_max * n.motor_2 * n.motor_2
    f3, f4 = p.thrust_max * n.motor_3 * n.motor_3, p.thrust_max * n.motor_4 * n.motor_4
    lever = 0.7071067811865476 * p.arm
    # each rate uses those already advanced: with the old ones a tumbling body would gain energy
    per_x, per_y, per_z = dt / p.inertia_x, dt / p.inertia_y, dt / p.inertia_z
    wx = s.wx + per_x * (lever * (f2 + f3 - f1 - f4) + (p.inertia_y - p.inertia_z) * s.wy * s.wz)
    wy = s.wy + per_y * (lever * (f2 + f4 - f1 - f3) + (p.inertia_z - p.inertia_x) * s.wz * wx)
    wz = s.wz + per_z * (p.torque_ratio * (f3 + f4 - f1 - f2) + (p.inertia_x - p.inertia_y) * wx * wy)
    ground = surface(s.x, s.y, w)
    near = p.prop_radius / (4.0 * maximum(s.z - ground.height, 0.5 * p.prop_radius))
    lift = (f1 + f2 + f3 + f4) / (p.mass * (1.0 - minimum(p.ground_effect * near * near, 0.5)))
    tx, ty, tz = rotate(s.qx, s.qy, s.qz, s.qw, 0.0, 0.0, lift)
    rx, ry, rz = s.vx - w.wind_x, s.vy - w.wind_y, s.vz - w.wind_z
    # drag implicit in its own speed, so that it can never reverse the motion
    slow = 1.0 / (1.0 + dt * p.drag / p.mass * sqrt(rx * rx + ry * ry + rz * rz))
    vx = w.wind_x + (rx + dt * tx) * slow
    vy = w.wind_y + (ry + dt * ty) * slow
    vz = w.wind_z + (rz + dt * (tz - w.gravity)) * slow
    load, vx, vy, vz = standing(s, p, w, ground, vx, vy, vz, dt)
    wx, wy, wz = footed(s, p, ground, load, wx, wy, wz, dt)
    qx, qy, qz, qw = turned(s.qx, s.qy, s.qz, s.qw, wx, wy, wz, dt)
    x, y, z = s.x + dt * vx, s.y + dt * vy, s.z + dt * vz
    below = surface(x, y, w)
    lowest = below.height - LEG_STOP * p.leg_travel
    nx, ny, nz = normal(below)
    stop = select(z < lowest, -minimum(vx * nx + vy * ny + vz * nz, 0.0), 0.0)
    vz = select(is_sloped(below), vz + stop * nz, select(z < lowest, maximum(vz, 0.0), vz))
    vx, vy = select(is_sloped(below), vx + stop * nx, vx), select(is_sloped(below), vy + stop * ny, vy)
    return RigidBody(x, y, maximum(z, lowest), vx, vy, vz, qx, qy, qz, qw, wx, wy, wz)


def compressed(over: float, p: Parameters) -> float:
    """Return by how much the legs give way `over` m above the ground, as a share of what they do under the weight."""
    return maximum(1.0 - over / p.leg_travel, 0.0)


def aloft(s: State, p: Parameters, w: Environment) -> bool:
    """Return whether the legs are clear of the ground."""
    return compressed(s.z - surface(s.x, s.y, w).height, p) <= 0.0


def standing(
    s: State, p: Parameters, w: Environment, ground: Surface, vx: float, vy: float, vz: float, dt: float
) -> tuple[float, float, float, float]:
    """Return the change of velocity (m/s) by the load on the legs, and the velocity after load and friction.

    The legs push and never pull: above their length the load is 0. Friction holds the feet in place, or gives what
    the load allows. On a slope the load acts along the normal, and friction along the slope.
    """
    sloped, (nx, ny, nz) = is_sloped(ground), normal(ground)
    over = s.z - ground.height
    share = compressed(select(sloped, over * nz, over), p)
    outward = select(sloped, vx * nx + vy * ny + vz * nz, vz)
    sprung = outward + dt * w.gravity * share * share * share
    damping = select(sprung < 0.0, LEG_VISCOUS - LEG_ORIFICE * sprung, LEG_REBOUND) / p.leg_travel
    stopped = sprung / (1.0 + dt * damping * minimum(share, 1.0))  # implicit: it never reverses the motion
    stopped = select((share > 0.0) & (absolute(stopped) < LEG_FRICTION * dt), 0.0, stopped)
    load = maximum(stopped - outward, 0.0)
    tx, ty, tz = vx - outward * nx, vy - outward * ny, vz - outward * nz
    sliding = select(sloped, sqrt(tx * tx + ty * ty + tz * tz), sqrt(vx * vx + vy * vy))
    held = 1.0 - minimum(ground.mu * load / maximum(sliding, 1e-9), 1.0)
    after = outward + load
    return (
        load,
        select(sloped, tx * held + after * nx, vx * held),
        select(sloped, ty * held + after * ny, vy * held),
        select(sloped, tz * held + after * nz, after),
    )


def footed(
    s: State, p: Parameters, ground: Surface, load: float, wx: float, wy: float, wz: float, dt: float
) -> tuple[float, float, float]:
    """Return the body rates after the torques of the ground; `load` as `standing` returns it.

    The foot levels the vehicle, on a slope along it, and holds it against any torque up to the load times its radius,
    less the more it is tilted. Beyond the limit it tips over, and then lies where it fell.
    """
    sloped, (nx, ny, nz) = is_sloped(ground), normal(ground)
    slope_x, slope_y, slope_z = unrotate(s.qx, s.qy, s.qz, s.qw, nx, ny, nz)
    up_x = select(sloped, slope_x, 2.0 * (s.qx * s.qz - s.qw * s.qy))
    up_y = select(sloped, slope_y, 2.0 * (s.qy * s.qz + s.qw * s.qx))
    margin = select(sloped, slope_z, 1.0 - 2.0 * (s.qx * s.qx + s.qy * s.qy)) - UPRIGHT
    most = load * (p.mass * FOOT * p.arm / (1.0 - UPRIGHT)) * maximum(margin, FALLEN)
    follow = minimum(SETTLING * dt, 1.0)
    keep, level = 1.0 - follow, select(margin > 0.0, follow * LEVELLING, 0.0)
    roll, pitch, yaw = most * (1.0 / p.inertia_x), most * (1.0 / p.inertia_y), most * (ground.mu / p.inertia_z)
    # adding and subtracting 1 makes the smallest rates 0, instead of letting them decay endlessly
    return (
        wx + clamp(keep * s.wx - level * up_y + 1.0 - 1.0 - wx, -roll, roll),
        wy + clamp(keep * s.wy + level * up_x + 1.0 - 1.0 - wy, -pitch, pitch),
        wz + clamp(keep * s.wz + 1.0 - 1.0 - wz, -yaw, yaw),
    )
