"""Air: drag against the wind that the car feels, and down-force on each axle."""

from __future__ import annotations

from paddock.compute.math import sqrt
from paddock.vehicles.parts.car_parameters import Parameters
from paddock.world.pose import Environment


def air_speed(vx: float, vy: float, sine: float, cosine: float, w: Environment) -> tuple[float, float]:
    """The speed through the air, m/s, of a car moving at (vx, vy), both in body axes; sine and cosine of its yaw."""
    return vx - (w.wind_x * cosine + w.wind_y * sine), vy - (w.wind_y * cosine - w.wind_x * sine)


def air_drag(ux: float, uy: float, p: Parameters, w: Environment) -> tuple[float, float]:
    """The drag in body axes, N; the same coefficient and area serve for wind from the side."""
    factor = 0.5 * w.air_density * p.drag_coefficient * p.frontal_area * sqrt(ux * ux + uy * uy)
    return -factor * ux, -factor * uy


def down_forces(ux: float, p: Parameters, w: Environment) -> tuple[float, float]:
    """The down-force on the front and the rear axle, N."""
    pressure = 0.5 * w.air_density * p.frontal_area * ux * ux
    return pressure * p.lift_front, pressure * p.lift_rear
