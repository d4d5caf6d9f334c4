"""Arrays of sensors as plain trees, for clients and for viewers of recordings."""

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

from paddock.sensing.sensor import ArraySensor, Sensor
from paddock.wire.operations.results import ArrayTree, ColumnTree
from paddock.world.columns import Column, column_index
from paddock.world.layout import FleetLayout

if TYPE_CHECKING:  # the hub uses this module and runs no sensors
    from paddock.sensing.suite import FleetSensor


def column_tree(column: Column, name: str = "") -> ColumnTree:
    """Return a column as a tree, under its own or another name."""
    return {
        "name": name or column.name,
        "unit": column.unit,
        "meaning": column.meaning,
        "low": column.low if isfinite(column.low) else None,
        "high": column.high if isfinite(column.high) else None,
        "choices": list(column.choices),
    }


def fleet_array_trees(layout: FleetLayout, sensors: "Mapping[str, FleetSensor]") -> list[ArrayTree]:
    """Return the arrays of a fleet of a simulation."""
    options = {
        name: dict(zip(column_index(one.sensor.options), one.options.tolist(), strict=True))
        for name, one in sensors.items()
    }
    return array_trees(layout, {name: one.sensor for name, one in sensors.items()}, options)


def array_trees(
    layout: FleetLayout, sensors: Mapping[str, Sensor], options: Mapping[str, Mapping[str, float]]
) -> list[ArrayTree]:
    """Return the arrays of a fleet with the sensors that they belong to, and those sensors' options."""
    trees: list[ArrayTree] = []
    for array in layout.arrays:
        name, _, reading = array.name.partition(".")
        sensor, chosen = sensors.get(name), dict(options.get(name, {}))
        known = sensor.arrays(sensor.options(**chosen)) if isinstance(sensor, ArraySensor) and chosen else ()
        about = next((one for one in known if one.name == reading), None)
        trees.append(
            {
                "name": array.name,
                "shape": list(array.shape),
                "sensor": "" if sensor is None else sensor.name,
                "unit": "" if about is None else about.unit,
                "meaning": "" if about is None else about.meaning,
                "fields": [] if about is None else [column_tree(column) for column in about.fields],
                "options": chosen,
            }
        )
    return trees
