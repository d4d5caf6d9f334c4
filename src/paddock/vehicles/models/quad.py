"""Quadrotor: rigid body, four motors with lag, battery, drag, ground, and a full flight controller.

Level top speed follows from drag and the largest tilt; hover and manoeuvres from thrust, inertia and the controller.
The parts: `quad_columns` (state, commands, parameters), `quad_control` (the flight controller), `quad_body` (physics).
"""

from __future__ import annotations

from paddock.compute.math import maximum, select, sqrt
from paddock.compute.quaternion import rotate, yaw_quaternion
from paddock.vehicles.model import Desire, Placement, VehicleModel
from paddock.vehicles.parts.quad import FULL_CELL, VELOCITY, Command, Parameters, State, body, motors
from paddock.vehicles.parts.quad_control import control
from paddock.world.pose import Environment, Pose


def step(s: State, u: Command, p: Parameters, w: Environment, dt: float) -> State:
    """One tick: flight controller, motors and battery, rigid body and ground."""
    c, g, trim = control(s, u, p, w, dt)
    n = motors(s, u, p, c.mix, dt)
    b = body(s, p, w, n, dt)
    return State(
        x=b.x,
        y=b.y,
        z=b.z,
        vx=b.vx,
        vy=b.vy,
        vz=b.vz,
        qx=b.qx,
        qy=b.qy,
        qz=b.qz,
        qw=b.qw,
        wx=b.wx,
        wy=b.wy,
        wz=b.wz,
        motor_1=n.motor_1,
        motor_2=n.motor_2,
        motor_3=n.motor_3,
        motor_4=n.motor_4,
        integral_x=c.integral_x,
        integral_y=c.integral_y,
        integral_z=c.integral_z,
        gyro_x=c.gyro_x,
        gyro_y=c.gyro_y,
        gyro_z=c.gyro_z,
        rate_x=c.rate_x,
        rate_y=c.rate_y,
        rate_z=c.rate_z,
        trim_x=trim.x,
        trim_y=trim.y,
        trim_z=trim.z,
        hold_x=g.hold_x,
        hold_y=g.hold_y,
        hold_z=g.hold_z,
        charge=n.charge,
        voltage=n.voltage,
    )


def pose(s: State, p: Parameters) -> Pose:
    """The rigid body as it is."""
    return Pose(s.x, s.y, s.z, s.qx, s.qy, s.qz, s.qw, s.vx, s.vy, s.vz, s.wx, s.wy, s.wz)


def place(at: Placement, p: Parameters, w: Environment) -> State:
    """In the air it starts hovering with its motors at speed, on the ground with them stopped."""
    qx, qy, qz, qw = yaw_quaternion(at.yaw)
    zero = 0.0 * at.x
    vx, vy, vz = rotate(qx, qy, qz, qw, at.speed, zero, zero)
    hover = sqrt(p.mass * w.gravity / (4.0 * p.thrust_max))
    speed = select(at.z > w.ground_z + 0.01, hover, zero)
    return State(
        *(at.x, at.y, at.z, vx, vy, vz, qx, qy, qz, qw, zero, zero, zero),
        *(speed, speed, speed, speed),
        *(zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero),
        *(at.x, at.y, at.z, 1.0, p.cells * FULL_CELL),
    )


def guide(s: State, u: Command, p: Parameters, d: Desire) -> Command:
    """Armed, in velocity mode, with the wanted velocity; the pilot's inputs stay as they are.

    The velocity loop turns an error into an acceleration: the one that a bend needs is asked for as such an error.
    """
    bends = d.turn != 0.0
    inwards = d.turn / maximum(p.velocity_p, 0.1)
    vx, vy = select(bends, d.vx - inwards * d.vy, d.vx), select(bends, d.vy + inwards * d.vx, d.vy)
    return Command(
        *(1.0, VELOCITY, u.roll, u.pitch, u.yaw, u.throttle, u.x, u.y, u.z, u.heading, vx, vy, d.vz),
        *(u.motor_1, u.motor_2, u.motor_3, u.motor_4),
    )


def energy(s: State, p: Parameters, w: Environment) -> float:
    """Kinetic (linear and rotational) and potential energy, J."""
    linear = p.mass * (0.5 * (s.vx * s.vx + s.vy * s.vy + s.vz * s.vz) + w.gravity * (s.z - w.ground_z))
    spin = p.inertia_x * s.wx * s.wx + p.inertia_y * s.wy * s.wy + p.inertia_z * s.wz * s.wz
    return linear + 0.5 * spin


MODEL = VehicleModel(
    kind="quad",
    summary="Quadrotor with motors, battery, drag, ground and a full flight controller",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=1.0 / 240.0,
    telemetry=("charge", "voltage"),
    steady=("armed", "mode"),
)
