"""Four wheels on the road, of the car models with wheel spin: contact patches, forces, spin, reports.

Wheel spin is linearly implicit: the tyre's reaction to a change of spin enters as additional inertia, brakes and
differential locks as limited impulses. A wheel therefore locks exactly, and stiff tyres stay stable at any step.
"""

from typing import Annotated, Any, NamedTuple

from paddock.compute.math import absolute, atan, clamp, hypot, maximum, select
from paddock.vehicles.parts.battery import BatteryState
from paddock.vehicles.parts.car import Command, Parameters, axle_loads, down_forces, slowed
from paddock.vehicles.parts.car_subsystems import (
    ControlColumns,
    Drive,
    DriveLine,
    Gearbox,
    Rack,
    SteerLine,
    Wheels,
    brakes,
    control_columns,
    delayed,
    differential,
    drivetrain,
    first_controls,
    rack,
    shifted,
    stability_control,
    throttle_now,
    traction_control,
)
from paddock.vehicles.parts.tyre import (
    SLIP_MAX,
    magic_peaks,
    magic_tyre,
    patch_damping_time,
    patch_limit,
)
from paddock.world.columns import Column, ColumnGroup, Environment, column_tuple
from paddock.world.ground import surface


def wheels_of(s: Any) -> tuple[Wheels, Wheels, Wheels]:
    """Return spins, slip ratios and slips of a state."""
    return (
        Wheels(s.spin_fl, s.spin_fr, s.spin_rl, s.spin_rr),
        Wheels(s.kappa_fl, s.kappa_fr, s.kappa_rl, s.kappa_rr),
        Wheels(s.slip_fl, s.slip_fr, s.slip_rl, s.slip_rr),
    )


@column_tuple
class WheelColumns(ControlColumns):
    """Controls; spin, slip ratio and slip of four wheels."""

    spin: Annotated[Wheels, Column("rad/s", "rotation")]
    kappa: Annotated[Wheels, Column("", "slip ratio")]
    slip: Annotated[Wheels, Column("", "slip, positive pushes left")]
    wheel_speed: Annotated[float, Column("rad/s", "mean rotation of the front wheels")]


class WheelGround(NamedTuple):
    """The ground under the car: height at its centre, slopes in its axes, height and friction under each wheel."""

    height: float
    forward: float
    left: float
    heights: Wheels
    mu: Wheels


def ground_under_wheels(x: float, y: float, sine: float, cosine: float, p: Parameters, w: Environment) -> WheelGround:
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
    heights, mu = Wheels(fl.height, fr.height, rl.height, rr.height), Wheels(fl.mu, fr.mu, rl.mu, rr.mu)
    return WheelGround(rear + p.cg_to_rear * forward, forward, left, heights, mu)


class WheelContact(NamedTuple):
    """A wheel on the ground: its place from the centre of gravity, its direction, its motion, and what it stands on."""

    x: float  # m forward
    y: float  # m to the left
    sine: float  # of the wheel's angle
    cosine: float
    along: float  # m/s, in the axes of the wheel
    across: float
    load: float  # N
    mu: float  # of tyre and ground


class Patch(NamedTuple):
    """A contact patch after a step."""

    kappa: float  # relaxed slip ratio
    slip: float  # relaxed slip across
    kappa_gain: float  # change of kappa per change of the tread's speed, s/m
    along: float  # force in the axes of the wheel, N
    across: float
    yielding: float  # kg m2: the tyre's reaction to a change of spin, as inertia


FourContacts = tuple[WheelContact, WheelContact, WheelContact, WheelContact]
FourPatches = tuple[Patch, Patch, Patch, Patch]
"""Front left, front right, rear left, rear right."""


class Driven(NamedTuple):
    """Controls and drive after a step."""

    rack: Rack
    steer_line: SteerLine
    drive_line: DriveLine
    box: Gearbox
    drive: Drive
    brakes: Wheels


def contact(
    x: float, y: float, tangent: float, vx: float, vy: float, yaw_rate: float, load: float, mu: float
) -> WheelContact:
    """Return a wheel at (x, y) of a car that moves at (vx, vy) and turns; `tangent` of the wheel's angle."""
    cosine = 1.0 / hypot(1.0, tangent)
    sine = tangent * cosine
    forward, left = vx - yaw_rate * y, vy + yaw_rate * x
    return WheelContact(x, y, sine, cosine, forward * cosine + left * sine, left * cosine - forward * sine, load, mu)


