"""The two axles of the single track, and two choices for their wheels.

Rolling wheels (the default) turn with the car: drive and brake forces reach the road without wheel dynamics, up to what
friction allows. Spinning wheels have the speed and the slip ratio of each axle as states, as the levels above have them
for each wheel: they lock, burn out, and lose side force as they slide; ABS and traction control act on them.
"""

from typing import Any, NamedTuple

from paddock.compute.math import absolute, clamp, maximum, select, sign
from paddock.vehicles.model import Spare, Subsystem
from paddock.vehicles.parts.car import Command, Parameters, axle_loads, down_forces, transmitted
from paddock.vehicles.parts.car_subsystems import (
    CALM_ACCELERATION,
    CALM_SPEED,
    Drive,
    Gearbox,
    Wheels,
    brakes,
    differential,
    drivetrain,
    traction_control,
    wheel_load_changes,
)
from paddock.vehicles.parts.car_wheels import WheelContact, patch, settled, spun, wheel_report
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
from paddock.world.columns import Environment

SLOWEST = 0.5  # m/s: below this speed a differential resists no more


class Axle(NamedTuple):
    """One axle during a step, in the axes of its wheels."""

    slip: float
    kappa: float  # slip ratio
    spin: float  # rad/s
    load: float  # N
    moved: float  # N, from the left to the right wheel
    drive: float  # N, forward; friction transmits it less the resistance
    resistance: float  # N >= 0, against the motion, within friction
    side: float  # N, to the left
    engine: float  # of the engine: force in N of rolling wheels, power in W of spinning ones


class AxleGround(NamedTuple):
    """The ground under the car: height at its centre, slopes in its axes, friction under each axle."""

    height: float
    forward: float
    left: float
    mu_front: float
    mu_rear: float


class DrivelineInputs(NamedTuple):
    """Drive of a step: throttle after its dead time, and the gearbox."""

    throttle: float
    box: Gearbox


Angle = tuple[float, float]  # sine and cosine


def axles(
    s: Any, u: Command, c: DrivelineInputs, stand: AxleGround, p: Parameters, w: Environment, ux: float, tilt: Angle,
    dt: float,
) -> tuple[Axle, Axle]:  # fmt: skip
    """Return both axles after their contact patches moved for dt; forward air speed `ux` (m/s), front wheels' angle."""
    rolling, across_front, across_rear = contact_speeds(s, p, tilt)
    slip_front = relaxed_slip(s.slip_front, across_front, rolling, p.relaxation_lateral, dt)
    slip_rear = relaxed_slip(s.slip_rear, across_rear, s.vx, p.relaxation_lateral, dt)
    lead_front = _damping_time(rolling, stand.mu_front, p, w) * (slip_front - s.slip_front) * (1.0 / dt)
    lead_rear = _damping_time(s.vx, stand.mu_rear, p, w) * (slip_rear - s.slip_rear) * (1.0 / dt)
    return _pushing(s, u, c, stand, p, w, ux, (slip_front, lead_front), (slip_rear, lead_rear))


def axles_now(
    s: Any, u: Command, c: DrivelineInputs, stand: AxleGround, p: Parameters, w: Environment, ux: float, tilt: Angle
) -> tuple[Axle, Axle]:
    """Return both axles under the present commands: those of `axles` in the limit of a small dt."""
    rolling, across_front, across_rear = contact_speeds(s, p, tilt)
    rate_front = slip_rate(s.slip_front, across_front, rolling, p.relaxation_lateral)
    rate_rear = slip_rate(s.slip_rear, across_rear, s.vx, p.relaxation_lateral)
    lead_front = _damping_time(rolling, stand.mu_front, p, w) * rate_front
    lead_rear = _damping_time(s.vx, stand.mu_rear, p, w) * rate_rear
    return _pushing(s, u, c, stand, p, w, ux, (s.slip_front, lead_front), (s.slip_rear, lead_rear))


def wheel_speeds(speed: float, front: Axle, rear: Axle, p: Parameters) -> tuple[float, float]:
    """Return the rotation (rad/s) of the wheels of both axles at a speed of the car (m/s)."""
    rolling = speed * (1.0 / p.wheel_radius)
    return rolling, rolling


