"""The work of `paddock plan`: choose the mission, plan it, write files, print tables."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from paddock.cli.plan import PlanOptions
from paddock.cli.progress import COMPILING, bar, late_status
from paddock.errors import PaddockError
from paddock.planning.from_scenario import setup_of
from paddock.planning.metrics import foreseen
from paddock.planning.solver.methods import find_method, method_names
from paddock.planning.solver.problem import MissionSetup
from paddock.planning.solver.routes import Plan
from paddock.record.mission_report.document import compare, outcome_of, outcome_sentence, timed, warm_up
from paddock.record.mission_report.files import Findings, write_plan
from paddock.record.mission_report.text import clock, computing
from paddock.scenario import MethodChoice, Scenario, load_scenario


def mission_for(source: str | None, options: PlanOptions) -> Scenario:
    """Return the scenario with the changes that the options make."""
    if source is None:
        scenario = _generated(options)
    else:
        for flag, value in (("--uavs", options.uavs), ("--tasks", options.tasks)):
            if value is not None:
                raise PaddockError(f"{flag} applies to generated missions only; edit the scenario file instead")
        scenario = load_scenario(source)
        if options.seed is not None:
            scenario = scenario.model_copy(update={"seed": options.seed})
    if options.import_tasks is not None:
        scenario = _with_tasks(scenario, options.import_tasks)
    if scenario.mission is None:
        raise PaddockError(f"{source}: scenario {scenario.name!r} has no mission; add a `mission` section with tasks")
    changes: dict[str, Any] = {} if options.objective is None else {"objective": options.objective}
    if options.method is not None and options.method != scenario.mission.method.name:
        changes["method"] = MethodChoice(name=options.method)
    if options.seconds is not None:
        changes["method"] = _timed(changes.get("method", scenario.mission.method), options.seconds)
    mission = scenario.mission.model_copy(update=changes)
    return scenario.model_copy(update={"mission": mission}) if changes else scenario


def _timed(method: MethodChoice, seconds: float) -> MethodChoice:
    """Return the choice of a method with a time to search (s)."""
    clocked = find_method(method.name).clocked
    if not clocked:
        names = [name for name in method_names() if find_method(name).clocked]
        raise PaddockError(f"--time: method {method.name!r} cannot stop after a time; valid: {', '.join(names)}")
    return MethodChoice(name=method.name, options=dict(method.options) | {clocked: seconds})


def _repeatable(scenario: Scenario, plan: Plan) -> Scenario:
    """Return the scenario with the steps that a method took, instead of the time in which it took them."""
    assert scenario.mission is not None
    options, steps = dict(scenario.mission.method.options), plan.notes.get("steps")
    if steps is None or not options.pop(find_method(plan.method).clocked, None):
        return scenario
    method = MethodChoice(name=plan.method, options=options | {"steps": steps})
    return scenario.model_copy(update={"mission": scenario.mission.model_copy(update={"method": method})})


def write_generated(scenario: Scenario, file: str | None) -> None:
    """Write a generated mission as YAML to a file or to stdout."""
    if file is None:
        print(scenario.to_yaml(), end="")
        return
    if Path(file).suffix not in (".yaml", ".yml"):
        raise PaddockError(f"--generate writes a .yaml file, not {file!r}")
    try:
        with Path(file).open("x", encoding="utf-8") as target:
            target.write(scenario.to_yaml())
    except FileExistsError:
        raise PaddockError(f"{file} already exists; --generate does not overwrite") from None
    except OSError as error:
        raise PaddockError(f"cannot write {file}: {error.strerror or error}") from None
    assert scenario.mission is not None
    vehicles = sum(entry.count for entry in scenario.vehicles)
    tasks = len(scenario.mission.tasks)
    print(f"paddock: {file}: {vehicles} aircraft, {tasks} tasks; next: paddock plan {file}", file=sys.stderr)


def _generated(options: PlanOptions) -> Scenario:
    chosen = (options.seed, options.uavs, options.tasks, options.import_tasks)
    if not options.generate and all(value is None for value in chosen):
        raise PaddockError(
            "give a scenario file, a demo name, or --seed, --uavs or --tasks to generate a mission: "
            "e.g. paddock plan survey, or paddock plan --seed 3 --uavs 4 --tasks 20"
        )
    from paddock.planning.random_missions import generate

    default = 20 if options.import_tasks is None else 0
    tasks = default if options.tasks is None else options.tasks
    generated = generate(options.seed or 0, 4 if options.uavs is None else options.uavs, tasks)
    if options.import_tasks is None:
        return generated
    from paddock.planning.exchange import origin_in

    origin, name = origin_in(options.import_tasks), Path(options.import_tasks).stem
    return load_scenario(generated.to_dict() | {"name": name, "world": {"origin": list(origin)}})


def _with_tasks(scenario: Scenario, file: str) -> Scenario:
    """Add the tasks and zones of a file; print what could not be imported to stderr."""
    from paddock.planning.exchange import read_mission
    from paddock.world.geodesy import Origin

    imported = read_mission(file, Origin(*scenario.world.origin))
    notes, speed = list(imported.notes), imported.mission.get("speed")
    if speed is not None:
        notes.append(f"its speed of {speed:g} m/s is ignored; speeds come from the scenario")
    for note in notes:
        print(f"paddock: {file}: {note}", file=sys.stderr)
    values = scenario.to_dict()
    mission = values.setdefault("mission", {})
    for key in ("tasks", "zones"):
        mission[key] = [*mission.get(key, []), *imported.mission.get(key, [])]
    return load_scenario(values)


NEGOTIATED = "cbba"  # the method that vehicles of a mission over radio carry out themselves
WIDE = 160  # table width where stdout is not a terminal


class Output(NamedTuple):
    """The files written, and the planning time."""

    seconds: float  # planning time, with the division of fields
    folder: Path | None
    files: list[str]
    missing: str  # why there are no plots
    animation: str | None


def plan_mission(scenario: Scenario, options: PlanOptions) -> int:
    """Plan, write the files and print the result; return 1 if --strict and tasks are undone."""
    with late_status(COMPILING):
        from paddock.engine.build import build_problems

        problems = build_problems(scenario)
        setup, divided = timed(partial(setup_of, scenario))  # divides fields among vehicles
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            print(f"paddock: warning: `paddock run` would reject this scenario: {problems[0]}{more}", file=sys.stderr)
    findings, seconds = _planned(scenario, setup, options)
    if findings.setup.events:
        with bar("simulating the mission events"):
            findings = replace(findings, outcome=outcome_of(findings.setup, findings.plan))
    findings = _with_links(findings)
    folder, files, missing = None, list[str](), ""
    if not options.no_files:
        valid = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in scenario.name)
        folder = Path(options.output or f"{valid.strip('.') or 'scenario'}_plan")
        with bar(f"writing {folder}") as progress:
            files, missing = write_plan(findings, folder, progress)
    if options.animate is not None:
        from paddock.record.mission_report.animation import animate

        with bar(f"drawing {options.animate}") as progress:
            run = None if findings.outcome is None else findings.outcome.run
            animate(findings.plan, Path(options.animate), scenario.name, progress, run=run)
    output = Output(seconds + divided, folder, files, missing, options.animate)
    _print_json(findings, output) if options.json else _print_tables(findings, output)
    undone = findings.plan.undone if findings.outcome is None else findings.outcome.undone
    return 1 if options.strict and undone else 0


def _planned(scenario: Scenario, setup: MissionSetup, options: PlanOptions) -> tuple[Findings, float]:
    own = {setup.method: setup.options}
    names = options.tried if options.compares else [setup.method]
    with late_status(COMPILING):
        warm_up(setup.problem, names, own)
    what = f"comparing {len(names)} methods" if options.compares else f"planning with {setup.method}"
    with bar(what) as progress:
        trials = compare(setup.problem, names, own, progress)
    best = next((trial for trial in trials if trial.method == options.method), trials[0])
    if best.plan is None:
        raise PaddockError(best.problem)
    setup = replace(setup, method=best.method, options=dict(best.options))
    plan = best.plan
    if not options.compares and best.method == NEGOTIATED and setup.lost_link is not None:
        plan = _negotiated(scenario, plan)
    metrics, shown = foreseen(plan, apart=True), trials if options.compares else ()
    scenario = scenario if options.compares else _repeatable(scenario, plan)
    return Findings(scenario, setup, plan, metrics, shown, parquet=options.parquet), best.seconds


def _negotiated(scenario: Scenario, central: Plan) -> Plan:
    """Return the plan that vehicles negotiate over radio; the central one, and why, if they cannot."""
    from paddock.engine.mission.run import negotiated_plan

    try:
        with bar("negotiating over radio"):
            return negotiated_plan(scenario)
    except PaddockError as error:
        print(f"paddock: not negotiated over radio: {error}", file=sys.stderr)
        return central


def _with_links(findings: Findings) -> Findings:
    """Predict the contact with stations, where the scenario has radio; print why if it cannot."""
    if findings.scenario.radio is None:
        return findings
    from paddock.engine.radio.planned import planned_links

    try:
        with bar("predicting radio links") as progress:
            return replace(findings, links=planned_links(findings.scenario, findings.plan, progress))
    except PaddockError as error:
        print(f"paddock: {error}", file=sys.stderr)
        return findings


def _print_json(findings: Findings, output: Output) -> None:
    import json

    from paddock.record.mission_report.document import numbers

    values: dict[str, Any] = {"scenario": findings.scenario.name, **numbers(findings.plan, findings.metrics)}
    values |= {"compute_s": round(output.seconds, 6), **findings.numbers(timed=True)}
    values |= {"folder": None if output.folder is None else str(output.folder), "files": output.files}
    values |= {"animation": output.animation} | ({"missing": output.missing} if output.missing else {})
    print(json.dumps(values, indent=2, allow_nan=False))


def _print_tables(findings: Findings, output: Output) -> None:
    from rich.console import Console
    from rich.markup import escape

    from paddock.record.mission_report.document import comparison_table
    from paddock.record.mission_report.map_figure import contact_table
    from paddock.record.mission_report.text import closeness, fields_covered, summary, vehicle_table

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    result = summary(findings.metrics, findings.plan.problem.vehicles)
    console.print(f"[bold]{escape(findings.scenario.name)}[/]: {escape(result)}", soft_wrap=True)
    console.print()
    tables = [vehicle_table(findings.metrics)] if findings.metrics.vehicles else []
    tables += [] if findings.links is None else [contact_table(findings.links.contacts())]
    for table in [*tables, *([comparison_table(findings.trials)] if findings.trials else [])]:
        console.print(table)
        console.print()
    for trial in findings.trials:
        if note := trial.problem if trial.plan is None else trial.note:
            console.print(f"[dim]{escape(note)}[/]", soft_wrap=True)
    plan = findings.plan
    if "over radio" in plan.notes:
        console.print(f"over radio the vehicles {escape(plan.notes['over radio'])}", soft_wrap=True)
        console.print()
    if plan.undone:
        console.print(f"[bold yellow]not done ({len(plan.undone)})[/]")
        for undone in plan.undone:
            console.print(f"  [yellow]{escape(undone.task)}[/]: {escape(undone.reason)}", soft_wrap=True)
        console.print()
    if findings.outcome is not None:
        console.print(outcome_sentence(findings.outcome), soft_wrap=True)
        for time, what in findings.outcome.timeline:
            console.print(f"  [dim]{clock(time)}[/]  {escape(what)}", soft_wrap=True)
        for task, reason in findings.outcome.undone:
            console.print(f"  [yellow]{escape(task)}[/] not done: {escape(reason)}", soft_wrap=True)
        console.print()
    if shares := fields_covered(findings.metrics):
        console.print(escape(shares), soft_wrap=True)
    if near := closeness(findings.metrics, findings.setup):
        console.print(f"[dim]{escape(near)}[/]", soft_wrap=True)
    small = {"total": "minimum total distance", "makespan": "minimum makespan"}[plan.problem.objective]
    steps = f", {plan.notes['steps']:,} steps" if "steps" in plan.notes else ""
    how = f"method {plan.method}{steps}, {small}, seed {plan.problem.seed}; computed in {computing(output.seconds)}"
    console.print(f"[dim]{escape(how)}[/]", soft_wrap=True)
    if output.missing:
        console.print(f"[yellow]no plots:[/] {escape(output.missing)}", soft_wrap=True)
    if output.folder is not None and output.files:
        console.print(f"{escape(str(output.folder / output.files[0]))} and {len(output.files) - 1} more files")
    if output.animation is not None:
        console.print(escape(output.animation))