def patch(kappa: float, slip: float, spin: float, c: WheelContact, gravity: float, p: Parameters, dt: float) -> Patch:
    """Return a contact patch after dt; the slips follow their contact over the relaxation lengths, implicitly."""
    tread = spin * p.wheel_radius - c.along
    gain_x, gain_y = dt / p.relaxation_longitudinal, dt / p.relaxation_lateral
    speed = absolute(c.along)
    decay_x, decay_y = 1.0 + gain_x * speed, 1.0 + gain_y * speed
    both = 1.0 / (decay_x * decay_y)  # one division for both
    rest_x, rest_y = decay_y * both, decay_x * both
    sliding = absolute(tread) + absolute(c.across)
    limit_x = patch_limit(sliding, p.tyre_b_long, p.tyre_c_long)
    limit_y = patch_limit(sliding, p.tyre_b_lat, p.tyre_c_lat)
    new_x = clamp((kappa + gain_x * tread) * rest_x, -limit_x, limit_x)
    new_y = clamp((slip - gain_y * c.across) * rest_y, -limit_y, limit_y)
    lead_x, lead_y = patch_leads(speed, c.mu, gravity, p)
    used_x = clamp(new_x + lead_x * (new_x - kappa) * (1.0 / dt), -SLIP_MAX, SLIP_MAX)
    used_y = clamp(new_y + lead_y * (new_y - slip) * (1.0 / dt), -SLIP_MAX, SLIP_MAX)
    force = magic_tyre(used_x, used_y, c.load, c.mu, p)
    bend = p.tyre_b_long * p.tyre_c_long * hypot(used_x, used_y)
    slope = p.tyre_b_long * p.tyre_c_long * p.tyre_d_long * c.mu * c.load / (1.0 + bend * bend)
    kappa_gain = gain_x * rest_x
    yielding = p.wheel_radius * p.wheel_radius * slope * (dt + lead_x) * kappa_gain
    return Patch(new_x, new_y, kappa_gain, force.along, force.across, yielding)


def patch_leads(speed: float, mu: float, gravity: float, p: Parameters) -> tuple[float, float]:
    """Return the times (s) by which the rate of each slip acts like slip, at low speed."""
    grip = mu * gravity
    along = patch_damping_time(speed, p.tyre_b_long * p.tyre_c_long * p.tyre_d_long * grip, p.relaxation_longitudinal)
    across = patch_damping_time(speed, p.tyre_b_lat * p.tyre_c_lat * p.tyre_d_lat * grip, p.relaxation_lateral)
    return along, across


def controlled(s: Any, u: Command, mu: float, loads: Wheels, p: Parameters, dt: float) -> Driven:
    """Return steering, drive and brakes after dt; `mu` is the mean friction of the ground under the wheels."""
    steer_line, drive_line, steer_demand, pedal = delayed(s, u, p, dt)
    turned = rack(Rack(s.steer, s.steer_rate), steer_demand, p, dt)
    box = shifted(Gearbox(s.gear_engaged, s.shift_clock), drive_speed(wheels_of(s)[0], p), p, dt)
    drive, torques = torques_now(s, u, turned.angle, pedal, box, mu, loads, p)
    return Driven(turned, steer_line, drive_line, box, drive, torques)


def torques_now(
    s: Any, u: Command, steer: float, pedal: float, box: Gearbox, mu: float, loads: Wheels, p: Parameters
) -> tuple[Drive, Wheels]:
    """Return drive torques and brake torques (rolling resistance included) under the present commands."""
    spins, slips, _ = wheels_of(s)
    direction = select(u.gear > 0.5, 1.0, select(u.gear < -0.5, -1.0, 0.0))
    throttle = traction_control(pedal, slips, direction, p)
    front, rear = 0.5 * (spins.fl + spins.fr), 0.5 * (spins.rl + spins.rr)
    drive = drivetrain(throttle, direction, front, rear, box, s.charge, p)
    pressed = brakes(u, loads, slips, s.vx, p)
    helped = stability_control(steer, s.vx, s.yaw_rate, mu, p)
    able = 1.0 - clamp(u.handbrake, 0.0, 1.0)  # the handbrake switches stability control off
    roll = p.rolling_resistance * p.wheel_radius
    torques = Wheels(
        pressed.fl + able * helped.fl + roll * loads.fl,
        pressed.fr + able * helped.fr + roll * loads.fr,
        pressed.rl + able * helped.rl + roll * loads.rl,
        pressed.rr + able * helped.rr + roll * loads.rr,
    )
    return drive, torques


