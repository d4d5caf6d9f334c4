"""What clients may use and add.

Names: installed plug-ins and those of the scenario; other names would import modules. Numbers: vehicles, fleets and
tasks that clients add to a run or load, and the vehicles' estimated memory.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from paddock.behaviour.rule import rule_names
from paddock.engine.simulation import Simulation
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.planning.solver.methods import method_names
from paddock.scenario import Scenario, ScenarioError, VehicleEntry
from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import KeyPath, Marks, dotted, validated
from paddock.scenario.serve import ClientLimits
from paddock.scenario.vehicle import PART_FILES
from paddock.sensing.sensor import sensor_names
from paddock.track.loading import declared_fleets
from paddock.vehicles.model import find_model, model_names
from paddock.world.archive import unpack

MOST_VALUES = 2_000_000  # of a client's state

EXTERNAL = "external"  # the driver that takes commands
KINDS = {"model": "model", "behaviour": "behaviour", "sensor": "sensor", "method": "planning method", "fmu": "FMU"}
KINDS["subsystem"] = "subsystem"
"""Their names in errors."""


Known = Mapping[str, Iterable[str]]  # `model`, `behaviour`, `sensor`, `method`, `subsystem`, `fmu` -> valid names


def installed_names() -> dict[str, list[str]]:
    """Return the names of installed plug-ins."""
    behaviours = [*rule_names(), EXTERNAL]
    parts = {name for model in model_names() for part in find_model(model).subsystems.values() for name in part.choices}
    names = {"model": model_names(), "behaviour": behaviours, "sensor": sensor_names(), "method": method_names()}
    # FMUs are native code: only the files of the server's own scenario
    return {**names, "subsystem": sorted(parts), "fmu": []}


def known_names(sim: Simulation) -> dict[str, list[str]]:
    """Return the names of installed plug-ins, and those in use by the scenario or the present vehicles."""
    used, entries = list(sim.engine.programs.values()), [entry for _, entry in vehicle_entries(sim.scenario)]
    methods = set() if sim.scenario.mission is None else {sim.scenario.mission.method.name}
    models = {*(program.model.name for program in used), *(entry.model for entry in entries)}
    sensors = {name for program in used for name in program.sensors}
    sensors |= {sensor.name for entry in entries for sensor in entry.sensors}
    rules = {behaviour.rule.name for program in used if (behaviour := program.control.behaviour) is not None}
    rules |= {entry.controller.name for entry in entries if entry.controller is not None}
    groups = [list(program.control.groups.values()) for program in used]
    rules |= {group.setup.rule.name for fleet in groups for group in fleet}
    parts = {part.name for entry in entries for part in entry.subsystems.values() if part.text is None}
    spawned = (choice for program in used for choice in program.settings.entry.get("subsystems", {}).values())
    functions = (choice.get("function") if isinstance(choice, Mapping) else choice for choice in spawned)
    parts |= {name for name in functions if isinstance(name, str)}
    fmus = {entry.fmu.file for entry in entries if entry.fmu is not None}
    in_use = {"model": models, "behaviour": rules, "sensor": sensors, "method": methods}
    in_use |= {"subsystem": parts, "fmu": fmus}
    return {kind: sorted({*names, *in_use[kind]}) for kind, names in installed_names().items()}


def vehicle_entries(scenario: Scenario) -> list[tuple[KeyPath, VehicleEntry]]:
    """Return all vehicle entries with their locations, including those that join a mission later."""
    entries: list[tuple[KeyPath, VehicleEntry]] = [
        (("vehicles", k), entry) for k, entry in enumerate(scenario.vehicles)
    ]
    events = () if scenario.mission is None else scenario.mission.events
    joining = [(("mission", "events", k, "vehicle"), event.vehicle) for k, event in enumerate(events)]
    return entries + [(path, entry) for path, entry in joining if entry is not None]


def foreign_names(scenario: Scenario, known: Known) -> list[str]:
    """Return one line, with its location, for each name of a scenario that clients may not use."""
    names = _names_in(vehicle_entries(scenario))
    if scenario.mission is not None:
        names.append(("method", scenario.mission.method.name, ("mission", "method")))
    return _foreign(names, known, scenario.at)


def _names_in(entries: Iterable[tuple[KeyPath, VehicleEntry]]) -> list[tuple[str, str, KeyPath]]:
    """Return kind, name and location of each name in vehicle entries."""
    names: list[tuple[str, str, KeyPath]] = []
    for path, entry in entries:
        names.append(("model", entry.model, (*path, "model")))
        if entry.fmu is not None:
            names.append(("fmu", entry.fmu.file, (*path, "fmu", "file")))
        if entry.controller is not None:
            names.append(("behaviour", entry.controller.name, (*path, entry.controller_key)))
        names += [("sensor", sensor.name, (*path, "sensors", j)) for j, sensor in enumerate(entry.sensors)]
        parts = [(part, choice.name) for part, choice in entry.subsystems.items() if choice.text is None]
        names += [("subsystem", name, (*path, "subsystems", part)) for part, name in parts]
    return names


def _foreign(names: Iterable[tuple[str, str, KeyPath]], known: Known, at: Callable[..., str]) -> list[str]:
    return [
        str(unknown_name(KINDS[kind], name, known[kind], at(*path)))
        for kind, name, path in names
        if name not in known[kind]
    ]


def refuse_foreign(sim: Simulation, entry: Mapping[str, Any], where: str = "vehicles[0]") -> None:
    """Refuse an entry with a name that would be imported as a module, or read as a file."""
    known = known_names(sim)
    names = [("model", "model", entry.get("model"))]
    names += [("behaviour", name, entry.get(name)) for name in ("behaviour", "driver")]
    if isinstance(fmu := entry.get("fmu"), Mapping):
        names.append(("fmu", "fmu.file", fmu.get("file")))
    listed = entry.get("sensors")
    names += [
        ("sensor", f"sensors[{k}]", sensor) for k, sensor in enumerate(listed if isinstance(listed, list) else ())
    ]
    parts = entry.get("subsystems")
    for part, choice in parts.items() if isinstance(parts, Mapping) else ():
        if isinstance(choice, str) and choice.lower().endswith(PART_FILES):
            here = f"{where}.subsystems.{part}"
            raise PaddockError(f"{here}: files are not read here: give {{file: NAME, text: TEXT}}")
        named = choice.get("function") if isinstance(choice, Mapping) else choice
        names += [("subsystem", f"subsystems.{part}", named)] if isinstance(named, str) else []
    for kind, key, value in names:
        for name in _names(value):
            if name not in known[kind]:
                raise unknown_name(KINDS[kind], name, known[kind], f"{where}.{key}")


def _names(value: Any) -> Iterable[str]:
    """Return `hold`, or the key of `{hold: {options}}`; anything else is refused later."""
    if isinstance(value, str):
        return (value,)
    return [key for key in value if isinstance(key, str)] if isinstance(value, Mapping) else ()


def refuse_foreign_state(sim: Simulation, state: bytes, limits: ClientLimits) -> dict[str, Any]:
    """Refuse foreign names in a saved state (its entries, overrides and queued actions) and too many vehicles.

    Return the decoded state.
    """
    tree, known = unpack(state, MOST_VALUES), known_names(sim)
    try:
        if any("fmu" in fleet for fleet in tree["fleets"].values()):
            raise PaddockError("clients cannot restore a state of FMUs: its bytes reach native code")
        entries, queued = list[VehicleEntry](), list[Mapping[str, Any]]()
        for fleet in tree["fleets"].values():  # read as `restore` does, so that no spelling is overlooked
            fields, path = plain(json.loads(fleet["entry"]), ("vehicles", 0)), ("vehicles", 0)
            entry = validated(VehicleEntry, fields, Marks(), path)
            if foreign := _foreign(_names_in([(path, entry)]), known, lambda *path: dotted(path)):
                raise ScenarioError(foreign)
            entries.append(entry)
            for _, behaviour in fleet["overrides"]["behaviours"] if "overrides" in fleet else ():
                refuse_foreign_behaviour(json.loads(behaviour), known)
        for posted in tree["mailbox"]["queue"]:
            kind, action = posted["kind"], posted["action"]
            if kind == "spawn":
                refuse_foreign(sim, action["entry"])
                queued.append(action["entry"])
            elif kind == "order":
                refuse_foreign_behaviour(action["behaviour"], known)
            elif kind == "mission" and action["verb"] == "add_vehicle":
                refuse_foreign(sim, plain(action["arguments"]), "add_vehicle")
                queued.append(plain(action["arguments"]))
        refuse_state(sim, limits, tree, entries, queued)
    except ScenarioError as error:
        raise InvalidValueError(f"saved state: {error.problems[0]}") from None
    except PaddockError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        raise PaddockError("restore() takes what save() returned; this has other contents") from None
    return tree


def refuse_foreign_behaviour(behaviour: Any, known: Known) -> None:
    """Refuse a foreign name in an override."""
    for name in _names(behaviour):
        if name not in known["behaviour"]:
            raise unknown_name("behaviour", name, known["behaviour"], "override")


WHOSE = "that clients may use (serve.limits.memory)"


def refuse_counts(limits: ClientLimits, *entries: Mapping[str, Any]) -> None:
    """Refuse more vehicles than clients may add, whatever else is in the entries: they are not read yet."""
    present = 0
    for k, entry in enumerate(entries):
        count = entry.get("count", 1)
        present += max(0, count) if isinstance(count, int) else 0
        _refuse_vehicles(present, limits, partial(_location, k))


def refuse_spawn(sim: Simulation, limits: ClientLimits, entries: Sequence[Mapping[str, Any]]) -> list[VehicleEntry]:
    """Return the validated entries; refuse vehicles beyond the limits, before anything of them is allocated."""
    from paddock.engine.fleets import GIB, available_bytes, entry_bytes, refuse_more_than_fit, vehicle_bytes

    engine, declared = sim.engine, {fleet.entry.name: fleet.entry.count for fleet in declared_fleets(sim.scenario)}
    read = [engine.fleets.read(fields) for fields in entries]
    programs = list(engine.programs.values())
    added = {program: max(0, program.fleet.n - declared.get(program.fleet.name, 0)) for program in programs}
    location = partial(_location, 0)
    _refuse_many(sum(added.values()), [(entry, location) for entry in read], limits)
    new = sum("fleet" not in fields for fields in entries)
    _refuse_fleets(len(engine.world.fleets.keys() - declared) + new, limits, dotted(("vehicles", 0)))
    snapshot_bytes = sum(vehicle_bytes(program) * count for program, count in added.items() if count)
    needed = sum(entry_bytes(engine.world, sim.scenario, entry, location) for entry in read)
    vehicles = sum(added.values()) + sum(entry.count for entry in read)
    most = int(limits.memory * GIB)
    refuse_more_than_fit(snapshot_bytes + needed, vehicles, most, location("count"), WHOSE)
    available = available_bytes()
    if available is not None:
        refuse_more_than_fit(needed, vehicles, available, location("count"), "available on this machine")
    return read


def refuse_state(
    sim: Simulation,
    limits: ClientLimits,
    tree: Mapping[str, Any],
    entries: Sequence[VehicleEntry],
    queued: Sequence[Mapping[str, Any]],
) -> None:
    """Refuse a saved state with more vehicles than the scenario has and clients may add.

    `entries` are those of its fleets, `queued` the fields of those that are added later. Its tasks are counted, too.
    """
    from paddock.engine.fleets import GIB, entry_bytes, refuse_more_than_fit

    if "mission" in tree:
        plan, mail = tree["mission"]["execution"]["mission"], tree["mailbox"]["queue"]
        later_tasks = sum(posted["kind"] == "mission" and posted["action"]["verb"] == "add_task" for posted in mail)
        _refuse_tasks(sim, limits, len(plan["tasks"]) + len(plan["queue"]) + later_tasks)

    declared = {fleet.entry.name: fleet.entry.count for fleet in declared_fleets(sim.scenario)}
    present = sum(int(fleet["n"]) for fleet in tree["fleets"].values())
    later = list[VehicleEntry]()
    for fields in queued:
        later.append(_read_queued(fields, [*entries, *later]))
    saved = max(present, sum(entry.count for entry in entries)) + sum(entry.count for entry in later)
    if saved > sum(declared.values()) + limits.vehicles:
        raise PaddockError(
            f"the saved state has {saved:,} vehicles; clients may add {limits.vehicles:,} to the "
            f"{sum(declared.values()):,} of the scenario (serve.limits.vehicles)"
        )
    new = len({entry.name for entry in entries} - declared.keys()) + sum("fleet" not in fields for fields in queued)
    if new > len(sim.engine.world.fleets.keys() - declared):
        _refuse_fleets(new, limits, "restore")
    added = [entry for entry in entries if entry.count > declared.get(entry.name, 0)] + later
    location = partial(_location, 0)
    needed = sum(entry_bytes(sim.engine.world, sim.scenario, entry, location) for entry in added)
    refuse_more_than_fit(needed, saved, int(limits.memory * GIB), "restore", WHOSE)


def refuse_task(sim: Simulation, limits: ClientLimits) -> None:
    """Refuse one more task than clients may add to the mission; removed ones count, because the mission keeps them."""
    run = sim.engine.mission
    if run is not None:
        asked = sum(getattr(request, "task", None) is not None for request in run.mission.queue)
        _refuse_tasks(sim, limits, len(run.mission.tasks) + asked + 1)


def _refuse_tasks(sim: Simulation, limits: ClientLimits, tasks: int) -> None:
    """Refuse more tasks than those of the scenario and those that clients may add."""
    run = sim.engine.mission
    setup = None if run is None else run.mission.setup
    own = 0 if setup is None else len(setup.problem.tasks) + sum(event.task is not None for event in setup.events)
    if tasks > own + limits.tasks:
        raise PaddockError(
            f"{tasks:,} tasks exceed the {own:,} of the scenario and the {limits.tasks:,} that clients may add "
            "(serve.limits.tasks)"
        )


def _read_queued(fields: Mapping[str, Any], before: Sequence[VehicleEntry]) -> VehicleEntry:
    """Return the entry of a queued spawn, that of additional vehicles as one of their fleet."""
    from paddock.engine.fleets import read_entry

    if "fleet" not in fields:
        return read_entry(fields)
    fleet = next((entry for entry in before if entry.name == fields["fleet"]), None)
    if fleet is None:
        raise PaddockError(f"the saved state has queued vehicles for an unknown fleet {fields['fleet']!s:.40}")
    options = {name: value for name, value in fields.items() if name != "fleet"}
    return fleet.model_copy(update={"count": read_entry({"model": fleet.model, **options}).count})


def over_limits(scenario: Scenario, limits: ClientLimits) -> list[str]:
    """Return one line, with its location, if a client's scenario exceeds the limits; else nothing."""
    from paddock.engine.build import environment_values
    from paddock.engine.fleets import GIB, entry_bytes, refuse_more_than_fit
    from paddock.world.world import World

    entries = [(entry, partial(scenario.at, *path)) for path, entry in vehicle_entries(scenario)]
    try:
        _refuse_many(0, entries, limits)
        if len(entries) > limits.fleets:
            _refuse_fleets(len(entries), limits, entries[limits.fleets][1]())
        world = World(scenario.clock.rate, environment_values(scenario), scenario.seed)  # the scenery takes no part
        needed, largest = 0, max(entries, key=lambda located: located[0].count, default=None)
        for entry, location in entries:
            with suppress(PaddockError):  # reported by the builder
                needed += entry_bytes(world, scenario, entry, location)
        if largest is not None:
            vehicles, most = sum(entry.count for entry, _ in entries), int(limits.memory * GIB)
            refuse_more_than_fit(needed, vehicles, most, largest[1]("count"), WHOSE)
    except PaddockError as error:
        return [str(error)]
    return []


def _refuse_many(present: int, entries: Sequence[tuple[VehicleEntry, Any]], limits: ClientLimits) -> None:
    for entry, location in entries:
        present += entry.count
        _refuse_vehicles(present, limits, location)


def _refuse_vehicles(vehicles: int, limits: ClientLimits, location: Any) -> None:
    if vehicles > limits.vehicles:
        raise PaddockError(
            f"{location('count')}: {vehicles:,} vehicles exceed the {limits.vehicles:,} that clients may add "
            "(serve.limits.vehicles)"
        )


def _refuse_fleets(fleets: int, limits: ClientLimits, where: str) -> None:
    """Refuse more fleets than clients may add: each costs time in every tick and snapshot, however small it is."""
    if fleets > limits.fleets:
        raise PaddockError(
            f"{where}: {fleets:,} fleets exceed the {limits.fleets:,} that clients may add (serve.limits.fleets); "
            "one entry with count makes many vehicles"
        )


def _location(k: int, *path: str | int) -> str:
    return dotted(("vehicles", k, *path))
