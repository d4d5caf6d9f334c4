"""Finding a kind of craft by its name; the one table of kinds."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from paddock.errors import unknown_name
from paddock.sitl.autopilot.craft import Craft

CRAFTS = {
    "copter": "paddock.sitl.autopilot.copter:Copter",
    "rover": "paddock.sitl.autopilot.rover:Rover",
    "rover_ackermann": "paddock.sitl.autopilot.rover:AckermannRover",
    "plane": "paddock.sitl.autopilot.plane:Plane",
}
"""Module and class of each kind, imported when it is first asked for."""


def drives(kind: str) -> bool:
    """Whether that kind stays on the ground: it has no height to keep, and reverses."""
    return kind.startswith("rover")


@cache
def find_craft(kind: str) -> type[Craft]:
    """The class of that kind; an unknown one is refused with the nearest name."""
    if kind not in CRAFTS:
        raise unknown_name("craft", kind, CRAFTS)
    module, _, name = CRAFTS[kind].partition(":")
    found = getattr(import_module(module), name)
    assert isinstance(found, type) and issubclass(found, Craft)
    return found
