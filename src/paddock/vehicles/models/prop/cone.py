"""Road cone: stands on a wide base, is knocked over, flies and rolls."""

from paddock.vehicles.model import CONE, Body
from paddock.vehicles.parts.prop import Parameters, prop_model, solid


def body(p: Parameters) -> Body:
    """Return a cone as wide as its base."""
    return solid(p, CONE)


MODEL = prop_model("cone", "A road cone: knocked over, it rolls and slides", body)
