"""Car, level 4: heave, roll and pitch of the body on springs, dampers and anti-roll bars, and four unsprung masses.

Heights are those of the world; each wheel stands on the ground under it through the spring of its tyre, so grades,
banks and bumps reach the body. Links pass the horizontal forces to the body at the ground (roll centres on the ground).
Rotations about the forward and the left axis are small enough to be added. Unused at this level: nothing.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, atan, hypot, maximum, select, sincos, tan
from paddock.compute.quaternion import euler_quaternion
from paddock.vehicles.model import Body, Bump, Desire, Placement, VehicleModel
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
    powered,
    turned_velocity,
)
from paddock.vehicles.parts.car_subsystems import (
    CALM_ACCELERATION,
    CALM_SPEED,
    SUBSYSTEMS,
    Gearbox,
    Wheels,
    suspension,
    wheel_tilts,
)
from paddock.vehicles.parts.car_wheels import (
    Patch,
    Report,
    WheelContact,
    body_forces,
    contact,
    controlled,
    controls_of,
    later_columns,
    patch,
    reported,
    settled,
    spun,
    torques_now,
    wheels_of,
)
from paddock.world.columns import Column
from paddock.world.ground import surface
from paddock.world.pose import Environment, Pose

REST_SPEED = 1e-9  # m/s, rad/s


class State(NamedTuple):
    """Position of the centre of gravity, attitude, velocities, suspension, wheels, patches and controls."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "height of the body's point that touches the ground at rest, below its centre")]
    yaw: Annotated[float, Column("rad", "heading, counter-clockwise from east")]
    vx: Annotated[float, Column("m/s", "horizontal velocity forward")]
    vy: Annotated[float, Column("m/s", "horizontal velocity to the left")]
    yaw_rate: Annotated[float, Column("rad/s", "rate of turn")]
    steer: Annotated[float, Column("rad", "mean road-wheel angle")]
    pitch: Annotated[float, Column("rad", "of the body, nose down positive")]
    roll: Annotated[float, Column("rad", "of the body, left side up positive")]
    vz: Annotated[float, Column("m/s", "velocity of the centre of gravity, up")]
    pitch_rate: Annotated[float, Column("rad/s", "rate of pitch")]
    roll_rate: Annotated[float, Column("rad/s", "rate of roll")]
    wheel_z_fl: Annotated[float, Column("m", "height of the front left wheel: of the ground at the static load")]
    wheel_z_fr: Annotated[float, Column("m", "height of the front right wheel")]
    wheel_z_rl: Annotated[float, Column("m", "height of the rear left wheel")]
    wheel_z_rr: Annotated[float, Column("m", "height of the rear right wheel")]
    wheel_vz_fl: Annotated[float, Column("m/s", "velocity of the front left wheel, up")]
    wheel_vz_fr: Annotated[float, Column("m/s", "velocity of the front right wheel, up")]
    wheel_vz_rl: Annotated[float, Column("m/s", "velocity of the rear left wheel, up")]
    wheel_vz_rr: Annotated[float, Column("m/s", "velocity of the rear right wheel, up")]
    ax: Annotated[float, Column("m/s2", "force over mass without gravity, forward")]
    ay: Annotated[float, Column("m/s2", "force over mass without gravity, to the left")]
    spin_fl: Annotated[float, Column("rad/s", "rotation of the front left wheel")]
    spin_fr: Annotated[float, Column("rad/s", "rotation of the front right wheel")]
    spin_rl: Annotated[float, Column("rad/s", "rotation of the rear left wheel")]
    spin_rr: Annotated[float, Column("rad/s", "rotation of the rear right wheel")]
    kappa_fl: Annotated[float, Column("", "slip ratio of the front left wheel")]
    kappa_fr: Annotated[float, Column("", "slip ratio of the front right wheel")]
    kappa_rl: Annotated[float, Column("", "slip ratio of the rear left wheel")]
    kappa_rr: Annotated[float, Column("", "slip ratio of the rear right wheel")]
    slip_fl: Annotated[float, Column("", "slip of the front left wheel, positive pushes left")]
    slip_fr: Annotated[float, Column("", "slip of the front right wheel")]
    slip_rl: Annotated[float, Column("", "slip of the rear left wheel")]
    slip_rr: Annotated[float, Column("", "slip of the rear right wheel")]
    wheel_speed: Annotated[float, Column("rad/s", "mean rotation of the front wheels")]
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


