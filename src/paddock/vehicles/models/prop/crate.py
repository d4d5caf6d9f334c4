"""Crate: a box that can be pushed, thrown and stacked."""

from paddock.vehicles.model import BOX, Body, VehicleModel
from paddock.vehicles.parts.prop import (
    Command,
    Parameters,
    State,
    bumped,
    energy,
    guide,
    inertia,
    place,
    pose,
    step,
)


def solid(p: Parameters) -> Body:
    """Return a box."""
    i = inertia(p)
    half_height, ahead = 0.5 * p.height, 0.0 * p.height
    centre = (0.5 - p.balance) * p.height
    return Body(*(p.mass, i.x, i.y, i.z, 0.5 * p.length, 0.5 * p.width, half_height, centre, BOX, ahead), falls=1.0)


MODEL = VehicleModel(
    kind="crate",
    summary="A crate: can be pushed and stacked",
    state=State,
    command=Command,
    parameters=Parameters,
    step=step,
    pose=pose,
    place=place,
    guide=guide,
    energy=energy,
    order=1,
    dt_max=0.01,
    body=solid,
    bumped=bumped,
)
