"""Build fleets from the entries of a scenario; errors name the location where a value was written."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paddock.behaviour.paths import course_cones
from paddock.behaviour.rule import find_rule
from paddock.compute import arrays
from paddock.compute.kernel import shared_tuple
from paddock.compute.philox import normals, signed
from paddock.compute.twin import vectorised
from paddock.contact.bodies import COLLIDED_FOR, CONTACT, LastContact
from paddock.engine.behaviours import (
    BETWEEN,
    RADIO,
    FleetBehaviour,
    RuleSetup,
    Where,
    check_hearing,
    find_target,
    set_up_rule,
)
from paddock.engine.fleet_settings import (
    GNSS,
    VARYING,
    FleetParameters,
    FleetSettings,
    checked_inputs,
    command_values,
)
from paddock.engine.fmu_motion import FmuMotion, FmuState
from paddock.engine.program import FleetProgram
from paddock.engine.radio.gnss import check_receivers, check_targets, has_receiver
from paddock.engine.radio.services import HEARTBEATS, NO_TELEMETRY, TELEMETRY, UPLINK, UPLINK_ROWS
from paddock.engine.run_state import Run
from paddock.errors import CodeError, InvalidValueError, PaddockError, unknown_name, users_code
from paddock.radio.links.paths import check_setup
from paddock.radio.links.table import NO_STATUS
from paddock.radio.physics.satellites import OPEN_SIGNAL
from paddock.scenario import Scenario, VehicleEntry, load_preset, spawn_poses
from paddock.scenario.contact import FleetContact
from paddock.scenario.radio import above_clock
from paddock.scenario.sitl import mavlink_via
from paddock.scenario.track import takes_part
from paddock.scenario.via import via_problem
from paddock.sensing.sensor import Sensor, find_sensor
from paddock.sensing.site import site_at
from paddock.sensing.suite import fleet_sensor
from paddock.track.loading import declared_fleets, track_of, world_with_track
from paddock.track.track import Track
from paddock.vehicles.fmu.imported import open_fmu
from paddock.vehicles.fmu.vehicle import FmuMapping, FmuVehicle, fmu_vehicle, identifier
from paddock.vehicles.model import PartFile, PartFunction, Placement, VehicleModel, find_model, model_names, over
from paddock.world.columns import FARTHEST, Environment, Floats, checked, column_index, columns_of, filled
from paddock.world.fleet import Fleet, Ints, draw_uniforms, stream_ids
from paddock.world.geodesy import Origin
from paddock.world.ground import UNEVEN
from paddock.world.parts import fresh
from paddock.world.scenery import scenery_of
from paddock.world.wind import VARYING_WIND, WIND_TABLE, VehicleWind, air_of
from paddock.world.world import World

MOST_PLACED = 1000  # maximum number of vehicles per fleet that a check places
SPAWN_PURPOSE = 1
SPREAD_PURPOSE = 1024  # purposes of random draws; a spread parameter adds its row

Location = Callable[..., str]  # path inside an entry -> where the user wrote it
FASTEST = 1e4  # speed limit of a vehicle at its start, m/s


def environment_values(scenario: Scenario) -> Floats:
    """Return the world section as values of Environment; an error names a value out of range."""
    w = scenario.world
    values = Environment(w.gravity, w.air_density, *w.wind, w.mu, w.ground_z)
    places = [("gravity",), ("air_density",), ("wind", 0), ("wind", 1), ("wind", 2), ("mu",), ("ground_z",)]
    for column, value, location in zip(columns_of(Environment), values, places, strict=True):
        checked(column, value, "world's", scenario.at("world", *location))
    return np.array(values, dtype=np.float64)


def new_world(scenario: Scenario) -> Run:
    """Return the world of a scenario without fleets; an error names a value out of range."""
    values = environment_values(scenario)
    track = _at(scenario.at("track"), track_of, scenario.track)
    scenery = _at(scenario.at("world"), scenery_of, world_with_track(scenario))
    movable = [entry for declared in declared_fleets(scenario) for entry in declared.obstacles]
    if scenery is not None and movable:
        scenery = scenery.with_movable(movable)  # others share it; cones that are knocked over are removed from it
    return Run(scenario.clock.rate, values, scenario.seed, scenery, track, air_of(scenario.world))


def build_program(
    world: World, scenario: Scenario, entry: VehicleEntry, location: Location, device: str = "cpu"
) -> FleetProgram:
    """Build a fleet with its model, behaviour and sensors, without vehicles yet."""
    chosen = None if entry.fmu is None else _at(location("fmu"), _fmu, scenario, entry)
    model = _at(location("model"), find_model, entry.model) if chosen is None else chosen.model
    for name, choice in entry.subsystems.items():
        own = choice.parameters or choice.memory
        path = PartFunction(choice.name, choice.parameters, choice.memory) if own else choice.name
        part = path if choice.text is None else PartFile(choice.name, choice.text)
        model = _at(location("subsystems", name), model.fitted, {name: part})
    single = entry.count == 1
    values = parameter_values(model, entry if chosen is None else _by_column(entry), location)
    fleet = Fleet(entry.name, model.state, model.command, entry.count, single)
    varying = tuple(name for name in column_index(model.parameters) if name in entry.spread)
    for name in entry.spread:
        if name not in column_index(model.parameters):
            filled(model.parameters, {name: 0.0}, f"parameter of {model.name}", location("spread", name))
        check_effect(model, name, location("spread", name))
    parameters = FleetParameters(fleet, model, values, varying)
    settings = _settings(world, scenario, entry, model, parameters, location)
    fleet.entry = json.dumps(settings.entry, sort_keys=True)
    fleet.fmu = None if chosen is None else fresh(FmuState)
    _add_tables(fleet, model, settings, scenario, entry)
    if world.air is not None:
        fleet.add_table(WIND_TABLE, VehicleWind)
    setup = _behaviour(scenario, entry, settings, location, world.track)
    key = entry.controller_key
    behaviour = None if setup is None else _at(location(key), FleetBehaviour, setup, model, fleet, varying)
    around = () if world.uneven is None else (world.environment, *world.uneven.ground.tables)
    fmus = None if chosen is None else FmuMotion(chosen, world.environment)
    program = FleetProgram(fleet, model, parameters, settings, behaviour, device, around, fmus)
    _sensors(program, world, scenario, entry, location)
    return program


class Arrival(NamedTuple):
    """Vehicles of an entry in their start state, before they have ids."""

    first_member: int
    state: Floats  # (columns, count)
    inputs: dict[str, float]
    varied: dict[str, Floats]  # parameters that differ, (count,) each
    wind: Floats | None  # (columns of VehicleWind, count), where each vehicle has a wind of its own


def arrival(world: World, program: FleetProgram, entry: VehicleEntry, location: Location) -> Arrival:
    """Place the vehicles of an entry; nothing is changed, so that any thread may do it."""
    fleet = program.fleet
    members = np.arange(fleet.next_member, fleet.next_member + entry.count)
    streams = stream_ids(fleet.name, members)

    def uniform(count: int, columns: int) -> Floats:
        return draw_uniforms(world.seed, streams, SPAWN_PURPOSE, columns)

    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused in the next line
        arguments = entry, uniform, world.heights, arrays, world.track, course_cones
        poses = _at(location("spawn"), spawn_poses, *arguments)
    poses = _staged(world, program, entry, poses)
    where = location("spawn" if entry.spawn else "pose")
    if not (np.abs(poses[:, :3]) <= FARTHEST).all():
        raise InvalidValueError(f"{where}: vehicles start within {FARTHEST:g} m of the origin")
    advice = "; leave z out to start on the ground" if world.uneven is not None else ""
    refuse_below(world, poses, f"{where}: vehicles start", advice)
    if abs(entry.speed) > FASTEST:
        raise InvalidValueError(f"{location('speed')}: the speed is at most {FASTEST:g} m/s, not {entry.speed:g}")
    inputs = checked_inputs(program.model, entry.commands, lambda name: location("commands", name))
    varied = _varied(program, entry, world.seed, streams)
    state = placed_states(program, poses, entry.speed, world, varied)
    wind = None if world.air is None else _still_air(world, program, poses, varied)
    return Arrival(fleet.next_member, state, inputs, varied, wind)


def _still_air(world: World, program: FleetProgram, poses: Floats, varied: Mapping[str, Floats]) -> Floats:
    """Return the winds (columns, count) of vehicles at poses (count, 4), before their first gust."""
    model, wind = program.model, np.zeros((len(column_index(VehicleWind)), len(poses)))
    if model.body is not None:
        values = dict(zip(column_index(model.parameters), program.parameters.values.tolist(), strict=True))
        with users_code():
            wind[-1] = vectorised(model.body)(model.parameters(**(values | dict(varied)))).centre_z
    wind[: len(VARYING_WIND)] = world.mean_wind(poses[:, 0], poses[:, 1], poses[:, 2] + wind[-1])
    return wind


def _staged(world: World, program: FleetProgram, entry: VehicleEntry, poses: Floats) -> Floats:
    """Move vehicles back where the start pose of the track is that of their front."""
    track, body = world.track, program.model.body
    on_track = entry.pose is None if entry.spawn is None else entry.spawn.track is not None
    if not on_track or track is None or body is None or not track.starts_at_front:
        return poses
    shape = vectorised(body)(program.parameters.fields())
    front = float(np.max(shape.half_length)) + float(np.max(shape.centre_x))
    moved = poses.copy()
    moved[:, 0] -= front * arrays.cos(poses[:, 3])
    moved[:, 1] -= front * arrays.sin(poses[:, 3])
    moved[:, 2] += world.heights(moved[:, 0], moved[:, 1]) - world.heights(poses[:, 0], poses[:, 1])
    return moved


def refuse_below(world: World, poses: Floats, who: str, advice: str = "") -> None:
    """Raise InvalidValueError if one of the poses (n, 4) is below the ground; `advice` ends the message."""
    ground = world.heights(poses[:, 0], poses[:, 1])
    below = np.flatnonzero(poses[:, 2] < ground - 1e-9)
    if len(below):
        worst = below[np.argmin(poses[below, 2] - ground[below])]
        x, y, z = poses[worst, :3].tolist()
        at = f" at ({x:g}, {y:g})" if world.uneven is not None else ""
        raise InvalidValueError(f"{who} at or above the ground, z >= {ground[worst]:g} m{at}, not {z:g}{advice}")


def admit(
    world: World, program: FleetProgram, entry: VehicleEntry, location: Location, arrived: Arrival | None = None
) -> None:
    """Add the vehicles of an entry to their fleet; `arrived`: they are placed already."""
    arrived = arrived or arrival(world, program, entry, location)
    settle(program, arrived, take_ids(world, entry, location))


def take_ids(world: World, entry: VehicleEntry, location: Location) -> Ints:
    """Reserve the ids of an entry's vehicles."""
    ids: Ints = _at(location("id"), world.take_ids, entry.count, entry.id)
    return ids


