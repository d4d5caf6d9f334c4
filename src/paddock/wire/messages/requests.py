"""Requests of clients, and the messages to one client: replies and, with the id 0, control requests and refusals.

A request is an operation with its arguments, encoded as a message.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages import values
from paddock.wire.messages.markers import COMMAND, ClearMarkers, DeleteMarkers, MarkerMessage, PutMarkers, ShowMarkers
from paddock.wire.messages.states import EVENT, STATE_UPDATE, StateUpdate
from paddock.wire.messages.values import Buffer, Codec, Oneof, finite, from_tree, parsed, sending, to_tree
from paddock.wire.operations import OPERATIONS
from paddock.wire.results import EventRecord

Inputs = Mapping[str, float | str | values.Floats]
"""Input -> a number, a choice by name, or an array of one number per vehicle."""
PROTOCOL = 1
JSON_MOST = 4 << 20  # bytes of the JSON of a call
MARKER_FIELDS = tuple(MarkerMessage.__dataclass_fields__)
ADMIN_FIELDS = {
    name: field
    for name, operation in OPERATIONS.items()
    if (field := re.sub(r"(?<=.)([A-Z])", r"_\1", operation.entry.zmq).lower()) in pb.Admin.DESCRIPTOR.fields_by_name
    and field not in ("step", "set_mode")
}
"""Operations whose arguments are the fields of a message in Admin, and its field there."""


class Hello(NamedTuple):
    """The first message; the answer is Welcome."""

    client: str = ""  # the client's name
    protocol: int = PROTOCOL


class Heartbeat(NamedTuple):
    """The client is alive."""


class Goodbye(NamedTuple):
    """The client disconnects."""


class Call(NamedTuple):
    """An operation by its name; `arguments` by name may hold arrays."""

    method: str
    arguments: Mapping[str, Any]
    blob: bytes = b""


class Direct(NamedTuple):
    """An operation with its own message, and its arguments."""

    operation: str
    arguments: Mapping[str, Any]


Body = Hello | Heartbeat | Goodbye | Call | Direct


class RequestMessage(NamedTuple):
    """A body with the id for its reply."""

    id: int
    body: Body
    token: str = ""


def _direct_fields(direct: Direct) -> dict[str, Any]:
    name, arguments = direct
    match name:
        case "command" | "command_many":
            ids = values.to_ids(arguments["ids"], "the target") if name == "command_many" else None
            target = _address(arguments["target"]) if ids is None else {"vehicles": pb.Ids(ids=ids)}
            limits = {"at_tick": arguments.get("at_tick"), "timeout": arguments.get("timeout")}
            return {"command": pb.Command(**target, inputs=_input_messages(arguments["inputs"]), **limits)}
        case "control":
            return {"control": _control_message(arguments["tick"], arguments["commands"])}
        case "put_markers":
            return {
                "markers": COMMAND.message(
                    PutMarkers(tuple(MarkerMessage(**marker) for marker in arguments["markers"]))
                )
            }
        case "delete_markers":
            namespace, numbers = arguments["namespace"], arguments.get("number")
            some = None if numbers is None else DeleteMarkers(namespace, tuple(numbers))
            return {"markers": COMMAND.message(some or ClearMarkers(namespace))}
        case "show_markers":
            return {"markers": COMMAND.message(ShowMarkers(**arguments))}
    return {"admin": _admin_message(name, arguments)}


def _admin_message(name: str, arguments: Mapping[str, Any]) -> pb.Admin:
    match name:
        case "claim":
            return pb.Admin(set_mode=pb.SetMode(mode="SYNCHRONOUS", vehicles=arguments["vehicles"]))
        case "release":
            return pb.Admin(set_mode=pb.SetMode())
        case "step":
            return pb.Admin(step=pb.Step(ticks=arguments["ticks"]))
        case "step_synchronously":
            commands = arguments.get("control")
            control = None if commands is None else _control_message(arguments["tick"], commands)
            return pb.Admin(step=pb.Step(ticks=arguments["ticks"], control=control, state=True))
    message = pb.Admin(**{ADMIN_FIELDS[name]: dict(arguments)})
    _admin(message)  # the receiver would refuse it
    return message


def _admin(message: pb.Admin) -> Direct:
    match values.body_of(message, "what"):
        case "step":
            step = message.step
            if not step.state:
                return Direct("step", {"ticks": step.ticks})
            control = _control(step.control).arguments if step.HasField("control") else None
            prepared = {} if control is None else {"control": control["commands"], "tick": control["tick"]}
            return Direct("step_synchronously", {"ticks": step.ticks, **prepared})
        case "set_mode":
            mode, vehicles = values.fields_of(message.set_mode, ("mode", "vehicles")).values()
            return Direct("claim", {"vehicles": list(vehicles)}) if mode == "synchronous" else Direct("release", {})
        case field:
            inner = getattr(message, field)
            name = next(name for name, known in ADMIN_FIELDS.items() if known == field)
            return Direct(name, values.fields_of(inner, [part.name for part in inner.DESCRIPTOR.fields]))


def _command(message: pb.Command) -> Direct:
    timeout = values.finite(message.timeout, "command: timeout", 0.0) if message.HasField("timeout") else None
    at_tick = message.at_tick if message.HasField("at_tick") else None
    if values.body_of(message, "target") != "vehicles":
        limits = {"at_tick": at_tick, "timeout": timeout}
        return Direct("command", {"target": _addressed(message), "inputs": _inputs(message), **limits})
    limits = {"timeout": timeout} if at_tick is None else {"timeout": timeout, "at_tick": at_tick}
    ids = values.from_ids(message.vehicles.ids, "command: vehicles")
    return Direct("command_many", {"ids": ids, "inputs": _inputs(message), **limits})


def _control_message(tick: int, commands: Mapping[str | int, Inputs]) -> pb.Control:
    vehicles = [{**_address(target), "inputs": _input_messages(inputs)} for target, inputs in commands.items()]
    return pb.Control(tick=tick, vehicles=vehicles)


def _control(message: pb.Control) -> Direct:
    commands = {_addressed(vehicle): _inputs(vehicle) for vehicle in message.vehicles}
    if len(commands) != len(message.vehicles):
        raise WireError("value", f"control of tick {message.tick}: a vehicle is repeated")
    return Direct("control", {"tick": message.tick, "commands": commands})


def _markers(message: pb.MarkerCommand) -> Direct:
    match COMMAND.value(message):
        case PutMarkers(markers):
            return Direct(
                "put_markers",
                {"markers": [{name: getattr(marker, name) for name in MARKER_FIELDS} for marker in markers]},
            )
        case DeleteMarkers(namespace, ids):
            return Direct("delete_markers", {"namespace": namespace, "number": list(ids)})
        case ClearMarkers(everything):
            return Direct("delete_markers", {"namespace": everything})
        case ShowMarkers(namespace, visible):
            return Direct("show_markers", {"namespace": namespace, "visible": visible})


def _address(target: Any) -> dict[str, str | int]:
    if isinstance(target, str):
        return {"name": target}
    if isinstance(target, int | np.integer) and not isinstance(target, bool) and 0 <= target <= values.LARGEST_ID:
        return {"vehicle": int(target)}
    raise InvalidValueError(f"a vehicle is given by name or by id (0 to 2^31 - 1), not by {target!r}")


def _addressed(message: pb.Command | pb.VehicleControl) -> str | int:
    if values.body_of(message, "target") == "name":
        return message.name
    if message.vehicle > values.LARGEST_ID:
        raise WireError("value", f"vehicle ids are from 0 to 2^31 - 1, not {message.vehicle}")
    return message.vehicle


def _input_messages(inputs: Inputs) -> dict[str, pb.Input]:
    return {name: _input_message(name, value) for name, value in inputs.items()}


def _input_message(name: str, value: Any) -> pb.Input:
    if isinstance(value, str):
        return pb.Input(text=value)
    if np.ndim(value):
        array = np.asarray(value, np.float64)
        if array.ndim != 1 or not np.isfinite(array).all():
            raise InvalidValueError(f"input {name!r} takes finite numbers, one per vehicle")
        return pb.Input(values=values.to_values(array))
    number = float(value)
    if not np.isfinite(number):
        raise InvalidValueError(f"input {name!r} must be a finite number, not {number}")
    return pb.Input(number=number)


def _inputs(message: pb.Command | pb.VehicleControl) -> dict[str, float | str | values.Floats]:
    inputs: dict[str, float | str | values.Floats] = {}
    for name, value in message.inputs.items():
        what = f"input {name[:40]!r}"
        match value.WhichOneof("value"):
            case "number":
                inputs[name] = values.finite(value.number, what)
            case "text":
                inputs[name] = value.text
            case "values":
                array = inputs[name] = values.from_values(value.values, what)
                if array.ndim != 1 or not np.isfinite(array).all():
                    raise WireError("value", f"{what} takes finite numbers, one per vehicle")
            case _:
                raise WireError("value", f"{what} has no value")
    return inputs


def _call_fields(call: Call) -> dict[str, Any]:
    json, arrays = values.to_tree(call.arguments)
    return {"method": call.method, "json": json, "arrays": arrays, "blob": call.blob}


def _call(message: pb.Call) -> Call:
    if len(message.json) > JSON_MOST:
        raise WireError("size", f"call: arguments have at most {JSON_MOST >> 20} MiB of JSON; send arrays as arrays")
    arguments = values.from_tree(message.json, message.arrays, "call") if message.json else {}
    if not isinstance(arguments, dict):
        raise WireError("json", "call: arguments are given by name, in an object")
    return Call(message.method, arguments, message.blob)


BODY = values.Oneof(
    "body",
    {
        "hello": values.Codec(Hello, pb.Hello),
        "heartbeat": values.Codec(Heartbeat, pb.Heartbeat),
        "goodbye": values.Codec(Goodbye, pb.Goodbye),
        "call": values.Codec(Call, pb.Call, _call_fields, _call),
        "admin": values.Codec(Direct, pb.Admin, read=_admin),
        "command": values.Codec(Direct, pb.Command, read=_command),
        "control": values.Codec(Direct, pb.Control, read=_control),
        "markers": values.Codec(Direct, pb.MarkerCommand, read=_markers),
    },
)


def encode_request(request: RequestMessage) -> bytes:
    """Encode a request."""
    body = request.body
    with values.sending(body.operation if isinstance(body, Direct) else f"{type(body).__name__}"):
        fields = _direct_fields(body) if isinstance(body, Direct) else BODY.fields(body)
        return pb.Request(id=request.id, token=request.token, **fields).SerializeToString()


def decode_request(data: values.Buffer) -> RequestMessage:
    """Decode a request; numbers are finite, arrays complete. A WireError carries the id."""
    message = values.parsed(pb.Request, data)
    try:
        return RequestMessage(message.id, BODY.value(message), message.token)
    except WireError as error:
        error.id = message.id
        raise


def request_id(data: values.Buffer) -> int:
    """Return the id of a request that may be malformed; 0 if it is unreadable."""
    try:
        return values.parsed(pb.Request, data).id
    except WireError:
        return 0


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


ReplyBody = Error | Done | Welcome | ControlAck | ResultMessage | StateUpdate | ControlRequestMessage | EventRecord


class Reply(NamedTuple):
    """A body, the id of its request (0: none), the tick and the simulation time."""

    id: int
    tick: int
    sim_time: float  # s
    body: ReplyBody


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


REPLY_BODY = Oneof(
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
        body: dict[str, Any] = REPLY_BODY.fields(reply.body)
        return pb.Reply(id=reply.id, tick=reply.tick, sim_time=time, **body).SerializeToString()


def encode_id(number: int) -> bytes:
    """Return bytes that, prepended to an encoded reply with the id 0, set its id: Protobuf merges the two."""
    return pb.Reply(id=number).SerializeToString()


def decode_reply(data: Buffer) -> Reply:
    """Decode a reply; times are finite, arrays complete."""
    message = parsed(pb.Reply, data)
    body = REPLY_BODY.value(message)
    return Reply(message.id, message.tick, finite(message.sim_time, "reply: sim_time"), body)
