"""Commands with zero-order hold: they stay until changed, time out in simulation time, and have a failsafe."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from paddock.engine.program import FleetProgram
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.world.columns import Column, Floats, checked, column_index, columns_of, defaults_of
from paddock.world.fleet import NEVER, Ints


def refuse_driven(program: FleetProgram, rows: Ints) -> None:
    """A vehicle that a rule drives takes no commands; the first of them is named."""
    driven = rows[program.driven(rows)] if program.acts else ()
    for row in driven[:1]:
        what, rule = program.driver(row) or ("", "")
        name = program.fleet.vehicle_name(row)
        raise PaddockError(f"{name!r} is driven by its {what} {rule!r}, not by commands")


def check_control(
    program: FleetProgram, rows: Ints, inputs: Mapping[str, Any], target: str | int | Ints
) -> dict[str, Any]:
    """The inputs as floats or arrays of the right length; nothing is applied yet."""
    target = f"{len(rows)} vehicles of {program.fleet.name}" if isinstance(target, np.ndarray) else target
    refuse_driven(program, rows)
    known = column_index(program.model.command)
    columns = columns_of(program.model.command)
    arrays = _clean_arrays(program.model.command, inputs, len(rows))
    values: dict[str, Any] = {}
    for name, value in inputs.items():
        if name not in known:
            raise unknown_name(f"input of {target!r}", name, known)
        clean = arrays.get(name)
        values[name] = _checked(columns[known[name]], value, len(rows), target) if clean is None else clean
    if not values:
        raise PaddockError(f"a command for {target!r} needs at least one input; valid: {', '.join(known)}")
    return values


def _clean_arrays(command: type, inputs: Mapping[str, Any], count: int) -> dict[str, Floats]:
    """Arrays that there is nothing to say about, all at once within their ranges; none if any has to be refused."""
    names = tuple(
        name
        for name, value in inputs.items()
        if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (count,)
    )
    ranges = _ranges(command, names)
    if ranges is None:
        return {}
    table = np.array([inputs[name] for name in names])  # a copy: the caller may go on writing into its own
    if not np.isfinite(table).all():
        return {}
    return dict(zip(names, table.clip(*ranges), strict=True))


@lru_cache(maxsize=512)
def _ranges(command: type, names: tuple[str, ...]) -> tuple[Floats, Floats] | None:
    """The lowest and highest values (k, 1) of these inputs; None if one is unknown or takes only some values."""
    known, columns = column_index(command), columns_of(command)
    if not names or any(name not in known or columns[known[name]].choices for name in names):
        return None
    found = [columns[known[name]] for name in names]
    return np.array([[column.low] for column in found]), np.array([[column.high] for column in found])


def _checked(column: Column, value: Any, count: int, target: str | int | Ints) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, np.ndarray | list | tuple):
        try:
            array = np.array(value, dtype=np.float64)  # a copy: the caller may go on writing into its own
        except (TypeError, ValueError):
            raise InvalidValueError(f"input {column.name!r} of {target!r} must be an array of numbers") from None
        if array.shape != (count,):
            raise InvalidValueError(
                f"input {column.name!r} of {target!r} must have shape ({count},), not {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InvalidValueError(f"input {column.name!r} of {target!r} has values that are not finite")
        if column.choices and not np.isin(array, range(len(column.choices))).all():
            raise InvalidValueError(f"input {column.name!r} of {target!r} takes 0 to {len(column.choices) - 1} only")
        return np.clip(array, column.low, column.high)
    if isinstance(value, str) or column.choices:
        return checked(column, value, "input", str(target))
    unbounded = Column(column.unit, column.meaning, name=column.name)
    # finite values beyond the range saturate, as a real actuator does
    return min(max(checked(unbounded, value, "input", str(target)), column.low), column.high)


def apply_control(
    program: FleetProgram, rows: Ints, values: Mapping[str, Any], tick: int, lasting: int | None = None
) -> int:
    """Latch the values; inputs that are not named stay. Returns how many vehicles left their failsafe by this.

    They expire after `lasting` ticks, without it after the fleet's timeout, if it has one.
    """
    fleet = program.fleet
    known = column_index(program.model.command)
    whole = len(rows) == fleet.n and (fleet.n == 1 or bool((rows[1:] > rows[:-1]).all()))  # ids may come in any order
    where: Any = slice(0, fleet.n) if whole else rows
    commands = fleet.command
    for name, value in values.items():
        commands[known[name], where] = value
    recovered = int(np.count_nonzero(fleet.tables["failed"][where]))
    lasting = program.timeout_ticks if lasting is None else lasting
    expires = NEVER if lasting is None else tick + lasting
    program.expires_from = min(program.expires_from, expires)
    fleet.tables["expires"][where] = expires
    fleet.tables["failed"][where] = 0
    return recovered


def policy_values(program: FleetProgram, policy: str) -> Floats:
    """The inputs that a policy sets: `failsafe`, `brake` (both hold what they do not name) or `default`."""
    if policy == "default":
        return defaults_of(program.model.command)
    return program.brake if policy == "brake" else program.failsafe


def apply_policy(program: FleetProgram, rows: Ints, policy: str) -> None:
    """Set the inputs of some vehicles as a policy says."""
    values = policy_values(program, policy)
    for row in np.flatnonzero(~np.isnan(values)):
        program.fleet.command[row, rows] = values[row]


def policy_inputs(program: FleetProgram, policy: str) -> dict[str, Any]:
    """What a policy would set, as inputs of a command."""
    values = policy_values(program, policy)
    return {
        name: float(values[k]) for name, k in column_index(program.model.command).items() if not np.isnan(values[k])
    }


def next_timeout(program: FleetProgram) -> int:
    """The tick at which the next vehicle of the fleet times out, or NEVER."""
    fleet = program.fleet
    waiting = fleet.tables["expires"][: fleet.n][fleet.tables["failed"][: fleet.n] == 0]
    return int(waiting.min()) if len(waiting) else NEVER


def fail_silent(program: FleetProgram, tick: int) -> Ints:
    """Apply the failsafe to vehicles whose last command is too old; returns their rows."""
    fleet = program.fleet
    overdue = fleet.tables["expires"][: fleet.n] <= tick
    rows = np.flatnonzero(overdue & (fleet.tables["failed"][: fleet.n] == 0))
    apply_policy(program, rows, "failsafe")
    fleet.tables["failed"][rows] = 1
    program.expires_from = next_timeout(program)
    return rows
