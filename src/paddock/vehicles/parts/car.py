"""Parts of all car models: parameters, commands, steering, drivetrain, brakes, air, loads, guidance.

One preset serves each level. Resistance can stop a car within a tick and hold it, but never push it back."""

from typing import Annotated, Any, NamedTuple

from paddock.compute.math import absolute, asin, atan, atan2, clamp, maximum, minimum, select, sign, sincos, sqrt, tan
from paddock.compute.quaternion import euler_quaternion
from paddock.vehicles.model import BOX, UNTURNABLE, Body, Bump, Desire
from paddock.vehicles.parts.battery import FULL_CELL, BatteryState, drive_strength, optional_discharged
from paddock.world.columns import Column, ColumnGroup, Environment, Pose, column_tuple


@column_tuple
class CarColumns(ColumnGroup):
    """Columns of all levels: position of the centre of gravity over the ground, heading, speed and attitude."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "height of the ground contact")]
    yaw: Annotated[float, Column("rad", "heading, counter-clockwise from east")]
    vx: Annotated[float, Column("m/s", "velocity forward")]
    steer: Annotated[float, Column("rad", "mean road-wheel angle")]
    pitch: Annotated[float, Column("rad", "of the ground under the wheels, nose down positive")]
    roll: Annotated[float, Column("rad", "of the ground under the wheels, left side up positive")]


@column_tuple
class SlipColumns(CarColumns):
    """Columns of the levels with slip: they also move sideways, and turn at a rate of their own."""

    vy: Annotated[float, Column("m/s", "velocity to the left")]
    yaw_rate: Annotated[float, Column("rad/s", "rate of turn")]
    ax: Annotated[float, Column("m/s2", "force over mass without gravity, forward; shifts load to the rear")]
    ay: Annotated[float, Column("m/s2", "force over mass without gravity, to the left; shifts load to the right")]


class Parameters(NamedTuple):
    """A car; the defaults are a mid-size rear-driven saloon without assistance systems."""

    mass: Annotated[float, Column("kg", "mass, wheels included", low=0.1, high=1e5)] = 1500.0
    inertia_x: Annotated[float, Column("kg m2", "moment of inertia about the forward axis", low=1e-4, high=1e7)] = 500.0
    inertia_y: Annotated[float, Column("kg m2", "moment of inertia about the left axis", low=1e-4, high=1e7)] = 2000.0
    inertia_z: Annotated[float, Column("kg m2", "moment of inertia about the up axis", low=1e-4, high=1e7)] = 2500.0
    cg_to_front: Annotated[float, Column("m", "centre of gravity to front axle", low=0.01, high=20.0)] = 1.2
    cg_to_rear: Annotated[float, Column("m", "centre of gravity to rear axle", low=0.01, high=20.0)] = 1.5
    track_front: Annotated[float, Column("m", "distance between the front wheels", low=0.01, high=10.0)] = 1.55
    track_rear: Annotated[float, Column("m", "distance between the rear wheels", low=0.01, high=10.0)] = 1.55
    cg_height: Annotated[float, Column("m", "height of the centre of gravity", low=0.0, high=5.0)] = 0.55
    wheel_radius: Annotated[float, Column("m", "rolling radius", low=0.01, high=2.5)] = 0.32
    wheel_inertia: Annotated[float, Column("kg m2", "of a wheel about its axle", low=1e-6, high=1e4)] = 1.0
    engine_torque: Annotated[float, Column("N m", "largest engine torque", low=0.0, high=1e5)] = 300.0
    final_drive: Annotated[float, Column("", "turns of the engine per turn of the wheel", low=0.0, high=100.0)] = 5.0
    power_max: Annotated[float, Column("W", "largest engine power", low=0.0, high=1e7)] = 110e3
    engine_brake: Annotated[
        float, Column("N m", "engine torque against the motion without throttle", low=0.0, high=1e4)
    ] = 0.0
    engine_speed_max: Annotated[
        float, Column("rad/s", "rev limit, end of the torque map; 0: no map", low=0.0, high=1e4)
    ] = 0.0
    torque_map_0: Annotated[float, Column("", "share of engine_torque at standstill", low=0.0, high=1.0)] = 1.0
    torque_map_1: Annotated[float, Column("", "at 1/4 of engine_speed_max", low=0.0, high=1.0)] = 1.0
    torque_map_2: Annotated[float, Column("", "at 2/4 of engine_speed_max", low=0.0, high=1.0)] = 1.0
    torque_map_3: Annotated[float, Column("", "at 3/4 of engine_speed_max", low=0.0, high=1.0)] = 1.0
    torque_map_4: Annotated[float, Column("", "at engine_speed_max", low=0.0, high=1.0)] = 1.0
    gears: Annotated[
        float, Column("", "forward gears, shifted automatically; 0: one of ratio 1", low=0.0, high=6.0)
    ] = 0.0
    gear_1: Annotated[float, Column("", "ratio of the first gear, multiplies final_drive", low=0.0, high=50.0)] = 1.0
    gear_2: Annotated[float, Column("", "second gear", low=0.0, high=50.0)] = 1.0
    gear_3: Annotated[float, Column("", "third gear", low=0.0, high=50.0)] = 1.0
    gear_4: Annotated[float, Column("", "fourth gear", low=0.0, high=50.0)] = 1.0
    gear_5: Annotated[float, Column("", "fifth gear", low=0.0, high=50.0)] = 1.0
    gear_6: Annotated[float, Column("", "sixth gear", low=0.0, high=50.0)] = 1.0
    shift_up: Annotated[float, Column("rad/s", "engine speed of the next higher gear", low=0.0, high=1e4)] = 550.0
    shift_down: Annotated[float, Column("rad/s", "engine speed of the next lower gear", low=0.0, high=1e4)] = 180.0
    shift_time: Annotated[float, Column("s", "without torque during a shift", low=0.0, high=5.0)] = 0.2
    drive_front: Annotated[float, Column("", "share of the drive force in front", low=0.0, high=1.0)] = 0.0
    diff_preload: Annotated[float, Column("N m", "locking torque of the axles' differentials", low=0.0, high=1e6)] = 0.0
    diff_locking: Annotated[float, Column("", "locking torque per torque of the axle; 0: open", low=0.0, high=10.0)] = (
        0.0
    )
    centre_preload: Annotated[float, Column("N m", "locking torque between the axles", low=0.0, high=1e6)] = 0.0
    brake_torque: Annotated[float, Column("N m", "full-pedal torque, front and rear wheel", low=0.0, high=1e6)] = 2000.0
    brake_bias: Annotated[float, Column("", "share of the brake torque in front", low=0.0, high=1.0)] = 0.62
    ebd: Annotated[float, Column("", "rear brakes limited by the load; 0: off, 1: fully", low=0.0, high=1.0)] = 0.0
    abs_slip: Annotated[float, Column("", "braking slip at which ABS begins to release; 0: off", low=0.0, high=1.0)] = (
        0.0
    )
    traction_slip: Annotated[float, Column("", "slip at which traction control acts; 0: off", low=0.0, high=1.0)] = 0.0
    stability_gain: Annotated[float, Column("N m s", "brake torque per excess yaw rate; 0: off", low=0.0, high=1e6)] = (
        0.0
    )
    steer_max: Annotated[float, Column("rad", "largest road-wheel angle", low=0.0, high=1.4)] = 0.5
    steer_rate_max: Annotated[float, Column("rad/s", "fastest turn of the road wheels", low=0.0, high=1e3)] = 8.0
    steer_ratio: Annotated[float, Column("", "turn of the steering wheel per road wheel", low=0.1, high=100.0)] = 15.0
    steer_frequency: Annotated[float, Column("rad/s", "of the rack's response; 0: immediate", low=0.0, high=1e3)] = 0.0
    steer_damping: Annotated[float, Column("", "damping ratio of the rack", low=0.0, high=10.0)] = 0.9
    steer_dead_time: Annotated[float, Column("s", "from the command to the rack", low=0.0, high=1.0)] = 0.0
    torque_dead_time: Annotated[float, Column("s", "from the throttle to the engine", low=0.0, high=1.0)] = 0.0
    ackermann: Annotated[float, Column("", "inner over outer wheel; 1: exact, 0: parallel", low=-1.0, high=2.0)] = 0.6
    drag_coefficient: Annotated[float, Column("", "air drag coefficient", low=0.0, high=10.0)] = 0.30
    frontal_area: Annotated[float, Column("m2", "area that the air coefficients refer to", low=0.0, high=100.0)] = 2.2
    lift_front: Annotated[float, Column("", "front down-force coefficient, + down", low=-5.0, high=10.0)] = 0.05
    lift_rear: Annotated[float, Column("", "rear down-force coefficient, + down", low=-5.0, high=10.0)] = 0.05
    spring_front: Annotated[float, Column("N/m", "front spring, at the wheel", low=1.0, high=1e7)] = 30e3
    spring_rear: Annotated[float, Column("N/m", "rear spring, at the wheel", low=1.0, high=1e7)] = 30e3
    damper_front: Annotated[float, Column("N s/m", "front damper, at the wheel", low=0.0, high=1e6)] = 3000.0
    damper_rear: Annotated[float, Column("N s/m", "rear damper, at the wheel", low=0.0, high=1e6)] = 3000.0
    roll_bar_front: Annotated[float, Column("N m/rad", "front anti-roll bar", low=0.0, high=1e7)] = 24e3
    roll_bar_rear: Annotated[float, Column("N m/rad", "rear anti-roll bar", low=0.0, high=1e7)] = 6e3
    suspension_travel: Annotated[float, Column("m", "from rest to a bump stop", low=0.0, high=5.0)] = 0.09
    bump_stop: Annotated[float, Column("N/m", "stiffness of the bump stops; 0: none", low=0.0, high=1e8)] = 200e3
    unsprung_front: Annotated[float, Column("kg", "mass of a front wheel and its hub", low=1e-3, high=1e4)] = 40.0
    unsprung_rear: Annotated[float, Column("kg", "mass of a rear wheel and its hub", low=1e-3, high=1e4)] = 40.0
    tyre_spring: Annotated[float, Column("N/m", "vertical stiffness of a tyre", low=100.0, high=1e7)] = 220e3
    tyre_damper: Annotated[float, Column("N s/m", "vertical damping of a tyre", low=0.0, high=1e5)] = 150.0
    tyre_b_long: Annotated[float, Column("", "magic formula, longitudinal stiffness factor", low=0.1, high=100.0)] = (
        10.0
    )
    tyre_c_long: Annotated[float, Column("", "magic formula, longitudinal shape factor", low=0.1, high=2.0)] = 1.65
    tyre_d_long: Annotated[float, Column("", "magic formula, longitudinal peak factor", low=0.1, high=5.0)] = 1.0
    tyre_e_long: Annotated[float, Column("", "magic formula, longitudinal curvature factor", low=-20.0, high=1.0)] = (
        0.97
    )
    tyre_b_lat: Annotated[float, Column("", "magic formula, lateral stiffness factor", low=0.1, high=100.0)] = 8.0
    tyre_c_lat: Annotated[float, Column("", "magic formula, lateral shape factor", low=0.1, high=2.0)] = 1.3
    tyre_d_lat: Annotated[float, Column("", "magic formula, lateral peak factor", low=0.1, high=5.0)] = 1.0
    tyre_e_lat: Annotated[float, Column("", "magic formula, lateral curvature factor", low=-20.0, high=1.0)] = -1.0
    tyre_mu: Annotated[float, Column("", "friction coefficient at the nominal load", low=0.0, high=5.0)] = 1.0
    grip_rear: Annotated[float, Column("", "friction of the rear tyres relative to the front", low=0.1, high=5.0)] = 1.0
    tyre_load: Annotated[float, Column("N", "nominal load of one tyre", low=0.1, high=1e6)] = 4000.0
    tyre_load_sensitivity: Annotated[float, Column("", "loss of friction per nominal load", low=0.0, high=1.0)] = 0.15
    relaxation_lateral: Annotated[float, Column("m", "build-up distance of the side force", low=0.05, high=10.0)] = 0.6
    relaxation_longitudinal: Annotated[float, Column("m", "of the force along", low=0.01, high=10.0)] = 0.15
    rolling_resistance: Annotated[float, Column("", "rolling resistance per load", low=0.0, high=1.0)] = 0.015
    efficiency: Annotated[float, Column("", "mechanical over electrical power", low=0.01, high=1.0)] = 0.85
    regeneration: Annotated[
        float, Column("", "share of engine braking that charges the battery", low=0.0, high=1.0)
    ] = 0.0
    idle_power: Annotated[float, Column("W", "power of the electronics, of the battery", low=0.0, high=1e6)] = 0.0
    cells: Annotated[float, Column("", "battery cells in series", low=1.0, high=300.0)] = 1.0
    capacity: Annotated[float, Column("mAh", "capacity of the drive's battery, 0: none", low=0.0, high=1e7)] = 0.0
    cell_resistance: Annotated[float, Column("ohm", "internal resistance of one cell", low=0.0, high=1.0)] = 0.003


class Command(NamedTuple):
    """The driver's inputs; after a timeout a car keeps its steering and brakes gently."""

    steer: Annotated[float, Column("rad", "wanted road-wheel angle, positive to the left", low=-1.5, high=1.5)] = 0.0
    throttle: Annotated[float, Column("", "accelerator pedal", low=0.0, high=1.0, failsafe=0.0, brake=0.0)] = 0.0
    brake: Annotated[float, Column("", "brake pedal", low=0.0, high=1.0, failsafe=0.3, brake=1.0)] = 0.0
    gear: Annotated[float, Column("", "1 forward, 0 neutral, -1 reverse", low=-1.0, high=1.0)] = 1.0
    handbrake: Annotated[float, Column("", "handbrake on the rear axle", low=0.0, high=1.0)] = 0.0


