"""Missions and routes from and to the files of other programs: GeoJSON, and `.plan` files of QGroundControl.

`read_mission` returns the fields of a scenario's `mission` section with a note for everything that was not imported.

GeoJSON features (`docs/planning.md` lists their properties):

| feature | geometry | properties |
| --- | --- | --- |
| point task | Point | `heading_deg` (default: any) |
| line task | LineString of two positions; more make a task each | |
| circle task, `kind: circle` | Point on the circle | `heading_deg`, `radius_m`, `turn` |
| area task, `kind: area` | LineString, the first pass | `spacing_m`, `passes`, `side` |
| polygon task | Polygon, with holes | `spacing_m` or `camera`; `angle_deg`, `margin_m` |
| no-fly zone, `zone: true` | Polygon, or Point | `radius_m` of a point |
| base, `kind: base` | Point | `heading_deg` |
| route, `kind: route` | LineString with heights above the ellipsoid | |

All have a `name`, tasks also `altitude_m` (m), `earliest_s` and `latest_s` (s). Headings are degrees clockwise from
north. Generated tasks and tasks of events are not written.

Altitudes above sea level in a `.plan` are taken relative to its planned home, so the geoid does not matter. Its
waypoints become point tasks of any heading, in an order that is planned.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2, cos, degrees, hypot, inf, pi, radians, remainder, sin
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import unknown_name
from paddock.scenario import MissionSection
from paddock.scenario.base import Section
from paddock.scenario.marked_yaml import plain as plain_values
from paddock.scenario.marked_yaml import read_text
from paddock.scenario.problems import Marks, ScenarioError, validated
from paddock.scenario.tasks import NoFlyZone, TaskEntry
from paddock.wire import qgc_plan
from paddock.wire.geojson import Feature, feature, feature_collection, read_features
from paddock.wire.json_document import TEXT, Document, KeyPath, LatLon, parse_document
from paddock.wire.qgc_plan import PlanFence, PlanItem, Survey, read_plan, write_plan
from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

Source = str | Mapping[str, Any] | Document  # text of a file, its object, or a parsed document
Routes = Sequence[tuple[str, Floats]]  # names of vehicles with their waypoints (n, 4): x, y, z in m and heading in rad


@dataclass
class Imported:
    """A mission read from a file."""

    mission: dict[str, Any] = field(default_factory=dict)  # fields of a scenario's `mission` section
    notes: list[str] = field(default_factory=list)  # parts that were not imported, one line each


def read_mission(path: str | os.PathLike[str], origin: Origin) -> Imported:
    """Read tasks, zones and base from a GeoJSON or `.plan` file; positions become metres about the origin."""
    found = _read_document(path)
    return mission_from_plan(found, origin) if "fileType" in found.root else mission_from_geojson(found, origin)


def origin_in(path: str | os.PathLike[str]) -> tuple[float, float, float]:
    """Return latitude, longitude (deg) and height (m) of the planned home of a `.plan`, else of the first position."""
    doc = _read_document(path)
    if "fileType" in doc.root:
        plan = read_plan(doc)
        if plan.home is not None:
            return plan.home[0], plan.home[1], plan.home[2] or 0.0
        doc.refuse(("mission",), "a plan without plannedHomePosition has no origin")
    for found in read_features(doc):
        if found.geometry:
            return (*found.positions[0], 0.0)
    doc.refuse((), "no position to take the origin from")


def _read_document(path: str | os.PathLike[str]) -> Document:
    return parse_document(read_text(Path(path)), os.fspath(path))


def _checked(doc: Document, model: type[Section], value: Mapping[str, Any], path: KeyPath) -> None:
    """Refuse a task or zone that a scenario would refuse."""
    try:
        validated(model, value, Marks())
    except ScenarioError as error:
        doc.refuse(path, error.problems[0])


# positions


def to_local(places: ArrayLike, origin: Origin) -> Floats:
    """Return metres east and north (n, 2) of latitudes and longitudes in deg (n, 2), at the origin's height."""
    latitude, longitude = np.asarray(places, dtype=np.float64).reshape(-1, 2).T
    return origin.to_local(latitude, longitude, np.full(len(latitude), origin.height_m))[:, :2]


