"""Plans and kinematic runs straight from a scenario."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paddock.errors import unknown_name
from paddock.planning.method import Tell
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.mission import Mission
from paddock.planning.planner import solve
from paddock.planning.plans import Plan
from paddock.planning.problem import Objective
from paddock.planning.scenario_setup import setup_of
from paddock.planning.setup import MissionSetup
from paddock.scenario import Scenario, load_scenario

Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario
OBJECTIVES = ("total", "makespan")


def plan(
    scenario: Source,
    method: str | None = None,
    *,
    objective: Objective | None = None,
    options: Mapping[str, Any] | None = None,
    tell: Tell | None = None,
) -> Plan:
    """Who does what in a scenario's mission: a file, YAML text, a dict, a demo's name or a Scenario.

    Method, its options and the objective are the scenario's own unless they are given. `tell` hears how far it is.
    """
    setup = chosen(scenario, method, objective, options)
    return solve(setup.problem, setup.method, setup.options, tell)


def simulate(
    scenario: Source,
    method: str | None = None,
    *,
    objective: Objective | None = None,
    options: Mapping[str, Any] | None = None,
) -> KinematicRun:
    """Plan a scenario's mission and carry it out to the end, exactly along its paths, events included."""
    run = KinematicRun(Mission(chosen(scenario, method, objective, options)))
    run.finish()
    return run


def chosen(
    scenario: Source, method: str | None, objective: Objective | None, options: Mapping[str, Any] | None
) -> MissionSetup:
    """What a scenario's mission starts from, with another method or objective where that is given."""
    setup = setup_of(load_scenario(scenario))
    if objective is not None:
        if objective not in OBJECTIVES:
            raise unknown_name("objective", str(objective), OBJECTIVES)
        setup = replace(setup, problem=replace(setup.problem, objective=objective))
    if method is not None and method != setup.method:
        setup = replace(setup, method=method, options={})
    return setup if options is None else replace(setup, options=options)
