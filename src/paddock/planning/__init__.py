"""Mission planning: paths, coverage, no-fly zones, assignment of tasks to vehicles, and running missions.

from paddock.planning import dubins, plan

path = dubins((0, 0, 0), (400, 400, 1.57), radius=80)
answer = plan("survey", method="routing")

- `geometry/`: paths, no-fly zones and ways around them, shapes of tasks; it knows no vehicles.
- `solver/`: `problem.py`, `costs.py` (estimates), `methods/` (order of tasks), `planner.py` and `routes.py` (routes
  along feasible paths), `layers.py` (heights in which routes do not meet).
- `mission/`: plans in execution, with events and replanning.
- `from_scenario.py` makes a problem from a scenario.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddock.errors import lazy_names

if TYPE_CHECKING:
    from paddock.planning.from_scenario import plan, simulate
    from paddock.planning.geometry.dubins import climbing, dubins, dubins_lengths
    from paddock.planning.geometry.path import Path, Segment, arc, line
    from paddock.planning.geometry.reeds_shepp import reeds_shepp, reeds_shepp_lengths
    from paddock.planning.geometry.shapes import InfeasibleError
    from paddock.planning.geometry.wind import dubins_in_wind
    from paddock.planning.mission.kinematic import KinematicRun
    from paddock.planning.mission.mission import Mission
    from paddock.planning.random_missions import generate
    from paddock.planning.solver.assignment import Assignment, assign
    from paddock.planning.solver.planner import solve
    from paddock.planning.solver.problem import Problem, Task, Vehicle
    from paddock.planning.solver.routes import Leg, Plan, Route, Undone

NAMES = {
    "from_scenario": "plan simulate",
    "geometry.dubins": "climbing dubins dubins_lengths",
    "geometry.path": "Path Segment arc line",
    "geometry.reeds_shepp": "reeds_shepp reeds_shepp_lengths",
    "geometry.shapes": "InfeasibleError",
    "geometry.wind": "dubins_in_wind",
    "mission.kinematic": "KinematicRun",
    "mission.mission": "Mission",
    "random_missions": "generate",
    "solver.assignment": "Assignment assign",
    "solver.planner": "solve",
    "solver.problem": "Problem Task Vehicle",
    "solver.routes": "Leg Plan Route Undone",
}
__all__ = [
    "Assignment", "InfeasibleError", "KinematicRun", "Leg", "Mission", "Path", "Plan", "Problem", "Route", "Segment",
    "Task", "Undone", "Vehicle", "arc", "assign", "climbing", "dubins", "dubins_in_wind", "dubins_lengths", "generate",
    "line", "plan", "reeds_shepp", "reeds_shepp_lengths", "simulate", "solve",
]  # fmt: skip
__getattr__ = lazy_names(__name__, {name: home for home, names in NAMES.items() for name in names.split()})
