"""Car, level 2: dynamic single track with load transfer and magic formula tyres, from standstill to the limit.

The two wheels of an axle act as one in the middle; drive and brake forces reach the road without wheel dynamics, up to
what friction allows. Load that a turn moves across an axle costs it friction, in the ratio of the roll stiffness.
Unused at this level: wheel inertia, longitudinal slip, differentials, ABS, traction and stability control, Ackermann,
springs beyond their ratio, dampers, bump stops, unsprung masses, inertia about the forward and left axes.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, atan, clamp, maximum, select, sign, sincos, tan
from paddock.compute.quaternion import euler_quaternion
from paddock.vehicles.model import Desire, Placement, VehicleModel
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    air_drag,
    air_speed,
    axle_loads,
    car_body,
    car_bumped,
    down_forces,
    full_voltage,
    guided,
    holding,
    powered,
    resisting,
    slowed,
    turned_velocity,
)
from paddock.vehicles.parts.car_subsystems import (
    CALM_ACCELERATION,
    CALM_SPEED,
    SPARES,
    SUBSYSTEMS,
    DriveLine,
    Gearbox,
    Rack,
    SteerLine,
    Wheels,
    brakes,
    drive_delayed,
    drivetrain,
    rack,
    shifted,
    steer_delayed,
    wheel_load_changes,
)
from paddock.vehicles.parts.tyre import (
    axle_friction,
    combined_side_force,
    cosine_of_slip,
    friction,
    magic_tyre,
    patch_damping_time,
    relaxed_slip,
    slip_rate,
)
from paddock.world.columns import Column
from paddock.world.ground import is_sloped, surface
from paddock.world.pose import Environment, Pose


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
    ax: Annotated[float, Column("m/s2", "force over mass without gravity, forward; shifts load to the rear")]
    wheel_speed: Annotated[float, Column("rad/s", "rotation of the front wheels")]
    ay: Annotated[float, Column("m/s2", "force over mass without gravity, to the left; shifts load to the right")]
    pitch: Annotated[float, Column("rad", "of the ground under the wheels, nose down positive")]
    roll: Annotated[float, Column("rad", "of the ground under the wheels, left side up positive")]
    steer_rate: Annotated[float, Column("rad/s", "rate of the road-wheel angle")]
    steer_a: Annotated[float, Column("rad", "steering command, youngest sample of its dead time")]
    steer_b: Annotated[float, Column("rad", "steering command")]
    steer_c: Annotated[float, Column("rad", "steering command")]
    steer_d: Annotated[float, Column("rad", "steering command")]
    steer_e: Annotated[float, Column("rad", "steering command")]
    steer_f: Annotated[float, Column("rad", "steering command")]
    steer_g: Annotated[float, Column("rad", "steering command, oldest sample")]
    steer_clock: Annotated[float, Column("s", "age of the youngest sample")]
    drive_a: Annotated[float, Column("", "throttle command, youngest sample of its dead time")]
    drive_b: Annotated[float, Column("", "throttle command")]
    drive_c: Annotated[float, Column("", "throttle command")]
    drive_d: Annotated[float, Column("", "throttle command, oldest sample")]
    drive_clock: Annotated[float, Column("s", "age of the youngest sample")]
    gear_engaged: Annotated[float, Column("", "gear of the gearbox, 1 to 6")]
    shift_clock: Annotated[float, Column("s", "time left of a shift")]
    charge: Annotated[float, Column("", "battery charge, 1 full, 0 empty; 1 without a battery")]
    voltage: Annotated[float, Column("V", "battery voltage under load, 0 without a battery")]
    current: Annotated[float, Column("A", "battery current")]


class Report(NamedTuple):
    """Forces on the car in the axes of its wheels (the front ones are turned by the steering)."""

    ax: Annotated[float, Column("m/s2", "force over mass, forward, of the last tick")]
    ay: Annotated[float, Column("m/s2", "force over mass, to the left")]
    load_fl: Annotated[float, Column("N", "load of the front left wheel")]
    load_fr: Annotated[float, Column("N", "load of the front right wheel")]
    load_rl: Annotated[float, Column("N", "load of the rear left wheel")]
    load_rr: Annotated[float, Column("N", "load of the rear right wheel")]
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
    moved: float  # N, from the left to the right wheel
    drive: float  # N, forward, within friction
    resistance: float  # N >= 0, against the motion, within friction
    side: float  # N, to the left


class AxleGround(NamedTuple):
    """The ground under the car: height at its centre, slopes in its axes, friction under each axle."""

    height: float
    forward: float
    left: float
    mu_front: float
    mu_rear: float


class DrivelineInputs(NamedTuple):
    """Steering and drive of a step: throttle after its dead time, and the gearbox."""

    throttle: float
    box: Gearbox


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: controls, contact patches, forces, speeds, then the position at mid heading."""
    line = SteerLine(s.steer_a, s.steer_b, s.steer_c, s.steer_d, s.steer_e, s.steer_f, s.steer_g, s.steer_clock)
    line, wanted = steer_delayed(line, u.steer, p.steer_dead_time, dt)
    drive_line = DriveLine(s.drive_a, s.drive_b, s.drive_c, s.drive_d, s.drive_clock)
    drive_line, throttle = drive_delayed(drive_line, u.throttle, p.torque_dead_time, dt)
    turned = rack(Rack(s.steer, s.steer_rate), wanted, p, dt)
    box = shifted(Gearbox(s.gear_engaged, s.shift_clock), s.wheel_speed, p, dt)
    tilt = sincos(turned.angle)
    heading = sincos(s.yaw + 0.5 * dt * s.yaw_rate)
    stand = _stand(s.x, s.y, heading[0], heading[1], p, w)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    front, rear = _axles(s, u, DrivelineInputs(throttle, box), stand, p, w, dt, tilt, ux)
    vx, vy, rate, ax, ay = _speeds(s, p, w, dt, tilt, front, rear, stand, air_drag(ux, uy, p, w))
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    battery = powered(s.charge, (front.drive + rear.drive) * (0.5 * (s.vx + vx)), p, dt)
    return State(
        x=s.x + (along * heading[1] - across * heading[0]),
        y=s.y + (along * heading[0] + across * heading[1]),
        z=stand.height + (along * stand.forward + across * stand.left),
        yaw=s.yaw + 0.5 * dt * (s.yaw_rate + rate),
        vx=vx,
        vy=vy,
        yaw_rate=rate,
        steer=turned.angle,
        slip_front=front.slip,
        slip_rear=rear.slip,
        ax=ax,
        wheel_speed=vx * (1.0 / p.wheel_radius),
        ay=ay,
        pitch=0.0 - atan(stand.forward),
        roll=atan(stand.left),
        steer_rate=turned.rate,
        steer_a=line.a,
        steer_b=line.b,
        steer_c=line.c,
        steer_d=line.d,
        steer_e=line.e,
        steer_f=line.f,
        steer_g=line.g,
        steer_clock=line.clock,
        drive_a=drive_line.a,
        drive_b=drive_line.b,
        drive_c=drive_line.c,
        drive_d=drive_line.d,
        drive_clock=drive_line.clock,
        gear_engaged=box.gear,
        shift_clock=box.clock,
        charge=battery.charge,
        voltage=battery.voltage,
        current=battery.current,
    )