def steered(angle: float, demand: float, limit: float, rate_max: float, dt: float) -> float:
    """Return the road-wheel angle after dt, rad."""
    reach = rate_max * dt
    return angle + clamp(clamp(demand, -limit, limit) - angle, -reach, reach)


def drive_force_max(speed: float, p: Parameters) -> float:
    """Return the drive force at full throttle, N: constant torque, then constant power."""
    return minimum(p.engine_torque * p.final_drive / p.wheel_radius, p.power_max / maximum(absolute(speed), 0.1))


def engine_drag(speed: float, p: Parameters) -> float:
    """Return the force (N) of engine braking without throttle at a speed (m/s); it fades out below walking speed."""
    return p.engine_brake * p.final_drive / p.wheel_radius * clamp(0.5 * speed, -1.0, 1.0)


def drive_force(throttle: float, gear: float, speed: float, charge: float, p: Parameters) -> float:
    """Return the force of the driven wheels along the car, N, before the tyres limit it; weak with an empty battery."""
    direction = select(gear > 0.5, 1.0, select(gear < -0.5, -1.0, 0.0))
    pedal = clamp(throttle, 0.0, 1.0)
    push = direction * pedal * drive_force_max(speed, p) * drive_strength(charge)
    return push - absolute(direction) * (1.0 - pedal) * engine_drag(speed, p)


