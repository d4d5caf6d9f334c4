"""What clients may add to a run or load: numbers of vehicles, fleets and tasks, and the vehicles' estimated memory."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError
from paddock.scenario import Scenario, VehicleEntry
from paddock.scenario.problems import dotted
from paddock.scenario.serve import ClientLimits
from paddock.track.from_scenario import declared_fleets

if TYPE_CHECKING:
    from paddock.engine.simulation import Simulation


WHOSE = "that clients may use (serve.limits.memory)"


def refuse_counts(limits: ClientLimits, *entries: Mapping[str, Any]) -> None:
    """Refuse more vehicles than clients may add, whatever else is in the entries: they are not read yet."""
    present = 0
    for k, entry in enumerate(entries):
        count = entry.get("count", 1)
        present += max(0, count) if isinstance(count, int) else 0
        _refuse_vehicles(present, limits, partial(_place, k))


def refuse_spawn(sim: "Simulation", limits: ClientLimits, entries: Sequence[Mapping[str, Any]]) -> None:
    """Refuse vehicles beyond the limits, before anything of them is allocated; errors in entries are reported, too."""
    from paddock.engine.memory import GIB, available_bytes, entry_bytes, refuse_more_than_fit, vehicle_bytes

    engine, declared = sim.engine, {one.entry.name: one.entry.count for one in declared_fleets(sim.scenario)}
    read = [engine.fleets.read(fields) for fields in entries]
    programs = list(engine.programs.values())
    added = {program: max(0, program.fleet.n - declared.get(program.fleet.name, 0)) for program in programs}
    place = partial(_place, 0)
    _refuse_many(sum(added.values()), [(entry, place) for entry in read], limits)
    new = sum("fleet" not in fields for fields in entries)
    _refuse_fleets(len(engine.world.fleets.keys() - declared) + new, limits, dotted(("vehicles", 0)))
    kept = sum(vehicle_bytes(program) * count for program, count in added.items() if count)
    needed = sum(entry_bytes(engine.world, sim.scenario, entry, place) for entry in read)
    vehicles = sum(added.values()) + sum(entry.count for entry in read)
    most = int(limits.memory * GIB)
    refuse_more_than_fit(kept + needed, vehicles, most, place("count"), WHOSE)
    available = available_bytes()
    if available is not None:
        refuse_more_than_fit(needed, vehicles, available, place("count"), "available on this machine")


def refuse_state(
    sim: "Simulation",
    limits: ClientLimits,
    tree: Mapping[str, Any],
    entries: Sequence[VehicleEntry],
    queued: Sequence[Mapping[str, Any]],
) -> None:
    """Refuse a saved state with more vehicles than the scenario has and clients may add.

    `entries` are those of its fleets, `queued` the fields of those that are added later. Its tasks are counted, too.
    """
    from paddock.engine.memory import GIB, entry_bytes, refuse_more_than_fit

    if "mission" in tree:
        plan, mail = tree["mission"]["mission"], tree["mailbox"]["queue"]
        later_tasks = sum(one["kind"] == "mission" and one["action"]["verb"] == "add_task" for one in mail)
        _refuse_tasks(sim, limits, len(plan["jobs"]) + len(plan["queue"]) + later_tasks)

    declared = {one.entry.name: one.entry.count for one in declared_fleets(sim.scenario)}
    present = sum(int(fleet["n"]) for fleet in tree["world"]["fleets"].values())
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
    place = partial(_place, 0)
    needed = sum(entry_bytes(sim.engine.world, sim.scenario, entry, place) for entry in added)
    refuse_more_than_fit(needed, saved, int(limits.memory * GIB), "restore", WHOSE)


def refuse_task(sim: "Simulation", limits: ClientLimits) -> None:
    """Refuse one more task than clients may add to the mission; removed ones count, because the mission keeps them."""
    run = sim.engine.mission
    if run is not None:
        asked = sum(getattr(request, "task", None) is not None for request in run.mission.queue)
        _refuse_tasks(sim, limits, len(run.mission.tasks) + asked + 1)


def _refuse_tasks(sim: "Simulation", limits: ClientLimits, tasks: int) -> None:
    """Refuse more tasks than those of the scenario and those that clients may add."""
    run = sim.engine.mission
    setup = None if run is None else run.mission.setup
    own = 0 if setup is None else len(setup.problem.tasks) + sum(one.task is not None for one in setup.happenings)
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
    given = {name: value for name, value in fields.items() if name != "fleet"}
    return fleet.model_copy(update={"count": read_entry({"model": fleet.model, **given}).count})


def over_limits(scenario: Scenario, limits: ClientLimits) -> list[str]:
    """Return one line, with its place, if a client's scenario exceeds the limits; else nothing."""
    from paddock.engine.build import environment_values
    from paddock.engine.memory import GIB, entry_bytes, refuse_more_than_fit
    from paddock.serve.trust import vehicle_entries
    from paddock.world.world import World

    entries = [(entry, partial(scenario.at, *place)) for place, entry in vehicle_entries(scenario)]
    try:
        _refuse_many(0, entries, limits)
        if len(entries) > limits.fleets:
            _refuse_fleets(len(entries), limits, entries[limits.fleets][1]())
        world = World(scenario.clock.rate, environment_values(scenario), scenario.seed)  # the scenery takes no part
        needed, largest = 0, max(entries, key=lambda one: one[0].count, default=None)
        for entry, place in entries:
            with suppress(PaddockError):  # reported by the builder
                needed += entry_bytes(world, scenario, entry, place)
        if largest is not None:
            vehicles, most = sum(entry.count for entry, _ in entries), int(limits.memory * GIB)
            refuse_more_than_fit(needed, vehicles, most, largest[1]("count"), WHOSE)
    except PaddockError as error:
        return [str(error)]
    return []


def _refuse_many(present: int, entries: Sequence[tuple[VehicleEntry, Any]], limits: ClientLimits) -> None:
    for entry, place in entries:
        present += entry.count
        _refuse_vehicles(present, limits, place)


def _refuse_vehicles(vehicles: int, limits: ClientLimits, place: Any) -> None:
    if vehicles > limits.vehicles:
        raise PaddockError(
            f"{place('count')}: {vehicles:,} vehicles exceed the {limits.vehicles:,} that clients may add "
            "(serve.limits.vehicles)"
        )


def _refuse_fleets(fleets: int, limits: ClientLimits, where: str) -> None:
    """Refuse more fleets than clients may add: each costs time in every tick and snapshot, however small it is."""
    if fleets > limits.fleets:
        raise PaddockError(
            f"{where}: {fleets:,} fleets exceed the {limits.fleets:,} that clients may add (serve.limits.fleets); "
            "one entry with count makes many vehicles"
        )


def _place(k: int, *path: str | int) -> str:
    return dotted(("vehicles", k, *path))
