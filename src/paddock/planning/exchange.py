"""Missions and routes from and to the files of other programs: GeoJSON here, `.plan` files in `qgc_missions.py`.

`read_mission` returns the fields of a scenario's `mission` section, and a note for each part that was not imported.

GeoJSON features:

| feature | geometry | properties |
| --- | --- | --- |
| point task | Point | `heading_deg` (default: any) |
| line task | LineString of two positions; more make a task each | |
| circle task, `kind: circle` | Point on the circle | `heading_deg`, `radius_m`, `turn` |
| area task, `kind: area` | LineString, the first pass | `spacing_m`, `passes`, `side` |
| polygon task | Polygon, with holes | `spacing_m` or `camera`; `angle_deg`, `margin_m`, `turns` |
| no-fly zone, `zone: true` | Polygon, or Point | `radius_m` and, of a polygon, `centre`, `floor_m`, `ceiling_m` |
| base, `kind: base` | Point | `heading_deg` |
| route, `kind: route` | LineString with heights above the ellipsoid | |

All have a `name`, tasks also `altitude_m` (m), `earliest_s` and `latest_s` (s). Headings are degrees clockwise from
north. A circular zone is written as the polygon around it, with its centre and radius. Generated tasks and tasks of
events are not written.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import degrees, pi, radians, remainder
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike

from paddock.compute.math import atan2, cos, hypot, sin
from paddock.planning.geometry.zones import DRAWN, CircleZone
from paddock.scenario import MissionSection
from paddock.scenario.marked_yaml import plain as plain_values
from paddock.scenario.marked_yaml import read_text
from paddock.scenario.problems import Marks, ScenarioError, validated
from paddock.scenario.tasks import CircleTask, NoFlyZone, PointTask, PolygonTask, TaskEntry
from paddock.wire.json_document import TEXT, Document, KeyPath, LatLon, parse_document
from paddock.wire.qgc_plan import read_plan
from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

GEOMETRIES = ("Point", "LineString", "Polygon")


@dataclass(frozen=True)
class Feature:
    """One Point, LineString or Polygon; a Multi... geometry becomes several features."""

    geometry: str  # one of GEOMETRIES; "" for a feature without usable geometry
    rings: tuple[tuple[LatLon, ...], ...]  # Point: ((position,),); LineString: (line,); Polygon: open rings
    properties: Mapping[str, Any]
    path: KeyPath  # to its coordinates
    skipped: str = ""  # why it has no usable geometry

    @property
    def positions(self) -> tuple[LatLon, ...]:
        """The only position of a point, the line, or the outline of a polygon."""
        return self.rings[0]


def read_features(doc: Document) -> list[Feature]:
    """Read the features of a FeatureCollection, a Feature or a geometry."""
    return [part for properties, geometry, path in _features(doc) for part in _parts(doc, properties, geometry, path)]


def _features(doc: Document) -> Iterator[tuple[Mapping[str, Any], Any, KeyPath]]:
    """Yield properties and geometry of all features with the path to the geometry."""
    root, kind = doc.root, doc.root.get("type")
    if kind == "FeatureCollection":
        for k, feature in enumerate(doc.items(root.get("features"), ("features",))):
            yield _split(doc, doc.mapping(feature, ("features", k)), ("features", k))
    elif kind == "Feature":
        yield _split(doc, root, ())
    elif isinstance(kind, str) and (kind.removeprefix("Multi") in GEOMETRIES or kind == "GeometryCollection"):
        yield {}, root, ()
    else:
        doc.refuse(("type",), f"GeoJSON has a type such as 'FeatureCollection', not {kind!r}")


def _split(doc: Document, feature: Mapping[str, Any], path: KeyPath) -> tuple[Mapping[str, Any], Any, KeyPath]:
    if feature.get("type") != "Feature":
        doc.refuse((*path, "type"), f"expected a 'Feature', not {feature.get('type')!r}")
    properties = feature.get("properties")
    properties = {} if properties is None else doc.mapping(properties, (*path, "properties"))
    return properties, feature.get("geometry"), (*path, "geometry")


def _parts(doc: Document, properties: Mapping[str, Any], geometry: Any, path: KeyPath) -> Iterator[Feature]:
    if geometry is None:
        yield Feature("", (), properties, path, "has no geometry")
        return
    kind = doc.mapping(geometry, path).get("type")
    coordinates, where = geometry.get("coordinates"), (*path, "coordinates")
    if kind in GEOMETRIES:
        yield Feature(kind, _rings(doc, kind, coordinates, where), properties, where)
    elif isinstance(kind, str) and kind.removeprefix("Multi") in GEOMETRIES:
        for k, part in enumerate(doc.items(coordinates, where)):
            single = kind.removeprefix("Multi")
            yield Feature(single, _rings(doc, single, part, (*where, k)), properties, (*where, k))
    elif kind == "GeometryCollection":
        yield Feature("", (), properties, path, "is a GeometryCollection")
    else:
        doc.refuse((*path, "type"), f"unknown geometry {kind!r}; valid: {', '.join(GEOMETRIES)} and Multi...")


def _rings(doc: Document, geometry: str, value: Any, path: KeyPath) -> tuple[tuple[LatLon, ...], ...]:
    if geometry == "Point":
        return ((doc.position(value, path, lon_first=True),),)
    if geometry == "LineString":
        return (_line(doc, value, path, 2),)
    rings = []
    for k, ring in enumerate(doc.items(value, path)):
        points = _line(doc, ring, (*path, k), 4)
        if points[0] != points[-1]:
            doc.refuse((*path, k), "a ring must be closed: its last position repeats the first")
        rings.append(points[:-1])
    if not rings:
        doc.refuse(path, "a Polygon has at least one ring")
    return tuple(rings)


def _line(doc: Document, value: Any, path: KeyPath, least: int) -> tuple[LatLon, ...]:
    positions = doc.items(value, path)
    if len(positions) < least:
        doc.refuse(path, f"expected at least {least} positions, not {len(positions)}")
    return tuple(doc.position(position, (*path, k), lon_first=True) for k, position in enumerate(positions))


def feature(name: str, properties: Mapping[str, Any], geometry: str, coordinates: Any) -> dict[str, Any]:
    """Return a GeoJSON feature; without a geometry type its geometry is null."""
    shape = {"type": geometry, "coordinates": coordinates} if geometry else None
    return {"type": "Feature", "properties": {"name": name, **properties}, "geometry": shape}


Source = str | Mapping[str, Any] | Document  # text of a file, its object, or a parsed document
Routes = Sequence[tuple[str, Floats]]  # names of vehicles with their waypoints (n, 4): x, y, z in m and heading in rad


@dataclass
class Imported:
    """A mission read from a file."""

    mission: dict[str, Any] = field(default_factory=dict)  # fields of a scenario's `mission` section
    notes: list[str] = field(default_factory=list)  # parts that were not imported, one line each


def read_mission(path: str | os.PathLike[str], origin: Origin) -> Imported:
    """Read tasks, zones and base from a GeoJSON or `.plan` file; positions become metres about the origin."""
    from paddock.planning.qgc_missions import mission_from_plan

    document = _read_document(path)
    return (
        mission_from_plan(document, origin) if "fileType" in document.root else mission_from_geojson(document, origin)
    )


def origin_in(path: str | os.PathLike[str]) -> tuple[float, float, float]:
    """Return latitude, longitude (deg) and height (m) of the planned home of a `.plan`, else of the first position."""
    doc = _read_document(path)
    if "fileType" in doc.root:
        home = read_plan(doc).home
        assert home is not None  # checked by `read_plan`
        return home[0], home[1], home[2] or 0.0
    for entry in read_features(doc):
        if entry.geometry:
            return (*entry.positions[0], 0.0)
    doc.refuse((), "no position to take the origin from")


def _read_document(path: str | os.PathLike[str]) -> Document:
    return parse_document(read_text(Path(path)), os.fspath(path))


class MissionReader:
    """Collects the fields of a mission, and notes."""

    def __init__(self, source: Source, origin: Origin, name: str) -> None:
        self.doc = source if isinstance(source, Document) else parse_document(source, name)
        self.origin = origin
        self.imported = Imported({"tasks": [], "zones": []})

    def add(self, kind: str, entry: dict[str, Any], path: KeyPath) -> None:
        """Add an entry of the tasks or zones; refuse one that a scenario would refuse."""
        try:
            validated(NoFlyZone if kind == "zones" else TaskEntry, entry, Marks())
        except ScenarioError as error:
            self.doc.refuse(path, error.problems[0])
        self.imported.mission[kind].append(entry)


def to_local(coordinates: ArrayLike, origin: Origin) -> Floats:
    """Return metres east and north (n, 2) of latitudes and longitudes in deg (n, 2), at the origin's height."""
    latitude, longitude = np.asarray(coordinates, dtype=np.float64).reshape(-1, 2).T
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