def settle(program: FleetProgram, arrived: Arrival, ids: Ints) -> None:
    """Add placed vehicles to their fleet, under these ids."""
    fleet = program.fleet
    before = fleet.n, fleet.next_member
    rows = fleet.add(ids, arrived.state)
    for name, value in arrived.inputs.items():
        fleet.command[column_index(program.model.command)[name], rows] = value
    for k, name in enumerate(program.parameters.varying):
        fleet.tables[VARYING][k, rows] = arrived.varied[name]
    if arrived.wind is not None:
        fleet.tables[WIND_TABLE][:, rows] = arrived.wind
    try:
        program.admit(rows)
    except PaddockError:  # of an FMU that cannot start
        fleet.keep(np.arange(before[0]))
        fleet.next_member = before[1]
        raise


def check_target(world: World, entry: VehicleEntry, program: FleetProgram, location: Location) -> None:
    """Raise an error with its location if the target of the behaviour does not exist, or is the vehicle itself."""
    behaviour, rows = program.control.behaviour, np.arange(max(program.fleet.n, entry.count))
    if behaviour is not None and behaviour.target is not None:
        where = location(entry.controller_key, behaviour.rule.name, "target")
        _at(where, find_target, world, behaviour.target, program.fleet, rows)


def _at(where: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function and prefix its errors with the location."""
    try:
        return function(*arguments)
    except CodeError:  # it has a location of its own
        raise
    except PaddockError as error:
        raise type(error)(f"{where}: {error}") from None


def _fmu(scenario: Scenario, entry: VehicleEntry) -> FmuVehicle:
    """Open the FMU of an entry and connect it; a relative path begins in the scenario's folder or the current one."""
    assert entry.fmu is not None
    if entry.controller is not None:
        raise InvalidValueError(f"no behaviour can drive an FMU, {entry.controller.name!r} neither: send commands")
    beside = Path(scenario.folder, entry.fmu.file)
    file = open_fmu(beside if beside.exists() else Path(entry.fmu.file))
    mapping = FmuMapping(entry.fmu.inputs, entry.fmu.outputs, entry.fmu.start, entry.fmu.telemetry)
    return fmu_vehicle(file, mapping, entry.fmu.kind, entry.parameters)


def _by_column(entry: VehicleEntry) -> VehicleEntry:
    """Return the entry of an FMU with the names of columns as names of parameters."""
    return entry.model_copy(
        update={"parameters": {identifier(name): value for name, value in entry.parameters.items()}}
    )


def check_effect(model: VehicleModel, name: str, where: str) -> None:
    """Refuse a parameter that a model has only because others, such as its other levels, have it."""
    if name not in model.effective_parameters:
        others = [
            find_model(other) for other in model_names() if other.partition(".")[0] == model.name.partition(".")[0]
        ]
        effective = [other.name for other in others if name in other.effective_parameters]
        able = f"; it has one on {', '.join(effective)}" if effective else ""
        raise InvalidValueError(f"{where}: parameter {name!r} has no effect on {model.name}{able}")


def parameter_values(model: VehicleModel, entry: VehicleEntry, location: Location) -> Floats:
    """Return the parameters of an entry: defaults of the model, its preset, and its own."""
    preset = load_preset(entry.model, entry.preset, location("preset"))
    known = {name: value for name, value in preset.items() if name in column_index(model.parameters)}
    known |= model.fixed_parameters
    stand_ins = {c.name: 0.0 for c in columns_of(model.parameters) if c.default is None} | known
    what = f"parameter of {model.name}"
    for name, value in entry.parameters.items():
        filled(model.parameters, {**stand_ins, name: value}, what, location("parameters", name))
        check_effect(model, name, location("parameters", name))
    values = filled(model.parameters, {**known, **entry.parameters}, what, location("model"))
    if model.problem is not None and (problem := model.problem(model.parameters(*values.tolist()))):
        key = problem.partition(" ")[0]  # the text begins with the parameter
        raise InvalidValueError(f"{location('parameters', *((key,) if key in entry.parameters else ()))}: {problem}")
    return values


def _settings(
    world: World,
    scenario: Scenario,
    entry: VehicleEntry,
    model: VehicleModel,
    parameters: FleetParameters,
    location: Location,
) -> FleetSettings:
    """Return what the scenario says about a fleet; an error with its location if parts of it do not fit."""
    failsafe = command_values(model, "failsafe")
    for name, value in checked_inputs(model, entry.failsafe, lambda name: location("failsafe", name)).items():
        failsafe[column_index(model.command)[name]] = value
    contact = _contact(scenario, entry, model, parameters, location)
    _check_via(scenario, entry, location)
    _check_radio(scenario, entry, location)
    sitl, own = scenario.sitl, entry.model_dump(mode="json", exclude_defaults=True) | {"name": entry.name}
    pilots = () if sitl is None else sitl.pilots
    ways = [mavlink_via(sitl, flown) for flown in pilots if sitl is not None and flown.vehicles == entry.name]
    return FleetSettings(
        entry=own,
        substeps=max(1, ceil(world.clock.dt / model.dt_max * (1.0 - 1e-9))),
        failsafe=failsafe,
        brake=command_values(model, "brake"),
        timeout_ticks=None if entry.timeout is None else max(1, world.clock.ticks(entry.timeout)),
        contact=contact,
        collided_ticks=max(1, world.clock.ticks(COLLIDED_FOR)),
        races=takes_part(scenario.rules, entry.name, model.kind),
        radio=entry.radio,
        beacons=bool(entry.radio and scenario.radio and scenario.radio.messages.beacons),
        via=entry.via,
        heartbeat=next((way for way in ways if way is not None and way.heartbeat is not None), None),
    )


def _add_tables(
    fleet: Fleet, model: VehicleModel, settings: FleetSettings, scenario: Scenario, entry: VehicleEntry
) -> None:
    """Add the tables that the settings of a fleet need."""
    radio = scenario.radio
    if settings.contact is not None:
        fleet.add_table(CONTACT, LastContact)
    if settings.via is not None:
        fleet.add_table(UPLINK, UPLINK_ROWS + len(column_index(model.command)))
        if settings.via.telemetry is not None:
            fleet.add_table(TELEMETRY, NO_TELEMETRY)
    if settings.heartbeat is not None:
        fleet.add_table(HEARTBEATS, 2)
    if radio is not None and (radio.jammers or radio.spoofers) and has_receiver(entry):
        fleet.add_table(GNSS, OPEN_SIGNAL)
    if settings.radio:
        fleet.add_table(RADIO, NO_STATUS)


def _contact(
    scenario: Scenario, entry: VehicleEntry, model: VehicleModel, parameters: FleetParameters, location: Location
) -> FleetContact | None:
    """Return how others touch the fleet: if the scenario has contact, the model a body, and the entry allows it."""
    chosen = entry.contact or FleetContact()
    if scenario.contact is None or not chosen.enabled:
        if model.body is not None and bool(np.any(vectorised(model.body)(parameters.fields()).falls)):
            where = location("contact" if entry.contact else "model")
            raise InvalidValueError(f"{where}: {model.name!r} needs contact: only contact keeps it above the ground")
        return None
    if model.body is None and entry.contact is not None:
        raise InvalidValueError(f"{location('contact')}: model {model.name!r} has no body that others could touch")
    return None if model.body is None else chosen


def _check_via(scenario: Scenario, entry: VehicleEntry, location: Location) -> None:
    """Refuse a way of commands and telemetry over a radio that the scenario does not have."""
    if entry.via is None:
        return
    problem, station = via_problem(
        entry.via, scenario.radio, entry.radio, [vehicle.radio for vehicle in scenario.vehicles]
    )
    if problem:
        raise InvalidValueError(f"{location('via', 'radio') if station else location('via')}: {problem}")
    if entry.via.telemetry is not None and entry.via.telemetry > scenario.clock.rate:
        problem = above_clock(entry.via.telemetry, scenario.clock.rate)
        raise InvalidValueError(f"{location('via', 'telemetry')}: {problem}")


def _check_radio(scenario: Scenario, entry: VehicleEntry, location: Location) -> None:
    """Refuse radios of a fleet without a section `radio`, or of unknown types."""
    if entry.radio and scenario.radio is None:
        raise InvalidValueError(f"{location('radio')}: there is no radio: add a section `radio: {{}}` to the scenario")
    types = {} if scenario.radio is None else scenario.radio.known_types
    for k, fitted in enumerate(entry.radio):
        if fitted.type not in types:
            raise unknown_name("radio type", fitted.type, types, location("radio", k))


def _behaviour(
    scenario: Scenario, entry: VehicleEntry, settings: FleetSettings, location: Location, track: Track | None
) -> RuleSetup | None:
    """Return the behaviour of an entry with its options; None if it has none."""
    chosen = entry.controller
    if chosen is None:
        return None
    unused = ("commands", "timeout", "failsafe", *(("via",) if entry.via and entry.via.telemetry is None else ()))
    for field in unused:
        if getattr(entry, field):
            raise InvalidValueError(f"{location(field)}: {field} have no effect on a vehicle that a behaviour drives")
    key = entry.controller_key

    def where(option: str) -> str:
        return location(key, chosen.name, option) if option else location(key)

    rule = _at(location(key), find_rule, chosen.name)
    setup = set_up_rule(rule, chosen.options, where, track=track)
    check_hearing(setup, bool(settings.radio), settings.beacons, where)
    _check_ends(setup, scenario, entry.name, where)
    return setup


def _check_ends(setup: RuleSetup, scenario: Scenario, own: str, where: Where) -> None:
    """Refuse ends of a chain of relays that are no vehicle with a radio and no station, or one of the relays `own`."""
    stations = [] if scenario.radio is None else [station.name for station in scenario.radio.stations]
    entries = {entry.name: entry for entry in scenario.vehicles}
    for end in setup.between or ():
        name, _, number = end.removesuffix("]").partition("[")
        entry = entries.get(name)
        if end not in stations and entry is None:
            raise unknown_name("vehicle or station", end, [*entries, *stations], where(BETWEEN))
        if name == own:
            raise InvalidValueError(
                f"{where(BETWEEN)}: {end!r} is one of the relays: name another vehicle or a station"
            )
        if entry is not None and not entry.radio:
            raise InvalidValueError(f"{where(BETWEEN)}: {name!r} has no radio: add `radio: default` to its entry")
        if entry is not None and entry.count > 1 and not (number.isdecimal() and int(number) < entry.count):
            raise InvalidValueError(
                f"{where(BETWEEN)}: {end!r} is not one of the vehicles {name}[0] to {name}[{entry.count - 1}]"
            )


def _sensors(program: FleetProgram, world: World, scenario: Scenario, entry: VehicleEntry, location: Location) -> None:
    counts: dict[str, int] = {}
    for k, chosen in enumerate(entry.sensors):
        where = location("sensors", k)
        sensor = _at(where, find_sensor, chosen.name)
        index = counts.get(chosen.name, 0)
        counts[chosen.name] = index + 1
        name = chosen.name if index == 0 else f"{chosen.name}_{index + 1}"
        site = _at(where, lambda: site_at(Origin(*scenario.world.origin), scenario.world.date))
        _at(where, program.sensor_inputs.sources, sensor)
        options = {**_from_vehicle(program, sensor, chosen.options, where), **chosen.options}
        tables = () if world.scenery is None else world.scenery.tables
        program.sensors[name] = fleet_sensor(
            *(sensor, options, world.clock.rate, site, program.fleet.capacity, index, where, tables),
            VARYING_WIND if program.wind else (),
        )


def _from_vehicle(program: FleetProgram, sensor: Sensor, chosen: Mapping[str, Any], where: str) -> dict[str, float]:
    """Return the options that a sensor takes from the vehicle's parameters unless the user gives them."""
    rows = column_index(program.model.parameters)
    taken = {}
    for option, sources in sensor.from_vehicle.items():
        known = [name for name in sources if name in rows]
        if known:
            taken[option] = float(program.parameters.values[rows[known[0]]])
        elif option not in chosen:
            lacks = f"model {program.model.name!r} has no {' or '.join(sources)}"
            raise InvalidValueError(f"{where}: sensor {sensor.name!r} needs the option {option!r}: {lacks}")
    return taken


def _varied(program: FleetProgram, entry: VehicleEntry, seed: int, streams: Any) -> dict[str, Floats]:
    """Draw the parameters that differ between vehicles: normal about the fleet's value, clipped to their range."""
    varied = {}
    for name in program.parameters.varying:
        row = column_index(program.model.parameters)[name]
        column = columns_of(program.model.parameters)[row]
        draws = vectorised(normals)(signed(seed), streams, SPREAD_PURPOSE + row, 0)[0]
        values = program.parameters.values[row] * (1.0 + entry.spread[name] * draws)
        varied[name] = np.clip(values, column.low, column.high)
    return varied


def placed_states(
    program: FleetProgram,
    poses: Floats,
    speed: float | Floats,
    world: World,
    varied: Mapping[str, Floats] | None = None,
) -> Floats:
    """Return the states (columns, count) of vehicles at poses (count, 4), by the model's `place`."""
    model = program.model
    values = dict(zip(column_index(model.parameters), program.parameters.values.tolist(), strict=True))
    count = len(poses)
    columns: Any = [*np.ascontiguousarray(poses.T), np.broadcast_to(np.asarray(speed, np.float64), (count,)).copy()]
    parameters = model.parameters(**(values | dict(varied or {})))
    values, uneven = world.environment.tolist(), world.uneven
    if world.air is not None:
        values[2:5] = world.mean_wind(*columns[:3])
    around: Any = Environment(*values) if uneven is None else shared_tuple(UNEVEN)(*values, *uneven.ground.tables)
    with users_code():
        state = vectorised(model.place if uneven is None else over(model.place))(
            Placement(*columns), parameters, around
        )
    table = np.empty((len(state), count))
    for row, value in zip(table, state, strict=True):
        row[:] = value
    return table


def build_problems(scenario: Scenario) -> list[str]:
    """Return a line with its location for each part of a scenario that cannot be built; compiles no kernel."""
    try:
        world = new_world(scenario)
    except PaddockError as error:
        return [str(error)]
    problems: list[str] = []
    built = []
    if scenario.mission is not None:
        from paddock.engine.mission.run import check_members  # planning is imported for a mission only
        from paddock.planning.from_scenario import setup_of

        with _listed(problems):
            check_members(scenario, world)
            setup_of(scenario, divide=False)
    if scenario.rules is not None:
        from paddock.engine.race import fitting_track  # which imports this module's fleets

        with _listed(problems):
            fitting_track(scenario, world.track)
    if scenario.radio is not None:
        with _listed(problems):
            check_setup(scenario)
            check_receivers(scenario)
            check_targets(scenario)
    # as in a run
    declared = sorted(declared_fleets(scenario), key=lambda fleet: (fleet.entry.id is None, fleet.entry.name))
    for entry, where, _ in declared:
        location = partial(scenario.at, *where)
        with _listed(problems, location):
            built.append((_built(world, scenario, entry, location), entry, location))
    whole = {entry.name for program, entry, _ in built if program.fleet.n == entry.count}
    partly = {fleet.entry.name for fleet in declared} - whole  # their targets may not have been placed
    for program, entry, location in built:
        behaviour = program.control.behaviour
        target = None if behaviour is None else behaviour.target
        if target is not None and target.partition("[")[0] not in partly:
            with _listed(problems):
                check_target(world, entry, program, location)
    return problems


@contextmanager
def _listed(problems: list[str], location: Location | None = None) -> Iterator[None]:
    """Add an error to the problems; one in code gets the location of the entry."""
    try:
        yield
    except PaddockError as error:
        problems.append(
            f"{location()}: {error}" if location is not None and isinstance(error, CodeError) else str(error)
        )


def _built(world: World, scenario: Scenario, entry: VehicleEntry, location: Location) -> FleetProgram:
    """Build the fleet of an entry in the world, with a limited number of vehicles."""
    if entry.count > MOST_PLACED and entry.spawn is not None and entry.spawn.poses is None:
        entry = entry.model_copy(update={"count": MOST_PLACED})
    program = build_program(world, scenario, entry, location)
    admit(world, program, entry, location)
    world.add_fleet(program.fleet)
    return program
