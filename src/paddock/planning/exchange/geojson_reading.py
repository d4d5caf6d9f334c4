"""Goes through GeoJSON and makes tasks, zones and a base of its features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import atan2, hypot
from typing import Any

from paddock.planning.exchange.document import Document, Imported, Names
from paddock.planning.exchange.places import heading, rounded, to_local
from paddock.scenario.problems import KeyPath
from paddock.scenario.tasks import NoFlyZone, Task
from paddock.world.geodesy import Origin

GEOMETRIES = ("Point", "LineString", "Polygon")
COMMON = {"name", "kind", "zone", "altitude_m", "earliest_s", "latest_s"}
USED = {  # properties of each kind of feature beside the common ones
    "point": {"heading_deg"},
    "line": set[str](),
    "circle": {"heading_deg", "radius_m", "turn"},
    "area": {"spacing_m", "passes", "side"},
    "polygon": {"spacing_m", "camera", "angle_deg", "margin_m"},
    "zone": {"radius_m"},
    "base": {"heading_deg"},
    "route": set[str](),
}
KINDS = {"Point": ("point", "circle", "base"), "LineString": ("line", "area", "route"), "Polygon": ("polygon",)}
"""What may be drawn as each geometry, the usual first; a point of a `route` is one that has no second."""


class Reader:
    """Goes through the features of a document."""

    def __init__(self, doc: Document, origin: Origin) -> None:
        """Take a document whose positions are wanted in metres about an origin."""
        self.doc, self.origin = doc, origin
        self.found = Imported({"tasks": [], "zones": []})
        self.unused: Counter[str] = Counter()
        self.names = {"tasks": Names(self.found.notes), "zones": Names(self.found.notes)}

    def read(self) -> None:
        """Read all features into `found`."""
        if "crs" in self.doc.root:
            self.found.notes.append("crs is not used: positions are WGS 84 (RFC 7946)")
        for properties, geometry, path in self._features():
            self._feature(properties, geometry, path)
        for key, count in self.unused.items():
            self.found.notes.append(f"property {key!r} of {count} feature{'s' * (count > 1)} is not used")

    def _features(self) -> Iterator[tuple[Mapping[str, Any], Any, KeyPath]]:
        """Properties and geometry of all features, with the path to each geometry."""
        root, kind = self.doc.root, self.doc.root.get("type")
        if kind == "FeatureCollection":
            features = self.doc.items(root.get("features"), ("features",))
            for k, feature in enumerate(features):
                yield self._parts(self.doc.mapping(feature, ("features", k)), ("features", k))
        elif kind == "Feature":
            yield self._parts(root, ())
        elif isinstance(kind, str) and (kind.removeprefix("Multi") in GEOMETRIES or kind == "GeometryCollection"):
            yield {}, root, ()
        else:
            self.doc.refuse(("type",), f"GeoJSON has a type such as 'FeatureCollection', not {kind!r}")

    def _parts(self, feature: Mapping[str, Any], path: KeyPath) -> tuple[Mapping[str, Any], Any, KeyPath]:
        if feature.get("type") != "Feature":
            self.doc.refuse((*path, "type"), f"expected a 'Feature', not {feature.get('type')!r}")
        properties = feature.get("properties")
        properties = {} if properties is None else self.doc.mapping(properties, (*path, "properties"))
        return properties, feature.get("geometry"), (*path, "geometry")

    def _feature(self, properties: Mapping[str, Any], geometry: Any, path: KeyPath) -> None:
        named = properties.get("name") or ".".join(map(str, path[:-1])) or "the geometry"
        if geometry is None:
            self.found.notes.append(f"feature {named!r} has no geometry and is left out")
            return
        kind = self.doc.mapping(geometry, path).get("type")
        where = (*path, "coordinates")
        if kind in GEOMETRIES:
            self._shape(properties, kind, geometry.get("coordinates"), where)
        elif isinstance(kind, str) and kind.removeprefix("Multi") in GEOMETRIES:
            for k, part in enumerate(self.doc.items(geometry.get("coordinates"), where)):
                self._shape(properties, kind.removeprefix("Multi"), part, (*where, k))
        elif kind == "GeometryCollection":
            self.found.notes.append(f"feature {named!r} is a GeometryCollection and is left out")
        else:
            self.doc.refuse((*path, "type"), f"unknown geometry {kind!r}; valid: {', '.join(GEOMETRIES)} and Multi...")

    def _shape(self, properties: Mapping[str, Any], geometry: str, coordinates: Any, path: KeyPath) -> None:
        """One Point, LineString or Polygon."""
        zone = properties.get("zone", False)
        kind = "zone" if zone is True else properties.get("kind", KINDS[geometry][0])
        valid = ("polygon",) if geometry == "Polygon" else (*KINDS[geometry], "route")
        if kind not in (("zone",) if zone is True and geometry != "LineString" else valid):
            self.doc.refuse(path, f"a {geometry} is one of {', '.join(valid)} or a zone, not {kind!r}")
        self.unused.update(key for key in properties if key not in COMMON | USED[kind])
        if kind == "route":
            self.found.notes.append(f"route {properties.get('name', '')!r} is left out: routes are planned")
        else:
            kind = "round_zone" if kind == "zone" and geometry == "Point" else kind
            getattr(self, f"_{kind}")(Fields(self.doc, properties, path), coordinates, path)

    def _points(self, value: Any, path: KeyPath, least: int) -> list[list[float]]:
        positions = self.doc.items(value, path)
        if len(positions) < least:
            self.doc.refuse(path, f"expected at least {least} positions, not {len(positions)}")
        places = [self.doc.pair(position, (*path, k), reversed_=True) for k, position in enumerate(positions)]
        return rounded(to_local(places, self.origin))

    def _place(self, value: Any, path: KeyPath) -> list[float]:
        return rounded(to_local([self.doc.pair(value, path, reversed_=True)], self.origin))[0]

    def _rings(self, value: Any, path: KeyPath) -> list[list[list[float]]]:
        rings = []
        for k, ring in enumerate(self.doc.items(value, path)):
            points = self._points(ring, (*path, k), 4)
            if points[0] != points[-1]:
                self.doc.refuse((*path, k), "a ring ends where it begins: its last position repeats the first")
            rings.append(points[:-1])
        if not rings:
            self.doc.refuse(path, "a Polygon has at least one ring")
        return rings

    def _add(self, fields: Fields, task: dict[str, Any], path: KeyPath, suffix: str = "") -> None:
        """Keep a task, checked."""
        number = len(self.found.mission["tasks"])
        wanted = fields.given.get("name")
        task = {"name": self.names["tasks"].take(wanted and f"{wanted}{suffix}", f"task_{number}")} | task
        task |= fields.common()
        self.doc.check(Task, task, path)
        self.found.mission["tasks"].append(task)

    def _point(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        self._add(fields, {"point": {"at": self._place(coordinates, path)} | fields.heading()}, path)

    def _circle(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        circle = {"at": self._place(coordinates, path)} | fields.heading(needed=True)
        circle |= {"radius": fields.number("radius_m"), "turn": fields.given.get("turn", "left")}
        self._add(fields, {"circle": circle}, path)

    def _line(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        points = self._points(coordinates, path, 2)
        for k in range(len(points) - 1):
            line = _stretch(points[k], points[k + 1])
            self._add(fields, {"line": line}, path, f"_{k}" if len(points) > 2 else "")

    def _area(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        points = self._points(coordinates, path, 2)
        if len(points) > 2:
            self.doc.refuse(path, f"an area is drawn as its first pass, of two positions, not {len(points)}")
        area = _stretch(*points) | {"spacing": fields.number("spacing_m"), "side": fields.given.get("side", "left")}
        self._add(fields, {"area": area | {"passes": fields.given.get("passes")}}, path)

    def _polygon(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        outline, *holes = self._rings(coordinates, path)
        polygon: dict[str, Any] = {"outline": outline} | ({"holes": holes} if holes else {})
        for key, field in (("spacing_m", "spacing"), ("margin_m", "margin")):
            if fields.given.get(key) is not None:
                polygon[field] = fields.number(key)
        if fields.given.get("camera") is not None:
            polygon["camera"] = dict(self.doc.mapping(fields.given["camera"], path))
        if fields.given.get("angle_deg") is not None:
            polygon["angle"] = heading(fields.number("angle_deg"))
        if "spacing" not in polygon and "camera" not in polygon:
            self.doc.refuse(path, "a polygon task needs the property spacing_m or camera (or zone: true)")
        self._add(fields, {"polygon": polygon}, path)

    def _zone(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        outline, *holes = self._rings(coordinates, path)
        if holes:
            self.found.notes.append(f"{len(holes)} holes of zone {fields.given.get('name', '')!r} are closed")
        self._add_zone(fields, {"polygon": outline}, path)

    def _round_zone(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        circle = {"at": self._place(coordinates, path), "radius": fields.number("radius_m")}
        self._add_zone(fields, {"circle": circle}, path)

    def _add_zone(self, fields: Fields, zone: dict[str, Any], path: KeyPath) -> None:
        default = f"zone_{len(self.found.mission['zones'])}"
        zone = {"name": self.names["zones"].take(fields.given.get("name"), default)} | zone
        self.doc.check(NoFlyZone, zone, path)
        self.found.mission["zones"].append(zone)

    def _base(self, fields: Fields, coordinates: Any, path: KeyPath) -> None:
        x, y = self._place(coordinates, path)
        self.found.mission["base"] = [x, y, fields.heading().get("heading", 0.0)]


class Fields:
    """The properties of a feature."""

    def __init__(self, doc: Document, given: Mapping[str, Any], path: KeyPath) -> None:
        self.doc, self.given, self.path = doc, given, path

    def number(self, key: str) -> float:
        """A property that must be there."""
        if key not in self.given:
            self.doc.refuse(self.path, f"the feature needs the property {key}")
        cut = self.path.index("geometry") if "geometry" in self.path else 0
        return self.doc.number(self.given[key], (*self.path[:cut], "properties", key))

    def heading(self, needed: bool = False) -> dict[str, float]:
        """The heading, or nothing where there is none."""
        if not needed and self.given.get("heading_deg") is None:
            return {}
        return {"heading": heading(self.number("heading_deg"))}

    def common(self) -> dict[str, Any]:
        """What any task may have."""
        found: dict[str, Any] = {}
        if self.given.get("altitude_m") is not None:
            found["altitude"] = self.number("altitude_m")
        if self.given.get("earliest_s") is not None or self.given.get("latest_s") is not None:
            found["window"] = [self.number("earliest_s"), self.number("latest_s")]
        return found


def _stretch(start: Sequence[float], end: Sequence[float]) -> dict[str, Any]:
    east, north = end[0] - start[0], end[1] - start[1]
    return {"at": list(start), "heading": atan2(north, east), "length": hypot(east, north)}