def metres_of(coordinates: Sequence[LatLon], origin: Origin) -> list[list[float]]:
    """Return local metres in steps of 10 nm: finer than the degrees of a file."""
    return (np.round(to_local(coordinates, origin), 8) + 0.0).tolist()  # type: ignore[no-any-return]  # + 0.0: no -0.0


def degrees_of(points: ArrayLike, origin: Origin) -> list[list[float]]:
    """Return latitude and longitude in steps of 1e-10 deg, 0.01 mm."""
    return np.round(to_places(points, origin), 10).tolist()  # type: ignore[no-any-return]


def counter_clockwise(ring: Sequence[Sequence[float]]) -> bool:
    """Return whether a ring of points runs counter-clockwise."""
    return bool(shapely.is_ccw(shapely.linearrings(np.array(ring))))


COMMON = {"name", "kind", "zone", "altitude_m", "earliest_s", "latest_s"}
FIELDS: dict[str, dict[str, str]] = {  # of each kind of task: property of a feature -> field of its shape
    "point": {"heading_deg": "heading"},
    "line": {},
    "circle": {"heading_deg": "heading", "radius_m": "radius", "turn": "turn"},
    "area": {"spacing_m": "spacing", "passes": "passes", "side": "side"},
    "polygon": {
        "spacing_m": "spacing",
        "camera": "camera",
        "angle_deg": "angle",
        "margin_m": "margin",
        "turns": "turns",
    },
}  # fmt: skip
NEEDED = {"circle": ("heading_deg", "radius_m"), "area": ("spacing_m",)}
USED = {**FIELDS, "zone": ("radius_m", "centre", "floor_m", "ceiling_m"), "base": ("heading_deg",), "route": ()}
"""Properties of each kind of feature besides the common ones."""
KINDS = {
    "Point": ("point", "circle", "base", "route"),
    "LineString": ("line", "area", "route"),
    "Polygon": ("polygon",),
}
"""Kinds that each geometry may have, the default first; a route of one point is a Point."""