def to_places(points: ArrayLike, origin: Origin) -> Floats:
    """Return latitude and longitude in deg (n, 2) of local points (n, 2 or more) in m; inverse of `to_local`."""
    x, y = np.asarray(points, dtype=np.float64).T[:2]
    z = np.zeros(len(x))
    for _ in range(6):  # converges by the curvature of the Earth: 1e-10 m, even 100 km away
        latitude, longitude, height = origin.to_geodetic(np.stack([x, y, z], axis=1))
        z = z + origin.height_m - height
    return np.stack([latitude, longitude], axis=1)


def bearing(heading: float) -> float:
    """Return a heading (rad, counter-clockwise from east) as deg clockwise from north, 0 to 360, in steps of 1e-6."""
    return round(90.0 - degrees(heading), 6) % 360.0


def heading(bearing_deg: float) -> float:
    """Return a bearing (deg, clockwise from north) as rad counter-clockwise from east, -pi to pi."""
    return remainder(radians(90.0 - bearing_deg), 2.0 * pi)


def _metres(places: Sequence[LatLon], origin: Origin) -> list[list[float]]:
    """Return local metres in steps of 10 nm: finer than the degrees of a file."""
    return (np.round(to_local(places, origin), 8) + 0.0).tolist()  # type: ignore[no-any-return]  # + 0.0: no -0.0


def _degrees(points: ArrayLike, origin: Origin) -> list[list[float]]:
    """Return latitude and longitude in steps of 1e-10 deg, 0.01 mm."""
    return np.round(to_places(points, origin), 10).tolist()  # type: ignore[no-any-return]


def _counter_clockwise(ring: Sequence[Sequence[float]]) -> bool:
    x, y = np.array(ring, dtype=np.float64).T
    return bool(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) > 0.0)


# reading GeoJSON

COMMON = {"name", "kind", "zone", "altitude_m", "earliest_s", "latest_s"}
USED = {  # properties of each kind of feature besides the common ones
    "point": {"heading_deg"},
    "line": set[str](),
    "circle": {"heading_deg", "radius_m", "turn"},
    "area": {"spacing_m", "passes", "side"},
    "polygon": {"spacing_m", "camera", "angle_deg", "margin_m"},
    "zone": {"radius_m"},
    "base": {"heading_deg"},
    "route": set[str](),
}
KINDS = {
    "Point": ("point", "circle", "base", "route"),
    "LineString": ("line", "area", "route"),
    "Polygon": ("polygon",),
}
"""Kinds that each geometry may have, the default first; a route of one point is a Point."""


def mission_from_geojson(source: Source, origin: Origin, name: str = TEXT) -> Imported:
    """Read tasks, zones and base from GeoJSON; `name` is the file name in errors."""
    return _GeojsonReader(source if isinstance(source, Document) else parse_document(source, name), origin).read()


