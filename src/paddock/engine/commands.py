"""Commands of vehicles: checked, held until they change, timed out in simulation time, with a failsafe; placing."""

from collections.abc import Mapping
from functools import cache, lru_cache
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from paddock.engine.actions import PlaceAction
from paddock.engine.build import FASTEST, placed_states, refuse_below
from paddock.engine.fleet_settings import VARYING
from paddock.engine.program import FleetProgram
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.world.columns import FARTHEST, Column, Floats, checked, column_index, columns_of, defaults_of
from paddock.world.fleet import NEVER, Ints
from paddock.world.parts import largest_of, limited
from paddock.world.world import World

LARGEST_YAW = 1e4  # rad: limit of the yaw of a vehicle that is placed, in either direction


def refuse_commanded_by_behaviour(program: FleetProgram, rows: Ints) -> None:
    """Raise PaddockError if a rule drives one of these vehicles."""
    driven = rows[program.control.driven(rows)] if program.control.acts else ()
    for row in driven[:1]:
        what, rule = program.control.driver(row) or ("", "")
        name = program.fleet.vehicle_name(row)
        raise PaddockError(f"{name!r} is driven by its {what} {rule!r}, not by commands")


def check_command(
    program: FleetProgram, rows: Ints, inputs: Mapping[str, Any], target: str | int | Ints
) -> dict[str, Any]:
    """Return the inputs as floats or arrays of the right length; PaddockError if the vehicles do not accept them."""
    if isinstance(target, np.ndarray):
        target = f"{len(rows)} vehicles of {program.fleet.name}"
    if program.control.acts:
        refuse_commanded_by_behaviour(program, rows)
    command, count = program.model.command, len(rows)
    known = _accepted(command)
    arrays = _clean_arrays(command, inputs, count) if count > 1 else {}
    values: dict[str, Any] = {}
    for name, value in inputs.items():
        if name not in known:
            raise unknown_name(f"input of {target!r}", name, known)
        clean = arrays.get(name)
        values[name] = _checked(known[name], value, count, target) if clean is None else clean
    if not values:
        raise PaddockError(f"a command for {target!r} needs at least one input; valid: {', '.join(known)}")
    return values


class Accepted(NamedTuple):
    """An input and the values that are latched as they are; others saturate, or are refused."""

    column: Column
    low: float
    high: float


@cache
def _accepted(command: type) -> dict[str, Accepted]:
    """Return the inputs by name."""
    accepted = {}
    for column in columns_of(command):
        within = limited(column)
        accepted[column.name] = Accepted(column, *((inf, -inf) if column.choices else (within.low, within.high)))
    return accepted


def _clean_arrays(command: type, inputs: Mapping[str, Any], count: int) -> dict[str, Floats]:
    """Return the valid arrays, clipped to their ranges in one operation; empty if any is invalid."""
    names = tuple(
        name
        for name, value in inputs.items()
        if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (count,)
    )
    ranges = _ranges(command, names)
    if ranges is None:
        return {}
    table = np.array([inputs[name] for name in names])  # a copy: the caller may reuse its array
    if np.count_nonzero(np.isfinite(table)) < table.size:
        return {}
    low, high, most = ranges
    clipped = np.minimum(np.maximum(table, low), high)
    if most is not None and np.count_nonzero(np.abs(clipped) > most):
        return {}
    return dict(zip(names, clipped, strict=True))


@lru_cache(maxsize=512)
def _ranges(command: type, names: tuple[str, ...]) -> tuple[Floats, Floats, Floats | None] | None:
    """Return the lowest and highest values (k, 1) of these inputs, and the largest magnitudes beyond which a value
    is refused (None: all lie within); None if an input is unknown or an enumeration.
    """
    known, columns = column_index(command), columns_of(command)
    if not names or any(name not in known or columns[known[name]].choices for name in names):
        return None
    ranged = [columns[known[name]] for name in names]
    rows = np.array([[column.low, column.high, largest_of(column)] for column in ranged])
    low, high, most = rows[:, :1], rows[:, 1:2], rows[:, 2:]
    return low, high, most if (np.maximum(np.abs(low), np.abs(high)) > most).any() else None


