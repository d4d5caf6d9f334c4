"""Requests of a client: an operation of the table with its arguments, as the message that the server receives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.wire.messages.replies import Reply, ResultMessage
from paddock.wire.messages.requests import OWN_MESSAGES, Body, Call, Command, ControlMessage, SetMode
from paddock.wire.operations import OPERATIONS

T = TypeVar("T")


class ClientRequest(NamedTuple, Generic[T]):
    """A request, and how its reply is read."""

    body: Body
    read: Callable[[Reply], T]
    patient: bool = False  # may take arbitrarily long while the server lives


def value(reply: Reply) -> Any:
    """The value of a result; None for other replies."""
    return reply.body.value if isinstance(reply.body, ResultMessage) else None


def request(operation: str, /, **arguments: Any) -> ClientRequest[Any]:
    """The request of an operation. The server validates what is called by name; other messages need valid values."""
    entry = OPERATIONS[operation]
    own = OWN_MESSAGES.get(operation)
    if own is None:
        return ClientRequest(Call(operation, arguments), value, entry.entry.slow)
    checked = entry.checked(arguments)
    body = own(**{name: checked[name] for name in own._fields if name in checked})
    return ClientRequest(body, value, entry.entry.slow)


def command(target: Any, inputs: Mapping[str, Any], at_tick: int | None) -> ClientRequest[None]:
    """New inputs of a vehicle, a fleet, or vehicles by id."""
    whom: Any = target if isinstance(target, str | int | np.integer) else _ids(target)
    values = checked_inputs(inputs, f"{len(whom)} vehicles" if isinstance(whom, np.ndarray) else whom)
    tick = OPERATIONS["command"].checked({"target": "", "inputs": {}, "at_tick": at_tick})["at_tick"]
    return ClientRequest(Command(whom, values, tick), value)


def claim(vehicles: Sequence[str]) -> ClientRequest[dict[str, Any]]:
    """Have the simulation wait for this client's commands for these vehicles."""
    return ClientRequest(SetMode("synchronous", tuple(vehicles)), value)


RELEASE: ClientRequest[None] = ClientRequest(SetMode("asynchronous"), value)


def control(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> ControlMessage:
    """The message that answers the control request of a tick."""
    checked = {vehicle: checked_inputs(inputs, vehicle) for vehicle, inputs in commands.items()}
    return ControlMessage(OPERATIONS["control"].checked({"tick": tick, "commands": {}})["tick"], checked)


def _ids(target: Any) -> NDArray[Any]:
    try:
        ids = np.asarray(target)
    except ValueError:  # nested lists of different lengths
        ids = np.empty(())
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidValueError(f"a command is for a name, an id, or a list of ids, not {target!r}")
    return ids


def checked_inputs(inputs: Any, target: Any) -> dict[str, Any]:
    """Inputs as numbers, texts or arrays of finite numbers; others are refused in the words of a local simulation."""
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


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float | np.number) and isfinite(float(value))
    except (OverflowError, TypeError):  # too large for a float; complex
        return False
