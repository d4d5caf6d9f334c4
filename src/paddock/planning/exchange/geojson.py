"""Tasks, zones and routes as GeoJSON (RFC 7946): longitude and latitude on WGS 84, rings closed, outer ones
counter-clockwise.

| feature | geometry | properties |
| --- | --- | --- |
| point task | Point | `heading_deg` (none: any) |
| line task | LineString of two positions; more make a task each | |
| circle task, `kind: circle` | Point on the circle | `heading_deg`, `radius_m`, `turn` |
| area task, `kind: area` | LineString, the first pass | `spacing_m`, `passes`, `side` |
| polygon task | Polygon, with holes | `spacing_m` or `camera`; `angle_deg`, `margin_m` |
| no-fly zone, `zone: true` | Polygon, or Point | `radius_m` of a point |
| base, `kind: base` | Point | `heading_deg` |
| route, `kind: route` | LineString with heights above the ellipsoid | |

All have a `name`, tasks also `altitude_m` (m), `earliest_s` and `latest_s` (s). Headings are degrees clockwise from
north. Tasks that are drawn from a seed, and those of events, are not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, degrees, sin
from typing import Any

import numpy as np

from paddock.planning.exchange.document import TEXT, Document, Imported, document
from paddock.planning.exchange.geojson_reading import Reader
from paddock.planning.exchange.places import bearing, counter_clockwise, plain, to_places
from paddock.scenario import Mission
from paddock.scenario.marked_yaml import plain as plain_values
from paddock.scenario.problems import Marks, validated
from paddock.scenario.tasks import NoFlyZone, Task
from paddock.world.columns import Floats
from paddock.world.geodesy import Origin

Routes = Sequence[tuple[str, Floats]]
"""Names of vehicles with their waypoints (n, 4): x, y, z in m and heading in rad."""


def tasks_from_geojson(source: str | Mapping[str, Any] | Document, origin: Origin, name: str = TEXT) -> Imported:
    """Read tasks, zones and base from GeoJSON text or an object; `name` is that of its file in errors."""
    reader = Reader(source if isinstance(source, Document) else document(source, name), origin)
    reader.read()
    return reader.found


def to_geojson(mission: Mission | Mapping[str, Any], origin: Origin, routes: Routes = ()) -> dict[str, Any]:
    """Base, tasks and zones of a mission section and the routes of vehicles, as a FeatureCollection."""
    if not isinstance(mission, Mission):
        mission = validated(Mission, plain_values(mission), Marks(), ("mission",))
    x, y, course = mission.base[0], mission.base[1], mission.base[-1]
    base = {"kind": "base", "heading_deg": bearing(course)}
    features = [_feature("base", base, "Point", _positions([[x, y]], origin)[0])]
    features += [_task(task, origin) for task in mission.tasks]
    features += [_zone(zone, origin) for zone in mission.zones]
    features += [_route(name, points, origin) for name, points in routes]
    return {"type": "FeatureCollection", "features": features}


def _feature(name: str, properties: Mapping[str, Any], geometry: str, coordinates: Any) -> dict[str, Any]:
    shape = {"type": geometry, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"name": name, **properties}, "geometry": shape}


def _positions(points: Any, origin: Origin) -> list[list[float]]:
    """Longitude and latitude of local points."""
    return plain(to_places(points, origin)[:, ::-1])


def _ring(points: Sequence[Sequence[float]], origin: Origin, outer: bool = True) -> list[list[float]]:
    turned = list(points) if counter_clockwise(points) == outer else list(points)[::-1]
    return _positions([*turned, turned[0]], origin)


def _task(task: Task, origin: Origin) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": task.kind}
    if task.altitude is not None:
        properties["altitude_m"] = task.altitude
    if task.window is not None:
        properties |= {"earliest_s": task.window[0], "latest_s": task.window[1]}
    if task.polygon is not None:
        polygon = task.polygon
        told = {"spacing_m": polygon.spacing, "camera": polygon.camera and polygon.camera.model_dump()}
        told |= {"angle_deg": None if polygon.angle is None else round(90.0 - degrees(polygon.angle), 6)}
        told |= {"margin_m": polygon.margin or None}
        rings = [_ring(polygon.outline, origin), *(_ring(hole, origin, outer=False) for hole in polygon.holes)]
        return _feature(task.name, properties | _given(told), "Polygon", rings)
    geometry, coordinates, told = _plain_task(task, origin)
    return _feature(task.name, properties | told, geometry, coordinates)


def _given(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if value is not None}


def _plain_task(task: Task, origin: Origin) -> tuple[str, Any, dict[str, Any]]:
    """Geometry, coordinates and properties of a task that is no polygon."""
    shape: Any = task.shape
    turned = {} if shape.heading is None else {"heading_deg": bearing(shape.heading)}
    if task.kind == "point":
        return "Point", _positions([shape.at], origin)[0], turned
    if task.kind == "circle":
        return "Point", _positions([shape.at], origin)[0], turned | {"radius_m": shape.radius, "turn": shape.turn}
    (x, y), course = shape.at, shape.heading
    ends = _positions([[x, y], [x + shape.length * cos(course), y + shape.length * sin(course)]], origin)
    if task.kind == "line":
        return "LineString", ends, {}
    return "LineString", ends, {"spacing_m": shape.spacing, "passes": shape.passes, "side": shape.side}


def _zone(zone: NoFlyZone, origin: Origin) -> dict[str, Any]:
    if zone.circle is not None:
        told = {"zone": True, "radius_m": zone.circle.radius}
        return _feature(zone.name, told, "Point", _positions([zone.circle.at], origin)[0])
    assert zone.polygon is not None
    return _feature(zone.name, {"zone": True}, "Polygon", [_ring(zone.polygon, origin)])


def _route(name: str, points: Floats, origin: Origin) -> dict[str, Any]:
    """A line in space; nothing for a vehicle that goes nowhere."""
    if not len(points):
        return {"type": "Feature", "properties": {"name": name, "kind": "route"}, "geometry": None}
    latitude, longitude, height = origin.to_geodetic(np.asarray(points, dtype=np.float64)[:, :3])
    positions = plain(np.stack([longitude, latitude, np.round(height, 6)], axis=1))
    if len(positions) == 1:
        return _feature(name, {"kind": "route"}, "Point", positions[0])
    return _feature(name, {"kind": "route"}, "LineString", positions)