def _stand(x: float, y: float, sine: float, cosine: float, p: Parameters, w: Environment) -> AxleGround:
    """Return the ground under both axles; `sine` and `cosine` of the heading."""
    front = surface(x + p.cg_to_front * cosine, y + p.cg_to_front * sine, w)
    rear = surface(x - p.cg_to_rear * cosine, y - p.cg_to_rear * sine, w)
    forward = (front.height - rear.height) * (1.0 / (p.cg_to_front + p.cg_to_rear))
    tilted = is_sloped(front) | is_sloped(rear)
    left = select(tilted, 0.5 * ((front.slope_y + rear.slope_y) * cosine - (front.slope_x + rear.slope_x) * sine), 0.0)
    return AxleGround(rear.height + p.cg_to_rear * forward, forward, left, front.mu, rear.mu)


def _axles(
    s: State,
    u: Command,
    c: DrivelineInputs,
    stand: AxleGround,
    p: Parameters,
    w: Environment,
    dt: float,
    tilt: tuple[float, float],
    ux: float,
) -> tuple[Axle, Axle]:
    """Return both axles after their contact patches moved for dt; `tilt` and `ux` as for `_pushing`."""
    rolling, across_front, across_rear = _contacts(s, p, tilt)
    slip_front = relaxed_slip(s.slip_front, across_front, rolling, p.relaxation_lateral, dt)
    slip_rear = relaxed_slip(s.slip_rear, across_rear, s.vx, p.relaxation_lateral, dt)
    lead_front = _damping_time(rolling, stand.mu_front, p, w) * (slip_front - s.slip_front) * (1.0 / dt)
    lead_rear = _damping_time(s.vx, stand.mu_rear, p, w) * (slip_rear - s.slip_rear) * (1.0 / dt)
    return _pushing(s, u, c, stand, p, w, ux, (slip_front, lead_front), (slip_rear, lead_rear))


