"""Messages to one client: replies and, with the id 0, control requests and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages.recordings import EventMessage, event_message, event_value
from paddock.wire.messages.states import StateUpdate, state_update_message, state_update_value
from paddock.wire.messages.values import Buffer, body_of, finite, from_tree, parsed, sending, to_tree


class Error(NamedTuple):
    """The refusal of a request, which changed nothing."""

    code: str  # a short word
    message: str  # one line


class Done(NamedTuple):
    """The request has taken effect."""


class Welcome(NamedTuple):
    """The answer to Hello."""

    version: str  # of the server
    client: str  # the client's name at the server
    rate: float  # ticks per simulated second
    run: int
    heartbeat: float  # s of silence after which the server removes the client
    protocol: int = 1
    publish: int = 0  # TCP port of published states


class ControlAck(NamedTuple):
    """The control of a tick was in time."""

    tick: int


class ResultMessage(NamedTuple):
    """The result of a call; it may hold arrays."""

    value: Any
    blob: bytes = b""


class ControlRequestMessage(NamedTuple):
    """The simulation waits for the commands of these vehicles from this tick on."""

    tick: int
    deadline: float  # s of wall time for the reply; infinity: no limit
    vehicles: tuple[str, ...]
    state: StateUpdate


Body = Error | Done | Welcome | ControlAck | ResultMessage | StateUpdate | ControlRequestMessage | EventMessage


class Reply(NamedTuple):
    """A body, the id of its request (0: none), the tick and the simulation time."""

    id: int
    tick: int
    sim_time: float  # s
    body: Body


def encode_reply(reply: Reply) -> bytes:
    """Encode a reply."""
    with sending(f"{type(reply.body).__name__}"):
        message = pb.Reply(id=reply.id, tick=reply.tick, sim_time=finite(reply.sim_time, "sim_time"))
        _WRITERS[type(reply.body)](message, reply.body)
        return message.SerializeToString()


def encode_id(number: int) -> bytes:
    """Bytes that set the id of an encoded reply with the id 0 when prepended: Protobuf merges the two."""
    return pb.Reply(id=number).SerializeToString()


def decode_reply(data: Buffer) -> Reply:
    """Decode a reply; times are finite, arrays complete."""
    message = parsed(pb.Reply, data)
    body = _READERS[body_of(message, "body")](message)
    return Reply(message.id, message.tick, finite(message.sim_time, "reply: sim_time"), body)


def _put_result(message: pb.Reply, result: ResultMessage) -> None:
    json, arrays = to_tree(result.value)
    message.result.CopyFrom(pb.Result(json=json, arrays=arrays, blob=result.blob))


def _put_control_request(message: pb.Reply, request: ControlRequestMessage) -> None:
    to = message.control_request
    to.tick, to.deadline = request.tick, request.deadline
    to.vehicles.extend(request.vehicles)
    to.state.CopyFrom(state_update_message(request.state))


def _welcome(message: pb.Reply) -> Welcome:
    sent = message.welcome
    rate, heartbeat = finite(sent.rate, "welcome: rate", 0.0), finite(sent.heartbeat, "welcome: heartbeat", 0.0)
    return Welcome(sent.version, sent.client, rate, sent.run, heartbeat, sent.protocol, sent.publish)


def _result(message: pb.Reply) -> ResultMessage:
    return ResultMessage(from_tree(message.result.json, message.result.arrays, "result"), message.result.blob)


def _control_request(message: pb.Reply) -> ControlRequestMessage:
    asked = message.control_request
    if math.isnan(asked.deadline) or asked.deadline < 0.0:
        raise WireError("value", f"control request: the deadline must be a time from now, not {asked.deadline}")
    return ControlRequestMessage(asked.tick, asked.deadline, tuple(asked.vehicles), state_update_value(asked.state))


_WRITERS: dict[type, Callable[[pb.Reply, Any], object]] = {
    Error: lambda message, body: message.error.CopyFrom(pb.Error(**body._asdict())),
    Done: lambda message, body: message.done.SetInParent(),
    Welcome: lambda message, body: message.welcome.CopyFrom(pb.Welcome(**body._asdict())),
    ControlAck: lambda message, body: message.control_ack.CopyFrom(pb.ControlAck(tick=body.tick)),
    ResultMessage: _put_result,
    StateUpdate: lambda message, body: message.state.CopyFrom(state_update_message(body)),
    ControlRequestMessage: _put_control_request,
    EventMessage: lambda message, body: message.event.CopyFrom(event_message(body)),
}
_READERS: dict[str, Callable[[pb.Reply], Body]] = {
    "error": lambda message: Error(message.error.code, message.error.message),
    "done": lambda message: Done(),
    "welcome": _welcome,
    "control_ack": lambda message: ControlAck(message.control_ack.tick),
    "result": _result,
    "state": lambda message: state_update_value(message.state),
    "control_request": _control_request,
    "event": lambda message: event_value(message.event),
}
