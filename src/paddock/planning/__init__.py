"""Mission planning: paths, coverage, no-fly zones, assignment of tasks to vehicles, and running missions.

from paddock.planning import dubins, plan

path = dubins((0, 0, 0), (400, 400, 1.57), radius=80)
answer = plan("survey", method="routing")

Data flow of a task: `from_scenario.py` (scenario to Problem), `costs.py` (estimates), `methods/` (order of tasks),
`planner.py` and `routes.py` (routes along feasible paths), `mission/` (execution, events, replanning).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddock.planning.assignment import Assignment, assign
    from paddock.planning.coverage.shapes import InfeasibleError
    from paddock.planning.from_scenario import plan, simulate
    from paddock.planning.mission.kinematic import KinematicRun
    from paddock.planning.mission.mission import Mission
    from paddock.planning.paths.dubins import climbing, dubins, dubins_lengths
    from paddock.planning.paths.path import Path, Segment, arc, line
    from paddock.planning.paths.reeds_shepp import reeds_shepp, reeds_shepp_lengths
    from paddock.planning.paths.wind import dubins_in_wind
    from paddock.planning.planner import solve
    from paddock.planning.problem import Problem, Task, Vehicle
    from paddock.planning.random_missions import generate
    from paddock.planning.routes import Leg, Plan, Route, Undone

NAMES = {
    "assignment": "Assignment assign",
    "coverage.shapes": "InfeasibleError",
    "from_scenario": "plan simulate",
    "mission.kinematic": "KinematicRun",
    "mission.mission": "Mission",
    "paths.dubins": "climbing dubins dubins_lengths",
    "paths.path": "Path Segment arc line",
    "paths.reeds_shepp": "reeds_shepp reeds_shepp_lengths",
    "paths.wind": "dubins_in_wind",
    "planner": "solve",
    "problem": "Problem Task Vehicle",
    "random_missions": "generate",
    "routes": "Leg Plan Route Undone",
}
HOMES = {name: home for home, names in NAMES.items() for name in names.split()}
__all__ = [
    "Assignment", "InfeasibleError", "KinematicRun", "Leg", "Mission", "Path", "Plan", "Problem", "Route", "Segment",
    "Task", "Undone", "Vehicle", "arc", "assign", "climbing", "dubins", "dubins_in_wind", "dubins_lengths", "generate",
    "line", "plan", "reeds_shepp", "reeds_shepp_lengths", "simulate", "solve",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    globals()[name] = found  # replaces the submodule of the same name, which the import has set
    return found
