"""Columns and physics of a fixed-wing aircraft: aerodynamic coefficients with stall, propeller, battery, wheels.

Coefficients and their signs follow Beard and McLain, "Small Unmanned Aircraft" (2012), chapter 4: body axes forward,
right, down; deflections in rad, elevator and rudder positive with the trailing edge down and left. Inputs are shares
of the largest deflection whose sign is that of the motion: up, right, right.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, asin, atan2, clamp, exp, maximum, minimum, select, sincos, sqrt, tan
from paddock.compute.quaternion import rotate, unrotate
from paddock.vehicles.parts.battery import FULL_CELL, BatteryColumns
from paddock.vehicles.parts.rigid_body import RigidBodyColumns
from paddock.world.columns import Column, Environment, column_tuple
from paddock.world.ground import normal, surface

PI = 3.141592653589793
GRAVITY = 9.80665  # m/s2 for which the struts are laid out
TAIL, WING_TIPS = 0.35, 0.2  # rad: pitch and bank at which they touch the ground
SKID = 0.25  # stiffness of tail, nose and wing tips over that of the gear
LEAST_SHARE = 0.05  # of the weight, for which each strut is laid out
DEEPEST = 4.0  # compression of the gear, over that at rest, at which the fuselage touches the ground


@column_tuple
class State(RigidBodyColumns, BatteryColumns):
    """Rigid body, battery, surfaces and propeller; the position is that of the wheels."""

    vx: Annotated[float, Column("m/s", "velocity east over the ground", -200.0, 200.0)]
    vy: Annotated[float, Column("m/s", "velocity north over the ground", -200.0, 200.0)]
    vz: Annotated[float, Column("m/s", "velocity up", -200.0, 200.0)]
    aileron: Annotated[float, Column("rad", "aileron deflection, + rolls right")]
    elevator: Annotated[float, Column("rad", "elevator deflection, + nose down")]
    rudder: Annotated[float, Column("rad", "rudder deflection, + nose left")]
    rotor: Annotated[float, Column("1/s", "turns of the propeller")]
    airspeed: Annotated[float, Column("m/s", "speed of the air along the body, as a pitot tube measures it")]


class Command(NamedTuple):
    """Positions of the sticks. Failsafe and brake stop the motor and centre the surfaces: it glides."""

    aileron: Annotated[float, Column("", "aileron, + rolls right", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0
    elevator: Annotated[float, Column("", "elevator, + nose up", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0
    rudder: Annotated[float, Column("", "rudder, + nose right", -1.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0
    throttle: Annotated[float, Column("", "throttle", 0.0, 1.0, failsafe=0.0, brake=0.0)] = 0.0


class Parameters(NamedTuple):
    """Airframe, derivatives, propulsion, wheels, and the envelope of guidance; the defaults are the mapper."""

    mass: Annotated[float, Column("kg", "take-off mass", 0.05, 1e4)] = 3.0
    inertia_x: Annotated[float, Column("kg m2", "moment of inertia in roll", 1e-5, 1e5)] = 0.166
    inertia_y: Annotated[float, Column("kg m2", "moment of inertia in pitch", 1e-5, 1e5)] = 0.145
    inertia_z: Annotated[float, Column("kg m2", "moment of inertia in yaw", 1e-5, 1e5)] = 0.29
    inertia_xz: Annotated[float, Column("kg m2", "product of inertia", 0.0, 1e5)] = 0.01
    area: Annotated[float, Column("m2", "wing area", 1e-3, 1e3)] = 0.45
    span: Annotated[float, Column("m", "wing span", 0.05, 100.0)] = 1.88
    chord: Annotated[float, Column("m", "mean chord", 0.01, 20.0)] = 0.24
    oswald: Annotated[float, Column("", "Oswald efficiency of the induced drag", 0.1, 1.5)] = 0.9
    cl_0: Annotated[float, Column("", "lift at zero angle of attack", -2.0, 2.0)] = 0.23
    cl_alpha: Annotated[float, Column("1/rad", "lift per angle of attack", 0.1, 10.0)] = 4.6
    cl_q: Annotated[float, Column("", "lift per pitch rate", -50.0, 50.0)] = 7.95
    cl_elevator: Annotated[float, Column("1/rad", "lift per elevator", -5.0, 5.0)] = 0.13
    cd_0: Annotated[float, Column("", "drag without lift", 1e-3, 1.0)] = 0.043
    cd_elevator: Annotated[float, Column("1/rad", "drag per elevator deflection", 0.0, 5.0)] = 0.0135
    stall_angle: Annotated[float, Column("rad", "angle of attack at which the flow separates", 0.05, 1.0)] = 0.28
    stall_rate: Annotated[float, Column("1/rad", "sharpness of the stall", 1.0, 500.0)] = 50.0
    cm_0: Annotated[float, Column("", "pitching moment at zero angle of attack", -1.0, 1.0)] = 0.0135
    cm_alpha: Annotated[float, Column("1/rad", "pitching moment per angle of attack", -10.0, 1.0)] = -1.2
    cm_q: Annotated[float, Column("", "pitch damping", -200.0, 0.0)] = -38.21
    cm_elevator: Annotated[float, Column("1/rad", "pitching moment per elevator", -10.0, -1e-3)] = -0.99
    cy_beta: Annotated[float, Column("1/rad", "side force per sideslip", -5.0, 0.0)] = -0.83
    cy_aileron: Annotated[float, Column("1/rad", "side force per aileron", -5.0, 5.0)] = 0.075
    cy_rudder: Annotated[float, Column("1/rad", "side force per rudder", -5.0, 5.0)] = 0.19
    cr_beta: Annotated[float, Column("1/rad", "rolling moment per sideslip: dihedral", -5.0, 5.0)] = -0.13
    cr_p: Annotated[float, Column("", "roll damping", -5.0, -1e-3)] = -0.51
    cr_r: Annotated[float, Column("", "rolling moment per yaw rate", -5.0, 5.0)] = 0.25
    cr_aileron: Annotated[float, Column("1/rad", "rolling moment per aileron", 1e-3, 5.0)] = 0.17
    cr_rudder: Annotated[float, Column("1/rad", "rolling moment per rudder", -5.0, 5.0)] = 0.0024
    cn_beta: Annotated[float, Column("1/rad", "yawing moment per sideslip: weathercock", -5.0, 5.0)] = 0.073
    cn_p: Annotated[float, Column("", "yawing moment per roll rate", -5.0, 5.0)] = -0.069
    cn_r: Annotated[float, Column("", "yaw damping", -5.0, 0.0)] = -0.095
    cn_aileron: Annotated[float, Column("1/rad", "yawing moment per aileron: adverse yaw", -5.0, 5.0)] = -0.011
    cn_rudder: Annotated[float, Column("1/rad", "yawing moment per rudder", -5.0, -1e-4)] = -0.069
    aileron_max: Annotated[float, Column("rad", "largest aileron deflection", 0.01, 1.0)] = 0.35
    elevator_max: Annotated[float, Column("rad", "largest elevator deflection from the trim", 0.01, 1.0)] = 0.35
    elevator_trim: Annotated[float, Column("rad", "elevator with the stick centred", -1.0, 1.0)] = -0.0175
    rudder_max: Annotated[float, Column("rad", "largest rudder deflection", 0.01, 1.0)] = 0.35
    servo_lag: Annotated[float, Column("s", "time constant of the surfaces", 1e-3, 1.0)] = 0.05
    prop_diameter: Annotated[float, Column("m", "diameter of the propeller", 0.01, 10.0)] = 0.3048
    prop_speed: Annotated[float, Column("1/s", "turns of the propeller at full throttle and voltage", 1.0, 1e3)] = 165.0
    prop_lag: Annotated[float, Column("s", "time constant of motor and propeller", 1e-3, 5.0)] = 0.15
    ct_0: Annotated[float, Column("", "thrust coefficient at standstill", 1e-4, 1.0)] = 0.09357
    ct_1: Annotated[float, Column("", "thrust coefficient per advance ratio", -1.0, 1.0)] = -0.06044
    ct_2: Annotated[float, Column("", "thrust coefficient per advance ratio squared", -1.0, 1.0)] = -0.1079
    cq_0: Annotated[float, Column("", "torque coefficient at standstill", 0.0, 1.0)] = 0.00523
    cq_1: Annotated[float, Column("", "torque coefficient per advance ratio", -1.0, 1.0)] = 0.00497
    cq_2: Annotated[float, Column("", "torque coefficient per advance ratio squared", -1.0, 1.0)] = -0.01664
    motor_efficiency: Annotated[float, Column("", "shaft power over electrical power", 0.05, 1.0)] = 0.75
    power_idle: Annotated[float, Column("W", "power of the electronics", 0.0, 1e4)] = 5.0
    cells: Annotated[float, Column("", "battery cells in series", 1.0, 24.0)] = 4.0
    capacity: Annotated[float, Column("mAh", "battery capacity", 1.0, 1e6)] = 5000.0
    cell_resistance: Annotated[float, Column("ohm", "internal resistance of one cell", 0.0, 1.0)] = 0.004
    wheel_base: Annotated[float, Column("m", "nose wheel to main wheels", 0.01, 20.0)] = 0.4
    gear_track: Annotated[float, Column("m", "distance of the main wheels", 0.01, 20.0)] = 0.4
    gear_sag: Annotated[float, Column("m", "compression of struts and tyres at rest", 1e-3, 1.0)] = 0.02
    gear_damping: Annotated[float, Column("", "damping ratio of the struts, in heave", 0.0, 2.0)] = 0.5
    gear_arm: Annotated[float, Column("m", "main wheels behind the centre of mass", 0.0, 5.0)] = 0.04
    ground_pitch: Annotated[float, Column("rad", "pitch on its wheels", -0.3, 0.3)] = 0.02
    steer_max: Annotated[float, Column("rad", "largest angle of the nose wheel, with the rudder", 0.0, 1.0)] = 0.35
    rolling: Annotated[float, Column("", "rolling friction of the wheels, or friction of a skid", 0.0, 2.0)] = 0.05
    brake: Annotated[float, Column("", "friction of the brakes, which act at zero throttle", 0.0, 2.0)] = 0.3
    grip: Annotated[float, Column("", "friction of the tyres sideways, and of other parts", 0.0, 2.0)] = 0.7
    speed: Annotated[float, Column("m/s", "cruise airspeed", 1.0, 300.0)] = 17.5
    speed_min: Annotated[float, Column("m/s", "slowest airspeed of guidance", 1.0, 300.0)] = 12.0
    speed_max: Annotated[float, Column("m/s", "fastest airspeed of guidance", 1.0, 300.0)] = 25.0
    turn_radius: Annotated[float, Column("m", "smallest radius of planned turns", 1.0, 1e5)] = 64.0
    bank_max: Annotated[float, Column("rad", "largest bank of guidance", 0.01, 1.4)] = 0.7
    climb_max: Annotated[float, Column("m/s", "fastest climb and descent of guidance", 0.0, 100.0)] = 4.0
    roll_time: Annotated[float, Column("s", "time constant of the bank under guidance", 0.01, 100.0)] = 0.5


class AirFlow(NamedTuple):
    """Motion through the air: body axes forward, right, down."""

    u: float  # m/s
    v: float
    w: float
    speed: float
    alpha: float  # rad, angle of attack
    beta: float  # rad, sideslip, + nose left of the wind
    pressure: float  # Pa, dynamic


def air_flow(s: State, w: Environment) -> AirFlow:
    """Return the motion through the air."""
    u, left, up = unrotate(s.qx, s.qy, s.qz, s.qw, s.vx - w.wind_x, s.vy - w.wind_y, s.vz - w.wind_z)
    speed = sqrt(u * u + left * left + up * up)
    beta = asin(-left / maximum(speed, 1e-6))
    return AirFlow(u, -left, -up, speed, atan2(-up, u), beta, 0.5 * w.air_density * speed * speed)


def logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + exp(clamp(-x, -40.0, 40.0)))


def lift_and_drag(alpha: float, elevator: float, p: Parameters) -> tuple[float, float]:
    """Return the coefficients of lift and drag: linear lift and parabolic polar, a flat plate beyond the stall."""
    stalled = logistic(p.stall_rate * (absolute(alpha) - p.stall_angle))
    sine, cosine = sincos(alpha)
    linear = p.cl_0 + p.cl_alpha * alpha
    induced = linear * linear * p.area / (PI * p.oswald * p.span * p.span)
    plate = 2.0 * absolute(sine) * sine
    lift = (1.0 - stalled) * linear + stalled * plate * cosine + p.cl_elevator * elevator
    drag = p.cd_0 + (1.0 - stalled) * induced + stalled * plate * sine + p.cd_elevator * absolute(elevator)
    return lift, drag


def propeller(turns: float, speed: float, p: Parameters, w: Environment) -> tuple[float, float]:
    """Return thrust (N) and torque (N m) at n turns per second and an airspeed; a propeller that brakes folds."""
    tip, d = turns * p.prop_diameter, p.prop_diameter
    thrust = w.air_density * d * d * (p.ct_0 * tip * tip + p.ct_1 * tip * speed + p.ct_2 * speed * speed)
    torque = w.air_density * d * d * d * (p.cq_0 * tip * tip + p.cq_1 * tip * speed + p.cq_2 * speed * speed)
    return maximum(thrust, 0.0), maximum(select(thrust > 0.0, torque, 0.0), 0.0)


def turns_for(thrust: float, speed: float, p: Parameters, density: float) -> float:
    """Return the turns per second that give a thrust (N, at least 0) at an airspeed."""
    d = p.prop_diameter
    c = p.ct_2 * speed * speed - maximum(thrust, 0.0) / maximum(density * d * d, 1e-9)
    b = p.ct_1 * speed
    return (sqrt(maximum(b * b - 4.0 * p.ct_0 * c, 0.0)) - b) / (2.0 * p.ct_0 * d)


class Loads(NamedTuple):
    """Force (N) and moment (N m) on the body, forward, right, down, without gravity."""

    fx: float
    fy: float
    fz: float
    mx: float
    my: float
    mz: float


def loads(s: State, p: Parameters, w: Environment, a: AirFlow) -> Loads:
    """Return the loads of air and propeller."""
    pitching, yawing = -s.wy, -s.wz
    force = a.pressure * p.area
    damping = 0.25 * w.air_density * a.speed * p.area  # of rates, times a length: q S / (2 V)
    sine, cosine = sincos(a.alpha)
    cl, cd = lift_and_drag(a.alpha, s.elevator, p)
    lift = force * cl + damping * p.chord * p.cl_q * pitching
    drag = force * cd
    sideslip = sincos(a.beta)[0]
    side = force * (p.cy_beta * sideslip + p.cy_aileron * s.aileron + p.cy_rudder * s.rudder)
    thrust, torque = propeller(s.rotor, maximum(a.u, 0.0), p, w)
    across = damping * p.span * p.span
    roll = p.cr_beta * sideslip + p.cr_aileron * s.aileron + p.cr_rudder * s.rudder
    pitch = p.cm_0 + p.cm_alpha * sine + p.cm_elevator * s.elevator
    yaw = p.cn_beta * sideslip + p.cn_aileron * s.aileron + p.cn_rudder * s.rudder
    return Loads(
        fx=thrust - drag * cosine + lift * sine,
        fy=side,
        fz=-drag * sine - lift * cosine,
        mx=force * p.span * roll + across * (p.cr_p * s.wx + p.cr_r * yawing) - torque,
        my=force * p.chord * pitch + damping * p.chord * p.chord * p.cm_q * pitching,
        mz=force * p.span * yaw + across * (p.cn_p * s.wx + p.cn_r * yawing),
    )


def turned_up(p: Parameters, mx: float, my: float, mz: float, dt: float) -> tuple[float, float, float]:
    """Return the changes of roll, pitch and yaw rate (rad/s) by a moment (N m) for dt."""
    share = dt / maximum(p.inertia_x * p.inertia_z - p.inertia_xz * p.inertia_xz, 1e-12)
    return (
        share * (p.inertia_z * mx + p.inertia_xz * mz),
        dt / p.inertia_y * my,
        share * (p.inertia_xz * mx + p.inertia_x * mz),
    )


def spun(s: State, p: Parameters, m: Loads, dt: float) -> tuple[float, float, float]:
    """Return roll, pitch (nose up) and yaw (right) rate after dt."""
    roll, pitch, yaw = s.wx, -s.wy, -s.wz
    hx, hy, hz = p.inertia_x * roll - p.inertia_xz * yaw, p.inertia_y * pitch, p.inertia_z * yaw - p.inertia_xz * roll
    a = m.mx - (pitch * hz - yaw * hy)
    b = m.my - (yaw * hx - roll * hz)
    c = m.mz - (roll * hy - pitch * hx)
    rolled, pitched, yawed = turned_up(p, a, b, c, dt)
    return roll + rolled, pitch + pitched, yaw + yawed


class AirframeMotion(NamedTuple):
    """Velocity (m/s, world), and rates: roll, pitch (nose up), yaw (right)."""

    vx: float
    vy: float
    vz: float
    roll: float
    pitch: float
    yaw: float


class Footing(NamedTuple):
    """The ground under the aircraft in its axes (forward, right, down), and its motion away from it."""

    forward: float  # the ground's normal
    right: float
    down: float
    height: float  # m of the wheels' position above the ground, along the normal
    rising: float  # m/s along the normal
    roll: float  # rad/s
    pitch: float
    yaw: float
    damping: float  # s: of a spring, over its stiffness, and the time step: compressed at its end


class Support(NamedTuple):
    """Normal force (N) of the ground, and its moment (N m), roll and pitch (nose up) and yaw."""

    force: float
    mx: float
    my: float
    mz: float


def prop_up(f: Footing, stiffness: float, x: float, y: float, z: float, travel: float) -> Support:
    """Return the force of a spring and damper at a point in body axes (m, forward, right, down); it only pushes."""
    depth = minimum(-(f.height + x * f.forward + y * f.right + z * f.down), travel)
    vx, vy, vz = f.pitch * z - f.yaw * y, f.yaw * x - f.roll * z, f.roll * y - f.pitch * x
    rate = f.rising + vx * f.forward + vy * f.right + vz * f.down
    force = select(depth > 0.0, maximum(stiffness * (depth - f.damping * rate), 0.0), 0.0)
    return Support(
        force,
        force * (y * f.down - z * f.right),
        force * (z * f.forward - x * f.down),
        force * (x * f.right - y * f.forward),
    )


def wheels(f: Footing, p: Parameters) -> Support:
    """Return the support by the struts and tyres of nose wheel and main wheels.

    Each strut is as stiff as its share of the weight at rest demands, so that all have the same compression, and the
    aircraft stands at `ground_pitch` with its position on the ground.
    """
    total = p.mass * GRAVITY / p.gear_sag
    nose_share = clamp(p.gear_arm / p.wheel_base, LEAST_SHARE, 1.0 - LEAST_SHARE)
    sine, cosine = sincos(p.ground_pitch)
    ahead, behind, half = p.wheel_base - p.gear_arm, -p.gear_arm, 0.5 * p.gear_track
    travel = (1.0 + DEEPEST) * p.gear_sag
    main, low = 0.5 * (1.0 - nose_share) * total, behind * sine + p.gear_sag * cosine
    back = behind * cosine - p.gear_sag * sine
    a = prop_up(
        f, nose_share * total, ahead * cosine - p.gear_sag * sine, 0.0, ahead * sine + p.gear_sag * cosine, travel
    )
    b, c = prop_up(f, main, back, half, low, travel), prop_up(f, main, back, -half, low, travel)
    return Support(a.force + b.force + c.force, a.mx + b.mx + c.mx, a.my + b.my + c.my, a.mz + b.mz + c.mz)


def skids(f: Footing, p: Parameters) -> Support:
    """Return the support by wing tips, tail and nose, on which it lies when it is not on its wheels."""
    stiffness, travel = SKID * p.mass * GRAVITY / p.gear_sag, 0.5 * p.span
    half, tail, nose = 0.5 * p.span, -2.5 * p.wheel_base, p.wheel_base
    tips = -half * WING_TIPS
    a, b = prop_up(f, stiffness, 0.0, half, tips, travel), prop_up(f, stiffness, 0.0, -half, tips, travel)
    up = f.forward > 0.0  # the nose
    c = prop_up(f, stiffness, select(up, tail, nose), 0.0, select(up, tail * TAIL, 0.5 * tips), travel)
    return Support(a.force + b.force + c.force, a.mx + b.mx + c.mx, a.my + b.my + c.my, a.mz + b.mz + c.mz)


def on_ground(s: State, u: Command, p: Parameters, w: Environment, m: AirframeMotion, dt: float) -> AirframeMotion:
    """Return the motion with the forces of the ground: struts and skids carry it, tyres steer, brakes stop it.

    Friction acts on velocities and never reverses them, so that an aircraft at rest stays exactly where it is. The
    fuselage stops at the ground.
    """
    ground = surface(s.x, s.y, w)
    nx, ny, nz = normal(ground)
    forward, left, up = unrotate(s.qx, s.qy, s.qz, s.qw, nx, ny, nz)
    height, rising = (s.z - ground.height) * nz, s.vx * nx + s.vy * ny + s.vz * nz
    damping = 2.0 * p.gear_damping * sqrt(p.gear_sag / GRAVITY) + dt
    f = Footing(forward, -left, -up, height, rising, s.wx, -s.wy, -s.wz, damping)
    gear, rest = wheels(f, p), skids(f, p)
    force = gear.force + rest.force
    rolled, pitched, yawed = turned_up(p, gear.mx + rest.mx, gear.my + rest.my, gear.mz + rest.mz, dt)
    carried = dt * force / p.mass  # m/s along the normal
    stopped = maximum(-(m.vx * nx + m.vy * ny + m.vz * nz + carried), 0.0)  # by the fuselage
    carried = carried + select(height < -DEEPEST * p.gear_sag, stopped, 0.0)
    vx, vy, vz = m.vx + carried * nx, m.vy + carried * ny, m.vz + carried * nz
    ahead_x, ahead_y, _ = rotate(s.qx, s.qy, s.qz, s.qw, 1.0, 0.0, 0.0)
    level = 1.0 / sqrt(maximum(ahead_x * ahead_x + ahead_y * ahead_y, 1e-9))
    cosine, sine = ahead_x * level, ahead_y * level  # of the heading
    along, left = vx * cosine + vy * sine, vy * cosine - vx * sine
    on_wheels = dt * gear.force / p.mass * ground.mu
    holds = p.grip * carried * ground.mu
    braking = p.rolling + select(u.throttle > 0.0, 0.0, p.brake)
    sliding = p.grip * maximum(carried * ground.mu - on_wheels, 0.0)  # of other parts
    slows = minimum(braking, maximum(p.grip, p.rolling)) * on_wheels + sliding
    along, left = along - clamp(along, -slows, slows), left - clamp(left, -holds, holds)
    # the nose wheel turns with the rudder
    steer = -p.steer_max * s.rudder / p.rudder_max
    turning, yaw = along * tan(steer) / p.wheel_base, m.yaw + yawed
    twist = 0.5 * holds * p.mass * p.wheel_base / p.inertia_z
    touches = carried > 0.0
    return AirframeMotion(
        select(touches, along * cosine - left * sine, vx),
        select(touches, along * sine + left * cosine, vy),
        vz,
        m.roll + rolled,
        m.pitch + pitched,
        yaw + clamp(turning - yaw, -twist, twist),
    )


def attitude(s: State) -> tuple[float, float]:
    """Return bank (right wing down) and pitch (nose up), rad."""
    _, _, left = rotate(s.qx, s.qy, s.qz, s.qw, 0.0, 1.0, 0.0)
    _, _, up = rotate(s.qx, s.qy, s.qz, s.qw, 0.0, 0.0, 1.0)
    _, _, nose = rotate(s.qx, s.qy, s.qz, s.qw, 1.0, 0.0, 0.0)
    return atan2(left, up), asin(nose)


def power_drawn(s: State, p: Parameters, w: Environment, u: float) -> float:
    """Return the electrical power, W, at a forward airspeed of `u` m/s."""
    _, torque = propeller(s.rotor, maximum(u, 0.0), p, w)
    return p.power_idle + 2.0 * PI * s.rotor * torque / p.motor_efficiency


def full_voltage(p: Parameters) -> float:
    """Return the voltage of the charged battery at rest, V."""
    return p.cells * FULL_CELL
