"""The routes for ground stations and maps: GeoJSON, and a QGroundControl `.plan` for each vehicle."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import cos, pi, sin

import numpy as np

from paddock.planning.exchange import Loiter, to_geojson, to_plans
from paddock.planning.generating import drawn_tasks
from paddock.planning.plans import Leg, Plan, Route
from paddock.planning.setup import MissionSetup
from paddock.scenario import Mission, Scenario
from paddock.wire.json_document import document_text
from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

SPACING = 10.0
"""m between points of a route."""
VEHICLES = {"aircraft": "fixed_wing", "hover": "quad", "ground": "rover"}


def geojson_text(scenario: Scenario, setup: MissionSetup, plan: Plan) -> str:
    """Base, tasks, zones and routes as the text of a GeoJSON file."""
    routes = [(route.agent, route.path.points(SPACING)) for route in plan.routes if route.legs]
    return document_text(to_geojson(written_out(scenario, setup), Origin(*scenario.world.origin), routes))


def ground_station_texts(scenario: Scenario, plan: Plan) -> dict[str, str]:
    """The `.plan` files of all vehicles that leave the base, by their names."""
    assert scenario.mission is not None
    texts: dict[str, str] = {}
    for route, agent in zip(plan.routes, plan.problem.agents, strict=True):
        if route.legs:
            kind = {"vehicle": VEHICLES[agent.moves], "speed": agent.speed}
            origin = Origin(*scenario.world.origin)
            found = to_plans([(route.agent, list(_parts(route)))], scenario.mission, origin, **kind)  # type: ignore[arg-type]
            texts[_file(route.agent, texts)] = document_text(found[route.agent])
    return texts


def written_out(scenario: Scenario, setup: MissionSetup) -> Mission:
    """The mission with the tasks that its `generate` section draws."""
    mission = scenario.mission
    assert mission is not None
    if mission.generate is None:
        return mission
    widest = max((agent.radius for agent in setup.problem.agents), default=80.0)
    names = [task.name for task in mission.tasks]
    drawn = drawn_tasks(scenario.seed, mission.generate, widest, names, mission.base)
    return mission.model_copy(update={"tasks": (*mission.tasks, *drawn), "generate": None})


def _parts(route: Route) -> Iterator[Floats | Loiter]:
    """Waypoints, and circles as what they are."""
    for leg in route.legs:
        circle = _circle(leg)
        yield leg.path.points(SPACING) if circle is None else circle


def _circle(leg: Leg) -> Loiter | None:
    """A leg that goes round and round one centre, and ends where it began."""
    segments = leg.path.segments
    curvatures = {round(segment.curvature * segment.gear, 9) for segment in segments}
    if leg.kind not in ("wait", "coverage") or len(curvatures) != 1 or curvatures == {0.0}:
        return None
    if any(segment.drift_x or segment.drift_y for segment in segments):
        return None
    x, y, z, heading = leg.path.start
    curvature = segments[0].curvature
    turns = float(np.sum([segment.length for segment in segments])) * abs(curvature) / (2.0 * pi)
    centre = (x - sin(heading) / curvature, y + cos(heading) / curvature)
    return Loiter(*centre, z, 1.0 / abs(curvature), curvature > 0.0, round(turns, 6))


def _file(vehicle: str, taken: dict[str, str]) -> str:
    """A name that every file system takes: uav[0] -> uav_0.plan."""
    base = re.sub(r"[^A-Za-z0-9.-]+", "_", vehicle).strip("_") or "vehicle"
    name, number = f"{base}.plan", 2
    while name in taken:
        name, number = f"{base}_{number}.plan", number + 1
    return name
