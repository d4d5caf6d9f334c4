"""Car, level 2: dynamic single track with load transfer and magic formula tyres, from standstill to the limit.

The two wheels of an axle act as one in the middle; drive and brake forces reach the road without wheel dynamics, up to
what friction allows. Load that a turn moves across an axle costs it friction, in the ratio of the roll stiffness. With
`subsystems: {wheels: spinning}` the axles have spin and slip ratio, ABS and traction control. Unused at this level:
wheel inertia, longitudinal slip, ABS and traction control of rolling wheels, stability control, Ackermann, springs
beyond their ratio, dampers, bump stops, unsprung masses, inertia about the forward and left axes. Differentials only
resist turning.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, atan, maximum, select, sincos
from paddock.vehicles.model import Placement
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    SlipColumns,
    air_drag,
    air_speed,
    holding,
    powered,
    slowed,
    turned_velocity,
)
from paddock.vehicles.parts.car_axles import (
    OPEN,
    WHEELS,
    Axle,
    AxleGround,
    DrivelineInputs,
    axles,
    axles_now,
    engine_power,
    halted,
    locked_axles,
    wheel_speeds,
)
from paddock.vehicles.parts.car_subsystems import (
    CALM_ACCELERATION,
    CALM_SPEED,
    SPARES,
    SUBSYSTEMS,
    ControlColumns,
    Gearbox,
    Rack,
    brakes,
    car_model,
    control_columns,
    delayed,
    first_controls,
    rack,
    shifted,
    throttle_now,
)
from paddock.world.columns import Column, Environment, column_tuple
from paddock.world.ground import is_sloped, surface


@column_tuple
class State(SlipColumns, ControlColumns):
    """Position of the centre of gravity over the ground, heading, body velocities, controls, axles and patches."""

    wheel_speed: Annotated[float, Column("rad/s", "rotation of the front wheels")]
    spin_rear: Annotated[float, Column("rad/s", "rotation of the rear wheels")]
    slip_front: Annotated[float, Column("", "slip of the front axle, positive pushes left")]
    slip_rear: Annotated[float, Column("", "slip of the rear axle, positive pushes left")]
    kappa_front: Annotated[float, Column("", "slip ratio of the front axle; 0 with rolling wheels")]
    kappa_rear: Annotated[float, Column("", "slip ratio of the rear axle; 0 with rolling wheels")]


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
    slip_ratio_front: Annotated[float, Column("", "slip ratio of the front axle; 0 with rolling wheels")]
    slip_ratio_rear: Annotated[float, Column("", "slip ratio of the rear axle; 0 with rolling wheels")]


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: controls, contact patches, forces, speeds, then the position at mid heading."""
    steer_line, drive_line, steer_demand, throttle = delayed(s, u, p, dt)
    turned = rack(Rack(s.steer, s.steer_rate), steer_demand, p, dt)
    turning = p.drive_front * s.wheel_speed + (1.0 - p.drive_front) * s.spin_rear
    box = shifted(Gearbox(s.gear_engaged, s.shift_clock), turning, p, dt)
    tilt = sincos(turned.angle)
    heading = sincos(s.yaw + 0.5 * dt * s.yaw_rate)
    stand = _stand(s.x, s.y, heading[0], heading[1], p, w)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    front, rear = axles(s, u, DrivelineInputs(throttle, box), stand, p, w, ux, tilt, dt)
    vx, vy, rate, ax, ay = _speeds(s, p, w, dt, tilt, front, rear, stand, air_drag(ux, uy, p, w))
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    spin_front, spin_rear = wheel_speeds(vx, front, rear, p)
    battery = powered(s.charge, engine_power(0.5 * (s.vx + vx), front, rear), p, dt)
    x, y = s.x + (along * heading[1] - across * heading[0]), s.y + (along * heading[0] + across * heading[1])
    return State(
        *(x, y, stand.height + (along * stand.forward + across * stand.left), s.yaw + 0.5 * dt * (s.yaw_rate + rate)),
        *(vx, turned.angle, 0.0 - atan(stand.forward), atan(stand.left), vy, rate, ax, ay),
        *control_columns(steer_line, drive_line, box, battery, turned.rate),
        *(spin_front, spin_rear, front.slip, rear.slip, front.kappa, rear.kappa),
    )


