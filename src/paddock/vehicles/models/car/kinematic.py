"""Car, level 1: a kinematic bicycle about the centre of gravity, for traffic and planning at modest accelerations.

The wheels roll without slip, so there is no understeer and no limit of lateral acceleration. Unused at this level:
inertia (except in the energy), tracks, height of the centre of gravity, brake bias, drive split, tyre side force, and
the subsystems of the higher levels, except dead times. Friction only limits the force along the car, as tyre_mu
times tyre_d_long times its weight and down-force.
"""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, atan, minimum, select, sign, sin, sincos, tan
from paddock.compute.quaternion import euler_quaternion
from paddock.vehicles.model import ACTUATORS, Bump, Placement, Subsystem
from paddock.vehicles.parts.battery import BatteryColumns
from paddock.vehicles.parts.car import (
    CarColumns,
    Command,
    Parameters,
    air_drag,
    air_speed,
    brake_forces,
    down_forces,
    drive_force,
    full_voltage,
    holding,
    powered,
    slowed,
    steered,
    transmitted,
)
from paddock.vehicles.parts.car_subsystems import (
    DelayColumns,
    car_model,
    delay_columns,
    delayed,
    first_delays,
    throttle_now,
)
from paddock.world.columns import Column, Environment, Pose, column_tuple
from paddock.world.ground import Surface, surface


@column_tuple
class State(CarColumns, DelayColumns, BatteryColumns):
    """Position of the centre of gravity over the ground, heading, speed, commands on their way, battery, wheels."""

    vx: Annotated[float, Column("m/s", "velocity forward, of the rear axle")]
    wheel_speed: Annotated[float, Column("rad/s", "rotation of the wheels")]


class Report(NamedTuple):
    """Accelerations of the centre of gravity; this level has no forces of single wheels."""

    ax: Annotated[float, Column("m/s2", "force over mass, forward")]
    ay: Annotated[float, Column("m/s2", "speed times rate of turn, to the left")]


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """Change the speed by the forces, then follow the circle exactly."""
    steer_line, drive_line, steer_demand, pedal = delayed(s, u, p, dt)
    steer = steered(s.steer, steer_demand, p.steer_max, p.steer_rate_max, dt)
    at = sincos(s.yaw)
    ground = surface(s.x, s.y, w)
    slope = ground.slope_x * at[1] + ground.slope_y * at[0], ground.slope_y * at[1] - ground.slope_x * at[0]
    push, resistance, engine = _along(s, u, pedal, p, w, at, ground)
    push = push - _pull(slope, p, w)
    impulse = dt * (1.0 / p.mass)  # change of speed per force; the quotient of constants leaves the loop
    vx, _ = slowed(s.vx + impulse * push, impulse * resistance)
    speed = 0.5 * (s.vx + vx)
    battery = powered(s.charge, engine * speed, p, dt)
    side, rate = _turning(speed, steer, p)
    half = 0.5 * rate * dt
    sine, cosine = sincos(s.yaw + half)
    chord = dt * _sinc(half)  # the chord of the arc, per speed
    x, y = s.x + chord * (speed * cosine - side * sine), s.y + chord * (speed * sine + side * cosine)
    z = ground.height + ((x - s.x) * ground.slope_x + (y - s.y) * ground.slope_y)
    return State(
        *(x, y, z, s.yaw + dt * rate, vx, steer, 0.0 - atan(slope[0]), atan(slope[1])),
        *delay_columns(steer_line, drive_line),
        *(battery.charge, battery.voltage, battery.current, vx * (1.0 / p.wheel_radius)),
    )


def _pull(slope: tuple[float, float], p: Parameters, w: Environment) -> float:
    """Return gravity's pull backwards on ground of these slopes in the car's axes, N."""
    return p.mass * w.gravity * slope[0] / (1.0 + (slope[0] * slope[0] + slope[1] * slope[1]))


