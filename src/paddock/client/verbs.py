"""Every verb of a simulation as a request, and what is made of its reply: used by both kinds of client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from paddock.client.sendable import checked_inputs, checked_pace, is_finite, numbers, some_ids, whole
from paddock.errors import InvalidValueError, PaddockError
from paddock.wire.messages import markers as wire
from paddock.wire.messages.controls import Command, Control
from paddock.wire.messages.recordings import Event
from paddock.wire.messages.replies import Reply, Result
from paddock.wire.messages.requests import (
    Body,
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
from paddock.world.markers import Marker
from paddock.world.snapshot import Snapshot
from paddock.world.transforms import Transform

T = TypeVar("T")


class Verb(NamedTuple, Generic[T]):
    """What is asked for, and how its reply is read."""

    body: Body
    read: Callable[[Reply], T]
    patient: bool = False  # takes as long as it takes, while the server lives


class Order(NamedTuple):
    """An order that is being followed."""

    ids: NDArray[np.int64]
    behaviour: str
    options: dict[str, Any]


class Route(NamedTuple):
    """A line that some vehicles follow, or a point where they go."""

    fleet: str
    ids: NDArray[np.int64]
    behaviour: str
    closed: bool  # the last point joins the first
    points: NDArray[np.float64]  # (k, 3) m


def nothing(reply: Reply) -> None:
    """It is done."""


def value(reply: Reply) -> Any:
    """What a call returned."""
    return reply.body.value if isinstance(reply.body, Result) else None


def call(method: str, /, **arguments: Any) -> Verb[Any]:
    """An operation by its name."""
    return Verb(Call(method, arguments), value)


def do(method: str, /, **arguments: Any) -> Verb[None]:
    """An operation that returns nothing of interest."""
    return Verb(Call(method, arguments), nothing)


# time ----------------------------------------------------------------------------------------------------------------


def tick() -> Verb[int]:
    """Ticks since the run began."""
    return Verb(Call("clock", {}), lambda reply: reply.tick)


def time() -> Verb[float]:
    """Simulation time, s."""
    return Verb(Call("clock", {}), lambda reply: reply.sim_time)


def clock(what: str) -> Verb[Any]:
    """One of pace, paused, run, owner."""
    return Verb(Call("clock", {}), lambda reply: value(reply)[what])


def whole_ticks(ticks: int) -> int:
    """How many ticks to step."""
    return whole("step takes a whole number of ticks >= 0", ticks)


def step(ticks: int) -> Verb[None]:
    """So many ticks."""
    return Verb(Step(whole_ticks(ticks)), nothing, patient=True)


def step_synchronously(ticks: int, control: Control | None) -> Verb[Snapshot | None]:
    """So many ticks, with the answer to what the coming one would ask; returns the state then."""
    found = cast(Callable[[Any], Snapshot | None], lambda snapshot: snapshot)
    return Verb(Step(whole_ticks(ticks), control, True), found, patient=True)


def run(until: float | None, pace: float | None) -> Verb[None]:
    """To a simulation time (s), at a pace."""
    if until is not None and not is_finite(until):
        raise InvalidValueError(f"run(until=...) takes a finite time in s, not {until!r}")
    return Verb(Run(until, None if pace is None else checked_pace(pace)), nothing, patient=True)


PAUSE: Verb[None] = Verb(Pause(), nothing)
RESUME: Verb[None] = Verb(Resume(), nothing)
STOP: Verb[None] = Verb(Stop(), nothing)
METADATA: Verb[dict[str, Any]] = Verb(GetMetadata(), value)


def set_pace(pace: float) -> Verb[None]:
    """Simulated s per wall s; 0 is as fast as possible."""
    return Verb(SetPace(checked_pace(pace)), nothing)


def reset(seed: int | None) -> Verb[None]:
    """From tick 0 again."""
    number = None if seed is None else whole("a seed is a whole number in 0 to 2**64 - 1", seed)
    return Verb(Reset(number), nothing, patient=True)


def seek(position: float) -> Verb[float]:
    """Jump to a time of a recording that is served, in s from its beginning; returns where it stands."""
    if isinstance(position, bool) or not is_finite(position):
        raise InvalidValueError(f"seek takes a time in s, not {position!r}")
    return Verb(Call("seek", {"position": float(position)}), lambda reply: float(value(reply)))


# vehicles ------------------------------------------------------------------------------------------------------------


def command(target: Any, at_tick: int | None, inputs: Mapping[str, Any]) -> Verb[None]:
    """Inputs of a vehicle, a fleet, or vehicles by id."""
    whom: Any = target if isinstance(target, str | int | np.integer) else some_ids(target)
    values = checked_inputs(inputs, f"{len(whom)} vehicles" if isinstance(whom, np.ndarray) else whom)
    tick = None if at_tick is None else whole("at_tick takes a whole number of ticks >= 0", at_tick)
    return Verb(Command(whom, values, tick), nothing)


def spawn(fields: Mapping[str, Any]) -> Verb[str]:
    """More vehicles; returns their name."""
    return Verb(Call("spawn", {"entry": fields}), value, patient=True)


def order(target: Any, behaviour: Any) -> Verb[None]:
    """Tell vehicles what to do."""
    whom = target if isinstance(target, str | int | np.integer) else list(target)
    return Verb(Call("order", {"target": whom, "behaviour": behaviour}), nothing, patient=True)


def orders() -> Verb[list[Order]]:
    """What vehicles were told."""
    return Verb(Call("orders", {}), lambda reply: [Order(**given) for given in value(reply)])


def routes() -> Verb[list[Route]]:
    """Where vehicles are to go."""
    return Verb(Call("routes", {}), lambda reply: [Route(**route) for route in value(reply)])


def set_frame(
    name: str, parent: str, position: Sequence[float], quaternion: Sequence[float], moving: bool
) -> Verb[None]:
    """Place a named frame."""
    pose = {"position": numbers("position", position), "quaternion": numbers("quaternion", quaternion)}
    return do("set_frame", name=name, parent=parent, **pose, moving=moving)


def claim(vehicles: Sequence[str]) -> Verb[dict[str, Any]]:
    """Be asked for these vehicles' commands."""
    return Verb(SetMode("synchronous", tuple(vehicles)), value)


