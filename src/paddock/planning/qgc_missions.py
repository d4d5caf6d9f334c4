"""Missions and routes from and to `.plan` files of QGroundControl.

Altitudes above sea level in a `.plan` are taken relative to its planned home, so the geoid does not matter. Its
waypoints become point tasks of any heading, in an order that is planned.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf, pi
from typing import Any

import numpy as np

from paddock.compute.polyline import simplify
from paddock.errors import unknown_name
from paddock.planning.exchange import (
    Imported,
    MissionReader,
    Source,
    counter_clockwise,
    degrees_of,
    heading,
    metres_of,
    mission_section,
)
from paddock.scenario import MissionSection
from paddock.wire import qgc_plan
from paddock.wire.json_document import TEXT, KeyPath
from paddock.wire.qgc_plan import PlanFence, PlanItem, Survey, read_plan, write_plan
from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

COMMANDS = {
    16: "waypoint", 17: "loiter without limit", 18: "loiter turns", 19: "loiter for a time", 20: "return to launch",
    21: "land", 22: "take-off", 31: "loiter to altitude", 82: "spline waypoint", 84: "VTOL take-off",
    85: "VTOL landing", 93: "delay", 112: "condition delay", 115: "condition yaw", 177: "jump", 178: "change speed",
    183: "set servo", 189: "start of landing", 195: "region of interest", 197: "no region of interest",
    201: "region of interest", 203: "camera trigger", 205: "gimbal", 206: "camera trigger by distance",
    530: "camera mode", 2000: "start pictures", 2001: "stop pictures", 2500: "start video", 2501: "stop video",
    3000: "VTOL transition",
}  # fmt: skip
"""Names of MAV_CMD."""
ABSOLUTE, RELATIVE, TERRAIN = (0, 5), (3, 6), (10, 11)
"""MAV_FRAME: altitudes above sea level, above home, above the terrain."""
HOVERING = (2, 3, 4, 13, 14, 15, 29)  # MAV_TYPE of vehicles that hover, for which hoverSpeed applies


def mission_from_plan(source: Source, origin: Origin, name: str = TEXT) -> Imported:
    """Read a mission from the text or the object of a `.plan` file; `name` is the file name in errors."""
    return _PlanReader(source, origin, name).read()


class _PlanReader(MissionReader):
    def __init__(self, source: Source, origin: Origin, name: str) -> None:
        super().__init__(source, origin, name)
        self.home_height = origin.height_m
        self.counts: Counter[str] = Counter()

    def read(self) -> Imported:
        plan = read_plan(self.doc)
        assert plan.home is not None  # checked by `read_plan`
        latitude, longitude, altitude = plan.home
        self.home_height = self.home_height if altitude is None else altitude
        self.imported.mission["base"] = [*metres_of([(latitude, longitude)], self.origin)[0], 0.0]
        speed = plan.hover_speed if plan.vehicle_type in HOVERING else plan.cruise_speed
        if speed is not None and speed > 0:
            self.imported.mission["speed"] = speed
        for item in plan.items:
            if isinstance(item, PlanItem):
                self._simple(item)
            elif item.survey is not None:
                self._survey(item.survey, item.path)
            else:
                version = f" of version {item.version!r}" if item.kind == "survey" else ""
                self._note(item.path, f"{item.kind}{version} is not supported")
        if count := self.counts["waypoint"]:
            self.imported.notes.append(f"{count} waypoint{'s' * (count > 1)}: each becomes a task, in a planned order")
        for fence in plan.fences:
            if fence.inclusion:
                kind, number = str(fence.path[1])[:-1], int(fence.path[2]) + 1
                self.imported.notes.append(f"geoFence: inclusion {kind} {number} is not supported")
                continue
            zone: dict[str, Any] = {"name": f"fence_{len(self.imported.mission['zones'])}"}
            if fence.center is None:
                zone["polygon"] = metres_of(fence.polygon, self.origin)
            else:
                zone["circle"] = {"at": metres_of([fence.center], self.origin)[0], "radius": fence.radius}
            self.add("zones", zone, fence.path)
        self.imported.notes.extend(plan.unread)
        for k in range(plan.rally_points):
            self.imported.notes.append(f"rally point {k + 1} is not supported: vehicles return to the base")
        return self.imported

    def _note(self, path: KeyPath, message: str) -> None:
        self.imported.notes.append(f"item {int(path[2]) + 1}: {message}")

    def _simple(self, item: PlanItem) -> None:
        command = item.command
        if command == qgc_plan.WAYPOINT:
            hold, _, _, yaw = item.params[:4]
            if hold:
                self._note(item.path, f"the waypoint's hold of {hold:g} s is not supported")
            if yaw:
                self._note(item.path, f"the waypoint's yaw of {yaw:g} deg is not supported")
            point = {"at": self._position(item)}
            self._add("waypoint", {"point": point, "altitude": self._altitude(item)}, item.path)
        elif command == qgc_plan.LOITER_TURNS:
            self._loiter(item)
        elif command == qgc_plan.CHANGE_SPEED and item.params[1] == self.imported.mission.get("speed", inf):
            pass  # sets the mission's speed
        elif command in (22, 84):
            self._note(item.path, f"{COMMANDS[command]} is skipped: vehicles start where the scenario places them")
        elif command != qgc_plan.RETURN:  # all vehicles return to the base
            title = f" ({COMMANDS[command]})" if command in COMMANDS else ""
            self._note(item.path, f"command {command}{title} is not supported")

    def _loiter(self, item: PlanItem) -> None:
        """Add a circle about a centre, which starts on its eastern side."""
        turns, _, radius = item.params[:3]
        if not radius:
            self._note(item.path, "a loiter without a radius is not supported")
            return
        if turns != 1:
            self._note(item.path, f"{turns or 0:g} turns become one")
        x, y = self._position(item)
        left = radius < 0.0
        circle = {"at": [x + abs(radius), y], "heading": pi / 2 if left else -pi / 2, "radius": abs(radius)}
        task = {"circle": circle | {"turn": "left" if left else "right"}, "altitude": self._altitude(item)}
        self._add("loiter", task, item.path)

    def _altitude(self, item: PlanItem) -> float:
        """Return metres above the ground at home."""
        altitude = item.params[6]
        if altitude is None:
            self.doc.refuse((*item.path, "params", 6), "an item with a position needs an altitude")
        if item.frame in ABSOLUTE:
            return altitude - self.home_height
        if item.frame in TERRAIN:
            self._note(item.path, "its altitude above the terrain is used as above home")
        elif item.frame not in RELATIVE:
            self.doc.refuse((*item.path, "frame"), f"a position has frame 0, 3 or 10, not {item.frame!r}")
        return altitude

    def _survey(self, survey: Survey, path: KeyPath) -> None:
        polygon: dict[str, Any] = {"outline": metres_of(survey.polygon, self.origin), "angle": heading(survey.angle)}
        if survey.spacing is not None:
            polygon["spacing"] = survey.spacing
        else:
            wide, high, across, along, focal, overlap = (survey.camera[key] for key in qgc_plan.CAMERA_FIELDS)
            pixels = {"width_px": round(wide), "height_px": round(high)}
            sensor = {"sensor_width_mm": across, "sensor_height_mm": along, "focal_length_mm": focal}
            polygon["camera"] = pixels | sensor | {"side_overlap": overlap / 100.0}
        for option in survey.options:
            why = ": turns are planned" if option == "TurnAroundDistance" else ""
            self._note(path, f"the survey's {option} is not supported{why}")
        altitude = survey.altitude - (self.home_height if survey.altitude_frame == "sea" else 0.0)
        if survey.altitude_frame == "terrain":
            self._note(path, "its altitude above the terrain is used as above home")
        self._add("survey", {"polygon": polygon, "altitude": altitude}, path)

    def _position(self, item: PlanItem) -> list[float]:
        return metres_of([self.doc.position(item.params[4:6], (*item.path, "params"))], self.origin)[0]

    def _add(self, kind: str, task: dict[str, Any], path: KeyPath) -> None:
        task = {"name": f"{kind}_{self.counts[kind]}"} | task
        self.counts[kind] += 1
        self.add("tasks", task, path)


SAME = 0.01  # m between waypoints that are one
TAKEOFF_HEIGHT = {"fixed_wing": 20.0, "quad": 2.5}  # m above home, least; PX4 takes off to 2.5 m at least
BACK = PlanItem(qgc_plan.RETURN, qgc_plan.MISSION_FRAME, (0,) * 7)
STANDING_SPEED = 5.0  # m/s: written by QGroundControl for the speed that does not apply


@dataclass(frozen=True)
class LoiterCircles:
    """Full circles about a centre."""

    x: float  # m east, of the centre
    y: float  # m north, of the centre
    z: float  # m
    radius: float  # m
    left: bool = True
    turns: float = 1.0


Waypoints = Floats | Sequence[Floats | LoiterCircles]
"""Waypoints (n, 4): x, y, z in m and heading in rad; or several of them, with circles in between."""


def to_plan(
    waypoints: Waypoints,
    mission: MissionSection | Mapping[str, Any],
    origin: Origin,
    home: Sequence[float],
    *,
    vehicle: str = "fixed_wing",
    firmware: str = "px4",
    speed: float = 17.5,
    tolerance: float = 1.0,
) -> dict[str, Any]:
    """Return the plan of a vehicle: take-off, waypoints (thinned to `tolerance` m), return.

    `home` (x, y, z in m) is the base, at the height of the ground where the vehicle arms: altitudes are relative to it,
    as autopilots measure them. The mission's zones without a floor or ceiling are exclusion fences; `speed` in m/s.
    """
    for kind, chosen, valid in (("vehicle", vehicle, qgc_plan.VEHICLES), ("firmware", firmware, qgc_plan.FIRMWARE)):
        if chosen not in valid:
            raise unknown_name(f"{kind} of a .plan file", chosen, valid)
    mission = mission_section(mission)
    latitude, longitude = degrees_of([home[:2]], origin)[0]
    fences = []
    for zone in mission.zones:
        if zone.floor is not None or zone.ceiling is not None:
            continue  # a fence has no heights: routes may lead above or below the zone
        if zone.circle is not None:
            at = degrees_of([zone.circle.at], origin)[0]
            fences.append(PlanFence(False, center=(at[0], at[1]), radius=zone.circle.radius))
        else:
            assert zone.polygon is not None
            clockwise = zone.polygon[::-1] if counter_clockwise(zone.polygon) else zone.polygon
            fences.append(PlanFence(False, polygon=tuple((row[0], row[1]) for row in degrees_of(clockwise, origin))))
    cruise, hover = (STANDING_SPEED, speed) if vehicle == "quad" else (speed, STANDING_SPEED)
    # aircraft hold their speed through the air, others over the ground; the throttle does not change
    change = PlanItem(
        qgc_plan.CHANGE_SPEED, qgc_plan.MISSION_FRAME, (int(vehicle != "fixed_wing"), speed, -1, 0, 0, 0, 0)
    )
    items = _plan_items(waypoints, origin, home, tolerance, vehicle)
    return write_plan(
        [*items[:1], change, *items[1:], BACK] if items else [],
        (latitude, longitude, round(origin.height_m + home[2], 3)),
        fences,
        vehicle=vehicle,
        firmware=firmware,
        cruise_speed=cruise,
        hover_speed=hover,
    )


def thinned(waypoints: Floats, tolerance: float) -> Floats:
    """Return the waypoints (n, 4) whose straight connections stay within `tolerance` m of all (Douglas-Peucker)."""
    points = np.asarray(waypoints, dtype=np.float64)
    return points[simplify(points[:, :3], tolerance)] if len(points) else points


def _points(part: Floats | LoiterCircles) -> Floats:
    """Return the waypoints (n, 4) of a part; of circles, the point in their east."""
    if isinstance(part, LoiterCircles):
        return np.array([[part.x + part.radius, part.y, part.z, 0.0]])
    return part


def _airborne(parts: Sequence[Floats | LoiterCircles], height: float) -> list[Floats | LoiterCircles]:
    """Return the parts of a route from where it first reaches a height (m)."""
    index = next(k for k, part in enumerate(parts) if _points(part)[:, 2].max() >= height)
    part = parts[index]
    if isinstance(part, LoiterCircles) or part[0, 2] >= height:
        return [*parts[index:]]
    after = int(np.argmax(part[:, 2] >= height))
    below, above = part[after - 1], part[after]
    cut = below + (height - below[2]) / (above[2] - below[2]) * (above - below)
    return [np.vstack([cut, part[after:]]), *parts[index + 1 :]]


def _plan_items(
    waypoints: Waypoints, origin: Origin, home: Sequence[float], tolerance: float, vehicle: str
) -> list[PlanItem]:
    """Return take-off and waypoints; nothing for a vehicle that stays.

    Aircraft take off to where the route is high enough, quads straight up to that height, and return from where it is
    no longer. Where one part begins as the last one ended, that waypoint is written once, also with circles between
    them.
    """
    parts = [waypoints] if isinstance(waypoints, np.ndarray) else list(waypoints)
    parts = [part for part in parts if len(_points(part))]
    items: list[PlanItem] = []
    last: tuple[float, float, float] | None = None  # the last waypoint

    def add(command: int, options: tuple[float | None, ...], at: tuple[float, float, float]) -> None:
        latitude, longitude = degrees_of([at[:2]], origin)[0]
        params = (*options, latitude, longitude, round(at[2] - home[2], 3))
        items.append(PlanItem(command, qgc_plan.RELATIVE_FRAME, params))

    if parts and vehicle in TAKEOFF_HEIGHT:
        start = _points(parts[0])[0].tolist()
        highest = max(float(_points(part)[:, 2].max()) for part in parts)
        for _ in range(2):  # at its beginning, and at its end, where the return begins
            parts = _airborne(parts, min(home[2] + TAKEOFF_HEIGHT[vehicle], highest))[::-1]
            parts = [part if isinstance(part, LoiterCircles) else part[::-1] for part in parts]
        x, y, z, _ = _points(parts[0])[0].tolist()
        last = (x, y, z) if vehicle == "fixed_wing" else (start[0], start[1], z)
        add(qgc_plan.TAKEOFF, (0, 0, 0, None), last)
    for part in parts:
        if isinstance(part, LoiterCircles):
            radius = -part.radius if part.left else part.radius
            add(qgc_plan.LOITER_TURNS, (part.turns, 0, radius, 1), (part.x, part.y, part.z))
            continue
        for x, y, z, _ in thinned(part, tolerance).tolist():
            if last is not None and hypot(x - last[0], y - last[1], z - last[2]) < SAME:
                continue
            last = x, y, z
            add(qgc_plan.WAYPOINT, (0, 0, 0, None), (x, y, z))
    return items