def _along(
    s: State, u: Command, pedal: float, p: Parameters, w: Environment, heading: tuple[float, float], ground: Surface
) -> tuple[float, float, float]:
    """Return the push forward, the largest resistance to the motion, and the force of the engine, N."""
    ux, uy = air_speed(s.vx, _turning(s.vx, s.steer, p)[0], heading[0], heading[1], w)
    down_front, down_rear = down_forces(ux, p, w)
    load = p.mass * w.gravity + down_front + down_rear
    grip = p.tyre_mu * p.tyre_d_long * ground.mu * load
    front, rear = brake_forces(u, p)
    # a hard handbrake locks the rear wheels: friction of their share of the weight limits the force
    rear_grip = grip * (p.cg_to_front / (p.cg_to_front + p.cg_to_rear))
    brake = front + minimum(rear, rear_grip) + p.rolling_resistance * load
    drive = drive_force(pedal, u.gear, s.vx, s.charge, p)
    push, resistance, engine = transmitted(drive, brake, sign(s.vx), grip)
    return push + air_drag(ux, uy, p, w)[0], resistance, engine


def _turning(vx: float, steer: float, p: Parameters) -> tuple[float, float]:
    """Return the sideways speed (m/s, left) of the centre of gravity and the yaw rate (rad/s)."""
    rate = vx * tan(steer) * (1.0 / (p.cg_to_front + p.cg_to_rear))
    return p.cg_to_rear * rate, rate


def _sinc(angle: float) -> float:
    """Return sin(angle) / angle, 1 at 0."""
    small = absolute(angle) < 1e-4
    return select(small, 1.0 - angle * angle * (1.0 / 6.0), sin(angle) / select(small, 1.0, angle))


def pose(s: State, p: Parameters) -> Pose:
    """Return the pose, parallel to the ground."""
    qx, qy, qz, qw = euler_quaternion(s.roll, s.pitch, s.yaw)
    sine, cosine = sincos(s.yaw)
    side, rate = _turning(s.vx, s.steer, p)
    zero = 0.0 * s.x
    vx, vy = s.vx * cosine - side * sine, s.vx * sine + side * cosine
    vz = side * tan(s.roll) - s.vx * tan(s.pitch)
    return Pose(s.x, s.y, s.z, qx, qy, qz, qw, vx, vy, vz, zero, zero, rate)


def report(s: State, u: Command, p: Parameters, w: Environment) -> Report:
    """Return the accelerations under the present commands."""
    at = sincos(s.yaw)
    ground = surface(s.x, s.y, w)
    slope = ground.slope_x * at[1] + ground.slope_y * at[0], ground.slope_y * at[1] - ground.slope_x * at[0]
    push, resistance, _ = _along(s, u, throttle_now(s, u, p), p, w, at, ground)
    forward = (push + holding(s.vx, push - _pull(slope, p, w), resistance)) * (1.0 / p.mass)
    return Report(forward, s.vx * _turning(s.vx, s.steer, p)[1])


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """Start on the ground, wheels straight, rolling at the given speed."""
    zero, turning = 0.0 * at.x, at.speed * (1.0 / p.wheel_radius)
    sine, cosine = sincos(at.yaw)
    ground = surface(at.x, at.y, w)
    pitch = 0.0 - atan(ground.slope_x * cosine + ground.slope_y * sine)
    roll = atan(ground.slope_y * cosine - ground.slope_x * sine)
    return State(
        *(at.x, at.y, ground.height, at.yaw, at.speed, zero, pitch, roll),
        *first_delays(zero),
        *(1.0, full_voltage(p), zero, turning),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Return the kinetic energy and the potential energy of the ground's height, J."""
    side, rate = _turning(s.vx, s.steer, p)
    return 0.5 * p.mass * (s.vx * s.vx + side * side) + 0.5 * p.inertia_z * rate * rate + p.mass * w.gravity * s.z


def bumped(s: State, p: Parameters, b: Bump) -> State:
    """Change position and speed; wheels without slip take up the impulse across them."""
    sine, cosine = sincos(s.yaw)
    return s._replace(x=s.x + b.dx, y=s.y + b.dy, vx=s.vx + b.dvx * cosine + b.dvy * sine)


MODEL = car_model(
    summary="Kinematic bicycle: rolls in the direction of its wheels, without slip",
    state=State,
    step=step,
    pose=pose,
    place=place,
    energy=energy,
    dt_max=0.05,
    telemetry=("steer", "wheel_speed", "charge", "voltage", "current"),
    report=report,
    report_type=Report,
    subsystems={
        "steering": Subsystem(steered),
        "drivetrain": Subsystem(drive_force),
        "brake": Subsystem(brake_forces),
        "actuators": ACTUATORS,
    },
    bumped=bumped,
)
