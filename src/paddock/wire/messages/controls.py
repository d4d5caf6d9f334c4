"""Inputs for vehicles: commands at any time, and the answers that the simulation waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError
from paddock.wire import messages_pb2 as pb
from paddock.wire.error import WireError
from paddock.wire.messages.values import (
    LARGEST_ID,
    Floats,
    Ids,
    body_of,
    finite,
    from_ids,
    from_values,
    to_ids,
    to_values,
)

Inputs = Mapping[str, float | str | Floats]
"""Input -> a number, a choice by name, or an array of one number per vehicle."""


class Command(NamedTuple):
    """New inputs, from the next tick on or from `at_tick`; those that are not named stay."""

    target: str | int | Ids  # a vehicle's or a fleet's name, an id, or ids of one fleet
    inputs: Inputs
    at_tick: int | None = None
    timeout: float | None = None  # simulated s until the failsafe acts; None: the vehicle's own


class Control(NamedTuple):
    """The answer to a ControlRequest of that tick: vehicle (by name or id) -> inputs; those that are not named stay."""

    tick: int
    commands: Mapping[str | int, Inputs]


def command_message(command: Command) -> pb.Command:
    """As a part of a request."""
    message = pb.Command(at_tick=command.at_tick, timeout=command.timeout)
    if isinstance(command.target, str | int | np.integer):
        _address(message, command.target)
    else:
        message.vehicles.ids.extend(to_ids(command.target, "the target"))
        message.vehicles.SetInParent()
    _put_inputs(message, command.inputs)
    return message


def command_value(message: pb.Command) -> Command:
    """From a part of a request."""
    target: str | int | Ids
    if body_of(message, "target") == "vehicles":
        target = from_ids(message.vehicles.ids, "command: vehicles")
    else:
        target = _addressed(message)
    at_tick = message.at_tick if message.HasField("at_tick") else None
    timeout = finite(message.timeout, "command: timeout", 0.0) if message.HasField("timeout") else None
    return Command(target, _inputs(message), at_tick, timeout)


def control_message(control: Control) -> pb.Control:
    """As a part of a request."""
    message = pb.Control(tick=control.tick)
    for target, inputs in control.commands.items():
        vehicle = message.vehicles.add()
        _address(vehicle, target)
        _put_inputs(vehicle, inputs)
    return message


def control_value(message: pb.Control) -> Control:
    """From a part of a request."""
    commands = {_addressed(vehicle): _inputs(vehicle) for vehicle in message.vehicles}
    if len(commands) != len(message.vehicles):
        raise WireError("value", f"control of tick {message.tick}: a vehicle stands in it twice")
    return Control(message.tick, commands)


def _address(message: pb.Command | pb.VehicleControl, target: Any) -> None:
    if isinstance(target, str):
        message.name = target
    elif isinstance(target, int | np.integer) and not isinstance(target, bool) and 0 <= target <= LARGEST_ID:
        message.vehicle = int(target)
    else:
        raise InvalidValueError(f"a vehicle is known by its name or its id (0 to 2^31 - 1), not by {target!r}")


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
            target.values.CopyFrom(to_values(_finite_array(value, name)))
        else:
            target.number = _finite_number(value, name)


def _finite_array(value: Any, name: str) -> Floats:
    array = np.asarray(value, np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InvalidValueError(f"input {name!r} takes finite numbers, one per vehicle")
    return array


def _finite_number(value: Any, name: str) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise InvalidValueError(f"input {name!r} must be a finite number, not {number}")
    return number


def _inputs(message: pb.Command | pb.VehicleControl) -> dict[str, float | str | Floats]:
    return {name: _input(name, value) for name, value in message.inputs.items()}


def _input(name: str, message: pb.Input) -> float | str | Floats:
    what = f"input {name[:40]!r}"
    match message.WhichOneof("value"):
        case "number":
            return finite(message.number, what)
        case "text":
            return message.text
        case "values":
            values = from_values(message.values, what)
            if values.ndim != 1 or not np.isfinite(values).all():
                raise WireError("value", f"{what} takes finite numbers, one per vehicle")
            return values
    raise WireError("value", f"{what} has no value")
