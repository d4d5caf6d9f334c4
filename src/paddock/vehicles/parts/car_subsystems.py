"""Subsystems of cars: dead times, steering, drivetrain, brakes, suspension, traction and stability control.

Every subsystem is a scalar function with a fixed signature. Its data are parameters; a car's entry may name another
function for it (`SUBSYSTEMS`), which is compiled into the kernel of its fleet in place of the one here. `car_problem`
and `full_car_problem` return what is impossible about the parameters of a car together; one line names the key and what
would be valid.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

from paddock.compute.math import absolute, clamp, floor, maximum, minimum, select, sign
from paddock.compute.scalars import tan
from paddock.vehicles.model import ACTUATORS, BATTERY_COLUMNS, Spare, Subsystem, VehicleModel
from paddock.vehicles.parts.battery import BatteryColumns, BatteryState, drive_strength, full_strength
from paddock.vehicles.parts.car import (
    Command,
    Parameters,
    car_body,
    car_bumped,
    full_voltage,
    guide,
    planar_pose,
    powered,
    unpowered,
)
from paddock.vehicles.parts.tyre import (
    brush_peaks,
    brush_tyre,
    linear_peaks,
    linear_tyre,
    magic_peaks,
    magic_tyre,
)
from paddock.vehicles.parts.tyre_property import tyre_of_text
from paddock.world.columns import Column, ColumnGroup, column_tuple

# a standing car is at rest below these speeds (m/s, rad/s) and accelerations (m/s2, rad/s2)
CALM_SPEED = 1e-3
CALM_ACCELERATION = 1e-2
LEAST_INERTIA = 0.05  # of the mass times the lever arms of its axles; road cars have about 1
SHARPEST = 0.9  # share of Ackermann's geometry at which the inner wheel would stand nearly across
GRAVITY = 9.80665


def calm(vx: float, vy: float, rate: float, forward: float, left: float, turn: float) -> bool:
    """Return whether a car nearly rests, by its velocity and yaw rate and the rates at which these change."""
    slow = (absolute(vx) < CALM_SPEED) & (absolute(vy) < CALM_SPEED) & (absolute(rate) < CALM_SPEED)
    steady = (absolute(forward) < CALM_ACCELERATION) & (absolute(left) < CALM_ACCELERATION)
    return slow & steady & (absolute(turn) < CALM_ACCELERATION)


class Wheels(NamedTuple):
    """A value of each wheel."""

    fl: Annotated[float, Column("", "front left wheel")]
    fr: Annotated[float, Column("", "front right wheel")]
    rl: Annotated[float, Column("", "rear left wheel")]
    rr: Annotated[float, Column("", "rear right wheel")]


# dead times: a line of samples, one every sixth (third) of the dead time, rounded up to whole steps


class SteerLine(NamedTuple):
    """The last steering commands; `clock` is the age of the first, s."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    g: float
    clock: float


class DriveLine(NamedTuple):
    """The last throttle commands; `clock` is the age of the first, s."""

    a: float
    b: float
    c: float
    d: float
    clock: float


@column_tuple
class DelayColumns(ColumnGroup):
    """Commands on their way to the rack and to the engine."""

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


@column_tuple
class GearColumns(ColumnGroup):
    """The gearbox."""

    gear_engaged: Annotated[float, Column("", "gear of the gearbox, 1 to 6")]
    shift_clock: Annotated[float, Column("s", "time left of a shift")]


@column_tuple
class ControlColumns(DelayColumns, GearColumns, BatteryColumns):
    """The rack; commands on their way, gearbox and battery."""

    steer_rate: Annotated[float, Column("rad/s", "rate of the road-wheel angle")]


def _hat(x: float) -> float:
    return maximum(0.0, 1.0 - absolute(x))


def _ticked(clock: float, dead_time: float, samples: float, dt: float) -> tuple[bool, float, float]:
    """Return whether a sample is due, the clock after it, and the position of the dead time in the line."""
    cell = dt * maximum(0.0 - floor(1e-6 - dead_time / (samples * dt)), 1.0)  # a whole number of steps
    due = (clock + dt >= cell * (1.0 - 1e-6)) & (dead_time > 0.0)
    after = select(due, 0.0, select(dead_time > 0.0, clock + dt, clock))
    return due, after, (dead_time - after) * (1.0 / cell)


