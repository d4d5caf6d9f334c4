"""Requests of clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages.markers import COMMAND, MarkerCommand, ShowMarkers
from paddock.wire.messages.values import (
    LARGEST_ID,
    Buffer,
    Codec,
    Floats,
    Ids,
    Oneof,
    body_of,
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


def _command_fields(command: Command) -> dict[str, Any]:
    fields = {"at_tick": command.at_tick, "timeout": command.timeout, "inputs": _input_messages(command.inputs)}
    if isinstance(command.target, str | int | np.integer):
        return {**fields, **_address(command.target)}
    return {**fields, "vehicles": pb.Ids(ids=to_ids(command.target, "the target"))}


def _command(message: pb.Command) -> Command:
    target: str | int | Ids
    if body_of(message, "target") == "vehicles":
        target = from_ids(message.vehicles.ids, "command: vehicles")
    else:
        target = _addressed(message)
    at_tick = message.at_tick if message.HasField("at_tick") else None
    timeout = finite(message.timeout, "command: timeout", 0.0) if message.HasField("timeout") else None
    return Command(target, _inputs(message), at_tick, timeout)


def _control_fields(control: ControlMessage) -> dict[str, Any]:
    vehicles = [{**_address(target), "inputs": _input_messages(inputs)} for target, inputs in control.commands.items()]
    return {"tick": control.tick, "vehicles": vehicles}


def _control(message: pb.Control) -> ControlMessage:
    commands = {_addressed(vehicle): _inputs(vehicle) for vehicle in message.vehicles}
    if len(commands) != len(message.vehicles):
        raise WireError("value", f"control of tick {message.tick}: a vehicle is repeated")
    return ControlMessage(message.tick, commands)


def _address(target: Any) -> dict[str, str | int]:
    if isinstance(target, str):
        return {"name": target}
    if isinstance(target, int | np.integer) and not isinstance(target, bool) and 0 <= target <= LARGEST_ID:
        return {"vehicle": int(target)}
    raise InvalidValueError(f"a vehicle is given by name or by id (0 to 2^31 - 1), not by {target!r}")


def _addressed(message: pb.Command | pb.VehicleControl) -> str | int:
    if body_of(message, "target") == "name":
        return message.name
    if message.vehicle > LARGEST_ID:
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
        return pb.Input(values=to_values(array))
    number = float(value)
    if not np.isfinite(number):
        raise InvalidValueError(f"input {name!r} must be a finite number, not {number}")
    return pb.Input(number=number)


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
    "show_markers": ShowMarkers,
}
"""Operations with a message of their own that has the arguments as fields."""


class RequestMessage(NamedTuple):
    """A body with the id of its reply."""

    id: int
    body: Body
    token: str = ""


def _step_fields(step: Step) -> dict[str, Any]:
    return {**step._asdict(), "control": None if step.control is None else CONTROL.message(step.control)}


def _step(message: pb.Step) -> Step:
    return Step(message.ticks, CONTROL.value(message.control) if message.HasField("control") else None, message.state)


def _mode_fields(body: SetMode) -> dict[str, Any]:
    if body.mode not in MODES:
        raise InvalidValueError(f"the mode is one of {', '.join(MODES)}, not {body.mode!r}")
    return {"mode": body.mode.upper(), "vehicles": body.vehicles}


def _call_fields(call: Call) -> dict[str, Any]:
    json, arrays = to_tree(call.arguments)
    return {"method": call.method, "json": json, "arrays": arrays, "blob": call.blob}


def _call(message: pb.Call) -> Call:
    arguments = from_tree(message.json, message.arrays, "call") if message.json else {}
    if not isinstance(arguments, dict):
        raise WireError("json", "call: arguments are given by name, in an object")
    return Call(message.method, arguments, message.blob)


CONTROL = Codec(ControlMessage, pb.Control, _control_fields, _control)
ADMIN = Oneof(
    "what",
    {
        "reset": Codec(Reset, pb.Reset),
        "pause": Codec(Pause, pb.Pause),
        "resume": Codec(Resume, pb.Resume),
        "stop": Codec(Stop, pb.Stop),
        "run": Codec(RunRequest, pb.Run, check=True),
        "step": Codec(Step, pb.Step, _step_fields, _step),
        "set_pace": Codec(SetPace, pb.SetPace, check=True),
        "set_mode": Codec(SetMode, pb.SetMode, _mode_fields),
        "get_metadata": Codec(GetMetadata, pb.GetMetadata),
    },
)
BODY = Oneof(
    "body",
    {
        "hello": Codec(Hello, pb.Hello),
        "heartbeat": Codec(Heartbeat, pb.Heartbeat),
        "goodbye": Codec(Goodbye, pb.Goodbye),
        "admin": Codec(Admin, pb.Admin, ADMIN.fields, ADMIN.value),  # type: ignore[arg-type]
        "command": Codec(Command, pb.Command, _command_fields, _command),
        "control": CONTROL,
        "markers": COMMAND,
        "call": Codec(Call, pb.Call, _call_fields, _call),
    },
)


def encode_request(request: RequestMessage) -> bytes:
    """Encode a request."""
    with sending(f"{type(request.body).__name__}"):
        return pb.Request(id=request.id, token=request.token, **BODY.fields(request.body)).SerializeToString()  # type: ignore[arg-type]


def decode_request(data: Buffer) -> RequestMessage:
    """Decode a request; numbers are finite, arrays complete. A WireError carries the id."""
    message = parsed(pb.Request, data)
    try:
        return RequestMessage(message.id, BODY.value(message), message.token)
    except WireError as error:
        error.id = message.id
        raise


def request_id(data: Buffer) -> int:
    """The id of a request that may be malformed; 0 if it is unreadable."""
    try:
        return parsed(pb.Request, data).id
    except WireError:
        return 0