def powered(charge: float, power: float, p: Parameters, dt: float) -> BatteryState:
    """Return the battery after dt at that mechanical power (W); negative power charges it by `regeneration`."""
    drawn = p.idle_power + maximum(power, 0.0) * (1.0 / p.efficiency) + p.regeneration * minimum(power, 0.0)
    after = optional_discharged(charge, drawn, p.cells, p.cell_resistance, p.capacity, dt)
    return BatteryState(minimum(after.charge, 1.0), after.voltage, after.current)


def unpowered(charge: float, power: float, p: Parameters, dt: float) -> BatteryState:
    """Return the battery of a car without one."""
    return BatteryState(charge, 0.0, 0.0)


def full_voltage(p: Parameters) -> float:
    """Return the voltage of the full battery at rest, V; 0 without one."""
    return select(p.capacity > 0.0, p.cells * FULL_CELL, 0.0)


def brake_force_max(p: Parameters) -> float:
    """Return the force of all four wheels at full pedal, N, before the tyres limit it."""
    return 2.0 * p.brake_torque / p.wheel_radius


def brake_forces(u: Command, p: Parameters) -> tuple[float, float]:
    """Return the brake forces of both axles, N >= 0; the handbrake acts on the rear axle with full torque."""
    force = brake_force_max(p)
    pedal = clamp(u.brake, 0.0, 1.0) * force
    handbrake = clamp(u.handbrake, 0.0, 1.0) * force
    return pedal * p.brake_bias, maximum(pedal * (1.0 - p.brake_bias), handbrake)


