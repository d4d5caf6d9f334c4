"""From a scenario to what a mission starts from; mistakes are told with the place where they were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from paddock.errors import InvalidValueError, PaddockError
from paddock.planning.agents import PlacedError, agents_of
from paddock.planning.coverage.area import AreaShape
from paddock.planning.coverage.camera import Camera
from paddock.planning.coverage.circle import CircleShape
from paddock.planning.coverage.line import LineShape
from paddock.planning.coverage.point import PointShape
from paddock.planning.coverage.polygon import PolygonShape
from paddock.planning.coverage.shape import InfeasibleError, Shape
from paddock.planning.generating import drawn_tasks
from paddock.planning.method import find_method
from paddock.planning.obstacles.zone import CircleZone, PolygonZone, Zone
from paddock.planning.problem import Agent, Problem, Task
from paddock.planning.setup import Happening, MissionSetup
from paddock.scenario import Scenario
from paddock.scenario.mission import Mission
from paddock.scenario.tasks import NoFlyZone, PolygonTask
from paddock.scenario.tasks import Task as TaskSection

T = TypeVar("T")


def setup_of(scenario: Scenario) -> MissionSetup:
    """What the mission of a scenario starts from."""
    mission = scenario.mission
    if mission is None:
        raise InvalidValueError(f"scenario {scenario.name!r} has no mission: add a section `mission` with tasks")
    agents = _agents(scenario, mission)
    where = [scenario.at("mission", "tasks", k) for k in range(len(mission.tasks))]
    tasks = [_at(place, task_of, task, mission) for task, place in zip(mission.tasks, where, strict=True)]
    for task, place in zip(tasks, where, strict=True):
        _at(place, refuse_tight, task, agents)
    zones = [_at(scenario.at("mission", "zones", k), zone_of, zone) for k, zone in enumerate(mission.zones)]
    problem = _at(
        scenario.at("world", "wind"),
        Problem,
        tuple(agents),
        (*tasks, *_drawn(scenario, mission, agents)),
        tuple(zones),
        (scenario.world.wind[0], scenario.world.wind[1]),
        mission.objective,
        scenario.seed,
        mission.clearance,
    )
    place = scenario.at("mission", "method")
    _at(place, find_method, mission.method.name).read(mission.method.options, place)
    separation = mission.separation
    return MissionSetup(
        problem,
        mission.method.name,
        mission.method.options,
        mission.replan,
        0.0,
        mission.battery_reserve,
        None if separation is None else (separation.distance, separation.height),
        mission.execute,
        _happenings(scenario, mission, agents),
    )


def members_of(scenario: Scenario, mission: Mission) -> list[int]:
    """The places in `vehicles` of the entries that take part, in the order of their names, as the engine has them."""
    taking_part = {entry.name for entry in scenario.vehicles} if mission.members is None else set(mission.members)
    places = [k for k, entry in enumerate(scenario.vehicles) if entry.name in taking_part]
    return sorted(places, key=lambda k: scenario.vehicles[k].name)


def _agents(scenario: Scenario, mission: Mission) -> list[Agent]:
    found: list[Agent] = []
    for k in members_of(scenario, mission):
        found += _at(scenario.at("vehicles", k), agents_of, scenario, mission, scenario.vehicles[k])
    return found


def _drawn(scenario: Scenario, mission: Mission, agents: Sequence[Agent]) -> list[Task]:
    if mission.generate is None:
        return []
    widest = max((agent.radius for agent in agents), default=80.0)
    names = [task.name for task in mission.tasks]
    drawn = drawn_tasks(scenario.seed, mission.generate, widest, names, mission.base)
    return [task_of(task, mission) for task in drawn]


def _happenings(scenario: Scenario, mission: Mission, agents: Sequence[Agent]) -> tuple[Happening, ...]:
    found: list[Happening] = []
    for k, event in enumerate(mission.events):
        place = scenario.at("mission", "events", k)
        if event.task is not None:
            task = _at(place, task_of, event.task, mission)
            _at(place, refuse_tight, task, agents)
            found.append(Happening(event.at, task=task))
        elif event.zone is not None:
            found.append(Happening(event.at, zone=_at(place, zone_of, event.zone)))
        elif event.vehicle is not None:
            joining = _at(place, agents_of, scenario, mission, event.vehicle)
            _at(place, Problem, tuple(joining), (), (), scenario.world.wind[:2])  # the wind may be too strong for them
            found += [Happening(event.at, agent=agent) for agent in joining]
        else:
            assert event.damage is not None
            names = [agent.name for agent in agents if agent.name.partition("[")[0] == event.damage]
            found += [Happening(event.at, damage=name) for name in names or [event.damage]]
    return tuple(sorted(found, key=lambda happening: happening.at))


def task_of(section: TaskSection, mission: Mission) -> Task:
    """A task as the planner sees it."""
    opens, closes = section.window or (0.0, float("inf"))
    return Task(section.name, shape_of(section, mission), section.altitude, opens, closes)


def shape_of(section: TaskSection, mission: Mission) -> Shape:
    """The geometry of a task."""
    s: Any = section.shape
    if section.kind == "point":
        return PointShape(s.at[0], s.at[1], s.heading)
    if section.kind == "line":
        return LineShape(s.at[0], s.at[1], s.heading, s.length)
    if section.kind == "circle":
        return CircleShape(s.at[0], s.at[1], s.heading, s.radius, s.turn == "left")
    if section.kind == "area":
        return AreaShape(s.at[0], s.at[1], s.heading, s.length, s.spacing, s.passes, s.side == "left")
    height = mission.altitude if section.altitude is None else section.altitude
    return PolygonShape(s.outline, s.holes, _spacing(s, height), s.angle, s.margin)


def _spacing(section: PolygonTask, height: float) -> float:
    if section.camera is None:
        assert section.spacing is not None
        return section.spacing
    given = section.camera.model_dump()
    overlap = given.pop("side_overlap")
    return Camera(**given).spacing(height, overlap)


def zone_of(section: NoFlyZone) -> Zone:
    """A zone as the planner sees it."""
    if section.circle is not None:
        return CircleZone(section.name, *section.circle.at, section.circle.radius)
    assert section.polygon is not None
    return PolygonZone(section.name, section.polygon)


def refuse_tight(task: Task, agents: Sequence[Agent]) -> None:
    """A task that demands turns which no vehicle can fly is a mistake of whoever wrote it."""
    problems = []
    for radius in sorted({agent.radius for agent in agents}):
        try:
            task.shape.path(radius)
            return
        except InfeasibleError as error:
            problems.append(str(error))
    if problems:
        raise InvalidValueError(f"task {task.name!r}: {problems[0]}")


def _at(where: str, function: Callable[..., T], *arguments: Any) -> T:
    """Call; an error that does not know its place gets it."""
    try:
        return function(*arguments)
    except PlacedError:
        raise
    except PaddockError as error:
        text = str(error)
        raise (error if text.startswith(where) else type(error)(f"{where}: {text}")) from None
