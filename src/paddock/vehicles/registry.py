"""Finding a vehicle model by name: shipped files, installed entry points, or a user's own dotted name."""

from __future__ import annotations

from functools import cache

from paddock.plugins import find_plugin, plugin_modules
from paddock.vehicles import models
from paddock.vehicles.model import VehicleModel

ENTRY_POINTS = "paddock.vehicles"
"""The entry point group: `my_car = "my_package.my_car"` makes the model `my_car`."""


def model_names() -> list[str]:
    """The names a scenario may give as `model`, besides dotted names of a user's own modules."""
    return sorted(plugin_modules(models, ENTRY_POINTS))


@cache
def find_model(name: str) -> VehicleModel:
    """The model of that name; an unknown one is refused with the nearest name."""
    return find_plugin("model", name, models, ENTRY_POINTS, "MODEL", VehicleModel).named(name)
