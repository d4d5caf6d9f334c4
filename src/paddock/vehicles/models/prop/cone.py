"""Road cone: stands on a wide base, is knocked over, flies and rolls."""

from paddock.vehicles.model import CONE, Body, VehicleModel
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
    """Return a cone as wide as its base."""
    i = inertia(p)
    half_height, ahead = 0.5 * p.height, 0.0 * p.height
    centre = (0.5 - p.balance) * p.height
    return Body(*(p.mass, i.x, i.y, i.z, 0.5 * p.length, 0.5 * p.width, half_height, centre, CONE, ahead), falls=1.0)


MODEL = VehicleModel(
    kind="cone",
    summary="A road cone: knocked over, it rolls and slides",
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
