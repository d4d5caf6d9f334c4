"""What a model says about itself: columns, ranges, names, and the tuples that its functions return."""

from __future__ import annotations

from typing import Any

from paddock.errors import suggestion
from paddock.testing.vehicles.rig import Rig
from paddock.vehicles.model import Desire, Placement
from paddock.world.columns import Column, columns_of
from paddock.world.pose import Pose

KINDS = ("agent", "aircraft", "car", "quad", "rover")


def check_declarations(rig: Rig) -> str:
    """Columns with units and meanings, defaults inside their ranges, names that exist."""
    model = rig.model
    if model.kind not in KINDS:
        rig.fail(f"unknown kind {model.kind!r}; {suggestion(model.kind, KINDS)}")
    if not model.summary.strip():
        rig.fail("the summary is empty")
    if not (model.order >= 1 and 0.0 < model.dt_max <= 1.0):
        rig.fail(f"order {model.order} must be at least 1, dt_max {model.dt_max:g} s must lie in (0, 1]")
    reports = () if model.report_type is None else (model.report_type,)
    for tuple_class in (model.state, model.command, model.parameters, *reports):
        for column in columns_of(tuple_class):
            _check_column(rig, f"{tuple_class.__name__}.{column.name}", column)
    for tuple_class in (model.command, model.parameters):
        for column in columns_of(tuple_class):
            if column.default is None:
                rig.fail(f"column {tuple_class.__name__}.{column.name} has no default")
    _check_names(rig, "telemetry", model.telemetry, model.state)
    _check_names(rig, "steady", model.steady, model.command)
    counts = [len(columns_of(c)) for c in (model.state, model.command, model.parameters)]
    return "{} state, {} command, {} parameter columns".format(*counts)


def _check_column(rig: Rig, place: str, column: Column) -> None:
    if not column.meaning.strip():
        rig.fail(f"column {place} has no meaning")
    if not column.low <= column.high:
        rig.fail(f"column {place} has the empty range {column.low:g} to {column.high:g}")
    for what in ("default", "failsafe", "brake"):
        value = getattr(column, what)
        if value is not None and not column.low <= value <= column.high:
            rig.fail(f"column {place}: {what} {value:g} lies outside {column.low:g} to {column.high:g}")


def _check_names(rig: Rig, what: str, names: tuple[str, ...], tuple_class: type) -> None:
    fields = tuple_class._fields  # type: ignore[attr-defined]
    for name in names:
        if name not in fields:
            rig.fail(f"{what} names the unknown column {name!r}; {suggestion(name, fields)}")
        if names.count(name) > 1:
            rig.fail(f"{what} names the column {name!r} twice")


def check_returns(rig: Rig) -> str:
    """Called as plain Python, every function returns the tuple it should, of floats."""
    model, parameters, environment = rig.model, rig.parameters, rig.environment
    command = model.command(*map(float, rig.commands(1)[:, 0]))
    state = model.place(Placement(1.0, 2.0, 3.0, 0.5, 0.0), parameters, environment)
    demand_tuple(rig, "place", state, model.state)
    demand_tuple(rig, "step", model.step(state, command, parameters, environment, model.dt_max), model.state)
    demand_tuple(rig, "pose", model.pose(state, parameters), Pose)
    guided = model.guide(state, command, parameters, Desire(1.0, 0.0, 0.0, 10.0))
    demand_tuple(rig, "guide", guided, model.command)
    if not isinstance(model.energy(state, parameters, environment), float):
        rig.fail("energy() does not return a float")
    return "place, step, pose, guide and energy return what they should"


def demand_tuple(rig: Rig, function: str, value: Any, expected: Any) -> None:
    """What a function returned must be such a tuple, of floats."""
    if not isinstance(value, expected):
        rig.fail(f"{function}() returns {type(value).__name__}, not the model's {expected.__name__}")
    for name, number in zip(expected._fields, value, strict=True):
        if not isinstance(number, float):
            rig.fail(f"{function}() returns {number!r} in column {name!r}: write it as a float")