RELEASE: Verb[None] = Verb(SetMode("asynchronous"), nothing)


def answer(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> Control:
    """What is sent to answer the request of a tick."""
    checked = {vehicle: checked_inputs(inputs, vehicle) for vehicle, inputs in commands.items()}
    return Control(whole("a control answers a tick >= 0", tick), checked)


def control(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> Verb[None]:
    """Answer the request of a tick."""
    return Verb(answer(tick, commands), nothing)


# looking -------------------------------------------------------------------------------------------------------------


def snapshot(roster: bool = False) -> Verb[Snapshot | None]:
    """The world now; `roster`: with the roster even if the server believes that it is known."""
    return Verb(Call("snapshot", {"roster": True} if roster else {}), lambda found: cast(Snapshot | None, found))


def transform(target: str, source: str, time: float | None) -> Verb[Transform]:
    """What takes points of one frame to another."""
    verb = call("transform", target=target, source=source, time=time)
    return Verb(verb.body, lambda reply: Transform(value(reply)["position"], value(reply)["quaternion"]))


def events(since: int) -> Verb[list[Event]]:
    """Events after a number."""
    return Verb(Call("events", {"since": since}), lambda reply: [Event(**event) for event in value(reply)])


def save() -> Verb[bytes]:
    """The complete state."""
    return Verb(Call("save", {}), lambda reply: reply.body.blob if isinstance(reply.body, Result) else b"", True)


def restore(state: bytes) -> Verb[None]:
    """Back to a saved state."""
    if not isinstance(state, bytes | bytearray | memoryview) or not state:
        raise PaddockError("restore takes what save() returned")
    return Verb(Call("restore", {}, bytes(state)), nothing, patient=True)


# markers -------------------------------------------------------------------------------------------------------------


def mark(markers: Sequence[Marker]) -> Verb[None]:
    """Show markers."""
    for marker in markers:
        if not isinstance(marker, Marker):
            raise InvalidValueError(f"a marker is made by paddock.Marker, not {marker!r}")
    fields = wire.Marker.__dataclass_fields__
    return Verb(wire.PutMarkers(tuple(wire.Marker(**{f: getattr(m, f) for f in fields}) for m in markers)), nothing)


def unmark(namespace: str | None, number: int | None) -> Verb[None]:
    """Take a marker away, a namespace, or everything."""
    if namespace is None and number is not None:
        raise InvalidValueError(f"say the namespace of marker {number!r}: unmark(namespace, {number!r})")
    if namespace is not None and number is not None:
        return Verb(wire.DeleteMarkers(namespace, (number,)), nothing)
    return Verb(wire.ClearMarkers(namespace), nothing)


def show_markers(namespace: str, visible: bool) -> Verb[None]:
    """Show or hide a namespace."""
    return Verb(wire.ShowMarkers(namespace, visible), nothing)
