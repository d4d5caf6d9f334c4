"""GeoJSON: the rules of RFC 7946, coordinates against pymap3d, round trips, and errors with their location."""

import json
import re
from itertools import pairwise
from math import pi, radians
from pathlib import Path
from typing import Any

import numpy as np
import pymap3d
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.errors import PaddockError
from paddock.planning.exchange import (
    bearing,
    heading,
    mission_from_geojson,
    read_mission,
    to_geojson,
    to_local,
    to_places,
)
from paddock.planning.random_missions import generate
from paddock.scenario import load_scenario
from paddock.wire.json_document import document_text
from paddock.world.geodesy import Origin

ZURICH = Origin(47.3977, 8.5456, 488.0)

MISSION: dict[str, Any] = {
    "base": [10, -20, 0.5],
    "tasks": [
        {"name": "gate", "point": {"at": [300, 200], "heading": 1.2}, "window": [60, 300]},
        {"name": "free", "point": {"at": [-300, 200]}, "altitude": 80},
        {"name": "road", "line": {"at": [0, 0], "heading": -2.5, "length": 150}},
        {"name": "ring", "circle": {"at": [500, 0], "heading": 0.3, "radius": 90, "turn": "right"}},
        {"name": "field", "area": {"at": [0, 900], "heading": 1, "length": 400, "spacing": 170, "passes": 3}},
        {"name": "wood", "polygon": {
            "outline": [[0, 0], [0, 500], [400, 500], [400, 0]], "holes": [[[100, 100], [200, 100], [150, 200]]],
            "spacing": 60, "angle": 0.7, "margin": 5}},
        {"name": "shore", "polygon": {"outline": [[0, 0], [90, 0], [90, 90]], "camera": {
            "width_px": 4000, "height_px": 3000, "sensor_width_mm": 6.3, "sensor_height_mm": 4.7,
            "focal_length_mm": 4.5, "side_overlap": 0.6}}},
    ],
    "zones": [
        {"name": "tower", "circle": {"at": [-500, -500], "radius": 150}, "floor": 30, "ceiling": 120},
        {"name": "city", "polygon": [[-900, 0], [-800, 0], [-800, 100]]},
    ],
}  # fmt: skip


def features(document: dict[str, Any]) -> dict[str, Any]:
    return {feature["properties"]["name"]: feature for feature in document["features"]}


def signed_area(ring: list[list[float]]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(ring)) / 2


def check_rfc(document: dict[str, Any]) -> None:
    """What RFC 7946 demands of a feature collection: sections 3.1, 3.2, 3.3."""
    assert document["type"] == "FeatureCollection" and "crs" not in document
    for feature in document["features"]:
        assert feature["type"] == "Feature" and {"geometry", "properties"} <= set(feature)
        kind, coordinates = feature["geometry"]["type"], feature["geometry"]["coordinates"]
        lines = {"Point": [[coordinates]], "LineString": [coordinates], "Polygon": coordinates}[kind]
        for line in lines:
            for position in line:
                assert 2 <= len(position) <= 3
                assert -180 <= position[0] <= 180 and -90 <= position[1] <= 90
        if kind == "LineString":
            assert len(coordinates) >= 2
        if kind == "Polygon":
            assert all(len(ring) >= 4 and ring[0] == ring[-1] for ring in coordinates)
            assert signed_area(coordinates[0]) > 0
            assert all(signed_area(hole) < 0 for hole in coordinates[1:])


def test_the_rules_of_the_rfc() -> None:
    routes = [("uav[0]", np.array([[0, 0, 100, 0], [500, 20, 120, 1.0]]))]
    document = to_geojson(MISSION, ZURICH, routes)
    check_rfc(document)
    json.dumps(document, allow_nan=False)
    assert list(features(document)) == [
        "base", "gate", "free", "road", "ring", "field", "wood", "shore", "tower", "city", "uav[0]",
    ]  # fmt: skip