def mission_from_geojson(source: Source, origin: Origin, name: str = TEXT) -> Imported:
    """Read tasks, zones and base from GeoJSON; `name` is the file name in errors."""
    return _GeojsonReader(source, origin, name).read()


class _GeojsonReader(MissionReader):
    def __init__(self, source: Source, origin: Origin, name: str) -> None:
        super().__init__(source, origin, name)
        self.unused: Counter[str] = Counter()
        self.names: dict[str, set[str]] = {"tasks": set(), "zones": set()}

    def read(self) -> Imported:
        if "crs" in self.doc.root:
            self.imported.notes.append("crs is not used: positions are WGS 84 (RFC 7946)")
        for each in read_features(self.doc):
            if each.skipped:
                name = each.properties.get("name") or ".".join(map(str, each.path[:-1])) or "the geometry"
                self.imported.notes.append(f"feature {name!r} {each.skipped} and is skipped")
                continue
            properties, valid = each.properties, KINDS[each.geometry]
            zone = properties.get("zone", False) is True
            kind = "zone" if zone else properties.get("kind", valid[0])
            if kind not in (("zone",) if zone and each.geometry != "LineString" else valid):
                self.doc.refuse(each.path, f"a {each.geometry} is one of {', '.join(valid)} or a zone, not {kind!r}")
            self.unused.update(key for key in properties if key not in {*COMMON, *USED[kind]})
            rings = [metres_of(ring, self.origin) for ring in each.rings]
            if kind == "route":
                self.imported.notes.append(f"route {properties.get('name', '')!r} is skipped: routes are planned")
            elif kind == "base":
                course = properties.get("heading_deg")
                self.imported.mission["base"] = [
                    *rings[0][0],
                    0.0 if course is None else self._value(each, "heading_deg"),
                ]
            elif kind == "zone":
                self._add_zone(each, rings)
            else:
                for k, shape in enumerate(self._shapes(kind, each, rings)):
                    self._add_task(each, {kind: shape}, f"_{k}" if kind == "line" and len(rings[0]) > 2 else "")
        for key, count in self.unused.items():
            self.imported.notes.append(f"property {key!r} of {count} feature{'s' * (count > 1)} is not used")
        return self.imported

    def _shapes(self, kind: str, feature: Feature, rings: list[list[list[float]]]) -> Iterator[dict[str, Any]]:
        """Yield the shape of each task of a feature."""
        points, properties, needed = rings[0], feature.properties, NEEDED.get(kind, ())
        if kind == "area" and len(points) > 2:
            self.doc.refuse(feature.path, f"an area is its first pass, of two positions, not {len(points)}")
        keys = [key for key in FIELDS[kind] if key in needed or properties.get(key) is not None]
        own = {FIELDS[kind][key]: self._value(feature, key) for key in keys}
        if kind == "polygon" and not {"spacing", "camera"} & own.keys():
            self.doc.refuse(feature.path, "a polygon task needs the property spacing_m or camera (or zone: true)")
        if kind == "polygon":
            yield {"outline": points} | ({"holes": rings[1:]} if rings[1:] else {}) | own
        elif kind in ("line", "area"):
            yield from (_stretch(start, end) | own for start, end in pairwise(points))
        else:
            yield {"at": points[0]} | own

    def _value(self, feature: Feature, key: str) -> Any:
        """Return a property as the field of a shape."""
        if key == "camera":
            return dict(self.doc.mapping(feature.properties[key], feature.path))
        if not key.endswith(("_m", "_deg")):
            return feature.properties[key]
        number = self._number(feature, key)
        return heading(number) if key.endswith("_deg") else number

    def _add_zone(self, feature: Feature, rings: list[list[list[float]]]) -> None:
        if feature.geometry == "Point":
            shape: dict[str, Any] = {"circle": {"at": rings[0][0], "radius": self._number(feature, "radius_m")}}
        elif {"radius_m", "centre"} <= feature.properties.keys():  # the polygon around a circle
            position = self.doc.position(feature.properties["centre"], feature.path, lon_first=True)
            centre = metres_of([position], self.origin)[0]
            shape = {"circle": {"at": centre, "radius": self._number(feature, "radius_m")}}
        else:
            shape = {"polygon": rings[0]}
        if rings[1:]:
            name = feature.properties.get("name", "")
            self.imported.notes.append(f"{len(rings) - 1} holes of zone {name!r} are closed")
        for name in ("floor", "ceiling"):
            if feature.properties.get(f"{name}_m") is not None:
                shape[name] = self._number(feature, f"{name}_m")
        default = f"zone_{len(self.imported.mission['zones'])}"
        self.add("zones", {"name": self._name("zones", feature.properties.get("name"), default)} | shape, feature.path)

    def _add_task(self, feature: Feature, task: dict[str, Any], suffix: str) -> None:
        title, properties = feature.properties.get("name"), feature.properties
        name = self._name("tasks", title and f"{title}{suffix}", f"task_{len(self.imported.mission['tasks'])}")
        task = {"name": name} | task
        if properties.get("altitude_m") is not None:
            task["altitude"] = self._number(feature, "altitude_m")
        if properties.get("earliest_s") is not None or properties.get("latest_s") is not None:
            task["window"] = [self._number(feature, "earliest_s"), self._number(feature, "latest_s")]
        self.add("tasks", task, feature.path)

    def _number(self, feature: Feature, key: str) -> float:
        if key not in feature.properties:
            self.doc.refuse(feature.path, f"the feature needs the property {key}")
        cut = feature.path.index("geometry") if "geometry" in feature.path else 0
        return self.doc.number(feature.properties[key], (*feature.path[:cut], "properties", key))

    def _name(self, kind: str, title: Any, default: str) -> str:
        """Return a unique name that a scenario accepts, close to the wanted one; note a change."""
        requested = str(title) if isinstance(title, str | int) and str(title) else default
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", requested)
        name = base = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
        number = 2
        while name in self.names[kind]:
            name, number = f"{base}_{number}", number + 1
        self.names[kind].add(name)
        if name != requested:
            self.imported.notes.append(f"name {requested!r} becomes {name!r}")
        return name