class _GeojsonReader:
    def __init__(self, doc: Document, origin: Origin) -> None:
        self.doc, self.origin = doc, origin
        self.found = Imported({"tasks": [], "zones": []})
        self.unused: Counter[str] = Counter()
        self.taken: dict[str, set[str]] = {"tasks": set(), "zones": set()}

    def read(self) -> Imported:
        if "crs" in self.doc.root:
            self.found.notes.append("crs is not used: positions are WGS 84 (RFC 7946)")
        for each in read_features(self.doc):
            if each.skipped:
                name = each.properties.get("name") or ".".join(map(str, each.path[:-1])) or "the geometry"
                self.found.notes.append(f"feature {name!r} {each.skipped} and is skipped")
                continue
            properties, valid = each.properties, KINDS[each.geometry]
            zone = properties.get("zone", False) is True
            kind = "zone" if zone else properties.get("kind", valid[0])
            if kind not in (("zone",) if zone and each.geometry != "LineString" else valid):
                self.doc.refuse(each.path, f"a {each.geometry} is one of {', '.join(valid)} or a zone, not {kind!r}")
            self.unused.update(key for key in properties if key not in COMMON | USED[kind])
            if kind == "route":
                self.found.notes.append(f"route {properties.get('name', '')!r} is skipped: routes are planned")
            else:
                getattr(self, f"_{kind}")(each, [_metres(ring, self.origin) for ring in each.rings])
        for key, count in self.unused.items():
            self.found.notes.append(f"property {key!r} of {count} feature{'s' * (count > 1)} is not used")
        return self.found

    def _point(self, given: Feature, rings: list[list[list[float]]]) -> None:
        self._add_task(given, {"point": {"at": rings[0][0]} | self._heading(given)})

    def _circle(self, given: Feature, rings: list[list[list[float]]]) -> None:
        circle = {"at": rings[0][0]} | self._heading(given, needed=True)
        circle |= {"radius": self._number(given, "radius_m"), "turn": given.properties.get("turn", "left")}
        self._add_task(given, {"circle": circle})

    def _line(self, given: Feature, rings: list[list[list[float]]]) -> None:
        points = rings[0]
        for k in range(len(points) - 1):
            self._add_task(given, {"line": _stretch(*points[k : k + 2])}, f"_{k}" if len(points) > 2 else "")

    def _area(self, given: Feature, rings: list[list[list[float]]]) -> None:
        if len(rings[0]) > 2:
            self.doc.refuse(given.path, f"an area is drawn as its first pass, of two positions, not {len(rings[0])}")
        area = _stretch(*rings[0]) | {"spacing": self._number(given, "spacing_m")}
        area |= {"side": given.properties.get("side", "left"), "passes": given.properties.get("passes")}
        self._add_task(given, {"area": area})

    def _polygon(self, given: Feature, rings: list[list[list[float]]]) -> None:
        polygon: dict[str, Any] = {"outline": rings[0]} | ({"holes": rings[1:]} if rings[1:] else {})
        for name in ("spacing", "margin"):
            if given.properties.get(f"{name}_m") is not None:
                polygon[name] = self._number(given, f"{name}_m")
        if given.properties.get("camera") is not None:
            polygon["camera"] = dict(self.doc.mapping(given.properties["camera"], given.path))
        if given.properties.get("angle_deg") is not None:
            polygon["angle"] = heading(self._number(given, "angle_deg"))
        if "spacing" not in polygon and "camera" not in polygon:
            self.doc.refuse(given.path, "a polygon task needs the property spacing_m or camera (or zone: true)")
        self._add_task(given, {"polygon": polygon})

    def _zone(self, given: Feature, rings: list[list[list[float]]]) -> None:
        if given.geometry == "Point":
            shape: dict[str, Any] = {"circle": {"at": rings[0][0], "radius": self._number(given, "radius_m")}}
        else:
            shape = {"polygon": rings[0]}
        if rings[1:]:
            name = given.properties.get("name", "")
            self.found.notes.append(f"{len(rings) - 1} holes of zone {name!r} are closed")
        default = f"zone_{len(self.found.mission['zones'])}"
        zone = {"name": self._name("zones", given.properties.get("name"), default)} | shape
        _checked(self.doc, NoFlyZone, zone, given.path)
        self.found.mission["zones"].append(zone)

    def _base(self, given: Feature, rings: list[list[list[float]]]) -> None:
        self.found.mission["base"] = [*rings[0][0], self._heading(given).get("heading", 0.0)]

    def _add_task(self, given: Feature, task: dict[str, Any], suffix: str = "") -> None:
        wanted, properties = given.properties.get("name"), given.properties
        name = self._name("tasks", wanted and f"{wanted}{suffix}", f"task_{len(self.found.mission['tasks'])}")
        task = {"name": name} | task
        if properties.get("altitude_m") is not None:
            task["altitude"] = self._number(given, "altitude_m")
        if properties.get("earliest_s") is not None or properties.get("latest_s") is not None:
            task["window"] = [self._number(given, "earliest_s"), self._number(given, "latest_s")]
        _checked(self.doc, TaskEntry, task, given.path)
        self.found.mission["tasks"].append(task)

    def _number(self, given: Feature, key: str) -> float:
        if key not in given.properties:
            self.doc.refuse(given.path, f"the feature needs the property {key}")
        cut = given.path.index("geometry") if "geometry" in given.path else 0
        return self.doc.number(given.properties[key], (*given.path[:cut], "properties", key))

    def _heading(self, given: Feature, needed: bool = False) -> dict[str, float]:
        if not needed and given.properties.get("heading_deg") is None:
            return {}
        return {"heading": heading(self._number(given, "heading_deg"))}

    def _name(self, kind: str, wanted: Any, default: str) -> str:
        """Return a unique name that a scenario accepts, close to the wanted one; note a change."""
        given = str(wanted) if isinstance(wanted, str | int) and str(wanted) else default
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", given)
        name = base = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
        number = 2
        while name in self.taken[kind]:
            name, number = f"{base}_{number}", number + 1
        self.taken[kind].add(name)
        if name != given:
            self.found.notes.append(f"name {given!r} becomes {name!r}")
        return name


