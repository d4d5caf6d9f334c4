"""Zones: validation, distances, and growth by a clearance."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Point, Polygon

from paddock.errors import InvalidValueError
from paddock.planning.geometry.zones import CircleZone, PolygonZone

SQUARE = PolygonZone("yard", ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)))
HOOK = ((0.0, 0.0), (40.0, 0.0), (40.0, 30.0), (30.0, 30.0), (30.0, 10.0), (0.0, 10.0))
places = st.tuples(st.floats(-20.0, 60.0), st.floats(-20.0, 60.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CircleZone("a", nan, 0.0, 5.0), "zone 'a': its centre must be two numbers, not (nan, 0.0)"),
        (lambda: CircleZone("a", 0.0, 0.0, 0.0), "zone 'a': its radius must be a number of metres > 0, not 0.0"),
        (lambda: CircleZone("a", 0.0, 0.0, -1.0), "zone 'a': its radius must be a number of metres > 0, not -1.0"),
        (lambda: CircleZone("a", 0.0, 0.0, inf), "zone 'a': its radius must be a number of metres > 0, not inf"),
        (lambda: PolygonZone("b", ((0.0, 0.0), (1.0, 0.0))), "zone 'b': a polygon needs 3 different corners, not 2"),
        (lambda: PolygonZone("b", ()), "zone 'b': a polygon needs 3 different corners, not 0"),
        (
            lambda: PolygonZone("b", ((0.0, 0.0), (1.0, nan), (2.0, 2.0))),
            "zone 'b': its corners must be numbers, not (1.0, nan)",
        ),
        (
            lambda: PolygonZone("b", ((0.0, 0.0), (4.0, 4.0), (4.0, 0.0), (0.0, 4.0))),
            "zone 'b': its border crosses or touches itself at (2, 2), in the edges 1 and 3; "
            "list the corners in order around it",
        ),
        (lambda: SQUARE.grown(-1.0), "zone 'yard': a clearance must be a number of metres >= 0, not -1.0"),
    ],
)
def test_invalid_zones_are_refused_by_name(make: object, message: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "points", [((0.0, 0.0), (1.0, 1.0), (2.0, 2.0)), ((0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (4.0, 0.0))]
)
def test_a_polygon_without_an_inside_is_refused(points: tuple[tuple[float, float], ...]) -> None:
    with pytest.raises(InvalidValueError, match="zone 'flat'"):
        PolygonZone("flat", points)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=7))
def test_simple_polygons_are_those_of_shapely(points: list[tuple[int, int]]) -> None:
    distinct = [point for k, point in enumerate(points) if point != points[k - 1]]
    if len(distinct) < 3:
        return
    valid = Polygon(distinct).is_valid and Polygon(distinct).area > 0.0
    try:
        PolygonZone("p", tuple((float(x), float(y)) for x, y in points))
        assert valid
    except InvalidValueError:
        assert not valid


def test_a_closed_ring_and_either_way_round_are_the_same_polygon() -> None:
    closed = PolygonZone("yard", (*SQUARE.points, SQUARE.points[0]))
    assert closed.distance(3.0, 4.0) == SQUARE.distance(3.0, 4.0) == -3.0
    assert PolygonZone("yard", SQUARE.points[::-1]).distance(13.0, 14.0) == 5.0


def test_distances_are_exact() -> None:
    assert CircleZone("c", 1.0, 2.0, 3.0).distance(4.0, 6.0) == 2.0
    assert CircleZone("c", 1.0, 2.0, 3.0).distance(1.0, 2.0) == -3.0
    assert SQUARE.distance(5.0, -2.0) == 2.0 and SQUARE.distance(5.0, 5.0) == -5.0
    assert SQUARE.distance(10.0, 5.0) == 0.0 and not SQUARE.contains(10.0, 5.0)


@given(places)
def test_polygon_distance_is_that_of_shapely(position: tuple[float, float]) -> None:
    shape, zone = Polygon(HOOK), PolygonZone("hook", HOOK)
    away = shape.exterior.distance(Point(position))
    assert abs(zone.distance(*position)) == pytest.approx(away, abs=1e-9)
    if away > 1e-9:
        assert zone.contains(*position) == shape.contains(Point(position))


def test_a_grown_zone_contains_its_clearance_tightly() -> None:
    assert CircleZone("c", 1.0, 2.0, 3.0).grown(2.0) == CircleZone("c", 1.0, 2.0, 5.0)
    grown = Polygon(PolygonZone("hook", HOOK).grown(3.0).points)
    exact = Polygon(HOOK).buffer(3.0, quad_segs=400)
    assert exact.difference(grown).area < 1e-3
    assert grown.area < 1.002 * exact.area


def test_outlines_are_closed() -> None:
    for zone in (SQUARE, CircleZone("c", 1.0, 2.0, 3.0)):
        outline = zone.outline()
        assert (outline[0] == outline[-1]).all()
        assert max(abs(zone.distance(x, y)) for x, y in outline.tolist()) < 1e-12
    assert np.hypot(*(CircleZone("c", 1.0, 2.0, 3.0).outline() - (1.0, 2.0)).T) == pytest.approx(3.0)