def test_coordinates_are_those_of_pymap3d() -> None:
    parts = features(to_geojson(MISSION, ZURICH, [("uav", np.array([[0, 0, 100, 0], [5000, -2000, 120, 1.0]]))]))
    at = (ZURICH.latitude_deg, ZURICH.longitude_deg, ZURICH.height_m)
    positions = {name: part["geometry"]["coordinates"] for name, part in parts.items()}
    positions["tower"] = parts["tower"]["properties"]["centre"]
    for name, x, y in (("gate", 300, 200), ("tower", -500, -500), ("base", 10, -20)):
        lon, lat = positions[name]
        east, north, _ = pymap3d.geodetic2enu(lat, lon, ZURICH.height_m, *at)
        assert (east, north) == pytest.approx((x, y), abs=2e-5)
    for position, enu in zip(parts["uav"]["geometry"]["coordinates"], [(0, 0, 100), (5000, -2000, 120)], strict=True):
        lat, lon, height = pymap3d.enu2geodetic(*enu, *at)
        assert position[:2] == pytest.approx([lon, lat], abs=1e-9)
        assert position[2] == pytest.approx(height, abs=1e-3)


def test_properties() -> None:
    parts = features(to_geojson(MISSION, ZURICH))
    gate = parts["gate"]["properties"]
    assert (gate["kind"], gate["earliest_s"], gate["latest_s"]) == ("point", 60, 300)
    assert gate["heading_deg"] == pytest.approx(90 - 68.75493541569878)
    assert "heading_deg" not in parts["free"]["properties"] and parts["free"]["properties"]["altitude_m"] == 80
    ring = parts["ring"]["properties"]
    assert (ring["kind"], ring["radius_m"], ring["turn"]) == ("circle", 90, "right")
    field = parts["field"]
    assert field["geometry"]["type"] == "LineString" and field["properties"]["passes"] == 3
    assert parts["city"]["properties"]["zone"] is True
    assert parts["wood"]["properties"]["spacing_m"] == 60 and "camera" not in parts["wood"]["properties"]
    assert parts["shore"]["properties"]["camera"]["side_overlap"] == 0.6


def test_circular_zones_are_polygons_around_them() -> None:
    tower = features(to_geojson(MISSION, ZURICH))["tower"]
    assert tower["geometry"]["type"] == "Polygon" and tower["properties"]["radius_m"] == 150
    (ring,) = tower["geometry"]["coordinates"]
    corners = to_local([position[::-1] for position in ring], ZURICH) - [-500, -500]
    middles = (corners[1:] + corners[:-1]) / 2
    assert np.linalg.norm(middles, axis=1) == pytest.approx(150, abs=1e-3)  # its edges touch the circle
    assert signed_area(corners.tolist()) == pytest.approx(pi * 150**2, rel=1e-3)
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": tower["properties"]["centre"]},
             "properties": {"zone": True, "radius_m": 150}}  # fmt: skip
    (zone,) = mission_from_geojson(document_text(point), ZURICH).mission["zones"]
    assert zone["circle"]["radius"] == 150 and zone["circle"]["at"] == pytest.approx([-500, -500], abs=2e-5)


def test_bearings() -> None:
    assert [bearing(h) for h in (0, pi / 2, pi, -pi / 2)] == pytest.approx([90, 0, 270, 180])
    assert heading(45) == pytest.approx(pi / 4) and heading(350) == pytest.approx(radians(100))