def _stretch(start: Sequence[float], end: Sequence[float]) -> dict[str, Any]:
    east, north = end[0] - start[0], end[1] - start[1]
    return {"at": list(start), "heading": atan2(north, east), "length": hypot(east, north)}


def to_geojson(mission: MissionSection | Mapping[str, Any], origin: Origin, routes: Routes = ()) -> dict[str, Any]:
    """Return base, tasks and zones of a mission section and the routes of vehicles as a FeatureCollection."""
    mission = mission_section(mission)
    x, y, course = mission.base[0], mission.base[1], mission.base[-1]
    base = {"kind": "base", "heading_deg": bearing(course)}
    features = [feature("base", base, "Point", _positions([[x, y]], origin)[0])]
    features += [_task_feature(task, origin) for task in mission.tasks]
    for zone in mission.zones:
        limits = {"floor_m": zone.floor, "ceiling_m": zone.ceiling}
        properties: dict[str, Any] = {"zone": True} | {key: value for key, value in limits.items() if value is not None}
        if zone.circle is not None:
            (x, y), radius = zone.circle.at, zone.circle.radius
            properties |= {"radius_m": radius, "centre": _positions([(x, y)], origin)[0]}
            outline = CircleZone(zone.name, x, y, radius / cos(pi / DRAWN)).outline()  # around the circle
            features.append(feature(zone.name, properties, "Polygon", [_closed(outline[:-1].tolist(), origin)]))
        else:
            assert zone.polygon is not None
            features.append(feature(zone.name, properties, "Polygon", [_closed(zone.polygon, origin)]))
    for name, points in routes:
        if not len(points):  # a vehicle that stays
            features.append(feature(name, {"kind": "route"}, "", None))
            continue
        latitude, longitude, height = origin.to_geodetic(np.asarray(points, dtype=np.float64)[:, :3])
        positions = np.round(np.stack([longitude, latitude, np.round(height, 6)], axis=1), 10).tolist()
        geometry = ("Point", positions[0]) if len(positions) == 1 else ("LineString", positions)
        features.append(feature(name, {"kind": "route"}, *geometry))
    return {"type": "FeatureCollection", "features": features}