def wheel_columns(spins: Wheels, patches: FourPatches, d: Driven, battery: BatteryState) -> Any:
    """Return the values of `WheelColumns`."""
    fl, fr, rl, rr = patches
    return (
        *control_columns(d.steer_line, d.drive_line, d.box, battery, d.rack.rate),
        *(spins.fl, spins.fr, spins.rl, spins.rr),
        *(fl.kappa, fr.kappa, rl.kappa, rr.kappa, fl.slip, fr.slip, rl.slip, rr.slip),
        *(0.5 * (spins.fl + spins.fr),),
    )


def first_wheels(zero: float, speed: float, p: Parameters) -> Any:
    """Return the values of `WheelColumns` of a car that rolls straight ahead at a speed (m/s)."""
    turning = speed * (1.0 / p.wheel_radius)
    return (
        *first_controls(zero, p),
        *(turning, turning, turning, turning, zero, zero, zero, zero, zero, zero, zero, zero, turning),
    )


def drive_speed(spins: Wheels, p: Parameters) -> float:
    """Return the mean speed of the driven wheels, rad/s."""
    front, rear = 0.5 * (spins.fl + spins.fr), 0.5 * (spins.rl + spins.rr)
    return p.drive_front * front + (1.0 - p.drive_front) * rear


LEAST_SPIN = 1e-9  # rad/s: slower wheels stand, e.g. one that a differential holds by the brake of the other wheel


class Spun(NamedTuple):
    """Wheels after a step: speeds (rad/s), and the torques that their drive shafts and their brakes gave (N m)."""

    spins: Wheels
    drive: Wheels  # differentials included
    brake: Wheels  # against forward rotation