def same(first: Any, two: Any) -> bool:
    if isinstance(first, dict):
        return first.keys() == two.keys() and all(same(first[key], two[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(two) and all(same(a, b) for a, b in zip(first, two, strict=True))
    return bool(first == pytest.approx(two, abs=1e-4)) if isinstance(first, float) else first == two


def rings_turned(mission: dict[str, Any]) -> dict[str, Any]:
    """The same with outer rings counter-clockwise, as GeoJSON has them."""
    for task in mission.get("tasks", []):
        if "polygon" in task and signed_area([*task["polygon"]["outline"], task["polygon"]["outline"][0]]) < 0:
            task["polygon"]["outline"].reverse()
        for hole in task.get("polygon", {}).get("holes", []):
            if signed_area([*hole, hole[0]]) > 0:
                hole.reverse()
    return mission


def round_trip(mission: dict[str, Any], origin: Origin) -> None:
    first = load_scenario({"mission": mission}).to_dict()["mission"]
    imported = mission_from_geojson(document_text(to_geojson(mission, origin)), origin)
    again = load_scenario({"mission": imported.mission}).to_dict()["mission"]
    assert imported.notes == []
    assert same(rings_turned(first), rings_turned(again))


@pytest.mark.parametrize("origin", [ZURICH, Origin(-80, 179.9999, 0), Origin(35.6812, 139.7671, 40.0)])
def test_round_trip(origin: Origin) -> None:
    round_trip(MISSION, origin)
    generated = generate(4, zones=2).to_dict()["mission"]
    round_trip({key: generated[key] for key in ("tasks", "zones")}, origin)


@given(
    st.lists(st.tuples(st.floats(-2e4, 2e4), st.floats(-2e4, 2e4)), min_size=1, max_size=5),
    st.floats(-85, 85), st.floats(-180, 180), st.floats(-400, 8000),
)  # fmt: skip
def test_positions_round_trip(points: list[tuple[float, float]], lat: float, lon: float, height: float) -> None:
    origin = Origin(lat, lon, height)
    np.testing.assert_allclose(to_local(to_places(points, origin), origin), points, atol=1e-6)


def feature(shape: str, coordinates: Any, /, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": {"type": shape, "coordinates": coordinates}}


def collection(*features: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


def test_files_of_other_programs() -> None:
    imported = mission_from_geojson(
        collection(
            feature("Point", [8.5456, 47.3977, 500], name="Field 1", color="red"),
            feature("LineString", [[8.5456, 47.3977], [8.5466, 47.3977], [8.5466, 47.3987]], name="road", color="blue"),
            feature("MultiPoint", [[8.5456, 47.3977], [8.5466, 47.3977]], name="p"),
            feature("LineString", [[8.5456, 47.3977], [8.5466, 47.3977]], name="uav", kind="route"),
            {"type": "Feature", "properties": None, "geometry": None},
            feature("GeometryCollection", None, name="all"),
        ),
        ZURICH,
    )
    assert [task["name"] for task in imported.mission["tasks"]] == ["Field_1", "road_0", "road_1", "p", "p_2"]
    assert imported.mission["tasks"][0]["point"]["at"] == pytest.approx([0, 0], abs=1e-6)
    assert imported.mission["tasks"][2]["line"]["heading"] == pytest.approx(pi / 2, abs=1e-4)
    # one second of latitude is 30.89 m: a thousandth of a degree near 47 degrees is 111.18 m
    assert imported.mission["tasks"][2]["line"]["length"] == pytest.approx(111.18, abs=0.03)
    assert imported.notes == [
        "name 'Field 1' becomes 'Field_1'",
        "name 'p' becomes 'p_2'",
        "route 'uav' is skipped: routes are planned",
        "feature 'features.4' has no geometry and is skipped",
        "feature 'all' is a GeometryCollection and is skipped",
        "property 'color' of 2 features is not used",
    ]
    bare = mission_from_geojson({"type": "Point", "coordinates": [8.5456, 47.3977]}, ZURICH)
    assert [task["name"] for task in bare.mission["tasks"]] == ["task_0"]


SQUARE = [[[8.0, 47.0], [8.1, 47.0], [8.1, 47.1], [8.0, 47.0]]]
HEAD = '{"type": "FeatureCollection",\n "features": [\n'
MISTAKES = [
    ("{", "tasks.geojson:1:2: not valid JSON: Expecting property name enclosed in double quotes"),
    ("[1]", "tasks.geojson:1:1: expected an object, not [1]"),
    ('{"a": NaN}', "tasks.geojson: not valid JSON: NaN is not a JSON number"),
    ("[" * 200000, "tasks.geojson: not valid JSON: nested too deeply"),
    ("{}", "tasks.geojson:1:1: GeoJSON has a type such as 'FeatureCollection', not None"),
    ('{"type": "Topology"}', "tasks.geojson:1:10: GeoJSON has a type such as 'FeatureCollection', not 'Topology'"),
    ('{"type": "FeatureCollection", "features": 3}', "tasks.geojson:1:43: expected a list, not 3"),
    (HEAD + "3]}", "tasks.geojson:3:1: expected an object, not 3"),
    (HEAD + json.dumps(feature("Point", ["a", 3])) + "]}",
     'tasks.geojson:3:{"a"}: expected a finite number, not "a"'),
    (HEAD + json.dumps(feature("Point", [47.0, 108.0])) + "]}",
     "tasks.geojson:3:{[47.0}: [47, 108] is not a position on Earth; the order is longitude, latitude"),
    (HEAD + json.dumps(feature("Pont", [1, 2])) + "]}",
     "tasks.geojson:3:{\"Pont\"}: unknown geometry 'Pont'; valid: Point, LineString, Polygon and Multi..."),
    (HEAD + json.dumps(feature("LineString", [[1, 2]])) + "]}",
     "tasks.geojson:3:{[[1}: expected at least 2 positions, not 1"),
    (HEAD + json.dumps(feature("Polygon", SQUARE)) + "]}",
     "tasks.geojson:3:{[[[8}: a polygon task needs the property spacing_m or camera (or zone: true)"),
    (HEAD + json.dumps(feature("Polygon", [[*SQUARE[0][:3], [8.0, 47.1]]], zone=True)) + "]}",
     "tasks.geojson:3:{[[8}: a ring must be closed: its last position repeats the first"),
    (HEAD + json.dumps(feature("Point", [8, 47], kind="circle", heading_deg=3)) + "]}",
     "tasks.geojson:3:{[8,}: the feature needs the property radius_m"),
    (HEAD + json.dumps(feature("Point", [8, 47], kind="circle", heading_deg="N")) + "]}",
     'tasks.geojson:3:{"N"}: expected a finite number, not "N"'),
    (HEAD + json.dumps(feature("Point", [8.54, 47.4], kind="circle", heading_deg=3, radius_m=-4)) + "]}",
     "tasks.geojson:3:{[8.54}: circle.radius: must be > 0, not -4.0"),
    (HEAD + json.dumps(feature("Point", [8, 47], kind="area")) + "]}",
     "tasks.geojson:3:{[8,}: a Point is one of point, circle, base, route or a zone, not 'area'"),
    (HEAD + json.dumps(feature("Point", [-8, 47])) + "]}", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes(text: str, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks.geojson").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PaddockError) as caught:
        read_mission("tasks.geojson", ZURICH)
    if message is not None:  # {text} stands for the column at which that text stands
        column = re.sub(r"\{(.*?)\}", lambda match: str(text.splitlines()[2].index(match[1]) + 1), message)
        assert str(caught.value) == column
    assert str(caught.value).startswith("tasks.geojson:") and "\n" not in str(caught.value)


def test_missing_file() -> None:
    with pytest.raises(PaddockError, match=r"^nowhere\.geojson: cannot be read: No such file"):
        read_mission("nowhere.geojson", ZURICH)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "coordinates"]), inner),
    max_leaves=8,
)
kinds = st.sampled_from(["Point", "LineString", "Polygon", "MultiPolygon", "Circle"])
tags = st.fixed_dictionaries({}, optional={
    "kind": st.sampled_from(["point", "circle", "area", "base", "zone", "route"]) | anything,
    "zone": st.booleans(), "name": anything, "radius_m": anything, "heading_deg": anything, "spacing_m": anything,
})  # fmt: skip


@given(st.lists(st.builds(lambda kind, where, more: feature(kind, where, **more), kinds, anything, tags), max_size=3))
def test_any_input_is_read_or_refused(given_: list[dict[str, Any]]) -> None:
    try:
        imported = mission_from_geojson(collection(*given_), ZURICH)
    except PaddockError as error:
        accepted = bool(str(error))
    else:
        accepted = load_scenario({"mission": imported.mission}).mission is not None
    assert accepted