def _stretch(start: Sequence[float], end: Sequence[float]) -> dict[str, Any]:
    east, north = end[0] - start[0], end[1] - start[1]
    return {"at": list(start), "heading": atan2(north, east), "length": hypot(east, north)}


# writing GeoJSON


def to_geojson(mission: MissionSection | Mapping[str, Any], origin: Origin, routes: Routes = ()) -> dict[str, Any]:
    """Return base, tasks and zones of a mission section and the routes of vehicles as a FeatureCollection."""
    mission = _mission(mission)
    x, y, course = mission.base[0], mission.base[1], mission.base[-1]
    base = {"kind": "base", "heading_deg": bearing(course)}
    features = [feature("base", base, "Point", _positions([[x, y]], origin)[0])]
    features += [_task_feature(task, origin) for task in mission.tasks]
    for zone in mission.zones:
        if zone.circle is not None:
            properties = {"zone": True, "radius_m": zone.circle.radius}
            features.append(feature(zone.name, properties, "Point", _positions([zone.circle.at], origin)[0]))
        else:
            assert zone.polygon is not None
            features.append(feature(zone.name, {"zone": True}, "Polygon", [_closed(zone.polygon, origin)]))
    for name, points in routes:
        if not len(points):  # a vehicle that stays
            features.append(feature(name, {"kind": "route"}, "", None))
            continue
        latitude, longitude, height = origin.to_geodetic(np.asarray(points, dtype=np.float64)[:, :3])
        positions = np.round(np.stack([longitude, latitude, np.round(height, 6)], axis=1), 10).tolist()
        geometry = ("Point", positions[0]) if len(positions) == 1 else ("LineString", positions)
        features.append(feature(name, {"kind": "route"}, *geometry))
    return feature_collection(features)


def _mission(mission: MissionSection | Mapping[str, Any]) -> MissionSection:
    if isinstance(mission, MissionSection):
        return mission
    return validated(MissionSection, plain_values(mission), Marks(), ("mission",))


def _positions(points: Any, origin: Origin) -> list[list[float]]:
    """Return longitude and latitude of local points."""
    return [position[::-1] for position in _degrees(points, origin)]


def _closed(points: Sequence[Sequence[float]], origin: Origin, outer: bool = True) -> list[list[float]]:
    """Return a closed ring; outlines are counter-clockwise, holes clockwise."""
    turned = list(points) if _counter_clockwise(points) == outer else list(points)[::-1]
    return _positions([*turned, turned[0]], origin)


def _task_feature(task: TaskEntry, origin: Origin) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": task.kind}
    if task.altitude is not None:
        properties["altitude_m"] = task.altitude
    if task.window is not None:
        properties |= {"earliest_s": task.window[0], "latest_s": task.window[1]}
    if task.polygon is not None:
        polygon = task.polygon
        own = {
            "spacing_m": polygon.spacing,
            "camera": polygon.camera and polygon.camera.model_dump(),
            "angle_deg": None if polygon.angle is None else round(90.0 - degrees(polygon.angle), 6),
            "margin_m": polygon.margin or None,
        }
        properties |= {key: value for key, value in own.items() if value is not None}
        rings = [_closed(polygon.outline, origin), *(_closed(hole, origin, outer=False) for hole in polygon.holes)]
        return feature(task.name, properties, "Polygon", rings)
    shape: Any = task.shape
    (x, y), course = shape.at, shape.heading
    if task.kind in ("point", "circle"):
        properties |= {} if course is None else {"heading_deg": bearing(course)}
        properties |= {"radius_m": shape.radius, "turn": shape.turn} if task.kind == "circle" else {}
        return feature(task.name, properties, "Point", _positions([shape.at], origin)[0])
    ends = _positions([[x, y], [x + shape.length * cos(course), y + shape.length * sin(course)]], origin)
    if task.kind == "area":
        properties |= {"spacing_m": shape.spacing, "passes": shape.passes, "side": shape.side}
    return feature(task.name, properties, "LineString", ends)


# reading .plan files

