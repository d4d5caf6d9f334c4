"""Car, level 3: double track with four wheel spins, load transfer in both directions, differential and subsystems.

The body follows the ground rigidly: pitch and roll are those of the plane under the wheels, and loads follow from the
accelerations at once, sideways in the ratio of the axles' roll stiffness. Unused at this level: springs beyond that
ratio, dampers, bump stops, unsprung masses, inertia about the forward and left axes.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, atan, clamp, select, sincos, tan
from paddock.vehicles.model import Placement
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    air_drag,
    air_speed,
    axle_loads,
    car_body,
    car_bumped,
    car_model,
    down_forces,
    planar_pose,
    powered,
    turned_velocity,
)
from paddock.vehicles.parts.car_subsystems import (
    CALM_ACCELERATION,
    CALM_SPEED,
    SPARES,
    SUBSYSTEMS,
    Wheels,
    car_problem,
    wheel_load_changes,
    wheel_tilts,
)
from paddock.vehicles.parts.car_wheels import (
    Patch,
    Report,
    WheelColumns,
    WheelContact,
    body_forces,
    contact,
    controlled,
    controls_of,
    first_columns,
    later_columns,
    reported,
    rolled,
    wheels_of,
)
from paddock.world.columns import Column, Environment, column_tuple
from paddock.world.ground import surface


@column_tuple
class State(WheelColumns):
    """Position of the centre of gravity over the ground, heading, body velocities, wheels, patches and controls."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "height of the ground contact")]
    yaw: Annotated[float, Column("rad", "heading, counter-clockwise from east")]
    vx: Annotated[float, Column("m/s", "velocity forward")]
    vy: Annotated[float, Column("m/s", "velocity to the left")]
    yaw_rate: Annotated[float, Column("rad/s", "rate of turn")]
    steer: Annotated[float, Column("rad", "mean road-wheel angle")]
    pitch: Annotated[float, Column("rad", "of the ground under the wheels, nose down positive")]
    roll: Annotated[float, Column("rad", "of the ground under the wheels, left side up positive")]
    ax: Annotated[float, Column("m/s2", "force over mass without gravity, forward; shifts load to the rear")]
    ay: Annotated[float, Column("m/s2", "force over mass without gravity, to the left; shifts load to the right")]


