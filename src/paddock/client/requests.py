"""Requests of a client: operations with their arguments, encoded as messages for the server."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.wire.messages.requests import Body, Call, Direct, Reply, ResultMessage
from paddock.wire.operations import OPERATIONS

T = TypeVar("T")


class ClientRequest(NamedTuple, Generic[T]):
    """A request, and how its reply is read."""

    body: Body
    read: Callable[[Reply], T]
    patient: bool = False  # may take arbitrarily long while the server responds


def value(reply: Reply) -> Any:
    """Return the value of a result; None for other replies."""
    return reply.body.value if isinstance(reply.body, ResultMessage) else None


def request(operation: str, /, **arguments: Any) -> ClientRequest[Any]:
    """Return the request of an operation. The server validates Calls; other messages need valid values."""
    entry = OPERATIONS[operation]
    if entry.callable_by_name:
        return ClientRequest(Call(operation, arguments), value, entry.entry.slow)
    checked = {name: one for name, one in entry.checked(arguments).items() if name in arguments}
    return ClientRequest(Direct(operation, checked), value, entry.entry.slow)


def command(target: Any, inputs: Mapping[str, Any], at_tick: int | None) -> ClientRequest[None]:
    """Return the request that sets inputs of a vehicle, a fleet, or vehicles given by id."""
    if isinstance(target, str | int | np.integer):
        return request("command", target=target, inputs=checked_inputs(inputs, target), at_tick=at_tick)
    ids = _ids(target)
    if at_tick is not None:
        raise InvalidValueError("at_tick goes with a command for one vehicle or a fleet, not for a list of vehicles")
    return request("command_many", ids=ids, inputs=checked_inputs(inputs, f"{len(ids)} vehicles"))


def claim(vehicles: Sequence[str]) -> ClientRequest[dict[str, Any]]:
    """Return the request that makes the simulation wait for this client's commands for these vehicles."""
    return request("claim", vehicles=list(vehicles))


def control(tick: int, commands: Mapping[Any, Mapping[str, Any]]) -> Direct:
    """Return the answer to the control request of a tick."""
    checked = {vehicle: checked_inputs(inputs, vehicle) for vehicle, inputs in commands.items()}
    OPERATIONS["control"].checked({"tick": tick, "commands": {}})
    return Direct("control", {"tick": tick, "commands": checked})  # vehicles by name or id


def _ids(target: Any) -> NDArray[Any]:
    try:
        ids = np.asarray(target)
    except ValueError:  # nested lists of different lengths
        ids = np.empty(())
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidValueError(f"a command is for a name, an id, or a list of ids, not {target!r}")
    return ids


def checked_inputs(inputs: Any, target: Any) -> dict[str, Any]:
    """Return inputs as numbers, texts or arrays of finite numbers; errors read like those of a local simulation."""
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
