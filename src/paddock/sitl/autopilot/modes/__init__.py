"""The modes of each vehicle type. To add one, write a `Mode` in `modes/<type>/`, on top of the folder's `common.py`."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from paddock.sitl.autopilot.vehicle import Mode


def find_modes(kind: str) -> Mapping[int, type[Mode]]:
    """Return the modes in the folder of a vehicle type, by ArduPilot's number."""
    folder = f"{__name__}.{kind}"
    names = (entry.name for entry in iter_modules(import_module(folder).__path__))
    values = [value for name in names for value in vars(import_module(f"{folder}.{name}")).values()]
    modes = [each for each in values if isinstance(each, type) and issubclass(each, Mode) and "number" in vars(each)]
    return {mode.number: mode for mode in sorted(modes, key=lambda mode: mode.number)}