def spun(spins: Wheels, patches: FourPatches, drive: Drive, torques: Wheels, p: Parameters, dt: float) -> Spun:
    """Return the wheels after dt: drive and tyres, then brakes, then differentials.

    A brake that has stopped its wheel holds it, with what is left of its torque, against the differentials.
    """
    own, (fl, fr, rl, rr) = p.wheel_inertia, patches
    i_fl, i_fr, i_rl, i_rr = own + fl.yielding, own + fr.yielding, own + rl.yielding, own + rr.yielding
    # of each wheel, the change of speed per impulse; two wheels share a division
    both_front, both_rear = 1.0 / (i_fl * i_fr), 1.0 / (i_rl * i_rr)
    per_fl, per_fr, per_rl, per_rr = i_fr * both_front, i_fl * both_front, i_rr * both_rear, i_rl * both_rear
    fl_free = spins.fl + dt * (0.5 * drive.front - p.wheel_radius * fl.along) * per_fl
    fr_free = spins.fr + dt * (0.5 * drive.front - p.wheel_radius * fr.along) * per_fr
    rl_free = spins.rl + dt * (0.5 * drive.rear - p.wheel_radius * rl.along) * per_rl
    rr_free = spins.rr + dt * (0.5 * drive.rear - p.wheel_radius * rr.along) * per_rr
    loss = Wheels(
        dt * torques.fl * per_fl, dt * torques.fr * per_fr, dt * torques.rl * per_rl, dt * torques.rr * per_rr
    )
    (fl_slow, fl_lost), (fr_slow, fr_lost) = slowed(fl_free, loss.fl), slowed(fr_free, loss.fr)
    (rl_slow, rl_lost), (rr_slow, rr_lost) = slowed(rl_free, loss.rl), slowed(rr_free, loss.rr)
    lock_front = select(p.drive_front > 0.0, dt * differential(drive.front, p), 0.0)
    lock_rear = select(p.drive_front < 1.0, dt * differential(drive.rear, p), 0.0)
    per_front, per_rear = 1.0 / (i_fl + i_fr), 1.0 / (i_rl + i_rr)
    left = Wheels(
        *(loss.fl - absolute(fl_lost), loss.fr - absolute(fr_lost)),
        *(loss.rl - absolute(rl_lost), loss.rr - absolute(rr_lost)),
    )
    yield_front = _yielding(fl_slow, left.fl, per_fl) + _yielding(fr_slow, left.fr, per_fr)
    yield_rear = _yielding(rl_slow, left.rl, per_rl) + _yielding(rr_slow, left.rr, per_rr)
    front = _coupling(fl_slow, fr_slow, 1.0 / yield_front, lock_front)
    rear = _coupling(rl_slow, rr_slow, 1.0 / yield_rear, lock_rear)
    fl_slow, fr_slow = fl_slow - front * per_fl, fr_slow + front * per_fr
    rl_slow, rr_slow = rl_slow - rear * per_rl, rr_slow + rear * per_rr
    lock = select(p.drive_front * (1.0 - p.drive_front) > 0.0, dt * p.centre_preload, 0.0)
    centre = _coupling(0.5 * (fl_slow + fr_slow), 0.5 * (rl_slow + rr_slow), 1.0 / (per_front + per_rear), lock)
    to_front, to_rear = centre * per_front, centre * per_rear
    fl_end, fl_held = _held(fl_slow - to_front, left.fl)
    fr_end, fr_held = _held(fr_slow - to_front, left.fr)
    rl_end, rl_held = _held(rl_slow + to_rear, left.rl)
    rr_end, rr_held = _held(rr_slow + to_rear, left.rr)
    rate = 1.0 / dt
    return Spun(
        Wheels(fl_end, fr_end, rl_end, rr_end),
        Wheels(
            0.5 * drive.front - rate * (front + to_front * i_fl),
            0.5 * drive.front + rate * (front - to_front * i_fr),
            0.5 * drive.rear - rate * (rear - to_rear * i_rl),
            0.5 * drive.rear + rate * (rear + to_rear * i_rr),
        ),
        Wheels(
            0.0 - rate * (fl_lost + fl_held) * i_fl,
            0.0 - rate * (fr_lost + fr_held) * i_fr,
            0.0 - rate * (rl_lost + rl_held) * i_rl,
            0.0 - rate * (rr_lost + rr_held) * i_rr,
        ),
    )


def _held(speed: float, loss: float) -> tuple[float, float]:
    """Return as `slowed`; what is left of a speed below LEAST_SPIN is 0, also at the limit of the brake."""
    after, change = slowed(speed, loss)
    return select(absolute(after) <= LEAST_SPIN, 0.0, after), change


def _yielding(speed: float, left: float, per_impulse: float) -> float:
    """Return the change of a wheel's speed per impulse; hardly any if its brake has stopped it and can do more."""
    return per_impulse * select((speed == 0.0) & (left > 0.0), 1e-9, 1.0)


def _coupling(a: float, b: float, inertia: float, most: float) -> float:
    """Return the impulse (N m s) from one shaft to the other that makes their speeds equal, at most `most`.

    `inertia` is that of the difference of their speeds: product over sum of both.
    """
    return clamp((a - b) * inertia, -most, most)


def settled(part: Patch, c: WheelContact, before: float, after: float, p: Parameters, dt: float) -> Patch:
    """Return a patch after its wheel changed speed (rad/s), with the force that the wheel has felt meanwhile."""
    change = after - before
    most = maximum(absolute(part.along), p.tyre_d_long * c.mu * c.load)
    along = clamp(part.along + part.yielding * change * (1.0 / (dt * p.wheel_radius)), -most, most)
    kappa = clamp(part.kappa + part.kappa_gain * p.wheel_radius * change, -SLIP_MAX, SLIP_MAX)
    return Patch(kappa, part.slip, part.kappa_gain, along, part.across, part.yielding)


def wheel_energy(s: Any, p: Parameters) -> float:
    """Return twice the kinetic energy of the wheels' rotation, J."""
    spinning: float = (s.spin_fl * s.spin_fl + s.spin_fr * s.spin_fr) + (s.spin_rl * s.spin_rl + s.spin_rr * s.spin_rr)
    return p.wheel_inertia * spinning


def body_forces(part: Patch, c: WheelContact) -> tuple[float, float]:
    """Return a patch's force on the car, forward and to the left, N."""
    return part.along * c.cosine - part.across * c.sine, part.along * c.sine + part.across * c.cosine


