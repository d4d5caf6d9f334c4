"""Parts of a simulation as plain trees, the way clients see them."""

from __future__ import annotations

from typing import Any

from paddock.engine.simulation import Simulation
from paddock.world.columns import Column, columns_of
from paddock.world.snapshot import VehicleSnapshot


def vehicle_tree(vehicle: VehicleSnapshot) -> dict[str, Any]:
    """One vehicle: who it is, and every public column."""
    values = vehicle.block[:, vehicle.row].tolist()
    about = {"id": vehicle.id, "name": vehicle.name, "kind": vehicle.kind, "model": vehicle.model}
    return {**about, "columns": dict(zip(vehicle.columns, values, strict=True))}


def fleet_trees(sim: Simulation) -> list[dict[str, Any]]:
    """Every fleet: who is in it, what it can be told and what sensors it has."""
    return [
        {
            "name": name,
            "count": program.fleet.n,
            "kind": program.model.kind,
            "model": program.model.name,
            "single": program.fleet.single,
            "inputs": [_input_tree(column) for column in columns_of(program.model.command)],
            "driven_by": None if program.conduct is None else program.conduct.rule.name,
            "sensors": list(program.sensors),
            "parameters": _parameters(program.model.parameters, program.parameter_values.tolist()),
        }
        for name, program in sim.roster.programs.items()
    ]


def _input_tree(column: Column) -> dict[str, Any]:
    limits = {"low": column.low, "high": column.high}
    finite = {name: value for name, value in limits.items() if abs(value) != float("inf")}
    return {"name": column.name, "unit": column.unit, "meaning": column.meaning, **finite, "choices": column.choices}


def _parameters(kind: type, values: list[float]) -> dict[str, float]:
    return {column.name: value for column, value in zip(columns_of(kind), values, strict=True)}
