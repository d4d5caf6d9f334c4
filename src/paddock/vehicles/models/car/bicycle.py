"""Car, level 2: dynamic single track with load transfer and magic formula tyres, from standstill to the limit.

The two wheels of an axle act as one in the middle; drive and brake forces reach the road without wheel dynamics, up to
what friction allows. Unused at this level: the tracks.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, atan, clamp, maximum, select, sign, sincos
from paddock.compute.quaternion import yaw_quaternion
from paddock.vehicles.model import Bump, Desire, Placement, VehicleModel
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    air_drag,
    air_speed,
    axle_loads,
    brake_forces,
    car_body,
    down_forces,
    drive_force,
    full_voltage,
    guided,
    holding,
    powered,
    resisting,
    slowed,
    steered,
)
from paddock.vehicles.parts.tyre import (
    axle_friction,
    combined_side_force,
    cosine_of_slip,
    magic_formula,
    patch_damping_time,
    relaxed_slip,
    slip_rate,
)
from paddock.world.columns import Column
from paddock.world.pose import Environment, Pose

# a standing car is at rest below these speeds (m/s, rad/s) and accelerations (m/s2, rad/s2)
CALM_SPEED = 1e-3
CALM_ACCELERATION = 1e-2


class State(NamedTuple):
    """Position of the centre of gravity over the ground, heading, body velocities, wheels and contact patches."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "height of the ground contact")]
    yaw: Annotated[float, Column("rad", "heading, counter-clockwise from east")]
    vx: Annotated[float, Column("m/s", "velocity forward")]
    vy: Annotated[float, Column("m/s", "velocity to the left")]
    yaw_rate: Annotated[float, Column("rad/s", "rate of turn")]
    steer: Annotated[float, Column("rad", "road-wheel angle")]
    slip_front: Annotated[float, Column("", "slip of the front axle, positive pushes left")]
    slip_rear: Annotated[float, Column("", "slip of the rear axle, positive pushes left")]
    ax: Annotated[float, Column("m/s2", "force over mass, forward; shifts load to the rear")]
    wheel_speed: Annotated[float, Column("rad/s", "rotation of the front wheels")]
    charge: Annotated[float, Column("", "battery charge, 1 full, 0 empty; 1 without a battery")]
    voltage: Annotated[float, Column("V", "battery voltage under load, 0 without a battery")]
    current: Annotated[float, Column("A", "battery current")]


class Report(NamedTuple):
    """Forces on the car in the axes of its wheels (the front ones are turned by the steering)."""

    ax: Annotated[float, Column("m/s2", "force over mass, forward, of the last tick")]
    ay: Annotated[float, Column("m/s2", "force over mass, to the left")]
    load_fl: Annotated[float, Column("N", "half the front axle's load: lateral transfer is not modelled")]
    load_fr: Annotated[float, Column("N", "half the front axle's load")]
    load_rl: Annotated[float, Column("N", "half the rear axle's load")]
    load_rr: Annotated[float, Column("N", "half the rear axle's load")]
    slip_angle_front: Annotated[float, Column("rad", "slip angle of the front contacts, positive pushes left")]
    slip_angle_rear: Annotated[float, Column("rad", "slip angle of the rear contacts, positive pushes left")]
    force_x_front: Annotated[float, Column("N", "force of the front axle along its wheels")]
    force_y_front: Annotated[float, Column("N", "force of the front axle across its wheels, to the left")]
    force_x_rear: Annotated[float, Column("N", "force of the rear axle along its wheels")]
    force_y_rear: Annotated[float, Column("N", "force of the rear axle across its wheels, to the left")]


