"""From a wanted velocity to the pedals and the wheel of a car, whatever its fidelity."""

from __future__ import annotations

from paddock.compute.math import asin, atan, atan2, clamp, maximum, select, sincos, sqrt
from paddock.vehicles.model import Desire
from paddock.vehicles.parts.brakes import brake_force_max
from paddock.vehicles.parts.car_controls import Command
from paddock.vehicles.parts.car_parameters import Parameters
from paddock.vehicles.parts.drivetrain import drive_force_max

SPEED_GAIN = 1.5  # 1/s: of the wanted acceleration per speed error
HOLDING_BRAKE = 0.5
GRAVITY, AIR_DENSITY = 9.80665, 1.225  # a driver knows roughly what resists; the gain corrects the rest


def pursuit_steer(yaw: float, steer_before: float, p: Parameters, d: Desire) -> float:
    """The road-wheel angle (rad) of the circle that takes the centre of gravity through the point aimed at.

    Pure pursuit, with the offset of the centre of gravity from the rear axle taken into account. A point behind is
    turned to on the tightest circle; without a wanted direction the wheels stay as they are.
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
    """The road-wheel angle (rad): pursuit, mirrored when the tail leads, and the angle that the path's bend needs.

    On a bend the nose points beside the course of the centre of gravity; the pursuit must not take that for an error.
    """
    speed = sqrt(d.vx * d.vx + d.vy * d.vy)
    bends = (d.turn != 0.0) & (speed > 1e-3)
    curvature = select(bends, d.gear * d.turn / maximum(speed, 1e-3), 0.0)
    beside = select(bends, asin(clamp(p.cg_to_rear * curvature, -0.9, 0.9)), 0.0)
    ahead = Desire(d.gear * d.vx, d.gear * d.vy, d.vz, d.ahead, d.turn, d.gear)
    pursuit = pursuit_steer(yaw + beside, d.gear * steer_before, p, ahead)
    bend = atan((p.cg_to_front + p.cg_to_rear) * curvature)
    return select(bends, clamp(d.gear * pursuit + bend, -p.steer_max, p.steer_max), d.gear * pursuit)


def guided(yaw: float, forward: float, u: Command, p: Parameters, d: Desire) -> Command:
    """Steer by pursuit and hold the wanted speed; brakes to a halt when no speed is wanted."""
    vx = d.gear * forward
    wanted = sqrt(d.vx * d.vx + d.vy * d.vy)
    halt = wanted < 1e-3
    drag = 0.5 * AIR_DENSITY * p.drag_coefficient * p.frontal_area * vx * vx
    resistance = drag + p.rolling_resistance * p.mass * GRAVITY
    force = p.mass * SPEED_GAIN * (wanted - vx) + select(halt, 0.0, resistance)
    throttle = clamp(force / maximum(drive_force_max(vx, p), 1e-6), 0.0, 1.0)
    brake = clamp(-force / maximum(brake_force_max(p), 1e-6), 0.0, 1.0)
    return Command(
        steer=steering(yaw, u.steer, p, d),
        throttle=select(halt, 0.0, throttle),
        brake=select(halt, maximum(brake, HOLDING_BRAKE), brake),
        gear=d.gear + 0.0 * vx,
        handbrake=0.0 * vx,
    )
