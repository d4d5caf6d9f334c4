"""QGroundControl's `.plan` files: surveys, waypoints and fences become tasks and zones; routes become one file each.

Heights above sea level are taken relative to the planned home, so the geoid does not matter. A file's waypoints are
points of any heading, whose order is planned anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddock.errors import unknown_name
from paddock.planning.exchange.document import TEXT, Document, Imported, document
from paddock.planning.exchange.places import counter_clockwise, plain, to_places
from paddock.planning.exchange.qgroundcontrol_reading import Reader
from paddock.scenario import Mission
from paddock.scenario.marked_yaml import plain as plain_values
from paddock.scenario.problems import Marks, validated
from paddock.scenario.tasks import NoFlyZone
from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

RELATIVE, MISSION = 3, 2
"""MAV_FRAME: heights above home; commands without a place."""
WAYPOINT, LOITER_TURNS, RETURN, TAKEOFF = 16, 18, 20, 22
"""MAV_CMD_NAV_..."""
CHANGE_SPEED = 178
"""MAV_CMD_DO_CHANGE_SPEED."""
FIRMWARE = {"generic": 0, "ardupilot": 3, "px4": 12}
"""MAV_AUTOPILOT."""
VEHICLES = {"fixed_wing": 1, "quad": 2, "rover": 10}
"""MAV_TYPE."""
STANDING_SPEED = 5.0
"""m/s: what QGroundControl itself writes for the speed that does not apply."""


@dataclass(frozen=True)
class Loiter:
    """Full circles about a centre."""

    x: float  # m east, of the centre
    y: float  # m north, of the centre
    z: float  # m
    radius: float  # m
    left: bool = True
    turns: float = 1.0


Legs = Floats | Sequence[Floats | Loiter]
"""Waypoints (n, 4): x, y, z in m and heading in rad; or several such, with circles between them."""


def tasks_from_plan(source: str | Mapping[str, Any] | Document, origin: Origin, name: str = TEXT) -> Imported:
    """Read a mission from the text of a `.plan` file, or its object; `name` is that of its file in errors."""
    reader = Reader(source if isinstance(source, Document) else document(source, name), origin)
    reader.read()
    return reader.found


def to_plans(
    routes: Sequence[tuple[str, Legs]],
    mission: Mission | Mapping[str, Any],
    origin: Origin,
    *,
    vehicle: str = "fixed_wing",
    firmware: str = "px4",
    speed: float = 17.5,
    tolerance: float = 1.0,
) -> dict[str, dict[str, Any]]:
    """A plan for each vehicle: take-off, its waypoints without those that lie within `tolerance` m of the way, return.

    The home is the mission's base, its zones are exclusion fences; `speed` in m/s.
    """
    for kind, chosen, known in (("vehicle", vehicle, VEHICLES), ("firmware", firmware, FIRMWARE)):
        if chosen not in known:
            raise unknown_name(f"{kind} of a .plan file", chosen, known)
    if not isinstance(mission, Mission):
        mission = validated(Mission, plain_values(mission), Marks(), ("mission",))
    head = _head(mission, origin, vehicle, firmware, speed)
    ground = mission.base[2] if len(mission.base) == 4 else 0.0
    change = _change(vehicle, speed)
    return {
        name: _plan(head, _items(legs, origin, ground, tolerance, change), mission.zones, origin)
        for name, legs in routes
    }


def thinned(waypoints: Floats, tolerance: float) -> Floats:
    """Those waypoints (n, 4) that a way straight from one to the next needs to stay within `tolerance` m of all."""
    points, keep = np.asarray(waypoints, dtype=np.float64), {0, len(waypoints) - 1}
    pending = [(0, len(points) - 1)]
    while pending:
        first, last = pending.pop()
        if last - first < 2:
            continue
        away = _distances(points[first + 1 : last, :3], points[first, :3], points[last, :3])
        farthest = int(np.argmax(away))
        if away[farthest] > tolerance:
            middle = first + 1 + farthest
            keep.add(middle)
            pending += [(first, middle), (middle, last)]
    return points[sorted(keep)] if len(points) else points


def _distances(points: Floats, start: Floats, end: Floats) -> Floats:
    """m from points to the stretch between two others."""
    along = end - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
    found: Floats = np.linalg.norm(points - start - share[:, None] * along, axis=1)
    return found


def _head(mission: Mission, origin: Origin, vehicle: str, firmware: str, speed: float) -> dict[str, Any]:
    ground = mission.base[2] if len(mission.base) == 4 else 0.0
    home = [*plain(to_places([mission.base[:2]], origin))[0], round(origin.height_m + ground, 3)]
    speeds = (STANDING_SPEED, speed) if vehicle == "quad" else (speed, STANDING_SPEED)
    return {
        "cruiseSpeed": speeds[0],
        "firmwareType": FIRMWARE[firmware],
        "globalPlanAltitudeMode": 1,
        "hoverSpeed": speeds[1],
        "items": [],
        "plannedHomePosition": home,
        "vehicleType": VEHICLES[vehicle],
        "version": 2,
    }


def _plan(
    head: Mapping[str, Any], items: list[dict[str, Any]], zones: Sequence[NoFlyZone], origin: Origin
) -> dict[str, Any]:
    circles = [zone for zone in zones if zone.circle is not None]
    polygons = [zone for zone in zones if zone.polygon is not None]
    fence = {
        "circles": [_circle_fence(zone, origin) for zone in circles],
        "polygons": [_polygon_fence(zone, origin) for zone in polygons],
        "version": 2,
    }
    return {
        "fileType": "Plan",
        "geoFence": fence,
        "groundStation": "QGroundControl",
        "mission": {**head, "items": items},
        "rallyPoints": {"points": [], "version": 2},
        "version": 1,
    }


def _circle_fence(zone: NoFlyZone, origin: Origin) -> dict[str, Any]:
    assert zone.circle is not None
    center = plain(to_places([zone.circle.at], origin))[0]
    return {"circle": {"center": center, "radius": zone.circle.radius}, "inclusion": False, "version": 1}


def _polygon_fence(zone: NoFlyZone, origin: Origin) -> dict[str, Any]:
    assert zone.polygon is not None
    clockwise = zone.polygon[::-1] if counter_clockwise(zone.polygon) else zone.polygon
    return {"inclusion": False, "polygon": plain(to_places(clockwise, origin)), "version": 1}


def _change(vehicle: str, speed: float) -> dict[str, Any]:
    """The speed from there on: aircraft hold it through the air, others over the ground; throttle as it is."""
    return _command(CHANGE_SPEED, (0 if vehicle == "fixed_wing" else 1, speed, -1, 0, 0, 0, 0))


def _command(command: int, params: tuple[float, ...]) -> dict[str, Any]:
    """An item without a place."""
    return {"autoContinue": True, "command": command, "frame": MISSION, "params": list(params), "type": "SimpleItem"}


def _items(legs: Legs, origin: Origin, ground: float, tolerance: float, change: dict[str, Any]) -> list[dict[str, Any]]:
    """Take-off at the first waypoint, the speed, the others, and the way home; nothing for a vehicle that stays."""
    parts = [legs] if isinstance(legs, np.ndarray) else list(legs)
    items: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Loiter):
            radius = -part.radius if part.left else part.radius
            items.append(_item(LOITER_TURNS, (part.turns, 0, radius, 1), (part.x, part.y, part.z), origin, ground))
            continue
        for x, y, z, _ in thinned(part, tolerance).tolist():
            command = WAYPOINT if items else TAKEOFF
            items.append(_item(command, (0, 0, 0, None), (x, y, z), origin, ground))
    if items:
        items = [items[0], change, *items[1:], _command(RETURN, (0,) * 7)]
    return [item | {"doJumpId": k + 1} for k, item in enumerate(items)]


def _item(
    command: int, options: tuple[float | None, ...], at: tuple[float, float, float], origin: Origin, ground: float
) -> dict[str, Any]:
    latitude, longitude = plain(to_places([at[:2]], origin))[0]
    height = round(at[2] - ground, 3)
    return {
        "AMSLAltAboveTerrain": None,
        "Altitude": height,
        "AltitudeMode": 1,
        "autoContinue": True,
        "command": command,
        "frame": RELATIVE,
        "params": [*options, latitude, longitude, height],
        "type": "SimpleItem",
    }
