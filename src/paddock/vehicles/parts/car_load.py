"""How the weight of a car rests on its axles."""

from __future__ import annotations

from paddock.compute.math import maximum
from paddock.vehicles.parts.car_parameters import Parameters
from paddock.world.pose import Environment


def axle_loads(
    acceleration: float, down_front: float, down_rear: float, p: Parameters, w: Environment
) -> tuple[float, float]:
    """The load on the front and the rear axle, N >= 0.

    `acceleration` is force over mass along the car (m/s2), not the rate of its body-frame speed, which also changes
    when the car merely turns.
    """
    wheelbase = p.cg_to_front + p.cg_to_rear
    share = p.mass / wheelbase
    transfer = share * p.cg_height * acceleration
    front = share * p.cg_to_rear * w.gravity - transfer + down_front
    rear = share * p.cg_to_front * w.gravity + transfer + down_rear
    return maximum(front, 0.0), maximum(rear, 0.0)
