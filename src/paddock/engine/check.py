"""What would keep a scenario from being built, found at little cost: no kernel is compiled, few vehicles placed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from paddock.engine.build import admit, build_program, environment_values
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.scenario import Scenario, VehicleEntry
from paddock.world.world import World

MOST_PLACED = 1000
"""Vehicles of a fleet that are placed for the check."""

Place = Callable[..., str]


def build_problems(scenario: Scenario) -> list[str]:
    """One line for the world and for each entry that cannot be built, beginning with its place."""
    try:
        world = World(scenario.clock.rate, environment_values(scenario), scenario.seed)
    except PaddockError as error:
        return [str(error)]
    problems, built = mission_problems(scenario, world), []
    declared = sorted(enumerate(scenario.vehicles), key=lambda one: (one[1].id is None, one[1].name))  # as a run does
    for k, entry in declared:
        place = partial(scenario.at, "vehicles", k)
        try:
            built.append((_built(world, scenario, entry, place), entry, place))
        except PaddockError as error:
            problems.append(str(error))
    whole = {entry.name for program, entry, _ in built if program.fleet.n == entry.count}
    partly = {entry.name for entry in scenario.vehicles} - whole
    return [*problems, *(told for one in built if (told := _lost_target(world, *one, partly)))]


def mission_problems(scenario: Scenario, world: World) -> list[str]:
    """What is wrong with the mission, if there is one."""
    if scenario.mission is None:
        return []
    from paddock.engine.mission.run import check_members  # planning is not needed where there is no mission
    from paddock.planning.from_scenario import setup_of

    try:
        check_members(scenario, world)
        setup_of(scenario)
    except PaddockError as error:
        return [str(error)]
    return []


def _built(world: World, scenario: Scenario, entry: VehicleEntry, place: Place) -> FleetProgram:
    """The program of an entry, in the world, with no more vehicles than it takes."""
    if entry.count > MOST_PLACED and entry.spawn is not None and entry.spawn.poses is None:
        entry = entry.model_copy(update={"count": MOST_PLACED})
    program = build_program(world, scenario, entry, place)
    admit(world, program, entry, place)
    world.add_fleet(program.fleet)
    return program


def _lost_target(
    world: World, program: FleetProgram, entry: VehicleEntry, place: Place, partly: set[str]
) -> str | None:
    """What is wrong with the target of a behaviour; nothing if it is of a fleet that was not placed as a whole."""
    target = None if program.conduct is None else program.conduct.target
    if program.conduct is None or target is None or target.partition("[")[0] in partly:
        return None
    try:
        world.find(target)
    except PaddockError as error:
        return f"{place(entry.controller_key, program.conduct.rule.name, 'target')}: {error}"
    return None