def engine_power(speed: float, front: Axle, rear: Axle) -> float:
    """Return the mechanical power (W) of the drive at a speed of the car (m/s)."""
    return (front.engine + rear.engine) * speed


def halted(speed: float, forward: float, front: Axle, rear: Axle) -> bool:
    """Return whether a car stands at a speed (m/s) and acceleration (m/s2): rolling wheels stop it exactly."""
    return speed == 0.0


def contact_speeds(s: Any, p: Parameters, tilt: Angle) -> tuple[float, float, float]:
    """Return the speeds (m/s) of the front contact along and across its wheel, and of the rear one across."""
    left = s.vy + p.cg_to_front * s.yaw_rate
    rolling, sideways = s.vx * tilt[1] + left * tilt[0], left * tilt[1] - s.vx * tilt[0]
    return rolling, sideways, s.vy - p.cg_to_rear * s.yaw_rate


def _damping_time(rolling: float, mu: float, p: Parameters, w: Environment) -> float:
    """Return the time (s) of slip rate that acts like slip, at a contact's rolling speed."""
    stiffness = p.tyre_b_lat * p.tyre_c_lat * p.tyre_d_lat * (p.tyre_mu * mu) * w.gravity
    return patch_damping_time(rolling, stiffness, p.relaxation_lateral)


def _loads(s: Any, ux: float, p: Parameters, w: Environment) -> tuple[float, float, float, float]:
    """Return the loads of both axles and those moved across them, N."""
    down_front, down_rear = down_forces(ux, p, w)
    load_front, load_rear = axle_loads(s.ax, down_front, down_rear, p, w)
    moved_front, moved_rear = wheel_load_changes(s.ay, p)
    return load_front, load_rear, moved_front, moved_rear


def _gear(u: Command) -> float:
    return select(u.gear > 0.5, 1.0, select(u.gear < -0.5, -1.0, 0.0))


def _pushing(
    s: Any, u: Command, c: DrivelineInputs, stand: AxleGround, p: Parameters, w: Environment, ux: float,
    front: tuple[float, float], rear: tuple[float, float],
) -> tuple[Axle, Axle]:  # fmt: skip
    """Return the forces of both axles, given slip and damping lead of each."""
    load_front, load_rear, moved_front, moved_rear = _loads(s, ux, p, w)
    drive = drivetrain(c.throttle, _gear(u), s.wheel_speed, s.spin_rear, c.box, s.charge, p)
    loads = Wheels(0.5 * load_front, 0.5 * load_front, 0.5 * load_rear, 0.5 * load_rear)
    torques = brakes(u, loads, Wheels(0.0, 0.0, 0.0, 0.0), s.vx, p)
    per_radius = 1.0 / p.wheel_radius
    brake_front, brake_rear = (torques.fl + torques.fr) * per_radius, (torques.rl + torques.rr) * per_radius
    direction = sign(s.vx)  # 0 while the brakes hold the car: the tyres then keep their full side force
    mu_front, mu_rear = p.tyre_mu * stand.mu_front, p.tyre_mu * p.grip_rear * stand.mu_rear
    return (
        _axle(front, direction, (load_front, moved_front), drive.front * per_radius, brake_front, mu_front, p),
        _axle(rear, direction, (load_rear, moved_rear), drive.rear * per_radius, brake_rear, mu_rear, p),
    )


