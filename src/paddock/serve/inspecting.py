"""One vehicle in full, and every fleet in full, as the trees that clients are told."""

from __future__ import annotations

from typing import Any

from paddock.engine.program import inspected, sensor_readings
from paddock.engine.program import FleetProgram
from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.serve.describing import (
    COMMAND,
    SAMPLE_TICK,
    column_trees,
    fleet_columns,
    installed,
    snapshot_columns,
    value_trees,
)
from paddock.serve.subscribers.shapes import FleetInfoTree, InspectedTree, ValueTree
from paddock.world.columns import columns_of
from paddock.world.snapshot import Snapshot, VehicleSnapshot

RECORDING = "recording"
"""What drives the vehicles of one."""


def fleet_infos(sim: Simulation) -> list[FleetInfoTree]:
    """Every fleet of a simulation: what it can be told, what it shows."""
    return [_fleet_info(program) for program in sim.roster.programs.values()]


def _fleet_info(program: FleetProgram) -> FleetInfoTree:
    layout, model = program.layout(), program.model
    sensors = {name: one.sensor for name, one in program.sensors.items()}
    return {
        "name": layout.name,
        "count": layout.n,
        "kind": model.kind,
        "model": model.name,
        "single": layout.single,
        "driven_by": None if program.conduct is None else program.conduct.rule.name,
        "inputs": column_trees(model.command),
        "columns": fleet_columns(layout.columns, model, sensors),
        "sensors": list(sensors),
    }


def recorded_fleets(snapshot: Snapshot) -> list[FleetInfoTree]:
    """Every fleet of a sample: it shows what was recorded, and can be told nothing."""
    return [
        {
            "name": fleet.name,
            "count": len(fleet),
            "kind": fleet.kind,
            "model": fleet.model,
            "single": fleet.layout.single,
            "driven_by": RECORDING,
            "inputs": [],
            "columns": fleet_columns(fleet.layout.columns, *installed(fleet.layout)),
            "sensors": sorted(installed(fleet.layout)[1]),
        }
        for fleet in snapshot
    ]


def inspected_tree(sim: Simulation, target: str | int) -> InspectedTree:
    """Every column of a vehicle of a simulation."""
    program, rows = sim.applier.found(target)
    if len(rows) != 1:
        raise PaddockError(f"{target!r} is a fleet of {len(rows)}: name one member, e.g. {target}[0]")
    row, model = int(rows[0]), program.model
    values, driver = inspected(program, row), program.driver(row)
    layout = program.layout()
    preset = program.entry.get("preset")
    return {
        "id": int(layout.ids[row]),
        "name": layout.vehicle_name(row),
        "fleet": layout.name,
        "kind": model.kind,
        "model": model.name,
        "preset": None if preset is None else str(preset),
        "driven_by": None if driver is None else driver[1],
        "tick": sim.tick,
        "time": sim.time,
        "state": value_trees(columns_of(model.state), values["state"]),
        "command": value_trees(columns_of(model.command), values["command"]),
        "parameters": value_trees(columns_of(model.parameters), values["parameters"]),
        "sensors": _sensors(program, rows, sim.tick),
    }


def _sensors(program: FleetProgram, rows: Any, tick: int) -> dict[str, list[ValueTree]]:
    readings = sensor_readings(program, rows, tick, one=True)
    kinds = {name: one.sensor for name, one in program.sensors.items()}
    return {
        name: value_trees((*columns_of(kinds[name].reading), SAMPLE_TICK), values) for name, values in readings.items()
    }


def recorded_tree(snapshot: Snapshot, vehicle: VehicleSnapshot) -> InspectedTree:
    """What a recording has of a vehicle."""
    values = dict(zip(vehicle.columns, vehicle.block[:, vehicle.row].tolist(), strict=True))
    model, kinds = installed(vehicle.layout)
    columns = snapshot_columns(vehicle.columns, model, kinds)

    def part(names: list[str], prefix: str = "") -> list[ValueTree]:
        trees = value_trees([columns[name] for name in names], values)
        return [{**tree, "name": tree["name"].removeprefix(prefix)} for tree in trees]

    commands = [name for name in columns if name.startswith(COMMAND)]
    sensors = dict.fromkeys(name.partition(".")[0] for name in columns if "." in name and name not in commands)
    return {
        "id": vehicle.id,
        "name": vehicle.name,
        "fleet": vehicle.layout.name,
        "kind": vehicle.kind,
        "model": vehicle.model,
        "preset": None,
        "driven_by": RECORDING,
        "tick": snapshot.tick,
        "time": snapshot.time,
        "state": part([name for name in columns if "." not in name]),
        "command": part(commands, COMMAND),
        "parameters": [],
        "sensors": {one: part([n for n in columns if n.startswith(f"{one}.")], f"{one}.") for one in sensors},
    }
