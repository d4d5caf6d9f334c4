"""Registration by being there: a file in a folder, an installed entry point or a user's dotted name is a plug-in."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import ModuleType
from typing import TypeVar

from paddock.errors import PaddockError, unknown_name

T = TypeVar("T")


@cache
def plugin_modules(folder: ModuleType, group: str) -> dict[str, str]:
    """Name -> module, for the files of a package and the entry points of a group. Imports none of the files."""
    prefix = folder.__name__ + "."
    shipped = {
        module.name.removeprefix(prefix): module.name
        for module in pkgutil.walk_packages(folder.__path__, prefix)
        if not module.ispkg
    }
    return {point.name: point.value for point in entry_points(group=group)} | shipped


def find_plugin(kind: str, name: str, folder: ModuleType, group: str, attribute: str, type_: type[T]) -> T:
    """The object called `attribute` in the module of that name; an unknown name is refused with the nearest one."""
    known = plugin_modules(folder, group)
    if name.startswith("."):  # Python would take it for a relative import
        raise unknown_name(kind, name, known)
    module_name = known.get(name, name)
    if name not in known and "." not in name and name not in sys.modules and find_spec(name) is None:
        raise unknown_name(kind, name, known)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # a missing module of that very name is the user's typo; one that *it* imports is another matter
        if name not in known and error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise unknown_name(kind, name, known) from None
        raise _broken(kind, name, module_name, error) from error
    except (Exception, SystemExit) as error:  # whatever a user's module does while it is imported
        raise _broken(kind, name, module_name, error) from error
    found = getattr(module, attribute, None)
    if not isinstance(found, type_):
        raise PaddockError(f"{kind} {name!r}: module {module_name!r} has no {attribute} = {type_.__name__}(...)")
    return found


def _broken(kind: str, name: str, module_name: str, error: BaseException) -> PaddockError:
    """One line for a module that exists but cannot be imported; the traceback stays attached as the cause."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return PaddockError(f"{kind} {name!r}: importing {module_name!r} failed: {reason}")