def _axle(
    patched: tuple[float, float],
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
    slip, lead = patched
    load, moved = loads
    limit = axle_friction(load, mu, p.tyre_load, p.tyre_load_sensitivity, moved)
    cosine, longest = cosine_of_slip(slip), limit * p.tyre_d_long
    resisting = brake + p.rolling_resistance * load
    drive, resistance, engine = transmitted(drive, resisting, direction, longest * cosine)
    even = friction(0.5 * load, mu, p.tyre_load, p.tyre_load_sensitivity)
    pure = magic_tyre(0.0, slip + lead, 0.5 * load, mu, p).across * (limit / maximum(even, 1e-9))
    along = drive - direction * resistance
    side = combined_side_force(pure, along, longest, p.tyre_d_lat / p.tyre_d_long, slip, cosine)
    return Axle(slip, 0.0, 0.0, load, clamp(moved, -0.5 * load, 0.5 * load), drive, resistance, side, engine)


# differentials


class Lock(NamedTuple):
    """What the differential of an axle does to the car: a yaw moment, and the loss of it per yaw rate."""

    moment: float  # N m
    slope: float  # N m s/rad >= 0


def locked_axle(rate: float, speed: float, a: Axle, mu: float, track: float, p: Parameters) -> Lock:
    """Return the yaw moment of the differential of an axle at a yaw rate (rad/s) and a speed (m/s).

    The inner wheel wants to roll more slowly than the outer one. Coupled, it drives and the outer one brakes, as far as
    the locking torque and the tyres allow; the wheel with more load transmits more of the drive.
    """
    kappa = 0.5 * track * rate / maximum(absolute(speed), SLOWEST)
    pushed = magic_tyre(kappa, a.slip, 0.5 * a.load, mu, p).along
    more = a.drive * a.moved / maximum(a.load, 1e-9)
    most = differential(a.drive * p.wheel_radius, p) * (1.0 / p.wheel_radius)
    holds = absolute(pushed - more) < most  # beyond the locking torque, the moment is constant
    slope = select(holds, track * absolute(pushed) / maximum(absolute(rate), 1e-9), 0.0)
    return Lock(-track * clamp(pushed - more, -most, most), slope)


def open_axle(rate: float, speed: float, a: Axle, mu: float, track: float, p: Parameters) -> Lock:
    """Return what an open differential does: nothing."""
    return Lock(0.0, 0.0)


OPEN = Spare(("diff_preload", "diff_locking"), {locked_axle: open_axle})


def locked_axles(rate: float, speed: float, front: Axle, rear: Axle, stand: AxleGround, p: Parameters) -> Lock:
    """Return the yaw moment of the differentials of the driven axles."""
    mu_front, mu_rear = p.tyre_mu * stand.mu_front, p.tyre_mu * p.grip_rear * stand.mu_rear
    ahead = locked_axle(rate, speed, front, mu_front, p.track_front, p)
    behind = locked_axle(rate, speed, rear, mu_rear, p.track_rear, p)
    before, after = select(p.drive_front > 0.0, 1.0, 0.0), select(p.drive_front < 1.0, 1.0, 0.0)
    return Lock(before * ahead.moment + after * behind.moment, before * ahead.slope + after * behind.slope)


# spinning wheels: an axle is two equal wheels


def spinning_axles(
    s: Any, u: Command, c: DrivelineInputs, stand: AxleGround, p: Parameters, w: Environment, ux: float, tilt: Angle,
    dt: float,
) -> tuple[Axle, Axle]:  # fmt: skip
    """Return both axles after their contact patches and their wheels moved for dt."""
    loads = _loads(s, ux, p, w)
    front, rear = _wheel_contacts(s, stand, loads, p, tilt)
    drive, torques = _torques(s, u, c, front, rear, p)
    patch_front = patch(s.kappa_front, s.slip_front, s.wheel_speed, front, w.gravity, p, dt)
    patch_rear = patch(s.kappa_rear, s.slip_rear, s.spin_rear, rear, w.gravity, p, dt)
    spins = Wheels(s.wheel_speed, s.wheel_speed, s.spin_rear, s.spin_rear)
    patches = patch_front, patch_front, patch_rear, patch_rear
    after = spun(spins, patches, drive, torques, p, dt).spins
    a = settled(patch_front, front, s.wheel_speed, after.fl, p, dt)
    b = settled(patch_rear, rear, s.spin_rear, after.rl, p, dt)
    return (
        _spinning(a.slip, a.kappa, after.fl, loads[0], loads[2], a.along, a.across, drive.power),
        _spinning(b.slip, b.kappa, after.rl, loads[1], loads[3], b.along, b.across, 0.0),
    )


def spinning_axles_now(
    s: Any, u: Command, c: DrivelineInputs, stand: AxleGround, p: Parameters, w: Environment, ux: float, tilt: Angle
) -> tuple[Axle, Axle]:
    """Return both axles under the present commands: those of `spinning_axles` in the limit of a small dt."""
    loads = _loads(s, ux, p, w)
    front, rear = _wheel_contacts(s, stand, loads, p, tilt)
    a = wheel_report(s.kappa_front, s.slip_front, s.wheel_speed, front, w.gravity, p)
    b = wheel_report(s.kappa_rear, s.slip_rear, s.spin_rear, rear, w.gravity, p)
    return (
        _spinning(s.slip_front, s.kappa_front, s.wheel_speed, loads[0], loads[2], a.along, a.across, 0.0),
        _spinning(s.slip_rear, s.kappa_rear, s.spin_rear, loads[1], loads[3], b.along, b.across, 0.0),
    )


def spinning_wheel_speeds(speed: float, front: Axle, rear: Axle, p: Parameters) -> tuple[float, float]:
    """Return the rotation (rad/s) of the wheels of both axles."""
    return front.spin, rear.spin


def spinning_power(speed: float, front: Axle, rear: Axle) -> float:
    """Return the mechanical power (W) of the drive."""
    return front.engine + rear.engine


def spinning_halted(speed: float, forward: float, front: Axle, rear: Axle) -> bool:
    """Return whether a car comes to rest on its contact patches: slow, with both axles locked or stopped."""
    still = (front.spin == 0.0) & (rear.spin == 0.0)
    return still & (absolute(speed) < CALM_SPEED) & (absolute(forward) < CALM_ACCELERATION)


def _spinning(
    slip: float, kappa: float, spin: float, load: float, moved: float, along: float, across: float, power: float
) -> Axle:
    """Return an axle of two wheels with these forces (N) each; what they resist is part of the drive."""
    moved = clamp(moved, -0.5 * load, 0.5 * load)
    return Axle(slip, kappa, spin, load, moved, 2.0 * along, 0.0 * along, 2.0 * across, power)


def _wheel_contacts(
    s: Any, stand: AxleGround, loads: tuple[float, float, float, float], p: Parameters, tilt: Angle
) -> tuple[WheelContact, WheelContact]:
    """Return a wheel of each axle, with the mean friction of both."""
    rolling, across_front, across_rear = contact_speeds(s, p, tilt)
    mu_front = _mean_friction(loads[0], loads[2], p.tyre_mu * stand.mu_front, p)
    mu_rear = _mean_friction(loads[1], loads[3], p.tyre_mu * p.grip_rear * stand.mu_rear, p)
    return (
        WheelContact(p.cg_to_front, 0.0, tilt[0], tilt[1], rolling, across_front, 0.5 * loads[0], mu_front),
        WheelContact(-p.cg_to_rear, 0.0, 0.0, 1.0, s.vx, across_rear, 0.5 * loads[1], mu_rear),
    )


def _mean_friction(load: float, moved: float, mu: float, p: Parameters) -> float:
    """Return the friction with which two equal wheels transmit as much as the axle with load moved across."""
    limit = axle_friction(load, mu, p.tyre_load, p.tyre_load_sensitivity, moved)
    even = friction(0.5 * load, mu, p.tyre_load, p.tyre_load_sensitivity)
    return mu * (0.5 * limit / maximum(even, 1e-9))


def _torques(
    s: Any, u: Command, c: DrivelineInputs, front: WheelContact, rear: WheelContact, p: Parameters
) -> tuple[Drive, Wheels]:
    """Return drive torques after traction control, and brake torques with ABS and rolling resistance, N m."""
    slips, direction = Wheels(s.kappa_front, s.kappa_front, s.kappa_rear, s.kappa_rear), _gear(u)
    throttle = traction_control(c.throttle, slips, direction, p)
    drive = drivetrain(throttle, direction, s.wheel_speed, s.spin_rear, c.box, s.charge, p)
    loads = Wheels(front.load, front.load, rear.load, rear.load)
    pressed, roll = brakes(u, loads, slips, s.vx, p), p.rolling_resistance * p.wheel_radius
    ahead, behind = pressed.fl + roll * front.load, pressed.rl + roll * rear.load
    return drive, Wheels(ahead, ahead, behind, behind)


WHEELS = Subsystem(
    axles,
    {
        "rolling": {},
        "spinning": {
            axles: spinning_axles,
            axles_now: spinning_axles_now,
            wheel_speeds: spinning_wheel_speeds,
            engine_power: spinning_power,
            halted: spinning_halted,
        },
    },
)