class WheelReport(NamedTuple):
    """What a wheel does: forces in the axes of the wheel, N; slips; the peaks of its tyre."""

    along: float
    across: float
    mu_peak: float
    mu_peak_x: float
    alpha_peak: float
    kappa_peak: float


def wheel_report(kappa: float, slip: float, spin: float, c: WheelContact, gravity: float, p: Parameters) -> WheelReport:
    """Return the forces of a wheel, those of `patch` in the limit of a small dt, and the peaks at its load."""
    speed = absolute(c.along)
    tread = spin * p.wheel_radius - c.along
    sliding = absolute(tread) + absolute(c.across)
    limit_x = patch_limit(sliding, p.tyre_b_long, p.tyre_c_long)
    limit_y = patch_limit(sliding, p.tyre_b_lat, p.tyre_c_lat)
    rate_x = (tread - speed * kappa) / p.relaxation_longitudinal
    rate_y = -(c.across + speed * slip) / p.relaxation_lateral
    rate_x = select((absolute(kappa) >= limit_x) & (rate_x * kappa > 0.0), 0.0, rate_x)
    rate_y = select((absolute(slip) >= limit_y) & (rate_y * slip > 0.0), 0.0, rate_y)
    lead_x, lead_y = patch_leads(speed, c.mu, gravity, p)
    used_x = clamp(kappa + lead_x * rate_x, -SLIP_MAX, SLIP_MAX)
    used_y = clamp(slip + lead_y * rate_y, -SLIP_MAX, SLIP_MAX)
    force = magic_tyre(used_x, used_y, c.load, c.mu, p)
    peaks = magic_peaks(c.load, c.mu, p)
    return WheelReport(force.along, force.across, peaks.mu, peaks.mu_long, peaks.alpha, peaks.kappa)


@column_tuple
class Report(ColumnGroup):
    """Every wheel in its own axes; torques and peaks; accelerations and load transfer."""

    ax: Annotated[float, Column("m/s2", "force over mass, forward, of the last tick")]
    ay: Annotated[float, Column("m/s2", "force over mass, to the left, of the last tick")]
    steering_wheel: Annotated[float, Column("rad", "angle of the steering wheel")]
    gear: Annotated[float, Column("", "engaged gear of the gearbox")]
    transfer_long: Annotated[float, Column("N", "load moved from the front to the rear axle")]
    transfer_front: Annotated[float, Column("N", "load moved from the left to the right front wheel")]
    transfer_rear: Annotated[float, Column("N", "load moved from the left to the right rear wheel")]
    wheel_spin: Annotated[Wheels, Column("rad/s", "rotation")]
    suspension: Annotated[Wheels, Column("m", "compression of the suspension from rest, 0 without one")]
    load: Annotated[Wheels, Column("N", "load")]
    force_x: Annotated[Wheels, Column("N", "force along the wheel")]
    force_y: Annotated[Wheels, Column("N", "force across the wheel, positive to the left")]
    slip_ratio: Annotated[Wheels, Column("", "relaxed slip ratio, positive drives")]
    slip_angle: Annotated[Wheels, Column("rad", "relaxed slip angle, positive pushes left")]
    drive_torque: Annotated[Wheels, Column("N m", "torque of the drive shaft, as the differentials pass it on")]
    brake_torque: Annotated[Wheels, Column("N m", "torque of brake and rolling resistance, against forward rotation")]
    mu: Annotated[Wheels, Column("", "friction of tyre and ground at the nominal load")]
    mu_peak: Annotated[Wheels, Column("", "largest lateral force over load, at this load")]
    mu_peak_x: Annotated[Wheels, Column("", "largest force along the wheel over load, at this load")]
    alpha_peak: Annotated[Wheels, Column("rad", "slip angle of the largest force, beyond which the tyre slides")]
    kappa_peak: Annotated[Wheels, Column("", "slip ratio of the largest force, beyond which the wheel locks or spins")]


REPORTED = 1e-4  # s: a step without consequences, whose torques are reported