def _stand(x: float, y: float, sine: float, cosine: float, p: Parameters, w: Environment) -> AxleGround:
    """Return the ground under both axles; `sine` and `cosine` of the heading."""
    front = surface(x + p.cg_to_front * cosine, y + p.cg_to_front * sine, w)
    rear = surface(x - p.cg_to_rear * cosine, y - p.cg_to_rear * sine, w)
    forward = (front.height - rear.height) * (1.0 / (p.cg_to_front + p.cg_to_rear))
    tilted = is_sloped(front) | is_sloped(rear)
    left = select(tilted, 0.5 * ((front.slope_y + rear.slope_y) * cosine - (front.slope_x + rear.slope_x) * sine), 0.0)
    return AxleGround(rear.height + p.cg_to_rear * forward, forward, left, front.mu, rear.mu)


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
    # and so does its rolling resistance
    outer -= used * p.rolling_resistance * (front.moved * p.track_front + rear.moved * p.track_rear)
    lock = locked_axles(s.yaw_rate, s.vx, front, rear, stand, p)
    moment = p.cg_to_front * side_front - p.cg_to_rear * rear.side - outer + lock.moment
    turn = moment * (1.0 / (p.inertia_z + dt * lock.slope))  # implicit: stable at any speed
    vy, rate = turned_vy + dt * left, s.yaw_rate + dt * turn
    # a standing car comes to rest on its contact patches instead of oscillating
    standing = halted(vx, (push + held - pull) * per_mass, front, rear)
    calm = standing & (absolute(vy) < CALM_SPEED) & (absolute(rate) < CALM_SPEED)
    rest = calm & (absolute(left) < CALM_ACCELERATION) & (absolute(turn) < CALM_ACCELERATION)
    return select(rest, 0.0, vx), select(rest, 0.0, vy), select(rest, 0.0, rate), (push + held) * per_mass, ay


def _along(tilt: tuple[float, float], front: Axle, rear: Axle, drag: float) -> tuple[float, float]:
    """Return the push forward and the largest resistance to the motion, N."""
    push = front.drive * tilt[1] - front.side * tilt[0] + rear.drive + drag
    return push, front.resistance * tilt[1] + rear.resistance


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return the forces under the present commands: those of `step` in the limit of a small dt."""
    tilt, heading = sincos(s.steer), sincos(s.yaw)
    stand = _stand(s.x, s.y, heading[0], heading[1], p, w)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    c = DrivelineInputs(throttle_now(s, u, p), Gearbox(s.gear_engaged, s.shift_clock))
    front, rear = axles_now(s, u, c, stand, p, w, ux, tilt)
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
        slip_ratio_front=s.kappa_front,
        slip_ratio_rear=s.kappa_rear,
    )


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground, wheels straight, rolling at the given speed."""
    zero = 0.0 * at.x
    sine, cosine = sincos(at.yaw)
    stand = _stand(at.x, at.y, sine, cosine, p, w)
    turning = at.speed * (1.0 / p.wheel_radius)
    return State(
        *(at.x, at.y, stand.height, at.yaw, at.speed, zero, 0.0 - atan(stand.forward), atan(stand.left)),
        *(zero, zero, zero, zero),
        *first_controls(zero, p),
        *(turning, turning, zero, zero, zero, zero),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy and the potential energy of the ground's height, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy) + p.inertia_z * s.yaw_rate * s.yaw_rate
    return 0.5 * moving + p.mass * w.gravity * s.z


AXLE_PARTS = ("tyre", "steering", "drivetrain", "gearbox", "brake", "traction", "differential", "actuators")


MODEL = car_model(
    summary="Dynamic single track: load transfer, magic formula tyres, friction limits, dead times",
    state=State,
    step=step,
    place=place,
    energy=energy,
    dt_max=0.01,
    telemetry=("steer", "wheel_speed", "slip_front", "slip_rear", "charge", "voltage", "current"),
    report=report,
    report_type=Report,
    subsystems={
        "wheels": WHEELS,
        **{name: SUBSYSTEMS[name] for name in AXLE_PARTS},
    },
    spares=(*SPARES, OPEN),
    idle_parameters={"abs_slip": (axles, brakes)},
)
