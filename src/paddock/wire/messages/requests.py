"""Requests of clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages import markers
from paddock.wire.messages.markers import MarkerCommand
from paddock.wire.messages.values import (
    LARGEST_ID,
    Buffer,
    Floats,
    Ids,
    body_of,
    enumerated,
    finite,
    from_ids,
    from_tree,
    from_values,
    parsed,
    sending,
    to_ids,
    to_tree,
    to_values,
)

Inputs = Mapping[str, float | str | Floats]
"""Input -> a number, a choice by name, or an array of one number per vehicle."""


class Command(NamedTuple):
    """New inputs from the next tick or `at_tick` on; inputs that are not named keep their values."""

    target: str | int | Ids  # a vehicle's or a fleet's name, an id, or ids of one fleet
    inputs: Inputs
    at_tick: int | None = None
    timeout: float | None = None  # simulated s until the failsafe acts; None: as its entry says


class ControlMessage(NamedTuple):
    """The reply to the ControlRequest of a tick: vehicle (name or id) -> inputs."""

    tick: int
    commands: Mapping[str | int, Inputs]


def command_message(command: Command) -> pb.Command:
    """Encode a part of a request."""
    message = pb.Command(at_tick=command.at_tick, timeout=command.timeout)
    if isinstance(command.target, str | int | np.integer):
        _address(message, command.target)
    else:
        message.vehicles.ids.extend(to_ids(command.target, "the target"))
        message.vehicles.SetInParent()
    _put_inputs(message, command.inputs)
    return message


def command_value(message: pb.Command) -> Command:
    """Decode a part of a request."""
    target: str | int | Ids
    if body_of(message, "target") == "vehicles":
        target = from_ids(message.vehicles.ids, "command: vehicles")
    else:
        target = _addressed(message)
    at_tick = message.at_tick if message.HasField("at_tick") else None
    timeout = finite(message.timeout, "command: timeout", 0.0) if message.HasField("timeout") else None
    return Command(target, _inputs(message), at_tick, timeout)


def control_message(control: ControlMessage) -> pb.Control:
    """Encode a part of a request."""
    message = pb.Control(tick=control.tick)
    for target, inputs in control.commands.items():
        vehicle = message.vehicles.add()
        _address(vehicle, target)
        _put_inputs(vehicle, inputs)
    return message


def control_value(message: pb.Control) -> ControlMessage:
    """Decode a part of a request."""
    commands = {_addressed(vehicle): _inputs(vehicle) for vehicle in message.vehicles}
    if len(commands) != len(message.vehicles):
        raise WireError("value", f"control of tick {message.tick}: a vehicle is repeated")
    return ControlMessage(message.tick, commands)


def _address(message: pb.Command | pb.VehicleControl, target: Any) -> None:
    if isinstance(target, str):
        message.name = target
    elif isinstance(target, int | np.integer) and not isinstance(target, bool) and 0 <= target <= LARGEST_ID:
        message.vehicle = int(target)
    else:
        raise InvalidValueError(f"a vehicle is given by name or by id (0 to 2^31 - 1), not by {target!r}")


def _addressed(message: pb.Command | pb.VehicleControl) -> str | int:
    if body_of(message, "target") == "name":
        return message.name
    if message.vehicle > LARGEST_ID:
        raise WireError("value", f"vehicle ids are from 0 to 2^31 - 1, not {message.vehicle}")
    return message.vehicle


def _put_inputs(message: pb.Command | pb.VehicleControl, inputs: Inputs) -> None:
    for name, value in inputs.items():
        target = message.inputs[name]
        if isinstance(value, str):
            target.text = value
        elif np.ndim(value):
            array = np.asarray(value, np.float64)
            if array.ndim != 1 or not np.isfinite(array).all():
                raise InvalidValueError(f"input {name!r} takes finite numbers, one per vehicle")
            target.values.CopyFrom(to_values(array))
        else:
            number = float(value)
            if not np.isfinite(number):
                raise InvalidValueError(f"input {name!r} must be a finite number, not {number}")
            target.number = number


def _inputs(message: pb.Command | pb.VehicleControl) -> dict[str, float | str | Floats]:
    found: dict[str, float | str | Floats] = {}
    for name, value in message.inputs.items():
        what = f"input {name[:40]!r}"
        match value.WhichOneof("value"):
            case "number":
                found[name] = finite(value.number, what)
            case "text":
                found[name] = value.text
            case "values":
                values = found[name] = from_values(value.values, what)
                if values.ndim != 1 or not np.isfinite(values).all():
                    raise WireError("value", f"{what} takes finite numbers, one per vehicle")
            case _:
                raise WireError("value", f"{what} has no value")
    return found


PROTOCOL = 1
MODES = ("asynchronous", "synchronous")


class Hello(NamedTuple):
    """The first message; the answer is Welcome."""

    client: str = ""  # the client's name
    protocol: int = PROTOCOL


class Heartbeat(NamedTuple):
    """The client is alive."""


class Goodbye(NamedTuple):
    """The client leaves."""


class Reset(NamedTuple):
    """Restart the scenario."""

    seed: int | None = None


class Pause(NamedTuple):
    """Pause the run."""


class Resume(NamedTuple):
    """Resume the run."""


class Stop(NamedTuple):
    """End `run`."""


class RunRequest(NamedTuple):
    """Run to a simulation time (s; None: until stopped), at a pace (None: unchanged)."""

    until: float | None = None
    pace: float | None = None


class Step(NamedTuple):
    """Advance by a number of ticks."""

    ticks: int = 1
    control: ControlMessage | None = None  # the reply to the next control request
    state: bool = False  # whether the reply is the resulting state


class SetPace(NamedTuple):
    """Simulated s per wall s; 0 is as fast as possible."""

    pace: float


class SetMode(NamedTuple):
    """Claim vehicles for synchronous control, or release them."""

    mode: str  # one of MODES
    vehicles: tuple[str, ...] = ()


class GetMetadata(NamedTuple):
    """Describe the run; the reply is Result."""


class Call(NamedTuple):
    """Any other operation; `arguments` by name may hold arrays."""

    method: str
    arguments: Mapping[str, Any]
    blob: bytes = b""


Admin = Reset | Pause | Resume | Stop | RunRequest | Step | SetPace | SetMode | GetMetadata
Body = Hello | Heartbeat | Goodbye | Admin | Command | ControlMessage | MarkerCommand | Call
OWN_MESSAGES: dict[str, Any] = {
    "reset": Reset,
    "pause": Pause,
    "resume": Resume,
    "stop": Stop,
    "run": RunRequest,
    "step": Step,
    "pace": SetPace,
    "metadata": GetMetadata,
    "show_markers": markers.ShowMarkers,
}
"""Operations with a message of their own that has the arguments as fields."""


class RequestMessage(NamedTuple):
    """A body with the id of its reply."""

    id: int
    body: Body
    token: str = ""


def encode_request(request: RequestMessage) -> bytes:
    """Encode a request."""
    with sending(f"{type(request.body).__name__}"):
        message = pb.Request(id=request.id, token=request.token)
        _WRITERS[type(request.body)](message, request.body)
        return message.SerializeToString()


def decode_request(data: Buffer) -> RequestMessage:
    """Decode a request; numbers are finite, arrays complete. A WireError carries the id."""
    message = parsed(pb.Request, data)
    try:
        body = _READERS[body_of(message, "body")](message)
    except WireError as error:
        error.id = message.id
        raise
    return RequestMessage(message.id, body, message.token)


def request_id(data: Buffer) -> int:
    """The id of a request that may be malformed; 0 if it is unreadable."""
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
        case RunRequest(until, pace):
            to.run.CopyFrom(pb.Run(until=until, pace=pace))
        case Step(ticks, control, state):
            sent = None if control is None else control_message(control)
            to.step.CopyFrom(pb.Step(ticks=ticks, control=sent, state=state))
        case SetPace(pace):
            to.set_pace.CopyFrom(pb.SetPace(pace=pace))
        case SetMode(mode, vehicles):
            if mode not in MODES:
                raise InvalidValueError(f"the mode is one of {', '.join(MODES)}, not {mode!r}")
            to.set_mode.CopyFrom(pb.SetMode(mode=mode.upper(), vehicles=vehicles))
        case Pause() | Resume() | Stop():
            getattr(to, type(admin).__name__.lower()).SetInParent()
        case GetMetadata():
            to.get_metadata.SetInParent()
    _admin(message)  # the receiver would refuse it


def _put_call(message: pb.Request, call: Call) -> None:
    json, arrays = to_tree(call.arguments)
    message.call.CopyFrom(pb.Call(method=call.method, json=json, arrays=arrays, blob=call.blob))


_WRITERS: dict[type, Callable[[pb.Request, Any], object]] = {
    Hello: lambda message, body: message.hello.CopyFrom(pb.Hello(client=body.client, protocol=body.protocol)),
    Heartbeat: lambda message, body: message.heartbeat.SetInParent(),
    Goodbye: lambda message, body: message.goodbye.SetInParent(),
    Command: lambda message, body: message.command.CopyFrom(command_message(body)),
    ControlMessage: lambda message, body: message.control.CopyFrom(control_message(body)),
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


def _run(admin: pb.Admin) -> RunRequest:
    until = finite(admin.run.until, "run: until") if admin.run.HasField("until") else None
    pace = finite(admin.run.pace, "run: pace", 0.0) if admin.run.HasField("pace") else None
    return RunRequest(until, pace)


def _step(admin: pb.Admin) -> Step:
    step = admin.step
    return Step(step.ticks, control_value(step.control) if step.HasField("control") else None, step.state)


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
    "command": lambda message: command_value(message.command),
    "control": lambda message: control_value(message.control),
    "markers": lambda message: markers.command_value(message.markers),
    "call": _call,
}