def steer_delayed(line: SteerLine, demand: float, dead_time: float, dt: float) -> tuple[SteerLine, float]:
    """Return the line after dt and the command of `dead_time` seconds ago, interpolated between samples."""
    due, clock, at = _ticked(line.clock, dead_time, 6.0, dt)
    a, b = select(due, demand, line.a), select(due, line.a, line.b)
    c, d = select(due, line.b, line.c), select(due, line.c, line.d)
    e, f = select(due, line.d, line.e), select(due, line.e, line.f)
    g = select(due, line.f, line.g)
    early = a * _hat(at) + b * _hat(at - 1.0) + c * _hat(at - 2.0) + d * _hat(at - 3.0)
    late = e * _hat(at - 4.0) + f * _hat(at - 5.0) + g * _hat(at - 6.0)
    out = select(dead_time > 0.0, early + late + demand * _hat(at + 1.0), demand)
    return SteerLine(a, b, c, d, e, f, g, clock), out


def drive_delayed(line: DriveLine, demand: float, dead_time: float, dt: float) -> tuple[DriveLine, float]:
    """Return the line after dt and the command of `dead_time` seconds ago, interpolated between samples."""
    due, clock, at = _ticked(line.clock, dead_time, 3.0, dt)
    a, b = select(due, demand, line.a), select(due, line.a, line.b)
    c, d = select(due, line.b, line.c), select(due, line.c, line.d)
    sampled = a * _hat(at) + b * _hat(at - 1.0) + c * _hat(at - 2.0) + d * _hat(at - 3.0)
    out = select(dead_time > 0.0, sampled + demand * _hat(at + 1.0), demand)
    return DriveLine(a, b, c, d, clock), out


def steer_undelayed(line: SteerLine, demand: float, dead_time: float, dt: float) -> tuple[SteerLine, float]:
    """Return the line as it is and the present command: a car without dead time."""
    return line, demand


def drive_undelayed(line: DriveLine, demand: float, dead_time: float, dt: float) -> tuple[DriveLine, float]:
    """Return the line as it is and the present command: a car without dead time."""
    return line, demand


def delayed(s: Any, u: Command, p: Parameters, dt: float) -> tuple[SteerLine, DriveLine, float, float]:
    """Return the lines of commands of a state after dt, and the steering and the throttle that arrive."""
    steer = SteerLine(s.steer_a, s.steer_b, s.steer_c, s.steer_d, s.steer_e, s.steer_f, s.steer_g, s.steer_clock)
    steer, demand = steer_delayed(steer, u.steer, p.steer_dead_time, dt)
    drive, throttle = drive_delayed(
        DriveLine(s.drive_a, s.drive_b, s.drive_c, s.drive_d, s.drive_clock), u.throttle, p.torque_dead_time, dt
    )
    return steer, drive, demand, throttle


def delay_columns(a: SteerLine, b: DriveLine) -> Any:
    """Return the values of `DelayColumns`."""
    return a.a, a.b, a.c, a.d, a.e, a.f, a.g, a.clock, b.a, b.b, b.c, b.d, b.clock


def first_delays(zero: float) -> Any:
    """Return the values of `DelayColumns` at the start: no command is on its way."""
    return zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero


def throttle_now(s: Any, u: Command, p: Parameters) -> float:
    """Return the throttle that arrives at present."""
    return select(p.torque_dead_time > 0.0, s.drive_d, u.throttle)


# steering


class Rack(NamedTuple):
    """The mean road-wheel angle (rad) and its rate (rad/s)."""

    angle: float
    rate: float


