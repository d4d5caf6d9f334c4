"""What clients send: every verb of a simulation, as a request that is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paddock.errors import InvalidValueError
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages import controls, markers
from paddock.wire.messages.controls import Command, Control
from paddock.wire.messages.markers import MarkerCommand
from paddock.wire.messages.values import Buffer, body_of, enumerated, finite, from_tree, parsed, sending, to_tree

PROTOCOL = 1
MODES = ("asynchronous", "synchronous")


class Hello(NamedTuple):
    """The first message; the answer is Welcome."""

    client: str = ""  # who calls, for people
    protocol: int = PROTOCOL


class Heartbeat(NamedTuple):
    """Still here."""


class Goodbye(NamedTuple):
    """The client leaves."""


class Reset(NamedTuple):
    """Start again."""

    seed: int | None = None


class Pause(NamedTuple):
    """Hold."""


class Resume(NamedTuple):
    """Go on."""


class Stop(NamedTuple):
    """End `run`."""


class Run(NamedTuple):
    """To a simulation time (s; None: until stopped), at a pace (None: as before)."""

    until: float | None = None
    pace: float | None = None


class Step(NamedTuple):
    """That many ticks."""

    ticks: int = 1
    control: Control | None = None  # the answer to what the coming tick would ask
    state: bool = False  # whether the answer shall be the state that it leads to


class SetPace(NamedTuple):
    """Simulated s per wall s; 0 is as fast as possible."""

    pace: float


class SetMode(NamedTuple):
    """Claim vehicles for synchronous control, or give them back."""

    mode: str  # one of MODES
    vehicles: tuple[str, ...] = ()


class GetMetadata(NamedTuple):
    """What is simulated; the answer is Result."""


class Call(NamedTuple):
    """Any other verb; `arguments` by name may hold arrays."""

    method: str
    arguments: Mapping[str, Any]
    blob: bytes = b""


Admin = Reset | Pause | Resume | Stop | Run | Step | SetPace | SetMode | GetMetadata
Body = Hello | Heartbeat | Goodbye | Admin | Command | Control | MarkerCommand | Call


class Request(NamedTuple):
    """A body with the id that its reply will carry."""

    id: int
    body: Body
    token: str = ""


def encode_request(request: Request) -> bytes:
    """The bytes of a request."""
    with sending(f"{type(request.body).__name__}"):
        message = pb.Request(id=request.id, token=request.token)
        _WRITERS[type(request.body)](message, request.body)
        return message.SerializeToString()


def decode_request(data: Buffer) -> Request:
    """A request; numbers that it sets are finite, arrays as long as they say. A WireError has the id that was read."""
    message = parsed(pb.Request, data)
    try:
        body = _READERS[body_of(message, "body")](message)
    except WireError as error:
        error.id = message.id
        raise
    return Request(message.id, body, message.token)


def request_id(data: Buffer) -> int:
    """The id of a request, whatever else is in it; 0 if it has none that can be read."""
    try:
        return parsed(pb.Request, data).id
    except WireError:
        return 0


# to messages ---------------------------------------------------------------------------------------------------------


def _put_admin(message: pb.Request, admin: Admin) -> None:
    to = message.admin
    match admin:
        case Reset(seed):
            to.reset.CopyFrom(pb.Reset(seed=seed))
        case Run(until, pace):
            to.run.CopyFrom(pb.Run(until=until, pace=pace))
        case Step(ticks, control, state):
            told = None if control is None else controls.control_message(control)
            to.step.CopyFrom(pb.Step(ticks=ticks, control=told, state=state))
        case SetPace(pace):
            to.set_pace.CopyFrom(pb.SetPace(pace=pace))
        case SetMode(mode, vehicles):
            to.set_mode.CopyFrom(pb.SetMode(mode=_known_mode(mode).upper(), vehicles=vehicles))
        case Pause():
            to.pause.SetInParent()
        case Resume():
            to.resume.SetInParent()
        case Stop():
            to.stop.SetInParent()
        case GetMetadata():
            to.get_metadata.SetInParent()
    _admin(message)  # whoever gets it would refuse it otherwise


def _known_mode(mode: str) -> str:
    if mode not in MODES:
        raise InvalidValueError(f"the mode is one of {', '.join(MODES)}, not {mode!r}")
    return mode


def _put_call(message: pb.Request, call: Call) -> None:
    json, arrays = to_tree(call.arguments)
    message.call.CopyFrom(pb.Call(method=call.method, json=json, arrays=arrays, blob=call.blob))


_WRITERS: dict[type, Callable[[pb.Request, Any], object]] = {
    Hello: lambda message, body: message.hello.CopyFrom(pb.Hello(client=body.client, protocol=body.protocol)),
    Heartbeat: lambda message, body: message.heartbeat.SetInParent(),
    Goodbye: lambda message, body: message.goodbye.SetInParent(),
    Command: lambda message, body: message.command.CopyFrom(controls.command_message(body)),
    Control: lambda message, body: message.control.CopyFrom(controls.control_message(body)),
    Call: _put_call,
    **dict.fromkeys(Admin.__args__, _put_admin),
    **dict.fromkeys(
        MarkerCommand.__args__, lambda message, body: message.markers.CopyFrom(markers.command_message(body))
    ),
}

# from messages -------------------------------------------------------------------------------------------------------


def _admin(message: pb.Request) -> Admin:
    admin = message.admin
    return _ADMIN_READERS[body_of(admin, "what")](admin)


def _run(admin: pb.Admin) -> Run:
    until = finite(admin.run.until, "run: until") if admin.run.HasField("until") else None
    pace = finite(admin.run.pace, "run: pace", 0.0) if admin.run.HasField("pace") else None
    return Run(until, pace)


def _step(admin: pb.Admin) -> Step:
    step = admin.step
    return Step(step.ticks, controls.control_value(step.control) if step.HasField("control") else None, step.state)


def _set_mode(admin: pb.Admin) -> SetMode:
    mode = enumerated(admin.set_mode.mode, MODES, "set_mode: mode")
    return SetMode(mode, tuple(admin.set_mode.vehicles))


def _call(message: pb.Request) -> Call:
    call = message.call
    arguments = from_tree(call.json, call.arrays, "call") if call.json else {}
    if not isinstance(arguments, dict):
        raise WireError("json", "call: arguments are given by name, in an object")
    return Call(call.method, arguments, call.blob)


_ADMIN_READERS: dict[str, Callable[[pb.Admin], Admin]] = {
    "reset": lambda admin: Reset(admin.reset.seed if admin.reset.HasField("seed") else None),
    "pause": lambda admin: Pause(),
    "resume": lambda admin: Resume(),
    "stop": lambda admin: Stop(),
    "run": _run,
    "step": _step,
    "set_pace": lambda admin: SetPace(finite(admin.set_pace.pace, "set_pace: pace", 0.0)),
    "set_mode": _set_mode,
    "get_metadata": lambda admin: GetMetadata(),
}
_READERS: dict[str, Callable[[pb.Request], Body]] = {
    "hello": lambda message: Hello(message.hello.client, message.hello.protocol),
    "heartbeat": lambda message: Heartbeat(),
    "goodbye": lambda message: Goodbye(),
    "admin": _admin,
    "command": lambda message: controls.command_value(message.command),
    "control": lambda message: controls.control_value(message.control),
    "markers": lambda message: markers.command_value(message.markers),
    "call": _call,
}