def mission_section(mission: MissionSection | Mapping[str, Any]) -> MissionSection:
    """Return a mission section, checked if it is given as a mapping."""
    if isinstance(mission, MissionSection):
        return mission
    return validated(MissionSection, plain_values(mission), Marks(), ("mission",))


def _positions(points: Any, origin: Origin) -> list[list[float]]:
    """Return longitude and latitude of local points."""
    return [position[::-1] for position in degrees_of(points, origin)]


def _closed(points: Sequence[Sequence[float]], origin: Origin, outer: bool = True) -> list[list[float]]:
    """Return a closed ring; outlines are counter-clockwise, holes clockwise."""
    turned = list(points) if counter_clockwise(points) == outer else list(points)[::-1]
    return _positions([*turned, turned[0]], origin)


def _task_feature(task: TaskEntry, origin: Origin) -> dict[str, Any]:
    shape, (earliest, latest) = task.shape, task.window or (None, None)
    common = {"kind": task.kind, "altitude_m": task.altitude, "earliest_s": earliest, "latest_s": latest}
    own = {key: _property(key, getattr(shape, field)) for key, field in FIELDS[task.kind].items()}
    properties = {key: value for key, value in {**common, **own}.items() if value is not None}
    if isinstance(shape, PolygonTask):
        rings = [_closed(shape.outline, origin), *(_closed(hole, origin, outer=False) for hole in shape.holes)]
        return feature(task.name, properties, "Polygon", rings)
    if isinstance(shape, PointTask | CircleTask):
        return feature(task.name, properties, "Point", _positions([shape.at], origin)[0])
    (x, y), course = shape.at, shape.heading
    ends = _positions([[x, y], [x + shape.length * cos(course), y + shape.length * sin(course)]], origin)
    return feature(task.name, properties, "LineString", ends)


def _property(key: str, value: Any) -> Any:
    """Return a field of a shape as a property; None: it is left out."""
    if value is None or (key, value) in (("margin_m", 0.0), ("turns", "auto")):
        return None
    if key == "camera":
        return value.model_dump()
    if key == "angle_deg":
        return round(90.0 - degrees(value), 6)
    return bearing(value) if key == "heading_deg" else value