def rack(before: Rack, demand: float, p: Parameters, dt: float) -> Rack:
    """Return the rack after dt: an oscillator with limited rate, or only the limit where steer_frequency is 0."""
    target = clamp(demand, -p.steer_max, p.steer_max)
    square, damping = p.steer_frequency * p.steer_frequency, 2.0 * p.steer_damping * p.steer_frequency
    free = (before.rate + dt * square * (target - before.angle)) * (1.0 / (1.0 + dt * (damping + dt * square)))
    reach = p.steer_rate_max * dt
    move = clamp(select(p.steer_frequency > 0.0, dt * free, target - before.angle), -reach, reach)
    angle = clamp(before.angle + move, -p.steer_max, p.steer_max)
    return Rack(angle, (angle - before.angle) * (1.0 / dt))


def wheel_tilts(angle_tangent: float, p: Parameters) -> tuple[float, float]:
    """Return the tangents of the left and the right front wheel's angle for that of the mean angle."""
    share = p.ackermann * 0.5 * p.track_front / (p.cg_to_front + p.cg_to_rear) * angle_tangent
    return angle_tangent / (1.0 - share), angle_tangent / (1.0 + share)


# drivetrain


class Gearbox(NamedTuple):
    """The engaged gear, 1 to 6, and the time left of a shift, s."""

    gear: float
    clock: float


def control_columns(a: SteerLine, b: DriveLine, box: Gearbox, battery: BatteryState, steer_rate: float) -> Any:
    """Return the values of `ControlColumns`."""
    kept = battery.charge, battery.voltage, battery.current
    return (*delay_columns(a, b), *(box.gear, box.clock), *kept, *(steer_rate,))


def first_controls(zero: float, p: Parameters) -> Any:
    """Return the values of `ControlColumns` at the start: the first gear, a full battery."""
    return (*first_delays(zero), *(1.0, zero, 1.0, full_voltage(p), zero, zero))


class Drive(NamedTuple):
    """Torques on the axles, N m, and the mechanical power of the engine, W."""

    front: float
    rear: float
    power: float


def gear_ratio(gear: float, p: Parameters) -> float:
    """Return the ratio of a gear; 1 without a gearbox."""
    low = select(gear < 1.5, p.gear_1, select(gear < 2.5, p.gear_2, p.gear_3))
    high = select(gear < 4.5, p.gear_4, select(gear < 5.5, p.gear_5, p.gear_6))
    return select(p.gears < 1.0, 1.0, select(gear < 3.5, low, high))


def shifted(box: Gearbox, speed: float, p: Parameters, dt: float) -> Gearbox:
    """Return the gearbox after dt at a speed of the driven wheels (rad/s); a shift follows only a completed one.

    Backwards there is one gear, the first.
    """
    engine = absolute(speed) * p.final_drive * gear_ratio(box.gear, p)
    ready = (box.clock <= 0.0) & (p.gears >= 2.0)
    up = ready & (speed > 0.0) & (engine > p.shift_up) & (box.gear < p.gears - 0.5)
    down = ready & ((engine < p.shift_down) | (speed < 0.0)) & (box.gear > 1.5)
    gear = box.gear + select(up, 1.0, 0.0) - select(down, 1.0, 0.0)
    return Gearbox(gear, select(up | down, p.shift_time, maximum(box.clock - dt, 0.0)))


def map_share(engine_speed: float, p: Parameters) -> float:
    """Return the share of the largest torque at an engine speed (rad/s), linear in the map.

    It falls to 0 over the last 2 % before the rev limit, so that the engine settles there.
    """
    x = absolute(engine_speed) * (4.0 / maximum(p.engine_speed_max, 1e-9))
    low = p.torque_map_0 * _hat(x) + p.torque_map_1 * _hat(x - 1.0) + p.torque_map_2 * _hat(x - 2.0)
    share = low + p.torque_map_3 * _hat(x - 3.0) + p.torque_map_4 * _hat(x - 4.0)
    return select(p.engine_speed_max > 0.0, share * clamp((4.0 - x) * 12.5, 0.0, 1.0), 1.0)