def transmitted(drive: float, brake: float, direction: float, grip: float) -> tuple[float, float, float]:
    """Return the parts of a drive and a brake force (N) that the tyres transmit, a push and a resistance >= 0, and
    the force of the engine that they bear.

    Wheels pass on what remains of the drive's torque after their brakes, and friction limits the remainder to `grip`.
    `direction` is the sign of the car's speed; 0 while it stands.
    """
    standing = select(absolute(drive) > brake, sign(drive) * brake, 0.0)  # a weaker drive leaves the brake its hold
    moving = direction * clamp(direction * drive, 0.0, brake)
    overcome = select(direction == 0.0, standing, moving)
    push = clamp(drive - overcome, -grip, grip)
    return push, minimum(brake - absolute(overcome), maximum(0.0, grip + direction * push)), push + overcome


def holding(speed: float, push: float, resistance: float) -> float:
    """Return the force (N) of a resistance (>= 0): against the motion, or holding a standing car against a push."""
    return select(speed == 0.0, -clamp(push, -resistance, resistance), -sign(speed) * resistance)


def slowed(speed: float, loss: float) -> tuple[float, float]:
    """Return the speed after a resistance of at most `loss` (>= 0, m/s), exactly 0 if it stops, and the change."""
    change = -sign(speed) * minimum(absolute(speed), loss)
    return select(absolute(speed) <= loss, 0.0, speed + change), change


