"""GeoJSON (RFC 7946) as plain features: longitude and latitude on WGS 84, rings closed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddock.wire.json_document import Document, KeyPath, LatLon

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


def feature_collection(features: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the root object of a GeoJSON file."""
    return {"type": "FeatureCollection", "features": list(features)}