def _contacts(s: State, p: Parameters, tilt: tuple[float, float]) -> tuple[float, float, float]:
    """Return the speeds (m/s) of the front contact along and across its wheel, and of the rear one across."""
    left = s.vy + p.cg_to_front * s.yaw_rate
    rolling, sideways = s.vx * tilt[1] + left * tilt[0], left * tilt[1] - s.vx * tilt[0]
    return rolling, sideways, s.vy - p.cg_to_rear * s.yaw_rate


def _damping_time(rolling: float, mu: float, p: Parameters, w: Environment) -> float:
    """Return the time (s) of slip rate that acts like slip, at a contact's rolling speed."""
    stiffness = p.tyre_b_lat * p.tyre_c_lat * p.tyre_d_lat * (p.tyre_mu * mu) * w.gravity
    return patch_damping_time(rolling, stiffness, p.relaxation_lateral)


def _pushing(
    s: State,
    u: Command,
    c: DrivelineInputs,
    stand: AxleGround,
    p: Parameters,
    w: Environment,
    ux: float,
    front: tuple[float, float],
    rear: tuple[float, float],
) -> tuple[Axle, Axle]:
    """Return the forces of both axles, given slip and damping lead of each; `ux` is the forward air speed (m/s)."""
    down_front, down_rear = down_forces(ux, p, w)
    load_front, load_rear = axle_loads(s.ax, down_front, down_rear, p, w)
    moved_front, moved_rear = wheel_load_changes(s.ay, p)
    gear = select(u.gear > 0.5, 1.0, select(u.gear < -0.5, -1.0, 0.0))
    drive = drivetrain(c.throttle, gear, s.wheel_speed, s.wheel_speed, c.box, s.charge, p)
    none = 0.0
    loads = Wheels(0.5 * load_front, 0.5 * load_front, 0.5 * load_rear, 0.5 * load_rear)
    torques = brakes(u, loads, Wheels(none, none, none, none), s.vx, p)
    per_radius = 1.0 / p.wheel_radius
    brake_front, brake_rear = (torques.fl + torques.fr) * per_radius, (torques.rl + torques.rr) * per_radius
    direction = sign(s.vx)  # 0 while the brakes hold the car: the tyres then keep their full side force
    mu_front, mu_rear = p.tyre_mu * stand.mu_front, p.tyre_mu * p.grip_rear * stand.mu_rear
    return (
        _axle(front, direction, (load_front, moved_front), drive.front * per_radius, brake_front, mu_front, p),
        _axle(rear, direction, (load_rear, moved_rear), drive.rear * per_radius, brake_rear, mu_rear, p),
    )


def _axle(
    patch: tuple[float, float],
    direction: float,
    loads: tuple[float, float],
    drive: float,
    brake: float,
    mu: float,
    p: Parameters,
) -> Axle:
    """Return an axle with slip and damping lead, under a load, a wanted drive and a brake force (N).

    `direction` is the sign of the car's speed, against which brakes act; the second load is that moved across.
    """
    slip, lead = patch
    load, moved = loads
    limit = axle_friction(load, mu, p.tyre_load, p.tyre_load_sensitivity, moved)
    cosine = cosine_of_slip(slip)
    grip = limit * cosine
    drive = clamp(drive, -grip, grip)
    resistance = resisting(brake + p.rolling_resistance * load, drive, direction, grip)
    even = friction(0.5 * load, mu, p.tyre_load, p.tyre_load_sensitivity)
    pure = magic_tyre(0.0, slip + lead, 0.5 * load, mu, p).across * (limit / maximum(even, 1e-9))
    along = drive - direction * resistance
    side = combined_side_force(pure, along, limit, p.tyre_d_lat, slip, cosine)
    return Axle(slip, load, clamp(moved, -0.5 * load, 0.5 * load), drive, resistance, side)


def _speeds(
    s: State,
    p: Parameters,
    w: Environment,
    dt: float,
    tilt: tuple[float, float],
    front: Axle,
    rear: Axle,
    stand: AxleGround,
    drag: tuple[float, float],
) -> tuple[float, float, float, float, float]:
    """Return body velocities (m/s), yaw rate (rad/s) and force over mass forward and to the left (m/s2) after dt."""
    sine, cosine = tilt
    turned_vx, turned_vy = turned_velocity(s.vx, s.vy, s.yaw_rate * dt)
    steep = w.gravity / (1.0 + (stand.forward * stand.forward + stand.left * stand.left))
    pull = p.mass * steep * stand.forward
    push, resistance = _along(tilt, front, rear, drag[0])
    per_mass = 1.0 / p.mass  # quotients of constants leave the loop over vehicles, where divisions dominate
    vx, change = slowed(turned_vx + dt * per_mass * (push - pull), dt * per_mass * resistance)
    held = change * (p.mass / dt)
    used = held / maximum(resistance, 1e-9)
    side_front = front.side * cosine + (front.drive + used * front.resistance) * sine
    ay = (side_front + rear.side + drag[1]) * per_mass
    left = ay - steep * stand.left
    # the steered outer wheel carries more load, so its side force turns the car outwards
    outer = front.side * sine * p.track_front * (front.moved / maximum(front.load, 1e-9))
    turn = (p.cg_to_front * side_front - p.cg_to_rear * rear.side - outer) * (1.0 / p.inertia_z)
    vy, rate = turned_vy + dt * left, s.yaw_rate + dt * turn
    # a standing car comes to rest on its contact patches instead of oscillating
    calm = (vx == 0.0) & (absolute(vy) < CALM_SPEED) & (absolute(rate) < CALM_SPEED)
    rest = calm & (absolute(left) < CALM_ACCELERATION) & (absolute(turn) < CALM_ACCELERATION)
    return vx, select(rest, 0.0, vy), select(rest, 0.0, rate), (push + held) * per_mass, ay


