"""Finding an adapter by its type: shipped files, installed entry points, or a user's own dotted name."""

from __future__ import annotations

from functools import cache

from paddock.errors import PaddockError
from paddock.plugins import find_plugin, plugin_modules
from paddock.sitl import adapters
from paddock.sitl.adapter import SimulatorAdapter

ENTRY_POINTS = "paddock.adapters"
"""The entry point group: `my_sim = "my_package.my_sim"` makes the adapter type `my_sim`."""


def adapter_types() -> list[str]:
    """The types a scenario may give, besides dotted names of a user's own modules."""
    return sorted(plugin_modules(adapters, ENTRY_POINTS))


@cache
def find_adapter(adapter_type: str) -> type[SimulatorAdapter]:
    """The class of that type; an unknown one is refused with the nearest name."""
    found = find_plugin("adapter", adapter_type, adapters, ENTRY_POINTS, "ADAPTER", type)
    if not issubclass(found, SimulatorAdapter):
        raise PaddockError(f"adapter {adapter_type!r}: {found.__name__} is not a SimulatorAdapter")
    return found
