"""The process that checks scenarios: `python -m paddock.serve.checking`, one JSON request and answer per line."""

from __future__ import annotations

import json
import signal
import sys

from paddock.engine.build import build_problems
from paddock.errors import PaddockError
from paddock.scenario import ScenarioError, ScenarioProblem, located
from paddock.scenario.loading import TEXT_SOURCE
from paddock.serve.checker import read
from paddock.serve.trust import Known, foreign_names, installed_names

MOST_PROBLEMS = 100
LONGEST_MESSAGE = 500


def problems_of(text: str, known: Known) -> list[ScenarioProblem]:
    """Return what the loader or else the builder finds wrong with a scenario, sorted by line.

    Models, behaviours and sensors that are not `known` are refused before they are imported.
    """
    try:
        scenario = read(text)
        found = foreign_names(scenario, known) or build_problems(scenario)
    except ScenarioError as error:
        found = error.problems
    except PaddockError as error:
        found = [str(error)]
    lines = text.splitlines() or [""]
    places = sorted(located(line, TEXT_SOURCE) for line in found)[:MOST_PROBLEMS]
    fitting = [  # a position after the end of the text is moved to its end
        place if place.line <= len(lines) else place._replace(line=len(lines), column=len(lines[-1]) + 1)
        for place in places
    ]
    return [place._replace(message=place.message[:LONGEST_MESSAGE]) for place in fitting]


def main() -> None:
    """Answer requests until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr  # an imported model may print
    for line in sys.stdin:
        request = json.loads(line)
        found = problems_of(request["text"], request["known"] or installed_names())
        print(json.dumps({"problems": [problem._asdict() for problem in found]}), file=answers, flush=True)


if __name__ == "__main__":
    main()
