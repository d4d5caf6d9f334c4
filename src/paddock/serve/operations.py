"""Operations by name: methods that clients may call, each with the arguments it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from paddock.errors import PaddockError, unknown_name

Method = TypeVar("Method", bound=Callable[..., Any])
MARK = "_operation"


def operation(method: Method) -> Method:
    """Let clients call this method: `method(self, client, **arguments)`."""
    setattr(method, MARK, True)
    return method


class Operations:
    """All operations of some objects."""

    def __init__(self, objects: Iterable[object]) -> None:
        """Those marked with @operation."""
        methods = [item for one in objects for item in inspect.getmembers(one, inspect.ismethod)]
        self._methods = {name: method for name, method in methods if hasattr(method, MARK)}
        self._arguments = {name: _arguments(method) for name, method in self._methods.items()}

    def names(self) -> list[str]:
        """Their names."""
        return sorted(self._methods)

    def call(self, name: str, client: str, arguments: Mapping[str, Any]) -> Any:
        """Call one; unknown names and arguments are refused with what would be valid."""
        if name not in self._methods:
            raise unknown_name("operation", name, self._methods)
        known = self._arguments[name]
        for argument in arguments:
            if argument not in known:
                raise unknown_name(f"argument of {name}", argument, known)
        for argument, needed in known.items():
            if needed and argument not in arguments:
                raise PaddockError(f"{name} needs {argument!r}")
        return self._methods[name](client, **arguments)


def _arguments(method: Callable[..., Any]) -> dict[str, bool]:
    """Argument -> whether it must be given; the first one is the client."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    return {parameter.name: parameter.default is parameter.empty for parameter in parameters}