class Axle(NamedTuple):
    """One axle during a step, in the axes of its wheels."""

    slip: float
    load: float  # N
    drive: float  # N, forward, within friction
    resistance: float  # N >= 0, against the motion, within friction
    side: float  # N, to the left


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: contact patches, forces, speeds, then the position at mid heading."""
    steer = steered(s.steer, u.steer, p.steer_max, p.steer_rate_max, dt)
    tilt = sincos(steer)
    heading = sincos(s.yaw + 0.5 * dt * s.yaw_rate)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    front, rear = _axles(s, u, p, w, dt, tilt, ux)
    vx, vy, rate, ax = _speeds(s, p, dt, tilt, front, rear, air_drag(ux, uy, p, w))
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    battery = powered(s.charge, front.drive + rear.drive, 0.5 * (s.vx + vx), p, dt)
    return State(
        x=s.x + (along * heading[1] - across * heading[0]),
        y=s.y + (along * heading[0] + across * heading[1]),
        z=w.ground_z,
        yaw=s.yaw + 0.5 * dt * (s.yaw_rate + rate),
        vx=vx,
        vy=vy,
        yaw_rate=rate,
        steer=steer,
        slip_front=front.slip,
        slip_rear=rear.slip,
        ax=ax,
        wheel_speed=vx * (1.0 / p.wheel_radius),
        charge=battery.charge,
        voltage=battery.voltage,
        current=battery.current,
    )


def _axles(
    s: State, u: Command, p: Parameters, w: Environment, dt: float, tilt: tuple[float, float], ux: float
) -> tuple[Axle, Axle]:
    """Return both axles after their contact patches moved for dt; `tilt` and `ux` as for `_pushing`."""
    rolling, across_front, across_rear = _contacts(s, p, tilt)
    slip_front = relaxed_slip(s.slip_front, across_front, rolling, p.relaxation_lateral, dt)
    slip_rear = relaxed_slip(s.slip_rear, across_rear, s.vx, p.relaxation_lateral, dt)
    lead_front = _damping_time(rolling, p, w) * (slip_front - s.slip_front) * (1.0 / dt)
    lead_rear = _damping_time(s.vx, p, w) * (slip_rear - s.slip_rear) * (1.0 / dt)
    return _pushing(s, u, p, w, ux, (slip_front, lead_front), (slip_rear, lead_rear))


def _contacts(s: State, p: Parameters, tilt: tuple[float, float]) -> tuple[float, float, float]:
    """Return the speeds (m/s) of the front contact along and across its wheel, and of the rear one across."""
    left = s.vy + p.cg_to_front * s.yaw_rate
    rolling, sideways = s.vx * tilt[1] + left * tilt[0], left * tilt[1] - s.vx * tilt[0]
    return rolling, sideways, s.vy - p.cg_to_rear * s.yaw_rate


def _damping_time(rolling: float, p: Parameters, w: Environment) -> float:
    """Return the time (s) of slip rate that acts like slip, at a contact's rolling speed."""
    stiffness = p.tyre_b_lat * p.tyre_c_lat * p.tyre_d_lat * (p.tyre_mu * w.mu) * w.gravity
    return patch_damping_time(rolling, stiffness, p.relaxation_lateral)


def _pushing(
    s: State,
    u: Command,
    p: Parameters,
    w: Environment,
    ux: float,
    front: tuple[float, float],
    rear: tuple[float, float],
) -> tuple[Axle, Axle]:
    """Return the forces of both axles, given slip and damping lead of each; `ux` is the forward air speed (m/s)."""
    down_front, down_rear = down_forces(ux, p, w)
    load_front, load_rear = axle_loads(s.ax, down_front, down_rear, p, w)
    drive = drive_force(u.throttle, u.gear, s.vx, s.charge, p)
    brake_front, brake_rear = brake_forces(u, p)
    direction = sign(s.vx)  # 0 while the brakes hold the car: the tyres then keep their full side force
    return (
        _axle(front[0], front[1], direction, load_front, drive * p.drive_front, brake_front, p, w),
        _axle(rear[0], rear[1], direction, load_rear, drive * (1.0 - p.drive_front), brake_rear, p, w),
    )


def _axle(
    slip: float, lead: float, direction: float, load: float, drive: float, brake: float, p: Parameters, w: Environment
) -> Axle:
    """Return an axle under a load, a wanted drive and a brake force (N).

    `direction` is the sign of the car's speed, against which brakes act.
    """
    limit = axle_friction(load, p.tyre_mu * w.mu, p.tyre_load, p.tyre_load_sensitivity)
    cosine = cosine_of_slip(slip)
    grip = limit * cosine
    drive = clamp(drive, -grip, grip)
    resistance = resisting(brake + p.rolling_resistance * load, drive, direction, grip)
    peak = p.tyre_d_lat
    pure = magic_formula(slip + lead, p.tyre_b_lat, p.tyre_c_lat, peak * limit, p.tyre_e_lat)
    along = drive - direction * resistance
    return Axle(slip, load, drive, resistance, combined_side_force(pure, along, limit, peak, slip, cosine))


def _speeds(
    s: State,
    p: Parameters,
    dt: float,
    tilt: tuple[float, float],
    front: Axle,
    rear: Axle,
    drag: tuple[float, float],
) -> tuple[float, float, float, float]:
    """Return body velocities (m/s), yaw rate (rad/s) and force over mass forward (m/s2) after dt."""
    sine, cosine = tilt
    turned_vx, turned_vy = _turned(s.vx, s.vy, s.yaw_rate * dt)
    push, resistance = _along(tilt, front, rear, drag[0])
    per_mass = 1.0 / p.mass  # quotients of constants leave the loop over vehicles, where divisions dominate
    vx, change = slowed(turned_vx + dt * per_mass * push, dt * per_mass * resistance)
    held = change * (p.mass / dt)
    used = held / maximum(resistance, 1e-9)
    side_front = front.side * cosine + (front.drive + used * front.resistance) * sine
    left = (side_front + rear.side + drag[1]) * per_mass
    turn = (p.cg_to_front * side_front - p.cg_to_rear * rear.side) * (1.0 / p.inertia_z)
    vy, rate = turned_vy + dt * left, s.yaw_rate + dt * turn
    # a standing car comes to rest on its contact patches instead of oscillating
    calm = (vx == 0.0) & (absolute(vy) < CALM_SPEED) & (absolute(rate) < CALM_SPEED)
    rest = calm & (absolute(left) < CALM_ACCELERATION) & (absolute(turn) < CALM_ACCELERATION)
    return vx, select(rest, 0.0, vy), select(rest, 0.0, rate), (push + held) * per_mass


