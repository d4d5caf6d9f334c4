"""Handlers of operations in the simulation's process, one module per subject.

A handler is a function of its operation's name: `handler(run, client, **arguments)`. The table says where it runs; its
arguments have been validated. One that takes long returns a Future.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddock.serve.operations import clock, markers, mission, reading, scenarios, vehicles
from paddock.wire.operations import OPERATIONS

MODULES = (clock, vehicles, reading, markers, mission, scenarios)


def _handlers() -> dict[str, Callable[..., Any]]:
    found = {name: function for module in MODULES for name, function in vars(module).items() if name in OPERATIONS}
    return {name: function for name, function in found.items() if function.__module__.startswith(__name__)}


HANDLERS = _handlers()  # the handlers by the names of their operations
