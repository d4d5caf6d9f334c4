"""Drivetrain: engine torque through one ratio to the wheels, limited by the engine's power."""

from __future__ import annotations

from paddock.compute.math import absolute, clamp, maximum, minimum, select
from paddock.vehicles.parts.car_parameters import Parameters


def drive_force_max(speed: float, p: Parameters) -> float:
    """The drive force at full throttle, N: constant torque, then constant power."""
    return minimum(p.engine_torque * p.final_drive / p.wheel_radius, p.power_max / maximum(absolute(speed), 0.1))


def drive_force(throttle: float, gear: float, speed: float, p: Parameters) -> float:
    """The force of the driven wheels along the car, N, before the tyres limit it."""
    direction = select(gear > 0.5, 1.0, select(gear < -0.5, -1.0, 0.0))
    return direction * clamp(throttle, 0.0, 1.0) * drive_force_max(speed, p)
