"""From a scenario to a planning problem, `plan` and `simulate`; errors name the location in the scenario.

Obstacles of the world become no-fly zones, and routes keep their height above its ground.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeVar, get_args

import numpy as np

from paddock.behaviour.paths import course_cones
from paddock.compute import arrays
from paddock.compute.math import tan
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.planning.geometry.polygon import FieldShape, PolygonShape
from paddock.planning.geometry.shapes import AreaShape, CircleShape, LineShape, PointShape, TaskShape, TightTurnError
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.mission import Mission
from paddock.planning.random_missions import drawn_tasks
from paddock.planning.solver.methods import Progress, find_method
from paddock.planning.solver.planner import solve, split_fields
from paddock.planning.solver.problem import (
    LostLink,
    MissionSetup,
    Moves,
    Objective,
    Problem,
    ScheduledEvent,
    Separation,
    Task,
    Vehicle,
)
from paddock.planning.solver.routes import Plan, Route
from paddock.scenario import Scenario, VehicleEntry, load_preset, load_scenario, spawn_poses
from paddock.scenario.mission import MissionSection
from paddock.scenario.tasks import NoFlyZone, TaskEntry, numbered
from paddock.track.loading import track_of, world_with_track
from paddock.vehicles.model import find_model
from paddock.world.columns import Floats, column_index, defaults_of
from paddock.world.fleet import draw_uniforms, stream_ids
from paddock.world.scenery import ground_heights, scenery_of
from paddock.world.solids import BASE, BOX, ENTRY, HIGH, LOW, SHAPE, Obstacles, X, Y
from paddock.world.wind import air_of

SPAWN_PURPOSE = 1  # as in the engine: both draw the same positions
MARGIN = 1.25  # factor on the tightest turn radius for planned turns, as a reserve for corrections
LATERAL = 2.5  # m/s2: lateral acceleration of vehicles that hover, drive fast, or are points
SHARE = 0.6  # share of the top speed, for vehicles without a cruise speed


class PlacedError(InvalidValueError):
    """An error whose message already contains its location."""


@dataclass(frozen=True)
class Ability:
    """Abilities of a model with its parameters."""

    moves: Moves
    speed: float  # m/s, cruise
    fastest: float  # m/s
    tightest: float  # m, at that cruise speed
    slope: float
    reverse: bool = False


def ability(model: str, kind: str, p: Mapping[str, float], speed: float | None = None) -> Ability:
    """Return the abilities of vehicles of a kind at a speed (m/s), or at their preferred one."""
    if kind == "aircraft":
        cruise = speed or p["speed"]
        return Ability("aircraft", cruise, p["speed_max"], p["turn_radius"], p["climb_max"] / cruise)
    if kind == "rover":
        cruise = speed or SHARE * p["speed_max"]
        return Ability("ground", cruise, p["speed_max"], cruise / p["turn_rate_max"], inf, reverse=True)
    if kind == "car":
        cruise = speed or 8.0
        geometric = (p["cg_to_front"] + p["cg_to_rear"]) / tan(p["steer_max"])
        return Ability("ground", cruise, 80.0, max(geometric, cruise**2 / LATERAL), inf, reverse=True)
    if kind in ("quad", "agent"):
        cruise = speed or SHARE * p["speed_max"]
        climb = p.get("climb_max", p["speed_max"])
        return Ability("hover", cruise, p["speed_max"], cruise**2 / (LATERAL * MARGIN), climb / cruise)
    raise InvalidValueError(f"vehicles of model {model!r} cannot take part in missions: nothing is known of their kind")


def vehicles_of(scenario: Scenario, mission: MissionSection, entry: VehicleEntry) -> list[Vehicle]:
    """Return the vehicles of a `vehicles` entry, in its order."""
    if entry.fmu is not None:
        raise InvalidValueError(f"{entry.name!r} cannot take part in missions: nothing is known of the FMU's abilities")
    model = find_model(entry.model)
    defaults = dict(zip(column_index(model.parameters), defaults_of(model.parameters).tolist(), strict=True))
    parameters = defaults | load_preset(entry.model, entry.preset) | entry.parameters
    can = ability(entry.model, model.kind, parameters, mission.speed)
    if can.speed > can.fastest * (1.0 + 1e-9):
        raise PlacedError(
            f"{scenario.at('mission', 'speed')}: {entry.name!r} is at most {can.fastest:g} m/s fast, not {can.speed:g}"
        )
    radius = MARGIN * can.tightest if mission.turn_radius is None else mission.turn_radius
    if can.moves == "aircraft" and radius < can.tightest * (1.0 - 1e-9):
        raise PlacedError(
            f"{scenario.at('mission', 'turn_radius')}: {entry.name!r} cannot turn more tightly than "
            f"{can.tightest:g} m, not {radius:g} m"
        )
    range_ = inf if mission.range is None else mission.range - mission.reserve
    heights = ground_heights(world_with_track(scenario))
    x, y, heading = mission.base[0], mission.base[1], mission.base[-1]
    ground = float(heights(np.array([x]), np.array([y]))[0])
    height = ground if can.moves == "ground" else mission.altitude
    home = (x, y, mission.base[2] if len(mission.base) == 4 else height, heading)
    names = [entry.name] if entry.count == 1 else [f"{entry.name}[{k}]" for k in range(entry.count)]
    streams = stream_ids(entry.name, np.arange(entry.count))
    poses = spawn_poses(
        entry,
        lambda _, n: draw_uniforms(scenario.seed, streams, SPAWN_PURPOSE, n),
        heights,
        arrays,
        track_of(scenario.track),
        course_cones,
    ).tolist()
    return [
        Vehicle(
            name=name,
            pose=(x, y, z, yaw),
            home=home,
            speed=can.speed,
            radius=radius,
            range=range_,
            slope=can.slope,
            moves=can.moves,
            reverse=can.reverse,
            height=height,
            tightest=min(can.tightest, radius),
            aloft=can.moves == "aircraft" and mission.execute == "dynamics",
        )
        for name, (x, y, z, yaw) in zip(names, poses, strict=True)
    ]


T = TypeVar("T")


def setup_of(scenario: Scenario, divide: bool = True) -> MissionSetup:
    """Return the setup of a scenario's mission; fields beyond every vehicle's range stay whole unless `divide`."""
    mission = scenario.mission
    if mission is None:
        raise InvalidValueError(f"scenario {scenario.name!r} has no mission: add a section `mission` with tasks")
    vehicles: list[Vehicle] = []
    for k in participants(scenario, mission):
        vehicles += _at(scenario.at("vehicles", k), vehicles_of, scenario, mission, scenario.vehicles[k])
    locations = [scenario.at("mission", "tasks", k) for k in range(len(mission.tasks))]
    tasks = [_at(location, task_of, task, mission) for task, location in zip(mission.tasks, locations, strict=True)]
    for task, location in zip(tasks, locations, strict=True):
        _at(location, refuse_tight, task, vehicles)
    zones = [_at(scenario.at("mission", "zones", k), zone_of, zone) for k, zone in enumerate(mission.zones)]
    scenery = scenery_of(world_with_track(scenario))
    if mission.obstacle_margin is not None and scenery is not None:
        margin, names = mission.obstacle_margin, [zone.name for zone in zones]
        zones += _at(scenario.at("world", "obstacles"), zones_of_obstacles, scenery.obstacles, margin, names)
    separation = mission.separation
    problem = _at(
        scenario.at("world", "wind"),
        Problem,
        tuple(vehicles),
        (*tasks, *(task_of(task, mission) for task in generated_tasks(scenario, vehicles))),
        tuple(zones),
        planned_wind(scenario, tasks),
        mission.objective,
        scenario.seed,
        mission.clearance,
        None
        if separation is None or separation.layers != "planned"
        else Separation(separation.distance, separation.height, mission.execute == "dynamics"),
    )
    problem = split_fields(problem) if divide else problem
    location, via = scenario.at("mission", "method"), mission.via
    _at(location, find_method, mission.method.name).read(mission.method.options, location)
    return MissionSetup(
        problem,
        mission.method.name,
        mission.method.options,
        mission.replan,
        mission.battery_reserve,
        None if separation is None else (separation.distance, separation.height),
        mission.execute,
        _events(scenario, mission, problem, divide),
        None if via is None else LostLink(via.lost_after, via.lost_link, via.timeout, via.replan_every),
    )


def planned_wind(scenario: Scenario, tasks: Sequence[Task]) -> tuple[float, float]:
    """Return the wind that the planner assumes, m/s east and north: that at the mean height of the tasks."""
    air, wind = air_of(scenario.world), scenario.world.wind
    mission = scenario.mission
    if air is None or mission is None:
        return wind[0], wind[1]
    places: list[Sequence[float]] = [task.entry[:2] for task in tasks] or [mission.base[:2]]
    x, y = np.array(places, np.float64).T
    heights = [mission.altitude if task.z is None else task.z for task in tasks] or [mission.altitude]
    above = heights - ground_heights(world_with_track(scenario))(x, y)
    east, north, _ = air.mean(wind, float(above.mean()))
    return float(east), float(north)


def participants(scenario: Scenario, mission: MissionSection) -> list[int]:
    """Return the indices in `vehicles` of the entries that take part, sorted by name as in the engine."""
    taking_part = {entry.name for entry in scenario.vehicles} if mission.members is None else set(mission.members)
    indices = [k for k, entry in enumerate(scenario.vehicles) if entry.name in taking_part]
    return sorted(indices, key=lambda k: scenario.vehicles[k].name)


def generated_tasks(scenario: Scenario, vehicles: Sequence[Vehicle]) -> tuple[TaskEntry, ...]:
    """Return the tasks that the `generate` section of a mission draws for these vehicles."""
    mission = scenario.mission
    if mission is None or mission.generate is None:
        return ()
    widest = max((vehicle.radius for vehicle in vehicles), default=80.0)
    return drawn_tasks(scenario.seed, mission.generate, widest, [task.name for task in mission.tasks], mission.base)


def _events(scenario: Scenario, mission: MissionSection, problem: Problem, divide: bool) -> tuple[ScheduledEvent, ...]:
    events: list[ScheduledEvent] = []
    for k, event in enumerate(mission.events):
        location = scenario.at("mission", "events", k)
        if event.task is not None:
            task = _at(location, task_of, event.task, mission)
            _at(location, refuse_tight, task, problem.vehicles)
            parts = split_fields(replace(problem, tasks=(task,))).tasks if divide else (task,)
            events += [ScheduledEvent(event.at, task=part) for part in parts]
        elif event.zone is not None:
            events.append(ScheduledEvent(event.at, zone=_at(location, zone_of, event.zone)))
        elif event.remove_zone is not None:
            closed = [zone.name for zone in problem.zones] + [
                other.zone.name for other in mission.events if other.zone is not None and other.at <= event.at
            ]
            if event.remove_zone not in closed:
                raise PlacedError(f"{location}: {unknown_name('zone', event.remove_zone, closed)}")
            events.append(ScheduledEvent(event.at, remove_zone=event.remove_zone))
        elif event.vehicle is not None:
            joining = _at(location, vehicles_of, scenario, mission, event.vehicle)
            _at(location, Problem, tuple(joining), (), (), problem.wind)  # the wind may be too strong
            events += [ScheduledEvent(event.at, vehicle=vehicle) for vehicle in joining]
        else:
            assert event.damage is not None
            names = [vehicle.name for vehicle in problem.vehicles if vehicle.name.partition("[")[0] == event.damage]
            events += [ScheduledEvent(event.at, damage=name) for name in names or [event.damage]]
    return tuple(sorted(events, key=lambda event: event.at))


def task_of(section: TaskEntry, mission: MissionSection) -> Task:
    """Return a task as the planner sees it."""
    opens, closes = section.window or (0.0, float("inf"))
    return Task(section.name, shape_of(section, mission), section.altitude, opens, closes)


def shape_of(section: TaskEntry, mission: MissionSection) -> TaskShape:
    """Return the geometry of a task."""
    s: Any = section.shape
    if section.kind == "point":
        return PointShape(s.at[0], s.at[1], s.heading)
    if section.kind == "line":
        return LineShape(s.at[0], s.at[1], s.heading, s.length)
    if section.kind == "circle":
        return CircleShape(s.at[0], s.at[1], s.heading, s.radius, s.turn == "left")
    if section.kind == "area":
        return AreaShape(s.at[0], s.at[1], s.heading, s.length, s.spacing, s.passes, s.side == "left")
    spacing, camera = s.spacing, s.camera
    if camera is not None:  # from its footprint and its side overlap
        height = mission.altitude if section.altitude is None else section.altitude
        spacing = camera.sensor_width_mm / camera.focal_length_mm * height * (1.0 - camera.side_overlap)
    return PolygonShape(s.outline, s.holes, spacing, s.angle, s.margin, turns=s.turns)


def zone_of(section: NoFlyZone) -> Zone:
    """Return a zone as the planner sees it."""
    floor = -inf if section.floor is None else section.floor
    ceiling = inf if section.ceiling is None else section.ceiling
    if section.circle is not None:
        return CircleZone(section.name, *section.circle.at, section.circle.radius, floor, ceiling)
    assert section.polygon is not None
    return PolygonZone(section.name, section.polygon, floor, ceiling)


def refuse_tight(task: Task, vehicles: Sequence[Vehicle]) -> None:
    """Raise if a task demands turns that no vehicle can fly; rows of fields are flown in another order instead."""
    if not isinstance(task.shape, FieldShape) and vehicles:
        agilest = min(vehicles, key=lambda vehicle: vehicle.radius)
        try:
            task.shape.path(agilest.radius)
        except TightTurnError as error:
            raise InvalidValueError(
                f"task {task.name!r}: {TightTurnError(error.circle, agilest.radius, agilest.name)}"
            ) from None


def _at(where: str, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function; add the location to an error that has none."""
    try:
        return function(*arguments)
    except PlacedError:
        raise
    except PaddockError as error:
        text = str(error)
        raise (error if text.startswith(where) else type(error)(f"{where}: {text}")) from None


Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario


def plan(
    scenario: Source,
    method: str | None = None,
    *,
    objective: Objective | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Plan the mission of a scenario, given as a file, YAML text, a dict, a demo's name or a Scenario.

    Method, options and objective are the scenario's unless they are given. `progress` is called with the
    share done.
    """
    scenario = load_scenario(scenario)
    setup = chosen(scenario, method, objective, options)
    result = solve(setup.problem, setup.method, setup.options, progress)
    check_heights(scenario, result.routes, setup.problem.vehicles)
    return result


def check_heights(scenario: Scenario, routes: Sequence[Route], vehicles: Sequence[Vehicle]) -> None:
    """Raise if routes come nearer to the ground than the scenario's mission allows."""
    if scenario.mission is not None and scenario.mission.ground_clearance is not None:
        location, heights = scenario.at("mission", "ground_clearance"), ground_heights(world_with_track(scenario))
        _at(location, refuse_low, routes, vehicles, heights, scenario.mission.ground_clearance)


def simulate(
    scenario: Source,
    method: str | None = None,
    *,
    objective: Objective | None = None,
    options: Mapping[str, Any] | None = None,
) -> KinematicRun:
    """Plan a scenario's mission and execute it to the end, exactly along its paths, with its events."""
    run = KinematicRun(Mission(chosen(scenario, method, objective, options)))
    run.finish()
    return run


def chosen(
    scenario: Source, method: str | None, objective: Objective | None, options: Mapping[str, Any] | None
) -> MissionSetup:
    """Return the setup of a scenario's mission, with the given method, objective and options."""
    setup = setup_of(load_scenario(scenario))
    if objective is not None:
        if objective not in get_args(Objective):
            raise unknown_name("objective", str(objective), get_args(Objective))
        setup = replace(setup, problem=replace(setup.problem, objective=objective))
    if method is not None and method != setup.method:
        setup = replace(setup, method=method, options={})
    return setup if options is None else replace(setup, options=options)


STEP = 2.0  # m between the points of a route that are checked
CLIMB = 10.0  # m per m of clearance around start and home, in which a route may be lower: it climbs and descends


def zones_of_obstacles(obstacles: Obstacles, margin: float, names: Collection[str]) -> list[Zone]:
    """Return a zone for each obstacle, `margin` (m) larger on all sides; a wall has one per straight part.

    Zones have the names of their obstacles, or `obstacle_k`; `taken` are names in use.
    """
    zones: list[Zone] = []
    used = set(names)

    def name_of(entry: float) -> str:
        own = obstacles.entries[int(entry)].name
        name = own if own and own not in used else numbered(own or "obstacle", int(entry), used)
        used.add(name)
        return name

    for k, row in enumerate(obstacles.table.tolist()):
        limits = row[LOW] - margin, row[HIGH] + margin
        if row[SHAPE] == BOX:
            corners = tuple((x, y) for x, y in obstacles.outline(k).tolist())
            zone = PolygonZone(name_of(row[ENTRY]), corners, *limits)
            zones.append(zone.grown(margin) if margin > 0.0 else zone)
        else:
            zones.append(CircleZone(name_of(row[ENTRY]), row[X], row[Y], row[BASE] + margin, *limits))
    return zones


def refuse_low(
    routes: Sequence[Route], vehicles: Sequence[Vehicle], heights: Callable[[Any, Any], Floats], clearance: float
) -> None:
    """Raise InvalidValueError if a route of a flying vehicle comes nearer to the ground than `clearance` (m).

    Near its start and its home a vehicle only must not be below the ground.
    """
    by_name = {vehicle.name: vehicle for vehicle in vehicles}
    for route in routes:
        vehicle = by_name.get(route.vehicle)
        if vehicle is None or vehicle.moves == "ground" or not route.legs:
            continue
        points = route.path.points(max(STEP, route.path.flown / 50_000))
        above = points[:, 2] - heights(points[:, 0], points[:, 1])
        ends = np.array([vehicle.pose[:2], vehicle.home[:2]])
        away = np.sqrt(((points[:, None, :2] - ends[None]) ** 2).sum(axis=2)).min(axis=1)
        required = np.where(away <= CLIMB * clearance, 0.0, clearance)
        short = above - required
        worst = int(np.argmin(short))
        if short[worst] < -1e-6:
            x, y, z = points[worst, :3].tolist()
            raise InvalidValueError(
                f"the route of {route.vehicle!r} is {above[worst]:.1f} m above the ground at ({x:.0f}, {y:.0f}), "
                f"ground_clearance is {clearance:g} m: an altitude of {z - short[worst]:.0f} m or more is valid there"
            )
