"""Handlers of operations in the simulation's process, one module per subject.

A handler is a function named like its operation: `handler(run, client, **arguments)`. The table says where it runs; its
arguments have been validated. One that takes long returns a Future. An operation that is a method of the simulation,
under the name of the clients' method, needs no handler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from paddock.serve.operations import clock, mission, vehicles, world
from paddock.wire.operations import OPERATIONS

if TYPE_CHECKING:
    from paddock.serve.live import LiveSource

MODULES = (clock, vehicles, world, mission)


def _handlers() -> dict[str, Callable[..., Any]]:
    written = {name: function for module in MODULES for name, function in vars(module).items() if name in OPERATIONS}
    own = {name: one for name, one in written.items() if one.__module__.startswith(__name__)}
    rest = {name: one for name, one in OPERATIONS.items() if one.entry.where != "hub" and name not in own}
    return {**own, **{name: _calling(".".join(filter(None, one.client))) for name, one in rest.items()}}


def _calling(path: str) -> Callable[..., Any]:
    """Return the handler that calls a method of the simulation, such as `frames.set`."""
    method = attrgetter(path)

    def handler(run: LiveSource, client: str, **arguments: Any) -> Any:
        result = method(run.sim)(**arguments)
        return list(map(_tree, result)) if isinstance(result, list) else result

    return handler


def _tree(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value._asdict()


HANDLERS = _handlers()  # the handlers by the names of their operations