class Corner(NamedTuple):
    """A wheel and the body above it: lever arms, ground, load, suspension."""

    x: float  # m from the centre of gravity to the contact, in the car's horizontal axes
    y: float
    z: float
    vx: float  # m/s: velocity of the contact
    vy: float
    forward: float  # slopes of the ground in the car's axes
    left: float
    flat: float  # cosine of the ground's slope
    load: float  # N, normal to the ground
    mu: float
    travel: float  # m and m/s: compression of the suspension
    speed: float


class BodyMotion(NamedTuple):
    """The car's attitude and velocities in its horizontal axes during a step."""

    x: float
    y: float
    z: float  # m: height of the centre of gravity
    sine: float  # of the heading
    cosine: float
    roll: tuple[float, float]  # sine and cosine
    pitch: tuple[float, float]
    velocity: tuple[float, float, float]
    rates: tuple[float, float, float]


class Pull(NamedTuple):
    """Force (N) and moment (N m) of one wheel on the body, in its horizontal axes, and that on the wheel, upwards."""

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float
    wheel: float


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Advance semi-implicitly: controls, corners, contact patches, wheel spin, body, unsprung masses."""
    body = _body(s, s.yaw + 0.5 * dt * s.yaw_rate, p)
    ux, uy = air_speed(s.vx, s.vy, body.sine, body.cosine, w)
    spins, kappas, _ = wheels_of(s)
    corner_fl, corner_fr, corner_rl, corner_rr = _corners(s, body, p, w)
    loads = Wheels(corner_fl.load, corner_fr.load, corner_rl.load, corner_rr.load)
    mu = 0.25 * ((corner_fl.mu + corner_fr.mu) + (corner_rl.mu + corner_rr.mu))
    driven = controlled(controls_of(s), u, (s.vx, s.yaw_rate, mu), spins, kappas, loads, s.charge, p, dt)
    fl, fr, rl, rr = _contacts(driven.rack.angle, corner_fl, corner_fr, corner_rl, corner_rr, p)
    patch_fl = patch(s.kappa_fl, s.slip_fl, s.spin_fl, fl, w.gravity, p, dt)
    patch_fr = patch(s.kappa_fr, s.slip_fr, s.spin_fr, fr, w.gravity, p, dt)
    patch_rl = patch(s.kappa_rl, s.slip_rl, s.spin_rl, rl, w.gravity, p, dt)
    patch_rr = patch(s.kappa_rr, s.slip_rr, s.spin_rr, rr, w.gravity, p, dt)
    after = spun(spins, patch_fl, patch_fr, patch_rl, patch_rr, driven.drive, driven.brakes, p, dt)
    patch_fl = settled(patch_fl, fl, s.spin_fl, after.fl, p, dt)
    patch_fr = settled(patch_fr, fr, s.spin_fr, after.fr, p, dt)
    patch_rl = settled(patch_rl, rl, s.spin_rl, after.rl, p, dt)
    patch_rr = settled(patch_rr, rr, s.spin_rr, after.rr, p, dt)
    rest_front, rest_rear = axle_loads(0.0 * ux, 0.0 * ux, 0.0 * ux, p, w)
    bar_front = p.roll_bar_front / (p.track_front * p.track_front)
    bar_rear = p.roll_bar_rear / (p.track_rear * p.track_rear)
    front, rear = (p.spring_front, p.damper_front, bar_front), (p.spring_rear, p.damper_rear, bar_rear)
    weight_front, weight_rear = p.unsprung_front * w.gravity, p.unsprung_rear * w.gravity
    hung_front, hung_rear = 0.5 * rest_front - weight_front, 0.5 * rest_rear - weight_rear
    pull_fl = _pull(corner_fl, corner_fr.travel, fl, patch_fl, front, hung_front, weight_front, p)
    pull_fr = _pull(corner_fr, corner_fl.travel, fr, patch_fr, front, hung_front, weight_front, p)
    pull_rl = _pull(corner_rl, corner_rr.travel, rl, patch_rl, rear, hung_rear, weight_rear, p)
    pull_rr = _pull(corner_rr, corner_rl.travel, rr, patch_rr, rear, hung_rear, weight_rear, p)
    total = _added(_added(pull_fl, pull_fr), _added(pull_rl, pull_rr))
    still = (after.fl == 0.0) & (after.fr == 0.0) & (after.rl == 0.0) & (after.rr == 0.0)
    vx, vy, rate, ax, ay = _planar(
        s, total, _sloped(corner_fl, corner_fr, corner_rl, corner_rr), air_drag(ux, uy, p, w), still, p, dt
    )
    vz, roll_rate, pitch_rate = _vertical(s, total, down_forces(ux, p, w), p, w, dt)
    give_front, give_rear = _give(front, p.unsprung_front, p, dt), _give(rear, p.unsprung_rear, p, dt)
    up = Wheels(
        _snapped(s.wheel_vz_fl + dt * pull_fl.wheel / give_front),
        _snapped(s.wheel_vz_fr + dt * pull_fr.wheel / give_front),
        _snapped(s.wheel_vz_rl + dt * pull_rl.wheel / give_rear),
        _snapped(s.wheel_vz_rr + dt * pull_rr.wheel / give_rear),
    )
    along, across = 0.5 * dt * (s.vx + vx), 0.5 * dt * (s.vy + vy)
    x, y = s.x + (along * body.cosine - across * body.sine), s.y + (along * body.sine + across * body.cosine)
    roll, pitch = s.roll + dt * roll_rate, s.pitch + dt * pitch_rate
    height = p.cg_height * (sincos(roll)[1] * sincos(pitch)[1])
    battery = powered(s.charge, driven.drive.power, p, dt)
    return State(
        *(x, y, (body.z + dt * vz) - height, s.yaw + 0.5 * dt * (s.yaw_rate + rate), vx, vy, rate, driven.rack.angle),
        *(pitch, roll, vz, pitch_rate, roll_rate),
        *(s.wheel_z_fl + dt * up.fl, s.wheel_z_fr + dt * up.fr, s.wheel_z_rl + dt * up.rl, s.wheel_z_rr + dt * up.rr),
        *(up.fl, up.fr, up.rl, up.rr, ax, ay),
        *later_columns(after, patch_fl, patch_fr, patch_rl, patch_rr, driven, battery),
    )


def _body(s: State, yaw: float, p: Parameters) -> BodyMotion:
    sine, cosine = sincos(yaw)
    roll, pitch = sincos(s.roll), sincos(s.pitch)
    z = s.z + p.cg_height * (roll[1] * pitch[1])
    return BodyMotion(
        s.x, s.y, z, sine, cosine, roll, pitch, (s.vx, s.vy, s.vz), (s.roll_rate, s.pitch_rate, s.yaw_rate)
    )


def _corners(s: State, b: BodyMotion, p: Parameters, w: Environment) -> tuple[Corner, Corner, Corner, Corner]:
    """Return the corners; the load of a wheel is that of its tyre's spring and damper, along the ground's normal."""
    front, rear = axle_loads(0.0 * s.vx, 0.0 * s.vx, 0.0 * s.vx, p, w)
    front, rear, ahead, behind = 0.5 * front, 0.5 * rear, p.cg_to_front, -p.cg_to_rear
    side_front, side_rear = 0.5 * p.track_front, 0.5 * p.track_rear
    return (
        _corner(b, ahead, side_front, s.wheel_z_fl, s.wheel_vz_fl, front, p, w),
        _corner(b, ahead, -side_front, s.wheel_z_fr, s.wheel_vz_fr, front, p, w),
        _corner(b, behind, side_rear, s.wheel_z_rl, s.wheel_vz_rl, rear, p, w),
        _corner(b, behind, -side_rear, s.wheel_z_rr, s.wheel_vz_rr, rear, p, w),
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
    pressed = p.tyre_spring * (ground.height - wheel) + p.tyre_damper * (rising - wheel_vz)
    load = maximum(0.0, (rest + pressed) * flat)
    mount_vz = b.velocity[2] + (roll_rate * y - pitch_rate * x)
    travel, speed = wheel - mount, wheel_vz - mount_vz
    return Corner(x, y, z, vx, vy, forward, left, flat, load, ground.mu, travel, speed)


def _contacts(
    steer: float, fl: Corner, fr: Corner, rl: Corner, rr: Corner, p: Parameters
) -> tuple[WheelContact, WheelContact, WheelContact, WheelContact]:
    left, right = wheel_tilts(tan(steer), p)
    straight, none = 0.0 * steer, 0.0 * steer
    front, rear = p.tyre_mu, p.tyre_mu * p.grip_rear
    return (
        contact(fl.x, fl.y, left, fl.vx, fl.vy, none, fl.load, fl.mu * front),
        contact(fr.x, fr.y, right, fr.vx, fr.vy, none, fr.load, fr.mu * front),
        contact(rl.x, rl.y, straight, rl.vx, rl.vy, none, rl.load, rl.mu * rear),
        contact(rr.x, rr.y, straight, rr.vx, rr.vy, none, rr.load, rr.mu * rear),
    )


def _pull(
    c: Corner,
    other: float,
    at: WheelContact,
    part: Patch,
    sprung: tuple[float, float, float],
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
    return Pull(x, y, z, c.y * z - c.z * y, c.z * x - c.x * z, c.x * y - c.y * x, upright - lifted - weight)


def _added(a: Pull, b: Pull) -> Pull:
    return Pull(a.x + b.x, a.y + b.y, a.z + b.z, a.roll + b.roll, a.pitch + b.pitch, a.yaw + b.yaw, a.wheel + b.wheel)


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
    slow = (absolute(vx) < CALM_SPEED) & (absolute(vy) < CALM_SPEED) & (absolute(rate) < CALM_SPEED)
    calm = (absolute(forward) < CALM_ACCELERATION) & (absolute(left) < CALM_ACCELERATION)
    rest = still & slow & calm & (absolute(turn) < CALM_ACCELERATION)
    ax, ay = forward - slope[0] * per_mass, left - slope[1] * per_mass
    return select(rest, 0.0, vx), select(rest, 0.0, vy), select(rest, 0.0, rate), ax, ay


def _vertical(
    s: State, total: Pull, down: tuple[float, float], p: Parameters, w: Environment, dt: float
) -> tuple[float, float, float]:
    """Return vertical velocity (m/s), roll rate and pitch rate (rad/s) after dt; springs and dampers are implicit."""
    sprung = maximum(p.mass - 2.0 * (p.unsprung_front + p.unsprung_rear), 0.1 * p.mass)
    front = 2.0 * dt * (p.damper_front + dt * p.spring_front)
    rear = 2.0 * dt * (p.damper_rear + dt * p.spring_rear)
    wide_front, wide_rear = 0.25 * p.track_front * p.track_front, 0.25 * p.track_rear * p.track_rear
    heave = sprung + front + rear
    rolling = p.inertia_x + (front * wide_front + rear * wide_rear)
    pitching = p.inertia_y + (front * p.cg_to_front * p.cg_to_front + rear * p.cg_to_rear * p.cg_to_rear)
    vz = s.vz + dt * (total.z - sprung * w.gravity - (down[0] + down[1])) * (1.0 / heave)
    roll_rate = s.roll_rate + dt * total.roll * (1.0 / rolling)
    # the unsprung masses are part of the car's centre of gravity, but not of the weight on the springs
    front, rear = down[0] - 2.0 * p.unsprung_front * w.gravity, down[1] - 2.0 * p.unsprung_rear * w.gravity
    moment = total.pitch + (p.cg_to_front * front - p.cg_to_rear * rear)
    return _snapped(vz), _snapped(roll_rate), _snapped(s.pitch_rate + dt * moment * (1.0 / pitching))


def _snapped(speed: float) -> float:
    """Return a vertical or tilting speed, 0 where it is only rounding: a standing car is exactly at rest."""
    return select(absolute(speed) < REST_SPEED, 0.0, speed)


def _give(sprung: tuple[float, float, float], mass: float, p: Parameters, dt: float) -> float:
    """Return the mass of a wheel, kg, with its springs and dampers as inertia of an implicit step."""
    spring, damper, bar = sprung
    return mass + dt * (damper + p.tyre_damper + dt * (spring + bar + p.tyre_spring + p.bump_stop))


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
    ux, _ = air_speed(s.vx, s.vy, body.sine, body.cosine, w)
    fl, fr, rl, rr = _corners(s, body, p, w)
    loads = Wheels(fl.load, fr.load, rl.load, rr.load)
    spins, kappas, slips = wheels_of(s)
    pedal = select(p.torque_dead_time > 0.0, s.drive_d, u.throttle)
    mu = 0.25 * ((fl.mu + fr.mu) + (rl.mu + rr.mu))
    box = Gearbox(s.gear_engaged, s.shift_clock)
    drive, torques = torques_now(s.steer, pedal, box, u, s.vx, s.yaw_rate, mu, spins, kappas, loads, s.charge, p)
    contacts = _contacts(s.steer, fl, fr, rl, rr, p)
    travel = Wheels(fl.travel, fr.travel, rl.travel, rr.travel)
    static = axle_loads(0.0 * ux, *down_forces(ux, p, w), p, w)[0]
    return reported(
        (s.ax, s.ay),
        s.steer,
        s.gear_engaged,
        static,
        kappas,
        slips,
        spins,
        travel,
        contacts,
        drive,
        torques,
        w.gravity,
        p,
    )


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground and parallel to it, wheels straight, rolling at the given speed."""
    zero = 0.0 * at.x
    sine, cosine = sincos(at.yaw)
    front_x, front_y = at.x + p.cg_to_front * cosine, at.y + p.cg_to_front * sine
    rear_x, rear_y = at.x - p.cg_to_rear * cosine, at.y - p.cg_to_rear * sine
    side_front, side_rear = 0.5 * p.track_front, 0.5 * p.track_rear
    fl = surface(front_x - side_front * sine, front_y + side_front * cosine, w).height
    fr = surface(front_x + side_front * sine, front_y - side_front * cosine, w).height
    rl = surface(rear_x - side_rear * sine, rear_y + side_rear * cosine, w).height
    rr = surface(rear_x + side_rear * sine, rear_y - side_rear * cosine, w).height
    forward = 0.5 * ((fl + fr) - (rl + rr)) * (1.0 / (p.cg_to_front + p.cg_to_rear))
    left = ((fl - fr) + (rl - rr)) * (1.0 / (p.track_front + p.track_rear))
    z = 0.5 * (rl + rr) + p.cg_to_rear * forward
    turning, vz = at.speed * (1.0 / p.wheel_radius), at.speed * forward
    return State(
        *(at.x, at.y, z, at.yaw, at.speed, zero, zero, zero, 0.0 - atan(forward), atan(left), vz, zero, zero),
        *(fl, fr, rl, rr, vz, vz, vz, vz),
        *(zero, zero, turning, turning, turning, turning, zero, zero, zero, zero, zero, zero, zero, zero, turning),
        *(zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero),
        *(1.0, zero, 1.0, full_voltage(p), zero),
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Steer by pure pursuit and control the speed."""
    return guided(s.yaw, s.vx, u, p, d)


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy with that of the wheels, and the potential energy of the body's height, J."""
    moving = p.mass * (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz) + p.inertia_z * s.yaw_rate * s.yaw_rate
    tilting = p.inertia_x * s.roll_rate * s.roll_rate + p.inertia_y * s.pitch_rate * s.pitch_rate
    spinning = (s.spin_fl * s.spin_fl + s.spin_fr * s.spin_fr) + (s.spin_rl * s.spin_rl + s.spin_rr * s.spin_rr)
    return 0.5 * (moving + tilting + p.wheel_inertia * spinning) + p.mass * w.gravity * s.z


def solid(p: Parameters) -> Body:
    """Return the box of the car, which an impact can lift, roll and pitch."""
    flat = car_body(p)
    return flat._replace(inertia_x=p.inertia_x, inertia_y=p.inertia_y, planar=0.0, mass_z=p.cg_height)


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position and all velocities of the body; its wheels follow through the suspension."""
    (sine, cosine), (sp, cp) = sincos(s.yaw), sincos(s.pitch)
    rolled = (b.dwx * cosine + b.dwy * sine) * (1.0 / maximum(cp, 0.1))
    after = car_bumped(s, p, b._replace(dwz=b.dwz + rolled * sp))
    pitched = b.dwy * cosine - b.dwx * sine
    return after._replace(  # type: ignore[no-any-return]
        z=s.z + b.dz, vz=s.vz + b.dvz, roll_rate=s.roll_rate + rolled, pitch_rate=s.pitch_rate + pitched
    )


def problem(p: Parameters) -> str:
    """Return why these parameters are impossible together; "" if they are not."""
    wheels = 2.0 * (p.unsprung_front + p.unsprung_rear)
    if wheels > 0.9 * p.mass:
        limit = f"less than 0.9 of mass, {0.9 * p.mass:g} kg"
        return f"unsprung_front and unsprung_rear: all wheels must weigh {limit}, not {wheels:g}"
    return ""


MODEL = VehicleModel(
    kind="car",
    summary="Full car: heave, roll, pitch, four unsprung masses on springs and dampers, and all of double_track",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=0.001,
    telemetry=("steer", "wheel_speed", "pitch", "roll", "charge", "voltage", "current"),
    battery="capacity",
    steady=("gear", "handbrake"),
    report=report,
    report_type=Report,
    problem=problem,
    subsystems=SUBSYSTEMS,
    body=solid,
    bumped=bumped,
)