def drivetrain(
    throttle: float, direction: float, front: float, rear: float, box: Gearbox, charge: float, p: Parameters
) -> Drive:
    """Return the drive torques for a throttle (0 to 1), a direction (1, 0, -1) and the axles' speeds (rad/s).

    Constant torque up to constant power, times the torque map; engine braking fades out below walking speed.
    """
    speed = p.drive_front * front + (1.0 - p.drive_front) * rear
    ratio = gear_ratio(box.gear, p)
    geared = p.final_drive * ratio * select(box.clock > 0.0, 0.0, 1.0)
    share = map_share(speed * p.final_drive * ratio, p)
    power = p.power_max / maximum(absolute(speed), 0.1 / p.wheel_radius)
    push = (
        direction
        * clamp(throttle, 0.0, 1.0)
        * minimum(p.engine_torque * share * geared, power)
        * drive_strength(charge)
    )
    closed = absolute(direction) * (1.0 - clamp(throttle, 0.0, 1.0)) * clamp(0.5 * p.wheel_radius * speed, -1.0, 1.0)
    torque = push - p.engine_brake * geared * closed
    return Drive(torque * p.drive_front, torque * (1.0 - p.drive_front), torque * speed)


def differential(torque: float, p: Parameters) -> float:
    """Return the locking torque (N m >= 0) of an axle's differential that transmits `torque`."""
    return p.diff_preload + p.diff_locking * absolute(torque)


def traction_control(throttle: float, slips: Wheels, direction: float, p: Parameters) -> float:
    """Return the throttle after traction control: less while a driven wheel slips."""
    front = select(p.drive_front > 0.0, maximum(direction * slips.fl, direction * slips.fr), 0.0)
    rear = select(p.drive_front < 1.0, maximum(direction * slips.rl, direction * slips.rr), 0.0)
    release = clamp(2.0 - maximum(front, rear) * (1.0 / maximum(p.traction_slip, 1e-3)), 0.0, 1.0)
    return throttle * select(p.traction_slip > 0.0, release, 1.0)


# brakes


def brakes(u: Command, loads: Wheels, slips: Wheels, speed: float, p: Parameters) -> Wheels:
    """Return the brake torques of the wheels, N m >= 0; the handbrake acts on the rear wheels with full torque."""
    pedal = clamp(u.brake, 0.0, 1.0) * p.brake_torque
    front, rear = pedal * p.brake_bias, pedal * (1.0 - p.brake_bias)
    even = front * (loads.rl + loads.rr) / maximum(loads.fl + loads.fr, 1e-9)
    rear = rear - p.ebd * maximum(0.0, rear - even)
    handbrake = clamp(u.handbrake, 0.0, 1.0) * p.brake_torque
    # select low: both rear wheels get the pressure of the one with less grip, so that the axle keeps its side force
    rear = maximum(rear * minimum(anti_lock(slips.rl, speed, p), anti_lock(slips.rr, speed, p)), handbrake)
    return Wheels(front * anti_lock(slips.fl, speed, p), front * anti_lock(slips.fr, speed, p), rear, rear)


def anti_lock(slip: float, speed: float, p: Parameters) -> float:
    """Return the share of the brake torque that ABS leaves a wheel; all of it below 2 m/s."""
    release = clamp(2.0 + sign(speed) * slip * (1.0 / maximum(p.abs_slip, 1e-3)), 0.0, 1.0)
    return select((p.abs_slip > 0.0) & (absolute(speed) > 2.0), release, 1.0)


STABILITY_DEAD_BAND = 0.05  # rad/s


def stability_control(steer: float, speed: float, yaw_rate: float, mu: float, p: Parameters) -> Wheels:
    """Return the brake torques of stability control: on the outer front wheel when the car turns too fast.

    The wanted yaw rate is that of a neutral car within friction. One that turns too slowly brakes the inner rear wheel.
    """
    most = 8.0 * mu * p.tyre_mu / maximum(absolute(speed), 1.0)  # leaves a fifth of friction
    wanted = clamp(speed * steer * (1.0 / (p.cg_to_front + p.cg_to_rear)), -most, most)
    side = select(yaw_rate < 0.0, -1.0, 1.0)
    excess = side * (yaw_rate - wanted)
    fast = select(absolute(speed) > 5.0, p.stability_gain, 0.0)
    over = fast * maximum(0.0, excess - STABILITY_DEAD_BAND)
    under = fast * maximum(0.0, -excess - 2.0 * STABILITY_DEAD_BAND)
    left = side > 0.0  # turns left: the right wheels are outside
    zero = 0.0 * over
    return Wheels(
        select(left, zero, over), select(left, over, zero), select(left, under, zero), select(left, zero, under)
    )


