"""Columns, fleets and vehicles of a simulation or a recording as plain trees for clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import isfinite
from time import time
from typing import TYPE_CHECKING, Any

from paddock.engine.columns import COMMAND, SAMPLE_TICK, snapshot_columns
from paddock.errors import PaddockError, UnknownNameError
from paddock.radio.links.table import RadioStatus
from paddock.sensing.sensor import ArraySensor, Sensor, find_sensor, sensor_names
from paddock.sensing.suite import array_trees, column_tree, fleet_array_trees, fleet_sensor
from paddock.serve.subscribers.subscription import DERIVED
from paddock.vehicles.model import VehicleModel, find_model, model_names
from paddock.wire.results import ColumnTree, FleetInfoTree, InspectedTree, ValueTree
from paddock.world.columns import Column, Pose, column_index, columns_of
from paddock.world.layout import FleetLayout, Layout
from paddock.world.snapshot import Snapshot, VehicleSnapshot

if TYPE_CHECKING:  # the hub uses this module and has no engine
    from paddock.engine.program import FleetProgram
    from paddock.engine.simulation import Simulation
    from paddock.scenario import Scenario


def column_trees(tuple_class: type) -> list[ColumnTree]:
    """Return the columns of a named tuple class as trees."""
    return [column_tree(column) for column in columns_of(tuple_class)]


def value_trees(columns: Iterable[Column], values: Mapping[str, float]) -> list[ValueTree]:
    """Return columns with the values of one vehicle; columns without a value are skipped."""
    known = [(column, float(values[column.name])) for column in columns if column.name in values]
    return [{**column_tree(column), "value": value if isfinite(value) else None} for column, value in known]


def fleet_columns(names: Iterable[str], model: VehicleModel | None, sensors: Mapping[str, Sensor]) -> list[ColumnTree]:
    """Return the columns of a snapshot as trees, with those derived from the pose."""
    columns = list(snapshot_columns(names, model, sensors).values())
    taken = {column.name for column in columns}
    derived = [column for name, (_, column) in DERIVED.items() if name not in taken]
    return [column_tree(column) for column in (*columns, *derived)]


def installed(layout: FleetLayout) -> tuple[VehicleModel | None, dict[str, Sensor]]:
    """Return the model and the sensors of a recorded fleet, as far as they are installed."""
    prefixes = {name.partition(".")[0] for name in layout.columns if "." in name}
    try:
        model = find_model(layout.model) if layout.model in model_names() else None
        return model, {name: find_sensor(name) for name in prefixes.intersection(sensor_names())}
    except PaddockError:
        return None, {}


RECORDING = "recording"  # the driver of recorded vehicles


def fleet_tree(layout: FleetLayout, driver: str | None, **more: Any) -> Any:
    """Return the tree of one fleet."""
    return {
        "name": layout.name,
        "count": layout.n,
        "kind": layout.kind,
        "model": layout.model,
        "single": layout.single,
        "driven_by": driver,
        **more,
    }


class Described:
    """Descriptions of a simulation's scenario and fleets, kept until they change. One thread at a time uses it."""

    def __init__(self) -> None:
        self._scenario: tuple[Scenario, dict[str, Any]] | None = None
        self._fleets: tuple[Layout, list[str | None], list[FleetInfoTree]] | None = None

    def scenario(self, scenario: Scenario) -> dict[str, Any]:
        """Return a scenario as a tree, without the section that may contain the token, and without what may be large.

        `scenery` returns the obstacles and the ground.
        """
        if self._scenario is None or self._scenario[0] is not scenario:
            tree = scenario.to_dict()
            tree.pop("serve", None)
            world = tree.get("world", {})
            world.pop("obstacles", None)
            for name in ("height_map", "friction_map"):
                world.get("ground", {}).get(name, {}).get("values", {}).pop("data", None)
            self._scenario = scenario, tree
        return self._scenario[1]

    def fleets(self, programs: list[FleetProgram], layout: Layout) -> list[FleetInfoTree]:
        """Return the fleets with this layout."""
        known, drivers = self._fleets, [_driver(program) for program in programs]
        if known is None or known[0] is not layout or known[1] != drivers:
            known = self._fleets = layout, drivers, fleet_trees(programs, layout)
        return known[2]


def _driver(program: FleetProgram) -> str | None:
    behaviour = program.control.behaviour
    return None if behaviour is None else behaviour.rule.name


