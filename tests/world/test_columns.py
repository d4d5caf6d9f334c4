"""Named tuples as column lists."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.world.columns import (
    Column,
    ColumnGroup,
    checked,
    column_index,
    column_tuple,
    columns_of,
    defaults_of,
    filled,
)


class Controls(NamedTuple):
    speed: Annotated[float, Column("m/s", "speed", 0.0, 30.0)]
    mode: Annotated[float, Column("", "mode", 0.0, 2.0, choices=("off", "slow", "fast"), failsafe=0.0)] = 1.0
    trim: Annotated[float, Column("rad", "trim")] = 0.5


@column_tuple
class Battery(ColumnGroup):
    charge: Annotated[float, Column("", "share of the capacity", 0.0, 1.0)] = 1.0


@column_tuple
class Gearbox(ColumnGroup):
    gear: Annotated[float, Column("", "gear engaged")] = 2.0


class Sides(NamedTuple):
    left: Annotated[float, Column("", "left wheel")]
    right: Annotated[float, Column("", "right wheel")]


@column_tuple
class Place(ColumnGroup):
    x: Annotated[float, Column("m", "position east")]


@column_tuple
class Shared(Place, Gearbox, Battery):
    """Columns of the groups."""

    charge: Annotated[float, Column("", "share of the capacity", 0.0, 2.0)] = 1.0
    gear = 3.0


@column_tuple
class Wheeled(Place):
    speed: Annotated[Sides, Column("m/s", "speed", -1.0, 1.0)]


class Undeclared(NamedTuple):
    speed: float


def test_columns_of_groups_come_first_and_may_be_replaced() -> None:
    assert issubclass(Shared, tuple) and Shared._fields == ("x", "gear", "charge")
    assert [column.unit for column in columns_of(Shared)] == ["m", "", ""]
    assert columns_of(Shared)[2].high == 2.0 and columns_of(Shared)[1].default == 3.0
    assert columns_of(Battery)[0].high == 1.0 and columns_of(Gearbox)[0].default == 2.0
    assert tuple(Shared(5.0)) == (5.0, 3.0, 1.0) and Shared(5.0)._replace(gear=1.0).gear == 1.0
    assert (Shared.__name__, Shared.__module__) == ("Shared", __name__)
    assert Shared.__doc__ == "Columns of the groups."


def test_a_quantity_of_several_parts_is_a_column_for_each() -> None:
    assert Wheeled._fields == ("x", "speed_left", "speed_right")
    left = columns_of(Wheeled)[1]
    assert (left.unit, left.meaning, left.low, left.high) == ("m/s", "left wheel: speed", -1.0, 1.0)


def test_columns_have_the_declared_properties() -> None:
    speed, mode, trim = columns_of(Controls)
    assert (speed.name, speed.unit, speed.low, speed.high, speed.default) == ("speed", "m/s", 0.0, 30.0, None)
    assert (mode.choices, mode.failsafe, mode.default) == (("off", "slow", "fast"), 0.0, 1.0)
    assert (trim.low, trim.high, trim.default) == (-inf, inf, 0.5)
    assert column_index(Controls) == {"speed": 0, "mode": 1, "trim": 2}


def test_defaults_are_read_only_and_nan_where_there_is_none() -> None:
    assert np.array_equal(defaults_of(Controls), [np.nan, 1.0, 0.5], equal_nan=True)
    with pytest.raises(ValueError, match="read-only"):
        defaults_of(Controls)[0] = 1.0


def test_a_field_without_a_unit_is_refused() -> None:
    with pytest.raises(PaddockError, match=r"Undeclared\.speed has no Column with its unit"):
        columns_of(Undeclared)


def test_filled_combines_defaults_and_given_values() -> None:
    assert filled(Controls, {"speed": 3, "mode": "fast"}, "option").tolist() == [3.0, 2.0, 0.5]
    assert filled(Controls, {"speed": np.float32(0.5), "trim": -9}, "option").tolist() == [0.5, 1.0, -9.0]


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({}, InvalidValueError, "f:1:2: option 'speed' has no default: give a value"),
        ({"sped": 3}, UnknownNameError, "f:1:2: unknown option 'sped'; did you mean 'speed'?"),
        ({"speed": 31}, InvalidValueError, "f:1:2: option 'speed' must lie in 0 to 30 m/s, not 31"),
        ({"speed": "fast"}, InvalidValueError, "f:1:2: option 'speed' must be a finite number, not 'fast'"),
        ({"speed": inf}, InvalidValueError, "f:1:2: option 'speed' must be a finite number, not inf"),
        ({"speed": 3, "mode": "fist"}, UnknownNameError, "f:1:2: unknown option mode 'fist'; did you mean 'fast'?"),
        ({"speed": 3, "mode": 3}, InvalidValueError, "f:1:2: option 'mode' is one of off, slow, fast, not 3"),
        ({"speed": [3]}, InvalidValueError, "f:1:2: option 'speed' must be a finite number, not [3]"),
    ],
)
def test_filled_reports_errors(fields: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        filled(Controls, fields, "option", "f:1:2")
    assert str(caught.value) == message


def test_checked_without_a_location() -> None:
    column = columns_of(Controls)[0]
    assert checked(column, 0, "input") == 0.0 and checked(column, True, "input") == 1.0
    with pytest.raises(InvalidValueError, match=r"^input 'speed' must lie in 0 to 30 m/s, not -0.1$"):
        checked(column, -0.1, "input")
