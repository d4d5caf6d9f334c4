"""Plugins: a file in a folder, an installed entry point or a user's dotted module name registers an object."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

from paddock.errors import PaddockError, UnknownNameError, code_error, unknown_name

T = TypeVar("T")


@dataclass(frozen=True)
class PluginFolder(Generic[T]):
    """All plugins of one kind. The files of `folder` are the shipped ones: a new file needs no other registration."""

    kind: str  # for error messages: "model"
    folder: ModuleType  # the package whose modules are the shipped plugins
    group: str  # the entry point group of installed ones: `my_car = "my_package.my_car"` adds the name `my_car`
    attribute: str  # what a plugin's module defines: "MODEL"
    type_: type[T]
    check: Callable[[T], None] | None = None  # raises PaddockError if the plugin breaks its contract; runs once

    def names(self) -> list[str]:
        """Return the names of all shipped and installed plugins, sorted; dotted module names work besides."""
        return sorted(plugin_modules(self.folder, self.group))

    def find(self, name: str) -> T:
        """Return the plugin of that name, or raise UnknownNameError with the nearest valid name."""
        return _found(self, name)  # type: ignore[no-any-return]


@cache
def _found(plugins: PluginFolder[Any], name: str) -> Any:
    plugin = find_plugin(plugins.kind, name, plugins.folder, plugins.group, plugins.attribute, plugins.type_)
    if is_dataclass(plugin) and not isinstance(plugin, type) and "name" in {field.name for field in fields(plugin)}:
        plugin = replace(plugin, name=name)
    if plugins.check is not None:
        plugins.check(plugin)
    return plugin


_installed_only = 0  # how many `installed_only` are active


@contextmanager
def installed_only(active: bool = True) -> Iterator[None]:
    """Refuse plugins that are neither installed nor imported already: for names that come from data."""
    global _installed_only
    _installed_only += active
    try:
        yield
    finally:
        _installed_only -= active


def refuse_foreign_code(kind: str, name: str) -> None:
    """Raise PaddockError while only installed plugins are allowed: loading the file would run its code."""
    if _installed_only:
        raise PaddockError(
            f"{kind} {name!r} is native code of another file: "
            "allow this only for files that you trust (paddock replay --allow-imports)"
        )


def forget_plugins() -> None:
    """Look for plugins again on the next access: after an installation, and in tests."""
    plugin_modules.cache_clear()
    _found.cache_clear()


@cache
def plugin_modules(folder: ModuleType | None, group: str) -> dict[str, str]:
    """Map the names of a package's files (if any) and of a group's entry points to modules. Imports no file."""
    installed = {point.name: point.value for point in entry_points(group=group)}
    if folder is None:
        return installed
    prefix = folder.__name__ + "."
    shipped = {
        module.name.removeprefix(prefix): module.name
        for module in pkgutil.walk_packages(folder.__path__, prefix)
        if not module.ispkg
    }
    return installed | shipped


def find_plugin(kind: str, name: str, folder: ModuleType | None, group: str, attribute: str, type_: type[T]) -> T:
    """Return the object called `attribute` in the module of that name."""
    module = _import(kind, name, plugin_modules(folder, group))
    plugin = getattr(module, attribute, None)
    if not isinstance(plugin, type_):
        raise PaddockError(f"{kind} {name!r}: module {module.__name__!r} has no {attribute} = {type_.__name__}(...)")
    return plugin


def find_function(kind: str, path: str, choices: Iterable[str]) -> FunctionType:
    """Return the function of a dotted path, `my_package.my_brake`; `choices` are names that users may have meant."""
    home, _, name = path.rpartition(".")
    if not home:
        raise unknown_name(kind, path, choices)
    try:
        module = _import(kind, home, {})
    except UnknownNameError:
        raise UnknownNameError(f"{kind} {path!r}: there is no module {home!r}") from None
    function = getattr(module, name, None)
    if not isinstance(function, FunctionType):
        raise PaddockError(f"{kind} {path!r}: module {home!r} has no function {name}()")
    return function


def _import(kind: str, name: str, known: Mapping[str, str]) -> ModuleType:
    if name.startswith("."):  # Python would resolve it as a relative import
        raise unknown_name(kind, name, known)
    module_name = known.get(name, name)
    if _installed_only and name not in known and name not in sys.modules:
        raise PaddockError(
            f"{kind} {name!r} is not installed, and importing it would run code of another file: "
            "allow this only for files that you trust (paddock replay --allow-imports)"
        )
    if name not in known and "." not in name and name not in sys.modules and find_spec(name) is None:
        raise unknown_name(kind, name, known)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # a missing module of that very name is the user's typo; a missing import inside the module is not
        if name not in known and error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise unknown_name(kind, name, known) from None
        raise code_error(error, f"{kind} {name!r}: importing {module_name!r} failed: ") from error
    except (Exception, SystemExit) as error:  # a user's module may raise anything on import
        raise code_error(error, f"{kind} {name!r}: importing {module_name!r} failed: ") from error
