"""From a wanted velocity to the pedals and the wheel of a car, whatever its fidelity."""

from __future__ import annotations

from paddock.compute.math import atan2, clamp, maximum, select, sincos, sqrt
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


def guided(yaw: float, vx: float, u: Command, p: Parameters, d: Desire) -> Command:
    """Steer by pure pursuit and hold the wanted speed; never reverses, and brakes to a halt when no speed is wanted."""
    wanted = sqrt(d.vx * d.vx + d.vy * d.vy)
    halt = wanted < 1e-3
    drag = 0.5 * AIR_DENSITY * p.drag_coefficient * p.frontal_area * vx * vx
    resistance = drag + p.rolling_resistance * p.mass * GRAVITY
    force = p.mass * SPEED_GAIN * (wanted - vx) + select(halt, 0.0, resistance)
    throttle = clamp(force / maximum(drive_force_max(vx, p), 1e-6), 0.0, 1.0)
    brake = clamp(-force / maximum(brake_force_max(p), 1e-6), 0.0, 1.0)
    return Command(
        steer=pursuit_steer(yaw, u.steer, p, d),
        throttle=select(halt, 0.0, throttle),
        brake=select(halt, maximum(brake, HOLDING_BRAKE), brake),
        gear=1.0 + 0.0 * vx,
        handbrake=0.0 * vx,
    )
