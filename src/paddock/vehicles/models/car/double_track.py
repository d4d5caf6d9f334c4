"""Car, level 3: double track with four wheel spins, load transfer in both directions, differential and subsystems.

The body follows the ground rigidly: pitch and roll are those of the plane under the wheels, and loads follow from the
accelerations at once, sideways in the ratio of the axles' roll stiffness. Unused at this level: springs beyond that
ratio, dampers, bump stops, unsprung masses, inertia about the forward and left axes.
"""

from paddock.compute.math import atan, clamp, select, sincos, tan
from paddock.vehicles.model import Placement
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    SlipColumns,
    air_drag,
    air_speed,
    axle_loads,
    down_forces,
    powered,
    turned_velocity,
)
from paddock.vehicles.parts.car_subsystems import (
    SUBSYSTEMS,
    Wheels,
    calm,
    car_model,
    wheel_load_changes,
    wheel_tilts,
)
from paddock.vehicles.parts.car_wheels import (
    FourContacts,
    FourPatches,
    Report,
    WheelColumns,
    WheelGround,
    body_forces,
    contact,
    controlled,
    first_wheels,
    ground_under_wheels,
    reported,
    rolled,
    wheel_columns,
    wheel_energy,
)
from paddock.world.columns import Environment, column_tuple


@column_tuple
class State(SlipColumns, WheelColumns):
    """Position of the centre of gravity over the ground, heading, body velocities, controls, wheels and patches."""


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: controls, contact patches, forces, wheel spin, speeds, then the position."""
    heading = sincos(s.yaw + 0.5 * dt * s.yaw_rate)
    stand = ground_under_wheels(s.x, s.y, heading[0], heading[1], p, w)
    ux, uy = air_speed(s.vx, s.vy, heading[0], heading[1], w)
    loads = _loads(s.ax, s.ay, ux, p, w)
    mu = 0.25 * ((stand.mu.fl + stand.mu.fr) + (stand.mu.rl + stand.mu.rr))
    driven = controlled(s, u, mu, loads, p, dt)
    contacts = _contacts(s, driven.rack.angle, stand.mu, loads, p)
    after, patches = rolled(s, driven, contacts, w.gravity, p, dt)
    forces = _sum(contacts, patches)
    drag = air_drag(ux, uy, p, w)
    still = (after.fl == 0.0) & (after.fr == 0.0) & (after.rl == 0.0) & (after.rr == 0.0)
    vx, vy, rate, ax, ay = _speeds(s, forces, drag, stand, still, p, w, dt)
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    x, y = s.x + (along * heading[1] - across * heading[0]), s.y + (along * heading[0] + across * heading[1])
    battery = powered(s.charge, driven.drive.power, p, dt)
    return State(
        *(x, y, stand.height + (along * stand.forward + across * stand.left), s.yaw + 0.5 * dt * (s.yaw_rate + rate)),
        *(vx, driven.rack.angle, 0.0 - atan(stand.forward), atan(stand.left), vy, rate, ax, ay),
        *wheel_columns(after, patches, driven, battery),
    )


def _loads(ax: float, ay: float, ux: float, p: Parameters, w: Environment) -> Wheels:
    """Return the loads of the wheels, N >= 0, under accelerations (m/s2) and a forward air speed (m/s)."""
    down_front, down_rear = down_forces(ux, p, w)
    front, rear = axle_loads(ax, down_front, down_rear, p, w)
    moved_front, moved_rear = wheel_load_changes(ay, p)
    front, rear = 0.5 * front, 0.5 * rear
    moved_front, moved_rear = clamp(moved_front, -front, front), clamp(moved_rear, -rear, rear)
    return Wheels(front - moved_front, front + moved_front, rear - moved_rear, rear + moved_rear)


def _contacts(s: State, steer: float, mu: Wheels, loads: Wheels, p: Parameters) -> FourContacts:
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


def _sum(contacts: FourContacts, patches: FourPatches) -> tuple[float, float, float]:
    """Return the force forward and to the left (N) and the yaw moment (N m) of all wheels."""
    fl, fr, rl, rr = contacts
    x_fl, y_fl = body_forces(patches[0], fl)
    x_fr, y_fr = body_forces(patches[1], fr)
    x_rl, y_rl = body_forces(patches[2], rl)
    x_rr, y_rr = body_forces(patches[3], rr)
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
    rest = still & calm(vx, vy, rate, forward, left, turn)
    ax, ay = select(rest, ax - forward, ax), select(rest, ay - left, ay)  # at rest, forces carry the weight on a slope
    return select(rest, 0.0, vx), select(rest, 0.0, vy), select(rest, 0.0, rate), ax, ay


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return wheels, torques and load transfer under the present commands."""
    sine, cosine = sincos(s.yaw)
    stand = ground_under_wheels(s.x, s.y, sine, cosine, p, w)
    air, _ = air_speed(s.vx, s.vy, sine, cosine, w)
    loads, none = _loads(s.ax, s.ay, air, p, w), 0.0 * air
    mu = 0.25 * ((stand.mu.fl + stand.mu.fr) + (stand.mu.rl + stand.mu.rr))
    contacts, travel = _contacts(s, s.steer, stand.mu, loads, p), Wheels(none, none, none, none)
    return reported(s, u, contacts, loads, travel, mu, air, p, w)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground, wheels straight, rolling at the given speed."""
    zero = 0.0 * at.x
    sine, cosine = sincos(at.yaw)
    stand = ground_under_wheels(at.x, at.y, sine, cosine, p, w)
    return State(
        *(at.x, at.y, stand.height, at.yaw, at.speed, zero, 0.0 - atan(stand.forward), atan(stand.left)),
        *(zero, zero, zero, zero),
        *first_wheels(zero, at.speed, p),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy with that of the wheels, and the potential energy of the ground's height, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy) + p.inertia_z * s.yaw_rate * s.yaw_rate
    return 0.5 * (moving + wheel_energy(s, p)) + p.mass * w.gravity * s.z


MODEL = car_model(
    summary="Double track: four wheel spins, load transfer, differential, brakes with ABS, combined slip",
    state=State,
    step=step,
    place=place,
    energy=energy,
    dt_max=0.0025,
    report=report,
    report_type=Report,
    subsystems={name: part for name, part in SUBSYSTEMS.items() if name != "suspension"},
)
