"""Whether paths enter zones, against Shapely and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from paddock.planning.geometry.path import Path, Segment, arc, ends_at, line
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone, blocked_by, inside, path_entry, walls

ROUND = CircleZone("round", 0.0, 0.0, 10.0)
BLOCK = PolygonZone("block", ((20.0, -5.0), (30.0, -5.0), (30.0, 5.0), (20.0, 5.0)))
HOOK = PolygonZone("hook", ((-40.0, -40.0), (0.0, -40.0), (0.0, -15.0), (-8.0, -15.0), (-8.0, -30.0), (-40.0, -30.0)))
ZONES = (ROUND, BLOCK, HOOK)


def clear(path: Path, zones: Sequence[Zone], clearance: float = 0.0) -> bool:
    return blocked_by(path, zones, clearance) is None


def shape(zone: Zone, clearance: float) -> BaseGeometry:
    if isinstance(zone, CircleZone):
        return Point(zone.x, zone.y).buffer(zone.radius + clearance, quad_segs=512)
    return Polygon(zone.points).buffer(clearance, quad_segs=512)


parts = st.tuples(
    st.floats(0.5, 60.0), st.sampled_from([-1.0, 0.0, 1.0]), st.floats(1.0, 40.0), st.sampled_from([1.0, -1.0])
)


@given(
    st.tuples(st.floats(-60.0, 60.0), st.floats(-60.0, 60.0), st.floats(-pi, pi)),
    st.lists(parts, min_size=1, max_size=3),
    st.sampled_from([0.0, 1.5, 7.0]),
)
def test_clear_agrees_with_shapely(
    start: tuple[float, float, float], steps: list[tuple[float, float, float, float]], clearance: float
) -> None:
    segments: list[Segment] = []
    x, y, heading = start
    for length, way, radius, gear in steps:
        segments.append(Segment(x, y, 0.0, heading, length, way / radius, gear=gear))
        x, y, _, heading = ends_at(segments[-1])
    path = Path(segments)
    drawn = LineString(path.sample(0.05)[:, :2])
    away = min(drawn.distance(shape(zone, clearance)) for zone in ZONES)
    depth = max(drawn.intersection(shape(zone, clearance)).length for zone in ZONES)
    assume(away > 1e-3 or depth > 0.5)  # a sampled path cannot decide touching cases
    assert clear(path, ZONES, clearance) == (away > 0.0)


def test_lines_that_touch_do_not_enter() -> None:
    assert clear(Path([line(-50.0, 10.0, 0.0, 100.0)]), ZONES)
    assert not clear(Path([line(-50.0, 9.999, 0.0, 100.0)]), ZONES)
    assert clear(Path([line(20.0, -50.0, pi / 2.0, 100.0)]), [BLOCK])  # along its edge
    assert not clear(Path([line(20.001, -50.0, pi / 2.0, 100.0)]), [BLOCK])
    assert clear(Path([line(15.0, 0.0, pi / 4.0, 30.0)]), [BLOCK])  # through its corner


def test_arcs_that_touch_do_not_enter() -> None:
    assert clear(Path([arc(0.0, -10.0, 0.0, 10.0, 2.0 * pi)]), [ROUND])  # around its border
    assert not clear(Path([arc(0.0, -9.999, 0.0, 9.999, 2.0 * pi)]), [ROUND])
    assert clear(Path([arc(0.0, 30.0, pi, 10.0, pi)]), [ROUND])  # comes down to (0, 10)
    assert not clear(Path([arc(0.0, 29.9, pi, 10.0, pi)]), [ROUND])
    assert clear(Path([arc(0.0, 29.9, pi, 10.0, 0.9 * pi)]), [ROUND])  # ends before
    assert clear(Path([arc(10.0, -10.0, 0.0, 10.0, pi)]), [BLOCK])  # touches an edge
    assert not clear(Path([arc(10.01, -10.0, 0.0, 10.0, pi)]), [BLOCK])


def test_an_arc_around_a_zone_does_not_enter_it() -> None:
    assert clear(Path([arc(0.0, -12.0, 0.0, 12.0, 2.0 * pi)]), [ROUND], clearance=2.0)
    assert not clear(Path([arc(0.0, -12.0, 0.0, 12.0, 2.0 * pi)]), [ROUND], clearance=2.001)


def test_the_clearance_around_a_corner_is_round() -> None:
    x, y = 30.0 + 3.0 * cos(pi / 4.0), 5.0 + 3.0 * sin(pi / 4.0)
    past = Path([line(x - 20.0 * cos(pi / 4.0), y + 20.0 * sin(pi / 4.0), -pi / 4.0, 40.0)])
    assert clear(past, [BLOCK], clearance=3.0)
    assert not clear(past, [BLOCK], clearance=3.001)


def test_a_path_that_begins_inside_is_not_clear() -> None:
    assert blocked_by(Path([line(1.0, 1.0, 0.0, 2.0)]), ZONES) is ROUND
    assert blocked_by(Path([line(22.0, 1.0, 0.0, 2.0)]), ZONES) is BLOCK
    assert blocked_by(Path((), (22.0, 1.0, 0.0, 0.0)), ZONES) is BLOCK
    assert blocked_by(Path((), (50.0, 1.0, 0.0, 0.0)), ZONES) is None


def test_the_first_zone_entered_is_named() -> None:
    east, west = Path([line(-50.0, 0.0, 0.0, 100.0)]), Path([line(50.0, 0.0, pi, 100.0)])
    assert blocked_by(east, ZONES) is ROUND and blocked_by(west, ZONES) is BLOCK
    assert blocked_by(west, ()) is None


def test_the_entry_point_is_exact() -> None:
    table = walls([ROUND])
    _, along, _ = path_entry(table, Path([line(-50.0, 6.0, 0.0, 100.0)]).table)
    assert along == pytest.approx(50.0 - 8.0, abs=1e-6)
    # on a circle of 10 m around (0, 10): it meets the zone's border 30 degrees above (10, 0) .. by the law of cosines
    _, along, _ = path_entry(table, Path([arc(0.0, 20.0, pi, 10.0, pi)]).table)
    assert along == pytest.approx(10.0 * (pi - 2.0 * np.arcsin(0.5)), abs=1e-6)


def test_curves_in_wind_are_checked() -> None:
    # straight ahead north at 1, carried east at 1: it moves north-east
    carried = Path([Segment(-20.0, -20.0, 0.0, pi / 2.0, 40.0, drift_x=1.0)])
    assert blocked_by(carried, [ROUND]) is ROUND
    assert clear(Path([Segment(-20.0, -20.0 + 10.0 * sqrt(2.0) + 0.01, 0.0, pi / 2.0, 40.0, drift_x=1.0)]), [ROUND])
    # a full turn that comes back 2 pi 5 m further east
    turn = Segment(-30.0, 20.0, 0.0, 0.0, 2.0 * pi * 5.0, 0.2, drift_x=1.0)
    path = Path([turn])
    drawn = LineString(path.sample(0.01)[:, :2])
    for radius in (8.0, 15.0, 19.0, 21.0, 25.0):
        zone = CircleZone("z", 0.0, 0.0, radius)
        assert clear(path, [zone]) == (drawn.distance(Point(0.0, 0.0)) > radius)


def test_points_inside_are_found() -> None:
    assert inside(0.0, 9.9, ZONES) is ROUND and inside(0.0, 10.0, ZONES) is None
    assert inside(25.0, 0.0, ZONES) is BLOCK and inside(-20.0, -20.0, ZONES) is None
    assert inside(31.0, 6.0, ZONES, clearance=1.4) is None and inside(31.0, 6.0, ZONES, clearance=1.5) is BLOCK
