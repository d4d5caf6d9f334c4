"""Translates requests into operations of the simulation, and their outcomes into replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.serve.hub import OperationOutcome
from paddock.wire.messages.markers import (
    ClearMarkers,
    DeleteMarkers,
    MarkerCommand,
    MarkerMessage,
    PutMarkers,
    ShowMarkers,
)
from paddock.wire.messages.replies import Body as ReplyBody
from paddock.wire.messages.replies import ControlAck, Done, ResultMessage
from paddock.wire.messages.requests import Body as RequestBody
from paddock.wire.messages.requests import (
    Call,
    Command,
    ControlMessage,
    GetMetadata,
    Pause,
    Reset,
    Resume,
    RunRequest,
    SetMode,
    SetPace,
    Step,
    Stop,
)
from paddock.wire.operations import OPERATIONS, ArgumentError

NameOf = Callable[[int], str]
CALLS = {name: operation for name, operation in OPERATIONS.items() if operation.callable_by_name}
"""The operations that clients call by name; others have a message of their own."""
REFUSALS = {"value": InvalidValueError, "unknown": UnknownNameError}
"""What a client gets for an argument that is wrong, by the reason; otherwise PaddockError."""
MARKER_FIELDS = tuple(MarkerMessage.__dataclass_fields__)


class Translated(NamedTuple):
    """An operation with its arguments, and how its outcome becomes a reply."""

    name: str
    arguments: dict[str, Any]
    reply: Callable[[OperationOutcome], ReplyBody | bytes]  # bytes: an encoded reply without its id


def operation_of(body: RequestBody, name_of: NameOf) -> Translated:
    """Return the operation of a request; `name_of` returns the name of a vehicle by id."""
    match body:
        case ControlMessage(tick):
            arguments = {"tick": tick, "commands": _named(body, name_of)}
            return Translated("control", arguments, lambda reply: ControlAck(tick))
        case Step():
            return _step(body, name_of)
        case Command():
            return _command(body)
        case Call():
            return _call(body)
        case PutMarkers() | DeleteMarkers() | ClearMarkers() | ShowMarkers():
            return _markers(body)
    return _admin(body)


def _call(call: Call) -> Translated:
    if call.method not in CALLS:
        raise unknown_name("operation", call.method, CALLS)
    given = {**call.arguments, **({"state": call.blob} if call.blob else {})}
    try:
        return Translated(call.method, CALLS[call.method].validate(given), _result)
    except ArgumentError as error:
        raise REFUSALS.get(error.reason, PaddockError)(str(error)) from None


def _step(step: Step, name_of: NameOf) -> Translated:
    if not step.state:
        return Translated("step", {"ticks": step.ticks}, _done)
    arguments: dict[str, Any] = {"ticks": step.ticks}
    if step.control is not None:
        arguments |= {"control": _named(step.control, name_of), "tick": step.control.tick}
    return Translated("step_synchronously", arguments, lambda reply: bytes(reply.result))


def _command(command: Command) -> Translated:
    inputs = dict(command.inputs)
    if isinstance(command.target, str | int):
        addressed = {"target": command.target, "at_tick": command.at_tick}
        return Translated("command", {**addressed, "inputs": inputs, "timeout": command.timeout}, _done)
    if command.at_tick is not None:
        raise InvalidValueError("at_tick goes with a command for one vehicle or a fleet, not for a list of vehicles")
    if not len(command.target):
        raise InvalidValueError("a command needs at least one vehicle: the list of ids is empty")
    return Translated("command_many", {"ids": command.target, "inputs": inputs, "timeout": command.timeout}, _done)


def _markers(command: MarkerCommand) -> Translated:
    match command:
        case PutMarkers(markers):
            trees = [{name: getattr(marker, name) for name in MARKER_FIELDS} for marker in markers]
            return Translated("mark", {"markers": trees}, _done)
        case DeleteMarkers(namespace, ids):
            return Translated("unmark", {"namespace": namespace, "number": list(ids)}, _done)
        case ClearMarkers(everything):
            return Translated("unmark", {"namespace": everything}, _done)
        case ShowMarkers(namespace, visible):
            return Translated("show_markers", {"namespace": namespace, "visible": visible}, _done)


def _admin(body: RequestBody) -> Translated:
    match body:
        case Reset(seed):
            return Translated("reset", {"seed": seed}, _done)
        case RunRequest(until, pace):
            return Translated("run", {"until": until, "pace": pace}, _done)
        case SetPace(pace):
            return Translated("pace", {"pace": pace}, _done)
        case SetMode("synchronous", vehicles):
            return Translated("claim", {"vehicles": list(vehicles)}, _result)
        case SetMode():
            return Translated("release", {}, _done)
        case GetMetadata():
            return Translated("metadata", {}, _result)
        case Pause() | Resume() | Stop():
            return Translated(type(body).__name__.lower(), {}, _done)
    raise InvalidValueError(f"{type(body).__name__} is no operation of the simulation")


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