class WheelGround(NamedTuple):
    """The ground under the car: height at its centre, slopes in its axes, friction under each wheel."""

    height: float
    forward: float
    left: float
    mu: Wheels


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: controls, contact patches, forces, wheel spin, speeds, then the position."""
    heading = sincos(s.yaw + 0.5 * dt * s.yaw_rate)
    stand = _stand(s.x, s.y, heading[0], heading[1], p, w)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    spins, kappas, _ = wheels_of(s)
    loads = _loads(s.ax, s.ay, ux, p, w)
    motion = s.vx, s.yaw_rate, 0.25 * ((stand.mu.fl + stand.mu.fr) + (stand.mu.rl + stand.mu.rr))
    driven = controlled(controls_of(s), u, motion, spins, kappas, loads, s.charge, p, dt)
    fl, fr, rl, rr = _contacts(s, driven.rack.angle, stand.mu, loads, p)
    after, patches = rolled(s, driven, (fl, fr, rl, rr), w.gravity, p, dt)
    patch_fl, patch_fr, patch_rl, patch_rr = patches
    forces = _sum(fl, patch_fl, fr, patch_fr, rl, patch_rl, rr, patch_rr)
    drag = air_drag(ux, uy, p, w)
    still = (after.fl == 0.0) & (after.fr == 0.0) & (after.rl == 0.0) & (after.rr == 0.0)
    vx, vy, rate, ax, ay = _speeds(s, forces, drag, stand, still, p, w, dt)
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    x, y = s.x + (along * heading[1] - across * heading[0]), s.y + (along * heading[0] + across * heading[1])
    battery = powered(s.charge, driven.drive.power, p, dt)
    return State(
        *(x, y, stand.height + (along * stand.forward + across * stand.left), s.yaw + 0.5 * dt * (s.yaw_rate + rate)),
        *(vx, vy, rate, driven.rack.angle, 0.0 - atan(stand.forward), atan(stand.left), ax, ay),
        *later_columns(after, patch_fl, patch_fr, patch_rl, patch_rr, driven, battery),
    )


def _stand(x: float, y: float, sine: float, cosine: float, p: Parameters, w: Environment) -> WheelGround:
    """Return the plane through the four contacts; `sine` and `cosine` of the heading."""
    front_x, front_y = x + p.cg_to_front * cosine, y + p.cg_to_front * sine
    rear_x, rear_y = x - p.cg_to_rear * cosine, y - p.cg_to_rear * sine
    side_front, side_rear = 0.5 * p.track_front, 0.5 * p.track_rear
    fl = surface(front_x - side_front * sine, front_y + side_front * cosine, w)
    fr = surface(front_x + side_front * sine, front_y - side_front * cosine, w)
    rl = surface(rear_x - side_rear * sine, rear_y + side_rear * cosine, w)
    rr = surface(rear_x + side_rear * sine, rear_y - side_rear * cosine, w)
    front, rear = 0.5 * (fl.height + fr.height), 0.5 * (rl.height + rr.height)
    base = 1.0 / (p.cg_to_front + p.cg_to_rear)
    forward = (front - rear) * base
    left = ((fl.height - fr.height) + (rl.height - rr.height)) * (1.0 / (p.track_front + p.track_rear))
    return WheelGround(rear + p.cg_to_rear * forward, forward, left, Wheels(fl.mu, fr.mu, rl.mu, rr.mu))


def _loads(ax: float, ay: float, ux: float, p: Parameters, w: Environment) -> Wheels:
    """Return the loads of the wheels, N >= 0, under accelerations (m/s2) and a forward air speed (m/s)."""
    down_front, down_rear = down_forces(ux, p, w)
    front, rear = axle_loads(ax, down_front, down_rear, p, w)
    moved_front, moved_rear = wheel_load_changes(ay, p)
    front, rear = 0.5 * front, 0.5 * rear
    moved_front, moved_rear = clamp(moved_front, -front, front), clamp(moved_rear, -rear, rear)
    return Wheels(front - moved_front, front + moved_front, rear - moved_rear, rear + moved_rear)


def _contacts(
    s: State, steer: float, mu: Wheels, loads: Wheels, p: Parameters
) -> tuple[WheelContact, WheelContact, WheelContact, WheelContact]:
    left, right = wheel_tilts(tan(steer), p)
    straight = 0.0
    front, rear = p.tyre_mu, p.tyre_mu * p.grip_rear
    side_front, side_rear = 0.5 * p.track_front, 0.5 * p.track_rear
    return (
        contact(p.cg_to_front, side_front, left, s.vx, s.vy, s.yaw_rate, loads.fl, mu.fl * front),
        contact(p.cg_to_front, -side_front, right, s.vx, s.vy, s.yaw_rate, loads.fr, mu.fr * front),
        contact(-p.cg_to_rear, side_rear, straight, s.vx, s.vy, s.yaw_rate, loads.rl, mu.rl * rear),
        contact(-p.cg_to_rear, -side_rear, straight, s.vx, s.vy, s.yaw_rate, loads.rr, mu.rr * rear),
    )


def _sum(
    fl: WheelContact, a: Patch, fr: WheelContact, b: Patch, rl: WheelContact, c: Patch, rr: WheelContact, d: Patch
) -> tuple[float, float, float]:
    """Return the force forward and to the left (N) and the yaw moment (N m) of all wheels."""
    x_fl, y_fl = body_forces(a, fl)
    x_fr, y_fr = body_forces(b, fr)
    x_rl, y_rl = body_forces(c, rl)
    x_rr, y_rr = body_forces(d, rr)
    ahead = (fl.x * y_fl + fr.x * y_fr) + (rl.x * y_rl + rr.x * y_rr)
    beside = (fl.y * x_fl + fr.y * x_fr) + (rl.y * x_rl + rr.y * x_rr)
    return (x_fl + x_fr) + (x_rl + x_rr), (y_fl + y_fr) + (y_rl + y_rr), ahead - beside


def _speeds(
    s: State,
    forces: tuple[float, float, float],
    drag: tuple[float, float],
    stand: WheelGround,
    still: bool,
    p: Parameters,
    w: Environment,
    dt: float,
) -> tuple[float, float, float, float, float]:
    """Return body velocities (m/s), yaw rate (rad/s) and force over mass forward and to the left (m/s2) after dt."""
    vx, vy = turned_velocity(s.vx, s.vy, s.yaw_rate * dt)
    per_mass = 1.0 / p.mass
    ax, ay = (forces[0] + drag[0]) * per_mass, (forces[1] + drag[1]) * per_mass
    steep = w.gravity / (1.0 + (stand.forward * stand.forward + stand.left * stand.left))
    forward, left, turn = ax - steep * stand.forward, ay - steep * stand.left, forces[2] * (1.0 / p.inertia_z)
    vx, vy, rate = vx + dt * forward, vy + dt * left, s.yaw_rate + dt * turn
    # with all wheels at rest, a car comes to rest on its contact patches instead of oscillating
    slow = (absolute(vx) < CALM_SPEED) & (absolute(vy) < CALM_SPEED) & (absolute(rate) < CALM_SPEED)
    calm = (absolute(forward) < CALM_ACCELERATION) & (absolute(left) < CALM_ACCELERATION)
    rest = still & slow & calm & (absolute(turn) < CALM_ACCELERATION)
    ax, ay = select(rest, ax - forward, ax), select(rest, ay - left, ay)  # at rest, forces carry the weight on a slope
    return select(rest, 0.0, vx), select(rest, 0.0, vy), select(rest, 0.0, rate), ax, ay


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return wheels, torques and load transfer under the present commands."""
    sine, cosine = sincos(s.yaw)
    stand = _stand(s.x, s.y, sine, cosine, p, w)
    air, _ = air_speed(s.vx, s.vy, sine, cosine, w)
    loads, none = _loads(s.ax, s.ay, air, p, w), 0.0 * air
    mu = 0.25 * ((stand.mu.fl + stand.mu.fr) + (stand.mu.rl + stand.mu.rr))
    contacts, travel = _contacts(s, s.steer, stand.mu, loads, p), Wheels(none, none, none, none)
    return reported(s, u, contacts, loads, travel, mu, air, p, w)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground, wheels straight, rolling at the given speed."""
    zero = 0.0 * at.x
    sine, cosine = sincos(at.yaw)
    stand = _stand(at.x, at.y, sine, cosine, p, w)
    return State(
        *(at.x, at.y, stand.height, at.yaw, at.speed, zero, zero, zero, 0.0 - atan(stand.forward), atan(stand.left)),
        *(zero, zero),
        *first_columns(zero, at.speed, p),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy with that of the wheels, and the potential energy of the ground's height, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy) + p.inertia_z * s.yaw_rate * s.yaw_rate
    spinning = (s.spin_fl * s.spin_fl + s.spin_fr * s.spin_fr) + (s.spin_rl * s.spin_rl + s.spin_rr * s.spin_rr)
    return 0.5 * (moving + p.wheel_inertia * spinning) + p.mass * w.gravity * s.z


MODEL = car_model(
    summary="Double track: four wheel spins, load transfer, differential, brakes with ABS, combined slip",
    state=State,
    step=step,
    pose=planar_pose,
    place=place,
    energy=energy,
    dt_max=0.0025,
    telemetry=("steer", "wheel_speed", "pitch", "roll", "charge", "voltage", "current"),
    report=report,
    report_type=Report,
    problem=car_problem,
    subsystems={name: part for name, part in SUBSYSTEMS.items() if name != "suspension"},
    spares=SPARES,
    body=car_body,
    bumped=car_bumped,
)