# suspension


def suspension(
    travel: float, speed: float, other: float, spring: float, damper: float, bar: float, p: Parameters
) -> float:
    """Return the force (N) on the body above a wheel beyond that at rest, for its compression (m, m/s).

    `other` is the compression of the opposite wheel, `bar` the stiffness of the anti-roll bar per difference, N/m.
    """
    stop = p.bump_stop * (maximum(travel - p.suspension_travel, 0.0) + minimum(travel + p.suspension_travel, 0.0))
    return spring * travel + damper * speed + bar * (travel - other) + stop


def roll_share(p: Parameters) -> float:
    """Return the front axle's share of the roll stiffness, of springs and anti-roll bars."""
    front = 0.5 * p.spring_front * p.track_front * p.track_front + p.roll_bar_front
    rear = 0.5 * p.spring_rear * p.track_rear * p.track_rear + p.roll_bar_rear
    return front / (front + rear)


def wheel_load_changes(ay: float, p: Parameters) -> tuple[float, float]:
    """Return the load (N) that a lateral acceleration (m/s2) moves from the left to the right wheel of each axle."""
    moment, share = p.mass * p.cg_height * ay, roll_share(p)
    return moment * (share / p.track_front), moment * ((1.0 - share) / p.track_rear)


SUBSYSTEMS: dict[str, Subsystem] = {
    "tyre": Subsystem(
        magic_tyre,
        {
            "magic_formula": {},
            "linear": {magic_tyre: linear_tyre, magic_peaks: linear_peaks},
            "brush": {magic_tyre: brush_tyre, magic_peaks: brush_peaks},
        },
        tyre_of_text,
    ),
    "tyre_peaks": Subsystem(magic_peaks),
    "steering": Subsystem(rack),
    "ackermann": Subsystem(wheel_tilts),
    "drivetrain": Subsystem(drivetrain),
    "gearbox": Subsystem(shifted),
    "differential": Subsystem(differential),
    "brake": Subsystem(brakes),
    "suspension": Subsystem(suspension),
    "traction": Subsystem(traction_control),
    "stability": Subsystem(stability_control),
    "actuators": ACTUATORS,
}

SPARES = (
    Spare(
        ("steer_dead_time", "torque_dead_time"),
        {steer_delayed: steer_undelayed, drive_delayed: drive_undelayed},
        (*(f"steer_{name}" for name in SteerLine._fields), *(f"drive_{name}" for name in DriveLine._fields)),
    ),
    Spare(("capacity",), {powered: unpowered, drive_strength: full_strength}, BATTERY_COLUMNS),
)


def car_problem(p: Parameters) -> str:
    """Return the first problem of a car of any level; "" if there is none."""
    return next(_problems(p), "")


def full_car_problem(p: Parameters) -> str:
    """Return the first problem of a car with a body that rolls and pitches; "" if there is none."""
    return next(_problems(p), "") or next(_body_problems(p), "")


def _problems(p: Parameters) -> Iterator[str]:
    wheelbase = p.cg_to_front + p.cg_to_rear
    if p.wheel_radius > 0.5 * wheelbase:
        limit = f"at most {0.5 * wheelbase:g} m, half the wheelbase, or the wheels overlap"
        yield f"wheel_radius must be {limit}, not {p.wheel_radius:g}"
    least = LEAST_INERTIA * p.mass * p.cg_to_front * p.cg_to_rear
    if p.inertia_z < least:
        rule = f"{LEAST_INERTIA:g} x mass x cg_to_front x cg_to_rear"
        yield f"inertia_z must be at least {least:.4g} kg m2, {rule}, not {p.inertia_z:g}"
    share = abs(p.ackermann) * 0.5 * p.track_front / wheelbase * tan(p.steer_max)
    if share > SHARPEST:
        most = f"at most {SHARPEST / share * abs(p.ackermann):.3g} with this track_front and steer_max"
        yield f"ackermann must be {most}, not {p.ackermann:g}: the inner wheel would stand across"
    yield from _gear_problems(p)