def turned_velocity(vx: float, vy: float, angle: float) -> tuple[float, float]:
    """Return a velocity in axes turned by an angle (rad); its size is preserved to rounding."""
    t = 0.5 * angle
    scale = 1.0 / (1.0 + t * t)
    sine, cosine = 2.0 * t * scale, (1.0 - t * t) * scale
    return vx * cosine + vy * sine, vy * cosine - vx * sine


def air_speed(vx: float, vy: float, sine: float, cosine: float, w: Environment) -> tuple[float, float]:
    """Return the air speed in body axes, m/s, of a car moving at (vx, vy) with that sine and cosine of yaw."""
    return vx - (w.wind_x * cosine + w.wind_y * sine), vy - (w.wind_y * cosine - w.wind_x * sine)


def air_drag(ux: float, uy: float, p: Parameters, w: Environment) -> tuple[float, float]:
    """Return the drag in body axes, N; side wind uses the same coefficient and area."""
    factor = 0.5 * w.air_density * p.drag_coefficient * p.frontal_area * sqrt(ux * ux + uy * uy)
    return -factor * ux, -factor * uy


def down_forces(ux: float, p: Parameters, w: Environment) -> tuple[float, float]:
    """Return the down-force on the front and the rear axle, N."""
    pressure = 0.5 * w.air_density * p.frontal_area * ux * ux
    return pressure * p.lift_front, pressure * p.lift_rear


def axle_loads(
    acceleration: float, down_front: float, down_rear: float, p: Parameters, w: Environment
) -> tuple[float, float]:
    """Return the load on the front and the rear axle, N >= 0.

    `acceleration` is force over mass along the car (m/s2), not the rate of its body-frame speed, which also changes
    when the car turns.
    """
    wheelbase = p.cg_to_front + p.cg_to_rear
    share = p.mass / wheelbase
    transfer = share * p.cg_height * acceleration
    front = share * p.cg_to_rear * w.gravity - transfer + down_front
    rear = share * p.cg_to_front * w.gravity + transfer + down_rear
    return maximum(front, 0.0), maximum(rear, 0.0)


def car_body(p: Parameters) -> Body:
    """Return the box of a car and its wheels, from its wheelbase, tracks, centre of gravity and wheels.

    The factors are those of road cars: a wheelbase of 2.7 m belongs to a length of 4.4 m, a track of 1.55 m to a width
    of 1.8 m, a centre of gravity at 0.55 m to a height of 1.4 m. Wheels roll over what is lower than a tenth of their
    radius, 3 cm; everything higher touches the box.
    """
    half_length = 0.82 * (p.cg_to_front + p.cg_to_rear)
    half_width, low = 0.295 * (p.track_front + p.track_rear), 0.1 * p.wheel_radius
    high = maximum(2.6 * p.cg_height, 2.0 * p.wheel_radius)
    ahead, flat = 0.5 * (p.cg_to_front - p.cg_to_rear), UNTURNABLE + 0.0 * half_length
    return Body(
        *(p.mass, flat, flat, p.inertia_z, half_length, half_width, 0.5 * (high - low), 0.5 * (high + low), BOX, ahead),
        planar=1.0,
    )


def car_bumped(s: Any, p: Parameters, b: Bump) -> Any:
    """Return the state of a car, of any level with slip, after contact changed its position, heading and velocities."""
    sine, cosine = sincos(s.yaw)
    vx, vy = s.vx + b.dvx * cosine + b.dvy * sine, s.vy + b.dvy * cosine - b.dvx * sine
    vx, vy = turned_velocity(vx, vy, b.tz)
    return s._replace(x=s.x + b.dx, y=s.y + b.dy, yaw=s.yaw + b.tz, vx=vx, vy=vy, yaw_rate=s.yaw_rate + b.dwz)


