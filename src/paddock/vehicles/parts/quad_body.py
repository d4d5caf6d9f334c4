"""A quadrotor's body: motors with lag, battery, thrust and torques, rigid-body motion, drag and the ground."""

from __future__ import annotations

from typing import NamedTuple

from paddock.compute.math import exp, maximum, minimum, select, sqrt
from paddock.compute.quaternion import rotate
from paddock.vehicles.parts.battery import FULL_CELL, loaded_voltage, open_circuit
from paddock.vehicles.parts.flight_control import MOTORS
from paddock.vehicles.parts.mixer import Mix
from paddock.vehicles.parts.quad_columns import Command, Parameters, State
from paddock.world.pose import Environment

LEVELLING = 12.0
"""1/s: how fast the legs right a vehicle that stands on the ground."""


class Motors(NamedTuple):
    """Motor speeds (shares of the maximum), battery charge (share) and voltage (V) after a tick."""

    motor_1: float
    motor_2: float
    motor_3: float
    motor_4: float
    charge: float
    voltage: float


class Body(NamedTuple):
    """Position, velocity, attitude and body rates after a tick."""

    x: float
    y: float
    z: float
    vx: float
    vy: float
    vz: float
    qx: float
    qy: float
    qz: float
    qw: float
    wx: float
    wy: float
    wz: float


def motors(s: State, u: Command, p: Parameters, m: Mix, dt: float) -> Motors:
    """Motors approach the speed that gives the wanted thrust, as far as the battery's voltage can drive them."""
    e = p.cells * open_circuit(s.charge)
    cubes = (
        s.motor_1 * s.motor_1 * s.motor_1
        + s.motor_2 * s.motor_2 * s.motor_2
        + s.motor_3 * s.motor_3 * s.motor_3
        + s.motor_4 * s.motor_4 * s.motor_4
    )
    power = p.power_ratio * p.thrust_max * cubes
    voltage = loaded_voltage(e, p.cells * p.cell_resistance, power)
    top = select(u.armed > 0.5, voltage * (1.0 / (p.cells * FULL_CELL)), 0.0)
    # armed motors never stop: that is how they stay in step, and it keeps the root away from its steep end;
    # an autopilot that commands each motor has an idle speed of its own
    idle = select(u.mode == MOTORS, 0.0, p.motor_idle * p.motor_idle)
    share = 1.0 - exp(-dt / p.motor_lag)
    current = power / maximum(voltage, 0.1)
    return Motors(
        s.motor_1 + share * (minimum(sqrt(maximum(m.motor_1, idle)), top) - s.motor_1),
        s.motor_2 + share * (minimum(sqrt(maximum(m.motor_2, idle)), top) - s.motor_2),
        s.motor_3 + share * (minimum(sqrt(maximum(m.motor_3, idle)), top) - s.motor_3),
        s.motor_4 + share * (minimum(sqrt(maximum(m.motor_4, idle)), top) - s.motor_4),
        maximum(s.charge - current * (dt / (3.6 * p.capacity)), -0.02),
        voltage,
    )


def body(s: State, p: Parameters, w: Environment, n: Motors, dt: float) -> Body:
    """Rigid-body motion by semi-implicit Euler: rates and velocity first, then attitude and position with the new."""
    f1, f2 = p.thrust_max * n.motor_1 * n.motor_1, p.thrust_max * n.motor_2 * n.motor_2
    f3, f4 = p.thrust_max * n.motor_3 * n.motor_3, p.thrust_max * n.motor_4 * n.motor_4
    lever = 0.7071067811865476 * p.arm
    # each rate uses those already advanced: with the old ones a tumbling body would gain energy
    per_x, per_y, per_z = dt / p.inertia_x, dt / p.inertia_y, dt / p.inertia_z
    wx = s.wx + per_x * (lever * (f2 + f3 - f1 - f4) + (p.inertia_y - p.inertia_z) * s.wy * s.wz)
    wy = s.wy + per_y * (lever * (f2 + f4 - f1 - f3) + (p.inertia_z - p.inertia_x) * s.wz * wx)
    wz = s.wz + per_z * (p.torque_ratio * (f3 + f4 - f1 - f2) + (p.inertia_x - p.inertia_y) * wx * wy)
    qx, qy, qz, qw = turned(s, wx, wy, wz, dt)
    near = p.prop_radius / (4.0 * maximum(s.z - w.ground_z, 0.5 * p.prop_radius))
    lift = (f1 + f2 + f3 + f4) / (p.mass * (1.0 - minimum(p.ground_effect * near * near, 0.5)))
    tx, ty, tz = rotate(s.qx, s.qy, s.qz, s.qw, 0.0, 0.0, lift)
    rx, ry, rz = s.vx - w.wind_x, s.vy - w.wind_y, s.vz - w.wind_z
    # drag implicit in its own speed, so that it can never reverse the motion
    slow = 1.0 / (1.0 + dt * p.drag / p.mass * sqrt(rx * rx + ry * ry + rz * rz))
    vx = w.wind_x + (rx + dt * tx) * slow
    vy = w.wind_y + (ry + dt * ty) * slow
    vz = w.wind_z + (rz + dt * (tz - w.gravity)) * slow
    return grounded(s, p, w, Body(s.x, s.y, s.z, vx, vy, vz, qx, qy, qz, qw, wx, wy, wz), dt)


def turned(s: State, wx: float, wy: float, wz: float, dt: float) -> tuple[float, float, float, float]:
    """The attitude after turning at body rates for dt, of unit length."""
    hx, hy, hz = 0.5 * dt * wx, 0.5 * dt * wy, 0.5 * dt * wz
    qx = s.qx + s.qw * hx + s.qy * hz - s.qz * hy
    qy = s.qy + s.qw * hy + s.qz * hx - s.qx * hz
    qz = s.qz + s.qw * hz + s.qx * hy - s.qy * hx
    qw = s.qw - s.qx * hx - s.qy * hy - s.qz * hz
    scale = 1.0 / sqrt(maximum(qx * qx + qy * qy + qz * qz + qw * qw, 1e-12))
    return qx * scale, qy * scale, qz * scale, qw * scale


def grounded(s: State, p: Parameters, w: Environment, b: Body, dt: float) -> Body:
    """Move, and where the ground stops the fall: no sinking, sliding friction, and legs that right the vehicle."""
    z = s.z + dt * b.vz
    touching = (z <= w.ground_z) & (b.vz <= 0.0)
    on = select(touching, 1.0, 0.0)
    off = 1.0 - on
    speed = sqrt(b.vx * b.vx + b.vy * b.vy)
    slide = 1.0 - on * minimum(w.mu * w.gravity * dt / maximum(speed, 1e-9), 1.0)
    vx, vy = b.vx * slide, b.vy * slide
    lean = 1.0 - on * minimum(LEVELLING * dt, 1.0)
    qx, qy = b.qx * lean, b.qy * lean
    # upside down there is no heading left to right itself by: then it lies as it fell
    flat = b.qz * b.qz + b.qw * b.qw
    qx, qy = select(flat < 1e-4, b.qx, qx), select(flat < 1e-4, b.qy, qy)
    scale = 1.0 / sqrt(maximum(qx * qx + qy * qy + flat, 1e-12))
    return Body(
        x=s.x + dt * vx,
        y=s.y + dt * vy,
        z=maximum(z, w.ground_z),
        vx=vx,
        vy=vy,
        vz=b.vz * off,
        qx=qx * scale,
        qy=qy * scale,
        qz=b.qz * scale,
        qw=b.qw * scale,
        wx=b.wx * off,
        wy=b.wy * off,
        wz=b.wz * off,
    )
