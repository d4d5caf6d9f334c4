"""Points, lines, circles and areas: known lengths, entries, turns that are too tight."""

from __future__ import annotations

from math import acos, cos, hypot, inf, nan, pi, sin, tau

import numpy as np
import pytest

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import ends_at
from paddock.planning.geometry.shapes import AreaShape, CircleShape, InfeasibleError, LineShape, PointShape, TaskShape

SHAPES: list[TaskShape] = [
    PointShape(3.0, 4.0, 0.5),
    LineShape(3.0, 4.0, 0.5, 120.0),
    CircleShape(3.0, 4.0, 0.5, 100.0),
    CircleShape(3.0, 4.0, 0.5, 100.0, left=False),
    AreaShape(3.0, 4.0, 0.5, 300.0, 200.0, 4),
    AreaShape(3.0, 4.0, 0.5, 300.0, 200.0, 5, left=False),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_a_path_begins_at_the_entry_and_has_no_gaps(shape: TaskShape) -> None:
    path = shape.path(80.0, z=50.0)
    assert path.start == (*shape.entry[:2], 50.0, shape.entry.heading)
    for first, other in zip(path.segments, path.segments[1:], strict=False):
        assert ends_at(first) == pytest.approx(other[:4], abs=1e-9)
    assert all(abs(segment.curvature) <= 1.0 / 80.0 for segment in path.segments)


def test_a_point_is_done_where_it_is_reached() -> None:
    assert PointShape(1.0, 2.0).entry == (1.0, 2.0, None)
    assert PointShape(1.0, 2.0).path(80.0).length == 0.0
    assert PointShape(1.0, 2.0).outline().tolist() == [[1.0, 2.0]]


def test_a_line_ends_along_its_heading() -> None:
    path = LineShape(10.0, 20.0, pi / 6, 100.0).path(80.0)
    assert path.length == pytest.approx(100.0)
    assert path.end == pytest.approx((10.0 + 100.0 * cos(pi / 6), 70.0, 0.0, pi / 6))


@pytest.mark.parametrize(("left", "north"), [(True, 200.0), (False, -200.0)])
def test_a_circle_is_a_full_turn_to_its_side(left: bool, north: float) -> None:
    path = CircleShape(0.0, 0.0, 0.0, 100.0, left).path(80.0)
    assert path.length == pytest.approx(628.318531, abs=1e-6)
    assert path.at(path.length / 2)[0, :2] == pytest.approx((0.0, north), abs=1e-9)
    assert path.end[:2] == pytest.approx((0.0, 0.0), abs=1e-9)
    ring = CircleShape(0.0, 0.0, 0.0, 100.0, left).outline()
    assert np.hypot(ring[:, 0], ring[:, 1] - north / 2) == pytest.approx(np.full(len(ring), 100.0))
    assert (ring[0] == ring[-1]).all()


def test_the_area_of_the_reference_is_33_141593_m_long() -> None:
    assert AreaShape(0.0, 0.0, 0.0, 10.0, 1.0, 3).path(0.5).length == pytest.approx(33.141593, abs=1e-6)


@pytest.mark.parametrize(("left", "side"), [(True, 1.0), (False, -1.0)])
def test_the_passes_of_an_area_lie_on_its_side(left: bool, side: float) -> None:
    path = AreaShape(0.0, 0.0, 0.0, 10.0, 1.0, 3, left).path(0.5)
    passes = [segment for segment in path.segments if segment.curvature == 0.0]
    assert [(round(p.x, 9), round(p.y, 9)) for p in passes] == [(0.0, 0.0), (10.0, side), (0.0, 2.0 * side)]
    assert path.end[:2] == pytest.approx((10.0, 2.0 * side))


def test_the_outline_of_an_area_contains_its_passes() -> None:
    ring = AreaShape(0.0, 0.0, pi / 2, 10.0, 2.0, 3).outline()
    assert ring == pytest.approx(np.array([(1, 0), (1, 10), (-5, 10), (-5, 0), (1, 0)], dtype=float), abs=1e-12)


def test_a_turn_tighter_than_the_radius_is_refused_in_one_line() -> None:
    with pytest.raises(InfeasibleError, match=r"^a circle of 79 m is too tight: the vehicle turns with 80 m$") as e:
        CircleShape(1.0, 2.0, 0.0, 79.0).path(80.0)
    assert "\n" not in str(e.value)


def test_passes_too_close_for_a_turn_are_joined_by_a_bulb() -> None:
    path = AreaShape(1.0, 2.0, 0.0, 100.0, 159.0, 2).path(80.0)
    bulb = 80.0 * (pi + 4.0 * acos((79.5 + 80.0) / 160.0))  # out, around and back: three turns of 80 m
    assert path.length == pytest.approx(200.0 + bulb)
    assert path.end[:2] == pytest.approx((1.0, 161.0))


def test_a_turn_of_exactly_the_radius_is_accepted() -> None:
    assert CircleShape(0.0, 0.0, 0.0, 80.0 * (1.0 - 1e-12)).path(80.0).length == pytest.approx(80.0 * tau)
    assert AreaShape(0.0, 0.0, 0.0, 100.0, 160.0, 2).path(80.0).length == pytest.approx(200.0 + 80.0 * pi)


def test_a_single_pass_needs_no_turn() -> None:
    assert AreaShape(0.0, 0.0, 0.0, 100.0, 1.0, 1).path(80.0).length == 100.0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: PointShape(nan, 0.0), "point: x is nan"),
        (lambda: PointShape(0.0, 0.0, nan), "point: heading is nan"),
        (lambda: LineShape(0.0, inf, 0.0, 1.0), "line: y is inf"),
        (lambda: LineShape(0.0, 0.0, 0.0, 0.0), "line: length is 0.0; it must be a number above 0"),
        (lambda: CircleShape(0.0, 0.0, 0.0, -1.0), "circle: radius is -1.0"),
        (lambda: AreaShape(0.0, 0.0, 0.0, 10.0, nan, 2), "area: spacing is nan"),
        (lambda: AreaShape(0.0, 0.0, 0.0, 10.0, 1.0, 0), "area: passes is 0; it must be a whole number of at least 1"),
        (lambda: AreaShape(0.0, 0.0, 0.0, 10.0, 1.0, 2.5), "area: passes is 2.5"),
        (lambda: CircleShape(0.0, 0.0, 0.0, 10.0).path(nan), "circle at .*turn radius is nan"),
    ],
)
def test_impossible_values_are_named(make: object, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        make()  # type: ignore[operator]


def test_an_area_is_turned_with_its_heading() -> None:
    path = AreaShape(5.0, 6.0, 1.0, 50.0, 20.0, 2).path(10.0)
    assert hypot(path.end[0] - 5.0, path.end[1] - 6.0) == pytest.approx(20.0)
    assert path.end[:2] == pytest.approx((5.0 - 20.0 * sin(1.0), 6.0 + 20.0 * cos(1.0)))
