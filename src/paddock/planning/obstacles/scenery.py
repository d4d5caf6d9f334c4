"""The scenery of a world for planning: no-fly zones made of obstacles, and the height of routes above the ground."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.obstacles.zones import CircleZone, PolygonZone, Zone
from paddock.planning.problem import Vehicle
from paddock.planning.routes import Route
from paddock.scenario.tasks import numbered
from paddock.world.columns import Floats
from paddock.world.obstacles import Obstacles

STEP = 2.0  # m between the points of a route that are checked
CLIMB = 10.0  # m per m of clearance around start and home, in which a route may be lower: it climbs and descends


def zones_of_obstacles(obstacles: Obstacles, margin: float, taken: Collection[str]) -> list[Zone]:
    """Return a zone for each obstacle, `margin` (m) larger on all sides; a wall has one per straight part.

    Zones have the names of their obstacles, or `obstacle_k`; `taken` are names in use.
    """
    found: list[Zone] = []
    names = set(taken)

    def name_of(entry: float) -> str:
        given = obstacles.entries[int(entry)].name
        name = given if given and given not in names else numbered(given or "obstacle", int(entry), names)
        names.add(name)
        return name

    for k, (_, _, low, high, *_, entry) in enumerate(obstacles.boxes.tolist()):
        corners = tuple((x, y) for x, y in obstacles.outline(k).tolist())
        zone = PolygonZone(name_of(entry), corners, low - margin, high + margin)
        found.append(zone.grown(margin) if margin > 0.0 else zone)
    for x, y, low, high, radius, _, entry in obstacles.rounds.tolist():
        found.append(CircleZone(name_of(entry), x, y, radius + margin, low - margin, high + margin))
    return found


def refuse_low(
    routes: Sequence[Route], vehicles: Sequence[Vehicle], heights: Callable[[Any, Any], Floats], clearance: float
) -> None:
    """Raise InvalidValueError if a route of a flying vehicle comes nearer to the ground than `clearance` (m).

    Near its start and its home a vehicle only must not be below the ground.
    """
    known = {vehicle.name: vehicle for vehicle in vehicles}
    for route in routes:
        vehicle = known.get(route.vehicle)
        if vehicle is None or vehicle.moves == "ground" or not route.legs:
            continue
        places = route.path.points(max(STEP, route.path.flown / 50_000))
        over = places[:, 2] - heights(places[:, 0], places[:, 1])
        ends = np.array([vehicle.pose[:2], vehicle.home[:2]])
        away = np.sqrt(((places[:, None, :2] - ends[None]) ** 2).sum(axis=2)).min(axis=1)
        wanted = np.where(away <= CLIMB * clearance, 0.0, clearance)
        short = over - wanted
        worst = int(np.argmin(short))
        if short[worst] < -1e-6:
            x, y, z = places[worst, :3].tolist()
            raise InvalidValueError(
                f"the route of {route.vehicle!r} is {over[worst]:.1f} m above the ground at ({x:.0f}, {y:.0f}), "
                f"ground_clearance is {clearance:g} m: an altitude of {z - short[worst]:.0f} m or more is valid there"
            )
