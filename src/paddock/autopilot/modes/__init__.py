"""The modes of each vehicle type. To add one, write a `Mode` in `modes/<type>.py` or `modes/<type>_<name>.py`."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from paddock.autopilot.contract import Mode


def find_modes(kind: str) -> Mapping[int, type[Mode]]:
    """Return the modes in the files of a vehicle type, by ArduPilot's number."""
    names = (entry.name for entry in iter_modules(__path__) if entry.name.partition("_")[0] == kind)
    values = [value for name in names for value in vars(import_module(f"{__name__}.{name}")).values()]
    modes = [each for each in values if isinstance(each, type) and issubclass(each, Mode) and "number" in vars(each)]
    return {mode.number: mode for mode in sorted(modes, key=lambda mode: mode.number)}
