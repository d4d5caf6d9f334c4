"""Parts of a simulation as plain trees, the way clients see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.engine.program import VARYING
from paddock.engine.simulation import Simulation
from paddock.errors import unknown_name
from paddock.world.columns import Column, Floats, column_index, columns_of
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
            "varying": list(program.varying),
        }
        for name, program in sim.roster.programs.items()
    ]


def _input_tree(column: Column) -> dict[str, Any]:
    limits = {"low": column.low, "high": column.high}
    finite = {name: value for name, value in limits.items() if abs(value) != float("inf")}
    return {"name": column.name, "unit": column.unit, "meaning": column.meaning, **finite, "choices": column.choices}


def _parameters(kind: type, values: list[float]) -> dict[str, float]:
    return {column.name: value for column, value in zip(columns_of(kind), values, strict=True)}


def parameter_column(sim: Simulation, fleet: str, name: str) -> Floats:
    """(n,) a parameter of a fleet's vehicles, which may differ in it."""
    if fleet not in sim.roster.programs:
        raise unknown_name("fleet", fleet, sim.roster.programs)
    program = sim.roster.programs[fleet]
    known = column_index(program.model.parameters)
    if name not in known:
        raise unknown_name(f"parameter of {program.model.name}", name, known)
    if name in program.varying:
        return program.fleet.tables[VARYING][program.varying.index(name), : program.fleet.n].copy()
    return np.full(program.fleet.n, program.parameter_values[known[name]])