SPEED_GAIN = 1.5  # 1/s: of the wanted acceleration per speed error
HOLDING_BRAKE = 0.5
GRAVITY, AIR_DENSITY = 9.80665, 1.225  # an estimate of the resistance; the gain corrects the rest


def pursuit_steer(yaw: float, steer_before: float, p: Parameters, d: Desire) -> float:
    """Return the road-wheel angle (rad) of the circle through the point aimed at.

    Pure pursuit of the centre of gravity instead of the rear axle. A point behind is approached on the tightest circle;
    without a wanted direction the angle stays unchanged.
    """
    speed = sqrt(d.vx * d.vx + d.vy * d.vy)
    sine, cosine = sincos(yaw)
    scale = 1.0 / maximum(speed, 1e-6)
    left = (d.vy * cosine - d.vx * sine) * scale
    forward = (d.vx * cosine + d.vy * sine) * scale
    left = select(forward < 0.0, select(left < 0.0, -1.0, 1.0), left)
    wheelbase = p.cg_to_front + p.cg_to_rear
    reach = maximum(d.ahead + 2.0 * p.cg_to_rear * maximum(forward, 0.0), 0.1 * wheelbase)
    angle = clamp(atan2(2.0 * wheelbase * left, reach), -p.steer_max, p.steer_max)
    return select(speed < 1e-6, steer_before, angle)


def steering(yaw: float, steer_before: float, p: Parameters, d: Desire) -> float:
    """Return the road-wheel angle (rad): pursuit, mirrored in reverse, plus the angle for the bend of the path.

    On a bend the heading differs from the course of the centre of gravity; the pursuit must not correct that.
    """
    speed = sqrt(d.vx * d.vx + d.vy * d.vy)
    bends = (d.turn != 0.0) & (speed > 1e-3)
    curvature = select(bends, d.gear * d.turn / maximum(speed, 1e-3), 0.0)
    beside = select(bends, asin(clamp(p.cg_to_rear * curvature, -0.9, 0.9)), 0.0)
    ahead = Desire(d.gear * d.vx, d.gear * d.vy, d.vz, d.ahead, d.turn, d.gear)
    pursuit = pursuit_steer(yaw + beside, d.gear * steer_before, p, ahead)
    bend = atan((p.cg_to_front + p.cg_to_rear) * curvature)
    return select(bends, clamp(d.gear * pursuit + bend, -p.steer_max, p.steer_max), d.gear * pursuit)


def planar_pose(s: Any, p: Parameters) -> Pose:
    """Return the pose, parallel to the ground under the wheels."""
    qx, qy, qz, qw = euler_quaternion(s.roll, s.pitch, s.yaw)
    sine, cosine = sincos(s.yaw)
    vx, vy = s.vx * cosine - s.vy * sine, s.vx * sine + s.vy * cosine
    vz = s.vy * tan(s.roll) - s.vx * tan(s.pitch)
    zero = 0.0 * s.x
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, vx, vy, vz, zero, zero, s.yaw_rate)


def guide(s: Any, u: Command, p: Parameters, d: Desire) -> Command:
    """Steer by pursuit and hold the wanted speed; brake to a halt if no speed is wanted."""
    vx = d.gear * s.vx
    speed = sqrt(d.vx * d.vx + d.vy * d.vy)
    halt = speed < 1e-3
    drag = 0.5 * AIR_DENSITY * p.drag_coefficient * p.frontal_area * vx * vx
    resistance = drag + p.rolling_resistance * p.mass * GRAVITY
    force = p.mass * SPEED_GAIN * (speed - vx) + select(halt, 0.0, resistance)
    rolling = force + engine_drag(maximum(vx, 0.0), p)
    most = drive_force_max(vx, p) + engine_drag(maximum(vx, 0.0), p)
    throttle = clamp(rolling / maximum(most, 1e-6), 0.0, 1.0)
    brake = clamp(-rolling / maximum(brake_force_max(p), 1e-6), 0.0, 1.0)
    return Command(
        steer=steering(s.yaw, u.steer, p, d),
        throttle=select(halt, 0.0, throttle),
        brake=select(halt, maximum(brake, HOLDING_BRAKE), brake),
        gear=d.gear,
        handbrake=0.0 * vx,
    )