def fleet_trees(programs: list[FleetProgram], layouts: Layout) -> list[FleetInfoTree]:
    """Return the fleets of a simulation with inputs, columns, sensors and parameters."""
    trees: list[FleetInfoTree] = []
    for program, layout in zip(programs, layouts.fleets, strict=True):
        model, sensors = program.model, {name: noised.sensor for name, noised in program.sensors.items()}
        values = zip(column_index(model.parameters), program.parameters.values.tolist(), strict=True)
        more = {
            "inputs": column_trees(model.command),
            "columns": fleet_columns(layout.columns, model, sensors),
            "arrays": fleet_array_trees(layout, program.sensors),
            "sensors": list(sensors),
            "parameters": {name: value if isfinite(value) else None for name, value in values},
            "varying": list(program.parameters.varying),
        }
        trees.append(fleet_tree(layout, _driver(program), **more, **program.appearance()))
    return trees


def recorded_options(scenario: Scenario) -> dict[str, dict[str, tuple[Sensor, dict[str, float]]]]:
    """Return fleet -> sensor -> its kind and options, of the sensors with arrays in a scenario."""
    arrays: dict[str, dict[str, tuple[Sensor, dict[str, float]]]] = {}
    for entry in scenario.vehicles:
        counts: dict[str, int] = {}
        for chosen in entry.sensors:
            counts[chosen.name] = counts.get(chosen.name, 0) + 1
            name = chosen.name if counts[chosen.name] == 1 else f"{chosen.name}_{counts[chosen.name]}"
            with suppress(PaddockError):
                sensor = find_sensor(chosen.name) if chosen.name in sensor_names() else None
                if isinstance(sensor, ArraySensor):
                    values = fleet_sensor(sensor, chosen.options, scenario.clock.rate).options.tolist()
                    options = dict(zip(column_index(sensor.options), values, strict=True))
                    arrays.setdefault(entry.name, {})[name] = sensor, options
    return arrays


def recorded_fleets(
    snapshot: Snapshot, looks: Mapping[str, Mapping[str, Any]], scenario: Scenario
) -> list[FleetInfoTree]:
    """Return the fleets of a recorded sample: they have columns but no inputs; `looks` by fleet."""
    trees: list[FleetInfoTree] = []
    known = recorded_options(scenario) if any(layout.arrays for layout in snapshot.layout.fleets) else {}
    for layout in snapshot.layout.fleets:
        model, sensors = installed(layout)
        mine = known.get(layout.name, {})
        sensors |= {name: sensor for name, (sensor, _) in mine.items()}
        columns = fleet_columns(layout.columns, model, sensors)
        arrays = array_trees(layout, sensors, {name: options for name, (_, options) in mine.items()})
        look = looks.get(layout.name, {"preset": None, "dimensions": {}})
        more: dict[str, Any] = {"columns": columns, "arrays": arrays, "sensors": sorted(sensors), **look}
        trees.append(fleet_tree(layout, RECORDING, inputs=[], parameters={}, varying=[], **more))
    return trees


def inspected_tree(sim: Simulation, target: str | int) -> InspectedTree:
    """Return every column of a vehicle of a simulation."""
    program, rows = sim.engine.applier.found(target)
    if len(rows) != 1:
        raise PaddockError(f"{target!r} is a fleet of {len(rows)}: name one vehicle, e.g. {target}[0]")
    row, model = int(rows[0]), program.model
    values, driver = program.inspect(row), program.control.driver(row)
    layout = program.published.layout()
    preset = program.settings.entry.get("preset")
    return {
        "id": int(layout.ids[row]),
        "name": layout.vehicle_name(row),
        "fleet": layout.name,
        "kind": model.kind,
        "model": model.name,
        "preset": None if preset is None else str(preset),
        "driven_by": None if driver is None else driver[1],
        "substeps": program.settings.substeps,
        "tick": sim.tick,
        "time": sim.time,
        "state": value_trees(columns_of(model.state), values["state"]),
        "columns": _published_trees(sim, layout, row, model),
        "command": value_trees(columns_of(model.command), values["command"]),
        "parameters": value_trees(columns_of(model.parameters), values["parameters"]),
        "sensors": {
            name: value_trees((*columns_of(program.sensors[name].sensor.reading), SAMPLE_TICK), readings)
            for name, readings in sim.engine.publisher.snapshot().sensors(layout.vehicle_name(row)).items()
        }
        | _radio_trees(sim, layout, row),
    }


