"""Invalid problems and unknown names: one-line errors."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import Problem, Task, Vehicle

HOME = (0.0, 0.0, 0.0, 0.0)
DRONE = Vehicle("drone", HOME, HOME, 10.0, 0.0, moves="hover")
TASK = Task("p", PointShape(100.0, 0.0))


@pytest.mark.parametrize("field", ["pose", "home"])
@pytest.mark.parametrize("wrong", [nan, inf])
def test_places_are_finite(field: str, wrong: float) -> None:
    wrongly: dict[str, Any] = {field: (0.0, wrong, 0.0, 0.0)}
    with pytest.raises(InvalidValueError, match=f"vehicle 'drone': its {field} must be finite"):
        Problem((replace(DRONE, **wrongly),), (TASK,))


def test_duplicate_names_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="two vehicles are called 'drone'"):
        Problem((DRONE, DRONE), (TASK,))
    with pytest.raises(InvalidValueError, match="two tasks are called 'p'"):
        Problem((DRONE,), (TASK, TASK))


@pytest.mark.parametrize(("method", "options"), [(5, {}), ([], {}), ("annealing", 5), ("annealing", "steps")])
def test_methods_and_options_of_the_wrong_kind(method: Any, options: Any) -> None:
    with pytest.raises(PaddockError, match="method"):
        solve(Problem((DRONE,), (TASK,)), method, options)


def test_the_route_of_an_unknown_vehicle() -> None:
    plan = solve(Problem((DRONE,), (TASK,)), "greedy")
    with pytest.raises(UnknownNameError, match="unknown vehicle 'drome'; did you mean 'drone'"):
        plan.route("drome")