def _checked(accepted: Accepted, value: Any, count: int, target: str | int | Ints) -> Any:
    column, low, high = accepted
    if type(value) is float:
        if low <= value <= high:
            return value
        if low == column.low and high == column.high and isfinite(value):  # saturates, as a real actuator does
            return low if value < low else high
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, np.ndarray | list | tuple):
        try:
            array = np.array(value, dtype=np.float64)  # a copy: the caller may reuse its array
        except (TypeError, ValueError, OverflowError):
            raise InvalidValueError(f"input {column.name!r} of {target!r} must be an array of numbers") from None
        if array.shape != (count,):
            raise InvalidValueError(
                f"input {column.name!r} of {target!r} must have shape ({count},), not {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InvalidValueError(f"input {column.name!r} of {target!r} has values that are not finite")
        if column.choices and not np.isin(array, range(len(column.choices))).all():
            raise InvalidValueError(f"input {column.name!r} of {target!r} takes 0 to {len(column.choices) - 1} only")
        clipped = np.clip(array, column.low, column.high)
        if not column.choices and not ((low <= clipped) & (clipped <= high)).all():
            checked(limited(column), float(clipped[np.abs(clipped).argmax()]), "input", str(target))
        return clipped
    if isinstance(value, str) or column.choices:
        return checked(column, value, "input", str(target))
    unbounded = Column(column.unit, column.meaning, name=column.name)
    number = min(max(checked(unbounded, value, "input", str(target)), column.low), column.high)
    return number if low <= number <= high else checked(limited(column), number, "input", str(target))


def apply_command(
    program: FleetProgram, rows: Ints, values: Mapping[str, Any], tick: int, lasting: int | None = None
) -> int:
    """Latch inputs for `lasting` ticks (None: the fleet's timeout); return the number of vehicles out of failsafe."""
    fleet = program.fleet
    known = column_index(program.model.command)
    where: Any
    if single := len(rows) == 1:  # an index, because NumPy writes single items faster than slices
        where = rows.item()
    else:
        whole = len(rows) == fleet.n and bool((rows[1:] > rows[:-1]).all())  # ids may be in any order
        where = slice(0, fleet.n) if whole else rows
    commands, failed = fleet.command, fleet.tables["failed"]
    for name, value in values.items():
        commands[known[name], where] = value.item() if single and isinstance(value, np.ndarray) else value
    recovered = failed.item(where) if single else int(np.count_nonzero(failed[where]))
    lasting = program.settings.timeout_ticks if lasting is None else lasting
    program.control.set_expiry(where, NEVER if lasting is None else tick + lasting)
    if recovered:
        failed[where] = 0
    return recovered


def _policy_values(program: FleetProgram, policy: str) -> Floats:
    """Return the inputs that a policy sets; NaN where it holds the last command."""
    if policy == "default":
        return defaults_of(program.model.command)
    return program.settings.brake if policy == "brake" else program.settings.failsafe


def policy_inputs(program: FleetProgram, policy: str) -> dict[str, Any]:
    """Return the inputs that a policy sets: `failsafe`, `brake` or `default`."""
    values = _policy_values(program, policy)
    return {
        name: float(values[k]) for name, k in column_index(program.model.command).items() if not np.isnan(values[k])
    }


def fail_silent(program: FleetProgram, tick: int) -> Ints:
    """Apply the failsafe to vehicles whose command has timed out; return their rows."""
    fleet = program.fleet
    overdue = fleet.tables["expires"][: fleet.n] <= tick
    rows: Ints = fleet.rows[(overdue & (fleet.tables["failed"][: fleet.n] == 0))[fleet.rows]]
    values = _policy_values(program, "failsafe")
    for k in np.flatnonzero(~np.isnan(values)):
        fleet.command[k, rows] = values[k]
    fleet.tables["failed"][rows] = 1
    program.control.find_timeout()
    return rows


def check_place(program: FleetProgram, rows: Ints, place: PlaceAction, world: World | None = None) -> PlaceAction:
    """Return the action in plain floats, or arrays for a fleet; PaddockError unless the poses are valid.

    Without a world, poses below the ground are not refused.
    """
    if program.control.placed_by_mission:
        raise PaddockError(f"{place.target!r} is moved by its mission: it cannot be placed")
    if program.fmus is not None:
        raise PaddockError(f"{place.target!r} is moved by an FMU: it cannot be placed")
    poses, speeds, n = _floats(place.pose), _floats(place.speed), len(rows)
    single = n == 1 and poses.ndim != 2
    if poses.shape != ((4,) if single else (n, 4)):
        whole = f"{place.target!r} is a fleet of {n}: give poses ({n}, 4), or place one vehicle, e.g. {place.target}[0]"
        rule = f"{place.target!r} is placed at x, y, z (m) and yaw (rad)" if single else whole
        raise InvalidValueError(f"{rule}, not {_brief(place.pose)}")
    if speeds.shape not in ((), () if single else (n,)) or (not speeds.ndim and not np.isfinite(speeds)):
        many = "" if single else f" or {n} of them"
        raise InvalidValueError(f"the speed is a finite number (m/s){many}, not {_brief(place.speed)}")
    for values, names in ((poses.reshape(-1, 4), ("x", "y", "z", "yaw")), (speeds.reshape(-1, 1), ("the speed",))):
        for row, column in np.argwhere(~np.isfinite(values))[:1]:
            vehicle = program.fleet.vehicle_name(rows[row])
            raise InvalidValueError(f"{names[column]} of {vehicle!r} must be finite, not {values[row, column]:g}")
    places = poses.reshape(-1, 4)[:, :3]
    if np.abs(places).max(initial=0.0) > FARTHEST:
        beyond = places[np.abs(places).max(axis=1).argmax()].tolist()
        raise InvalidValueError(f"vehicles are placed within {FARTHEST:g} m of the origin, not at {beyond}")
    yaws = poses.reshape(-1, 4)[:, 3]
    for row in np.flatnonzero(np.abs(yaws) > LARGEST_YAW)[:1]:
        limits, vehicle = f"{-LARGEST_YAW:g} to {LARGEST_YAW:g} rad", program.fleet.vehicle_name(rows[row])
        raise InvalidValueError(f"yaw of {vehicle!r} must lie in {limits}, not {yaws[row]:g}")
    if world is not None:
        refuse_below(world, places, "vehicles are placed")
    if np.abs(speeds).max(initial=0.0) > FASTEST:
        raise InvalidValueError(f"the speed is at most {FASTEST:g} m/s, not {np.abs(speeds).max():g}")
    return PlaceAction(place.target, poses.tolist() if single else poses, speeds if speeds.ndim else float(speeds))


def place_vehicle(program: FleetProgram, rows: Ints, place: PlaceAction, world: World) -> None:
    """Set the states of vehicles that start at these poses; their commands, sensors and parameters stay."""
    fleet = program.fleet
    varied = {name: fleet.tables[VARYING][k, rows] for k, name in enumerate(program.parameters.varying)}
    fleet.state[:, rows] = placed_states(program, np.atleast_2d(place.pose), place.speed, world, varied)
    program.forget_poses()


def _brief(values: Any) -> str:
    """Describe an invalid argument in a few words: the shape of many numbers, a few as they are."""
    array = _floats(values)
    return f"an array of shape {array.shape}" if array.size > 8 else " ".join(f"{values!r:.80}".split())


def _floats(values: Any) -> Floats:
    """Return numbers as an array; NaN for anything else."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)
