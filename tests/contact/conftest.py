"""Tables of bodies for the tests of contact."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paddock.contact.bodies import ROW
from paddock.vehicles.model import SPHERE


def bodies(*columns: dict[str, Any]) -> Any:
    """Return the table of bodies: p, v, w, q, mass (0: an obstacle), inertia, half sizes, shape, friction, bounce."""
    table = np.zeros((ROW.size, len(columns)))
    for k, body in enumerate(columns):
        mass, inertia = body.get("mass", 1.0), body.get("inertia", np.inf)
        table[0:3, k], table[3:7, k] = body["p"], body.get("q", (0.0, 0.0, 0.0, 1.0))
        table[7:10, k], table[10:13, k] = body.get("v", (0.0, 0.0, 0.0)), body.get("w", (0.0, 0.0, 0.0))
        table[ROW.lightness : ROW.lightness + 2, k] = 1.0 / mass if mass else 0.0
        table[ROW.turning : ROW.turning + 3, k] = 1.0 / np.asarray(inertia) if mass else 0.0
        table[ROW.half : ROW.half + 3, k] = body["half"]
        table[ROW.shape, k] = body.get("shape", SPHERE)
        table[ROW.friction, k], table[ROW.restitution, k] = body.get("friction", 0.0), body.get("bounce", 0.0)
    return table


@pytest.fixture(name="bodies", scope="session")
def bodies_fixture() -> Callable[..., Any]:
    return bodies
