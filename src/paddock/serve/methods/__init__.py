"""Handlers of JSON-RPC methods in the hub, one module per subject.

A handler is a coroutine named like its operation: `async handler(client, **arguments)`. It answers from snapshots, or
through other operations. Operations of the simulation that JSON-RPC offers unchanged need none: the client forwards
them.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from paddock.serve.methods import scenarios, states, vehicles
from paddock.wire.operations import OPERATIONS


def _handlers() -> dict[str, Callable[..., Awaitable[Any]]]:
    modules = (scenarios, states, vehicles)
    found = {name: function for module in modules for name, function in vars(module).items() if name in OPERATIONS}
    return {name: function for name, function in found.items() if function.__module__.startswith(__name__)}


HUB_HANDLERS = _handlers()  # the handlers by the names of their operations
