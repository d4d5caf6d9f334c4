"""Which mission `paddock plan` plans: a scenario's, one that is drawn, or what a file of another program says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from paddock.cli.plan_options import PlanOptions
from paddock.errors import PaddockError
from paddock.scenario import Scenario, load_scenario


def mission_for(source: str | None, options: PlanOptions) -> Scenario:
    """The scenario with everything that the options change in it."""
    if source is None:
        scenario = _drawn(options)
    else:
        for flag, value in (("--uavs", options.uavs), ("--tasks", options.tasks)):
            if value is not None:
                raise PaddockError(f"{flag} goes with a mission that is drawn; a scenario file says it itself")
        scenario = _seeded(load_scenario(source), options.seed)
    if options.import_tasks is not None:
        scenario = _with_tasks(scenario, options.import_tasks)
    if scenario.mission is None:
        raise PaddockError(f"{source}: scenario {scenario.name!r} has no mission: add a section `mission` with tasks")
    return _chosen(scenario, options)


def write_generated(scenario: Scenario, file: str | None) -> None:
    """The YAML of a drawn mission, to a file or to stdout."""
    if file is None:
        print(scenario.to_yaml(), end="")
        return
    if Path(file).suffix not in (".yaml", ".yml"):
        raise PaddockError(f"--generate writes a scenario: to a .yaml file, not {file!r}")
    try:
        with Path(file).open("x", encoding="utf-8") as target:
            target.write(scenario.to_yaml())
    except FileExistsError:
        raise PaddockError(f"{file} exists already: --generate writes a new file") from None
    except OSError as error:
        raise PaddockError(f"cannot write {file}: {error.strerror or error}") from None
    assert scenario.mission is not None
    vehicles = sum(entry.count for entry in scenario.vehicles)
    told = f"{file}: {vehicles} aircraft, {len(scenario.mission.tasks)} tasks; plan it with: paddock plan {file}"
    print(f"paddock: {told}", file=sys.stderr)


def _drawn(options: PlanOptions) -> Scenario:
    given = (options.seed, options.uavs, options.tasks, options.import_tasks)
    if not options.generate and all(value is None for value in given):
        raise PaddockError(
            "give a scenario file, a demo's name, or --seed, --uavs or --tasks to draw a mission: "
            "e.g. paddock plan survey, or paddock plan --seed 3 --uavs 4 --tasks 20"
        )
    from paddock.planning.generating import generate

    usual = 20 if options.import_tasks is None else 0
    tasks = usual if options.tasks is None else options.tasks
    drawn = generate(options.seed or 0, 4 if options.uavs is None else options.uavs, tasks)
    if options.import_tasks is None:
        return drawn
    from paddock.planning.exchange import origin_in

    where = origin_in(options.import_tasks)
    name = Path(options.import_tasks).stem
    return load_scenario(drawn.to_dict() | {"name": name, "world": {"origin": list(where)}})


def _seeded(scenario: Scenario, seed: int | None) -> Scenario:
    return scenario if seed is None else scenario.model_copy(update={"seed": seed})


def _chosen(scenario: Scenario, options: PlanOptions) -> Scenario:
    """With the method and the objective that were asked for."""
    from paddock.scenario import MethodChoice

    mission, changes = scenario.mission, dict[str, Any]()
    assert mission is not None
    if options.objective is not None:
        changes["objective"] = options.objective
    if options.method is not None and options.method != mission.method.name:
        changes["method"] = MethodChoice(name=options.method)
    return scenario.model_copy(update={"mission": mission.model_copy(update=changes)}) if changes else scenario


def _with_tasks(scenario: Scenario, file: str) -> Scenario:
    """With the tasks and zones of a file; what could not be taken over is told on stderr."""
    from paddock.planning.exchange import read_mission
    from paddock.world.geodesy import Origin

    found = read_mission(file, Origin(*scenario.world.origin))
    notes, speed = list(found.notes), found.mission.get("speed")
    if speed is not None:
        notes.append(f"its speed of {speed:g} m/s is not taken over: the scenario says how fast vehicles are")
    for note in notes:
        print(f"paddock: {file}: {note}", file=sys.stderr)
    values = scenario.to_dict()
    mission = values.setdefault("mission", {})
    for key in ("tasks", "zones"):
        mission[key] = [*mission.get(key, []), *found.mission.get(key, [])]
    return load_scenario(values)
