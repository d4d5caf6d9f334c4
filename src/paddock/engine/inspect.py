"""Looking at one vehicle in full: every column by name, and what its sensors delivered."""

from __future__ import annotations

from typing import Any

from paddock.engine.program import VARYING, FleetProgram
from paddock.world.columns import column_index
from paddock.world.fleet import Ints


def inspected(program: FleetProgram, row: int) -> dict[str, dict[str, Any]]:
    """State, command and parameter values of the vehicle in a row of its fleet."""
    fleet, model = program.fleet, program.model
    state = {name: float(fleet.state[k, row]) for name, k in column_index(model.state).items()}
    command = {name: float(fleet.command[k, row]) for name, k in column_index(model.command).items()}
    parameters = {name: float(program.parameter_values[k]) for name, k in column_index(model.parameters).items()}
    for k, name in enumerate(program.varying):
        parameters[name] = float(fleet.tables[VARYING][k, row])
    return {"state": state, "command": command, "parameters": parameters}


def sensor_readings(program: FleetProgram, rows: Ints, tick: int, one: bool) -> dict[str, dict[str, Any]]:
    """Sensor -> reading -> a number for one vehicle, an array (n,) for a fleet; `sample_tick` says how old it is."""
    result: dict[str, dict[str, Any]] = {}
    for name, sensor in program.sensors.items():
        sensor.arrive(tick)
        columns = sensor.readings()
        values = {key: float(column[rows[0]]) if one else column[rows].copy() for key, column in columns.items()}
        result[name] = {**values, "sample_tick": sensor.sample_tick}
    return result