def _radio_trees(sim: Simulation, layout: FleetLayout, row: int) -> dict[str, list[ValueTree]]:
    """Return the status of the radio as a group of its own; none without radio."""
    names = [f"radio.{column.name}" for column in columns_of(RadioStatus)]
    if names[0] not in layout.columns:
        return {}
    block = sim.engine.publisher.snapshot().fleet(layout.name).block[:, row]
    values = {column.name: float(block[layout.column(f"radio.{column.name}")]) for column in columns_of(RadioStatus)}
    return {"radio": value_trees(columns_of(RadioStatus), values)}


def _published_trees(sim: Simulation, layout: FleetLayout, row: int, model: VehicleModel) -> list[ValueTree]:
    """Return the columns of frames but commands and sensors, those computed from the pose included."""
    values = sim.engine.publisher.snapshot().fleet(layout.name).block[:, row]
    known = dict(zip(layout.columns, values.tolist(), strict=True))
    published = snapshot_columns([name for name in layout.columns if "." not in name], model, {})
    for name, (compute, column) in DERIVED.items():
        if name not in published:
            known[name], published[name] = float(compute(values[: len(Pose._fields), None])[0]), column
    return value_trees(list(published.values()), known)


def recorded_tree(snapshot: Snapshot, vehicle: VehicleSnapshot) -> InspectedTree:
    """Return the recorded columns of a vehicle."""
    values = dict(zip(vehicle.columns, vehicle.block[:, vehicle.row].tolist(), strict=True))
    model, kinds = installed(vehicle.layout)
    columns = snapshot_columns(vehicle.columns, model, kinds)

    def part(names: list[str], prefix: str = "") -> list[ValueTree]:
        trees = value_trees([columns[name] for name in names], values)
        return [{**tree, "name": tree["name"].removeprefix(prefix)} for tree in trees]

    commands = [name for name in columns if name.startswith(COMMAND)]
    state = part([name for name in columns if "." not in name])
    sensors = dict.fromkeys(name.partition(".")[0] for name in columns if "." in name and name not in commands)
    return {
        "id": vehicle.id,
        "name": vehicle.name,
        "fleet": vehicle.layout.name,
        "kind": vehicle.kind,
        "model": vehicle.model,
        "preset": None,
        "driven_by": RECORDING,
        "substeps": None,
        "tick": snapshot.tick,
        "time": snapshot.time,
        "state": state,
        "columns": state,
        "command": part(commands, COMMAND),
        "parameters": [],
        "sensors": {
            sensor: part([n for n in columns if n.startswith(f"{sensor}.")], f"{sensor}.") for sensor in sensors
        },
    }


def _radio_figures(sim: Simulation) -> dict[str, int]:
    """Return numbers of the radio's last update; none without radio."""
    stage = sim.engine.radio
    links = stage.links
    if not stage.active:
        return {}
    return {"radio_links": int(links.up.sum()), "radio_ups": stage.state.ups, "radio_downs": stage.state.downs}


def _impaired(sim: Simulation) -> dict[str, list[int]]:
    """Return the ids of vehicles that the mission has lost, and of those with an active failsafe."""
    run, damaged = sim.engine.mission, []
    for vehicle in (
        [] if run is None else [member for member in list(run.mission.flown.vehicles) if member.status == "damaged"]
    ):
        with suppress(UnknownNameError):  # it has been removed
            fleet, rows = sim.engine.world.find(vehicle.name)
            damaged += fleet.ids[rows].tolist()
    return {"damaged": damaged, "failsafes": sim.vehicles.autopilots.failsafes()}


def simulation_figures(sim: Simulation) -> dict[str, Any]:
    """Return counters and times of a run. They are read while it runs and may belong to neighbouring ticks."""
    run = sim.engine.mission
    stages = {name: (spent.calls, spent.nanoseconds) for name, spent in list(sim.engine.stages.pipeline.times.items())}
    return {
        "tick": sim.tick,
        "time": sim.time,
        "wall": time(),
        "rate": sim.engine.world.clock.rate,
        "pace": sim.clock.pace,
        "paused": sim.clock.paused,
        "running": sim.clock.active,
        "run": sim.engine.world.run,
        "vehicles": sim.engine.world.vehicles,
        "slips": sim.clock.slips,
        "lag_seconds": sim.clock.behind,
        "tick_seconds": sim.clock.tick_seconds,
        "events": sim.events.count,
        **_radio_figures(sim),
        **_impaired(sim),
        "mission": None if run is None else len(run.mission.log),  # changes with every entry of the mission's log
        "stages": {name: {"calls": calls, "seconds": ns / 1e9} for name, (calls, ns) in stages.items()},
    }