COMMANDS = {
    16: "waypoint", 17: "loiter for ever", 18: "loiter turns", 19: "loiter for a time", 20: "return to launch",
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
    return _PlanReader(source if isinstance(source, Document) else parse_document(source, name), origin).read()


class _PlanReader:
    def __init__(self, doc: Document, origin: Origin) -> None:
        self.doc, self.origin = doc, origin
        self.found = Imported({"tasks": [], "zones": []})
        self.home_height = origin.height_m
        self.counts: Counter[str] = Counter()

    def read(self) -> Imported:
        plan = read_plan(self.doc)
        if plan.home is None:
            self.found.notes.append("no plannedHomePosition: the base does not change")
        else:
            latitude, longitude, altitude = plan.home
            self.home_height = self.home_height if altitude is None else altitude
            self.found.mission["base"] = [*self._place((latitude, longitude)), 0.0]
        speed = plan.hover_speed if plan.vehicle_type in HOVERING else plan.cruise_speed
        if speed is not None and speed > 0:
            self.found.mission["speed"] = speed
        for item in plan.items:
            if isinstance(item, PlanItem):
                self._simple(item)
            elif item.survey is not None:
                self._survey(item.survey, item.path)
            else:
                version = f" of version {item.version!r}" if item.kind == "survey" else ""
                self._note(item.path, f"{item.kind}{version} is not supported")
        if count := self.counts["waypoint"]:
            self.found.notes.append(f"{count} waypoint{'s' * (count > 1)}: each becomes a task, in a planned order")
        for fence in plan.fences:
            if fence.inclusion:
                kind, number = str(fence.path[1])[:-1], int(fence.path[2]) + 1
                self.found.notes.append(f"geoFence: inclusion {kind} {number} is not supported")
                continue
            zone: dict[str, Any] = {"name": f"fence_{len(self.found.mission['zones'])}"}
            if fence.center is None:
                zone["polygon"] = _metres(fence.polygon, self.origin)
            else:
                zone["circle"] = {"at": self._place(fence.center), "radius": fence.radius}
            _checked(self.doc, NoFlyZone, zone, fence.path)
            self.found.mission["zones"].append(zone)
        self.found.notes += plan.unread
        for k in range(plan.rally_points):
            self.found.notes.append(f"rally point {k + 1} is not supported: vehicles return to the base")
        return self.found

    def _note(self, path: KeyPath, message: str) -> None:
        self.found.notes.append(f"item {int(path[2]) + 1}: {message}")

    def _simple(self, item: PlanItem) -> None:
        command = item.command
        if command == qgc_plan.WAYPOINT:
            hold, _, _, yaw = item.params[:4]
            if hold:
                self._note(item.path, f"the waypoint's hold of {hold:g} s is not supported")
            if yaw:
                self._note(item.path, f"the waypoint's yaw of {yaw:g} deg is not supported")
            point = {"at": self._place(self._position(item))}
            self._add("waypoint", {"point": point, "altitude": self._altitude(item)}, item.path)
        elif command == qgc_plan.LOITER_TURNS:
            self._loiter(item)
        elif command == qgc_plan.CHANGE_SPEED and item.params[1] == self.found.mission.get("speed", inf):
            pass  # a change to the mission's own speed
        elif command in (22, 84):
            self._note(item.path, f"{COMMANDS[command]} is skipped: vehicles start where the scenario places them")
        elif command != qgc_plan.RETURN:  # all vehicles return to the base
            known = f" ({COMMANDS[command]})" if command in COMMANDS else ""
            self._note(item.path, f"command {command}{known} is not supported")

    def _loiter(self, item: PlanItem) -> None:
        """A circle about a centre, which begins on its eastern side."""
        turns, _, radius = item.params[:3]
        if not radius:
            self._note(item.path, "a loiter without a radius is not supported")
            return
        if turns != 1:
            self._note(item.path, f"{turns or 0:g} turns become one")
        x, y = self._place(self._position(item))
        left = radius < 0.0
        circle = {"at": [x + abs(radius), y], "heading": pi / 2 if left else -pi / 2, "radius": abs(radius)}
        task = {"circle": circle | {"turn": "left" if left else "right"}, "altitude": self._altitude(item)}
        self._add("loiter", task, item.path)

    def _position(self, item: PlanItem) -> LatLon:
        return self.doc.position(item.params[4:6], (*item.path, "params"))

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
        polygon: dict[str, Any] = {"outline": _metres(survey.polygon, self.origin), "angle": heading(survey.angle)}
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

    def _place(self, position: LatLon) -> list[float]:
        return _metres([position], self.origin)[0]

    def _add(self, kind: str, task: dict[str, Any], path: KeyPath) -> None:
        task = {"name": f"{kind}_{self.counts[kind]}"} | task
        self.counts[kind] += 1
        _checked(self.doc, TaskEntry, task, path)
        self.found.mission["tasks"].append(task)


# writing .plan files

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
"""Waypoints (n, 4): x, y, z in m and heading in rad; or several such, with circles between them."""


def to_plans(
    routes: Sequence[tuple[str, Waypoints]],
    mission: MissionSection | Mapping[str, Any],
    origin: Origin,
    *,
    vehicle: str = "fixed_wing",
    firmware: str = "px4",
    speed: float = 17.5,
    tolerance: float = 1.0,
) -> dict[str, dict[str, Any]]:
    """Return a plan per vehicle: take-off, waypoints (thinned to `tolerance` m), return.

    The home is the mission's base, its zones are exclusion fences; `speed` in m/s.
    """
    for kind, chosen, known in (("vehicle", vehicle, qgc_plan.VEHICLES), ("firmware", firmware, qgc_plan.FIRMWARE)):
        if chosen not in known:
            raise unknown_name(f"{kind} of a .plan file", chosen, known)
    mission = _mission(mission)
    ground = mission.base[2] if len(mission.base) == 4 else 0.0
    latitude, longitude = _degrees([mission.base[:2]], origin)[0]
    fences = []
    for zone in mission.zones:
        if zone.circle is not None:
            at = _degrees([zone.circle.at], origin)[0]
            fences.append(PlanFence(False, center=(at[0], at[1]), radius=zone.circle.radius))
        else:
            assert zone.polygon is not None
            clockwise = zone.polygon[::-1] if _counter_clockwise(zone.polygon) else zone.polygon
            fences.append(PlanFence(False, polygon=tuple((row[0], row[1]) for row in _degrees(clockwise, origin))))
    cruise, hover = (STANDING_SPEED, speed) if vehicle == "quad" else (speed, STANDING_SPEED)
    # aircraft hold their speed through the air, others over the ground; the throttle does not change
    change = PlanItem(
        qgc_plan.CHANGE_SPEED, qgc_plan.MISSION_FRAME, (int(vehicle != "fixed_wing"), speed, -1, 0, 0, 0, 0)
    )
    return {
        name: write_plan(
            _plan_items(waypoints, origin, ground, tolerance, change),
            (latitude, longitude, round(origin.height_m + ground, 3)),
            fences,
            vehicle=vehicle,
            firmware=firmware,
            cruise_speed=cruise,
            hover_speed=hover,
        )
        for name, waypoints in routes
    }


def thinned(waypoints: Floats, tolerance: float) -> Floats:
    """Return the waypoints (n, 4) whose straight connections stay within `tolerance` m of all (Douglas-Peucker)."""
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
    """Return the distances in m of points from the stretch between two others."""
    along = end - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - start - share[:, None] * along, axis=1))