def _along(tilt: tuple[float, float], front: Axle, rear: Axle, drag: float) -> tuple[float, float]:
    """Return the push forward and the largest resistance to the motion, N."""
    push = front.drive * tilt[1] - front.side * tilt[0] + rear.drive + drag
    return push, front.resistance * tilt[1] + rear.resistance


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose, parallel to the ground under the wheels."""
    qx, qy, qz, qw = euler_quaternion(s.roll, s.pitch, s.yaw)
    sine, cosine = sincos(s.yaw)
    vx, vy = s.vx * cosine - s.vy * sine, s.vx * sine + s.vy * cosine
    vz = s.vy * tan(s.roll) - s.vx * tan(s.pitch)
    zero = 0.0 * s.x
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, vx, vy, vz, zero, zero, s.yaw_rate)


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return the forces under the present commands: those of `step` in the limit of a small dt."""
    tilt, heading = sincos(s.steer), sincos(s.yaw)
    stand = _stand(s.x, s.y, heading[0], heading[1], p, w)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    rolling, across_front, across_rear = _contacts(s, p, tilt)
    rate_front = slip_rate(s.slip_front, across_front, rolling, p.relaxation_lateral)
    rate_rear = slip_rate(s.slip_rear, across_rear, s.vx, p.relaxation_lateral)
    lead_front = _damping_time(rolling, stand.mu_front, p, w) * rate_front
    lead_rear = _damping_time(s.vx, stand.mu_rear, p, w) * rate_rear
    c = DrivelineInputs(select(p.torque_dead_time > 0.0, s.drive_d, u.throttle), Gearbox(s.gear_engaged, s.shift_clock))
    front, rear = _pushing(s, u, c, stand, p, w, ux, (s.slip_front, lead_front), (s.slip_rear, lead_rear))
    drag = air_drag(ux, uy, p, w)
    push, resistance = _along(tilt, front, rear, drag[0])
    steep = w.gravity / (1.0 + (stand.forward * stand.forward + stand.left * stand.left))
    used = holding(s.vx, push - p.mass * steep * stand.forward, resistance) / maximum(resistance, 1e-9)
    force_front, force_rear = front.drive + used * front.resistance, rear.drive + used * rear.resistance
    left = front.side * tilt[1] + force_front * tilt[0] + rear.side + drag[1]
    return Report(
        ax=s.ax,
        ay=left * (1.0 / p.mass),
        load_fl=0.5 * front.load - front.moved,
        load_fr=0.5 * front.load + front.moved,
        load_rl=0.5 * rear.load - rear.moved,
        load_rr=0.5 * rear.load + rear.moved,
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
    sine, cosine = sincos(at.yaw)
    stand = _stand(at.x, at.y, sine, cosine, p, w)
    turning = at.speed * (1.0 / p.wheel_radius)
    return State(
        *(at.x, at.y, stand.height, at.yaw, at.speed, zero, zero, zero, zero, zero, zero, turning, zero),
        *(0.0 - atan(stand.forward), atan(stand.left)),
        *(zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero),
        *(1.0, zero, 1.0, full_voltage(p), zero),
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Steer by pure pursuit and control the speed."""
    return guided(s.yaw, s.vx, u, p, d)


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy and the potential energy of the ground's height, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy) + p.inertia_z * s.yaw_rate * s.yaw_rate
    return 0.5 * moving + p.mass * w.gravity * s.z


MODEL = VehicleModel(
    kind="car",
    summary="Dynamic single track: load transfer, magic formula tyres, friction limits, dead times",
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
    subsystems={name: SUBSYSTEMS[name] for name in ("tyre", "steering", "drivetrain", "brake")},
    spares=SPARES,
    body=car_body,
    bumped=car_bumped,
)
