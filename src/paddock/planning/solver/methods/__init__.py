"""Planning methods: one file per method, and how a method is found by name.

A file `methods/NAME.py` with an object `METHOD = Method(...)` is the method NAME. Entry points of the group
`paddock.planning_methods` and dotted names of a user's own modules work the same way.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.solver.costs import Costs
from paddock.plugins import find_plugin, plugin_modules
from paddock.world.columns import filled

ENTRY_POINTS = "paddock.planning_methods"


Progress = Callable[[float], None]  # called with the progress, 0 to 1


@dataclass(frozen=True)
class MethodResult:
    """The result of a method: the indices of each vehicle's tasks, in order. Other tasks are undone."""

    orders: list[list[int]]  # one list for each vehicle of the problem
    notes: Mapping[str, Any] = field(default_factory=dict)
    headings: Mapping[int, float] = field(default_factory=dict)  # rad, chosen for tasks with a free heading


class NoOptions(NamedTuple):
    """Empty options."""


@dataclass(frozen=True)
class Method:
    """A planning method: `solve(costs, options, progress) -> MethodResult`; equal costs give equal results.

    The costs have at least one vehicle and one task.
    """

    summary: str
    solve: Callable[[Costs, Any, Progress], MethodResult]
    options: type = NoOptions  # a named tuple with Column annotations
    revise: Callable[[Costs, Any, list[list[int]]], MethodResult] | None = None
    """(costs, options, present orders) -> MethodResult, after an event: tasks without an order, or a vehicle without
    tasks. None: `solve` again."""
    name: str = ""
    clocked: str = ""  # the option that stops it by the wall clock: refused inside a run, which must be repeatable

    def read(self, values: Mapping[str, Any], where: str = "") -> Any:
        """Return the checked options."""
        if not isinstance(values, Mapping):
            raise InvalidValueError(f"the options of method {self.name!r} are names with values, not {values!r}")
        return self.options(*filled(self.options, values, f"option of method {self.name!r}", where).tolist())


def method_names() -> list[str]:
    """Return the valid names of methods; dotted names of users' modules are valid, too."""
    return sorted(plugin_modules(sys.modules[__name__], ENTRY_POINTS))


def find_method(name: str) -> Method:
    """Return the method of that name; an unknown one is refused with the nearest name."""
    if not isinstance(name, str):
        raise unknown_name("planning method", str(name), method_names())
    return _named_method(name)


@cache
def _named_method(name: str) -> Method:
    method = find_plugin("planning method", name, sys.modules[__name__], ENTRY_POINTS, "METHOD", Method)
    return replace(method, name=name)
