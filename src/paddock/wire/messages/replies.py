"""Messages to one client: replies and, with the id 0, control requests and refusals."""

import math
from typing import Any, NamedTuple

from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages.recordings import EVENT, EventMessage
from paddock.wire.messages.states import STATE_UPDATE, StateUpdate
from paddock.wire.messages.values import Buffer, Codec, Oneof, finite, from_tree, parsed, sending, to_tree


class Error(NamedTuple):
    """A refused request; it had no effect."""

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
    """The control of a tick was accepted."""

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


def _result_fields(result: ResultMessage) -> dict[str, Any]:
    json, arrays = to_tree(result.value)
    return {"json": json, "arrays": arrays, "blob": result.blob}


def _result(message: pb.Result) -> ResultMessage:
    return ResultMessage(from_tree(message.json, message.arrays, "result"), message.blob)


def _request_fields(request: ControlRequestMessage) -> dict[str, Any]:
    return {**request._asdict(), "state": STATE_UPDATE.message(request.state)}


def _request(message: pb.ControlRequest) -> ControlRequestMessage:
    if math.isnan(message.deadline) or message.deadline < 0.0:
        raise WireError("value", f"control request: the deadline must be a time from now, not {message.deadline}")
    state = STATE_UPDATE.value(message.state)
    return ControlRequestMessage(message.tick, message.deadline, tuple(message.vehicles), state)


BODY = Oneof(
    "body",
    {
        "error": Codec(Error, pb.Error),
        "done": Codec(Done, pb.Done),
        "welcome": Codec(Welcome, pb.Welcome),
        "control_ack": Codec(ControlAck, pb.ControlAck),
        "result": Codec(ResultMessage, pb.Result, _result_fields, _result),
        "state": STATE_UPDATE,
        "control_request": Codec(ControlRequestMessage, pb.ControlRequest, _request_fields, _request),
        "event": EVENT,
    },
)


def encode_reply(reply: Reply) -> bytes:
    """Encode a reply."""
    with sending(f"{type(reply.body).__name__}"):
        time = finite(reply.sim_time, "sim_time")
        return pb.Reply(id=reply.id, tick=reply.tick, sim_time=time, **BODY.fields(reply.body)).SerializeToString()  # type: ignore[arg-type]


def encode_id(number: int) -> bytes:
    """Return bytes that, prepended to an encoded reply with the id 0, set its id: Protobuf merges the two."""
    return pb.Reply(id=number).SerializeToString()


def decode_reply(data: Buffer) -> Reply:
    """Decode a reply; times are finite, arrays complete."""
    message = parsed(pb.Reply, data)
    body = BODY.value(message)
    return Reply(message.id, message.tick, finite(message.sim_time, "reply: sim_time"), body)