def _along(tilt: tuple[float, float], front: Axle, rear: Axle, drag: float) -> tuple[float, float]:
    """Return the push forward and the largest resistance to the motion, N."""
    push = front.drive * tilt[1] - front.side * tilt[0] + rear.drive + drag
    return push, front.resistance * tilt[1] + rear.resistance


def _turned(vx: float, vy: float, angle: float) -> tuple[float, float]:
    """Return a velocity in axes turned by an angle (rad); its size is preserved to rounding."""
    t = 0.5 * angle
    scale = 1.0 / (1.0 + t * t)
    sine, cosine = 2.0 * t * scale, (1.0 - t * t) * scale
    return vx * cosine + vy * sine, vy * cosine - vx * sine


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose, level on the ground."""
    qx, qy, qz, qw = yaw_quaternion(s.yaw)
    sine, cosine = sincos(s.yaw)
    zero = 0.0 * s.x
    vx, vy = s.vx * cosine - s.vy * sine, s.vx * sine + s.vy * cosine
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, vx, vy, zero, zero, zero, s.yaw_rate)


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return the forces under the present commands: those of `step` in the limit of a small dt."""
    tilt, heading = sincos(s.steer), sincos(s.yaw)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    rolling, across_front, across_rear = _contacts(s, p, tilt)
    lead_front = _damping_time(rolling, p, w) * slip_rate(s.slip_front, across_front, rolling, p.relaxation_lateral)
    lead_rear = _damping_time(s.vx, p, w) * slip_rate(s.slip_rear, across_rear, s.vx, p.relaxation_lateral)
    front, rear = _pushing(s, u, p, w, ux, (s.slip_front, lead_front), (s.slip_rear, lead_rear))
    drag = air_drag(ux, uy, p, w)
    push, resistance = _along(tilt, front, rear, drag[0])
    used = holding(s.vx, push, resistance) / maximum(resistance, 1e-9)
    force_front, force_rear = front.drive + used * front.resistance, rear.drive + used * rear.resistance
    left = front.side * tilt[1] + force_front * tilt[0] + rear.side + drag[1]
    return Report(
        ax=s.ax,
        ay=left * (1.0 / p.mass),
        load_fl=0.5 * front.load,
        load_fr=0.5 * front.load,
        load_rl=0.5 * rear.load,
        load_rr=0.5 * rear.load,
        slip_angle_front=atan(s.slip_front),
        slip_angle_rear=atan(s.slip_rear),
        force_x_front=force_front,
        force_y_front=front.side,
        force_x_rear=force_rear,
        force_y_rear=rear.side,
    )


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground, wheels straight, rolling at the given speed."""
    zero = 0.0 * at.x
    turning = at.speed * (1.0 / p.wheel_radius)
    return State(
        *(at.x, at.y, w.ground_z, at.yaw, at.speed, zero, zero, zero, zero, zero, zero, turning),
        *(1.0, full_voltage(p), zero),
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Steer by pure pursuit and control the speed."""
    return guided(s.yaw, s.vx, u, p, d)


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy and the potential energy of the ground's height, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy) + p.inertia_z * s.yaw_rate * s.yaw_rate
    return 0.5 * moving + p.mass * w.gravity * s.z


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position, velocity and yaw rate."""
    sine, cosine = sincos(s.yaw)
    vx, vy = s.vx + b.dvx * cosine + b.dvy * sine, s.vy + b.dvy * cosine - b.dvx * sine
    return s._replace(x=s.x + b.dx, y=s.y + b.dy, vx=vx, vy=vy, yaw_rate=s.yaw_rate + b.dwz)


MODEL = VehicleModel(
    kind="car",
    summary="Dynamic single track: load transfer, magic formula tyres, friction limits",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=0.01,
    telemetry=("steer", "wheel_speed", "slip_front", "slip_rear", "charge", "voltage", "current"),
    battery="capacity",
    steady=("gear", "handbrake"),
    report=report,
    report_type=Report,
    body=car_body,
    bumped=bumped,
)
