"""Every request of a client as an operation of the simulation, and its outcome as a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paddock.errors import InvalidValueError, unknown_name
from paddock.serve.hub import Reply
from paddock.wire.messages.controls import Command, Control
from paddock.wire.messages.markers import ClearMarkers, DeleteMarkers, Marker, MarkerCommand, PutMarkers, ShowMarkers
from paddock.wire.messages.replies import Body as ReplyBody
from paddock.wire.messages.replies import ControlAck, Done, Result
from paddock.wire.messages.requests import Body as RequestBody
from paddock.wire.messages.requests import (
    Call,
    GetMetadata,
    Pause,
    Reset,
    Resume,
    Run,
    SetMode,
    SetPace,
    Step,
    Stop,
)

NameOf = Callable[[int], str]
CALLS = frozenset(
    {"snapshot", "state_hash", "save", "restore", "spawn", "remove", "set_frame", "sensors", "inspect", "transform"}
    | {"events", "clock", "hold", "let_go", "seek", "order", "orders", "routes"}
    | {"mission_view", "add_task", "move_task", "remove_task", "add_zone", "add_vehicle", "damage"}
)
"""What may be called by name; whatever else there is has a message of its own, or is the server's own business."""
MARKER_FIELDS = tuple(Marker.__dataclass_fields__)


class Operation(NamedTuple):
    """What the simulation is asked to do, and what the client is told of the result."""

    name: str
    arguments: dict[str, Any]
    told: Callable[[Reply], ReplyBody | bytes]  # bytes: a whole reply, but for its id


def operation_of(body: RequestBody, name_of: NameOf) -> Operation:
    """The operation that a request stands for; `name_of` tells the names of vehicles known by id."""
    match body:
        case Control(tick):
            arguments = {"tick": tick, "commands": _named(body, name_of)}
            return Operation("control", arguments, lambda reply: ControlAck(tick))
        case Step():
            return _step(body, name_of)
        case Command():
            return _command(body)
        case Call():
            return _call(body)
        case PutMarkers() | DeleteMarkers() | ClearMarkers() | ShowMarkers():
            return _markers(body)
    return _admin(body)


def _call(call: Call) -> Operation:
    if call.method not in CALLS:
        raise unknown_name("operation", call.method, CALLS)
    return Operation(call.method, {**call.arguments, **({"state": call.blob} if call.blob else {})}, _result)


def _step(step: Step, name_of: NameOf) -> Operation:
    if not step.state:
        return Operation("step", {"ticks": step.ticks}, _done)
    arguments: dict[str, Any] = {"ticks": step.ticks}
    if step.control is not None:
        arguments |= {"control": _named(step.control, name_of), "tick": step.control.tick}
    return Operation("step_synchronously", arguments, lambda reply: bytes(reply.result))


def _command(command: Command) -> Operation:
    inputs = _plain(command.inputs)
    if isinstance(command.target, str | int):
        told = {"target": command.target, "at_tick": command.at_tick}
        return Operation("command", {**told, "inputs": inputs, "timeout": command.timeout}, _done)
    if command.at_tick is not None:
        raise InvalidValueError("at_tick goes with a command for one vehicle or a fleet, not for a list of vehicles")
    if not len(command.target):
        raise InvalidValueError("a command needs at least one vehicle: the list of ids is empty")
    return Operation("command_many", {"ids": command.target, "inputs": inputs, "timeout": command.timeout}, _done)


def _markers(command: MarkerCommand) -> Operation:
    match command:
        case PutMarkers(markers):
            trees = [{name: getattr(marker, name) for name in MARKER_FIELDS} for marker in markers]
            return Operation("mark", {"markers": trees}, _done)
        case DeleteMarkers(namespace, ids):
            return Operation("unmark", {"namespace": namespace, "number": list(ids)}, _done)
        case ClearMarkers(everything):
            return Operation("unmark", {"namespace": everything}, _done)
        case ShowMarkers(namespace, visible):
            return Operation("show_markers", {"namespace": namespace, "visible": visible}, _done)


def _admin(body: RequestBody) -> Operation:
    match body:
        case Reset(seed):
            return Operation("reset", {"seed": seed}, _done)
        case Run(until, pace):
            return Operation("run", {"until": until, "pace": pace}, _done)
        case SetPace(pace):
            return Operation("pace", {"pace": pace}, _done)
        case SetMode("synchronous", vehicles):
            return Operation("claim", {"vehicles": list(vehicles)}, _result)
        case SetMode():
            return Operation("release", {}, _done)
        case GetMetadata():
            return Operation("metadata", {}, _result)
        case Pause() | Resume() | Stop():
            return Operation(type(body).__name__.lower(), {}, _done)
    raise InvalidValueError(f"{type(body).__name__} is no operation of the simulation")


def _named(control: Control, name_of: NameOf) -> dict[str, Any]:
    return _plain(
        {
            target if isinstance(target, str) else name_of(target): _plain(inputs)
            for target, inputs in control.commands.items()
        }
    )


def _plain(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A client's own names as keys; on the way to the simulation, $ begins what stands for arrays and bytes."""
    for name in tree:
        if name.startswith("$"):
            raise InvalidValueError(f"names of vehicles and inputs do not begin with $: {name[:40]!r}")
    return dict(tree)


def _done(reply: Reply) -> ReplyBody:
    return Done()


def _result(reply: Reply) -> ReplyBody:
    value = reply.result
    return Result(None, value) if isinstance(value, bytes) else Result(value)
