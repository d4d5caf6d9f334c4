"""What columns mean: the snapshot's, by where each comes from, as the trees that clients are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite

from paddock.errors import PaddockError
from paddock.sensing.sensor import Sensor, find_sensor, sensor_names
from paddock.serve.subscribers.columns import DERIVED
from paddock.serve.subscribers.shapes import ColumnTree, ValueTree
from paddock.vehicles.model import VehicleModel, find_model, model_names
from paddock.world.columns import Column, columns_of
from paddock.world.layout import FleetLayout
from paddock.world.pose import Pose

COMMAND = "command."
SAMPLE_TICK = Column("", "tick at which the reading was taken", name="sample_tick")


def column_tree(column: Column, name: str = "") -> ColumnTree:
    """One column, under its own name or another."""
    return {
        "name": name or column.name,
        "unit": column.unit,
        "meaning": column.meaning,
        "low": column.low if isfinite(column.low) else None,
        "high": column.high if isfinite(column.high) else None,
        "choices": list(column.choices),
    }


def column_trees(tuple_class: type) -> list[ColumnTree]:
    """The columns that a named tuple class declares."""
    return [column_tree(column) for column in columns_of(tuple_class)]


def value_trees(columns: Iterable[Column], values: Mapping[str, float]) -> list[ValueTree]:
    """Columns with the values of one vehicle; those without a value are left out."""
    return [_value_tree(column, values[column.name]) for column in columns if column.name in values]


def _value_tree(column: Column, value: float) -> ValueTree:
    return {**column_tree(column), "value": float(value) if isfinite(value) else None}


def snapshot_columns(
    names: Iterable[str], model: VehicleModel | None, sensors: Mapping[str, Sensor]
) -> dict[str, Column]:
    """The columns of a snapshot by name, in their order; one of which nothing is known has no unit."""
    known = _known(model, sensors)
    return {name: replace(known[name], name=name) if name in known else Column("", "", name=name) for name in names}


def fleet_columns(names: Iterable[str], model: VehicleModel | None, sensors: Mapping[str, Sensor]) -> list[ColumnTree]:
    """The same as trees, with those that are derived from the pose."""
    found = list(snapshot_columns(names, model, sensors).values())
    taken = {column.name for column in found}
    derived = [column for name, (_, column) in DERIVED.items() if name not in taken]
    return [column_tree(column) for column in (*found, *derived)]


def installed(layout: FleetLayout) -> tuple[VehicleModel | None, dict[str, Sensor]]:
    """The model and sensors of a fleet that was recorded, as far as this installation has them."""
    prefixes = {name.partition(".")[0] for name in layout.columns if "." in name}
    try:
        model = find_model(layout.model) if layout.model in model_names() else None
        return model, {name: find_sensor(name) for name in prefixes.intersection(sensor_names())}
    except PaddockError:
        return None, {}


def _known(model: VehicleModel | None, sensors: Mapping[str, Sensor]) -> dict[str, Column]:
    known = {column.name: column for column in columns_of(Pose)}
    if model is not None:
        state = {column.name: column for column in columns_of(model.state)}
        known |= {name: state[name] for name in model.telemetry}
        known |= {c.name: c for c in (columns_of(model.report_type) if model.report_type is not None else ())}
        known |= {COMMAND + column.name: column for column in columns_of(model.command)}
    for name, sensor in sensors.items():
        known |= {f"{name}.{column.name}": column for column in (*columns_of(sensor.reading), SAMPLE_TICK)}
    return known