def patches_of(s: Any, contacts: FourContacts, gravity: float, p: Parameters, dt: float) -> FourPatches:
    """Return the contact patches of a state after dt."""
    fl, fr, rl, rr = contacts
    return (
        patch(s.kappa_fl, s.slip_fl, s.spin_fl, fl, gravity, p, dt),
        patch(s.kappa_fr, s.slip_fr, s.spin_fr, fr, gravity, p, dt),
        patch(s.kappa_rl, s.slip_rl, s.spin_rl, rl, gravity, p, dt),
        patch(s.kappa_rr, s.slip_rr, s.spin_rr, rr, gravity, p, dt),
    )


def rolled(
    s: Any, driven: Driven, contacts: FourContacts, gravity: float, p: Parameters, dt: float
) -> tuple[Wheels, FourPatches]:
    """Return the spins (rad/s) and the contact patches of the wheels after dt."""
    patches = patches_of(s, contacts, gravity, p, dt)
    after = spun(wheels_of(s)[0], patches, driven.drive, driven.brakes, p, dt).spins
    return after, (
        settled(patches[0], contacts[0], s.spin_fl, after.fl, p, dt),
        settled(patches[1], contacts[1], s.spin_fr, after.fr, p, dt),
        settled(patches[2], contacts[2], s.spin_rl, after.rl, p, dt),
        settled(patches[3], contacts[3], s.spin_rr, after.rr, p, dt),
    )


def reported(
    s: Any,
    u: Command,
    contacts: FourContacts,
    loads: Wheels,
    travel: Wheels,
    mu: float,
    air: float,
    p: Parameters,
    w: Environment,
) -> Report:
    """Return wheels, torques and load transfer under the present commands.

    contacts, loads (N), travel (m): of the wheels
    mu: mean friction of the ground under them
    air: speed of the air from ahead, m/s
    """
    spins, kappas, slips = wheels_of(s)
    gravity, box = w.gravity, Gearbox(s.gear_engaged, s.shift_clock)
    drive, torques = torques_now(s, u, s.steer, throttle_now(s, u, p), box, mu, loads, p)
    # the torques that reach the wheels: what differentials pass, and what brakes need of what they could
    applied = spun(spins, patches_of(s, contacts, gravity, p, REPORTED), drive, torques, p, REPORTED)
    static_front = axle_loads(0.0 * air, *down_forces(air, p, w), p, w)[0]  # at rest with the present down-force
    fl, fr, rl, rr = contacts
    w_fl = wheel_report(kappas.fl, slips.fl, spins.fl, fl, gravity, p)
    w_fr = wheel_report(kappas.fr, slips.fr, spins.fr, fr, gravity, p)
    w_rl = wheel_report(kappas.rl, slips.rl, spins.rl, rl, gravity, p)
    w_rr = wheel_report(kappas.rr, slips.rr, spins.rr, rr, gravity, p)
    moved = (static_front - fl.load - fr.load, 0.5 * (fr.load - fl.load), 0.5 * (rr.load - rl.load))
    return Report(
        *(s.ax, s.ay, p.steer_ratio * s.steer, s.gear_engaged),
        *moved,
        *(spins.fl, spins.fr, spins.rl, spins.rr),
        *(travel.fl, travel.fr, travel.rl, travel.rr),
        *(fl.load, fr.load, rl.load, rr.load),
        *(w_fl.along, w_fr.along, w_rl.along, w_rr.along),
        *(w_fl.across, w_fr.across, w_rl.across, w_rr.across),
        *(kappas.fl, kappas.fr, kappas.rl, kappas.rr),
        *(atan(slips.fl), atan(slips.fr), atan(slips.rl), atan(slips.rr)),
        *(applied.drive.fl, applied.drive.fr, applied.drive.rl, applied.drive.rr),
        *(applied.brake.fl, applied.brake.fr, applied.brake.rl, applied.brake.rr),
        *(fl.mu, fr.mu, rl.mu, rr.mu),
        *(w_fl.mu_peak, w_fr.mu_peak, w_rl.mu_peak, w_rr.mu_peak),
        *(w_fl.mu_peak_x, w_fr.mu_peak_x, w_rl.mu_peak_x, w_rr.mu_peak_x),
        *(w_fl.alpha_peak, w_fr.alpha_peak, w_rl.alpha_peak, w_rr.alpha_peak),
        *(w_fl.kappa_peak, w_fr.kappa_peak, w_rl.kappa_peak, w_rr.kappa_peak),
    )
