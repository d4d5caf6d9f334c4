"""A scenario's text -> everything that is wrong with it."""

from __future__ import annotations

from paddock.engine.build import build_problems
from paddock.errors import PaddockError
from paddock.scenario import Problem, ScenarioError, located
from paddock.scenario.source import TEXT_SOURCE
from paddock.serve.checking.reading import read
from paddock.serve.live.trust import Known, foreign_names

MOST_PROBLEMS = 100
LONGEST_MESSAGE = 500


def problems_of(text: str, known: Known) -> list[Problem]:
    """What the loader finds, or else what building it would find, by line; none if it can be started.

    Models, behaviours and sensors that are not `known` are refused before anything of them is imported.
    """
    try:
        scenario = read(text)
        found = foreign_names(scenario, known) or build_problems(scenario)
    except ScenarioError as error:
        found = error.problems
    except PaddockError as error:
        found = [str(error)]
    return [_fitting(problem, text) for problem in sorted(located(line, TEXT_SOURCE) for line in found)[:MOST_PROBLEMS]]


def _fitting(problem: Problem, text: str) -> Problem:
    """The problem, with a message that is not too long, and in the text: YAML misses things after its end."""
    lines = text.splitlines() or [""]
    problem = problem._replace(message=problem.message[:LONGEST_MESSAGE])
    return problem if problem.line <= len(lines) else problem._replace(line=len(lines), column=len(lines[-1]) + 1)
