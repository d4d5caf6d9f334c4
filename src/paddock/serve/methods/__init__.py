"""Handlers of JSON-RPC methods in the hub, one module per subject.

A handler is a coroutine named like its operation: `async handler(client, **arguments)`. It answers from snapshots, or
through other operations. Operations of the simulation that JSON-RPC offers unchanged need none: `answer` forwards
them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.serve.methods import markers, scenarios, session, states, vehicles
from paddock.serve.subscribers.subscription import ranges
from paddock.wire.operations import OPERATIONS, Operation
from paddock.wire.operations.results import Moment

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

MODULES = (session, vehicles, states, markers, scenarios)


def _handlers() -> dict[str, Callable[..., Awaitable[Any]]]:
    found = {name: function for module in MODULES for name, function in vars(module).items() if name in OPERATIONS}
    return {name: function for name, function in found.items() if function.__module__.startswith(__name__)}


HUB_HANDLERS = _handlers()  # the handlers by the names of their operations


async def answer(client: Client, operation: Operation, arguments: dict[str, Any]) -> Any:
    """Carry out an operation for a client and return its JSON-RPC answer."""
    handler = HUB_HANDLERS.get(operation.name)
    if handler is not None:
        result = await handler(client, **arguments)
    else:
        reply = await client.request(operation.name, **arguments)
        if operation.entry.shows:
            await client.layout(changed=True)
        result = Moment(tick=reply.tick, time=reply.time) if operation.result is NoneType else reply.result
    return {operation.entry.answer: _plain(result)} if operation.entry.answer else result


def _plain(value: Any) -> Any:
    """Return a result without arrays: ids become ranges, numbers lists."""
    if isinstance(value, np.ndarray):
        return ranges(value) if value.dtype.kind in "iu" else value.tolist()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return list(map(_plain, value)) if isinstance(value, list) else value
