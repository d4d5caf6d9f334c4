"""Translates requests into operations of the simulation, and their outcomes into replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError, unknown_name
from paddock.serve.hub import OperationOutcome
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, MarkerMessage, PutMarkers
from paddock.wire.messages.replies import Body as ReplyBody
from paddock.wire.messages.replies import ControlAck, Done, ResultMessage
from paddock.wire.messages.requests import OWN_MESSAGES, Call, Command, ControlMessage, SetMode, Step
from paddock.wire.messages.requests import Body as RequestBody
from paddock.wire.operations import OPERATIONS

NameOf = Callable[[int], str]
CALLS = {name: operation for name, operation in OPERATIONS.items() if operation.callable_by_name}
"""The operations that clients call by name; others have a message of their own."""
OPERATION_OF = {kind: name for name, kind in OWN_MESSAGES.items()}
"""The operations of messages whose fields are the arguments."""
MARKER_FIELDS = tuple(MarkerMessage.__dataclass_fields__)


class Translated(NamedTuple):
    """An operation with its arguments, and how its outcome becomes a reply."""

    name: str
    arguments: dict[str, Any]
    reply: Callable[[OperationOutcome], ReplyBody | bytes]  # bytes: an encoded reply without its id


def operation_of(body: RequestBody, name_of: NameOf) -> Translated:
    """Return the operation of a request, with valid arguments; `name_of` returns the name of a vehicle by id."""
    name, arguments = _operation(body, name_of)
    operation = OPERATIONS[name]
    arguments = operation.checked(arguments)
    if name == "control":
        return Translated(name, arguments, lambda reply: ControlAck(arguments["tick"]))
    if name == "step_synchronously":
        return Translated(name, arguments, lambda reply: bytes(reply.result))
    return Translated(name, arguments, _result if isinstance(body, Call) or name in ("claim", "metadata") else _done)


def _operation(body: RequestBody, name_of: NameOf) -> tuple[str, dict[str, Any]]:
    match body:
        case Call(method, arguments, blob):
            if method not in CALLS:
                raise unknown_name("operation", method, CALLS)
            return method, {**arguments, **({"state": blob} if blob else {})}
        case ControlMessage(tick):
            return "control", {"tick": tick, "commands": _named(body, name_of)}
        case Step(ticks, control, True):
            prepared = {} if control is None else {"control": _named(control, name_of), "tick": control.tick}
            return "step_synchronously", {"ticks": ticks, **prepared}
        case Step(ticks):
            return "step", {"ticks": ticks}
        case Command(str() | int(), inputs):
            return "command", {**body._asdict(), "inputs": dict(inputs)}
        case Command(ids, inputs, at_tick, timeout):
            if at_tick is not None:
                raise InvalidValueError(
                    "at_tick goes with a command for one vehicle or a fleet, not for a list of vehicles"
                )
            if not np.size(ids):
                raise InvalidValueError("a command needs at least one vehicle: the list of ids is empty")
            return "command_many", {"ids": ids, "inputs": dict(inputs), "timeout": timeout}
        case PutMarkers(markers):
            trees = [{name: getattr(marker, name) for name in MARKER_FIELDS} for marker in markers]
            return "mark", {"markers": trees}
        case DeleteMarkers(namespace, ids):
            return "unmark", {"namespace": namespace, "number": list(ids)}
        case ClearMarkers(everything):
            return "unmark", {"namespace": everything}
        case SetMode("synchronous", vehicles):
            return "claim", {"vehicles": list(vehicles)}
        case SetMode():
            return "release", {}
    if type(body) not in OPERATION_OF:
        raise InvalidValueError(f"{type(body).__name__} is no operation of the simulation")
    return OPERATION_OF[type(body)], body._asdict()


def _named(control: ControlMessage, name_of: NameOf) -> dict[str, Any]:
    return {
        target if isinstance(target, str) else name_of(target): dict(inputs)
        for target, inputs in control.commands.items()
    }


def _done(reply: OperationOutcome) -> ReplyBody:
    return Done()


def _result(reply: OperationOutcome) -> ReplyBody:
    value = reply.result
    return ResultMessage(None, value) if isinstance(value, bytes) else ResultMessage(value)
