"""Playback: repeat recorded inputs of a car at their times."""

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.behaviour.rule import Floats, RouteLine, Rule, Urge, index_in
from paddock.compute.math import clamp, maximum, select
from paddock.errors import InvalidValueError
from paddock.vehicles.model import Desire
from paddock.vehicles.parts.car import Command
from paddock.world.columns import Column, Pose, columns_of

INPUTS = tuple(column.name for column in columns_of(Command))
MOST_ROWS = 1_000_000
AT_LEAST = 2  # values of a row: time and steering
SCAN = 64  # rows that one decision may pass


class Options(NamedTuple):
    """How to repeat."""

    start: Annotated[float, Column("s", "from the start of the run to the first row", 0.0, 1e6)] = 0.0
    smooth: Annotated[float, Column("0/1", "steering and pedals change linearly between rows", 0.0, 1.0)] = 0.0
    repeat: Annotated[float, Column("0/1", "begin again after the last row", 0.0, 1.0)] = 0.0


class Memory(NamedTuple):
    """Where it is."""

    time: Annotated[float, Column("s", "time of the inputs, from the first row")] = 0.0
    row: Annotated[float, Column("", "the row in force")] = 0.0
    waited: Annotated[float, Column("s", "since the first decision")] = 0.0


def read_rows(entries: Any, where: str) -> Floats:
    """Return rows (k, 6) of time and inputs from lists [time, steer, ...]; missing inputs have their defaults."""
    prefix = f"{where}: " if where else ""
    if isinstance(entries, str) or not isinstance(entries, Sequence | np.ndarray) or not len(entries):
        raise InvalidValueError(
            f"{prefix}a playback's path is a list of rows [time, {', '.join(INPUTS)}], not {entries!r:.60}"
        )
    if len(entries) > MOST_ROWS:
        raise InvalidValueError(f"{prefix}a playback has at most {MOST_ROWS:,} rows, not {len(entries):,}")
    columns = columns_of(Command)
    rest = [float(column.default or 0.0) for column in columns]
    rows = np.empty((len(entries), len(columns) + 1))
    for k, row in enumerate(entries):
        values = list(row) if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) else []
        numbers = all(
            isinstance(v, int | float | np.number) and not isinstance(v, bool) and isfinite(v) for v in values
        )
        if not (AT_LEAST <= len(values) <= len(columns) + 1 and numbers):
            raise InvalidValueError(f"{prefix}row {k}: [time, {', '.join(INPUTS)}] of numbers, the last ones optional")
        rows[k] = [*values, *rest[len(values) - 1 :]]
        for column, value in zip(columns, rows[k, 1:].tolist(), strict=True):
            if not column.low <= value <= column.high:
                limits = f"{column.low:g} to {column.high:g}"
                raise InvalidValueError(f"{prefix}row {k}: {column.name} must be within {limits}, not {value:g}")
    if (np.diff(rows[:, 0]) <= 0.0).any():
        k = int(np.flatnonzero(np.diff(rows[:, 0]) <= 0.0)[0]) + 1
        raise InvalidValueError(f"{prefix}row {k}: times must increase, not {rows[k, 0]:g} after {rows[k - 1, 0]:g}")
    rows[:, 0] -= rows[0, 0]
    return rows


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Advance the clock and find the row in force."""
    last = path.shape[0] // 2 - 1
    row = index_in(m.row, last + 1)
    for _ in range(SCAN):
        if row < last and path[2 * row + 2, 0] <= m.time + 1e-9:
            row += 1
    again = (o.repeat > 0.5) & (row == last) & (last > 0)
    runs = m.waited + 1e-9 >= o.start
    time = select(runs, select(again, 0.0, m.time + dt), m.time)
    zero = 0.0 * m.time
    return Desire(zero, zero, zero, 1.0), Memory(time, select(again, 0.0, float(row)), m.waited + dt)


def inputs(guided: Command, me: Pose, m: Memory, o: Options, path: Floats, dt: float) -> tuple[Command, Memory]:
    """Return the inputs of the row; before the first, stand on the brake."""
    count = path.shape[0] // 2
    k = 2 * index_in(m.row, count)
    after = min(k + 2, 2 * count - 2)
    span = maximum(path[after, 0] - path[k, 0], 1e-9)
    share = select(o.smooth > 0.5, clamp((m.time - dt - path[k, 0]) / span, 0.0, 1.0), 0.0)
    waiting = m.waited - dt + 1e-9 < o.start
    return (
        Command(
            steer=path[k, 1] + share * (path[after, 1] - path[k, 1]),
            throttle=select(waiting, 0.0, path[k, 2] + share * (path[after, 2] - path[k, 2])),
            brake=select(waiting, 1.0, path[k, 3] + share * (path[after, 3] - path[k, 3])),
            gear=path[k + 1, 1],
            handbrake=path[k + 1, 2],
        ),
        m,
    )


def in_pairs(rows: Floats, o: Options) -> Floats:
    """Return two lines of four for each row: time, steering, throttle, brake; time, gear, handbrake, nothing."""
    pairs = np.zeros((2 * len(rows), 4))
    pairs[::2], pairs[1::2, 0], pairs[1::2, 1:3] = rows[:, :4], rows[:, 0], rows[:, 4:]
    return pairs


def route(o: Options, path: Floats) -> RouteLine | None:
    """Return no line: inputs have no places."""
    return None


RULE = Rule(
    "Repeat recorded inputs of a car: rows of time, steering, throttle, brake, gear and handbrake",
    Options,
    desire,
    Memory,
    needs_path=True,
    read_path=read_rows,
    prepare_path=in_pairs,
    route=route,
    inputs=inputs,
    command=Command,
)
