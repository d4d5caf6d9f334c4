"""Requests of clients, and the messages to one client: replies and, with the id 0, control requests and refusals.

A request is an operation with its arguments, encoded as a message.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import Message

from paddock.errors import InvalidValueError, unknown_name
from paddock.wire import WireError
from paddock.wire import messages_pb2 as pb
from paddock.wire.messages import values
from paddock.wire.messages.markers import MARKER, MarkerMessage
from paddock.wire.messages.states import EVENT, STATE_UPDATE, StateUpdate
from paddock.wire.messages.values import Buffer, Codec, Oneof, finite, from_tree, parsed, sending, to_tree
from paddock.wire.operations import OPERATIONS
from paddock.wire.results import EventRecord

Inputs = Mapping[str, float | str | values.Floats]
"""Input -> a number, a choice by name, or an array of one number per vehicle."""
PROTOCOL = 1
JSON_MOST = 4 << 20  # bytes of the JSON of a call
MARKER_FIELDS = tuple(MarkerMessage.__dataclass_fields__)


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


class RequestForm(NamedTuple):
    """A Protobuf message of an operation, which its entry in the table names."""

    operation: str
    kind: type[Message]
    place: tuple[str, ...]  # its field in Request, or the field of an outer message there and that in its `what`
    case: str  # the field by which it differs from another operation's of the same kind; empty: none
    arguments: tuple[str, ...]  # those that it carries
    fields: frozenset[str]  # of them


def _direct_fields(direct: Direct) -> dict[str, Any]:
    name, arguments = direct
    if name not in FORMS:
        raise unknown_name("operation", name, FORMS)
    fields: dict[str, Any] = {}
    for argument, value in arguments.items():
        if value is not None:
            fields |= ARGUMENTS[argument].write(value) if argument in ARGUMENTS else {argument: value}
    form = next((form for form in FORMS[name] if fields.keys() <= form.fields), FORMS[name][0])
    if form.case and form.case not in form.fields:
        fields[form.case] = 1
    message = form.kind(**fields)
    values.fields_of(message, arguments.keys() & fields.keys() - ARGUMENTS.keys())  # the receiver would refuse them
    field, *inner = form.place
    return {field: {inner[0]: message} if inner else message}


def _direct(message: Message) -> Direct:
    if "what" in message.DESCRIPTOR.oneofs_by_name:
        message = getattr(message, values.body_of(message, "what"))
    present = {field.name for field, _ in message.ListFields()}
    kind = message.DESCRIPTOR.name
    form = next(form for form in BY_MESSAGE[kind] if form.case in present or not form.case)
    if unused := sorted(present - form.fields - {form.case}):
        raise WireError("value", f"{kind.lower()}: {unused[0]} does not belong to {form.operation}")
    values.fields_of(message, {form.case} & present - form.fields)  # an enum may have an unknown number
    arguments = values.fields_of(message, [name for name in form.arguments if name not in ARGUMENTS])
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
    return Direct(
        form.operation,
        arguments | {name: ARGUMENTS[name].read(message) for name in form.arguments if name in ARGUMENTS},
    )


def _vehicle_controls(commands: Mapping[str | int, Inputs]) -> dict[str, Any]:
    vehicles = [{**_address(target), "inputs": _input_messages(inputs)} for target, inputs in commands.items()]
    return {"vehicles": vehicles}


def _commands(message: pb.Control) -> dict[str | int, Inputs]:
    commands: dict[str | int, Inputs] = {_addressed(vehicle): _inputs(vehicle) for vehicle in message.vehicles}
    if len(commands) != len(message.vehicles):
        raise WireError("value", f"control of tick {message.tick}: a vehicle is repeated")
    return commands


def _control(message: pb.Step) -> dict[str, Any] | None:
    if not message.HasField("control"):
        return None
    return {"tick": message.control.tick, "commands": _commands(message.control)}


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


class ArgumentForm(NamedTuple):
    """An argument that is not a field of its own name."""

    fields: tuple[str, ...]  # of the message
    write: Callable[[Any], dict[str, Any]]  # returns them
    read: Callable[[Any], Any]  # from the message


ARGUMENTS = {
    "target": ArgumentForm(("name", "vehicle"), _address, _addressed),
    "inputs": ArgumentForm(("inputs",), lambda inputs: {"inputs": _input_messages(inputs)}, _inputs),
    "ids": ArgumentForm(
        ("vehicles",),
        lambda ids: {"vehicles": pb.Ids(ids=values.to_ids(ids, "the target"))},
        lambda message: values.from_ids(message.vehicles.ids, "command: vehicles"),
    ),
    "commands": ArgumentForm(("vehicles",), _vehicle_controls, _commands),
    "control": ArgumentForm(
        ("control",),
        lambda control: {"control": pb.Control(tick=control["tick"], **_vehicle_controls(control["commands"]))},
        _control,
    ),
    "markers": ArgumentForm(
        ("markers",),
        lambda trees: {"markers": [MARKER.message(MarkerMessage(**tree)) for tree in trees]},
        lambda message: [
            {name: getattr(marker, name) for name in MARKER_FIELDS} for marker in map(MARKER.value, message.markers)
        ],
    ),
    "number": ArgumentForm(("ids",), lambda numbers: {"ids": numbers}, lambda message: list(message.ids)),
}
"""The arguments of operations that have another form in messages."""


def _fields_of(argument: str) -> tuple[str, ...]:
    """Return the fields of a message that hold an argument."""
    return ARGUMENTS[argument].fields if argument in ARGUMENTS else (argument,)


def _places() -> dict[str, tuple[str, ...]]:
    """Return where each message of an operation stands in a request."""
    places: dict[str, tuple[str, ...]] = {}
    for field in pb.Request.DESCRIPTOR.oneofs_by_name["body"].fields:
        outer: Any = field.message_type
        inner = outer.oneofs_by_name["what"].fields if "what" in outer.oneofs_by_name else ()
        places[outer.name] = (field.name,)
        places |= {each.message_type.name: (field.name, each.name) for each in inner}
    return places


def _forms() -> dict[str, list[RequestForm]]:
    """Return the messages of the operations that are not called by name, as the table names them."""
    places, forms = _places(), dict[str, list[RequestForm]]()
    for name, operation in OPERATIONS.items():
        for path in operation.entry.zmq.split(", ") if operation.entry.zmq and not operation.callable_by_name else ():
            kind, _, case = path.partition(".")
            message: type[Message] = getattr(pb, kind)
            present = {field.name for field in message.DESCRIPTOR.fields}
            arguments = tuple(each.name for each in operation.arguments if present.issuperset(_fields_of(each.name)))
            fields = frozenset(field for argument in arguments for field in _fields_of(argument))
            forms.setdefault(name, []).append(RequestForm(name, message, places[kind], case, arguments, fields))
    return forms


FORMS = _forms()
"""The messages of each operation that has its own; the first that holds all arguments is sent."""
BY_MESSAGE: dict[str, list[RequestForm]] = {}
"""The same by the names of messages, those with a case first."""
for _form in sorted((form for forms in FORMS.values() for form in forms), key=lambda form: not form.case):
    BY_MESSAGE.setdefault(_form.kind.DESCRIPTOR.name, []).append(_form)
BODY = values.Oneof(
    "body",
    {
        "hello": values.Codec(Hello, pb.Hello),
        "heartbeat": values.Codec(Heartbeat, pb.Heartbeat),
        "goodbye": values.Codec(Goodbye, pb.Goodbye),
        "call": values.Codec(Call, pb.Call, _call_fields, _call),
        "admin": values.Codec(Direct, pb.Admin, read=_direct),
        "command": values.Codec(Direct, pb.Command, read=_direct),
        "control": values.Codec(Direct, pb.Control, read=_direct),
        "markers": values.Codec(Direct, pb.MarkerCommand, read=_direct),
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
