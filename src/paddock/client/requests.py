"""The requests of a client: one function per verb, used by the synchronous and the asynchronous client alike.

`call` derives a request from the table of operations. Verbs with a message of their own, or with arguments in a form
that Python users like better, are written out.
"""

from __future__ import annotations

import inspect as signatures
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from math import isfinite
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError
from paddock.planning.mission.views import view_from
from paddock.wire.messages import markers as wire
from paddock.wire.messages.recordings import EventMessage
from paddock.wire.messages.replies import Reply, ResultMessage
from paddock.wire.messages.requests import (
    Body,
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
from paddock.wire.operations import OPERATIONS, Operations
from paddock.wire.operations.arguments import plain
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

T = TypeVar("T")
U = TypeVar("U")
P = ParamSpec("P")
LARGEST = 2**64 - 1  # the largest whole number that a request can carry


class ClientRequest(NamedTuple, Generic[T]):
    """A request, and how its reply is read."""

    body: Body
    read: Callable[[Reply], T]
    patient: bool = False  # may take arbitrarily long while the server lives


class RemoteOverride(NamedTuple):
    """A behaviour in place of the one in the vehicles' entry."""

    ids: NDArray[np.int64]
    behaviour: str
    options: dict[str, Any]


class RemoteRoute(NamedTuple):
    """A line that some vehicles follow, or a point where they go."""

    fleet: str
    ids: NDArray[np.int64]
    behaviour: str
    closed: bool  # the last point joins the first
    points: NDArray[np.float64]  # (k, 3) m


def nothing(reply: Reply) -> None:
    """Ignore the reply."""


def value(reply: Reply) -> Any:
    """The value of a result."""
    return reply.body.value if isinstance(reply.body, ResultMessage) else None


def call(operation: Callable[Concatenate[Any, P], T], patient: bool = False) -> Callable[P, ClientRequest[T]]:
    """The request of an operation that is called by name, with the signature of its entry in the table."""
    return called(operation, lambda result: cast(T, result), patient)


def called(
    operation: Callable[Concatenate[Any, P], Any], read: Callable[[Any], U], patient: bool = False
) -> Callable[P, ClientRequest[U]]:
    """The same, with a result of another type."""
    name = operation.__name__
    arguments = {one.name: plain(one.annotation) for one in OPERATIONS[name].arguments}
    whole = signatures.signature(operation)
    own = [one.replace(annotation=arguments[one.name]) for one in whole.parameters.values() if one.name in arguments]
    signature = whole.replace(parameters=own)  # without self, in plain types

    def request(*args: P.args, **kwargs: P.kwargs) -> ClientRequest[U]:
        given = signature.bind(*args, **kwargs).arguments
        return ClientRequest(Call(name, given), lambda reply: read(value(reply)), patient)

    update_wrapper(request, operation)
    request.__signature__ = signature  # type: ignore[attr-defined]
    return request


def sends(body: Body, operation: Callable[..., Any], read: Callable[[Reply], U]) -> Callable[[], ClientRequest[U]]:
    """The request of an operation without arguments that has a message of its own."""

    def request() -> ClientRequest[U]:
        return ClientRequest(body, read)

    request.__doc__ = operation.__doc__
    return request


def as_method(request: Callable[..., Any], method: Callable[..., Any]) -> None:
    """Give a method the name, docstring and signature of its request, with `self`."""
    update_wrapper(method, request)
    own = signatures.Parameter("self", signatures.Parameter.POSITIONAL_ONLY)
    whole = signatures.signature(request)
    result = signatures.Signature.empty
    method.__signature__ = whole.replace(parameters=[own, *whole.parameters.values()], return_annotation=result)  # type: ignore[attr-defined]


# clock ---------------------------------------------------------------------------------------------------------------


def set_pace(pace: float) -> ClientRequest[None]:
    """Set the simulated seconds per wall second; 0 is as fast as possible."""
    return ClientRequest(SetPace(_pace(pace)), nothing)


def step(ticks: int = 1) -> ClientRequest[None]:
    """Advance by exactly this many ticks. This client controls the clock from then on."""
    return ClientRequest(Step(whole_ticks(ticks)), nothing, patient=True)


def step_synchronously(ticks: int, control: ControlMessage | None) -> ClientRequest[Snapshot | None]:
    """Advance with the answer to the coming control request; return the state after it."""
    found = cast(Callable[[Any], Snapshot | None], lambda snapshot: snapshot)
    return ClientRequest(Step(whole_ticks(ticks), control, True), found, patient=True)


def whole_ticks(ticks: int) -> int:
    """Check a number of ticks."""
    return _whole("step takes a whole number of ticks >= 0", ticks)


def run(until: float | None = None, pace: float | None = None) -> ClientRequest[None]:
    """Run until a simulation time (s), at a pace; without a time, resume and return."""
    if until is not None and not _is_finite(until):
        raise InvalidValueError(f"run(until=...) takes a finite time in s, not {until!r}")
    return ClientRequest(RunRequest(until, None if pace is None else _pace(pace)), nothing, patient=True)


def reset(seed: int | None = None) -> ClientRequest[None]:
    """Restart the scenario from tick 0; a seed replaces the scenario's."""
    number = None if seed is None else _whole("a seed is a whole number in 0 to 2**64 - 1", seed)
    return ClientRequest(Reset(number), nothing, patient=True)


def restore(blob: bytes) -> ClientRequest[None]:
    """Return to a saved state of this scenario."""
    if not isinstance(blob, bytes | bytearray | memoryview) or not blob:
        raise PaddockError("restore takes what save() returned")
    return ClientRequest(Call("restore", {}, bytes(blob)), nothing, patient=True)


def save() -> ClientRequest[bytes]:
    """Return the complete state."""
    return ClientRequest(
        Call("save", {}), lambda reply: reply.body.blob if isinstance(reply.body, ResultMessage) else b"", True
    )


CLOCK = Call("clock", {})
tick = sends(CLOCK, Operations.clock, lambda reply: reply.tick)
time = sends(CLOCK, Operations.clock, lambda reply: reply.sim_time)
pace = sends(CLOCK, Operations.clock, lambda reply: float(value(reply)["pace"]))
paused = sends(CLOCK, Operations.clock, lambda reply: bool(value(reply)["paused"]))
pause = sends(Pause(), Operations.pause, nothing)
resume = sends(Resume(), Operations.resume, nothing)
stop = sends(Stop(), Operations.stop, nothing)
seek = call(Operations.seek)
hold = call(Operations.hold)
release_clock = call(Operations.let_go)
state_hash = call(Operations.state_hash)


# vehicles ------------------------------------------------------------------------------------------------------------


def command(target: Any, *, at_tick: int | None = None, **inputs: Any) -> ClientRequest[None]:
    """Set inputs of a vehicle, or of a fleet with arrays of its length, from the next tick on (or from `at_tick`).

    Inputs that are not named keep their values. An array of ids is a valid target too.
    """
    whom: Any = target if isinstance(target, str | int | np.integer) else _ids(target)
    values = checked_inputs(inputs, f"{len(whom)} vehicles" if isinstance(whom, np.ndarray) else whom)
    tick = None if at_tick is None else _whole("at_tick takes a whole number of ticks >= 0", at_tick)
    return ClientRequest(Command(whom, values, tick), nothing)


def spawn(**fields: Any) -> ClientRequest[str]:
    """Add vehicles: the fields of a scenario's `vehicles` entry, or `fleet="scouts"` with `count` and `spawn`."""
    return ClientRequest(Call("spawn", {"entry": fields}), value, patient=True)


def override(target: Any, behaviour: Any) -> ClientRequest[None]:
    """Override the behaviour of vehicles (a name, an id, or a list of them).

    A behaviour as in a scenario; "external": take commands; None: back to the vehicles' entry.
    """
    whom = target if isinstance(target, str | int | np.integer) else list(target)
    return ClientRequest(Call("order", {"target": whom, "behaviour": behaviour}), nothing, patient=True)


remove = call(Operations.remove)
overrides = called(Operations.orders, lambda found: [RemoteOverride(**one) for one in found])
routes = called(Operations.routes, lambda found: [RemoteRoute(**one) for one in found])


def claim(vehicles: Sequence[str]) -> ClientRequest[dict[str, Any]]:
    """Have the simulation wait for this client's commands for these vehicles."""
    return ClientRequest(SetMode("synchronous", tuple(vehicles)), value)


RELEASE: ClientRequest[None] = ClientRequest(SetMode("asynchronous"), nothing)


def answer(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> ControlMessage:
    """The message that answers the control request of a tick."""
    checked = {vehicle: checked_inputs(inputs, vehicle) for vehicle, inputs in commands.items()}
    return ControlMessage(_whole("a control answers a tick >= 0", tick), checked)


def control(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> ClientRequest[None]:
    """Answer the control request of a tick."""
    return ClientRequest(answer(tick, commands), nothing)


# reading -------------------------------------------------------------------------------------------------------------


def snapshot(roster: bool = False) -> ClientRequest[Snapshot | None]:
    """Return the world now; `roster`: with the roster even if the server believes that it is known."""
    return ClientRequest(
        Call("snapshot", {"roster": True} if roster else {}), lambda found: cast(Snapshot | None, found)
    )


metadata = sends(GetMetadata(), Operations.metadata, value)
sensors = call(Operations.sensors)
inspect = call(Operations.inspect)
events = called(Operations.events, lambda found: [EventMessage(**one) for one in found])


# frames and markers --------------------------------------------------------------------------------------------------


def set_frame(
    name: str,
    parent: str = "world",
    position: Sequence[float] = (0.0, 0.0, 0.0),
    quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    moving: bool = False,
) -> ClientRequest[None]:
    """Place a named frame in another (`world`, a vehicle, a frame)."""
    pose = {"position": _numbers("position", position), "quaternion": _numbers("quaternion", quaternion)}
    return ClientRequest(Call("set_frame", {"name": name, "parent": parent, **pose, "moving": moving}), nothing)


transform = called(Operations.transform, lambda found: Transform(found["position"], found["quaternion"]))


def put_markers(*markers: Marker) -> ClientRequest[None]:
    """Show markers in place of those with the same namespace and id."""
    for marker in markers:
        if not isinstance(marker, Marker):
            raise InvalidValueError(f"a marker is made by paddock.Marker, not {marker!r}")
    fields = wire.MarkerMessage.__dataclass_fields__
    return ClientRequest(
        wire.PutMarkers(tuple(wire.MarkerMessage(**{f: getattr(m, f) for f in fields}) for m in markers)), nothing
    )


def remove_markers(namespace: str | None = None, id: int | None = None) -> ClientRequest[None]:
    """Remove a marker, a whole namespace, or all markers."""
    if namespace is None and id is not None:
        raise InvalidValueError(f"marker {id!r} needs its namespace: remove(namespace, {id!r})")
    if namespace is not None and id is not None:
        return ClientRequest(wire.DeleteMarkers(namespace, (id,)), nothing)
    return ClientRequest(wire.ClearMarkers(namespace), nothing)


def show_markers(namespace: str, visible: bool = True) -> ClientRequest[None]:
    """Show or hide a namespace of markers."""
    return ClientRequest(wire.ShowMarkers(namespace, visible), nothing)


# mission: may be planning, and take long -----------------------------------------------------------------------------


def _added(operation: str, argument: str, summary: str) -> Callable[..., ClientRequest[None]]:
    def request(name: str, **fields: Any) -> ClientRequest[None]:
        return ClientRequest(Call(operation, {argument: {"name": name, **fields}}), nothing, patient=True)

    request.__doc__ = summary
    return request


add_task = _added("add_task", "task", 'Add a task: a scenario task\'s fields, such as `point={"at": [100, 50]}`.')
add_zone = _added("add_zone", "zone", "Add a no-fly zone: the fields of a scenario's zone.")
add_vehicle = _added("add_vehicle", "entry", "Add vehicles to the mission: fields of a scenario's `vehicles` entry.")


def move_task(task: str, x: float, y: float) -> ClientRequest[None]:
    """Move a task (m)."""
    return ClientRequest(Call("move_task", {"name": task, "x": x, "y": y}), nothing, patient=True)


def remove_task(task: str) -> ClientRequest[None]:
    """Remove a task."""
    return ClientRequest(Call("remove_task", {"name": task}), nothing, patient=True)


damage = call(Operations.damage, patient=True)
mission_view = called(Operations.mission_view, lambda found: view_from(found) if found else None, patient=True)


# values that a request can carry: others are refused in the words of a local simulation ------------------------------


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float | np.number) and isfinite(float(value))
    except (OverflowError, TypeError):  # too large for a float; complex
        return False


def _whole(rule: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= LARGEST:
        raise InvalidValueError(f"{rule}, not {value!r}")
    return int(value)


def _pace(pace: Any) -> float:
    if isinstance(pace, bool) or not _is_finite(pace):
        raise InvalidValueError(f"pace must be a number, not {pace!r}")
    return float(pace)


def _numbers(what: str, values: Any) -> list[float]:
    try:
        return list(map(float, values))
    except (TypeError, ValueError, OverflowError):
        raise InvalidValueError(f"{what} must be a list of numbers, not {values!r}") from None


def _ids(target: Any) -> NDArray[Any]:
    try:
        ids = np.asarray(target)
    except ValueError:  # nested lists of different lengths
        ids = np.empty(())
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidValueError(f"a command is for a name, an id, or a list of ids, not {target!r}")
    if not ids.size:
        raise InvalidValueError("a command needs at least one vehicle: the list of ids is empty")
    return ids


def checked_inputs(inputs: Any, target: Any) -> dict[str, Any]:
    """Inputs as numbers, texts or arrays of finite numbers."""
    if not isinstance(inputs, Mapping):
        raise InvalidValueError(f"the inputs of {target!r} are given by name, as in {{'steer': 0.1}}, not {inputs!r}")
    return {name: _checked(name, value, target) for name, value in inputs.items()}


def _checked(name: str, value: Any, target: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, np.ndarray | list | tuple):
        if isinstance(value, str) or _is_finite(value):
            return value
        raise InvalidValueError(f"{target}: input {name!r} must be a finite number, not {value!r}")
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"input {name!r} of {target!r} must be an array of numbers") from None
    if not np.isfinite(array).all():
        raise InvalidValueError(f"input {name!r} of {target!r} has values that are not finite")
    return array
