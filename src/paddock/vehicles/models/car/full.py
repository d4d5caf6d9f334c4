"""Car, level 4: heave, roll and pitch of the body on springs, dampers and anti-roll bars, and four unsprung masses.

Heights are those of the world; each wheel stands on the ground under it through the spring of its tyre, so grades,
banks and bumps reach the body. Links pass the horizontal forces to the body at the ground (roll centres on the ground).
Rotations about the forward and the left axis are small enough to be added. Unused at this level: nothing.
"""

from typing import Annotated, Any

from paddock.compute.math import atan, clamp, hypot, maximum, select, sincos, tan
from paddock.compute.quaternion import euler_quaternion
from paddock.vehicles.model import Body, Bump, Placement
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    SlipColumns,
    air_drag,
    air_speed,
    axle_loads,
    car_body,
    car_bumped,
    down_forces,
    powered,
    turned_velocity,
)
from paddock.vehicles.parts.car_ride import (
    BodyMotion,
    Corner,
    Corners,
    Pull,
    Sprung,
    added,
    mount,
    plane_under,
    pull_at,
    raised,
    skids,
)
from paddock.vehicles.parts.car_subsystems import (
    SUBSYSTEMS,
    Wheels,
    calm,
    car_model,
    full_car_problem,
    suspension,
    wheel_tilts,
)
from paddock.vehicles.parts.car_wheels import (
    FourContacts,
    FourPatches,
    Patch,
    Report,
    WheelColumns,
    WheelContact,
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
from paddock.world.columns import Column, Environment, Pose, column_tuple
from paddock.world.ground import surface

UPRIGHT = 4.0  # tyres lose their load from 75 degrees of tilt (cosine 1 / UPRIGHT) to 90


@column_tuple
class State(SlipColumns, WheelColumns):
    """Position of the centre of gravity, attitude, velocities, controls, wheels, patches and suspension."""

    z: Annotated[float, Column("m", "height of the body's point that touches the ground at rest, below its centre")]
    pitch: Annotated[float, Column("rad", "of the body, nose down positive")]
    roll: Annotated[float, Column("rad", "of the body, left side up positive")]
    vz: Annotated[float, Column("m/s", "velocity of the centre of gravity, up")]
    pitch_rate: Annotated[float, Column("rad/s", "rate of pitch")]
    roll_rate: Annotated[float, Column("rad/s", "rate of roll")]
    wheel_z: Annotated[Wheels, Column("m", "height of the ground at the static load")]
    wheel_vz: Annotated[Wheels, Column("m/s", "velocity up")]


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: controls, corners, contact patches, wheel spin, body, unsprung masses."""
    body = _body(s, s.yaw + 0.5 * dt * s.yaw_rate, p)
    ux, uy = air_speed(s.vx, s.vy, body.sine, body.cosine, w)
    corners = _corners(s, body, p, w)
    fl, fr, rl, rr = corners
    loads = Wheels(fl.load, fr.load, rl.load, rr.load)
    driven = controlled(s, u, 0.25 * ((fl.mu + fr.mu) + (rl.mu + rr.mu)), loads, p, dt)
    contacts = _contacts(driven.rack.angle, corners, p)
    after, patches = rolled(s, driven, contacts, w.gravity, p, dt)
    drag, touching = air_drag(ux, uy, p, w), skids(body, plane_under(fl, fr, rl, rr), p, dt)
    front, rear = _sprung(p)
    pulls = _pulls(corners, contacts, patches, front, rear, p, w)
    total = added(added(added(pulls[0], pulls[1]), added(pulls[2], pulls[3])), touching.pull)
    still = (after.fl == 0.0) & (after.fr == 0.0) & (after.rl == 0.0) & (after.rr == 0.0)
    lies = (touching.pull.z > 0.0) & (loads.fl + loads.fr + loads.rl + loads.rr == 0.0)
    vx, vy, rate, ax, ay = _planar(s, total, _sloped(fl, fr, rl, rr), drag, still | lies, p, dt)
    heights, climbs = suspended(s)
    moved = raised(
        (s.vz, s.roll_rate, s.pitch_rate),
        climbs,
        _push(total, down_forces(ux, p, w), drag[0], p, w),
        corners,
        (
            mount(fl, pulls[0].wheel, front, p.unsprung_front, p, dt),
            mount(fr, pulls[1].wheel, front, p.unsprung_front, p, dt),
            mount(rl, pulls[2].wheel, rear, p.unsprung_rear, p, dt),
            mount(rr, pulls[3].wheel, rear, p.unsprung_rear, p, dt),
        ),
        touching.stiffness,
        p,
        dt,
    )
    up = moved.wheels
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    x, y = s.x + (along * body.cosine - across * body.sine), s.y + (along * body.sine + across * body.cosine)
    roll, pitch = s.roll + dt * moved.roll_rate, s.pitch + dt * moved.pitch_rate
    height = p.cg_height * (sincos(roll)[1] * sincos(pitch)[1])
    battery = powered(s.charge, driven.drive.power, p, dt)
    return State(
        *(x, y, (body.z + dt * moved.vz) - height, s.yaw + 0.5 * dt * (s.yaw_rate + rate)),
        *(vx, driven.rack.angle, pitch, roll, vy, rate, ax, ay),
        *wheel_columns(after, patches, driven, battery),
        *(moved.vz, moved.pitch_rate, moved.roll_rate),
        *(heights.fl + dt * up.fl, heights.fr + dt * up.fr, heights.rl + dt * up.rl, heights.rr + dt * up.rr),
        *(up.fl, up.fr, up.rl, up.rr),
    )


def suspended(s: Any) -> tuple[Wheels, Wheels]:
    """Return the heights (m) and the velocities (m/s, up) of the wheels of a state."""
    return (
        Wheels(s.wheel_z_fl, s.wheel_z_fr, s.wheel_z_rl, s.wheel_z_rr),
        Wheels(s.wheel_vz_fl, s.wheel_vz_fr, s.wheel_vz_rl, s.wheel_vz_rr),
    )


def _body(s: State, yaw: float, p: Parameters) -> BodyMotion:
    sine, cosine = sincos(yaw)
    roll, pitch = sincos(s.roll), sincos(s.pitch)
    z = s.z + p.cg_height * (roll[1] * pitch[1])
    return BodyMotion(
        s.x, s.y, z, sine, cosine, roll, pitch, (s.vx, s.vy, s.vz), (s.roll_rate, s.pitch_rate, s.yaw_rate)
    )


def _corners(s: State, b: BodyMotion, p: Parameters, w: Environment) -> Corners:
    """Return the corners; the load of a wheel is that of its tyre's spring and damper, along the ground's normal."""
    front, rear = axle_loads(0.0 * s.vx, 0.0 * s.vx, 0.0 * s.vx, p, w)
    front, rear, ahead, behind = 0.5 * front, 0.5 * rear, p.cg_to_front, -p.cg_to_rear
    side_front, side_rear = 0.5 * p.track_front, 0.5 * p.track_rear
    at, up = suspended(s)
    return (
        _corner(b, ahead, side_front, at.fl, up.fl, front, p, w),
        _corner(b, ahead, -side_front, at.fr, up.fr, front, p, w),
        _corner(b, behind, side_rear, at.rl, up.rl, rear, p, w),
        _corner(b, behind, -side_rear, at.rr, up.rr, rear, p, w),
    )


def _corner(
    b: BodyMotion, ahead: float, side: float, wheel: float, wheel_vz: float, rest: float, p: Parameters, w: Environment
) -> Corner:
    """Return the corner at (ahead, side) of the body whose wheel is at a height; `rest` is its static load, N."""
    (sr, cr), (sp, cp) = b.roll, b.pitch
    x = cp * ahead + sp * (sr * side - cr * p.cg_height)
    y = cr * side + sr * p.cg_height
    mount = b.z + (cp * (sr * side - cr * p.cg_height) - sp * ahead)
    ground = surface(b.x + (b.cosine * x - b.sine * y), b.y + (b.sine * x + b.cosine * y), w)
    forward = ground.slope_x * b.cosine + ground.slope_y * b.sine
    left = ground.slope_y * b.cosine - ground.slope_x * b.sine
    flat = 1.0 / hypot(1.0, hypot(forward, left))
    roll_rate, pitch_rate, yaw_rate = b.rates
    z = ground.height - b.z
    vx = b.velocity[0] + (pitch_rate * z - yaw_rate * y)
    vy = b.velocity[1] + (yaw_rate * x - roll_rate * z)
    rising = forward * vx + left * vy
    spring = maximum(0.0, rest + p.tyre_spring * (ground.height - wheel))
    damper = clamp(p.tyre_damper * (rising - wheel_vz), -spring, spring)  # a tyre damps only while it is compressed
    upright = clamp(UPRIGHT * cr * cp, 0.0, 1.0)  # a car on its side or its roof does not stand on its tyres
    load = (spring + damper) * flat * upright
    mount_vz = b.velocity[2] + (roll_rate * y - pitch_rate * x)
    travel, speed = wheel - mount, wheel_vz - mount_vz
    return Corner(x, y, z, vx, vy, forward, left, flat, load, ground.mu, travel, speed)


def _contacts(steer: float, corners: Corners, p: Parameters) -> FourContacts:
    fl, fr, rl, rr = corners
    left, right = wheel_tilts(tan(steer), p)
    straight, none = 0.0, 0.0
    front, rear = p.tyre_mu, p.tyre_mu * p.grip_rear
    return (
        contact(fl.x, fl.y, left, fl.vx, fl.vy, none, fl.load, fl.mu * front),
        contact(fr.x, fr.y, right, fr.vx, fr.vy, none, fr.load, fr.mu * front),
        contact(rl.x, rl.y, straight, rl.vx, rl.vy, none, rl.load, rl.mu * rear),
        contact(rr.x, rr.y, straight, rr.vx, rr.vy, none, rr.load, rr.mu * rear),
    )


def _sprung(p: Parameters) -> tuple[Sprung, Sprung]:
    """Return spring, damper and anti-roll bar of the front and the rear wheels."""
    front, rear = p.track_front * p.track_front, p.track_rear * p.track_rear
    return (
        (p.spring_front, p.damper_front, p.roll_bar_front / front),
        (p.spring_rear, p.damper_rear, p.roll_bar_rear / rear),
    )


def _pulls(
    corners: Corners,
    contacts: FourContacts,
    patches: FourPatches,
    front: Sprung,
    rear: Sprung,
    p: Parameters,
    w: Environment,
) -> tuple[Pull, Pull, Pull, Pull]:
    """Return what every wheel does to the body."""
    zero = 0.0 * corners[0].x
    rest_front, rest_rear = axle_loads(zero, zero, zero, p, w)
    weight_front, weight_rear = p.unsprung_front * w.gravity, p.unsprung_rear * w.gravity
    hung_front, hung_rear = 0.5 * rest_front - weight_front, 0.5 * rest_rear - weight_rear
    fl, fr, rl, rr = corners
    return (
        _pull(fl, fr.travel, contacts[0], patches[0], front, hung_front, weight_front, p),
        _pull(fr, fl.travel, contacts[1], patches[1], front, hung_front, weight_front, p),
        _pull(rl, rr.travel, contacts[2], patches[2], rear, hung_rear, weight_rear, p),
        _pull(rr, rl.travel, contacts[3], patches[3], rear, hung_rear, weight_rear, p),
    )


def _pull(
    c: Corner,
    other: float,
    at: WheelContact,
    part: Patch,
    sprung: Sprung,
    hung: float,
    weight: float,
    p: Parameters,
) -> Pull:
    """Return what a wheel does to the body and the body to the wheel; `hung` is the spring's force at rest, N."""
    along, across = body_forces(part, at)
    lifted = hung + suspension(c.travel, c.speed, other, sprung[0], sprung[1], sprung[2], p)
    upright = c.flat * c.load
    x, y = c.flat * along - upright * c.forward, c.flat * across - upright * c.left
    z = lifted + c.flat * (along * c.forward + across * c.left)
    return pull_at(c.x, c.y, c.z, (x, y, z), upright - lifted - weight)


def _sloped(fl: Corner, fr: Corner, rl: Corner, rr: Corner) -> tuple[float, float]:
    """Return the part of the horizontal forces that the slope of the ground causes, N: gravity's pull."""
    forward = (fl.flat * fl.load * fl.forward + fr.flat * fr.load * fr.forward) + (
        rl.flat * rl.load * rl.forward + rr.flat * rr.load * rr.forward
    )
    left = (fl.flat * fl.load * fl.left + fr.flat * fr.load * fr.left) + (
        rl.flat * rl.load * rl.left + rr.flat * rr.load * rr.left
    )
    return -forward, -left


def _planar(
    s: State,
    total: Pull,
    slope: tuple[float, float],
    drag: tuple[float, float],
    still: bool,
    p: Parameters,
    dt: float,
) -> tuple[float, float, float, float, float]:
    """Return horizontal velocities (m/s), yaw rate (rad/s), and force over mass without the slope's (m/s2) after dt."""
    vx, vy = turned_velocity(s.vx, s.vy, s.yaw_rate * dt)
    per_mass = 1.0 / p.mass
    forward, left = (total.x + drag[0]) * per_mass, (total.y + drag[1]) * per_mass
    turn = total.yaw * (1.0 / p.inertia_z)
    vx, vy, rate = vx + dt * forward, vy + dt * left, s.yaw_rate + dt * turn
    # with all wheels at rest, a car comes to rest on its contact patches instead of oscillating
    rest = still & calm(vx, vy, rate, forward, left, turn)
    ax, ay = forward - slope[0] * per_mass, left - slope[1] * per_mass
    return select(rest, 0.0, vx), select(rest, 0.0, vy), select(rest, 0.0, rate), ax, ay


def _push(
    total: Pull, down: tuple[float, float], drag: float, p: Parameters, w: Environment
) -> tuple[float, float, float]:
    """Return the force on the body upwards (N) and its roll and pitch moments (N m).

    Coefficients of lift are those of the axles' loads, which air drag changes also: it acts at the ground.
    """
    sprung = maximum(p.mass - 2.0 * (p.unsprung_front + p.unsprung_rear), 0.1 * p.mass)
    # the unsprung masses are part of the car's centre of gravity, but not of the weight on the springs
    front, rear = down[0] - 2.0 * p.unsprung_front * w.gravity, down[1] - 2.0 * p.unsprung_rear * w.gravity
    pitch = total.pitch + (p.cg_to_front * front - p.cg_to_rear * rear) - p.cg_height * drag
    return total.z - sprung * w.gravity - (down[0] + down[1]), total.roll, pitch


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose of the body."""
    qx, qy, qz, qw = euler_quaternion(s.roll, s.pitch, s.yaw)
    (sine, cosine), (sr, cr), (sp, cp) = sincos(s.yaw), sincos(s.roll), sincos(s.pitch)
    vx, vy = s.vx * cosine - s.vy * sine, s.vx * sine + s.vy * cosine
    wx = s.roll_rate - s.yaw_rate * sp
    wy = s.pitch_rate * cr + s.yaw_rate * (sr * cp)
    wz = s.yaw_rate * (cr * cp) - s.pitch_rate * sr
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, vx, vy, s.vz, wx, wy, wz)


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return wheels, torques and load transfer under the present commands."""
    body = _body(s, s.yaw, p)
    air, _ = air_speed(s.vx, s.vy, body.sine, body.cosine, w)
    corners = _corners(s, body, p, w)
    fl, fr, rl, rr = corners
    loads = Wheels(fl.load, fr.load, rl.load, rr.load)
    mu = 0.25 * ((fl.mu + fr.mu) + (rl.mu + rr.mu))
    contacts, travel = _contacts(s.steer, corners, p), Wheels(fl.travel, fr.travel, rl.travel, rr.travel)
    return reported(s, u, contacts, loads, travel, mu, air, p, w)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground and parallel to it, wheels straight, rolling at the given speed."""
    zero = 0.0 * at.x
    sine, cosine = sincos(at.yaw)
    stand = ground_under_wheels(at.x, at.y, sine, cosine, p, w)
    (fl, fr, rl, rr), vz = stand.heights, at.speed * stand.forward
    return State(
        *(at.x, at.y, stand.height, at.yaw, at.speed, zero, 0.0 - atan(stand.forward), atan(stand.left)),
        *(zero, zero, zero, zero),
        *first_wheels(zero, at.speed, p),
        *(vz, zero, zero, fl, fr, rl, rr, vz, vz, vz, vz),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy with that of the wheels, and the potential energy of the centre of gravity, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz) + p.inertia_z * s.yaw_rate * s.yaw_rate
    tilting = p.inertia_x * s.roll_rate * s.roll_rate + p.inertia_y * s.pitch_rate * s.pitch_rate
    raised = s.z - p.cg_height * (1.0 - sincos(s.roll)[1] * sincos(s.pitch)[1])
    return 0.5 * (moving + tilting + wheel_energy(s, p)) + p.mass * w.gravity * raised


def solid(p: Parameters) -> Body:
    """Return the box of the car, which an impact can lift, roll and pitch."""
    flat = car_body(p)
    return flat._replace(inertia_x=p.inertia_x, inertia_y=p.inertia_y, planar=0.0, mass_z=p.cg_height)


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position and all velocities of the body; its wheels follow through the suspension."""
    (sine, cosine), (sp, cp) = sincos(s.yaw), sincos(s.pitch)
    level = 1.0 / maximum(cp, 0.1)
    rolled, pitched = (b.dwx * cosine + b.dwy * sine) * level, b.dwy * cosine - b.dwx * sine
    roll, pitch = s.roll + (b.tx * cosine + b.ty * sine) * level, s.pitch + (b.ty * cosine - b.tx * sine)
    after = car_bumped(s, p, b._replace(dwz=b.dwz + rolled * sp, tz=b.tz + (roll - s.roll) * sp))
    rates = {"roll_rate": s.roll_rate + rolled, "pitch_rate": s.pitch_rate + pitched}
    return after._replace(z=s.z + b.dz, vz=s.vz + b.dvz, roll=roll, pitch=pitch, **rates)  # type: ignore[no-any-return]


MODEL = car_model(
    summary="Full car: heave, roll, pitch, four unsprung masses on springs and dampers, and all of double_track",
    state=State,
    step=step,
    pose=pose,
    place=place,
    energy=energy,
    dt_max=0.001,
    report=report,
    report_type=Report,
    problem=full_car_problem,
    subsystems=SUBSYSTEMS,
    body=solid,
    bumped=bumped,
)