def _gear_problems(p: Parameters) -> Iterator[str]:
    if p.gears != int(p.gears):
        yield f"gears must be a whole number from 0 to 6, not {p.gears:g}"
        return
    ratios = (p.gear_1, p.gear_2, p.gear_3, p.gear_4, p.gear_5, p.gear_6)[: int(p.gears)]
    for k, ratio in enumerate(ratios, 1):
        if ratio <= 0.0:
            yield f"gear_{k} must be above 0 in a gearbox of {p.gears:g} gears, not {ratio:g}"
            return
    for k, (low, high) in enumerate(pairwise(ratios), 1):
        if high >= low:
            yield f"gear_{k + 1} must be below gear_{k}, {low:g}, not {high:g}"
        elif p.shift_down >= p.shift_up * high / low:
            most = f"below {p.shift_up * high / low:.4g} rad/s, where shift_up arrives in gear_{k + 1}"
            yield f"shift_down must be {most}, not {p.shift_down:g}: the gearbox would shift up and down in turn"
    if len(ratios) > 1 and 0.0 < p.engine_speed_max <= p.shift_up:
        yield f"shift_up must be below engine_speed_max, {p.engine_speed_max:g} rad/s, not {p.shift_up:g}"


def _body_problems(p: Parameters) -> Iterator[str]:
    wheels = 2.0 * (p.unsprung_front + p.unsprung_rear)
    if wheels > 0.9 * p.mass:
        heaviest = f"less than 0.9 of mass, {0.9 * p.mass:g} kg"
        yield f"unsprung_front and unsprung_rear: all wheels must weigh {heaviest}, not {wheels:g}"
    # data sheets give the inertia of the body without wheels about the forward and the left axis
    front = p.unsprung_front * (p.cg_to_front**2 + 0.25 * p.track_front**2)
    rear = p.unsprung_rear * (p.cg_to_rear**2 + 0.25 * p.track_rear**2)
    most = {
        "inertia_x": p.inertia_y + p.inertia_z,
        "inertia_y": p.inertia_x + p.inertia_z,
        "inertia_z": p.inertia_x + p.inertia_y + 2.0 * (front + rear),
    }
    for name, limit in most.items():
        if getattr(p, name) > limit:
            rule = "at most the sum of the other two" + (" and of the wheels" if name == "inertia_z" else "")
            yield f"{name} must be {rule}, {limit:.4g} kg m2, as of every body, not {getattr(p, name):g}"
    least = LEAST_INERTIA * p.mass * 0.25 * p.track_front * p.track_rear
    if p.inertia_x < least:
        rule = f"{LEAST_INERTIA:g} x mass x (half the track)^2"
        yield f"inertia_x must be at least {least:.4g} kg m2, {rule}, not {p.inertia_x:g}"
    stiffest = 0.5 * p.mass * GRAVITY * max(p.cg_to_front, p.cg_to_rear) / (p.cg_to_front + p.cg_to_rear)
    if p.tyre_spring * p.wheel_radius < stiffest:
        least = stiffest / p.wheel_radius
        yield f"tyre_spring must be at least {least:.4g} N/m to carry the car on its tyres, not {p.tyre_spring:g}"


car_model = partial(
    VehicleModel,
    kind="car",
    command=Command,
    parameters=Parameters,
    pose=planar_pose,
    guide=guide,
    order=1,
    telemetry=("steer", "wheel_speed", "pitch", "roll", "charge", "voltage", "current"),
    battery="capacity",
    steady=("gear", "handbrake"),
    spares=SPARES,
    problem=car_problem,
    body=car_body,
    bumped=car_bumped,
    other_parameters=("steer_ratio",),
)
"""Return the model of a level: what most levels have in common."""