def _plan_items(
    waypoints: Waypoints, origin: Origin, ground: float, tolerance: float, change: PlanItem
) -> list[PlanItem]:
    """Return take-off at the first waypoint, the speed, the others, the return; nothing for a vehicle that stays."""
    parts = [waypoints] if isinstance(waypoints, np.ndarray) else list(waypoints)
    items: list[PlanItem] = []

    def add(command: int, options: tuple[float | None, ...], at: tuple[float, float, float]) -> None:
        latitude, longitude = _degrees([at[:2]], origin)[0]
        params = (*options, latitude, longitude, round(at[2] - ground, 3))
        items.append(PlanItem(command, qgc_plan.RELATIVE_FRAME, params))

    for part in parts:
        if isinstance(part, LoiterCircles):
            radius = -part.radius if part.left else part.radius
            add(qgc_plan.LOITER_TURNS, (part.turns, 0, radius, 1), (part.x, part.y, part.z))
            continue
        for x, y, z, _ in thinned(part, tolerance).tolist():
            add(qgc_plan.WAYPOINT if items else qgc_plan.TAKEOFF, (0, 0, 0, None), (x, y, z))
    home = PlanItem(qgc_plan.RETURN, qgc_plan.MISSION_FRAME, (0,) * 7)
    return [items[0], change, *items[1:], home] if items else []
