"""Crate: a box that can be pushed, thrown and stacked."""

from paddock.vehicles.model import BOX, Body
from paddock.vehicles.parts.prop import Parameters, prop_model, solid


def body(p: Parameters) -> Body:
    """Return a box."""
    return solid(p, BOX)


MODEL = prop_model("crate", "A crate: can be pushed and stacked", body)
